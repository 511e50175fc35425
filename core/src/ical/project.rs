//! The typed Event and To-do of the results: scalar fields and the recurrence set, in the shapes of the semantic
//! toolset. What is absent or cannot be read is left out.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Serialize;

use super::document::Document;
use super::entity::{Entity, Kind};
use super::part::{Name, Part};
use super::raw::CalendarProperty;
use super::recurrence::{Range, Recurrence};
use super::structured::{MAX_ELEMENTS, StructuredData};
use super::value::{DateOrPeriod, Geo, Malformed, OpenEnum, Temporal, integer, lossy, text, text_list, uri};
use crate::outcome::Diagnostic;

/// A resource as one Event or To-do, or as bare properties if it is opaque.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum Projection {
    /// An Event.
    Event {
        /// Its UID.
        uid: String,
        /// What its master says.
        fields: Box<Fields>,
    },
    /// A To-do.
    Todo {
        /// Its UID.
        uid: String,
        /// What its master says.
        fields: Box<Fields>,
        /// When its master was completed, in UTC.
        #[serde(skip_serializing_if = "Option::is_none")]
        completed_at: Option<Temporal>,
    },
    /// Neither.
    Opaque {
        /// Every property of every component, within the bounds of [`CalendarProperty::all`].
        properties: Vec<CalendarProperty>,
    },
}

/// The fields of an Event or To-do. A To-do has no `end`, `location`, `geo`, `transparency` and `url`; an Event has
/// no `due` and `percent_complete`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fields {
    /// SUMMARY.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// DESCRIPTION.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// DTSTART.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Temporal>,
    /// DTEND.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<Temporal>,
    /// DUE.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due: Option<Temporal>,
    /// DURATION as stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<String>,
    /// LOCATION.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// GEO.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geo: Option<Geo>,
    /// STATUS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<OpenEnum>,
    /// TRANSP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transparency: Option<OpenEnum>,
    /// CLASS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classification: Option<OpenEnum>,
    /// PRIORITY, 0 to 9.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// PERCENT-COMPLETE, 0 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent_complete: Option<u8>,
    /// The values of all CATEGORIES.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub categories: Option<Vec<String>>,
    /// URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Rules, dates and overrides; only of a master that has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recurrence_set: Option<RecurrenceSet>,
    /// Attendees, alarms, attachments and other collections; absent if there are none, and in what
    /// [`Entity::occurrence_fields`] gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_data: Option<StructuredData>,
}

/// How an Event or To-do repeats, as stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecurrenceSet {
    /// Whether all of it is understood.
    pub evaluation_state: EvaluationState,
    /// Every RRULE.
    pub rrules: Vec<RecurrenceRule>,
    /// The values of every RDATE.
    pub rdates: Vec<DateOrPeriod>,
    /// The values of every EXDATE.
    pub exdates: Vec<Temporal>,
    /// Occurrences that have a component of their own.
    pub overrides: Vec<RecurrenceOverride>,
}

/// Whether a recurrence set can be evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EvaluationState {
    /// All of it is understood.
    Evaluable,
    /// Something is not; the diagnostics say what.
    Unevaluable,
}

/// One RRULE.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecurrenceRule {
    /// Its value.
    pub text: String,
    /// Its whole content line with folds and line end.
    pub original_slice: String,
}

/// One component with a RECURRENCE-ID.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecurrenceOverride {
    /// Which occurrence it is about, as stored.
    pub recurrence_identity: RecurrenceIdentity,
    /// Event or To-do.
    pub entity_kind: Kind,
    /// Whether it is about others too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    /// Whether it takes place.
    pub status: OverrideStatus,
    /// What it says.
    pub fields: Fields,
    /// Its start, where that is not its identity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_start: Option<Temporal>,
    /// Its DTEND or DUE, where its start is not its identity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_end: Option<Temporal>,
}

/// Which occurrence: the start that the recurrence set gives it (RFC 5545, 3.8.4.4).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RecurrenceIdentity {
    /// As stored, or in the form of the master's start.
    pub value: Temporal,
}

/// Whether an override takes place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OverrideStatus {
    /// It does.
    Active,
    /// STATUS is CANCELLED.
    Cancelled,
}

/// What a text filter looks at, decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Searchable<'a> {
    /// SUMMARY.
    pub summary: Option<Cow<'a, str>>,
    /// DESCRIPTION.
    pub description: Option<Cow<'a, str>>,
    /// LOCATION, of Events and To-dos.
    pub location: Option<Cow<'a, str>>,
    /// The values of all CATEGORIES.
    pub categories: Vec<String>,
}

/// Reads fields and collects what is odd about them.
struct Reader<'a> {
    document: &'a Document,
    part: &'a Part,
    remarks: &'a mut BTreeSet<Diagnostic>,
}

impl<'a> Reader<'a> {
    fn text(&self, name: Name) -> Option<String> {
        Some(text(self.part.first(self.document, name)?.value()).into_owned())
    }

    fn token(&self, name: Name, registered: &[&str]) -> Option<OpenEnum> {
        OpenEnum::read(self.part.first(self.document, name)?.value(), registered)
    }

    fn checked<T>(&mut self, name: Name, read: impl FnOnce(&[u8]) -> Result<T, Malformed>) -> Option<T> {
        let value = self.part.first(self.document, name)?.value();
        let read = read(&value);
        if read.is_err() {
            self.remarks.insert(Diagnostic::warning(
                "registered_property_value_invalid",
                "A property has a value that is not of its type, and is left out.",
            ));
        }
        read.ok()
    }

    fn categories(&self) -> Vec<String> {
        let all = self.part.all(self.document, Name::Categories);
        all.flat_map(|property| text_list(property.value()))
            .filter(|category| !category.is_empty())
            .collect()
    }

    fn fields(&mut self, kind: Kind) -> Fields {
        let (event, todo) = (kind == Kind::Event, kind == Kind::Todo);
        let status: &[&str] = match kind {
            Kind::Event => &["TENTATIVE", "CONFIRMED", "CANCELLED"],
            Kind::Todo => &["NEEDS-ACTION", "COMPLETED", "IN-PROCESS", "CANCELLED"],
        };
        let end = self.part.temporal(self.document, kind.end()).and_then(Result::ok);
        let (end, due) = if event { (end, None) } else { (None, end) };
        let duration = self.part.first(self.document, Name::Duration);
        let categories = self.categories();
        Fields {
            summary: self.text(Name::Summary),
            description: self.text(Name::Description),
            start: self.part.start.clone(),
            end,
            due,
            duration: duration.map(|property| lossy(property.value()).trim().to_owned()),
            location: if event { self.text(Name::Location) } else { None },
            geo: if event {
                self.checked(Name::Geo, Geo::parse)
            } else {
                None
            },
            status: self.token(Name::Status, status),
            transparency: if event {
                self.token(Name::Transp, &["OPAQUE", "TRANSPARENT"])
            } else {
                None
            },
            classification: self.token(Name::Class, &["PUBLIC", "PRIVATE", "CONFIDENTIAL"]),
            priority: self.checked(Name::Priority, |value| integer(value, 9)),
            percent_complete: if todo {
                self.checked(Name::PercentComplete, |value| integer(value, 100))
            } else {
                None
            },
            categories: (!categories.is_empty()).then_some(categories),
            url: if event { self.checked(Name::Url, uri) } else { None },
            recurrence_set: None,
            structured_data: None,
        }
    }
}

impl Entity {
    /// The whole resource in the shape of the results.
    #[must_use]
    pub fn projection(&self) -> Projection {
        let (Some(kind), Some(uid), None) = (self.kind(), self.uid(), self.opaque()) else {
            let (properties, _) = CalendarProperty::all(self.document());
            return Projection::Opaque { properties };
        };
        let remarks = &mut BTreeSet::new();
        let (uid, fields) = (uid.to_owned(), Box::new(self.master_fields(kind, remarks)));
        match kind {
            Kind::Event => Projection::Event { uid, fields },
            Kind::Todo => Projection::Todo {
                uid,
                fields,
                completed_at: self.completed_at(None),
            },
        }
    }

    /// The properties of the VCALENDAR itself.
    #[must_use]
    pub fn calendar_properties(&self) -> Vec<CalendarProperty> {
        CalendarProperty::of_calendars(self.document())
    }

    /// What a text filter looks at: of an override by its component index, or of the master. There is no
    /// inheritance.
    #[must_use]
    pub fn searchable(&self, component: Option<usize>) -> Searchable<'_> {
        let Some(part) = self.part(component) else {
            return Searchable::default();
        };
        let text = |name| Some(text(part.first(&self.document, name)?.value()));
        let categories = part.all(&self.document, Name::Categories);
        Searchable {
            summary: text(Name::Summary),
            description: text(Name::Description),
            location: text(Name::Location),
            categories: categories.flat_map(|property| text_list(property.value())).collect(),
        }
    }

    /// Its components, as other functions name them: the master, then the overrides.
    pub fn components(&self) -> impl Iterator<Item = Option<usize>> {
        let master = self.master.iter().map(|_| None);
        master.chain(self.overrides.iter().map(|part| Some(part.component)))
    }

    /// Attendees, alarms and what else is a collection, of an override by its component index, or of the master.
    #[must_use]
    pub fn structured_data(&self, component: Option<usize>) -> Option<StructuredData> {
        self.part(component)?
            .structured(&self.document, &mut { MAX_ELEMENTS }, &mut BTreeSet::new())
    }

    /// When the To-do was completed: what an override says by its component index, or the master.
    #[must_use]
    pub fn completed_at(&self, component: Option<usize>) -> Option<Temporal> {
        let completed = self.part(component)?.temporal(&self.document, Name::Completed)?.ok()?;
        matches!(completed, Temporal::Utc(_)).then_some(completed)
    }

    /// The scalar fields of an override by its component index, or of the master.
    #[must_use]
    pub fn component_fields(&self, component: Option<usize>) -> Fields {
        let (Some(part), Some(kind)) = (self.part(component), self.kind()) else {
            return Fields::default();
        };
        self.fields(part, kind, &mut BTreeSet::new())
    }

    /// Rules, dates and overrides, if it has any.
    #[must_use]
    pub fn recurrence(&self) -> Option<RecurrenceSet> {
        let kind = self.kind().filter(|_| self.is_recurring())?;
        Some(self.recurrence_set(kind, MAX_ELEMENTS, &mut BTreeSet::new()))
    }

    /// The scalar fields of a component.
    pub(super) fn fields(&self, part: &Part, kind: Kind, remarks: &mut BTreeSet<Diagnostic>) -> Fields {
        let document = &self.document;
        Reader {
            document,
            part,
            remarks,
        }
        .fields(kind)
    }

    /// The fields of the master with the recurrence set; only the set if there is no master.
    pub(super) fn master_fields(&self, kind: Kind, remarks: &mut BTreeSet<Diagnostic>) -> Fields {
        let master = self.master.as_ref();
        let mut room = MAX_ELEMENTS;
        let mut fields = master.map_or_else(Fields::default, |part| Fields {
            structured_data: part.structured(&self.document, &mut room, remarks),
            ..self.fields(part, kind, remarks)
        });
        if self.is_recurring() {
            fields.recurrence_set = Some(self.recurrence_set(kind, room, remarks));
        }
        fields
    }

    /// `room` is how much structured data the overrides may show.
    fn recurrence_set(&self, kind: Kind, mut room: usize, remarks: &mut BTreeSet<Diagnostic>) -> RecurrenceSet {
        let master = self.master.as_ref();
        let stored = master.map(|part| Recurrence::read(&self.document, part, remarks));
        let mut readable = stored.as_ref().is_none_or(|stored| stored.readable);
        let overrides = self.overrides.iter().filter_map(|part| {
            let range = self.range(part, remarks);
            readable &= matches!(range, Ok(None | Some(Range::ThisAndFuture)));
            let identity = part.identity.clone()?;
            let fields = Fields {
                structured_data: part.structured(&self.document, &mut room, remarks),
                ..self.fields(part, kind, remarks)
            };
            let moved = fields.start.clone().filter(|start| *start != identity);
            Some(RecurrenceOverride {
                recurrence_identity: RecurrenceIdentity { value: identity },
                entity_kind: kind,
                range: range.ok().flatten(),
                status: if part.is_cancelled(&self.document) {
                    OverrideStatus::Cancelled
                } else {
                    OverrideStatus::Active
                },
                moved_end: moved.as_ref().and(fields.end.clone().or_else(|| fields.due.clone())),
                moved_start: moved,
                fields,
            })
        });
        let overrides = overrides.collect();
        let stored = stored.unwrap_or_default();
        let rules = stored.rules.iter().map(|(property, _)| RecurrenceRule {
            text: lossy(property.value()).into_owned(),
            original_slice: String::from_utf8_lossy(property.slice()).into_owned(),
        });
        RecurrenceSet {
            evaluation_state: if readable {
                EvaluationState::Evaluable
            } else {
                EvaluationState::Unevaluable
            },
            rrules: rules.filter(|rule| !rule.text.is_empty()).collect(),
            rdates: stored.rdates,
            exdates: stored.exdates,
            overrides,
        }
    }

    /// The RANGE of an override; what is not evaluated is remarked.
    pub(super) fn range(&self, part: &Part, remarks: &mut BTreeSet<Diagnostic>) -> Result<Option<Range>, Malformed> {
        let identity = part.first(&self.document, Name::RecurrenceId);
        let range = identity.map_or(Ok(None), Range::read);
        if !matches!(range, Ok(None | Some(Range::ThisAndFuture))) {
            remarks.insert(Diagnostic::warning(
                "recurrence_range_unsupported",
                "An override has a RANGE that is not evaluated.",
            ));
        }
        range
    }
}

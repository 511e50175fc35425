//! One VEVENT or VTODO: where its known properties are, its start and its recurrence identity.

use std::collections::BTreeSet;

use super::document::{Component, Document, Property};
use super::structured::{self, StructuredData};
use super::value::{Malformed, Temporal, Times, lossy};
use crate::outcome::Diagnostic;

/// A property that is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Uid,
    RecurrenceId,
    Dtstart,
    Dtend,
    Due,
    Duration,
    Rrule,
    Rdate,
    Exdate,
    Exrule,
    Summary,
    Description,
    Location,
    Categories,
    Status,
    Class,
    Transp,
    Priority,
    PercentComplete,
    Completed,
    Geo,
    Url,
    /// Any property of the structured data.
    Structured,
}

const NAMES: usize = Name::Structured as usize + 1;
const NONE: u32 = u32::MAX;

impl Name {
    fn read(name: &[u8]) -> Option<Self> {
        let mut upper = [0; 18];
        let upper = upper.get_mut(..name.len())?;
        upper.copy_from_slice(name);
        upper.make_ascii_uppercase();
        Some(match &*upper {
            b"UID" => Self::Uid,
            b"RECURRENCE-ID" => Self::RecurrenceId,
            b"DTSTART" => Self::Dtstart,
            b"DTEND" => Self::Dtend,
            b"DUE" => Self::Due,
            b"DURATION" => Self::Duration,
            b"RRULE" => Self::Rrule,
            b"RDATE" => Self::Rdate,
            b"EXDATE" => Self::Exdate,
            b"EXRULE" => Self::Exrule,
            b"SUMMARY" => Self::Summary,
            b"DESCRIPTION" => Self::Description,
            b"LOCATION" => Self::Location,
            b"CATEGORIES" => Self::Categories,
            b"STATUS" => Self::Status,
            b"CLASS" => Self::Class,
            b"TRANSP" => Self::Transp,
            b"PRIORITY" => Self::Priority,
            b"PERCENT-COMPLETE" => Self::PercentComplete,
            b"COMPLETED" => Self::Completed,
            b"GEO" => Self::Geo,
            b"URL" => Self::Url,
            b"ORGANIZER"
            | b"ATTENDEE"
            | b"CONTACT"
            | b"RESOURCES"
            | b"RELATED-TO"
            | b"REQUEST-STATUS"
            | b"ATTACH"
            | b"COMMENT"
            | b"STYLED-DESCRIPTION"
            | b"IMAGE"
            | b"CONFERENCE"
            | b"LINK"
            | b"CONCEPT"
            | b"STRUCTURED-DATA" => Self::Structured,
            _ => return None,
        })
    }
}

/// One VEVENT or VTODO by the places of its properties.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// Its [`Component::index`].
    pub(super) component: usize,
    first: [u32; NAMES],
    repeated: u32,
    /// DTSTART.
    pub(super) start: Option<Temporal>,
    /// RECURRENCE-ID.
    pub(super) identity: Option<Temporal>,
}

impl Part {
    pub(super) fn read(component: Component<'_>) -> Self {
        let mut part = Self {
            component: component.index(),
            first: [NONE; NAMES],
            repeated: 0,
            start: None,
            identity: None,
        };
        for property in component.properties() {
            let Some(name) = Name::read(&property.name()) else {
                continue;
            };
            let first = &mut part.first[name as usize];
            if *first == NONE {
                *first = property.index() as u32;
            } else {
                part.repeated |= 1 << name as u32;
            }
        }
        part
    }

    pub(super) fn has(&self, name: Name) -> bool {
        self.first[name as usize] != NONE
    }

    /// Whether there are several of a property.
    pub(super) fn repeats(&self, name: Name) -> bool {
        self.repeated & (1 << name as u32) != 0
    }

    /// Whether any property that may stand once is there several times.
    pub(super) fn repeats_any(&self) -> bool {
        let lists = [
            Name::Rrule,
            Name::Rdate,
            Name::Exdate,
            Name::Exrule,
            Name::Categories,
            Name::Structured,
        ];
        self.repeated & !lists.iter().fold(0, |set, name| set | 1 << *name as u32) != 0
    }

    /// The first property of this name.
    pub(super) fn first<'a>(&self, document: &'a Document, name: Name) -> Option<Property<'a>> {
        self.has(name)
            .then(|| document.property(self.first[name as usize] as usize))
    }

    /// All properties of this name, in order.
    pub(super) fn all<'a>(&self, document: &'a Document, name: Name) -> impl Iterator<Item = Property<'a>> + use<'a> {
        let component = self.has(name).then(|| document.component(self.component));
        let several = self.repeats(name);
        let first = self.first(document, name).filter(|_| !several);
        let rest = component
            .filter(|_| several)
            .into_iter()
            .flat_map(Component::properties);
        first
            .into_iter()
            .chain(rest.filter(move |property| Name::read(&property.name()) == Some(name)))
    }

    /// The only temporal value of a property.
    pub(super) fn temporal(&self, document: &Document, name: Name) -> Option<Result<Temporal, Malformed>> {
        self.first(document, name).map(|property| Times::of(property).single())
    }

    /// Attendees, alarms and what else is a collection; `room` is how much of that may still be read.
    pub(super) fn structured(
        &self,
        document: &Document,
        room: &mut usize,
        remarks: &mut BTreeSet<Diagnostic>,
    ) -> Option<StructuredData> {
        structured::read(self.with_structured(document)?, room, remarks)
    }

    /// Its component if there may be structured data in it.
    pub(super) fn with_structured<'a>(&self, document: &'a Document) -> Option<Component<'a>> {
        let component = document.component(self.component);
        let any = self.has(Name::Structured) || component.children().next().is_some();
        any.then_some(component)
    }

    /// Whether RECURRENCE-ID has a RANGE: the component is about other occurrences too.
    pub(super) fn has_range(&self, document: &Document) -> bool {
        self.first(document, Name::RecurrenceId)
            .is_some_and(|identity| identity.parameter("RANGE").is_some())
    }

    /// Whether STATUS is CANCELLED.
    pub(super) fn is_cancelled(&self, document: &Document) -> bool {
        self.first(document, Name::Status)
            .is_some_and(|status| lossy(status.value()).trim().eq_ignore_ascii_case("CANCELLED"))
    }
}

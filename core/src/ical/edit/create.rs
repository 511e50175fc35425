//! A new Event or To-do (contract of the semantic toolset: `events_create`, `todos_create`).

use bytes::Bytes;
use jiff::Timestamp;

use super::membership::membership;
use super::recurrence_set::{self, NewRecurrence};
use super::scalar::{self, CLASSES, TRANSPARENCIES};
use super::temporal::{self, Measure, Times, TimesPatch};
use super::{fault, read, refusal, stamp, unwritable, zone};
use crate::ical::document::{Document, Parameter};
use crate::ical::duration::Duration;
use crate::ical::encode::{ContentLine, LineEnd, NewComponent, Unwritable, escape_list};
use crate::ical::entity::{Entity, Kind};
use crate::ical::structured::StructuredData;
use crate::ical::value::{DateOrPeriod, Geo, Period, Temporal};
use crate::ical::zone::Zones;
use crate::outcome::{Code, Error};

/// What writes resources, as PRODID names it (RFC 5545, 3.7.3).
pub const PRODID: &str = concat!("-//Kalends//Kalends ", env!("CARGO_PKG_VERSION"), "//EN");

/// The longest UID that is taken, in bytes.
pub const MAX_UID: usize = 1024;

/// The fields of a new component, as the caller means them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewFields {
    /// SUMMARY.
    pub summary: Option<String>,
    /// DESCRIPTION.
    pub description: Option<String>,
    /// DTSTART. An Event needs one; a To-do needs one to recur or to have a duration.
    pub start: Option<Temporal>,
    /// DTEND of an Event, DUE of a To-do: later than the start.
    pub end: Option<Temporal>,
    /// DURATION instead of an end, longer than nothing.
    pub duration: Option<String>,
    /// LOCATION; Events only, as the four below.
    pub location: Option<String>,
    /// GEO.
    pub geo: Option<Geo>,
    /// TRANSP: a registered token in any case, or `X-…`.
    pub transparency: Option<String>,
    /// CLASS, as TRANSP.
    pub classification: Option<String>,
    /// URL, absolute.
    pub url: Option<String>,
    /// STATUS, as TRANSP.
    pub status: Option<String>,
    /// PRIORITY, 0 to 9.
    pub priority: Option<u8>,
    /// CATEGORIES.
    pub categories: Vec<String>,
    /// Attendees, alarms and the like.
    pub structured: StructuredData,
}

/// How a new Event or To-do repeats.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewSeries {
    /// Rule and dates. What it says about overrides is not looked at.
    pub set: NewRecurrence,
    /// Occurrences with a component of their own.
    pub overrides: Vec<NewOverride>,
}

/// One occurrence that is different, or does not take place.
#[derive(Clone, Debug, PartialEq)]
pub struct NewOverride {
    /// The start that the series gives it, in the kind and zone of the start of the series.
    pub identity: Temporal,
    /// RANGE=THISANDFUTURE (RFC 5545, 3.2.13).
    pub future: bool,
    /// Whether it does not take place.
    pub cancelled: bool,
    /// What is different; the other fields are those of the master.
    pub fields: NewFields,
}

/// A new Event or To-do.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEntity {
    /// Which of them.
    pub kind: Kind,
    /// UID: not empty, at most [`MAX_UID`] bytes.
    pub uid: String,
    /// What its master says.
    pub fields: NewFields,
    /// How it repeats.
    pub series: Option<NewSeries>,
}

/// The octets of a new resource: VCALENDAR with the VTIMEZONEs that it needs, the master, and its overrides. A timed
/// Event without end and duration lasts `PT1H`; an all-day one is written with its end.
///
/// # Errors
/// `invalid_input` with violations below `/entity`.
pub fn create(entity: &NewEntity, now: Timestamp) -> Result<Bytes, Box<Error>> {
    let NewEntity {
        kind,
        uid,
        fields,
        series,
    } = entity;
    if uid.trim().is_empty() || uid.len() > MAX_UID {
        let message = "Send a UID of 1 to 1,024 bytes, or none.";
        return Err(fault("/entity/uid", "length_out_of_range", message));
    }
    let new = New {
        kind: *kind,
        uid,
        stamp: stamp::utc(now).encoded(),
    };
    let times = new_times(*kind, &Times::default(), fields, FIELDS)?;
    let mut recurrence = Vec::new();
    if let Some(series) = series {
        let set = checked(&series.set, times.start.as_ref())?;
        recurrence = recurrence_set::lines(&set).map_err(|fault| unwritable(SET, fault))?;
    }
    let master = new.component(&times, recurrence, fields, FIELDS)?;
    let mut calendar = NewComponent::new("VCALENDAR").expect("a token");
    let head = [("VERSION", "2.0"), ("PRODID", PRODID)];
    calendar.lines = head.map(|(name, value)| plain(name, value)).into();
    calendar.components.push(master);
    if let Some(series) = series {
        let overrides = series.overrides.iter().enumerate();
        let overrides =
            overrides.map(|(at, each)| new.instance(each, &times, fields, &format!("{SET}/overrides/{at}")));
        calendar.components.extend(overrides.collect::<Result<Vec<_>, _>>()?);
    }
    let mut octets = Vec::new();
    calendar.write(LineEnd::CrLf, &mut octets);
    let document = zone::complete(&Document::unread(Bytes::new()), read(octets.into())?)?;
    let made = Entity::from_document(document);
    if let Some(series) = series {
        check_overrides(&made, &series.overrides)?;
    }
    if made.opaque().is_some() {
        let message = "What was sent does not make one Event or To-do.";
        return Err(refusal(Code::InvalidCalendarData, message));
    }
    Ok(made.document().bytes().clone())
}

/// Where the fields of the master stand in the arguments.
const FIELDS: &str = "/entity/fields";
/// Where its recurrence set does.
const SET: &str = "/entity/fields/recurrenceSet";

/// Rule and dates as they are stored.
fn checked(set: &NewRecurrence, start: Option<&Temporal>) -> Result<NewRecurrence, Box<Error>> {
    let zones = Zones::default();
    if set.rrule.is_none() && set.rdates.as_ref().is_none_or(Vec::is_empty) {
        let message = "Send a rule or dates, or no recurrence set.";
        return Err(fault(SET, "recurrence_data_required", message));
    }
    if let Some(rrule) = &set.rrule {
        recurrence_set::check_rule(rrule, start, &zones, &format!("{SET}/rrule"))?;
    }
    let stored = |time: &Temporal, name: &str, at: usize| temporal::authored(time, &format!("{SET}/{name}/{at}"));
    let rdates = set.rdates.iter().flatten().enumerate().map(|(at, date)| {
        Ok::<_, Box<Error>>(match date {
            DateOrPeriod::Date(date) => DateOrPeriod::Date(stored(date, "rdates", at)?),
            DateOrPeriod::Period(period) => DateOrPeriod::Period(Period {
                start: stored(&period.start, "rdates", at)?,
                end: match &period.end {
                    Ok(end) => Ok(stored(end, "rdates", at)?),
                    Err(duration) => Err(duration.clone()),
                },
            }),
        })
    });
    let rdates = rdates.collect::<Result<Vec<_>, _>>()?;
    let exdates = set.exdates.iter().flatten().enumerate();
    let exdates = exdates
        .map(|(at, date)| stored(date, "exdates", at))
        .collect::<Result<Vec<_>, _>>()?;
    recurrence_set::check_dates(start, &rdates, &exdates, &zones, SET)?;
    Ok(NewRecurrence {
        rrule: set.rrule.clone(),
        rdates: Some(rdates),
        exdates: Some(exdates),
        overrides: None,
    })
}

/// Each override is about another occurrence, and about one that the set makes.
fn check_overrides(made: &Entity, overrides: &[NewOverride]) -> Result<(), Box<Error>> {
    if overrides.is_empty() || made.opaque() == Some("recurrence_identity_duplicate") {
        return match made.opaque() {
            Some("recurrence_identity_duplicate") => {
                let message = "Send one override for each occurrence.";
                Err(fault(
                    format!("{SET}/overrides"),
                    "recurrence_override_duplicate",
                    message,
                ))
            }
            _ => Ok(()),
        };
    }
    for (at, part) in made.overrides.iter().enumerate() {
        let identity = part.identity.as_ref().expect("an override has a recurrence identity");
        if !membership(made, identity)?.generated {
            let message = "Send the start of an occurrence that the rule or the dates make.";
            let pointer = format!("{SET}/overrides/{at}/recurrenceIdentity");
            return Err(fault(pointer, "value_not_allowed", message));
        }
    }
    Ok(())
}

fn plain(name: &str, value: &str) -> ContentLine {
    ContentLine::new(name, &[], value).expect("fixed names and values without control characters")
}

/// What the components of a new resource share.
struct New<'a> {
    kind: Kind,
    uid: &'a str,
    /// The time of the stamps.
    stamp: String,
}

impl New<'_> {
    /// An override: complete, with what is different from the master.
    fn instance(
        &self,
        each: &NewOverride,
        master: &Times,
        fields: &NewFields,
        pointer: &str,
    ) -> Result<NewComponent, Box<Error>> {
        let identity_pointer = format!("{pointer}/recurrenceIdentity");
        let identity = temporal::authored(&each.identity, &identity_pointer)?;
        let Some(start) = master
            .start
            .as_ref()
            .filter(|start| temporal::same_form(start, &identity))
        else {
            let message = "Send the recurrence identity in the kind and zone of the start.";
            return Err(fault(identity_pointer, "recurrence_family_mismatch", message));
        };
        let pointer = format!("{pointer}/fields");
        let cancelled = each
            .fields
            .status
            .as_ref()
            .map(|status| status.eq_ignore_ascii_case("CANCELLED"));
        if cancelled.is_some_and(|cancelled| cancelled != each.cancelled) {
            let message = "Send the status CANCELLED with cancelled overrides, and with no other.";
            return Err(fault(format!("{pointer}/status"), "override_status_conflict", message));
        }
        let by = Measure(&Zones::default());
        let old = Times {
            end: master.end.as_ref().map(|end| by.carry(start, end, &identity)),
            start: Some(identity.clone()),
            duration: master.duration,
        };
        let times = new_times(self.kind, &old, &each.fields, &pointer)?;
        let mut parameters = identity.parameters();
        if each.future {
            parameters.push(Parameter {
                name: "RANGE".to_owned(),
                values: vec!["THISANDFUTURE".to_owned()],
            });
        }
        let identity = ContentLine::new("RECURRENCE-ID", &parameters, &identity.encoded());
        let identity = identity.map_err(|fault| unwritable(&identity_pointer, fault))?;
        self.component(&times, vec![identity], &each.over(fields), &pointer)
    }

    /// One VEVENT or VTODO. `recurrence` stands after its times.
    fn component(
        &self,
        times: &Times,
        recurrence: Vec<ContentLine>,
        fields: &NewFields,
        pointer: &str,
    ) -> Result<NewComponent, Box<Error>> {
        let kind = self.kind;
        let mut component = NewComponent::new(kind.component()).expect("a token");
        let of_events = [
            ("location", fields.location.is_some()),
            ("geo", fields.geo.is_some()),
            ("transparency", fields.transparency.is_some()),
            ("classification", fields.classification.is_some()),
            ("url", fields.url.is_some()),
        ];
        if let Some((field, _)) = of_events.iter().find(|(_, set)| *set && kind == Kind::Todo) {
            let message = format!("A To-do has no {field} here.");
            return Err(fault(format!("{pointer}/{field}"), "unknown_member", &message));
        }
        let lines = &mut component.lines;
        let at = |field: &str| format!("{pointer}/{field}");
        let text = |lines: &mut Vec<ContentLine>, name: &str, value: &str, field: &str| {
            let line = ContentLine::text(name, &[], value).map_err(|fault| unwritable(&at(field), fault))?;
            lines.push(line);
            Ok::<_, Box<Error>>(())
        };
        let uid = ContentLine::text("UID", &[], self.uid).map_err(|fault| unwritable("/entity/uid", fault))?;
        lines.push(uid);
        lines.extend(["DTSTAMP", "CREATED", "LAST-MODIFIED"].map(|name| plain(name, &self.stamp)));
        let time =
            |name: &str, time: &Temporal| temporal::fresh(name, time).map_err(|fault| unwritable(pointer, fault));
        if let Some(start) = &times.start {
            lines.push(time("DTSTART", start)?);
        }
        if let Some(end) = &times.end {
            lines.push(time(temporal::end_property(kind), end)?);
        }
        if let Some(duration) = times.duration {
            lines.push(plain("DURATION", &duration.to_string()));
        }
        lines.extend(recurrence);
        let texts = [
            ("SUMMARY", &fields.summary, "summary"),
            ("DESCRIPTION", &fields.description, "description"),
            ("LOCATION", &fields.location, "location"),
        ];
        for (name, value, field) in texts {
            if let Some(value) = value {
                text(lines, name, value, field)?;
            }
        }
        if let Some(geo) = fields.geo {
            lines.push(plain("GEO", &scalar::geo(geo, &at("geo"))?));
        }
        let tokens = [
            ("STATUS", &fields.status, scalar::statuses(kind), "status"),
            ("TRANSP", &fields.transparency, TRANSPARENCIES, "transparency"),
            ("CLASS", &fields.classification, CLASSES, "classification"),
        ];
        for (name, value, registered, field) in tokens {
            if let Some(value) = value {
                lines.push(plain(name, &scalar::token(value, registered, &at(field))?));
            }
        }
        if let Some(priority) = fields.priority {
            lines.push(plain("PRIORITY", &scalar::number(priority, 9, &at("priority"))?));
        }
        if !fields.categories.is_empty() {
            let categories = escape_list(&fields.categories);
            let line = ContentLine::new("CATEGORIES", &[], &categories);
            lines.push(line.map_err(|fault: Unwritable| unwritable(&at("categories"), fault))?);
        }
        if let Some(url) = &fields.url {
            lines.push(plain("URL", &scalar::absolute(url, &at("url"))?));
        }
        if fields.structured.organizer().is_some() {
            lines.push(plain("SEQUENCE", "0"));
        }
        let written = fields.structured.write();
        let (more, inner) = written.map_err(|fault| unwritable(&at("structuredData"), fault))?;
        lines.extend(more);
        component.components = inner;
        Ok(component)
    }
}

impl NewOverride {
    /// Its fields, and those of the master where it has none.
    fn over(&self, master: &NewFields) -> NewFields {
        let own = &self.fields;
        let text = |own: &Option<String>, master: &Option<String>| own.clone().or_else(|| master.clone());
        let status = if self.cancelled {
            Some("CANCELLED".to_owned())
        } else {
            text(&own.status, &master.status)
        };
        NewFields {
            summary: text(&own.summary, &master.summary),
            description: text(&own.description, &master.description),
            location: text(&own.location, &master.location),
            geo: own.geo.or(master.geo),
            transparency: text(&own.transparency, &master.transparency),
            classification: text(&own.classification, &master.classification),
            url: text(&own.url, &master.url),
            status,
            priority: own.priority.or(master.priority),
            categories: if own.categories.is_empty() {
                master.categories.clone()
            } else {
                own.categories.clone()
            },
            structured: if own.structured.is_empty() {
                master.structured.clone()
            } else {
                own.structured.clone()
            },
            start: None,
            end: None,
            duration: None,
        }
    }
}

/// Start, end and duration of a new component; `old` are those that it has if nothing is sent.
fn new_times(kind: Kind, old: &Times, fields: &NewFields, pointer: &str) -> Result<Times, Box<Error>> {
    let end_field = match kind {
        Kind::Event => "end",
        Kind::Todo => "due",
    };
    let at = ["start", end_field, "duration"].map(|field| format!("{pointer}/{field}"));
    if kind == Kind::Event && fields.start.is_none() && old.start.is_none() {
        return Err(fault(&*at[0], "start_required", "Send a start: an Event has one."));
    }
    let duration = fields
        .duration
        .as_ref()
        .map(|text| scalar::duration(text, &at[2]))
        .transpose()?;
    let patch = TimesPatch {
        start: fields.start.clone().map(|start| (Some(start), &*at[0])),
        end: fields.end.clone().map(|end| (Some(end), &*at[1])),
        duration: duration.map(|duration| (Some(duration), &*at[2])),
    };
    let mut times = temporal::decide(kind, old, &patch, Measure(&Zones::default()))?;
    if kind == Kind::Event && times.end.is_none() && times.duration.is_none() {
        times.duration = Duration::parse("PT1H");
    }
    Ok(times)
}

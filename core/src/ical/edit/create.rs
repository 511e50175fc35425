//! A new Event or To-do (contract of the semantic toolset: `events_create`, `todos_create`).

use jiff::Timestamp;

use super::scalar::{self, CLASSES, TRANSPARENCIES};
use super::temporal::{self, Measure, Times, TimesPatch};
use super::{fault, read, stamp, unwritable, zone};
use crate::ical::document::Document;
use crate::ical::encode::{ContentLine, LineEnd, NewComponent, Unwritable, escape_list};
use crate::ical::entity::{Entity, Kind};
use crate::ical::structured::StructuredData;
use crate::ical::value::{Geo, Temporal};
use crate::ical::zone::Zones;
use crate::outcome::Error;
use bytes::Bytes;

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

/// A new Event or To-do.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEntity {
    /// Which of them.
    pub kind: Kind,
    /// UID: not empty, at most [`MAX_UID`] bytes.
    pub uid: String,
    /// What its master says.
    pub fields: NewFields,
}

/// The octets of a new resource: VCALENDAR with the VTIMEZONEs that it needs, the master, and its overrides. A timed
/// Event without end and duration lasts `PT1H`; an all-day one is written with its end.
///
/// # Errors
/// `invalid_input` with violations below `/entity`.
pub fn create(entity: &NewEntity, now: Timestamp) -> Result<Bytes, Box<Error>> {
    let NewEntity { kind, uid, fields } = entity;
    if uid.trim().is_empty() || uid.len() > MAX_UID {
        let message = "Send a UID of 1 to 1,024 bytes, or none.";
        return Err(fault("/entity/uid", "length_out_of_range", message));
    }
    let master = component(*kind, uid, None, fields, "/entity/fields", now)?;
    let mut calendar = NewComponent::new("VCALENDAR").expect("a token");
    let head = [("VERSION", "2.0"), ("PRODID", PRODID)];
    calendar.lines = head.map(|(name, value)| plain(name, value)).into();
    calendar.components.push(master);
    let mut octets = Vec::new();
    calendar.write(LineEnd::CrLf, &mut octets);
    let document = zone::complete(&Document::unread(Bytes::new()), read(octets.into())?)?;
    let made = Entity::from_document(document);
    if made.opaque().is_some() {
        return Err(super::refusal(
            crate::outcome::Code::InvalidCalendarData,
            "What was sent does not make one Event or To-do.",
        ));
    }
    Ok(made.document().bytes().clone())
}

fn plain(name: &str, value: &str) -> ContentLine {
    ContentLine::new(name, &[], value).expect("fixed names and values without control characters")
}

/// One VEVENT or VTODO; with an identity an override.
pub(super) fn component(
    kind: Kind,
    uid: &str,
    identity: Option<&Temporal>,
    fields: &NewFields,
    pointer: &str,
    now: Timestamp,
) -> Result<NewComponent, Box<Error>> {
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
    let uid_line = ContentLine::text("UID", &[], uid).map_err(|fault| unwritable("/entity/uid", fault))?;
    lines.push(uid_line);
    let stamp = stamp::utc(now).encoded();
    lines.extend(["DTSTAMP", "CREATED", "LAST-MODIFIED"].map(|name| plain(name, &stamp)));
    let time = |name: &str, time: &Temporal| temporal::fresh(name, time).map_err(|fault| unwritable(pointer, fault));
    if let Some(identity) = identity {
        lines.push(time("RECURRENCE-ID", identity)?);
    }
    let times = times(kind, fields, pointer)?;
    if let Some(start) = &times.start {
        lines.push(time("DTSTART", start)?);
    }
    if let Some(end) = &times.end {
        lines.push(time(temporal::end_property(kind), end)?);
    }
    if let Some(duration) = times.duration {
        lines.push(plain("DURATION", &duration.to_string()));
    }
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

/// Start, end and duration of a new component.
fn times(kind: Kind, fields: &NewFields, pointer: &str) -> Result<Times, Box<Error>> {
    let end_field = match kind {
        Kind::Event => "end",
        Kind::Todo => "due",
    };
    let at = ["start", end_field, "duration"].map(|field| format!("{pointer}/{field}"));
    if kind == Kind::Event && fields.start.is_none() {
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
    let mut times = temporal::decide(kind, &Times::default(), &patch, Measure(&Zones::default()))?;
    if kind == Kind::Event && times.end.is_none() && times.duration.is_none() {
        times.duration = crate::ical::duration::Duration::parse("PT1H");
    }
    Ok(times)
}

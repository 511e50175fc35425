//! Calendars and times as the crate `icalendar` has them.
//!
//! [`Document`] keeps every octet, `icalendar::Calendar` a model: on the way there the order of properties, repeats of
//! most properties, quotes of parameters, folds and text between the components are lost. So convert what is new, and
//! change what is stored with [`Changes`](crate::ical::changes::Changes).
//!
//! On the way back nothing is invented: `icalendar` adds DTSTAMP and UID where they are missing when it writes, also in
//! VTIMEZONE and VALARM; here only what was set is written, through the encoder of this crate, so that no value can make
//! a line of its own.

use bytes::Bytes;
use icalendar::{Calendar, CalendarComponent, CalendarDateTime, DatePerhapsTime, Property};

use super::Unconvertible;
use super::chrono::{date, date_time, naive_date, naive_date_time};
use crate::ical::document::{Component, Document};
use crate::ical::encode::{ContentLine, LineEnd, NewComponent};
use crate::ical::value::Temporal;

/// Components that have to have DTSTAMP and UID (RFC 5545, 3.6).
const STAMPED: [&str; 4] = ["VEVENT", "VTODO", "VJOURNAL", "VFREEBUSY"];

impl TryFrom<&Document> for Calendar {
    type Error = Unconvertible;

    /// Line ends, folds, a byte order mark and blank lines are made even first: `icalendar` reads some of them as part
    /// of a value.
    fn try_from(document: &Document) -> Result<Self, Unconvertible> {
        let mut roots = document.roots();
        let (Some(root), None, []) = (roots.next(), roots.next(), document.faults()) else {
            return Err(Unconvertible::Structure);
        };
        if !root.is("VCALENDAR") {
            return Err(Unconvertible::Structure);
        }
        let mut octets = Vec::new();
        copied(root)?.write(LineEnd::CrLf, &mut octets);
        let text = String::from_utf8(octets).expect("content lines are checked for UTF-8");
        text.parse().map_err(Unconvertible::Refused)
    }
}

/// A component of a document without faults, whose depth is limited.
fn copied(component: Component<'_>) -> Result<NewComponent, Unconvertible> {
    let name = component.name();
    let mut copy = std::str::from_utf8(&name).map_or(Err(Unconvertible::Structure), new)?;
    for property in component.properties() {
        let name = || Unconvertible::Property(String::from_utf8_lossy(&property.name()).into_owned());
        let value = property.value();
        let value = std::str::from_utf8(&value).map_err(|_| name())?;
        let line = ContentLine::like(property, &[], &[], value).map_err(|_| name())?;
        // BEGIN with a parameter is a property here and the start of a component there.
        if std::str::from_utf8(line.octets()).is_err() || property.is("BEGIN") || property.is("END") {
            return Err(name());
        }
        copy.lines.push(line);
    }
    for inner in component.children() {
        copy.components.push(copied(inner)?);
    }
    Ok(copy)
}

impl TryFrom<&Calendar> for Document {
    type Error = Unconvertible;

    /// An Event or To-do without DTSTAMP or UID is refused.
    fn try_from(calendar: &Calendar) -> Result<Self, Unconvertible> {
        let mut root = new("VCALENDAR")?;
        root.lines = lines(&calendar.properties)?;
        for component in &calendar.components {
            root.components.push(match component {
                CalendarComponent::Event(event) => written(event),
                CalendarComponent::Todo(todo) => written(todo),
                CalendarComponent::Venue(venue) => written(venue),
                CalendarComponent::Other(other) => written(other),
                _ => Err(Unconvertible::Structure),
            }?);
        }
        let mut octets = Vec::new();
        root.write(LineEnd::CrLf, &mut octets);
        Self::parse(Bytes::from(octets)).map_err(|_| Unconvertible::Structure)
    }
}

fn written(component: &impl icalendar::Component) -> Result<NewComponent, Unconvertible> {
    let kind = component.component_kind();
    if STAMPED.contains(&kind.as_str()) {
        for name in ["DTSTAMP", "UID"] {
            if !component.properties().contains_key(name) {
                return Err(Unconvertible::Missing(name));
            }
        }
    }
    let mut copy = new(&kind)?;
    copy.lines = lines(
        component
            .properties()
            .values()
            .chain(component.multi_properties().values().flatten()),
    )?;
    for inner in component.components() {
        copy.components.push(written(inner)?);
    }
    Ok(copy)
}

fn new(name: &str) -> Result<NewComponent, Unconvertible> {
    NewComponent::new(name).map_err(|_| Unconvertible::Structure)
}

fn lines<'p>(properties: impl IntoIterator<Item = &'p Property>) -> Result<Vec<ContentLine>, Unconvertible> {
    properties.into_iter().map(line).collect()
}

/// What `icalendar` writes for a property, if it is one content line.
fn line(property: &Property) -> Result<ContentLine, Unconvertible> {
    let refused = || Unconvertible::Property(property.key().to_owned());
    let text: String = property.clone().try_into().map_err(|_| refused())?;
    // In a component of its own, so that the property can be found.
    let text = format!("BEGIN:X\r\n{text}END:X\r\n");
    let document = Document::parse(Bytes::from(text)).map_err(|_| refused())?;
    let mut components = document.roots();
    let (Some(component), None, []) = (components.next(), components.next(), document.faults()) else {
        return Err(refused());
    };
    let mut found = component.properties();
    let (Some(only), None, None) = (found.next(), found.next(), component.children().next()) else {
        return Err(refused());
    };
    let parameters = only.parameters();
    // Neither a name nor a parameter may have become something else.
    let names = parameters.iter().map(|parameter| &parameter.name);
    if *only.name() != *property.key().as_bytes() || !names.eq(property.params().keys()) {
        return Err(refused());
    }
    let value = only.value();
    let value = std::str::from_utf8(&value).map_err(|_| refused())?;
    ContentLine::new(property.key(), &parameters, value).map_err(|_| refused())
}

impl From<&Temporal> for DatePerhapsTime {
    fn from(value: &Temporal) -> Self {
        Self::DateTime(match value {
            Temporal::Date(date) => return Self::Date(naive_date(*date)),
            Temporal::Floating(time) => CalendarDateTime::Floating(naive_date_time(*time)),
            Temporal::Utc(time) => CalendarDateTime::Utc(naive_date_time(*time).and_utc()),
            Temporal::Zoned(time, tzid) => CalendarDateTime::WithTimezone {
                date_time: naive_date_time(*time),
                tzid: tzid.to_string(),
            },
        })
    }
}

impl TryFrom<&DatePerhapsTime> for Temporal {
    type Error = Unconvertible;

    fn try_from(value: &DatePerhapsTime) -> Result<Self, Unconvertible> {
        match value {
            DatePerhapsTime::Date(value) => date(*value).map(Self::Date),
            DatePerhapsTime::DateTime(value) => value.try_into(),
        }
    }
}

impl TryFrom<&Temporal> for CalendarDateTime {
    type Error = Unconvertible;

    /// Of anything but a DATE.
    fn try_from(value: &Temporal) -> Result<Self, Unconvertible> {
        match value.into() {
            DatePerhapsTime::DateTime(time) => Ok(time),
            DatePerhapsTime::Date(_) => Err(Unconvertible::Form),
        }
    }
}

impl TryFrom<&CalendarDateTime> for Temporal {
    type Error = Unconvertible;

    fn try_from(value: &CalendarDateTime) -> Result<Self, Unconvertible> {
        Ok(match value {
            CalendarDateTime::Floating(time) => Self::Floating(date_time(*time)?),
            CalendarDateTime::Utc(time) => Self::Utc(date_time(time.naive_utc())?),
            CalendarDateTime::WithTimezone { date_time: time, tzid } => {
                Self::Zoned(date_time(*time)?, tzid.as_str().into())
            }
        })
    }
}

#[cfg(test)]
mod tests;

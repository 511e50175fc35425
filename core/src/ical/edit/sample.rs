//! What the tests of several edits need.

use jiff::civil::DateTime;

use crate::ical::document::Document;
use crate::ical::entity::Entity;
use crate::ical::value::Temporal;

/// A resource with these components.
pub(super) fn series(inside: &str) -> Entity {
    Entity::read(format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y//EN\r\n{inside}END:VCALENDAR\r\n").into())
}

/// The components of such a resource, after an edit.
pub(super) fn components(document: &Document) -> String {
    let whole = String::from_utf8_lossy(document.bytes()).into_owned();
    let inside = whole.strip_prefix("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y//EN\r\n");
    inside
        .and_then(|inside| inside.strip_suffix("END:VCALENDAR\r\n"))
        .expect("what stands around stays")
        .to_owned()
}

/// A VEVENT with these lines.
pub(super) fn event(lines: &str) -> String {
    format!("BEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20260101T000000Z\r\n{lines}END:VEVENT\r\n")
}

fn civil(text: &str) -> DateTime {
    text.parse().expect("a local time")
}

pub(super) fn date(text: &str) -> Temporal {
    Temporal::Date(text.parse().expect("a day"))
}

pub(super) fn floating(text: &str) -> Temporal {
    Temporal::Floating(civil(text))
}

pub(super) fn utc(text: &str) -> Temporal {
    Temporal::Utc(civil(text))
}

pub(super) fn zoned(text: &str, zone: &str) -> Temporal {
    Temporal::Zoned(civil(text), zone.into())
}

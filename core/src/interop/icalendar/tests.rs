use icalendar::{Alarm, Component as _, Event, EventLike, Parameter, Todo};
use jiff::civil;

use super::*;

fn document(text: &str) -> Document {
    Document::parse(Bytes::copy_from_slice(text.as_bytes())).expect("not too large")
}

fn text(document: &Document) -> &str {
    std::str::from_utf8(document.bytes()).expect("UTF-8")
}

fn read(octets: &[u8]) -> Result<Calendar, Unconvertible> {
    Calendar::try_from(&Document::parse(Bytes::copy_from_slice(octets)).expect("not too large"))
}

const STORED: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//EN\r\n\
    BEGIN:VTIMEZONE\r\nTZID:Europe/Berlin\r\nBEGIN:STANDARD\r\nDTSTART:19701025T030000\r\nTZOFFSETFROM:+0200\r\nTZOFFSETTO:+0100\r\n\
    END:STANDARD\r\nEND:VTIMEZONE\r\n\
    BEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20261101T000000Z\r\nDTSTART;TZID=Europe/Berlin:20261130T090000\r\nSUMMARY:Caf\u{e9}\\, two\\nlines\r\n\
    ATTENDEE;CN=\"Baker, Bob\":mailto:bob@example.com\r\nATTENDEE:mailto:chen@example.com\r\n\
    BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT15M\r\nDESCRIPTION:x\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";

/// All content lines of a text, sorted, since `icalendar` sorts properties.
fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.split("\r\n").collect();
    lines.sort_unstable();
    lines
}

#[test]
fn a_stored_event_crosses_and_comes_back_with_the_same_lines() {
    let calendar = Calendar::try_from(&document(STORED)).expect("an event");
    let event = calendar.events().next().expect("one");
    assert_eq!(event.get_summary(), Some("Caf\u{e9}, two\nlines"));
    let start = event.get_start().expect("one");
    let zoned = Temporal::Zoned(civil::date(2026, 11, 30).at(9, 0, 0, 0), "Europe/Berlin".into());
    assert_eq!(Temporal::try_from(&start), Ok(zoned.clone()));
    assert_eq!(DatePerhapsTime::from(&zoned), start);
    let back = Document::try_from(&calendar).expect("nothing is missing");
    assert_eq!(
        sorted(text(&back)),
        sorted(STORED),
        "no DTSTAMP or UID in VTIMEZONE and VALARM"
    );
}

#[test]
fn what_icalendar_would_misread_is_made_even_first() {
    // Mixed line ends, a fold in a character, a byte order mark, a blank line.
    let odd = STORED
        .replace("PRODID:-//x//EN\r\n", "PRODID:-//x//EN\n\n")
        .replacen("BEGIN", "\u{feff}BEGIN", 1);
    let at = odd.find('\u{e9}').expect("one") + 1;
    let octets = [&odd.as_bytes()[..at], b"\r\n ", &odd.as_bytes()[at..]].concat();
    assert_eq!(read(&octets), read(STORED.as_bytes()));
}

#[test]
fn a_document_that_is_no_calendar_is_refused() {
    assert_eq!(read(b""), Err(Unconvertible::Structure));
    assert_eq!(read(b"BEGIN:VEVENT\r\nEND:VEVENT\r\n"), Err(Unconvertible::Structure));
    assert_eq!(read(STORED.repeat(2).as_bytes()), Err(Unconvertible::Structure));
    assert_eq!(
        read(STORED.replace("END:VEVENT\r\n", "").as_bytes()),
        Err(Unconvertible::Structure)
    );
    // Their parser recurses: no nesting that is hidden from ours may reach it.
    let nested = "BEGIN:X\r\n".repeat(100_000) + &"END:X\r\n".repeat(100_000);
    assert_eq!(read(nested.as_bytes()), Err(Unconvertible::Structure));
    let hidden = STORED.replace("UID:1\r\n", &"BEGIN;A=1:X\r\n".repeat(10_000));
    assert_eq!(
        read(hidden.as_bytes()),
        Err(Unconvertible::Property("BEGIN".to_owned()))
    );
    let mut bad = STORED.as_bytes().to_vec();
    bad[STORED.find("Caf").expect("one")] = 0xff;
    assert_eq!(read(&bad), Err(Unconvertible::Property("SUMMARY".to_owned())));
}

#[test]
fn a_new_event_is_written_by_our_encoder() {
    let start = Temporal::Utc(civil::date(2026, 12, 1).at(8, 0, 0, 0));
    let mut event = Event::new();
    event
        .uid("new@example.com")
        .summary("Bring; comma, and\nline")
        .starts(DatePerhapsTime::from(&start))
        .add_property("DTSTAMP", "20261130T000000Z")
        .append_component(Alarm::display("x", chrono::TimeDelta::minutes(-15)));
    let written = Document::try_from(&Calendar::from([event.done()])).expect("it is whole");
    let expected = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:ICALENDAR-RS\r\nCALSCALE:GREGORIAN\r\nBEGIN:VEVENT\r\n\
        DTSTAMP:20261130T000000Z\r\nDTSTART:20261201T080000Z\r\nSUMMARY:Bring\\; comma\\, and\\nline\r\nUID:new@example.com\r\n\
        BEGIN:VALARM\r\nACTION:DISPLAY\r\nDESCRIPTION:x\r\nTRIGGER:-PT900S\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
    assert_eq!(text(&written), expected);
}

#[test]
fn nothing_is_invented() {
    let bare = Calendar::from([Todo::new().summary("x").done()]);
    assert!(matches!(
        Document::try_from(&bare),
        Err(Unconvertible::Missing("DTSTAMP" | "UID"))
    ));
}

#[test]
fn no_value_makes_a_line_of_its_own() {
    let injected = [
        "http://x/\r\nATTENDEE:mailto:eve@example.com",
        "a\nX-A:1",
        "\r\nBEGIN:VALARM\r\nEND:VALARM",
        "a\r\nEND:VEVENT",
    ];
    for value in injected {
        for name in ["URL", "X-OTHER", "ORGANIZER"] {
            let mut event = Event::new();
            event.add_property("DTSTAMP", "20261130T000000Z").uid("1");
            let plain = Document::try_from(&Calendar::from([event.clone().done()])).expect("it is whole");
            event.add_property(name, value);
            refused_or_one_line(&Calendar::from([event.done()]), &plain);
            let mut event = Event::new();
            event.add_property("DTSTAMP", "20261130T000000Z").uid("1");
            let mut property = Property::new(name, "v");
            property.append_parameter(Parameter::new("CN", value));
            event.append_property(property.done());
            refused_or_one_line(&Calendar::from([event.done()]), &plain);
        }
    }
    for name in ["BEGIN", "END", "A:B", "A\r\nB", ""] {
        let mut calendar = Calendar::new();
        calendar.append_property(Property::new(name, "VEVENT"));
        assert!(Document::try_from(&calendar).is_err(), "{name:?}");
        let mut property = Property::new("X-A", "v");
        property.append_parameter(Parameter::new(name, "VEVENT"));
        let mut calendar = Calendar::new();
        calendar.append_property(property.done());
        let written = Document::try_from(&calendar);
        assert_eq!(written.is_ok(), ["BEGIN", "END"].contains(&name), "{name:?}");
    }
}

/// A value that `icalendar` escapes may pass; then there is one line more and no component more.
fn refused_or_one_line(calendar: &Calendar, plain: &Document) {
    if let Ok(document) = Document::try_from(calendar) {
        assert_eq!(document.line_count(), plain.line_count() + 1, "{}", text(&document));
    }
}

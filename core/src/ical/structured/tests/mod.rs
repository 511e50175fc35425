use serde_json::{Value, json};

use super::*;
use crate::ical::document::Document;
use crate::ical::entity::Entity;
use crate::outcome::Diagnostic;

mod examples;
mod input;
mod properties;

/// An Event with these lines in it.
fn event(lines: &str) -> Entity {
    let text = format!(
        "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\nBEGIN:VEVENT\nUID:1\nDTSTAMP:20260101T000000Z\nDTSTART:20260101T000000Z\n{lines}END:VEVENT\nEND:VCALENDAR\n"
    );
    Entity::read(text.into())
}

/// Its structured data as it is shown, and the codes of what is odd.
fn shown(lines: &str) -> (Value, Vec<&'static str>) {
    let entity = event(lines);
    assert_eq!(entity.opaque(), None, "{lines}");
    let shown = json!(entity.projection())["fields"]["structuredData"].take();
    let diagnostics = entity.diagnostics();
    (shown, diagnostics.iter().map(|it: &Diagnostic| it.code).collect())
}

/// The VEVENT of a document.
fn component(document: &Document) -> crate::ical::document::Component<'_> {
    let calendar = document.roots().next().expect("a VCALENDAR");
    calendar.children().next().expect("a VEVENT")
}

#[test]
fn an_entity_without_any_has_none() {
    assert_eq!(
        shown("SUMMARY:x\nCATEGORIES:a,b\nX-ATTENDEE:mailto:a@example.com\n"),
        (Value::Null, vec![])
    );
}

#[test]
fn what_cannot_be_shown_is_left_out_and_told() {
    for (lines, want, codes) in [
        (
            "ATTENDEE:ann@example.com\nATTENDEE:mailto:bob@example.com\n",
            json!({"attendees": 1}),
            vec!["registered_property_value_invalid"],
        ),
        ("ATTENDEE:\n", Value::Null, vec!["registered_property_value_invalid"]),
        (
            "REQUEST-STATUS:3.1.1;Deep\n",
            Value::Null,
            vec!["registered_property_value_invalid"],
        ),
        (
            "REQUEST-STATUS:2.0\n",
            Value::Null,
            vec!["registered_property_value_invalid"],
        ),
        ("RELATED-TO:\n", Value::Null, vec!["registered_property_value_invalid"]),
        (
            "ATTACH;ENCODING=BASE64;VALUE=BINARY:AAAA\nATTACH:cid:x\nIMAGE;VALUE=BINARY;ENCODING=BASE64:AAAA\n",
            json!({"attachments": 1}),
            vec!["inline_content_omitted"],
        ),
        (
            "STRUCTURED-DATA;VALUE=TEXT:{}\n",
            Value::Null,
            vec!["inline_content_omitted"],
        ),
        (
            "BEGIN:VALARM\nTRIGGER:-PT5M\nEND:VALARM\n",
            Value::Null,
            vec!["alarm_invalid"],
        ),
        (
            "BEGIN:VALARM\nACTION:DISPLAY\nTRIGGER:soon\nEND:VALARM\n",
            Value::Null,
            vec!["alarm_invalid", "registered_property_value_invalid"],
        ),
        (
            "BEGIN:PARTICIPANT\nUID:p\nEND:PARTICIPANT\nBEGIN:VLOCATION\nNAME:x\nEND:VLOCATION\n",
            Value::Null,
            vec!["extension_component_invalid"],
        ),
        (
            "ATTENDEE;CN=Doe, Jane;RSVP=YES;ROLE=A;ROLE=B:mailto:j@example.com\n",
            json!({"attendees": 1}),
            vec!["property_parameter_cardinality", "property_parameter_invalid"],
        ),
        (
            "ORGANIZER:mailto:a@example.com\nORGANIZER:mailto:b@example.com\n",
            json!({"organizer": 2}),
            vec!["singleton_property_repeated"],
        ),
    ] {
        let (shown, got) = shown(lines);
        let size = |value: &Value| {
            value
                .as_array()
                .map_or_else(|| value.as_object().map_or(0, |it| it.len()), Vec::len)
        };
        let counts = |value: &Value| {
            let members = value.as_object()?.iter();
            Some(
                members
                    .map(|(name, value)| (name.clone(), json!(size(value))))
                    .collect(),
            )
        };
        assert_eq!((counts(&shown).unwrap_or(Value::Null), got), (want, codes), "{lines}");
    }
    let text = shown("ATTENDEE;CN=Doe, Jane;RSVP=YES;ROLE=A;ROLE=B:mailto:j@example.com\n")
        .0
        .to_string();
    assert!(
        text.contains("\"Doe, Jane\"") && text.contains("\"A\"") && !text.contains("\"B\""),
        "{text}"
    );
}

#[test]
fn addresses_in_any_script_are_shown_as_uris() {
    let (shown, codes) =
        shown("ATTENDEE;DIR=\"https://example.com/ä\":mailto:jürgen@example.com\nATTACH:https://example.com/a b\n");
    assert_eq!(shown["attendees"][0]["uri"], "mailto:j%C3%BCrgen@example.com");
    assert_eq!(shown["attendees"][0]["directory"], "https://example.com/%C3%A4");
    assert_eq!(
        (shown.get("attachments"), codes),
        (None, vec!["registered_property_value_invalid"])
    );
}

#[test]
fn inline_content_is_counted_in_alarms_and_overrides_too() {
    let inline = "ATTACH;ENCODING=BASE64;VALUE=BINARY:AAAA\n";
    let alarm = format!("BEGIN:VALARM\nACTION:AUDIO\nTRIGGER:-PT5M\n{inline}END:VALARM\n");
    let text = format!(
        "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\nBEGIN:VEVENT\nUID:1\nDTSTART:20260101T000000Z\nRRULE:FREQ=DAILY\n{inline}{alarm}END:VEVENT\n\
         BEGIN:VEVENT\nUID:1\nRECURRENCE-ID:20260102T000000Z\nDTSTART:20260102T000000Z\n{inline}END:VEVENT\nEND:VCALENDAR\n"
    );
    let entity = Entity::read(text.into());
    let diagnostics = entity.diagnostics();
    let told = diagnostics
        .iter()
        .find(|it| it.code == "inline_content_omitted")
        .expect("told");
    assert!(told.message.starts_with("3 "), "{}", told.message);
}

/// Whatever costs memory counts: elements, parameters, values of lists, in all components together.
#[test]
fn what_is_too_much_is_left_out_and_told() {
    let count = |lines: &str, member: &str| {
        let (shown, codes) = shown(lines);
        (
            shown[member].as_array().map_or(0, Vec::len),
            codes.contains(&"structured_data_omitted"),
        )
    };
    let attendee = "ATTENDEE:mailto:a@example.com\n";
    assert_eq!(count(&attendee.repeat(8_000), "attendees"), (8_000, false));
    assert_eq!(count(&attendee.repeat(8_001), "attendees"), (8_000, true));
    let parameters = format!("COMMENT{}:x\n", ";X-A=1".repeat(8_000));
    assert_eq!(count(&format!("{parameters}COMMENT:y\n"), "comments"), (1, true));
    let delegated = format!(
        "ATTENDEE;DELEGATED-TO={}:mailto:a@example.com\n",
        vec!["\"a:b\""; 8_001].join(",")
    );
    assert_eq!(count(&delegated, "attendees"), (0, true));
    assert_eq!(
        count(&format!("RESOURCES:{}\n", "a,".repeat(8_001)), "resources"),
        (0, true)
    );
    let types = format!(
        "BEGIN:VLOCATION\nUID:l\nLOCATION-TYPE:{}\nEND:VLOCATION\n",
        "a,".repeat(8_000)
    );
    assert_eq!(count(&types, "locationUris"), (1, true));
    let alarm = "BEGIN:VALARM\nACTION:AUDIO\nTRIGGER:-PT5M\nEND:VALARM\n";
    assert_eq!(count(&alarm.repeat(2_667), "alarms"), (2_666, true));
    let text = format!(
        "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\nBEGIN:VEVENT\nUID:1\nDTSTART:20260101T000000Z\nRRULE:FREQ=DAILY\n{0}END:VEVENT\n\
         BEGIN:VEVENT\nUID:1\nRECURRENCE-ID:20260102T000000Z\nDTSTART:20260102T000000Z\n{0}END:VEVENT\nEND:VCALENDAR\n",
        attendee.repeat(5_000)
    );
    let shown = json!(Entity::read(text.into()).projection());
    let other = &shown["fields"]["recurrenceSet"]["overrides"][0]["fields"]["structuredData"]["attendees"];
    assert_eq!(other.as_array().map(Vec::len), Some(3_000));
}

#[test]
fn overrides_have_their_own() {
    let text = "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\nBEGIN:VEVENT\nUID:1\nDTSTART:20260101T000000Z\nRRULE:FREQ=DAILY\n\
        ATTENDEE:mailto:a@example.com\nEND:VEVENT\nBEGIN:VEVENT\nUID:1\nRECURRENCE-ID:20260102T000000Z\nDTSTART:20260102T000000Z\n\
        ATTENDEE:mailto:b@example.com\nATTENDEE:mailto:c@example.com\nEND:VEVENT\nEND:VCALENDAR\n";
    let entity = Entity::read(text.into());
    let shown = json!(entity.projection());
    let uri = |fields: &Value, at: usize| fields["structuredData"]["attendees"][at]["uri"].clone();
    assert_eq!(uri(&shown["fields"], 0), "mailto:a@example.com");
    let other = &shown["fields"]["recurrenceSet"]["overrides"][0]["fields"];
    assert_eq!(uri(other, 1), "mailto:c@example.com");
    let attendees: Vec<_> = entity
        .overrides
        .iter()
        .map(|part| entity.structured_data(Some(part.component)))
        .collect();
    let attendees = attendees[0].as_ref().expect("attendees");
    assert_eq!(
        attendees.attendees().collect::<Vec<_>>(),
        ["mailto:b@example.com", "mailto:c@example.com"]
    );
    assert_eq!(attendees.organizer(), None);
}

/// RFC 9073, 7.1.1: with a calendar address that an attendee has.
#[test]
fn a_participant_is_schedulable_as_an_attendee() {
    let participant =
        |address: &str| format!("BEGIN:PARTICIPANT\nUID:p\nPARTICIPANT-TYPE:ACTIVE\n{address}END:PARTICIPANT\n");
    for (address, want) in [
        ("", false),
        ("CALENDAR-ADDRESS:MAILTO:Ann@example.com\n", true),
        ("CALENDAR-ADDRESS:mailto:bob@example.com\n", false),
    ] {
        let (shown, codes) = shown(&format!("ATTENDEE:mailto:ann@example.com\n{}", participant(address)));
        assert_eq!(codes, Vec::<&str>::new());
        assert_eq!(shown["participants"][0]["schedulable"], want, "{address}");
    }
}

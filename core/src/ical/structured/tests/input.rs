use super::*;
use crate::ical::entity::Kind;

/// Pointers and codes of what is wrong, in order.
fn wrong(value: &Value, kind: Kind) -> Vec<(String, &'static str)> {
    let read = StructuredData::from_json(value, kind, "/d");
    let violations = read.err().unwrap_or_default();
    let mut all: Vec<_> = violations.into_iter().map(|it| (it.pointer, it.code)).collect();
    all.sort();
    all
}

fn plain(value: impl serde::Serialize) -> Value {
    json!({"value": value, "parameters": []})
}

fn alarm(more: Value) -> Value {
    let mut alarm = json!({"action": plain("display"), "trigger": plain("-PT5M"), "description": plain("x")});
    alarm
        .as_object_mut()
        .expect("an object")
        .extend(more.as_object().expect("an object").clone());
    json!({"alarms": [alarm]})
}

fn attendee(more: Value) -> Value {
    let mut attendee = json!({"uri": "mailto:a@example.com", "parameters": []});
    attendee
        .as_object_mut()
        .expect("an object")
        .extend(more.as_object().expect("an object").clone());
    json!({"attendees": [attendee]})
}

fn comment(parameters: Value) -> Value {
    json!({"comments": [{"value": "x", "parameters": parameters}]})
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    type Expected = &'static [(&'static str, &'static str)];
    let place = |url: &str| json!([{"uid": "v", "parameters": [], "url": {"uri": url, "parameters": []}}]);
    let resource =
        |types: Value| json!({"resourceUris": [{"uid": "r", "parameters": [], "componentTypes": plain(types)}]});
    let table: Vec<(Value, Expected)> = vec![
        (json!([]), &[("/d", "invalid_type")]),
        (json!({"attendee": []}), &[("/d/attendee", "unknown_member")]),
        (json!({"attendees": {}}), &[("/d/attendees", "invalid_type")]),
        (json!({"attendees": [5]}), &[("/d/attendees/0", "invalid_type")]),
        (
            json!({"attendees": [{}]}),
            &[
                ("/d/attendees/0/parameters", "required_member"),
                ("/d/attendees/0/uri", "required_member"),
            ],
        ),
        (
            attendee(json!({"uri": "a@example.com"})),
            &[("/d/attendees/0/uri", "format_mismatch")],
        ),
        (
            attendee(json!({"uri": " mailto:a@example.com"})),
            &[("/d/attendees/0/uri", "format_mismatch")],
        ),
        (
            attendee(json!({"uri": "mailto:a@example.com\r\nX:y"})),
            &[("/d/attendees/0/uri", "format_mismatch")],
        ),
        (
            attendee(json!({"role": "boss"})),
            &[("/d/attendees/0/role", "value_not_allowed")],
        ),
        (attendee(json!({"role": "optional"})), &[]),
        (
            attendee(json!({"role": "x-guest", "cutype": "room", "partStat": "accepted", "rsvp": true})),
            &[],
        ),
        (
            attendee(json!({"partStat": ""})),
            &[("/d/attendees/0/partStat", "value_not_allowed")],
        ),
        (
            attendee(json!({"cutype": "X-A;B"})),
            &[("/d/attendees/0/cutype", "value_not_allowed")],
        ),
        (
            attendee(json!({"rsvp": "true"})),
            &[("/d/attendees/0/rsvp", "invalid_type")],
        ),
        (
            attendee(json!({"delegatedTo": ["mailto:b@example.com", "b"]})),
            &[("/d/attendees/0/delegatedTo/1", "format_mismatch")],
        ),
        (
            attendee(json!({"commonName": "a\u{7}"})),
            &[("/d/attendees/0/commonName", "format_mismatch")],
        ),
        (
            attendee(json!({"parameters": [{"name": "cn", "values": ["x"]}]})),
            &[("/d/attendees/0/parameters/0/name", "value_not_allowed")],
        ),
        (
            comment(json!([{"name": "A B", "values": ["x"]}])),
            &[("/d/comments/0/parameters/0/name", "format_mismatch")],
        ),
        (
            comment(json!([{"name": "X-A", "values": []}])),
            &[("/d/comments/0/parameters/0/values", "item_count_out_of_range")],
        ),
        (
            comment(json!([{"name": "X-A", "values": ["a\u{0}"]}])),
            &[("/d/comments/0/parameters/0/values/0", "format_mismatch")],
        ),
        (
            comment(json!([{"name": "X-A", "values": ["1"]}, {"name": "x-a", "values": ["2"]}])),
            &[("/d/comments/0/parameters/1/name", "duplicate_items")],
        ),
        (
            comment(json!([{"name": "VALUE", "values": ["INTEGER"]}])),
            &[("/d/comments/0/parameters/0/name", "value_not_allowed")],
        ),
        (comment(json!([{"name": "VALUE", "values": ["text"]}])), &[]),
        (
            comment(json!([{"name": "ENCODING", "values": ["BASE64"]}])),
            &[("/d/comments/0/parameters/0/name", "value_not_allowed")],
        ),
        (json!({"comments": [plain("a\r\nb\tc\nd")]}), &[]),
        (
            json!({"comments": [plain("a\u{b}")]}),
            &[("/d/comments/0/value", "format_mismatch")],
        ),
        (
            json!({"styledDescriptions": [{"value": "no", "parameters": [{"name": "VALUE", "values": ["URI"]}]}]}),
            &[("/d/styledDescriptions/0/value", "format_mismatch")],
        ),
        (alarm(json!({})), &[]),
        (
            alarm(json!({"action": plain("x-sound")})),
            &[("/d/alarms/0/action/value", "value_not_allowed")],
        ),
        (alarm(json!({"action": plain("audio")})), &[]),
        (
            json!({"alarms": [{"action": plain("display"), "trigger": plain("-PT5M")}]}),
            &[("/d/alarms/0/description", "required_member")],
        ),
        (
            json!({"alarms": [{"action": plain("audio"), "trigger": plain("-PT5M")}]}),
            &[],
        ),
        (
            alarm(json!({"repeat": plain(2)})),
            &[("/d/alarms/0/duration", "required_member")],
        ),
        (
            alarm(json!({"duration": plain("PT1M")})),
            &[("/d/alarms/0/repeat", "required_member")],
        ),
        (
            alarm(json!({"duration": plain("PT1M"), "repeat": plain(0)})),
            &[
                ("/d/alarms/0/repeat", "required_member"),
                ("/d/alarms/0/repeat/value", "out_of_range"),
            ],
        ),
        (
            alarm(json!({"duration": plain("PT0S"), "repeat": plain(1)})),
            &[("/d/alarms/0/duration/value", "duration_invalid")],
        ),
        (
            alarm(json!({"duration": plain("-PT1M"), "repeat": plain(1)})),
            &[("/d/alarms/0/duration/value", "duration_invalid")],
        ),
        (
            alarm(json!({"repeat": plain(1.5), "duration": plain("PT1M")})),
            &[
                ("/d/alarms/0/repeat", "required_member"),
                ("/d/alarms/0/repeat/value", "invalid_type"),
            ],
        ),
        (
            alarm(json!({"trigger": plain("soon")})),
            &[("/d/alarms/0/trigger/value", "format_mismatch")],
        ),
        (alarm(json!({"trigger": plain("20260101T000000Z")})), &[]),
        (
            alarm(json!({"trigger": plain("20260101T000000")})),
            &[("/d/alarms/0/trigger/value", "format_mismatch")],
        ),
        (
            alarm(
                json!({"trigger": {"value": "20260101T000000Z", "parameters": [{"name": "VALUE", "values": ["DURATION"]}]}}),
            ),
            &[("/d/alarms/0/trigger/value", "format_mismatch")],
        ),
        (
            alarm(json!({"trigger": {"value": "-PT5M", "parameters": [{"name": "RELATED", "values": ["END"]}]}})),
            &[],
        ),
        (
            alarm(json!({"trigger": {"value": "-PT5M", "parameters": [{"name": "RELATED", "values": ["MIDDLE"]}]}})),
            &[("/d/alarms/0/trigger/parameters/0/name", "value_not_allowed")],
        ),
        (
            alarm(json!({"proximity": plain("ARRIVE")})),
            &[("/d/alarms/0/proximityLocations", "required_member")],
        ),
        (
            alarm(json!({"proximity": plain("depart"), "proximityLocations": place("https://example.com/")})),
            &[("/d/alarms/0/proximityLocations", "required_member")],
        ),
        (
            alarm(json!({"proximity": plain("depart"), "proximityLocations": place("geo:1,2")})),
            &[],
        ),
        (alarm(json!({"proximity": plain("connect")})), &[]),
        (
            alarm(json!({"acknowledged": plain(json!({"kind": "utcDateTime", "value": "2026-02-30T00:00:00Z"}))})),
            &[("/d/alarms/0/acknowledged/value/value", "temporal_value_invalid")],
        ),
        (
            alarm(json!({"acknowledged": plain(json!({"kind": "utcDateTime", "value": "2026-01-01T00:00:00.5Z"}))})),
            &[("/d/alarms/0/acknowledged/value/value", "temporal_value_invalid")],
        ),
        (
            alarm(json!({"acknowledged": plain(json!({"kind": "date", "value": "2026-01-01"}))})),
            &[
                ("/d/alarms/0/acknowledged/value/kind", "value_not_allowed"),
                ("/d/alarms/0/acknowledged/value/value", "temporal_value_invalid"),
            ],
        ),
        (
            json!({"participants": [{"uid": plain(""), "participantType": plain("x-robot")}]}),
            &[("/d/participants/0/uid/value", "length_out_of_range")],
        ),
        (
            json!({"participants": [{"uid": plain("p")}]}),
            &[("/d/participants/0/participantType", "required_member")],
        ),
        (
            json!({"participants": [{"uid": plain("p"), "participantType": plain("speaker"), "schedulable": true}]}),
            &[("/d/participants/0/schedulable", "unknown_member")],
        ),
        (
            json!({"locationUris": [{"uid": "", "parameters": []}]}),
            &[("/d/locationUris/0/uid", "length_out_of_range")],
        ),
        (
            json!({"locationUris": [{"uid": "v"}]}),
            &[("/d/locationUris/0/parameters", "required_member")],
        ),
        (
            json!({"locationUris": [{"uid": "v", "parameters": [], "geo": plain(json!({"latitude": 91, "longitude": "x"}))}]}),
            &[
                ("/d/locationUris/0/geo/value/latitude", "out_of_range"),
                ("/d/locationUris/0/geo/value/longitude", "invalid_type"),
            ],
        ),
        (resource(json!(["projector"])), &[]),
        (
            resource(json!(["projector", "room"])),
            &[("/d/resourceUris/0/componentTypes/value", "item_count_out_of_range")],
        ),
        (
            resource(json!(["tractor"])),
            &[("/d/resourceUris/0/componentTypes/value", "value_not_allowed")],
        ),
        (
            json!({"resourceUris": [{"uid": "r", "parameters": [], "url": {"uri": "https://example.com/", "parameters": []}}]}),
            &[("/d/resourceUris/0/url", "unknown_member")],
        ),
        (
            json!({"requestStatuses": [{"code": "2", "description": "x", "parameters": []}]}),
            &[("/d/requestStatuses/0/code", "format_mismatch")],
        ),
        (
            json!({"relatedTo": [{"value": "", "relationType": "uncle", "parameters": []}]}),
            &[("/d/relatedTo/0/value", "length_out_of_range")],
        ),
        (
            json!({"relatedTo": [{"value": "x", "relationType": "uncle", "parameters": []}]}),
            &[("/d/relatedTo/0/relationType", "value_not_allowed")],
        ),
        (json!({"a/b~": 1}), &[("/d/a~1b~0", "unknown_member")]),
    ];
    for (value, want) in table {
        let want: Vec<_> = want
            .iter()
            .map(|(pointer, code)| ((*pointer).to_owned(), *code))
            .collect();
        assert_eq!(wrong(&value, Kind::Event), want, "{value}");
    }
}

#[test]
fn only_attendees_of_todos_complete() {
    let done = attendee(json!({"partStat": "completed"}));
    assert_eq!(wrong(&done, Kind::Todo), []);
    assert_eq!(
        wrong(&done, Kind::Event),
        [("/d/attendees/0/partStat".to_owned(), "value_not_allowed")]
    );
}

/// No input makes a content line of its own, even where nothing checks it.
#[test]
fn inputs_are_written_in_the_form_of_their_type() {
    let sent = json!({
        "organizer": {"uri": "mailto:o@example.com", "label": "O; \"the\" one", "parameters": []},
        "attendees": [{"uri": "mailto:a@example.com", "role": "optional", "partStat": "accepted", "rsvp": true, "parameters": []}],
        "images": [{"uri": "https://example.com/i.png", "parameters": [{"name": "DISPLAY", "values": ["BADGE"]}]}],
        "comments": [{"value": "a, b; c\r\nd", "parameters": []}],
        "styledDescriptions": [{"value": "<p>a</p>", "parameters": [{"name": "FMTTYPE", "values": ["text/html"]}]}],
        "requestStatuses": [{"code": "2.0", "description": "a;b", "exceptionData": "c,d", "parameters": []}],
        "alarms": [{"action": plain("audio"), "trigger": plain("20260101T080000Z")}],
        "resourceUris": [{"uid": "r", "parameters": [], "componentTypes": plain(["room"]), "geo": plain(json!({"latitude": 1.5, "longitude": -0.0000001}))}],
    });
    let data = StructuredData::from_json(&sent, Kind::Event, "").expect("right");
    let (lines, components) = data.write().expect("it can be written");
    let mut out = Vec::new();
    lines
        .iter()
        .for_each(|line| line.write(crate::ical::encode::LineEnd::Lf, &mut out));
    components
        .iter()
        .for_each(|component| component.write(crate::ical::encode::LineEnd::Lf, &mut out));
    assert_eq!(
        String::from_utf8(out).expect("UTF-8"),
        "ORGANIZER;CN=\"O; ^'the^' one\":mailto:o@example.com\n\
         ATTENDEE;ROLE=OPT-PARTICIPANT;PARTSTAT=ACCEPTED;RSVP=TRUE:mailto:a@example.\n com\n\
         REQUEST-STATUS:2.0;a\\;b;c\\,d\n\
         COMMENT:a\\, b\\; c\\nd\n\
         STYLED-DESCRIPTION;VALUE=TEXT;FMTTYPE=text/html:<p>a</p>\n\
         IMAGE;VALUE=URI;DISPLAY=BADGE:https://example.com/i.png\n\
         BEGIN:VALARM\nACTION:AUDIO\nTRIGGER;VALUE=DATE-TIME:20260101T080000Z\nEND:VALARM\n\
         BEGIN:VRESOURCE\nUID:r\nGEO:1.5;-0.0000001\nRESOURCE-TYPE:ROOM\nEND:VRESOURCE\n"
    );
}

use serde_json::{Value, json};

use super::*;
use crate::ical::expand::{Unevaluable, Window};
use crate::ical::recur::Steps;
use crate::ical::series::OccurrenceTiming;
use crate::ical::zone::Zone;

const STAMP: &str = "DTSTAMP:20260101T000000Z\r\n";

fn calendar(inside: &str) -> Entity {
    Entity::read(format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y//EN\r\n{inside}END:VCALENDAR\r\n").into())
}

pub(super) fn event(lines: &str) -> String {
    format!("BEGIN:VEVENT\r\nUID:1\r\n{STAMP}{lines}END:VEVENT\r\n")
}

fn todo(lines: &str) -> String {
    event(lines).replace("VEVENT", "VTODO")
}

pub(super) fn projection(entity: &Entity) -> Value {
    serde_json::to_value(entity.projection()).expect("serializes")
}

fn codes(entity: &Entity) -> Vec<&'static str> {
    entity.diagnostics().iter().map(|diagnostic| diagnostic.code).collect()
}

pub(super) fn year(entity: &Entity) -> Result<Vec<super::super::expand::Instance>, Unevaluable> {
    let window = Window {
        from: 1_767_225_600,
        to: 1_798_761_600,
    };
    entity.occurrences(&Zone::utc(), window, &mut Steps::new(100_000))
}

#[test]
fn what_is_not_one_event_or_to_do_is_opaque_with_a_reason() {
    let start = "DTSTART:20260504T080000Z\r\n";
    let good = event(start);
    let identity = "RECURRENCE-ID:20260504T080000Z\r\n";
    let single = |lines: &str| event(&format!("{start}{lines}"));
    for (inside, want) in [
        (String::new(), "entity_master_missing"),
        (
            "BEGIN:VTIMEZONE\r\nTZID:x\r\nEND:VTIMEZONE\r\n".to_owned(),
            "entity_master_missing",
        ),
        (good.clone() + &todo(""), "mixed_entity_kinds"),
        (
            good.clone() + "BEGIN:VJOURNAL\r\nUID:1\r\nEND:VJOURNAL\r\n",
            "unsupported_entity_component",
        ),
        (
            "BEGIN:VJOURNAL\r\nUID:1\r\nEND:VJOURNAL\r\n".to_owned(),
            "unsupported_entity_component",
        ),
        (good.clone() + &good, "entity_master_cardinality"),
        (
            good.clone() + &good.replace("UID:1", "UID:2"),
            "entity_master_cardinality",
        ),
        (good.replace("UID:1\r\n", ""), "entity_uid_invalid"),
        (good.replace("UID:1", "UID:  "), "entity_uid_invalid"),
        (good.replace("UID:1", "UID:1\r\nUID:1"), "entity_uid_invalid"),
        (
            good.clone() + &event(identity).replace("UID:1", "UID:2"),
            "recurrence_override_uid_mismatch",
        ),
        (
            good.clone() + &event(identity) + &event(identity),
            "recurrence_identity_duplicate",
        ),
        (event(""), "entity_start_invalid"),
        (event("DTSTART:tomorrow\r\n"), "entity_start_invalid"),
        (event("DTSTART;VALUE=DATE:20260230\r\n"), "entity_start_invalid"),
        (single(start), "singleton_property_repeated"),
        (
            single("DTEND:20260504T090000Z\r\nDURATION:PT1H\r\n"),
            "entity_temporal_cardinality",
        ),
        (single("DTEND:later\r\n"), "registered_property_value_invalid"),
        (single("DURATION:an hour\r\n"), "registered_property_value_invalid"),
        (single("RECURRENCE-ID:first\r\n"), "registered_property_value_invalid"),
        (
            single("BEGIN:VEVENT\r\nUID:1\r\nEND:VEVENT\r\n"),
            "known_component_topology_invalid",
        ),
        (
            good.clone() + "BEGIN:VALARM\r\nEND:VALARM\r\n",
            "known_component_topology_invalid",
        ),
        (good.clone() + "BEGIN:VEVENT\r\n", "invalid_calendar_data"),
        (good.clone() + "END:VTODO\r\n", "invalid_calendar_data"),
    ] {
        let entity = calendar(&inside);
        assert_eq!(entity.opaque(), Some(want), "{inside}");
        assert_eq!(codes(&entity), [want]);
        assert_eq!(projection(&entity)["kind"], "opaque");
        assert_eq!(year(&entity), Ok(Vec::new()));
    }
    for (octets, want) in [
        (&b""[..], "calendar_component_cardinality"),
        (b"<html>", "calendar_component_cardinality"),
        (good.as_bytes(), "calendar_component_cardinality"),
        (
            b"BEGIN:VCALENDAR\nVERSION:1.0\nEND:VCALENDAR",
            "calendar_required_property_invalid",
        ),
        (
            &vec![b'x'; crate::ical::document::MAX_BYTES + 1],
            "invalid_calendar_data",
        ),
    ] {
        let entity = Entity::read(Bytes::copy_from_slice(octets));
        assert_eq!((entity.opaque(), entity.size()), (Some(want), octets.len()));
    }
    let opaque = calendar(&(good + &todo("")));
    assert_eq!((opaque.kind(), opaque.uid()), (None, Some("1")));
    let alike = projection(&calendar(
        "BEGIN:X-A/b\r\nN:1\r\nEND:X-A/b\r\nBEGIN:x-a/B\r\nN:2\r\nEND:x-a/B\r\n",
    ));
    let path = &alike["properties"][3]["componentPath"];
    assert_eq!(path[1], json!({"name": "X-A-B", "occurrence": 1}));
    let properties = &projection(&opaque)["properties"];
    assert_eq!(properties.as_array().map(Vec::len), Some(7));
    assert_eq!(
        properties[4],
        json!({
            "componentPath": [{"name": "VCALENDAR", "occurrence": 0}, {"name": "VEVENT", "occurrence": 0}],
            "name": "DTSTART", "parameters": [], "valueType": "date-time",
            "rawEncodedValue": "20260504T080000Z", "originalSlice": "DTSTART:20260504T080000Z\r\n",
        })
    );
}

#[test]
fn an_event_shows_its_fields() {
    // RFC 5545, 3.6.1 and 3.8, put together.
    let entity = calendar(&event(
        "DTSTART;TZID=Europe/Berlin:20260504T080000\r\nDURATION:PT1H30M\r\nSUMMARY;LANGUAGE=en:Lunch\\, with Bob\r\n\
         DESCRIPTION:one\\ntwo\r\nLOCATION:Café\r\nGEO:48.2;16.3\r\nSTATUS:CONFIRMED\r\nTRANSP:X-MAYBE\r\nCLASS:SECRET\r\n\
         PRIORITY:5\r\nCATEGORIES:A,B\\,C\r\nCATEGORIES:D\r\nURL:https://example.com/\r\nCOMPLETED:20260101T000000Z\r\n",
    ));
    assert_eq!(
        (entity.opaque(), entity.kind(), entity.uid()),
        (None, Some(Kind::Event), Some("1"))
    );
    let want = json!({"kind": "event", "uid": "1", "fields": {
        "summary": "Lunch, with Bob", "description": "one\ntwo", "duration": "PT1H30M", "location": "Café",
        "start": {"kind": "zonedDateTime", "value": "2026-05-04T08:00:00", "timeZoneId": "Europe/Berlin"},
        "geo": {"latitude": 48.2, "longitude": 16.3}, "priority": 5, "categories": ["A", "B,C", "D"],
        "status": {"kind": "known", "rawValue": "CONFIRMED"}, "url": "https://example.com/",
        "transparency": {"kind": "extension", "rawValue": "X-MAYBE"},
        "classification": {"kind": "unknown", "rawValue": "SECRET"},
    }});
    assert_eq!(projection(&entity), want);
    assert_eq!(codes(&entity), [""; 0]);
    let properties = serde_json::to_value(entity.calendar_properties()).expect("serializes");
    assert_eq!(properties.as_array().map(Vec::len), Some(2));
    assert_eq!(properties[0]["rawEncodedValue"], "2.0");
}

#[test]
fn a_to_do_shows_its_fields() {
    // RFC 5545, 3.6.2, second example, with a repetition.
    let entity = calendar(&todo(
        "DTSTART:20260514T110000Z\r\nDUE:20260709T130000Z\r\nCOMPLETED:20260707T100000Z\r\nSUMMARY:Submit Revised Internet-Draft\r\n\
         PRIORITY:1\r\nSTATUS:COMPLETED\r\nPERCENT-COMPLETE:100\r\nLOCATION:here\r\nRRULE:FREQ=WEEKLY;COUNT=2\r\n",
    ));
    let want = json!({"kind": "todo", "uid": "1", "completedAt": {"kind": "utcDateTime", "value": "2026-07-07T10:00:00Z"}, "fields": {
        "summary": "Submit Revised Internet-Draft", "priority": 1, "percentComplete": 100,
        "start": {"kind": "utcDateTime", "value": "2026-05-14T11:00:00Z"},
        "due": {"kind": "utcDateTime", "value": "2026-07-09T13:00:00Z"},
        "status": {"kind": "known", "rawValue": "COMPLETED"},
        "recurrenceSet": {"evaluationState": "evaluable", "rdates": [], "exdates": [], "overrides": [],
            "rrules": [{"text": "FREQ=WEEKLY;COUNT=2", "originalSlice": "RRULE:FREQ=WEEKLY;COUNT=2\r\n"}]},
    }});
    assert_eq!(projection(&entity), want);
    let found = year(&entity).expect("evaluable");
    let timing = serde_json::to_value(OccurrenceTiming::of(&found[1], &Zone::utc())).expect("serializes");
    assert_eq!(
        timing,
        json!({
            "sourceStart": {"kind": "utcDateTime", "value": "2026-05-21T11:00:00Z"},
            "effectiveStart": {"kind": "utcDateTime", "value": "2026-05-21T11:00:00Z"},
            "sourceEnd": {"kind": "utcDateTime", "value": "2026-07-16T13:00:00Z"},
            "effectiveEnd": {"kind": "utcDateTime", "value": "2026-07-16T13:00:00Z"},
            "evaluatedStartUtc": {"kind": "utcDateTime", "value": "2026-05-21T11:00:00Z"},
            "evaluatedEndUtc": {"kind": "utcDateTime", "value": "2026-07-16T13:00:00Z"},
        })
    );
    let fields = entity.occurrence_fields(&found[1]);
    assert_eq!(
        (fields.start.as_ref(), fields.due.as_ref()),
        (Some(&found[1].start), found[1].end.as_ref())
    );

    let undated = calendar(&todo("DUE:20260709T130000Z\r\nDURATION-X:1\r\n"));
    assert_eq!((undated.opaque(), year(&undated)), (None, Ok(Vec::new())));
}

#[test]
fn what_is_odd_but_clear_is_read_with_a_remark() {
    let start = "DTSTART:20260504T080000Z\r\n";
    for (lines, want) in [
        (
            "PRIORITY:10\r\nURL:nowhere\r\nGEO:1\r\n",
            "registered_property_value_invalid",
        ),
        ("SUMMARY:a\r\nSUMMARY:b\r\n", "singleton_property_repeated"),
        ("junk\r\n", "content_line_invalid"),
        ("DTEND;VALUE=DATE:20260505\r\n", "end_type_mismatch"),
        ("DTEND:20260504T070000Z\r\n", "end_not_after_start"),
        ("DTEND;TZID=Europe/Berlin:20260504T093000\r\n", "end_not_after_start"),
        (
            "DTEND;TZID=Nowhere:20260504T093000\r\n",
            "timezone_reference_unresolved",
        ),
        (
            "DTEND;TZID=Eastern Standard Time:20260504T093000\r\n",
            "timezone_reference_resolved_externally",
        ),
        ("DURATION:-PT5M\r\n", "duration_not_positive"),
        ("RRULE:FREQ=DAILY;UNTIL=20260601\r\n", "until_type_mismatch"),
        ("RDATE;VALUE=DATE:20260601\r\n", "rdate_type_mismatch"),
        ("RRULE:FREQ=WEEKLY;BYDAY=TU\r\n", "recurrence_start_mismatch"),
        (
            "RRULE:FREQ=DAILY;BYHOUR=9,12\r\nRRULE:FREQ=YEARLY;BYMONTH=6;COUNT=2\r\n",
            "recurrence_start_mismatch",
        ),
        (
            "RRULE:FREQ=YEARLY;INTERVAL=2;BYWEEKNO=19,53;BYDAY=MO\r\n",
            "week_number_interval_ambiguous",
        ),
    ] {
        let entity = calendar(&event(&format!("{start}{lines}")));
        assert_eq!((entity.opaque(), codes(&entity)), (None, vec![want]), "{lines}");
    }
    let bare = Entity::read(format!("BEGIN:VCALENDAR\r\n{}END:VCALENDAR\r\n", event(start)).into());
    assert_eq!(
        (bare.opaque(), codes(&bare)),
        (None, vec!["calendar_required_property_invalid"])
    );
    let excluded = calendar(&event(&format!(
        "{start}RRULE:FREQ=DAILY;COUNT=3\r\nEXRULE:FREQ=DAILY;INTERVAL=2\r\n"
    )));
    assert_eq!(codes(&excluded), ["exclusion_rule_applied"]);
    assert_eq!(year(&excluded).expect("evaluable").len(), 1);
    for quiet in [
        "DTEND;TZID=Europe/Berlin:20260504T103000\r\n",
        "DTEND:20260504T080000Z\r\n",
        "RRULE:FREQ=WEEKLY;BYDAY=TU\r\nRRULE:FREQ=MONTHLY;BYDAY=1MO\r\n",
        "DURATION:PT0S\r\n",
        "EXDATE:\r\nRRULE:FREQ=DAILY;UNTIL=20260601T080000Z\r\n",
    ] {
        let entity = calendar(&event(&format!("{start}{quiet}")));
        assert_eq!((entity.opaque(), codes(&entity)), (None, vec![]), "{quiet}");
    }
}

#[test]
fn a_recurrence_part_that_cannot_be_read_is_no_reason_to_hide_the_rest() {
    let start = "DTSTART:20260504T080000Z\r\nSUMMARY:kept\r\nRRULE:FREQ=DAILY;COUNT=3\r\n";
    let override_of = |identity: &str| {
        event(&format!(
            "RECURRENCE-ID{identity}:20260505T080000Z\r\nDTSTART:20260505T090000Z\r\n"
        ))
    };
    for (inside, want) in [
        (
            event(&format!("{start}RRULE:FREQ=SOMETIMES\r\n")),
            "recurrence_rule_invalid",
        ),
        (
            event(&format!("{start}RRULE:FREQ=YEARLY;RSCALE=CHINESE\r\n")),
            "recurrence_rule_invalid",
        ),
        (
            event(&format!("{start}EXRULE:FREQ=WEEKLY;BYDAY=1MO\r\n")),
            "recurrence_rule_invalid",
        ),
        (
            event(&format!("{start}EXDATE:20260505T080000Z,never\r\n")),
            "recurrence_date_invalid",
        ),
        (
            event(&format!("{start}RDATE;VALUE=PERIOD:20260505T080000Z/1h\r\n")),
            "recurrence_date_invalid",
        ),
        (
            event(start) + &override_of(";RANGE=THISANDPRIOR"),
            "recurrence_range_unsupported",
        ),
        (
            event(start) + &override_of(";RANGE=SOME"),
            "recurrence_range_unsupported",
        ),
    ] {
        let entity = calendar(&inside);
        assert_eq!((entity.opaque(), codes(&entity)), (None, vec![want]), "{inside}");
        let fields = &projection(&entity)["fields"];
        assert_eq!(fields["summary"], "kept");
        assert_eq!(fields["recurrenceSet"]["evaluationState"], "unevaluable");
        assert!(year(&entity).is_err());
    }
}

#[test]
fn overrides_without_their_master_stay_readable() {
    // A server stores only the instances that a person is invited to.
    let one = |day: &str, lines: &str| {
        event(&format!(
            "RECURRENCE-ID:{day}T080000Z\r\nDTSTART:{day}T090000Z\r\n{lines}"
        ))
    };
    let entity =
        calendar(&(one("20260504", "SUMMARY:a\r\n") + &one("20260506", "STATUS:CANCELLED\r\nDURATION:PT1H\r\n")));
    assert_eq!((entity.opaque(), codes(&entity)), (None, vec![]));
    let set = &projection(&entity)["fields"]["recurrenceSet"];
    assert_eq!(set["overrides"][0]["fields"]["summary"], "a");
    assert_eq!(
        (&set["overrides"][0]["status"], &set["overrides"][1]["status"]),
        (&json!("active"), &json!("cancelled"))
    );
    let found = year(&entity).expect("evaluable");
    assert_eq!(
        found.iter().map(|instance| instance.cancelled).collect::<Vec<_>>(),
        [false, true]
    );
    assert_eq!(entity.searchable(found[0].component).summary.as_deref(), Some("a"));
    assert_eq!(entity.searchable(None), crate::ical::project::Searchable::default());
    assert_eq!(
        (
            found[1].to - found[1].from,
            entity.occurrence_fields(&found[1]).duration.as_deref()
        ),
        (3_600, Some("PT1H"))
    );
}

#[test]
fn an_override_of_an_occurrence_that_the_set_does_not_make_is_told() {
    let master = |rest: &str| event(&format!("DTSTART;TZID=Europe/Berlin:20000103T090000\r\n{rest}"));
    let own = |identity: &str| event(&format!("RECURRENCE-ID{identity}\r\nDTSTART:20260701T120000Z\r\n"));
    let weekly = "RRULE:FREQ=WEEKLY\r\nRDATE:20260704T100000Z\r\nEXDATE:20260713T070000Z\r\n";
    for (rest, identity, orphaned) in [
        (weekly, ":20260706T070000Z", false),
        (weekly, ";TZID=Europe/Berlin:20260706T090000", false),
        (weekly, ";VALUE=DATE:20260706", false),
        (weekly, ":20260704T100000Z", false),
        (weekly, ":20260713T070000Z", false),
        (weekly, ":20260707T070000Z", true),
        (weekly, ":20260706T080000Z", true),
        (weekly, ":19991227T080000Z", true),
        ("", ":20000103T080000Z", false),
        ("", ":20000104T080000Z", true),
        // More than the remarks may cost: no claim is made.
        (
            "RRULE:FREQ=SECONDLY;BYSECOND=0;BYMINUTE=0;COUNT=4000000\r\n",
            ":20260706T080001Z",
            false,
        ),
    ] {
        let codes = codes(&calendar(&(master(rest) + &own(identity))));
        let told = codes.contains(&"recurrence_override_orphaned");
        assert_eq!(told, orphaned, "{rest}{identity}: {codes:?}");
    }
}

#[test]
fn an_override_for_the_future_shows_each_occurrence_at_its_own_time() {
    // RFC 5545, 3.2.13: the shift of one hour and the new length hold for the later ones too.
    let master = event("DTSTART:20260504T080000Z\r\nDURATION:PT60M\r\nSUMMARY:a\r\nRRULE:FREQ=DAILY;COUNT=3\r\n");
    let future = event(
        "RECURRENCE-ID;RANGE=THISANDFUTURE:20260505T080000Z\r\nDTSTART:20260505T090000Z\r\nDTEND:20260505T093000Z\r\nSUMMARY:b\r\n",
    );
    let entity = calendar(&(master + &future));
    let found = year(&entity).expect("evaluable");
    let shown: Vec<_> = found
        .iter()
        .map(|instance| entity.occurrence_fields(instance))
        .collect();
    let start = |at: usize| serde_json::to_value(&shown[at].start).expect("serializes")["value"].clone();
    assert_eq!(
        [start(0), start(1), start(2)],
        ["2026-05-04T08:00:00Z", "2026-05-05T09:00:00Z", "2026-05-06T09:00:00Z"]
    );
    assert_eq!(
        shown.iter().map(|fields| fields.summary.as_deref()).collect::<Vec<_>>(),
        [Some("a"), Some("b"), Some("b")]
    );
    assert_eq!(
        (shown[0].duration.as_deref(), shown[0].end.as_ref()),
        (Some("PT60M"), None)
    );
    assert_eq!(
        (shown[2].duration.as_deref(), shown[2].end.as_ref()),
        (None, found[2].end.as_ref())
    );
}

#[test]
fn an_override_with_a_start_takes_no_length_from_the_master() {
    // RFC 5545, 3.6.1: a component with DTSTART alone ends where it starts.
    let master = event("DTSTART:20260504T080000Z\r\nDURATION:PT1H\r\nRRULE:FREQ=DAILY;COUNT=2\r\n");
    for (lines, seconds) in [
        ("DTSTART:20260505T090000Z\r\n", 0),
        ("SUMMARY:b\r\n", 3_600),
        ("DURATION:PT5M\r\n", 300),
    ] {
        let entity = calendar(&(master.clone() + &event(&format!("RECURRENCE-ID:20260505T080000Z\r\n{lines}"))));
        let found = year(&entity).expect("evaluable");
        assert_eq!(
            (found[0].to - found[0].from, found[1].to - found[1].from),
            (3_600, seconds),
            "{lines}"
        );
    }
}

#[test]
fn an_override_of_the_other_type_is_told() {
    let master = event("DTSTART:20260504T080000Z\r\nRRULE:FREQ=DAILY;COUNT=3\r\n");
    let entity = calendar(&(master + &event("RECURRENCE-ID;VALUE=DATE:20260505\r\nDTSTART:20260505T100000Z\r\n")));
    assert_eq!(
        (entity.opaque(), codes(&entity)),
        (None, vec!["recurrence_identity_family_mismatch"])
    );
    let found = year(&entity).expect("evaluable");
    assert_eq!(
        found
            .iter()
            .map(|instance| instance.component.is_some())
            .collect::<Vec<_>>(),
        [false, true, false]
    );
}

/// Inputs that make careless readers quadratic: they end at once, or the suite hangs.
#[test]
fn hostile_shapes_cost_what_they_weigh() {
    let start = "DTSTART:20260504T080000Z\r\n";
    let overrides: String = (0..20_000)
        .map(|n| {
            event(&format!(
                "RECURRENCE-ID:{:08}T080000Z\r\n",
                (2_000 + n / 336) * 10_000 + (n / 28 % 12 + 1) * 100 + n % 28 + 1
            ))
        })
        .collect();
    let parameters = ";X=1".repeat(500_000);
    let zones: String = (0..60_000)
        .map(|n| format!("EXDATE;TZID=Z{n}:20260505T080000\r\n"))
        .collect();
    assert_eq!(calendar(&(event(start) + &overrides)).opaque(), None);
    for inside in [
        event(&format!("{start}{}", "CATEGORIES:a,b\r\n".repeat(100_000))),
        event(&format!("{start}{}", "EXDATE:20260505T080000Z\r\n".repeat(100_000))),
        event(&format!(
            "{start}RDATE:20260505T080000Z{}\r\n",
            ",20260505T080000Z".repeat(200_000)
        )),
        event(&format!("{start}DESCRIPTION{parameters}:{}\r\n", "\\n".repeat(500_000))),
        event(&format!("DTSTART{parameters}:20260504T080000Z\r\n")),
        event(&format!("{start}RRULE:FREQ=DAILY;COUNT=2\r\n{zones}")),
        event(start) + &overrides,
        "BEGIN:X\r\nEND:X\r\n".repeat(90_000),
    ] {
        let entity = calendar(&inside);
        let _ = entity.diagnostics();
        let _ = serde_json::to_vec(&entity.projection()).expect("serializes");
        let _ = year(&entity);
    }
}

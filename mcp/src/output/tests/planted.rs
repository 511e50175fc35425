//! Results with one thing wrong, and what becomes of them.

use serde_json::{Value, json};

use super::super::{Broken, Promise, mutation, promise};
use crate::catalog::Kind;
use crate::tool::compact::Detail;

fn event() -> Value {
    let start = json!({"kind": "zonedDateTime", "value": "2026-12-01T09:00:00", "timeZoneId": "Europe/Berlin"});
    json!({
        "calendar": {"href": "https://dav.example/cal/"},
        "calendarProperties": [{
            "componentPath": [{"name": "VCALENDAR", "occurrence": 0}],
            "name": "VERSION",
            "parameters": [],
            "valueType": "text",
            "rawEncodedValue": "2.0",
            "originalSlice": "VERSION:2.0\r\n"
        }],
        "projection": {"kind": "event", "uid": "a", "fields": {
            "summary": "Secret",
            "start": start,
            "status": {"kind": "known", "rawValue": "CONFIRMED"},
            "recurrenceSet": {
                "evaluationState": "evaluable",
                "rrules": [{"text": "FREQ=DAILY", "originalSlice": "RRULE:FREQ=DAILY\r\n"}],
                "rdates": [{"kind": "period", "start": start, "duration": "PT1H"}],
                "exdates": [],
                "overrides": [{
                    "recurrenceIdentity": {"value": start},
                    "entityKind": "event",
                    "status": "active",
                    "fields": {"summary": "Moved"}
                }]
            },
            "structuredData": {"attendees": [{
                "uri": "mailto:ann@example.com",
                "role": {"effectiveValue": {"kind": "known", "rawValue": "CHAIR"}},
                "rsvp": {"explicitValue": true, "effectiveValue": true},
                "parameters": [{"name": "X-A", "values": ["b"]}]
            }]}
        }},
        "diagnostics": [],
        "resourceRevision": {"href": "https://dav.example/cal/a.ics", "entityTag": "\"1\""},
        "entityRevision": {"href": "https://dav.example/cal/a.ics", "entityUid": "a", "entityKind": "event", "entityTag": "\"1\""}
    })
}

fn got(snapshot: Value) -> Value {
    json!({"outcome": "success", "snapshot": snapshot})
}

/// A copy with the value at a pointer replaced, or removed.
fn planted(value: &Value, pointer: &str, wrong: Option<Value>) -> Value {
    let mut value = value.clone();
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    let parent = value.pointer_mut(parent).expect("it is there");
    match (parent, wrong) {
        (Value::Array(items), Some(wrong)) => items[name.parse::<usize>().expect("a position")] = wrong,
        (Value::Object(members), Some(wrong)) => drop(members.insert(name.to_owned(), wrong)),
        (Value::Object(members), None) => drop(members.remove(name)),
        (parent, _) => panic!("{parent}"),
    }
    value
}

fn verdict(kind: Kind, value: &Value, detail: Detail) -> Result<(), String> {
    promise(kind).check(value, detail).map_err(|broken| match broken {
        Broken::Read(pointer) => pointer,
        Broken::Change(error) => panic!("{error}"),
    })
}

#[test]
fn the_first_place_that_is_wrong_is_named() {
    let good = got(event());
    assert_eq!(verdict(Kind::ResourcesGet, &good, Detail::Full), Ok(()));
    let fields = "/snapshot/projection/fields";
    for (at, wrong, found) in [
        ("/snapshot/secret", Some(json!(1)), "/snapshot"),
        ("/snapshot/calendar", None, "/snapshot/calendar"),
        ("/snapshot/calendar/href", Some(json!("cal")), "/snapshot/calendar/href"),
        (
            "/snapshot/projection/kind",
            Some(json!("journal")),
            "/snapshot/projection/kind",
        ),
        (
            "/snapshot/projection/kind",
            Some(json!("opaque")),
            "/snapshot/projection",
        ),
        ("/snapshot/projection/uid", Some(json!("")), "/snapshot/projection/uid"),
        ("/snapshot/entityRevision", None, "/snapshot/entityRevision"),
        (
            "/snapshot/resourceRevision/entityTag",
            None,
            "/snapshot/resourceRevision",
        ),
        ("/snapshot/resourceRevision", None, "/snapshot/resourceRevision"),
        (
            "/snapshot/calendarProperties/0/originalSlice",
            None,
            "/snapshot/calendarProperties/0/originalSlice",
        ),
        (
            "FIELDS/due",
            Some(json!({"kind": "date", "value": "2026-12-01"})),
            "FIELDS",
        ),
        ("FIELDS/start/kind", None, "FIELDS/start/kind"),
        ("FIELDS/start/value", Some(json!("2026-12-01")), "FIELDS/start/value"),
        ("FIELDS/start/timeZoneId", None, "FIELDS/start/timeZoneId"),
        ("FIELDS/priority", Some(json!(10)), "FIELDS/priority"),
        ("FIELDS/status/kind", None, "FIELDS/status/kind"),
        ("FIELDS/recurrenceSet/exdates", None, "FIELDS/recurrenceSet/exdates"),
        (
            "FIELDS/recurrenceSet/rdates/0/end",
            Some(json!({})),
            "FIELDS/recurrenceSet/rdates/0",
        ),
        ("FIELDS/recurrenceSet/overrides/0/entityKind", Some(json!("todo")), ""),
        (
            "FIELDS/recurrenceSet/overrides/0/fields/recurrenceSet",
            Some(json!({})),
            "FIELDS/recurrenceSet/overrides/0/fields",
        ),
        (
            "FIELDS/structuredData/attendees/0/rsvp",
            Some(json!(true)),
            "FIELDS/structuredData/attendees/0/rsvp",
        ),
        (
            "FIELDS/structuredData/attendees/0/parameters/0/values",
            Some(json!([])),
            "FIELDS/structuredData/attendees/0/parameters/0/values",
        ),
    ] {
        let (at, found) = (at.replace("FIELDS", fields), found.replace("FIELDS", fields));
        let expected = if found.is_empty() { Ok(()) } else { Err(found) };
        assert_eq!(
            verdict(Kind::ResourcesGet, &planted(&good, &at, wrong), Detail::Full),
            expected,
            "{at}"
        );
    }
}

#[test]
fn compact_results_may_be_shorter_and_in_nothing_else_different() {
    let good = got(event());
    let left_out = [
        "/snapshot/calendar",
        "/snapshot/calendarProperties",
        "/snapshot/resourceRevision",
        "/snapshot/diagnostics",
        "/snapshot/projection/fields/status/kind",
        "/snapshot/projection/fields/recurrenceSet/exdates",
        "/snapshot/projection/fields/recurrenceSet/rrules/0/originalSlice",
        "/snapshot/projection/fields/structuredData/attendees/0/parameters",
    ];
    let short = left_out.iter().fold(good, |value, at| planted(&value, at, None));
    assert_eq!(verdict(Kind::ResourcesGet, &short, Detail::Compact), Ok(()));
    assert!(verdict(Kind::ResourcesGet, &short, Detail::Full).is_err());
    for (at, wrong) in [
        ("/snapshot/secret", Some(json!(1))),
        ("/snapshot/entityRevision", None),
        ("/snapshot/entityRevision/entityUid", None),
        ("/snapshot/projection/uid", None),
        ("/snapshot/projection/fields/start/kind", None),
        ("/snapshot/projection/fields/status/rawValue", None),
        ("/snapshot/projection/fields/recurrenceSet/evaluationState", None),
        (
            "/snapshot/projection/fields/recurrenceSet/overrides/0/recurrenceIdentity/value",
            None,
        ),
        ("/snapshot/projection/fields/structuredData/attendees/0/uri", None),
    ] {
        let wrong = planted(&short, at, wrong);
        assert!(verdict(Kind::ResourcesGet, &wrong, Detail::Compact).is_err(), "{at}");
    }
    let row = json!({
        "snapshot": {
            "projection": {"kind": "event", "fields": {"summary": "Secret"}},
            "entityRevision": {"href": "https://dav.example/cal/a.ics"}
        },
        "recurrenceIdentity": {},
        "timing": {
            "effectiveStart": {"value": "2026-12-01T09:00:00", "timeZoneId": "Europe/Berlin"},
            "effectiveEnd": {"value": "2026-12-01T10:00:00"},
            "evaluatedStartUtc": {"value": "2026-12-01T08:00:00Z"}
        }
    });
    let page = json!({
        "outcome": "success",
        "items": [row],
        "temporalEvaluationContext": {"timeZone": "Europe/Berlin", "source": "caller"},
        "pagination": {"mode": "query_result_snapshot", "nextCursor": null}
    });
    assert_eq!(verdict(Kind::OccurrencesQuery, &page, Detail::Compact), Ok(()));
    for (at, wrong) in [
        ("/items/0/timing", None),
        ("/items/0/timing/effectiveStart", None),
        ("/items/0/timing/effectiveStart/value", Some(json!("2026-12-01"))),
        (
            "/items/0/timing/evaluatedStartUtc/value",
            Some(json!("2026-12-01T08:00:00")),
        ),
        ("/items/0/snapshot/projection/fields", None),
        ("/items/0/snapshot/entityRevision/href", None),
        ("/items/0/snapshot/entityRevision", None),
        ("/items/0/snapshot/calendar", Some(json!("https://dav.example/cal/"))),
        ("/pagination/nextCursor", None),
    ] {
        let wrong = planted(&page, at, wrong);
        assert!(
            verdict(Kind::OccurrencesQuery, &wrong, Detail::Compact).is_err(),
            "{at}"
        );
    }
}

#[test]
fn a_change_whose_result_is_wrong_is_indeterminate() {
    let change = Promise {
        shape: &mutation::SNAPSHOT_MUTATION,
        read_only: false,
    };
    let good = json!({"outcome": "success", "mutationState": "committed", "snapshot": event(), "diagnostics": []});
    assert_eq!(change.check(&good, Detail::Full), Ok(()));
    for (at, wrong, state) in [
        ("/snapshot/secret", Some(json!("Secret")), "committed"),
        ("/snapshot", None, "committed"),
        ("/mutationState", Some(json!("not_committed")), "not_committed"),
        ("/mutationState", Some(json!("Secret")), "unknown"),
        ("/mutationState", Some(json!({"Secret": 1})), "unknown"),
        ("/mutationState", None, "unknown"),
    ] {
        let found = change.check(&planted(&good, at, wrong), Detail::Full);
        let Err(Broken::Change(error)) = found else {
            panic!("{at}: {found:?}");
        };
        assert_eq!(change.check(&error, Detail::Full), Ok(()), "what leaves is whole");
        assert!(!error.to_string().contains("Secret"));
        let told = ["code", "category", "phase", "retryable", "mutationState"].map(|name| &error[name]);
        let expected = [
            json!("indeterminate"),
            json!("postWriteTruth"),
            json!("postWriteVerificationOrReconciliation"),
            json!(false),
            json!(state),
        ];
        assert_eq!(told, expected.each_ref(), "{at}");
    }
    for value in [json!(null), json!([]), json!("Secret")] {
        assert!(matches!(change.check(&value, Detail::Full), Err(Broken::Change(_))));
    }
}

/// What ruled exceptions let through, and what they do not.
#[test]
fn exceptions_are_as_narrow_as_their_list() {
    let bare = json!({"href": "https://dav.example/cal/a.ics"});
    let unbound = planted(&got(event()), "/snapshot/resourceRevision", Some(bare));
    assert!(verdict(Kind::ResourcesGet, &unbound, Detail::Full).is_err());
    let unbound = planted(&unbound, "/snapshot/entityRevision", None);
    assert_eq!(verdict(Kind::ResourcesGet, &unbound, Detail::Full), Ok(()));
    let change = Promise {
        shape: &mutation::SNAPSHOT_MUTATION,
        read_only: false,
    };
    let conflict = json!({
        "code": "completion_state_conflict",
        "category": "state",
        "phase": "completeResourceSemantics",
        "message": "",
        "retryable": false,
        "mutationState": "not_attempted"
    });
    let confirmation = json!({
        "code": "confirmation_required",
        "category": "confirmation",
        "phase": "mrtr",
        "message": "",
        "retryable": false,
        "mutationState": "not_attempted",
        "confirmation": {"token": "t", "expiresAt": "2026-12-01T09:00:00Z", "review": "r"}
    });
    for (error, wrong) in [(conflict, "cursor_expired"), (confirmation, "confirmation_expired")] {
        assert_eq!(change.check(&error, Detail::Full), Ok(()));
        let committed = planted(&error, "/mutationState", Some(json!("done")));
        assert!(change.check(&committed, Detail::Full).is_err());
        assert!(
            verdict(Kind::ResourcesGet, &error, Detail::Full).is_err(),
            "a read tells nothing of writes"
        );
        let other = planted(&error, "/code", Some(json!(wrong)));
        assert!(change.check(&other, Detail::Full).is_err(), "{wrong}");
    }
}

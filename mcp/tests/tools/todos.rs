//! The To-do query.

use serde_json::{Value, json};

use crate::client::{Folder, Server, window};
use crate::referee::Referee;
use crate::{TODOS, at, resource, rows, with, work};

/// To-dos of every kind, by file name.
fn account() -> Folder {
    let series = "DTSTART;TZID=Europe/Berlin:20261201T080000 | DUE;TZID=Europe/Berlin:20261201T090000 | RRULE:FREQ=WEEKLY;COUNT=5 | SUMMARY:Water";
    let series = resource("VTODO", "series", series).replace(
        "END:VCALENDAR",
        "BEGIN:VTODO\r\nUID:series\r\nDTSTAMP:20260101T000000Z\r\nRECURRENCE-ID;TZID=Europe/Berlin:20261208T080000\r\n\
         DTSTART;TZID=Europe/Berlin:20261208T080000\r\nSUMMARY:Watered\r\nSTATUS:COMPLETED\r\nCOMPLETED:20261208T073000Z\r\nEND:VTODO\r\n\
         BEGIN:VTODO\r\nUID:series\r\nDTSTAMP:20260101T000000Z\r\nRECURRENCE-ID;TZID=Europe/Berlin:20261215T080000\r\n\
         DTSTART;TZID=Europe/Berlin:20261215T080000\r\nSUMMARY:Not this time\r\nSTATUS:CANCELLED\r\nEND:VTODO\r\nEND:VCALENDAR",
    );
    let todo = |uid: &str, lines: &str| resource("VTODO", uid, lines);
    work(&[
        (
            "date.ics",
            todo(
                "date",
                "DUE;VALUE=DATE:20261203 | SUMMARY:Form | PRIORITY:1 | CATEGORIES:tax,home",
            ),
        ),
        ("float.ics", todo("float", "DUE:20261203T120000 | SUMMARY:Lunch")),
        (
            "utc.ics",
            todo(
                "utc",
                "DTSTART:20261202T100000Z | DUE:20261203T100000Z | SUMMARY:Report | STATUS:IN-PROCESS | PERCENT-COMPLETE:40 | DESCRIPTION:Long",
            ),
        ),
        ("none.ics", todo("none", "SUMMARY:Someday | PRIORITY:0")),
        ("start.ics", todo("start", "DTSTART:20261201T000000Z | SUMMARY:Begin")),
        (
            "length.ics",
            todo("length", "DTSTART:20261202T000000Z | DURATION:PT36H | SUMMARY:Long one"),
        ),
        (
            "done.ics",
            todo(
                "done",
                "DUE:20261130T100000Z | SUMMARY:Done | STATUS:COMPLETED | COMPLETED:20261130T080000Z",
            ),
        ),
        ("given-up.ics", todo("given-up", "SUMMARY:Given up | STATUS:CANCELLED")),
        (
            "odd.ics",
            todo("odd", "SUMMARY:Odd | STATUS:NEEDS-ACTION | PERCENT-COMPLETE:100"),
        ),
        (
            "broken.ics",
            todo("broken", "DUE:20261203T100000Z | DUE:20261204T100000Z | SUMMARY:Broken"),
        ),
        ("series.ics", series),
        (
            "lost.ics",
            todo("lost", "DUE;TZID=Nowhere/Land:20261203T100000 | SUMMARY:Lost"),
        ),
        (
            "event.ics",
            resource("VEVENT", "event", "DTSTART:20261203T100000Z | SUMMARY:No To-do"),
        ),
    ])
}

fn ask(more: Value) -> Value {
    with(json!({"scope": {"mode": "all"}}), more)
}

/// UIDs of the rows, with the day that an occurrence is about.
fn names(page: &Value) -> Vec<String> {
    let name = |row: &Value| {
        let target = &row["completionTarget"];
        let uid = row["uid"]
            .as_str()
            .or(target["entityRevision"]["entityUid"].as_str())
            .unwrap();
        match target["recurrenceIdentity"]["value"].as_str() {
            Some(identity) => format!("{uid} {}", &identity[8..10]),
            None => uid.to_owned(),
        }
    };
    rows(page).iter().map(name).collect()
}

fn row<'a>(page: &'a Value, name: &str) -> &'a Value {
    let at = names(page).iter().position(|found| found == name);
    &rows(page)[at.unwrap_or_else(|| panic!("no {name}: {page:#}"))]
}

#[test]
fn rows_are_chosen_by_state_window_due_and_words_and_come_in_order_of_due() {
    let folder = account();
    let mut server = Server::on(&folder, "2025-11-25");
    let referee = Referee::new(&mut server);
    let december = window("2026-12-01T00:00:00Z", "2026-12-20T00:00:00Z");
    let bounded = |more: Value| with(december.clone(), more);
    let third = json!({"dueFrom": at("2026-12-03T00:00:00Z"), "dueTo": at("2026-12-03T12:00:00Z")});
    let all = json!(["open", "completed", "cancelled", "indeterminate"]);
    for (more, expected, excluded) in [
        (json!({}), "series, date, utc, length, float, start, none", 2),
        (json!({"completionStates": ["completed"]}), "done", 2),
        (json!({"completionStates": ["cancelled"]}), "given-up", 2),
        (json!({"completionStates": ["indeterminate"]}), "broken, odd", 0),
        (
            json!({"completionStates": all}),
            "done, series, date, utc, length, float, start, broken, given-up, none, odd",
            0,
        ),
        // In a window the occurrences of a series stand for it.
        (
            bounded(json!({})),
            "series 01, date, utc, length, float, start, none",
            2,
        ),
        (bounded(json!({"completionStates": ["completed"]})), "series 08", 2),
        (
            bounded(json!({"completionStates": ["cancelled"]})),
            "series 15, given-up",
            2,
        ),
        (
            with(window("2026-12-22T00:00:00Z", "2026-12-30T00:00:00Z"), json!({})),
            "series 22, series 29, none",
            2,
        ),
        // Half-open: what is due at its end is not in it.
        (third.clone(), "date, utc", 1),
        (with(third, bounded(json!({}))), "date, utc", 1),
        (json!({"text": "long report"}), "utc", 0),
        (json!({"categories": ["Tax"]}), "date", 0),
        (json!({"text": "watered"}), "series", 0),
        (
            bounded(json!({"text": "watered", "completionStates": all})),
            "series 08",
            0,
        ),
    ] {
        for detail in ["compact", "full"] {
            let page = server.success(TODOS, with(ask(more.clone()), json!({"detail": detail})));
            assert_eq!(names(&page).join(", "), expected, "{more}");
            assert_eq!(page["excludedIndeterminateCount"], excluded, "{more}");
            if detail == "full" {
                referee.full(TODOS, &page);
            } else {
                referee.own(TODOS, &page);
            }
            let told = page["temporallyUnresolved"]["hrefs"].as_array();
            let lost = format!("{}/work/lost.ics", folder.url());
            let filtered = more.get("text").or(more.get("categories")).is_some();
            assert_eq!(told.is_some_and(|hrefs| *hrefs == [json!(lost)]), !filtered, "{more}");
        }
    }
}

#[test]
fn a_row_shows_what_was_asked_for_and_what_completing_takes() {
    let folder = account();
    let mut server = Server::on(&folder, "2025-11-25");
    let states = json!({"completionStates": ["open", "completed", "cancelled", "indeterminate"], "evaluationTimeZone": "Asia/Tokyo"});
    let revision = |row: &Value, uid: &str| {
        let href = format!("{}/work/{uid}.ics", folder.url());
        let tag = row["completionTarget"]["entityRevision"]["entityTag"].clone();
        assert!(tag.as_str().is_some_and(|tag| tag.starts_with('"')));
        json!({"href": href, "entityUid": uid, "entityKind": "todo", "entityTag": tag})
    };
    let page = server.success(TODOS, ask(with(states.clone(), json!({"detail": "full"}))));
    let date = row(&page, "date");
    let expected = json!({
        "resultKind": "entity", "uid": "date", "completionState": "open", "summary": "Form", "priority": 1, "categories": ["tax", "home"],
        "due": {"source": {"kind": "date", "value": "2026-12-03"}, "evaluatedUtc": {"kind": "utcDateTime", "value": "2026-12-02T15:00:00Z"}},
        "completionTarget": {"kind": "direct", "entityRevision": revision(date, "date")}, "diagnostics": []
    });
    assert_eq!(*date, expected);
    assert_eq!(row(&page, "utc")["due"], at("2026-12-03T10:00:00Z"));
    let float = &row(&page, "float")["due"];
    assert_eq!(
        float["source"],
        json!({"kind": "floatingDateTime", "value": "2026-12-03T12:00:00"})
    );
    assert_eq!(float["evaluatedUtc"], at("2026-12-03T03:00:00Z"));
    let series = row(&page, "series");
    let due = json!({"kind": "zonedDateTime", "value": "2026-12-01T09:00:00", "timeZoneId": "Europe/Berlin"});
    assert_eq!(
        series["due"],
        json!({"source": due, "evaluatedUtc": at("2026-12-01T08:00:00Z")})
    );
    let target = json!({"kind": "occurrence_required", "entityRevision": revision(series, "series")});
    assert_eq!(series["completionTarget"], target);
    // A start and a duration make a due time.
    assert_eq!(row(&page, "length")["due"], at("2026-12-03T12:00:00Z"));
    let odd = row(&page, "odd");
    assert_eq!(
        (&odd["completionState"], &odd["diagnostics"][0]["code"]),
        (&json!("indeterminate"), &json!("completion_evidence_conflict"))
    );
    let broken = row(&page, "broken");
    assert_eq!(
        (&broken["resultKind"], &broken["completionState"], broken.get("summary")),
        (&json!("unresolved"), &json!("indeterminate"), None)
    );
    let target = &broken["completionTarget"];
    assert_eq!(target["kind"], "unavailable");
    assert!(target["resourceRevision"]["entityTag"].is_string() && target.get("entityRevision").is_none());
    let codes: Vec<_> = broken["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|told| told["code"].as_str().unwrap())
        .collect();
    assert!(
        codes.contains(&"completion_resource_unreadable") && codes.contains(&"singleton_property_repeated"),
        "{codes:?}"
    );

    let all = json!({"projection": ["summary", "status", "completedAt", "percentComplete", "due", "priority", "categories", "start",
        "description", "recurrence"]});
    let page = server.success(
        TODOS,
        ask(with(with(states.clone(), all.clone()), json!({"detail": "full"}))),
    );
    let utc = row(&page, "utc");
    for (member, value) in [
        ("status", json!({"kind": "known", "rawValue": "IN-PROCESS"})),
        ("percentComplete", json!(40)),
        ("start", at("2026-12-02T10:00:00Z")),
        ("description", json!("Long")),
    ] {
        assert_eq!(utc[member], value, "{member}");
    }
    assert_eq!(row(&page, "done")["completedAt"], at("2026-11-30T08:00:00Z"));
    let recurrence = &row(&page, "series")["recurrence"];
    assert_eq!(
        (&recurrence["evaluationState"], &recurrence["rrules"][0]["text"]),
        (&json!("evaluable"), &json!("FREQ=WEEKLY;COUNT=5"))
    );
    assert_eq!(recurrence["overrides"].as_array().unwrap().len(), 2);
    let weeks = window("2026-12-01T00:00:00Z", "2026-12-20T00:00:00Z");
    let page = server.success(
        TODOS,
        with(with(ask(states), all), with(weeks, json!({"detail": "full"}))),
    );
    let second = row(&page, "series 08");
    assert_eq!(
        (&second["resultKind"], &second["summary"]),
        (&json!("occurrence"), &json!("Watered"))
    );
    assert_eq!(
        (&second["completionState"], &second["completedAt"]),
        (&json!("completed"), &at("2026-12-08T07:30:00Z"))
    );
    let identity = json!({"kind": "zonedDateTime", "value": "2026-12-08T08:00:00", "timeZoneId": "Europe/Berlin"});
    let target =
        json!({"kind": "direct", "entityRevision": revision(second, "series"), "recurrenceIdentity": identity});
    assert_eq!(second["completionTarget"], target);
}

#[test]
fn a_compact_row_is_short_and_its_target_whole() {
    let folder = account();
    let mut server = Server::on(&folder, "2025-11-25");
    let page = server.success(TODOS, ask(json!({"evaluationTimeZone": "Asia/Tokyo"})));
    let date = row(&page, "date");
    let target = date["completionTarget"].clone();
    assert_eq!(target["entityRevision"].as_object().unwrap().len(), 4);
    let expected = json!({
        "resultKind": "entity", "completionState": "open", "summary": "Form", "priority": 1, "categories": ["tax", "home"],
        "due": {"source": {"value": "2026-12-03"}}, "completionTarget": target
    });
    assert_eq!(*date, expected);
    assert_eq!(row(&page, "utc")["due"], json!({"value": "2026-12-03T10:00:00Z"}));
    let berlin = json!({"source": {"value": "2026-12-01T09:00:00", "timeZoneId": "Europe/Berlin"}});
    assert_eq!(row(&page, "series")["due"], berlin);
}

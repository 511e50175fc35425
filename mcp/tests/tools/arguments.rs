//! Every wrong argument, and what is said about it.

use serde_json::{Value, json};

use crate::client::{Folder, Server, window};
use crate::referee::Referee;
use crate::{ENTITIES, GET, OCCURRENCES, TODOS, at, folder, with};

/// Pointers and codes of violations, in order.
type Expected = &'static [(&'static str, &'static str)];

/// A server without a configured zone, whose calls all fail.
struct Refusing {
    server: Server,
    referee: Referee,
    _folder: Folder,
}

impl Refusing {
    fn new() -> Self {
        let folder = folder();
        let mut server = Server::start(&[("CALDAV_URL", &folder.url())]);
        server.initialize("2025-11-25");
        let referee = Referee::new(&mut server);
        Self {
            server,
            referee,
            _folder: folder,
        }
    }

    fn check(&mut self, tool: &str, arguments: &Value, expected: Expected) {
        let error = self.server.failure(tool, arguments.clone());
        self.referee.full(tool, &error);
        assert_eq!(
            (&error["code"], &error["category"]),
            (&json!("invalid_input"), &json!("input")),
            "{tool} {arguments}"
        );
        assert_eq!(
            (&error["phase"], &error["retryable"]),
            (&json!("schemaLexicalDiscriminator"), &json!(false))
        );
        let violations = error["violations"].as_array().unwrap();
        let found: Vec<_> = violations
            .iter()
            .map(|v| (v["pointer"].as_str().unwrap(), v["code"].as_str().unwrap()))
            .collect();
        assert_eq!(found, expected, "{tool} {arguments}");
        assert!(violations.iter().all(|v| {
            v["message"]
                .as_str()
                .is_some_and(|text| text.starts_with("Send ") || text.starts_with("Leave "))
        }));
        assert_eq!(error["message"], violations[0]["message"]);
    }
}

/// A good Start of each query, with a window.
fn starts() -> [(&'static str, Value); 3] {
    let week = with(
        window("2026-12-01T00:00:00Z", "2026-12-08T00:00:00Z"),
        json!({"evaluationTimeZone": "UTC"}),
    );
    let entities = with(week.clone(), json!({"entityKinds": ["event"]}));
    [(ENTITIES, entities), (OCCURRENCES, week.clone()), (TODOS, week)]
}

#[test]
fn what_all_queries_take_is_checked_alike() {
    let mut refusing = Refusing::new();
    let cases: Vec<(Value, Expected)> = vec![
        (json!({"form": 1}), &[("/form", "unknown_member")]),
        (json!({"scope": "all"}), &[("/scope", "invalid_type")]),
        (json!({"scope": {}}), &[("/scope/mode", "required_member")]),
        (
            json!({"scope": {"mode": "some"}}),
            &[("/scope/mode", "value_not_allowed")],
        ),
        (
            json!({"scope": {"mode": "selected"}}),
            &[("/scope/calendar", "required_member")],
        ),
        (
            json!({"scope": {"mode": "all", "calendar": {"by": "name", "name": "x"}}}),
            &[("/scope/calendar", "unknown_member")],
        ),
        (
            json!({"scope": {"mode": "selected", "calendar": {"by": "name", "href": "x"}}}),
            &[
                ("/scope/calendar/href", "unknown_member"),
                ("/scope/calendar/name", "required_member"),
            ],
        ),
        (
            json!({"scope": {"mode": "selected", "calendar": {"by": "id", "name": "", "id": 5}}}),
            &[
                ("/scope/calendar/by", "value_not_allowed"),
                ("/scope/calendar/id", "unknown_member"),
                ("/scope/calendar/name", "length_out_of_range"),
            ],
        ),
        (json!({"from": "2026-12-01T00:00:00Z"}), &[("/from", "invalid_type")]),
        (
            json!({"from": {"kind": "date", "value": "2026-12-01"}}),
            &[("/from/kind", "value_not_allowed")],
        ),
        (json!({"from": at("2026-12-01")}), &[("/from/value", "format_mismatch")]),
        (
            json!({"from": at("2026-02-30T00:00:00Z")}),
            &[("/from/value", "temporal_value_invalid")],
        ),
        (json!({"to": at("2026-12-01T00:00:00Z")}), &[("/to", "out_of_range")]),
        (json!({"to": at("2027-12-02T00:00:01Z")}), &[("/to", "out_of_range")]),
        (
            json!({"evaluationTimeZone": ""}),
            &[("/evaluationTimeZone", "length_out_of_range")],
        ),
        (
            json!({"evaluationTimeZone": "Europe/Atlantis"}),
            &[("/evaluationTimeZone", "temporal_value_invalid")],
        ),
        (
            json!({"evaluationTimeZone": "europe/berlin"}),
            &[("/evaluationTimeZone", "temporal_value_invalid")],
        ),
        (
            json!({"evaluationTimeZone": "x".repeat(256)}),
            &[("/evaluationTimeZone", "length_out_of_range")],
        ),
        (json!({"pageSize": 0}), &[("/pageSize", "out_of_range")]),
        (json!({"pageSize": 201}), &[("/pageSize", "out_of_range")]),
        (json!({"pageSize": "5"}), &[("/pageSize", "invalid_type")]),
        (json!({"detail": "all"}), &[("/detail", "value_not_allowed")]),
        (json!({"text": ""}), &[("/text", "length_out_of_range")]),
        (json!({"text": "ä".repeat(257)}), &[("/text", "length_out_of_range")]),
        (json!({"text": " "}), &[("/text", "item_count_out_of_range")]),
        (json!({"text": "a\u{7}"}), &[("/text", "format_mismatch")]),
        (
            json!({"text": "a ".repeat(17)}),
            &[("/text", "item_count_out_of_range")],
        ),
        (json!({"categories": []}), &[("/categories", "item_count_out_of_range")]),
        (
            json!({"categories": ["a", " a"]}),
            &[("/categories", "duplicate_items")],
        ),
        (
            json!({"categories": [" "]}),
            &[("/categories/0", "length_out_of_range")],
        ),
        (
            json!({"categories": ["x".repeat(129), 5]}),
            &[
                ("/categories/0", "length_out_of_range"),
                ("/categories/1", "invalid_type"),
            ],
        ),
        (
            json!({"categories": (0..17).map(|at| at.to_string()).collect::<Vec<_>>()}),
            &[("/categories", "item_count_out_of_range")],
        ),
    ];
    for (tool, start) in starts() {
        for (more, expected) in &cases {
            refusing.check(tool, &with(start.clone(), more.clone()), expected);
        }
        for gone in ["from", "to"] {
            let mut start = start.clone();
            start.as_object_mut().unwrap().remove(gone);
            let expected: Expected = if gone == "from" {
                &[("/from", "required_member")]
            } else {
                &[("/to", "required_member")]
            };
            refusing.check(tool, &start, expected);
        }
        let mut zoneless = start.clone();
        zoneless.as_object_mut().unwrap().remove("evaluationTimeZone");
        refusing.check(tool, &zoneless, &[("/evaluationTimeZone", "required_member")]);
        for (arguments, expected) in [
            (
                json!({"cursor": "x", "scope": {"mode": "all"}, "detail": "full"}),
                &[("/detail", "shape_mismatch"), ("/scope", "shape_mismatch")] as Expected,
            ),
            (json!({"cursor": ""}), &[("/cursor", "length_out_of_range")]),
            (
                json!({"cursor": "x".repeat(2049)}),
                &[("/cursor", "length_out_of_range")],
            ),
            (
                json!({"cursor": "x", "pageSize": 500}),
                &[("/pageSize", "out_of_range")],
            ),
        ] {
            refusing.check(tool, &arguments, expected);
        }
        // What is just within the limits is taken.
        let longest = json!({"to": at("2027-12-02T00:00:00Z"), "pageSize": 200, "text": "ä ".repeat(15) + &"b".repeat(226),
            "categories": (0..16).map(|at| format!("{at:0>128}")).collect::<Vec<_>>()});
        let page = refusing.server.success(tool, with(start, longest));
        assert_eq!(page["items"], json!([]));
    }
}

#[test]
fn what_only_one_query_takes_is_checked() {
    let mut refusing = Refusing::new();
    let [(_, entities), _, (_, todos)] = starts();
    let mut unbounded = entities.clone();
    for bound in ["from", "to"] {
        unbounded.as_object_mut().unwrap().remove(bound);
    }
    let cases: Vec<(&str, Value, Expected)> = vec![
        (
            OCCURRENCES,
            json!({}),
            &[
                ("/evaluationTimeZone", "required_member"),
                ("/from", "required_member"),
                ("/scope", "required_member"),
                ("/to", "required_member"),
            ],
        ),
        (
            ENTITIES,
            json!({}),
            &[("/entityKinds", "required_member"), ("/scope", "required_member")],
        ),
        (
            TODOS,
            json!({}),
            &[
                ("/evaluationTimeZone", "required_member"),
                ("/scope", "required_member"),
            ],
        ),
        // The default Calendar is one of Events or of To-dos, so only the occurrence query knows it.
        (
            ENTITIES,
            with(entities.clone(), json!({"scope": {"mode": "default"}})),
            &[("/scope/mode", "value_not_allowed")],
        ),
        (
            TODOS,
            with(todos.clone(), json!({"scope": {"mode": "default"}})),
            &[("/scope/mode", "value_not_allowed")],
        ),
        (ENTITIES, unbounded, &[("/evaluationTimeZone", "shape_mismatch")]),
        (
            ENTITIES,
            with(entities.clone(), json!({"entityKinds": []})),
            &[("/entityKinds", "item_count_out_of_range")],
        ),
        (
            ENTITIES,
            with(entities.clone(), json!({"entityKinds": ["event", "event"]})),
            &[("/entityKinds", "duplicate_items")],
        ),
        (
            ENTITIES,
            with(entities, json!({"entityKinds": ["event", "journal"]})),
            &[("/entityKinds/1", "value_not_allowed")],
        ),
        (
            TODOS,
            with(todos.clone(), json!({"completionStates": []})),
            &[("/completionStates", "item_count_out_of_range")],
        ),
        (
            TODOS,
            with(todos.clone(), json!({"completionStates": ["open", "done", "open"]})),
            &[
                ("/completionStates", "duplicate_items"),
                ("/completionStates/1", "value_not_allowed"),
            ],
        ),
        (
            TODOS,
            with(todos.clone(), json!({"projection": []})),
            &[("/projection", "item_count_out_of_range")],
        ),
        (
            TODOS,
            with(todos.clone(), json!({"projection": ["uid"]})),
            &[("/projection/0", "value_not_allowed")],
        ),
        (
            TODOS,
            with(todos.clone(), json!({"dueTo": at("2026-12-01T00:00:00Z")})),
            &[("/dueFrom", "required_member")],
        ),
        (
            TODOS,
            with(todos.clone(), json!({"dueFrom": at("2026-12-01T00:00:00Z")})),
            &[("/dueTo", "required_member")],
        ),
        (
            TODOS,
            with(
                todos.clone(),
                json!({"dueFrom": at("2026-12-01T00:00:00Z"), "dueTo": at("2026-12-01T00:00:00Z")}),
            ),
            &[("/dueTo", "out_of_range")],
        ),
        (
            TODOS,
            with(
                todos,
                json!({"dueFrom": at("2026-12-01T00:00:00Z"), "dueTo": at("2027-12-02T00:00:01Z")}),
            ),
            &[("/dueTo", "out_of_range")],
        ),
    ];
    for (tool, arguments, expected) in cases {
        refusing.check(tool, &arguments, expected);
    }
}

#[test]
fn what_the_other_tools_take_is_checked() {
    let mut refusing = Refusing::new();
    let busy = |from: &str, to: &str| json!({"from": from, "to": to, "calendarHref": "x"});
    let cases: Vec<(&str, Value, Expected)> = vec![
        ("calendars_list", json!({"x": 1}), &[("/x", "unknown_member")]),
        (GET, json!({}), &[("/href", "required_member")]),
        (GET, json!({"href": 5}), &[("/href", "invalid_type")]),
        (GET, json!({"href": ""}), &[("/href", "length_out_of_range")]),
        (
            GET,
            json!({"href": "a", "detail": "all"}),
            &[("/detail", "value_not_allowed")],
        ),
        (
            "calendars_inspect",
            json!({"detail": "full"}),
            &[("/calendarHref", "required_member"), ("/detail", "unknown_member")],
        ),
        (
            "calendars_inspect",
            json!({"calendarHref": ""}),
            &[("/calendarHref", "length_out_of_range")],
        ),
        (
            "calendars_inspect",
            json!({"calendarHref": "x".repeat(8193)}),
            &[("/calendarHref", "length_out_of_range")],
        ),
        (
            "calendars_free_busy",
            busy("2026-12-01T00:00:00.5Z", "x"),
            &[("/from", "length_out_of_range"), ("/to", "length_out_of_range")],
        ),
        (
            "calendars_free_busy",
            busy("2026-12-01 00:00:00Z", "2026-12-32T00:00:00Z"),
            &[("/from", "format_mismatch"), ("/to", "format_mismatch")],
        ),
        (
            "calendars_free_busy",
            busy("2026-12-01T00:00:00Z", "2026-02-30T00:00:00Z"),
            &[("/to", "temporal_value_invalid")],
        ),
        (
            "calendars_free_busy",
            busy("2026-12-01T00:00:00Z", "2026-12-01T00:00:00Z"),
            &[("/to", "out_of_range")],
        ),
        (
            "calendars_free_busy",
            busy("2026-12-01T00:00:00Z", "2027-12-02T00:00:01Z"),
            &[("/to", "out_of_range")],
        ),
        (
            "calendar_resources_changes",
            json!({"pageSize": 5}),
            &[("/calendarHref", "required_member")],
        ),
        (
            "calendar_resources_changes",
            json!({"calendarHref": "x", "checkpoint": "x"}),
            &[("/calendarHref", "shape_mismatch")],
        ),
        (
            "calendar_resources_changes",
            json!({"checkpoint": "x".repeat(37), "pageSize": 501}),
            &[("/checkpoint", "length_out_of_range"), ("/pageSize", "out_of_range")],
        ),
    ];
    for (tool, arguments, expected) in cases {
        refusing.check(tool, &arguments, expected);
    }
}

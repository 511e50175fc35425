//! The tools over the pipes of the real binary, on a folder account.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]
#![allow(clippy::print_stdout, reason = "what was skipped and measured is said")]

mod client;

use std::collections::BTreeSet;

use client::{DAILY, Folder, Server, cases, window};
use jiff::Timestamp;
use serde_json::{Value, json};

const QUERY: &str = "calendar_occurrences_query";

fn folder() -> Folder {
    Folder::new().calendar("work", &[("daily.ics", DAILY.as_bytes())])
}

/// Validates against the advertised output schemas, and with `detail: full` against the reference where its catalog
/// is named by `KALENDS_REFERENCE_CATALOG`.
struct Referee {
    own: Vec<(String, jsonschema::Validator)>,
    reference: Option<Value>,
}

impl Referee {
    fn new(server: &mut Server) -> Self {
        let list = server.ask("tools/list", json!({}));
        let compile = |tool: &Value| {
            let validator = jsonschema::validator_for(&tool["outputSchema"]).expect("an output schema");
            (tool["name"].as_str().expect("a name").to_owned(), validator)
        };
        let reference = std::env::var("KALENDS_REFERENCE_CATALOG").ok().map(|path| {
            let text = std::fs::read_to_string(path).expect("the reference catalog");
            serde_json::from_str(&text).expect("JSON")
        });
        if reference.is_none() {
            println!("skipped: validation against the reference (KALENDS_REFERENCE_CATALOG is unset)");
        }
        Self {
            own: list["tools"].as_array().expect("tools").iter().map(compile).collect(),
            reference,
        }
    }

    fn own(&self, tool: &str, result: &Value) {
        let (_, validator) = self.own.iter().find(|(name, _)| name == tool).expect("a known tool");
        validator
            .validate(result)
            .unwrap_or_else(|error| panic!("{tool}: {error}\n{result}"));
    }

    fn full(&self, tool: &str, result: &Value) {
        self.own(tool, result);
        let Some(catalog) = &self.reference else { return };
        let tools = catalog["tools"].as_array().expect("tools");
        let theirs = tools.iter().find(|theirs| {
            theirs["name"]
                .as_str()
                .is_some_and(|name| name.replace('.', "_") == tool)
        });
        let mut schema = theirs.expect("the reference has it")["outputSchema"].clone();
        schema["$defs"] = catalog["$defs"].clone();
        let validator = jsonschema::validator_for(&schema).expect("the reference's schema");
        validator
            .validate(result)
            .unwrap_or_else(|error| panic!("{tool}: {error} at {}\n{result:#}", error.instance_path()));
        println!("validated against the reference: {tool}");
    }
}

#[test]
fn the_catalog_is_small() {
    let folder = folder();
    let mut server = Server::on(&folder, "2025-11-25");
    let id = server.request("tools/list", json!({}));
    let bytes = server.answer(id).to_string().len();
    println!("tools/list: {bytes} bytes");
    let list = server.ask("tools/list", json!({}));
    assert!(bytes < 2048 * list["tools"].as_array().unwrap().len(), "{bytes}");
    for (tool, ttl) in list["tools"]
        .as_array()
        .unwrap()
        .iter()
        .zip([30_000, 5_000, 0, 0, 0, 0])
    {
        assert_eq!(
            tool["_meta"]["io.github.jhonattan-souza/cache"],
            json!({"ttlMs": ttl, "cacheScope": "private"})
        );
        let hints = json!({"title": tool["title"], "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": true});
        assert_eq!(tool["annotations"], hints);
    }
}

#[test]
fn names_are_listed_as_configured_and_accepted_in_both_spellings() {
    let folder = folder();
    for (style, listed) in [("underscore", "calendars_list"), ("dotted", "calendars.list")] {
        let mut server = Server::start(&[("CALDAV_URL", &folder.url()), ("CALDAV_TOOL_NAMES", style)]);
        server.initialize("2025-06-18");
        assert_eq!(server.ask("tools/list", json!({}))["tools"][0]["name"], listed);
        for name in ["calendars_list", "calendars.list"] {
            assert_eq!(
                server.success(name, json!({}))["items"][0]["calendar"]["href"],
                format!("{}/work/", folder.url())
            );
        }
    }
}

#[test]
fn violations_name_the_place_the_kind_and_what_to_send() {
    let folder = folder();
    let mut server = Server::start(&[("CALDAV_URL", &folder.url())]);
    server.initialize("2025-11-25");
    let referee = Referee::new(&mut server);
    let zoned = |mut arguments: Value, more: Value| {
        arguments["evaluationTimeZone"] = json!("UTC");
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        arguments
    };
    let week = || window("2026-12-01T00:00:00Z", "2026-12-08T00:00:00Z");
    let with = |more: Value| zoned(week(), more);
    let at = |value: Value| json!({"kind": "utcDateTime", "value": value});
    type Expected = &'static [(&'static str, &'static str)];
    let cases: Vec<(&str, Value, Expected)> = vec![
        ("calendars_list", json!({"x": 1}), &[("/x", "unknown_member")]),
        ("calendar_resources_get", json!({}), &[("/href", "required_member")]),
        (
            "calendar_resources_get",
            json!({"href": 5}),
            &[("/href", "invalid_type")],
        ),
        (
            "calendar_resources_get",
            json!({"href": "a", "detail": "all"}),
            &[("/detail", "value_not_allowed")],
        ),
        (
            QUERY,
            json!({}),
            &[
                ("/evaluationTimeZone", "required_member"),
                ("/from", "required_member"),
                ("/scope", "required_member"),
                ("/to", "required_member"),
            ],
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
            "calendars_free_busy",
            json!({"from": "2026-12-01T00:00:00.5Z", "to": "x", "calendarHref": "x"}),
            &[("/from", "length_out_of_range"), ("/to", "length_out_of_range")],
        ),
        (
            "calendars_free_busy",
            json!({"from": "2026-12-01 00:00:00Z", "to": "2026-12-32T00:00:00Z", "calendarHref": "x"}),
            &[("/from", "format_mismatch"), ("/to", "format_mismatch")],
        ),
        (
            "calendars_free_busy",
            json!({"from": "2026-12-01T00:00:00Z", "to": "2026-02-30T00:00:00Z", "calendarHref": "x"}),
            &[("/to", "temporal_value_invalid")],
        ),
        (
            "calendars_free_busy",
            json!({"from": "2026-12-01T00:00:00Z", "to": "2026-12-01T00:00:00Z", "calendarHref": "x"}),
            &[("/to", "out_of_range")],
        ),
        (
            "calendars_free_busy",
            json!({"from": "2026-12-01T00:00:00Z", "to": "2027-12-02T00:00:01Z", "calendarHref": "x"}),
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
        (QUERY, week(), &[("/evaluationTimeZone", "required_member")]),
        (
            QUERY,
            with(json!({"evaluationTimeZone": "europe/berlin"})),
            &[("/evaluationTimeZone", "temporal_value_invalid")],
        ),
        (
            QUERY,
            with(json!({"evaluationTimeZone": "W. Europe Standard Time"})),
            &[("/evaluationTimeZone", "temporal_value_invalid")],
        ),
        (
            QUERY,
            with(json!({"from": "2026-12-01T00:00:00Z"})),
            &[("/from", "invalid_type")],
        ),
        (
            QUERY,
            with(json!({"from": {"kind": "date", "value": "2026-12-01"}})),
            &[("/from/kind", "value_not_allowed")],
        ),
        (
            QUERY,
            with(json!({"from": at(json!("2026-12-01"))})),
            &[("/from/value", "format_mismatch")],
        ),
        (
            QUERY,
            with(json!({"from": at(json!("2026-02-30T00:00:00Z"))})),
            &[("/from/value", "temporal_value_invalid")],
        ),
        (
            QUERY,
            with(json!({"to": at(json!("2026-12-01T00:00:00Z"))})),
            &[("/to", "out_of_range")],
        ),
        (
            QUERY,
            with(json!({"to": at(json!("2027-12-02T00:00:01Z"))})),
            &[("/to", "out_of_range")],
        ),
        (QUERY, with(json!({"scope": {}})), &[("/scope/mode", "required_member")]),
        (
            QUERY,
            with(json!({"scope": {"mode": "some"}})),
            &[("/scope/mode", "value_not_allowed")],
        ),
        (
            QUERY,
            with(json!({"scope": {"mode": "selected"}})),
            &[("/scope/calendar", "required_member")],
        ),
        (
            QUERY,
            with(json!({"scope": {"mode": "all", "calendar": {"by": "name", "name": "x"}}})),
            &[("/scope/calendar", "unknown_member")],
        ),
        (
            QUERY,
            with(json!({"scope": {"mode": "selected", "calendar": {"by": "name", "href": "x"}}})),
            &[
                ("/scope/calendar/href", "unknown_member"),
                ("/scope/calendar/name", "required_member"),
            ],
        ),
        (QUERY, with(json!({"pageSize": 0})), &[("/pageSize", "out_of_range")]),
        (QUERY, with(json!({"pageSize": 201})), &[("/pageSize", "out_of_range")]),
        (QUERY, with(json!({"pageSize": "5"})), &[("/pageSize", "invalid_type")]),
        (QUERY, with(json!({"text": ""})), &[("/text", "length_out_of_range")]),
        (
            QUERY,
            with(json!({"text": " "})),
            &[("/text", "item_count_out_of_range")],
        ),
        (QUERY, with(json!({"text": "a\u{7}"})), &[("/text", "format_mismatch")]),
        (
            QUERY,
            with(json!({"text": "a ".repeat(17)})),
            &[("/text", "item_count_out_of_range")],
        ),
        (
            QUERY,
            with(json!({"categories": []})),
            &[("/categories", "item_count_out_of_range")],
        ),
        (
            QUERY,
            with(json!({"categories": ["a", " a"]})),
            &[("/categories", "duplicate_items")],
        ),
        (
            QUERY,
            with(json!({"categories": [" "]})),
            &[("/categories/0", "length_out_of_range")],
        ),
        (
            QUERY,
            json!({"cursor": "x", "scope": {"mode": "all"}, "detail": "full"}),
            &[("/detail", "shape_mismatch"), ("/scope", "shape_mismatch")],
        ),
        (QUERY, json!({"cursor": ""}), &[("/cursor", "length_out_of_range")]),
    ];
    for (tool, arguments, expected) in cases {
        let error = server.failure(tool, arguments.clone());
        referee.full(tool, &error);
        assert_eq!(
            (&error["code"], &error["category"]),
            (&json!("invalid_input"), &json!("input"))
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
        assert_eq!(found, expected, "{arguments}");
        assert!(violations.iter().all(|v| {
            v["message"]
                .as_str()
                .is_some_and(|text| text.starts_with("Send ") || text.starts_with("Leave "))
        }));
        assert_eq!(error["message"], violations[0]["message"]);
    }
    let from = window("2026-12-01T00:00:00Z", "2027-12-02T00:00:00Z");
    server.success(QUERY, zoned(from, json!({"pageSize": 1})));
}

#[test]
fn pages_follow_each_other_and_a_cursor_gives_the_same_page_again() {
    let folder = folder();
    let mut server = Server::on(&folder, "2025-11-25");
    let mut ask = window("2026-12-01T00:00:00Z", "2026-12-11T00:00:00Z");
    ask["pageSize"] = json!(4);
    let first = server.success(QUERY, ask.clone());
    let cursor = first["pagination"]["nextCursor"].as_str().unwrap().to_owned();
    assert!(cursor.len() <= 2048);
    // A continuation asks nobody: what is deleted meanwhile is still there.
    std::fs::remove_file(folder.0.join("work/daily.ics")).unwrap();
    let second = server.success(QUERY, json!({"cursor": cursor}));
    assert_eq!(server.success(QUERY, json!({"cursor": cursor})), second);
    let third = server.success(QUERY, json!({"cursor": cursor, "pageSize": 2}));
    assert_eq!(
        third["items"].as_array().unwrap()[..],
        second["items"].as_array().unwrap()[..2]
    );
    let fourth = server.success(
        QUERY,
        json!({"cursor": third["pagination"]["nextCursor"], "pageSize": 200}),
    );
    let pages = [&first, &third, &fourth];
    let starts: Vec<_> = pages
        .iter()
        .flat_map(|page| page["items"].as_array().unwrap())
        .map(|row| row["timing"]["effectiveStart"]["value"].clone())
        .collect();
    let expected: Vec<_> = (1..=10)
        .map(|day| json!(format!("2026-12-{day:02}T09:00:00Z")))
        .collect();
    assert_eq!(starts, expected);
    assert_eq!(
        (
            second["items"].as_array().unwrap().len(),
            &second["pagination"]["nextCursor"]
        ),
        (6, &Value::Null)
    );
    for page in pages {
        assert_eq!(
            page["temporalEvaluationContext"],
            json!({"timeZone": "UTC", "source": "configuration"})
        );
    }
    let mut tampered = cursor.clone().into_bytes();
    tampered[30] ^= 1;
    for bad in [String::from_utf8(tampered).unwrap(), "nonsense".into()] {
        let error = server.failure(QUERY, json!({"cursor": bad}));
        assert_eq!(
            (&error["code"], &error["phase"]),
            (&json!("invalid_input"), &json!("pagination"))
        );
    }
    let mut other = Server::on(&folder, "2025-11-25");
    assert_eq!(other.failure(QUERY, json!({"cursor": cursor}))["phase"], "pagination");
}

#[test]
fn a_full_store_is_busy_and_says_for_how_long() {
    let folder = folder();
    let mut server = Server::on(&folder, "2025-11-25");
    let mut ask = window("2026-12-01T00:00:00Z", "2026-12-11T00:00:00Z");
    ask["pageSize"] = json!(1);
    for _ in 0..16 {
        server.success(QUERY, ask.clone());
    }
    let error = server.failure(QUERY, ask.clone());
    assert_eq!(
        (&error["code"], &error["phase"], &error["retryable"]),
        (&json!("busy"), &json!("pagination"), &json!(true))
    );
    assert!((1..=600_000).contains(&error["retryAfterMs"].as_u64().unwrap()));
    ask["pageSize"] = json!(200);
    server.success(QUERY, ask);
}

#[test]
fn compact_is_full_with_members_left_out() {
    let moved = DAILY.replace(
        "END:VCALENDAR",
        "BEGIN:VEVENT\r\nUID:daily\r\nDTSTAMP:20260101T000000Z\r\nRECURRENCE-ID:20261202T090000Z\r\nDTSTART;TZID=Europe/Berlin:20261202T140000\r\n\
         DTEND;TZID=Europe/Berlin:20261202T150000\r\nSUMMARY:Moved\r\nSTATUS:TENTATIVE\r\nTRANSP:OPAQUE\r\nEND:VEVENT\r\nEND:VCALENDAR",
    );
    let day = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:VEVENT\r\nUID:a day\r\nDTSTAMP:20260101T000000Z\r\n\
        DTSTART;VALUE=DATE:20261203\r\nSUMMARY:Day\r\nLOCATION:Here\r\nSTATUS:CONFIRMED\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
    let folder = Folder::new().calendar("work", &[("daily.ics", moved.as_bytes()), ("x.ics", day.as_bytes())]);
    let mut server = Server::on(&folder, "2025-11-25");
    let referee = Referee::new(&mut server);
    let mut ask = window("2026-12-01T00:00:00Z", "2026-12-04T00:00:00Z");
    let compact = server.success(QUERY, ask.clone());
    referee.own(QUERY, &compact);
    let href = |file: &str| format!("{}/work/{file}", folder.url());
    let rows = compact["items"].as_array().unwrap();
    assert_eq!(rows.len(), 4, "{compact:#}");
    let series = |fields: Value, timing: Value, identity: Value| {
        let revision = json!({"href": href("daily.ics")});
        json!({"snapshot": {"projection": {"kind": "event", "fields": fields}, "entityRevision": revision}, "recurrenceIdentity": identity, "timing": timing})
    };
    let plain =
        json!({"effectiveStart": {"value": "2026-12-01T09:00:00Z"}, "effectiveEnd": {"value": "2026-12-01T09:30:00Z"}});
    assert_eq!(rows[0], series(json!({"summary": "Daily"}), plain, json!({})));
    let berlin = json!({
        "effectiveStart": {"value": "2026-12-02T14:00:00", "timeZoneId": "Europe/Berlin"},
        "effectiveEnd": {"value": "2026-12-02T15:00:00"}
    });
    let identity = json!({"value": {"value": "2026-12-02T09:00:00Z"}});
    let fields = json!({"summary": "Moved", "status": {"rawValue": "TENTATIVE"}});
    assert_eq!(rows[1], series(fields, berlin, identity));
    let revision = json!({"href": href("x.ics")});
    let alone = json!({
        "snapshot": {"projection": {"kind": "event", "fields": {"summary": "Day", "location": "Here"}}, "entityRevision": revision},
        "timing": {"effectiveStart": {"value": "2026-12-03"}}
    });
    assert_eq!(rows[2], alone);

    ask["detail"] = json!("full");
    let full = server.success(QUERY, ask);
    referee.full(QUERY, &full);
    assert_eq!(
        full["items"][1]["timing"]["sourceStart"]["value"],
        "2026-12-02T09:00:00Z"
    );
    assert_eq!(full["items"][2]["timing"]["evaluationTimeZone"], "UTC");
    assert_eq!(full["diagnostics"], json!([]));
    for detail in ["compact", "full"] {
        for file in ["daily.ics", "x.ics"] {
            let got = server.success("calendar_resources_get", json!({"href": href(file), "detail": detail}));
            if detail == "full" {
                referee.full("calendar_resources_get", &got);
            } else {
                referee.own("calendar_resources_get", &got);
                let members: Vec<_> = got["snapshot"].as_object().unwrap().keys().collect();
                assert_eq!(members, ["entityRevision", "projection"], "{got:#}");
                assert!(!got.to_string().contains("originalSlice"));
            }
        }
    }
    let list = server.success("calendars_list", json!({}));
    referee.full("calendars_list", &list);
    let gone = server.failure("calendar_resources_get", json!({"href": href("none.ics")}));
    assert_eq!(gone["code"], "not_found");
    referee.full("calendar_resources_get", &gone);
}

/// One of everything that is structured data, as RFC 5545, 7986, 9073, 9074 and 9253 write it, on a To-do and an Event.
#[test]
fn structured_data_is_shown_whole_in_full_and_short_in_compact() {
    let lines = "ORGANIZER;CN=Olga;SENT-BY=\"mailto:sec@example.com\":mailto:olga@example.com\r\n\
        ATTENDEE;CN=\"Ann, A.\";ROLE=REQ-PARTICIPANT;PARTSTAT=ACCEPTED;CUTYPE=INDIVIDUAL;RSVP=TRUE;X-NUM-GUESTS=0:mailto:ann@example.com\r\n\
        ATTENDEE;ROLE=CHAIR;CUTYPE=X-BOT;DELEGATED-TO=\"mailto:a@example.com\",\"mailto:b@example.com\";DIR=\"ldap://example.com/x\":mailto:bob@example.com\r\n\
        CONTACT;ALTREP=\"https://example.com/c\":Carl\\, 5\r\nRESOURCES:Room,Beamer\r\nRELATED-TO;RELTYPE=CHILD:other\r\nRELATED-TO:parent\r\n\
        REQUEST-STATUS:2.0;Success;a\\;b\r\nATTACH;FMTTYPE=text/plain;LABEL=Notes:https://example.com/notes.txt\r\n\
        ATTACH;ENCODING=BASE64;VALUE=BINARY:AAAA\r\nCOMMENT:Hello\r\nSTYLED-DESCRIPTION;VALUE=TEXT;FMTTYPE=text/html:<p>x</p>\r\n\
        IMAGE;VALUE=URI;DISPLAY=BADGE:https://example.com/i.png\r\nCONFERENCE;VALUE=URI;FEATURE=AUDIO,VIDEO;LABEL=Call:https://example.com/call\r\n\
        LINK;VALUE=URI;LINKREL=SOURCE:https://example.com/\r\nCONCEPT:https://example.com/music\r\nSTRUCTURED-DATA;VALUE=URI:https://example.com/d.json\r\n\
        BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER;RELATED=END:-PT15M\r\nDESCRIPTION:Soon\r\nREPEAT:2\r\nDURATION:PT5M\r\nUID:al\r\n\
        ACKNOWLEDGED:20260101T000000Z\r\nPROXIMITY:DEPART\r\nRELATED-TO;RELTYPE=SNOOZE:x\r\nBEGIN:VLOCATION\r\nUID:pl\r\nURL:geo:1,2\r\nEND:VLOCATION\r\nEND:VALARM\r\n\
        BEGIN:VALARM\r\nACTION:EMAIL\r\nTRIGGER;VALUE=DATE-TIME:20261130T000000Z\r\nSUMMARY:s\r\nDESCRIPTION:d\r\nATTENDEE:mailto:ann@example.com\r\n\
        ATTACH:https://example.com/a\r\nEND:VALARM\r\n\
        BEGIN:PARTICIPANT\r\nUID:p\r\nPARTICIPANT-TYPE:SPEAKER\r\nCALENDAR-ADDRESS:mailto:ann@example.com\r\nCREATED:20260101T000000Z\r\nDTSTAMP:20260101T000000Z\r\n\
        LAST-MODIFIED:20260101T000000Z\r\nDESCRIPTION:d\r\nGEO:1.5;-2\r\nPRIORITY:1\r\nSEQUENCE:0\r\nSTATUS:CONFIRMED\r\nSUMMARY:s\r\nURL:https://example.com/p\r\n\
        ATTACH:https://example.com/a\r\nCATEGORIES:a,b\r\nCATEGORIES:c\r\nCOMMENT:c\r\nCONTACT:c\r\nLOCATION:l\r\nREQUEST-STATUS:2.0;ok\r\nRELATED-TO:x\r\nRESOURCES:r\r\n\
        STYLED-DESCRIPTION;VALUE=TEXT:s\r\nSTRUCTURED-DATA;VALUE=URI:https://example.com/d\r\n\
        BEGIN:VLOCATION\r\nUID:l\r\nEND:VLOCATION\r\nBEGIN:VRESOURCE\r\nUID:r\r\nEND:VRESOURCE\r\nEND:PARTICIPANT\r\n\
        BEGIN:VLOCATION\r\nUID;X-A=1:l2\r\nNAME:Hall\r\nDESCRIPTION:d\r\nGEO:1;2\r\nLOCATION-TYPE:hall,stage\r\nURL:https://example.com/l\r\nRELATED-TO:x\r\n\
        CONCEPT:https://example.com/c\r\nLINK;VALUE=URI:https://example.com/k\r\nSTRUCTURED-DATA;VALUE=URI:https://example.com/d\r\nEND:VLOCATION\r\n\
        BEGIN:VRESOURCE\r\nUID:r2\r\nNAME:Beamer\r\nRESOURCE-TYPE:PROJECTOR\r\nEND:VRESOURCE\r\n";
    let resource = |kind: &str, uid: &str| {
        format!(
            "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:{kind}\r\nUID:{uid}\r\nDTSTAMP:20260101T000000Z\r\n\
             DTSTART:20261201T090000Z\r\nRRULE:FREQ=DAILY;COUNT=3\r\nSUMMARY:Rich\r\n{lines}END:{kind}\r\n\
             BEGIN:{kind}\r\nUID:{uid}\r\nDTSTAMP:20260101T000000Z\r\nRECURRENCE-ID:20261202T090000Z\r\nDTSTART:20261202T100000Z\r\n{lines}END:{kind}\r\n\
             END:VCALENDAR\r\n"
        )
    };
    let (event, todo) = (resource("VEVENT", "event"), resource("VTODO", "todo"));
    let files = [("event.ics", event.as_bytes()), ("todo.ics", todo.as_bytes())];
    let folder = Folder::new().calendar("work", &files);
    let mut server = Server::on(&folder, "2025-11-25");
    let referee = Referee::new(&mut server);
    let mut ask = window("2026-12-01T00:00:00Z", "2026-12-04T00:00:00Z");
    let rows = server.success(QUERY, ask.clone());
    let largest = rows["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row.to_string().len())
        .max();
    assert!(!rows.to_string().contains("structuredData"), "{rows:#}");
    assert!(largest.is_some_and(|bytes| bytes <= 700), "{largest:?}");
    ask["detail"] = json!("full");
    let rows = server.success(QUERY, ask);
    referee.full(QUERY, &rows);
    assert_eq!(rows["items"].as_array().unwrap().len(), 6);
    for (file, _) in files {
        let href = format!("{}/work/{file}", folder.url());
        let mut get = |detail: &str| server.success("calendar_resources_get", json!({"href": href, "detail": detail}));
        let (full, compact) = (get("full"), get("compact"));
        referee.full("calendar_resources_get", &full);
        referee.own("calendar_resources_get", &compact);
        let data = |result: &Value| result["snapshot"]["projection"]["fields"]["structuredData"].clone();
        let shown = data(&full);
        assert_eq!(shown.as_object().unwrap().len(), 18, "{shown:#}");
        assert_eq!(
            full["snapshot"]["projection"]["fields"]["recurrenceSet"]["overrides"][0]["fields"]["structuredData"],
            shown
        );
        assert_eq!(full["snapshot"]["diagnostics"][0]["code"], "inline_content_omitted");
        assert_eq!(
            shown["attendees"][0]["role"]["explicitValue"],
            shown["attendees"][0]["role"]["effectiveValue"]
        );
        assert_eq!(shown["attendees"][1]["rsvp"], json!({"effectiveValue": false}));
        assert_eq!(shown["participants"][0]["schedulable"], true);
        let short = data(&compact);
        assert_eq!(
            short["attendees"],
            json!([
                {
                    "uri": "mailto:ann@example.com", "commonName": "Ann, A.", "partStat": {"effectiveValue": {"rawValue": "ACCEPTED"}},
                    "rsvp": {"effectiveValue": true}, "parameters": [{"name": "X-NUM-GUESTS", "values": ["0"]}]
                },
                {
                    "uri": "mailto:bob@example.com", "role": {"effectiveValue": {"rawValue": "CHAIR"}},
                    "cutype": {"effectiveValue": {"kind": "extension", "rawValue": "X-BOT"}},
                    "delegatedTo": ["mailto:a@example.com", "mailto:b@example.com"], "directory": "ldap://example.com/x"
                }
            ])
        );
        assert_eq!(
            short["relatedTo"],
            json!([{"value": "other", "relationType": {"effectiveValue": {"rawValue": "CHILD"}}}, {"value": "parent"}])
        );
        assert_eq!(short["comments"], json!([{"value": "Hello"}]));
        let (long, short) = (shown.to_string().len(), short.to_string().len());
        println!("structured data: {long} bytes in full, {short} in compact");
        assert!(short * 4 < long * 3, "{short} of {long}");
    }
}

/// A zone that is named like an IANA zone and has rules of its own.
#[test]
fn an_instant_is_shown_where_the_name_of_its_zone_does_not_tell_it() {
    let text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:VTIMEZONE\r\nTZID:Europe/Berlin\r\nBEGIN:STANDARD\r\n\
        DTSTART:19700101T000000\r\nTZOFFSETFROM:+0500\r\nTZOFFSETTO:+0500\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\nBEGIN:VEVENT\r\nUID:own\r\n\
        DTSTAMP:20260101T000000Z\r\nDTSTART;TZID=Europe/Berlin:20261201T090000\r\nDTEND;TZID=Europe/Berlin:20261201T100000\r\nEND:VEVENT\r\n\
        END:VCALENDAR\r\n";
    let folder = Folder::new().calendar("work", &[("own.ics", text.as_bytes())]);
    let mut server = Server::on(&folder, "2025-11-25");
    let page = server.success(QUERY, window("2026-12-01T00:00:00Z", "2026-12-02T00:00:00Z"));
    let timing = json!({
        "effectiveStart": {"value": "2026-12-01T09:00:00", "timeZoneId": "Europe/Berlin"},
        "effectiveEnd": {"value": "2026-12-01T10:00:00"},
        "evaluatedStartUtc": {"value": "2026-12-01T04:00:00Z"},
        "evaluatedEndUtc": {"value": "2026-12-01T05:00:00Z"}
    });
    assert_eq!(page["items"][0]["timing"], timing);
}

#[test]
fn an_opaque_resource_shows_its_properties() {
    let opaque = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VJOURNAL\r\nUID:j\r\nSUMMARY:Not an event\r\nEND:VJOURNAL\r\nEND:VCALENDAR\r\n";
    let folder = Folder::new().calendar("work", &[("j.ics", opaque.as_bytes())]);
    let mut server = Server::on(&folder, "2025-11-25");
    let referee = Referee::new(&mut server);
    let href = format!("{}/work/j.ics", folder.url());
    let got = server.success("calendar_resources_get", json!({"href": href}));
    let projection = &got["snapshot"]["projection"];
    assert_eq!(projection["kind"], "opaque");
    assert!(projection["properties"].to_string().contains("Not an event"));
    assert!(got["snapshot"].get("entityRevision").is_none());
    assert_eq!(got["snapshot"]["resourceRevision"]["href"], json!(href));
    let full = server.success("calendar_resources_get", json!({"href": href, "detail": "full"}));
    referee.full("calendar_resources_get", &full);
}

#[test]
fn an_opaque_resource_of_many_megabytes_is_shown_in_part() {
    let more = "X-FILLER;A=\"b\":text\\, with \u{1}control\u{1} characters\r\n".repeat(60_000);
    let large = format!("X-LARGE:{}\r\n", "x".repeat(300_000));
    let opaque = format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VJOURNAL\r\nUID:j\r\n{large}SUMMARY:Not an event\r\n{more}END:VJOURNAL\r\nEND:VCALENDAR\r\n"
    );
    let folder = Folder::new().calendar("work", &[("j.ics", opaque.as_bytes())]);
    let mut server = Server::on(&folder, "2025-11-25");
    let href = format!("{}/work/j.ics", folder.url());
    let got = server.success("calendar_resources_get", json!({"href": href}));
    assert!(got.to_string().len() < 1 << 20, "{}", got.to_string().len());
    let properties = got["snapshot"]["projection"]["properties"].as_array().unwrap();
    assert_eq!(properties.len(), 1000);
    assert_eq!(properties[2]["rawEncodedValue"], "Not an event");
    let told = got["snapshot"]["diagnostics"].as_array().unwrap();
    let told = told
        .iter()
        .find(|told| told["code"] == "opaque_properties_omitted")
        .unwrap();
    assert!(
        told["message"].as_str().unwrap().starts_with("59004 of 60004 "),
        "{told}"
    );
}

#[test]
fn a_calendar_is_inspected() {
    let folder = folder();
    let settings = json!({"name": "Work", "color": "#12345678", "timezone":
        "BEGIN:VCALENDAR\r\nBEGIN:VTIMEZONE\r\nTZID:Europe/Berlin\r\nEND:VTIMEZONE\r\nEND:VCALENDAR\r\n"});
    std::fs::write(folder.0.join("work/.calendar.json"), settings.to_string()).unwrap();
    let mut server = Server::on(&folder, "2025-11-25");
    let referee = Referee::new(&mut server);
    let href = format!("{}/work/", folder.url());
    let mut told = server.success("calendars_inspect", json!({"calendarHref": href}));
    referee.full("calendars_inspect", &told);
    assert!(told["changeTag"].take().is_string());
    let named = |names: &[&str], space: &str| -> Vec<Value> {
        names
            .iter()
            .map(|name| json!({"namespaceUri": space, "localName": name}))
            .collect()
    };
    let caldav = ["calendar-query", "calendar-multiget", "free-busy-query"];
    let reports = [
        named(&caldav, "urn:ietf:params:xml:ns:caldav"),
        named(&["sync-collection"], "DAV:"),
    ]
    .concat();
    assert_eq!(told["reports"].take(), json!(reports));
    assert_eq!(told["privileges"].take()[0], json!(named(&["all"], "DAV:")[0]));
    let properties = told["properties"].take();
    assert_eq!(properties.as_array().unwrap().len(), 15);
    let status = |name: &str| {
        let found = properties.as_array().unwrap().iter().find(|it| it["localName"] == name);
        found.expect("it is asked for")["statusCode"].clone()
    };
    assert_eq!(
        (status("displayname"), status("max-instances")),
        (json!(200), json!(404))
    );
    let expected = json!({
        "outcome": "success", "calendarHref": href, "displayName": "Work", "description": null, "descriptionLanguage": null,
        "davDescription": null, "color": "#123456", "order": null, "reportSupport": "available", "reports": null,
        "privilegeSupport": "available", "privileges": null, "timeZoneIds": ["Europe/Berlin"], "properties": null,
        "limits": {"maximumResourceBytes": 4 << 20, "maximumInstances": null, "maximumAttendeesPerInstance": null,
            "minimumDateTime": null, "maximumDateTime": null},
        "scheduling": {"state": "not_advertised", "statusCode": 200}, "changeTag": null
    });
    assert_eq!(told, expected);
    for (href, code, phase) in [
        (
            format!("{}/none/", folder.url()),
            "not_found",
            "selectionDiscoveryCapability",
        ),
        (
            "https://elsewhere.example/work/".to_owned(),
            "outside_scope",
            "originScopeAuthorization",
        ),
        ("work".to_owned(), "invalid_input", "originScopeAuthorization"),
    ] {
        let error = server.failure("calendars_inspect", json!({"calendarHref": href}));
        referee.full("calendars_inspect", &error);
        assert_eq!(
            (&error["code"], &error["phase"]),
            (&json!(code), &json!(phase)),
            "{href}"
        );
    }
}

#[test]
fn busy_times_are_those_of_opaque_events() {
    let event = |uid: &str, lines: &str| {
        format!(
            "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:VEVENT\r\nUID:{uid}\r\nDTSTAMP:20260101T000000Z\r\n{}\r\nEND:VEVENT\r\n\
             END:VCALENDAR\r\n",
            lines.replace(" | ", "\r\n")
        )
    };
    let files = [
        (
            "series",
            "DTSTART:20261201T090000Z | DURATION:PT30M | RRULE:FREQ=DAILY;COUNT=2",
        ),
        ("beside", "DTSTART:20261201T093000Z | DURATION:PT30M"),
        ("maybe", "DTSTART:20261201T093000Z | DURATION:PT2H | STATUS:TENTATIVE"),
        ("free", "DTSTART:20261202T000000Z | DURATION:P1D | TRANSP:TRANSPARENT"),
        ("not", "DTSTART:20261202T000000Z | DURATION:P1D | STATUS:CANCELLED"),
        ("moment", "DTSTART:20261202T120000Z"),
        ("day", "DTSTART;VALUE=DATE:20261204"),
    ]
    .map(|(uid, lines)| (format!("{uid}.ics"), event(uid, lines)));
    let members: Vec<_> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_bytes()))
        .collect();
    let folder = Folder::new().calendar("work", &members);
    // Dates are days of the Calendar's own zone.
    let zone = "BEGIN:VCALENDAR\r\nBEGIN:VTIMEZONE\r\nTZID:Europe/Berlin\r\nEND:VTIMEZONE\r\nEND:VCALENDAR\r\n";
    std::fs::write(
        folder.0.join("work/.calendar.json"),
        json!({"timezone": zone}).to_string(),
    )
    .unwrap();
    let mut server = Server::on(&folder, "2025-11-25");
    let referee = Referee::new(&mut server);
    let href = format!("{}/work/", folder.url());
    let ask = json!({"calendarHref": href, "from": "2026-12-01T09:15:00Z", "to": "2026-12-04T12:00:00Z"});
    let told = server.success("calendars_free_busy", ask.clone());
    referee.full("calendars_free_busy", &told);
    let period = |from: &str, to: &str, kind: &str| json!({"from": from, "to": to, "busyType": kind});
    let expected = json!({
        "outcome": "success", "calendarHref": href, "from": ask["from"], "to": ask["to"], "temporalAuthority": "server", "complete": true,
        "periods": [
            period("2026-12-01T09:15:00Z", "2026-12-01T10:00:00Z", "BUSY"),
            period("2026-12-01T09:30:00Z", "2026-12-01T11:30:00Z", "BUSY-TENTATIVE"),
            period("2026-12-02T09:00:00Z", "2026-12-02T09:30:00Z", "BUSY"),
            period("2026-12-03T23:00:00Z", "2026-12-04T12:00:00Z", "BUSY")
        ]
    });
    assert_eq!(told, expected);
    // An event that cannot be evaluated must not pass for free time.
    let unknown = event("unknown", "DTSTART;TZID=Nowhere:20261202T120000 | DURATION:PT1H");
    std::fs::write(folder.0.join("work/unknown.ics"), unknown).unwrap();
    let error = server.failure("calendars_free_busy", ask);
    referee.full("calendars_free_busy", &error);
    assert_eq!(error["code"], "upstream_unavailable");
}

#[test]
fn changes_are_told_from_checkpoint_to_checkpoint() {
    const CHANGES: &str = "calendar_resources_changes";
    let members = ["a", "b", "c", "d", "e"].map(|name| (format!("{name}.ics"), DAILY.replace("daily", name)));
    let files: Vec<_> = members
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_bytes()))
        .collect();
    let folder = Folder::new().calendar("work", &files);
    let mut server = Server::on(&folder, "2025-11-25");
    let referee = Referee::new(&mut server);
    let href = |name: &str| format!("{}/work/{name}", folder.url());
    let told = |page: &Value| -> Vec<(String, Value)> {
        let changes = page["changes"].as_array().unwrap().iter();
        changes
            .map(|change| {
                let name = change["href"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
                assert_eq!(change["kind"] == "changed", change.get("etag").is_some());
                (name, change["kind"].clone())
            })
            .collect()
    };
    let all = |names: &[&str], kind: &str| -> Vec<_> {
        names.iter().map(|name| (format!("{name}.ics"), json!(kind))).collect()
    };
    let start = json!({"calendarHref": href(""), "pageSize": 2});
    let first = server.success(CHANGES, start);
    referee.full(CHANGES, &first);
    assert_eq!((&first["mode"], &first["hasMore"]), (&json!("initial"), &json!(true)));
    assert_eq!(told(&first), all(&["a", "b"], "changed"));
    assert_eq!(first["checkpoint"].as_str().unwrap().len(), 36);
    let etag = server.success("calendar_resources_get", json!({"href": href("a.ics")}))["snapshot"]["entityRevision"]["entityTag"].take();
    assert_eq!(first["changes"][0]["etag"], etag);
    // The rest of the report costs no request: what happens meanwhile is told afterwards.
    std::fs::remove_file(folder.0.join("work/c.ics")).unwrap();
    let second = server.success(CHANGES, json!({"checkpoint": first["checkpoint"], "pageSize": 2}));
    assert_eq!(
        (told(&second), &second["mode"]),
        (all(&["c", "d"], "changed"), &json!("initial"))
    );
    assert_eq!(
        server.success(CHANGES, json!({"checkpoint": first["checkpoint"], "pageSize": 2})),
        second
    );
    let third = server.success(CHANGES, json!({"checkpoint": second["checkpoint"]}));
    assert_eq!(
        (told(&third), &third["mode"], &third["hasMore"]),
        (all(&["e"], "changed"), &json!("initial"), &json!(false))
    );
    std::fs::write(folder.0.join("work/f.ics"), DAILY.replace("daily", "f")).unwrap();
    std::fs::write(
        folder.0.join("work/a.ics"),
        DAILY.replace("daily", "a").replace("Long", "Short"),
    )
    .unwrap();
    let fourth = server.success(CHANGES, json!({"checkpoint": third["checkpoint"]}));
    referee.full(CHANGES, &fourth);
    assert_eq!(
        (&fourth["mode"], &fourth["hasMore"]),
        (&json!("incremental"), &json!(false))
    );
    let mut expected = all(&["a", "f"], "changed");
    expected.insert(1, ("c.ics".into(), json!("removed")));
    assert_eq!(told(&fourth), expected);
    // Nothing more: the same state has the same checkpoint.
    let fifth = server.success(CHANGES, json!({"checkpoint": fourth["checkpoint"]}));
    assert_eq!(
        (told(&fifth), &fifth["checkpoint"]),
        (Vec::new(), &fourth["checkpoint"])
    );
    let again = server.success(CHANGES, json!({"calendarHref": href("")}));
    assert_eq!(
        (told(&again).len(), &again["checkpoint"], &again["mode"]),
        (5, &fourth["checkpoint"], &json!("initial"))
    );
    // Another process knows nothing of it, and a checkpoint is copied exactly or not at all.
    let checkpoint = fourth["checkpoint"].as_str().unwrap();
    let mut other = Server::on(&folder, "2025-11-25");
    let errors = [
        other.failure(CHANGES, json!({"checkpoint": checkpoint})),
        server.failure(CHANGES, json!({"checkpoint": checkpoint[..35]})),
        server.failure(CHANGES, json!({"checkpoint": "cs1_"})),
    ];
    for error in errors {
        referee.full(CHANGES, &error);
        assert_eq!(
            (&error["code"], &error["phase"]),
            (&json!("sync_reset_required"), &json!("pagination"))
        );
    }
}

/// Start and summary of every occurrence in a window.
fn occurrences(server: &mut Server, from: &str, to: &str, zone: &str) -> BTreeSet<(Timestamp, String)> {
    let utc = |text: &str| text.parse::<Timestamp>().expect("an instant").to_string();
    let mut ask = window(&utc(from), &utc(to));
    ask["evaluationTimeZone"] = json!(zone);
    let page = server.success(QUERY, ask.clone());
    ask["detail"] = json!("full");
    let full = server.success(QUERY, ask);
    let rows = page["items"]
        .as_array()
        .unwrap()
        .iter()
        .zip(full["items"].as_array().unwrap());
    rows.map(|(compact, full)| {
        let start = full["timing"]["evaluatedStartUtc"]["value"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
        (
            start,
            compact["snapshot"]["projection"]["fields"]["summary"]
                .as_str()
                .unwrap()
                .to_owned(),
        )
    })
    .collect()
}

fn case(name: &str) -> (std::path::PathBuf, Value) {
    let path = cases().join(name);
    let text = std::fs::read_to_string(path.join("expected.json")).expect("a case");
    (path, serde_json::from_str(&text).expect("JSON"))
}

/// Case 049: what is on next week shows the occurrences of that week, not the series at its first date.
#[test]
fn a_series_is_shown_where_it_takes_place() {
    let (path, expected) = case("049-series-shown-at-its-first-date");
    let octets = std::fs::read(path.join("series.ics")).unwrap();
    let folder = Folder::new().calendar("work", &[("series.ics", &octets)]);
    let mut server = Server::on(&folder, "2025-11-25");
    for query in expected["queries"].as_array().unwrap() {
        let text = |member: &str| query[member].as_str().unwrap().to_owned();
        let wanted = query["occurrences"].as_array().unwrap().iter();
        let wanted = wanted.map(|row| {
            (
                row["start"].as_str().unwrap().parse().unwrap(),
                row["summary"].as_str().unwrap().to_owned(),
            )
        });
        assert_eq!(
            occurrences(&mut server, &text("from"), &text("to"), "UTC"),
            wanted.collect()
        );
    }
}

/// Case 052: days are days of the evaluation zone.
#[test]
fn all_day_events_stay_on_their_day() {
    let (path, expected) = case("052-all-day-event-and-the-neighbour-day");
    let octets = String::from_utf8(std::fs::read(path.join("events.ics")).unwrap()).unwrap();
    // One resource holds one event (RFC 4791, 4.1), so each gets a file.
    let parts: Vec<&str> = octets
        .split("BEGIN:VEVENT")
        .skip(1)
        .map(|part| part.split("END:VEVENT").next().unwrap())
        .collect();
    let files: Vec<_> = parts.iter().enumerate().map(|(at, part)| {
        let text = format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:VEVENT{part}END:VEVENT\r\nEND:VCALENDAR\r\n");
        (format!("{at}.ics"), text)
    }).collect();
    let members: Vec<_> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_bytes()))
        .collect();
    let folder = Folder::new().calendar("home", &members);
    let mut server = Server::on(&folder, "2025-11-25");
    let zone = expected["evaluation_time_zone"].as_str().unwrap();
    for query in expected["queries"].as_array().unwrap() {
        let text = |member: &str| query[member].as_str().unwrap().to_owned();
        let found = occurrences(&mut server, &text("from"), &text("to"), zone);
        let summaries: Vec<_> = found.into_iter().map(|(_, summary)| json!(summary)).collect();
        assert_eq!(json!(summaries), query["summaries"], "{query}");
    }
}

/// Case 051: a name that several Calendars have is refused with all of them.
#[test]
fn a_name_of_several_calendars_is_ambiguous() {
    let names = [("c1", "Calendar"), ("c2", "Calendar"), ("w", "Work")];
    let folder = names
        .iter()
        .fold(Folder::new(), |folder, (file, _)| folder.calendar(file, &[]));
    for (file, name) in names {
        std::fs::write(
            folder.0.join(file).join(".calendar.json"),
            json!({"name": name}).to_string(),
        )
        .unwrap();
    }
    let mut server = Server::on(&folder, "2025-11-25");
    let referee = Referee::new(&mut server);
    let ask = |server: &mut Server, name: &str| {
        let mut ask = window("2026-12-01T00:00:00Z", "2026-12-08T00:00:00Z");
        ask["scope"] = json!({"mode": "selected", "calendar": {"by": "name", "name": name}});
        server.tool(QUERY, ask)["structuredContent"].take()
    };
    for name in ["Calendar", "calendar"] {
        let error = ask(&mut server, name);
        referee.full(QUERY, &error);
        assert_eq!(error["code"], "ambiguous");
        let hrefs: Vec<_> = error["authorizedCandidates"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["calendar"]["href"].clone())
            .collect();
        assert_eq!(
            hrefs,
            [format!("{}/c1/", folder.url()), format!("{}/c2/", folder.url())]
        );
        assert!(
            hrefs
                .iter()
                .all(|href| error["message"].as_str().unwrap().contains(href.as_str().unwrap()))
        );
    }
    assert_eq!(ask(&mut server, "work")["outcome"], "success");
    assert_eq!(ask(&mut server, "nothing")["code"], "not_found");
}

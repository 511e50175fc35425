//! Start and Continue.

use kalends_local::Local;
use serde_json::{Value, json};

use crate::client::{Folder, Server, window};
use crate::referee::Referee;
use crate::scripted::honest;
use crate::{ENTITIES, OCCURRENCES, TODOS, resource, rows, with, work};

/// Ten Events and ten To-dos, one of each on each of ten days.
fn ten_days() -> Folder {
    let files = (1..=10).flat_map(|day| {
        let (event, todo) = (
            format!("DTSTART:202612{day:02}T090000Z"),
            format!("DUE:202612{day:02}T100000Z"),
        );
        [
            (
                format!("e{day:02}.ics"),
                resource("VEVENT", &format!("e{day:02}"), &event),
            ),
            (
                format!("t{day:02}.ics"),
                resource("VTODO", &format!("t{day:02}"), &todo),
            ),
        ]
    });
    let files: Vec<_> = files.collect();
    let members: Vec<_> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_bytes()))
        .collect();
    Folder::new().calendar("work", &members)
}

/// A Start of each query that finds ten rows.
fn starts() -> [(&'static str, Value); 3] {
    let days = || window("2026-12-01T00:00:00Z", "2026-12-11T00:00:00Z");
    [
        (ENTITIES, json!({"scope": {"mode": "all"}, "entityKinds": ["event"]})),
        (OCCURRENCES, days()),
        (TODOS, days()),
    ]
}

#[test]
fn pages_follow_each_other_and_a_cursor_gives_the_same_page_again() {
    let folder = ten_days();
    let mut server = Server::on(&folder, "2025-11-25");
    let referee = Referee::new(&mut server);
    let started: Vec<_> = ["compact", "full"]
        .into_iter()
        .flat_map(|detail| starts().map(|(tool, ask)| (tool, with(ask, json!({"detail": detail})))))
        .map(|(tool, ask)| {
            let whole = server.success(tool, ask.clone());
            assert_eq!(
                (rows(&whole).len(), &whole["pagination"]["nextCursor"]),
                (10, &Value::Null)
            );
            let first = server.success(tool, with(ask, json!({"pageSize": 4})));
            (tool, whole, first)
        })
        .collect();
    // A continuation asks nobody: what is deleted meanwhile is still there.
    std::fs::remove_dir_all(folder.0.join("work")).unwrap();
    for (tool, whole, first) in started {
        let cursor = first["pagination"]["nextCursor"].as_str().unwrap().to_owned();
        assert!(cursor.len() <= 2048);
        let second = server.success(tool, json!({"cursor": cursor}));
        assert_eq!(server.success(tool, json!({"cursor": cursor})), second);
        assert_eq!(
            (rows(&second).len(), &second["pagination"]["nextCursor"]),
            (6, &Value::Null)
        );
        let third = server.success(tool, json!({"cursor": cursor, "pageSize": 2}));
        let next = &third["pagination"]["nextCursor"];
        let fourth = server.success(tool, json!({"cursor": next, "pageSize": 200}));
        let all: Vec<_> = [&first, &third, &fourth].into_iter().flat_map(rows).collect();
        assert_eq!(all, rows(&whole).iter().collect::<Vec<_>>());
        for page in [first, second, third, fourth] {
            if page["items"].to_string().contains("calendarProperties") || page.get("diagnostics").is_some() {
                referee.full(tool, &page);
            } else {
                referee.own(tool, &page);
            }
            let members = |page: &Value| -> Vec<_> {
                let page = page.as_object().unwrap().clone();
                page.into_iter()
                    .filter(|(name, _)| !matches!(name.as_str(), "items" | "pagination"))
                    .collect()
            };
            assert_eq!(members(&page), members(&whole), "{tool}");
        }
        let mut tampered = cursor.clone().into_bytes();
        tampered[30] ^= 1;
        let foreign = starts().map(|(tool, _)| tool);
        let bad = [(tool, String::from_utf8(tampered).unwrap()), (tool, "nonsense".into())];
        let bad = bad.into_iter().chain(
            foreign
                .into_iter()
                .filter(|other| *other != tool)
                .map(|other| (other, cursor.clone())),
        );
        let bad: Vec<_> = bad.collect();
        assert_eq!(bad.len(), 4);
        for (tool, cursor) in bad {
            let error = server.failure(tool, json!({"cursor": cursor}));
            referee.full(tool, &error);
            assert_eq!(
                (&error["code"], &error["phase"]),
                (&json!("invalid_input"), &json!("pagination"))
            );
        }
        let mut other = Server::on(&folder, "2025-11-25");
        assert_eq!(other.failure(tool, json!({"cursor": cursor}))["phase"], "pagination");
    }
}

#[test]
fn the_context_is_on_every_page_where_a_zone_is_needed() {
    let folder = ten_days();
    let mut server = Server::on(&folder, "2025-11-25");
    for (tool, ask) in starts() {
        let mut ask = with(ask, json!({"pageSize": 4}));
        let mut contexts = |ask: &Value| {
            let first = server.success(tool, ask.clone());
            let next = server.success(tool, json!({"cursor": first["pagination"]["nextCursor"]}));
            [first, next].map(|mut page| page["temporalEvaluationContext"].take())
        };
        if tool == ENTITIES {
            assert_eq!(contexts(&ask), [Value::Null, Value::Null]);
            ask = with(ask, window("2026-12-01T00:00:00Z", "2026-12-11T00:00:00Z"));
        }
        let configured = json!({"timeZone": "UTC", "source": "configuration"});
        assert_eq!(contexts(&ask), [configured.clone(), configured]);
        ask["evaluationTimeZone"] = json!("Asia/Tokyo");
        let named = json!({"timeZone": "Asia/Tokyo", "source": "caller"});
        assert_eq!(contexts(&ask), [named.clone(), named]);
    }
}

#[test]
fn a_full_store_is_busy_and_says_for_how_long() {
    let folder = ten_days();
    let mut server = Server::on(&folder, "2025-11-25");
    let referee = Referee::new(&mut server);
    let asks = starts().map(|(tool, ask)| (tool, with(ask, json!({"pageSize": 1}))));
    for (tool, ask) in asks.iter().cycle().take(16) {
        server.success(tool, ask.clone());
    }
    for (tool, ask) in asks {
        let error = server.failure(tool, ask.clone());
        referee.full(tool, &error);
        assert_eq!(
            (&error["code"], &error["phase"], &error["retryable"]),
            (&json!("busy"), &json!("pagination"), &json!(true))
        );
        assert!((1..=600_000).contains(&error["retryAfterMs"].as_u64().unwrap()));
        server.success(tool, with(ask, json!({"pageSize": 200})));
    }
}

#[test]
fn a_continuation_costs_no_request() {
    let mut local = Local::memory().with_calendar("work", "Work");
    for day in 1..=10 {
        let (event, todo) = (
            format!("DTSTART:202612{day:02}T090000Z"),
            format!("DUE:202612{day:02}T100000Z"),
        );
        local = local.put(
            &format!("work/e{day}.ics"),
            resource("VEVENT", &format!("e{day}"), &event),
        );
        local = local.put(
            &format!("work/t{day}.ics"),
            resource("VTODO", &format!("t{day}"), &todo),
        );
    }
    let server = honest(local, |body| body);
    let mut client = Server::start(&[
        ("CALDAV_URL", &server.uri("/")),
        ("CALDAV_USERNAME", "ana"),
        ("CALDAV_PASSWORD", "x"),
        ("CALDAV_EVALUATION_TIME_ZONE", "UTC"),
    ]);
    client.initialize("2025-11-25");
    for (tool, ask) in starts() {
        let first = client.success(tool, with(ask, json!({"pageSize": 3})));
        let asked = server.log().len();
        let mut cursor = first["pagination"]["nextCursor"].clone();
        let mut count = rows(&first).len();
        while cursor != Value::Null {
            let page = client.success(tool, json!({"cursor": cursor, "pageSize": 3}));
            count += rows(&page).len();
            cursor = page["pagination"]["nextCursor"].clone();
        }
        assert_eq!((count, server.log().len()), (10, asked), "{tool}");
    }
}

/// A result has at most 4 MiB.
#[test]
fn a_page_that_is_too_large_says_so_and_a_smaller_one_is_given() {
    let long = |uid: &str| {
        resource(
            "VEVENT",
            uid,
            &format!("DTSTART:20261201T090000Z | DESCRIPTION:{}", "x".repeat(1_500_000)),
        )
    };
    let folder = work(&[("a.ics", long("a")), ("b.ics", long("b")), ("c.ics", long("c"))]);
    let mut server = Server::on(&folder, "2025-11-25");
    let referee = Referee::new(&mut server);
    let ask = json!({"scope": {"mode": "all"}, "entityKinds": ["event"]});
    let error = server.failure(ENTITIES, ask.clone());
    referee.full(ENTITIES, &error);
    assert_eq!(
        (&error["code"], &error["phase"], &error["limits"]["limit"]),
        (
            &json!("payload_too_large"),
            &json!("admissionAndPayload"),
            &json!(4 << 20)
        )
    );
    let page = server.success(ENTITIES, with(ask, json!({"pageSize": 2})));
    assert_eq!(rows(&page).len(), 2);
    server.success(ENTITIES, json!({"cursor": page["pagination"]["nextCursor"]}));
}

//! Progress in every revision, results that are too large, and a store of pages that is full, over the real binary.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod client;

use std::sync::mpsc;

use client::{DAILY, Folder, MODERN, Server, meta, window};
use kalends_local::Local;
use kalends_tests::conformance::Seen;
use kalends_tests::gate::gate;
use serde_json::{Value, json};

/// Notifications until one of this phase; all are of this token and rise.
fn until(server: &mut Server, phase: &str, token: &Value, last: &mut f64) {
    loop {
        let message = server.receive();
        assert_eq!(message["method"], "notifications/progress", "{message}");
        let params = &message["params"];
        assert_eq!(&params["progressToken"], token);
        assert!(params.get("total").is_none());
        let count = params["progress"].as_f64().unwrap();
        assert!(count > *last, "{message}");
        *last = count;
        if params["message"] == phase {
            return;
        }
    }
}

#[test]
fn a_long_query_tells_its_phases_in_every_revision() {
    let revisions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN];
    for (revision, token) in revisions
        .into_iter()
        .zip([json!(7), json!("seven"), json!(0), json!(""), json!("7")])
    {
        let local = Local::memory()
            .with_calendar("work", "Work")
            .put("work/daily.ics", DAILY);
        let (hand_out, held) = mpsc::channel();
        let mut met = Vec::new();
        // The first exchanges of the two calls wait, and the first report.
        let first = move |seen: &Seen| {
            let method = seen.line.split(' ').next().unwrap().to_owned();
            let most = if method == "REPORT" { 1 } else { 2 };
            let is_early = met.iter().filter(|other| **other == method).count() < most;
            met.push(method);
            is_early
        };
        let upstream = gate(local, first, move |held| drop(hand_out.send(held)));
        let url = upstream.uri("/");
        let environment = [
            ("CALDAV_URL", url.as_str()),
            ("CALDAV_USERNAME", "ana"),
            ("CALDAV_PASSWORD", "hunter2"),
            ("CALDAV_EVALUATION_TIME_ZONE", "UTC"),
        ];
        let mut server = Server::start(&environment);
        let mut meta = if revision == MODERN {
            meta()
        } else {
            server.initialize(revision);
            json!({})
        };
        let arguments = window("2026-12-01T00:00:00Z", "2026-12-08T00:00:00Z");
        let silent = json!({"name": "calendar_occurrences_query", "arguments": arguments, "_meta": meta});
        meta["progressToken"] = token.clone();
        let mut told = silent.clone();
        told["_meta"] = meta;
        // Slower than the other, but it has not asked for progress.
        let other = server.request("tools/call", silent);
        let slower = held.recv().unwrap();
        let id = server.request("tools/call", told);
        let mut last = 0.0;
        let held_up = held.recv().unwrap();
        assert!(held_up.seen.line.starts_with("PROPFIND "));
        until(&mut server, "discovery", &token, &mut last);
        held_up.pass();
        let held_up = held.recv().unwrap();
        assert!(held_up.seen.line.starts_with("REPORT "));
        until(&mut server, "fetch", &token, &mut last);
        held_up.pass();
        for (id, slower) in [(id, None), (other, Some(slower))] {
            if let Some(slower) = slower {
                slower.pass();
            }
            // A notification that was due before the answer may come before it, and none after it.
            let answer = loop {
                let message = server.receive();
                if message.get("method").is_none() {
                    break message;
                }
                assert_eq!(message["params"]["progressToken"], token);
                assert!(id != other, "{message}");
            };
            assert_eq!(answer["id"], id);
            assert_eq!(answer["result"]["isError"], false, "{revision}: {answer}");
            assert_eq!(
                answer["result"]["structuredContent"]["items"].as_array().unwrap().len(),
                7
            );
        }
        let (rest, status) = server.close();
        assert_eq!((rest.as_str(), status.code()), ("", Some(0)), "{revision}");
    }
}

#[test]
fn a_page_that_is_too_large_says_what_to_do() {
    let long = format!("DESCRIPTION:{}\r\nEND:VEVENT", "x".repeat(40 << 10));
    let event = DAILY.replace("DESCRIPTION:Long text\r\nEND:VEVENT", &long);
    let folder = Folder::new().calendar("work", &[("daily.ics", event.as_bytes())]);
    let mut server = Server::on(&folder, "2025-11-25");
    let mut arguments = window("2026-12-01T00:00:00Z", "2027-11-30T00:00:00Z");
    arguments["detail"] = json!("full");
    arguments["pageSize"] = json!(200);
    let error = server.failure("calendar_occurrences_query", arguments.clone());
    assert_eq!(
        (&error["code"], &error["category"], &error["phase"]),
        (
            &json!("payload_too_large"),
            &json!("limitsAndAdmission"),
            &json!("admissionAndPayload")
        )
    );
    assert_eq!(
        (&error["retryable"], &error["limits"]["dimension"]),
        (&json!(false), &json!("byte_count"))
    );
    assert_eq!(error["limits"]["limit"], 4 << 20);
    assert!(error["limits"]["observed"].as_u64() > Some(4 << 20));
    let message = error["message"].as_str().unwrap();
    for word in ["pageSize", "window", "compact"] {
        assert!(message.contains(word), "{message}");
    }
    // What it says helps.
    arguments["pageSize"] = json!(20);
    let page = server.success("calendar_occurrences_query", arguments.clone());
    assert_eq!(page["items"].as_array().unwrap().len(), 20);
    arguments["pageSize"] = json!(200);
    arguments["detail"] = json!("compact");
    let page = server.success("calendar_occurrences_query", arguments);
    assert_eq!(page["items"].as_array().unwrap().len(), 200);
}

#[test]
fn the_seventeenth_paged_query_is_busy_and_no_page_is_lost() {
    let folder = Folder::new().calendar("work", &[("daily.ics", DAILY.as_bytes())]);
    let mut server = Server::on(&folder, "2025-11-25");
    let mut paged = window("2026-12-01T00:00:00Z", "2026-12-31T00:00:00Z");
    paged["pageSize"] = json!(10);
    let pages: Vec<_> = (0..16)
        .map(|_| server.success("calendar_occurrences_query", paged.clone()))
        .collect();
    let error = server.failure("calendar_occurrences_query", paged.clone());
    assert_eq!(
        (&error["code"], &error["category"], &error["phase"], &error["retryable"]),
        (
            &json!("busy"),
            &json!("limitsAndAdmission"),
            &json!("pagination"),
            &json!(true)
        )
    );
    let wait = error["retryAfterMs"].as_u64().unwrap();
    assert!((1..=600_000).contains(&wait), "{error}");
    // What needs no room still works, and so does every cursor that was issued, as often as one likes.
    paged["pageSize"] = json!(200);
    let whole = server.success("calendar_occurrences_query", paged);
    assert_eq!(whole["items"].as_array().unwrap().len(), 30);
    for first in pages.iter().chain(&pages) {
        let mut page = first.clone();
        let mut items = page["items"].as_array().unwrap().clone();
        while let Some(cursor) = page["pagination"]["nextCursor"].as_str() {
            page = server.success("calendar_occurrences_query", json!({"cursor": cursor, "pageSize": 10}));
            items.extend(page["items"].as_array().unwrap().iter().cloned());
        }
        assert_eq!(&items, whole["items"].as_array().unwrap());
    }
}

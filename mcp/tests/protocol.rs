//! The protocol over the pipes of the real binary: revisions, malformed lines, life and death.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod client;

use client::{DAILY, Folder, MODERN, Server, meta, run, window};
use serde_json::{Value, json};

const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

fn folder() -> Folder {
    Folder::new().calendar("work", &[("daily.ics", DAILY.as_bytes())])
}

#[test]
fn every_legacy_revision_is_spoken_in_its_own_shape() {
    let folder = folder();
    for revision in LEGACY {
        let mut server = Server::on(&folder, revision);
        let hello = server.initialize(revision);
        assert_eq!(hello["protocolVersion"], revision);
        assert_eq!(hello["serverInfo"]["name"], "kalends");
        assert!(
            hello["instructions"]
                .as_str()
                .unwrap()
                .contains("calendar_occurrences_query")
        );
        assert_eq!(hello["capabilities"]["tools"], json!({}));
        let list = server.ask("tools/list", json!({}));
        let mut names = list["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]);
        assert_eq!(names.next(), Some(&json!("calendars_list")));
        assert_eq!(names.next_back(), Some(&json!("calendar_resources_changes")));
        assert!(
            list.get("resultType").is_none() && list.get("_meta").is_none(),
            "{list}"
        );
        let result = server.tool("calendars_list", json!({}));
        assert!(result.get("resultType").is_none() && result.get("_meta").is_none());
        assert_eq!(server.ask("ping", json!({})), json!({}));
    }
    let mut server = Server::on(&folder, "1999-01-01");
    assert_eq!(server.initialize("1999-01-01")["protocolVersion"], "2025-11-25");
    assert_eq!(server.initialize(MODERN)["protocolVersion"], "2025-11-25");
}

#[test]
fn the_modern_revision_needs_no_opening() {
    let folder = folder();
    let mut server = Server::start(&[("CALDAV_URL", &folder.url())]);
    let found = server.ask("server/discover", json!({"_meta": meta()}));
    assert_eq!(found["supportedVersions"].as_array().unwrap().len(), 5);
    assert_eq!(
        (&found["ttlMs"], &found["cacheScope"]),
        (&json!(3_600_000), &json!("private"))
    );
    let list = server.ask("tools/list", json!({"_meta": meta()}));
    assert_eq!(
        (&list["ttlMs"], &list["cacheScope"]),
        (&json!(3_600_000), &json!("private"))
    );
    let call = json!({"_meta": meta(), "name": "calendars_list", "arguments": {}});
    let result = server.ask("tools/call", call);
    for result in [&found, &list, &result] {
        assert_eq!(result["resultType"], "complete");
        assert_eq!(result["_meta"][SERVER_INFO]["name"], "kalends", "{result}");
    }
    let error = |server: &mut Server, method: &str, params: Value| {
        let id = server.request(method, params);
        server.answer(id)["error"].take()
    };
    assert_eq!(error(&mut server, "ping", json!({"_meta": meta()}))["code"], -32601);
    assert_eq!(error(&mut server, "server/discover", json!({}))["code"], -32602);
    let mut old = meta();
    old["io.modelcontextprotocol/protocolVersion"] = json!("1900-01-01");
    let refused = error(&mut server, "tools/list", json!({"_meta": old}));
    assert_eq!(refused["code"], -32022);
    assert_eq!(refused["data"]["requested"], "1900-01-01");
}

#[test]
fn eras_mix_in_any_order() {
    let folder = folder();
    let mut server = Server::start(&[("CALDAV_URL", &folder.url())]);
    // Before anything else: what a client sends whose probe has timed out.
    server.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    server.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    server.send(r#"{"jsonrpc":"2.0","id":77,"result":{}}"#);
    server.ask("server/discover", json!({"_meta": meta()}));
    server.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    server.ask("tools/list", json!({"_meta": meta()}));
    server.initialize("2025-06-18");
    let list = server.ask("tools/list", json!({}));
    assert!(list.get("resultType").is_none());
    assert_eq!(
        server.ask("tools/list", json!({"_meta": meta()}))["resultType"],
        "complete"
    );
    assert!(server.ask("tools/list", json!({})).get("resultType").is_none());
}

#[test]
fn every_line_is_answered_with_the_right_code_and_the_server_lives_on() {
    let folder = folder();
    let mut server = Server::on(&folder, "2025-11-25");
    let call = |params: &str| format!(r#"{{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{params}}}"#);
    let cases = [
        ("{nonsense".to_owned(), Value::Null, -32700),
        ("\u{0}".to_owned(), Value::Null, -32700),
        ("[]".to_owned(), Value::Null, -32600),
        (
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#.to_owned(),
            Value::Null,
            -32600,
        ),
        (r#"{"jsonrpc":"2.0","id":9}"#.to_owned(), json!(9), -32600),
        (
            r#"{"jsonrpc":"1.0","id":9,"method":"ping"}"#.to_owned(),
            json!(9),
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#.to_owned(),
            Value::Null,
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":"x","method":"no/such"}"#.to_owned(),
            json!("x"),
            -32601,
        ),
        (
            r#"{"jsonrpc":"2.0","id":9,"method":"tools/list","params":5}"#.to_owned(),
            json!(9),
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":9,"method":"initialize","params":{}}"#.to_owned(),
            json!(9),
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{"cursor":"x"}}"#.to_owned(),
            json!(9),
            -32602,
        ),
        (call(r#"{"name":5}"#), json!(9), -32602),
        (call(r#"{"name":"calendars_list","arguments":[]}"#), json!(9), -32602),
        (call(r#"{"name":"calendars_list","_meta":7}"#), json!(9), -32602),
        (call(r#"{"name":"no_such_tool"}"#), json!(9), -32602),
        (call(r#"{"name":"a","name":"b"}"#), json!(9), -32600),
    ];
    for (line, id, code) in cases {
        server.send(&line);
        let answer = server.receive();
        assert_eq!(
            (&answer["error"]["code"], &answer["id"]),
            (&json!(code), &id),
            "{line}: {answer}"
        );
        assert!(
            answer.get("id").is_some() || id.is_null(),
            "an unreadable id is left out"
        );
    }
    server.send(vec![b'x'; 33 << 20]);
    assert_eq!(server.receive()["error"]["code"], -32600);
    assert_eq!(server.ask("ping", json!({})), json!({}));
    server.success("calendars_list", Value::Null);
}

#[test]
fn flaws_of_the_raw_arguments_are_typed_violations() {
    let folder = folder();
    let mut server = Server::on(&folder, "2025-11-25");
    let cases: [(&[u8], &str, &str); 3] = [
        (br#"{"href":"a","href":"b"}"#, "/href", "duplicate_member"),
        (br#"{"href":"\ud800"}"#, "/href", "invalid_unicode"),
        (b"{\"href\":\"\xff\"}", "/href", "invalid_unicode"),
    ];
    for (arguments, pointer, code) in cases {
        let head =
            br#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"calendar_resources_get","arguments":"#;
        server.send([&head[..], arguments, b"}}"].concat());
        let answer = server.receive();
        let error = &answer["result"]["structuredContent"];
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert_eq!(
            (&error["code"], &error["phase"]),
            (&json!("invalid_input"), &json!("schemaLexicalDiscriminator"))
        );
        assert_eq!(
            (&error["violations"][0]["pointer"], &error["violations"][0]["code"]),
            (&json!(pointer), &json!(code))
        );
    }
    let long = json!({"href": "x".repeat(300 << 10)});
    let error = server.failure("calendar_resources_get", long);
    assert_eq!(
        (&error["code"], &error["phase"]),
        (&json!("payload_too_large"), &json!("admissionAndPayload"))
    );
}

#[test]
fn the_end_of_input_ends_the_process_after_the_answers() {
    let folder = folder();
    let mut server = Server::on(&folder, "2025-11-25");
    for id in 100..110 {
        server.send(
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "calendars_list"}})
                .to_string(),
        );
    }
    server.send("garbage");
    let (rest, status) = server.close();
    assert_eq!(status.code(), Some(0));
    let answers: Vec<Value> = rest.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = |id: i64| {
        answers
            .iter()
            .filter(|answer| answer["id"] == id && answer["result"]["isError"] == false)
            .count()
    };
    assert!((100..110).all(|id| count(id) == 1), "{rest}");
    assert!(answers.iter().any(|answer| answer["error"]["code"] == -32700));
}

#[cfg(unix)]
#[test]
fn sigterm_is_a_graceful_end() {
    let folder = folder();
    let mut server = Server::on(&folder, "2025-11-25");
    let process = server.process().to_string();
    assert!(
        std::process::Command::new("kill")
            .args(["-TERM", &process])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn a_server_that_cannot_be_reached_is_one_typed_error() {
    let environment = [
        ("CALDAV_URL", "http://127.0.0.1:1/"),
        ("CALDAV_USERNAME", "ana"),
        ("CALDAV_PASSWORD", "hunter2"),
        ("CALDAV_EVALUATION_TIME_ZONE", "Europe/Berlin"),
    ];
    let mut server = Server::start(&environment);
    server.initialize("2025-11-25");
    let error = server.failure(
        "calendar_occurrences_query",
        window("2026-12-01T00:00:00Z", "2026-12-08T00:00:00Z"),
    );
    assert_eq!(
        (&error["code"], &error["retryable"]),
        (&json!("upstream_unavailable"), &json!(true))
    );
    assert!(!error.to_string().contains("hunter2"));
    assert_eq!(server.ask("ping", json!({})), json!({}));
}

#[test]
fn a_canceled_call_ends_its_exchange_and_is_not_answered() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let environment = [
        ("CALDAV_URL", url.as_str()),
        ("CALDAV_USERNAME", "ana"),
        ("CALDAV_PASSWORD", "hunter2"),
    ];
    let mut server = Server::start(&environment);
    server.initialize("2025-11-25");
    let id = server.request("tools/call", json!({"name": "calendars_list"}));
    let (mut exchange, _) = listener.accept().unwrap();
    let mut buffer = [0; 4096];
    assert!(std::io::Read::read(&mut exchange, &mut buffer).unwrap() > 0);
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    server.send(cancel.to_string());
    // The server hangs up; it never got an answer.
    while std::io::Read::read(&mut exchange, &mut buffer).is_ok_and(|count| count > 0) {}
    assert_eq!(server.ask("ping", json!({})), json!({}));
    let id = server.request("tools/call", json!({"name": "calendars_list"}));
    let (_exchange, _) = listener.accept().unwrap();
    let (rest, status) = server.close();
    assert_eq!(status.code(), Some(0));
    let answers: Vec<Value> = rest.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 1, "{rest}");
    assert_eq!(
        (&answers[0]["id"], &answers[0]["result"]["isError"]),
        (&json!(id), &json!(true))
    );
}

#[test]
fn start_failures_name_their_variables_and_leave_standard_output_empty() {
    let base = [
        ("CALDAV_URL", "https://dav.example.com/"),
        ("CALDAV_USERNAME", "ana"),
        ("CALDAV_PASSWORD", "hunter2"),
    ];
    type Variables<'a> = &'a [(&'a str, &'a str)];
    let cases: [(Variables<'_>, &[&str]); 8] = [
        (&[], &["CALDAV_URL", "CALDAV_USERNAME", "CALDAV_PASSWORD"]),
        (
            &[("CALDAV_URL", "https://dav.example.com/")],
            &["CALDAV_USERNAME", "CALDAV_PASSWORD"],
        ),
        (
            &[base[0], base[1], base[2], ("CALDAV_AUTH_SCHEME", "oauth2")],
            &["CALDAV_AUTH_SCHEME"],
        ),
        (
            &[base[0], base[1], base[2], ("CALDAV_TOOLSETS", "planner")],
            &["CALDAV_TOOLSETS"],
        ),
        (
            &[base[0], base[1], base[2], ("CALDAV_CA_FILE", "/nonexistent.pem")],
            &["CALDAV_CA_FILE"],
        ),
        (
            &[base[0], base[1], base[2], ("CALDAV_EVALUATION_TIME_ZONE", "Berlin")],
            &["CALDAV_EVALUATION_TIME_ZONE"],
        ),
        (
            &[base[0], base[1], ("CALDAV_PASSWORD_FILE", "/nonexistent")],
            &["CALDAV_PASSWORD_FILE"],
        ),
        (&[("CALDAV_URL", "file:///proc/nonexistent/folder")], &["CALDAV_URL"]),
    ];
    for (environment, variables) in cases {
        let output = run(environment, &[]);
        assert_eq!(output.status.code(), Some(1), "{environment:?}");
        assert!(output.stdout.is_empty());
        let text = String::from_utf8(output.stderr).unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("CalDAV configuration error:"));
        let named: Vec<_> = lines
            .clone()
            .filter_map(|line| line.strip_prefix("  - "))
            .map(|line| line.split(' ').next().unwrap())
            .collect();
        let mut expected = variables.to_vec();
        expected.sort_unstable();
        assert_eq!(named, expected, "{text}");
        assert!(!text.contains("hunter2"));
    }
}

#[test]
fn the_command_line_says_what_it_is() {
    let version = run(&[], &["--version"]);
    assert_eq!(
        String::from_utf8(version.stdout).unwrap(),
        format!("kalends {}\n", env!("CARGO_PKG_VERSION"))
    );
    assert!(
        String::from_utf8(run(&[], &["--help"]).stdout)
            .unwrap()
            .contains("kalends demo")
    );
    let wrong = run(&[], &["--nonsense"]);
    assert_eq!((wrong.status.code(), wrong.stdout.len()), (Some(2), 0));
}

#[test]
fn the_demo_prints_a_week_and_a_snippet() {
    let output = run(&[("TZ", "Europe/Berlin"), ("PATH", "")], &["demo"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    for expected in [
        "Times are in Europe/Berlin (from TZ).",
        "Stand-up",
        "America/New_York",
        "\"mcpServers\"",
        "\"CALDAV_URL\": \"file://",
    ] {
        assert!(text.contains(expected), "no {expected} in\n{text}");
    }
    let snippet = &text[text.find("{\n").unwrap()..=text.rfind('}').unwrap()];
    let snippet: Value = serde_json::from_str(snippet).unwrap();
    let url = snippet["mcpServers"]["kalends"]["env"]["CALDAV_URL"].as_str().unwrap();
    std::fs::remove_dir_all(url.strip_prefix("file://").unwrap()).unwrap();
}

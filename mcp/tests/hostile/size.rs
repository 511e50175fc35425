//! Answers that are too large, unpacked or not, and answers that are as large as they may be.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::Compression;
use flate2::write::GzEncoder;
use kalends_tests::conformance::{Seen, Then, Wire, respond};
use serde_json::json;

use crate::client;
use crate::rig::{Hostile, Kalends, account, honest, tools};

const ENORMOUS: u64 = 100 << 20;
/// What the process itself has resident, in KiB, with room to spare.
const IDLE: u64 = 64 << 10;
/// Answers that are read at a time.
const AT_A_TIME: u64 = 4;
/// The same while three answers of 16 MiB are understood that consist of the shortest lines there are.
const CROWDED: u64 = 512 << 10;
/// What may be under way when the client hangs up: the limit of one answer, and the buffers of both sockets.
const ON_THE_WAY: u64 = 48 << 20;

/// Chunks without an end. Counts what could be written until the client hung up.
fn flood(wire: &mut dyn Wire, written: &AtomicU64) -> io::Result<Then> {
    let chunk = [b' '; 64 << 10];
    write!(
        wire,
        "HTTP/1.1 207 Multi-Status\r\nContent-Type: application/xml\r\nTransfer-Encoding: chunked\r\n\r\n"
    )?;
    let mut sent = 0;
    while sent < ENORMOUS {
        let done = write!(wire, "{:x}\r\n", chunk.len())
            .and_then(|()| wire.write_all(&chunk))
            .and_then(|()| wire.write_all(b"\r\n"));
        if done.is_err() {
            break;
        }
        sent += chunk.len() as u64;
        // Told as it goes: the client may be done before this thread notices.
        written.fetch_max(sent, Ordering::SeqCst);
    }
    Ok(Then::Close)
}

/// 100 MiB of nothing, packed.
fn bomb() -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..100 {
        packed.write_all(&[b' '; 1 << 20]).expect("memory takes it");
    }
    packed.finish().expect("memory takes it")
}

/// Which answers are enormous.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Everything,
    Reports,
}

impl Stage {
    fn is_ill(self, seen: &Seen) -> bool {
        self == Self::Everything || seen.line.starts_with("REPORT")
    }
}

/// With the limit of one answer: a listing, or a report.
const STAGES: [(Stage, u64); 2] = [(Stage::Everything, 4 << 20), (Stage::Reports, 16 << 20)];

/// Both tools where everything is enormous, the query where its reports are.
fn limits_are_kept(server: &Hostile, stage: Stage, limit: u64) -> Kalends {
    let mut kalends = Kalends::at(&server.url(), &[]);
    for (tool, arguments) in tools() {
        if stage == Stage::Reports && tool == "calendars_list" {
            continue;
        }
        let error = kalends.fails(tool, &arguments, "limit_exhausted", &["smaller window"]);
        assert_eq!(error["limits"]["dimension"], "byte_count", "{error}");
        assert_eq!(error["limits"]["limit"], limit, "{error}");
        assert!(error["limits"]["observed"].as_u64() > Some(limit), "{error}");
    }
    server.heal();
    kalends.both_work();
    #[cfg(target_os = "linux")]
    {
        println!("peak resident: {} KiB", kalends.peak());
        // A buffer that grows is in memory twice for a moment, half as large the first time.
        let buffers = AT_A_TIME * limit / 1024 * 3 / 2;
        assert!(kalends.peak() < IDLE + buffers, "{} KiB", kalends.peak());
    }
    kalends
}

#[test]
fn a_flood_is_cut_off_early() {
    for (stage, limit) in STAGES {
        let written = Arc::new(AtomicU64::new(0));
        let (most, local) = (Arc::clone(&written), account());
        let server = Hostile::new(move |seen, wire| {
            if stage.is_ill(seen) {
                flood(wire, &most)
            } else {
                honest(&local, seen, wire)
            }
        });
        limits_are_kept(&server, stage, limit).finish();
        let written = written.load(Ordering::SeqCst);
        println!("written before the client hung up: {written} bytes");
        assert!((1..ON_THE_WAY).contains(&written), "{written}");
    }
}

#[test]
fn one_resource_is_not_read_without_an_end() {
    let (written, local) = (Arc::new(AtomicU64::new(0)), account());
    let most = Arc::clone(&written);
    let server = Hostile::new(move |seen, wire| {
        if seen.line.starts_with("GET ") {
            flood(wire, &most)
        } else {
            honest(&local, seen, wire)
        }
    });
    let mut kalends = Kalends::at(&server.url(), &[]);
    let arguments = json!({"href": format!("{}work/daily.ics", server.url())});
    let error = kalends.fails(
        "calendar_resources_get",
        &arguments,
        "limit_exhausted",
        &["another calendar program"],
    );
    assert_eq!(error["limits"]["limit"], 4 << 20, "{error}");
    kalends.finish();
    assert!((1..ON_THE_WAY).contains(&written.load(Ordering::SeqCst)));
}

#[test]
fn a_bomb_is_not_inflated() {
    let bomb = Arc::new(bomb());
    println!("the bomb weighs {} bytes", bomb.len());
    for (stage, limit) in STAGES {
        let (bomb, local) = (Arc::clone(&bomb), account());
        let server = Hostile::new(move |seen, wire| {
            if stage.is_ill(seen) {
                let head = "207 Multi-Status\nContent-Type: application/xml\nContent-Encoding: gzip";
                respond(wire, head, &bomb)
            } else {
                honest(&local, seen, wire)
            }
        });
        limits_are_kept(&server, stage, limit).finish();
    }
}

/// An answer of nearly 16 MiB that repeats this response.
fn crowd(response: impl Fn(usize) -> String) -> String {
    let mut body =
        r#"<?xml version="1.0"?><d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav">"#.to_owned();
    for number in 0.. {
        let next = response(number);
        if body.len() + next.len() > (16 << 20) - 100 {
            break;
        }
        body += &next;
    }
    body + "</d:multistatus>"
}

fn member(number: usize, data: &str) -> String {
    format!(
        "<d:response><d:href>/work/{number}.ics</d:href><d:propstat><d:prop><d:getetag>\"{number}\"</d:getetag>{data}</d:prop>\
         <d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
    )
}

#[test]
fn answers_just_below_the_limit_are_survived() {
    let data = |text: &str| format!("<c:calendar-data>{text}</c:calendar-data>");
    let filled = |filling: String| client::DAILY.replace("END:VEVENT", &format!("{filling}END:VEVENT"));
    let event = data(&client::DAILY.replace("daily", "&amp;").replace("\r\n", "&#13;\n"));
    let huge = data(&filled(format!("COMMENT:{}\r\n", "x".repeat(4 << 20))));
    let deep = data(&filled("BEGIN:VALARM\r\n".repeat(20_000)));
    let lines = data(&filled("X:\r\n".repeat(15_000)));
    let rules = data(&filled(
        "RRULE:FREQ=SECONDLY;BYSECOND=59;BYMONTH=2;BYMONTHDAY=30\r\n".repeat(50),
    ));
    for (name, data, code) in [
        ("events", event, Some("limit_exhausted")),
        ("huge", huge, Some("limit_exhausted")),
        ("deep", deep, None),
        ("lines", lines, Some("limit_exhausted")),
        ("rules", rules, Some("limit_exhausted")),
        ("opaque", data("x"), Some("limit_exhausted")),
    ] {
        let body = crowd(|number| member(number, &data));
        let local = account();
        let server = Hostile::new(move |seen, wire| {
            let asks_todos = String::from_utf8_lossy(&seen.body).contains("VTODO");
            if !seen.line.starts_with("REPORT ") || asks_todos {
                return honest(&local, seen, wire);
            }
            let calendar = seen.line.split('/').nth(1).unwrap_or_default();
            let body = body.replace("/work/", &format!("/{calendar}/"));
            respond(wire, "207 Multi-Status\nContent-Type: application/xml", body.as_bytes())
        });
        let mut kalends = Kalends::at(&server.url(), &[]);
        let [_, (tool, arguments)] = tools();
        match code {
            Some(code) => {
                let error = kalends.fails(tool, &arguments, code, &["window"]);
                assert!(
                    error["limits"]["observed"].as_u64() > error["limits"]["limit"].as_u64(),
                    "{error}"
                );
            }
            None => {
                let (is_error, content) = kalends.call(tool, &arguments);
                assert!(!is_error, "{content}");
                assert!(content["diagnostics"].is_array(), "what is left out is told: {content}");
            }
        }
        server.heal();
        kalends.both_work();
        #[cfg(target_os = "linux")]
        {
            println!("{name}: peak resident {} KiB", kalends.peak());
            assert!(kalends.peak() < CROWDED, "{} KiB", kalends.peak());
        }
        kalends.finish();
    }
}

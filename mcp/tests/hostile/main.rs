//! The real binary against servers that are down, wrong, slow, enormous or after its secrets.
//!
//! Whatever happens there: one clear, typed answer to each call, nothing secret in any output, bounded memory, and
//! a process that works as soon as the server does. Nothing here sleeps or measures time.

#![expect(
    clippy::print_stdout,
    reason = "figures for whoever looks at the test; here it is no protocol"
)]

#[path = "../client/mod.rs"]
mod client;
mod one_calendar;
mod rig;
mod size;
mod trust;

use std::io;
use std::net::TcpListener;
use std::sync::{Mutex, mpsc};

use kalends_tests::conformance::{Seen, Server, Then, Wire, respond, stall};
use serde_json::json;

use crate::rig::{BASIC, Hostile, Kalends, PASSWORD, account, honest, tools};

const UNAUTHENTICATED: &str = r#"<?xml version="1.0"?><d:multistatus xmlns:d="DAV:"><d:response><d:href>/</d:href><d:propstat>
<d:prop><d:current-user-principal><d:unauthenticated/></d:current-user-principal></d:prop><d:status>HTTP/1.1 200 OK</d:status>
</d:propstat></d:response></d:multistatus>"#;

/// The credentials as they came, for servers that say them back.
fn credentials(seen: &Seen) -> String {
    seen.header("authorization").unwrap_or_default().to_owned()
}

/// An answer of this head that says the credentials back wherever a server can.
fn echo(head: &'static str) -> impl Fn(&Seen, &mut dyn Wire) -> io::Result<Then> + Send + Sync {
    move |seen, wire| {
        let secret = format!("{} {PASSWORD}", credentials(seen));
        respond(
            wire,
            &format!("{head}\nX-Echo: {secret}\nSet-Cookie: a={PASSWORD}"),
            secret.as_bytes(),
        )
    }
}

#[test]
fn wrong_credentials_are_named_as_that() {
    let heads = [
        "401 Unauthorized",
        "401 Unauthorized\nWWW-Authenticate: Basic realm=\"x\"",
        "401 Unauthorized\nWWW-Authenticate: Digest realm=\"x\", nonce=\"y\"\nContent-Type: text/html",
    ];
    let mut servers: Vec<_> = heads.map(|head| Hostile::new(echo(head))).into();
    servers.push(Hostile::new(|_, wire| {
        respond(
            wire,
            "207 Multi-Status\nContent-Type: application/xml",
            UNAUTHENTICATED.as_bytes(),
        )
    }));
    for server in servers {
        let mut kalends = Kalends::at(&server.url(), &[]);
        kalends.both_fail("upstream_unauthorized", &["CALDAV_USERNAME", "CALDAV_PASSWORD"]);
        let log = server.server.log();
        assert_eq!(log.len(), 2, "a refused password is not tried again");
        assert_eq!(
            credentials(&log[0]),
            format!("Basic {BASIC}"),
            "what is looked for later is what is sent"
        );
        server.heal();
        kalends.both_work();
        kalends.finish();
    }
}

#[test]
fn a_token_that_is_refused_is_named_as_that() {
    let server = Hostile::new(echo(
        "401 Unauthorized\nWWW-Authenticate: Bearer error=\"invalid_token\"",
    ));
    let mut kalends = Kalends::at(
        &server.url(),
        &[("CALDAV_AUTH_SCHEME", "bearer"), ("CALDAV_USERNAME", "")],
    );
    kalends.both_fail("upstream_unauthorized", &["CALDAV_PASSWORD", "token"]);
    server.heal();
    kalends.both_work();
    kalends.finish();
}

#[test]
fn a_server_that_is_not_there_is_named_as_that() {
    let port = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.local_addr().expect("bound").port()
    };
    for url in [
        format!("http://127.0.0.1:{port}/"),
        format!("https://127.0.0.1:{port}/"),
        "https://calendar.invalid/".to_owned(),
    ] {
        let mut kalends = Kalends::at(&url, &[]);
        kalends.both_fail("upstream_unavailable", &["CALDAV_URL"]);
        kalends.finish();
    }
}

#[test]
fn a_server_that_hangs_up_is_asked_again() {
    let half = |wire: &mut dyn Wire| {
        write!(
            wire,
            "HTTP/1.1 207 Multi-Status\r\nContent-Type: application/xml\r\nContent-Length: 999\r\n\r\n<?xml"
        )?;
        wire.flush()
    };
    let servers = [
        Hostile::new(|_, _| Ok(Then::Close)),
        Hostile::new(move |_, wire| half(wire).map(|()| Then::Close)),
        Hostile::new(|_, wire| wire.write_all(b"SSH-2.0-OpenSSH_9.9\r\n").map(|()| Then::Close)),
        Hostile::new(echo("500 Internal Server Error")),
        Hostile::new(echo("503 Service Unavailable")),
    ];
    for server in servers {
        let mut kalends = Kalends::at(&server.url(), &[]);
        kalends.both_fail("upstream_unavailable", &["CalDAV server"]);
        server.heal();
        kalends.both_work();
        kalends.finish();
    }
}

#[test]
fn a_place_that_is_no_caldav_server_is_named_as_that() {
    for (head, code) in [
        (
            "200 OK\nContent-Type: text/html; charset=utf-8",
            "upstream_protocol_error",
        ),
        ("200 OK\nContent-Type: application/json", "upstream_protocol_error"),
        ("200 OK", "upstream_protocol_error"),
        ("204 No Content", "upstream_protocol_error"),
        (
            "207 Multi-Status\nContent-Type: application/xml",
            "upstream_protocol_error",
        ),
        ("303 See Other\nLocation: /login", "upstream_protocol_error"),
        ("302 Found\nLocation: /", "upstream_protocol_error"),
        ("302 Found", "upstream_protocol_error"),
        ("405 Method Not Allowed", "upstream_protocol_error"),
        ("501 Not Implemented", "upstream_protocol_error"),
        ("404 Not Found", "upstream_protocol_error"),
        ("410 Gone", "upstream_protocol_error"),
        ("403 Forbidden", "upstream_forbidden"),
    ] {
        let server = Hostile::new(echo(head));
        let mut kalends = Kalends::at(&server.url(), &[]);
        kalends.both_fail(code, &["CALDAV_URL"]);
        server.heal();
        kalends.both_work();
        kalends.finish();
    }
}

#[test]
fn markup_that_is_no_answer_is_refused() {
    let listing =
        |inner: &str| format!("<?xml version=\"1.0\"?><d:multistatus xmlns:d=\"DAV:\">{inner}</d:multistatus>");
    let laughs = "<!DOCTYPE l [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">]>";
    let file = "<!DOCTYPE l [<!ENTITY a SYSTEM \"file:///etc/passwd\">]>";
    let bodies = [
        String::new(),
        "{\"multistatus\":[]}".to_owned(),
        listing(""),
        listing("<d:response>"),
        format!("{laughs}{}", listing("<d:response><d:href>&b;</d:href></d:response>")),
        format!("{file}{}", listing("<d:response><d:href>&a;</d:href></d:response>")),
        listing(&"<d:x>".repeat(100_000)),
        "<html><body>Please sign in</body></html>".to_owned(),
        "\u{0}".repeat(1000),
    ];
    for body in bodies {
        let server = Hostile::new(move |_, wire| {
            respond(wire, "207 Multi-Status\nContent-Type: application/xml", body.as_bytes())
        });
        let mut kalends = Kalends::at(&server.url(), &[]);
        kalends.both_fail("upstream_protocol_error", &["CALDAV_URL"]);
        server.heal();
        kalends.both_work();
        kalends.finish();
    }
}

#[test]
fn a_foreign_host_is_named_and_never_asked() {
    let foreign = Server::start(|_, wire| respond(wire, "200 OK", b"thanks"));
    let place = format!("127.0.0.1:{}", foreign.port);
    let (redirect, login, home) = (place.clone(), place.clone(), place.clone());
    let servers = [
        Hostile::new(move |_, wire| respond(wire, &format!("301 Moved\nLocation: http://{redirect}/{PASSWORD}"), b"")),
        Hostile::new(move |seen, wire| {
            let to = format!(
                "302 Found\nLocation: http://{login}/login?token={}#{PASSWORD}",
                credentials(seen)
            );
            respond(wire, &to, b"")
        }),
        Hostile::new(move |_, wire| {
            let body = format!(
                "<d:multistatus xmlns:d=\"DAV:\" xmlns:c=\"urn:ietf:params:xml:ns:caldav\"><d:response><d:href>/</d:href><d:propstat><d:prop>\
                 <c:calendar-home-set><d:href>http://{home}/{PASSWORD}/</d:href></c:calendar-home-set></d:prop>\
                 <d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>"
            );
            respond(wire, "207 Multi-Status\nContent-Type: text/xml", body.as_bytes())
        }),
    ];
    for server in servers {
        let mut kalends = Kalends::at(&server.url(), &[]);
        kalends.both_fail("upstream_protocol_error", &[place.as_str(), "CALDAV_REDIRECT_HOSTS"]);
        server.heal();
        kalends.both_work();
        kalends.finish();
    }
    assert!(foreign.log().is_empty(), "{:?}", foreign.log());
}

#[test]
fn a_server_that_wants_to_be_left_alone_is() {
    let server = Hostile::new(echo("429 Too Many Requests\nRetry-After: 300"));
    let mut kalends = Kalends::at(&server.url(), &[]);
    let error = kalends.fails("calendars_list", &json!({}), "upstream_rate_limited", &["Wait"]);
    assert_eq!(error["retryAfterMs"], 300_000);
    assert_eq!(server.server.log().len(), 1);
    server.heal();
    for (tool, arguments) in tools() {
        let error = kalends.fails(tool, &arguments, "upstream_rate_limited", &["Wait"]);
        let wait = error["retryAfterMs"].as_u64();
        assert!(wait > Some(0) && wait <= Some(300_000), "{error}");
    }
    assert_eq!(server.server.log().len(), 1, "not asked again");
    kalends.finish();
}

#[test]
fn one_resource_fails_like_all_others() {
    for (head, code, words) in [
        ("401 Unauthorized", "upstream_unauthorized", "CALDAV_PASSWORD"),
        ("403 Forbidden", "upstream_forbidden", "Check"),
        ("404 Not Found", "not_found", "Query again"),
        (
            "200 OK\nContent-Type: text/html;charset=utf-8",
            "upstream_protocol_error",
            "web page",
        ),
        (
            "302 Found\nLocation: http://other.invalid/",
            "upstream_protocol_error",
            "other.invalid",
        ),
        ("500 Internal Server Error", "upstream_unavailable", "Try again"),
        ("429 Too Many Requests", "upstream_rate_limited", "Wait"),
    ] {
        let (local, ill) = (account(), echo(head));
        let server = Hostile::new(move |seen, wire| {
            if seen.line.starts_with("GET ") {
                ill(seen, wire)
            } else {
                honest(&local, seen, wire)
            }
        });
        let mut kalends = Kalends::at(&server.url(), &[]);
        let arguments = json!({"href": format!("{}work/daily.ics", server.url())});
        kalends.fails("calendar_resources_get", &arguments, code, &[words]);
        server.heal();
        let (is_error, content) = kalends.call("calendar_resources_get", &arguments);
        assert!(!is_error, "{content}");
        kalends.finish();
    }
}

/// Stalls after so much of an answer, says so, and says when the client has hung up.
fn stalling(after: &'static str) -> (Hostile, mpsc::Receiver<&'static str>) {
    let (told, events) = mpsc::channel();
    let told = Mutex::new(told);
    let server = Hostile::new(move |_, wire| {
        let told = told.lock().expect("not poisoned").clone();
        wire.write_all(after.as_bytes())?;
        wire.flush()?;
        let _ = told.send("stalled");
        let end = stall(wire);
        let _ = told.send("hung up");
        end
    });
    (server, events)
}

#[test]
fn a_call_to_a_server_that_stalls_can_be_taken_back() {
    let head = "HTTP/1.1 207 Multi-Status\r\nContent-Type: application/xml\r\nContent-Length: 100000\r\n\r\n";
    for after in ["", "HTTP/1.1 207 ", head] {
        let (server, events) = stalling(after);
        let mut kalends = Kalends::at(&server.url(), &[]);
        for (tool, arguments) in tools() {
            kalends.cancel(tool, &arguments, || assert_eq!(events.recv(), Ok("stalled")));
            assert_eq!(events.recv(), Ok("hung up"));
        }
        server.heal();
        kalends.both_work();
        kalends.finish();
    }
}

#[test]
fn a_client_that_leaves_does_not_wait_for_the_server() {
    let (server, events) = stalling("");
    let mut kalends = Kalends::at(&server.url(), &[]);
    let (tool, arguments) = &tools()[0];
    // Counted as canceled: whether its answer still comes out is not promised.
    kalends.abandon(tool, arguments);
    assert_eq!(events.recv(), Ok("stalled"));
    kalends.finish();
    assert_eq!(events.recv(), Ok("hung up"));
}

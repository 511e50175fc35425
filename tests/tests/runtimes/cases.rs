//! The cases of the suite, each over its own server.

use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, LOCATION};
use kalends_core::machine::{BodyLimit, Failure, FailureKind, Reply, Sent};
use kalends_tests::conformance::{Ask, Script, Seen, Server, Then, respond, stall};

use crate::{Capabilities, Host};

/// The whole contract, as far as the host can do it.
pub(crate) fn conformance(host: Host<'_>, can: Capabilities) {
    requests_travel_as_given(host);
    answers_are_handed_back_as_they_are(host);
    bodies_end_at_their_limit(host);
    headers_only_closes_early(host);
    deadlines_cover_every_stage(host);
    no_connection_means_nothing_was_sent(host);
    broken_answers_may_have_been_sent(host);
    writes_travel_alone(host);
    aborted_exchanges_are_forgotten(host, can);
    let optional = |what: &str, is_able: bool, case: fn(Host<'_>)| match is_able {
        true => case(host),
        false => skip(can.name, what),
    };
    optional("chunked", can.chunked, chunked_bodies_end_at_their_limit);
    optional("gzip", can.gzip, gzip_is_decoded_under_the_limit);
    optional("keep-alive", can.keeps_connections, reads_share_connections);
    optional("concurrency", can.concurrent, four_exchanges_are_in_flight);
}

#[expect(clippy::print_stderr, reason = "a skipped case must show")]
fn skip(host: &str, what: &str) {
    eprintln!("skipped for {host}: {what}");
}

pub(crate) fn one(host: Host<'_>, ask: Ask) -> Reply {
    let mut replies = host(Script::at_once([ask]));
    assert_eq!(replies.len(), 1);
    replies.remove(0)
}

pub(crate) fn fault(host: Host<'_>, ask: Ask) -> Failure {
    one(host, ask).unwrap_err()
}

pub(crate) fn unsent(kind: FailureKind) -> Failure {
    Failure { sent: Sent::No, kind }
}

fn sent(kind: FailureKind) -> Failure {
    Failure {
        sent: Sent::Maybe,
        kind,
    }
}

/// What the client may add: how the message is framed and whom it is for.
pub(crate) const FRAMING: [&str; 3] = ["host", "content-length", "connection"];

fn requests_travel_as_given(host: Host<'_>) {
    let server = Server::start(|_, wire| respond(wire, "207 Multi-Status", b"ok"));
    let path = "/dav/a%40b/~x@y/c%2Fd/%C3%A9.ics";
    let bodies = ["", "<x/>", &"long ".repeat(50_000)];
    let methods = [
        "PROPFIND",
        "REPORT",
        "MKCALENDAR",
        "PROPPATCH",
        "MOVE",
        "PUT",
        "POST",
        "DELETE",
        "OPTIONS",
        "GET",
    ];
    for method in methods {
        for body in bodies {
            if method == "GET" && !body.is_empty() {
                continue;
            }
            let given = [
                ("depth", "1"),
                ("accept-encoding", "identity"),
                ("x-twice", "a"),
                ("x-twice", "b"),
            ];
            let mut ask = Ask::write(method, &server.uri(path)).with_body(body.to_owned());
            for (name, value) in given {
                ask = ask.with_header(name, value);
            }
            let response = one(host, ask).unwrap();
            assert_eq!(
                (response.status().as_u16(), response.body().as_ref()),
                (207, b"ok".as_slice())
            );
            let seen = server.log().pop().unwrap();
            assert_eq!(seen.line, format!("{method} {path} HTTP/1.1"));
            assert_eq!(seen.body, body.as_bytes(), "{method}");
            assert_eq!(seen.header("host"), Some(format!("127.0.0.1:{}", server.port).as_str()));
            assert_eq!(unframed(&seen), given, "{method}");
        }
    }
    assert_eq!(
        server.log().len(),
        methods.len() * bodies.len() - 2,
        "nothing is repeated"
    );
}

fn unframed(seen: &Seen) -> Vec<(&str, &str)> {
    let headers = seen.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    headers.filter(|(name, _)| !FRAMING.contains(name)).collect()
}

fn answers_are_handed_back_as_they_are(host: Host<'_>) {
    let server = Server::start(|seen, wire| match seen.line.split(' ').nth(1) {
        Some("/301") => respond(wire, "301 Moved Permanently\nLocation: /elsewhere", b""),
        Some("/302") => respond(wire, "302 Found\nLocation: /elsewhere", b"there"),
        Some("/307") => respond(wire, "307 Temporary Redirect\nLocation: /elsewhere", b""),
        Some("/401") => respond(
            wire,
            "401 Unauthorized\nWWW-Authenticate: Basic\nSet-Cookie: a=b",
            b"no",
        ),
        Some("/412") => respond(wire, "412 Precondition Failed", b""),
        Some("/503") => respond(wire, "503 Service Unavailable\nRetry-After: 1", b""),
        Some("/204") => wire.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").map(|()| Then::Keep),
        _ => respond(wire, "200 OK", b"elsewhere"),
    });
    let asks = ["GET", "PROPFIND", "PUT"].into_iter().flat_map(|method| {
        ["/301", "/302", "/307", "/401", "/412", "/503", "/204"].map(|path| Ask::read(method, &server.uri(path)))
    });
    let asks: Vec<_> = asks.collect();
    let replies = host(Script::one_by_one(asks.clone()));
    let log = server.log();
    assert_eq!(
        (log.len(), replies.len()),
        (asks.len(), asks.len()),
        "no redirect followed, nothing repeated"
    );
    for (reply, seen) in replies.into_iter().zip(log) {
        let response = reply.unwrap();
        assert!(seen.line.contains(response.status().as_str()), "{}", seen.line);
        assert_eq!(
            response.headers().contains_key(LOCATION),
            response.status().is_redirection()
        );
        assert_eq!(unframed(&seen), [], "no cookie, no credentials");
    }
}

const SIZE: usize = 100_000;

/// A body of [`SIZE`] bytes, exactly at the limit and one above it.
fn ends_at_its_limit(host: Host<'_>, server: &Server, expected: &[u8]) {
    let ask = Ask::read("GET", &server.uri("/"));
    let response = one(host, ask.clone().limited(BodyLimit::Bytes(SIZE))).unwrap();
    assert_eq!(response.body(), expected);
    let failure = fault(host, ask.limited(BodyLimit::Bytes(SIZE - 1)));
    assert_eq!(failure, sent(FailureKind::TooLarge));
}

fn bodies_end_at_their_limit(host: Host<'_>) {
    let server = Server::start(|_, wire| respond(wire, "200 OK", &[b'x'; SIZE]));
    ends_at_its_limit(host, &server, &[b'x'; SIZE]);
    let server = Server::start(|_, wire| {
        wire.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
        wire.write_all(&[b'y'; SIZE]).map(|()| Then::Close)
    });
    ends_at_its_limit(host, &server, &[b'y'; SIZE]);
}

fn chunked_bodies_end_at_their_limit(host: Host<'_>) {
    let server = Server::start(|_, wire| {
        wire.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")?;
        for chunk in [b'z'; SIZE].chunks(30_000) {
            write!(wire, "{:x}\r\n", chunk.len())?;
            wire.write_all(chunk)?;
            wire.write_all(b"\r\n")?;
        }
        wire.write_all(b"0\r\n\r\n").map(|()| Then::Keep)
    });
    ends_at_its_limit(host, &server, &[b'z'; SIZE]);
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn gzip_is_decoded_under_the_limit(host: Host<'_>) {
    let body: Vec<u8> = (0..SIZE).map(|at| (at * at / 7) as u8).collect();
    let (first, second) = body.split_at(SIZE / 3);
    for coded in [gzip(&body), [gzip(first), gzip(second)].concat()] {
        for name in ["gzip", "GZip", "x-gzip"] {
            let (head, coded) = (format!("200 OK\nETag: \"a\"\nContent-Encoding: {name}"), coded.clone());
            let server = Server::start(move |_, wire| respond(wire, &head, &coded));
            ends_at_its_limit(host, &server, &body);
            let response = one(host, Ask::read("GET", &server.uri("/"))).unwrap();
            assert!(!response.headers().contains_key(CONTENT_ENCODING));
            assert!(!response.headers().contains_key(CONTENT_LENGTH));
            assert_eq!(response.headers()["etag"], "\"a\"");
        }
    }
    let coded = gzip(&body);
    let mut flipped = coded.clone();
    flipped[coded.len() / 2] ^= 0xff;
    for broken in [&coded[..coded.len() - 9], &coded[..5], &flipped, b"no gzip at all"] {
        let broken = broken.to_vec();
        let server = Server::start(move |_, wire| respond(wire, "200 OK\nContent-Encoding: gzip", &broken));
        let failure = fault(host, Ask::read("GET", &server.uri("/")));
        assert_eq!(failure, sent(FailureKind::Broken));
    }
    let server = Server::start(|_, wire| respond(wire, "200 OK\nContent-Encoding: gzip", b""));
    assert_eq!(one(host, Ask::read("GET", &server.uri("/"))).unwrap().body(), "");
    bombs_are_left_at_the_limit(host);
}

/// The bomb has no end, so this returns only if the host stops reading, and closes the connection.
fn bombs_are_left_at_the_limit(host: Host<'_>) {
    let member = gzip(&vec![0; 8 << 20]);
    let (server, closed) = endless("Content-Encoding: gzip", member);
    let ask = Ask::read("GET", &server.uri("/"));
    let failure = fault(host, ask.clone().limited(BodyLimit::Bytes(1 << 20)));
    assert_eq!(failure, sent(FailureKind::TooLarge));
    let response = one(host, ask.limited(BodyLimit::HeadersOnly)).unwrap();
    assert_eq!((response.status().as_u16(), response.body().len()), (200, 0));
    assert!(!response.headers().contains_key(CONTENT_ENCODING));
    work_on(host);
    assert_eq!(closed.iter().take(2).count(), 2);
}

fn headers_only_closes_early(host: Host<'_>) {
    for framing in ["Content-Length: 9000000000000", "Connection: close"] {
        let (server, closed) = endless(framing, vec![b'x'; 10_000]);
        let ask = Ask::read("GET", &server.uri("/")).limited(BodyLimit::HeadersOnly);
        let response = one(host, ask).unwrap();
        assert_eq!((response.status().as_u16(), response.body().len()), (200, 0));
        work_on(host);
        closed.recv().unwrap();
    }
}

/// A server whose body repeats this piece until the client closes the connection, and which tells when it did.
fn endless(header: &'static str, piece: Vec<u8>) -> (Server, Receiver<()>) {
    let (tell, closed) = channel();
    let server = Server::start(move |_, wire| {
        write!(wire, "HTTP/1.1 200 OK\r\n{header}\r\n\r\n")?;
        while wire.write_all(&piece).is_ok() {}
        tell.send(()).map_err(io::Error::other)?;
        Ok(Then::Close)
    });
    (server, closed)
}

/// Gives a host the occasion to do what it does in the background.
fn work_on(host: Host<'_>) {
    let server = Server::start(|_, wire| respond(wire, "200 OK", b""));
    assert!(one(host, Ask::read("GET", &server.uri("/"))).is_ok());
}

fn deadlines_cover_every_stage(host: Host<'_>) {
    if cfg!(target_os = "linux") {
        let (address, _full) = full_backlog();
        let failure = fault(host, Ask::write("PUT", &format!("http://{address}/")).hasty());
        assert_eq!(failure, unsent(FailureKind::TimedOut), "connecting");
    }
    let server = Server::start(|_, wire| stall(wire));
    let failure = fault(host, Ask::write("PUT", &server.uri("/")).within(Duration::ZERO));
    assert_eq!(failure, unsent(FailureKind::TimedOut), "late from the start");
    let deaf = TcpListener::bind("127.0.0.1:0").unwrap();
    let uri = format!("http://{}/", deaf.local_addr().unwrap());
    let failure = fault(host, Ask::write("PUT", &uri).with_body(vec![b'x'; 64 << 20]).hasty());
    assert_eq!(failure, sent(FailureKind::TimedOut), "sending");
    let server = Server::start(|_, wire| stall(wire));
    let failure = fault(host, Ask::write("PUT", &server.uri("/")).hasty());
    assert_eq!(failure, sent(FailureKind::TimedOut), "waiting");
    for framing in ["Content-Length: 20", "Connection: close"] {
        let server = Server::start(move |_, wire| {
            write!(wire, "HTTP/1.1 200 OK\r\n{framing}\r\n\r\nonly a part")?;
            stall(wire)
        });
        let failure = fault(host, Ask::read("GET", &server.uri("/")).hasty());
        assert_eq!(failure, sent(FailureKind::TimedOut), "reading");
    }
    assert_eq!(server.log().len(), 1, "nothing is repeated");
}

/// A listener that nobody can connect to, since its queue is full and never emptied.
fn full_backlog() -> (SocketAddr, (TcpListener, Vec<TcpStream>)) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut queue = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(100)) {
        queue.push(stream);
    }
    (address, (listener, queue))
}

fn no_connection_means_nothing_was_sent(host: Host<'_>) {
    let refused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for uri in [
        format!("http://{refused}/"),
        "http://server.invalid/".into(),
        "file://localhost/a".into(),
    ] {
        for ask in [Ask::read("GET", &uri), Ask::write("PUT", &uri)] {
            assert_eq!(fault(host, ask), unsent(FailureKind::Unreachable), "{uri}");
        }
    }
}

fn broken_answers_may_have_been_sent(host: Host<'_>) {
    let answers: [&'static [u8]; 6] = [
        b"",
        b"SSH-2.0-OpenSSH_9.9\r\n\r\n",
        b"HTTP/1.1 2000 Too Much\r\n\r\n",
        b"HTTP/1.1 200 O",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfour",
        b"HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nfives",
    ];
    for answer in answers {
        let server = Server::start(move |_, wire| wire.write_all(answer).map(|()| Then::Close));
        for ask in [
            Ask::read("GET", &server.uri("/")),
            Ask::write("PUT", &server.uri("/")).with_body("x"),
        ] {
            assert_eq!(fault(host, ask), sent(FailureKind::Broken), "{}", answer.escape_ascii());
        }
        assert_eq!(server.log().len(), 2, "nothing is repeated: {}", answer.escape_ascii());
    }
    // Closing a socket that still holds bytes resets the connection.
    let port = kalends_tests::conformance::listen(|stream| stream.peek(&mut [0]).map(drop));
    let ask = Ask::write("PUT", &format!("http://127.0.0.1:{port}/"));
    let failure = fault(host, ask.with_body("x"));
    assert_eq!(failure, sent(FailureKind::Broken), "reset");
}

fn writes_travel_alone(host: Host<'_>) {
    let server = Server::start(|_, wire| respond(wire, "200 OK", b"ok"));
    let asks = (0..9).map(|at| match at % 3 {
        2 => Ask::write("PUT", &server.uri("/")).with_body("x"),
        _ => Ask::read("GET", &server.uri("/")),
    });
    for reply in host(Script::one_by_one(asks)) {
        assert_eq!(reply.unwrap().body(), "ok");
    }
    let log = server.log();
    for (at, seen) in log.iter().enumerate() {
        let is_reused = log[..at].iter().any(|earlier| earlier.connection == seen.connection);
        assert!(
            !(is_reused && seen.line.starts_with("PUT")),
            "a write on a used connection"
        );
    }
    // A server that closes what it promised to keep costs a write nothing.
    let server = Server::start(|_, wire| respond(wire, "200 OK", b"ok").map(|_| Then::Close));
    for _ in 0..4 {
        drop(one(host, Ask::read("GET", &server.uri("/"))));
        assert!(one(host, Ask::write("PUT", &server.uri("/"))).is_ok());
    }
}

/// A connection goes back to its pool in the background, so the next read may come too early for it.
fn reads_share_connections(host: Host<'_>) {
    let server = Server::start(|_, wire| respond(wire, "200 OK", b"ok"));
    let asks = (0..20).map(|_| Ask::read("GET", &server.uri("/")));
    assert!(host(Script::one_by_one(asks)).iter().all(Result::is_ok));
    let connections = server.log().iter().map(|seen| seen.connection).max().unwrap() + 1;
    assert!(connections < 20, "{connections} connections for 20 reads");
}

/// A host that does one thing at a time has answered before it hears of the abort. Another one closes the connection,
/// and only then is the last exchange answered.
fn aborted_exchanges_are_forgotten(host: Host<'_>, can: Capabilities) {
    let (arrive, arrived) = channel();
    let (close, closed) = channel();
    let silent = Server::start(move |_, wire| {
        arrive.send(()).map_err(io::Error::other)?;
        let end = stall(wire);
        close.send(()).map_err(io::Error::other)?;
        end
    });
    let after = |event: Receiver<()>| {
        let event = Mutex::new(event);
        Server::start(move |_, wire| {
            event.lock().unwrap().recv().map_err(io::Error::other)?;
            respond(wire, "200 OK", b"ok")
        })
    };
    let (first, last) = (after(arrived), after(closed));
    let read = |server: &Server| Ask::read("GET", &server.uri("/"));
    let doomed = if can.concurrent {
        read(&silent)
    } else {
        read(&silent).hasty()
    };
    let replies = host(Script::at_once([doomed, read(&first)]).aborting_the_first(read(&last)));
    assert_eq!(replies.len(), 2);
    assert!(replies.iter().all(Result::is_ok));
}

/// No request is answered before the fourth has come.
fn four_exchanges_are_in_flight(host: Host<'_>) {
    let barrier = Arc::new(Barrier::new(4));
    let server = Server::start(move |seen, wire| {
        barrier.wait();
        respond(wire, "200 OK", seen.line.as_bytes())
    });
    let asks = (0..4).map(|at| match at {
        0 => Ask::write("PUT", &server.uri("/0")),
        _ => Ask::read("GET", &server.uri(&format!("/{at}"))),
    });
    for (at, reply) in host(Script::at_once(asks)).into_iter().enumerate() {
        let line = String::from_utf8(reply.unwrap().body().to_vec()).unwrap();
        assert_eq!(
            line.split(' ').nth(1),
            Some(format!("/{at}").as_str()),
            "ids tie replies"
        );
    }
}

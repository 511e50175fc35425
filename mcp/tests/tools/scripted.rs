//! Servers on loopback: one that answers by the rules of a case, and an account with other bodies.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::header::ETAG;
use http::{Request, Response};
use kalends_core::machine::{BodyLimit, Effect, Exchange, ExchangeId, Moment};
use kalends_local::Local;
use kalends_tests::conformance::{Seen, Server as Loopback, Then, Wire};
use kalends_tests::host::World;
use kalends_tests::transcript::Transcript;
use serde_json::{Value, json};

use crate::client::Server;

/// The server that the cases are about; its name gives way to where the script really runs.
const NAMED: &str = "https://cal.example.com";

/// A running script.
pub(crate) struct Scripted {
    pub(crate) server: Loopback,
}

impl Scripted {
    /// A server with these rules; their `body_file`s lie in `folder`.
    pub(crate) fn new(folder: &Path, rules: &[Value]) -> Self {
        let script = Transcript::new(folder, json!({"configured_url": "http://127.0.0.1/", "rules": rules}));
        let script = Arc::new(Mutex::new(script));
        let answer = move |seen: &Seen, wire: &mut dyn Wire| {
            let request = request(seen)?;
            let base = format!("http://{}", seen.header("host").unwrap_or_default());
            let exchange = Exchange {
                id: ExchangeId(0),
                request,
                effect: Effect::Read,
                deadline: Moment::ZERO,
                body: BodyLimit::Bytes(usize::MAX),
            };
            let reply = script.lock().expect("no panic").answer(&exchange);
            let response = reply.map_err(|_| io::Error::other("the script drops the connection"))?;
            let body = String::from_utf8_lossy(response.body()).replace(NAMED, &base);
            respond(wire, response.map(|_| Bytes::from(body)))
        };
        Self {
            server: Loopback::start(answer),
        }
    }

    /// The Calendar of the cases, on this server.
    pub(crate) fn calendar(&self) -> String {
        self.server.uri("/dav/calendars/ana/work/")
    }

    /// The binary with this Calendar for its scope.
    pub(crate) fn client(&self, more: &[(&str, &str)]) -> Server {
        let (url, calendar) = (self.server.uri("/"), self.calendar());
        let usual = [
            ("CALDAV_URL", url.as_str()),
            ("CALDAV_USERNAME", "ana"),
            ("CALDAV_PASSWORD", "app-password-1"),
            ("CALDAV_CALENDAR_HREFS", &calendar),
            ("CALDAV_EVALUATION_TIME_ZONE", "UTC"),
        ];
        let mut server = Server::start(&[&usual[..], more].concat());
        server.initialize("2025-11-25");
        server
    }

    /// Methods and paths of the requests so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        let log = self.server.log();
        log.iter()
            .map(|seen| seen.line.trim_end_matches(" HTTP/1.1").to_owned())
            .collect()
    }
}

/// Answers as this account does, its bodies changed by `alter` and without an Entity Tag in the headers.
pub(crate) fn honest(local: Local, alter: impl Fn(String) -> String + Send + Sync + 'static) -> Loopback {
    Loopback::start(move |seen, wire| {
        let (mut parts, body) = local.answer(request(seen)?).into_parts();
        let body = alter(String::from_utf8_lossy(&body).into_owned());
        parts.headers.remove(ETAG);
        respond(wire, Response::from_parts(parts, Bytes::from(body)))
    })
}

fn request(seen: &Seen) -> io::Result<Request<Bytes>> {
    let mut words = seen.line.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut request = Request::builder()
        .method(method)
        .uri(format!("http://127.0.0.1{target}"));
    for (name, value) in &seen.headers {
        request = request.header(name, value);
    }
    request.body(Bytes::from(seen.body.clone())).map_err(io::Error::other)
}

fn respond(wire: &mut dyn Wire, response: Response<Bytes>) -> io::Result<Then> {
    write!(wire, "HTTP/1.1 {}\r\n", response.status())?;
    for (name, value) in response.headers().iter().filter(|(name, _)| *name != "content-length") {
        write!(wire, "{name}: {}\r\n", value.to_str().map_err(io::Error::other)?)?;
    }
    write!(wire, "content-length: {}\r\n\r\n", response.body().len())?;
    wire.write_all(response.body())?;
    wire.flush()?;
    Ok(Then::Keep)
}

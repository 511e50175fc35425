//! A server that answers by a script, which is what a fuzzer writes.

use std::time::Duration;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{Response, StatusCode};
use jiff::Timestamp;
use kalends_core::account::Account;
use kalends_core::href::Href;
use kalends_core::machine::{BodyLimit, Exchange, Failure, FailureKind, Machine, Moment, Mutation, Reply, Sent};
use kalends_core::operation::Operation;
use kalends_local::Local;
use kalends_tests::account::{ALLOWED, ENV, HOME, settings};
use kalends_tests::host::{World, concurrent, sequential};

/// Between the answers of a script.
const SEPARATOR: &[u8] = b"\n%%\n";
/// The most requests of one operation over any script.
const MAX_REQUESTS: usize = 2000;
/// How long a read may take in simulated time: its budget, and a moment to notice.
pub(crate) const MAX_TIME: Duration = Duration::from_secs(31);

/// Starts an operation on a server that answers by the script, once with one exchange at a time and once with all.
///
/// # Panics
/// If a promise of [`Server`] is broken.
pub fn play<O: Operation + Clone>(operation: O, script: &[u8]) {
    let start = || {
        let account = Account::new(settings("/")).expect("plain credentials");
        Reading(operation.clone().start(ENV, &account))
    };
    sequential(start(), &mut Server::new(script), None);
    sequential(start(), &mut Server::new(script), Some(script.len() % 7));
    concurrent(start(), &mut Server::new(script));
}

/// Whether a request goes where the user allowed, with the credential.
pub(crate) fn is_trusted(exchange: &Exchange) -> bool {
    let origin = Href::from_uri(exchange.request.uri())
        .expect("an absolute URL")
        .origin();
    let allowed = [HOME, ALLOWED].map(|host| format!("https://{host}"));
    allowed.contains(&origin.to_string()) && exchange.request.headers().contains_key(AUTHORIZATION)
}

/// A moment of Unix time.
pub(crate) fn second(second: i64) -> Timestamp {
    Timestamp::from_second(second).expect("in range")
}

/// A machine that has nothing to say about writes.
pub(crate) struct Reading<M>(pub(crate) M);

impl<M: Machine> Machine for Reading<M> {
    type Output = M::Output;

    fn step(&mut self, now: Moment) -> kalends_core::machine::Step<M::Output> {
        let step = self.0.step(now);
        assert_eq!(self.0.mutation(), Mutation::NotAttempted, "a read writes nothing");
        step
    }

    fn receive(&mut self, id: kalends_core::machine::ExchangeId, reply: Reply) {
        self.0.receive(id, reply);
    }

    fn cancel(&mut self) {
        self.0.cancel();
    }

    fn mutation(&self) -> Mutation {
        self.0.mutation()
    }
}

/// Answers in the order of the script: `STATUS [name: value ...]` in a line, then the body. `no` and `maybe` in
/// place of a status are failures, as is what comes after the end; `slow` lets the deadline pass. `honest` is what
/// a real server answers, in whose body every three octets of the script's body change one: place and value.
///
/// It holds the client to its promises: no request outside the account's origin, bounded requests and time.
#[derive(Debug)]
pub struct Server<'a> {
    script: Vec<&'a [u8]>,
    honest: Local,
    now: Moment,
    requests: usize,
}

impl<'a> Server<'a> {
    fn new(script: &'a [u8]) -> Self {
        let mut answers = Vec::new();
        let mut rest = script;
        while let Some(at) = rest.windows(SEPARATOR.len()).position(|window| window == SEPARATOR) {
            answers.push(&rest[..at]);
            rest = &rest[at + SEPARATOR.len()..];
        }
        answers.push(rest);
        answers.reverse();
        let honest = Local::memory()
            .with_calendar("work", "Work")
            .put("work/day.ics", &include_bytes!("../corpus/ical_document/day.ics")[..])
            .put(
                "work/series.ics",
                &include_bytes!("../corpus/ical_document/series.ics")[..],
            );
        Self {
            script: answers,
            honest,
            now: Moment::ZERO,
            requests: 0,
        }
    }

    fn honest(&self, exchange: &Exchange, changes: &[u8]) -> Response<Bytes> {
        let (head, body) = self.honest.answer(exchange.request.clone()).into_parts();
        let mut body = body.to_vec();
        for change in changes.chunks_exact(3) {
            let place = usize::from(u16::from_be_bytes([change[0], change[1]]));
            if let Some(octet) = body.get_mut(place) {
                *octet = change[2];
            }
        }
        Response::from_parts(head, body.into())
    }
}

impl World for Server<'_> {
    fn now(&self) -> Moment {
        self.now
    }

    fn advance(&mut self, to: Moment) {
        self.now = self.now.max(to);
        assert!(self.now.0 <= MAX_TIME, "a read takes {:?}", self.now);
    }

    fn answer(&mut self, exchange: &Exchange) -> Reply {
        self.requests += 1;
        assert!(self.requests <= MAX_REQUESTS, "requests without an end");
        assert!(
            is_trusted(exchange),
            "asks {}, which nobody allowed",
            exchange.request.uri()
        );
        let fail = |sent, kind| Err(Failure { sent, kind });
        let Some(answer) = self.script.pop() else {
            return fail(Sent::No, FailureKind::Unreachable);
        };
        let (head, body) = match answer.iter().position(|byte| *byte == b'\n') {
            Some(at) => (&answer[..at], &answer[at + 1..]),
            None => (answer, &[][..]),
        };
        let head = String::from_utf8_lossy(head);
        let (status, headers) = head.split_once(' ').unwrap_or((&head, ""));
        match status {
            "no" => return fail(Sent::No, FailureKind::Unreachable),
            "maybe" => return fail(Sent::Maybe, FailureKind::Broken),
            "slow" => {
                self.advance(exchange.deadline);
                return fail(Sent::Maybe, FailureKind::TimedOut);
            }
            "honest" => return Ok(self.honest(exchange, body)),
            _ => {}
        }
        let status = status.parse().ok().and_then(|code| StatusCode::from_u16(code).ok());
        let mut response = Response::builder().status(status.unwrap_or(StatusCode::OK));
        for header in headers.split(';') {
            if let Some((name, value)) = header.split_once(':') {
                response = response.header(name.trim(), value.trim());
            }
        }
        let body = match exchange.body {
            BodyLimit::HeadersOnly => Bytes::new(),
            BodyLimit::Bytes(limit) if body.len() > limit => return fail(Sent::Maybe, FailureKind::TooLarge),
            BodyLimit::Bytes(_) => Bytes::copy_from_slice(body),
        };
        // Names and values that no header may have: as if the server had sent garbage.
        response.body(body).or_else(|_| fail(Sent::Maybe, FailureKind::Broken))
    }
}

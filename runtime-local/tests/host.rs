//! The host's side of the contract: exchanges, limits, deadlines, waits.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode};
use kalends_core::flow::{Flow, join};
use kalends_core::machine::{
    BodyLimit, Effect, Exchange, ExchangeId, Failure, FailureKind, Machine, Moment, Mutation, Reply, Sent, Step,
};
use kalends_local::Local;

const EVENT: &str = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:a\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";

fn local() -> Local {
    Local::memory().with_calendar("work", "Work").put("work/a.ics", EVENT)
}

fn request(method: &str, path: &str, body: &'static str) -> Request<Bytes> {
    let uri = format!("http://localhost/{path}");
    Request::builder()
        .method(method)
        .uri(uri)
        .body(Bytes::from(body))
        .expect("a request")
}

/// Gives out one exchange and ends with its reply.
struct Once(Option<Exchange>, Option<Reply>);

impl Machine for Once {
    type Output = Reply;

    fn step(&mut self, _: Moment) -> Step<Reply> {
        match (self.0.take(), self.1.take()) {
            (Some(exchange), _) => Step::Send(exchange),
            (None, Some(reply)) => Step::Done(reply),
            (None, None) => Step::Wait(None),
        }
    }

    fn receive(&mut self, id: ExchangeId, reply: Reply) {
        assert_eq!(id, ExchangeId(7));
        self.1 = Some(reply);
    }

    fn cancel(&mut self) {}

    fn mutation(&self) -> Mutation {
        Mutation::NotAttempted
    }
}

fn once(local: &Local, deadline: Moment, body: BodyLimit) -> Reply {
    let exchange = Exchange {
        id: ExchangeId(7),
        request: request("GET", "work/a.ics", ""),
        effect: Effect::Read,
        deadline,
        body,
    };
    local.drive(Once(Some(exchange), None))
}

#[test]
fn the_body_limit_is_the_last_that_fits() {
    let local = local();
    let size = EVENT.len();
    let whole = once(&local, Moment::NEVER, BodyLimit::Bytes(size)).expect("a response");
    assert_eq!(whole.into_body(), EVENT);
    let failure = once(&local, Moment::NEVER, BodyLimit::Bytes(size - 1)).expect_err("too large");
    let expected = Failure {
        sent: Sent::Maybe,
        kind: FailureKind::TooLarge,
    };
    assert_eq!(failure, expected);
    let head = once(&local, Moment::NEVER, BodyLimit::HeadersOnly).expect("a response");
    assert!(head.headers().contains_key("etag") && head.body().is_empty());
}

#[test]
fn nothing_is_sent_after_its_deadline() {
    let failure = once(&local(), Moment::ZERO, BodyLimit::HeadersOnly).expect_err("too late");
    let expected = Failure {
        sent: Sent::No,
        kind: FailureKind::TimedOut,
    };
    assert_eq!(failure, expected);
}

#[test]
fn exchanges_are_answered_side_by_side_and_writes_are_known() {
    let local = local();
    let flow = Flow::new(Moment::ZERO, |io| async move {
        let send = async |request, effect| io.send(request, effect, BodyLimit::Bytes(4096)).await;
        let (read, write) = join(
            send(request("GET", "work/a.ics", ""), Effect::Read),
            send(request("DELETE", "work/a.ics", ""), Effect::Write),
        )
        .await;
        let again = send(request("GET", "work/a.ics", ""), Effect::Read).await;
        [read, write, again].map(|reply| reply.map(|response| response.status()))
    });
    let statuses = [StatusCode::OK, StatusCode::NO_CONTENT, StatusCode::NOT_FOUND];
    assert_eq!(local.drive(flow), statuses.map(Ok));
}

#[test]
fn waits_are_over_at_once() {
    let flow = Flow::new(Moment::ZERO, |io| async move {
        let hour = Moment(Duration::from_secs(3600));
        io.sleep_until(hour).await.expect("no deadline");
        io.breathe().await.expect("no deadline");
        let late = io
            .until(hour)
            .send(request("GET", "", ""), Effect::Read, BodyLimit::HeadersOnly)
            .await;
        (io.now(), late.map(drop))
    });
    let (now, late) = local().drive(flow);
    assert!(now >= Moment(Duration::from_secs(3600)));
    assert_eq!(late.expect_err("too late").kind, FailureKind::TimedOut);
}

#[test]
fn every_machine_has_entropy_of_its_own() {
    let local = local();
    let (one, two) = (local.env(), local.env());
    assert_ne!(one.seed, two.seed);
    assert!(one.now <= two.now);
    assert!(one.utc.0 > 1_700_000_000_000, "a wall clock of this age");
}

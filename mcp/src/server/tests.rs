//! Calls that wait, are taken back or take too long, over the protocol and a server on loopback.
//!
//! The server holds each exchange until the test lets it go, and the clock of the process stands still until the test
//! moves it, so that nothing here depends on how fast the machine is.

use std::collections::BTreeSet;
use std::sync::mpsc;
use std::time::Duration;

use kalends_local::Local;
use kalends_tests::conformance::Server as Upstream;
use kalends_tests::gate::{Held, gate};
use tokio::io::{AsyncBufReadExt, BufReader, DuplexStream, Lines};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::advance;

use super::*;
use crate::config::Config;

mod changes;
mod links;

/// A client of a server whose Calendars are `/1/` to `/30/`.
struct Client {
    output: DuplexStream,
    input: Lines<BufReader<DuplexStream>>,
    /// Exchanges that wait.
    held: UnboundedReceiver<Held>,
    upstream: Upstream,
    serving: JoinHandle<io::Result<()>>,
    /// Asks the server to end.
    stop: Option<oneshot::Sender<()>>,
    /// While there is blocking work, the paused clock of tokio does not run ahead.
    _frozen: mpsc::Sender<()>,
}

impl Client {
    async fn new() -> Self {
        let local = (1..=30).fold(Local::memory(), |local, number| {
            local.with_calendar(&number.to_string(), "any")
        });
        Self::of(local, &[], json!({})).await
    }

    /// A client with these capabilities.
    async fn of(local: Local, extra: &[(&str, &str)], capabilities: Value) -> Self {
        Self::configured(local, extra, capabilities, |_| {}).await
    }

    async fn configured(
        local: Local,
        extra: &[(&str, &str)],
        capabilities: Value,
        change: impl FnOnce(&mut Config),
    ) -> Self {
        let (frozen, end) = mpsc::channel();
        tokio::task::spawn_blocking(move || end.recv());
        let (hand_out, held) = unbounded_channel();
        let upstream = gate(local, |_| true, move |held| drop(hand_out.send(held)));
        let hrefs: Vec<_> = (1..=30).map(|number| upstream.uri(&format!("/{number}/"))).collect();
        let environment = [
            ("CALDAV_URL", upstream.uri("/")),
            ("CALDAV_USERNAME", "ana".into()),
            ("CALDAV_PASSWORD", "hunter2".into()),
            ("CALDAV_CALENDAR_HREFS", hrefs.join(",")),
        ];
        let extra = extra.iter().map(|(name, value)| (*name, (*value).to_owned()));
        let environment = environment.into_iter().chain(extra);
        let environment = environment.map(|(name, value)| (name.to_owned(), value)).collect();
        let mut config = Config::read(&environment).expect("a configuration");
        change(&mut config);
        let session = Arc::new(Session::new(config).expect("a session"));
        let ((output, from_client), (to_client, input)) = (tokio::io::duplex(1 << 20), tokio::io::duplex(1 << 20));
        let (stop, stopped) = oneshot::channel();
        let stopped = async {
            if stopped.await.is_err() {
                std::future::pending().await
            }
        };
        let mut client = Self {
            output,
            input: BufReader::new(input).lines(),
            held,
            upstream,
            serving: tokio::spawn(serve(session, from_client, to_client, stopped)),
            stop: Some(stop),
            _frozen: frozen,
        };
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "test", "version": "0"}});
        client
            .send(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}))
            .await;
        assert_eq!(client.receive().await["id"], 0);
        client
    }

    async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.output.write_all(line.as_bytes()).await.expect("the server reads");
    }

    async fn receive(&mut self) -> Value {
        let line = self.input.next_line().await.expect("UTF-8").expect("a line");
        serde_json::from_str(&line).expect("JSON")
    }

    /// A call about the Calendar of this number, which costs one exchange.
    async fn call(&mut self, number: usize) {
        self.call_with(number, json!({})).await;
    }

    async fn call_with(&mut self, number: usize, meta: Value) {
        let instant = |day: u32| format!("2026-12-{day:02}T00:00:00Z");
        let arguments =
            json!({"calendarHref": self.upstream.uri(&format!("/{number}/")), "from": instant(1), "to": instant(2)});
        let params = json!({"name": "calendars_free_busy", "arguments": arguments, "_meta": meta});
        self.send(json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}))
            .await;
    }

    async fn cancel(&mut self, number: usize) {
        let params = json!({"requestId": number});
        self.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
            .await;
    }

    /// The next exchange, which must be of this call.
    async fn exchange(&mut self, number: usize) -> Held {
        let held = tokio::select! {
            held = self.held.recv() => held.expect("an exchange"),
            line = self.input.next_line() => panic!("no exchange of {number} but {line:?}"),
        };
        assert_eq!(held.seen.line, format!("REPORT /{number}/ HTTP/1.1"));
        held
    }

    /// So many calls that are at work, and more that wait.
    async fn crowd(&mut self, waiting: usize) -> Vec<Held> {
        let mut at_work = Vec::new();
        for number in 1..=4 {
            self.call(number).await;
            at_work.push(self.exchange(number).await);
        }
        for number in 5..5 + waiting {
            self.call(number).await;
        }
        at_work
    }

    /// The next message, which must be the answer to this call.
    async fn answer(&mut self, number: usize) -> Value {
        let mut message = self.receive().await;
        assert_eq!(message["id"], number, "{message}");
        message["result"].take()
    }

    async fn succeeds(&mut self, number: usize) {
        let result = self.answer(number).await;
        assert_eq!(result["isError"], false, "{result}");
    }

    async fn is_busy(&mut self, number: usize) {
        let error = &self.answer(number).await["structuredContent"];
        assert_eq!(error["code"], "busy");
        assert_eq!(
            (
                &error["category"],
                &error["phase"],
                &error["retryable"],
                &error["retryAfterMs"]
            ),
            (
                &json!("limitsAndAdmission"),
                &json!("admissionAndPayload"),
                &json!(true),
                &json!(2000)
            )
        );
    }

    /// Nothing is on its way to the client: what it asks now is answered next.
    async fn is_silent(&mut self) {
        self.send(json!({"jsonrpc": "2.0", "id": "ping", "method": "ping"}))
            .await;
        assert_eq!(self.receive().await["id"], "ping");
    }
}

/// What is said when the client of an exchange has hung up.
fn hang_up(held: Held) -> impl Future<Output = ()> {
    let (said, heard) = oneshot::channel();
    held.ignore(move || {
        let _ = said.send(());
    });
    async { heard.await.expect("the exchange ends") }
}

#[tokio::test(start_paused = true)]
async fn four_work_sixteen_wait_in_their_order_and_more_are_told_so() {
    let mut client = Client::new().await;
    let mut at_work = client.crowd(16).await;
    client.call(21).await;
    client.is_busy(21).await;
    // One at work is taken back: its exchange ends, and whoever has waited longest is next.
    let hung_up = hang_up(at_work.remove(0));
    client.cancel(1).await;
    hung_up.await;
    at_work.push(client.exchange(5).await);
    // One that waits is taken back: with the place of the one before there is room for two.
    client.cancel(6).await;
    for number in 22..=24 {
        client.call(number).await;
    }
    client.is_busy(24).await;
    let mut waiting = (7..=20).chain(22..=23);
    for number in (2..=5).chain(7..=20).chain(22..=23) {
        at_work.remove(0).pass();
        client.succeeds(number).await;
        if let Some(next) = waiting.next() {
            at_work.push(client.exchange(next).await);
        }
    }
    client.is_silent().await;
    assert!(client.held.is_empty());
    // Nothing is sent for a call that was refused or has left the queue.
    assert_eq!(client.upstream.log().len(), 21);
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_two_seconds() {
    let mut client = Client::new().await;
    let at_work = client.crowd(1).await;
    client.is_silent().await;
    advance(Duration::from_millis(1999)).await;
    client.is_silent().await;
    advance(Duration::from_millis(2)).await;
    client.is_busy(5).await;
    // Its place is free, and so is that of a call that has ended.
    for (number, held) in (1..).zip(at_work) {
        held.pass();
        client.succeeds(number).await;
    }
    client.call(6).await;
    client.exchange(6).await.pass();
    client.succeeds(6).await;
}

#[tokio::test(start_paused = true)]
async fn a_budget_begins_with_the_turn_and_is_thirty_seconds() {
    let mut client = Client::new().await;
    let mut at_work = client.crowd(1).await;
    client.is_silent().await;
    advance(Duration::from_millis(1900)).await;
    at_work.remove(0).pass();
    client.succeeds(1).await;
    let last = client.exchange(5).await;
    let hung_up: Vec<_> = at_work.into_iter().map(hang_up).collect();
    advance(Duration::from_millis(28_100)).await;
    for end in hung_up {
        end.await;
    }
    let mut late = BTreeSet::new();
    for _ in 0..3 {
        let message = client.receive().await;
        let error = &message["result"]["structuredContent"];
        assert_eq!(
            (&error["code"], &error["retryable"]),
            (&json!("limit_exhausted"), &json!(false))
        );
        assert_eq!(error["limits"]["dimension"], "elapsed_time");
        assert_eq!(error["limits"]["limit"], 30_000);
        assert!(error["limits"]["observed"].as_u64() >= Some(30_000), "{error}");
        late.insert(message["id"].as_u64());
    }
    assert_eq!(late, [Some(2), Some(3), Some(4)].into());
    // The one that waited has been at work for 28.1 seconds, and away for 30.
    last.pass();
    client.succeeds(5).await;
}

#[tokio::test(start_paused = true)]
async fn progress_is_sent_to_whoever_asks_and_waits() {
    let mut client = Client::new().await;
    let mut at_work = client.crowd(0).await;
    client.call_with(5, json!({"progressToken": "five"})).await;
    client.is_silent().await;
    advance(Duration::from_millis(499)).await;
    client.is_silent().await;
    let progress = |count: u32, phase: &str| {
        let params = json!({"progressToken": "five", "progress": f64::from(count), "message": phase});
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
    };
    advance(Duration::from_millis(2)).await;
    assert_eq!(client.receive().await, progress(1, "queue"));
    at_work.remove(0).pass();
    client.succeeds(1).await;
    let held = client.exchange(5).await;
    client.is_silent().await;
    advance(Duration::from_millis(251)).await;
    assert_eq!(client.receive().await, progress(2, "fetch"));
    for millis in [251, 751] {
        client.is_silent().await;
        advance(Duration::from_millis(millis)).await;
    }
    assert_eq!(client.receive().await, progress(3, "fetch"));
    // Nothing after the answer, and nothing for a call that is taken back.
    held.pass();
    client.succeeds(5).await;
    client.call_with(6, json!({"progressToken": 6})).await;
    let hung_up = hang_up(client.exchange(6).await);
    client.is_silent().await;
    advance(Duration::from_millis(501)).await;
    assert_eq!(client.receive().await["params"]["progressToken"], 6);
    client.cancel(6).await;
    hung_up.await;
    advance(Duration::from_secs(20)).await;
    client.is_silent().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_ends_all_exchanges_and_no_new_one_begins() {
    let mut client = Client::new().await;
    let at_work = client.crowd(16).await;
    client.is_silent().await;
    let hung_up: Vec<_> = at_work.into_iter().map(hang_up).collect();
    client.output.shutdown().await.expect("closed");
    for end in hung_up {
        end.await;
    }
    client.serving.await.expect("no panic").expect("a quiet end");
    assert_eq!(client.upstream.log().len(), 4);
}

//! The executor's own promises: the drain rule, the window, deadlines and cancellation.

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use kalends_core::flow::{Flow, IN_FLIGHT, join, windowed};
use kalends_core::machine::{
    BodyLimit, Effect, ExchangeId, Failure, FailureKind, Machine, Moment, Mutation, Reply, Sent, Step,
};
use proptest::prelude::*;

fn request(name: usize) -> Request<Bytes> {
    Request::builder()
        .uri(format!("http://x/{name}"))
        .body(Bytes::new())
        .expect("valid")
}

fn answer(text: &str) -> Reply {
    Ok(Response::new(Bytes::from(text.to_owned())))
}

fn batch(requests: usize, window: usize) -> Flow<Result<Vec<Bytes>, Failure>> {
    Flow::new(Moment::ZERO, move |io| async move {
        let io = io.until(Moment(Duration::from_secs(30)));
        let send = async |name| {
            let reply = io.send(request(name), Effect::Read, BodyLimit::Bytes(1000)).await;
            reply.map(Response::into_body)
        };
        windowed(window, (0..requests).map(send).collect()).await
    })
}

proptest! {
    /// Whatever the order of replies, strays among them and clock readings: results come in input order, ids are
    /// never reused, the window holds, and a machine that waits goes on waiting until something happens.
    #[test]
    fn any_schedule_gives_the_same_results(
        requests in 0_usize..24,
        window in 1_usize..8,
        schedule in prop::collection::vec((any::<usize>(), 0_u64..100, any::<bool>()), 0..200),
    ) {
        let mut machine = batch(requests, window);
        let mut open: Vec<(ExchangeId, String)> = Vec::new();
        let (mut ids, mut now, mut schedule) = (BTreeSet::new(), Moment::ZERO, schedule.into_iter());
        let results = loop {
            match machine.step(now) {
                Step::Send(exchange) => {
                    prop_assert!(ids.insert(exchange.id), "an id is used twice");
                    open.push((exchange.id, exchange.request.uri().path().to_owned()));
                    prop_assert!(open.len() <= window.min(IN_FLIGHT));
                }
                Step::Abort(_) => prop_assert!(false, "nothing is to be aborted"),
                Step::Done(results) => break results,
                Step::Wait(wake) => {
                    prop_assert!(matches!(machine.step(now), Step::Wait(again) if again == wake), "drained is not drained");
                    let (index, millis, stray) = schedule.next().unwrap_or((0, 0, false));
                    now = now + Duration::from_millis(millis);
                    if stray {
                        machine.receive(ExchangeId(u32::MAX), answer("stray"));
                    }
                    let (id, path) = open.remove(index % open.len());
                    machine.receive(id, answer(&path));
                    machine.receive(id, answer("twice"));
                }
            }
        };
        let expected: Vec<_> = (0..requests).map(|name| Bytes::from(format!("/{name}"))).collect();
        prop_assert_eq!(results, Ok(expected));
        prop_assert_eq!(ids.len(), requests);
    }

    /// Cancelled or out of time at any point, a reading machine ends at once and says so for all that was open.
    #[test]
    fn giving_up_ends_at_once(requests in 1_usize..12, answered in 0_usize..12, late in any::<bool>()) {
        let mut machine = batch(requests, 3);
        let (mut now, mut open, mut left) = (Moment::ZERO, Vec::new(), answered.min(requests - 1));
        let results = loop {
            match machine.step(now) {
                Step::Send(exchange) => open.push(exchange.id),
                Step::Abort(id) => open.retain(|open| *open != id),
                Step::Done(results) => break results,
                Step::Wait(_) if left > 0 => {
                    left -= 1;
                    machine.receive(open.remove(0), answer("ok"));
                }
                Step::Wait(_) if late => now = Moment(Duration::from_secs(30)),
                Step::Wait(_) => machine.cancel(),
            }
        };
        let kind = if late { FailureKind::TimedOut } else { FailureKind::Canceled };
        prop_assert_eq!(results.map_err(|failure| failure.kind), Err(kind));
    }
}

#[test]
#[should_panic(expected = "awaits something its host cannot provide")]
fn a_foreign_await_is_caught_at_once() {
    let mut flow = Flow::new(Moment::ZERO, |_io| std::future::pending::<()>());
    let _ = flow.step(Moment::ZERO);
}

#[test]
fn a_write_that_left_is_heard_out_after_cancel() {
    let mut flow = Flow::new(Moment::ZERO, |io| async move {
        let io = io.until(Moment(Duration::from_secs(10)));
        io.send(request(1), Effect::Write, BodyLimit::Bytes(10))
            .await
            .map(|response| response.status().as_u16())
    });
    let Step::Send(exchange) = flow.step(Moment::ZERO) else {
        panic!("expected the write")
    };
    assert_eq!(flow.mutation(), Mutation::Unknown);
    flow.cancel();
    assert!(
        matches!(flow.step(Moment::ZERO), Step::Wait(Some(_))),
        "a sent write is not abandoned"
    );
    flow.receive(exchange.id, answer(""));
    assert!(matches!(flow.step(Moment::ZERO), Step::Done(Ok(200))));
    assert_eq!(flow.mutation(), Mutation::Committed);
}

#[test]
fn a_write_that_never_left_is_not_attempted() {
    let mut flow = Flow::new(Moment::ZERO, |io| async move {
        io.until(Moment(Duration::from_secs(10)))
            .send(request(1), Effect::Write, BodyLimit::Bytes(10))
            .await
            .is_ok()
    });
    flow.cancel();
    assert!(matches!(flow.step(Moment::ZERO), Step::Done(false)));
    assert_eq!(flow.mutation(), Mutation::NotAttempted);
    let mut refused = Flow::new(Moment::ZERO, |io| async move {
        io.send(request(1), Effect::Write, BodyLimit::Bytes(10)).await.is_ok()
    });
    let Step::Send(exchange) = refused.step(Moment::ZERO) else {
        panic!("expected the write")
    };
    refused.receive(
        exchange.id,
        Err(Failure {
            sent: Sent::No,
            kind: FailureKind::Unreachable,
        }),
    );
    assert_eq!(refused.mutation(), Mutation::NotAttempted);
}

#[test]
fn a_breath_returns_to_the_host_once() {
    let mut flow = Flow::new(Moment::ZERO, |io| async move {
        io.breathe().await?;
        io.sleep_until(Moment(Duration::from_secs(1))).await
    });
    assert!(matches!(flow.step(Moment::ZERO), Step::Wait(Some(Moment::ZERO))));
    assert!(matches!(flow.step(Moment::ZERO), Step::Wait(Some(Moment(until))) if until == Duration::from_secs(1)));
    assert!(matches!(flow.step(Moment(Duration::from_secs(1))), Step::Done(Ok(()))));
}

#[test]
fn two_flows_run_side_by_side() {
    let mut flow = Flow::new(Moment::ZERO, |io| async move {
        let (a, b) = join(
            io.send(request(1), Effect::Read, BodyLimit::HeadersOnly),
            io.send(request(2), Effect::Read, BodyLimit::HeadersOnly),
        )
        .await;
        a.is_ok() && b.is_ok()
    });
    let (Step::Send(first), Step::Send(second)) = (flow.step(Moment::ZERO), flow.step(Moment::ZERO)) else {
        panic!("both are sent")
    };
    flow.receive(second.id, answer(""));
    assert!(matches!(flow.step(Moment::ZERO), Step::Wait(_)));
    flow.receive(first.id, answer(""));
    assert!(matches!(flow.step(Moment::ZERO), Step::Done(true)));
}

//! The host: drives machines by answering each exchange at once.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use http::Response;
use kalends_core::env::Env;
use kalends_core::machine::{Exchange, Failure, FailureKind, Intake, Machine, Reply, Sent, Step};
use kalends_core::time::{Moment, Utc};

use crate::Local;

/// The host's clock, which can be moved ahead for one machine. There is nothing to wait for that time would bring, so a machine that waits is
/// told at once that the time has passed.
#[derive(Debug)]
struct Clock {
    start: Instant,
    ahead: Moment,
}

impl Clock {
    fn now(&self) -> Moment {
        self.ahead + self.start.elapsed()
    }

    /// Makes sure that `now` is at least this moment.
    fn reach(&mut self, moment: Moment) {
        let missing = moment.since(self.now());
        self.ahead = self.ahead + missing;
    }
}

/// Readings of the clocks, and fresh entropy.
pub(crate) fn env(now: Moment) -> Env {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).expect("the operating system gives entropy");
    Env {
        now,
        utc: Utc(i64::try_from(wall.as_millis()).unwrap_or(i64::MAX)),
        seed,
    }
}

/// Steps a machine to its end.
pub(crate) fn drive<M: Machine>(local: &Local, mut machine: M) -> M::Output {
    let mut clock = Clock {
        start: local.start,
        ahead: Moment::ZERO,
    };
    loop {
        match machine.step(clock.now()) {
            Step::Send(exchange) => {
                let id = exchange.id;
                let reply = perform(local, exchange, clock.now());
                machine.receive(id, reply);
            }
            // Every exchange is over before the machine can change its mind.
            Step::Abort(_) => {}
            Step::Wait(moment) => clock.reach(moment.expect("a machine without open exchanges waits for a moment")),
            Step::Done(output) => return output,
        }
    }
}

fn perform(local: &Local, exchange: Exchange, now: Moment) -> Reply {
    if now >= exchange.deadline {
        return Err(Failure {
            sent: Sent::No,
            kind: FailureKind::TimedOut,
        });
    }
    let (head, body) = local.answer(exchange.request).into_parts();
    let mut intake = Intake::new(exchange.body);
    if !intake.wants_body() {
        return Ok(intake.finish(head));
    }
    intake.push(&body)?;
    Ok(Response::from_parts(head, body))
}

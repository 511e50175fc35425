//! What every read keeps to, whatever the server does: checked on every path that the explorer finds.
//!
//! Nothing goes to a host that nobody allowed, requests and time are bounded, an answer is whole or says what is
//! missing, the same inputs give the same requests, and a call that was cancelled sends nothing more.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use kalends_core::account::Account;
use kalends_core::flow::IN_FLIGHT;
use kalends_core::machine::{Machine, Moment, Mutation};
use kalends_core::operation::Operation;
use kalends_core::outcome::Outcome;

use crate::account::{ENV, PASSWORD};
use crate::explore::{Choices, explore};
use crate::host::{World, concurrent, sequential};
use crate::server::Server;
use crate::world::{FAULTS, Fault, Simulated};

/// The most requests of one operation.
pub const MAX_REQUESTS: usize = 64;

/// A read to be tried.
#[derive(Debug)]
pub struct Trial<'a, A, J> {
    /// For messages.
    pub name: &'a str,
    /// What is asked.
    pub server: &'a Server,
    /// A fresh account, as the read finds it.
    pub account: fn() -> Arc<Account>,
    /// How often the server misbehaves on one path.
    pub faults: usize,
    /// The read.
    pub ask: A,
    /// Judges a success.
    pub judge: J,
}

/// How much was explored.
#[derive(Clone, Copy, Debug, Default)]
pub struct Explored {
    /// Paths with one exchange at a time.
    pub paths: usize,
    /// Those that gave an answer.
    pub successes: usize,
    /// Paths with several exchanges at once.
    pub orders: usize,
    /// Runs that were cancelled.
    pub cancelled: usize,
    /// The most exchanges that were open at once.
    pub open: usize,
}

impl<A, J, O, T> Trial<'_, A, J>
where
    A: Fn() -> O,
    O: Operation<Outcome = Outcome<T>>,
    T: Debug,
    J: Fn(&T, &Simulated),
{
    /// Tries everything.
    ///
    /// # Panics
    /// If a promise is broken, or nothing ends well.
    pub fn run(&self) -> Explored {
        let mut explored = Explored::default();
        explored.paths = explore(|choices| {
            let mut world = self.world(choices, self.faults);
            let (outcome, _) = sequential(self.start(), &mut world, None);
            self.check(&outcome, &world);
            explored.successes += usize::from(outcome.is_ok());
            world.choices
        });
        assert!(explored.paths > FAULTS.len() && explored.successes > 0, "{}", self.name);
        explored.orders = explore(|choices| {
            let mut world = self.world(choices, 1);
            let (outcome, open) = concurrent(self.start(), &mut world);
            self.check(&outcome, &world);
            explored.open = explored.open.max(open);
            world.choices
        });
        assert!(explored.open <= IN_FLIGHT, "{}", self.name);
        explore(|choices| self.cancel_anywhere(choices, &mut explored.cancelled));
        explore(|choices| self.repeat(choices));
        self.give_up();
        explored
    }

    fn start(&self) -> impl Machine<Output = Outcome<T>> + use<A, J, O, T> {
        (self.ask)().start(ENV, &(self.account)())
    }

    fn world(&self, choices: Choices, faults: usize) -> Simulated {
        Simulated::new(choices, self.server.clone(), faults, MAX_REQUESTS)
    }

    fn check(&self, outcome: &Outcome<T>, world: &Simulated) {
        check(self.name, outcome, world);
        if let Ok(found) = outcome {
            (self.judge)(found, world);
        }
    }

    fn cancel_anywhere(&self, choices: Choices, runs: &mut usize) -> Choices {
        let mut whole = self.world(choices.clone(), 1);
        let (_, steps) = sequential(self.start(), &mut whole, None);
        for cancel_at in 0..=steps {
            let mut cut = self.world(choices.clone(), 1);
            let machine = self.start();
            assert_eq!(machine.mutation(), Mutation::NotAttempted);
            let (outcome, ended) = sequential(machine, &mut cut, Some(cancel_at));
            let name = self.name;
            assert!(
                outcome.is_err() || ended <= cancel_at,
                "{name}: a cancelled call succeeds"
            );
            assert!(ended <= cancel_at + 2 + IN_FLIGHT, "{name}: it goes on after cancel");
            assert!(cut.log.len() <= whole.log.len(), "{name}: it asks after cancel");
            *runs += 1;
        }
        whole.choices
    }

    fn repeat(&self, choices: Choices) -> Choices {
        let run = |choices: Choices| {
            let mut world = self.world(choices, 1);
            let (outcome, steps) = sequential(self.start(), &mut world, None);
            let asked = world.log.clone();
            ((format!("{outcome:?}"), steps, asked, world.now()), world.choices)
        };
        let (first, second) = (run(choices.clone()), run(choices));
        assert_eq!(first.0, second.0, "{}", self.name);
        first.1
    }

    fn give_up(&self) {
        for fault in FAULTS.into_iter().filter(|fault| *fault != Fault::RedirectInside) {
            let account = (self.account)();
            let mut world = Simulated::always(fault, self.server.clone(), MAX_REQUESTS);
            let (outcome, _) = sequential((self.ask)().start(ENV, &account), &mut world, None);
            assert!(outcome.is_err(), "{}: {fault:?} passes for {outcome:?}", self.name);
            self.check(&outcome, &world);
            if fault == Fault::LeaveMeAlone {
                let asked = world.log.len();
                let (again, _) = sequential((self.ask)().start(ENV, &account), &mut world, None);
                assert_eq!(
                    again.err().map(|error| error.code),
                    outcome.err().map(|error| error.code)
                );
                assert_eq!(world.log.len(), asked, "{}: it is asked again", self.name);
            }
        }
    }
}

/// What holds for every outcome.
///
/// # Panics
/// If it does not.
pub fn check<T: Debug>(name: &str, outcome: &Outcome<T>, world: &Simulated) {
    let story = || format!("{name}: {:?}\n{:?}\n{outcome:?}", world.faults, world.log);
    if let Err(error) = outcome {
        assert!(!world.faults.is_empty(), "an honest server is refused: {}", story());
        assert!(!error.message.contains(PASSWORD));
    }
    let over = world.now() > Moment(world.begun.0 + Duration::from_secs(31));
    assert!(!over, "over budget: {:?} {}", world.now(), story());
}

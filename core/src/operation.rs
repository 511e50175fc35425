//! What a caller asks for, before it becomes a machine.

use std::fmt;
use std::sync::Arc;

use crate::account::Account;
use crate::env::Env;
use crate::machine::{ExchangeId, Machine, Moment, Mutation, Reply, Step};

/// A typed request to do one thing, which knows how to start.
pub trait Operation {
    /// What the machine ends with.
    type Outcome;

    /// Builds the machine. Sends nothing; even invalid input is reported by the machine.
    fn start(
        self,
        env: Env,
        account: &Arc<Account>,
    ) -> impl Machine<Output = Self::Outcome> + Send + 'static + use<Self>;
}

/// An operation that tells each new [`Machine::phase`]. The machine that it starts is one of these, too.
pub struct Observed<T> {
    inner: T,
    told: Option<&'static str>,
    tell: Box<dyn FnMut(&'static str) + Send>,
}

impl<T: fmt::Debug> fmt::Debug for Observed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<T> Observed<T> {
    /// Tells this function. It is called inside of [`Machine::step`], so it should not wait.
    pub fn new(inner: T, tell: impl FnMut(&'static str) + Send + 'static) -> Self {
        Self {
            inner,
            told: None,
            tell: Box::new(tell),
        }
    }
}

impl<O: Operation> Operation for Observed<O> {
    type Outcome = O::Outcome;

    fn start(self, env: Env, account: &Arc<Account>) -> impl Machine<Output = Self::Outcome> + Send + 'static + use<O> {
        Observed {
            inner: self.inner.start(env, account),
            told: self.told,
            tell: self.tell,
        }
    }
}

impl<M: Machine> Machine for Observed<M> {
    type Output = M::Output;

    fn step(&mut self, now: Moment) -> Step<M::Output> {
        let step = self.inner.step(now);
        let phase = self.inner.phase();
        if self.told.replace(phase) != Some(phase) {
            (self.tell)(phase);
        }
        step
    }

    fn receive(&mut self, id: ExchangeId, reply: Reply) {
        self.inner.receive(id, reply);
    }

    fn cancel(&mut self) {
        self.inner.cancel();
    }

    fn mutation(&self) -> Mutation {
        self.inner.mutation()
    }

    fn phase(&self) -> &'static str {
        self.inner.phase()
    }
}

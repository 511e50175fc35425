//! Flows are `async fn`s, run by an executor that does no I/O.
//!
//! This is the only module that knows about `Future`. A flow can await just four things, all made here: an
//! exchange, a moment, a breath, and other flows ([`join`], [`windowed`]). A future that is pending on anything
//! else is a bug, and [`Flow::step`] says so.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::Request;

use crate::ledger::Ledger;
use crate::machine::{
    BodyLimit, Effect, Exchange, ExchangeId, Failure, FailureKind, Machine, Moment, Mutation, Reply, Sent, Step,
};

/// The most exchanges of one machine that are open at once; further ones wait their turn in the outbox.
pub const IN_FLIGHT: usize = 4;

/// A flow seen from its host: a [`Machine`].
pub struct Flow<T> {
    future: Pin<Box<dyn Future<Output = T> + Send>>,
    desk: Arc<Mutex<Desk>>,
}

/// What lies between the flow and its host.
struct Desk {
    now: Moment,
    phase: &'static str,
    next_id: u32,
    outbox: VecDeque<Step<Infallible>>,
    open: BTreeMap<ExchangeId, Effect>,
    replies: BTreeMap<ExchangeId, Reply>,
    wake_at: Option<Moment>,
    canceled: bool,
    ledger: Ledger,
}

impl Desk {
    fn wake(&mut self, moment: Moment) {
        self.wake_at = Some(self.wake_at.map_or(moment, |at| at.min(moment)));
    }
}

fn lock(desk: &Mutex<Desk>) -> MutexGuard<'_, Desk> {
    // A panic that was caught elsewhere must not keep `mutation` from answering.
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> Flow<T> {
    /// Starts a flow. Nothing runs before the first [`Machine::step`].
    pub fn new<F>(now: Moment, start: impl FnOnce(Io) -> F) -> Self
    where
        F: Future<Output = T> + Send + 'static,
    {
        let desk = Arc::new(Mutex::new(Desk {
            now,
            phase: "start",
            next_id: 0,
            outbox: VecDeque::new(),
            open: BTreeMap::new(),
            replies: BTreeMap::new(),
            wake_at: None,
            canceled: false,
            ledger: Ledger::default(),
        }));
        let io = Io {
            desk: Arc::clone(&desk),
            deadline: Moment::NEVER,
            shielded: false,
        };
        Self {
            future: Box::pin(start(io)),
            desk,
        }
    }
}

/// Shows the phase, the open exchanges and the ledger, never their contents.
impl<T> fmt::Debug for Flow<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let desk = lock(&self.desk);
        f.debug_struct("Flow")
            .field("phase", &desk.phase)
            .field("open", &desk.open)
            .field("ledger", &desk.ledger)
            .finish_non_exhaustive()
    }
}

impl<T> Machine for Flow<T> {
    type Output = T;

    fn step(&mut self, now: Moment) -> Step<T> {
        {
            let mut desk = lock(&self.desk);
            desk.now = desk.now.max(now);
            desk.wake_at = None;
        }
        if let Poll::Ready(output) = self.future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return Step::Done(output);
        }
        let mut desk = lock(&self.desk);
        let full = desk.open.len() >= IN_FLIGHT;
        let next = desk
            .outbox
            .iter()
            .position(|step| !full || matches!(step, Step::Abort(_)));
        match next.and_then(|at| desk.outbox.remove(at)) {
            Some(Step::Send(exchange)) => {
                desk.ledger.emitted(exchange.effect);
                desk.open.insert(exchange.id, exchange.effect);
                Step::Send(exchange)
            }
            Some(Step::Abort(id)) => Step::Abort(id),
            Some(Step::Wait(_)) => unreachable!("only Send and Abort are queued"),
            None => {
                let stuck = desk.open.is_empty() && desk.wake_at.is_none();
                assert!(!stuck, "the flow awaits something its host cannot provide");
                Step::Wait(desk.wake_at)
            }
        }
    }

    fn receive(&mut self, id: ExchangeId, reply: Reply) {
        let mut desk = lock(&self.desk);
        if let Some(effect) = desk.open.remove(&id) {
            desk.ledger.answered(effect, &reply);
            desk.replies.insert(id, reply);
        }
    }

    fn cancel(&mut self) {
        lock(&self.desk).canceled = true;
    }

    fn mutation(&self) -> Mutation {
        lock(&self.desk).ledger.mutation()
    }

    fn phase(&self) -> &'static str {
        lock(&self.desk).phase
    }
}

/// A flow's hands: its only way to reach the host. Cheap to clone and to narrow.
#[derive(Clone)]
pub struct Io {
    desk: Arc<Mutex<Desk>>,
    deadline: Moment,
    shielded: bool,
}

impl fmt::Debug for Io {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Io")
            .field("deadline", &self.deadline)
            .field("shielded", &self.shielded)
            .finish_non_exhaustive()
    }
}

impl Io {
    /// The host's clock at this step.
    #[must_use]
    pub fn now(&self) -> Moment {
        lock(&self.desk).now
    }

    /// When these hands give up.
    #[must_use]
    pub fn deadline(&self) -> Moment {
        self.deadline
    }

    /// Names what the flow is doing, for `Debug` and [`Machine::phase`].
    pub fn phase(&self, name: &'static str) {
        lock(&self.desk).phase = name;
    }

    /// The same hands with a deadline no later than this moment.
    #[must_use]
    pub fn until(&self, moment: Moment) -> Self {
        Self {
            deadline: self.deadline.min(moment),
            ..self.clone()
        }
    }

    /// The same hands, deaf to cancellation, on a budget of their own.
    #[must_use]
    pub fn shielded(&self, moment: Moment) -> Self {
        Self {
            deadline: moment,
            shielded: true,
            ..self.clone()
        }
    }

    /// Performs one exchange. Gives up at the deadline and, unless this is a write that has already left, at
    /// cancellation.
    ///
    /// # Errors
    /// What the host reported, or [`FailureKind::TimedOut`] and [`FailureKind::Canceled`] of the hands' own.
    pub async fn send(&self, request: Request<Bytes>, effect: Effect, body: BodyLimit) -> Reply {
        let id = {
            let mut desk = lock(&self.desk);
            if let Some(kind) = self.given_up(&desk) {
                return Err(Failure { sent: Sent::No, kind });
            }
            let id = ExchangeId(desk.next_id);
            desk.next_id += 1;
            desk.outbox.push_back(Step::Send(Exchange {
                id,
                request,
                effect,
                deadline: self.deadline,
                body,
            }));
            id
        };
        let mut ticket = Ticket {
            io: self,
            id,
            open: true,
        };
        poll_fn(|_| {
            let mut desk = lock(&self.desk);
            if let Some(reply) = desk.replies.remove(&id) {
                ticket.open = false;
                return Poll::Ready(reply);
            }
            let left = desk.open.contains_key(&id);
            let heard_out = left && effect == Effect::Write && desk.now < self.deadline;
            if let Some(kind) = self.given_up(&desk)
                && !heard_out
            {
                let sent = if left { Sent::Maybe } else { Sent::No };
                return Poll::Ready(Err(Failure { sent, kind }));
            }
            desk.wake(self.deadline);
            Poll::Pending
        })
        .await
    }

    /// Waits until this moment.
    ///
    /// # Errors
    /// If the hands give up first, so that no loop can spin.
    pub async fn sleep_until(&self, moment: Moment) -> Result<(), Failure> {
        poll_fn(|_| {
            let mut desk = lock(&self.desk);
            if let Some(kind) = self.given_up(&desk) {
                return Poll::Ready(Err(Failure { sent: Sent::No, kind }));
            }
            if desk.now >= moment {
                return Poll::Ready(Ok(()));
            }
            desk.wake(moment.min(self.deadline));
            Poll::Pending
        })
        .await
    }

    /// Returns to the host once, between two pieces of heavy local work, so that an async host stays responsive.
    ///
    /// # Errors
    /// If the hands have given up.
    pub async fn breathe(&self) -> Result<(), Failure> {
        let mut returned = false;
        poll_fn(|_| {
            let mut desk = lock(&self.desk);
            if let Some(kind) = self.given_up(&desk) {
                return Poll::Ready(Err(Failure { sent: Sent::No, kind }));
            }
            if std::mem::replace(&mut returned, true) {
                return Poll::Ready(Ok(()));
            }
            let now = desk.now;
            desk.wake(now);
            Poll::Pending
        })
        .await
    }

    fn given_up(&self, desk: &Desk) -> Option<FailureKind> {
        if desk.now >= self.deadline {
            Some(FailureKind::TimedOut)
        } else if desk.canceled && !self.shielded {
            Some(FailureKind::Canceled)
        } else {
            None
        }
    }
}

/// Aborts its exchange when the flow stops waiting for it.
struct Ticket<'io> {
    io: &'io Io,
    id: ExchangeId,
    open: bool,
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        if !self.open {
            return;
        }
        let mut desk = lock(&self.io.desk);
        desk.replies.remove(&self.id);
        let queued = |step: &Step<Infallible>| matches!(step, Step::Send(exchange) if exchange.id == self.id);
        if let Some(at) = desk.outbox.iter().position(queued) {
            desk.outbox.remove(at);
        } else if desk.open.remove(&self.id).is_some() {
            desk.outbox.push_back(Step::Abort(self.id));
        }
    }
}

/// Runs two flows side by side.
pub async fn join<A: Future, B: Future>(a: A, b: B) -> (A::Output, B::Output) {
    let (mut a, mut b) = (pin!(a), pin!(b));
    let (mut left, mut right) = (None, None);
    poll_fn(move |cx| {
        if left.is_none()
            && let Poll::Ready(value) = a.as_mut().poll(cx)
        {
            left = Some(value);
        }
        if right.is_none()
            && let Poll::Ready(value) = b.as_mut().poll(cx)
        {
            right = Some(value);
        }
        match (left.take(), right.take()) {
            (Some(a), Some(b)) => Poll::Ready((a, b)),
            (a, b) => {
                (left, right) = (a, b);
                Poll::Pending
            }
        }
    })
    .await
}

/// Runs at most `window` flows at once and yields their values in input order. The first error ends the others: what
/// they have not sent yet is never sent.
///
/// # Errors
/// The error that came first.
pub async fn windowed<F, T, E>(window: usize, flows: Vec<F>) -> Result<Vec<T>, E>
where
    F: Future<Output = Result<T, E>>,
{
    let mut waiting: VecDeque<_> = flows.into_iter().enumerate().collect();
    let mut running: Vec<(usize, Pin<Box<F>>)> = Vec::new();
    let mut done = BTreeMap::new();
    poll_fn(move |cx| {
        loop {
            while running.len() < window.max(1)
                && let Some((at, flow)) = waiting.pop_front()
            {
                running.push((at, Box::pin(flow)));
            }
            let before = running.len();
            let mut failed = None;
            running.retain_mut(|(at, flow)| match flow.as_mut().poll(cx) {
                Poll::Ready(Ok(value)) => done.insert(*at, value).is_some(),
                Poll::Ready(Err(error)) => {
                    failed.get_or_insert(error);
                    false
                }
                Poll::Pending => true,
            });
            if let Some(error) = failed {
                running.clear();
                waiting.clear();
                return Poll::Ready(Err(error));
            }
            if running.is_empty() && waiting.is_empty() {
                return Poll::Ready(Ok(std::mem::take(&mut done).into_values().collect()));
            }
            if running.len() == before {
                return Poll::Pending;
            }
        }
    })
    .await
}

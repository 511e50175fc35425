//! What every change of the account keeps to, whatever the server, the way to it and other people do.
//!
//! At most one write has an effect, none is sent again while the one before may have been done, and none of a member
//! goes without a condition. What is said at the end is held against what the server really did, writes that it does
//! late included: nothing that is done is called undone, and nothing that is not done is called done. After a cancel
//! nothing is sent, but reads that find out about a write that left.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, IF_MATCH, IF_NONE_MATCH, LOCATION, RETRY_AFTER};
use http::{Request, Response};
use kalends_core::account::Account;
use kalends_core::change::{Change, Changed};
use kalends_core::machine::{
    BodyLimit, Effect, Exchange, ExchangeId, Failure, FailureKind, Machine, Moment, Mutation, Reply, Sent, Step,
};
use kalends_core::operation::Operation;
use kalends_core::outcome::Code;

use crate::account::{ALLOWED, ENV, FOREIGN, HOME, PASSWORD};
use crate::explore::{Choices, explore};
use crate::host::{World, concurrent, sequential};
use crate::server::Server;
use crate::world::{FAULTS, Fault, LATENCY, Simulated};

/// The most requests of one change.
const MAX_REQUESTS: usize = 64;
/// The time that a change may take, with a moment to notice.
const MAX_TIME: Duration = Duration::from_secs(61);

/// When the server does a write whose answer is already given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// Never.
    Never,
    /// Before the client asks again.
    Before,
    /// After the client has asked once more.
    Later,
    /// After the client is done.
    Last,
}

/// One way in which a write can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// It does not leave.
    NotSent(FailureKind),
    /// No usable answer comes: none at all, or one that is cut in its head or its body.
    Lost(FailureKind, Done),
    /// This status, which does not tell what became of it.
    Doubt(u16, Done),
    /// This status, and nothing was done.
    Refused(u16),
    /// 200 with a web page from something on the way, and nothing was done.
    Page,
    /// Something on the way sends it twice, and the second answer comes back.
    Twice,
    /// A redirect with this status, to a place inside the account.
    Inside(u16),
    /// 307 to a host that nobody allowed.
    Outside,
    /// 307 to the same place without encryption.
    Down,
    /// 307 to itself.
    Circle,
    /// 429 with a long `Retry-After`.
    LeaveMeAlone,
    /// 503 with a short `Retry-After`.
    OneMoment(Done),
}

/// Every mishap of a write.
pub const MISHAPS: [Mishap; 54] = {
    use Done::{Before, Last, Later, Never};
    use FailureKind::{Broken, TimedOut, TooLarge, Unreachable, Untrusted};
    use Mishap::*;
    [
        NotSent(Unreachable),
        NotSent(Untrusted),
        Lost(Broken, Never),
        Lost(Broken, Before),
        Lost(Broken, Later),
        Lost(Broken, Last),
        Lost(TimedOut, Never),
        Lost(TimedOut, Before),
        Lost(TimedOut, Later),
        Lost(TimedOut, Last),
        Lost(TooLarge, Before),
        Doubt(202, Never),
        Doubt(202, Last),
        Doubt(408, Never),
        Doubt(408, Later),
        Doubt(500, Never),
        Doubt(500, Before),
        Doubt(500, Last),
        Doubt(502, Before),
        Doubt(502, Later),
        Doubt(503, Never),
        Doubt(503, Before),
        Doubt(504, Never),
        Doubt(504, Before),
        Doubt(504, Later),
        Doubt(504, Last),
        Refused(304),
        Refused(400),
        Refused(401),
        Refused(403),
        Refused(404),
        Refused(405),
        Refused(409),
        Refused(410),
        Refused(412),
        Refused(413),
        Refused(415),
        Refused(423),
        Refused(429),
        Refused(501),
        Refused(507),
        Page,
        Twice,
        Inside(301),
        Inside(302),
        Inside(303),
        Inside(307),
        Inside(308),
        Outside,
        Down,
        Circle,
        LeaveMeAlone,
        OneMoment(Never),
        OneMoment(Before),
    ]
};

/// What somebody else does to the same resource, just before a request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rival {
    /// Stores something else.
    Change,
    /// Deletes it.
    Delete,
}

const RIVALS: [Rival; 2] = [Rival::Change, Rival::Delete];

/// A write as the client sent it.
#[derive(Debug)]
pub struct Write {
    /// `METHOD host/path`.
    pub line: String,
    /// Whether it left.
    pub left: bool,
    /// The status that came back, if one did.
    pub status: Option<u16>,
    /// How often it has changed the server.
    pub effects: usize,
}

impl Write {
    /// Whether its answer says that nothing was done.
    fn is_undone(&self) -> bool {
        let undone = |status| matches!(status, 300..=407 | 409..=499 | 501 | 505 | 507);
        !self.left || self.status.is_some_and(undone)
    }
}

/// A server, the way to it, and other people, for one change.
pub struct Writing {
    /// Reads and the clock.
    pub simulated: Simulated,
    /// The writes, in order.
    pub writes: Vec<Write>,
    /// What went wrong with writes, and what others did.
    pub story: Vec<String>,
    /// Whether somebody else has deleted the resource.
    pub rival_deleted: bool,
    /// Whether somebody else was there at all.
    pub rivalry: bool,
    place: Option<String>,
    rival: Bytes,
    late: Vec<(Done, usize, Request<Bytes>)>,
    cancelled: Arc<AtomicBool>,
}

impl Debug for Writing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writing")
            .field("asked", &self.simulated.log)
            .field("faults", &self.simulated.faults)
            .field("story", &self.story)
            .field("writes", &self.writes)
            .finish_non_exhaustive()
    }
}

impl Writing {
    /// A server that misbehaves `faults` times at most. Somebody else stores `rival` at `place`, such as `work/a.ics`;
    /// if there is none, where the first PUT goes.
    #[must_use]
    pub fn new(choices: Choices, server: Server, faults: usize, place: Option<&str>, rival: Bytes) -> Self {
        Self {
            place: place.map(str::to_owned),
            rival,
            simulated: Simulated::new(choices, server, faults, MAX_REQUESTS),
            writes: Vec::new(),
            story: Vec::new(),
            rival_deleted: false,
            rivalry: false,
            late: Vec::new(),
            cancelled: Arc::default(),
        }
    }

    /// Wraps a machine so that this world knows when it is cancelled, and its end tells what is known of the write.
    pub fn watch<M: Machine>(&self, machine: M) -> Watched<M> {
        Watched {
            machine,
            cancelled: Arc::clone(&self.cancelled),
        }
    }

    /// Whether nothing went wrong and nobody else was there.
    #[must_use]
    pub fn is_honest(&self) -> bool {
        self.incidents() == 0
    }

    /// How much went wrong.
    fn incidents(&self) -> usize {
        self.simulated.faults.len() + self.story.len()
    }

    /// Whether something on the way sent a write twice.
    fn was_doubled(&self) -> bool {
        let doubled = format!("{:?}", Mishap::Twice);
        self.story.contains(&doubled)
    }

    /// The server does what it has not done yet.
    pub fn settle(&mut self) {
        for (_, at, request) in std::mem::take(&mut self.late) {
            self.perform(at, &request);
        }
    }

    /// Whether the server has nothing left to do.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.late.is_empty()
    }

    /// How many writes have changed the server.
    #[must_use]
    pub fn effects(&self) -> usize {
        self.writes.iter().map(|write| write.effects).sum()
    }

    fn perform(&mut self, at: usize, request: &Request<Bytes>) -> Response<Bytes> {
        let server = &self.simulated.server;
        let before = server.fingerprint();
        let response = server.answer(request);
        if server.fingerprint() != before {
            self.writes[at].effects += 1;
        }
        response
    }

    fn promises(&mut self, exchange: &Exchange) {
        let request = &exchange.request;
        let is_write = exchange.effect == Effect::Write;
        if self.cancelled.load(Ordering::Relaxed) {
            assert!(!is_write, "a write after a cancel: {self:?}");
            let left = self.writes.iter().any(|write| write.left);
            assert!(left, "it goes on after a cancel, though nothing was written: {self:?}");
        }
        if !is_write {
            let read = matches!(request.method().as_str(), "PROPFIND" | "REPORT" | "GET" | "OPTIONS");
            assert!(read, "a write that is told as a read: {} {self:?}", request.method());
            self.simulated.promises(exchange);
            return;
        }
        let host = request.uri().host().expect("absolute").to_owned();
        let path = request.uri().path();
        let line = format!("{} {host}{path}", request.method());
        self.simulated.log.push(line.clone());
        let before = self.writes.iter().all(Write::is_undone);
        assert!(before, "a write is sent while another may have been done: {self:?}");
        self.writes.push(Write {
            line,
            left: true,
            status: None,
            effects: 0,
        });
        assert_ne!(host, FOREIGN, "a host was contacted that nobody allowed: {self:?}");
        assert_eq!(request.uri().scheme_str(), Some("https"), "{self:?}");
        assert!(request.headers()[AUTHORIZATION].is_sensitive());
        assert!(self.simulated.log.len() <= MAX_REQUESTS, "too many requests: {self:?}");
        assert!(self.simulated.now < exchange.deadline, "sent after its own deadline");
        assert_ne!(
            self.simulated.blocked.as_deref(),
            request.uri().host(),
            "the server wants to be left alone: {self:?}"
        );
        if path.ends_with('/') {
            return;
        }
        let value = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
        let bound = match (value(IF_MATCH), value(IF_NONE_MATCH)) {
            (Some(tag), None) => tag.starts_with('"'),
            (None, Some("*")) => request.method() == "PUT",
            _ => false,
        };
        assert!(bound, "a write without its condition: {self:?}");
    }

    fn mishap(&mut self, mishap: Mishap, exchange: &Exchange) -> Reply {
        let at = self.writes.len() - 1;
        let request = &exchange.request;
        let path = request.uri().path();
        let plain = |status: u16| Response::builder().status(status);
        let empty = |response: http::response::Builder| response.body(Bytes::new()).expect("valid");
        let moved = |status: u16, target: String| Ok(empty(plain(status).header(LOCATION, target)));
        self.story.push(format!("{mishap:?}"));
        match mishap {
            Mishap::NotSent(kind) => {
                self.writes[at].left = false;
                Err(Failure { sent: Sent::No, kind })
            }
            Mishap::Lost(kind, done) => {
                if kind == FailureKind::TimedOut {
                    self.simulated.now = exchange.deadline;
                }
                self.done(at, done, request);
                Err(Failure {
                    sent: Sent::Maybe,
                    kind,
                })
            }
            Mishap::Doubt(status, done) => {
                self.done(at, done, request);
                Ok(empty(plain(status)))
            }
            Mishap::Refused(status) => Ok(empty(plain(status))),
            Mishap::Page => {
                let page = plain(200).header(CONTENT_TYPE, "text/html; charset=utf-8");
                Ok(page.body(Bytes::from_static(b"<html>Sign in")).expect("valid"))
            }
            Mishap::Twice => {
                self.perform(at, request);
                Ok(self.perform(at, request))
            }
            Mishap::Inside(status) => moved(status, format!("https://{ALLOWED}{path}")),
            Mishap::Outside => moved(307, format!("https://{FOREIGN}{path}")),
            Mishap::Down => moved(307, format!("http://{HOME}{path}")),
            Mishap::Circle => moved(307, path.to_owned()),
            Mishap::LeaveMeAlone => {
                self.simulated.blocked = request.uri().host().map(str::to_owned);
                Ok(empty(plain(429).header(RETRY_AFTER, "300")))
            }
            Mishap::OneMoment(done) => {
                self.done(at, done, request);
                Ok(empty(plain(503).header(RETRY_AFTER, "1")))
            }
        }
    }

    fn done(&mut self, at: usize, done: Done, request: &Request<Bytes>) {
        match done {
            Done::Never => {}
            Done::Before => drop(self.perform(at, request)),
            Done::Later | Done::Last => self.late.push((done, at, request.clone())),
        }
    }

    fn rival(&mut self, rival: Rival) {
        let place = self.place.clone().expect("a place");
        let server = &self.simulated.server;
        let acted = match rival {
            Rival::Change => server.try_put(&place, self.rival.clone()),
            Rival::Delete => server.try_delete(&place),
        };
        self.rivalry |= acted;
        self.rival_deleted |= acted && rival == Rival::Delete;
        self.story.push(format!("{rival:?}"));
    }

    fn pick(&mut self, menu: usize) -> Option<usize> {
        if self.simulated.left == 0 {
            return None;
        }
        let rivals = if self.place.is_some() { RIVALS.len() } else { 0 };
        let chosen = self.simulated.choices.pick(1 + rivals + menu).checked_sub(1)?;
        self.simulated.left -= 1;
        if chosen < rivals {
            self.rival(RIVALS[chosen]);
            return None;
        }
        Some(chosen - rivals)
    }
}

impl World for Writing {
    fn now(&self) -> Moment {
        self.simulated.now
    }

    fn advance(&mut self, to: Moment) {
        self.simulated.advance(to);
    }

    fn sent(&mut self, exchange: &Exchange) {
        self.promises(exchange);
    }

    fn answer(&mut self, exchange: &Exchange) -> Reply {
        self.simulated.now = self.simulated.now + LATENCY;
        let request = &exchange.request;
        let later: Vec<_> = self.late.extract_if(.., |(done, ..)| *done == Done::Later).collect();
        let reply = if exchange.effect == Effect::Write {
            if self.place.is_none() && request.method() == "PUT" {
                let home = self.simulated.server.home().len();
                self.place = Some(request.uri().path()[home..].to_owned());
            }
            let at = self.writes.len() - 1;
            let reply = match self.pick(MISHAPS.len()) {
                Some(chosen) => self.mishap(MISHAPS[chosen], exchange),
                None => Ok(self.perform(at, request)),
            };
            self.writes[at].status = reply.as_ref().ok().map(|response| response.status().as_u16());
            reply
        } else {
            match self.pick(FAULTS.len()) {
                Some(chosen) => {
                    self.simulated.faults.push(FAULTS[chosen]);
                    self.simulated.misbehave(FAULTS[chosen], exchange)
                }
                None => Ok(self.simulated.honest(exchange)),
            }
        };
        for (_, at, request) in later {
            self.perform(at, &request);
        }
        let response = reply?;
        match exchange.body {
            BodyLimit::Bytes(limit) if response.body().len() > limit => Err(Failure {
                sent: Sent::Maybe,
                kind: FailureKind::TooLarge,
            }),
            BodyLimit::Bytes(_) | BodyLimit::HeadersOnly => Ok(response),
        }
    }

    fn choose(&mut self, open: usize) -> usize {
        self.simulated.choices.pick(open)
    }
}

/// A machine whose end tells what it knew of its write.
#[derive(Debug)]
#[must_use = "a machine does nothing until a host steps it"]
pub struct Watched<M> {
    machine: M,
    cancelled: Arc<AtomicBool>,
}

impl<M: Machine> Machine for Watched<M> {
    type Output = (M::Output, Mutation);

    fn step(&mut self, now: Moment) -> Step<Self::Output> {
        match self.machine.step(now) {
            Step::Send(exchange) => Step::Send(exchange),
            Step::Abort(id) => Step::Abort(id),
            Step::Wait(moment) => Step::Wait(moment),
            Step::Done(output) => Step::Done((output, self.machine.mutation())),
        }
    }

    fn receive(&mut self, id: ExchangeId, reply: Reply) {
        self.machine.receive(id, reply);
    }

    fn cancel(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
        self.machine.cancel();
    }

    fn mutation(&self) -> Mutation {
        self.machine.mutation()
    }
}

/// A change to be tried.
pub struct Trial<'a, A, J> {
    /// For messages.
    pub name: &'a str,
    /// A fresh server, as the change finds it.
    pub server: fn() -> Server,
    /// A fresh account, likewise.
    pub account: fn() -> Arc<Account>,
    /// How often something goes wrong on one path.
    pub faults: usize,
    /// Where somebody else may act, such as `work/a.ics`; where the first PUT goes if there is no place.
    pub place: Option<&'a str>,
    /// What somebody else stores there.
    pub rival: Bytes,
    /// Whether it is what was asked for that the resource is gone, whoever did it.
    pub is_deletion: bool,
    /// The change.
    pub ask: A,
    /// Judges a success.
    pub judge: J,
}

impl<A, J> Debug for Trial<'_, A, J> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// How much was explored.
#[derive(Clone, Copy, Debug, Default)]
pub struct Explored {
    /// Paths with one exchange at a time.
    pub paths: usize,
    /// How they ended: committed, committed with an error, unchanged or a review, not attempted, not committed, unknown.
    pub ends: [usize; 6],
    /// Paths with several exchanges at once.
    pub orders: usize,
    /// Runs that were cancelled.
    pub cancelled: usize,
}

impl<A, J, O, T> Trial<'_, A, J>
where
    A: Fn(&Server) -> O,
    O: Operation<Outcome = Changed<T>>,
    T: Debug,
    J: Fn(&T, &Writing),
{
    /// Tries everything.
    ///
    /// # Panics
    /// If a promise is broken, or nothing ends well.
    pub fn run(&self) -> Explored {
        let mut explored = Explored::default();
        explored.paths = explore(|choices| {
            let mut world = self.world(choices, self.faults);
            let ((outcome, mutation), _) = sequential(self.start(&world), &mut world, None);
            explored.ends[self.check(&outcome, mutation, &mut world)] += 1;
            world.simulated.choices
        });
        explored.orders = explore(|choices| {
            let mut world = self.world(choices, 1);
            let ((outcome, mutation), _) = concurrent(self.start(&world), &mut world);
            self.check(&outcome, mutation, &mut world);
            world.simulated.choices
        });
        explore(|choices| {
            let mut whole = self.world(choices.clone(), 1);
            let (first, steps) = sequential(self.start(&whole), &mut whole, None);
            for cancel_at in 0..=steps {
                let mut cut = self.world(choices.clone(), 1);
                let ((outcome, mutation), _) = sequential(self.start(&cut), &mut cut, Some(cancel_at));
                cut.story.push("cancelled".into());
                self.check(&outcome, mutation, &mut cut);
                explored.cancelled += 1;
            }
            let mut again = self.world(choices, 1);
            let (second, _) = sequential(self.start(&again), &mut again, None);
            assert_eq!(format!("{first:?}"), format!("{second:?}"), "{}", self.name);
            assert_eq!(whole.simulated.log, again.simulated.log, "{}", self.name);
            whole.simulated.choices
        });
        let well = explored.ends[0] + explored.ends[2];
        assert!(well > 0 && explored.paths > FAULTS.len(), "{}: {explored:?}", self.name);
        explored
    }

    /// A world for one path.
    pub fn world(&self, choices: Choices, faults: usize) -> Writing {
        Writing::new(choices, (self.server)(), faults, self.place, self.rival.clone())
    }

    /// The change, ready to be run in a world.
    pub fn start(&self, world: &Writing) -> Watched<impl Machine<Output = O::Outcome> + use<A, J, O, T>> {
        let machine = (self.ask)(&world.simulated.server).start(ENV, &(self.account)());
        world.watch(machine)
    }

    /// Holds an outcome against what the server did. Returns where it belongs in [`Explored::ends`].
    ///
    /// # Panics
    /// If a promise is broken.
    pub fn check(&self, outcome: &Changed<T>, mutation: Mutation, world: &mut Writing) -> usize {
        if let Ok(Change::Committed(committed)) = outcome {
            (self.judge)(&committed.value, world);
        }
        check(self.name, self.is_deletion, outcome, mutation, world)
    }
}

/// Holds an outcome against what the server did. Returns where it belongs in [`Explored::ends`].
///
/// # Panics
/// If a promise is broken.
pub fn check<T: Debug>(
    name: &str,
    is_deletion: bool,
    outcome: &Changed<T>,
    mutation: Mutation,
    world: &mut Writing,
) -> usize {
    let early = world.effects();
    world.settle();
    let effects = world.effects();
    let story = format!("{name}: {outcome:?}\nearly {early}, all {effects}, ledger {mutation:?}, {world:?}");
    assert!(effects <= 1, "more than one write was done: {story}");
    let (end, state) = match outcome {
        Ok(Change::Committed(_)) => (0, Mutation::Committed),
        Ok(Change::Unchanged | Change::Review(_)) => (2, Mutation::NotAttempted),
        Err(failed) => {
            let end = match failed.state {
                Mutation::Committed => 1,
                Mutation::NotAttempted => 3,
                Mutation::NotCommitted => 4,
                Mutation::Unknown => 5,
            };
            (end, failed.state)
        }
    };
    let left = world.writes.iter().any(|write| write.left);
    match state {
        Mutation::NotAttempted => assert!(!left && effects == 0, "something was attempted: {story}"),
        Mutation::NotCommitted => {
            // Its trace is lost for good, where something else went wrong as well.
            let covered = world.was_doubled() && world.incidents() > 1;
            assert!(left && (effects == 0 || covered), "it was committed: {story}");
        }
        Mutation::Committed => {
            let lie = world.simulated.faults.contains(&Fault::Status(404));
            let gone = is_deletion && (world.rival_deleted || lie);
            assert!(early == 1 || gone, "nothing was committed: {story}");
        }
        Mutation::Unknown => {
            let doubt = world.writes.iter().any(|write| !write.is_undone());
            assert!(doubt, "there is no doubt: {story}");
        }
    }
    let founded = match mutation {
        Mutation::NotAttempted => state == Mutation::NotAttempted,
        Mutation::NotCommitted => matches!(state, Mutation::NotCommitted | Mutation::Committed),
        Mutation::Committed => {
            // A move is true at both ends or at none: what is found there may belie the answer.
            let moved = world.writes.iter().any(|write| write.line.starts_with("MOVE"));
            state == Mutation::Committed || moved && state == Mutation::Unknown
        }
        Mutation::Unknown => state != Mutation::NotAttempted,
    };
    assert!(founded, "the machine knows something else: {story}");
    if let Err(failed) = outcome {
        let (code, message) = (failed.error.code, &failed.error.message);
        assert!(!world.is_honest(), "an honest server is refused: {story}");
        assert!(!message.contains(PASSWORD));
        let after = matches!(state, Mutation::Unknown | Mutation::Committed);
        assert!(!(after && code.retryable()), "it says to try again: {story}");
        assert_eq!(code == Code::Indeterminate, state == Mutation::Unknown, "{story}");
        let written = matches!(
            code,
            Code::CommittedButUnverified | Code::CommittedButConcurrencyUnavailable | Code::FidelityFailure
        );
        assert_eq!(written, state == Mutation::Committed, "{story}");
        let denies = message.contains("Nothing was") || message.contains("by this call");
        assert!(!(denies && after), "the message claims too much: {story}");
    }
    let over = world.now() > Moment(MAX_TIME);
    assert!(!over, "over budget: {:?} {story}", world.now());
    end
}

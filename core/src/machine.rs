//! The contract between a machine and its host: the whole of it.
//!
//! | question | answer |
//! |---|---|
//! | what a machine emits | [`Step::Send`] with an [`Exchange`]: an HTTP request, its effect, deadline and body limit |
//! | what it receives | a [`Reply`]: an HTTP response, or a [`Failure`] that says whether the request can have left |
//! | time | `now` on every [`Machine::step`]; a machine never asks |
//! | waiting | [`Step::Wait`]: a reply or that moment, whichever is first |
//! | several requests | `Send` may be returned again before any reply; ids tie replies to exchanges |
//! | large bodies | [`BodyLimit`], enforced by [`Intake`] so that no host writes that check |
//! | cancellation | [`Machine::cancel`]: ends reads at once; a write that left is heard out |
//! | unknown outcome | [`Machine::mutation`] answers at any time |
//! | progress | [`Machine::phase`] names what is being done; [`Observed`](crate::operation::Observed) tells its changes, on any host |
//!
//! **The drain rule.** After construction, `receive` or `cancel`, a host calls `step` until it returns
//! [`Step::Wait`] or [`Step::Done`], and only then waits.

use std::fmt;

use bytes::{Bytes, BytesMut};
use http::Response;
use http::response::Parts;

pub use crate::ledger::Mutation;
pub use crate::time::Moment;

/// Names one exchange of one machine. Never reused by that machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExchangeId(pub u32);

/// Whether the request can change the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Safe to repeat.
    Read,
    /// Must reach the server at most once.
    Write,
}

/// How much of the response body the host may hand back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyLimit {
    /// Close the response after its headers.
    HeadersOnly,
    /// Fail the exchange once the decoded body passes this many bytes.
    Bytes(usize),
}

/// One request that the host is asked to perform, exactly as given.
///
/// The host follows no redirect, repeats nothing and adds no header but those that frame the message. If the
/// response carries `Content-Encoding: gzip`, the host hands back the decoded body, counted by its [`Intake`]
/// after decoding, without that header and without `Content-Length`.
pub struct Exchange {
    /// Ties the reply to this exchange.
    pub id: ExchangeId,
    /// An absolute `http`, `https` or `file` URI, headers and the whole body.
    pub request: http::Request<Bytes>,
    /// A write must not travel on a connection that the server may already have closed.
    pub effect: Effect,
    /// When to give up, body included.
    pub deadline: Moment,
    /// How much body may come back.
    pub body: BodyLimit,
}

/// Shows what is asked, never a header, a path or a body.
impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange")
            .field("id", &self.id)
            .field("method", self.request.method())
            .field("effect", &self.effect)
            .finish_non_exhaustive()
    }
}

/// Whether any byte of the request can have reached the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The host knows that nothing was written.
    No,
    /// Anything else, including "cannot tell".
    Maybe,
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// No connection: name not found, refused, no route.
    Unreachable,
    /// No connection that can be trusted: certificate or TLS failure.
    Untrusted,
    /// The deadline passed.
    TimedOut,
    /// The connection broke or what came was not HTTP.
    Broken,
    /// The body passed its limit.
    TooLarge,
    /// The machine was canceled before an answer came.
    Canceled,
}

/// No usable response came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Whether the request can have reached the server.
    pub sent: Sent,
    /// Why there is no response.
    pub kind: FailureKind,
}

/// What became of an exchange.
pub type Reply = Result<Response<Bytes>, Failure>;

/// What a machine wants from its host now.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "a step lives for one match arm; a box would cost an allocation per exchange"
)]
pub enum Step<T> {
    /// Perform this exchange and hand its reply to [`Machine::receive`].
    Send(Exchange),
    /// The reply to this exchange is no longer wanted.
    Abort(ExchangeId),
    /// Nothing to do until a reply arrives or this moment passes.
    Wait(Option<Moment>),
    /// The result. The machine must not be stepped again.
    Done(T),
}

/// A piece of protocol that does no I/O. See the [module](self) for the contract.
#[must_use = "a machine does nothing until a host steps it"]
pub trait Machine {
    /// What the machine ends with.
    type Output;

    /// Advances as far as possible without I/O. `now` never goes back.
    fn step(&mut self, now: Moment) -> Step<Self::Output>;

    /// Hands in the reply to an exchange. A reply to an unknown or aborted exchange is ignored.
    fn receive(&mut self, id: ExchangeId, reply: Reply);

    /// Asks the machine to finish early. Once a write was emitted the machine still learns, within its own
    /// budget, what became of it.
    fn cancel(&mut self);

    /// What is known about the write if the machine were dropped right now.
    fn mutation(&self) -> Mutation;

    /// What is being done, in one fixed word that holds nothing of the account. No host needs it; people like to see
    /// it.
    fn phase(&self) -> &'static str {
        "work"
    }
}

/// Collects a response body under its limit, so that the check exists once.
#[derive(Debug)]
pub struct Intake {
    limit: BodyLimit,
    body: BytesMut,
}

impl Intake {
    /// An empty body under this limit.
    #[must_use]
    pub fn new(limit: BodyLimit) -> Self {
        Self {
            limit,
            body: BytesMut::new(),
        }
    }

    /// Makes room for a body whose length the response tells, within the limit. Only saves copies: what is said here is
    /// not trusted.
    pub fn expect(&mut self, length: u64) {
        if let BodyLimit::Bytes(limit) = self.limit {
            self.body.reserve(usize::try_from(length).unwrap_or(limit).min(limit));
        }
    }

    /// Whether the host should read the body at all.
    #[must_use]
    pub fn wants_body(&self) -> bool {
        self.limit != BodyLimit::HeadersOnly
    }

    /// Takes the next decoded piece of the body.
    ///
    /// # Errors
    /// [`FailureKind::TooLarge`] as soon as the limit is passed; the host drops the connection then.
    pub fn push(&mut self, chunk: &[u8]) -> Result<(), Failure> {
        match self.limit {
            BodyLimit::HeadersOnly => Ok(()),
            BodyLimit::Bytes(limit) if self.body.len() + chunk.len() > limit => Err(Failure {
                sent: Sent::Maybe,
                kind: FailureKind::TooLarge,
            }),
            BodyLimit::Bytes(_) => {
                self.body.extend_from_slice(chunk);
                Ok(())
            }
        }
    }

    /// The response, complete.
    #[must_use]
    pub fn finish(self, head: Parts) -> Response<Bytes> {
        Response::from_parts(head, self.body.freeze())
    }
}

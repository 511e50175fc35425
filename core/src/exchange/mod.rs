//! One request under the account's rules: signed for trusted origins only, redirected, and repeated where that is
//! safe.

use bytes::Bytes;
use http::{Request, Response, StatusCode};

use crate::account::Account;
use crate::env::Env;
use crate::flow::Io;
use crate::href::Href;
use crate::machine::{BodyLimit, Effect, Failure, FailureKind, Moment, Reply};
use crate::outcome::{Code, Dimension, Error, Limits, Outcome, Phase};

pub mod budget;
pub mod dispatch;
pub mod fault;
pub mod redirect;
pub mod retry;

use fault::Fault;
use redirect::Redirect;
use retry::{Retry, retry, retry_after};

/// How one request may travel.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Whether it changes the server.
    pub effect: Effect,
    /// How much may come back.
    pub body: BodyLimit,
    /// Whether a slow attempt is given up for another one after [`budget::ATTEMPT`].
    pub quick: bool,
}

impl Rules {
    /// A small listing.
    pub const LISTING: Self = Self {
        effect: Effect::Read,
        body: budget::LISTING,
        quick: true,
    };
    /// A report with calendar data: a large Calendar takes its time.
    pub const REPORT: Self = Self {
        effect: Effect::Read,
        body: budget::REPORT,
        quick: false,
    };
    /// A report without calendar data.
    pub const BRIEF_REPORT: Self = Self {
        effect: Effect::Read,
        body: budget::BRIEF_REPORT,
        quick: false,
    };
    /// A listing of all members.
    pub const INVENTORY: Self = Self {
        effect: Effect::Read,
        body: budget::INVENTORY,
        quick: false,
    };
    /// One resource.
    pub const RESOURCE: Self = Self {
        effect: Effect::Read,
        body: budget::RESOURCE,
        quick: true,
    };
    /// A write: it is not repeated, so it has all the time there is.
    pub const WRITE: Self = Self {
        effect: Effect::Write,
        body: budget::WRITE,
        quick: false,
    };
}

/// A final answer, and the URL that gave it.
#[derive(Debug)]
pub struct Answer {
    /// Where the last redirect led.
    pub url: Href,
    /// Any status but a redirect and 429.
    pub response: Response<Bytes>,
}

/// A flow's hands together with the account that it works for. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Channel<'a> {
    /// The flow's hands.
    pub io: Io,
    /// Whose rules apply.
    pub account: &'a Account,
    started: Moment,
    seed: u64,
}

impl<'a> Channel<'a> {
    /// Opens a channel for one reading operation with its whole budget.
    #[must_use]
    pub fn reading(io: &Io, account: &'a Account, env: &Env) -> Self {
        Self::opened(io, account, env, budget::READ)
    }

    fn opened(io: &Io, account: &'a Account, env: &Env, time: std::time::Duration) -> Self {
        let seed = env.seed.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        Self {
            io: io.until(env.now + time),
            account,
            started: env.now,
            seed,
        }
    }

    /// Performs one request.
    ///
    /// # Errors
    /// [`Fault`] where no final answer came.
    pub async fn send(&self, url: &Href, request: Request<Bytes>, rules: Rules) -> Result<Answer, Fault> {
        let mut url = url.clone();
        if !self.account.trusts(&url) {
            return Err(Fault::Untrusted(url.origin().to_string()));
        }
        let (mut hops, mut attempt) = (0, 1);
        loop {
            if let Some(wait) = self.account.paused(&url.origin(), self.io.now()) {
                return Err(Fault::RateLimited(Some(wait)));
            }
            let reply = self.attempt(&url, request.clone(), rules).await;
            if let Ok(response) = &reply {
                self.account.observe(&url, response);
            }
            if let Retry::After(pause) = retry(rules.effect, &reply, attempt, self.jitter(attempt)) {
                let resume = self.io.now() + pause;
                if resume < self.io.deadline() {
                    attempt += 1;
                    self.io.sleep_until(resume).await.map_err(Fault::Failure)?;
                    continue;
                }
            }
            let response = reply.map_err(|failure| Fault::of(failure, rules.body))?;
            if let Some(wait) = self.asked_to_wait(&url, &response) {
                return Err(wait);
            }
            match redirect::redirect(self.account, rules.effect, &url, &response, hops) {
                Redirect::Stop => return Ok(Answer { url, response }),
                Redirect::Refuse(refusal) => return Err(Fault::Redirect(refusal)),
                Redirect::Follow(target) => url = target,
            }
            hops += 1;
        }
    }

    async fn attempt(&self, url: &Href, mut request: Request<Bytes>, rules: Rules) -> Reply {
        *request.uri_mut() = url.to_uri();
        self.account.sign(url, &mut request);
        let io = if rules.quick {
            self.io.until(self.io.now() + budget::ATTEMPT)
        } else {
            self.io.clone()
        };
        io.send(request, rules.effect, rules.body).await
    }

    /// A server that wants to be left alone is: by this request and by those that follow.
    fn asked_to_wait(&self, url: &Href, response: &Response<Bytes>) -> Option<Fault> {
        let wait = retry_after(response.headers());
        let limited = match response.status() {
            StatusCode::TOO_MANY_REQUESTS => true,
            StatusCode::SERVICE_UNAVAILABLE => wait.is_some(),
            _ => false,
        };
        if let (true, Some(wait)) = (limited, wait) {
            self.account.pause(url.origin(), self.io.now(), wait);
        }
        limited.then_some(Fault::RateLimited(wait))
    }

    fn jitter(&self, attempt: u32) -> u64 {
        // SplitMix64 (public domain): spreads one seed over the attempts of one machine.
        let mut z = self
            .seed
            .wrapping_add(u64::from(attempt).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z ^ (z >> 27)
    }

    /// The error for a fault: the whole operation's own time limit is told as that.
    #[must_use]
    pub fn error(&self, fault: &Fault) -> Box<Error> {
        let timed_out = matches!(
            fault,
            Fault::Failure(Failure {
                kind: FailureKind::TimedOut,
                ..
            })
        );
        if timed_out && self.io.now() >= self.io.deadline() {
            self.out_of_time()
        } else {
            fault.error()
        }
    }

    /// Lets the host breathe between two pieces of heavy local work.
    ///
    /// # Errors
    /// If the operation has run out of time or was canceled.
    pub async fn breathe(&self) -> Outcome<()> {
        self.io
            .breathe()
            .await
            .map_err(|failure| self.error(&Fault::Failure(failure)))
    }

    fn out_of_time(&self) -> Box<Error> {
        let millis = |moment: Moment| u64::try_from(moment.since(self.started).as_millis()).unwrap_or(u64::MAX);
        let limits = Limits {
            dimension: Dimension::ElapsedTime,
            observed: millis(self.io.now()),
            limit: millis(self.io.deadline()),
        };
        Error::limit(
            Phase::Execution,
            limits,
            "The operation took longer than is allowed. Ask for less at a time.",
        )
    }
}

/// The error of an operation that was stopped because a bound of its own was reached.
#[must_use]
pub fn exhausted(
    dimension: Dimension,
    observed: usize,
    limit: usize,
    message: impl Into<std::borrow::Cow<'static, str>>,
) -> Box<Error> {
    let limits = Limits {
        dimension,
        observed: observed as u64,
        limit: limit as u64,
    };
    Error::limit(Phase::Execution, limits, message)
}

/// The error of an answer that is not CalDAV.
#[must_use]
pub fn protocol(message: impl Into<std::borrow::Cow<'static, str>>) -> Box<Error> {
    Error::new(Code::UpstreamProtocolError, Phase::Execution, message)
}

//! Runs machines of `kalends-core` on tokio: HTTP/1.1 and HTTP/2, in clear or over TLS.
//!
//! | question | answer |
//! |---|---|
//! | runtime | any tokio runtime with I/O and time; a current-thread one will do |
//! | cost at rest | nothing is opened, read or started before the first exchange; the platform's trust store is read with the first `https` exchange |
//! | connections | kept alive for reads; a write travels on a connection of its own |
//! | HTTP/2 | if the server chooses it by ALPN, so over TLS only |
//! | trust | the platform's certificate authorities, or those of `SSL_CERT_FILE` and `SSL_CERT_DIR` where set, and those of [`Options::ca_file`] |
//! | proxies | [`Options::proxy`]: HTTP proxies, by `CONNECT` |
//! | cookies, redirects, retries, credentials | none: they are the machine's business |
//!
//! **Never drop [`Tokio::run`] while a write may be open**, as `select!` and `timeout` do: its outcome would be
//! lost. Let `canceled` resolve, and await the outcome, which comes within the operation's own budget.

mod body;
mod connect;
mod options;

use std::collections::BTreeMap;
use std::fmt;
use std::future::{Future, pending, ready};
use std::panic::resume_unwind;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kalends_core::account::Account;
use kalends_core::env::Env;
use kalends_core::machine::{Effect, Exchange, ExchangeId, Failure, FailureKind, Intake, Machine, Reply, Sent, Step};
use kalends_core::operation::Operation;
use kalends_core::time::{Moment, Utc};
use tokio::task::{AbortHandle, JoinSet, yield_now};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::body::Incoming;
use crate::connect::{Connector, is_untrusted};
pub use crate::options::{Options, Proxy, SetupError};

/// How long a connection is kept for the next read. Servers close theirs after 5 to 75 seconds.
const IDLE: Duration = Duration::from_secs(30);
/// How many connections to one server are kept.
const IDLE_CONNECTIONS: usize = 8;

/// How long an HTTP/2 connection with open requests may be silent before it is asked whether it lives, and how long it
/// may take to answer. A dead one would otherwise be offered to every next read.
const PING: Duration = Duration::from_secs(10);

/// A host on tokio. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Tokio {
    start: Instant,
    connector: Connector,
    reads: Client<Connector, Full<Bytes>>,
}

impl fmt::Debug for Tokio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokio")
            .field("start", &self.start)
            .finish_non_exhaustive()
    }
}

impl Tokio {
    /// A host with these options. Opens nothing, and reads nothing but [`Options::ca_file`].
    ///
    /// # Errors
    /// If the certificate file or a proxy cannot be used.
    pub fn new(options: Options) -> Result<Self, SetupError> {
        let connector = Connector::new(&options)?;
        let reads = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .http2_keep_alive_interval(PING)
            .http2_keep_alive_timeout(PING)
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .build(connector.clone());
        Ok(Self {
            start: Instant::now(),
            connector,
            reads,
        })
    }

    /// This host's clock, counted from its construction.
    #[must_use]
    pub fn now(&self) -> Moment {
        Moment(self.start.elapsed())
    }

    /// Clock readings and fresh entropy for one machine.
    ///
    /// # Panics
    /// If the system has no entropy.
    #[must_use]
    pub fn env(&self) -> Env {
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).expect("the system provides entropy");
        Env {
            now: self.now(),
            utc: Utc(since_epoch.map_or(0, |since| since.as_millis() as i64)),
            seed,
        }
    }

    /// Runs an operation to its outcome. See [`Self::drive`].
    pub async fn run<O: Operation>(
        &self,
        operation: O,
        account: &Arc<Account>,
        canceled: impl Future<Output = ()>,
    ) -> O::Outcome {
        self.drive(operation.start(self.env(), account), canceled).await
    }

    /// Runs a machine to its end. It is told to finish early if `canceled` resolves, and still has the last word:
    /// await this future rather than drop it.
    pub async fn drive<M: Machine>(&self, mut machine: M, canceled: impl Future<Output = ()>) -> M::Output {
        let mut canceled = pin!(canceled);
        let mut heard = false;
        let mut flights: JoinSet<(ExchangeId, Reply)> = JoinSet::new();
        let mut aborts: BTreeMap<ExchangeId, AbortHandle> = BTreeMap::new();
        // Cancellation is heard before all else, here and below, so that nothing is sent after it.
        tokio::select! {
            biased;
            () = &mut canceled => {
                heard = true;
                machine.cancel();
            }
            () = ready(()) => {}
        }
        loop {
            let wake = match machine.step(self.now()) {
                Step::Send(exchange) => {
                    let (id, host) = (exchange.id, self.clone());
                    let flight = flights.spawn(async move { (id, host.perform(exchange).await) });
                    aborts.insert(id, flight);
                    continue;
                }
                Step::Abort(id) => {
                    if let Some(flight) = aborts.remove(&id) {
                        flight.abort();
                    }
                    continue;
                }
                Step::Wait(wake) => wake,
                Step::Done(output) => return output,
            };
            tokio::select! {
                biased;
                () = &mut canceled, if !heard => {
                    heard = true;
                    machine.cancel();
                }
                Some(landed) = flights.join_next() => match landed {
                    Ok((id, reply)) => {
                        aborts.remove(&id);
                        machine.receive(id, reply);
                    }
                    Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
                    Err(_aborted) => {}
                },
                () = self.alarm(wake) => {}
            }
        }
    }

    /// Waits until this moment. Lets other tasks run even if it has passed.
    async fn alarm(&self, wake: Option<Moment>) {
        yield_now().await;
        match wake.and_then(|moment| self.instant(moment)) {
            // A timer rounds up to whole milliseconds; a breath between two pieces of work must not cost one.
            Some(instant) if instant <= Instant::now() => {}
            Some(instant) => sleep_until(instant).await,
            None => pending().await,
        }
    }

    fn instant(&self, moment: Moment) -> Option<Instant> {
        self.start.checked_add(moment.0)
    }

    async fn perform(&self, exchange: Exchange) -> Reply {
        let deadline = self.instant(exchange.deadline);
        let late = |sent| {
            Err(Failure {
                sent,
                kind: FailureKind::TimedOut,
            })
        };
        // A timer rounds up, and this machine's servers are faster.
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return late(Sent::No);
        }
        let connected = Arc::new(AtomicBool::new(false));
        let (client, is_fresh) = match exchange.effect {
            Effect::Read => (self.reads.clone(), false),
            // A kept connection may be closed by the server just as the write leaves, which would make its outcome
            // unknown for nothing.
            Effect::Write => {
                let mut alone = Client::builder(TokioExecutor::new());
                alone.pool_max_idle_per_host(0).retry_canceled_requests(false);
                (alone.build(self.connector.noting(&connected)), true)
            }
        };
        let work = converse(client, exchange);
        let Some(deadline) = deadline else {
            return work.await;
        };
        timeout_at(deadline, work).await.unwrap_or_else(|_| {
            let unsent = is_fresh && !connected.load(Ordering::Acquire);
            late(if unsent { Sent::No } else { Sent::Maybe })
        })
    }
}

async fn converse(client: Client<Connector, Full<Bytes>>, exchange: Exchange) -> Reply {
    let intake = Intake::new(exchange.body);
    let wants_body = intake.wants_body();
    let response = client.request(exchange.request.map(Full::new)).await;
    let (head, mut wire) = response.map_err(|error| failure(&error))?.into_parts();
    let mut incoming = Incoming::new(head, intake);
    while wants_body && let Some(frame) = wire.frame().await {
        let broken = Failure {
            sent: Sent::Maybe,
            kind: FailureKind::Broken,
        };
        if let Ok(chunk) = frame.map_err(|_| broken)?.into_data() {
            incoming = incoming.push(&chunk)?;
        }
    }
    incoming.finish()
}

/// Only an error before there was a connection proves that nothing was sent.
fn failure(error: &Error) -> Failure {
    let (sent, kind) = if !error.is_connect() {
        (Sent::Maybe, FailureKind::Broken)
    } else if is_untrusted(error) {
        (Sent::No, FailureKind::Untrusted)
    } else {
        (Sent::No, FailureKind::Unreachable)
    };
    Failure { sent, kind }
}

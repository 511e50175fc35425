//! Runs machines of `kalends-core` on the calling thread: HTTP/1.1, in clear or over TLS, without an async runtime.
//!
//! | question | answer |
//! |---|---|
//! | runtime | none: every call blocks until the outcome is there |
//! | several requests | answered one after the other |
//! | cancellation | none from outside: every exchange has its deadline |
//! | cost at rest | nothing is opened or read before the first exchange; the platform's trust store is read with the first `https` exchange |
//! | connections | kept alive for reads; a write opens its own |
//! | trust | the platform's certificate authorities, or those of `SSL_CERT_FILE` and `SSL_CERT_DIR` where set, and those of [`Options::ca_file`] |
//! | proxies | [`Options::proxy`]: HTTP proxies, by `CONNECT` |
//! | a body without a length | ends where its connection ends, even if that was cut: the library does not tell |
//! | cookies, redirects, retries, credentials | none: they are the machine's business |

mod connect;
mod options;

use std::io::{self, Read};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use flate2::read::MultiGzDecoder;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, Request};
use kalends_core::account::Account;
use kalends_core::env::Env;
use kalends_core::machine::{Effect, Exchange, Failure, FailureKind, Intake, Machine, Reply, Sent, Step};
use kalends_core::operation::Operation;
use kalends_core::time::{Moment, Utc};
use ureq::Error;

use crate::connect::{Agents, Progress, is_untrusted};
pub use crate::options::{Options, Proxy, SetupError};

/// How long a connection is kept for the next read. Servers close theirs after 5 to 75 seconds.
const IDLE: Duration = Duration::from_secs(30);
/// How much of a body is read at once.
const CHUNK: usize = 16 * 1024;

/// A host on the calling thread. May be shared by several.
#[derive(Debug)]
pub struct Blocking {
    start: Instant,
    agents: Agents,
}

impl Blocking {
    /// A host with these options. Opens nothing, and reads nothing but [`Options::ca_file`].
    ///
    /// # Errors
    /// If the certificate file or a proxy cannot be used.
    pub fn new(options: Options) -> Result<Self, SetupError> {
        Ok(Self {
            start: Instant::now(),
            agents: Agents::new(&options)?,
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

    /// Runs an operation to its outcome.
    pub fn run<O: Operation>(&self, operation: O, account: &Arc<Account>) -> O::Outcome {
        self.drive(operation.start(self.env(), account))
    }

    /// Runs a machine to its end.
    pub fn drive<M: Machine>(&self, mut machine: M) -> M::Output {
        loop {
            match machine.step(self.now()) {
                Step::Send(exchange) => {
                    let id = exchange.id;
                    let reply = self.perform(exchange);
                    machine.receive(id, reply);
                }
                // Every exchange is answered before the next step: there is nothing left to abort.
                Step::Abort(_) => {}
                Step::Wait(wake) => {
                    let moment = wake.expect("with nothing in flight, a machine waits for a moment");
                    thread::sleep(moment.since(self.now()));
                }
                Step::Done(output) => return output,
            }
        }
    }

    fn perform(&self, exchange: Exchange) -> Reply {
        Progress::reset();
        let effect = exchange.effect;
        self.converse(exchange).map_err(|fault| match fault {
            Fault::Body(failure) => failure,
            Fault::Wire(error) => failure(&error, effect),
        })
    }

    fn converse(&self, exchange: Exchange) -> Result<http::Response<bytes::Bytes>, Fault> {
        let patience = (exchange.deadline != Moment::NEVER).then(|| exchange.deadline.since(self.now()));
        let (head, body) = exchange.request.into_parts();
        let agent = self.agents.of(&head.uri);
        // A kept connection may be closed by the server just as a write leaves, which would make its outcome unknown
        // for nothing.
        let max_idle_age = match exchange.effect {
            Effect::Read => IDLE,
            Effect::Write => Duration::ZERO,
        };
        let request = agent
            .configure_request(Request::from_parts(head, &*body))
            .timeout_global(patience)
            .max_idle_age(max_idle_age)
            .build();
        let (mut head, body) = agent.run(request)?.into_parts();
        let mut intake = Intake::new(exchange.body);
        intake.expect(body.content_length().unwrap_or(0));
        let is_gzip = take_gzip(&mut head.headers);
        if intake.wants_body() {
            let wire = body.into_reader();
            if is_gzip {
                read_gzip(wire, &mut intake)?;
            } else {
                read_all(wire, &mut intake)?;
            }
        }
        Ok(intake.finish(head))
    }
}

/// Why there is no response: what the intake said, or what the library said.
enum Fault {
    Body(Failure),
    Wire(Error),
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        Self::Body(failure)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Wire(error)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Wire(error.into())
    }
}

fn read_all(mut body: impl Read, intake: &mut Intake) -> Result<(), Fault> {
    let mut chunk = [0; CHUNK];
    loop {
        match body.read(&mut chunk)? {
            0 => return Ok(()),
            read => intake.push(&chunk[..read])?,
        }
    }
}

/// A body that is not there (204, 304, an answer to HEAD) is no broken gzip.
fn read_gzip(mut wire: impl Read, intake: &mut Intake) -> Result<(), Fault> {
    let mut first = [0];
    if wire.read(&mut first)? == 0 {
        return Ok(());
    }
    read_all(MultiGzDecoder::new(first.as_slice().chain(wire)), intake)
}

/// Whether the body is `gzip` (RFC 9110, 8.4.1.3). If so, the headers stop describing its coded form.
fn take_gzip(headers: &mut HeaderMap) -> bool {
    let coding = headers.get(CONTENT_ENCODING).map(|value| value.as_bytes().trim_ascii());
    let is_gzip = coding.is_some_and(|name| name.eq_ignore_ascii_case(b"gzip") || name.eq_ignore_ascii_case(b"x-gzip"));
    if is_gzip {
        headers.remove(CONTENT_ENCODING);
        headers.remove(CONTENT_LENGTH);
    }
    is_gzip
}

/// Only an error before there was a connection proves that nothing was sent.
fn failure(error: &Error, effect: Effect) -> Failure {
    let progress = Progress::get();
    let is_refused = matches!(error, Error::BadUri(_));
    // A write never uses a kept connection, so without a new one it has not left.
    let is_unsent_write = effect == Effect::Write && !progress.is_connected;
    let unsent = progress.failed_to_connect() || is_refused || is_unsent_write;
    let kind = if matches!(error, Error::Timeout(_)) || is_timeout(error) {
        FailureKind::TimedOut
    } else if !unsent {
        FailureKind::Broken
    } else if is_untrusted(error) {
        FailureKind::Untrusted
    } else {
        FailureKind::Unreachable
    };
    Failure {
        sent: if unsent { Sent::No } else { Sent::Maybe },
        kind,
    }
}

/// Whether the library's timeout is inside an I/O error, as it is where a TLS handshake or a decoder was reading.
fn is_timeout(error: &Error) -> bool {
    let Error::Io(error) = error else { return false };
    error.kind() == io::ErrorKind::TimedOut
}

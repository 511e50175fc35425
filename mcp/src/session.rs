//! One account and what is kept between calls; the way of a call from its arguments to its answer.
//!
//! A call passes, in this order: size, admission, flaws of the raw text, the advertised schema, the tool.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kalends_core::account::Account;
use kalends_core::exchange::fault::Fault;
use kalends_core::machine::{Failure, FailureKind, Sent};
use kalends_core::outcome::{Code, Dimension, Error, Limits, Outcome, Phase};
use kalends_core::query::checkpoint::Checkpoints;
use kalends_core::query::cursor::Cursors;
use kalends_core::query::snapshot::Snapshots;
use kalends_tokio::Options;
use serde_json::Value;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::sleep;

use crate::caller::{self, Caller};
use crate::catalog::{Kind, Naming, ToolSpec};
use crate::config::Config;
use crate::engine::Engine;
use crate::json::Flaw;
use crate::output::{self, Broken, Promise};
use crate::schema;
use crate::tool::compact::Detail;
use crate::tool::query::Held;
use crate::tool::{
    Shown, calendar_entities_query, calendar_occurrences_query, calendar_resources_changes, calendar_resources_get,
    calendars_free_busy, calendars_inspect, calendars_list, todos_query,
};

/// The largest arguments, in bytes of their JSON text with its envelope.
const MAX_ARGUMENTS: usize = 256 << 10;
/// The largest result, in bytes of its JSON text.
const MAX_RESULT: usize = 4 << 20;
/// Calls at work at a time.
const AT_WORK: usize = 4;
/// Calls that may wait for their turn.
const QUEUE: usize = 16;
/// How long a call waits for its turn, and what `busy` asks the caller to wait.
const TURN: Duration = Duration::from_secs(2);

/// One call of one tool.
pub(crate) struct Call {
    pub(crate) spec: &'static ToolSpec,
    pub(crate) arguments: Value,
    /// Flaws of the raw arguments, with their pointers.
    pub(crate) flaws: Vec<(String, Flaw)>,
    /// Length of the line that the call came in.
    pub(crate) octets: usize,
}

/// What a call is answered with.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) is_error: bool,
    /// The same JSON as `structured`, or a sentence if there is none.
    pub(crate) text: String,
    pub(crate) structured: Option<Value>,
}

impl Answer {
    /// The call failed in a way that it should not be able to.
    pub(crate) fn broken() -> Self {
        Self {
            is_error: true,
            text: "The server failed in an unexpected way on this call. Nothing was changed. Other calls are not affected.".into(),
            structured: None,
        }
    }

    /// The same, unless it is not what the tool promises: then it does not leave.
    fn guarded(self, promise: &Promise, detail: Detail) -> Self {
        let checked = self
            .structured
            .as_ref()
            .map_or(Ok(()), |value| promise.check(value, detail));
        match checked {
            Ok(()) => self,
            Err(Broken::Read(pointer)) => {
                let broken = Self::broken();
                Self {
                    text: format!("{} What was wrong is at {pointer:?} of its result.", broken.text),
                    ..broken
                }
            }
            Err(Broken::Change(error)) => Self {
                is_error: true,
                text: error.to_string(),
                structured: Some(error),
            },
        }
    }

    fn new(outcome: Outcome<Value>) -> Self {
        match outcome {
            Ok(value) => {
                let text = written(&value);
                if text.len() > MAX_RESULT {
                    return Self::new(Err(too_large(text.len())));
                }
                Self {
                    is_error: false,
                    text,
                    structured: Some(value),
                }
            }
            Err(error) => match serde_json::to_value(&error) {
                Ok(value) => Self {
                    is_error: true,
                    text: written(&value),
                    structured: Some(value),
                },
                Err(_) => Self::broken(),
            },
        }
    }
}

/// One account with its host, cursors and snapshots.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) account: Arc<Account>,
    pub(crate) engine: Engine,
    pub(crate) evaluation_zone: Option<String>,
    pub(crate) cursors: Cursors,
    snapshots: Mutex<Snapshots<Held>>,
    checkpoints: Mutex<Checkpoints>,
    naming: Naming,
    turns: Semaphore,
    waiting: AtomicUsize,
}

impl Session {
    /// A session for this configuration. Contacts nothing.
    ///
    /// # Errors
    /// The variable to blame, and why.
    pub(crate) fn new(config: Config) -> Result<Self, (&'static str, String)> {
        let options = Options {
            ca_file: config.ca_file,
            ..Options::from_env()
        };
        let engine = Engine::new(&config.account.url, options)?;
        let unsendable = |_| ("CALDAV_PASSWORD", "cannot be sent in a header".to_owned());
        let header = config.account.credential.header().map_err(unsendable)?;
        // `Debug` of the settings holds everything but the secret, the header holds that.
        let mut binding = format!("{:?}\n{:?}\n", config.account, config.evaluation_zone).into_bytes();
        binding.extend_from_slice(header.as_ref().map_or(&[], |value| value.as_bytes()));
        let cursors = Cursors::new(engine.env().seed, &binding);
        let account = Account::new(config.account).map_err(unsendable)?;
        Ok(Self {
            account,
            engine,
            evaluation_zone: config.evaluation_zone,
            cursors,
            snapshots: Mutex::default(),
            checkpoints: Mutex::default(),
            naming: config.naming,
            turns: Semaphore::new(AT_WORK),
            waiting: AtomicUsize::new(0),
        })
    }

    pub(crate) fn naming(&self) -> Naming {
        self.naming
    }

    /// The results that are kept for paging.
    pub(crate) fn snapshots<T>(&self, run: impl FnOnce(&mut Snapshots<Held>) -> T) -> T {
        run(&mut self.snapshots.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The states that changes can be asked from.
    pub(crate) fn checkpoints<T>(&self, run: impl FnOnce(&mut Checkpoints) -> T) -> T {
        run(&mut self.checkpoints.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Answers one call.
    pub(crate) async fn answer(self: Arc<Self>, call: Call, caller: Caller) -> Answer {
        let promise = output::promise(call.spec.kind);
        let outcome = self.perform(call, caller).await;
        let detail = outcome.as_ref().map_or(Detail::Full, |shown| shown.detail);
        Answer::new(outcome.map(|shown| shown.value)).guarded(&promise, detail)
    }

    async fn perform(&self, call: Call, mut caller: Caller) -> Outcome<Shown> {
        if call.octets > MAX_ARGUMENTS {
            return Err(too_large(call.octets));
        }
        let _turn = self.turn(&mut caller).await?;
        let mut violations: Vec<_> = call.flaws.iter().map(flaw).collect();
        if violations.is_empty() {
            violations = schema::check(&call.spec.input, &call.arguments);
        }
        if !violations.is_empty() {
            return Err(Error::violations(Phase::SchemaLexicalDiscriminator, violations));
        }
        match call.spec.kind {
            Kind::CalendarsList => calendars_list::call(self, caller).await.map(Shown::from),
            Kind::EntitiesQuery => calendar_entities_query::call(self, &call.arguments, caller).await,
            Kind::TodosQuery => todos_query::call(self, &call.arguments, caller).await,
            Kind::OccurrencesQuery => calendar_occurrences_query::call(self, &call.arguments, caller).await,
            Kind::ResourcesGet => calendar_resources_get::call(self, &call.arguments, caller).await,
            Kind::CalendarsInspect => calendars_inspect::call(self, &call.arguments, caller)
                .await
                .map(Shown::from),
            Kind::ResourcesChanges => calendar_resources_changes::call(self, &call.arguments, caller)
                .await
                .map(Shown::from),
            Kind::FreeBusy => calendars_free_busy::call(self, &call.arguments, caller)
                .await
                .map(Shown::from),
        }
    }

    /// Waits for one of the places at work: whoever came first has the first that is free. A call that is taken back
    /// leaves the queue.
    async fn turn(&self, caller: &mut Caller) -> Outcome<SemaphorePermit<'_>> {
        if let Ok(turn) = self.turns.try_acquire() {
            return Ok(turn);
        }
        let _waiting = Waiting::enter(&self.waiting).ok_or_else(busy)?;
        caller.phase.send_replace(caller::QUEUE);
        let canceled = Failure {
            sent: Sent::No,
            kind: FailureKind::Canceled,
        };
        tokio::select! {
            biased;
            () = &mut caller.canceled => Err(Fault::Failure(canceled).error()),
            turn = self.turns.acquire() => turn.map_err(|_| busy()),
            () = sleep(TURN) => Err(busy()),
        }
    }
}

/// A place in the queue.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn enter(count: &'a AtomicUsize) -> Option<Self> {
        let place = Self(count);
        (count.fetch_add(1, Ordering::AcqRel) < QUEUE).then_some(place)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The JSON of a value. `Display` of a value takes twice as long.
fn written(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn busy() -> Box<Error> {
    let text = "Too many calls are at work. Wait for their answers, then send this call again.";
    let mut error = Error::new(Code::Busy, Phase::AdmissionAndPayload, text);
    error.retry_after = Some(TURN);
    error
}

fn too_large(octets: usize) -> Box<Error> {
    let (limit, text) = if octets > MAX_RESULT {
        (
            MAX_RESULT,
            "The result is too large for one answer. Ask for a smaller pageSize, a smaller window, or detail compact.",
        )
    } else {
        (MAX_ARGUMENTS, "The arguments are too large. Send less at a time.")
    };
    let mut error = Error::new(Code::PayloadTooLarge, Phase::AdmissionAndPayload, text);
    error.limits = Some(Limits {
        dimension: Dimension::ByteCount,
        observed: octets as u64,
        limit: limit as u64,
    });
    error
}

fn flaw((pointer, flaw): &(String, Flaw)) -> kalends_core::outcome::Violation {
    match flaw {
        Flaw::DuplicateMember => schema::violation(pointer, "duplicate_member", "Send this member once."),
        Flaw::InvalidUnicode => schema::violation(
            pointer,
            "invalid_unicode",
            "Send valid Unicode text (UTF-8, no lone surrogates).",
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_of_another_shape_does_not_leave() {
        let promise = output::promise(Kind::CalendarsList);
        let pagination = json!({"mode": "non_snapshot", "nextCursor": null});
        let good = json!({"outcome": "success", "items": [], "diagnostics": [], "pagination": pagination});
        for (planted, leaves) in [
            (good, true),
            (json!({"outcome": "success", "items": {}}), false),
            (json!({"outcome": "success", "secret": 1}), false),
            (json!({"outcome": "perhaps"}), false),
        ] {
            let answer = Answer::new(Ok(planted.clone())).guarded(&promise, Detail::Full);
            assert_eq!(answer.structured.is_some(), leaves, "{planted}");
            assert_eq!(answer.is_error, !leaves);
            assert!(leaves || !answer.text.contains("secret"));
        }
        let refused = Answer::new(Err(busy())).guarded(&promise, Detail::Full);
        assert!(refused.structured.is_some());
    }

    #[test]
    fn a_result_is_bounded() {
        let answer = Answer::new(Ok(json!({"items": "x".repeat(MAX_RESULT)})));
        let error = answer.structured.expect("a typed error");
        assert_eq!(
            (&error["code"], &error["limits"]["limit"]),
            (&json!("payload_too_large"), &json!(MAX_RESULT))
        );
    }

    #[test]
    fn the_queue_has_so_many_places() {
        let count = AtomicUsize::new(0);
        let places: Vec<_> = (0..QUEUE).map_while(|_| Waiting::enter(&count)).collect();
        assert_eq!(places.len(), QUEUE);
        assert!(Waiting::enter(&count).is_none());
        drop(places);
        assert!(Waiting::enter(&count).is_some());
    }
}

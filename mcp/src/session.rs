//! One account and what is kept between calls; the way of a call from its arguments to its answer.
//!
//! A call passes, in this order: size, admission, flaws of the raw text, the advertised schema, the tool.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use kalends_core::account::Account;
use kalends_core::change::{Consent, Failed};
use kalends_core::confirmation::{self, Confirmations, LIFETIME};
use kalends_core::exchange::fault::Fault;
use kalends_core::machine::{Failure, FailureKind, Mutation, Sent};
use kalends_core::outcome::{Code, Dimension, Error, Limits, Outcome, Phase};
use kalends_core::query::checkpoint::Checkpoints;
use kalends_core::query::cursor::Cursors;
use kalends_core::query::snapshot::Snapshots;
use kalends_tokio::Options;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::sleep;

use crate::caller::{self, Asking, Caller, Callers, Question, Said};
use crate::catalog::{Kind, Naming, ToolSpec};
use crate::config::Config;
use crate::confirm::{self, Policy, Verdict};
use crate::engine::Engine;
use crate::exact_link::ExactLink;
use crate::json::Flaw;
use crate::output::{self, Broken, Promise};
use crate::schema;
use crate::tool::change::{Ended, Plan, failure, untouched};
use crate::tool::compact::Detail;
use crate::tool::query::Held;
use crate::tool::{
    Shown, calendar_entities_query, calendar_occurrences_query, calendar_resources_changes,
    calendar_resources_exact_get, calendar_resources_get, calendars_free_busy, calendars_inspect, calendars_list,
    todos_query,
};

/// The largest arguments, in bytes of their JSON text with its envelope.
pub(crate) const MAX_ARGUMENTS: usize = 256 << 10;
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

/// How a call of a tool that changes something goes on.
#[derive(Debug)]
pub(crate) enum Reply {
    /// It is over.
    Answer(Answer),
    /// The same call has to come again with an answer to this, and with this state.
    Ask(Question, String),
    /// The client cannot ask its user, and has to be able to.
    FormsRequired,
}

impl Answer {
    /// A change failed in a way that it should not be able to.
    pub(crate) fn lost() -> Self {
        let text = "The server failed in an unexpected way on this change. Read the resource to see what became of it; do not send the change again before that. Other calls are not affected.";
        let phase = Phase::PostWriteVerificationOrReconciliation;
        Self::failed(&Failed::with(
            Error::new(Code::Indeterminate, phase, text),
            Mutation::Unknown,
        ))
    }

    /// A change that failed.
    fn failed(failed: &Failed) -> Self {
        Self::undone(serde_json::to_value(failed))
    }

    /// A change that failed. Without the current state where that is too large to be shown.
    fn undone(failure: serde_json::Result<Value>) -> Self {
        let Ok(mut value) = failure else {
            return Self::lost();
        };
        let answer = Self::error(value.clone());
        if answer.text.len() <= MAX_RESULT {
            return answer;
        }
        if let Some(members) = value.as_object_mut() {
            members.remove("currentSnapshot");
        }
        Self::error(value)
    }

    fn error(value: Value) -> Self {
        Self {
            is_error: true,
            text: written(&value),
            structured: Some(value),
        }
    }

    /// A change that ended well, which stays so when its result cannot be shown.
    fn changed(value: Value) -> Self {
        let text = written(&value);
        if text.len() > MAX_RESULT {
            let state = if value["mutationState"] == "committed" {
                Mutation::Committed
            } else {
                Mutation::NotAttempted
            };
            let mut error = too_large(text.len());
            error.message = "It was done, and the resource is too large to be shown. Read it with detail compact, or open it with another calendar program.".into();
            return Self::failed(&Failed::with(error, state));
        }
        Self {
            is_error: false,
            text,
            structured: Some(value),
        }
    }

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
                Ok(value) => Self::error(value),
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
    /// Whether the exact tools and their links are there.
    pub(crate) exact: bool,
    policy: Policy,
    two_step: bool,
    confirmations: Mutex<Confirmations>,
    turns: Semaphore,
    /// One change at a time.
    changes: Semaphore,
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
        let confirmations = Mutex::new(Confirmations::new(engine.env().seed, &binding));
        let account = Account::new(config.account).map_err(unsendable)?;
        Ok(Self {
            account,
            engine,
            evaluation_zone: config.evaluation_zone,
            cursors,
            snapshots: Mutex::default(),
            checkpoints: Mutex::default(),
            naming: config.naming,
            exact: config.exact,
            policy: config.policy,
            two_step: config.two_step,
            confirmations,
            turns: Semaphore::new(AT_WORK),
            changes: Semaphore::new(1),
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

    fn confirmations<T>(&self, run: impl FnOnce(&mut Confirmations) -> T) -> T {
        run(&mut self.confirmations.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether a tool takes a `confirmationToken`.
    pub(crate) fn takes_token(&self, kind: Kind) -> bool {
        self.two_step && kind.may_ask()
    }

    /// Waits until no change is at work.
    pub(crate) async fn settled(&self) {
        // An error would mean that nobody can change anything any more.
        let _ = self.changes.acquire().await;
    }

    /// Answers one call of a tool that changes something.
    pub(crate) async fn change(self: Arc<Self>, mut call: Call, callers: Callers, asking: Asking) -> Reply {
        let promise = output::promise(call.spec.kind);
        let detail = Detail::of(&call.arguments);
        let ended = self.changed(&mut call, &callers, asking, detail).await;
        Reply::Answer(match ended {
            Ok(Settled::Result(value)) => Answer::changed(value).guarded(&promise, detail),
            Ok(Settled::Error(value)) => Answer::error(value).guarded(&promise, Detail::Full),
            Ok(Settled::Ask(question, state)) => return Reply::Ask(question, state),
            Ok(Settled::FormsRequired) => return Reply::FormsRequired,
            Err(failed) => Answer::undone(failure(call.spec.kind, &failed)).guarded(&promise, Detail::Full),
        })
    }

    async fn changed(
        &self,
        call: &mut Call,
        callers: &Callers,
        asking: Asking,
        detail: Detail,
    ) -> Result<Settled, Box<Failed>> {
        let kind = call.spec.kind;
        if call.octets > kind.max_arguments() {
            return Err(Failed::before(too_large(call.octets)));
        }
        // Before the arguments are looked at: a client without forms learns nothing else by trying.
        let speechless = matches!(asking, Asking::Again { forms: false, .. }) && !self.two_step;
        if speechless && kind.always_asks().is_some_and(|ask| self.policy.demands(ask)) {
            return Ok(Settled::FormsRequired);
        }
        let turn = self.turn(&mut callers(), true, TURN).await.map_err(Failed::before)?;
        let token = self.token(call).map_err(Failed::before)?;
        self.flaws(call).map_err(Failed::before)?;
        let plan = Plan::read(kind, &call.arguments).map_err(Failed::before)?;
        let run = async |consent| plan.run(self, callers(), consent, detail).await;
        let Some(ask) = plan.ask().filter(|ask| self.policy.demands(*ask)) else {
            let spared = plan.ask().is_some();
            return match run(Consent::NotNeeded).await {
                Ok(Ended::Done(value)) => Ok(Settled::Result(spare(value, spared))),
                Ok(Ended::Review(_)) => unreachable!("nobody has to agree"),
                Err(failed) if spared => match failure(kind, &failed) {
                    Ok(value) => Ok(Settled::Error(spare(value, true))),
                    Err(_) => Err(failed),
                },
                Err(failed) => Err(failed),
            };
        };
        if speechless {
            return Ok(Settled::FormsRequired);
        }
        if matches!(asking, Asking::Never) && !self.two_step {
            return Err(Failed::before(confirm::unavailable()));
        }
        let (tool, arguments) = (call.spec.name(Naming::Dotted), written(&call.arguments));
        let now = self.engine.now();
        // What was answered, where an answer came along. A token counts only where no form can be shown, and never in the
        // place of a state or the reverse: each is sealed for its way.
        let forms = !matches!(asking, Asking::Again { forms: false, .. } | Asking::Never);
        let tool = format!("{} {tool}", if forms { "form" } else { "token" });
        let sealed = match &asking {
            Asking::Again {
                forms: true,
                state: Some(state),
                responses,
            } if !responses.is_null() => Some((state.clone(), Some(responses.clone()))),
            Asking::Again { .. } | Asking::Meanwhile(_) | Asking::Never => {
                token.filter(|_| !forms).map(|token| (token, None))
            }
        };
        let consent = match sealed {
            None => Consent::Ask,
            Some((text, responses)) => {
                let question = self.confirmations(|all| all.open(&tool, &arguments, &text, now));
                let question = question.map_err(Failed::before)?;
                let verdict = match responses {
                    Some(responses) => confirm::answered(ask, &responses).map_err(Failed::before)?,
                    None => Verdict::Confirmed,
                };
                self.confirmations(|all| all.use_up(&question, now))
                    .map_err(Failed::before)?;
                if verdict == Verdict::Declined {
                    return Ok(Settled::Result(untouched("confirmation_declined")));
                }
                Consent::Given(question.review)
            }
        };
        let review = match run(consent).await? {
            Ended::Done(value) => return Ok(Settled::Result(value)),
            Ended::Review(review) => review,
        };
        let question = Question {
            key: ask.key(),
            message: ask.message(&review).map_err(Failed::before)?,
            schema: ask.schema(),
        };
        let reviewed = self.engine.now();
        let seal = || {
            let entropy = self.engine.env().seed;
            self.confirmations(|all| all.seal(&tool, &arguments, review.digest, reviewed, entropy))
        };
        match asking {
            Asking::Again { forms: true, .. } => Ok(Settled::Ask(question, seal())),
            Asking::Meanwhile(form) => {
                // A person takes as long as they take.
                drop(turn);
                callers().phase.send_replace(caller::CONFIRMATION);
                let (action, content) = match form(question).await {
                    Said::Answer(action, content) => (action, content),
                    Said::Refused => return Err(Failed::before(confirm::unavailable())),
                    Said::Nothing => return Err(Failed::before(gone_away())),
                };
                let thought = self.engine.now().since(reviewed);
                if thought >= LIFETIME {
                    return Err(Failed::before(confirmation::expired()));
                }
                match confirm::judge(&action, content.as_ref()).map_err(Failed::before)? {
                    Verdict::Declined => Ok(Settled::Result(untouched("confirmation_declined"))),
                    Verdict::Confirmed => {
                        // Their answer is not thrown away because somebody else is at work.
                        let turn = self.turn(&mut callers(), true, LIFETIME - thought).await;
                        let _turn = turn.map_err(Failed::before)?;
                        match run(Consent::Given(review.digest)).await? {
                            Ended::Done(value) => Ok(Settled::Result(value)),
                            Ended::Review(_) => unreachable!("somebody has agreed"),
                        }
                    }
                }
            }
            Asking::Again { forms: false, .. } | Asking::Never => Ok(Settled::Error(self.question(&question, seal()))),
        }
    }

    /// The error that a client without forms gets instead of a form.
    fn question(&self, question: &Question, token: String) -> Value {
        let utc = kalends_core::time::Utc(self.engine.env().utc.0 + LIFETIME.as_millis() as i64);
        json!({
            "code": "confirmation_required",
            "category": "confirmation",
            "phase": "mrtr",
            "message": "Show the review to the user, word by word, and ask. Only if they agree send the same call again with confirmationToken. Nothing was changed.",
            "retryable": false,
            "mutationState": "not_attempted",
            "confirmation": {"token": token, "expiresAt": utc.timestamp().to_string(), "review": question.message}
        })
    }

    /// Takes the token of the two-step path out of the arguments.
    fn token(&self, call: &mut Call) -> Outcome<Option<String>> {
        if !self.takes_token(call.spec.kind) {
            return Ok(None);
        }
        let taken = call.arguments.as_object_mut().and_then(|members| members.remove(TOKEN));
        match taken {
            None => Ok(None),
            Some(Value::String(token)) => Ok(Some(token)),
            Some(_) => Err(confirmation::mismatch()),
        }
    }

    /// What is wrong with the text of a call, and with its shape.
    fn flaws(&self, call: &Call) -> Outcome<()> {
        let mut violations: Vec<_> = call.flaws.iter().map(flaw).collect();
        if violations.is_empty() {
            violations = schema::check(&call.spec.input, &call.arguments);
        }
        if violations.is_empty() {
            return Ok(());
        }
        Err(Error::violations(Phase::SchemaLexicalDiscriminator, violations))
    }

    /// Reads the octets that a link names.
    ///
    /// # Errors
    /// Those of reading; `invalid_input` if it is no link.
    pub(crate) async fn read_exact(self: Arc<Self>, uri: String, mut caller: Caller) -> Outcome<Bytes> {
        let link = ExactLink::parse(&uri).ok_or_else(|| {
            let text = "This is no link that calendar_resources_exact_get has given.";
            Error::new(Code::InvalidInput, Phase::OriginScopeAuthorization, text)
        })?;
        let _turn = self.turn(&mut caller, false, TURN).await?;
        link.read(&self, caller).await
    }

    /// Answers one call of a tool that reads.
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
        let _turn = self.turn(&mut caller, false, TURN).await?;
        self.flaws(&call)?;
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
            Kind::ExactGet => calendar_resources_exact_get::call(self, &call.arguments, caller)
                .await
                .map(Shown::from),
            Kind::EventsCreate
            | Kind::EventsPatch
            | Kind::TodosCreate
            | Kind::TodosPatch
            | Kind::TodosComplete
            | Kind::OccurrencesAdd
            | Kind::OccurrencesExclude
            | Kind::OccurrencesRestoreExclusion
            | Kind::OccurrencesCancel
            | Kind::OccurrencesRestoreCancellation
            | Kind::ResourcesMove
            | Kind::ResourcesDelete
            | Kind::ExactCreate
            | Kind::ExactReplace
            | Kind::ExactMove
            | Kind::CalendarsCreate
            | Kind::CalendarsPatch
            | Kind::CalendarsDelete => unreachable!("a tool that changes something does not read"),
        }
    }

    /// Waits for one of the places at work: whoever came first has the first that is free. A call that is taken back
    /// leaves the queue. A change waits for the one before it, too.
    async fn turn(&self, caller: &mut Caller, changes: bool, patience: Duration) -> Outcome<Turn<'_>> {
        let at_once = || {
            let change = if changes {
                Some(self.changes.try_acquire().ok()?)
            } else {
                None
            };
            Some((change, self.turns.try_acquire().ok()?))
        };
        if let Some(turn) = at_once() {
            return Ok(turn);
        }
        let in_turn = async {
            let change = if changes {
                Some(self.changes.acquire().await.ok()?)
            } else {
                None
            };
            Some((change, self.turns.acquire().await.ok()?))
        };
        let _waiting = Waiting::enter(&self.waiting).ok_or_else(busy)?;
        caller.phase.send_replace(caller::QUEUE);
        let canceled = Failure {
            sent: Sent::No,
            kind: FailureKind::Canceled,
        };
        tokio::select! {
            biased;
            () = &mut caller.canceled => Err(Fault::Failure(canceled).error()),
            turn = in_turn => turn.ok_or_else(busy),
            () = sleep(patience) => Err(busy()),
        }
    }
}

/// Places at work: the one of changes, and one of all.
type Turn<'a> = (Option<SemaphorePermit<'a>>, SemaphorePermit<'a>);

/// How far a call came that changes something, short of failing.
enum Settled {
    /// It is over.
    Result(Value),
    /// It is over, as an error.
    Error(Value),
    /// It needs an answer.
    Ask(Question, String),
    /// It needs a client with forms.
    FormsRequired,
}

/// The member of the two-step path.
pub(crate) const TOKEN: &str = "confirmationToken";

/// Says that nobody was asked, where something was or may have been changed.
fn spare(mut value: Value, spared: bool) -> Value {
    let changed = matches!(value["mutationState"].as_str(), Some("committed" | "unknown"));
    if spared && changed {
        value["confirmation"] = json!("skipped_by_policy");
    }
    value
}

/// Whoever was asked is not there any more.
fn gone_away() -> Box<Error> {
    Error::new(
        Code::ConfirmationMismatch,
        Phase::Mrtr,
        "No answer came to the confirmation. Nothing was changed.",
    )
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

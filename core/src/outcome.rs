//! How an operation ends: a value, or an [`Error`] with a code, a phase and what to do about it.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Serialize, Serializer};

/// The result of an operation. The error is boxed: it is rare and large.
pub type Outcome<T> = Result<T, Box<Error>>;

/// What went wrong, as a closed set of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// An argument is wrong; the violations say which.
    InvalidInput,
    /// Calendar data that was given is not valid iCalendar.
    InvalidCalendarData,
    /// What was asked for is not there.
    NotFound,
    /// A name fits several Calendars; the candidates say which.
    Ambiguous,
    /// The href lies outside the configured scope or origin.
    OutsideScope,
    /// An Event was asked for and a To-do found, or the reverse.
    EntityKindMismatch,
    /// The server or the client lacks a needed capability.
    UnsupportedCapability,
    /// The resource cannot be projected and so not be edited.
    OpaqueResource,
    /// A time needs a zone that cannot be resolved.
    TemporalUnresolved,
    /// A recurrence rule cannot be evaluated.
    RecurrenceUnevaluable,
    /// The resource has changed, or exists already.
    Conflict,
    /// The destination is occupied.
    DestinationConflict,
    /// The resource has no strong Entity Tag.
    ConcurrencyUnavailable,
    /// The completion state of a To-do is contradictory.
    CompletionStateConflict,
    /// A bound was reached; the limits say which.
    LimitExhausted,
    /// An argument or result is too large.
    PayloadTooLarge,
    /// Too much is in progress; try again.
    Busy,
    /// The server refused the credentials (401).
    UpstreamUnauthorized,
    /// The server refused the access (403).
    UpstreamForbidden,
    /// The server asks to slow down (429).
    UpstreamRateLimited,
    /// The server cannot be reached or does not work.
    UpstreamUnavailable,
    /// The server's answer is no valid CalDAV.
    UpstreamProtocolError,
    /// The confirmation came too late.
    ConfirmationExpired,
    /// The confirmation does not belong to this call.
    ConfirmationMismatch,
    /// The cursor's snapshot is gone.
    CursorExpired,
    /// The sync checkpoint is no longer valid.
    SyncResetRequired,
    /// The write was stored differently.
    FidelityFailure,
    /// The write was stored, and could not be read back.
    CommittedButUnverified,
    /// The write was stored, and has no strong Entity Tag.
    CommittedButConcurrencyUnavailable,
    /// Nothing proves what became of the write.
    Indeterminate,
}

/// The group of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Category {
    /// The caller's arguments.
    Input,
    /// What was selected.
    Selection,
    /// What server, client or resource can do.
    CapabilityAndProjection,
    /// The state of a resource or snapshot.
    State,
    /// Bounds and admission.
    LimitsAndAdmission,
    /// The CalDAV server.
    Upstream,
    /// The user's confirmation.
    Confirmation,
    /// What is known after a write.
    PostWriteTruth,
}

/// Where in the work an error arose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// Before the call was admitted.
    TransportAuthorization,
    /// Admission and size of the arguments.
    AdmissionAndPayload,
    /// Shape and lexical form of the arguments.
    SchemaLexicalDiscriminator,
    /// Cursor and page.
    Pagination,
    /// Whether an href may be used at all.
    OriginScopeAuthorization,
    /// Discovery and the choice of Calendars.
    SelectionDiscoveryCapability,
    /// The addressed resource and its revision.
    TargetRevision,
    /// The meaning of a whole resource.
    CompleteResourceSemantics,
    /// Confirmation.
    Mrtr,
    /// The exchange with the server.
    Execution,
    /// Verification after a write.
    PostWriteVerificationOrReconciliation,
}

impl Code {
    /// The group that this code belongs to.
    #[must_use]
    pub fn category(self) -> Category {
        match self {
            Self::InvalidInput | Self::InvalidCalendarData => Category::Input,
            Self::NotFound | Self::Ambiguous | Self::OutsideScope => Category::Selection,
            Self::UnsupportedCapability
            | Self::OpaqueResource
            | Self::TemporalUnresolved
            | Self::RecurrenceUnevaluable => Category::CapabilityAndProjection,
            Self::EntityKindMismatch
            | Self::Conflict
            | Self::DestinationConflict
            | Self::ConcurrencyUnavailable
            | Self::CompletionStateConflict
            | Self::CursorExpired
            | Self::SyncResetRequired => Category::State,
            Self::LimitExhausted | Self::PayloadTooLarge | Self::Busy => Category::LimitsAndAdmission,
            Self::UpstreamUnauthorized
            | Self::UpstreamForbidden
            | Self::UpstreamRateLimited
            | Self::UpstreamUnavailable
            | Self::UpstreamProtocolError => Category::Upstream,
            Self::ConfirmationExpired | Self::ConfirmationMismatch => Category::Confirmation,
            Self::FidelityFailure
            | Self::CommittedButUnverified
            | Self::CommittedButConcurrencyUnavailable
            | Self::Indeterminate => Category::PostWriteTruth,
        }
    }

    /// Whether the same call may succeed a little later.
    #[must_use]
    pub fn retryable(self) -> bool {
        matches!(self, Self::Busy | Self::UpstreamRateLimited | Self::UpstreamUnavailable)
    }
}

/// One argument that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Violation {
    /// RFC 6901 pointer into the arguments, beginning with `/`.
    pub pointer: String,
    /// What kind of violation.
    pub code: &'static str,
    /// What to send instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Which bound was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Milliseconds.
    ElapsedTime,
    /// Resources, Calendars, occurrences or snapshots.
    ResourceCount,
    /// Requests.
    AttemptCount,
    /// Bytes.
    ByteCount,
}

/// A bound that was reached, with what was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// What was counted.
    pub dimension: Dimension,
    /// How much was seen when the bound was noticed.
    pub observed: u64,
    /// The bound.
    pub limit: u64,
}

/// How serious a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Something may be missing or not what it seems.
    Warning,
    /// Something cannot be read.
    Error,
}

/// A remark on a success.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Diagnostic {
    /// A name from a closed list, in snake case.
    pub code: &'static str,
    /// One sentence.
    pub message: Cow<'static, str>,
    /// How serious it is.
    pub severity: Severity,
}

impl Diagnostic {
    /// A warning.
    pub fn warning(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            message: message.into(),
            severity: Severity::Warning,
        }
    }

    /// A piece of information.
    pub fn info(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            message: message.into(),
            severity: Severity::Info,
        }
    }

    /// An error that does not end the operation.
    pub fn error(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            message: message.into(),
            severity: Severity::Error,
        }
    }
}

/// A Calendar that a name could have meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// Where it is.
    pub calendar: CalendarReference,
    /// What people call it.
    pub display_name: Option<String>,
    /// What it can hold.
    pub entity_kinds: crate::calendar::EntityKinds,
}

/// An href in the shape of the results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CalendarReference {
    /// Absolute URL of the collection, with its trailing slash.
    pub href: String,
}

/// Why an operation did not succeed. Serializes as the error outcome of the semantic toolset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What went wrong.
    pub code: Code,
    /// Where.
    pub phase: Phase,
    /// One sentence that says what to do; holds no calendar text and no secret.
    pub message: Cow<'static, str>,
    /// Arguments that are wrong, sorted, at most 32.
    pub violations: Vec<Violation>,
    /// The bound that was reached.
    pub limits: Option<Limits>,
    /// How long to wait before trying again.
    pub retry_after: Option<Duration>,
    /// Calendars that an ambiguous name could mean, at most 32.
    pub candidates: Vec<Candidate>,
}

impl Error {
    /// An error without details.
    pub fn new(code: Code, phase: Phase, message: impl Into<Cow<'static, str>>) -> Box<Self> {
        Box::new(Self {
            code,
            phase,
            message: message.into(),
            violations: Vec::new(),
            limits: None,
            retry_after: None,
            candidates: Vec::new(),
        })
    }

    /// Arguments that are wrong: sorts, cuts at 32, and takes the first violation's message for the whole.
    #[must_use]
    pub fn violations(phase: Phase, mut violations: Vec<Violation>) -> Box<Self> {
        violations.sort();
        violations.dedup();
        violations.truncate(32);
        let message = violations.iter().find_map(|v| v.message.clone());
        let message = message.map_or(Cow::Borrowed("The arguments are not valid."), Cow::Owned);
        Box::new(Self {
            violations,
            ..*Self::new(Code::InvalidInput, phase, message)
        })
    }

    /// A bound that was reached.
    pub fn limit(phase: Phase, limits: Limits, message: impl Into<Cow<'static, str>>) -> Box<Self> {
        Box::new(Self {
            limits: Some(limits),
            ..*Self::new(Code::LimitExhausted, phase, message)
        })
    }
}

impl Serialize for Error {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Shape<'a> {
            code: Code,
            category: Category,
            message: &'a str,
            retryable: bool,
            phase: Phase,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            violations: &'a [Violation],
            #[serde(skip_serializing_if = "Option::is_none")]
            limits: Option<Limits>,
            #[serde(skip_serializing_if = "Option::is_none")]
            retry_after_ms: Option<u64>,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            authorized_candidates: &'a [Candidate],
        }
        Shape {
            code: self.code,
            category: self.code.category(),
            message: &self.message,
            retryable: self.code.retryable(),
            phase: self.phase,
            violations: &self.violations,
            limits: self.limits,
            retry_after_ms: self
                .retry_after
                .map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
            authorized_candidates: &self.candidates,
        }
        .serialize(serializer)
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

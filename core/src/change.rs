//! How a change of the account ends: what is known about it, what a person has to agree to, and what it may have
//! set off.
//!
//! Every change ends as one of four truths ([`Mutation`]), by evidence. No write is sent twice, and the absence of a
//! trace proves nothing: what may have left stays unknown until the server shows it.

use std::sync::Arc;

use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::ical::entity::Kind;
use crate::ledger::Mutation;
use crate::outcome::{Code, Diagnostic, Error, Phase};
use crate::resource::Resource;

/// The result of an operation that changes something.
pub type Changed<T> = Result<Change<T>, Box<Failed>>;

/// How a change ended that did not fail.
#[derive(Debug)]
pub enum Change<T> {
    /// It was written, read back, and is what was meant.
    Committed(Committed<T>),
    /// It says already what was asked for; nothing was sent.
    Unchanged,
    /// A person has to agree first; nothing was sent. The same operation goes on with [`Consent::Given`].
    Review(Review),
}

/// A change that the server has, as it was read back.
#[derive(Debug)]
pub struct Committed<T> {
    /// What is there now; of a deletion, what was there.
    pub value: T,
    /// What the server may have done about it; absent where nobody asked ([`SideEffects`]).
    pub side_effects: Option<SideEffects>,
    /// Remarks.
    pub diagnostics: Vec<Diagnostic>,
}

/// Whether a server that sends invitations may have sent some (RFC 6638). Told only where the account is in the mode
/// `server_managed` and the change is one that scheduling is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SideEffects {
    /// The server does not advertise automatic scheduling.
    None,
    /// It does, and the change was let through.
    Possible,
}

/// A change that failed, or whose end is not known.
#[derive(Debug)]
pub struct Failed {
    /// What went wrong.
    pub error: Box<Error>,
    /// What is known about the change.
    pub state: Mutation,
    /// The resource as it is now, where it was read and helps.
    pub current: Option<Arc<Resource>>,
    /// As in [`Committed`]; only where the change is committed or unknown.
    pub side_effects: Option<SideEffects>,
}

impl Failed {
    /// A failure before anything was sent.
    #[must_use]
    pub fn before(error: Box<Error>) -> Box<Self> {
        Self::with(error, Mutation::NotAttempted)
    }

    /// A failure with what is known about the change.
    #[must_use]
    pub fn with(error: Box<Error>, state: Mutation) -> Box<Self> {
        Box::new(Self {
            error,
            state,
            current: None,
            side_effects: None,
        })
    }

    /// The same failure, with the resource as it is now.
    #[must_use]
    pub fn showing(mut self: Box<Self>, current: Arc<Resource>) -> Box<Self> {
        self.current = Some(current);
        self
    }
}

/// Serializes as the mutation error outcome of the semantic toolset.
impl Serialize for Failed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Shape<'a> {
            #[serde(flatten)]
            error: &'a Error,
            #[serde(skip_serializing_if = "Option::is_none")]
            current_snapshot: Option<&'a Resource>,
            mutation_state: Mutation,
            #[serde(skip_serializing_if = "Option::is_none")]
            scheduling_side_effects: Option<SideEffects>,
        }
        // A snapshot without a strong revision has no place in the shape.
        let revised = |current: &&Resource| current.resource_revision().is_some();
        Shape {
            error: &self.error,
            current_snapshot: self.current.as_deref().filter(revised),
            mutation_state: self.state,
            scheduling_side_effects: self.side_effects,
        }
        .serialize(serializer)
    }
}

/// Whether a person has agreed to a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Nobody has to.
    NotNeeded,
    /// Nobody has yet: the operation ends with a [`Review`] before it changes anything.
    Ask,
    /// Somebody has, to the review with this digest. Anything else is `confirmation_mismatch`.
    Given([u8; 32]),
}

/// What a person has to see before a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// SHA-256 over all that the consent is bound to: operation, target, revision, and the octets or instructions.
    pub digest: [u8; 32],
    /// What is going to happen, in the order to be shown. Values may hold calendar text: they have to be quoted and cut.
    pub facts: Vec<Fact>,
    /// Whether the change is one that a scheduling server may send messages about, in the mode `server_managed`.
    pub may_notify: bool,
}

/// One line of a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What it is, in plain words: `Calendar`, `Entity Tag`.
    pub name: &'static str,
    /// As stored or as asked for, unquoted.
    pub value: String,
}

impl Fact {
    /// A line of a review.
    pub fn new(name: &'static str, value: impl Into<String>) -> Self {
        Self {
            name,
            value: value.into(),
        }
    }
}

impl Review {
    /// A review bound to these parts, each with its length, so that no two lists of parts have one digest.
    #[must_use]
    pub fn of(parts: &[&[u8]], facts: Vec<Fact>, may_notify: bool) -> Self {
        let mut digest = Sha256::new();
        for part in parts {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        }
        Self {
            digest: digest.finalize().into(),
            facts,
            may_notify,
        }
    }

    /// Whether the change may go on; if not, why.
    ///
    /// # Errors
    /// `confirmation_mismatch` if another review was agreed to.
    pub fn settle(self, consent: &Consent) -> Result<Option<Self>, Box<Failed>> {
        match consent {
            Consent::NotNeeded => Ok(None),
            Consent::Ask => Ok(Some(self)),
            Consent::Given(digest) if *digest == self.digest => Ok(None),
            Consent::Given(_) => Err(Failed::before(Error::new(
                Code::ConfirmationMismatch,
                Phase::Mrtr,
                "What was confirmed is not what would happen now: the resource or the call has changed. Nothing was changed. Ask again without the confirmation.",
            ))),
        }
    }
}

/// The state of a resource that a change is bound to, as results give it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// Absolute URL.
    pub href: String,
    /// UID of the entity.
    pub uid: String,
    /// Event or To-do.
    pub kind: Kind,
    /// Strong Entity Tag, with its quotes.
    pub tag: String,
}

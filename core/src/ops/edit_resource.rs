//! A change of one Event or To-do that is stored: of its fields, of one occurrence, of a whole series.

use std::sync::Arc;

use jiff::Timestamp;

use crate::account::Account;
use crate::change::{Change, Changed, Consent, Fact, Failed, Review, Revision};
use crate::env::Env;
use crate::exchange::Channel;
use crate::flow::{Flow, Io};
use crate::ical::edit::collection::CollectionPatch;
use crate::ical::edit::patch::{Patch, Target, patch};
use crate::ical::edit::scalar::ScalarPatch;
use crate::ical::edit::{Edited, complete, occurrence};
use crate::ical::entity::{Entity, Kind};
use crate::ical::value::Temporal;
use crate::machine::Machine;
use crate::operation::Operation;
use crate::ops::masked;
use crate::ops::put::{Precondition, Put, facts, shown, target};
use crate::ops::scheduling::admit;
use crate::outcome::Error;
use crate::resource::Resource;

/// Asks for a change of a resource that is in a known state. Nothing that the change is not about is touched.
#[derive(Clone, Debug)]
pub struct EditResource {
    /// The state that the change is bound to.
    pub revision: Revision,
    /// The change.
    pub edit: Edit,
    /// Whether a person has agreed.
    pub consent: Consent,
}

/// What to change.
#[derive(Clone, Debug)]
pub enum Edit {
    /// Fields and collections.
    Patch {
        /// Of which components.
        target: Target,
        /// How.
        patch: Patch,
    },
    /// A To-do is done; of a series this occurrence.
    Complete(Option<Temporal>),
    /// One occurrence of a series.
    Occurrence(OccurrenceEdit, Temporal),
}

/// What to do with an occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OccurrenceEdit {
    /// RDATE.
    Add,
    /// EXDATE.
    Exclude,
    /// Take EXDATE back.
    RestoreExclusion,
    /// STATUS:CANCELLED.
    Cancel,
    /// Take STATUS:CANCELLED back.
    RestoreCancellation,
}

/// How much a change may take away, which decides who has to agree to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Single values.
    Values,
    /// All values of a collection of one component.
    Collection,
    /// Many occurrences at once.
    Series,
}

impl Edit {
    /// How much it may take away.
    #[must_use]
    pub fn reach(&self) -> Reach {
        let Self::Patch { target, patch } = self else {
            return Reach::Values;
        };
        let replaces_set = |scalar: &ScalarPatch| matches!(scalar, ScalarPatch::RecurrenceSet { .. });
        match target {
            Target::EntireSet | Target::ThisAndFuture(_) => Reach::Series,
            Target::Master | Target::Occurrence(_) if patch.scalars.iter().any(replaces_set) => Reach::Series,
            Target::Master | Target::Occurrence(_) if patch.collections.iter().any(CollectionPatch::replaces_all) => {
                Reach::Collection
            }
            Target::Master | Target::Occurrence(_) => Reach::Values,
        }
    }

    /// The octets afterwards.
    fn apply(&self, entity: &Entity, now: Timestamp) -> Result<Edited, Box<Error>> {
        match self {
            Self::Patch { target, patch: change } => patch(entity, target, change, now),
            Self::Complete(identity) => complete::complete(entity, identity.as_ref(), now),
            Self::Occurrence(edit, identity) => {
                let edit = match edit {
                    OccurrenceEdit::Add => occurrence::add,
                    OccurrenceEdit::Exclude => occurrence::exclude,
                    OccurrenceEdit::RestoreExclusion => occurrence::restore_exclusion,
                    OccurrenceEdit::Cancel => occurrence::cancel,
                    OccurrenceEdit::RestoreCancellation => occurrence::restore_cancellation,
                };
                edit(entity, identity, now)
            }
        }
    }

    /// What a person has to see of it.
    fn facts(&self, kind: Kind) -> Vec<Fact> {
        match self {
            Self::Complete(_) => vec![Fact::new("Change", "complete")],
            Self::Occurrence(edit, identity) => vec![
                Fact::new("Change", format!("{edit:?} occurrence")),
                Fact::new("Occurrence", shown(identity)),
            ],
            Self::Patch { target, patch } => {
                let (scope, identity) = match target {
                    Target::Master => ("master", None),
                    Target::EntireSet => ("entire-set (the series and all its changed occurrences)", None),
                    Target::Occurrence(identity) => ("one-occurrence", Some(identity)),
                    Target::ThisAndFuture(identity) => ("this-and-future", Some(identity)),
                };
                let mut facts = vec![Fact::new("Scope", scope)];
                facts.extend(identity.map(|identity| Fact::new("Occurrence", shown(identity))));
                let scalars: Vec<_> = patch.scalars.iter().map(|scalar| scalar.field(kind)).collect();
                if !scalars.is_empty() {
                    facts.push(Fact::new("Fields", scalars.join(", ")));
                }
                for collection in &patch.collections {
                    facts.push(Fact::new("Collection", collection.described()));
                }
                facts
            }
        }
    }
}

impl Operation for EditResource {
    type Outcome = Changed<Arc<Resource>>;

    fn start(self, env: Env, account: &Arc<Account>) -> impl Machine<Output = Self::Outcome> + Send + 'static + use<> {
        let account = Arc::clone(account);
        Flow::new(env.now, move |io| async move { edit(&io, &account, &env, self).await })
    }
}

async fn edit(io: &Io, account: &Account, env: &Env, asked: EditResource) -> Changed<Arc<Resource>> {
    let channel = Channel::writing(io, account, env);
    let EditResource {
        revision,
        edit,
        consent,
    } = asked;
    let current = target(&channel, &revision, "/snapshot").await?;
    let before = current.entity.document().bytes();
    let edited = edit.apply(&current.entity, env.utc.timestamp());
    let body = match edited.map_err(Failed::before)? {
        Edited::Unchanged => return Ok(Change::Unchanged),
        Edited::Changed(body) => body,
    };
    io.phase("review");
    masked::guard(&channel, &current).await?;
    let side_effects = admit(&channel, &current.calendar, &[before, &body]).await?;
    let review = review(&current, &edit, &revision, side_effects.is_some());
    if let Some(review) = review.settle(&consent)? {
        return Ok(Change::Review(review));
    }
    Put {
        calendar: &current.calendar,
        href: &current.href,
        precondition: Precondition::Tag(revision.tag),
        body,
        exact: false,
        side_effects,
    }
    .run(&channel)
    .await
}

/// What is agreed to: this state and these instructions. The octets of the result hold the time, so they are not bound;
/// they follow from both.
fn review(current: &Resource, edit: &Edit, revision: &Revision, may_notify: bool) -> Review {
    let mut facts = facts(current, revision);
    facts.extend(edit.facts(revision.kind));
    let instructions = format!("{edit:?}");
    let parts: [&[u8]; 5] = [
        b"edit",
        current.href.as_str().as_bytes(),
        revision.uid.as_bytes(),
        revision.tag.as_bytes(),
        instructions.as_bytes(),
    ];
    Review::of(&parts, facts, may_notify)
}

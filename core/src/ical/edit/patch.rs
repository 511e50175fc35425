//! A change of fields and collections over a scope (contract of the semantic toolset: `events_patch`, `todos_patch`).

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::collection::{self, CollectionPatch, Missing};
use super::materialize::{self, Materialized};
use super::recurrence_set::{self, NewRecurrence, Orphan};
use super::scalar::{self, ScalarPatch};
use super::shift;
use super::temporal::{self, Measure, Times, same_form};
use super::{Edited, fault, finish, refusal, understood, unwritable};
use crate::ical::changes::Changes;
use crate::ical::completion::CompletionState;
use crate::ical::document::Document;
use crate::ical::entity::{Entity, Kind};
use crate::ical::part::Part;
use crate::ical::recur::civil_second;
use crate::ical::value::Temporal;
use crate::outcome::{Code, Error};

/// Which components a patch is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The master alone.
    Master,
    /// The master and all overrides.
    EntireSet,
    /// One occurrence, by its recurrence identity.
    Occurrence(Temporal),
    /// One occurrence and all later ones.
    ThisAndFuture(Temporal),
}

/// What to change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Patch {
    /// Each field at most once.
    pub scalars: Vec<ScalarPatch>,
    /// Each collection at most once.
    pub collections: Vec<CollectionPatch>,
}

/// Changes an Event or To-do.
///
/// # Errors
/// `invalid_input`, `not_found`, `unsupported_capability` and the like, with pointers into the input of the tools.
pub fn patch(entity: &Entity, target: &Target, patch: &Patch, now: Timestamp) -> Result<Edited, Box<Error>> {
    understood(entity)?;
    let kind = entity.kind().expect("a resource that is understood has a kind");
    let instructions = instructions(kind, patch)?;
    Plan {
        entity,
        kind,
        instructions,
        collections: collections(patch)?,
    }
    .run(target, now)
}

/// The scalars with the pointers to them.
fn instructions(kind: Kind, patch: &Patch) -> Result<Vec<(ScalarPatch, String)>, Box<Error>> {
    let mut seen = Vec::new();
    let mut out = Vec::new();
    for (at, scalar) in patch.scalars.iter().enumerate() {
        let field = scalar.field(kind);
        if !scalar.fits(kind) || seen.contains(&field) {
            let message = match seen.contains(&field) {
                true => format!("Send one instruction for {field}."),
                false => format!("There is no field {field} here."),
            };
            return Err(fault(
                format!("/patch/scalars/{at}/field"),
                "value_not_allowed",
                &message,
            ));
        }
        seen.push(field);
        out.push((scalar.clone(), format!("/patch/scalars/{at}/value")));
    }
    Ok(out)
}

/// The collections with the pointers to them.
fn collections(patch: &Patch) -> Result<Vec<(&CollectionPatch, String)>, Box<Error>> {
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    for (at, collection) in patch.collections.iter().enumerate() {
        let pointer = format!("/patch/collections/{at}");
        if !seen.insert(collection.field()) {
            let message = format!("Send one instruction for {}.", collection.field());
            return Err(fault(format!("{pointer}/field"), "value_not_allowed", &message));
        }
        out.push((collection, pointer));
    }
    // Properties stand before components.
    out.sort_by_key(|(collection, _)| collection.is_of_components());
    Ok(out)
}

struct Plan<'a> {
    entity: &'a Entity,
    kind: Kind,
    instructions: Vec<(ScalarPatch, String)>,
    collections: Vec<(&'a CollectionPatch, String)>,
}

impl Plan<'_> {
    fn run(&self, target: &Target, now: Timestamp) -> Result<Edited, Box<Error>> {
        let entity = self.entity;
        if let Some((_, _, pointer)) = self.recurrence_set().filter(|_| *target != Target::EntireSet) {
            let message = "Send the scope entire-set: the recurrence is that of the whole set.";
            return Err(fault(pointer, "value_not_allowed", message));
        }
        let document = entity.document();
        let master = entity.master.as_ref().map(|master| master.component);
        let overrides: Vec<_> = entity.overrides.iter().map(|part| part.component).collect();
        let done = match target {
            Target::Occurrence(_) | Target::ThisAndFuture(_) if !entity.is_recurring() => {
                let message = "There is no recurrence here: send the scope master.";
                return Err(fault("/target/scope", "value_not_allowed", message));
            }
            Target::Occurrence(identity) => {
                let made = materialize::individual(entity, identity)?;
                self.reserve_cancellation(&made.document, &[made.component])?;
                let done = self.apply(&made.document, made.component, &[])?.0;
                return self.keep_unless_same(made, done, now);
            }
            Target::ThisAndFuture(identity) => {
                let made = materialize::future(entity, identity)?;
                let later = self.later(&made.document, made.component);
                self.reserve_cancellation(&made.document, &[&later[..], &[made.component]].concat())?;
                let (done, by) = self.apply(&made.document, made.component, &later)?;
                by.keeps_form()?;
                return self.keep_unless_same(made, done, now);
            }
            Target::EntireSet if entity.is_recurring() => {
                let Some(master) = master else {
                    return Err(no_master());
                };
                self.reserve_cancellation(document, &[&overrides[..], &[master]].concat())?;
                let (done, by) = self.apply(document, master, &overrides)?;
                let replaced = self.recurrence_set().is_some();
                self.replace_set(shift::recurrence(entity, done, &by, !replaced)?)?
            }
            Target::Master | Target::EntireSet => {
                let Some(master) = master else {
                    return Err(no_master());
                };
                let start = self
                    .instructions
                    .iter()
                    .find(|(scalar, _)| matches!(scalar, ScalarPatch::Start(_)));
                if let Some((_, pointer)) = start.filter(|_| entity.is_recurring()) {
                    let message = "The start of a recurring resource moves with the scope entire-set.";
                    return Err(fault(&**pointer, "value_not_allowed", message));
                }
                self.replace_set(self.apply(document, master, &[])?.0)?
            }
        };
        finish(entity, done, now)
    }

    /// The instruction about the recurrence set, with the pointer to it.
    fn recurrence_set(&self) -> Option<(Option<&NewRecurrence>, &[Orphan], &str)> {
        self.instructions.iter().find_map(|(scalar, pointer)| {
            let ScalarPatch::RecurrenceSet { set, orphans } = scalar else {
                return None;
            };
            Some((set.as_ref(), &orphans[..], pointer.trim_end_matches("/value")))
        })
    }

    fn replace_set(&self, document: Document) -> Result<Document, Box<Error>> {
        match self.recurrence_set() {
            Some((set, orphans, pointer)) => {
                recurrence_set::replace(&Entity::from_document(document), set, orphans, pointer)
            }
            None => Ok(document),
        }
    }

    /// An override that was made for nothing is not written.
    fn keep_unless_same(&self, made: Materialized, done: Document, now: Timestamp) -> Result<Edited, Box<Error>> {
        if made.created && done.bytes() == made.document.bytes() {
            return Ok(Edited::Unchanged);
        }
        finish(self.entity, done, now)
    }

    /// CANCELLED outside of the master belongs to the tools that cancel occurrences and restore them.
    fn reserve_cancellation(&self, document: &Document, components: &[usize]) -> Result<(), Box<Error>> {
        let mut scalars = self.instructions.iter();
        let Some((ScalarPatch::Status(value), pointer)) =
            scalars.find(|(scalar, _)| matches!(scalar, ScalarPatch::Status(_)))
        else {
            return Ok(());
        };
        let cancelled = |component: &usize| Part::read(document.component(*component)).is_cancelled(document);
        if value
            .as_ref()
            .is_some_and(|value| value.eq_ignore_ascii_case("CANCELLED"))
            || components.iter().any(cancelled)
        {
            let message = "Cancel occurrences and restore them with the tools that do so.";
            return Err(fault(&**pointer, "value_not_allowed", message));
        }
        Ok(())
    }

    /// The overrides beside and after the one with this component index, by their recurrence identities.
    fn later(&self, document: &Document, component: usize) -> Vec<usize> {
        let made = Entity::from_document(document.clone());
        let by = Measure(&made.zones);
        let moment = |part: &Part| part.identity.as_ref().map(|identity| by.second(identity));
        let from = made.part(Some(component)).and_then(moment);
        let later = made
            .overrides
            .iter()
            .filter(|part| moment(part) >= from && part.component != component);
        later.map(|part| part.component).collect()
    }

    /// Applies everything to one component, and to others what they share with it: fields as they are, times by the
    /// same shift. No component of the VCALENDAR comes or goes.
    fn apply(&self, document: &Document, component: usize, others: &[usize]) -> Result<(Document, Shift), Box<Error>> {
        let mut changes = Changes::of(document);
        let (old, new) = scalar::apply(
            &mut changes,
            document.component(component),
            self.kind,
            &self.instructions,
        )?;
        let shift = Shift::between(old, new);
        let (_, fields): (Vec<_>, Vec<_>) = self
            .instructions
            .iter()
            .cloned()
            .partition(|(scalar, _)| scalar.is_time());
        for other in others {
            let other = document.component(*other);
            scalar::apply(&mut changes, other, self.kind, &fields)?;
            if shift.start != 0 || shift.longer != 0 {
                temporal::shift(&mut changes, other, self.kind, &shift).map_err(|fault| unwritable("/patch", fault))?;
            }
        }
        for each in [others, &[component]].concat() {
            let missing = if each == component {
                Missing::Refused
            } else {
                Missing::Skipped
            };
            for (collection, pointer) in &self.collections {
                collection::apply(&mut changes, document.component(each), collection, missing, pointer)?;
            }
        }
        let done = super::read(changes.octets())?;
        self.keep_completion(document, &done)?;
        Ok((done, shift))
    }

    /// A patch neither completes a To-do nor leaves it neither open nor completed.
    fn keep_completion(&self, before: &Document, after: &Document) -> Result<(), Box<Error>> {
        if self.kind != Kind::Todo {
            return Ok(());
        }
        let [before, after] = [before, after].map(|document| Entity::from_document(document.clone()));
        for (old, new) in before.parts().zip(after.parts()) {
            match (before.completion_of(old), after.completion_of(new)) {
                (Ok(CompletionState::Completed) | Err(_), Ok(CompletionState::Completed)) => {}
                (_, Ok(CompletionState::Completed)) | (Ok(_), Err(_)) => return Err(scalar::refuse_completion()),
                (_, Ok(_)) | (Err(_), Err(_)) => {}
            }
        }
        Ok(())
    }
}

/// How the times of a component moved, in local seconds.
#[derive(Clone, Debug)]
pub(super) struct Shift {
    /// By how much it starts later.
    pub(super) start: i64,
    /// By how much it lasts longer.
    pub(super) longer: i64,
    pub(super) old: Times,
    pub(super) new: Times,
}

impl Shift {
    fn between(old: Times, new: Times) -> Self {
        let start = match (&old.start, &new.start) {
            (Some(old), Some(new)) => civil_second(new.civil()) - civil_second(old.civil()),
            (None, _) | (_, None) => 0,
        };
        Self {
            start,
            longer: new.length() - old.length(),
            old,
            new,
        }
    }

    /// A shift keeps the kind of time, and its zone.
    fn keeps_form(&self) -> Result<(), Box<Error>> {
        let pairs = [(&self.old.start, &self.new.start), (&self.old.end, &self.new.end)];
        let same = pairs.iter().all(|(old, new)| match (old, new) {
            (Some(old), Some(new)) => same_form(old, new),
            (None, _) | (_, None) => true,
        });
        if same {
            return Ok(());
        }
        let message = "Keep the kind of time and the zone: this and all later occurrences are shifted together.";
        Err(fault("/patch/scalars", "temporal_family_mismatch", message))
    }
}

fn no_master() -> Box<Error> {
    refusal(
        Code::NotFound,
        "The resource has single occurrences only, and no series.",
    )
}

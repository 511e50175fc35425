//! Recording that a To-do, or one occurrence of it, is done.

use jiff::Timestamp;

use super::materialize::individual;
use super::membership::{POINTER, membership, not_found};
use super::occurrence::{edited, set};
use super::{Edited, fault, read, refusal, stamp, understood};
use crate::ical::changes::Changes;
use crate::ical::completion::CompletionState;
use crate::ical::document::Document;
use crate::ical::entity::{Entity, Kind};
use crate::ical::value::Temporal;
use crate::outcome::{Code, Error};

/// Sets STATUS:COMPLETED, PERCENT-COMPLETE:100 and COMPLETED to now (RFC 5545, 3.8.1.8, 3.8.1.11 and 3.8.2.1). Of a
/// series one occurrence is completed, in an override of its own; the series stays as it is. Nothing changes if it is
/// completed.
///
/// # Errors
/// `invalid_input` if a series comes without identity, or a single To-do with one, or if it is cancelled;
/// `completion_state_conflict` if its state cannot be told; `not_found` if there is no such occurrence, or an EXDATE
/// excludes it; `entity_kind_mismatch` for an Event; `opaque_resource`, `unsupported_capability`,
/// `recurrence_unevaluable`, `temporal_unresolved`, `limit_exhausted`.
pub fn complete(entity: &Entity, identity: Option<&Temporal>, now: Timestamp) -> Result<Edited, Box<Error>> {
    edited(entity, completed(entity, identity, now)?, now)
}

fn completed(entity: &Entity, identity: Option<&Temporal>, now: Timestamp) -> Result<Option<Document>, Box<Error>> {
    understood(entity)?;
    if entity.kind() != Some(Kind::Todo) {
        return Err(refusal(
            Code::EntityKindMismatch,
            "The resource is an Event, not a To-do.",
        ));
    }
    let effective = match (identity, entity.is_recurring()) {
        (None, false) => None,
        (Some(identity), true) => {
            let member = membership(entity, identity)?;
            if !member.is_occurrence() {
                return Err(not_found());
            }
            member.individual.or(member.future)
        }
        (None, true) => {
            let message =
                "The To-do repeats: query its occurrences, and send the recurrenceIdentity of the one that is done.";
            return Err(fault(POINTER, "required_member", message));
        }
        (Some(_), false) => {
            let message = "The To-do does not repeat: leave the recurrenceIdentity out.";
            return Err(fault(POINTER, "value_not_allowed", message));
        }
    };
    match entity.completion(effective) {
        Some(Ok(CompletionState::Completed)) => return Ok(None),
        Some(Ok(CompletionState::Cancelled)) => {
            return Err(refusal(
                Code::InvalidInput,
                "The To-do is cancelled: restore it before it is completed.",
            ));
        }
        Some(Ok(CompletionState::Open)) => {}
        Some(Ok(CompletionState::Indeterminate) | Err(_)) | None => {
            return Err(refusal(
                Code::CompletionStateConflict,
                "Status, time of completion and percentage of the To-do contradict each other: patch them first.",
            ));
        }
    }
    let (document, component) = match identity {
        Some(identity) => {
            let made = individual(entity, identity)?;
            (made.document, made.component)
        }
        None => {
            let master = entity.master.as_ref().ok_or_else(not_found)?;
            (entity.document().clone(), master.component)
        }
    };
    let component = document.component(component);
    let mut changes = Changes::of(&document);
    set(&mut changes, component, "STATUS", "COMPLETED")?;
    set(&mut changes, component, "PERCENT-COMPLETE", "100")?;
    set(&mut changes, component, "COMPLETED", &stamp::utc(now).encoded())?;
    read(changes.octets()).map(Some)
}

#[cfg(test)]
mod tests;

//! Edits of one occurrence of a series: add, exclude, cancel, and the ways back.
//!
//! Dates are written in the form of DTSTART, each as a property of its own after those that there are: no stored line
//! changes, and a date that is taken back leaves no trace. What names the same moment or day in another form counts as
//! the same date.

use jiff::Timestamp;

use super::materialize::{Materialized, individual};
use super::membership::{
    OCCURRENCES, POINTER, STEPS, form_message, is_written, lookup, membership, not_found, series, unevaluable,
};
use super::temporal::set_plain;
use super::{Edited, fault, finish, read, refusal, unwritable};
use crate::ical::changes::Changes;
use crate::ical::document::{Component, Document};
use crate::ical::encode::ContentLine;
use crate::ical::entity::Entity;
use crate::ical::expand::Unevaluable;
use crate::ical::part::{Name, Part};
use crate::ical::value::{Temporal, lossy};
use crate::outcome::{Code, Error};

/// Adds an occurrence to a series (RDATE). Nothing changes if the series has it.
///
/// # Errors
/// `invalid_input` if the identity is not in the form of the start, or if an EXDATE excludes it; `opaque_resource`,
/// `unsupported_capability`, `recurrence_unevaluable`, `temporal_unresolved`, `limit_exhausted`.
pub fn add(entity: &Entity, identity: &Temporal, now: Timestamp) -> Result<Edited, Box<Error>> {
    edited(entity, added(entity, identity)?, now)
}

/// Excludes an occurrence from a series (EXDATE); an override of it stays. Nothing changes if it is excluded.
///
/// # Errors
/// `not_found` if it is none of the series; else as [`add`].
pub fn exclude(entity: &Entity, identity: &Temporal, now: Timestamp) -> Result<Edited, Box<Error>> {
    edited(entity, excluded(entity, identity)?, now)
}

/// Takes the exclusion of an occurrence back: every EXDATE that names its moment. Nothing changes if the series has the
/// occurrence. An EXDATE that is a day in a series with times is taken back by that day, or by the only occurrence on it.
///
/// # Errors
/// `not_found` if it is neither excluded nor of the series; `ambiguous` if a day is excluded that has other occurrences
/// too; else as [`add`].
pub fn restore_exclusion(entity: &Entity, identity: &Temporal, now: Timestamp) -> Result<Edited, Box<Error>> {
    edited(entity, included(entity, identity)?, now)
}

/// Cancels an occurrence: its override, which is made if there is none, gets STATUS:CANCELLED. Nothing changes if it is
/// cancelled.
///
/// # Errors
/// `not_found` if it is none of the series, or excluded; else as [`add`].
pub fn cancel(entity: &Entity, identity: &Temporal, now: Timestamp) -> Result<Edited, Box<Error>> {
    edited(entity, cancelled(entity, identity)?, now)
}

/// Takes the cancellation of an occurrence back: its override loses its STATUS. Where a THISANDFUTURE override cancels
/// it, it gets an override of its own without. Nothing changes if it is not cancelled.
///
/// # Errors
/// As [`cancel`].
pub fn restore_cancellation(entity: &Entity, identity: &Temporal, now: Timestamp) -> Result<Edited, Box<Error>> {
    edited(entity, revived(entity, identity)?, now)
}

/// The result of an edit that made a document, or nothing.
pub(super) fn edited(entity: &Entity, document: Option<Document>, now: Timestamp) -> Result<Edited, Box<Error>> {
    document.map_or(Ok(Edited::Unchanged), |document| finish(entity, document, now))
}

fn added(entity: &Entity, identity: &Temporal) -> Result<Option<Document>, Box<Error>> {
    let series = series(entity)?;
    if !is_written(&series, identity) {
        let message = form_message(&series).trim_start_matches("No such occurrence: ");
        let message = format!("Send the identity in the form of the series: {message}");
        return Err(fault(POINTER, "recurrence_family_mismatch", &message));
    }
    let member = lookup(entity, &series, STEPS, |lookup| lookup.membership(identity))?;
    if member.excluded_by_rule || !member.exclusions.is_empty() {
        return Err(refusal(
            Code::InvalidInput,
            "An EXDATE or EXRULE excludes this time or its whole day: take the exclusion back instead.",
        ));
    }
    if member.is_occurrence() {
        return Ok(None);
    }
    append(entity, "RDATE", &member.identity).map(Some)
}

fn excluded(entity: &Entity, identity: &Temporal) -> Result<Option<Document>, Box<Error>> {
    let member = membership(entity, identity)?;
    if member.is_excluded() {
        return Ok(None);
    }
    if !member.is_occurrence() {
        return Err(not_found());
    }
    append(entity, "EXDATE", &member.identity).map(Some)
}

/// Adds a date to the master.
fn append(entity: &Entity, name: &str, date: &Temporal) -> Result<Document, Box<Error>> {
    let document = entity.document();
    let line = ContentLine::new(name, &date.parameters(), &date.encoded());
    let line = line.map_err(|fault| unwritable(POINTER, fault))?;
    let mut changes = Changes::of(document);
    changes.add(document.component(master(entity)?.component), &[line]);
    read(changes.octets())
}

fn master(entity: &Entity) -> Result<&Part, Box<Error>> {
    let message = "The resource has single occurrences only, without the series that they are of.";
    let master = entity.master.as_ref();
    master.ok_or_else(|| refusal(Code::UnsupportedCapability, message))
}

fn included(entity: &Entity, identity: &Temporal) -> Result<Option<Document>, Box<Error>> {
    let series = series(entity)?;
    let is_day = |date: &Temporal| series.start.as_ref().is_some_and(|start| !start.is_date()) && date.is_date();
    if is_day(identity) {
        let exdates = series.exdates.iter().enumerate();
        let named: Vec<_> = exdates
            .filter(|(_, date)| *date == identity)
            .map(|(at, _)| at)
            .collect();
        return match named[..] {
            [] => Err(refusal(Code::NotFound, form_message(&series))),
            [..] => without_exdates(entity, &named).map(Some),
        };
    }
    let member = membership(entity, identity)?;
    if !member.is_excluded() {
        return if member.is_occurrence() {
            Ok(None)
        } else {
            Err(not_found())
        };
    }
    if member.excluded_by_rule {
        return Err(refusal(
            Code::UnsupportedCapability,
            "An EXRULE excludes the occurrence, and no single one can be taken out of it.",
        ));
    }
    let days = member.exclusions.iter().map(|at| &series.exdates[*at]);
    if let Some(day) = days.into_iter().find(|date| is_day(date)) {
        let count = lookup(entity, &series, STEPS, |lookup| lookup.excluded_by_day(day))?;
        if count > OCCURRENCES {
            return Err(unevaluable(Unevaluable::Occurrences));
        }
        if count > 1 {
            return Err(refusal(
                Code::Ambiguous,
                "The whole day is excluded, with several occurrences: send the identity of kind date to restore them all.",
            ));
        }
    }
    without_exdates(entity, &member.exclusions).map(Some)
}

/// Takes out the values of EXDATE with these places among all of them. Only their lines change.
pub(super) fn without_exdates(entity: &Entity, places: &[usize]) -> Result<Document, Box<Error>> {
    let document = entity.document();
    let mut changes = Changes::of(document);
    let mut at = 0;
    let mut gone = places.iter().peekable();
    for property in master(entity)?.all(document, Name::Exdate) {
        let value = property.value();
        let before = value.split(|octet| *octet == b',');
        let mut kept = Vec::new();
        let (mut values, mut removed) = (0, 0);
        for value in before {
            if value.trim_ascii().is_empty() {
                kept.push(value);
                continue;
            }
            if gone.next_if(|place| **place == at).is_some() {
                removed += 1;
            } else {
                values += 1;
                kept.push(value);
            }
            at += 1;
        }
        if removed == 0 {
            continue;
        }
        if values == 0 {
            changes.replace(property, &[]);
            continue;
        }
        let rest = kept.join(&b',');
        let set = changes.set_value(property, &lossy(rest.into()));
        set.map_err(|fault| unwritable(POINTER, fault))?;
    }
    read(changes.octets())
}

fn cancelled(entity: &Entity, identity: &Temporal) -> Result<Option<Document>, Box<Error>> {
    let member = membership(entity, identity)?;
    if member.is_occurrence() && member.cancelled {
        return Ok(None);
    }
    let Materialized {
        document, component, ..
    } = individual(entity, identity)?;
    let mut changes = Changes::of(&document);
    set(&mut changes, document.component(component), "STATUS", "CANCELLED")?;
    read(changes.octets()).map(Some)
}

fn revived(entity: &Entity, identity: &Temporal) -> Result<Option<Document>, Box<Error>> {
    let member = membership(entity, identity)?;
    if !member.is_occurrence() {
        return Err(not_found());
    }
    if !member.cancelled {
        return Ok(None);
    }
    let Materialized {
        document, component, ..
    } = individual(entity, identity)?;
    let mut changes = Changes::of(&document);
    for status in document.component(component).all("STATUS") {
        changes.replace(status, &[]);
    }
    read(changes.octets()).map(Some)
}

/// Gives the only property of this name a value. Its parameters stay.
pub(super) fn set<'a>(
    changes: &mut Changes<'a>,
    component: Component<'a>,
    name: &str,
    value: &str,
) -> Result<(), Box<Error>> {
    let mut stored = component.all(name);
    if stored.next().is_none_or(|first| *first.value() != *value.as_bytes()) {
        set_plain(changes, component, name, Some(value)).map_err(|fault| unwritable("", fault))?;
    }
    stored.for_each(|repeat| changes.replace(repeat, &[]));
    Ok(())
}

#[cfg(test)]
mod tests;

//! Overrides made from what a series says about an occurrence.
//!
//! A new override is a copy of the component in force, octet for octet: of the THISANDFUTURE override that begins
//! before or with the occurrence, else of the master. Only what places it in time differs: the recurrence properties
//! are left out, RECURRENCE-ID stands before DTSTART in the form of the master's DTSTART (RFC 5545, 3.8.4.4), and
//! DTSTART with DTEND or DUE are those of the occurrence. It stands after the last component with the same UID.
//!
//! Components inside are copied as they are, alarms with their UID and ACKNOWLEDGED too. The alarms of the copy take the
//! place of those that the occurrence had: ACKNOWLEDGED is a moment that is compared with when an alarm triggers (RFC
//! 9074, 6.1), so it says about the occurrence what it said before; and a UID has to tell alarms of one component apart
//! (RFC 9074, 4), where RELATED-TO of a snoozed alarm has to find it. An alarm at a fixed moment stays at
//! that moment.

use bytes::Bytes;

use super::membership::{membership, not_found};
use super::temporal::{self, end_property};
use super::{calendar, read, refusal, unwritable};
use crate::ical::changes::Changes;
use crate::ical::document::{Component, Document, Parameter};
use crate::ical::encode::{ContentLine, Unwritable};
use crate::ical::entity::{Entity, Kind};
use crate::ical::expand::Membership;
use crate::ical::part::{Name, Part};
use crate::ical::value::Temporal;
use crate::outcome::{Code, Error};

/// A document that has the override of an occurrence.
#[derive(Debug)]
pub(super) struct Materialized {
    /// The document.
    pub(super) document: Document,
    /// The [`Component::index`] of the override in it.
    pub(super) component: usize,
    /// Whether it was not there before.
    pub(super) created: bool,
}

/// Finds or makes the override of one occurrence.
///
/// # Errors
/// `not_found` if there is no such occurrence, or an EXDATE excludes it; the refusals of [`membership`].
pub(super) fn individual(entity: &Entity, identity: &Temporal) -> Result<Materialized, Box<Error>> {
    let member = occurrence(entity, identity)?;
    match member.individual {
        Some(component) => Ok(found(entity, component)),
        None => copy(entity, &member, false),
    }
}

/// Finds or makes the override of an occurrence and of all later ones (RFC 5545, 3.2.13). An override of this
/// occurrence alone stays beside it.
///
/// # Errors
/// As [`individual`]; `unsupported_capability` if the resource has overrides only.
pub(super) fn future(entity: &Entity, identity: &Temporal) -> Result<Materialized, Box<Error>> {
    let member = occurrence(entity, identity)?;
    match member.future {
        Some(component) if member.begins_future => Ok(found(entity, component)),
        _ => copy(entity, &member, true),
    }
}

fn occurrence(entity: &Entity, identity: &Temporal) -> Result<Membership, Box<Error>> {
    let member = membership(entity, identity)?;
    if member.is_occurrence() {
        Ok(member)
    } else {
        Err(not_found())
    }
}

fn found(entity: &Entity, component: usize) -> Materialized {
    Materialized {
        document: entity.document().clone(),
        component,
        created: false,
    }
}

/// The document with a copy of the component in force as override of this occurrence, and of later ones too.
fn copy(entity: &Entity, member: &Membership, later: bool) -> Result<Materialized, Box<Error>> {
    let (document, kind) = (entity.document(), entity.kind().unwrap_or(Kind::Event));
    let source = member.future.or(entity.master.as_ref().map(|master| master.component));
    let source = source.ok_or_else(|| {
        let message = "The resource has single occurrences only: edit one of them.";
        refusal(Code::UnsupportedCapability, message)
    })?;
    let octets = Bytes::copy_from_slice(document.component(source).slice());
    let own = read(octets)?;
    let component = own.roots().next().expect("a component begins with its BEGIN line");
    let copy = moved(component, kind, member, later).map_err(|fault| unwritable("/target", fault))?;

    let last = entity.parts().map(|part| part.component).max().unwrap_or(source);
    let at = document.component(last).range().end;
    let before = document.bytes();
    let octets = [&before[..at], &copy[..], &before[at..]].concat();
    let document = read(octets.into())?;
    let component = calendar(&document).children().find(|child| child.range().start == at);
    let component = component.expect("a whole component stands after another one").index();
    Ok(Materialized {
        document,
        component,
        created: true,
    })
}

/// The octets of a component as an override.
fn moved(component: Component<'_>, kind: Kind, member: &Membership, later: bool) -> Result<Bytes, Unwritable> {
    let part = Part::read(component);
    let mut changes = Changes::of(component.document());
    for name in [Name::Rrule, Name::Rdate, Name::Exdate, Name::Exrule, Name::RecurrenceId] {
        for property in part.all(component.document(), name) {
            changes.replace(property, &[]);
        }
    }
    let mut parameters = member.identity.parameters();
    if later {
        parameters.push(Parameter {
            name: "RANGE".to_owned(),
            values: vec!["THISANDFUTURE".to_owned()],
        });
    }
    let identity = ContentLine::new("RECURRENCE-ID", &parameters, &member.identity.encoded())?;
    let stored = |name| part.first(component.document(), name);
    match stored(Name::Dtstart) {
        Some(property) => changes.add_before(property, &[identity]),
        None => changes.add(component, &[identity]),
    }
    temporal::set(&mut changes, component, "DTSTART", Some(&member.start))?;
    // An end that is a day where the start has a time, or the reverse, says nothing and cannot be moved.
    temporal::set(&mut changes, component, end_property(kind), member.end.as_ref())?;
    if let (None, Some(duration)) = (stored(Name::Duration), member.duration) {
        let line = ContentLine::new("DURATION", &[], &duration.to_string())?;
        changes.add(component, &[line]);
    }
    Ok(changes.octets())
}

#[cfg(test)]
mod tests;

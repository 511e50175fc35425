//! DTSTAMP, LAST-MODIFIED and SEQUENCE of the components that an edit changed (RFC 5545, 3.8.7).
//!
//! A component changed if its octets did; it is found again by its place or its recurrence identity. SEQUENCE goes up only where
//! attendees have to know (RFC 5546, 2.1.4): times, recurrence, STATUS or the set of attendees are different, and the
//! component has an ORGANIZER or a SEQUENCE. An override that is new is compared with the component it was taken from.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{read, unwritable};
use crate::ical::changes::Changes;
use crate::ical::document::{Component, Document, Property};
use crate::ical::encode::ContentLine;
use crate::ical::entity::Entity;
use crate::ical::part::{Name, Part};
use crate::ical::recur::civil_second;
use crate::ical::value::{Temporal, lossy};
use crate::ical::zone::Zone;
use crate::outcome::Error;

/// A moment as a UTC DATE-TIME.
pub(super) fn utc(now: Timestamp) -> Temporal {
    Temporal::Utc(Zone::utc().local_at(now.as_second()))
}

/// `after` with new stamps on each component that `before` does not have.
pub(super) fn apply(before: &Entity, after: &Entity, now: Timestamp) -> Result<Document, Box<Error>> {
    let now = utc(now).encoded();
    let mut changes = Changes::of(after.document());
    // Where no override came or went, each is in its place still, also if its identity moved.
    let in_place = before.parts().count() == after.parts().count();
    let mut in_order = before.parts();
    let by_name: BTreeMap<_, _> = before.parts().map(|part| (about(before, part), part)).collect();
    for part in after.parts() {
        let component = after.document().component(part.component);
        let own = match in_place {
            true => in_order.next(),
            false => by_name.get(&about(after, part)).copied(),
        };
        let old = own.or(before.master.as_ref());
        let old_component = old.map(|old| before.document().component(old.component));
        if own.is_some() && old_component.is_some_and(|old| old.slice() == component.slice()) {
            continue;
        }
        for name in ["DTSTAMP", "LAST-MODIFIED"] {
            set(&mut changes, component, name, &now)?;
        }
        let sequence = component.first("SEQUENCE");
        if let Some((old, old_component)) = old.zip(old_component)
            && (sequence.is_some() || component.first("ORGANIZER").is_some())
            && is_significant(before.document(), old, after.document(), part, own.is_none())
        {
            let number = |component: Component<'_>| {
                let stored = component.first("SEQUENCE").map(|property| property.value());
                stored.and_then(|value| lossy(value).trim().parse::<u32>().ok())
            };
            let next = number(component)
                .max(number(old_component))
                .unwrap_or(0)
                .saturating_add(1);
            set(
                &mut changes,
                component,
                "SEQUENCE",
                &next.min(i32::MAX as u32).to_string(),
            )?;
        }
    }
    read(changes.octets())
}

/// Which occurrences a component is about: an override of one may stand beside one of all later ones.
fn about<'a>(entity: &Entity, part: &'a Part) -> (Option<&'a Temporal>, bool) {
    (part.identity.as_ref(), part.has_range(entity.document()))
}

fn set<'a>(changes: &mut Changes<'a>, component: Component<'a>, name: &str, value: &str) -> Result<(), Box<Error>> {
    let written = match component.first(name) {
        Some(property) if *property.value() == *value.as_bytes() => Ok(()),
        Some(property) => changes.set_value(property, value),
        None => ContentLine::new(name, &[], value).map(|line| changes.add(component, &[line])),
    };
    written.map_err(|fault| unwritable("/patch", fault))
}

/// Whether attendees have to know.
fn is_significant(before: &Document, old: &Part, after: &Document, new: &Part, is_new: bool) -> bool {
    let differ = |name: Name| {
        let all = |document, part: &Part| -> Vec<_> { part.all(document, name).map(meaning).collect() };
        all(before, old) != all(after, new)
    };
    let attendees = |document: &Document, part: &Part| -> BTreeSet<Vec<u8>> {
        let all = document.component(part.component).properties();
        all.filter(|property| property.is("ATTENDEE"))
            .map(|property| property.value().to_ascii_lowercase())
            .collect()
    };
    if differ(Name::Status) || attendees(before, old) != attendees(after, new) {
        return true;
    }
    if is_new {
        let length = |document, part: &Part| {
            let end = [Name::Dtend, Name::Due]
                .into_iter()
                .find_map(|name| part.temporal(document, name)?.ok());
            let start = part.start.as_ref().or(part.identity.as_ref());
            let span = start
                .zip(end)
                .map(|(start, end)| civil_second(end.civil()) - civil_second(start.civil()));
            (
                span,
                part.first(document, Name::Duration)
                    .map(|property| property.value().into_owned()),
            )
        };
        return new
            .start
            .as_ref()
            .is_some_and(|start| Some(start) != new.identity.as_ref())
            || length(before, old) != length(after, new);
    }
    [
        Name::Dtstart,
        Name::Dtend,
        Name::Due,
        Name::Duration,
        Name::Rrule,
        Name::Rdate,
        Name::Exdate,
    ]
    .into_iter()
    .any(differ)
}

/// What a time says: its zone and its value.
fn meaning(property: Property<'_>) -> (Option<String>, Vec<u8>) {
    (property.parameter("TZID"), property.value().to_ascii_uppercase())
}

//! One Calendar Object Resource understood (RFC 4791, 4.1): an Event or To-do with its overrides and zones.
//!
//! Reading never fails. What cannot be taken for one Event or To-do is *opaque*, with the reason; what is odd but
//! clear in its intent is read, with a diagnostic. [`Entity::read`] does only what tells kind, UID and start;
//! everything else is read from the document when it is asked for.

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock};

use bytes::Bytes;
use serde::Serialize;

use super::document::{Component, Document, FaultKind};
use super::duration::Duration;
use super::part::{Name, Part};
use super::series::Expanded;
use super::value::{lossy, text};
use super::zone::Zones;
use crate::outcome::Diagnostic;

/// What a resource describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// VEVENT.
    Event,
    /// VTODO.
    Todo,
}

impl Kind {
    /// The name of its component.
    #[must_use]
    pub fn component(self) -> &'static str {
        match self {
            Self::Event => "VEVENT",
            Self::Todo => "VTODO",
        }
    }

    /// Its name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Todo => "todo",
        }
    }

    fn of(component: Component<'_>) -> Option<Self> {
        if component.is("VEVENT") {
            Some(Self::Event)
        } else if component.is("VTODO") {
            Some(Self::Todo)
        } else {
            None
        }
    }

    /// The property that holds the end.
    pub(super) fn end(self) -> Name {
        match self {
            Self::Event => Name::Dtend,
            Self::Todo => Name::Due,
        }
    }
}

/// A Calendar Object Resource.
#[derive(Debug)]
pub struct Entity {
    pub(super) document: Document,
    pub(super) kind: Option<Kind>,
    uid: Option<Box<str>>,
    opaque: Option<&'static str>,
    /// The component without RECURRENCE-ID.
    pub(super) master: Option<Part>,
    /// Those with one, in the order of the document.
    pub(super) overrides: Vec<Part>,
    pub(super) zones: Zones,
    pub(super) remarks: OnceLock<Vec<Diagnostic>>,
    pub(super) expanded: Mutex<Option<Expanded>>,
}

impl Entity {
    /// Reads a resource. Octets that are no iCalendar at all make an opaque one.
    #[must_use]
    pub fn read(bytes: Bytes) -> Self {
        match Document::parse(bytes.clone()) {
            Ok(document) => Self::from_document(document),
            Err(_) => Self {
                opaque: Some("invalid_calendar_data"),
                ..Self::unread(Document::unread(bytes))
            },
        }
    }

    /// Reads a resource whose content lines are known.
    #[must_use]
    pub fn from_document(document: Document) -> Self {
        let mut entity = Self::unread(document);
        entity.opaque = entity.understand().err();
        entity
    }

    fn unread(document: Document) -> Self {
        Self {
            zones: Zones::read(&document),
            document,
            kind: None,
            uid: None,
            opaque: None,
            master: None,
            overrides: Vec::new(),
            remarks: OnceLock::new(),
            expanded: Mutex::new(None),
        }
    }

    /// Event or To-do; also of an opaque resource, where it holds only one of them.
    #[must_use]
    pub fn kind(&self) -> Option<Kind> {
        self.kind
    }

    /// The UID, decoded; of an opaque resource the first one.
    #[must_use]
    pub fn uid(&self) -> Option<&str> {
        self.uid.as_deref()
    }

    /// Why it cannot be taken for one Event or To-do.
    #[must_use]
    pub fn opaque(&self) -> Option<&'static str> {
        self.opaque
    }

    /// The octets with their components.
    #[must_use]
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// How many octets it has.
    #[must_use]
    pub fn size(&self) -> usize {
        self.document.bytes().len()
    }

    /// About how many bytes it keeps alive: its octets, its content lines, components and zones.
    #[must_use]
    pub fn footprint(&self) -> usize {
        const LINE: usize = 24;
        const STRUCTURE: usize = 1024;
        self.size() + LINE * self.document.line_count() + STRUCTURE
    }

    /// Whether it has rules, added dates or overrides.
    #[must_use]
    pub fn is_recurring(&self) -> bool {
        let repeats = |part: &Part| part.has(Name::Rrule) || part.has(Name::Rdate) || part.has(Name::Exrule);
        !self.overrides.is_empty() || self.master.as_ref().is_some_and(repeats)
    }

    /// The override with this component index, or the master.
    pub(super) fn part(&self, component: Option<usize>) -> Option<&Part> {
        let Some(component) = component else {
            return self.master.as_ref();
        };
        let found = self.overrides.binary_search_by_key(&component, |part| part.component);
        found.ok().map(|at| &self.overrides[at])
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = &Part> {
        self.master.iter().chain(&self.overrides)
    }

    /// Finds the components and tells the reason if they are not one Event or To-do.
    fn understand(&mut self) -> Result<(), &'static str> {
        let document = &self.document;
        let mut parts = Vec::new();
        let mut verdict = Ok(());
        let mut note = |reason| {
            if verdict.is_ok() {
                verdict = Err(reason);
            }
        };
        if !document.faults().iter().all(|fault| is_bearable(fault.kind)) {
            note("invalid_calendar_data");
        }
        let (calendars, others): (Vec<_>, Vec<_>) = document.roots().partition(|root| root.is("VCALENDAR"));
        if calendars.len() != 1 {
            note("calendar_component_cardinality");
        }
        if others.iter().any(|root| is_known(*root)) {
            note("known_component_topology_invalid");
        }
        let (mut events, mut todos) = (0, 0);
        for calendar in &calendars {
            if calendar
                .first("VERSION")
                .is_some_and(|version| version.value().trim_ascii() != b"2.0")
            {
                note("calendar_required_property_invalid");
            }
            for child in calendar.children() {
                match Kind::of(child) {
                    Some(kind) => {
                        match kind {
                            Kind::Event => events += 1,
                            Kind::Todo => todos += 1,
                        }
                        if child.children().any(|inner| is_known(inner) && !inner.is("VALARM")) {
                            note("known_component_topology_invalid");
                        }
                        parts.push(Part::read(child));
                    }
                    None if ["VJOURNAL", "VFREEBUSY", "VAVAILABILITY", "VPOLL"]
                        .iter()
                        .any(|name| child.is(name)) =>
                    {
                        note("unsupported_entity_component");
                    }
                    None if is_known(child) && !child.is("VTIMEZONE") => note("known_component_topology_invalid"),
                    None => {}
                }
            }
        }
        let uids: Vec<_> = parts.iter().map(|part| uid(document, part)).collect();
        self.uid = uids.iter().flatten().next().cloned();
        self.kind = match (events, todos) {
            (0, 0) => {
                note("entity_master_missing");
                None
            }
            (_, 0) => Some(Kind::Event),
            (0, _) => Some(Kind::Todo),
            (_, _) => {
                note("mixed_entity_kinds");
                None
            }
        };
        verdict?;
        let kind = self.kind.ok_or("entity_master_missing")?;
        if uids.iter().any(Option::is_none) {
            return Err("entity_uid_invalid");
        }
        let same = uids.iter().all(|uid| *uid == uids[0]);
        for part in parts {
            let part = times(document, kind, part)?;
            if part.identity.is_some() {
                self.overrides.push(part);
            } else if self.master.replace(part).is_some() {
                return Err("entity_master_cardinality");
            }
        }
        if !same {
            return Err("recurrence_override_uid_mismatch");
        }
        // One override of an occurrence alone and one of the later ones may begin at the same place.
        let mut identities = BTreeSet::new();
        let mut is_first = |part: &Part| identities.insert((part.identity.clone(), part.has_range(document)));
        if !self.overrides.iter().all(&mut is_first) {
            return Err("recurrence_identity_duplicate");
        }
        Ok(())
    }
}

/// Faults that leave no doubt what belongs to what.
fn is_bearable(fault: FaultKind) -> bool {
    match fault {
        FaultKind::NoColon | FaultKind::UnbalancedQuote => true,
        FaultKind::Unclosed | FaultKind::StrayEnd | FaultKind::TooDeep => false,
    }
}

/// A component that RFC 5545 places.
fn is_known(component: Component<'_>) -> bool {
    let names = [
        "VEVENT",
        "VTODO",
        "VJOURNAL",
        "VFREEBUSY",
        "VTIMEZONE",
        "VALARM",
        "STANDARD",
        "DAYLIGHT",
        "VCALENDAR",
    ];
    names.iter().any(|name| component.is(name))
}

/// The UID if there is exactly one, and something in it.
fn uid(document: &Document, part: &Part) -> Option<Box<str>> {
    let property = part.first(document, Name::Uid).filter(|_| !part.repeats(Name::Uid))?;
    let uid = text(property.value());
    let uid = uid.trim();
    (!uid.is_empty()).then(|| uid.into())
}

/// Reads what places a component in time, and tells what is wrong with it.
fn times(document: &Document, kind: Kind, mut part: Part) -> Result<Part, &'static str> {
    let end = kind.end();
    if [Name::Dtstart, end, Name::Duration, Name::RecurrenceId]
        .iter()
        .any(|name| part.repeats(*name))
    {
        return Err("singleton_property_repeated");
    }
    let invalid = "registered_property_value_invalid";
    part.identity = part
        .temporal(document, Name::RecurrenceId)
        .transpose()
        .map_err(|_| invalid)?;
    part.start = part
        .temporal(document, Name::Dtstart)
        .transpose()
        .map_err(|_| "entity_start_invalid")?;
    if part.start.is_none() && part.identity.is_none() && kind == Kind::Event {
        return Err("entity_start_invalid");
    }
    if part.has(end) && part.has(Name::Duration) {
        return Err("entity_temporal_cardinality");
    }
    if part.temporal(document, end).is_some_and(|end| end.is_err()) {
        return Err(invalid);
    }
    let duration = part.first(document, Name::Duration);
    if duration.is_some_and(|property| Duration::parse(lossy(property.value()).trim()).is_none()) {
        return Err(invalid);
    }
    Ok(part)
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

//! Overrides for single occurrences.

use super::refusal;
use crate::ical::document::Document;
use crate::ical::entity::Entity;
use crate::ical::value::Temporal;
use crate::outcome::{Code, Error};

/// A document with the override that was asked for.
pub(super) struct Materialized {
    pub(super) document: Document,
    /// Its component index.
    pub(super) component: usize,
    /// Whether it was not there before.
    pub(super) created: bool,
}

/// The individual override of an occurrence.
pub(super) fn individual(_entity: &Entity, _identity: &Temporal) -> Result<Materialized, Box<Error>> {
    Err(refusal(
        Code::UnsupportedCapability,
        "Single occurrences cannot be changed yet.",
    ))
}

/// The override from an occurrence on.
pub(super) fn future(_entity: &Entity, _identity: &Temporal) -> Result<Materialized, Box<Error>> {
    Err(refusal(
        Code::UnsupportedCapability,
        "Single occurrences cannot be changed yet.",
    ))
}

//! What one query has read so far, over all its Calendars.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::exchange::exhausted;
use crate::outcome::{Diagnostic, Dimension, Error, Outcome};

/// The most resources of one query.
pub(super) const MAX_RESOURCES: usize = 50_000;
/// The most bytes of bodies of one query.
const MAX_BYTES: usize = 64 * 1024 * 1024;
/// The most resources of one query that are read one by one.
pub(super) const MAX_SINGLE: usize = 200;

/// Counts for the bounds of a query, and for its remarks.
#[derive(Debug, Default)]
pub struct Tally {
    resources: AtomicUsize,
    bytes: AtomicUsize,
    single: AtomicUsize,
    vanished: AtomicUsize,
    refused: AtomicUsize,
}

impl Tally {
    /// Counts resources with their bytes.
    pub(super) fn add(&self, resources: usize, bytes: usize) -> Outcome<()> {
        let resources = resources + self.resources.fetch_add(resources, Ordering::Relaxed);
        let bytes = bytes + self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if resources > MAX_RESOURCES {
            return Err(too_many(Dimension::ResourceCount, resources, MAX_RESOURCES));
        }
        if bytes > MAX_BYTES {
            return Err(too_many(Dimension::ByteCount, bytes, MAX_BYTES));
        }
        Ok(())
    }

    /// Whether one more resource may be read by itself.
    pub(super) fn one_more(&self) -> bool {
        self.single.fetch_add(1, Ordering::Relaxed) < MAX_SINGLE
    }

    /// Counts members that were named and are gone.
    pub(super) fn vanished(&self, count: usize) {
        self.vanished.fetch_add(count, Ordering::Relaxed);
    }

    /// Counts members that may not be read.
    pub(super) fn refused(&self, count: usize) {
        self.refused.fetch_add(count, Ordering::Relaxed);
    }

    /// What the caller has to know.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let count = |count: &AtomicUsize| Some(count.load(Ordering::Relaxed)).filter(|count| *count > 0);
        if let Some(count) = count(&self.vanished) {
            let message = format!("{count} resources disappeared while the query ran.");
            found.push(Diagnostic::warning("resource_disappeared_during_query", message));
        }
        if let Some(count) = count(&self.refused) {
            let message = format!("The server does not let {count} resources be read; they are left out.");
            found.push(Diagnostic::warning("resource_not_readable", message));
        }
        found
    }
}

pub(super) fn too_many(dimension: Dimension, observed: usize, limit: usize) -> Box<Error> {
    let message = "The query touches more than may be read at once. Ask for a smaller window or fewer Calendars.";
    exhausted(dimension, observed, limit, message)
}

//! What becomes of the occurrences of a set: exclusions, overrides, the window, the limit.

use super::clock::Form;
use super::span::Measure;
use super::{Instance, MAX_OCCURRENCES, Unevaluable, Window};
use crate::ical::recur::DAY;

/// The component that the set comes from. Without a master its form is that of the first identity.
#[derive(Debug)]
pub(super) struct Master {
    pub(super) form: Form,
    pub(super) measure: Measure,
    /// DTSTART in local seconds.
    pub(super) anchor: i64,
}

impl Master {
    /// The instant of an occurrence by its key and its local second.
    pub(super) fn instant(&self, key: i64, civil: i64) -> i64 {
        if self.form.is_date() {
            self.form.instant(civil).0
        } else {
            key
        }
    }

    /// Where an occurrence lies on the clock of an override, before the shift.
    pub(super) fn base(&self, form: &Form, civil: i64, key: i64) -> i64 {
        if self.form.is_date() || form.is_date() {
            civil
        } else {
            form.civil(key)
        }
    }
}

/// What an EXDATE or RECURRENCE-ID names. The key of an occurrence is its local midnight in a series of dates and its
/// instant in a series of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Key(i64),
    /// A day in a series of times, in days since 1970.
    Day(i64),
}

impl Name {
    /// Whether it names the occurrence with this key and local second in the zone of DTSTART.
    pub(super) fn means(self, key: i64, civil: i64) -> bool {
        match self {
            Self::Key(own) => own == key,
            Self::Day(day) => day == civil.div_euclid(DAY),
        }
    }
}

/// Names to look up, sorted.
#[derive(Debug, Default)]
pub(super) struct Names {
    keys: Vec<i64>,
    days: Vec<i64>,
}

/// An occurrence of the set before overrides.
pub(super) struct Slot<'s> {
    pub(super) key: i64,
    /// The local second in the zone of DTSTART.
    pub(super) civil: i64,
    pub(super) form: &'s Form,
    /// The local second in `form`.
    pub(super) own_civil: i64,
    pub(super) instant: i64,
    pub(super) measure: &'s Measure,
    /// An RDATE with a length of its own goes before the same occurrence without.
    pub(super) rank: u8,
}

/// THISANDFUTURE.
#[derive(Debug)]
pub(super) struct Future {
    pub(super) key: i64,
    pub(super) component: usize,
    pub(super) form: Form,
    /// Local seconds from an identity to its start.
    pub(super) shift: i64,
    pub(super) measure: Measure,
    pub(super) cancelled: bool,
}

#[derive(Debug)]
pub(super) struct Found {
    pub(super) key: i64,
    pub(super) rank: u8,
    pub(super) instance: Instance,
}

/// Takes occurrences and keeps those that lie in the window.
#[derive(Debug)]
pub(super) struct Collector {
    pub(super) window: Window,
    pub(super) excluded: Names,
    pub(super) overridden: Names,
    /// Overrides of later occurrences, sorted by key.
    pub(super) futures: Vec<Future>,
    found: Vec<Found>,
}

impl Collector {
    pub(super) fn new(window: Window) -> Self {
        Self {
            window,
            excluded: Names::default(),
            overridden: Names::default(),
            futures: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Applies EXDATE, overrides and the window to an occurrence of the set.
    pub(super) fn take(&mut self, master: &Master, slot: &Slot<'_>) -> Result<(), Unevaluable> {
        if self.excluded.has(slot.key, slot.civil) || self.overridden.has(slot.key, slot.civil) {
            return Ok(());
        }
        let after = self.futures.partition_point(|future| future.key <= slot.key);
        let future = after.checked_sub(1).map(|at| &self.futures[at]);
        let (from, extent) = match future {
            None => (slot.instant, slot.measure.lay(slot.form, slot.own_civil, slot.instant)),
            Some(future) => {
                let (civil, from) = future.moved(master, slot.civil, slot.key);
                (from, future.measure.lay(&future.form, civil, from))
            }
        };
        if !self.window.holds(from, extent.to) {
            return Ok(());
        }
        let identity = slot.form.value(slot.own_civil);
        let (start, source) = match future {
            None => (identity.clone(), None),
            Some(future) => {
                let start = future.form.value(future.moved(master, slot.civil, slot.key).0);
                (start, Some(slot.measure.lay(slot.form, slot.own_civil, slot.instant)))
            }
        };
        let source = source.as_ref().unwrap_or(&extent);
        self.push(Found {
            key: slot.key,
            rank: slot.rank,
            instance: Instance {
                component: future.map(|future| future.component),
                source_start: identity.clone(),
                identity,
                source_end: source.end.clone(),
                source_duration: source.duration,
                start,
                end: extent.end.clone(),
                duration: extent.duration,
                from,
                to: extent.to,
                cancelled: future.is_some_and(|future| future.cancelled),
            },
        })
    }

    pub(super) fn push(&mut self, found: Found) -> Result<(), Unevaluable> {
        self.found.push(found);
        // The same occurrence may come from several rules: room for two of each before repeats are taken out.
        if self.found.len() > 2 * MAX_OCCURRENCES {
            self.settle();
            if self.found.len() > MAX_OCCURRENCES {
                return Err(Unevaluable::Occurrences);
            }
        }
        Ok(())
    }

    /// Takes out repeats: of one identity the first by rank stays.
    fn settle(&mut self) {
        self.found.sort_by_key(|found| (found.key, found.rank));
        self.found.dedup_by_key(|found| found.key);
    }

    /// What was kept, by start and identity.
    pub(super) fn finish(mut self) -> Result<Vec<Instance>, Unevaluable> {
        self.settle();
        if self.found.len() > MAX_OCCURRENCES {
            return Err(Unevaluable::Occurrences);
        }
        self.found.sort_by_key(|found| (found.instance.from, found.key));
        Ok(self.found.into_iter().map(|found| found.instance).collect())
    }
}

impl Future {
    /// The start of a later occurrence under this override, in local and in Unix seconds.
    pub(super) fn moved(&self, master: &Master, civil: i64, key: i64) -> (i64, i64) {
        let moved = master.base(&self.form, civil, key) + self.shift;
        let civil = if self.form.is_date() {
            moved.div_euclid(DAY) * DAY
        } else {
            moved
        };
        (civil, self.form.instant(civil).0)
    }
}

impl Names {
    pub(super) fn add(&mut self, name: Name) {
        match name {
            Name::Key(key) => self.keys.push(key),
            Name::Day(day) => self.days.push(day),
        }
    }

    pub(super) fn sort(&mut self) {
        self.keys.sort_unstable();
        self.days.sort_unstable();
    }

    pub(super) fn has(&self, key: i64, civil: i64) -> bool {
        self.keys.binary_search(&key).is_ok() || self.days.binary_search(&civil.div_euclid(DAY)).is_ok()
    }
}

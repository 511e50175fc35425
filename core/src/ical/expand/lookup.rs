//! Single identities looked up in a recurrence set, without a walk through its occurrences.

use super::collect::{Collector, Future, Name, Names};
use super::series::Expansion;
use super::span::Measure;
use super::{Frame, Series, SeriesOverride, Unevaluable, Window};
use crate::ical::duration::Duration;
use crate::ical::recur::{DAY, Rule, Steps, civil_second, date_time};
use crate::ical::value::Temporal;

/// How one recurrence identity stands to a recurrence set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The identity in the form of DTSTART.
    pub identity: Temporal,
    /// Whether DTSTART, a rule or an RDATE makes it.
    pub generated: bool,
    /// The EXDATEs that exclude it, as places in [`Series::exdates`].
    pub exclusions: Vec<usize>,
    /// Whether one of them names its moment; the others name its day in a series with times.
    pub excluded_exactly: bool,
    /// Whether an EXRULE excludes it.
    pub excluded_by_rule: bool,
    /// The component of the override that is about this occurrence alone.
    pub individual: Option<usize>,
    /// The component of the THISANDFUTURE override in force.
    pub future: Option<usize>,
    /// Whether that override begins with this occurrence.
    pub begins_future: bool,
    /// Whether the override that decides about it says that it does not take place.
    pub cancelled: bool,
    /// Where it starts if its individual override is left aside.
    pub start: Temporal,
    /// The end that belongs to `start`, if DTEND or DUE tell: in UTC where the clock shows its local time twice and the
    /// second is meant.
    pub end: Option<Temporal>,
    /// The length that belongs to `start`, if DURATION tells.
    pub duration: Option<Duration>,
}

impl Membership {
    /// Whether it would be an occurrence if nothing excluded it: the set makes it, or an override names it.
    #[must_use]
    pub fn is_named(&self) -> bool {
        self.generated || self.individual.is_some() || self.begins_future
    }

    /// Whether an EXDATE or EXRULE excludes it. A day excludes the occurrences that there are on it, and no other time of
    /// it; and so does a rule.
    #[must_use]
    pub fn is_excluded(&self) -> bool {
        let excluded = self.excluded_by_rule || !self.exclusions.is_empty();
        self.excluded_exactly || (self.is_named() && excluded)
    }

    /// Whether it is an occurrence, cancelled or not.
    #[must_use]
    pub fn is_occurrence(&self) -> bool {
        self.is_named() && !self.is_excluded()
    }
}

/// Answers about the identities of one set. Where a rule allows to jump, an answer costs a few steps, wherever it lies.
#[derive(Debug)]
pub struct Lookup<'a> {
    series: &'a Series,
    expansion: Expansion<'a>,
    /// The THISANDFUTURE overrides, sorted by key.
    futures: Vec<Future>,
    /// How long the occurrences of the set last.
    measure: Measure,
    /// The keys of all RDATEs, sorted.
    added: Vec<i64>,
}

impl<'a> Lookup<'a> {
    /// A step is charged for every date and override of the set.
    ///
    /// # Errors
    /// [`Unevaluable`].
    pub fn new(series: &'a Series, frame: &'a Frame<'a>, steps: &'a mut Steps) -> Result<Self, Unevaluable> {
        let nothing = Window {
            from: i64::MAX,
            to: i64::MIN,
        };
        let mut expansion = Expansion::new(series, frame, nothing, steps)?;
        expansion.charge_lists()?;
        for each in series.overrides.iter().filter(|each| each.future) {
            expansion.read_override(each)?;
        }
        let mut futures = std::mem::take(&mut expansion.collector.futures);
        futures.sort_by_key(|future| future.key);
        let mut added = Vec::with_capacity(series.rdates.len());
        for date in &series.rdates {
            if date.start.is_date() != expansion.master.form.is_date() {
                return Err(Unevaluable::DateType);
            }
            added.push(expansion.place(&date.start)?.0);
        }
        added.sort_unstable();
        let measure = std::mem::replace(&mut expansion.master.measure, Measure::Nothing);
        Ok(Self {
            series,
            expansion,
            futures,
            measure,
            added,
        })
    }

    /// Everything about one identity. It may be in any form: only its moment or day counts.
    ///
    /// # Errors
    /// [`Unevaluable`].
    pub fn membership(&mut self, identity: &Temporal) -> Result<Membership, Unevaluable> {
        let (key, civil) = self.expansion.place(identity)?;
        let generated = self.makes(key, civil)?;
        let series = self.series;
        let excluded_by_rule = self.rules_make(&series.exrules, key, civil)?;
        let mut own: Option<&SeriesOverride> = None;
        for each in self.series.overrides.iter().filter(|each| !each.future) {
            if own.is_none() && self.expansion.name(&each.identity)?.means(key, civil) {
                own = Some(each);
            }
        }
        let master = &self.expansion.master;
        let identity = master.form.value(civil);
        let after = self.futures.partition_point(|future| future.key <= key);
        let future = after.checked_sub(1).map(|at| &self.futures[at]);
        let (start, extent) = match future {
            None => (
                master.form.value(civil),
                self.measure.lay(&master.form, civil, master.instant(key, civil)),
            ),
            Some(future) => {
                let (civil, from) = future.moved(master, civil, key);
                (future.form.value(civil), future.measure.lay(&future.form, civil, from))
            }
        };
        let mut end = extent.end;
        if let Some(local) = &end
            && self.expansion.instant(local)? != extent.to
            && !start.is_date()
        {
            end = Some(Temporal::Utc(date_time(extent.to)));
        }
        let cancelled = match (own, future) {
            (Some(own), _) => own.cancelled,
            (None, future) => future.is_some_and(|future| future.cancelled),
        };
        let (mut exclusions, mut excluded_exactly) = (Vec::new(), false);
        for (at, date) in self.series.exdates.iter().enumerate() {
            let name = self.expansion.name(date)?;
            if name.means(key, civil) {
                exclusions.push(at);
                excluded_exactly |= matches!(name, Name::Key(_));
            }
        }
        Ok(Membership {
            identity,
            generated,
            exclusions,
            excluded_exactly,
            excluded_by_rule,
            individual: own.map(|own| own.component),
            future: future.map(|future| future.component),
            begins_future: future.is_some_and(|future| future.key == key),
            cancelled,
            start,
            end,
            duration: extent.duration,
        })
    }

    /// How many occurrences nothing but an EXDATE that is this local day of DTSTART excludes.
    ///
    /// # Errors
    /// [`Unevaluable`].
    pub fn excluded_by_day(&mut self, day: &Temporal) -> Result<usize, Unevaluable> {
        let own = self.expansion.name(day)?;
        let mut excluded = Names::default();
        for date in &self.series.exdates {
            let name = self.expansion.name(date)?;
            if name != own {
                excluded.add(name);
            }
        }
        self.on_day(day, excluded)
    }

    /// How many occurrences the set has on a local day of DTSTART, whatever its overrides say.
    fn on_day(&mut self, day: &Temporal, mut excluded: Names) -> Result<usize, Unevaluable> {
        let form = &self.expansion.master.form;
        let midnight = civil_second(day.civil()).div_euclid(DAY) * DAY;
        let window = Window {
            from: form.instant(midnight).0,
            to: form.instant(midnight + DAY).0,
        };
        excluded.sort();
        self.expansion.charge(self.series.rdates.len() as u64)?;
        self.expansion.collector = Collector::new(window);
        self.expansion.collector.excluded = excluded;
        self.expansion.expand_master()?;
        self.found()
    }

    /// Whether the set makes what a stored EXDATE or RECURRENCE-ID names: a moment, or anything on a day.
    ///
    /// # Errors
    /// [`Unevaluable`].
    pub fn makes_any(&mut self, date: &Temporal) -> Result<bool, Unevaluable> {
        if date.is_date() && !self.expansion.master.form.is_date() {
            return Ok(self.on_day(date, Names::default())? > 0);
        }
        let (key, civil) = self.expansion.place(date)?;
        self.makes(key, civil)
    }

    /// What a value names in the form of DTSTART; a day in a series of times stays a day. Values that name the same are
    /// the same then.
    ///
    /// # Errors
    /// [`Unevaluable`].
    pub fn canonical(&mut self, date: &Temporal) -> Result<Temporal, Unevaluable> {
        if date.is_date() && !self.expansion.master.form.is_date() {
            return Ok(date.clone());
        }
        let civil = self.expansion.place(date)?.1;
        Ok(self.expansion.master.form.value(civil))
    }

    /// Whether DTSTART, a rule or an RDATE makes this occurrence.
    fn makes(&mut self, key: i64, civil: i64) -> Result<bool, Unevaluable> {
        if self.series.start.is_none() {
            return Ok(false);
        }
        let (form, anchor) = (&self.expansion.master.form, self.expansion.master.anchor);
        if form.key(anchor, form.instant(anchor).0) == key || self.added.binary_search(&key).is_ok() {
            return Ok(true);
        }
        let series = self.series;
        self.rules_make(&series.rules, key, civil)
    }

    fn rules_make(&mut self, rules: &[Rule], key: i64, civil: i64) -> Result<bool, Unevaluable> {
        self.expansion.charge(rules.len() as u64)?;
        let from = self.expansion.master.instant(key, civil);
        let window = Window { from, to: from + 1 };
        self.expansion.collector = Collector::new(window);
        for rule in rules {
            self.expansion.expand_rule(rule, window, Expansion::offer)?;
        }
        Ok(self.found()? > 0)
    }

    /// How many occurrences the collector holds.
    fn found(&mut self) -> Result<usize, Unevaluable> {
        let collector = &mut self.expansion.collector;
        let empty = Collector::new(collector.window);
        Ok(std::mem::replace(collector, empty).finish()?.len())
    }
}

//! One expansion: what the set has in reach of the window, and what the overrides make of it.

use super::clock::{Clock, Form};
use super::span::Measure;
use super::{Frame, Instance, MAX_OCCURRENCES, RecurrenceDate, Series, SeriesOverride, Unevaluable, Window};
use crate::ical::recur::{DAY, Occurrences, Rule, RuleFault, Steps, Until, civil_second};
use crate::ical::value::Temporal;

/// The state of one call of [`super::occurrences`].
pub(super) struct Expansion<'a> {
    series: &'a Series,
    window: Window,
    steps: &'a mut Steps,
    clock: Clock<'a>,
    /// The form and measure of the master; without a master the form of the first identity.
    home: Form,
    measure: Measure,
    /// DTSTART in local seconds.
    anchor: i64,
    excluded: Names,
    overridden: Names,
    /// Overrides of later occurrences, by key.
    futures: Vec<Future>,
    found: Vec<Found>,
}

/// What an EXDATE or RECURRENCE-ID names. The key of an occurrence is its local midnight in a series of dates and its
/// instant in a series of times.
#[derive(Clone, Copy, Debug)]
enum Name {
    Key(i64),
    /// A day in a series of times, in days since 1970.
    Day(i64),
}

/// Names to look up, sorted.
#[derive(Debug, Default)]
struct Names {
    keys: Vec<i64>,
    days: Vec<i64>,
}

/// An occurrence of the set before overrides.
struct Slot<'s> {
    key: i64,
    /// The local second in the zone of DTSTART.
    civil: i64,
    form: &'s Form,
    /// The local second in `form`.
    own_civil: i64,
    instant: i64,
    measure: &'s Measure,
    /// An RDATE with a length of its own goes before the same occurrence without.
    rank: u8,
}

/// THISANDFUTURE.
struct Future {
    key: i64,
    component: usize,
    form: Form,
    /// Local seconds from an identity to its start.
    shift: i64,
    measure: Measure,
    cancelled: bool,
}

struct Found {
    key: i64,
    rank: u8,
    instance: Instance,
}

impl<'a> Expansion<'a> {
    pub(super) fn new(
        series: &'a Series,
        frame: &'a Frame<'a>,
        window: Window,
        steps: &'a mut Steps,
    ) -> Result<Self, Unevaluable> {
        let mut clock = Clock::new(frame);
        let anchor = series
            .start
            .as_ref()
            .or_else(|| series.overrides.first().map(|it| &it.identity));
        let nowhere = Temporal::Utc(jiff::civil::DateTime::MIN);
        let anchor = anchor.unwrap_or(&nowhere);
        let home = Form::of(anchor, &mut clock)?;
        let measure = Measure::of(&series.span, anchor, &mut clock)?;
        Ok(Self {
            series,
            window,
            steps,
            clock,
            home,
            measure,
            anchor: civil_second(anchor.civil()),
            excluded: Names::default(),
            overridden: Names::default(),
            futures: Vec::new(),
            found: Vec::new(),
        })
    }

    pub(super) fn run(mut self) -> Result<Vec<Instance>, Unevaluable> {
        let series = self.series;
        self.steps
            .charge((series.exdates.len() + series.rdates.len() + series.overrides.len()) as u64)?;
        for date in &series.exdates {
            let name = self.name(date)?;
            self.excluded.add(name);
        }
        self.excluded.sort();
        let mut names = Vec::with_capacity(series.overrides.len());
        for each in &series.overrides {
            let name = self.name(&each.identity)?;
            self.overridden.add(name);
            names.push(name);
        }
        self.overridden.sort();
        for (each, name) in series.overrides.iter().zip(names) {
            self.read_override(each, name)?;
        }
        self.futures.sort_by_key(|future| future.key);
        if series.start.is_some() {
            self.expand_master()?;
        }
        self.settle();
        if self.found.len() > MAX_OCCURRENCES {
            return Err(Unevaluable::Occurrences);
        }
        self.found.sort_by_key(|found| (found.instance.from, found.key));
        Ok(self.found.into_iter().map(|found| found.instance).collect())
    }

    fn name(&mut self, value: &Temporal) -> Result<Name, Unevaluable> {
        let civil = civil_second(value.civil());
        if self.home.is_date() {
            return Ok(Name::Key(civil.div_euclid(DAY) * DAY));
        }
        Ok(match value {
            Temporal::Date(_) => Name::Day(civil.div_euclid(DAY)),
            Temporal::Floating(_) => Name::Key(self.home.instant(civil).0),
            Temporal::Utc(_) | Temporal::Zoned(..) => Name::Key(self.clock.instant(value)?),
        })
    }

    /// The key and the local second of what an override names; a day is taken at the time of DTSTART.
    fn place(&self, name: Name) -> (i64, i64) {
        match name {
            Name::Key(key) if self.home.is_date() => (key, key),
            Name::Key(key) => (key, self.home.civil(key)),
            Name::Day(day) => {
                let civil = day * DAY + self.anchor.rem_euclid(DAY);
                (self.home.instant(civil).0, civil)
            }
        }
    }

    /// Emits the occurrence of an override, and keeps what it does to later ones.
    fn read_override(&mut self, each: &SeriesOverride, name: Name) -> Result<(), Unevaluable> {
        let (key, civil) = self.place(name);
        let start = each.start.clone().unwrap_or_else(|| self.home.value(civil));
        let form = Form::of(&start, &mut self.clock)?;
        let measure = match &each.span {
            Some(span) => Measure::of(span, &start, &mut self.clock)?,
            None => self.measure.clone(),
        };
        let own_civil = civil_second(start.civil());
        if !self.excluded.has(key, civil) {
            let from = form.instant(own_civil).0;
            let extent = measure.lay(&form, own_civil, from);
            if self.window.holds(from, extent.to) {
                let instant = self.home.instant(civil).0;
                let source = self.measure.lay(&self.home, civil, instant);
                self.push(Found {
                    key,
                    rank: 0,
                    instance: Instance {
                        component: Some(each.component),
                        identity: each.identity.clone(),
                        source_start: self.home.value(civil),
                        source_end: source.end,
                        source_duration: source.duration,
                        start,
                        end: extent.end,
                        duration: extent.duration,
                        from,
                        to: extent.to,
                        cancelled: each.cancelled,
                    },
                })?;
            }
        }
        if each.future {
            let base = self.base(&form, civil, key);
            self.futures.push(Future {
                key,
                component: each.component,
                form,
                shift: own_civil - base,
                measure,
                cancelled: each.cancelled,
            });
        }
        Ok(())
    }

    /// Where an occurrence lies on the clock of an override, before the shift.
    fn base(&self, form: &Form, civil: i64, key: i64) -> i64 {
        if self.home.is_date() || form.is_date() {
            civil
        } else {
            form.civil(key)
        }
    }

    /// DTSTART, rules and RDATEs, as far as they can reach into the window.
    fn expand_master(&mut self) -> Result<(), Unevaluable> {
        let longest = |measure: &Measure, form: &Form| match measure {
            Measure::Nothing if !form.is_date() => 0,
            measure => measure.longest(),
        };
        let mut back = longest(&self.measure, &self.home);
        let (mut later, mut earlier) = (0, 0);
        for future in &self.futures {
            back = back.max(longest(&future.measure, &future.form));
            later = later.max(future.shift + 2 * DAY);
            earlier = earlier.max(2 * DAY - future.shift);
        }
        let reach = Window {
            from: self.window.from.saturating_sub(back).saturating_sub(later),
            to: self.window.to.saturating_add(earlier),
        };
        self.offer(self.anchor)?;
        for rule in &self.series.rules {
            self.expand_rule(rule, reach)?;
        }
        for date in &self.series.rdates {
            self.add_date(date)?;
        }
        Ok(())
    }

    fn expand_rule(&mut self, rule: &Rule, reach: Window) -> Result<(), Unevaluable> {
        if self.home.is_date() && rule.needs_time() {
            return Err(RuleFault::Forbidden("FREQ").into());
        }
        let mut until = i64::MAX;
        let mut made = Occurrences::new(rule, self.anchor, self.home.is_date());
        if let Some(Until::Utc(time)) = rule.until()
            && self.home.is_zoned()
        {
            until = civil_second(time);
            // Local times in a fold stand for the earlier instant, so the local bound needs room.
            made = made.until(self.home.civil(until).saturating_add(DAY));
        }
        // With COUNT, occurrences in gaps do not count: they have to be looked at.
        if rule.count().is_none() || !self.home.has_gaps() {
            made.seek(self.home.civil(reach.from));
        }
        while let Some(civil) = made.next(self.steps)? {
            let (instant, exists) = self.home.instant(civil);
            if instant >= reach.to || instant > until {
                break;
            }
            if !exists && civil != self.anchor {
                made.uncount();
            } else if instant >= reach.from {
                self.offer(civil)?;
            }
        }
        Ok(())
    }

    fn add_date(&mut self, date: &RecurrenceDate) -> Result<(), Unevaluable> {
        if date.start.is_date() != self.home.is_date() {
            return Err(Unevaluable::DateType);
        }
        let own_civil = civil_second(date.start.civil());
        let form = match &date.start {
            Temporal::Date(_) | Temporal::Floating(_) => self.home.clone(),
            Temporal::Utc(_) | Temporal::Zoned(..) => Form::of(&date.start, &mut self.clock)?,
        };
        let measure = match &date.span {
            Some(span) => Measure::of(span, &form.value(own_civil), &mut self.clock)?,
            None => self.measure.clone(),
        };
        let instant = form.instant(own_civil).0;
        let (key, civil) = match self.home.is_date() {
            true => (own_civil, own_civil),
            false => (instant, self.home.civil(instant)),
        };
        self.take(Slot {
            key,
            civil,
            form: &form,
            own_civil,
            instant,
            measure: &measure,
            rank: u8::from(date.span.is_none()),
        })
    }

    /// Takes an occurrence at a local second of the master.
    fn offer(&mut self, civil: i64) -> Result<(), Unevaluable> {
        let instant = self.home.instant(civil).0;
        let (form, measure) = (self.home.clone(), self.measure.clone());
        self.take(Slot {
            key: if form.is_date() { civil } else { instant },
            civil,
            form: &form,
            own_civil: civil,
            instant,
            measure: &measure,
            rank: 1,
        })
    }

    /// Applies EXDATE, overrides and the window to an occurrence of the set.
    fn take(&mut self, slot: Slot<'_>) -> Result<(), Unevaluable> {
        if self.excluded.has(slot.key, slot.civil) || self.overridden.has(slot.key, slot.civil) {
            return Ok(());
        }
        let after = self.futures.partition_point(|future| future.key <= slot.key);
        let future = after.checked_sub(1).map(|at| &self.futures[at]);
        let (from, extent) = match future {
            None => (slot.instant, slot.measure.lay(slot.form, slot.own_civil, slot.instant)),
            Some(future) => {
                let (civil, from) = self.shifted(future, &slot);
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
                let start = future.form.value(self.shifted(future, &slot).0);
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

    /// The start of a later occurrence under THISANDFUTURE, in local and in Unix seconds.
    fn shifted(&self, future: &Future, slot: &Slot<'_>) -> (i64, i64) {
        let moved = self.base(&future.form, slot.civil, slot.key) + future.shift;
        let civil = if future.form.is_date() {
            moved.div_euclid(DAY) * DAY
        } else {
            moved
        };
        (civil, future.form.instant(civil).0)
    }

    fn push(&mut self, found: Found) -> Result<(), Unevaluable> {
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
}

impl Names {
    fn add(&mut self, name: Name) {
        match name {
            Name::Key(key) => self.keys.push(key),
            Name::Day(day) => self.days.push(day),
        }
    }

    fn sort(&mut self) {
        self.keys.sort_unstable();
        self.days.sort_unstable();
    }

    fn has(&self, key: i64, civil: i64) -> bool {
        self.keys.binary_search(&key).is_ok() || self.days.binary_search(&civil.div_euclid(DAY)).is_ok()
    }
}

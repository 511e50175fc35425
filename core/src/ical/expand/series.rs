//! One expansion: what the set has in reach of the window, and what the overrides make of it.

use super::clock::{Clock, Form};
use super::collect::{Collector, Found, Future, Master, Name, Slot};
use super::span::Measure;
use super::{Frame, Instance, RecurrenceDate, Series, SeriesOverride, Span, Unevaluable, Window};
use crate::ical::recur::{DAY, Occurrences, Rule, RuleFault, Steps, StepsExhausted, Until, civil_second};
use crate::ical::value::Temporal;

/// What becomes of a local second and its instant that a rule makes.
pub(super) type Each<'a> = fn(&mut Expansion<'a>, i64, i64) -> Result<(), Unevaluable>;

/// The state of one expansion or lookup.
#[derive(Debug)]
pub(super) struct Expansion<'a> {
    series: &'a Series,
    steps: &'a mut Steps,
    clock: Clock<'a>,
    pub(super) master: Master,
    pub(super) collector: Collector,
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
        let form = Form::of(anchor, &mut clock)?;
        let measure = Measure::of(&series.span, anchor, &mut clock)?;
        Ok(Self {
            series,
            steps,
            clock,
            master: Master {
                form,
                measure,
                anchor: civil_second(anchor.civil()),
            },
            collector: Collector::new(window),
        })
    }

    pub(super) fn run(mut self) -> Result<Vec<Instance>, Unevaluable> {
        let series = self.series;
        self.charge_lists()?;
        for date in &series.exdates {
            let name = self.name(date)?;
            self.collector.excluded.add(name);
        }
        if !series.exrules.is_empty() {
            for each in &series.overrides {
                let civil = self.place(&each.identity)?.1;
                let from = self.master.form.instant(civil).0;
                self.exclude_rules(Window { from, to: from + 1 })?;
            }
        }
        self.collector.excluded.sort();
        for each in &series.overrides {
            let name = self.name(&each.identity)?;
            self.collector.overridden.add(name);
        }
        self.collector.overridden.sort();
        for each in &series.overrides {
            self.read_override(each)?;
        }
        self.collector.futures.sort_by_key(|future| future.key);
        if series.start.is_some() {
            self.expand_master()?;
        }
        self.collector.finish()
    }

    /// Takes a step for each date and override.
    pub(super) fn charge_lists(&mut self) -> Result<(), StepsExhausted> {
        let Series {
            exdates,
            rdates,
            overrides,
            ..
        } = self.series;
        self.charge((exdates.len() + rdates.len() + overrides.len()) as u64)
    }

    pub(super) fn charge(&mut self, steps: u64) -> Result<(), StepsExhausted> {
        self.steps.charge(steps)
    }

    pub(super) fn instant(&mut self, value: &Temporal) -> Result<i64, Unevaluable> {
        self.clock.instant(value)
    }

    pub(super) fn name(&mut self, value: &Temporal) -> Result<Name, Unevaluable> {
        if value.is_date() && !self.master.form.is_date() {
            return Ok(Name::Day(civil_second(value.civil()).div_euclid(DAY)));
        }
        Ok(Name::Key(self.place(value)?.0))
    }

    /// The key of what a value names, and its local second in the zone of DTSTART. A day in a series of times is
    /// taken at the time of DTSTART; a time in a gap stays as it is written.
    pub(super) fn place(&mut self, value: &Temporal) -> Result<(i64, i64), Unevaluable> {
        let (form, civil) = (&self.master.form, civil_second(value.civil()));
        if form.is_date() {
            let midnight = civil.div_euclid(DAY) * DAY;
            return Ok((midnight, midnight));
        }
        if value.is_date() {
            let civil = civil + self.master.anchor.rem_euclid(DAY);
            return Ok((form.instant(civil).0, civil));
        }
        if form.fits(value) || matches!(value, Temporal::Floating(_)) {
            return Ok((form.instant(civil).0, civil));
        }
        let instant = self.clock.instant(value)?;
        Ok((instant, form.civil(instant)))
    }

    /// Emits the occurrence of an override, and keeps what it does to later ones.
    pub(super) fn read_override(&mut self, each: &SeriesOverride) -> Result<(), Unevaluable> {
        let (key, civil) = self.place(&each.identity)?;
        let start = each.start.clone().unwrap_or_else(|| self.master.form.value(civil));
        let form = Form::of(&start, &mut self.clock)?;
        let measure = match &each.span {
            Some(span) => Measure::of(span, &start, &mut self.clock)?,
            None => self.master.measure.clone(),
        };
        let own_civil = civil_second(start.civil());
        if !self.collector.excluded.has(key, civil) {
            let from = form.instant(own_civil).0;
            let extent = measure.lay(&form, own_civil, from);
            if self.collector.window.holds(from, extent.to) {
                let instant = self.master.form.instant(civil).0;
                let source = self.master.measure.lay(&self.master.form, civil, instant);
                self.collector.push(Found {
                    key,
                    // An override of this occurrence alone goes before one that begins here.
                    rank: u8::from(each.future),
                    instance: Instance {
                        component: Some(each.component),
                        identity: each.identity.clone(),
                        source_start: self.master.form.value(civil),
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
            let base = self.master.base(&form, civil, key);
            self.collector.futures.push(Future {
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

    /// DTSTART, rules and RDATEs, as far as they can reach into the window.
    pub(super) fn expand_master(&mut self) -> Result<(), Unevaluable> {
        let mut back = self.master.measure.longest(&self.master.form);
        let (mut later, mut earlier) = (0, 0);
        for future in &self.collector.futures {
            back = back.max(future.measure.longest(&future.form));
            later = later.max(future.shift + 2 * DAY);
            earlier = earlier.max(2 * DAY - future.shift);
        }
        let reach = Window {
            from: self.collector.window.from.saturating_sub(back).saturating_sub(later),
            to: self.collector.window.to.saturating_add(earlier),
        };
        self.exclude_rules(reach)?;
        self.collector.excluded.sort();
        let anchor = self.master.anchor;
        self.offer(anchor, self.master.form.instant(anchor).0)?;
        for rule in &self.series.rules {
            self.expand_rule(rule, reach, Self::offer)?;
        }
        for date in &self.series.rdates {
            self.add_date(date)?;
        }
        Ok(())
    }

    /// Excludes what the EXRULEs make within reach.
    fn exclude_rules(&mut self, reach: Window) -> Result<(), Unevaluable> {
        for rule in &self.series.exrules {
            self.expand_rule(rule, reach, |this, civil, instant| {
                let key = this.master.form.key(civil, instant);
                this.collector.excluded.add(Name::Key(key));
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Hands what a rule makes within reach to `each`: the local second and the instant.
    pub(super) fn expand_rule(&mut self, rule: &Rule, reach: Window, each: Each<'a>) -> Result<(), Unevaluable> {
        if self.master.form.is_date() && rule.needs_time() {
            return Err(RuleFault::Forbidden("FREQ").into());
        }
        let mut until = i64::MAX;
        let mut made = Occurrences::new(rule, self.master.anchor, self.master.form.is_date());
        if let Some(Until::Utc(time)) = rule.until()
            && self.master.form.is_zoned()
        {
            until = civil_second(time);
            // Local times in a fold stand for the earlier instant, so the local bound needs room.
            made = made.until(self.master.form.civil(until).saturating_add(DAY));
        }
        let target = self.master.form.civil(reach.from);
        if rule.count().is_none() || !self.master.form.has_gaps() {
            made.seek(target);
        } else if let Some(missing) = self.missing(rule, reach.from)? {
            made.uncount(missing);
            made.seek(target);
        }
        while let Some(civil) = made.next(self.steps)? {
            let (instant, exists) = self.master.form.instant(civil);
            // A local time in a gap is read later than those after the gap, so it says nothing about them.
            if !exists && civil != self.master.anchor {
                made.uncount(1);
                continue;
            }
            if instant >= reach.from && instant < reach.to && instant <= until {
                each(self, civil, instant)?;
            } else if exists && (instant >= reach.to || instant > until) {
                break;
            }
        }
        Ok(())
    }

    /// How many local times that a rule makes before an instant do not exist; `None` if only a walk can tell.
    fn missing(&mut self, rule: &Rule, to: i64) -> Result<Option<u64>, StepsExhausted> {
        let Master { form, anchor, .. } = &self.master;
        // DTSTART itself may lie in a gap, and others after it in the same.
        let Some(gaps) = form.zone.gaps(form.instant(*anchor).0 - 2 * DAY, to) else {
            return Ok(None);
        };
        let mut made = Occurrences::new(rule, *anchor, false).without_count();
        let mut missing = 0;
        let mut next = Some(*anchor);
        for (start, end) in gaps {
            made.seek(start.max(anchor + 1));
            // What was found behind the last gap is not found again.
            if next.is_some_and(|next| next <= *anchor || next < start) {
                next = made.next(self.steps)?;
            }
            while let Some(civil) = next
                && civil < end
            {
                missing += 1;
                next = made.next(self.steps)?;
            }
        }
        Ok(Some(missing))
    }

    fn add_date(&mut self, date: &RecurrenceDate) -> Result<(), Unevaluable> {
        if date.start.is_date() != self.master.form.is_date() {
            return Err(Unevaluable::DateType);
        }
        let own_civil = civil_second(date.start.civil());
        let form = match &date.start {
            Temporal::Date(_) | Temporal::Floating(_) => self.master.form.clone(),
            Temporal::Utc(_) | Temporal::Zoned(..) => Form::of(&date.start, &mut self.clock)?,
        };
        let measure = match &date.span {
            // The end of a floating period is as local as its start.
            Some(Span::Until(Temporal::Floating(end))) => {
                let end = Span::Until(form.value(civil_second(*end)));
                Measure::of(&end, &form.value(own_civil), &mut self.clock)?
            }
            Some(span) => Measure::of(span, &form.value(own_civil), &mut self.clock)?,
            None => self.master.measure.clone(),
        };
        let instant = form.instant(own_civil).0;
        let (key, civil) = match self.master.form.is_date() {
            true => (own_civil, own_civil),
            false => (instant, self.master.form.civil(instant)),
        };
        let slot = Slot {
            key,
            civil,
            form: &form,
            own_civil,
            instant,
            measure: &measure,
            rank: u8::from(date.span.is_none()),
        };
        self.collector.take(&self.master, &slot)
    }

    /// Takes an occurrence in the form of the master, at a local second.
    pub(super) fn offer(&mut self, civil: i64, instant: i64) -> Result<(), Unevaluable> {
        let master = &self.master;
        let slot = Slot {
            key: master.form.key(civil, instant),
            civil,
            form: &master.form,
            own_civil: civil,
            instant,
            measure: &master.measure,
            rank: 1,
        };
        self.collector.take(master, &slot)
    }
}

//! The local times of a rule, in order.

mod hours;

use super::civil::{DAY, LAST_DAY, LAST_SECOND};
use super::period::Anchor;
use super::{Frequency, Rule, Steps, StepsExhausted};

/// The most times that are laid out ahead within a period.
const CHUNK: usize = 512;
/// Periods are looked at together until they have so many days. It begins with one, since a seek often wants no more.
const DAYS_AHEAD: usize = 16;

/// The local times of a rule in ascending order, without repeats, up to year 9999. No zone is applied.
///
/// DTSTART is among them only if the rule makes it. See [`civil_second`](super::civil_second) for the numbers.
#[derive(Clone, Debug)]
pub struct Occurrences<'r> {
    rule: &'r Rule,
    anchor: Anchor,
    /// A date as DTSTART: there is no time of day.
    date: bool,
    /// Seconds of the day, for DAILY and slower; made when first needed.
    times: Vec<i64>,
    /// The period to look at next, for DAILY and slower.
    period: i64,
    /// The hour since 1970 to look at next, for faster rules.
    hour: i64,
    /// The days of the current periods, and what was laid out of them.
    days: Vec<i64>,
    /// For how many days periods are looked at together next.
    ahead: usize,
    day_at: usize,
    time_at: usize,
    /// The day that passed the filters last, for faster rules.
    admitted: i64,
    /// The last period or day that had an occurrence.
    fruitful: i64,
    ready: Vec<i64>,
    at: usize,
    /// The last occurrence made, or what nothing may lie before.
    last: i64,
    /// Occurrences before this are counted, but not yielded.
    from: i64,
    until: i64,
    /// What COUNT leaves.
    remaining: u64,
    counted: bool,
    ended: bool,
}

impl<'r> Occurrences<'r> {
    /// The occurrences of a rule for DTSTART in local seconds. `date`: DTSTART is a day, at midnight. UNTIL is taken
    /// as local time in whatever form it is.
    #[must_use]
    pub fn new(rule: &'r Rule, start: i64, date: bool) -> Self {
        let mut made = Self {
            rule,
            anchor: Anchor::new(start),
            date,
            times: Vec::new(),
            period: 0,
            hour: start.div_euclid(3_600),
            days: Vec::new(),
            ahead: 1,
            day_at: 0,
            time_at: 0,
            admitted: i64::MIN,
            fruitful: 0,
            ready: Vec::new(),
            at: 0,
            last: start - 1,
            from: i64::MIN,
            until: rule.until.map_or(LAST_SECOND, |until| until.civil().min(LAST_SECOND)),
            remaining: rule.count.map_or(u64::MAX, u64::from),
            counted: rule.count.is_some(),
            ended: rule.never(),
        };
        if rule.needs_time() {
            made.fruitful = made.anchor.day;
            made.ended |= made.misses();
        }
        made
    }

    /// Takes another local time, inclusive, as the end instead of UNTIL.
    #[must_use]
    pub fn until(mut self, second: i64) -> Self {
        self.until = second.min(LAST_SECOND);
        self
    }

    /// Leaves COUNT aside.
    #[must_use]
    pub fn without_count(mut self) -> Self {
        (self.remaining, self.counted) = (u64::MAX, false);
        self
    }

    /// Gives occurrences back to COUNT, because their local times do not exist (RFC 5545, 3.3.10). Those that
    /// [`Self::seek`] is going to pass over have to be given back before.
    pub fn uncount(&mut self, occurrences: u64) {
        if self.counted {
            self.remaining = self.remaining.saturating_add(occurrences);
        }
    }

    /// Continues with the first occurrence at or after a local second; backwards it does nothing.
    ///
    /// Without COUNT this is arithmetic. With COUNT what is skipped is counted, in bulk where all periods have the
    /// same number of occurrences, else by walking in [`Self::next`].
    pub fn seek(&mut self, second: i64) {
        let second = second.min(LAST_SECOND + 1);
        if second <= self.last {
            return;
        }
        if !self.counted {
            self.jump(second);
            self.last = second - 1;
            return;
        }
        self.from = self.from.max(second);
        // Bulk counting starts at DTSTART.
        if self.last < self.anchor.second {
            self.skip_whole_periods(second);
        }
    }

    /// The next occurrence in local seconds.
    ///
    /// # Errors
    /// [`StepsExhausted`]; a further call goes on where the budget ended.
    #[inline]
    pub fn next(&mut self, steps: &mut Steps) -> Result<Option<i64>, StepsExhausted> {
        loop {
            while let Some(&second) = self.ready.get(self.at) {
                if self.remaining == 0 || second > self.until {
                    return Ok(None);
                }
                self.at += 1;
                if second <= self.last {
                    continue;
                }
                self.last = second;
                self.remaining -= 1;
                if second >= self.from {
                    return Ok(Some(second));
                }
            }
            if self.ended || self.remaining == 0 {
                return Ok(None);
            }
            self.ready.clear();
            self.at = 0;
            let more = if self.rule.needs_time() {
                self.fill_from_hours(steps)?
            } else {
                self.fill_from_days(steps)?
            };
            self.ended |= !more;
        }
    }

    fn jump(&mut self, second: i64) {
        self.ready.clear();
        self.at = 0;
        self.days.clear();
        self.day_at = 0;
        self.ahead = 1;
        // The period or hour of the target may have been laid out before, so this may go back.
        if self.rule.needs_time() {
            self.hour = second.div_euclid(3_600);
            self.fruitful = self.hour.div_euclid(24);
        } else {
            self.period = self.rule.period_of(&self.anchor, second.div_euclid(DAY));
            self.fruitful = self.period;
        }
    }

    fn fill_from_days(&mut self, steps: &mut Steps) -> Result<bool, StepsExhausted> {
        if self.times.is_empty() {
            self.make_times(steps)?;
        }
        loop {
            if self.day_at < self.days.len() {
                self.lay_out(steps)?;
                return Ok(true);
            }
            steps.charge(1)?;
            if !self.rule.days(&self.anchor, self.period, &mut self.days) {
                return Ok(false);
            }
            let period = self.period;
            self.period += 1;
            self.day_at = self.days.len();
            if self.rule.positions.is_empty() {
                self.add_days();
                (self.day_at, self.time_at) = (0, 0);
                if self.days.first().is_some_and(|day| day * DAY <= self.last) {
                    self.pass_over();
                }
            } else {
                steps.charge(self.rule.positions.len() as u64)?;
                self.pick();
            }
            if self.days.is_empty() || (!self.rule.positions.is_empty() && self.ready.is_empty()) {
                if period - self.fruitful > self.rule.cycle() {
                    return Ok(false);
                }
                if self.rule.frequency == Frequency::Daily {
                    self.skip_months(period);
                }
                continue;
            }
            self.fruitful = period;
            if !self.ready.is_empty() {
                return Ok(true);
            }
        }
    }

    /// Passes over the days and times of the current periods that are not after the last occurrence.
    fn pass_over(&mut self) {
        let (day, time) = ((self.last + 1).div_euclid(DAY), (self.last + 1).rem_euclid(DAY));
        self.day_at = self.days.partition_point(|other| *other < day);
        if self.days.get(self.day_at) == Some(&day) {
            self.time_at = self.times.partition_point(|other| *other < time);
        }
        if self.time_at == self.times.len() {
            (self.day_at, self.time_at) = (self.day_at + 1, 0);
        }
    }

    /// Takes the days of some of the next periods along, up to one without any.
    fn add_days(&mut self) {
        let ahead = self.ahead;
        self.ahead = DAYS_AHEAD.min(ahead * 2);
        let mut more = Vec::new();
        while (1..ahead).contains(&self.days.len()) {
            if self.rule.frequency == Frequency::Daily {
                let day = self.anchor.day + self.period * self.rule.interval;
                if day > LAST_DAY || !self.rule.admits(day) {
                    return;
                }
                self.days.push(day);
            } else {
                if !self.rule.days(&self.anchor, self.period, &mut more) || more.is_empty() {
                    return;
                }
                self.days.append(&mut more);
            }
            self.period += 1;
        }
    }

    /// In a daily rule, passes over the days of months that BYMONTH does not want.
    fn skip_months(&mut self, period: i64) {
        let interval = self.rule.interval;
        if let Some(day) = self.rule.next_month(self.anchor.day + period * interval) {
            let ahead = (day - self.anchor.day + interval - 1).div_euclid(interval);
            self.period = self.period.max(ahead);
        }
    }

    fn make_times(&mut self, steps: &mut Steps) -> Result<(), StepsExhausted> {
        if !self.times.is_empty() {
            return Ok(());
        }
        if self.date {
            self.times.push(0);
            return Ok(());
        }
        let time = self.anchor.second.rem_euclid(DAY);
        let hours = bits(u64::from(self.rule.hours), time / 3_600);
        let (minutes, seconds) = (self.minutes(), self.seconds());
        steps.charge((hours.count_ones() * minutes.count_ones() * seconds.count_ones() / 16).into())?;
        for hour in ones(hours) {
            for minute in ones(minutes) {
                self.times
                    .extend(ones(seconds).map(|second| hour * 3_600 + minute * 60 + second));
            }
        }
        Ok(())
    }

    fn minutes(&self) -> u64 {
        bits(self.rule.minutes, self.anchor.second.rem_euclid(3_600) / 60)
    }

    fn seconds(&self) -> u64 {
        bits(self.rule.seconds, self.anchor.second.rem_euclid(60))
    }

    /// Lays out a part of the current periods.
    fn lay_out(&mut self, steps: &mut Steps) -> Result<(), StepsExhausted> {
        let left = (self.days.len() - self.day_at) * self.times.len() - self.time_at;
        steps.charge(left.min(CHUNK) as u64)?;
        // Most rules have one time of day.
        if let [time] = self.times[..] {
            let days = self.days[self.day_at..].iter().take(CHUNK);
            self.day_at += days.len();
            self.ready.extend(days.map(|day| day * DAY + time));
            return Ok(());
        }
        while self.day_at < self.days.len() && self.ready.len() < CHUNK {
            let midnight = self.days[self.day_at] * DAY;
            let end = self.times.len().min(self.time_at + CHUNK - self.ready.len());
            self.ready
                .extend(self.times[self.time_at..end].iter().map(|time| midnight + time));
            self.time_at = end;
            if end == self.times.len() {
                (self.day_at, self.time_at) = (self.day_at + 1, 0);
            }
        }
        Ok(())
    }

    /// BYSETPOS: the wanted ones of all times of the current period, by arithmetic.
    fn pick(&mut self) {
        let total = (self.days.len() * self.times.len()) as i64;
        let mut picked = picks(&self.rule.positions, total);
        picked.sort_unstable();
        picked.dedup();
        let times = self.times.len();
        self.ready.extend(
            picked
                .iter()
                .map(|at| self.days[at / times] * DAY + self.times[at % times]),
        );
    }

    /// With COUNT, from DTSTART: passes over all periods before the one of a second, if they have the same size.
    fn skip_whole_periods(&mut self, second: i64) {
        let rule = self.rule;
        // Times of day without end are left to the budget.
        if self.ended || self.make_times(&mut Steps::new(CHUNK as u64)).is_err() {
            return;
        }
        // So many periods make the same number of occurrences again.
        let Some(turn) = rule.turn(&self.anchor, self.times.len() as i64) else {
            return;
        };
        let (turns, first) = if rule.needs_time() {
            let base = self.base();
            if self.lay_out_hour(base, &mut Steps::new(4_000)).is_err() {
                return;
            }
            let first = std::mem::take(&mut self.ready);
            (
                (second - base).div_euclid(self.step()),
                first
                    .into_iter()
                    .filter(|made| *made < base + self.unit())
                    .collect::<Vec<_>>(),
            )
        } else {
            let mut first = Vec::new();
            for period in 0..turn {
                rule.days(&self.anchor, period, &mut self.days);
                if rule.positions.is_empty() {
                    let times = &self.times;
                    let days = self.days.iter();
                    first.extend(days.flat_map(|day| times.iter().map(move |time| day * DAY + time)));
                } else {
                    self.pick();
                    first.append(&mut self.ready);
                }
            }
            self.days.clear();
            (rule.period_of(&self.anchor, second.div_euclid(DAY)) / turn, first)
        };
        if turns < 1 {
            return;
        }
        let partial = first.iter().filter(|made| **made >= self.anchor.second).count() as u64;
        let skipped = partial + (turns as u64 - 1) * first.len() as u64;
        self.remaining = self.remaining.saturating_sub(skipped);
        if rule.needs_time() {
            let tick = self.base() + turns * self.step();
            self.hour = tick.div_euclid(3_600);
            self.last = tick - 1;
        } else {
            self.period = turns * turn;
        }
    }
}

/// The indexes that BYSETPOS names in a set of this size; unsorted, the same one perhaps twice.
fn picks(positions: &[i64], size: i64) -> Vec<usize> {
    let index = |position: &i64| if *position > 0 { position - 1 } else { size + position };
    positions
        .iter()
        .map(index)
        .filter(|at| (0..size).contains(at))
        .map(|at| at as usize)
        .collect()
}

fn bits(mask: u64, otherwise: i64) -> u64 {
    if mask == 0 { 1 << otherwise } else { mask }
}

/// The numbers of the bits that are set, ascending.
fn ones(mut mask: u64) -> impl Iterator<Item = i64> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let bit = mask.trailing_zeros();
        mask &= mask - 1;
        Some(i64::from(bit))
    })
}

//! The days of one year, month, week or day of a rule, and the filters on days.

use super::civil::{CYCLE, LAST_DAY, first_week, gcd, weekday};
use super::{Frequency, Rule, Skip};
use crate::ical::gregorian::{date_of_day, day_number, month_length, year_length};

/// What a rule takes from DTSTART.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anchor {
    pub(super) second: i64,
    pub(super) day: i64,
    year: i64,
    month: i64,
    month_day: i64,
}

impl Anchor {
    pub(super) fn new(second: i64) -> Self {
        let day = second.div_euclid(super::DAY);
        let (year, month, month_day) = date_of_day(day);
        Self {
            second,
            day,
            year,
            month,
            month_day,
        }
    }
}

impl Rule {
    /// The number of a period, counted from the one of DTSTART, at or before the one that holds a day. One less than
    /// that for years and months, since SKIP and weeks reach over their ends.
    pub(super) fn period_of(&self, anchor: &Anchor, day: i64) -> i64 {
        let (year, month, _) = date_of_day(day);
        let period = match self.frequency {
            Frequency::Yearly => (year - anchor.year - 1).div_euclid(self.interval),
            Frequency::Monthly => ((year - anchor.year) * 12 + month - anchor.month - 1).div_euclid(self.interval),
            Frequency::Weekly => (day - self.week(anchor, 0)).div_euclid(7 * self.interval),
            Frequency::Daily => (day - anchor.day).div_euclid(self.interval),
            Frequency::Hourly | Frequency::Minutely | Frequency::Secondly => 0,
        };
        period.max(0)
    }

    /// The number of periods after which the days repeat.
    pub(super) fn cycle(&self) -> i64 {
        let cycle = match self.frequency {
            Frequency::Yearly => 400,
            Frequency::Monthly => 4_800,
            Frequency::Weekly => CYCLE / 7,
            Frequency::Daily | Frequency::Hourly | Frequency::Minutely | Frequency::Secondly => CYCLE,
        };
        cycle / gcd(self.interval, cycle)
    }

    /// After how many periods the number of occurrences in them repeats, if that is soon: one where all periods have the
    /// same number of occurrences. `times`: the times of a day.
    pub(super) fn turn(&self, anchor: &Anchor, times: i64) -> Option<i64> {
        let filters_times = self.hours != 0 && self.frequency < Frequency::Daily
            || self.minutes != 0 && self.frequency < Frequency::Hourly
            || self.seconds != 0 && self.frequency < Frequency::Minutely;
        let filters_more = self.months != 0 || !self.month_days.is_empty() || !self.year_days.is_empty();
        let constant = match self.frequency {
            Frequency::Yearly | Frequency::Monthly => self.has_constant_days(anchor) || self.picks_always(times),
            Frequency::Weekly => self.months == 0,
            Frequency::Daily if filters_more => false,
            // A filter of weekdays lets the same days of seven steps pass.
            Frequency::Daily if self.has_weekdays() => return self.positions.is_empty().then_some(7),
            Frequency::Daily => true,
            Frequency::Hourly | Frequency::Minutely | Frequency::Secondly => !self.filters_days() && !filters_times,
        };
        constant.then_some(1)
    }

    /// Whether all months or years of the rule have the same number of days of it.
    fn has_constant_days(&self, anchor: &Anchor) -> bool {
        let yearly = self.frequency == Frequency::Yearly;
        if self.skip != Skip::Omit || !self.weeks.is_empty() || !yearly && self.months != 0 {
            return false;
        }
        match (
            self.month_days.is_empty(),
            self.year_days.is_empty(),
            self.has_weekdays(),
        ) {
            // The months of a year are as long every year, but for February.
            (true, true, false) if yearly && self.months == 0 => (anchor.month, anchor.month_day) != (2, 29),
            (true, true, false) => anchor.month_day <= 28 || yearly && self.months & 1 << 2 == 0,
            (false, true, false) => {
                let february = !yearly || self.months == 0 || self.months & 1 << 2 != 0;
                !february || always_distinct(self.month_days.iter(), 28)
            }
            (true, false, false) => self.months == 0 && always_distinct(self.year_days.iter(), 365),
            (true, true, true) => {
                let most = if yearly && self.months == 0 { 52 } else { 4 };
                self.weekdays == 0 && always_distinct(self.numbered.iter().map(|(number, _)| number), most)
            }
            _ => false,
        }
    }

    /// Whether BYSETPOS finds all its positions in every month or year, for weekdays without a number.
    fn picks_always(&self, times: i64) -> bool {
        let alone = self.months == 0
            && self.month_days.is_empty()
            && self.year_days.is_empty()
            && self.weeks.is_empty()
            && self.numbered.is_empty();
        let weeks = if self.frequency == Frequency::Yearly { 52 } else { 4 };
        let least = weeks * i64::from(self.weekdays.count_ones()) * times;
        // Ascending: those from the end come first.
        let from_end = self.positions.first().map_or(0, |position| -position).max(0);
        let from_start = self.positions.last().map_or(0, |position| *position).max(0);
        alone && !self.positions.is_empty() && self.weekdays != 0 && from_start + from_end <= least
    }

    /// First day of a week of the rule.
    fn week(&self, anchor: &Anchor, period: i64) -> i64 {
        anchor.day - (weekday(anchor.day) - self.week_start).rem_euclid(7) + period * 7 * self.interval
    }

    /// Puts the days of a period into `days`, ascending. False if it lies beyond year 9999.
    pub(super) fn days(&self, anchor: &Anchor, period: i64, days: &mut Vec<i64>) -> bool {
        days.clear();
        match self.frequency {
            Frequency::Daily => {
                let day = anchor.day + period * self.interval;
                if day > LAST_DAY {
                    return false;
                }
                if self.admits(day) {
                    days.push(day);
                }
                return true;
            }
            Frequency::Weekly => {
                let first = self.week(anchor, period);
                if first > LAST_DAY {
                    return false;
                }
                let weekdays = match self.weekdays {
                    0 => 1 << weekday(anchor.day),
                    weekdays => weekdays,
                };
                // Bit 0 for the first day of the week.
                let weekdays = u16::from(weekdays) << 7 | u16::from(weekdays);
                let of_week = (0..7).filter(|at| weekdays >> (self.week_start + at) & 1 == 1);
                days.extend(of_week.map(|at| first + at).filter(|day| self.month_fits(*day)));
                return true;
            }
            Frequency::Monthly => {
                let month = anchor.year * 12 + anchor.month - 1 + period * self.interval;
                let (year, month) = (month.div_euclid(12), month.rem_euclid(12) + 1);
                if year > 9999 {
                    return false;
                }
                if self.months == 0 || self.months >> month & 1 == 1 {
                    self.month(anchor, year, month, days);
                }
            }
            Frequency::Yearly => {
                let year = anchor.year + period * self.interval;
                if year > 9999 {
                    return false;
                }
                self.year(anchor, year, days);
            }
            Frequency::Hourly | Frequency::Minutely | Frequency::Secondly => return false,
        }
        if days.len() > 1 {
            days.sort_unstable();
            days.dedup();
        }
        true
    }

    fn year(&self, anchor: &Anchor, year: i64, days: &mut Vec<i64>) {
        let (first, length) = (day_number(year, 1, 1), year_length(year));
        let months = || (1..=12).filter(|month| self.months >> month & 1 == 1);
        if !self.weeks.is_empty() {
            self.weeks_of(anchor, year, days);
        } else if !self.year_days.is_empty() {
            for number in &self.year_days {
                days.extend(self.nth_day(first, length, *number));
            }
            days.retain(|day| self.month_fits(*day) && self.month_day_fits(*day) && self.weekday_fits(*day, year));
        } else if self.months != 0 {
            for month in months() {
                self.month(anchor, year, month, days);
            }
        } else if !self.month_days.is_empty() {
            for month in 1..=12 {
                self.month_days_of(year, month, days);
            }
            days.retain(|day| self.weekday_fits(*day, year));
        } else if self.has_weekdays() {
            self.weekdays_of(first, length, days);
        } else {
            let first = day_number(year, anchor.month, 1);
            days.extend(self.nth_day(first, month_length(year, anchor.month), anchor.month_day));
        }
    }

    /// The days of a calendar year whose week has a wanted number in the year that the week belongs to.
    fn weeks_of(&self, anchor: &Anchor, year: i64, days: &mut Vec<i64>) {
        let (start, end) = (day_number(year, 1, 1), day_number(year + 1, 1, 1));
        for week_year in year - 1..=year + 1 {
            let first = first_week(week_year, self.week_start);
            let count = (first_week(week_year + 1, self.week_start) - first) / 7;
            for number in &self.weeks {
                let week = if *number > 0 { *number } else { count + 1 + number };
                if week < 1 || week > count {
                    continue;
                }
                let monday = first + (week - 1) * 7;
                days.extend((monday.max(start)..(monday + 7).min(end)).filter(|day| {
                    let weekdays = match self.weekdays {
                        0 => 1 << weekday(anchor.day),
                        weekdays => weekdays,
                    };
                    weekdays >> weekday(*day) & 1 == 1
                        && self.month_fits(*day)
                        && self.month_day_fits(*day)
                        && self.year_day_fits(*day)
                }));
            }
        }
    }

    fn month(&self, anchor: &Anchor, year: i64, month: i64, days: &mut Vec<i64>) {
        let (first, length) = (day_number(year, month, 1), month_length(year, month));
        if !self.month_days.is_empty() {
            let from = days.len();
            self.month_days_of(year, month, days);
            if self.has_weekdays() {
                let fits = |day: i64| self.weekday_of(first, length, day);
                let kept: Vec<i64> = days.drain(from..).filter(|day| fits(*day)).collect();
                days.extend(kept);
            }
        } else if self.has_weekdays() {
            self.weekdays_of(first, length, days);
        } else {
            days.extend(self.nth_day(first, length, anchor.month_day));
        }
    }

    fn month_days_of(&self, year: i64, month: i64, days: &mut Vec<i64>) {
        let (first, length) = (day_number(year, month, 1), month_length(year, month));
        days.extend(
            self.month_days
                .iter()
                .filter_map(|number| self.nth_day(first, length, *number)),
        );
    }

    /// A day of a month or year by its number, from the end if negative, where SKIP wants it if there is none.
    fn nth_day(&self, first: i64, length: i64, number: i64) -> Option<i64> {
        let at = if number > 0 { number } else { length + 1 + number };
        if (1..=length).contains(&at) {
            return Some(first + at - 1);
        }
        match self.skip {
            Skip::Omit => None,
            Skip::Backward if at < 1 => Some(first - 1),
            Skip::Backward => Some(first + length - 1),
            Skip::Forward if at < 1 => Some(first),
            Skip::Forward => Some(first + length),
        }
    }

    /// BYDAY expanded within a month or year.
    fn weekdays_of(&self, first: i64, length: i64, days: &mut Vec<i64>) {
        if self.weekdays != 0 {
            let mut of_week = weekday(first);
            for day in first..first + length {
                if self.weekdays >> of_week & 1 == 1 {
                    days.push(day);
                }
                of_week = if of_week == 6 { 0 } else { of_week + 1 };
            }
        }
        // [`weekday`] of a difference is the one of the difference of weekdays, less 3.
        for (number, of_week) in &self.numbered {
            let last = first + length - 1;
            let day = if *number > 0 {
                first + weekday(of_week - first + 1) + 7 * (number - 1)
            } else {
                last - weekday(last - of_week) + 7 * (number + 1)
            };
            if (first..=last).contains(&day) {
                days.push(day);
            }
        }
    }

    /// BYDAY as a limit within a month or year.
    fn weekday_of(&self, first: i64, length: i64, day: i64) -> bool {
        let of_week = weekday(day);
        self.weekdays >> of_week & 1 == 1
            || self.numbered.iter().any(|(number, wanted)| {
                *wanted == of_week
                    && if *number > 0 {
                        (day - first) / 7 + 1 == *number
                    } else {
                        (first + length - 1 - day) / 7 + 1 == -number
                    }
            })
    }

    /// BYDAY as a limit in a yearly rule: numbers count in the month if there is BYMONTH, else in the year.
    fn weekday_fits(&self, day: i64, year: i64) -> bool {
        if !self.has_weekdays() {
            return true;
        }
        if self.months == 0 {
            return self.weekday_of(day_number(year, 1, 1), year_length(year), day);
        }
        let (year, month, _) = date_of_day(day);
        self.weekday_of(day_number(year, month, 1), month_length(year, month), day)
    }

    fn month_fits(&self, day: i64) -> bool {
        self.months == 0 || self.months >> date_of_day(day).1 & 1 == 1
    }

    fn month_day_fits(&self, day: i64) -> bool {
        if self.month_days.is_empty() {
            return true;
        }
        let (year, month, number) = date_of_day(day);
        let from_end = number - 1 - month_length(year, month);
        self.month_days
            .iter()
            .any(|wanted| *wanted == number || *wanted == from_end)
    }

    fn year_day_fits(&self, day: i64) -> bool {
        if self.year_days.is_empty() {
            return true;
        }
        let year = date_of_day(day).0;
        let number = day - day_number(year, 1, 1) + 1;
        let from_end = number - 1 - year_length(year);
        self.year_days
            .iter()
            .any(|wanted| *wanted == number || *wanted == from_end)
    }

    /// Whether a day passes all filters of a rule that is daily or faster.
    pub(super) fn admits(&self, day: i64) -> bool {
        (self.weekdays == 0 || self.weekdays >> weekday(day) & 1 == 1)
            && self.month_fits(day)
            && self.month_day_fits(day)
            && self.year_day_fits(day)
    }

    /// The first day of the next month that BYMONTH wants, if it does not want the one of this day.
    pub(super) fn next_month(&self, day: i64) -> Option<i64> {
        if self.month_fits(day) {
            return None;
        }
        let (year, month, _) = date_of_day(day);
        let ahead = (1..12).find(|ahead| self.months >> ((month - 1 + ahead) % 12 + 1) & 1 == 1)?;
        let month = year * 12 + month - 1 + ahead;
        Some(day_number(month.div_euclid(12), month.rem_euclid(12) + 1, 1))
    }

    /// Whether BYMONTHDAY names only days that the months of BYMONTH never have.
    pub(super) fn never(&self) -> bool {
        if self.skip != Skip::Omit || self.month_days.is_empty() {
            return false;
        }
        let longest = (1..=12)
            .filter(|month| self.months == 0 || self.months >> month & 1 == 1)
            .map(|month| month_length(2000, month))
            .max()
            .unwrap_or(31);
        self.month_days.iter().all(|day| day.abs() > longest)
    }
}

/// Whether numbers name as many days in every month or year: all exist, and none is counted from both ends.
fn always_distinct<'a>(mut numbers: impl Iterator<Item = &'a i64> + Clone, most: i64) -> bool {
    let from_end = numbers.clone().any(|number| *number < 0);
    numbers.all(|number| number.abs() <= most && (*number < 0) == from_end)
}

//! The yearly rules by which observances begin: at most one day in each year, found by arithmetic.

use std::ops::RangeInclusive;

use super::Offset;
use super::value::Local;
use crate::ical::gregorian::{DAY, day_number, month_length, year_length, year_of_day};

/// How many years without an onset are passed over: 29 February on one given weekday is up to 40 years apart.
const RARE: i64 = 40;
/// Years are those that iCalendar can write.
const LAST_YEAR: i64 = 9999;

/// One day of a year: `anchor`, or the first `weekday` among the `width` days that begin there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct YearDay {
    anchor: Anchor,
    /// 0 is Monday.
    weekday: Option<u8>,
    width: i64,
}

/// A day by its number from the beginning (1, 2, …) or the end (-1, -2, …).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Anchor {
    Month(i64, i64),
    Year(i64),
}

impl YearDay {
    /// Its number in days since 1970-01-01; `None` in a year that has no such day.
    fn find(self, year: i64) -> Option<i64> {
        let (first, length, day) = match self.anchor {
            Anchor::Month(month, day) => (day_number(year, month, 1), month_length(year, month), day),
            Anchor::Year(day) => (day_number(year, 1, 1), year_length(year), day),
        };
        let anchor = if day > 0 { first + day - 1 } else { first + length + day };
        let ahead = self.weekday.map_or(0, |weekday| {
            // 1970-01-01 was a Thursday.
            (i64::from(weekday) - (anchor + 3)).rem_euclid(7)
        });
        let found = anchor + ahead;
        (ahead < self.width && (first..first + length).contains(&found)).then_some(found)
    }
}

/// What an RRULE of an observance says, as far as it can be said with one day in each year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    pub(super) day: YearDay,
    /// Seconds after midnight.
    pub(super) time: i64,
    pub(super) end: End,
}

/// Where a rule ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Never,
    /// After so many onsets.
    Count(u32),
    /// Not after this time, which is UTC or local before the onset.
    Until {
        second: i64,
        utc: bool,
    },
}

impl Pattern {
    /// Reads the value of an RRULE (RFC 5545, 3.3.10) whose DTSTART is `start`. `None` for all that is not yearly, has
    /// several onsets in a year, or is no rule.
    pub(super) fn parse(text: &str, start: Local) -> Option<Self> {
        let mut parts = Parts::default();
        for part in text.trim().trim_end_matches(';').split(';') {
            let (name, value) = part.split_once('=')?;
            parts.read(name.trim(), value.trim())?;
        }
        if !parts.yearly {
            return None;
        }
        let (hour, minute, second) = start.clock();
        let time = parts.hour.unwrap_or(hour) * 3600
            + parts.minute.unwrap_or(minute) * 60
            + parts.second.unwrap_or(second).min(59);
        Some(Self {
            day: parts.day(start)?,
            time,
            end: parts.end.unwrap_or(End::Never),
        })
    }

    /// What the local clock shows at the onset of a year, in seconds since 1970-01-01 00:00; `None` in a year that has
    /// none.
    pub(super) fn clock(&self, year: i64) -> Option<i64> {
        Some(self.day.find(year)? * DAY + self.time)
    }
}

#[derive(Default)]
struct Parts {
    yearly: bool,
    end: Option<End>,
    month: Option<i64>,
    month_days: Vec<i64>,
    year_days: Vec<i64>,
    weekday: Option<(i64, u8)>,
    position: Option<i64>,
    hour: Option<i64>,
    minute: Option<i64>,
    second: Option<i64>,
}

impl Parts {
    fn read(&mut self, name: &str, value: &str) -> Option<()> {
        let number = |most| value.parse().ok().filter(|number| (0..=most).contains(number));
        match name.to_ascii_uppercase().as_str() {
            "FREQ" => self.yearly = value.eq_ignore_ascii_case("YEARLY"),
            "INTERVAL" => return (number(1)? == 1).then_some(()),
            "COUNT" => self.end = Some(End::Count(value.parse().ok().filter(|count| *count > 0)?)),
            "UNTIL" => {
                let (until, utc) = Local::parse(value)?;
                // A bare date means the whole day.
                let second = until.second() + if value.len() == 8 { DAY - 1 } else { 0 };
                self.end = Some(End::Until { second, utc });
            }
            "BYMONTH" => self.month = Some(number(12).filter(|month| *month > 0)?),
            "BYMONTHDAY" => self.month_days = run(value, 31)?,
            "BYYEARDAY" => self.year_days = run(value, 366)?,
            "BYDAY" => self.weekday = Some(weekday(value)?),
            "BYSETPOS" => self.position = Some(value.parse().ok()?),
            "BYHOUR" => self.hour = Some(number(23)?),
            "BYMINUTE" => self.minute = Some(number(59)?),
            "BYSECOND" => self.second = Some(number(60)?),
            // Weeks are not counted here.
            "WKST" => {}
            _ => return None,
        }
        Some(())
    }

    fn day(&self, start: Local) -> Option<YearDay> {
        let (month_days, year_days) = (self.month_days.as_slice(), self.year_days.as_slice());
        let ((Some(_), days, []) | (None, [], days)) = (self.month, month_days, year_days) else {
            return None;
        };
        let (_, start_month, start_day) = start.date();
        let (anchor, width) = match (days, self.weekday) {
            // BYSETPOS picks from all such weekdays.
            ([], Some((0, weekday))) => return self.nth(self.position?, weekday),
            ([], Some((nth, weekday))) => return self.single()?.nth(nth, weekday),
            ([], None) => (Anchor::Month(self.month.unwrap_or(start_month), start_day), 1),
            (days, Some((0, _))) if days.len() <= 7 => (self.anchor(days[0]), days.len() as i64),
            ([day], None) => (self.anchor(*day), 1),
            _ => return None,
        };
        self.single().map(|parts| YearDay {
            anchor,
            weekday: parts.weekday.map(|(_, weekday)| weekday),
            width,
        })
    }

    fn anchor(&self, day: i64) -> Anchor {
        self.month.map_or(Anchor::Year(day), |month| Anchor::Month(month, day))
    }

    /// Itself, if BYSETPOS can pick nothing else than the one day of the year.
    fn single(&self) -> Option<&Self> {
        matches!(self.position, None | Some(1 | -1)).then_some(self)
    }

    fn nth(&self, nth: i64, weekday: u8) -> Option<YearDay> {
        let most = if self.month.is_some() { 5 } else { 53 };
        if nth == 0 || nth.abs() > most {
            return None;
        }
        Some(YearDay {
            anchor: self.anchor(if nth > 0 { 7 * nth - 6 } else { 7 * nth }),
            weekday: Some(weekday),
            width: 7,
        })
    }
}

/// A list of days that follow each other, sorted.
fn run(text: &str, most: i64) -> Option<Vec<i64>> {
    let mut days = Vec::new();
    for day in text.split(',') {
        let day: i64 = day.trim().parse().ok()?;
        if day == 0 || day.abs() > most || days.len() as i64 > most {
            return None;
        }
        days.push(day);
    }
    days.sort_unstable();
    days.windows(2).all(|pair| pair[1] == pair[0] + 1).then_some(days)
}

/// `-1SU`: the number, 0 for none, and the weekday, 0 for Monday.
fn weekday(text: &str) -> Option<(i64, u8)> {
    let (number, name) = text.split_at_checked(text.len().checked_sub(2)?)?;
    let names = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];
    let weekday = names.iter().position(|day| day.eq_ignore_ascii_case(name))?;
    let number = if number.is_empty() { 0 } else { number.parse().ok()? };
    Some((number, weekday as u8))
}

/// A pattern with its offsets and its bounds: onsets without end, or too many to list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Yearly {
    day: YearDay,
    time: i64,
    from: Offset,
    pub(super) to: Offset,
    /// No onset before this instant.
    first: i64,
    /// No onset after this instant.
    last: i64,
    first_year: i64,
    last_year: i64,
}

impl Yearly {
    /// Binds a pattern to its DTSTART and offsets. Each year that has to be looked at takes one from `budget`; `None`
    /// if that is used up.
    pub(super) fn bind(pattern: Pattern, start: Local, from: Offset, to: Offset, budget: &mut u32) -> Option<Self> {
        let mut rule = Self {
            day: pattern.day,
            time: pattern.time,
            from,
            to,
            first: start.second() - i64::from(from),
            last: i64::MAX,
            first_year: start.date().0,
            last_year: LAST_YEAR,
        };
        match pattern.end {
            End::Never => {}
            End::Until { second, utc } => {
                rule.last = if utc { second } else { second - i64::from(from) };
                rule.last_year = rule.year_at(rule.last).min(LAST_YEAR);
            }
            End::Count(count) => {
                let mut left = count;
                for year in rule.first_year..=LAST_YEAR {
                    *budget = budget.checked_sub(1)?;
                    let Some(onset) = rule.onset(year) else { continue };
                    left -= 1;
                    if left == 0 {
                        (rule.last, rule.last_year) = (onset, year);
                        break;
                    }
                }
            }
        }
        Some(rule)
    }

    /// The years that can have an onset.
    pub(super) fn years(&self) -> RangeInclusive<i64> {
        self.first_year..=self.last_year
    }

    /// The years that can have an onset between two instants.
    pub(super) fn years_between(&self, start: i64, end: i64) -> RangeInclusive<i64> {
        self.first_year.max(self.year_at(start))..=self.last_year.min(self.year_at(end))
    }

    /// The earliest onset of all.
    pub(super) fn first_onset(&self) -> Option<i64> {
        self.next(self.first - 1)
    }

    /// The onset of a year, in Unix seconds.
    pub(super) fn onset(&self, year: i64) -> Option<i64> {
        let onset = self.day.find(year)? * DAY + self.time - i64::from(self.from);
        (self.first..=self.last).contains(&onset).then_some(onset)
    }

    /// The latest onset at or before an instant.
    pub(super) fn latest(&self, second: i64) -> Option<i64> {
        let year = self.year_at(second).min(self.last_year);
        let earliest = self.first_year.max(year - RARE);
        let mut onsets = (earliest..=year).rev().filter_map(|year| self.onset(year));
        onsets.find(|onset| *onset <= second)
    }

    /// The earliest onset after an instant.
    pub(super) fn next(&self, second: i64) -> Option<i64> {
        let year = self.year_at(second).max(self.first_year);
        let latest = self.last_year.min(year + RARE);
        let mut onsets = (year..=latest).filter_map(|year| self.onset(year));
        onsets.find(|onset| *onset > second)
    }

    /// The local year by the offset before the onset: an onset and its day lie in the same one.
    fn year_at(&self, second: i64) -> i64 {
        year_of_day((second + i64::from(self.from)).div_euclid(DAY))
    }
}

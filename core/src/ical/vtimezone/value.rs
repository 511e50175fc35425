//! The values inside a VTIMEZONE, and the calendar arithmetic that they need.

use crate::ical::gregorian::{DAY, day_number, month_length};

/// A local date and time without a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Local {
    year: i64,
    month: i64,
    day: i64,
    /// Seconds after midnight.
    time: i64,
}

impl Local {
    /// Reads a DATE-TIME or a DATE, which means its midnight. Tells whether it ends with `Z`.
    pub(super) fn parse(text: &str) -> Option<(Self, bool)> {
        let text = text.trim();
        let (text, utc) = match text.strip_suffix(['Z', 'z']) {
            Some(local) => (local, true),
            None => (text, false),
        };
        let (date, time) = match text.split_once(['T', 't']) {
            Some((date, time)) => (date, digits(time, 6)?),
            None => (text, 0),
        };
        let date = digits(date, 8)?;
        let (year, month, day) = (date / 10_000, date / 100 % 100, date % 100);
        let (hour, minute, second) = (time / 10_000, time / 100 % 100, time % 100);
        let good = (1..=12).contains(&month)
            && (1..=month_length(year, month)).contains(&day)
            && hour < 24
            && minute < 60
            && second <= 60;
        let time = hour * 3600 + minute * 60 + second.min(59);
        good.then_some((Self { year, month, day, time }, utc))
    }

    /// Seconds since 1970-01-01 00:00 of the same clock.
    pub(super) fn second(self) -> i64 {
        day_number(self.year, self.month, self.day) * DAY + self.time
    }

    /// Year, month, day.
    pub(super) fn date(self) -> (i64, i64, i64) {
        (self.year, self.month, self.day)
    }

    /// Hour, minute, second.
    pub(super) fn clock(self) -> (i64, i64, i64) {
        (self.time / 3600, self.time / 60 % 60, self.time % 60)
    }
}

/// A number of exactly so many digits.
fn digits(text: &str, count: usize) -> Option<i64> {
    let good = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    good.then(|| text.parse().ok()).flatten()
}

//! Weeks and seconds of the Gregorian calendar as integers since 1970-01-01, without a zone.

use jiff::civil::{Date, DateTime};

use crate::ical::gregorian::{date_of_day, day_number};

/// Seconds in a day.
pub const DAY: i64 = 86_400;
/// Days after which the calendar repeats, weekdays included: 400 years.
pub(crate) const CYCLE: i64 = 146_097;
/// The last day of year 9999.
pub(crate) const LAST_DAY: i64 = 2_932_896;
/// The last second of year 9999.
pub(crate) const LAST_SECOND: i64 = LAST_DAY * DAY + DAY - 1;

/// The local seconds since 1970-01-01T00:00:00 of a local time.
#[must_use]
pub fn civil_second(time: DateTime) -> i64 {
    let day = day_number(i64::from(time.year()), i64::from(time.month()), i64::from(time.day()));
    day * DAY + i64::from(time.hour()) * 3_600 + i64::from(time.minute()) * 60 + i64::from(time.second())
}

/// The local time of local seconds since 1970-01-01T00:00:00; the nearest one if they lie beyond years -9999 to 9999.
#[must_use]
pub fn date_time(second: i64) -> DateTime {
    let second = second.clamp(day_number(-9999, 1, 1) * DAY, LAST_SECOND);
    let (year, month, day) = date_of_day(second.div_euclid(DAY));
    let time = second.rem_euclid(DAY);
    let date = Date::new(year as i16, month as i8, day as i8).expect("clamped into the range of Date");
    date.at((time / 3_600) as i8, (time / 60 % 60) as i8, (time % 60) as i8, 0)
}

/// 0 for Monday to 6 for Sunday.
pub(crate) fn weekday(day: i64) -> i64 {
    (day + 3).rem_euclid(7)
}

/// The first day of week 1 of a year: the week that holds 4 January, with this first weekday (RFC 5545, 3.3.10).
pub(crate) fn first_week(year: i64, week_start: i64) -> i64 {
    let fourth = day_number(year, 1, 4);
    fourth - (weekday(fourth) - week_start).rem_euclid(7)
}

pub(crate) fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weeks_agree_with_jiff() {
        let mut date = Date::new(1999, 1, 1).expect("valid");
        while date.year() < 2030 {
            let day = day_number(i64::from(date.year()), i64::from(date.month()), i64::from(date.day()));
            assert_eq!(weekday(day), i64::from(date.weekday().to_monday_zero_offset()));
            let iso = date.iso_week_date();
            let week = (day - first_week(i64::from(iso.year()), 0)) / 7 + 1;
            assert_eq!(week, i64::from(iso.week()), "{date}");
            date = date.tomorrow().expect("in range");
        }
        assert_eq!(day_number(9999, 12, 31), LAST_DAY);
    }

    #[test]
    fn local_times_survive_and_the_ends_clamp() {
        for second in [-1, 0, 86_399, -62_135_596_800, LAST_SECOND] {
            assert_eq!(civil_second(date_time(second)), second);
        }
        assert_eq!(date_time(i64::MAX).year(), 9999);
        assert_eq!(date_time(i64::MIN).year(), -9999);
    }
}

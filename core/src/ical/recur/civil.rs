//! The proleptic Gregorian calendar as integers: days and seconds since 1970-01-01, without a zone.

use jiff::civil::{Date, DateTime};

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
    let (year, month, day) = year_month_day(second.div_euclid(DAY));
    let time = second.rem_euclid(DAY);
    let date = Date::new(year as i16, month as i8, day as i8).expect("clamped into the range of Date");
    date.at((time / 3_600) as i8, (time / 60 % 60) as i8, (time % 60) as i8, 0)
}

/// The days since 1970-01-01 of a date.
pub(crate) fn day_number(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year - era * 400;
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * CYCLE + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Year, month and day of the month of days since 1970-01-01.
pub(crate) fn year_month_day(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    let era = day.div_euclid(CYCLE);
    let of_era = day - era * CYCLE;
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    (
        year + era * 400 + i64::from(month <= 2),
        month,
        of_year - (153 * from_march + 2) / 5 + 1,
    )
}

pub(crate) fn month_length(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

pub(crate) fn year_length(year: i64) -> i64 {
    if is_leap(year) { 366 } else { 365 }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
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
    fn agrees_with_jiff_on_every_day_of_two_cycles() {
        let mut date = Date::new(1600, 1, 1).expect("valid");
        let mut day = day_number(1600, 1, 1);
        while date.year() < 2401 {
            let (y, m, d) = (i64::from(date.year()), i64::from(date.month()), i64::from(date.day()));
            assert_eq!(day_number(y, m, d), day);
            assert_eq!(year_month_day(day), (y, m, d));
            assert_eq!(weekday(day), i64::from(date.weekday().to_monday_zero_offset()));
            assert_eq!(month_length(y, m), i64::from(date.days_in_month()));
            (date, day) = (date.tomorrow().expect("in range"), day + 1);
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

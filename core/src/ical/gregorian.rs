//! The Gregorian calendar on integers: days are counted from 1970-01-01, months and days of the month from 1.

/// Seconds of a day.
pub(super) const DAY: i64 = 86_400;

/// Days of a common year before each month.
const BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

/// Days since 1970-01-01 in the Gregorian calendar.
pub(super) fn day_number(year: i64, month: i64, day: i64) -> i64 {
    let past = year - 1;
    let centuries = past.div_euclid(100);
    let leap_days = past.div_euclid(4) - centuries + centuries.div_euclid(4);
    let leap_day = i64::from(month > 2 && is_leap(year));
    past * 365 + leap_days - 719_162 + BEFORE[month as usize - 1] + leap_day + day - 1
}

/// The year of a day.
pub(super) fn year_of_day(day: i64) -> i64 {
    date_of_day(day).0
}

/// Year, month and day of the month of a day.
pub(super) fn date_of_day(day: i64) -> (i64, i64, i64) {
    // The inverse of `day_number` after Howard Hinnant: years begin in March, so that the leap day is their last.
    let since = day + 719_468;
    let era = since.div_euclid(146_097);
    let of_era = since.rem_euclid(146_097) as u32;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = i64::from(year_of_era) + era * 400 + i64::from(month <= 2);
    (year, i64::from(month), i64::from(of_month))
}

/// The days of a month.
pub(super) fn month_length(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The days of a year.
pub(super) fn year_length(year: i64) -> i64 {
    365 + i64::from(is_leap(year))
}

fn is_leap(year: i64) -> bool {
    year & 3 == 0 && (year % 100 != 0 || year & 15 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_years_agree_with_jiff() {
        let mut date = jiff::civil::date(-9999, 1, 1);
        let epoch = jiff::civil::date(1970, 1, 1);
        let last = jiff::civil::date(9998, 12, 31);
        while date < last {
            let (year, month) = (i64::from(date.year()), i64::from(date.month()));
            let day = day_number(year, month, i64::from(date.day()));
            let expected = epoch.until(date).expect("within range").get_days();
            assert_eq!(day, i64::from(expected), "{date}");
            assert_eq!(year_of_day(day), year, "{date}");
            assert_eq!(date_of_day(day), (year, month, i64::from(date.day())), "{date}");
            assert_eq!(month_length(year, month), i64::from(date.days_in_month()), "{date}");
            date = date.checked_add(jiff::Span::new().days(13)).expect("within range");
        }
        for year in -9999..=9999 {
            assert_eq!(year_of_day(day_number(year, 1, 1)), year);
            assert_eq!(year_of_day(day_number(year, 12, 31)), year);
        }
    }
}

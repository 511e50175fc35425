//! Dates, times, instants and durations as `chrono` has them.
//!
//! [`Temporal`] and [`Duration`] convert by `From` and `TryFrom`; for the types of `jiff` there are functions, since
//! both crates are foreign.

use chrono::{DateTime as ChronoDateTime, Datelike, NaiveDate, NaiveDateTime, TimeDelta, Timelike, Utc};
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};

use super::Unconvertible;
use crate::ical::duration::Duration;
use crate::ical::value::Temporal;

/// A date.
#[must_use]
pub fn naive_date(date: Date) -> NaiveDate {
    NaiveDate::from_ymd_opt(date.year().into(), date.month() as u32, date.day() as u32)
        .expect("chrono has more years than jiff, and the same calendar")
}

/// A local time.
#[must_use]
pub fn naive_date_time(time: DateTime) -> NaiveDateTime {
    naive_date(time.date())
        .and_hms_nano_opt(
            time.hour() as u32,
            time.minute() as u32,
            time.second() as u32,
            time.subsec_nanosecond() as u32,
        )
        .expect("a time of the day in jiff is one in chrono")
}

/// An instant.
#[must_use]
pub fn utc(instant: Timestamp) -> ChronoDateTime<Utc> {
    naive_date_time(jiff::tz::Offset::UTC.to_datetime(instant)).and_utc()
}

/// A date of the years that iCalendar can write.
///
/// # Errors
/// [`Unconvertible::Year`].
pub fn date(date: NaiveDate) -> Result<Date, Unconvertible> {
    let year = i16::try_from(date.year()).ok().filter(|year| (0..=9999).contains(year));
    let date = Date::new(year.ok_or(Unconvertible::Year)?, date.month() as i8, date.day() as i8);
    Ok(date.expect("a day of chrono is one of jiff"))
}

/// A local time, in whole seconds.
///
/// # Errors
/// [`Unconvertible::Year`], [`Unconvertible::Fraction`].
pub fn date_time(time: NaiveDateTime) -> Result<DateTime, Unconvertible> {
    if time.nanosecond() != 0 {
        return Err(Unconvertible::Fraction);
    }
    let date = date(time.date())?;
    Ok(date.at(time.hour() as i8, time.minute() as i8, time.second() as i8, 0))
}

/// An instant, in whole seconds.
///
/// # Errors
/// [`Unconvertible::Year`], [`Unconvertible::Fraction`].
pub fn timestamp(instant: ChronoDateTime<Utc>) -> Result<Timestamp, Unconvertible> {
    let time = date_time(instant.naive_utc())?;
    // The last hours of year 9999 are beyond jiff's instants.
    jiff::tz::Offset::UTC
        .to_timestamp(time)
        .map_err(|_| Unconvertible::Year)
}

impl TryFrom<NaiveDate> for Temporal {
    type Error = Unconvertible;

    /// A DATE.
    fn try_from(value: NaiveDate) -> Result<Self, Unconvertible> {
        date(value).map(Self::Date)
    }
}

impl TryFrom<NaiveDateTime> for Temporal {
    type Error = Unconvertible;

    /// A floating DATE-TIME.
    fn try_from(value: NaiveDateTime) -> Result<Self, Unconvertible> {
        date_time(value).map(Self::Floating)
    }
}

impl TryFrom<ChronoDateTime<Utc>> for Temporal {
    type Error = Unconvertible;

    /// A DATE-TIME in UTC.
    fn try_from(value: ChronoDateTime<Utc>) -> Result<Self, Unconvertible> {
        date_time(value.naive_utc()).map(Self::Utc)
    }
}

impl TryFrom<&Temporal> for NaiveDate {
    type Error = Unconvertible;

    /// Of a DATE only.
    fn try_from(value: &Temporal) -> Result<Self, Unconvertible> {
        match value {
            Temporal::Date(date) => Ok(naive_date(*date)),
            Temporal::Floating(_) | Temporal::Utc(_) | Temporal::Zoned(..) => Err(Unconvertible::Form),
        }
    }
}

impl TryFrom<&Temporal> for NaiveDateTime {
    type Error = Unconvertible;

    /// Of a floating DATE-TIME only.
    fn try_from(value: &Temporal) -> Result<Self, Unconvertible> {
        match value {
            Temporal::Floating(time) => Ok(naive_date_time(*time)),
            Temporal::Date(_) | Temporal::Utc(_) | Temporal::Zoned(..) => Err(Unconvertible::Form),
        }
    }
}

impl TryFrom<&Temporal> for ChronoDateTime<Utc> {
    type Error = Unconvertible;

    /// Of a DATE-TIME in UTC only.
    fn try_from(value: &Temporal) -> Result<Self, Unconvertible> {
        match value {
            Temporal::Utc(time) => Ok(naive_date_time(*time).and_utc()),
            Temporal::Date(_) | Temporal::Floating(_) | Temporal::Zoned(..) => Err(Unconvertible::Form),
        }
    }
}

impl TryFrom<Duration> for TimeDelta {
    type Error = Unconvertible;

    /// Of hours, minutes and seconds only.
    fn try_from(value: Duration) -> Result<Self, Unconvertible> {
        if value.nominal_days() != 0 {
            return Err(Unconvertible::Nominal);
        }
        Self::try_seconds(value.exact_seconds()).ok_or(Unconvertible::TooLong)
    }
}

impl TryFrom<TimeDelta> for Duration {
    type Error = Unconvertible;

    /// Whole seconds, as hours, minutes and seconds.
    fn try_from(value: TimeDelta) -> Result<Self, Unconvertible> {
        if value.subsec_nanos() != 0 {
            return Err(Unconvertible::Fraction);
        }
        let (seconds, sign) = (value.num_seconds(), if value < TimeDelta::zero() { "-" } else { "" });
        let seconds = seconds.unsigned_abs();
        let text = format!("{sign}PT{}H{}M{}S", seconds / 3_600, seconds / 60 % 60, seconds % 60);
        Self::parse(&text).ok_or(Unconvertible::TooLong)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn day(year: i32, month: u32, day: u32) -> NaiveDate {
        NaiveDate::from_ymd_opt(year, month, day).expect("a day")
    }

    fn temporal(text: &str, zone: Option<&str>) -> Temporal {
        Temporal::parse(text.as_bytes(), zone).expect("a date or time")
    }

    #[test]
    fn each_form_has_one_type() {
        let time = day(2026, 11, 30).and_hms_opt(9, 30, 59).expect("a time");
        let (date, floating) = (temporal("20261130", None), temporal("20261130T093059", None));
        let (utc, zoned) = (
            temporal("20261130T093059Z", None),
            temporal("20261130T093059", Some("Europe/Berlin")),
        );
        assert_eq!(Temporal::try_from(time.date()), Ok(date.clone()));
        assert_eq!(Temporal::try_from(time), Ok(floating.clone()));
        assert_eq!(Temporal::try_from(time.and_utc()), Ok(utc.clone()));
        assert_eq!(NaiveDate::try_from(&date), Ok(time.date()));
        assert_eq!(NaiveDateTime::try_from(&floating), Ok(time));
        assert_eq!(ChronoDateTime::try_from(&utc), Ok(time.and_utc()));
        for other in [&floating, &utc, &zoned] {
            assert_eq!(NaiveDate::try_from(other), Err(Unconvertible::Form));
        }
        for other in [&date, &utc, &zoned] {
            assert_eq!(NaiveDateTime::try_from(other), Err(Unconvertible::Form));
        }
        for other in [&date, &floating, &zoned] {
            assert_eq!(ChronoDateTime::<Utc>::try_from(other), Err(Unconvertible::Form));
        }
    }

    #[test]
    fn what_would_be_lost_is_refused() {
        for year in [-1, 10_000, 262_000] {
            assert_eq!(Temporal::try_from(day(year, 1, 1)), Err(Unconvertible::Year));
        }
        let noon = |nano| day(2026, 6, 30).and_hms_nano_opt(23, 59, 59, nano).expect("a time");
        for nano in [1, 999_999_999, 1_000_000_000] {
            assert_eq!(Temporal::try_from(noon(nano)), Err(Unconvertible::Fraction));
            assert_eq!(timestamp(noon(nano).and_utc()), Err(Unconvertible::Fraction));
        }
        let length = |text| TimeDelta::try_from(Duration::parse(text).expect("a duration"));
        assert_eq!(length("-PT1H30M"), Ok(TimeDelta::minutes(-90)));
        assert_eq!(length("P0D"), Ok(TimeDelta::zero()));
        assert_eq!(length("P1D"), Err(Unconvertible::Nominal));
        assert_eq!(length("P1W"), Err(Unconvertible::Nominal));
        let back = |delta| Duration::try_from(delta).map(|duration| duration.to_string());
        assert_eq!(back(TimeDelta::days(2)), Ok("PT48H".to_owned()));
        assert_eq!(back(TimeDelta::seconds(-61)), Ok("-PT1M1S".to_owned()));
        assert_eq!(back(TimeDelta::milliseconds(-500)), Err(Unconvertible::Fraction));
        assert_eq!(back(TimeDelta::MAX), Err(Unconvertible::Fraction));
        assert_eq!(back(TimeDelta::seconds(i64::MAX / 1_000)), Err(Unconvertible::TooLong));
    }

    proptest! {
        #[test]
        fn instants_and_durations_come_back(second in -62_167_219_200_i64..253_402_207_200, length in -(1_i64 << 40)..1 << 40) {
            let instant = Timestamp::from_second(second).expect("in range");
            prop_assert_eq!(utc(instant).timestamp(), second);
            prop_assert_eq!(timestamp(utc(instant)), Ok(instant));
            let delta = TimeDelta::seconds(length);
            let duration = Duration::try_from(delta).expect("hours fit");
            prop_assert_eq!(duration.exact_seconds(), length);
            prop_assert_eq!(TimeDelta::try_from(duration), Ok(delta));
        }
    }
}

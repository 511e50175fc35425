//! Writing VTIMEZONE (RFC 5545, 3.6.5): an IANA zone from some year on.
//!
//! Onsets of one kind (offsets, name, season) share an observance. Where the last ones follow a yearly rule that holds
//! for ever, they become one RRULE, which is used only if the reader of this module reads the same onsets from it. The
//! others are RDATEs, one to a line, because ical.js reads the first of a list only, and the first of them is DTSTART
//! again, because ical.js takes DTSTART for no onset where there are RDATEs.
//!
//! The definition begins with the onset in force at the beginning of the year if that is at most a year older, so that
//! a zone with one pair of rules is two observances, and else with an observance that changes nothing.

#[cfg(test)]
mod tests;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::Offset;
use super::value::Local;
use super::yearly::Pattern;
use crate::ical::encode::{ContentLine, NewComponent, escape_text};
use crate::ical::gregorian::{DAY, date_of_day, day_number, month_length};
use crate::ical::zone::Zone;

/// The earliest year that a definition begins with. Clocks showed local mean time then.
const FIRST_YEAR: i16 = 1800;
/// The last year whose onsets are looked at one by one. Later ones follow rules: the IANA database lists none after
/// 2087.
const LAST_YEAR: i16 = 2100;
/// 28 years without a skipped leap day are of all 14 kinds, so they show all that a yearly rule can do.
const CYCLE: (i16, i16) = (2401, 2429);

/// How far a definition reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Horizon {
    /// The rules in force at the end go on for ever: for resources.
    Open,
    /// No onset lies after 2100: for `calendar-timezone` (RFC 4791, 5.2.2).
    Through2100,
}

/// The VTIMEZONE of an IANA zone, exact from the beginning of a year on. The TZID is the name as it is given.
/// Years before 1800 and after 2100 count as these. `None` if the name is unknown.
#[must_use]
pub fn vtimezone(name: &str, from_year: i16, horizon: Horizon) -> Option<NewComponent> {
    definition(name, Zone::iana(name)?.time_zone()?, from_year, horizon)
}

fn definition(name: &str, zone: &TimeZone, from_year: i16, horizon: Horizon) -> Option<NewComponent> {
    let first = in_force(zone, from_year.clamp(FIRST_YEAR, LAST_YEAR));
    let onsets = onsets(zone, first.second, year_start(LAST_YEAR + 1));
    let cycle = kinds(self::onsets(zone, year_start(CYCLE.0), year_start(CYCLE.1)));
    let mut definition = NewComponent::new("VTIMEZONE").ok()?;
    definition.lines.push(ContentLine::text("TZID", &[], name).ok()?);
    let mut ruled = Vec::new();
    for mut kind in kinds(std::iter::once(first).chain(onsets)) {
        let rule = cycle.iter().find(|other| other.is(&kind.onset)).and_then(Kind::rule);
        if let Some((rule, first)) = rule.and_then(|rule| kind.ruled(&rule).map(|first| (rule, first))) {
            let tail = kind.clocks.split_off(first);
            let rule = match horizon {
                Horizon::Open => rule,
                Horizon::Through2100 => rule + ";UNTIL=21001231T235959Z",
            };
            ruled.push(kind.onset.observance(&tail[..1], Some(&rule))?);
        }
        if !kind.clocks.is_empty() {
            definition.components.push(kind.onset.observance(&kind.clocks, None)?);
        }
    }
    definition.components.append(&mut ruled);
    Some(definition)
}

/// An onset and all that its observance says.
#[derive(Clone, Debug)]
struct Onset {
    /// Unix seconds.
    second: i64,
    from: Offset,
    to: Offset,
    name: String,
    daylight: bool,
}

impl Onset {
    /// What the clock shows at it by the offset before it, in seconds since 1970-01-01 00:00.
    fn clock(&self) -> i64 {
        self.second + i64::from(self.from)
    }

    /// Its STANDARD or DAYLIGHT, which begins at these times of the local clock.
    fn observance(&self, clocks: &[i64], rule: Option<&str>) -> Option<NewComponent> {
        let mut observance = NewComponent::new(if self.daylight { "DAYLIGHT" } else { "STANDARD" }).ok()?;
        let mut add = |name, value: &str| {
            observance.lines.push(ContentLine::new(name, &[], value).ok()?);
            Some(())
        };
        add("DTSTART", &date_time(*clocks.first()?))?;
        add("TZOFFSETFROM", &offset(self.from))?;
        add("TZOFFSETTO", &offset(self.to))?;
        add("TZNAME", &escape_text(&self.name))?;
        rule.map_or(Some(()), |rule| add("RRULE", rule))?;
        if clocks.len() > 1 {
            clocks.iter().try_for_each(|clock| add("RDATE", &date_time(*clock)))?;
        }
        Some(observance)
    }
}

/// The onset whose offset is in force when the clock shows the beginning of a year; one that changes nothing, at that
/// time, if it is older than a year.
fn in_force(zone: &TimeZone, year: i16) -> Onset {
    let clock = year_start(year);
    let info = zone.to_offset_info(instant(clock));
    let offset = info.offset().seconds();
    let second = clock - i64::from(offset);
    onsets(zone, second - 366 * DAY, second + 1).last().unwrap_or(Onset {
        second,
        from: offset,
        to: offset,
        name: info.abbreviation().to_owned(),
        daylight: info.dst().is_dst(),
    })
}

/// The onsets after one instant and before another at which the offset or the name changes.
fn onsets(zone: &TimeZone, after: i64, end: i64) -> impl Iterator<Item = Onset> {
    let info = zone.to_offset_info(instant(after));
    let mut before = (
        info.offset().seconds(),
        info.dst().is_dst(),
        info.abbreviation().to_owned(),
    );
    let transitions = zone.following(instant(after));
    transitions
        .take_while(move |transition| transition.timestamp().as_second() < end)
        .filter_map(move |transition| {
            let (to, season) = (transition.offset().seconds(), transition.dst().is_dst());
            let name = transition.abbreviation().to_owned();
            let (from, season_before, name_before) = std::mem::replace(&mut before, (to, season, name.clone()));
            // Where winter is the special season, as the law of Ireland has it, DAYLIGHT is summer all the same.
            let daylight = if season != season_before && to != from {
                to > from
            } else {
                season
            };
            (to != from || name != name_before).then(|| Onset {
                second: transition.timestamp().as_second(),
                from,
                to,
                name,
                daylight,
            })
        })
}

/// Onsets with one observance.
struct Kind {
    onset: Onset,
    /// [`Onset::clock`] of each, in order.
    clocks: Vec<i64>,
}

impl Kind {
    fn is(&self, onset: &Onset) -> bool {
        let of = |onset: &Onset| (onset.from, onset.to, onset.daylight);
        of(&self.onset) == of(onset) && self.onset.name == onset.name
    }

    /// The RRULE that makes these onsets, one in each year of [`CYCLE`].
    fn rule(&self) -> Option<String> {
        let days: Vec<_> = self.clocks.iter().map(|clock| clock.div_euclid(DAY)).collect();
        let rule = format!("FREQ=YEARLY;{}", weekly(&days)?);
        let pattern = self.pattern(&rule)?;
        let made = (CYCLE.0..CYCLE.1).map(|year| pattern.clock(i64::from(year)));
        made.eq(self.clocks.iter().copied().map(Some)).then_some(rule)
    }

    /// A rule that makes onsets at the time of day of the last one.
    fn pattern(&self, rule: &str) -> Option<Pattern> {
        let (start, _) = Local::parse(&date_time(*self.clocks.last()?))?;
        Pattern::parse(rule, start)
    }

    /// From which of the onsets on this rule makes all of them up to the last year.
    fn ruled(&self, rule: &str) -> Option<usize> {
        let pattern = self.pattern(rule)?;
        let years = (0..=i64::from(LAST_YEAR)).rev();
        let onsets = self.clocks.iter().rev();
        let ruled = onsets
            .zip(years)
            .take_while(|(clock, year)| pattern.clock(*year) == Some(**clock))
            .count();
        (ruled > 0).then(|| self.clocks.len() - ruled)
    }
}

/// The names of the days of the week in an RRULE.
const WEEKDAYS: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

/// The part of an RRULE that picks these days, one of each year, by their weekday: the first or the last one of a
/// month and so on, or the one among seven days of a month or of the year.
fn weekly(days: &[i64]) -> Option<String> {
    let weekday = WEEKDAYS[(days.first()? + 3).rem_euclid(7) as usize];
    // The first of the seven days that these are among when they are counted in some way.
    let week = |counted: fn(i64, (i64, i64, i64)) -> i64| {
        let counts = days.iter().map(|day| counted(*day, date_of_day(*day)));
        let (first, last) = (counts.clone().min()?, counts.max()?);
        (last - first == 6).then_some(first)
    };
    let month = date_of_day(days[0]).1;
    let list = |first: i64| {
        let days: Vec<_> = (first..first + 7).map(|day| day.to_string()).collect();
        days.join(",")
    };
    if days.iter().any(|day| date_of_day(*day).1 != month) {
        let first = week(|day, (year, ..)| day - day_number(year + 1, 1, 1))?;
        return Some(format!("BYYEARDAY={};BYDAY={weekday}", list(first)));
    }
    if let Some(first) = week(|_, (.., day)| day) {
        return Some(match first {
            1 | 8 | 15 => format!("BYMONTH={month};BYDAY={}{weekday}", first / 7 + 1),
            _ if first + 6 == month_length(1970, month) => format!("BYMONTH={month};BYDAY=-1{weekday}"),
            _ => format!("BYMONTH={month};BYMONTHDAY={};BYDAY={weekday}", list(first)),
        });
    }
    // The last days of February.
    let first = week(|_, (year, month, day)| day - month_length(year, month) - 1)?;
    (first == -7).then(|| format!("BYMONTH={month};BYDAY=-1{weekday}"))
}

fn kinds(onsets: impl Iterator<Item = Onset>) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for onset in onsets {
        let clock = onset.clock();
        match kinds.iter_mut().find(|kind| kind.is(&onset)) {
            Some(kind) => kind.clocks.push(clock),
            None => kinds.push(Kind {
                onset,
                clocks: vec![clock],
            }),
        }
    }
    kinds
}

fn instant(second: i64) -> Timestamp {
    Timestamp::from_second(second).expect("a second of the years 1799 to 2429")
}

/// 1 January, 00:00, in seconds since 1970-01-01 00:00 of the same clock.
fn year_start(year: i16) -> i64 {
    day_number(i64::from(year), 1, 1) * DAY
}

/// A DATE-TIME without zone.
fn date_time(clock: i64) -> String {
    let (year, month, day) = date_of_day(clock.div_euclid(DAY));
    let second = clock.rem_euclid(DAY);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}")
}

/// A UTC-OFFSET (RFC 5545, 3.3.14), with seconds only where there are some.
fn offset(offset: Offset) -> String {
    let sign = if offset < 0 { '-' } else { '+' };
    let (amount, seconds) = (offset.abs() / 60, offset.abs() % 60);
    let (hours, minutes) = (amount / 60, amount % 60);
    if seconds == 0 {
        format!("{sign}{hours:02}{minutes:02}")
    } else {
        format!("{sign}{hours:02}{minutes:02}{seconds:02}")
    }
}

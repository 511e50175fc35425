//! Rules from octets: the engine against its own promises, and against counting the days one by one.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};
use kalends_core::ical::expand::{Frame, Instance, Series, Span, Window, occurrences};
use kalends_core::ical::recur::{DAY, Occurrences, Rule, Steps, StepsExhausted, civil_second, date_time};
use kalends_core::ical::value::Temporal;
use kalends_core::ical::zone::{Zone, Zones};

/// The work that one expansion may cost here.
const STEPS: u64 = 20_000;
/// The occurrences that are looked at.
const MOST: usize = 120;
/// 1990-01-01T00:00:00.
const START: i64 = 631_152_000;
/// 9999-12-31T23:59:59.
const END: i64 = 253_402_300_799;
const DAYS: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

/// Expands a rule that the octets describe, or whose text they are.
///
/// # Panics
/// If occurrences are not in order, or lie outside what was asked for; if a seek finds something else than a walk, or
/// two windows something else than both together; if DTSTART belongs to the rule for one function and not for another;
/// if days are missing from a simple rule, or there are too many; if more steps were used than allowed.
pub fn recurrence(data: &[u8]) {
    let mut octets = Octets(data);
    let flags = octets.next();
    let offset = i64::from(octets.number());
    let start = match flags >> 1 & 3 {
        0 | 1 => START + offset / 4,
        2 => END - offset / 16,
        _ => civil_second(Date::MIN.at(0, 0, 0, 0)) + offset * 16,
    };
    let date = flags & 1 == 1;
    let start = if date { start.div_euclid(DAY) * DAY } else { start };
    let zone = ["", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia"][usize::from(flags >> 3 & 3)];
    let ahead = i64::from(octets.number());
    let width = i64::from(octets.number()) / 256;
    let drawn = if flags & 128 == 0 {
        Some(Drawn::new(&mut octets))
    } else {
        None
    };
    let excluding = (flags & 64 != 0 && drawn.is_some()).then(|| Drawn::new(&mut octets).text());
    let text = drawn
        .as_ref()
        .map_or_else(|| String::from_utf8_lossy(octets.0).into_owned(), Drawn::text);
    let Ok(rule) = Rule::parse(&text) else {
        assert!(drawn.is_none_or(|drawn| !drawn.is_valid()), "{text}");
        return;
    };
    if date && rule.needs_time() {
        return;
    }
    let Ok((walk, ended)) = walk(&rule, start, date, None) else {
        return;
    };
    assert!(walk.windows(2).all(|pair| pair[0] < pair[1]), "{text}: in order");
    assert!(
        walk.iter().all(|second| (start..=END).contains(second)),
        "{text}: in range"
    );
    let makes = rule.makes(date_time(start), date, &mut Steps::new(STEPS));
    assert!(
        makes.is_err() || makes == Ok(walk.first() == Some(&start)),
        "{text}: DTSTART"
    );
    seek(&rule, &text, start, date, &walk, ahead);
    if let Some(drawn) = &drawn
        && drawn.is_simple()
    {
        compare(drawn, &text, start, date, &walk, ended);
    }
    let start = match (date, zone) {
        (true, _) => Temporal::Date(date_time(start).date()),
        (false, "") => Temporal::Utc(date_time(start)),
        (false, zone) => Temporal::Zoned(date_time(start), zone.into()),
    };
    let series = Series {
        start: Some(start),
        span: Span::None,
        rules: vec![rule],
        exrules: excluding.iter().filter_map(|text| Rule::parse(text).ok()).collect(),
        rdates: Vec::new(),
        exdates: Vec::new(),
        overrides: Vec::new(),
    };
    let near = walk[ahead as usize % walk.len().max(1)..]
        .first()
        .copied()
        .unwrap_or(START);
    let middle = near - width / 2;
    split(&series, &text, [middle - width, middle, middle + width]);
}

/// Occurrences from DTSTART on, or from where a seek leads; and whether these are all.
fn walk(rule: &Rule, start: i64, date: bool, seek: Option<i64>) -> Result<(Vec<i64>, bool), StepsExhausted> {
    let mut steps = Steps::new(STEPS);
    let mut made = Occurrences::new(rule, start, date);
    if let Some(second) = seek {
        made.seek(second);
    }
    let mut found = Vec::new();
    while found.len() < MOST {
        match made.next(&mut steps)? {
            Some(second) => found.push(second),
            None => return Ok((found, true)),
        }
    }
    assert!(steps.used() <= STEPS);
    Ok((found, false))
}

fn seek(rule: &Rule, text: &str, start: i64, date: bool, walked: &[i64], ahead: i64) {
    let Some(near) = walked.get(ahead as usize % walked.len().max(1)) else {
        return;
    };
    let target = near + ahead % 3 - 1;
    let expected: Vec<i64> = walked.iter().copied().filter(|second| *second >= target).collect();
    if let Ok((found, _)) = walk(rule, start, date, Some(target)) {
        assert_eq!(
            found[..expected.len().min(found.len())],
            expected,
            "{text}: seek to {target}"
        );
    }
    // Wherever it leads: no occurrence before the target.
    let far = start + ahead * 64;
    if let Ok((found, _)) = walk(rule, start, date, Some(far)) {
        assert!(found.iter().all(|second| *second >= far), "{text}: seek to {far}");
    }
}

/// Two windows beside each other hold what both together hold.
fn split(series: &Series, text: &str, [from, middle, to]: [i64; 3]) {
    let (zones, evaluation) = (Zones::default(), Zone::utc());
    let frame = Frame {
        zones: &zones,
        evaluation: &evaluation,
    };
    let expand = |from, to| {
        let window = Window { from, to };
        let mut steps = Steps::new(STEPS);
        let found = occurrences(series, &frame, window, &mut steps);
        assert!(steps.used() <= STEPS);
        let found = found.ok()?;
        assert!(
            found.iter().all(|it| window.holds(it.from, it.to)),
            "{text}: in the window"
        );
        assert!(
            found.windows(2).all(|pair| pair[0].from <= pair[1].from),
            "{text}: in order"
        );
        Some(found)
    };
    let (Some(one), Some(other), Some(both)) = (expand(from, middle), expand(middle, to), expand(from, to)) else {
        return;
    };
    let keys = |found: &[Instance]| found.iter().map(|it| it.from).collect::<BTreeSet<_>>();
    let joined: BTreeSet<_> = keys(&one).union(&keys(&other)).copied().collect();
    assert_eq!(joined, keys(&both), "{text}: [{from}, {middle}) and [{middle}, {to})");
    assert_eq!(both.len(), keys(&both).len(), "{text}: none twice");
}

/// Days of a rule one by one, by another calendar than that of the engine.
fn compare(drawn: &Drawn, text: &str, start: i64, date: bool, walked: &[i64], ended: bool) {
    let first = date_time(start);
    let mut expected = Vec::new();
    let (mut day, mut end) = (first.date(), start);
    for _ in 0..800 {
        if drawn.has(day, first.date()) {
            let midnight = civil_second(day.at(0, 0, 0, 0));
            let times = drawn.times(start.rem_euclid(DAY), date);
            expected.extend(
                times
                    .into_iter()
                    .map(|time| midnight + time)
                    .filter(|second| *second >= start),
            );
        }
        match day.tomorrow() {
            Ok(next) => day = next,
            // The last day of the calendar was looked at too.
            Err(_) => {
                end = i64::MAX;
                break;
            }
        }
        end = civil_second(day.at(0, 0, 0, 0));
    }
    expected.truncate(drawn.count.map_or(MOST, |count| MOST.min(usize::from(count))));
    let found: Vec<i64> = walked.iter().copied().filter(|second| *second < end).collect();
    assert_eq!(found, expected, "{text} from {first}, {ended}");
}

/// Octets that never end: zeros follow.
struct Octets<'a>(&'a [u8]);

impl Octets<'_> {
    fn next(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().map_or((0, self.0), |(first, rest)| (*first, rest));
        self.0 = rest;
        first
    }

    fn number(&mut self) -> u32 {
        u32::from_le_bytes([self.next(), self.next(), self.next(), self.next()])
    }

    /// Up to four numbers, perhaps negative ones.
    fn list(&mut self, least: i16, most: i16) -> Vec<i16> {
        let count = self.next() % 4 + 1;
        let mut list = Vec::new();
        for _ in 0..count {
            let octets = i16::from_le_bytes([self.next(), self.next() & 1]) % (most + 1);
            let sign = if least < 0 && self.next() & 1 == 1 { -1 } else { 1 };
            let number = octets * sign;
            if (number != 0 || least == 0) && !list.contains(&number) {
                list.push(number);
            }
        }
        list
    }
}

/// A rule by its parts, most of which are valid beside each other.
struct Drawn {
    frequency: usize,
    interval: u16,
    count: Option<u8>,
    week_start: usize,
    lists: Vec<(&'static str, Vec<i16>)>,
    days: Vec<(i16, usize)>,
    skip: u8,
}

const FREQUENCIES: [&str; 7] = ["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY"];

impl Drawn {
    fn new(octets: &mut Octets<'_>) -> Self {
        let frequency = usize::from(octets.next() % 7);
        let interval = match octets.next() {
            wide @ 240.. => u16::from(wide - 239) * 251,
            narrow => u16::from(narrow % 16) + 1,
        };
        let [parts, more] = [octets.next(), octets.next()];
        let count = (more & 1 == 1).then(|| octets.next() % 100 + 1);
        let mut lists = Vec::new();
        let table = [
            ("BYMONTH", 0, 12),
            ("BYMONTHDAY", -1, 31),
            ("BYYEARDAY", -1, 366),
            ("BYWEEKNO", -1, 53),
            ("BYHOUR", 0, 23),
            ("BYMINUTE", 0, 59),
            ("BYSECOND", 0, 59),
            ("BYSETPOS", -1, 20),
        ];
        for (bit, (name, least, most)) in table.into_iter().enumerate() {
            if parts >> bit & 1 == 1 {
                let mut list = octets.list(least, most);
                if name == "BYMONTH" {
                    list.retain(|month| *month > 0);
                }
                lists.push((name, list));
            }
        }
        lists.retain(|(_, list)| !list.is_empty());
        let mut days = Vec::new();
        if more & 2 != 0 {
            for _ in 0..octets.next() % 4 + 1 {
                let number = if more & 4 != 0 {
                    i16::from(octets.next() % 11) - 5
                } else {
                    0
                };
                days.push((number, usize::from(octets.next() % 7)));
            }
        }
        Self {
            frequency,
            interval,
            count,
            week_start: usize::from(more >> 3 & 7) % 7,
            lists,
            days,
            skip: more >> 6,
        }
    }

    fn text(&self) -> String {
        let mut text = format!(
            "FREQ={};INTERVAL={};WKST={}",
            FREQUENCIES[self.frequency], self.interval, DAYS[self.week_start]
        );
        for (name, list) in &self.lists {
            let list: Vec<_> = list.iter().map(ToString::to_string).collect();
            let _ = write!(text, ";{name}={}", list.join(","));
        }
        if !self.days.is_empty() {
            let number = |number: &i16| {
                if *number == 0 {
                    String::new()
                } else {
                    number.to_string()
                }
            };
            let days = self.days.iter().map(|(nth, day)| number(nth) + DAYS[*day]);
            let _ = write!(text, ";BYDAY={}", days.collect::<Vec<_>>().join(","));
        }
        if let Some(count) = self.count {
            let _ = write!(text, ";COUNT={count}");
        }
        match self.skip {
            2 => text.push_str(";RSCALE=GREGORIAN;SKIP=FORWARD"),
            3 => text.push_str(";RSCALE=GREGORIAN;SKIP=BACKWARD"),
            _ => {}
        }
        text
    }

    fn list(&self, name: &str) -> &[i16] {
        let found = self.lists.iter().find(|(known, _)| *known == name);
        found.map_or(&[], |(_, list)| list)
    }

    /// The table of RFC 5545, 3.3.10.
    fn is_valid(&self) -> bool {
        let is = |frequency| FREQUENCIES[self.frequency] == frequency;
        let numbered = self.days.iter().any(|(number, _)| *number != 0);
        (self.list("BYWEEKNO").is_empty() || is("YEARLY") && !numbered)
            && (self.list("BYYEARDAY").is_empty() || !is("DAILY") && !is("WEEKLY") && !is("MONTHLY"))
            && (self.list("BYMONTHDAY").is_empty() || !is("WEEKLY"))
            && (!numbered || is("YEARLY") || is("MONTHLY"))
    }

    /// Whether [`Self::has`] understands it.
    fn is_simple(&self) -> bool {
        let plain = self.days.iter().all(|(number, _)| *number == 0);
        (1..=3).contains(&self.frequency)
            && self.is_valid()
            && plain
            && self.skip < 2
            && self.list("BYSETPOS").is_empty()
    }

    /// Whether a monthly, weekly or daily rule has a day.
    fn has(&self, day: Date, first: Date) -> bool {
        let interval = i64::from(self.interval);
        let weekday =
            |day: Date| (day.weekday().to_monday_zero_offset() - Weekday::Monday.to_monday_zero_offset()) as i64;
        let days_to = |from: Date, to: Date| i64::from(from.until(to).expect("near").get_days());
        let period = match self.frequency {
            1 => i64::from(day.year() - first.year()) * 12 + i64::from(day.month() - first.month()),
            2 => {
                let into_week = |day| (weekday(day) - self.week_start as i64).rem_euclid(7);
                (days_to(first, day) + into_week(first) - into_week(day)) / 7
            }
            _ => days_to(first, day),
        };
        let month_days = self.list("BYMONTHDAY");
        let last = day.last_of_month();
        let of_month = month_days.iter().any(|number| {
            let wanted = if *number > 0 {
                day.first_of_month().checked_add((*number - 1).days())
            } else {
                last.checked_add((*number + 1).days())
            };
            wanted.is_ok_and(|wanted| wanted == day)
        });
        let months = self.list("BYMONTH");
        let of_week = self.days.iter().any(|(_, wanted)| weekday(day) == *wanted as i64);
        let own = match self.frequency {
            1 => self.days.is_empty() && month_days.is_empty() && day.day() != first.day(),
            2 => self.days.is_empty() && weekday(day) != weekday(first),
            _ => false,
        };
        period % interval == 0
            && (months.is_empty() || months.contains(&day.month().into()))
            && (month_days.is_empty() || of_month)
            && (self.days.is_empty() || of_week)
            && !own
    }

    /// The seconds of a day, ascending.
    fn times(&self, own: i64, date: bool) -> Vec<i64> {
        if date {
            return vec![0];
        }
        let or = |name: &str, own: i64| match self.list(name) {
            [] => vec![own],
            list => list.iter().map(|number| i64::from(*number)).collect(),
        };
        let (hours, minutes, seconds) = (
            or("BYHOUR", own / 3_600),
            or("BYMINUTE", own / 60 % 60),
            or("BYSECOND", own % 60),
        );
        let mut times = Vec::new();
        for hour in &hours {
            for minute in &minutes {
                times.extend(seconds.iter().map(|second| hour * 3_600 + minute * 60 + second));
            }
        }
        times.sort_unstable();
        times
    }
}

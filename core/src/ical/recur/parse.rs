//! Reading a RECUR value (RFC 5545, 3.3.10; RFC 7529, 4).

use jiff::civil::{Date, DateTime};

use super::{Frequency, MAX_INTERVAL, Rule, RuleFault, Skip, Until};

/// The names of all parts; the index is the bit that tells that a part was seen.
const PARTS: [&str; 16] = [
    "FREQ",
    "INTERVAL",
    "COUNT",
    "UNTIL",
    "WKST",
    "BYMONTH",
    "BYMONTHDAY",
    "BYYEARDAY",
    "BYWEEKNO",
    "BYDAY",
    "BYSETPOS",
    "BYHOUR",
    "BYMINUTE",
    "BYSECOND",
    "RSCALE",
    "SKIP",
];

impl Rule {
    /// Reads a rule without its property name. Letter case, the order of parts and a trailing semicolon do not matter.
    ///
    /// # Errors
    /// [`RuleFault`] if it is malformed, or well-formed and not to be evaluated.
    pub fn parse(text: &str) -> Result<Self, RuleFault> {
        let mut rule = Self {
            frequency: Frequency::Yearly,
            interval: 1,
            count: None,
            until: None,
            week_start: 0,
            months: 0,
            month_days: Vec::new(),
            year_days: Vec::new(),
            weeks: Vec::new(),
            weekdays: 0,
            numbered: Vec::new(),
            positions: Vec::new(),
            hours: 0,
            minutes: 0,
            seconds: 0,
            skip: Skip::Omit,
        };
        let mut seen = 0_u16;
        for part in text.trim_ascii().split(';').filter(|part| !part.is_empty()) {
            let unknown = || RuleFault::UnknownPart(part.chars().take(80).collect());
            let (name, value) = part.split_once('=').ok_or_else(unknown)?;
            let known = PARTS
                .iter()
                .position(|known| known.eq_ignore_ascii_case(name.trim_ascii()));
            let bit = known.ok_or_else(unknown)?;
            if seen >> bit & 1 == 1 {
                return Err(RuleFault::Repeated(PARTS[bit]));
            }
            seen |= 1 << bit;
            let value = value.trim_ascii().to_ascii_uppercase();
            rule.read(PARTS[bit], &value)?;
        }
        if seen & 1 == 0 {
            return Err(RuleFault::NoFrequency);
        }
        let has = |name: &str| {
            PARTS
                .iter()
                .position(|part| *part == name)
                .is_some_and(|bit| seen >> bit & 1 == 1)
        };
        rule.check(has)?;
        Ok(rule)
    }

    fn read(&mut self, part: &'static str, value: &str) -> Result<(), RuleFault> {
        let fault = || RuleFault::Value(part);
        let list = |least, most| numbers(value, least, most).ok_or_else(fault);
        match part {
            "FREQ" => {
                self.frequency = match value {
                    "YEARLY" => Frequency::Yearly,
                    "MONTHLY" => Frequency::Monthly,
                    "WEEKLY" => Frequency::Weekly,
                    "DAILY" => Frequency::Daily,
                    "HOURLY" => Frequency::Hourly,
                    "MINUTELY" => Frequency::Minutely,
                    "SECONDLY" => Frequency::Secondly,
                    _ => return Err(fault()),
                }
            }
            "INTERVAL" => self.interval = number(value, 1, i64::from(MAX_INTERVAL)).ok_or_else(fault)?,
            "COUNT" => {
                let count = number(value, 1, i64::from(u32::MAX)).ok_or_else(fault)?;
                self.count = Some(count as u32);
            }
            "UNTIL" => self.until = Some(until(value).ok_or_else(fault)?),
            "WKST" => self.week_start = weekday(value).ok_or_else(fault)?,
            "BYMONTH" => self.months = list(1, 12)?.iter().fold(0, |mask, month| mask | 1 << month),
            "BYMONTHDAY" => self.month_days = list(-31, 31)?,
            "BYYEARDAY" => self.year_days = list(-366, 366)?,
            "BYWEEKNO" => self.weeks = list(-53, 53)?,
            "BYSETPOS" => self.positions = list(-366, 366)?,
            "BYHOUR" => self.hours = list(0, 23)?.iter().fold(0, |mask, hour| mask | 1 << hour),
            "BYMINUTE" => self.minutes = list(0, 59)?.iter().fold(0, |mask, minute| mask | 1 << minute),
            // A leap second falls on the last second there is.
            "BYSECOND" => self.seconds = list(0, 60)?.iter().fold(0, |mask, second| mask | 1 << second.min(&59)),
            "BYDAY" => {
                for day in value.split(',').map(str::trim_ascii) {
                    let at = day
                        .len()
                        .checked_sub(2)
                        .filter(|at| day.is_char_boundary(*at))
                        .ok_or_else(fault)?;
                    let (prefix, name) = day.split_at(at);
                    let day = weekday(name).ok_or_else(fault)?;
                    if prefix.is_empty() {
                        self.weekdays |= 1 << day;
                    } else {
                        let number = number(prefix, -53, 53)
                            .filter(|number| *number != 0)
                            .ok_or_else(fault)?;
                        self.numbered.push((number, day));
                    }
                }
                self.numbered.sort_unstable();
                self.numbered.dedup();
            }
            "RSCALE" if value == "GREGORIAN" => {}
            "RSCALE" => return Err(RuleFault::Scale(value.chars().take(80).collect())),
            _ => {
                self.skip = match value {
                    "OMIT" => Skip::Omit,
                    "BACKWARD" => Skip::Backward,
                    "FORWARD" => Skip::Forward,
                    _ => return Err(fault()),
                }
            }
        }
        Ok(())
    }

    /// The table of RFC 5545, 3.3.10, and what it says about parts beside each other.
    fn check(&self, has: impl Fn(&str) -> bool) -> Result<(), RuleFault> {
        use Frequency::{Daily, Monthly, Weekly, Yearly};
        let numbered_ok = match self.frequency {
            Yearly => self.weeks.is_empty(),
            Monthly => true,
            Weekly | Daily | Frequency::Hourly | Frequency::Minutely | Frequency::Secondly => false,
        };
        let forbidden = [
            ("BYWEEKNO", has("BYWEEKNO") && self.frequency != Yearly),
            (
                "BYYEARDAY",
                has("BYYEARDAY") && matches!(self.frequency, Daily | Weekly | Monthly),
            ),
            ("BYMONTHDAY", has("BYMONTHDAY") && self.frequency == Weekly),
            ("BYDAY", !self.numbered.is_empty() && !numbered_ok),
            ("UNTIL", has("COUNT") && has("UNTIL")),
            ("SKIP", has("SKIP") && !has("RSCALE")),
        ];
        match forbidden.into_iter().find(|(_, found)| *found) {
            Some((part, _)) => Err(RuleFault::Forbidden(part)),
            None => Ok(()),
        }
    }
}

/// A decimal number within bounds; a sign only where the bounds have one.
fn number(text: &str, least: i64, most: i64) -> Option<i64> {
    let digits = match text.as_bytes().first()? {
        b'+' | b'-' if least < 0 => &text[1..],
        _ => text,
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: i64 = text.parse().ok()?;
    (least..=most).contains(&number).then_some(number)
}

/// A comma list in ascending order without repeats. Where the bounds have a sign, 0 is none of the numbers.
fn numbers(text: &str, least: i64, most: i64) -> Option<Vec<i64>> {
    let read = |item: &str| number(item.trim_ascii(), least, most).filter(|number| *number != 0 || least == 0);
    let mut out: Vec<i64> = text.split(',').map(read).collect::<Option<_>>()?;
    out.sort_unstable();
    out.dedup();
    Some(out)
}

fn weekday(name: &str) -> Option<i64> {
    let days = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];
    days.iter().position(|day| *day == name).map(|at| at as i64)
}

/// `YYYYMMDD`, `YYYYMMDDTHHMMSS` or the same with Z.
fn until(text: &str) -> Option<Until> {
    let bytes = text.as_bytes();
    let digits = |from: usize, to: usize| number(text.get(from..to)?, 0, 9999);
    let date = Date::new(digits(0, 4)? as i16, digits(4, 6)? as i8, digits(6, 8)? as i8).ok()?;
    if bytes.len() == 8 {
        return Some(Until::Date(date));
    }
    let zulu = match (bytes.len(), bytes.get(8)?, bytes.last()?) {
        (16, b'T', b'Z') => true,
        (15, b'T', _) => false,
        _ => return None,
    };
    let second = digits(13, 15)?.min(60).min(if digits(13, 15)? == 60 { 59 } else { 60 });
    let time = DateTime::new(
        date.year(),
        date.month(),
        date.day(),
        digits(9, 11)? as i8,
        digits(11, 13)? as i8,
        second as i8,
        0,
    )
    .ok()?;
    Some(if zulu { Until::Utc(time) } else { Until::Local(time) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_cannot_be_evaluated_says_why() {
        let table = [
            ("", RuleFault::NoFrequency),
            ("INTERVAL=2", RuleFault::NoFrequency),
            ("FREQ=DAILY;FREQ=DAILY", RuleFault::Repeated("FREQ")),
            ("FREQ=DAILY;BYEASTER=0", RuleFault::UnknownPart("BYEASTER=0".into())),
            ("FREQ=DAILY;nonsense", RuleFault::UnknownPart("nonsense".into())),
            ("FREQ=FORTNIGHTLY", RuleFault::Value("FREQ")),
            ("FREQ=DAILY;COUNT=0", RuleFault::Value("COUNT")),
            ("FREQ=DAILY;COUNT=+1", RuleFault::Value("COUNT")),
            ("FREQ=DAILY;INTERVAL=0", RuleFault::Value("INTERVAL")),
            ("FREQ=DAILY;INTERVAL=-1", RuleFault::Value("INTERVAL")),
            ("FREQ=DAILY;INTERVAL=999999999", RuleFault::Value("INTERVAL")),
            ("FREQ=DAILY;INTERVAL=99999999999999999999", RuleFault::Value("INTERVAL")),
            ("FREQ=DAILY;UNTIL=20260230", RuleFault::Value("UNTIL")),
            ("FREQ=DAILY;UNTIL=20260101T250000Z", RuleFault::Value("UNTIL")),
            ("FREQ=DAILY;UNTIL=20260101T000099Z", RuleFault::Value("UNTIL")),
            ("FREQ=DAILY;UNTIL=20260101T000000+1", RuleFault::Value("UNTIL")),
            ("FREQ=MONTHLY;BYMONTHDAY=0", RuleFault::Value("BYMONTHDAY")),
            ("FREQ=MONTHLY;BYMONTHDAY=32", RuleFault::Value("BYMONTHDAY")),
            ("FREQ=MONTHLY;BYMONTHDAY=1,", RuleFault::Value("BYMONTHDAY")),
            ("FREQ=MONTHLY;BYDAY=0MO", RuleFault::Value("BYDAY")),
            ("FREQ=MONTHLY;BYDAY=\u{e9}\u{e9}", RuleFault::Value("BYDAY")),
            ("FREQ=WEEKLY;WKST=1MO", RuleFault::Value("WKST")),
            ("FREQ=DAILY;BYHOUR=24", RuleFault::Value("BYHOUR")),
            ("FREQ=DAILY;BYSECOND=61", RuleFault::Value("BYSECOND")),
            ("FREQ=WEEKLY;BYMONTHDAY=1", RuleFault::Forbidden("BYMONTHDAY")),
            ("FREQ=WEEKLY;BYDAY=1MO", RuleFault::Forbidden("BYDAY")),
            ("FREQ=YEARLY;BYWEEKNO=1;BYDAY=1MO", RuleFault::Forbidden("BYDAY")),
            ("FREQ=DAILY;COUNT=1;UNTIL=20260101", RuleFault::Forbidden("UNTIL")),
            ("FREQ=YEARLY;SKIP=OMIT", RuleFault::Forbidden("SKIP")),
            ("RSCALE=HEBREW;FREQ=YEARLY", RuleFault::Scale("HEBREW".into())),
        ];
        for (text, fault) in table {
            assert_eq!(Rule::parse(text), Err(fault), "{text}");
        }
    }

    #[test]
    fn case_order_and_trailing_semicolons_do_not_matter() {
        let plain = Rule::parse("FREQ=WEEKLY;BYDAY=MO,WE;WKST=SU").expect("valid");
        assert_eq!(Rule::parse("wkst=su;byday=we,mo,mo;freq=weekly;"), Ok(plain));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(FREQ=(YEARLY|DAILY|SECONDLY);)?([A-Z]{2,9}=[-+0-9A-Z,]{0,9};?){0,4}|\\PC{0,40}") {
            let _ = Rule::parse(&text);
        }
    }
}

//! DURATION (RFC 5545, 3.3.6): nominal weeks and days apart from exact hours, minutes and seconds.

use std::fmt;

use serde::{Serialize, Serializer};

/// A length of time. Weeks and days follow the calendar (a day may have 23 hours), the rest is exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Duration {
    negative: bool,
    weeks: u32,
    days: u32,
    hours: u32,
    minutes: u32,
    seconds: u32,
}

const SECONDS_PER_DAY: u64 = 86_400;

impl Duration {
    /// Reads `[+-]P[nW][nD][T[nH][nM][nS]]` in any case. Beyond the grammar, weeks may stand with days, units may be
    /// left out, and a minus may stand before the numbers (`PT-15M`), if all numbers have the same sign.
    ///
    /// `None` for anything else, and for lengths beyond `u32` in one unit.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim_ascii();
        let (mut negative, rest) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let rest = rest.strip_prefix(['P', 'p'])?;
        let mut out = Self::default();
        // Units come in this order, each at most once; T stands before the units of time.
        let units = [b'W', b'D', b'T', b'H', b'M', b'S'];
        let (mut next, mut read, mut minus) = (0, 0, 0);
        let mut bytes = rest.as_bytes();
        while let Some(first) = bytes.first() {
            if first.eq_ignore_ascii_case(&b'T') {
                if next > 2 || bytes.len() == 1 {
                    return None;
                }
                (next, bytes) = (3, &bytes[1..]);
                continue;
            }
            if matches!(first, b'-' | b'+') {
                minus += usize::from(*first == b'-');
                bytes = &bytes[1..];
            }
            let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let number = std::str::from_utf8(&bytes[..digits]).ok()?.parse().ok()?;
            let unit = bytes.get(digits)?.to_ascii_uppercase();
            let place = next + units[next..].iter().position(|known| *known == unit)?;
            // Hours, minutes and seconds need their T, and T is no unit.
            if (place > 2 && next < 3) || place == 2 {
                return None;
            }
            let field = match unit {
                b'W' => &mut out.weeks,
                b'D' => &mut out.days,
                b'H' => &mut out.hours,
                b'M' => &mut out.minutes,
                _ => &mut out.seconds,
            };
            *field = number;
            (next, bytes, read) = (place + 1, &bytes[digits + 1..], read + 1);
        }
        if read == 0 || (minus > 0 && minus < read) || (minus > 0 && negative) {
            return None;
        }
        negative |= minus > 0;
        out.negative = negative && !out.is_zero();
        Some(out)
    }

    /// Whether it is shorter than nothing.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Whether it is nothing.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.weeks | self.days | self.hours | self.minutes | self.seconds == 0
    }

    /// The nominal part in days, with its sign.
    #[must_use]
    pub fn nominal_days(&self) -> i64 {
        self.signed(u64::from(self.weeks) * 7 + u64::from(self.days))
    }

    /// The exact part in seconds, with its sign.
    #[must_use]
    pub fn exact_seconds(&self) -> i64 {
        self.signed(u64::from(self.hours) * 3_600 + u64::from(self.minutes) * 60 + u64::from(self.seconds))
    }

    /// Both parts in seconds if every day had 24 hours, with their sign.
    #[must_use]
    pub fn flat_seconds(&self) -> i64 {
        self.nominal_days() * SECONDS_PER_DAY as i64 + self.exact_seconds()
    }

    /// This length and some more seconds; whole days are added as days where this one has no time. `None` if nothing is
    /// left of it, or it gets too long.
    #[must_use]
    pub fn longer(self, seconds: i64) -> Option<Self> {
        let day = SECONDS_PER_DAY as i64;
        let nominal = self.exact_seconds() == 0 && seconds % day == 0;
        let (days, exact) = match nominal {
            true => (self.nominal_days() + seconds / day, 0),
            false => (self.nominal_days(), self.exact_seconds().checked_add(seconds)?),
        };
        let (days, exact) = match exact {
            0.. => (days, exact),
            _ => (days + exact.div_euclid(day), exact.rem_euclid(day)),
        };
        let longer = Self {
            negative: false,
            weeks: 0,
            days: u32::try_from(days).ok()?,
            hours: u32::try_from(exact / 3_600).ok()?,
            minutes: (exact / 60 % 60) as u32,
            seconds: (exact % 60) as u32,
        };
        (!longer.is_zero()).then_some(longer)
    }

    /// At most 2^45, so the sign and a sum always fit.
    fn signed(&self, amount: u64) -> i64 {
        if self.negative { -(amount as i64) } else { amount as i64 }
    }
}

/// As RFC 5545 writes it, with the units as they were given; `PT0S` for nothing.
impl fmt::Display for Duration {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return out.write_str("PT0S");
        }
        out.write_str(if self.negative { "-P" } else { "P" })?;
        // The grammar has weeks alone.
        let alone = self.days | self.hours | self.minutes | self.seconds == 0;
        let (weeks, days) = if alone {
            (self.weeks, 0)
        } else {
            (0, u64::from(self.weeks) * 7 + u64::from(self.days))
        };
        if weeks > 0 {
            write!(out, "{weeks}W")?;
        }
        if days > 0 {
            write!(out, "{days}D")?;
        }
        if self.hours | self.minutes | self.seconds == 0 {
            return Ok(());
        }
        out.write_str("T")?;
        if self.hours > 0 {
            write!(out, "{}H", self.hours)?;
        }
        // Between hours and seconds the grammar wants minutes.
        if self.minutes > 0 || (self.hours > 0 && self.seconds > 0) {
            write!(out, "{}M", self.minutes)?;
        }
        if self.seconds > 0 {
            write!(out, "{}S", self.seconds)?;
        }
        Ok(())
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Option<(i64, i64, String)> {
        Duration::parse(text).map(|it| (it.nominal_days(), it.exact_seconds(), it.to_string()))
    }

    #[test]
    fn nominal_and_exact_parts_stay_apart() {
        let table = [
            ("P15DT5H0M20S", 15, 18_020, "P15DT5H0M20S"),
            ("P7W", 49, 0, "P7W"),
            ("PT1H30M", 0, 5_400, "PT1H30M"),
            ("PT90M", 0, 5_400, "PT90M"),
            ("-PT15M", 0, -900, "-PT15M"),
            ("-P1D", -1, 0, "-P1D"),
            ("+P1DT12H", 1, 43_200, "P1DT12H"),
            ("P0D", 0, 0, "PT0S"),
            ("-PT0S", 0, 0, "PT0S"),
            // What people write.
            ("PT-15M", 0, -900, "-PT15M"),
            ("P-1DT-2H", -1, -7_200, "-P1DT2H"),
            ("P1W2D", 9, 0, "P9D"),
            ("pt1h30s", 0, 3_630, "PT1H0M30S"),
            (" PT5M ", 0, 300, "PT5M"),
        ];
        for (text, days, seconds, written) in table {
            assert_eq!(read(text), Some((days, seconds, written.to_owned())), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        let table = [
            "",
            "P",
            "PT",
            "-P",
            "1H",
            "P1H",
            "PT1D",
            "P1DT",
            "P1Y",
            "P1M",
            "PT1S1M",
            "PT1H1H",
            "P1.5D",
            "PTH",
            "P1D-2H",
            "P-1DT2H",
            "-P-1D",
            "PT99999999999S",
            "PT1HX",
            "P1T",
            "PTT1H",
        ];
        for text in table {
            assert_eq!(Duration::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[-+]?[Pp]?[-+0-9WDTHMSwdthms]{0,12}") {
            if let Some(read) = Duration::parse(&text) {
                let again = Duration::parse(&read.to_string()).expect("what is written is read");
                prop_assert_eq!(again.nominal_days(), read.nominal_days());
                prop_assert_eq!(again.exact_seconds(), read.exact_seconds());
            }
        }
    }
}

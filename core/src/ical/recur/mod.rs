//! Recurrence rules (RFC 5545, 3.3.10, with RFC 7529 for the Gregorian calendar), on local integers without zones.
//!
//! * [`Rule::parse`] reads a rule or says why it cannot be evaluated.
//! * [`Occurrences`] yields its local times in order, from DTSTART or from anywhere else by arithmetic.
//! * [`Steps`] is the work that an evaluation may cost.
//!
//! Where the RFC leaves room: `YEARLY;BYWEEKNO` without BYDAY takes the weekday of DTSTART; `YEARLY;BYMONTHDAY`
//! without BYMONTH means every month; INTERVAL counts calendar years, also with BYWEEKNO; BYSETPOS counts in whole
//! periods, also in the one of DTSTART; `BYDAY=3MO,WE` is a union; a date as DTSTART switches off the BY parts of
//! time; parts that the RFC forbids at a frequency make the rule unevaluable.

mod civil;
mod occurrences;
mod parse;
mod period;

use std::fmt;

use jiff::civil::{Date, DateTime};

pub use civil::{DAY, civil_second, date_time};
pub use occurrences::Occurrences;

/// The largest INTERVAL that is taken: eight digits.
pub const MAX_INTERVAL: u32 = 99_999_999;

/// How often a rule repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Frequency {
    /// Every second.
    Secondly,
    /// Every minute.
    Minutely,
    /// Every hour.
    Hourly,
    /// Every day.
    Daily,
    /// Every week.
    Weekly,
    /// Every month.
    Monthly,
    /// Every year.
    Yearly,
}

/// The last moment of a rule, inclusive, in one of the three forms that occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// A day.
    Date(Date),
    /// A local time.
    Local(DateTime),
    /// A time in UTC.
    Utc(DateTime),
}

impl Until {
    /// As local seconds: midnight for a date, the digits as they are for UTC.
    pub(crate) fn civil(self) -> i64 {
        match self {
            Self::Date(date) => civil_second(date.to_datetime(jiff::civil::Time::midnight())),
            Self::Local(time) | Self::Utc(time) => civil_second(time),
        }
    }
}

/// What becomes of days that do not exist (RFC 7529, 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Skip {
    Omit,
    Backward,
    Forward,
}

/// A recurrence rule that can be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    frequency: Frequency,
    interval: i64,
    count: Option<u32>,
    until: Option<Until>,
    /// 0 for Monday.
    week_start: i64,
    /// Bit n for month n; 0 if there is no BYMONTH. The masks below follow this pattern.
    months: u16,
    month_days: Vec<i64>,
    year_days: Vec<i64>,
    weeks: Vec<i64>,
    /// Weekdays without a number, bit 0 for Monday.
    weekdays: u8,
    /// Number and weekday.
    numbered: Vec<(i64, i64)>,
    positions: Vec<i64>,
    hours: u32,
    minutes: u64,
    seconds: u64,
    skip: Skip,
}

impl Rule {
    /// How often it repeats.
    #[must_use]
    pub fn frequency(&self) -> Frequency {
        self.frequency
    }

    /// COUNT.
    #[must_use]
    pub fn count(&self) -> Option<u32> {
        self.count
    }

    /// UNTIL.
    #[must_use]
    pub fn until(&self) -> Option<Until> {
        self.until
    }

    /// Whether DTSTART has to have a time: a frequency below DAILY.
    #[must_use]
    pub fn needs_time(&self) -> bool {
        self.frequency < Frequency::Daily
    }

    /// Whether the rule makes DTSTART itself, as RFC 5545, 3.8.5.3, asks for. `date`: DTSTART is a day.
    ///
    /// # Errors
    /// [`StepsExhausted`].
    pub fn makes(&self, start: DateTime, date: bool, steps: &mut Steps) -> Result<bool, StepsExhausted> {
        let start = civil_second(start);
        let mut made = Occurrences::new(self, start, date).until(start);
        Ok(made.next(steps)? == Some(start))
    }

    /// Whether INTERVAL passes over years whose weeks reach into other calendar years: implementations differ there.
    pub(super) fn skips_week_years(&self) -> bool {
        !self.weeks.is_empty() && self.interval > 1
    }

    fn has_weekdays(&self) -> bool {
        self.weekdays != 0 || !self.numbered.is_empty()
    }

    /// Whether a part takes away whole days, so that periods differ in size.
    fn filters_days(&self) -> bool {
        self.months != 0
            || !self.month_days.is_empty()
            || !self.year_days.is_empty()
            || !self.weeks.is_empty()
            || self.has_weekdays()
    }
}

/// Why a rule cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleFault {
    /// There is no FREQ.
    NoFrequency,
    /// A part without `=`, or one that RFC 5545 and RFC 7529 do not know.
    UnknownPart(Box<str>),
    /// A part that stands twice.
    Repeated(&'static str),
    /// The value of a part is malformed or out of its range, COUNT=0 and INTERVAL=0 included.
    Value(&'static str),
    /// RFC 5545 forbids the part at this frequency or beside another part.
    Forbidden(&'static str),
    /// RSCALE names another calendar than GREGORIAN.
    Scale(Box<str>),
}

impl fmt::Display for RuleFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFrequency => out.write_str("the rule has no FREQ"),
            Self::UnknownPart(part) => write!(out, "unknown rule part {part:?}"),
            Self::Repeated(part) => write!(out, "{part} stands twice"),
            Self::Value(part) => write!(out, "the value of {part} is malformed or out of range"),
            Self::Forbidden(part) => write!(out, "{part} is not allowed in this rule"),
            Self::Scale(scale) => write!(out, "the calendar scale {scale:?} is not supported"),
        }
    }
}

impl std::error::Error for RuleFault {}

/// A budget of work. A step is a period or hour that is looked at, or an occurrence that is made.
#[derive(Clone, Debug)]
pub struct Steps {
    limit: u64,
    used: u64,
}

impl Steps {
    /// A budget of so many steps; one costs about 10 ns to 50 ns.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self { limit, used: 0 }
    }

    /// The steps used up so far.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Takes steps for work that is about to be done.
    ///
    /// # Errors
    /// [`StepsExhausted`] if there are not so many left; the work must not be done then.
    #[inline]
    pub fn charge(&mut self, steps: u64) -> Result<(), StepsExhausted> {
        let used = self.used.saturating_add(steps);
        if used > self.limit {
            return Err(StepsExhausted {
                observed: used,
                limit: self.limit,
            });
        }
        self.used = used;
        Ok(())
    }
}

/// The work would exceed the budget of [`Steps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepsExhausted {
    /// The steps that would have been used.
    pub observed: u64,
    /// The steps that were allowed.
    pub limit: u64,
}

impl fmt::Display for StepsExhausted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the evaluation needs more than {} steps", self.limit)
    }
}

impl std::error::Error for StepsExhausted {}

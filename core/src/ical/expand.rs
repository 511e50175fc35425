//! The occurrences of a recurrence set in a window (RFC 5545, 3.8.5.3), under the zones of its document.
//!
//! The set is DTSTART, what the rules make and the RDATEs, less the EXDATEs and what the EXRULEs make; overrides then
//! replace single occurrences or shift later ones. Everything is compared by instant, and an override belongs to the window where it
//! takes place, wherever its identity lies.
//!
//! * A local time that a rule makes and that does not exist is dropped and not counted (RFC 5545, 3.3.10), unless it
//!   is DTSTART itself. A DTSTART or RDATE in a gap is read with the offset before the gap, one in a fold is the first.
//! * DTSTART belongs to the set also where the rule does not make it; COUNT counts what the rule makes.
//! * UNTIL in UTC is an instant where the series has a zone; else its digits count. A day is its midnight. DTSTART
//!   stays even after it.
//! * A floating EXDATE, RDATE or RECURRENCE-ID in a series with a zone is in that zone. An EXDATE or RECURRENCE-ID
//!   that is a day means every occurrence that starts on this day in the zone of DTSTART.
//! * An override whose identity is not in the set is an occurrence all the same; an EXDATE removes it.

mod clock;
mod collect;
mod lookup;
mod series;
mod span;

use std::fmt;

pub(super) use clock::{Clock, Form};
pub use lookup::{Lookup, Membership};
pub(super) use span::Measure;

use super::duration::Duration;
use super::recur::{Rule, RuleFault, Steps, StepsExhausted};
use super::value::Temporal;
use super::zone::{Zone, Zones};

/// The most occurrences of one series in one window.
pub const MAX_OCCURRENCES: usize = 10_000;

/// A recurrence set. A component that does not recur is a set with nothing but a start.
#[derive(Clone, Debug)]
pub struct Series {
    /// DTSTART; `None` if there is no master, and only the overrides exist.
    pub start: Option<Temporal>,
    /// How long the occurrences last.
    pub span: Span,
    /// RRULE; of several the union counts.
    pub rules: Vec<Rule>,
    /// EXRULE (RFC 2445, 4.8.5.2): what these make is excluded as by EXDATE.
    pub exrules: Vec<Rule>,
    /// RDATE.
    pub rdates: Vec<RecurrenceDate>,
    /// EXDATE.
    pub exdates: Vec<Temporal>,
    /// The components with a RECURRENCE-ID, in any order.
    pub overrides: Vec<SeriesOverride>,
}

/// How long an occurrence lasts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    /// Not told: a day for a date, no time at all for a time.
    None,
    /// Until DTEND or DUE. All occurrences last exactly as long.
    Until(Temporal),
    /// For DURATION. All occurrences last nominally as long: days by the calendar, the rest exact.
    Length(Duration),
}

/// One value of RDATE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecurrenceDate {
    /// The date, or the start of the period.
    pub start: Temporal,
    /// The end or length of the period.
    pub span: Option<Span>,
}

/// A component with a RECURRENCE-ID.
#[derive(Clone, Debug)]
pub struct SeriesOverride {
    /// Handed through to [`Instance::component`].
    pub component: usize,
    /// RECURRENCE-ID.
    pub identity: Temporal,
    /// RANGE=THISANDFUTURE: later occurrences without an override of their own are shifted and last as this one does.
    pub future: bool,
    /// DTSTART; `None` stays where the identity is.
    pub start: Option<Temporal>,
    /// Its own length; `None` is that of the series.
    pub span: Option<Span>,
    /// STATUS:CANCELLED.
    pub cancelled: bool,
}

/// How local times become instants.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The zones of the document.
    pub zones: &'a Zones,
    /// For dates and floating times, and for nothing else.
    pub evaluation: &'a Zone,
}

/// A half-open range of Unix seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Inclusive.
    pub from: i64,
    /// Exclusive.
    pub to: i64,
}

impl Window {
    /// Whether something lies in the window (RFC 4791, 9.9): a moment if it is not before the start and before the
    /// end, anything longer if it overlaps.
    #[must_use]
    pub fn holds(self, from: i64, to: i64) -> bool {
        from < self.to && if from == to { from >= self.from } else { to > self.from }
    }
}

/// One occurrence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The override that it comes from.
    pub component: Option<usize>,
    /// The recurrence identity: for an override as it is stored, else the start in the form of DTSTART or RDATE.
    pub identity: Temporal,
    /// Where the set has it: the start without any override.
    pub source_start: Temporal,
    /// The end that belongs to `source_start`, if the series has DTEND or DUE.
    pub source_end: Option<Temporal>,
    /// The length that belongs to `source_start`, if the series has DURATION.
    pub source_duration: Option<Duration>,
    /// Where it starts.
    pub start: Temporal,
    /// Where it ends, if DTEND or DUE tell. Never before the start.
    pub end: Option<Temporal>,
    /// How long it lasts, if DURATION tells. Never negative.
    pub duration: Option<Duration>,
    /// The start in Unix seconds.
    pub from: i64,
    /// The end in Unix seconds, not before `from`.
    pub to: i64,
    /// Whether the override says that it does not take place.
    pub cancelled: bool,
}

/// Why the occurrences cannot be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unevaluable {
    /// Nothing says what this TZID means.
    Zone(Box<str>),
    /// A rule cannot be evaluated.
    Rule(RuleFault),
    /// RANGE=THISANDPRIOR. [`SeriesOverride`] cannot hold it: who reads the component reports it.
    ThisAndPrior,
    /// A part of the recurrence set cannot be read. Who reads the component reports it.
    Unreadable,
    /// An RDATE is a day in a series with times, or the reverse.
    DateType,
    /// The budget of work is used up.
    Steps(StepsExhausted),
    /// There are more than [`MAX_OCCURRENCES`] in the window.
    Occurrences,
}

impl From<StepsExhausted> for Unevaluable {
    fn from(fault: StepsExhausted) -> Self {
        Self::Steps(fault)
    }
}

impl From<RuleFault> for Unevaluable {
    fn from(fault: RuleFault) -> Self {
        Self::Rule(fault)
    }
}

impl fmt::Display for Unevaluable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zone(tzid) => write!(out, "the time zone {tzid:?} cannot be resolved"),
            Self::Rule(fault) => fault.fmt(out),
            Self::ThisAndPrior => out.write_str("RANGE=THISANDPRIOR is not supported"),
            Self::Unreadable => out.write_str("a part of the recurrence set cannot be read"),
            Self::DateType => out.write_str("an RDATE is a day where the start has a time, or the reverse"),
            Self::Steps(fault) => fault.fmt(out),
            Self::Occurrences => write!(out, "more than {MAX_OCCURRENCES} occurrences in the window"),
        }
    }
}

impl std::error::Error for Unevaluable {}

/// The occurrences of a series that lie in a window, by start, then by identity; cancelled ones too, with their flag.
///
/// # Errors
/// [`Unevaluable`]; nothing is told then, since a part would look like the whole.
pub fn occurrences(
    series: &Series,
    frame: &Frame<'_>,
    window: Window,
    steps: &mut Steps,
) -> Result<Vec<Instance>, Unevaluable> {
    series::Expansion::new(series, frame, window, steps)?.run()
}

//! How long the occurrences of a component last.

use super::clock::{Clock, Form};
use super::{Span, Unevaluable};
use crate::ical::duration::Duration;
use crate::ical::recur::{DAY, civil_second};
use crate::ical::value::Temporal;

/// A [`Span`] that can be laid at any start.
#[derive(Clone, Debug)]
pub(in crate::ical) enum Measure {
    /// No end is told.
    Nothing,
    /// Whole days, at least one, to a date as the end.
    Days(i64),
    /// Seconds, to an end of this form.
    Exact(i64, Form),
    /// By DURATION, not negative.
    Nominal(Duration),
}

/// A start with its measure laid at it.
pub(in crate::ical) struct Extent {
    pub(in crate::ical) end: Option<Temporal>,
    pub(in crate::ical) duration: Option<Duration>,
    /// Unix seconds, not before the start.
    pub(in crate::ical) to: i64,
}

impl Measure {
    /// Reads the span of a component with this start. An end that is not after its start counts as a moment, or as one
    /// day where both are dates.
    pub(in crate::ical) fn of(span: &Span, start: &Temporal, clock: &mut Clock<'_>) -> Result<Self, Unevaluable> {
        Ok(match span {
            Span::None => Self::Nothing,
            Span::Length(length) if length.is_negative() => Self::Nominal(Duration::default()),
            Span::Length(length) => Self::Nominal(*length),
            Span::Until(Temporal::Date(end)) if start.is_date() => {
                let days = civil_second(end.at(0, 0, 0, 0)) - civil_second(start.civil());
                Self::Days((days / DAY).max(1))
            }
            Span::Until(end) => {
                let seconds = clock.instant(end)? - clock.instant(start)?;
                Self::Exact(seconds.max(0), Form::of(end, clock)?)
            }
        })
    }

    /// Seconds that an occurrence in a form lasts at most, over every change of a clock.
    pub(in crate::ical) fn longest(&self, form: &Form) -> i64 {
        // Clocks were moved by up to a day at the date line.
        const SLACK: i64 = 2 * DAY;
        match self {
            Self::Nothing if form.is_date() => DAY + SLACK,
            Self::Nothing => 0,
            Self::Days(days) => days * DAY + SLACK,
            Self::Exact(seconds, _) => *seconds,
            Self::Nominal(length) if length.nominal_days() == 0 => length.exact_seconds(),
            Self::Nominal(length) => length.flat_seconds() + SLACK,
        }
    }

    /// The end for a start in local and in Unix seconds.
    pub(in crate::ical) fn lay(&self, form: &Form, civil: i64, from: i64) -> Extent {
        let days_on = |days: i64| form.instant(civil + days * DAY).0;
        let (end, duration, to) = match self {
            Self::Nothing if form.is_date() => (None, None, days_on(1)),
            Self::Nothing => (None, None, from),
            Self::Days(days) => (Some(form.value(civil + days * DAY)), None, days_on(*days)),
            Self::Exact(0, _) => (Some(form.value(civil)), None, from),
            Self::Exact(seconds, end) => {
                let to = from + seconds;
                (Some(end.value(end.civil(to))), None, to)
            }
            Self::Nominal(length) => {
                let start = if length.nominal_days() == 0 {
                    from
                } else {
                    days_on(length.nominal_days())
                };
                (None, Some(*length), start + length.exact_seconds())
            }
        };
        Extent {
            end,
            duration,
            to: to.max(from),
        }
    }
}

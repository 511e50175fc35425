//! What is odd about the recurrence set of a resource: where its rules, its start and its overrides do not fit together.

use std::collections::BTreeSet;

use crate::ical::entity::Entity;
use crate::ical::expand::Series;
use crate::ical::recur::{Steps, StepsExhausted};
use crate::outcome::Diagnostic;

/// The work that the remarks on one resource may cost. What it does not suffice for is not claimed.
const STEPS: u64 = 20_000;

impl Entity {
    /// Remarks on a set that can be evaluated.
    pub(super) fn remark_series(&self, remarks: &mut BTreeSet<Diagnostic>) {
        let Ok(Some(series)) = self.series() else {
            return;
        };
        let steps = &mut Steps::new(STEPS);
        if series.rules.iter().any(|rule| rule.skips_week_years()) {
            remarks.insert(Diagnostic::info(
                "week_number_interval_ambiguous",
                "A rule has BYWEEKNO with an INTERVAL; it is taken to count calendar years, elsewhere years of weeks.",
            ));
        }
        if starts_apart(&series, steps) == Ok(true) {
            remarks.insert(Diagnostic::warning(
                "recurrence_start_mismatch",
                "No rule makes the start; it is an occurrence all the same, and COUNT does not count it.",
            ));
        }
    }
}

/// Whether there are rules and none of them makes DTSTART, against RFC 5545, 3.8.5.3.
fn starts_apart(series: &Series, steps: &mut Steps) -> Result<bool, StepsExhausted> {
    let Some(start) = &series.start else {
        return Ok(false);
    };
    for rule in &series.rules {
        // A day has no rule below DAILY: there is nothing to say about a set without occurrences.
        if start.is_date() && rule.needs_time() || rule.makes(start.civil(), start.is_date(), steps)? {
            return Ok(false);
        }
    }
    Ok(!series.rules.is_empty())
}

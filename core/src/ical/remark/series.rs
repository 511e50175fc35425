//! What is odd about the recurrence set of a resource: where its rules, its start and its overrides do not fit together.

use std::collections::BTreeSet;

use crate::ical::entity::Entity;
use crate::ical::expand::{Frame, Lookup, Series, Unevaluable};
use crate::ical::recur::{Steps, StepsExhausted};
use crate::ical::zone::Zone;
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
        if self.names_strangers(&series, steps) == Ok(true) {
            remarks.insert(Diagnostic::warning(
                "recurrence_override_orphaned",
                "An override names an occurrence that the recurrence set does not make; it is shown all the same.",
            ));
        }
    }

    /// Whether the set does not make what an override names. Without a master there is no set to ask.
    fn names_strangers(&self, series: &Series, steps: &mut Steps) -> Result<bool, Unevaluable> {
        if series.start.is_none() || series.overrides.is_empty() {
            return Ok(false);
        }
        let frame = Frame {
            zones: &self.zones,
            // Whether a day or a floating time is in the set does not depend on a zone.
            evaluation: &Zone::utc(),
        };
        let mut lookup = Lookup::new(series, &frame, steps)?;
        for each in &series.overrides {
            if !lookup.makes_any(&each.identity)? {
                return Ok(true);
            }
        }
        Ok(false)
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

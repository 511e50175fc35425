//! The recurrence properties of a component as they are stored: rules, added dates, excluded dates, RANGE.

use std::collections::BTreeSet;

use super::document::{Document, Property};
use super::duration::Duration;
use super::part::{Name, Part};
use super::recur::{Rule, RuleFault, Until};
use super::value::{DateOrPeriod, Malformed, Period, Temporal, Times, lossy};
use crate::outcome::Diagnostic;

/// Rules and dates of a component, and whether anything among them cannot be read.
#[derive(Debug, Default)]
pub(super) struct Recurrence<'a> {
    /// Every RRULE and what it means.
    pub(super) rules: Vec<(Property<'a>, Result<Rule, RuleFault>)>,
    /// Every EXRULE (RFC 2445, 4.8.5.2).
    pub(super) exrules: Vec<Result<Rule, RuleFault>>,
    pub(super) rdates: Vec<DateOrPeriod>,
    pub(super) exdates: Vec<Temporal>,
    /// Whether all of it is understood.
    pub(super) readable: bool,
}

impl<'a> Recurrence<'a> {
    /// Reads what `part` says; what is odd or cannot be read is added to `remarks`.
    pub(super) fn read(document: &'a Document, part: &Part, remarks: &mut BTreeSet<Diagnostic>) -> Self {
        let mut read = Self {
            rules: Vec::new(),
            exrules: Vec::new(),
            rdates: Vec::new(),
            exdates: Vec::new(),
            readable: true,
        };
        for property in part.all(document, Name::Rrule) {
            let rule = Rule::parse(lossy(property.value()).trim());
            if let (Some(until), Some(start)) = (rule.as_ref().ok().and_then(Rule::until), &part.start)
                && !until_fits(until, start)
            {
                remarks.insert(Diagnostic::warning(
                    "until_type_mismatch",
                    "UNTIL of a recurrence rule is not of the type that the start asks for.",
                ));
            }
            read.rules.push((property, rule));
        }
        let exrules = part.all(document, Name::Exrule);
        read.exrules = exrules
            .map(|property| Rule::parse(lossy(property.value()).trim()))
            .collect();
        let mut rules = read.rules.iter().map(|(_, rule)| rule).chain(&read.exrules);
        if rules.any(Result::is_err) {
            read.refuse(
                remarks,
                "recurrence_rule_invalid",
                "A recurrence rule cannot be evaluated.",
            );
        }
        if read.exrules.iter().any(Result::is_ok) {
            remarks.insert(Diagnostic::info(
                "exclusion_rule_applied",
                "An exclusion rule (EXRULE of RFC 2445) takes occurrences away; the recurrence set does not list it.",
            ));
        }
        for property in part.all(document, Name::Rdate) {
            for date in Times::of(property).each() {
                match date {
                    Ok(date) if has_length(&date) => read.rdates.push(date),
                    Ok(_) | Err(Malformed) => read.refuse_date(remarks),
                }
            }
        }
        for property in part.all(document, Name::Exdate) {
            for date in Times::of(property).each() {
                match date {
                    Ok(DateOrPeriod::Date(date)) => read.exdates.push(date),
                    Ok(DateOrPeriod::Period(_)) | Err(Malformed) => read.refuse_date(remarks),
                }
            }
        }
        if let Some(start) = &part.start {
            if !read.exdates.iter().all(|date| date.same_family(start)) {
                remarks.insert(Diagnostic::warning(
                    "exdate_type_mismatch",
                    "An excluded date is a day where the start has a time, or the reverse.",
                ));
            }
            if !read.rdates.iter().all(|date| date.start().same_family(start)) {
                remarks.insert(Diagnostic::warning(
                    "rdate_type_mismatch",
                    "An added date is a day where the start has a time, or the reverse.",
                ));
            }
        }
        read
    }

    fn refuse(&mut self, remarks: &mut BTreeSet<Diagnostic>, code: &'static str, message: &'static str) {
        self.readable = false;
        remarks.insert(Diagnostic::warning(code, message));
    }

    fn refuse_date(&mut self, remarks: &mut BTreeSet<Diagnostic>) {
        self.refuse(
            remarks,
            "recurrence_date_invalid",
            "A date of the recurrence set cannot be read.",
        );
    }
}

/// Whether the duration of a period, if it has one, can be read.
fn has_length(date: &DateOrPeriod) -> bool {
    match date {
        DateOrPeriod::Period(Period { end: Err(text), .. }) => Duration::parse(text).is_some(),
        DateOrPeriod::Period(_) | DateOrPeriod::Date(_) => true,
    }
}

/// RFC 5545, 3.3.10: UNTIL is a day where the start is, local where the start is, else UTC.
pub(super) fn until_fits(until: Until, start: &Temporal) -> bool {
    match start {
        Temporal::Date(_) => matches!(until, Until::Date(_)),
        Temporal::Floating(_) => matches!(until, Until::Local(_)),
        Temporal::Utc(_) | Temporal::Zoned(..) => matches!(until, Until::Utc(_)),
    }
}

/// Which occurrences an override is about, beyond its own (RFC 5545, 3.2.13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Range {
    /// The later ones too.
    ThisAndFuture,
    /// The earlier ones too: deprecated, and not evaluated.
    ThisAndPrior,
}

impl Range {
    /// Reads the RANGE of a RECURRENCE-ID.
    ///
    /// # Errors
    /// A name that is neither.
    pub(super) fn read(identity: Property<'_>) -> Result<Option<Self>, Malformed> {
        match identity.parameter("RANGE") {
            None => Ok(None),
            Some(range) if range.eq_ignore_ascii_case("THISANDFUTURE") => Ok(Some(Self::ThisAndFuture)),
            Some(range) if range.eq_ignore_ascii_case("THISANDPRIOR") => Ok(Some(Self::ThisAndPrior)),
            Some(_) => Err(Malformed),
        }
    }
}

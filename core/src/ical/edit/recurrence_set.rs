//! Rules and dates of a series as a whole: what a caller may send, how it is written, and how it replaces what is stored.
//!
//! A date is written as a property of its own, so that one that goes takes no other line along.

use std::collections::BTreeSet;

use super::membership::{lookup, unevaluable};
use super::occurrence::without_exdates;
use super::temporal::{Measure, same_form};
use super::{fault, read, refusal, understood, unwritable};
use crate::ical::changes::Changes;
use crate::ical::document::{Document, Parameter};
use crate::ical::duration::Duration;
use crate::ical::encode::{ContentLine, Unwritable};
use crate::ical::entity::Entity;
use crate::ical::expand::{Lookup, Series, Unevaluable};
use crate::ical::part::{Name, Part};
use crate::ical::recur::{Occurrences, Rule, RuleFault, Steps, StepsExhausted, Until, civil_second};
use crate::ical::recurrence::{Recurrence, until_fits};
use crate::ical::value::{DateOrPeriod, Period, Temporal, lossy};
use crate::ical::zone::Zones;
use crate::outcome::{Code, Error, Phase, Violation};

/// The most occurrences of a rule with COUNT or UNTIL, and the most dates.
pub const MAX_OCCURRENCES: usize = 10_000;

/// The steps that it may cost to check a set: some 10 ms.
const STEPS: u64 = 1_000_000;

/// A recurrence set as a caller means it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewRecurrence {
    /// The value of one RRULE; none if there is no rule.
    pub rrule: Option<String>,
    /// RDATE; `None` keeps those that are stored.
    pub rdates: Option<Vec<DateOrPeriod>>,
    /// EXDATE; `None` keeps those that are stored.
    pub exdates: Option<Vec<Temporal>>,
    /// The overrides that there are when the set is replaced, in any order; `None` says nothing about them.
    pub overrides: Option<Vec<OverrideName>>,
}

/// An override by the occurrence that it begins with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OverrideName {
    /// RECURRENCE-ID.
    pub identity: Temporal,
    /// RANGE=THISANDFUTURE.
    pub future: bool,
}

/// What a new set does not make any more, to be removed with it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Orphan {
    /// A value of EXDATE.
    Exdate(Temporal),
    /// An override.
    Override(OverrideName),
}

/// Reads the rule that a caller sends for a series with this start (RFC 5545, 3.3.10 and 3.8.5.3): the start is the
/// first that it makes, UNTIL is of the type that the start asks for, and with COUNT or UNTIL it makes at most
/// [`MAX_OCCURRENCES`].
///
/// # Errors
/// `invalid_input` at `pointer`; `recurrence_unevaluable` for RSCALE and SKIP; `limit_exhausted`.
pub(super) fn check_rule(
    text: &str,
    start: Option<&Temporal>,
    zones: &Zones,
    pointer: &str,
) -> Result<Rule, Box<Error>> {
    let wrong = |code, message: &str| Err(fault(pointer, code, message));
    let named = |name: &str| {
        let mut parts = text.split(';').filter_map(|part| part.split_once('='));
        parts.any(|(own, _)| own.trim().eq_ignore_ascii_case(name))
    };
    if named("RSCALE") || named("SKIP") {
        return Err(refusal(
            Code::RecurrenceUnevaluable,
            "Send a rule without RSCALE and SKIP: few programs understand them.",
        ));
    }
    let rule = match Rule::parse(text) {
        Ok(rule) => rule,
        Err(RuleFault::Value("COUNT")) => {
            return wrong("recurrence_count_invalid", "Send a COUNT from 1 to 10000, or none.");
        }
        Err(_) => {
            let message = "Send one RRULE value without its name, such as FREQ=WEEKLY;BYDAY=MO,TH;COUNT=10.";
            return wrong("recurrence_rule_invalid", message);
        }
    };
    let Some(start) = start else {
        return wrong("recurrence_start_required", "A series needs a start: send one too.");
    };
    if start.is_date() && rule.needs_time() {
        let message = "An all-day series repeats daily, weekly, monthly or yearly.";
        return wrong("recurrence_rule_invalid", message);
    }
    if rule.until().is_some_and(|until| !until_fits(until, start)) {
        let message = match start {
            Temporal::Date(_) => "Send UNTIL as a date, YYYYMMDD: the start is one.",
            Temporal::Floating(_) => "Send UNTIL as a local time, YYYYMMDDTHHMMSS: the start is one.",
            Temporal::Utc(_) | Temporal::Zoned(..) => {
                "Send UNTIL in UTC, YYYYMMDDTHHMMSSZ: the start has a zone or is in UTC."
            }
        };
        return wrong("recurrence_family_mismatch", message);
    }
    let anchor = civil_second(start.civil());
    let mut made = Occurrences::new(&rule, anchor, start.is_date());
    if let (Some(Until::Utc(until)), Temporal::Zoned(..)) = (rule.until(), start) {
        made = made.until(Measure(zones).local(start, civil_second(until)));
    }
    let steps = &mut Steps::new(STEPS);
    let exhausted = |fault: StepsExhausted| unevaluable(fault.into());
    match made.next(steps).map_err(exhausted)? {
        Some(first) if first == anchor => {}
        Some(_) => {
            let message = "Send a start that the rule makes: it is the first occurrence.";
            return wrong("recurrence_start_mismatch", message);
        }
        None => return wrong("recurrence_no_occurrences", "The rule makes no occurrence."),
    }
    if rule.count().is_some() || rule.until().is_some() {
        for _ in 0..MAX_OCCURRENCES {
            if made.next(steps).map_err(exhausted)?.is_none() {
                return Ok(rule);
            }
        }
        let message = "Send a COUNT of at most 10000, an earlier UNTIL, or neither of them.";
        return wrong("recurrence_occurrence_limit_exceeded", message);
    }
    Ok(rule)
}

/// Checks the dates that a caller sends for a series with this start: all are in its form. A period is longer than
/// nothing.
///
/// # Errors
/// `invalid_input` below `pointer`, at `/rdates/0` and so on.
pub(super) fn check_dates(
    start: Option<&Temporal>,
    rdates: &[DateOrPeriod],
    exdates: &[Temporal],
    zones: &Zones,
    pointer: &str,
) -> Result<(), Box<Error>> {
    if rdates.is_empty() && exdates.is_empty() {
        return Ok(());
    }
    let Some(start) = start else {
        return Err(fault(
            pointer,
            "recurrence_start_required",
            "A series needs a start: send one too.",
        ));
    };
    for (name, count) in [("rdates", rdates.len()), ("exdates", exdates.len())] {
        if count > MAX_OCCURRENCES {
            let message = "Send at most 10000 dates.";
            let pointer = format!("{pointer}/{name}");
            return Err(fault(pointer, "recurrence_occurrence_limit_exceeded", message));
        }
    }
    let check = |time: &Temporal, pointer: &str| -> Result<(), Box<Error>> {
        if time.civil().subsec_nanosecond() != 0 {
            return Err(fault(pointer, "temporal_value_invalid", "Send whole seconds."));
        }
        if same_form(time, start) {
            return Ok(());
        }
        let message = "Send every date of the set in the kind and zone of the start.";
        Err(fault(pointer, "recurrence_family_mismatch", message))
    };
    for (at, date) in exdates.iter().enumerate() {
        check(date, &format!("{pointer}/exdates/{at}"))?;
    }
    for (at, date) in rdates.iter().enumerate() {
        let pointer = format!("{pointer}/rdates/{at}");
        check(date.start(), &pointer)?;
        let DateOrPeriod::Period(Period { start, end }) = date else {
            continue;
        };
        if start.is_date() {
            let message = "A period has times: send a date instead.";
            return Err(fault(pointer, "recurrence_family_mismatch", message));
        }
        match end {
            Ok(end) => {
                check(end, &format!("{pointer}/end"))?;
                if Measure(zones).second(end) <= Measure(zones).second(start) {
                    let message = "Send an end later than the start of the period.";
                    return Err(fault(format!("{pointer}/end"), "end_not_after_start", message));
                }
            }
            Err(text) => {
                let length = Duration::parse(text);
                if length.is_none_or(|length| length.is_negative() || length.is_zero()) {
                    let message = "Send a duration that is longer than nothing, such as PT1H.";
                    return Err(fault(format!("{pointer}/duration"), "duration_invalid", message));
                }
            }
        }
    }
    Ok(())
}

/// The properties of a new component for a set that was checked.
///
/// # Errors
/// [`Unwritable`] for a zone whose name no parameter can hold.
pub(super) fn lines(set: &NewRecurrence) -> Result<Vec<ContentLine>, Unwritable> {
    let mut lines = Vec::new();
    if let Some(rrule) = &set.rrule {
        lines.push(rule_line(rrule)?);
    }
    for date in set.rdates.iter().flatten() {
        lines.push(rdate_line(date)?);
    }
    for date in set.exdates.iter().flatten() {
        lines.push(date_line("EXDATE", date)?);
    }
    Ok(lines)
}

fn rule_line(text: &str) -> Result<ContentLine, Unwritable> {
    ContentLine::new("RRULE", &[], &plain_rule(text))
}

/// A rule in capitals and without blanks.
fn plain_rule(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let parts: Vec<_> = text.split(';').filter(|part| !part.is_empty()).collect();
    parts.join(";").to_ascii_uppercase()
}

fn date_line(name: &str, date: &Temporal) -> Result<ContentLine, Unwritable> {
    ContentLine::new(name, &date.parameters(), &date.encoded())
}

fn rdate_line(date: &DateOrPeriod) -> Result<ContentLine, Unwritable> {
    let period = match date {
        DateOrPeriod::Date(date) => return date_line("RDATE", date),
        DateOrPeriod::Period(period) => period,
    };
    let mut parameters = period.start.parameters();
    parameters.insert(
        0,
        Parameter {
            name: "VALUE".to_owned(),
            values: vec!["PERIOD".to_owned()],
        },
    );
    let end = match &period.end {
        Ok(end) => end.encoded(),
        Err(duration) => duration.trim().to_ascii_uppercase(),
    };
    let value = format!("{}/{end}", period.start.encoded());
    ContentLine::new("RDATE", &parameters, &value)
}

/// `entity` with another recurrence set, or with none. Lines that say already what they shall say stay as they are. What
/// the new set does not make any more is named in `orphans`, all of it and nothing else, and goes. `pointer` is that of
/// the instruction.
///
/// # Errors
/// `invalid_input` as of [`check_rule`] and [`check_dates`], and `recurrence_data_required`; `invalid_calendar_data` if
/// `orphans` or [`NewRecurrence::overrides`] are not what there is; `recurrence_unevaluable`, `temporal_unresolved`,
/// `limit_exhausted`, `opaque_resource`, `not_found` if there is no series.
pub(super) fn replace(
    entity: &Entity,
    set: Option<&NewRecurrence>,
    orphans: &[Orphan],
    pointer: &str,
) -> Result<Document, Box<Error>> {
    understood(entity)?;
    let master = entity.master.as_ref().ok_or_else(|| {
        let message = "The resource has single occurrences only, without the series that they are of.";
        refusal(Code::NotFound, message)
    })?;
    let value = format!("{pointer}/value");
    if let Some(set) = set {
        check(entity, master, set, &value)?;
    }
    let replaced = written(entity, master, set).map_err(|fault| unwritable(&value, fault))?;
    let after = Entity::from_document(read(replaced.octets())?);
    let Some(series) = after.series().map_err(unevaluable)? else {
        return Ok(after.document().clone());
    };
    let kept = set.is_some_and(|set| set.exdates.is_none());
    let found = lookup(&after, &series, STEPS, |lookup| Orphans::of(&series, kept, lookup))?;
    let named = lookup(&after, &series, STEPS, |lookup| {
        let all = orphans.iter().map(|orphan| canonical(orphan, lookup));
        all.collect::<Result<Vec<_>, _>>()
    })?;
    compare(&found.all, &named, &format!("{pointer}/orphanReconciliations"))?;
    if let Some(overrides) = set.and_then(|set| set.overrides.as_ref()) {
        let remaining = lookup(&after, &series, STEPS, |lookup| {
            let all = overrides
                .iter()
                .map(|each| canonical(&Orphan::Override(each.clone()), lookup));
            all.collect::<Result<Vec<_>, _>>()
        })?;
        compare(&found.remaining, &remaining, &format!("{value}/overrides"))?;
    }
    let after = if found.exdates.is_empty() {
        after.document().clone()
    } else {
        without_exdates(&after, &found.exdates)?
    };
    let mut changes = Changes::of(&after);
    for component in found.components {
        changes.remove(after.component(component));
    }
    read(changes.octets())
}

fn check(entity: &Entity, master: &Part, set: &NewRecurrence, pointer: &str) -> Result<(), Box<Error>> {
    let (start, zones) = (master.start.as_ref(), &entity.zones);
    if let Some(rrule) = &set.rrule {
        check_rule(rrule, start, zones, &format!("{pointer}/rrule"))?;
    }
    let (rdates, exdates) = (set.rdates.as_deref(), set.exdates.as_deref());
    check_dates(
        start,
        rdates.unwrap_or_default(),
        exdates.unwrap_or_default(),
        zones,
        pointer,
    )?;
    let dates = rdates.map_or(master.has(Name::Rdate), |dates| !dates.is_empty());
    if set.rrule.is_none() && !dates {
        let message = "Send a rule or dates; clear the recurrence set to make it a single one.";
        return Err(fault(pointer, "recurrence_data_required", message));
    }
    Ok(())
}

/// The lines of the master that change.
fn written<'a>(entity: &'a Entity, master: &Part, set: Option<&NewRecurrence>) -> Result<Changes<'a>, Unwritable> {
    let document = entity.document();
    let mut changes = Changes::of(document);
    let mut put = |name: Name, lines: Vec<ContentLine>| {
        let mut stored = master.all(document, name);
        match stored.next() {
            Some(first) => changes.replace(first, &lines),
            None => changes.add(document.component(master.component), &lines),
        }
        stored.for_each(|other| changes.replace(other, &[]));
    };
    let Some(set) = set else {
        for name in [Name::Rrule, Name::Rdate, Name::Exdate, Name::Exrule] {
            put(name, Vec::new());
        }
        return Ok(changes);
    };
    let stored = Recurrence::read(document, master, &mut BTreeSet::new());
    let rules = master.all(document, Name::Rrule);
    let rules: Vec<_> = rules.map(|rule| plain_rule(&lossy(rule.value()))).collect();
    let rrule: Vec<_> = set.rrule.iter().map(|rule| plain_rule(rule)).collect();
    if rules != rrule {
        put(
            Name::Rrule,
            rrule.iter().map(|rule| rule_line(rule)).collect::<Result<_, _>>()?,
        );
    }
    if let Some(rdates) = &set.rdates
        && stored.rdates != *rdates
    {
        put(Name::Rdate, rdates.iter().map(rdate_line).collect::<Result<_, _>>()?);
    }
    if let Some(exdates) = &set.exdates
        && stored.exdates != *exdates
    {
        let lines = exdates.iter().map(|date| date_line("EXDATE", date));
        put(Name::Exdate, lines.collect::<Result<_, _>>()?);
    }
    Ok(changes)
}

/// What a new set does not make.
#[derive(Debug, Default)]
struct Orphans {
    /// In the form of the start.
    all: Vec<Orphan>,
    /// The overrides that stay, alike.
    remaining: Vec<Orphan>,
    /// The places of the EXDATEs among all.
    exdates: Vec<usize>,
    /// The components of the overrides.
    components: Vec<usize>,
}

impl Orphans {
    /// `kept`: the EXDATEs are those that were stored before.
    fn of(series: &Series, kept: bool, lookup: &mut Lookup<'_>) -> Result<Self, Unevaluable> {
        let mut found = Self::default();
        for (at, date) in series.exdates.iter().enumerate().filter(|_| kept) {
            if !lookup.makes_any(date)? {
                found.all.push(Orphan::Exdate(lookup.canonical(date)?));
                found.exdates.push(at);
            }
        }
        for each in &series.overrides {
            let name = Orphan::Override(OverrideName {
                identity: lookup.canonical(&each.identity)?,
                future: each.future,
            });
            if lookup.makes_any(&each.identity)? {
                found.remaining.push(name);
            } else {
                found.all.push(name);
                found.components.push(each.component);
            }
        }
        Ok(found)
    }
}

fn canonical(orphan: &Orphan, lookup: &mut Lookup<'_>) -> Result<Orphan, Unevaluable> {
    Ok(match orphan {
        Orphan::Exdate(date) => Orphan::Exdate(lookup.canonical(date)?),
        Orphan::Override(name) => Orphan::Override(OverrideName {
            identity: lookup.canonical(&name.identity)?,
            future: name.future,
        }),
    })
}

/// What is named has to be what there is, each once; an EXDATE that stands twice is named once.
fn compare(there: &[Orphan], named: &[Orphan], pointer: &str) -> Result<(), Box<Error>> {
    let there: BTreeSet<_> = there.iter().collect();
    let mut seen = BTreeSet::new();
    let mut violations = Vec::new();
    for (at, orphan) in named.iter().enumerate() {
        if !there.contains(orphan) || !seen.insert(orphan) {
            violations.push(Violation {
                pointer: format!("{pointer}/{at}"),
                code: "value_not_allowed",
                message: Some(format!("Leave out what is not there, or twice: {}.", told(orphan))),
            });
        }
    }
    for orphan in there.difference(&seen).take(32) {
        violations.push(Violation {
            pointer: pointer.to_owned(),
            code: "required_member",
            message: Some(format!("Name this too: {}.", told(orphan))),
        });
    }
    if violations.is_empty() {
        return Ok(());
    }
    Err(Box::new(Error {
        code: Code::InvalidCalendarData,
        ..*Error::violations(Phase::CompleteResourceSemantics, violations)
    }))
}

/// What it is and when, without the name of a zone.
fn told(orphan: &Orphan) -> String {
    let (kind, time) = match orphan {
        Orphan::Exdate(date) => ("exdate", date),
        Orphan::Override(name) if name.future => ("override this-and-future", &name.identity),
        Orphan::Override(name) => ("override individual", &name.identity),
    };
    match time {
        Temporal::Date(date) => format!("{kind} {date}"),
        Temporal::Floating(time) | Temporal::Utc(time) | Temporal::Zoned(time, _) => format!("{kind} {time}"),
    }
}

#[cfg(test)]
mod tests;

//! How a recurrence identity that a caller gives stands to a resource, with its refusals.
//!
//! An identity is compared as it is written, kind and zone included. It has to be in the form of DTSTART, or just as an
//! RDATE, EXDATE or RECURRENCE-ID has it. What it names is then found by its moment, or by its day in an all-day series.

use super::temporal::same_form;
use super::{fault, refusal, understood};
use crate::ical::entity::Entity;
use crate::ical::expand::{Frame, Lookup, Membership, Series, Unevaluable};
use crate::ical::recur::Steps;
use crate::ical::value::Temporal;
use crate::ical::zone::Zone;
use crate::outcome::{Code, Dimension, Error, Limits, Phase};

/// Where the identity stands in the arguments.
pub(super) const POINTER: &str = "/recurrenceIdentity";
/// The steps that an edit of one occurrence may take.
pub(super) const STEPS: u64 = 10_000;
/// The occurrences that it may look at.
pub(super) const OCCURRENCES: usize = 2_000;

/// The recurrence set of a resource whose occurrences can be edited.
pub(super) fn series(entity: &Entity) -> Result<Series, Box<Error>> {
    understood(entity)?;
    let series = entity.series().map_err(unevaluable)?.ok_or_else(|| {
        let message = "The series has no start, so it has no occurrences. Set a start first.";
        refusal(Code::RecurrenceUnevaluable, message)
    })?;
    if series.rdates.iter().any(|date| date.span.is_some()) {
        let message = "The series adds periods of time (RDATE of the type PERIOD). Edit it as a whole instead.";
        return Err(refusal(Code::UnsupportedCapability, message));
    }
    Ok(series)
}

/// Whether the series writes its identities in this form, or this very one.
pub(super) fn is_written(series: &Series, identity: &Temporal) -> bool {
    let overrides = || series.overrides.iter().map(|each| &each.identity);
    let whole = identity.civil().subsec_nanosecond() == 0;
    let form = series.start.as_ref().or_else(|| overrides().next());
    let in_form = form.is_some_and(|form| same_form(form, identity));
    let dates = series.rdates.iter().map(|date| &date.start);
    let mut stored = dates.chain(&series.exdates).chain(overrides());
    // An EXDATE that is a day names no single occurrence of a series with times.
    let one = form.is_some_and(|form| form.same_family(identity)) || overrides().any(|own| own == identity);
    whole && (in_form || (one && stored.any(|stored| stored == identity)))
}

/// What the series says about an identity.
///
/// # Errors
/// `not_found` if the series writes its identities in another form; refusals of [`series`]; limits.
pub(super) fn membership(entity: &Entity, identity: &Temporal) -> Result<Membership, Box<Error>> {
    let series = series(entity)?;
    if !is_written(&series, identity) {
        return Err(refusal(Code::NotFound, form_message(&series)));
    }
    if !entity.is_recurring() && series.exdates.is_empty() {
        let message = "There is no recurrence here, so there are no single occurrences to edit.";
        return Err(fault(POINTER, "value_not_allowed", message));
    }
    lookup(entity, &series, STEPS, |lookup| lookup.membership(identity))
}

/// Asks about a series of an entity within so many steps.
pub(super) fn lookup<T>(
    entity: &Entity,
    series: &Series,
    steps: u64,
    ask: impl FnOnce(&mut Lookup<'_>) -> Result<T, Unevaluable>,
) -> Result<T, Box<Error>> {
    let (zones, evaluation) = (&entity.zones, &Zone::utc());
    let frame = Frame { zones, evaluation };
    let mut steps = Steps::new(steps);
    let mut lookup = Lookup::new(series, &frame, &mut steps).map_err(unevaluable)?;
    ask(&mut lookup).map_err(unevaluable)
}

/// In which form a series writes its identities.
pub(super) fn form_message(series: &Series) -> &'static str {
    let form = series.start.as_ref();
    match form.or_else(|| series.overrides.first().map(|each| &each.identity)) {
        Some(Temporal::Date(_)) => "No such occurrence: this series names its occurrences by date.",
        Some(Temporal::Floating(_)) => {
            "No such occurrence: this series names its occurrences by floatingDateTime, in whole seconds."
        }
        Some(Temporal::Zoned(..)) => {
            "No such occurrence: this series names its occurrences by zonedDateTime with the timeZoneId of its start."
        }
        Some(Temporal::Utc(_)) | None => {
            "No such occurrence: this series names its occurrences by utcDateTime, in whole seconds."
        }
    }
}

/// There is no occurrence with this identity.
pub(super) fn not_found() -> Box<Error> {
    refusal(
        Code::NotFound,
        "No such occurrence: query the occurrences, and send a recurrenceIdentity that they have.",
    )
}

/// Why a recurrence set cannot be evaluated.
pub(super) fn unevaluable(fault: Unevaluable) -> Box<Error> {
    let phase = Phase::CompleteResourceSemantics;
    match fault {
        Unevaluable::Zone(_) => refusal(
            Code::TemporalUnresolved,
            "The resource names a time zone that cannot be resolved.",
        ),
        Unevaluable::Steps(fault) => {
            let limits = Limits {
                dimension: Dimension::AttemptCount,
                observed: fault.observed,
                limit: fault.limit,
            };
            Error::limit(
                phase,
                limits,
                "The recurrence set takes more work than one edit may do.",
            )
        }
        Unevaluable::Occurrences => {
            let limits = Limits {
                dimension: Dimension::ResourceCount,
                observed: OCCURRENCES as u64 + 1,
                limit: OCCURRENCES as u64,
            };
            Error::limit(
                phase,
                limits,
                "The recurrence set has more occurrences than one edit may look at.",
            )
        }
        Unevaluable::Rule(_) | Unevaluable::ThisAndPrior | Unevaluable::Unreadable | Unevaluable::DateType => refusal(
            Code::RecurrenceUnevaluable,
            "The recurrence set cannot be evaluated; the diagnostics of the resource say why.",
        ),
    }
}

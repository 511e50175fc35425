//! A series whose start moves: what names its occurrences moves along.

use super::patch::Shift;
use super::temporal::{self, Measure, same_form, with_civil};
use super::{fault, read, refusal, unwritable};
use crate::ical::changes::Changes;
use crate::ical::document::{Document, Property};
use crate::ical::encode::Unwritable;
use crate::ical::entity::Entity;
use crate::ical::part::{Name, Part};
use crate::ical::recur::{Rule, Steps};
use crate::ical::recurrence::Recurrence;
use crate::ical::value::{DateOrPeriod, Temporal, Times, lossy};
use crate::outcome::{Code, Error};

/// The steps that it may cost to see that a rule makes its start.
const STEPS: u64 = 10_000;

/// The pointer to the instruction that moved the start.
const POINTER: &str = "/patch/scalars";

/// `document`, in which the master's start has moved by `by`, with EXDATE, RDATE, UNTIL and RECURRENCE-ID moved too.
/// Where kind or zone of the start change, there must be nothing that names occurrences. `checked`: the rule has to make
/// the new start.
pub(super) fn recurrence(
    before: &Entity,
    document: Document,
    by: &Shift,
    checked: bool,
) -> Result<Document, Box<Error>> {
    let (old, new) = match (&by.old.start, &by.new.start) {
        (Some(old), Some(new)) => (old, new),
        (Some(_), None) if checked => {
            return Err(fault(
                POINTER,
                "recurrence_start_required",
                "A series needs a start: set another one instead.",
            ));
        }
        (_, None) | (None, _) => return Ok(document),
    };
    if old == new {
        return Ok(document);
    }
    let master = before.master.as_ref().expect("the start of a master has moved");
    let zones = &before.zones;
    let mover = Mover {
        from: old,
        seconds: by.start,
        measure: Measure(zones),
    };
    let stored = Recurrence::read(before.document(), master, &mut Default::default());
    if !stored.readable {
        let message = "A part of the recurrence cannot be read, so the series cannot be moved as a whole.";
        return Err(refusal(Code::RecurrenceUnevaluable, message));
    }
    let named = !before.overrides.is_empty()
        || master.has(Name::Rdate)
        || master.has(Name::Exdate)
        || stored
            .rules
            .iter()
            .any(|(_, rule)| rule.as_ref().is_ok_and(|rule| rule.until().is_some()));
    if named && !same_form(old, new) {
        let message = "Keep the kind of time and the zone of this series: its exceptions and its end are told in them.";
        return Err(fault(POINTER, "temporal_family_mismatch", message));
    }
    let mut changes = Changes::of(&document);
    let after = Entity::from_document(document.clone());
    let moved = after
        .parts()
        .try_for_each(|part| mover.part(&mut changes, &document, part));
    moved.map_err(|fault| unwritable(POINTER, fault))?;
    let moved = read(changes.octets())?;
    if checked {
        check_start(before, master, &moved)?;
    }
    Ok(moved)
}

/// A start that the rule made has to be made by it still.
fn check_start(before: &Entity, master: &Part, after: &Document) -> Result<(), Box<Error>> {
    let makes = |document: &Document, part: &Part| -> Result<bool, Box<Error>> {
        let Some(start) = &part.start else {
            return Ok(false);
        };
        let mut steps = Steps::new(STEPS);
        for property in part.all(document, Name::Rrule) {
            let Ok(rule) = Rule::parse(lossy(property.value()).trim()) else {
                continue;
            };
            let made = rule.makes(start.civil(), start.is_date(), &mut steps);
            if made.map_err(|_| refusal(Code::LimitExhausted, "The rule takes too many steps."))? {
                return Ok(true);
            }
        }
        Ok(!part.has(Name::Rrule))
    };
    let after = Entity::from_document(after.clone());
    let moved = after
        .master
        .as_ref()
        .is_some_and(|part| makes(after.document(), part).is_ok_and(|made| made));
    if !moved && makes(before.document(), master)? {
        let message = "The rule does not make the new start: change the recurrence set together with it.";
        return Err(fault(POINTER, "recurrence_start_mismatch", message));
    }
    Ok(())
}

/// Moves what names occurrences, on the clock of the series.
struct Mover<'a> {
    from: &'a Temporal,
    seconds: i64,
    measure: Measure<'a>,
}

impl Mover<'_> {
    fn time(&self, time: &Temporal) -> Temporal {
        if same_form(time, self.from) || time.is_date() || matches!(time, Temporal::Floating(_)) {
            return temporal::shifted(time, self.seconds);
        }
        // Told in another zone than the series: the clock of the series moves.
        let instant = self.measure.second(time);
        let local = self.measure.local(self.from, instant);
        let moved = self.measure.second(&with_civil(self.from, local + self.seconds));
        with_civil(time, self.measure.local(time, moved))
    }

    fn part<'d>(&self, changes: &mut Changes<'d>, document: &'d Document, part: &Part) -> Result<(), Unwritable> {
        for name in [Name::Rdate, Name::Exdate, Name::RecurrenceId] {
            for property in part.all(document, name) {
                self.dates(changes, property)?;
            }
        }
        for property in part.all(document, Name::Rrule) {
            self.until(changes, property)?;
        }
        Ok(())
    }

    fn dates<'d>(&self, changes: &mut Changes<'d>, property: Property<'d>) -> Result<(), Unwritable> {
        let times = Times::of(property);
        let values = times.each().filter_map(Result::ok).map(|value| match value {
            DateOrPeriod::Date(time) => self.time(&time).encoded(),
            DateOrPeriod::Period(period) => {
                let end = match &period.end {
                    Ok(end) => self.time(end).encoded(),
                    Err(duration) => duration.to_string(),
                };
                format!("{}/{end}", self.time(&period.start).encoded())
            }
        });
        let values: Vec<_> = values.collect();
        changes.set_value(property, &values.join(","))
    }

    /// The rule with another UNTIL and nothing else different.
    fn until<'d>(&self, changes: &mut Changes<'d>, property: Property<'d>) -> Result<(), Unwritable> {
        let value = property.value();
        let value = lossy(value);
        let parts = value.split(';').map(|part| match part.split_once('=') {
            Some((name, until)) if name.trim().eq_ignore_ascii_case("UNTIL") => {
                let zone = match self.from {
                    Temporal::Zoned(_, zone) => Some(&**zone),
                    Temporal::Date(_) | Temporal::Floating(_) | Temporal::Utc(_) => None,
                };
                let until = Temporal::parse(until.as_bytes(), zone).map(|until| self.time(&until).encoded());
                until.map_or_else(|_| part.to_owned(), |until| format!("{name}={until}"))
            }
            _ => part.to_owned(),
        });
        let parts: Vec<_> = parts.collect();
        let moved = parts.join(";");
        if moved == *value {
            Ok(())
        } else {
            changes.set_value(property, &moved)
        }
    }
}

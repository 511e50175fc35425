//! Start, end and duration: what an instruction makes of them, and how the components are changed.

use super::fault;
use super::patch::Shift;
use crate::ical::changes::Changes;
use crate::ical::document::Component;
use crate::ical::duration::Duration;
use crate::ical::encode::{ContentLine, Unwritable};
use crate::ical::entity::Kind;
use crate::ical::recur::{DAY, civil_second, date_time};
use crate::ical::value::{Temporal, Times as StoredTimes, lossy};
use crate::ical::windows_zone;
use crate::ical::zone::{Zone, Zones};
use crate::outcome::Error;

/// DTSTART with DTEND or DUE, or DURATION.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) start: Option<Temporal>,
    pub(super) end: Option<Temporal>,
    pub(super) duration: Option<Duration>,
}

impl Times {
    /// Local seconds from the start to the end; none if nothing tells.
    pub(super) fn length(&self) -> i64 {
        match (self.duration, &self.start, &self.end) {
            (Some(duration), ..) => duration.flat_seconds(),
            (None, Some(start), Some(end)) => civil_second(end.civil()) - civil_second(start.civil()),
            (None, ..) => 0,
        }
    }
}

/// A value to set, or `None` to clear; with the pointer to it.
pub(super) type Instruction<'a, T> = Option<(Option<T>, &'a str)>;

/// What is asked for; `None` where nothing is. A duration is longer than nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct TimesPatch<'a> {
    pub(super) start: Instruction<'a, Temporal>,
    pub(super) end: Instruction<'a, Temporal>,
    pub(super) duration: Instruction<'a, Duration>,
}

impl TimesPatch<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.start.is_none() && self.end.is_none() && self.duration.is_none()
    }
}

/// A time that a caller sent, as it is stored: the TZID becomes the IANA name that it is or stands for.
pub(super) fn authored(time: &Temporal, pointer: &str) -> Result<Temporal, Box<Error>> {
    let invalid = |message| Err(fault(pointer, "temporal_value_invalid", message));
    let civil = time.civil();
    if civil.subsec_nanosecond() != 0 || civil.year() < 1 {
        return invalid("Send whole seconds in the years 1 to 9999.");
    }
    let Temporal::Zoned(_, tzid) = time else {
        return Ok(time.clone());
    };
    let name = Zone::canonical_iana(tzid).or_else(|| windows_zone::iana(tzid));
    match name {
        Some(name) => Ok(Temporal::Zoned(civil, name.into())),
        None => invalid("Name an IANA time zone such as Europe/Berlin, or a Windows time zone."),
    }
}

/// Moments by the zones of a document, to measure with; days and floating times by their digits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measure<'a>(pub(super) &'a Zones);

impl Measure<'_> {
    fn zone(self, time: &Temporal) -> Zone {
        let own = match time {
            Temporal::Zoned(_, tzid) => self.0.resolve(tzid).zone().cloned(),
            Temporal::Date(_) | Temporal::Floating(_) | Temporal::Utc(_) => None,
        };
        own.unwrap_or_else(Zone::utc)
    }

    pub(super) fn second(self, time: &Temporal) -> i64 {
        self.zone(time).resolve_local(time.civil()).second
    }

    /// What the clock of `form` shows at an instant.
    pub(super) fn local(self, form: &Temporal, instant: i64) -> i64 {
        civil_second(self.zone(form).local_at(instant))
    }

    /// `time` in its own form, as long after `to` as `end` is after `start`.
    pub(super) fn carry(self, start: &Temporal, end: &Temporal, to: &Temporal) -> Temporal {
        let length = self.second(end) - self.second(start);
        // An end in the zone of its start goes with it into another zone; one in a zone of its own stays there.
        let form = if same_form(start, end) { to } else { end };
        let moved = self.second(to) + length;
        let end = with_civil(form, self.local(form, moved));
        // A local time in a fold is read as the first (RFC 5545, 3.3.5); the second can be told in UTC only.
        if self.second(&end) != moved && matches!(end, Temporal::Zoned(..)) {
            return Temporal::Utc(date_time(moved));
        }
        end
    }
}

/// Whether two times are of one kind, and in one zone.
pub(super) fn same_form(a: &Temporal, b: &Temporal) -> bool {
    match (a, b) {
        (Temporal::Zoned(_, one), Temporal::Zoned(_, other)) => one == other,
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}

/// A time of the form of `form` that shows so many local seconds.
pub(super) fn with_civil(form: &Temporal, second: i64) -> Temporal {
    let time = date_time(second);
    match form {
        Temporal::Date(_) => Temporal::Date(time.date()),
        Temporal::Floating(_) => Temporal::Floating(time),
        Temporal::Utc(_) => Temporal::Utc(time),
        Temporal::Zoned(_, zone) => Temporal::Zoned(time, zone.clone()),
    }
}

/// `time`, so many local seconds later.
pub(super) fn shifted(time: &Temporal, seconds: i64) -> Temporal {
    with_civil(time, civil_second(time.civil()).saturating_add(seconds))
}

/// What `old` becomes. An end that nobody speaks of moves with the start, as far after it as before; a day that
/// becomes a time keeps its number of days.
pub(super) fn decide(kind: Kind, old: &Times, patch: &TimesPatch<'_>, by: Measure<'_>) -> Result<Times, Box<Error>> {
    let (exclusive, early, end_name) = match kind {
        Kind::Event => ("end_duration_exclusive", "end_not_after_start", "end"),
        Kind::Todo => ("due_duration_exclusive", "due_not_after_start", "due"),
    };
    let pointer = patch.start.as_ref().map(|(_, pointer)| *pointer);
    let pointer = pointer.or(patch.end.as_ref().map(|(_, pointer)| *pointer));
    let pointer = pointer
        .or(patch.duration.as_ref().map(|(_, pointer)| *pointer))
        .unwrap_or("/patch");
    let mut new = old.clone();
    if let Some((start, pointer)) = &patch.start {
        new.start = start.as_ref().map(|start| authored(start, pointer)).transpose()?;
        if start.is_none() && kind == Kind::Event {
            return Err(fault(
                *pointer,
                "start_required",
                "An Event has a start: set another one instead.",
            ));
        }
    }
    if let Some((end, pointer)) = &patch.end {
        new.end = end.as_ref().map(|end| authored(end, pointer)).transpose()?;
        if end.is_some() {
            new.duration = None;
        }
    }
    if let Some((duration, pointer)) = &patch.duration {
        new.duration = *duration;
        if duration.is_some() {
            if let Some((Some(_), _)) = &patch.end {
                let message = format!("Send either {end_name} or duration.");
                return Err(fault(*pointer, exclusive, &message));
            }
            new.end = None;
        }
    }
    if let (Some(start), Some(before), None, None) = (&new.start, &old.start, &patch.end, &patch.duration)
        && start != before
    {
        match (before.is_date(), start.is_date()) {
            (false, true) => {
                let message = format!("Send {end_name} too: a time cannot tell how many days it takes.");
                return Err(fault(pointer, "temporal_family_mismatch", &message));
            }
            (true, false) => {
                let days = match &old.end {
                    Some(end) => (civil_second(end.civil()) - civil_second(before.civil())) / DAY,
                    None => 1,
                };
                if old.duration.is_none() && (kind == Kind::Event || old.end.is_some()) {
                    new.end = Some(shifted(start, days.max(1) * DAY));
                }
            }
            (true, true) | (false, false) => {
                new.end = old.end.as_ref().map(|end| by.carry(before, end, start));
            }
        }
    }
    let Some(start) = &new.start else {
        if new.duration.is_some() {
            return Err(fault(pointer, "duration_start_required", "A duration needs a start."));
        }
        return Ok(new);
    };
    if start.is_date() && new.duration.is_some_and(|duration| duration.exact_seconds() != 0) {
        return Err(fault(
            pointer,
            "duration_invalid",
            "An all-day start lasts whole days: send P1D, for example.",
        ));
    }
    // Every server takes an all-day Event with its end; some refuse one with a start alone.
    if kind == Kind::Event && start.is_date() && new.end.is_none() && new.duration.is_none() {
        new.end = Some(shifted(start, DAY));
    }
    if let Some(end) = &new.end {
        if !start.same_family(end) {
            let message = format!("Send start and {end_name} both as dates, or both with a time.");
            return Err(fault(pointer, "temporal_family_mismatch", &message));
        }
        let local = |time: &Temporal| matches!(time, Temporal::Floating(_));
        if local(start) != local(end) {
            let message = format!("Send start and {end_name} both with a zone or UTC, or both without.");
            return Err(fault(pointer, "temporal_family_mismatch", &message));
        }
        if by.second(end) <= by.second(start) {
            let message = format!("Send {end_name} later than start; the end of an all-day Event is the day after it.");
            return Err(fault(pointer, early, &message));
        }
    }
    Ok(new)
}

/// What a component has.
pub(super) fn stored(component: Component<'_>, kind: Kind) -> Times {
    let time = |name: &str| stored_time(component, name);
    let duration = component.first("DURATION");
    Times {
        start: time("DTSTART").or_else(|| time("RECURRENCE-ID")),
        end: time(end_property(kind)),
        duration: duration.and_then(|property| Duration::parse(&lossy(property.value()))),
    }
}

/// The only time of a property.
pub(super) fn stored_time(component: Component<'_>, name: &str) -> Option<Temporal> {
    StoredTimes::of(component.first(name)?).single().ok()
}

/// DTEND or DUE.
pub(super) fn end_property(kind: Kind) -> &'static str {
    match kind {
        Kind::Event => "DTEND",
        Kind::Todo => "DUE",
    }
}

/// Writes what is different into a component. Parameters other than VALUE and TZID stay.
pub(super) fn write<'a>(
    changes: &mut Changes<'a>,
    component: Component<'a>,
    kind: Kind,
    old: &Times,
    new: &Times,
) -> Result<(), Unwritable> {
    let names = [
        ("DTSTART", &old.start, &new.start),
        (end_property(kind), &old.end, &new.end),
    ];
    for (name, old_time, new_time) in names {
        // A day without VALUE=DATE is repaired together with the other one.
        let misdeclared = || {
            let property = component.first(name).filter(|_| old != new && new_time.is_some());
            property.is_some_and(|property| {
                new_time
                    .as_ref()
                    .is_some_and(|time| StoredTimes::of(property).misdeclares(time))
            })
        };
        if old_time != new_time || misdeclared() {
            set(changes, component, name, new_time.as_ref())?;
        }
    }
    if old.duration != new.duration {
        let value = new.duration.map(|duration| duration.to_string());
        set_plain(changes, component, "DURATION", value.as_deref())?;
    }
    Ok(())
}

/// Moves the times of a component as those of another one moved. What had no length gets the length of the other.
pub(super) fn shift<'a>(
    changes: &mut Changes<'a>,
    component: Component<'a>,
    kind: Kind,
    by: &Shift,
) -> Result<(), Unwritable> {
    let old = stored(component, kind);
    // What would last no time at all keeps its own length.
    let longer = if old.length() + by.longer > 0 { by.longer } else { 0 };
    let start = old.start.as_ref().map(|time| shifted(time, by.start));
    let end = match (&old.end, old.duration, &start) {
        (Some(end), ..) => Some(shifted(end, by.start + longer)),
        (None, None, Some(start)) if by.longer > 0 => Some(shifted(start, by.new.length())),
        (None, ..) => None,
    };
    let duration = old.duration.map(|duration| duration.longer(longer).unwrap_or(duration));
    let new = Times { start, end, duration };
    write(changes, component, kind, &old, &new)
}

/// Sets the only property of this name to a time, or takes it out. What says it already stays as it is.
pub(super) fn set<'a>(
    changes: &mut Changes<'a>,
    component: Component<'a>,
    name: &str,
    time: Option<&Temporal>,
) -> Result<(), Unwritable> {
    let Some(time) = time else {
        return set_plain(changes, component, name, None);
    };
    match component.first(name) {
        Some(property) => {
            let stored = StoredTimes::of(property);
            if stored.single().as_ref() == Ok(time) && !stored.misdeclares(time) {
                return Ok(());
            }
            let parameters = time.parameters();
            let same = ["VALUE", "TZID"].iter().all(|name| {
                let asked = parameters.iter().find(|parameter| parameter.name == *name);
                property.parameter(name).as_ref() == asked.map(|parameter| &parameter.values[0])
            });
            if same {
                return changes.set_value(property, &time.encoded());
            }
            let line = ContentLine::like(property, &["VALUE", "TZID"], &parameters, &time.encoded());
            // A parameter with an open quote cannot be kept.
            changes.replace(property, &[line.or_else(|_| fresh(name, time))?]);
        }
        None => changes.add(component, &[fresh(name, time)?]),
    }
    Ok(())
}

/// Gives the only property of this name a value, or takes it out.
pub(super) fn set_plain<'a>(
    changes: &mut Changes<'a>,
    component: Component<'a>,
    name: &str,
    value: Option<&str>,
) -> Result<(), Unwritable> {
    match (value, component.first(name)) {
        (Some(value), Some(property)) => {
            if changes.set_value(property, value).is_err() {
                changes.replace(property, &[ContentLine::new(name, &[], value)?]);
            }
        }
        (Some(value), None) => changes.add(component, &[ContentLine::new(name, &[], value)?]),
        (None, _) => component.all(name).for_each(|property| changes.replace(property, &[])),
    }
    Ok(())
}

/// A line of its own.
pub(super) fn fresh(name: &str, time: &Temporal) -> Result<ContentLine, Unwritable> {
    ContentLine::new(name, &time.parameters(), &time.encoded())
}

//! The occurrences of a resource: its components as a recurrence set.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, Weak};

use serde::Serialize;

use super::duration::Duration;
use super::entity::{Entity, Kind};
use super::expand::{Frame, Instance, RecurrenceDate, Series, SeriesOverride, Span, Unevaluable, Window, occurrences};
use super::part::{Name, Part};
use super::project::{Fields, RecurrenceIdentity};
use super::recur::Steps;
use super::recurrence::{Range, Recurrence};
use super::value::{DateOrPeriod, Temporal, lossy};
use super::zone::Zone;

/// When an occurrence is, as stored and in UTC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OccurrenceTiming {
    /// The start that the recurrence set gives it.
    pub source_start: Temporal,
    /// Its start.
    pub effective_start: Temporal,
    /// The end that belongs to `source_start`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_end: Option<Temporal>,
    /// Its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effective_end: Option<Temporal>,
    /// The duration that belongs to `source_start`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_duration: Option<Duration>,
    /// Its duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effective_duration: Option<Duration>,
    /// Its start in UTC; absent where its year has no four digits there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluated_start_utc: Option<Temporal>,
    /// Its end in UTC, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluated_end_utc: Option<Temporal>,
    /// The zone that gave days and times without a zone their moments; absent where none was needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluation_time_zone: Option<String>,
}

impl OccurrenceTiming {
    /// Of an occurrence that was evaluated under this zone.
    #[must_use]
    pub fn of(instance: &Instance, evaluation: &Zone) -> Self {
        let utc = |second| {
            let time = Zone::utc().local_at(second);
            (0..=9999).contains(&time.year()).then_some(Temporal::Utc(time))
        };
        let times = [Some(&instance.start), instance.end.as_ref()];
        let local = times.into_iter().flatten().any(|time| match time {
            Temporal::Date(_) | Temporal::Floating(_) => true,
            Temporal::Utc(_) | Temporal::Zoned(..) => false,
        });
        Self {
            source_start: instance.source_start.clone(),
            effective_start: instance.start.clone(),
            source_end: instance.source_end.clone(),
            effective_end: instance.end.clone(),
            source_duration: instance.source_duration,
            effective_duration: instance.duration,
            evaluated_start_utc: utc(instance.from),
            evaluated_end_utc: utc(instance.to),
            evaluation_time_zone: local.then(|| evaluation.name().to_owned()),
        }
    }
}

/// The occurrences of an entity in the window that was asked for last.
#[derive(Debug)]
pub(super) struct Expanded {
    window: Window,
    evaluation: Box<str>,
    /// Alive while somebody else has them, so that an entity never holds on to a large expansion.
    occurrences: Weak<Vec<Instance>>,
}

/// One of the occurrences of an entity, which lie together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    all: Arc<Vec<Instance>>,
    at: u32,
}

impl Occurrence {
    /// Those of an expansion that are wanted. The others are kept alive with them only if there are none.
    pub fn chosen(all: &Arc<Vec<Instance>>, mut is_wanted: impl FnMut(&Instance) -> bool) -> Vec<Self> {
        let wanted: Vec<&Instance> = all.iter().filter(|instance| is_wanted(instance)).collect();
        let shared = if wanted.len() == all.len() {
            Arc::clone(all)
        } else {
            Arc::new(wanted.into_iter().cloned().collect())
        };
        let places = 0..shared.len() as u32;
        places
            .map(|at| Self {
                all: Arc::clone(&shared),
                at,
            })
            .collect()
    }
}

impl std::ops::Deref for Occurrence {
    type Target = Instance;

    fn deref(&self) -> &Instance {
        &self.all[self.at as usize]
    }
}

impl Entity {
    /// As [`Entity::occurrences`]. What was found last costs nothing when the same is asked again while it is still in use.
    ///
    /// # Errors
    /// As there.
    pub fn shared_occurrences(
        &self,
        evaluation: &Zone,
        window: Window,
        steps: &mut Steps,
    ) -> Result<Arc<Vec<Instance>>, Unevaluable> {
        let mut kept = self.expanded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = &*kept
            && kept.window == window
            && *kept.evaluation == *evaluation.name()
            && let Some(occurrences) = kept.occurrences.upgrade()
        {
            return Ok(occurrences);
        }
        let occurrences = Arc::new(self.occurrences(evaluation, window, steps)?);
        *kept = Some(Expanded {
            window,
            evaluation: evaluation.name().into(),
            occurrences: Arc::downgrade(&occurrences),
        });
        Ok(occurrences)
    }

    /// The occurrences in a window, cancelled ones included. An opaque resource has none, nor has a To-do without a
    /// start.
    ///
    /// # Errors
    /// [`Unevaluable`], also where a part of the recurrence set cannot be read.
    pub fn occurrences(
        &self,
        evaluation: &Zone,
        window: Window,
        steps: &mut Steps,
    ) -> Result<Vec<Instance>, Unevaluable> {
        let Some(series) = self.series()? else {
            return Ok(Vec::new());
        };
        let zones = &self.zones;
        occurrences(&series, &Frame { zones, evaluation }, window, steps)
    }

    /// The scalar fields of an occurrence: those of its override or of the master, with its own start and end. The
    /// duration keeps its spelling where it says the same.
    #[must_use]
    pub fn occurrence_fields(&self, instance: &Instance) -> Fields {
        let (Some(part), Some(kind)) = (self.part(instance.component), self.kind()) else {
            return Fields::default();
        };
        let mut fields = self.fields(part, kind, &mut BTreeSet::new());
        fields.start = Some(instance.start.clone());
        let end = instance.end.clone();
        match kind {
            Kind::Event => fields.end = end,
            Kind::Todo => fields.due = end,
        }
        if fields.duration.as_deref().and_then(Duration::parse) != instance.duration {
            fields.duration = instance.duration.map(|duration| duration.to_string());
        }
        fields
    }

    /// The identity of an occurrence in the shape of the results.
    #[must_use]
    pub fn recurrence_identity(instance: &Instance) -> RecurrenceIdentity {
        RecurrenceIdentity {
            value: instance.identity.clone(),
        }
    }

    /// The recurrence set; `None` if there is nothing that could have occurrences.
    pub(super) fn series(&self) -> Result<Option<Series>, Unevaluable> {
        let (Some(kind), None) = (self.kind(), self.opaque()) else {
            return Ok(None);
        };
        let mut series = Series {
            start: None,
            span: Span::None,
            rules: Vec::new(),
            exrules: Vec::new(),
            rdates: Vec::new(),
            exdates: Vec::new(),
            overrides: Vec::with_capacity(self.overrides.len()),
        };
        if let Some(master) = &self.master {
            if master.start.is_none() {
                return Ok(None);
            }
            series.start.clone_from(&master.start);
            series.span = self.span(master, kind).unwrap_or(Span::None);
            let stored = Recurrence::read(self.document(), master, &mut BTreeSet::new());
            let mut stored_rules = stored.rules.iter().map(|(_, rule)| rule).chain(&stored.exrules);
            if let Some(Err(fault)) = stored_rules.find(|rule| rule.is_err()) {
                return Err(Unevaluable::Rule(fault.clone()));
            }
            if !stored.readable {
                return Err(Unevaluable::Unreadable);
            }
            series.rules = stored.rules.into_iter().filter_map(|(_, rule)| rule.ok()).collect();
            series.exrules = stored.exrules.into_iter().filter_map(Result::ok).collect();
            series.rdates = stored.rdates.into_iter().map(recurrence_date).collect();
            series.exdates = stored.exdates;
        }
        for part in &self.overrides {
            let Some(identity) = part.identity.clone() else {
                continue;
            };
            let future = match self.range(part, &mut BTreeSet::new()) {
                Ok(range @ (None | Some(Range::ThisAndFuture))) => range.is_some(),
                Ok(Some(Range::ThisAndPrior)) => return Err(Unevaluable::ThisAndPrior),
                Err(_) => return Err(Unevaluable::Unreadable),
            };
            let span = self.span(part, kind);
            series.overrides.push(SeriesOverride {
                component: part.component,
                identity,
                future,
                // A component with a start of its own is complete: without an end it has none.
                span: span.or(part.start.is_some().then_some(Span::None)),
                start: part.start.clone(),
                cancelled: part.is_cancelled(self.document()),
            });
        }
        Ok(Some(series))
    }

    /// How long a component lasts, if it says so in a usable way.
    fn span(&self, part: &Part, kind: Kind) -> Option<Span> {
        let document = self.document();
        if let Some(property) = part.first(document, Name::Duration) {
            return Duration::parse(&lossy(property.value())).map(Span::Length);
        }
        let end = part.temporal(document, kind.end())?.ok()?;
        let start = part.start.as_ref().or(part.identity.as_ref());
        start
            .is_some_and(|start| start.same_family(&end))
            .then_some(Span::Until(end))
    }
}

fn recurrence_date(date: DateOrPeriod) -> RecurrenceDate {
    match date {
        DateOrPeriod::Date(start) => RecurrenceDate { start, span: None },
        DateOrPeriod::Period(period) => RecurrenceDate {
            start: period.start,
            span: match period.end {
                Ok(end) => Some(Span::Until(end)),
                Err(text) => Duration::parse(&text).map(Span::Length),
            },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[test]
    fn occurrences_live_as_long_as_they_are_used() {
        let entity = Entity::read(Bytes::from_static(
            b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTART:20260101T100000Z\r\nRRULE:FREQ=DAILY;COUNT=9\r\n\
              END:VEVENT\r\nEND:VCALENDAR\r\n",
        ));
        let window = Window {
            from: 0,
            to: 4_000_000_000,
        };
        let expand = || entity.shared_occurrences(&Zone::utc(), window, &mut Steps::new(1000));
        let all = expand().unwrap();
        assert!(Arc::ptr_eq(&all, &expand().unwrap()));
        let first = all[0].from;
        let one = Occurrence::chosen(&all, |instance| instance.from == first);
        let every = Occurrence::chosen(&all, |_| true);
        assert_eq!((one.len(), every.len()), (1, 9));
        let seen = Arc::downgrade(&all);
        drop((all, every));
        assert!(seen.upgrade().is_none());
        assert_eq!(one[0].from, first);
    }
}

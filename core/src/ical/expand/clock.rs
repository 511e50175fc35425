//! Temporal values as instants, and back.

use std::sync::Arc;

use super::{Frame, Unevaluable};
use crate::ical::recur::{civil_second, date_time};
use crate::ical::value::Temporal;
use crate::ical::zone::{LocalKind, Zone};

/// Resolves values under a frame; remembers the zone that was asked for last.
#[derive(Debug)]
pub(in crate::ical) struct Clock<'a> {
    frame: &'a Frame<'a>,
    last: Option<(Arc<str>, Zone)>,
    utc: Zone,
}

impl<'a> Clock<'a> {
    pub(in crate::ical) fn new(frame: &'a Frame<'a>) -> Self {
        Self {
            frame,
            last: None,
            utc: Zone::utc(),
        }
    }

    /// The zone that a value is in.
    pub(in crate::ical) fn zone(&mut self, value: &Temporal) -> Result<Zone, Unevaluable> {
        let tzid = match value {
            Temporal::Date(_) | Temporal::Floating(_) => return Ok(self.frame.evaluation.clone()),
            Temporal::Utc(_) => return Ok(self.utc.clone()),
            Temporal::Zoned(_, tzid) => tzid,
        };
        if let Some((last, zone)) = &self.last
            && last == tzid
        {
            return Ok(zone.clone());
        }
        let resolution = self.frame.zones.resolve(tzid);
        let zone = resolution
            .zone()
            .ok_or_else(|| Unevaluable::Zone(tzid.as_ref().into()))?
            .clone();
        self.last = Some((tzid.clone(), zone.clone()));
        Ok(zone)
    }

    /// The instant of a value as it is written.
    pub(in crate::ical) fn instant(&mut self, value: &Temporal) -> Result<i64, Unevaluable> {
        if let Temporal::Utc(time) = value {
            return Ok(civil_second(*time));
        }
        Ok(self.zone(value)?.resolve_clock(civil_second(value.civil())).second)
    }
}

/// What times have in common: their type, and the zone that gives them instants. Cheap to clone.
#[derive(Clone, Debug)]
pub(in crate::ical) struct Form {
    kind: Kind,
    pub(in crate::ical) zone: Zone,
}

#[derive(Clone, Debug)]
enum Kind {
    Date,
    Floating,
    Utc,
    Zoned(Arc<str>),
}

impl Form {
    pub(in crate::ical) fn of(value: &Temporal, clock: &mut Clock<'_>) -> Result<Self, Unevaluable> {
        let kind = match value {
            Temporal::Date(_) => Kind::Date,
            Temporal::Floating(_) => Kind::Floating,
            Temporal::Utc(_) => Kind::Utc,
            Temporal::Zoned(_, tzid) => Kind::Zoned(tzid.clone()),
        };
        let zone = clock.zone(value)?;
        Ok(Self { kind, zone })
    }

    pub(in crate::ical) fn is_date(&self) -> bool {
        matches!(self.kind, Kind::Date)
    }

    fn is_utc(&self) -> bool {
        matches!(self.kind, Kind::Utc)
    }

    /// Whether an instant says more than the digits of the local time: with a TZID or in UTC.
    pub(in crate::ical) fn is_zoned(&self) -> bool {
        matches!(self.kind, Kind::Utc | Kind::Zoned(_))
    }

    /// Whether local times may not exist.
    pub(in crate::ical) fn has_gaps(&self) -> bool {
        matches!(self.kind, Kind::Floating | Kind::Zoned(_))
    }

    /// Whether a value is of this type and zone.
    pub(in crate::ical) fn fits(&self, value: &Temporal) -> bool {
        match (&self.kind, value) {
            (Kind::Date, Temporal::Date(_))
            | (Kind::Floating, Temporal::Floating(_))
            | (Kind::Utc, Temporal::Utc(_)) => true,
            (Kind::Zoned(tzid), Temporal::Zoned(_, other)) => **tzid == **other,
            _ => false,
        }
    }

    /// A local second in this form.
    pub(in crate::ical) fn value(&self, civil: i64) -> Temporal {
        let time = date_time(civil);
        match &self.kind {
            Kind::Date => Temporal::Date(time.date()),
            Kind::Floating => Temporal::Floating(time),
            Kind::Utc => Temporal::Utc(time),
            Kind::Zoned(tzid) => Temporal::Zoned(time, tzid.clone()),
        }
    }

    /// What names an occurrence in a set of this form: the local second of a day, else the instant.
    pub(in crate::ical) fn key(&self, civil: i64, instant: i64) -> i64 {
        if self.is_date() { civil } else { instant }
    }

    /// The local second at an instant.
    pub(in crate::ical) fn civil(&self, instant: i64) -> i64 {
        if self.is_utc() {
            return instant;
        }
        civil_second(self.zone.local_at(instant))
    }

    /// The instant of a local second, and whether that local second exists.
    pub(in crate::ical) fn instant(&self, civil: i64) -> (i64, bool) {
        if self.is_utc() {
            return (civil, true);
        }
        let found = self.zone.resolve_clock(civil);
        (found.second, self.is_date() || found.kind != LocalKind::Gap)
    }
}

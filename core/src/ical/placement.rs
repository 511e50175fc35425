//! Where a component stands in time, without its recurrence: stored times with their moments.

use super::duration::Duration;
use super::entity::Entity;
use super::expand::{Clock, Form, Frame, Instance, Measure, Span, Unevaluable};
use super::part::Name;
use super::recur::civil_second;
use super::value::{Temporal, lossy};
use super::zone::Zone;

/// A time as it is stored or follows from what is stored, and its moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// As it is stored; an end that only a duration tells is of the type and zone of the start.
    pub source: Temporal,
    /// Unix seconds. A date is the beginning of its day.
    pub second: i64,
}

/// Start and end of a component.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// DTSTART.
    pub start: Option<Placed>,
    /// DTEND or DUE, or what DTSTART and DURATION make.
    pub end: Option<Placed>,
}

impl Entity {
    /// Start and end of the component without RECURRENCE-ID; of a resource that has only overrides, those of the first.
    ///
    /// # Errors
    /// [`Unevaluable::Zone`].
    pub fn placement(&self, evaluation: &Zone) -> Result<Placement, Unevaluable> {
        let mut placement = Placement::default();
        let (Some(part), Some(kind)) = (self.parts().next(), self.kind()) else {
            return Ok(placement);
        };
        let zones = &self.zones;
        let frame = Frame { zones, evaluation };
        let mut clock = Clock::new(&frame);
        let mut placed = |source: Temporal| {
            let second = clock.instant(&source)?;
            Ok::<_, Unevaluable>(Placed { source, second })
        };
        placement.start = part.start.clone().map(&mut placed).transpose()?;
        let end = part.temporal(&self.document, kind.end()).and_then(Result::ok);
        placement.end = end.map(&mut placed).transpose()?;
        let duration = part.first(&self.document, Name::Duration);
        let duration = duration.and_then(|property| Duration::parse(&lossy(property.value())));
        if let (Some(start), Some(duration)) = (&placement.start, duration) {
            let form = Form::of(&start.source, &mut clock)?;
            let measure = Measure::of(&Span::Length(duration), &start.source, &mut clock)?;
            let to = measure.lay(&form, civil_second(start.source.civil()), start.second).to;
            placement.end = Some(Placed {
                source: form.value(form.civil(to)),
                second: to,
            });
        }
        Ok(placement)
    }

    /// The end of an occurrence, if its component tells one.
    ///
    /// # Errors
    /// [`Unevaluable::Zone`].
    pub fn end_of(&self, instance: &Instance, evaluation: &Zone) -> Result<Option<Placed>, Unevaluable> {
        let second = instance.to;
        if instance.duration.is_none() {
            let source = instance.end.clone();
            return Ok(source.map(|source| Placed { source, second }));
        }
        let zones = &self.zones;
        let frame = Frame { zones, evaluation };
        let form = Form::of(&instance.start, &mut Clock::new(&frame))?;
        let source = form.value(form.civil(second));
        Ok(Some(Placed { source, second }))
    }

    /// Whether it recurs from a start, so that a window tells its occurrences.
    #[must_use]
    pub fn has_occurrences(&self) -> bool {
        let anchored = self.master.as_ref().is_none_or(|master| master.start.is_some());
        self.is_recurring() && anchored
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[test]
    fn ends_are_stored_or_follow_from_the_duration() {
        // Each moment by hand: Berlin is UTC+1 in winter and UTC+2 from 2026-03-29T01:00Z; Lisbon UTC+0 and UTC+1.
        for (lines, start, end) in [
            (
                "DUE:20260102T100000Z",
                None,
                Some("utc 2026-01-02T10:00:00Z 2026-01-02T10:00:00Z"),
            ),
            (
                "DUE;VALUE=DATE:20260702",
                None,
                Some("date 2026-07-02 2026-07-01T23:00:00Z"),
            ),
            (
                "DTSTART:20260101T100000 | DURATION:PT90M",
                Some("floating 2026-01-01T10:00:00 2026-01-01T10:00:00Z"),
                Some("floating 2026-01-01T11:30:00 2026-01-01T11:30:00Z"),
            ),
            (
                "DTSTART;TZID=Europe/Berlin:20260328T100000 | DURATION:P1D",
                Some("zoned 2026-03-28T10:00:00 2026-03-28T09:00:00Z"),
                Some("zoned 2026-03-29T10:00:00 2026-03-29T08:00:00Z"),
            ),
            (
                "DTSTART;VALUE=DATE:20260328 | DURATION:P2D",
                Some("date 2026-03-28 2026-03-28T00:00:00Z"),
                Some("date 2026-03-30 2026-03-29T23:00:00Z"),
            ),
            ("SUMMARY:x", None, None),
        ] {
            let body = format!(
                "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VTODO\r\nUID:a\r\n{}\r\nEND:VTODO\r\nEND:VCALENDAR\r\n",
                lines.replace(" | ", "\r\n")
            );
            let entity = Entity::read(Bytes::from(body));
            assert_eq!(entity.opaque(), None, "{lines}");
            let placement = entity.placement(&Zone::iana("Europe/Lisbon").unwrap()).unwrap();
            let told = |placed: Option<Placed>| {
                let placed = placed?;
                let moment = jiff::Timestamp::from_second(placed.second).unwrap();
                Some(match placed.source {
                    Temporal::Date(day) => format!("date {day} {moment}"),
                    Temporal::Floating(time) => format!("floating {time} {moment}"),
                    Temporal::Utc(time) => format!("utc {time}Z {moment}"),
                    Temporal::Zoned(time, _) => format!("zoned {time} {moment}"),
                })
            };
            assert_eq!(told(placement.start).as_deref(), start, "{lines}");
            assert_eq!(told(placement.end).as_deref(), end, "{lines}");
        }
    }
}

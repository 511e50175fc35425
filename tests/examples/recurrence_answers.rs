//! Answers for the comparison of `tests/recurrence`: what Kalends and `ical-rs` make of recurrence sets.
//!
//! Reads JSON lines: `ics` for Kalends, `zoned` for `ical-rs` (the same set with its VTIMEZONE, perhaps spelled out),
//! `from`, `late` and `to` in Unix seconds. Writes a JSON line for each: the starts in `[from, to)` as `YYYYMMDD` or as
//! Unix seconds, and whether Kalends finds the same in `[late, to)` when it asks for nothing else.

use std::io::{self, BufRead, BufWriter, Write};

use bytes::Bytes;
use ical::recur::IcalRecurDateTime;
use ical::recur::set::{IcalRecurSet, IcalRecurZone};
use ical::tree::cst::IcalCst;
use ical::tz::{IcalTz, IcalTzTransitions};
use kalends_core::ical::entity::Entity;
use kalends_core::ical::expand::{Instance, Window};
use kalends_core::ical::recur::Steps;
use kalends_core::ical::value::Temporal;
use kalends_core::ical::zone::Zone;
use serde_json::{Value, json};

/// Enough for every set that the generator makes.
const STEPS: u64 = 2_000_000;

fn main() -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let ask: Value = serde_json::from_str(&line?)?;
        let second = |name: &str| ask[name].as_i64().expect("Unix seconds");
        let text = |name: &str| ask[name].as_str().expect("a document");
        let (from, late, to) = (second("from"), second("late"), second("to"));
        let entity = Entity::read(Bytes::copy_from_slice(text("ics").as_bytes()));
        let expand = |from| entity.occurrences(&Zone::utc(), Window { from, to }, &mut Steps::new(STEPS));
        let answer = match (expand(from), expand(late)) {
            (Ok(all), Ok(later)) => {
                let kept = all.iter().filter(|instance| instance.from >= late);
                json!({
                    "kalends": all.iter().map(start).collect::<Vec<_>>(),
                    "seeks": kept.eq(later.iter()),
                    "ical": ical_rs(text("zoned"), to),
                })
            }
            (Err(fault), _) | (_, Err(fault)) => json!({ "fault": fault.to_string() }),
        };
        writeln!(out, "{answer}")?;
    }
    out.flush()
}

fn start(instance: &Instance) -> Value {
    match &instance.start {
        Temporal::Date(date) => date.strftime("%Y%m%d").to_string().into(),
        Temporal::Floating(_) | Temporal::Utc(_) | Temporal::Zoned(..) => instance.from.into(),
    }
}

/// The starts before an instant as `ical-rs` has them; its local times become instants by its own reading of the zone.
fn ical_rs(text: &str, to: i64) -> Vec<Value> {
    let tree = IcalCst::parse(text).expect("a document");
    let calendar = tree.decode();
    let set = IcalRecurSet::of_uid(&calendar.components, "1");
    let date = text.contains("DTSTART;VALUE=DATE:");
    let zone = match &set.zone {
        IcalRecurZone::Tz(tzid) => IcalTz::of_calendar(&calendar, tzid),
        IcalRecurZone::Floating | IcalRecurZone::Utc => None,
    };
    let mut clock = zone.clone().map(IcalTzTransitions::of_zone);
    let mut instant = |local: IcalRecurDateTime| match &mut clock {
        Some(clock) => clock.resolve(local).literal_instant(local),
        None => local.seconds(),
    };
    let mut found = Vec::new();
    let made = zone
        .as_ref()
        .map_or_else(|| set.expand(), |zone| set.expand_in_zone(zone));
    for occurrence in made {
        let local = occurrence.start;
        if local.seconds() >= to + 2 * 86_400 {
            break;
        }
        let second = instant(local);
        if second < to {
            found.push(if date {
                format!("{:04}{:02}{:02}", local.year, local.month, local.day).into()
            } else {
                second.into()
            });
        }
    }
    found
}

//! Whatever people have stored: what is shown of it is of its shape, or one odd event would hide a whole page.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use kalends_core::href::Href;
use kalends_core::ical::completion::CompletionState;
use kalends_core::ical::entity::{Entity, Kind as EntityKind};
use kalends_core::ical::expand::{Instance, Window};
use kalends_core::ical::placement::Placed;
use kalends_core::ical::recur::Steps;
use kalends_core::ical::series::Occurrence;
use kalends_core::ical::zone::Zone;
use kalends_core::ops::query_occurrences::OccurrenceRow;
use kalends_core::ops::query_todos::TodoRow;
use kalends_core::resource::Resource;
use serde_json::{Value, json};

use super::super::promise;
use crate::catalog::Kind;
use crate::tool::compact::{self, Detail};
use crate::tool::todos_query::Field;
use crate::tool::{calendar_entities_query, calendar_occurrences_query, todos_query};

/// Documents made of each file.
const MADE: usize = 12;
const EVER: Window = Window {
    from: i64::MIN / 4,
    to: i64::MAX / 4,
};

/// Pieces that stand in for a value, a parameter or a name.
const PIECES: [&str; 26] = [
    "",
    "X",
    " ",
    "é\u{1f600}",
    "\u{0}",
    "\\",
    "\\n;,",
    ":",
    ";",
    "\"",
    "http:",
    "mailto:",
    "://",
    "P",
    "-PT0S",
    "20261201",
    "20261201T090000Z",
    "00000101T000000",
    "99991231T235959",
    "20260230T250000",
    "99999999999999999999",
    "-1",
    "0.5;1e9",
    "TRUE",
    "2.0;Success",
    "X-A=\"b\"",
];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "ics") {
            found.push(path);
        }
    }
}

/// The numbers of Lehmer's generator with the multiplier of Park and Miller: no entropy is needed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0 * 48_271 % 2_147_483_647;
        self.0 as usize % bound.max(1)
    }

    /// A text with one to three of its lines changed.
    fn damaged(&mut self, text: &str) -> String {
        let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
        for _ in 0..=self.below(3) {
            let at = self.below(lines.len());
            let piece = PIECES[self.below(PIECES.len())];
            let line = lines[at].clone();
            let cut = |end: Option<usize>| line.get(..end.unwrap_or(line.len())).unwrap_or_default();
            match self.below(6) {
                0 => lines[at] = format!("{}:{piece}\r", cut(line.find(':'))),
                1 => {
                    lines[at] = format!(
                        "{};{piece}{}",
                        cut(line.find([':', ';'])),
                        &line[cut(line.find([':', ';'])).len()..]
                    )
                }
                2 => drop(lines.remove(at)),
                3 => lines.insert(at, line.clone()),
                4 => {
                    let other = self.below(lines.len());
                    lines.swap(at, other);
                }
                _ => lines[at] = line.replacen(['=', ','], piece, 1),
            }
            if lines.is_empty() {
                break;
            }
        }
        lines.join("\n")
    }
}

fn check(kind: Kind, result: &Value, detail: Detail, source: &dyn Fn() -> String) {
    let found = promise(kind).check(result, detail);
    assert!(found.is_ok(), "{found:?}\n{}\n{result:#}", source());
}

fn judge(octets: &[u8], zone: &Zone, name: &str) {
    let entity = Arc::new(Entity::read(Bytes::copy_from_slice(octets)));
    let source = || format!("{name}\n{}", String::from_utf8_lossy(octets));
    for etag in [Some("\"1\"".to_owned()), None] {
        let href = |text| Href::parse(text).expect("an href");
        let resource = Arc::new(Resource {
            calendar: href("https://dav.example/cal/"),
            href: href("https://dav.example/cal/a.ics"),
            etag,
            entity: Arc::clone(&entity),
        });
        let snapshots = [
            (compact::full(&resource), Detail::Full),
            (compact::snapshot(&resource), Detail::Compact),
        ];
        for (snapshot, detail) in snapshots {
            check(
                Kind::ResourcesGet,
                &json!({"outcome": "success", "snapshot": snapshot}),
                detail,
                &source,
            );
        }
        let instances = entity.occurrences(zone, EVER, &mut Steps::new(10_000));
        let instances: Arc<Vec<Instance>> = Arc::new(instances.unwrap_or_default().into_iter().take(3).collect());
        for detail in [Detail::Full, Detail::Compact] {
            let rows = vec![calendar_entities_query::shown(&resource, detail)];
            check(Kind::EntitiesQuery, &page(rows), detail, &source);
            let occurrence = |instance| OccurrenceRow {
                resource: Arc::clone(&resource),
                instance,
            };
            let shown = |row: OccurrenceRow| calendar_occurrences_query::shown(&row, zone, detail);
            let rows = Occurrence::chosen(&instances, |_| true).into_iter();
            let rows = rows.map(occurrence).map(shown).collect();
            check(Kind::OccurrencesQuery, &page(rows), detail, &source);
            let projection = Field::NAMES.map(|(_, field)| field).into();
            let rows = to_dos(&resource, &instances, zone);
            let shown = rows.iter().map(|row| todos_query::shown(row, &projection, detail));
            let mut todos = page(shown.collect());
            todos["temporalEvaluationContext"] = json!({"timeZone": zone.name(), "source": "caller"});
            todos["excludedIndeterminateCount"] = json!(0);
            check(Kind::TodosQuery, &todos, detail, &source);
        }
    }
}

fn page(rows: Vec<Value>) -> Value {
    json!({
        "outcome": "success",
        "items": rows,
        "diagnostics": [],
        "pagination": {"mode": "query_result_snapshot", "nextCursor": null}
    })
}

/// A To-do as a whole and in its occurrences.
fn to_dos(resource: &Arc<Resource>, instances: &[Instance], zone: &Zone) -> Vec<TodoRow> {
    let entity = &resource.entity;
    if entity.kind() != Some(EntityKind::Todo) {
        return Vec::new();
    }
    let row = |instance: Option<Arc<Instance>>, start, due| TodoRow {
        resource: Arc::clone(resource),
        instance,
        state: CompletionState::Open,
        remark: None,
        start,
        due,
    };
    let placement = entity.placement(zone).unwrap_or_default();
    let mut rows = vec![row(None, placement.start, placement.end)];
    for instance in instances {
        let start = Placed {
            source: instance.start.clone(),
            second: instance.from,
        };
        let due = entity.end_of(instance, zone).unwrap_or_default();
        rows.push(row(Some(Arc::new(instance.clone())), Some(start), due));
    }
    rows
}

#[test]
fn what_is_stored_never_breaks_a_result() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
    let mut found = Vec::new();
    files(&root.join("corpus"), &mut found);
    files(&root.join("cases"), &mut found);
    assert!(found.len() >= 100, "{}", found.len());
    let (zone, mut numbers) = (Zone::iana("Europe/Berlin").expect("a zone"), Numbers(20_261_201));
    for path in &found {
        let octets = std::fs::read(path).expect("a file");
        let name = path.display().to_string();
        judge(&octets, &zone, &name);
        if octets.len() < 20_000 {
            let text = String::from_utf8_lossy(&octets);
            (0..MADE).for_each(|_| judge(numbers.damaged(&text).as_bytes(), &zone, &name));
        }
    }
}

/// Where a clock ahead of or behind UTC has a year that no result can show.
#[test]
fn the_first_and_last_days_do_not_break_a_result() {
    for (zone, start, more) in [
        (
            "Asia/Tokyo",
            "TZID=Asia/Tokyo:00000101T000000",
            "DTEND;TZID=Asia/Tokyo:00000103T000000",
        ),
        ("Asia/Tokyo", "VALUE=DATE:00000101", "DTEND;VALUE=DATE:00000103"),
        ("UTC", "VALUE=DATE:99991231", "SUMMARY:a"),
        ("America/New_York", "VALUE=DATE:99991231", "DTEND;VALUE=DATE:99991231"),
        (
            "America/New_York",
            "TZID=America/New_York:99991231T235959",
            "DURATION:PT1S",
        ),
        ("UTC", "VALUE=DATE-TIME:99991231T235959Z", "DURATION:P10D"),
        (
            "Asia/Tokyo",
            "VALUE=DATE-TIME:99991231T000000",
            "RRULE:FREQ=HOURLY;COUNT=30",
        ),
    ] {
        for component in ["VEVENT", "VTODO"] {
            let text = format!(
                "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:{component}\r\nUID:a\r\nDTSTAMP:20260101T000000Z\r\n\
                 DTSTART;{start}\r\n{more}\r\nEND:{component}\r\nEND:VCALENDAR\r\n"
            );
            judge(text.as_bytes(), &Zone::iana(zone).expect("a zone"), zone);
        }
    }
}

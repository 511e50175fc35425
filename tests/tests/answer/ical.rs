//! Questions about calendar data: each resource of a case in a Calendar in memory, asked for its occurrences.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::civil::{Date, Time};
use jiff::{Timestamp, ToSpan};
use kalends_core::account::credential::Credential;
use kalends_core::account::{Account, Settings};
use kalends_core::href::Href;
use kalends_core::ical::document::unfold;
use kalends_core::ical::edit::Edited;
use kalends_core::ical::edit::create::{NewEntity, NewFields, create};
use kalends_core::ical::edit::patch::{Patch, Target, patch};
use kalends_core::ical::edit::scalar::ScalarPatch;
use kalends_core::ical::entity::{Entity, Kind};
use kalends_core::ical::value::{Temporal, lossy};
use kalends_core::ical::zone::Zone;
use kalends_core::ops::query_occurrences::OccurrenceRow;
use kalends_core::query::window::MAX_WINDOW_DAYS;
use kalends_local::Local;
use kalends_tests::case::Case;
use serde_json::{Value, json};

use super::{ask, name, strings, summary, text};
use crate::Answered::{self, Whole};

/// The words of the product for diagnostics that the cases name otherwise.
const WORDS: [(&str, &str); 1] = [("timezone_resolved_externally", "timezone_reference_resolved_externally")];

/// A Calendar in memory.
struct Memory {
    server: Local,
    calendar: Href,
    account: Arc<Account>,
}

impl Memory {
    fn of(case: &Case, file: &str) -> Self {
        let mut server = Local::memory().with_calendar("work", "Work");
        for (at, resource) in case.resources(file).into_iter().enumerate() {
            server = server.put(&format!("work/{at}.ics"), resource);
        }
        let calendar = server.url().resolve("/work/").expect("a path");
        let mut settings = Settings::new(server.url(), Credential::None);
        settings.calendar_hrefs = vec![calendar.clone()];
        Self {
            account: Account::new(settings).expect("no credential"),
            server,
            calendar,
        }
    }

    /// The occurrences of a window of any length.
    fn rows(&self, from: &str, to: &str, zone: &Zone) -> Vec<OccurrenceRow> {
        let end: Timestamp = to.parse().expect("an instant");
        let mut from: Timestamp = from.parse().expect("an instant");
        let mut rows = Vec::new();
        let mut seen = BTreeSet::new();
        while from < end {
            let to = end.min(from + (24 * MAX_WINDOW_DAYS).hours());
            let question = ask(&self.calendar, &from.to_string(), &to.to_string(), zone.clone());
            let found = self
                .server
                .run(question, &self.account)
                .expect("a local account answers");
            assert!(found.unresolved.is_empty(), "{:?}", found.unresolved);
            assert!(found.diagnostics.is_empty(), "{:?}", found.diagnostics);
            let new = found.rows.iter().filter(|row| {
                let key = (row.resource.href.clone(), row.instance.from, row.instance.to);
                seen.insert(key)
            });
            rows.extend(new.cloned());
            from = to;
        }
        rows
    }

    /// The only occurrence that there ever is.
    fn only(&self, zone: &Zone) -> OccurrenceRow {
        let [row] = <[_; 1]>::try_from(self.rows("2020-01-01T00:00:00Z", "2030-01-01T00:00:00Z", zone))
            .expect("one occurrence");
        row
    }

    /// The codes of the diagnostics of each resource that has any.
    fn remarks(&self) -> Vec<Vec<&'static str>> {
        let codes = |row: &OccurrenceRow| -> Vec<_> {
            let diagnostics = row.resource.diagnostics();
            diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
        };
        let rows = self.rows("2020-01-01T00:00:00Z", "2030-01-01T00:00:00Z", &Zone::utc());
        let mut seen = BTreeSet::new();
        let first = rows.iter().filter(|row| seen.insert(name(row)));
        first.map(codes).filter(|codes| !codes.is_empty()).collect()
    }
}

/// Start, end, whether it is a whole day, and summary.
type Row = (i64, i64, bool, String);

fn row(row: &OccurrenceRow) -> Row {
    let instance = &row.instance;
    (instance.from, instance.to, instance.start.is_date(), summary(row))
}

/// A moment, or the day of an all-day value at its midnight in the evaluation zone.
fn moment(text: &str, zone: &Zone) -> i64 {
    if text.len() == 10 {
        let date: Date = text.parse().expect("a day");
        return zone.resolve_local(date.to_datetime(Time::midnight())).second;
    }
    text.parse::<Timestamp>().expect("a moment").as_second()
}

/// `queries` of the only file, or `files` with queries each.
pub(crate) fn queries(case: &Case) -> Answered {
    let files = case.calendars();
    let expected = &case.expected;
    match (expected["files"].as_object(), &expected["queries"]) {
        (Some(by_file), _) => by_file.iter().for_each(|(file, queries)| compare(case, file, queries)),
        (None, queries @ Value::Array(_)) => compare(case, &files[0], queries),
        _ => panic!("nothing maps this question of kind {}", case.kind),
    }
    if expected["files"].is_null() {
        told(case, &Memory::of(case, &files[0]));
    }
    // A file without queries is to be read without a failure.
    for file in files.iter().filter(|file| expected.get(file.as_str()).is_some()) {
        assert!(
            Memory::of(case, file)
                .rows("2026-01-01T00:00:00Z", "2036-01-01T00:00:00Z", &case.zone())
                .len()
                <= 1
        );
    }
    // Parsing is about what may be written back, too.
    if case.kind == "parse" {
        files.iter().for_each(|file| titles_can_change(case, file));
        refuses_an_early_end();
    }
    Whole
}

/// Another title changes the SUMMARY and the stamps of the master, and no other line of any component.
fn titles_can_change(case: &Case, file: &str) {
    let lines = |octets: &[u8]| -> Vec<Vec<u8>> {
        let unfolded = unfold(octets);
        let lines = unfolded.split(|octet| *octet == b'\n');
        let addressed = |line: &[u8]| {
            let name = line
                .split(|octet| matches!(octet, b':' | b';'))
                .next()
                .unwrap_or_default();
            [&b"SUMMARY"[..], b"DTSTAMP", b"LAST-MODIFIED"]
                .iter()
                .any(|own| name.eq_ignore_ascii_case(own))
        };
        lines.filter(|line| !addressed(line)).map(<[u8]>::to_vec).collect()
    };
    let title = "Another title, \u{fc}ber all";
    for resource in case.resources(file) {
        let entity = Entity::read(resource.clone().into());
        let change = Patch {
            scalars: vec![ScalarPatch::Summary(Some(title.into()))],
            ..Patch::default()
        };
        let edited = patch(&entity, &Target::Master, &change, Timestamp::UNIX_EPOCH).expect("it can be patched");
        let Edited::Changed(octets) = edited else {
            panic!("{file} has this title already");
        };
        assert_eq!(lines(&octets), lines(&resource), "{file}");
        let read = Entity::read(octets);
        assert_eq!(read.searchable(None).summary.as_deref(), Some(title));
    }
}

/// An Event that ends before it starts is read, and cannot be made.
fn refuses_an_early_end() {
    let time = |value: &str| Temporal::parse(value.as_bytes(), None).ok();
    let made = create(
        &NewEntity {
            kind: Kind::Event,
            uid: "1".into(),
            fields: NewFields {
                start: time("20261210T093000Z"),
                end: time("20261203T100000Z"),
                ..NewFields::default()
            },
            series: None,
        },
        Timestamp::UNIX_EPOCH,
    );
    assert_eq!(
        made.expect_err("it would be one").violations[0].code,
        "end_not_after_start"
    );
}

fn compare(case: &Case, file: &str, queries: &Value) {
    answers(&Memory::of(case, file), case, file, queries);
}

/// The queries after a change, by which the only resource of a file has become this one.
pub(crate) fn compare_after(case: &Case, file: &str, changed: String) {
    let memory = Memory::of(case, file);
    let server = memory.server.clone().put("work/0.ics", changed);
    answers(
        &Memory { server, ..memory },
        case,
        file,
        &case.expected["queries_after_the_change"],
    );
}

fn answers(memory: &Memory, case: &Case, file: &str, queries: &Value) {
    let zone = case.zone();
    for query in queries.as_array().expect("queries") {
        let found = memory.rows(text(&query["from"]), text(&query["to"]), &zone);
        if query["summaries"].is_array() {
            let mut found: Vec<_> = found.iter().map(summary).collect();
            found.sort();
            assert_eq!(found, strings(&query["summaries"]), "{query}");
            continue;
        }
        let read = |wanted: &Value| -> Row {
            let (start, end) = (text(&wanted["start"]), text(&wanted["end"]));
            let summary = text(&wanted["summary"]).to_owned();
            (moment(start, &zone), moment(end, &zone), start.len() == 10, summary)
        };
        let mut wanted: Vec<_> = query["occurrences"]
            .as_array()
            .expect("rows")
            .iter()
            .map(read)
            .collect();
        let mut found: Vec<_> = found.iter().map(row).collect();
        wanted.sort();
        found.sort();
        assert_eq!(found, wanted, "{file} {query}");
    }
}

/// The diagnostics that are asked for, by name or by how many resources have one.
fn told(case: &Case, memory: &Memory) {
    let remarks = memory.remarks();
    match &case.expected["diagnostics"] {
        Value::Number(count) => assert_eq!(count.as_u64(), Some(remarks.len() as u64), "{remarks:?}"),
        Value::Array(_) => {
            for word in strings(&case.expected["diagnostics"]) {
                let own = WORDS
                    .iter()
                    .find(|(given, _)| *given == word)
                    .map_or(word, |(_, own)| own);
                assert!(remarks.iter().flatten().any(|code| *code == own), "{own} {remarks:?}");
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Object(_) => {}
    }
}

/// One of several sets of starts; the other files are read without a failure.
pub(crate) fn one_of(case: &Case) -> Answered {
    let zone = case.zone();
    let starts = |file: &str| -> Vec<i64> {
        let rows = Memory::of(case, file).rows("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", &zone);
        rows.iter().map(|row| row.instance.from).collect()
    };
    let found = starts("series.ics");
    let accepted = case.expected["accept_one_of"].as_object().expect("alternatives");
    let read = |wanted: &Value| -> Vec<i64> { strings(wanted).into_iter().map(|text| moment(text, &zone)).collect() };
    assert!(accepted.values().any(|wanted| read(wanted) == found), "{found:?}");
    assert!(starts("override.ics").contains(&moment("2026-03-08T09:00:00-04:00", &zone)));
    Whole
}

/// A time without a zone under several evaluation zones.
pub(crate) fn floating(case: &Case) -> Answered {
    let memory = Memory::of(case, "event.ics");
    for (zone, wanted) in case.expected["by_evaluation_zone"].as_object().expect("zones") {
        let zone = Zone::iana(zone).expect("a known zone");
        let only = memory.only(&zone);
        assert_eq!(only.instance.from, moment(text(wanted), &zone), "{zone:?}");
        assert_eq!(
            matches!(only.instance.start, Temporal::Floating(_)),
            case.expected["floating"] == true
        );
    }
    titles_can_change(case, "event.ics");
    Whole
}

/// Whole days by UID.
pub(crate) fn days(case: &Case) -> Answered {
    let memory = Memory::of(case, "events.ics");
    let zone = case.zone();
    let rows = memory.rows("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", &zone);
    let wanted = case.expected["events"].as_object().expect("events");
    assert_eq!(rows.len(), wanted.len());
    for row in rows {
        let wanted = &wanted[row.resource.entity.uid().expect("a UID")];
        assert_eq!(row.instance.from, moment(text(&wanted["start"]), &zone));
        assert_eq!(row.instance.to, moment(text(&wanted["end"]), &zone));
        assert_eq!(row.instance.start.is_date(), wanted["all_day"] == true);
    }
    told(case, &memory);
    titles_can_change(case, "events.ics");
    Whole
}

/// Summary and description, to the letter.
pub(crate) fn texts(case: &Case) -> Answered {
    let only = Memory::of(case, "event.ics").only(&Zone::utc());
    let fields = only.resource.entity.occurrence_fields(&only.instance);
    assert_eq!(
        json!({"summary": fields.summary, "description": fields.description}),
        case.expected
    );
    Whole
}

/// Attendees with the parameters that are asked for.
pub(crate) fn attendees(case: &Case) -> Answered {
    let only = Memory::of(case, "event.ics").only(&Zone::utc());
    let document = only.resource.entity.document();
    let event = document
        .roots()
        .flat_map(|root| root.children())
        .next()
        .expect("an Event");
    let attendees: Vec<_> = event.properties().filter(|property| property.is("ATTENDEE")).collect();
    let wanted = case.expected["attendees"].as_array().expect("attendees");
    assert_eq!(attendees.len(), wanted.len());
    for (attendee, wanted) in attendees.iter().zip(wanted) {
        let parameters = attendee.parameters();
        for (name, wanted) in wanted.as_object().expect("an attendee") {
            if name == "address" {
                let address = lossy(attendee.value()).to_ascii_lowercase();
                assert_eq!(address.strip_prefix("mailto:"), wanted.as_str());
                continue;
            }
            let parameter = parameters
                .iter()
                .find(|parameter| parameter.name == *name)
                .expect("the parameter");
            let wanted = if wanted.is_array() {
                strings(wanted)
            } else {
                vec![text(wanted)]
            };
            assert_eq!(parameter.values, wanted);
        }
    }
    Whole
}

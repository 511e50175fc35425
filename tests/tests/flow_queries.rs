//! The queries, each against a server that may do anything.
#![allow(
    clippy::print_stdout,
    reason = "how much was explored is told to whoever reads the log"
)]

use std::fmt::Debug;
use std::sync::{Arc, LazyLock};

use kalends_core::ical::completion::CompletionState;
use kalends_core::ical::entity::Kind;
use kalends_core::ical::zone::Zone;
use kalends_core::operation::Operation;
use kalends_core::ops::get_resource::GetResource;
use kalends_core::ops::query_entities::{Entities, QueryEntities};
use kalends_core::ops::query_occurrences::{OccurrenceRow, Occurrences, QueryOccurrences};
use kalends_core::ops::query_todos::{QueryTodos, Todos};
use kalends_core::ops::scope::{CalendarChoice, Scope};
use kalends_core::outcome::Diagnostic;
use kalends_core::query::text_filter::TextFilter;
use kalends_core::resource::Resource;
use kalends_local::Local;
use kalends_tests::account::{ENV, known, unknown, url};
use kalends_tests::explore::Choices;
use kalends_tests::host::sequential;
use kalends_tests::promises::Trial;
use kalends_tests::world::Simulated;

static LISBON: LazyLock<Zone> = LazyLock::new(|| Zone::iana("Europe/Lisbon").expect("known"));

/// What is on from 30 November to 7 December 2026, evaluated in Lisbon (UTC): start in UTC and summary.
const TRUTH: [(&str, &str); 5] = [
    ("2026-11-30T09:00:00Z", "Standup"),
    ("2026-12-01T00:00:00Z", "Holiday"),
    ("2026-12-02T15:00:00Z", "Standup, moved"),
    ("2026-12-03T10:00:00Z", "Dentist"),
    ("2026-12-04T18:00:00Z", "Pay the rent"),
];

fn resource(uid: &str, component: &str, lines: &str) -> String {
    let head = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//t//EN\r\n";
    let lines = lines.replace(" | ", "\r\n");
    format!(
        "{head}BEGIN:{component}\r\nUID:{uid}\r\nDTSTAMP:20260101T000000Z\r\n{lines}\r\nEND:{component}\r\nEND:VCALENDAR\r\n"
    )
}

fn server() -> Local {
    let standup = "DTSTART:20261123T090000Z | DURATION:PT15M | RRULE:FREQ=WEEKLY;BYDAY=MO,TU;COUNT=4 | SUMMARY:Standup | END:VEVENT \
        | BEGIN:VEVENT | UID:standup | DTSTAMP:20260101T000000Z | RECURRENCE-ID:20261201T090000Z | DTSTART:20261202T150000Z | DURATION:PT15M | SUMMARY:Standup\\, moved";
    Local::memory()
        .with_calendar("work", "Work")
        .with_calendar("home", "Home")
        .put("work/standup.ics", resource("standup", "VEVENT", standup))
        .put(
            "work/dentist.ics",
            resource(
                "dentist",
                "VEVENT",
                "DTSTART:20261203T100000Z | DTEND:20261203T110000Z | SUMMARY:Dentist",
            ),
        )
        .put(
            "home/holiday.ics",
            resource("holiday", "VEVENT", "DTSTART;VALUE=DATE:20261201 | SUMMARY:Holiday"),
        )
        .put(
            "home/rent.ics",
            resource(
                "rent",
                "VTODO",
                "DTSTART:20261204T180000Z | DUE:20261204T190000Z | SUMMARY:Pay the rent",
            ),
        )
        .put(
            "home/past.ics",
            resource(
                "past",
                "VEVENT",
                "DTSTART:20250101T100000Z | DTEND:20250101T110000Z | SUMMARY:Past",
            ),
        )
}

fn query() -> QueryOccurrences {
    let time = |text: &str| text.parse().expect("valid");
    QueryOccurrences {
        scope: Scope::All,
        from: time("2026-11-30T00:00:00Z"),
        to: time("2026-12-07T00:00:00Z"),
        evaluation: LISBON.clone(),
        filter: TextFilter::default(),
    }
}

fn judge(found: &Occurrences, world: &Simulated) {
    let summary = |row: &OccurrenceRow| {
        let start = jiff::Timestamp::from_second(row.instance.from).expect("in range");
        let fields = row.resource.entity.occurrence_fields(&row.instance);
        (start.to_string(), fields.summary.unwrap_or_default())
    };
    let rows: Vec<_> = found.rows.iter().map(summary).collect();
    let truth = TRUTH.map(|(start, summary)| (start.to_owned(), summary.to_owned()));
    whole(&rows, &truth, &found.diagnostics, world);
}

/// All that is there; less where that is told, or where the server lied; never more.
fn whole<T: PartialEq + Debug>(rows: &[T], truth: &[T], diagnostics: &[Diagnostic], world: &Simulated) {
    let story = || format!("{:?}\n{:?}\n{rows:?}", world.faults, world.log);
    let told = diagnostics
        .iter()
        .any(|it| it.code == "resource_disappeared_during_query");
    if !told && !world.lied {
        assert_eq!(rows, truth, "a partial answer is presented as complete: {}", story());
    }
    let made_up = rows.iter().any(|row| !truth.contains(row));
    assert!(!made_up, "something is made up: {}", story());
}

#[test]
fn a_scan_keeps_the_promises() {
    let trial = Trial {
        name: "occurrences",
        server: &server().into(),
        account: known,
        faults: 2,
        ask: query,
        judge,
    };
    let explored = trial.run();
    println!("a scan: {explored:?}");
    assert!(explored.open >= 2, "nothing is asked side by side");
}

#[test]
fn an_unknown_account_is_scanned_with_six_requests() {
    let mut world = Simulated::new(Choices::default(), server(), 0, 6);
    let (outcome, _) = sequential(query().start(ENV, &unknown()), &mut world, None);
    judge(&outcome.expect("an honest server"), &world);
}

fn uids<'a>(resources: impl Iterator<Item = &'a Arc<Resource>>) -> Vec<String> {
    resources
        .map(|resource| resource.entity.uid().unwrap_or_default().to_owned())
        .collect()
}

fn home() -> Scope {
    Scope::Selected(CalendarChoice::Name("Home".into()))
}

#[test]
fn entities_keep_the_promises() {
    let ask = || QueryEntities {
        scope: home(),
        kinds: vec![Kind::Event, Kind::Todo],
        window: None,
        filter: TextFilter::default(),
    };
    let truth = ["holiday", "past", "rent"].map(str::to_owned);
    let trial = Trial {
        name: "entities",
        server: &server().into(),
        account: known,
        faults: 2,
        ask,
        judge: |found: &Entities, world: &Simulated| {
            whole(&uids(found.rows.iter()), &truth, &found.diagnostics, world);
        },
    };
    println!("entities: {:?}", trial.run());
}

#[test]
fn todos_keep_the_promises() {
    let ask = || QueryTodos {
        scope: home(),
        states: [CompletionState::Open].into(),
        window: None,
        due: None,
        evaluation: Zone::utc(),
        filter: TextFilter::new(Some("rent"), &[]),
    };
    let trial = Trial {
        name: "to-dos",
        server: &server().into(),
        account: known,
        faults: 2,
        ask,
        judge: |found: &Todos, world: &Simulated| {
            let rows = uids(found.rows.iter().map(|row| &row.resource));
            whole(&rows, &["rent".to_owned()], &found.diagnostics, world);
        },
    };
    println!("to-dos: {:?}", trial.run());
}

#[test]
fn a_resource_keeps_the_promises() {
    let ask = || GetResource {
        href: url("/work/dentist.ics").to_string(),
    };
    let trial = Trial {
        name: "resource",
        server: &server().into(),
        account: known,
        faults: 2,
        ask,
        judge: |found: &Arc<Resource>, world: &Simulated| {
            let fields = (found.entity.uid(), found.etag.is_some());
            assert_eq!(fields, (Some("dentist"), true), "{:?}", world.faults);
        },
    };
    println!("resource: {:?}", trial.run());
}

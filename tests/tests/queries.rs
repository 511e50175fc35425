//! Which stored Events and To-dos the queries select, in which order, and what they say about the others. The values
//! are worked out by hand from RFC 5545 and RFC 4791, 9.9.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use kalends_core::account::credential::Credential;
use kalends_core::account::{Account, Settings};
use kalends_core::ical::completion::CompletionState;
use kalends_core::ical::entity::Kind;
use kalends_core::ical::zone::Zone;
use kalends_core::ops::query_entities::{Entities, QueryEntities};
use kalends_core::ops::query_todos::{CompletionTarget, QueryTodos, ResultKind, TodoRow, Todos};
use kalends_core::ops::scope::{CalendarChoice, Scope};
use kalends_core::query::text_filter::TextFilter;
use kalends_core::query::window::Bounds;
use kalends_local::Local;

fn resource(uid: &str, component: &str, lines: &str) -> String {
    let lines = lines.replace(" | ", "\r\n");
    format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//t//EN\r\nBEGIN:{component}\r\nUID:{uid}\r\n\
         DTSTAMP:20260101T000000Z\r\n{lines}\r\nEND:{component}\r\nEND:VCALENDAR\r\n"
    )
}

fn server(component: &str, resources: &[(&str, &str)]) -> (Local, Arc<Account>) {
    let mut local = Local::memory().with_calendar("b", "B").with_calendar("a", "A");
    for (path, lines) in resources {
        let uid = path.trim_end_matches(".ics").replace('/', "-");
        local = local.put(path, resource(&uid, component, lines));
    }
    let account = Account::new(Settings::new(local.url(), Credential::None)).expect("no credential");
    (local, account)
}

fn at(text: &str) -> Timestamp {
    text.parse().expect("an instant")
}

fn names(diagnostics: &[kalends_core::outcome::Diagnostic]) -> Vec<&str> {
    diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

const EVENTS: [(&str, &str); 8] = [
    (
        "b/plain.ics",
        "DTSTART:20261203T100000Z | DTEND:20261203T110000Z | SUMMARY:Dentist",
    ),
    (
        "b/series.ics",
        "DTSTART:20261102T090000Z | RRULE:FREQ=WEEKLY;COUNT=3 | SUMMARY:Standup | END:VEVENT | BEGIN:VEVENT | \
         UID:b-series | DTSTAMP:20260101T000000Z | RECURRENCE-ID:20261109T090000Z | DTSTART:20261204T090000Z | \
         SUMMARY:Zebra | CATEGORIES:Work",
    ),
    (
        "b/over.ics",
        "DTSTART:20261102T090000Z | RRULE:FREQ=WEEKLY;COUNT=2 | SUMMARY:Over",
    ),
    ("a/day.ics", "DTSTART;VALUE=DATE:20261208 | SUMMARY:Holiday"),
    (
        "a/foreign.ics",
        "DTSTART;TZID=Mars/Olympus:20261203T100000 | SUMMARY:Rover",
    ),
    ("a/empty.ics", "SUMMARY:No start"),
    ("a/moment.ics", "DTSTART:20261201T000000Z | SUMMARY:Bell"),
    (
        "a/past.ics",
        "DTSTART:20261130T230000Z | DTEND:20261201T000000Z | SUMMARY:Past",
    ),
];

fn entities(window: Option<(&str, &str, &str)>, filter: TextFilter, kinds: &[Kind]) -> Entities {
    let (local, account) = server("VEVENT", &EVENTS);
    let ask = QueryEntities {
        scope: Scope::All,
        kinds: kinds.to_vec(),
        window: window.map(|(from, to, zone)| Bounds {
            from: at(from),
            to: at(to),
            evaluation: Zone::iana(zone).expect("a zone"),
        }),
        filter,
    };
    local.run(ask, &account).expect("an answer")
}

fn files(found: &Entities) -> Vec<String> {
    let segment = |row: &Arc<kalends_core::resource::Resource>| row.href.last_segment().expect("a name");
    found.rows.iter().map(segment).collect()
}

#[test]
fn entities_come_by_calendar_and_name_and_by_what_the_window_touches() {
    let none = TextFilter::default;
    let all = entities(None, none(), &[Kind::Event]);
    assert_eq!(
        files(&all),
        [
            "day.ics",
            "empty.ics",
            "foreign.ics",
            "moment.ics",
            "past.ics",
            "over.ics",
            "plain.ics",
            "series.ics"
        ]
    );
    assert_eq!((names(&all.diagnostics), all.unresolved.len()), (vec![], 0));

    // The series touches the window by its moved occurrence only. The holiday is on the 8th, which begins in Auckland
    // (UTC+13) on the 7th at 11:00 UTC.
    let week = |zone| Some(("2026-12-01T00:00:00Z", "2026-12-08T00:00:00Z", zone));
    let utc = entities(week("UTC"), none(), &[Kind::Event]);
    assert_eq!(files(&utc), ["empty.ics", "moment.ics", "plain.ics", "series.ics"]);
    assert_eq!(names(&utc.diagnostics), ["opaque_filter_unresolved"]);
    assert_eq!(
        utc.unresolved
            .iter()
            .filter_map(|href| href.last_segment())
            .collect::<Vec<_>>(),
        ["foreign.ics"]
    );
    let auckland = entities(week("Pacific/Auckland"), none(), &[Kind::Event]);
    assert_eq!(
        files(&auckland),
        ["day.ics", "empty.ics", "moment.ics", "plain.ics", "series.ics"]
    );
    let later = Some(("2026-12-01T00:00:00.1Z", "2026-12-08T00:00:00Z", "UTC"));
    assert_eq!(
        files(&entities(later, none(), &[Kind::Event])),
        ["empty.ics", "plain.ics", "series.ics"]
    );

    // A word and a category of one override; what is opaque never matches.
    let filter = TextFilter::new(Some("zebra"), &["work".to_owned()]);
    assert_eq!(files(&entities(None, filter, &[Kind::Event])), ["series.ics"]);
    // The word and the category have to be in one component.
    let filter = TextFilter::new(Some("standup"), &["work".to_owned()]);
    assert_eq!(files(&entities(None, filter, &[Kind::Event])), [""; 0]);
    assert_eq!(files(&entities(None, none(), &[Kind::Todo])), [""; 0]);
}

#[test]
fn a_kind_that_the_selected_calendar_does_not_take_is_told() {
    let metadata = kalends_local::Metadata {
        components: Some(vec!["VEVENT".into()]),
        ..kalends_local::Metadata::default()
    };
    let local = Local::memory().with_metadata("events", &metadata);
    let account = Account::new(Settings::new(local.url(), Credential::None)).expect("no credential");
    let href = local.url().resolve("events/").expect("a place").as_str().to_owned();
    let ask = |scope| QueryEntities {
        scope,
        kinds: vec![Kind::Event, Kind::Todo],
        window: None,
        filter: TextFilter::default(),
    };
    let selected = local
        .run(ask(Scope::Selected(CalendarChoice::Href(href))), &account)
        .expect("an answer");
    assert_eq!(names(&selected.diagnostics), ["entity_kind_not_advertised"]);
    let all = local.run(ask(Scope::All), &account).expect("an answer");
    assert_eq!(names(&all.diagnostics), [""; 0]);
}

const TODOS: [(&str, &str); 11] = [
    ("a/undated.ics", "SUMMARY:Some day"),
    ("a/due.ics", "DUE:20261203T120000Z | SUMMARY:Taxes"),
    ("a/day.ics", "DUE;VALUE=DATE:20261202 | SUMMARY:Rent | CATEGORIES:Home"),
    ("a/late.ics", "DUE:20261120T120000Z | SUMMARY:Late"),
    ("a/long.ics", "DTSTART:20261101T080000Z | DURATION:P33D | SUMMARY:Long"),
    (
        "a/done.ics",
        "DUE:20261203T100000Z | STATUS:COMPLETED | COMPLETED:20261201T100000Z | PERCENT-COMPLETE:100 | SUMMARY:Done",
    ),
    (
        "a/dropped.ics",
        "DUE:20261203T100000Z | STATUS:CANCELLED | SUMMARY:Dropped",
    ),
    (
        "a/odd.ics",
        "DUE:20261203T100000Z | STATUS:NEEDS-ACTION | PERCENT-COMPLETE:100 | SUMMARY:Odd",
    ),
    ("a/broken.ics", "DUE:20261203T100000Z | DURATION:PT1H | SUMMARY:Broken"),
    (
        "b/water.ics",
        "DTSTART:20261130T080000Z | DUE:20261130T090000Z | RRULE:FREQ=DAILY;COUNT=5 | SUMMARY:Water | END:VTODO | \
         BEGIN:VTODO | UID:b-water | DTSTAMP:20260101T000000Z | RECURRENCE-ID:20261202T080000Z | \
         DTSTART:20261202T080000Z | DUE:20261202T090000Z | STATUS:COMPLETED | SUMMARY:Water well | END:VTODO | \
         BEGIN:VTODO | UID:b-water | DTSTAMP:20260101T000000Z | RECURRENCE-ID:20261203T080000Z | \
         DTSTART:20261203T080000Z | DUE:20261203T090000Z | STATUS:CANCELLED | SUMMARY:Water",
    ),
    (
        "b/anchorless.ics",
        "DUE:20261205T080000Z | RRULE:FREQ=WEEKLY | SUMMARY:Bins",
    ),
];

struct Asked<'a> {
    states: &'a [CompletionState],
    window: Option<(&'a str, &'a str)>,
    due: Option<(&'a str, &'a str)>,
    text: Option<&'a str>,
}

const OPEN: Asked<'static> = Asked {
    states: &[CompletionState::Open],
    window: None,
    due: None,
    text: None,
};

fn todos(asked: &Asked<'_>) -> Todos {
    let (local, account) = server("VTODO", &TODOS);
    let both = |(from, to): (&str, &str)| (at(from), at(to));
    let ask = QueryTodos {
        scope: Scope::All,
        states: asked.states.iter().copied().collect::<BTreeSet<_>>(),
        window: asked.window.map(both),
        due: asked.due.map(both),
        evaluation: Zone::iana("Europe/Berlin").expect("a zone"),
        filter: TextFilter::new(asked.text, &[]),
    };
    local.run(ask, &account).expect("an answer")
}

fn told(row: &TodoRow) -> String {
    let name = row.resource.href.last_segment().expect("a name");
    let due = row.due.as_ref().map_or_else(
        || "-".to_owned(),
        |due| Timestamp::from_second(due.second).expect("in range").to_string(),
    );
    format!("{} {due}", name.trim_end_matches(".ics"))
}

fn rows(asked: &Asked<'_>) -> Vec<String> {
    todos(asked).rows.iter().map(told).collect()
}

#[test]
fn todos_come_by_due_time_with_undated_ones_last() {
    let found = todos(&OPEN);
    assert_eq!(
        found.rows.iter().map(told).collect::<Vec<_>>(),
        [
            "late 2026-11-20T12:00:00Z",
            "water 2026-11-30T09:00:00Z",
            // Midnight in Berlin.
            "day 2026-12-01T23:00:00Z",
            "due 2026-12-03T12:00:00Z",
            "long 2026-12-04T08:00:00Z",
            "anchorless 2026-12-05T08:00:00Z",
            "undated -",
        ]
    );
    // `odd` contradicts itself, `broken` cannot be read.
    assert_eq!(found.excluded_indeterminate, 2);
    let kinds: BTreeSet<_> = found.rows.iter().map(|row| row.kind() == ResultKind::Entity).collect();
    assert_eq!(kinds, BTreeSet::from([true]));
    let recurring = |row: &&TodoRow| row.target() == CompletionTarget::OccurrenceRequired;
    assert_eq!(
        found.rows.iter().filter(recurring).map(told).collect::<Vec<_>>(),
        ["water 2026-11-30T09:00:00Z", "anchorless 2026-12-05T08:00:00Z"]
    );
}

#[test]
fn states_are_those_of_the_to_do_or_of_its_occurrence() {
    let of = |state| {
        rows(&Asked {
            states: &[state],
            ..OPEN
        })
    };
    assert_eq!(of(CompletionState::Completed), ["done 2026-12-03T10:00:00Z"]);
    assert_eq!(of(CompletionState::Cancelled), ["dropped 2026-12-03T10:00:00Z"]);
    let states = [CompletionState::Indeterminate];
    let found = todos(&Asked {
        states: &states,
        ..OPEN
    });
    assert_eq!(found.excluded_indeterminate, 0);
    let told: Vec<_> = found
        .rows
        .iter()
        .map(|row| {
            (
                told(row),
                row.kind(),
                row.target(),
                row.remark.as_ref().map(|remark| remark.code),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (
                "odd 2026-12-03T10:00:00Z".to_owned(),
                ResultKind::Entity,
                CompletionTarget::Direct,
                Some("completion_evidence_conflict")
            ),
            (
                "broken -".to_owned(),
                ResultKind::Unresolved,
                CompletionTarget::Unavailable,
                Some("completion_resource_unreadable")
            ),
        ]
    );
    let week = Some(("2026-12-01T00:00:00Z", "2026-12-08T00:00:00Z"));
    let in_week = |state| {
        rows(&Asked {
            states: &[state],
            window: week,
            ..OPEN
        })
    };
    // Occurrences of the series on the 1st and 4th are open, the 2nd is done, the 3rd cancelled.
    assert_eq!(
        in_week(CompletionState::Open),
        [
            "water 2026-12-01T09:00:00Z",
            "day 2026-12-01T23:00:00Z",
            "due 2026-12-03T12:00:00Z",
            "long 2026-12-04T08:00:00Z",
            "water 2026-12-04T09:00:00Z",
            "anchorless 2026-12-05T08:00:00Z",
            "undated -",
        ]
    );
    assert_eq!(
        in_week(CompletionState::Completed),
        ["water 2026-12-02T09:00:00Z", "done 2026-12-03T10:00:00Z"]
    );
    assert_eq!(
        in_week(CompletionState::Cancelled),
        ["water 2026-12-03T09:00:00Z", "dropped 2026-12-03T10:00:00Z"]
    );
}

#[test]
fn due_windows_are_half_open_and_text_matches_as_the_row_is() {
    let due = |from, to| {
        rows(&Asked {
            due: Some((from, to)),
            ..OPEN
        })
    };
    assert_eq!(
        due("2026-12-03T12:00:00Z", "2026-12-04T08:00:00Z"),
        ["due 2026-12-03T12:00:00Z"]
    );
    assert_eq!(
        due("2026-12-03T12:00:01Z", "2026-12-04T08:00:01Z"),
        ["long 2026-12-04T08:00:00Z"]
    );
    let well = |window| {
        rows(&Asked {
            states: &[CompletionState::Open, CompletionState::Completed],
            window,
            text: Some("well"),
            ..OPEN
        })
    };
    assert_eq!(well(None), ["water 2026-11-30T09:00:00Z"]);
    assert_eq!(
        well(Some(("2026-12-01T00:00:00Z", "2026-12-08T00:00:00Z"))),
        ["water 2026-12-02T09:00:00Z"]
    );
}

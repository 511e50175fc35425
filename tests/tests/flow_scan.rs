//! The occurrence query against a server that may do anything.
#![allow(
    clippy::print_stdout,
    reason = "how much was explored is told to whoever reads the log"
)]

use std::sync::Arc;
use std::time::Duration;

use kalends_core::account::credential::Credential;
use kalends_core::account::secret::Secret;
use kalends_core::account::trust::RedirectHost;
use kalends_core::account::{Account, Known, Settings};
use kalends_core::env::Env;
use kalends_core::flow::IN_FLIGHT;
use kalends_core::href::Href;
use kalends_core::ical::zone::Zone;
use kalends_core::machine::{Machine, Moment};
use kalends_core::operation::Operation;
use kalends_core::ops::query_occurrences::{Occurrences, QueryOccurrences};
use kalends_core::ops::scope::Scope;
use kalends_core::outcome::Outcome;
use kalends_core::query::text_filter::TextFilter;
use kalends_core::time::Utc;
use kalends_local::Local;
use kalends_tests::explore::{Choices, explore};
use kalends_tests::host::{World, concurrent, sequential};
use kalends_tests::world::{ALLOWED, HOME, Simulated};

const ENV: Env = Env {
    now: Moment::ZERO,
    utc: Utc(1_796_054_400_000),
    seed: [7; 32],
};

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

fn account(known: bool) -> Arc<Account> {
    let credential = Credential::Basic {
        username: "ana".into(),
        password: Secret::new("hunter2"),
    };
    let url = Href::parse(&format!("https://{HOME}/")).expect("valid");
    let mut settings = Settings::new(url.clone(), credential);
    settings.redirect_hosts = vec![RedirectHost::parse(ALLOWED).expect("valid")];
    let account = Account::new(settings).expect("valid");
    if known {
        account.learn(Known {
            principal: None,
            homes: vec![url],
            scheduling: Vec::new(),
        });
    }
    account
}

fn query(account: &Arc<Account>) -> impl Machine<Output = Outcome<Occurrences>> + use<> {
    let time = |text: &str| text.parse().expect("valid");
    let ask = QueryOccurrences {
        scope: Scope::All,
        from: time("2026-11-30T00:00:00Z"),
        to: time("2026-12-07T00:00:00Z"),
        evaluation: Zone::iana("Europe/Lisbon").expect("known"),
        filter: TextFilter::default(),
    };
    ask.start(ENV, account)
}

fn world(choices: Choices, faults: usize) -> Simulated {
    Simulated::new(choices, server(), faults, 64)
}

fn check(outcome: &Outcome<Occurrences>, world: &Simulated) {
    let story = || format!("{:?}\n{:?}\n{outcome:?}", world.faults, world.log);
    match outcome {
        Ok(found) => {
            let summary = |row: &kalends_core::ops::query_occurrences::OccurrenceRow| {
                let start = jiff::Timestamp::from_second(row.instance.from)
                    .expect("in range")
                    .to_string();
                (
                    start,
                    row.resource
                        .entity
                        .occurrence_fields(&row.instance)
                        .summary
                        .unwrap_or_default(),
                )
            };
            let rows: Vec<_> = found.rows.iter().map(summary).collect();
            let truth: Vec<_> = TRUTH
                .iter()
                .map(|(start, summary)| ((*start).to_owned(), (*summary).to_owned()))
                .collect();
            let told = found
                .diagnostics
                .iter()
                .any(|it| it.code == "resource_disappeared_during_query");
            if !told && !world.lied {
                assert_eq!(rows, truth, "a partial answer is presented as complete: {}", story());
            }
            assert!(
                rows.iter().all(|row| truth.contains(row)),
                "something is made up: {}",
                story()
            );
        }
        Err(error) => {
            assert!(!world.faults.is_empty(), "an honest server is refused: {}", story());
            assert!(!error.message.contains("hunter2"));
        }
    }
    assert!(
        world.now() <= Moment(Duration::from_secs(31)),
        "over budget: {:?} {}",
        world.now(),
        story()
    );
}

#[test]
fn every_path_with_two_faults_keeps_the_promises() {
    let mut ended_well = 0;
    let paths = explore(|choices| {
        let mut world = world(choices, 2);
        let (outcome, _) = sequential(query(&account(true)), &mut world, None);
        check(&outcome, &world);
        ended_well += usize::from(outcome.is_ok());
        world.choices
    });
    println!("{paths} paths of a scan, {ended_well} of them succeed");
    assert!(ended_well > 0);
}

#[test]
fn any_order_of_answers_gives_the_same_rows() {
    let mut most = 0;
    let orders = explore(|choices| {
        let mut world = world(choices, 1);
        let (outcome, open) = concurrent(query(&account(true)), &mut world);
        check(&outcome, &world);
        most = most.max(open);
        world.choices
    });
    println!("{orders} orders");
    assert!((2..=IN_FLIGHT).contains(&most), "{most} exchanges were open at once");
}

#[test]
fn an_unknown_account_is_scanned_with_six_requests() {
    let mut world = world(Choices::default(), 0);
    let (outcome, _) = sequential(query(&account(false)), &mut world, None);
    check(&outcome, &world);
    assert!(world.log.len() <= 6, "{:?}", world.log);
}

#[test]
fn cancel_anywhere_ends_at_once() {
    let mut runs = 0;
    explore(|choices| {
        let mut whole = world(choices.clone(), 1);
        let (_, steps) = sequential(query(&account(true)), &mut whole, None);
        for cancel_at in 0..=steps {
            let mut cut = world(choices.clone(), 1);
            let (outcome, ended) = sequential(query(&account(true)), &mut cut, Some(cancel_at));
            assert!(outcome.is_err() || ended <= cancel_at, "a canceled query succeeds");
            assert!(ended <= cancel_at + 2 + IN_FLIGHT, "it goes on after cancel");
            runs += 1;
        }
        whole.choices
    });
    println!("{runs} cancelled runs");
}

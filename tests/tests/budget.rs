//! How long a read may take, on a simulated clock: a server that falls silent at any point costs 30 seconds, not more.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kalends_core::ical::entity::Kind;
use kalends_core::ical::zone::Zone;
use kalends_core::machine::{Machine, Moment, Mutation, Step};
use kalends_core::operation::{Observed, Operation};
use kalends_core::ops::get_resource::GetResource;
use kalends_core::ops::inspect_calendar::InspectCalendar;
use kalends_core::ops::list_calendars::ListCalendars;
use kalends_core::ops::list_changes::{ListChanges, Since};
use kalends_core::ops::query_entities::QueryEntities;
use kalends_core::ops::query_occurrences::QueryOccurrences;
use kalends_core::ops::scope::Scope;
use kalends_core::outcome::{Category, Code, Dimension, Limits, Outcome};
use kalends_core::query::text_filter::TextFilter;
use kalends_local::Local;
use kalends_tests::account::{HOME, env, unknown};

const BUDGET: Duration = Duration::from_secs(30);
/// The host's clock when the operation begins: a budget counts from there.
const BEGUN: Moment = Moment(Duration::from_secs(1000));

const EVENT: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//t//EN\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTAMP:20260101T000000Z\r\n\
    DTSTART:20261201T100000Z\r\nDURATION:PT1H\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";

/// How a run ended.
struct Run<T> {
    outcome: Outcome<T>,
    took: Duration,
    phases: Vec<&'static str>,
    /// Whether the server fell silent before it was asked for the last time.
    silent: bool,
}

/// Every exchange is answered after this pause, and none from the silent one on.
fn drive<O, T>(operation: O, pause: Duration, silent_from: usize) -> Run<T>
where
    O: Operation<Outcome = Outcome<T>>,
{
    let local = Local::memory().with_calendar("work", "Work").put("work/a.ics", EVENT);
    let phases = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&phases);
    let operation = Observed::new(operation, move |phase| told.lock().expect("unharmed").push(phase));
    let mut machine = operation.start(env(BEGUN), &unknown());
    let (mut now, mut sent, mut coming) = (BEGUN, 0, Vec::new());
    loop {
        match machine.step(now) {
            Step::Send(exchange) => {
                if sent < silent_from {
                    coming.push((now + pause, exchange.id, local.answer(exchange.request)));
                }
                sent += 1;
            }
            Step::Abort(id) => coming.retain(|(_, open, _)| *open != id),
            Step::Wait(wake) => {
                let first = coming.iter().map(|(at, ..)| *at).min();
                now = [first, wake]
                    .into_iter()
                    .flatten()
                    .min()
                    .expect("something comes")
                    .max(now);
                while let Some(at) = coming.iter().position(|(at, ..)| *at <= now) {
                    let (_, id, response) = coming.remove(at);
                    machine.receive(id, Ok(response));
                }
            }
            Step::Done(outcome) => {
                assert_eq!(machine.mutation(), Mutation::NotAttempted);
                let phases = std::mem::take(&mut *phases.lock().expect("unharmed"));
                return Run {
                    outcome,
                    took: now.since(BEGUN),
                    phases,
                    silent: sent > silent_from,
                };
            }
        }
    }
}

/// The last `optional` exchanges may stay unanswered: then one thing is unknown.
fn check<O, T: Debug>(ask: impl Fn() -> O, phases: &[&str], optional: usize)
where
    O: Operation<Outcome = Outcome<T>>,
{
    let mut ends = Vec::new();
    loop {
        let run = drive(ask(), Duration::ZERO, ends.len());
        if !run.silent {
            assert!(run.outcome.is_ok(), "{:?}", run.outcome);
            assert_eq!((run.took, run.phases.as_slice()), (Duration::ZERO, phases));
            break;
        }
        assert_eq!(run.took, BUDGET, "silent from exchange {} on", ends.len());
        ends.push(run.outcome.map(drop));
    }
    assert!(ends.len() > optional, "the server is asked");
    let known = ends.len() - optional;
    assert!(ends.drain(known..).all(|end| end.is_ok()));
    for end in ends {
        exhausted(end);
    }
    // Quick enough for each exchange, too slow for all of them.
    let run = drive(ask(), Duration::from_millis(9_900), usize::MAX);
    if run.outcome.is_err() {
        assert_eq!(run.took, BUDGET);
        exhausted(run.outcome.map(drop));
    }
}

fn exhausted(outcome: Outcome<()>) {
    let error = outcome.expect_err("out of time");
    assert_eq!(
        (error.code, error.code.category(), error.code.retryable()),
        (Code::LimitExhausted, Category::LimitsAndAdmission, false)
    );
    let limits = Limits {
        dimension: Dimension::ElapsedTime,
        observed: 30_000,
        limit: 30_000,
    };
    assert_eq!(error.limits, Some(limits));
}

#[test]
fn a_read_ends_with_its_budget_wherever_the_server_falls_silent() {
    let calendar = || format!("https://{HOME}/work/");
    let time = |text: &str| text.parse().expect("valid");
    let fetches = ["discovery", "fetch"];
    check(|| ListCalendars, &["discovery"], 0);
    check(
        || GetResource {
            href: format!("https://{HOME}/work/a.ics"),
        },
        &fetches,
        0,
    );
    check(
        || InspectCalendar {
            calendar_href: calendar(),
        },
        &fetches,
        1,
    );
    let since = || Since::Beginning {
        calendar_href: calendar(),
    };
    check(|| ListChanges { since: since() }, &fetches, 0);
    let query = || QueryOccurrences {
        scope: Scope::All,
        from: time("2026-11-30T00:00:00Z"),
        to: time("2026-12-07T00:00:00Z"),
        evaluation: Zone::iana("Europe/Lisbon").expect("known"),
        filter: TextFilter::default(),
    };
    check(query, &["discovery", "fetch", "order"], 0);
    let entities = || QueryEntities {
        scope: Scope::All,
        kinds: vec![Kind::Event],
        window: None,
        filter: TextFilter::default(),
    };
    check(entities, &["discovery", "fetch", "order"], 0);
}

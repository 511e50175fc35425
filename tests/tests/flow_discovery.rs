//! Discovery against a server that may do anything.
#![allow(
    clippy::print_stdout,
    reason = "how much was explored is told to whoever reads the log"
)]

use std::sync::Arc;
use std::time::Duration;

use kalends_core::account::Account;
use kalends_core::flow::IN_FLIGHT;
use kalends_core::machine::{Machine, Moment, Mutation};
use kalends_core::operation::Operation;
use kalends_core::ops::list_calendars::{CalendarList, ListCalendars};
use kalends_core::outcome::{Code, Outcome};
use kalends_local::Local;
use kalends_tests::account::{ENV, PASSWORD, unknown};
use kalends_tests::explore::{Choices, explore};
use kalends_tests::host::{World, concurrent, sequential};
use kalends_tests::world::{FAULTS, Fault, Simulated};

fn world(choices: Choices, faults: usize) -> Simulated {
    Simulated::new(choices, server(), faults, 24)
}

fn server() -> Local {
    Local::memory()
        .with_calendar("work", "Work")
        .with_calendar("home", "Home")
}

fn list(account: &Arc<Account>) -> impl Machine<Output = Outcome<CalendarList>> + use<> {
    ListCalendars.start(ENV, account)
}

/// What may be said after a run: all that is there, or an error that fits what went wrong.
fn check(outcome: &Outcome<CalendarList>, world: &Simulated) {
    let story = || format!("{:?}\n{:?}\n{outcome:?}", world.faults, world.log);
    match outcome {
        Ok(list) => {
            let names: Vec<_> = list
                .calendars
                .iter()
                .map(|calendar| calendar.display_name.as_deref())
                .collect();
            assert_eq!(
                names,
                [Some("Home"), Some("Work")],
                "a partial answer is presented as complete: {}",
                story()
            );
        }
        Err(error) => {
            assert!(!world.faults.is_empty(), "an honest server is refused: {}", story());
            assert!(!error.message.contains(PASSWORD));
            if let [fault] = world.faults[..] {
                // Nothing at the configured URL means another thing than nothing at a home that was named.
                let no_service = fault == Fault::Status(404) && error.code == Code::UpstreamProtocolError;
                assert!(error.code == expected(fault) || no_service, "{}", story());
            }
        }
    }
    assert!(
        world.now() <= Moment(Duration::from_secs(31)),
        "over budget: {:?} {}",
        world.now(),
        story()
    );
}

fn expected(fault: Fault) -> Code {
    match fault {
        Fault::Untrusted | Fault::Refused | Fault::Dropped | Fault::CutBody | Fault::Slow => Code::UpstreamUnavailable,
        Fault::TooLarge | Fault::Status(507) => Code::LimitExhausted,
        Fault::Status(401) => Code::UpstreamUnauthorized,
        Fault::Status(403) => Code::UpstreamForbidden,
        Fault::Status(404) => Code::NotFound,
        Fault::Status(429) | Fault::LeaveMeAlone => Code::UpstreamRateLimited,
        Fault::Status(500 | 503) | Fault::OneMoment => Code::UpstreamUnavailable,
        Fault::Status(_)
        | Fault::Html
        | Fault::Warning
        | Fault::CutXml
        | Fault::Nothing
        | Fault::RedirectInside
        | Fault::RedirectOutside
        | Fault::RedirectDown
        | Fault::RedirectCircle
        | Fault::SeeOther => Code::UpstreamProtocolError,
    }
}

#[test]
fn every_path_with_three_faults_keeps_the_promises() {
    let mut ended_well = 0;
    let paths = explore(|choices| {
        let mut world = world(choices, 3);
        let (outcome, _) = sequential(list(&unknown()), &mut world, None);
        check(&outcome, &world);
        ended_well += usize::from(outcome.is_ok());
        world.choices
    });
    println!("{paths} paths of discovery, {ended_well} of them succeed");
    assert!(paths > 2 * FAULTS.len() && ended_well > 0);
}

#[test]
fn a_known_account_needs_one_request_and_an_unknown_one_three() {
    let account = unknown();
    let mut first = world(Choices::default(), 0);
    sequential(list(&account), &mut first, None)
        .0
        .expect("an honest server");
    assert!(first.log.len() <= 3, "{:?}", first.log);
    let mut second = world(Choices::default(), 0);
    sequential(list(&account), &mut second, None)
        .0
        .expect("an honest server");
    assert_eq!(second.log.len(), 1, "{:?}", second.log);
}

#[test]
fn every_path_of_a_known_account_keeps_the_promises() {
    let paths = explore(|choices| {
        let account = unknown();
        sequential(list(&account), &mut world(Choices::default(), 0), None)
            .0
            .expect("an honest server");
        let mut world = world(choices, 2);
        let (outcome, _) = sequential(list(&account), &mut world, None);
        check(&outcome, &world);
        world.choices
    });
    println!("{paths} paths of a listing");
}

#[test]
fn cancel_anywhere_ends_at_once() {
    let mut runs = 0;
    explore(|choices| {
        let mut whole = world(choices.clone(), 1);
        let (_, steps) = sequential(list(&unknown()), &mut whole, None);
        for cancel_at in 0..=steps {
            let mut cut = world(choices.clone(), 1);
            let machine = list(&unknown());
            assert_eq!(machine.mutation(), Mutation::NotAttempted);
            let (outcome, ended) = sequential(machine, &mut cut, Some(cancel_at));
            assert!(outcome.is_err() || ended <= cancel_at, "a canceled listing succeeds");
            assert!(ended <= cancel_at + 2, "it goes on after cancel");
            runs += 1;
        }
        whole.choices
    });
    println!("{runs} cancelled runs");
}

#[test]
fn the_same_inputs_give_the_same_requests_and_outcome() {
    explore(|choices| {
        let run = |choices: Choices| {
            let mut world = world(choices, 1);
            let (outcome, steps) = sequential(list(&unknown()), &mut world, None);
            ((outcome, steps, world.log.clone(), world.now()), world.choices)
        };
        let (first, second) = (run(choices.clone()), run(choices));
        assert_eq!(first.0, second.0);
        first.1
    });
}

#[test]
fn any_order_of_answers_gives_the_same_listing() {
    let mut most = 0;
    explore(|choices| {
        let mut world = world(choices, 1);
        let (outcome, open) = concurrent(list(&unknown()), &mut world);
        check(&outcome, &world);
        most = most.max(open);
        world.choices
    });
    assert!(most <= IN_FLIGHT);
}

#[test]
fn a_server_that_never_works_is_given_up() {
    for fault in FAULTS.into_iter().filter(|fault| *fault != Fault::RedirectInside) {
        let account = unknown();
        let mut world = Simulated::always(fault, server(), 24);
        let (outcome, _) = sequential(list(&account), &mut world, None);
        let error = outcome.expect_err("nothing works");
        assert!(
            world.now() <= Moment(Duration::from_secs(31)),
            "{fault:?}: {:?}",
            world.now()
        );
        if fault == Fault::LeaveMeAlone {
            let (again, _) = sequential(list(&account), &mut world, None);
            assert_eq!(again.expect_err("it was asked to wait").code, error.code);
            assert_eq!(world.log.len(), 1, "it was asked again");
        }
    }
}

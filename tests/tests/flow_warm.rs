//! Queries of an account that has read before: what is kept is used only where the server has just confirmed it.
#![allow(
    clippy::print_stdout,
    reason = "how much was explored is told to whoever reads the log"
)]

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use kalends_core::account::Account;
use kalends_core::account::quirk::Quirk;
use kalends_core::ical::completion::CompletionState;
use kalends_core::ical::entity::Kind;
use kalends_core::ical::zone::Zone;
use kalends_core::machine::{Exchange, Moment, Reply};
use kalends_core::operation::Operation;
use kalends_core::ops::query_entities::{Entities, QueryEntities};
use kalends_core::ops::query_occurrences::{Occurrences, QueryOccurrences};
use kalends_core::ops::query_todos::{QueryTodos, Todos};
use kalends_core::ops::scope::Scope;
use kalends_core::outcome::{Diagnostic, Outcome};
use kalends_core::query::text_filter::TextFilter;
use kalends_core::resource::Resource;
use kalends_local::Local;
use kalends_tests::account::{env, known, unknown};
use kalends_tests::explore::{Choices, explore};
use kalends_tests::host::{World, sequential};
use kalends_tests::promises::{MAX_REQUESTS, check};
use kalends_tests::server::{Oddity, Server};
use kalends_tests::world::{FAULTS, Fault, Simulated};

fn resource(uid: &str, component: &str, lines: &str) -> String {
    format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//t//EN\r\nBEGIN:{component}\r\nUID:{uid}\r\nDTSTAMP:20260101T000000Z\r\n\
         DTSTART:20261201T100000Z\r\nSUMMARY:{lines}\r\nEND:{component}\r\nEND:VCALENDAR\r\n"
    )
}

fn calendar() -> Local {
    Local::memory()
        .with_calendar("work", "Work")
        .put("work/a.ics", resource("a", "VEVENT", "Alpha"))
        .put("work/b.ics", resource("b", "VEVENT", "Beta"))
        .put("work/c.ics", resource("c", "VTODO", "Gamma"))
}

/// What may happen to the server between two operations, or in the middle of one.
const CHANGES: [fn(&Server); 5] = [
    |_| {},
    |server| server.put("work/a.ics", resource("a", "VEVENT", "Alpha, changed")),
    |server| {
        server.delete("work/a.ics");
        server.put("work/a.ics", resource("other", "VEVENT", "Another one"));
    },
    |server| server.delete("work/b.ics"),
    |server| server.put("work/d.ics", resource("d", "VEVENT", "Delta")),
];

/// What an answer shows, and what it says beside it.
trait Answer: Debug {
    fn rows(&self) -> Vec<String>;
    fn diagnostics(&self) -> &[Diagnostic];

    fn tells(&self) -> bool {
        let codes = self.diagnostics().iter().map(|it| it.code);
        codes
            .into_iter()
            .any(|code| code == "resource_disappeared_during_query")
    }
}

fn shown(resource: &Arc<Resource>) -> String {
    let summary = resource
        .entity
        .searchable(resource.entity.components().next().flatten())
        .summary;
    format!("{} {:?} {summary:?}", resource.href.path(), resource.entity.uid())
}

impl Answer for Occurrences {
    fn rows(&self) -> Vec<String> {
        self.rows.iter().map(|row| shown(&row.resource)).collect()
    }

    fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

impl Answer for Entities {
    fn rows(&self) -> Vec<String> {
        self.rows.iter().map(shown).collect()
    }

    fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

impl Answer for Todos {
    fn rows(&self) -> Vec<String> {
        self.rows.iter().map(|row| shown(&row.resource)).collect()
    }

    fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

fn occurrences() -> QueryOccurrences {
    let time = |text: &str| text.parse().expect("a time");
    QueryOccurrences {
        scope: Scope::All,
        from: time("2026-11-30T00:00:00Z"),
        to: time("2026-12-07T00:00:00Z"),
        evaluation: Zone::utc(),
        filter: TextFilter::default(),
    }
}

fn entities() -> QueryEntities {
    QueryEntities {
        scope: Scope::All,
        kinds: vec![Kind::Event, Kind::Todo],
        window: None,
        filter: TextFilter::default(),
    }
}

fn todos() -> QueryTodos {
    QueryTodos {
        scope: Scope::All,
        states: [CompletionState::Open].into(),
        window: None,
        due: None,
        evaluation: Zone::utc(),
        filter: TextFilter::default(),
    }
}

/// What a fresh account is told by this server when nothing goes wrong.
fn truth<O: Operation<Outcome = Outcome<T>>, T: Answer>(ask: &impl Fn() -> O, server: &Server) -> Vec<String> {
    let mut world = Simulated::new(Choices::default(), server.clone(), 0, MAX_REQUESTS);
    let (outcome, _) = sequential(ask().start(env(world.now()), &unknown()), &mut world, None);
    outcome.expect("an honest server").rows()
}

fn ask_again<O: Operation<Outcome = Outcome<T>>, T>(
    ask: &impl Fn() -> O,
    account: &Arc<Account>,
    world: &mut Simulated,
) -> Outcome<T> {
    let now = world.begin();
    sequential(ask().start(env(now), account), world, None).0
}

/// Three operations on one account, with changes in between and `faults` in any of them: each answer is what the server
/// holds now, or an error that the faults of this very operation explain.
fn three_times<O: Operation<Outcome = Outcome<T>>, T: Answer>(
    name: &str,
    ask: impl Fn() -> O,
    faults: usize,
    menu: &'static [Fault],
    changes: &[(usize, usize)],
) {
    let (mut answers, mut successes) = (0, 0);
    let mut truths: BTreeMap<(usize, usize), [Vec<String>; 3]> = BTreeMap::new();
    let paths = explore(|mut choices| {
        let (first, second) = changes[choices.pick(changes.len())];
        let truths = truths.entry((first, second)).or_insert_with(|| {
            let server = Server::from(calendar());
            let before = truth(&ask, &server);
            CHANGES[first](&server);
            let between = truth(&ask, &server);
            CHANGES[second](&server);
            [before, between, truth(&ask, &server)]
        });
        let server = Server::from(calendar());
        let account = known();
        let mut world = Simulated::new(choices, server.clone(), faults, MAX_REQUESTS).with_menu(menu);
        for (round, truth) in truths.iter().enumerate() {
            match round {
                0 => {}
                1 => CHANGES[first](&server),
                _ => CHANGES[second](&server),
            }
            let outcome = ask_again(&ask, &account, &mut world);
            check(name, &outcome, &world);
            answers += 1;
            if let Ok(found) = outcome {
                successes += 1;
                let made_up = found.rows().iter().any(|row| !truth.contains(row));
                assert!(!made_up, "{name}: {:?} {:?}", world.choices.made(), found.rows());
                if !world.lied && !found.tells() {
                    let story = (round, world.choices.made(), &world.faults, &world.log);
                    assert_eq!(found.rows(), *truth, "{name}: not what the server holds: {story:?}");
                }
            }
        }
        world.choices
    });
    println!("{name}: {paths} paths of three operations, {successes} of {answers} answers");
    assert!(paths > menu.len() && successes > paths, "{name}");
}

/// Nothing, or a change, and then each of the changes.
const PAIRS: [(usize, usize); 8] = [(0, 1), (0, 2), (0, 3), (0, 4), (1, 1), (1, 2), (1, 3), (1, 4)];
/// The faults of which two are tried together.
const FEW: [Fault; 7] = [
    Fault::Dropped,
    Fault::TooLarge,
    Fault::Status(404),
    Fault::Status(500),
    Fault::CutXml,
    Fault::Nothing,
    Fault::RedirectInside,
];

#[test]
fn occurrences_are_those_that_the_server_holds_now() {
    three_times("occurrences", occurrences, 1, &FAULTS, &PAIRS);
}

#[test]
fn entities_are_those_that_the_server_holds_now() {
    three_times("entities", entities, 1, &FAULTS, &[(0, 2), (1, 1), (1, 3), (1, 4)]);
}

#[test]
fn todos_are_those_that_the_server_holds_now() {
    three_times("to-dos", todos, 1, &FAULTS, &[(0, 1), (1, 2)]);
}

#[test]
fn two_faults_spoil_no_later_answer() {
    three_times("two faults", occurrences, 2, &FEW, &[(0, 1), (1, 2)]);
}

/// The same rows in memory mean that nothing was made anew.
#[test]
fn a_result_is_made_anew_unless_everything_is_the_same() {
    let server = Server::from(calendar());
    let account = known();
    let mut world = Simulated::new(Choices::default(), server.clone(), 0, usize::MAX);
    let mut ask = |ask: QueryOccurrences| {
        let found = ask_again(&|| ask.clone(), &account, &mut world).expect("an honest server");
        let fresh = truth(&|| ask.clone(), &server);
        assert_eq!(found.rows(), fresh);
        found.rows
    };
    let first = ask(occurrences());
    assert!(Arc::ptr_eq(&first, &ask(occurrences())));
    let berlin = Zone::iana("Europe/Berlin").expect("a zone");
    for other in [
        QueryOccurrences {
            evaluation: berlin,
            ..occurrences()
        },
        QueryOccurrences {
            filter: TextFilter::new(Some("alpha"), &[]),
            ..occurrences()
        },
        QueryOccurrences {
            filter: TextFilter::new(None, &["alpha".to_owned()]),
            ..occurrences()
        },
        QueryOccurrences {
            from: "2026-12-01T10:00:00Z".parse().expect("a time"),
            ..occurrences()
        },
        QueryOccurrences {
            to: "2026-12-01T10:00:00Z".parse().expect("a time"),
            ..occurrences()
        },
    ] {
        let before = ask(occurrences());
        assert!(!Arc::ptr_eq(&before, &ask(other.clone())), "{other:?}");
        let before = ask(other.clone());
        assert!(Arc::ptr_eq(&before, &ask(other)));
    }
    for change in &CHANGES[1..] {
        let before = ask(occurrences());
        change(&server);
        let after = ask(occurrences());
        assert!(!Arc::ptr_eq(&before, &after));
        // What came in several answers has an order of its own.
        ask(occurrences());
        assert!(Arc::ptr_eq(&ask(occurrences()), &ask(occurrences())));
    }
    for quirk in [Quirk::TimeRangeMisses, Quirk::EntityTagsRepeat] {
        let before = ask(occurrences());
        account.note(quirk);
        assert!(!Arc::ptr_eq(&before, &ask(occurrences())), "{quirk:?}");
    }
    assert!(!Arc::ptr_eq(&ask(occurrences()), &ask(occurrences())));
}

/// A server to which something happens before it answers the request of one number.
struct Meanwhile {
    world: Simulated,
    server: Server,
    at: usize,
    happens: fn(&Server),
}

impl World for Meanwhile {
    fn now(&self) -> Moment {
        self.world.now()
    }

    fn advance(&mut self, to: Moment) {
        self.world.advance(to);
    }

    fn sent(&mut self, exchange: &Exchange) {
        self.world.sent(exchange);
    }

    fn answer(&mut self, exchange: &Exchange) -> Reply {
        if self.world.log.len() == self.at {
            (self.happens)(&self.server);
        }
        self.world.answer(exchange)
    }
}

/// A change in the middle of an operation: the answer is that of before or after, and the next one that of after.
fn meanwhile<O: Operation<Outcome = Outcome<T>>, T: Answer>(
    name: &str,
    ask: impl Fn() -> O,
    oddities: &[Oddity],
) -> usize {
    let mut runs = 0;
    for (warm, happens) in [false, true]
        .into_iter()
        .flat_map(|warm| CHANGES.map(|change| (warm, change)))
    {
        for at in 1.. {
            let server = match oddities {
                [] => Server::from(calendar()),
                oddities => Server::odd(calendar(), oddities),
            };
            let before = truth(&ask, &server);
            let account = unknown();
            let mut world = Simulated::new(Choices::default(), server.clone(), 0, MAX_REQUESTS);
            if warm {
                ask_again(&ask, &account, &mut world).expect("an honest server");
            }
            let now = world.begin();
            let mut world = Meanwhile {
                world,
                server,
                at,
                happens,
            };
            let found = sequential(ask().start(env(now), &account), &mut world, None)
                .0
                .expect("an honest server");
            if world.world.log.len() < at {
                break;
            }
            let Meanwhile { mut world, server, .. } = world;
            let after = truth(&ask, &server);
            let rows = found.rows();
            let story = || format!("{name}, {oddities:?}, warm: {warm}, request {at}: {:?}", world.log);
            let known = rows.iter().all(|row| before.contains(row) || after.contains(row));
            assert!(known, "{rows:?} {}", story());
            assert!(rows == before || rows == after || found.tells(), "{rows:?} {}", story());
            let again = ask_again(&ask, &account, &mut world).expect("an honest server");
            assert_eq!(
                again.rows(),
                after,
                "the shelf is spoiled by {name}, {oddities:?}, warm: {warm}, request {at}"
            );
            runs += 1;
        }
    }
    runs
}

#[test]
fn a_change_in_the_middle_is_seen_or_not_and_spoils_nothing() {
    let mut runs = 0;
    for oddities in [
        &[][..],
        &[Oddity::FiltersIgnored],
        &[Oddity::MissingLeftOut],
        &[Oddity::MissingFailsReport],
        &[Oddity::SpelledOtherwise],
        &[Oddity::NoTags],
        &[Oddity::WeakTags],
        &[Oddity::WeakTagsInReports],
        &[Oddity::RepeatedTags],
    ] {
        runs += meanwhile("occurrences", occurrences, oddities);
        runs += meanwhile("entities", entities, oddities);
    }
    println!("{runs} changes in the middle of an operation");
}

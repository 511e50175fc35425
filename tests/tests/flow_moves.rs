//! Moves, and octets of the caller, each against a server that may do anything, late included, and against other people.
#![allow(
    clippy::print_stdout,
    reason = "how much was explored is told to whoever reads the log"
)]

use std::sync::Arc;

use bytes::Bytes;
use kalends_core::account::quirk::Profile;
use kalends_core::account::{Account, Known};
use kalends_core::change::{Change, Consent, Revision};
use kalends_core::ical::entity::Kind;
use kalends_core::machine::Mutation;
use kalends_core::operation::Operation;
use kalends_core::ops::exact_create::ExactCreate;
use kalends_core::ops::exact_move::ExactMove;
use kalends_core::ops::exact_replace::ExactReplace;
use kalends_core::ops::move_resource::MoveResource;
use kalends_core::ops::scope::{CalendarChoice, Destination};
use kalends_core::outcome::Code;
use kalends_core::resource::Resource;
use kalends_local::Local;
use kalends_tests::account::{ENV, HOME, known, settings, url};
use kalends_tests::explore::Choices;
use kalends_tests::host::sequential;
use kalends_tests::server::{Oddity, Server};
use kalends_tests::world::Simulated;
use kalends_tests::writing::{Explored, Trial, Writing};

const FROM: &str = "work/dentist.ics";
/// SHA-256 of `dentist` in base64url, by Python's hashlib and base64.
const TO: &str = "home/9i5hCDTydDnN34mdgjJDoAPmYmgHidPRqEYYwHnxzEI.ics";

fn event(uid: &str, summary: &str) -> Bytes {
    let text = format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//t//EN\r\nBEGIN:VEVENT\r\nUID:{uid}\r\nDTSTAMP:20260101T000000Z\r\n\
         DTSTART:20261203T100000Z\r\nDTEND:20261203T110000Z\r\nSUMMARY:{summary}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    );
    text.into()
}

fn sample() -> Local {
    Local::memory()
        .with_calendar("home", "Home")
        .with_calendar("work", "Work")
        .put(FROM, event("dentist", "Dentist"))
}

fn server() -> Server {
    sample().into()
}

fn empty() -> Server {
    Local::memory().with_calendar("work", "Work").into()
}

/// An account whose user vouches for the server.
fn vouched() -> Arc<Account> {
    with(Some(Profile::Radicale), "/")
}

fn with(profile: Option<Profile>, home: &str) -> Arc<Account> {
    let mut settings = settings("/");
    settings.profile = profile;
    let account = Account::new(settings).expect("a plain credential");
    account.learn(Known {
        principal: None,
        homes: vec![url(home)],
        scheduling: Vec::new(),
    });
    account
}

fn href(server: &Server, path: &str) -> String {
    format!("https://{HOME}{}{path}", server.home())
}

fn revision(server: &Server) -> Revision {
    Revision {
        href: href(server, FROM),
        uid: "dentist".into(),
        kind: Kind::Event,
        tag: server.tag_of(FROM).expect("it is there"),
    }
}

fn go_home(server: &Server) -> MoveResource {
    MoveResource {
        revision: revision(server),
        destination: Destination::Selected(CalendarChoice::Name("Home".into())),
    }
}

fn go_exactly(server: &Server, to: &str) -> ExactMove {
    ExactMove {
        revision: revision(server),
        destination_href: href(server, to),
        consent: Consent::NotNeeded,
    }
}

fn replace(server: &Server) -> ExactReplace {
    ExactReplace {
        revision: revision(server),
        body: event("dentist", "Dentist at nine"),
        consent: Consent::NotNeeded,
    }
}

fn wide(explored: &Explored, paths: usize) {
    println!("{explored:?}");
    assert!(explored.paths >= paths && explored.cancelled >= 100, "{explored:?}");
    let reached = [0, 1, 3, 4, 5].map(|end| explored.ends[end] > 0);
    assert_eq!(reached, [true; 5], "every end is reached: {explored:?}");
}

fn holds(octets: Bytes) -> impl Fn(&Arc<Resource>, &Writing) {
    move |resource, world| {
        assert_eq!(*resource.entity.document().bytes(), octets, "{world:?}");
        assert!(resource.etag.is_some(), "{world:?}");
    }
}

#[test]
fn a_move_keeps_the_promises() {
    for place in [FROM, TO] {
        let trial = Trial {
            name: "move",
            server,
            account: vouched,
            faults: 2,
            place: Some(place),
            rival: event("dentist", "Somebody else's"),
            is_deletion: false,
            ask: go_home,
            judge: holds(event("dentist", "Dentist")),
        };
        wide(&trial.run(), 1000);
    }
}

#[test]
fn an_exact_move_keeps_the_promises() {
    let trial = Trial {
        name: "exact move",
        server,
        account: vouched,
        faults: 2,
        place: Some("home/new.ics"),
        rival: event("dentist", "Somebody else's"),
        is_deletion: false,
        ask: |server: &Server| go_exactly(server, "home/new.ics"),
        judge: holds(event("dentist", "Dentist")),
    };
    wide(&trial.run(), 1000);
}

#[test]
fn an_exact_creation_keeps_the_promises() {
    let trial = Trial {
        name: "exact create",
        server: empty,
        account: known,
        faults: 2,
        place: None,
        rival: event("dentist", "Somebody else's"),
        is_deletion: false,
        ask: |server: &Server| ExactCreate {
            href: href(server, FROM),
            body: event("dentist", "Dentist"),
            consent: Consent::NotNeeded,
        },
        judge: holds(event("dentist", "Dentist")),
    };
    wide(&trial.run(), 1000);
}

#[test]
fn an_exact_replacement_keeps_the_promises() {
    let trial = Trial {
        name: "exact replace",
        server,
        account: known,
        faults: 2,
        place: Some(FROM),
        rival: event("dentist", "Somebody else's"),
        is_deletion: false,
        ask: replace,
        judge: holds(event("dentist", "Dentist at nine")),
    };
    wide(&trial.run(), 1000);
}

/// Runs a change on a server that does nothing wrong but its oddities. The code of its error, the state, and what was
/// asked.
fn told<O, T>(server: &Server, account: &Arc<Account>, ask: O) -> (Option<Code>, Mutation, Vec<String>)
where
    O: Operation<Outcome = Result<Change<T>, Box<kalends_core::change::Failed>>>,
{
    let mut world = Writing::new(Choices::default(), server.clone(), 0, None, Bytes::new());
    let machine = world.watch(ask.start(ENV, account));
    let ((outcome, _), _) = sequential(machine, &mut world, None);
    let asked = world.simulated.log;
    match outcome {
        Ok(Change::Committed(_)) => (None, Mutation::Committed, asked),
        Ok(Change::Unchanged | Change::Review(_)) => (None, Mutation::NotAttempted, asked),
        Err(failed) => (Some(failed.error.code), failed.state, asked),
    }
}

fn count(asked: &[String], method: &str) -> usize {
    asked.iter().filter(|line| line.starts_with(method)).count()
}

#[test]
fn a_move_takes_as_many_requests_in_a_calendar_of_any_size() {
    for members in [0, 1, 2000] {
        let mut local = sample();
        for at in 0..members {
            local = local.put(&format!("work/{at}.ics"), event(&at.to_string(), "x"));
            local = local.put(&format!("home/{at}.ics"), event(&format!("h{at}"), "x"));
        }
        let server = Server::from(local);
        let (code, state, asked) = told(&server, &vouched(), go_home(&server));
        assert_eq!((code, state), (None, Mutation::Committed));
        let lines = [("PROPFIND", 1), ("GET", 4), ("MOVE", 1)];
        for (method, expected) in lines {
            assert_eq!(count(&asked, method), expected, "{asked:?}");
        }
        assert_eq!(asked.len(), 6);
        assert!(server.stored(FROM).is_none() && server.stored(TO).is_some());
    }
    // Nothing is known of the account.
    let mut cold = settings("/");
    cold.profile = Some(Profile::Nextcloud);
    let cold = Account::new(cold).expect("a plain credential");
    let server = Server::odd(sample(), &[Oddity::MoveIs200]);
    let (code, _, asked) = told(&server, &cold, go_home(&server));
    assert_eq!(code, None);
    assert!(asked.len() <= 8, "{asked:?}");
}

#[test]
fn nothing_is_moved_where_nobody_vouches_for_the_server() {
    let server = server();
    for asked in [
        told(&server, &known(), go_home(&server)),
        told(&server, &known(), go_exactly(&server, "home/new.ics")),
    ] {
        assert_eq!(
            asked,
            (Some(Code::UnsupportedCapability), Mutation::NotAttempted, Vec::new())
        );
    }
}

#[test]
fn what_odd_servers_make_of_a_move_is_told_as_it_is() {
    use Mutation::{Committed, NotAttempted, NotCommitted, Unknown};
    let taken = |local: Local| local.put("home/other.ics", event("dentist", "Another"));
    type Make = fn(Local) -> Local;
    let rows: &[(Oddity, Make, Option<Code>, Mutation)] = &[
        (Oddity::MoveIs200, |it| it, None, Committed),
        (Oddity::MatchIgnoredOnMove, |it| it, None, Committed),
        (Oddity::DestinationNeedsHost, |it| it, None, Committed),
        (Oddity::NoMove, |it| it, Some(Code::UnsupportedCapability), NotCommitted),
        // The UID names the place, which nobody is told.
        (Oddity::MoveNamesByUid, |it| it, Some(Code::Indeterminate), Unknown),
        (Oddity::UidTaken(400, ""), taken, Some(Code::Conflict), NotCommitted),
        (
            Oddity::UidTaken(409, "no-uid-conflict"),
            taken,
            Some(Code::Conflict),
            NotCommitted,
        ),
        (
            Oddity::UidTaken(412, "no-uid-conflict"),
            taken,
            Some(Code::Conflict),
            NotCommitted,
        ),
        (
            Oddity::UidTaken(403, "unique-scheduling-object-resource"),
            taken,
            Some(Code::Conflict),
            NotCommitted,
        ),
        (
            Oddity::OverwriteIgnored,
            |it| it.put(TO, event("other", "In the way")),
            Some(Code::DestinationConflict),
            NotAttempted,
        ),
    ];
    for (oddity, make, code, state) in rows {
        let server = Server::odd(make(sample()), &[*oddity]);
        let before = server.stored(FROM);
        let (found, truth, asked) = told(
            &server,
            &with(Some(Profile::Nextcloud), server.home()),
            go_home(&server),
        );
        assert_eq!((&found, &truth), (code, state), "{oddity:?} {asked:?}");
        assert_eq!(count(&asked, "PUT") + count(&asked, "DELETE"), 0);
        assert!(
            matches!(truth, Committed | Unknown) || server.stored(FROM) == before,
            "{oddity:?}"
        );
    }
}

/// Nextcloud keeps the UID of what was deleted or moved away for the trash bin.
#[test]
fn a_uid_in_the_trash_of_the_destination_is_a_conflict() {
    let server = Server::odd(sample(), &[Oddity::TrashBin]);
    let account = with(Some(Profile::Nextcloud), server.home());
    assert_eq!(told(&server, &account, go_home(&server)).0, None);
    let back = MoveResource {
        revision: Revision {
            href: href(&server, TO),
            tag: server.tag_of(TO).expect("it is there"),
            uid: "dentist".into(),
            kind: Kind::Event,
        },
        destination: Destination::Selected(CalendarChoice::Name("Work".into())),
    };
    let (code, state, asked) = told(&server, &account, back);
    assert_eq!((code, state), (Some(Code::Conflict), Mutation::NotCommitted));
    assert_eq!((count(&asked, "MOVE"), count(&asked, "PUT")), (1, 0));
}

#[test]
fn octets_that_a_server_rewrites_are_a_fidelity_failure() {
    for oddity in [Oddity::Reordered, Oddity::ClassAdded] {
        let server = Server::odd(sample(), &[oddity]);
        let account = with(None, server.home());
        let (code, state, _) = told(&server, &account, replace(&server));
        assert_eq!(
            (code, state),
            (Some(Code::FidelityFailure), Mutation::Committed),
            "{oddity:?}"
        );
    }
    let server = server();
    let same = ExactReplace {
        body: event("dentist", "Dentist"),
        ..replace(&server)
    };
    assert_eq!(told(&server, &known(), same).1, Mutation::NotAttempted);
}

/// An exact change is agreed to as a whole: octets, state and place.
#[test]
fn exact_changes_are_bound_to_what_was_agreed() {
    let server = server();
    let review = |ask: ExactReplace| {
        let mut world = Simulated::new(Choices::default(), server.clone(), 0, 8);
        match sequential(ask.start(ENV, &known()), &mut world, None).0 {
            Ok(Change::Review(review)) => review,
            other => panic!("a review: {other:?}"),
        }
    };
    let ask = |consent| ExactReplace {
        consent,
        ..replace(&server)
    };
    let first = review(ask(Consent::Ask));
    let other = ExactReplace {
        body: event("dentist", "Dentist at ten"),
        ..ask(Consent::Given(first.digest))
    };
    let (code, state, _) = told(&server, &known(), other);
    assert_eq!(
        (code, state),
        (Some(Code::ConfirmationMismatch), Mutation::NotAttempted)
    );
    let (code, state, _) = told(&server, &known(), ask(Consent::Given(first.digest)));
    assert_eq!((code, state), (None, Mutation::Committed));
}

/// What cannot be read can be replaced as a whole, and a hostile destination leads nowhere.
#[test]
fn an_exact_change_reaches_what_is_opaque_and_nothing_outside() {
    let broken = event("dentist", "Dentist").slice(..150);
    let server = Server::from(sample().put(FROM, broken));
    let (code, state, _) = told(&server, &known(), replace(&server));
    assert_eq!((code, state), (None, Mutation::Committed));
    for to in [
        "home/",
        "home/../work/x.ics",
        "home/%2e%2e/x.ics",
        "elsewhere/x.ics",
        "x.ics",
        "home/a/b.ics",
    ] {
        let (code, state, asked) = told(&server, &vouched(), go_exactly(&server, to));
        assert!(
            matches!(code, Some(Code::InvalidInput | Code::OutsideScope)),
            "{to} {code:?}"
        );
        assert_eq!((state, count(&asked, "MOVE")), (Mutation::NotAttempted, 0), "{to}");
    }
}

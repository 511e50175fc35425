//! The changes of a Calendar, each against a server that may do anything, late included.
#![allow(
    clippy::print_stdout,
    reason = "how much was explored is told to whoever reads the log"
)]

use std::sync::Arc;

use bytes::Bytes;
use kalends_core::account::{Account, Known, Scheduling};
use kalends_core::calendar::CalendarDescriptor;
use kalends_core::change::{Change, Changed, Consent, SideEffects};
use kalends_core::ical::entity::Kind;
use kalends_core::machine::Mutation;
use kalends_core::operation::Operation;
use kalends_core::ops::create_calendar::CreateCalendar;
use kalends_core::ops::delete_calendar::DeleteCalendar;
use kalends_core::ops::inspect_calendar::Inspection;
use kalends_core::ops::patch_calendar::{CalendarPatch, Description, PatchCalendar, Set};
use kalends_core::outcome::Code;
use kalends_local::Local;
use kalends_tests::account::{ENV, HOME, known, settings, url};
use kalends_tests::explore::Choices;
use kalends_tests::host::sequential;
use kalends_tests::server::{Oddity, Server};
use kalends_tests::writing::{Explored, Trial, Writing};

fn event(uid: &str, lines: &str) -> Bytes {
    let text = format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//t//EN\r\nBEGIN:VEVENT\r\nUID:{uid}\r\nDTSTAMP:20260101T000000Z\r\n\
         DTSTART:20261203T100000Z\r\nDTEND:20261203T110000Z\r\n{lines}END:VEVENT\r\nEND:VCALENDAR\r\n"
    );
    text.into()
}

fn sample() -> Local {
    Local::memory()
        .with_calendar("work", "Work")
        .put("work/a.ics", event("a", ""))
}

fn server() -> Server {
    sample().into()
}

fn create(_: &Server) -> CreateCalendar {
    CreateCalendar {
        display_name: "Plans".into(),
        kinds: vec![Kind::Event],
        destination_href: None,
        color: Some("#11aaff".into()),
        order: Some(3),
        time_zone: Some("Europe/Berlin".into()),
    }
}

fn patch(server: &Server) -> PatchCalendar {
    PatchCalendar {
        calendar_href: format!("https://{HOME}{}work/", server.home()),
        patch: CalendarPatch {
            display_name: Some(Set::To("Office".into())),
            description: Some(Set::To(Description {
                text: "Im Büro".into(),
                language: Some("de".into()),
            })),
            color: Some(Set::Remove),
            order: Some(Set::To(7)),
            time_zone: Some(Set::To("Europe/Berlin".into())),
        },
    }
}

fn delete(server: &Server) -> DeleteCalendar {
    DeleteCalendar {
        href: format!("https://{HOME}{}work/", server.home()),
        consent: Consent::NotNeeded,
    }
}

fn wide(explored: &Explored) {
    println!("{explored:?}");
    assert!(explored.paths >= 1000 && explored.cancelled >= 100, "{explored:?}");
    let reached = [0, 1, 3, 4, 5].map(|end| explored.ends[end] > 0);
    assert_eq!(reached, [true; 5], "every end is reached: {explored:?}");
}

#[test]
fn a_new_calendar_keeps_the_promises() {
    let trial = Trial {
        name: "create a Calendar",
        server,
        account: known,
        faults: 2,
        place: None,
        rival: Bytes::new(),
        is_deletion: false,
        ask: create,
        judge: |made: &CalendarDescriptor, _: &Writing| {
            assert_eq!(made.display_name.as_deref(), Some("Plans"));
            assert_eq!((made.color.as_deref(), made.order), (Some("#11AAFF"), Some(3)));
            // 16 octets of the seed.
            assert_eq!(made.calendar.href, format!("https://{HOME}/{}/", "07".repeat(16)));
        },
    };
    wide(&trial.run());
}

#[test]
fn other_properties_keep_the_promises() {
    let trial = Trial {
        name: "patch a Calendar",
        server,
        account: known,
        faults: 2,
        place: None,
        rival: Bytes::new(),
        is_deletion: false,
        ask: patch,
        judge: |seen: &Inspection, _: &Writing| {
            assert_eq!(seen.display_name.as_deref(), Some("Office"));
            assert_eq!(seen.description.as_deref(), Some("Im Büro"));
            assert_eq!((seen.color.as_deref(), seen.order), (None, Some(7)));
            assert_eq!(seen.time_zone_ids, ["Europe/Berlin"]);
        },
    };
    wide(&trial.run());
}

#[test]
fn the_end_of_a_calendar_keeps_the_promises() {
    let trial = Trial {
        name: "delete a Calendar",
        server,
        account: known,
        faults: 2,
        place: None,
        rival: Bytes::new(),
        is_deletion: true,
        ask: delete,
        judge: |gone: &CalendarDescriptor, _: &Writing| assert_eq!(gone.display_name.as_deref(), Some("Work")),
    };
    wide(&trial.run());
}

fn at(home: &str, scheduling: Scheduling) -> Arc<Account> {
    let mut settings = settings("/");
    settings.scheduling = scheduling;
    let account = Account::new(settings).expect("a plain credential");
    account.learn(Known {
        principal: None,
        homes: vec![url(home)],
        scheduling: Vec::new(),
    });
    account
}

/// Runs a change on a server that does nothing wrong but its oddities. The code of its error, the state, the side
/// effects, and the violations.
type Told = (Option<Code>, Mutation, Option<SideEffects>, Vec<String>);

fn told<O, T>(server: &Server, account: &Arc<Account>, ask: O) -> Told
where
    O: Operation<Outcome = Changed<T>>,
{
    let mut world = Writing::new(Choices::default(), server.clone(), 0, None, Bytes::new());
    let machine = world.watch(ask.start(ENV, account));
    let ((outcome, _), _) = sequential(machine, &mut world, None);
    match outcome {
        Ok(Change::Committed(committed)) => (None, Mutation::Committed, committed.side_effects, Vec::new()),
        Ok(Change::Unchanged | Change::Review(_)) => (None, Mutation::NotAttempted, None, Vec::new()),
        Err(failed) => {
            let violations = failed.error.violations.iter();
            let violations = violations.map(|it| format!("{} {}", it.pointer, it.code)).collect();
            (Some(failed.error.code), failed.state, failed.side_effects, violations)
        }
    }
}

#[test]
fn what_odd_servers_make_of_a_calendar_is_told_as_it_is() {
    use Mutation::{Committed, NotCommitted};
    let rows: &[(Oddity, Option<Code>, Mutation, &[&str])] = &[
        (Oddity::MakeIs207, None, Committed, &[]),
        (
            Oddity::MakeRefused207,
            Some(Code::UpstreamForbidden),
            NotCommitted,
            &["/displayName property_not_applied", "/order property_rejected"],
        ),
        (Oddity::NoMake, Some(Code::UnsupportedCapability), NotCommitted, &[]),
        (Oddity::MakeDrops, Some(Code::FidelityFailure), Committed, &[]),
        (Oddity::TrashBin, None, Committed, &[]),
    ];
    for (oddity, code, state, violations) in rows {
        let server = Server::odd(sample(), &[*oddity]);
        let account = at(server.home(), Scheduling::StorageOnly);
        let (found, truth, _, named) = told(&server, &account, create(&server));
        assert_eq!((&found, &truth), (code, state), "{oddity:?}");
        assert_eq!(named, *violations, "{oddity:?}");
    }
}

#[test]
fn what_odd_servers_make_of_properties_is_told_as_it_is() {
    use Mutation::{Committed, NotCommitted, Unknown};
    let rows: &[(Oddity, Code, Mutation, usize)] = &[
        (Oddity::OrderRefused, Code::UpstreamForbidden, NotCommitted, 5),
        (Oddity::PatchNotAtomic, Code::Indeterminate, Unknown, 1),
        (Oddity::PatchRefused, Code::UpstreamForbidden, NotCommitted, 0),
        (Oddity::ZoneDropped, Code::CommittedButUnverified, Committed, 0),
    ];
    for (oddity, code, state, violations) in rows {
        let server = Server::odd(sample(), &[*oddity]);
        let account = at(server.home(), Scheduling::StorageOnly);
        let (found, truth, _, named) = told(&server, &account, patch(&server));
        assert_eq!(
            (found, truth, named.len()),
            (Some(*code), *state, *violations),
            "{oddity:?} {named:?}"
        );
    }
}

#[test]
fn a_calendar_is_deleted_where_nobody_is_sent_a_message() {
    use Scheduling::{ServerManaged, StorageOnly};
    let guests = "ORGANIZER:mailto:ana@example.com\r\nATTENDEE:mailto:ben@example.com\r\n";
    let with_guests = || sample().put("work/b.ics", event("b", guests));
    let many = || {
        (0..120).fold(sample(), |local, at| {
            local.put(&format!("work/{at}.ics"), event(&at.to_string(), ""))
        })
    };
    let blocked = Some(Code::UnsupportedCapability);
    let (none, possible) = (Some(SideEffects::None), Some(SideEffects::Possible));
    type Row<'a> = (Local, &'a [Oddity], Scheduling, Option<Code>, Option<SideEffects>);
    let rows: Vec<Row<'_>> = vec![
        (with_guests(), &[], StorageOnly, None, None),
        (with_guests(), &[], ServerManaged, None, none),
        (with_guests(), &[Oddity::AutoSchedule], ServerManaged, None, possible),
        (with_guests(), &[Oddity::AutoSchedule], StorageOnly, blocked, None),
        (with_guests(), &[Oddity::OptionsRefused], ServerManaged, blocked, None),
        (many(), &[Oddity::AutoSchedule], StorageOnly, None, None),
        (many(), &[Oddity::OptionsRefused], ServerManaged, None, none),
        (
            many(),
            &[Oddity::AutoSchedule, Oddity::WeakTags],
            StorageOnly,
            blocked,
            None,
        ),
        (
            many(),
            &[Oddity::AutoSchedule, Oddity::NoTags],
            StorageOnly,
            blocked,
            None,
        ),
        (many(), &[Oddity::TrashBin], StorageOnly, None, None),
    ];
    for (local, oddities, mode, code, side_effects) in rows {
        let server = Server::odd(local, oddities);
        let found = told(&server, &at(server.home(), mode), delete(&server));
        let state = match code {
            Some(_) => Mutation::NotAttempted,
            None => Mutation::Committed,
        };
        assert_eq!(
            (found.0, found.1, found.2),
            (code, state, side_effects),
            "{oddities:?} {mode:?}"
        );
    }
}

#[test]
fn a_taken_name_makes_nothing() {
    let server = server();
    let taken = CreateCalendar {
        display_name: " wORK ".into(),
        ..create(&server)
    };
    let (code, state, _, violations) = told(&server, &known(), taken);
    assert_eq!((code, state), (Some(Code::Conflict), Mutation::NotAttempted));
    assert_eq!(violations, ["/displayName display_name_taken"]);
}

#[test]
fn a_deletion_is_bound_to_the_calendar_that_was_seen() {
    let server = server();
    let ask = |consent| DeleteCalendar {
        consent,
        ..delete(&server)
    };
    let mut world = Writing::new(Choices::default(), server.clone(), 0, None, Bytes::new());
    let machine = world.watch(ask(Consent::Ask).start(ENV, &known()));
    let ((outcome, _), _) = sequential(machine, &mut world, None);
    let Ok(Change::Review(review)) = outcome else {
        panic!("a review: {outcome:?}");
    };
    server.put("work/b.ics", event("b", ""));
    let stale = told(&server, &known(), ask(Consent::Given(review.digest)));
    assert_eq!(
        (stale.0, stale.1),
        (Some(Code::ConfirmationMismatch), Mutation::NotAttempted)
    );
    server.delete("work/b.ics");
    let agreed = told(&server, &known(), ask(Consent::Given(review.digest)));
    assert_eq!((agreed.0, agreed.1), (None, Mutation::Committed));
}

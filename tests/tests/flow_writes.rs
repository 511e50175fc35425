//! The changes of one resource, each against a server that may do anything, late included, and against other people.
#![allow(
    clippy::print_stdout,
    reason = "how much was explored is told to whoever reads the log"
)]

use std::sync::Arc;

use bytes::Bytes;
use kalends_core::account::{Account, Known};
use kalends_core::change::{Consent, Revision};
use kalends_core::ical::edit::create::NewFields;
use kalends_core::ical::edit::patch::{Patch, Target};
use kalends_core::ical::edit::scalar::ScalarPatch;
use kalends_core::ical::entity::Kind;
use kalends_core::ical::value::Temporal;
use kalends_core::ops::create_resource::CreateResource;
use kalends_core::ops::delete_resource::{DeleteResource, Receipt};
use kalends_core::ops::edit_resource::{Edit, EditResource};
use kalends_core::ops::scope::{CalendarChoice, Destination};
use kalends_core::resource::Resource;
use kalends_local::Local;
use kalends_tests::account::{HOME, known, url};
use kalends_tests::server::{Oddity, Server};
use kalends_tests::writing::{Explored, Trial, Writing};

const PLACE: &str = "work/dentist.ics";

fn event(uid: &str, summary: &str) -> Bytes {
    let text = format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//t//EN\r\nBEGIN:VEVENT\r\nUID:{uid}\r\nDTSTAMP:20260101T000000Z\r\n\
         DTSTART:20261203T100000Z\r\nDTEND:20261203T110000Z\r\nSUMMARY:{summary}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    );
    text.into()
}

fn empty() -> Server {
    Local::memory().with_calendar("work", "Work").into()
}

fn server() -> Server {
    let local = Local::memory()
        .with_calendar("work", "Work")
        .put(PLACE, event("dentist", "Dentist"));
    local.into()
}

fn revision(server: &Server) -> Revision {
    Revision {
        href: format!("https://{HOME}{}{PLACE}", server.home()),
        uid: "dentist".into(),
        kind: Kind::Event,
        tag: server.tag_of(PLACE).expect("it is there"),
    }
}

fn rename(server: &Server) -> EditResource {
    EditResource {
        revision: revision(server),
        edit: Edit::Patch {
            target: Target::Master,
            patch: Patch {
                scalars: vec![ScalarPatch::Summary(Some("Dentist at nine".into()))],
                ..Patch::default()
            },
        },
        consent: Consent::NotNeeded,
    }
}

fn create(uid: Option<&str>) -> CreateResource {
    CreateResource {
        destination: Destination::Selected(CalendarChoice::Name("Work".into())),
        kind: Kind::Event,
        uid: uid.map(str::to_owned),
        fields: NewFields {
            summary: Some("Dentist".into()),
            start: Some(Temporal::parse(b"20261210T090000Z", None).expect("a time")),
            ..NewFields::default()
        },
        series: None,
    }
}

fn delete(server: &Server) -> DeleteResource {
    DeleteResource {
        revision: revision(server),
        consent: Consent::NotNeeded,
    }
}

/// What is shown is what this call has written.
fn says(summary: &str) -> impl Fn(&Arc<Resource>, &Writing) + '_ {
    move |resource, world| {
        let text = String::from_utf8_lossy(resource.entity.document().bytes()).into_owned();
        assert!(text.contains(&format!("SUMMARY:{summary}\r\n")), "{text} {world:?}");
        assert!(resource.etag.is_some(), "{world:?}");
        if !world.rivalry && world.is_settled() {
            let server = &world.simulated.server;
            let place = &resource.href.path()[server.home().len()..];
            let stored = server.stored(place).expect("it is there");
            assert_eq!(
                *resource.entity.document().bytes(),
                stored,
                "what is shown was not read: {world:?}"
            );
        }
    }
}

fn wide(explored: &Explored, paths: usize, cancelled: usize) {
    println!("{explored:?}");
    assert!(
        explored.paths >= paths && explored.cancelled >= cancelled,
        "{explored:?}"
    );
    let reached = [0, 1, 3, 4, 5].map(|end| explored.ends[end] > 0);
    assert_eq!(reached, [true; 5], "every end is reached: {explored:?}");
}

#[test]
fn creation_keeps_the_promises() {
    let trial = Trial {
        name: "create",
        server: empty,
        account: known,
        faults: 2,
        place: None,
        rival: event("dentist", "Somebody else's"),
        is_deletion: false,
        ask: |_: &Server| create(Some("dentist")),
        judge: says("Dentist"),
    };
    wide(&trial.run(), 2000, 400);
}

#[test]
fn creation_with_a_fresh_name_keeps_the_promises() {
    let trial = Trial {
        name: "create anew",
        server: empty,
        account: known,
        faults: 2,
        place: None,
        rival: event("dentist", "Somebody else's"),
        is_deletion: false,
        ask: |_: &Server| create(None),
        judge: says("Dentist"),
    };
    wide(&trial.run(), 2000, 400);
}

/// A server that rewrites what it is given, and has Entity Tags of its own.
fn rewriting() -> Server {
    let local = Local::memory()
        .with_calendar("work", "Work")
        .put(PLACE, event("dentist", "Dentist"));
    Server::odd(local, &[Oddity::Reordered, Oddity::ScheduleStatusAdded])
}

/// A server whose answers to PUT say little.
fn silent() -> Server {
    let local = Local::memory()
        .with_calendar("work", "Work")
        .put(PLACE, event("dentist", "Dentist"));
    Server::odd(
        local,
        &[Oddity::NoTagInAnswer, Oddity::CategoriesSplit, Oddity::DeleteIs200],
    )
}

fn elsewhere() -> Arc<Account> {
    let account = known();
    account.learn(Known {
        principal: None,
        homes: vec![url("/calendars/ana/")],
        scheduling: Vec::new(),
    });
    account
}

#[test]
fn edits_of_rewriting_servers_keep_the_promises() {
    for server in [rewriting, silent] {
        let trial = Trial {
            name: "edit of a rewriting server",
            server,
            account: elsewhere,
            faults: 1,
            place: Some(PLACE),
            rival: event("dentist", "Somebody else's"),
            is_deletion: false,
            ask: rename,
            judge: says("Dentist at nine"),
        };
        wide(&trial.run(), 100, 400);
    }
}

#[test]
fn an_edit_keeps_the_promises() {
    let trial = Trial {
        name: "edit",
        server,
        account: known,
        faults: 2,
        place: Some(PLACE),
        rival: event("dentist", "Somebody else's"),
        is_deletion: false,
        ask: rename,
        judge: says("Dentist at nine"),
    };
    wide(&trial.run(), 2000, 400);
}

#[test]
fn a_deletion_keeps_the_promises() {
    let trial = Trial {
        name: "delete",
        server,
        account: known,
        faults: 2,
        place: Some(PLACE),
        rival: event("dentist", "Somebody else's"),
        is_deletion: true,
        ask: delete,
        judge: |receipt: &Receipt, _: &Writing| assert_eq!(receipt.uid, "dentist"),
    };
    wide(&trial.run(), 2000, 400);
}

//! The life of an Event on an honest server, with the requests that each change takes.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::Method;
use kalends_core::account::Account;
use kalends_core::change::{Change, Committed, Consent, Revision};
use kalends_core::ical::edit::create::NewFields;
use kalends_core::ical::edit::patch::{Patch, Target};
use kalends_core::ical::edit::scalar::ScalarPatch;
use kalends_core::ical::entity::Kind;
use kalends_core::ical::value::Temporal;
use kalends_core::machine::{Machine, Moment, Mutation, Step};
use kalends_core::operation::Operation;
use kalends_core::ops::create_resource::CreateResource;
use kalends_core::ops::delete_resource::DeleteResource;
use kalends_core::ops::edit_resource::{Edit, EditResource};
use kalends_core::ops::scope::{CalendarChoice, Destination};
use kalends_core::outcome::Code;
use kalends_core::resource::Resource;
use kalends_local::Local;
use kalends_tests::account::{ENV, known};

/// Runs an operation; the requests that it made, by method.
fn run<O: Operation>(server: &Local, account: &Arc<Account>, operation: O) -> (O::Outcome, BTreeMap<Method, u32>) {
    let mut machine = operation.start(ENV, account);
    let mut methods = BTreeMap::new();
    loop {
        match machine.step(Moment::ZERO) {
            Step::Send(exchange) => {
                let method = exchange.request.method().clone();
                *methods.entry(method.as_str().to_owned()).or_insert(0) += 1;
                machine.receive(exchange.id, Ok(server.answer(exchange.request)));
            }
            Step::Abort(_) | Step::Wait(_) => panic!("every exchange is answered at once"),
            Step::Done(outcome) => {
                let methods = methods.into_iter();
                return (
                    outcome,
                    methods
                        .map(|(name, count)| (name.parse().expect("a method"), count))
                        .collect(),
                );
            }
        }
    }
}

fn committed<T>(change: Change<T>) -> Committed<T> {
    match change {
        Change::Committed(committed) => committed,
        Change::Unchanged | Change::Review(_) => panic!("nothing was written"),
    }
}

fn revision(resource: &Resource) -> Revision {
    let revision = resource.entity_revision().expect("a revision");
    Revision {
        href: revision.href.into(),
        uid: revision.entity_uid.into(),
        kind: revision.entity_kind,
        tag: revision.entity_tag.into(),
    }
}

#[test]
fn an_event_is_made_changed_and_deleted() {
    let server = Local::memory().with_calendar("work", "Work");
    let account = known();
    let methods = |list: &[(&str, u32)]| -> BTreeMap<Method, u32> {
        list.iter()
            .map(|(name, count)| (name.parse().expect("a method"), *count))
            .collect()
    };

    let fields = NewFields {
        summary: Some("Dentist".into()),
        start: Some(Temporal::parse(b"20261210T090000", Some("Europe/Berlin")).expect("a time")),
        ..NewFields::default()
    };
    let create = CreateResource {
        destination: Destination::Selected(CalendarChoice::Name("Work".into())),
        kind: Kind::Event,
        uid: Some("dentist".into()),
        fields,
        series: None,
    };
    let (outcome, requests) = run(&server, &account, create.clone());
    let made = committed(outcome.expect("made")).value;
    assert_eq!(made.entity.uid(), Some("dentist"));
    assert_eq!(requests, methods(&[("PROPFIND", 1), ("PUT", 1), ("GET", 1)]));

    let mut again = create;
    again.fields.summary = Some("Somebody else's".into());
    let failed = run(&server, &account, again).0.expect_err("it is there");
    assert_eq!(
        (failed.error.code, failed.state),
        (Code::DestinationConflict, Mutation::NotCommitted)
    );

    let rename = |revision: Revision, title: &str| EditResource {
        revision,
        edit: Edit::Patch {
            target: Target::Master,
            patch: Patch {
                scalars: vec![ScalarPatch::Summary(Some(title.into()))],
                ..Patch::default()
            },
        },
        consent: Consent::NotNeeded,
    };
    let (outcome, requests) = run(&server, &account, rename(revision(&made), "Dentist at nine"));
    let renamed = committed(outcome.expect("renamed")).value;
    assert_ne!(renamed.etag, made.etag);
    assert_eq!(requests, methods(&[("PROPFIND", 1), ("PUT", 1), ("GET", 2)]));

    let (outcome, requests) = run(&server, &account, rename(revision(&renamed), "Dentist at nine"));
    assert!(matches!(outcome, Ok(Change::Unchanged)));
    assert_eq!(requests, methods(&[("PROPFIND", 1), ("GET", 1)]));

    let failed = run(&server, &account, rename(revision(&made), "Other"))
        .0
        .expect_err("a stale state");
    assert_eq!(
        (failed.error.code, failed.state),
        (Code::Conflict, Mutation::NotAttempted)
    );
    assert_eq!(failed.current.expect("shown").etag, renamed.etag);

    let delete = |consent| DeleteResource {
        revision: revision(&renamed),
        consent,
    };
    let (outcome, requests) = run(&server, &account, delete(Consent::Ask));
    let Ok(Change::Review(review)) = outcome else {
        panic!("somebody has to agree");
    };
    assert_eq!(requests, methods(&[("PROPFIND", 1), ("GET", 1)]));
    let failed = run(&server, &account, delete(Consent::Given([0; 32])))
        .0
        .expect_err("another review");
    assert_eq!(failed.error.code, Code::ConfirmationMismatch);
    let (outcome, requests) = run(&server, &account, delete(Consent::Given(review.digest)));
    assert_eq!(committed(outcome.expect("deleted")).value.uid, "dentist");
    assert_eq!(requests, methods(&[("PROPFIND", 1), ("GET", 2), ("DELETE", 1)]));
    let failed = run(&server, &account, delete(Consent::NotNeeded))
        .0
        .expect_err("it is gone");
    assert_eq!(
        (failed.error.code, failed.state),
        (Code::NotFound, Mutation::NotAttempted)
    );
}

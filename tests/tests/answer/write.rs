//! Questions about changes: the server of a case scripted, and the change run that meets it.

use std::sync::Arc;

use bytes::Bytes;
use kalends_core::account::Account;
use kalends_core::change::{Change, Changed, Consent, Failed, Revision};
use kalends_core::env::Env;
use kalends_core::href::Href;
use kalends_core::ical::edit::collection::CollectionPatch;
use kalends_core::ical::edit::create::NewFields;
use kalends_core::ical::edit::patch::{Patch, Target};
use kalends_core::ical::edit::scalar::ScalarPatch;
use kalends_core::ical::entity::{Entity, Kind};
use kalends_core::ical::structured::StructuredData;
use kalends_core::ical::value::Temporal;
use kalends_core::machine::Mutation;
use kalends_core::operation::Operation;
use kalends_core::ops::create_resource::CreateResource;
use kalends_core::ops::delete_resource::DeleteResource;
use kalends_core::ops::edit_resource::{Edit, EditResource, OccurrenceEdit};
use kalends_core::ops::patch_calendar::{CalendarPatch, PatchCalendar, Set};
use kalends_core::ops::scope::{CalendarChoice, Destination};
use kalends_core::outcome::Code;
use kalends_core::time::Utc;
use kalends_tests::case::Case;
use kalends_tests::host::sequential;
use kalends_tests::transcript::Transcript;
use serde_json::{Value, json};

use super::{ENV, run, strings, text, year};
use crate::Answered::{self, Whole};

const WORK: &str = "https://cal.example.com/dav/calendars/ana/work/";

fn href(text: &str) -> Href {
    Href::parse(text).expect("a URL")
}

fn options(dav: &str) -> Value {
    json!({"method": "OPTIONS", "status": 200, "headers": {"DAV": dav}})
}

/// The server of a case, after these rules, and an account with the Calendar `work`.
fn scripted(case: &Case, file: &str, more: &[Value]) -> (Transcript, Arc<Account>) {
    let mut server = case.json(file);
    let rules = server["rules"].as_array_mut().expect("rules");
    rules.splice(0..0, more.iter().cloned());
    let server = Transcript::new(&case.folder, server);
    let account = server.account(&[href(WORK)]);
    (server, account)
}

/// A server that has one resource, which a file holds, and takes what it is given.
fn holding(case: &Case, file: &str, more: &[Value]) -> (Transcript, Arc<Account>) {
    let own = [
        json!({"method": "GET", "status": 200, "headers": {"ETag": "\"1\"", "Content-Type": "text/calendar"}, "body_file": file}),
        json!({"method": "PUT", "needs": {"if-match": "\"1\""}, "status": 204}),
    ];
    let server = Transcript::with_rules(&case.folder, &[more, &own].concat());
    let account = server.account(&[href(WORK)]);
    (server, account)
}

fn revision(name: &str, uid: &str, kind: Kind, tag: &str) -> Revision {
    Revision {
        href: format!("{WORK}{name}"),
        uid: uid.into(),
        kind,
        tag: tag.into(),
    }
}

fn edit(revision: Revision, edit: Edit) -> EditResource {
    EditResource {
        revision,
        edit,
        consent: Consent::NotNeeded,
    }
}

fn set(scalar: ScalarPatch) -> Edit {
    Edit::Patch {
        target: Target::Master,
        patch: Patch {
            scalars: vec![scalar],
            ..Patch::default()
        },
    }
}

fn title(title: &str) -> Edit {
    set(ScalarPatch::Summary(Some(title.into())))
}

fn time(text: &str, zone: Option<&str>) -> Temporal {
    Temporal::parse(text.as_bytes(), zone).expect("a time")
}

fn new(uid: &str, fields: NewFields) -> CreateResource {
    CreateResource {
        destination: Destination::Selected(CalendarChoice::Href(WORK.into())),
        kind: Kind::Event,
        uid: Some(uid.into()),
        fields,
        series: None,
    }
}

fn count(server: &Transcript, method: &str) -> usize {
    server.asked.iter().filter(|asked| asked.method == method).count()
}

/// The body of the only PUT.
fn written(server: &Transcript) -> String {
    assert_eq!(count(server, "PUT"), 1, "{:?}", server.lines());
    let put = server.asked.iter().find(|asked| asked.method == "PUT");
    put.expect("a PUT").body.clone()
}

fn unfolded(text: &str) -> Vec<String> {
    let text = text.replace("\r\n ", "").replace("\r\n\t", "");
    text.lines().map(str::to_owned).collect()
}

fn failed<T: std::fmt::Debug>(outcome: Changed<T>) -> Box<Failed> {
    outcome.expect_err("it fails")
}

/// The word of the expected results for a state.
fn is_state(state: Mutation, wanted: &Value) {
    assert_eq!(serde_json::to_value(state).expect("a word"), *wanted);
}

/// A write is bound to the strong form of an Entity Tag.
pub(crate) fn strong_tag(case: &Case) {
    let (mut server, account) = scripted(case, "server.json", &[]);
    let found = run(
        kalends_core::ops::get_resource::GetResource {
            href: format!("{WORK}a.ics"),
        },
        &account,
        &mut server,
    )
    .expect("it is read");
    let revised = found.entity_revision().expect("a strong tag");
    let revision = Revision {
        href: revised.href.into(),
        uid: revised.entity_uid.into(),
        kind: revised.entity_kind,
        tag: revised.entity_tag.into(),
    };
    // What is read back is the old text, so the end does not matter.
    let _ = run(edit(revision, title("Changed")), &account, &mut server);
    let puts: Vec<_> = server.asked.iter().filter(|asked| asked.method == "PUT").collect();
    assert_eq!(Some(puts.len() as u64), case.expected["put"]["count"].as_u64());
    for put in puts {
        assert_eq!(put.header("if-match"), text(&case.expected["put"]["if_match"]));
    }
}

/// The answer to PUT has no Entity Tag.
pub(crate) fn no_tag(case: &Case) -> Answered {
    let (mut server, account) = scripted(case, "server.json", &[options("1, calendar-access")]);
    server.anywhere();
    let fields = NewFields {
        summary: Some("Planning".into()),
        start: Some(time("20260504T080000Z", None)),
        end: Some(time("20260504T083000Z", None)),
        ..NewFields::default()
    };
    let outcome = run(new("sch@example.com", fields), &account, &mut server);
    let gets = server.asked.iter().skip_while(|asked| asked.method != "PUT");
    assert_eq!(
        Some(gets.filter(|asked| asked.method == "GET").count() as u64),
        case.expected["gets_after_put"].as_u64()
    );
    // The stored text has guests that a creation without guests does not have: it is shown, and said to differ.
    match outcome {
        Ok(Change::Committed(committed)) => {
            assert_eq!(committed.value.etag.as_deref(), case.expected["revision"].as_str());
        }
        Ok(other) => panic!("{other:?}"),
        Err(failed) => {
            is_state(failed.state, &case.expected["mutation_state"]);
            let current = failed.current.expect("it is shown");
            assert_eq!(current.etag.as_deref(), case.expected["revision"].as_str());
        }
    }
    Whole
}

/// The answer to a create is lost.
pub(crate) fn lost_answer(case: &Case) -> Answered {
    // The moment at which the stored resource says that it was made.
    let env = Env {
        utc: Utc(1_767_225_600_000),
        ..ENV
    };
    for name in ["server-mine", "server-other"] {
        let wanted = &case.expected[name];
        let (mut server, account) = scripted(case, &format!("{name}.json"), &[]);
        server.anywhere();
        let fields = NewFields {
            summary: Some("Dentist".into()),
            start: Some(time("20260504T080000Z", None)),
            end: Some(time("20260504T090000Z", None)),
            ..NewFields::default()
        };
        let machine = new("lost@example.com", fields).start(env, &account);
        let (outcome, _) = sequential(machine, &mut server, None);
        match outcome {
            Ok(Change::Committed(committed)) => {
                is_state(Mutation::Committed, &wanted["mutation_state"]);
                assert_eq!(committed.value.etag.as_deref(), wanted["revision"].as_str());
            }
            Ok(other) => panic!("{other:?}"),
            Err(failed) => {
                is_state(failed.state, &wanted["mutation_state"]);
                assert_eq!(
                    (failed.error.code, text(&wanted["category"])),
                    (Code::Conflict, "conflict")
                );
            }
        }
        // No write is sent twice.
        assert_eq!(count(&server, "PUT"), 1);
        let bound = server.asked.iter().filter(|asked| asked.method == "PUT");
        assert!(bound.into_iter().all(|put| put.header("if-none-match") == "*"));
    }
    Whole
}

/// A resource whose name is not its UID.
pub(crate) fn other_name(case: &Case) -> Answered {
    let (mut server, account) = scripted(case, "server.json", &[]);
    let found = year(&href(WORK), &account, &mut server).expect("it is found");
    let revised = found.rows[0].resource.entity_revision().expect("a revision");
    let revision = Revision {
        href: revised.href.into(),
        uid: revised.entity_uid.into(),
        kind: revised.entity_kind,
        tag: revised.entity_tag.into(),
    };
    // The scripted server goes on to show the old text.
    let _ = run(edit(revision, title("Standup (new room)")), &account, &mut server);
    let puts: Vec<_> = server.asked.iter().filter(|asked| asked.method == "PUT").collect();
    let paths: Vec<_> = puts.iter().map(|put| put.path.as_str()).collect();
    assert_eq!(paths, strings(&case.expected["put"]));
    assert_eq!(puts[0].header("if-match"), text(&case.expected["if_match"]));
    Whole
}

/// UIDs that are no names.
pub(crate) fn hostile_uids(case: &Case) -> Answered {
    let uids = case.file("uids.txt");
    let uids = String::from_utf8(uids).expect("UTF-8");
    let prefix = text(&case.expected["path_prefix"]);
    for uid in uids.lines().filter(|line| !line.is_empty()) {
        let rules = [json!({"method": "PUT", "status": 201})];
        let mut server = Transcript::with_rules(&case.folder, &rules);
        let account = server.account(&[href(WORK)]);
        let fields = NewFields {
            summary: Some("Talk".into()),
            start: Some(time("20260504T080000Z", None)),
            ..NewFields::default()
        };
        // The scripted server has nothing to be read back.
        let _ = run(new(uid, fields), &account, &mut server);
        let body = written(&server);
        let put = server.asked.iter().find(|asked| asked.method == "PUT").expect("a PUT");
        let name = put.path.strip_prefix(prefix).expect("in the Calendar");
        let harmless = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        assert!(
            !name.is_empty() && name.chars().all(harmless) && !name.starts_with('.'),
            "{name}"
        );
        let entity = Entity::read(Bytes::from(body));
        assert_eq!(entity.uid(), Some(uid));
    }
    Whole
}

/// What an edit may touch.
pub(crate) fn keeps_everything(case: &Case) -> Answered {
    let before = String::from_utf8(case.file("before.ics")).expect("UTF-8");
    let uid = Entity::read(Bytes::from(before.clone()))
        .uid()
        .expect("a UID")
        .to_owned();
    let (mut server, account) = holding(case, "before.ics", &[options("1, calendar-access")]);
    let _ = run(
        edit(revision("a.ics", &uid, Kind::Event, "\"1\""), title("Budget review")),
        &account,
        &mut server,
    );
    let may_differ: Vec<_> = strings(&case.expected["may_differ"])
        .iter()
        .map(|name| name.split(' ').next().unwrap_or_default().to_owned())
        .collect();
    let kept = |text: &str| -> Vec<String> {
        let name = |line: &String| line.split([';', ':']).next().unwrap_or_default().to_owned();
        let lines = unfolded(text).into_iter();
        lines.filter(|line| !may_differ.contains(&name(line))).collect()
    };
    let after = written(&server);
    assert_eq!(kept(&before), kept(&after));
    let summaries = |text: &str| {
        unfolded(text)
            .into_iter()
            .filter(|line| line.starts_with("SUMMARY"))
            .count()
    };
    assert_eq!(summaries(&before), summaries(&after));
    let added = unfolded(&after).len() - unfolded(&before).len();
    assert!(added as u64 <= case.expected["lines_added_max"].as_u64().expect("a number"));
    assert!(after.contains("Budget review"));
    Whole
}

/// A resource that is shown without its content.
pub(crate) fn masked(case: &Case) -> Answered {
    let calendar = "https://cal.example.com/dav/calendars/ana/team_shared_by_ben/";
    let rules = [
        json!({"method": "PROPFIND", "status": 207, "headers": {"Content-Type": "application/xml"}, "body_file": "home.xml"}),
        json!({"method": "GET", "status": 200, "headers": {"ETag": "\"1\"", "Content-Type": "text/calendar"}, "body_file": "busy.ics"}),
        json!({"method": "PUT", "status": 204}),
    ];
    let mut server = Transcript::with_rules(&case.folder, &rules);
    let account = server.account(&[href(calendar)]);
    let revision = Revision {
        href: format!("{calendar}busy.ics"),
        ..revision("", "doctor@example.com", Kind::Event, "\"1\"")
    };
    let change = set(ScalarPatch::Start(Some(time("20260504T090000Z", None))));
    let failed = failed(run(edit(revision, change), &account, &mut server));
    assert_eq!(
        (failed.error.code, failed.state),
        (Code::UnsupportedCapability, Mutation::NotAttempted)
    );
    assert!(failed.error.message.contains("masked"), "{}", failed.error.message);
    assert_eq!(Some(count(&server, "PUT") as u64), case.expected["puts_sent"].as_u64());
    Whole
}

/// A refused edit is not done in another way.
pub(crate) fn forbidden(case: &Case) -> Answered {
    for (status, code) in [(403, Code::UpstreamForbidden), (409, Code::Conflict)] {
        let refusal = json!({"method": "PUT", "status": status});
        let (mut server, account) = scripted(case, "server.json", &[options("1, calendar-access"), refusal]);
        let change = set(ScalarPatch::Location(Some("Room 3".into())));
        let target = revision("m.ics", "meet@example.com", Kind::Event, "\"m1\"");
        let failed = failed(run(edit(target, change), &account, &mut server));
        assert_eq!(failed.error.code, code);
        is_state(failed.state, &case.expected["mutation_state"]);
        for (method, wanted) in [("PUT", "puts_sent"), ("DELETE", "deletes_sent")] {
            assert_eq!(Some(count(&server, method) as u64), case.expected[wanted].as_u64());
        }
    }
    Whole
}

/// An edit of a version that is not there any more.
pub(crate) fn stale(case: &Case) -> Answered {
    let first = json!({
        "method": "GET", "times": 1, "status": 200, "body_file": "version-1.ics",
        "headers": {"ETag": "\"rev-a\"", "Content-Type": "text/calendar"},
    });
    // The change is seen before the write, or by it.
    for (more, state) in [(vec![], Mutation::NotAttempted), (vec![first], Mutation::NotCommitted)] {
        let (mut server, account) = scripted(case, "server.json", &more);
        let target = revision("e.ics", "lost-update@example.com", Kind::Event, "\"rev-a\"");
        let failed = failed(run(edit(target, title("Mine")), &account, &mut server));
        assert_eq!((failed.error.code, failed.state), (Code::Conflict, state));
        let current = failed.current.expect("it is shown");
        assert_eq!(current.etag.as_deref(), case.expected["current_revision"].as_str());
        let tags: Vec<_> = server
            .asked
            .iter()
            .filter(|asked| asked.method == "PUT")
            .map(|put| put.header("if-match").to_owned())
            .collect();
        if state == Mutation::NotCommitted {
            assert_eq!(tags, strings(&case.expected["put_if_match"]));
        } else {
            assert!(tags.is_empty());
        }
    }
    Whole
}

/// One occurrence of a To-do is done.
pub(crate) fn completes_one(case: &Case) -> Answered {
    let wanted = &case.expected["override"];
    let (stamp, zone) = text(&wanted["recurrence_id"]).split_once(' ').expect("a zone");
    let occurrence = time(stamp, Some(zone));
    let target = || revision("water.ics", "water@example.com", Kind::Todo, "\"1\"");
    let (mut server, account) = holding(case, "before.ics", &[]);
    let _ = run(
        edit(target(), Edit::Complete(Some(occurrence.clone()))),
        &account,
        &mut server,
    );
    let after = written(&server);
    let before = String::from_utf8(case.file("before.ics")).expect("UTF-8");
    let todo = |text: &str, at: usize| {
        let part = text.split("BEGIN:VTODO").nth(at).expect("a To-do").to_owned();
        unfolded(part.split("END:VTODO").next().unwrap_or_default())
    };
    assert_eq!(todo(&before, 1), todo(&after, 1), "the master stays");
    let own = todo(&after, 2);
    for name in ["DTSTART", "DUE", "STATUS", "PERCENT-COMPLETE"] {
        let line = own.iter().find(|line| line.split([';', ':']).next() == Some(name));
        let value = line.and_then(|line| line.rsplit(':').next());
        assert_eq!(value, wanted[name].as_str(), "{name}");
    }
    assert!(own.contains(&format!("RECURRENCE-ID;TZID={zone}:{stamp}")), "{own:?}");
    let is_utc = |line: &&String| line.starts_with("COMPLETED:") && line.ends_with('Z');
    assert!(own.iter().any(|line| is_utc(&line)));

    let again = json!({"method": "GET", "status": 200, "headers": {"ETag": "\"1\"", "Content-Type": "text/calendar"}, "body": after});
    let (mut server, account) = holding(case, "before.ics", &[again]);
    let outcome = run(edit(target(), Edit::Complete(Some(occurrence))), &account, &mut server);
    assert!(matches!(outcome, Ok(Change::Unchanged)), "{outcome:?}");
    let (mut server, account) = holding(case, "before.ics", &[]);
    failed(run(edit(target(), Edit::Complete(None)), &account, &mut server));
    assert_eq!(count(&server, "PUT"), 0);
    Whole
}

/// One day of a series goes, and nothing else.
pub(crate) fn takes_one_day(case: &Case) {
    let series = Entity::read(Bytes::from(case.file("series.ics")));
    let uid = series.uid().expect("a UID").to_owned();
    let (mut server, account) = holding(case, "series.ics", &[]);
    let day = time("20260610T123000", Some("Europe/Lisbon"));
    let change = Edit::Occurrence(OccurrenceEdit::Exclude, day);
    let _ = run(
        edit(revision("a.ics", &uid, Kind::Event, "\"1\""), change),
        &account,
        &mut server,
    );
    let after = written(&server);
    assert!(
        after.contains("\r\nEXDATE;TZID=Europe/Lisbon:20260610T123000\r\n"),
        "{after}"
    );
    assert_eq!(
        Some(count(&server, "DELETE") as u64),
        case.expected["http_deletes"].as_u64()
    );
    super::ical::compare_after(case, "series.ics", after);
}

/// Guests whom the server would tell.
pub(crate) fn guests(case: &Case) -> Answered {
    let target = || revision("g.ics", "guests@example.com", Kind::Event, "\"1\"");
    let start = Edit::Patch {
        target: Target::Master,
        patch: Patch {
            scalars: vec![
                ScalarPatch::Start(Some(time("20260504T100000Z", None))),
                ScalarPatch::End(Some(time("20260504T110000Z", None))),
            ],
            ..Patch::default()
        },
    };
    let address = strings(&case.expected["addresses_named"])[0];
    let check = |failed: Box<Failed>, server: &Transcript| {
        assert_eq!(
            (failed.error.code, failed.state),
            (Code::UnsupportedCapability, Mutation::NotAttempted)
        );
        assert!(failed.error.message.contains(address), "{}", failed.error.message);
        assert_eq!(count(server, "PUT") + count(server, "DELETE"), 0);
    };
    let auto = || [options("1, calendar-access, calendar-auto-schedule")];
    for change in [title("New title"), start] {
        let (mut server, account) = holding(case, "existing.ics", &auto());
        check(failed(run(edit(target(), change), &account, &mut server)), &server);
    }
    let (mut server, account) = holding(case, "existing.ics", &auto());
    let delete = DeleteResource {
        revision: target(),
        consent: Consent::NotNeeded,
    };
    check(failed(run(delete, &account, &mut server)), &server);
    let guest = json!({"attendees": [{"uri": "mailto:ben@example.com", "parameters": []}]});
    let create = new(
        "new@example.com",
        NewFields {
            start: Some(time("20260504T080000Z", None)),
            end: Some(time("20260504T090000Z", None)),
            structured: StructuredData::from_json(&guest, Kind::Event, "").expect("guests"),
            ..NewFields::default()
        },
    );
    let (mut server, account) = holding(case, "existing.ics", &auto());
    check(failed(run(create, &account, &mut server)), &server);
    let fewer = json!({"field": "attendees", "operation": "replaceAll", "values": []});
    let fewer = Edit::Patch {
        target: Target::Master,
        patch: Patch {
            collections: vec![CollectionPatch::from_json(&fewer, Kind::Event, "").expect("a patch")],
            ..Patch::default()
        },
    };
    let (mut server, account) = holding(case, "existing.ics", &auto());
    check(failed(run(edit(target(), fewer), &account, &mut server)), &server);
    Whole
}

/// A server with one Event, whose GET has these headers, and which takes what it is given.
fn tagged(case: &Case, headers: &Value, put: u16) -> (Transcript, Arc<Account>) {
    let event = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//EN\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20260101T000000Z\r\n\
        DTSTART:20260504T080000Z\r\nDTEND:20260504T090000Z\r\nSUMMARY:Old\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
    let rules = [
        json!({"method": "GET", "status": 200, "headers": headers, "body": event}),
        json!({"method": "PUT", "status": put}),
    ];
    let server = Transcript::with_rules(&case.folder, &rules);
    let account = server.account(&[href(WORK)]);
    (server, account)
}

/// A change is bound to a tag that a GET gives, and to nothing else.
pub(crate) fn missing_tag(case: &Case) {
    let target = |tag: &str| revision("app.ics", "1", Kind::Event, tag);
    let wanted = text(&case.expected["write_variant_1"]["if_match"]);
    let (mut server, account) = tagged(case, &json!({"ETag": wanted}), 204);
    let _ = run(edit(target(wanted), title("New")), &account, &mut server);
    assert_eq!(sent_if_match(&server), [wanted]);
    let (mut server, account) = tagged(case, &json!({}), 204);
    let failed = failed(run(edit(target(wanted), title("New")), &account, &mut server));
    assert_eq!(
        (failed.error.code, failed.state),
        (Code::ConcurrencyUnavailable, Mutation::NotAttempted)
    );
    assert_eq!(
        json!(count(&server, "PUT") > 0),
        case.expected["write_variant_2"]["put_sent"]
    );
}

/// Tags that are written in odd ways are sent as they should be.
pub(crate) fn odd_tags(case: &Case) {
    for event in case.expected["events"].as_array().expect("events") {
        let wanted = text(&event["if_match"]);
        let (mut server, account) = tagged(case, &json!({"ETag": wanted.trim_matches('"')}), 204);
        let target = revision(text(&event["name"]), "1", Kind::Event, wanted);
        let _ = run(edit(target, title("New")), &account, &mut server);
        assert_eq!(sent_if_match(&server), [wanted]);
    }
}

fn sent_if_match(server: &Transcript) -> Vec<&str> {
    let puts = server.asked.iter().filter(|asked| asked.method == "PUT");
    puts.map(|put| put.header("if-match")).collect()
}

/// A write that meets a server which wants to be left alone is not repeated.
pub(crate) fn rate_limited(case: &Case) {
    let (mut server, account) = tagged(case, &json!({"ETag": "\"1\""}), 429);
    let target = revision("a.ics", "1", Kind::Event, "\"1\"");
    let failed = failed(run(edit(target, title("New")), &account, &mut server));
    assert_eq!(
        (failed.error.code, failed.state),
        (Code::UpstreamRateLimited, Mutation::NotCommitted)
    );
    assert_eq!(count(&server, "PUT"), 1);
}

/// A new name leaves the colour alone.
pub(crate) fn name_alone(case: &Case) {
    let properties = |value: &str| {
        json!(format!(
            "<d:multistatus xmlns:d='DAV:' xmlns:c='urn:ietf:params:xml:ns:caldav'><d:response><d:href>/dav/calendars/ana/work/</d:href><d:propstat><d:prop>\
             <d:resourcetype><d:collection/><c:calendar/></d:resourcetype><d:displayname>{value}</d:displayname></d:prop>\
             <d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>"
        ))
    };
    let rules = [
        json!({"method": "PROPFIND", "status": 207, "body": properties("Old"), "times": 1}),
        json!({"method": "PROPPATCH", "status": 207, "body": properties("")}),
        json!({"method": "PROPFIND", "status": 207, "body": properties("New")}),
    ];
    let mut server = Transcript::with_rules(&case.folder, &rules);
    let account = server.account(&[href(WORK)]);
    let rename = PatchCalendar {
        calendar_href: WORK.into(),
        patch: CalendarPatch {
            display_name: Some(Set::To("New".into())),
            ..CalendarPatch::default()
        },
    };
    run(rename, &account, &mut server).expect("renamed");
    let sent = server
        .asked
        .iter()
        .find(|asked| asked.method == "PROPPATCH")
        .expect("a PROPPATCH");
    assert!(
        sent.body.contains("displayname") && !sent.body.contains("calendar-color"),
        "{}",
        sent.body
    );
}

/// Something new goes to the Calendar that its name means, or nowhere.
pub(crate) fn by_name(case: &Case, rules: &[Value]) {
    for (destination, wanted) in [
        (Some("Calendar"), Err(Code::Ambiguous)),
        (Some("calendar"), Err(Code::Ambiguous)),
        (Some("Work"), Ok(text(&case.expected["Work"]))),
        (None, Err(Code::NotFound)),
    ] {
        let mut server = Transcript::with_rules(&case.folder, rules);
        let account = server.account(&[]);
        let named = |name: &str| Destination::Selected(CalendarChoice::Name(name.into()));
        let start = Some(time("20260504T080000Z", None));
        let create = CreateResource {
            destination: destination.map_or(Destination::Default, named),
            ..new(
                "1",
                NewFields {
                    start,
                    ..NewFields::default()
                },
            )
        };
        let failed = failed(run(create, &account, &mut server));
        let puts: Vec<_> = server.asked.iter().filter(|asked| asked.method == "PUT").collect();
        match wanted {
            Err(code) => {
                assert_eq!((failed.error.code, failed.state), (code, Mutation::NotAttempted));
                assert!(puts.is_empty(), "{:?}", server.lines());
            }
            // The script knows no PUT: that one was sent, and where to, is what counts.
            Ok(path) => assert!(
                puts.len() == 1 && puts[0].path.starts_with(path),
                "{:?}",
                server.lines()
            ),
        }
    }
}

//! The operations on one Calendar, each against a server that may do anything.
#![allow(
    clippy::print_stdout,
    reason = "how much was explored is told to whoever reads the log"
)]

use std::fmt::Debug;
use std::sync::Arc;

use kalends_core::account::Account;
use kalends_core::calendar::CapabilityState;
use kalends_core::href::Href;
use kalends_core::ical::free_busy::BusyPeriod;
use kalends_core::operation::Operation;
use kalends_core::ops::inspect_calendar::{InspectCalendar, Inspection, Support};
use kalends_core::ops::list_changes::{Changes, ListChanges, Since};
use kalends_core::ops::query_free_busy::{FreeBusy, QueryFreeBusy};
use kalends_core::outcome::Outcome;
use kalends_local::Local;
use kalends_tests::account::{ENV, HOME, configured, known};
use kalends_tests::explore::Choices;
use kalends_tests::host::sequential;
use kalends_tests::promises::Trial;
use kalends_tests::server::Server;
use kalends_tests::transcript::Transcript;
use kalends_tests::world::{Fault, Simulated};

fn event(uid: &str, start: &str) -> String {
    format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//t//EN\r\nBEGIN:VEVENT\r\nUID:{uid}\r\nDTSTAMP:20260101T000000Z\r\n\
         DTSTART:{start}\r\nDURATION:PT1H\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
}

fn server() -> Server {
    let local = Local::memory()
        .with_calendar("home", "Home")
        .with_calendar("work", "Work")
        .put("work/a.ics", event("a", "20261201T100000Z"))
        .put("work/b.ics", event("b", "20261203T233000Z"));
    local.into()
}

fn work() -> String {
    format!("https://{HOME}/work/")
}

/// Every promise, for an account that has to look for the Calendar and for one that need not.
fn promises<O, T>(name: &str, server: &Server, ask: impl Fn() -> O, truth: impl Fn(&T, &[Fault]))
where
    O: Operation<Outcome = Outcome<T>>,
    T: Debug,
{
    let judge = |found: &T, world: &Simulated| truth(found, &world.faults);
    for account in [known, with_work] {
        let trial = Trial {
            name,
            server,
            account,
            faults: 2,
            ask: &ask,
            judge: &judge,
        };
        println!("{name}: {:?}", trial.run());
    }
}

fn with_work() -> Arc<Account> {
    configured("/work/")
}

#[test]
fn an_inspection_keeps_the_promises() {
    let ask = || InspectCalendar { calendar_href: work() };
    let mut honest = Simulated::new(Choices::default(), server(), 0, 2);
    let (truth, _) = sequential(ask().start(ENV, &with_work()), &mut honest, None);
    let truth = truth.expect("an honest server");
    assert_eq!(
        (truth.display_name.as_deref(), truth.report_support),
        (Some("Work"), Support::Available)
    );
    assert_eq!(truth.scheduling.state, CapabilityState::NotAdvertised);
    promises("inspect", &server(), ask, |found: &Inspection, faults| {
        let scheduling = found.scheduling;
        assert_eq!(
            found,
            &Inspection {
                scheduling,
                ..truth.clone()
            },
            "{faults:?}"
        );
        match scheduling.state {
            CapabilityState::Advertised => panic!("scheduling is made up: {faults:?}"),
            CapabilityState::NotAdvertised => {}
            CapabilityState::Unknown => assert!(!faults.is_empty()),
        }
    });
}

#[test]
fn free_busy_keeps_the_promises() {
    let time = |text: &str| text.parse::<jiff::Timestamp>().expect("valid");
    let ask = || QueryFreeBusy {
        calendar_href: work(),
        from: time("2026-12-01T00:00:00Z"),
        to: time("2026-12-04T00:00:00Z"),
    };
    let busy = |from: &str, to: &str| BusyPeriod {
        from: time(from).as_second(),
        to: time(to).as_second(),
        busy_type: "BUSY".into(),
    };
    let truth = [
        busy("2026-12-01T10:00:00Z", "2026-12-01T11:00:00Z"),
        busy("2026-12-03T23:30:00Z", "2026-12-04T00:00:00Z"),
    ];
    promises("free/busy", &server(), ask, |found: &FreeBusy, faults| {
        assert_eq!(found.periods, truth, "busy time is lost: {faults:?}");
    });
}

fn names(found: &Changes) -> Vec<(&str, bool)> {
    let name = |href: &'_ Href| href.path().rsplit('/').next().map(str::len).unwrap_or_default();
    let changes = found.changes.iter();
    changes
        .map(|change| {
            let text = change.href.as_str();
            (&text[text.len() - name(&change.href)..], change.etag.is_some())
        })
        .collect()
}

#[test]
fn changes_keep_the_promises() {
    let server = server();
    let start = || ListChanges {
        since: Since::Beginning { calendar_href: work() },
    };
    let honest = |ask: ListChanges| {
        let mut world = Simulated::new(Choices::default(), server.clone(), 0, 2);
        sequential(ask.start(ENV, &with_work()), &mut world, None)
            .0
            .expect("an honest server")
    };
    let first = honest(start());
    assert_eq!(names(&first), [("a.ics", true), ("b.ics", true)]);
    promises("first report", &server, start, |found: &Changes, faults| {
        assert_eq!(found, &first, "members are lost: {faults:?}");
    });
    server.put("work/c.ics", event("c", "20261201T100000Z"));
    server.delete("work/a.ics");
    let later = || ListChanges {
        since: Since::Token {
            calendar: first.calendar.clone(),
            token: first.token.clone(),
        },
    };
    let second = honest(later());
    assert_eq!(names(&second), [("a.ics", false), ("c.ics", true)]);
    promises("later report", &server, later, |found: &Changes, faults| {
        assert_eq!(found, &second, "changes are lost: {faults:?}");
    });
}

/// Nextcloud reports a member that was deleted and made again as removed.
#[test]
fn a_removal_is_looked_for_where_servers_are_wrong_about_it() {
    let gone = |count: usize, token: &str| -> String {
        let response = |at| {
            format!("<d:response><d:href>/c/{at}.ics</d:href><d:status>HTTP/1.1 404 Not Found</d:status></d:response>")
        };
        let all: String = (0..count).map(response).collect();
        format!("<d:multistatus xmlns:d=\"DAV:\">{all}<d:sync-token>{token}</d:sync-token></d:multistatus>")
    };
    let there = "<d:multistatus xmlns:d=\"DAV:\"><d:response><d:href>/c/1.ics</d:href><d:propstat><d:prop><d:getetag>\"1\"</d:getetag></d:prop>\
                 <d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>";
    for (count, looked, token) in [
        (50, "REPORT", "http://sabre.io/ns/sync/2"),
        (51, "PROPFIND", "http://sabre.io/ns/sync/2"),
        (3, "", "data:,2"),
    ] {
        let rules = [
            serde_json::json!({"method": "REPORT", "needs": {"body": "contains sync-collection"}, "status": 207,
                "body": gone(count, token)}),
            serde_json::json!({"status": 207, "body": there}),
        ];
        let mut server = Transcript::with_rules(std::path::Path::new("."), &rules);
        let calendar = Href::parse("https://cal.example.com/c/").expect("valid");
        let account = server.account(std::slice::from_ref(&calendar));
        let since = Since::Token {
            calendar,
            token: "t1".into(),
        };
        let (found, _) = sequential(ListChanges { since }.start(ENV, &account), &mut server, None);
        let found = found.expect("the report is read");
        let changed: Vec<_> = found
            .changes
            .iter()
            .filter_map(|change| change.etag.as_deref())
            .collect();
        assert_eq!(
            (found.changes.len(), changed.len()),
            (count, usize::from(!looked.is_empty()))
        );
        let lines: Vec<_> = server.asked.iter().skip(1).map(|asked| asked.method.as_str()).collect();
        assert_eq!(lines.concat(), looked, "{count}");
    }
}

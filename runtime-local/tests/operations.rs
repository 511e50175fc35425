//! The operations of the core against the local account: a whole answer in few requests.

use std::sync::Arc;

use kalends_core::account::credential::Credential;
use kalends_core::account::{Account, Settings};
use kalends_core::ical::zone::Zone;
use kalends_core::machine::{ExchangeId, Machine, Moment, Mutation, Reply, Step};
use kalends_core::operation::Operation;
use kalends_core::ops::get_resource::GetResource;
use kalends_core::ops::list_calendars::ListCalendars;
use kalends_core::ops::query_occurrences::QueryOccurrences;
use kalends_core::ops::scope::Scope;
use kalends_core::outcome::Code;
use kalends_core::query::text_filter::TextFilter;
use kalends_local::{Local, Metadata};

/// Notes the methods of all requests.
struct Watched<M>(M, Vec<String>);

impl<M: Machine> Machine for Watched<M> {
    type Output = (M::Output, Vec<String>);

    fn step(&mut self, now: Moment) -> Step<Self::Output> {
        match self.0.step(now) {
            Step::Send(exchange) => {
                self.1.push(exchange.request.method().to_string());
                Step::Send(exchange)
            }
            Step::Abort(id) => Step::Abort(id),
            Step::Wait(moment) => Step::Wait(moment),
            Step::Done(output) => Step::Done((output, std::mem::take(&mut self.1))),
        }
    }

    fn receive(&mut self, id: ExchangeId, reply: Reply) {
        self.0.receive(id, reply);
    }

    fn cancel(&mut self) {
        self.0.cancel();
    }

    fn mutation(&self) -> Mutation {
        self.0.mutation()
    }
}

fn run<O: Operation>(local: &Local, account: &Arc<Account>, operation: O) -> (O::Outcome, Vec<String>) {
    local.drive(Watched(operation.start(local.env(), account), Vec::new()))
}

fn account(local: &Local) -> Arc<Account> {
    Account::new(Settings::new(local.url(), Credential::None)).expect("no credential")
}

fn event(uid: &str, lines: &str) -> String {
    format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:{uid}\r\nDTSTAMP:20260101T000000Z\r\n{lines}\r\n\
         END:VEVENT\r\nEND:VCALENDAR\r\n"
    )
}

fn sample(local: Local) -> Local {
    let todo = event("t", "DTSTART:20260603T110000Z\r\nDUE:20260603T120000Z").replace("VEVENT", "VTODO");
    let latin = [event("l", "SUMMARY:Caf").as_bytes(), b""].concat();
    let latin = String::from_utf8(latin)
        .expect("ASCII")
        .replace("SUMMARY:Caf", "DTSTART:20260605T100000Z\r\nSUMMARY:Caf@");
    let latin: Vec<u8> = latin
        .bytes()
        .map(|byte| if byte == b'@' { 0xe9 } else { byte })
        .collect();
    local
        .with_calendar("work", "Work")
        .with_metadata(
            "tasks",
            &Metadata {
                components: Some(vec!["VTODO".into()]),
                ..Metadata::default()
            },
        )
        .put(
            "work/once.ics",
            event("once", "DTSTART:20260602T100000Z\r\nDTEND:20260602T110000Z"),
        )
        .put(
            "work/past.ics",
            event("past", "DTSTART:20250602T100000Z\r\nDTEND:20250602T110000Z"),
        )
        .put(
            "work/weekly.ics",
            event(
                "weekly",
                "DTSTART;TZID=Europe/Berlin:20200106T003000\r\nRRULE:FREQ=WEEKLY",
            ),
        )
        .put("work/day.ics", event("day", "DTSTART;VALUE=DATE:20260607"))
        .put("work/latin.ics", latin)
        .put("tasks/t.ics", todo)
}

fn week() -> QueryOccurrences {
    QueryOccurrences {
        scope: Scope::All,
        // Monday to Sunday in Berlin.
        from: "2026-05-31T22:00:00Z".parse().expect("a time"),
        to: "2026-06-07T22:00:00Z".parse().expect("a time"),
        evaluation: Zone::iana("Europe/Berlin").expect("a zone"),
        filter: TextFilter::new(None, &[]),
    }
}

fn check(local: &Local) {
    let account = account(local);
    let (list, requests) = run(local, &account, ListCalendars);
    assert_eq!(requests, ["PROPFIND", "PROPFIND"], "nothing is known");
    let list = list.expect("a list");
    let names: Vec<_> = list
        .calendars
        .iter()
        .map(|calendar| calendar.display_name.as_deref())
        .collect();
    assert_eq!(names, [Some("tasks"), Some("Work")]);
    let (again, requests) = run(local, &account, ListCalendars);
    assert_eq!(
        (again.expect("a list"), requests),
        (list.clone(), vec!["PROPFIND".to_owned()])
    );

    let (found, requests) = run(local, &account, week());
    let found = found.expect("occurrences");
    let uids: Vec<_> = found
        .rows
        .iter()
        .map(|row| row.resource.entity.uid().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(uids, ["weekly", "once", "t", "l", "day"]);
    // The listing, at most one query for each kind in each Calendar, and the body that XML cannot hold.
    let count = |method: &str| requests.iter().filter(|request| *request == method).count();
    assert!(
        (count("PROPFIND"), count("GET")) == (1, 1) && count("REPORT") <= 4,
        "{requests:?}"
    );
    assert!(
        found.diagnostics.is_empty() && found.unresolved.is_empty(),
        "{:?}",
        found.diagnostics
    );

    for row in found.rows.iter() {
        let href = row.resource.href.to_string();
        let (resource, _) = run(local, &account, GetResource { href });
        let resource = resource.expect("a resource");
        assert_eq!(resource.etag, row.resource.etag);
        assert_eq!(
            resource.entity.document().bytes(),
            row.resource.entity.document().bytes()
        );
    }
    let missing = format!("{}none.ics", list.calendars[1].calendar.href);
    let (missing, _) = run(local, &account, GetResource { href: missing });
    assert_eq!(missing.expect_err("nothing").code, Code::NotFound);
    let outside = GetResource {
        href: "file:///etc/passwd".into(),
    };
    assert_eq!(
        run(local, &account, outside).0.expect_err("outside").code,
        Code::OutsideScope
    );
}

#[test]
fn the_week_in_memory_takes_few_requests() {
    check(&sample(Local::memory()));
}

#[test]
fn the_week_in_a_folder_takes_few_requests() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    check(&sample(Local::folder(folder.path().join("a b")).expect("a folder")));
}

//! Every read over servers with the oddities of real ones: the answers are those of an honest server, or the refusal
//! that a table names.

use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use kalends_core::account::Account;
use kalends_core::dav::sync_collection::Change;
use kalends_core::href::Href;
use kalends_core::ical::completion::CompletionState;
use kalends_core::ical::entity::Kind;
use kalends_core::ical::zone::Zone;
use kalends_core::machine::{Exchange, Moment, Reply};
use kalends_core::operation::Operation;
use kalends_core::ops::get_resource::GetResource;
use kalends_core::ops::inspect_calendar::InspectCalendar;
use kalends_core::ops::list_calendars::ListCalendars;
use kalends_core::ops::list_changes::{ListChanges, Since};
use kalends_core::ops::query_entities::QueryEntities;
use kalends_core::ops::query_free_busy::QueryFreeBusy;
use kalends_core::ops::query_occurrences::{OccurrenceRow, QueryOccurrences};
use kalends_core::ops::query_todos::{QueryTodos, TodoRow};
use kalends_core::ops::scope::Scope;
use kalends_core::outcome::{Code, Outcome};
use kalends_core::query::text_filter::TextFilter;
use kalends_core::query::window::Bounds;
use kalends_local::Local;
use kalends_tests::account::{env, settings, url};
use kalends_tests::explore::Choices;
use kalends_tests::host::{World, sequential};
use kalends_tests::server::{ODDITIES, Oddity, PERSONAS, Server};
use kalends_tests::world::Simulated;

static LISBON: LazyLock<Zone> = LazyLock::new(|| Zone::iana("Europe/Lisbon").expect("known"));

fn event(uid: &str, lines: &str) -> String {
    resource(uid, "VEVENT", lines)
}

fn resource(uid: &str, component: &str, lines: &str) -> String {
    let lines = lines.replace(" | ", "\r\n");
    format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//t//EN\r\nBEGIN:{component}\r\nUID:{uid}\r\nDTSTAMP:20260101T000000Z\r\n{lines}\r\n\
         END:{component}\r\nEND:VCALENDAR\r\n"
    )
}

/// One of each that some server is wrong about.
fn calendars() -> Local {
    let standup = "DTSTART;TZID=Europe/Berlin:20261123T090000 | DTEND;TZID=Europe/Berlin:20261123T091500 | RRULE:FREQ=DAILY;COUNT=30 | SUMMARY:Standup \
        | END:VEVENT | BEGIN:VEVENT | UID:standup | DTSTAMP:20260101T000000Z | RECURRENCE-ID;TZID=Europe/Berlin:20261201T090000 \
        | DTSTART;TZID=Europe/Berlin:20261201T160000 | DTEND;TZID=Europe/Berlin:20261201T161500 | SUMMARY:Standup\\, verschoben";
    let members = [
        ("work/standup.ics", event("standup", standup)),
        (
            "work/endless.ics",
            event(
                "endless",
                "DTSTART:20260105T120000Z | DTEND:20260105T130000Z | RRULE:FREQ=WEEKLY | SUMMARY:Endless",
            ),
        ),
        (
            "work/two-hours.ics",
            event(
                "two-hours",
                "DTSTART:20261202T100000Z | DURATION:PT2H | SUMMARY:Workshop",
            ),
        ),
        (
            "work/instant.ics",
            event("instant", "DTSTART:20261203T150000Z | SUMMARY:Reminder"),
        ),
        (
            "work/ana@x+\u{e9}.ics",
            event(
                "late",
                "DTSTART;TZID=Europe/Berlin:20261205T003000 | DTEND;TZID=Europe/Berlin:20261205T010000 \
                 | SUMMARY:Late \u{e9} & <more> \"so\" | CATEGORIES:Travel,Food",
            ),
        ),
        (
            "home/holiday.ics",
            event("holiday", "DTSTART;VALUE=DATE:20261201 | SUMMARY:Holiday"),
        ),
        (
            "home/floating.ics",
            event(
                "floating",
                "DTSTART:20261206T080000 | DTEND:20261206T090000 | SUMMARY:Breakfast",
            ),
        ),
        (
            "home/past.ics",
            event(
                "past",
                "DTSTART:20250101T100000Z | DTEND:20250101T110000Z | SUMMARY:Past",
            ),
        ),
        (
            "home/rent.ics",
            resource(
                "rent",
                "VTODO",
                "DTSTART:20261204T180000Z | DUE:20261204T190000Z | SUMMARY:Pay the rent",
            ),
        ),
        ("home/someday.ics", resource("someday", "VTODO", "SUMMARY:Some day")),
        (
            "home/broken.ics",
            "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:broken\r\n".to_owned(),
        ),
    ];
    let local = Local::memory()
        .with_calendar("home", "Home")
        .with_calendar("work", "Work & more");
    let local = members
        .into_iter()
        .fold(local, |local, (path, content)| local.put(path, content));
    // In the day before the week there is more than Radicale looks through.
    (0..8).fold(local, |local, at| {
        let ticks = "DTSTART:20261128T230000Z | DURATION:PT30S | RRULE:FREQ=MINUTELY;COUNT=1300 | SUMMARY:Tick";
        local.put(&format!("home/ticks-{at}.ics"), event(&format!("ticks-{at}"), ticks))
    })
}

/// The same changes on any server: a new member, a changed one, one that is gone, one that was made anew.
fn change(server: &Server) {
    server.put(
        "work/new.ics",
        event("new", "DTSTART:20261201T060000Z | DURATION:PT1H | SUMMARY:New"),
    );
    server.put(
        "work/two-hours.ics",
        event(
            "two-hours",
            "DTSTART:20261202T100000Z | DURATION:PT2H | SUMMARY:Workshop\\, changed",
        ),
    );
    server.delete("home/rent.ics");
    server.delete("work/instant.ics");
    server.put(
        "work/instant.ics",
        event("instant-2", "DTSTART:20261203T150000Z | SUMMARY:Made again"),
    );
    server.change_properties("work/");
}

/// Questions and their answers, in which nothing is left of hosts, paths and Entity Tags.
type Answers = Vec<(&'static str, Result<Vec<String>, Code>)>;

/// A user of one server, who asks with one account.
struct User<W> {
    world: W,
    account: Arc<Account>,
    since: Option<Since>,
}

/// The last two segments, decoded.
fn place(href: &Href) -> String {
    let collection = href.resolve(".").and_then(|collection| collection.last_segment());
    format!(
        "{}/{}",
        collection.unwrap_or_default(),
        href.last_segment().unwrap_or_default()
    )
}

fn row(row: &OccurrenceRow) -> String {
    let at = |second| jiff::Timestamp::from_second(second).expect("in range");
    let (from, to) = (at(row.instance.from), at(row.instance.to));
    let summary = row
        .resource
        .entity
        .occurrence_fields(&row.instance)
        .summary
        .unwrap_or_default();
    format!(
        "{from} {to} {:?} {summary} {}",
        row.resource.entity.uid(),
        place(&row.resource.href)
    )
}

/// Octets as text, without what the way takes: a byte order mark, and CR in a CDATA section.
fn content(octets: &[u8]) -> String {
    String::from_utf8_lossy(octets).replace(['\u{feff}', '\r'], "")
}

fn changed(change: &Change) -> String {
    format!(
        "{} {}",
        place(&change.href),
        if change.etag.is_some() { "there" } else { "gone" }
    )
}

impl User<Simulated> {
    fn of(server: &Server) -> Self {
        Self::new(Simulated::new(Choices::default(), server.clone(), 0, 2000))
    }
}

impl<W: World> User<W> {
    fn new(world: W) -> Self {
        // The rest is discovered, but for what is no web server's root.
        let account = Account::new(settings("/.well-known/caldav")).expect("a plain credential");
        let since = None;
        Self { world, account, since }
    }

    fn ask<T, O: Operation<Outcome = Outcome<T>>>(&mut self, operation: O) -> Result<T, Code> {
        let machine = operation.start(env(self.world.now()), &self.account);
        sequential(machine, &mut self.world, None).0.map_err(|error| error.code)
    }

    fn occurrences(&mut self, from: &str, to: &str, filter: TextFilter) -> Result<Vec<String>, Code> {
        let time = |text: &str| text.parse().expect("a time");
        let found = self.ask(QueryOccurrences {
            scope: Scope::All,
            from: time(from),
            to: time(to),
            evaluation: LISBON.clone(),
            filter,
        })?;
        let mut lines: Vec<_> = found.rows.iter().map(row).collect();
        lines.extend(found.diagnostics.iter().map(|it| it.code.to_string()));
        Ok(lines)
    }

    fn entities(&mut self, window: Option<(&str, &str)>, filter: TextFilter) -> Result<Vec<String>, Code> {
        let time = |text: &str| text.parse().expect("a time");
        let found = self.ask(QueryEntities {
            scope: Scope::All,
            kinds: vec![Kind::Event, Kind::Todo],
            window: window.map(|(from, to)| Bounds {
                from: time(from),
                to: time(to),
                evaluation: Zone::utc(),
            }),
            filter,
        })?;
        let rows = found.rows.iter().map(|row| content(row.entity.document().bytes()));
        let remarks = found.diagnostics.iter().map(|it| it.code.to_string());
        Ok(rows.chain(remarks).collect())
    }

    /// Whether all resources have a revision, or none.
    fn revisions(&mut self) -> [bool; 2] {
        let found = self.ask(QueryEntities {
            scope: Scope::All,
            kinds: vec![Kind::Event],
            window: None,
            filter: TextFilter::default(),
        });
        let rows = found.expect("entities are found").rows;
        [true, false].map(|has| rows.iter().all(|row| row.etag.is_some() == has))
    }

    fn todos(&mut self, due: bool) -> Result<Vec<String>, Code> {
        let time = |text: &str| text.parse().expect("a time");
        let found = self.ask(QueryTodos {
            scope: Scope::All,
            states: [CompletionState::Open, CompletionState::Indeterminate].into(),
            window: None,
            due: due.then(|| (time("2026-12-01T00:00:00Z"), time("2027-01-01T00:00:00Z"))),
            evaluation: Zone::utc(),
            filter: TextFilter::default(),
        })?;
        let row = |row: &TodoRow| format!("{:?} {:?} {}", row.state, row.due, place(&row.resource.href));
        let remarks = found.diagnostics.iter().map(|it| it.code.to_string());
        Ok(found.rows.iter().map(row).chain(remarks).collect())
    }

    /// A Calendar that is configured and is not there.
    fn missing(&mut self, calendar: Href) -> Result<Vec<String>, Code> {
        let calendar_href = calendar.to_string();
        let mut settings = settings("/");
        settings.calendar_hrefs = vec![calendar];
        let account = Account::new(settings).expect("a plain credential");
        let own = std::mem::replace(&mut self.account, account);
        let found = self.ask(InspectCalendar { calendar_href });
        self.account = own;
        found.map(|it| vec![format!("{it:?}")])
    }

    /// Everything that can be asked.
    fn everything(&mut self) -> Answers {
        let text = |text: &str| TextFilter::new(Some(text), &[]);
        let week = ("2026-11-30T00:00:00Z", "2026-12-07T00:00:00Z");
        let listed = self.ask(ListCalendars).expect("Calendars are listed");
        let mut calendars: Vec<Href> = Vec::new();
        let mut described = Vec::new();
        for calendar in &listed.calendars {
            let href = Href::parse(&calendar.calendar.href).expect("an href");
            described.push(format!(
                "{:?} {:?} {:?}",
                href.last_segment(),
                calendar.display_name,
                calendar.entity_kinds
            ));
            calendars.push(href);
        }
        let mut answers: Answers = vec![("calendars", Ok(described))];
        for (name, (from, to), filter) in [
            ("week", week, TextFilter::default()),
            (
                "2040",
                ("2040-01-01T00:00:00Z", "2040-01-08T00:00:00Z"),
                TextFilter::default(),
            ),
            (
                "second hour",
                ("2026-12-02T11:00:00Z", "2026-12-02T12:00:00Z"),
                TextFilter::default(),
            ),
            (
                "instant",
                ("2026-12-03T15:00:00Z", "2026-12-03T15:30:00Z"),
                TextFilter::default(),
            ),
            (
                "after midnight",
                ("2026-12-04T23:30:00Z", "2026-12-05T00:00:00Z"),
                TextFilter::default(),
            ),
            ("override", week, text("VERSCHOBEN")),
            ("categories", week, TextFilter::new(None, &["food".to_owned()])),
            ("letters", week, text("\u{c9} more")),
        ] {
            answers.push((name, self.occurrences(from, to, filter)));
        }
        answers.push(("entities", self.entities(None, TextFilter::default())));
        answers.push(("entities of the week", self.entities(Some(week), TextFilter::default())));
        answers.push(("entities with a text", self.entities(None, text("VERSCHOBEN"))));
        answers.push(("to-dos", self.todos(false)));
        answers.push(("to-dos that are due", self.todos(true)));
        let work = calendars.last().expect("two Calendars").clone();
        for name in ["ana%40x%2B%C3%A9.ics", "two-hours.ics", "instant.ics", "missing.ics"] {
            let found = self.ask(GetResource {
                href: format!("{work}{name}"),
            });
            answers.push((
                "resource",
                found.map(|found| vec![content(found.entity.document().bytes())]),
            ));
        }
        let inspected = self.ask(InspectCalendar {
            calendar_href: work.to_string(),
        });
        let missing = work.resolve("../missing/").expect("an href");
        answers.push(("missing Calendar", self.missing(missing)));
        answers.push((
            "inspection",
            inspected.map(|it| vec![format!("{:?} {:?}", it.display_name, it.reports)]),
        ));
        let busy = self.ask(QueryFreeBusy {
            calendar_href: work.to_string(),
            from: week.0.parse().expect("a time"),
            to: week.1.parse().expect("a time"),
        });
        answers.push((
            "busy",
            busy.map(|it| it.periods.iter().map(|period| format!("{period:?}")).collect()),
        ));
        let since = self.since.take().unwrap_or(Since::Beginning {
            calendar_href: work.to_string(),
        });
        let changes = self.ask(ListChanges { since });
        self.since = changes.as_ref().ok().map(|found| Since::Token {
            calendar: found.calendar.clone(),
            token: found.token.clone(),
        });
        answers.push((
            "changes",
            changes.map(|found| found.changes.iter().map(changed).collect()),
        ));
        answers
    }
}

/// What a server that is so refuses.
fn refusal(oddities: &[Oddity], question: &str) -> Option<Code> {
    let has = |oddity| oddities.contains(&oddity);
    match question {
        "busy" if has(Oddity::NoFreeBusy) => Some(Code::UnsupportedCapability),
        "busy" if has(Oddity::FreeBusyIs400) => Some(Code::UpstreamProtocolError),
        "changes" if has(Oddity::FirstReportRefused) => Some(Code::LimitExhausted),
        _ => None,
    }
}

/// Asks everything: of an account that is fresh, again, and after changes.
fn compare(name: &str, server: &Server, oddities: &[Oddity]) {
    let honest = Server::from(calendars());
    let (mut user, mut truth) = (User::of(server), User::of(&honest));
    for round in ["cold", "warm", "changed"] {
        if round == "changed" {
            change(server);
            change(&honest);
        }
        let mut told = String::new();
        for ((question, found), (_, expected)) in user.everything().into_iter().zip(truth.everything()) {
            let mut expected = refusal(oddities, question).map_or(expected, Err);
            let mut found = found;
            if question == "changes" && oddities.contains(&Oddity::ChangesRepeated) {
                // What is repeated is there; what is due is among it.
                let due = expected.as_ref().cloned().unwrap_or_default();
                let kept = found.iter_mut().flat_map(|lines| lines.iter());
                let kept: Vec<_> = kept
                    .filter(|line| due.contains(line) || !line.ends_with("there"))
                    .cloned()
                    .collect();
                (found, expected) = (Ok(kept), Ok(due));
            }
            if found != expected {
                writeln!(
                    told,
                    "{round}, {question}:\n  found    {found:?}\n  expected {expected:?}"
                )
                .expect("a string");
            }
        }
        assert!(told.is_empty(), "{name}:\n{told}{:?}", user.world.log);
        // A weak Entity Tag is no revision, wherever it stands.
        let none = oddities.contains(&Oddity::NoTags) || oddities.contains(&Oddity::WeakTags);
        assert_eq!(user.revisions(), [!none, none], "{name}, {round}");
    }
}

#[test]
fn every_oddity_alone_changes_no_answer() {
    for oddity in ODDITIES {
        compare(&format!("{oddity:?}"), &with_trash(Server::odd, &[oddity]), &[oddity]);
    }
}

#[test]
fn real_servers_give_the_answers_of_an_honest_one() {
    for persona in PERSONAS {
        let server = with_trash(|local, _| Server::like(local, persona), persona.oddities());
        compare(&format!("{persona:?}"), &server, persona.oddities());
    }
}

/// A deleted Calendar is there, where there is a trash bin.
fn with_trash(open: impl Fn(Local, &[Oddity]) -> Server, oddities: &[Oddity]) -> Server {
    if !oddities.contains(&Oddity::TrashBin) {
        return open(calendars(), oddities);
    }
    let old = event("old", "DTSTART:20261201T100000Z | DURATION:PT1H | SUMMARY:Deleted");
    let server = open(calendars().with_calendar("old", "Old").put("old/a.ics", old), oddities);
    server.trash("old/");
    server
}

/// An oddity that nobody meets is not tested.
#[test]
fn every_oddity_is_met() {
    // These show only where a limit is sent, a token is none of the server's, or a member vanishes in between.
    let elsewhere = [
        Oddity::CutDelta,
        Oddity::FirstReportWhole,
        Oddity::AnyToken,
        Oddity::UnknownTokenListsAll,
        Oddity::MissingLeftOut,
        Oddity::MissingFailsReport,
    ];
    // These show where a text is sent.
    let texts = [Oddity::OverridesNotSearched, Oddity::TextsEscaped];
    // And these where a range is sent as it was asked: it is widened, and left out in the far future.
    let avoided = [
        Oddity::EndlessEndsIn2037,
        Oddity::StartAloneNotFound,
        Oddity::DurationIgnored,
        Oddity::ZoneIgnored,
    ];
    for oddity in ODDITIES
        .into_iter()
        .filter(|oddity| !elsewhere.contains(oddity) && !texts.contains(oddity))
    {
        let server = with_trash(Server::odd, &[oddity]);
        let world = Twice {
            first: Simulated::new(Choices::default(), server.clone(), 0, 2000),
            other: server.honestly(),
            differences: 0,
        };
        let mut user = User::new(world);
        user.everything();
        change(&server);
        user.everything();
        let met = user.world.differences > 0;
        assert!(met || avoided.contains(&oddity), "{oddity:?} makes no difference");
    }
}

#[test]
fn a_member_that_vanishes_before_it_is_read_is_reported() {
    for oddity in [Oddity::MissingLeftOut, Oddity::MissingFailsReport, Oddity::NoTags] {
        let server = Server::odd(calendars(), &[Oddity::OccurrencesLimited, oddity]);
        let mut user = User::of(&server);
        user.world.incident = Some(("calendar-multiget", |server| server.delete("home/holiday.ics")));
        let found = user.occurrences("2026-11-30T00:00:00Z", "2026-12-07T00:00:00Z", TextFilter::default());
        let found = found.expect("the rest is read");
        let has = |text: &str| found.iter().any(|line| line.contains(text));
        assert!(has("resource_disappeared_during_query"), "{oddity:?} {found:#?}");
        assert!(
            has("Breakfast") && has("rent") && !has("Holiday"),
            "{oddity:?} {found:#?}"
        );
    }
}

/// What a client cannot see: a Calendar was made again and its server takes the old token for a new one. Where the
/// server remembers, the checkpoint is refused.
#[test]
fn a_token_of_a_former_calendar() {
    for (oddities, expected) in [
        (&[][..], Err(Code::SyncResetRequired)),
        (&[Oddity::AnyToken], Ok(0)),
        (&[Oddity::UnknownTokenListsAll], Ok(1)),
    ] {
        let server = Server::odd(calendars(), oddities);
        let mut user = User::of(&server);
        let calendar = url(&format!("{}work/", server.home()));
        change(&server);
        let since = Since::Beginning {
            calendar_href: calendar.to_string(),
        };
        let token = user.ask(ListChanges { since }).expect("a first report").token;
        server.make_again("work/");
        server.put(
            "work/only.ics",
            event("only", "DTSTART:20261201T060000Z | DURATION:PT1H"),
        );
        let found = user.ask(ListChanges {
            since: Since::Token { calendar, token },
        });
        assert_eq!(found.map(|found| found.changes.len()), expected, "{oddities:?}");
    }
}

/// Hears what is asked, and asks it of another server, too.
struct Twice {
    first: Simulated,
    other: Server,
    differences: usize,
}

impl World for Twice {
    fn now(&self) -> Moment {
        self.first.now()
    }

    fn advance(&mut self, to: Moment) {
        self.first.advance(to);
    }

    fn sent(&mut self, exchange: &Exchange) {
        self.first.sent(exchange);
    }

    fn answer(&mut self, exchange: &Exchange) -> Reply {
        let reply = self.first.answer(exchange);
        let other = self.other.answer(&exchange.request);
        let same = reply
            .as_ref()
            .is_ok_and(|reply| reply.headers() == other.headers() && reply.body() == other.body());
        self.differences += usize::from(!same);
        reply
    }
}

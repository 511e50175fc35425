//! Whole queries, three on one account, against a server that does what a script of octets says.
//!
//! Each exchange takes an octet that says how it is answered: honestly, with a failure, with a status, or with a
//! multistatus that is put together from pieces. An octet between two queries says what happens to the server.
//! After the end of the script everything is honest.

use std::time::Duration;

use bytes::Bytes;
use http::Response;
use kalends_core::account::Account;
use kalends_core::ical::completion::CompletionState;
use kalends_core::ical::entity::Kind;
use kalends_core::ical::zone::Zone;
use kalends_core::machine::{BodyLimit, Exchange, Failure, FailureKind, Moment, Reply, Sent};
use kalends_core::operation::Operation;
use kalends_core::ops::query_entities::QueryEntities;
use kalends_core::ops::query_occurrences::QueryOccurrences;
use kalends_core::ops::query_todos::QueryTodos;
use kalends_core::ops::scope::Scope;
use kalends_core::outcome::Outcome;
use kalends_core::query::text_filter::TextFilter;
use kalends_core::query::window::Bounds;
use kalends_core::resource::Resource;
use kalends_local::Local;
use kalends_tests::account::{env, settings};
use kalends_tests::host::{World, concurrent, sequential};
use kalends_tests::server::{PERSONAS, Server};

use crate::script::{MAX_TIME, Reading, is_trusted, second};

/// The most requests of one query.
const MAX_REQUESTS: usize = 600;
/// How many queries one account asks.
const ROUNDS: usize = 3;

/// Octets of a script; zero after its end.
struct Script<'a>(&'a [u8]);

impl Script<'_> {
    fn next(&mut self) -> usize {
        self.0.split_off_first().map_or(0, |octet| usize::from(*octet))
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.next() % of.len()]
    }
}

const NAMES: [&str; 10] = [
    "day.ics",
    "series.ics",
    "todo.ics",
    "new.ics",
    "a%40b.ics",
    "a@b.ics",
    "",
    "../other/day.ics",
    "sub/",
    "%2e%2e%2f",
];
const TAGS: [&str; 8] = [
    "\"1\"",
    "\"2\"",
    "W/\"1\"",
    "1",
    "",
    "\"gcs00000000\"",
    "\"\"",
    "\"a\"b\"",
];
const STATUSES: [u16; 16] = [
    200, 207, 204, 301, 307, 400, 401, 403, 404, 405, 412, 429, 500, 503, 507, 599,
];
const LOCATIONS: [&str; 6] = [
    "/",
    "https://p1.dav.example/work/",
    "https://evil.example/",
    "http://dav.example/",
    "work/",
    "",
];
const BODIES: [&[u8]; 12] = [
    include_bytes!("../corpus/ical_document/day.ics"),
    include_bytes!("../corpus/ical_document/series.ics"),
    b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VTODO\r\nUID:t\r\nDUE:20261201T100000Z\r\nSUMMARY:Lunch\r\nEND:VTODO\r\nEND:VCALENDAR\r\n",
    b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VTODO\r\nUID:t\r\nSTATUS:COMPLETED\r\nPERCENT-COMPLETE:7\r\nEND:VTODO\r\nEND:VCALENDAR\r\n",
    b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:u\nDTSTART:20261201T100000\nRRULE:FREQ=SECONDLY\nEND:VEVENT\nEND:VCALENDAR\n",
    b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:u\r\nDTSTART;TZID=Nowhere:20261201T100000\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
    b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:o\r\nRECURRENCE-ID:20261202T100000Z\r\nDTSTART:20261202T110000Z\r\nSUMMARY:lunch\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
    b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n",
    b"\xef\xbb\xbfBEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:b\r\nDTSTART;VALUE=DATE:20261201\r\nCATEGORIES:Lunch,x\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
    b"BEGIN:VCALENDAR\r\nBEGIN:VJOURNAL\r\nUID:j\r\nEND:VJOURNAL\r\nEND:VCALENDAR\r\n",
    b"<html>",
    b"",
];

/// Plays a script.
///
/// # Panics
/// If a host is asked that nobody allowed, a query has no end, or honest answers make a wrong one.
pub(crate) fn play(data: &[u8]) {
    let mut script = Script(data);
    let local = Local::memory()
        .with_calendar("work", "Work")
        .put("work/day.ics", BODIES[0])
        .put("work/series.ics", BODIES[1])
        .put("work/todo.ics", BODIES[2]);
    let server = match PERSONAS.get(script.next() % 12) {
        Some(persona) => Server::like(local, *persona),
        None => Server::from(local),
    };
    let kind = script.next();
    let filter = TextFilter::new((kind & 4 != 0).then_some("lunch"), &[]);
    let window = (kind & 8 != 0).then(|| (second(crate::WINDOW.from), second(crate::WINDOW.to)));
    let game = Game {
        script,
        server,
        account: Account::new(settings("/")).expect("a plain credential"),
        now: Moment::ZERO,
        at_once: kind & 16 != 0,
        misled: false,
    };
    match kind & 3 {
        0 => game.play(
            &QueryEntities {
                scope: Scope::All,
                kinds: vec![Kind::Event, Kind::Todo],
                window: window.map(|(from, to)| Bounds {
                    from,
                    to,
                    evaluation: Zone::utc(),
                }),
                filter,
            },
            |found| found.rows.iter().map(|row| shown(row)).collect(),
        ),
        1 => game.play(
            &QueryTodos {
                scope: Scope::All,
                states: [CompletionState::Open, CompletionState::Completed].into(),
                window,
                due: None,
                evaluation: Zone::utc(),
                filter,
            },
            |found| found.rows.iter().map(|row| shown(&row.resource)).collect(),
        ),
        _ => game.play(
            &QueryOccurrences {
                scope: Scope::All,
                from: second(crate::WINDOW.from),
                to: second(crate::WINDOW.to),
                evaluation: Zone::utc(),
                filter,
            },
            |found| found.rows.iter().map(|row| shown(&row.resource)).collect(),
        ),
    }
}

fn shown(resource: &Resource) -> (String, Bytes) {
    let octets = resource
        .entity
        .document()
        .bytes()
        .iter()
        .filter(|octet| **octet != b'\r');
    (resource.href.path().to_owned(), octets.copied().collect())
}

struct Game<'a> {
    script: Script<'a>,
    server: Server,
    account: std::sync::Arc<Account>,
    now: Moment,
    at_once: bool,
    /// An answer was made up, so that anything may be kept.
    misled: bool,
}

impl<'a> Game<'a> {
    fn play<O, T, R>(mut self, ask: &O, rows: impl Fn(&T) -> Vec<R>)
    where
        O: Operation<Outcome = Outcome<T>> + Clone,
        R: PartialEq + std::fmt::Debug,
    {
        for round in 0..ROUNDS {
            if round > 0 {
                self.change();
            }
            // What a server asked for in anger is over.
            self.now = self.now + Duration::from_secs(86_400);
            let machine = Reading(ask.clone().start(env(self.now), &self.account));
            let cancel = self.script.0.first().filter(|octet| **octet == 255).map(|_| 3);
            let mut world = Answers {
                begun: self.now,
                requests: 0,
                honest: true,
                game: self,
            };
            let outcome = if world.game.at_once {
                concurrent(machine, &mut world).0
            } else {
                sequential(machine, &mut world, cancel).0
            };
            let honest = world.honest && cancel.is_none();
            self = world.game;
            if honest && !self.misled {
                let fresh = Account::new(settings("/")).expect("a plain credential");
                let mut world = Answers {
                    begun: self.now,
                    requests: 0,
                    honest: true,
                    game: Game {
                        script: Script(&[]),
                        server: self.server.clone(),
                        account: std::sync::Arc::clone(&fresh),
                        now: self.now,
                        at_once: false,
                        misled: false,
                    },
                };
                let truth = sequential(ask.clone().start(env(self.now), &fresh), &mut world, None).0;
                let both = (outcome.map(|found| rows(&found)), truth.map(|found| rows(&found)));
                assert_eq!(both.0.ok(), both.1.ok(), "what is kept is not what the server holds");
            }
        }
    }

    /// Something happens to the server.
    fn change(&mut self) {
        let path = self.script.pick(&["work/day.ics", "work/new.ics", "work/todo.ics"]);
        let body = Bytes::from_static(self.script.pick(&BODIES[..9]));
        // Changed, gone, or gone and made again: as far as the honest server lets it happen.
        let how = self.script.next() % 4;
        if how >= 2 {
            self.server.try_delete(path);
        }
        if how % 2 == 1 {
            self.server.try_put(path, body);
        }
    }
}

struct Answers<'a> {
    game: Game<'a>,
    begun: Moment,
    requests: usize,
    honest: bool,
}

impl World for Answers<'_> {
    fn now(&self) -> Moment {
        self.game.now
    }

    fn advance(&mut self, to: Moment) {
        self.game.now = self.game.now.max(to);
        let taken = self.game.now.since(self.begun);
        assert!(taken <= MAX_TIME, "a read takes {taken:?}");
    }

    fn answer(&mut self, exchange: &Exchange) -> Reply {
        self.requests += 1;
        assert!(self.requests <= MAX_REQUESTS, "requests without an end");
        assert!(
            is_trusted(exchange),
            "asks {}, which nobody allowed",
            exchange.request.uri()
        );
        let how = self.game.script.next();
        self.honest &= how % 8 < 4;
        let reply = match how % 8 {
            0..4 => Ok(self.game.server.answer(&exchange.request)),
            4 => self.failure(exchange),
            5 => Ok(self.status()),
            _ => Ok(self.multistatus(exchange)),
        };
        let BodyLimit::Bytes(limit) = exchange.body else {
            return reply;
        };
        if reply.as_ref().is_ok_and(|reply| reply.body().len() > limit) {
            return Err(Failure {
                sent: Sent::Maybe,
                kind: FailureKind::TooLarge,
            });
        }
        reply
    }

    fn choose(&mut self, open: usize) -> usize {
        self.game.script.next() % open
    }
}

impl Answers<'_> {
    fn failure(&mut self, exchange: &Exchange) -> Reply {
        let (sent, kind) = self.game.script.pick(&[
            (Sent::No, FailureKind::Unreachable),
            (Sent::No, FailureKind::Untrusted),
            (Sent::Maybe, FailureKind::Broken),
            (Sent::Maybe, FailureKind::TooLarge),
            (Sent::Maybe, FailureKind::TimedOut),
        ]);
        if kind == FailureKind::TimedOut {
            self.advance(exchange.deadline);
        }
        Err(Failure { sent, kind })
    }

    fn status(&mut self) -> Response<Bytes> {
        let script = &mut self.game.script;
        let status = script.pick(&STATUSES);
        let mut response = Response::builder().status(status);
        match script.next() % 8 {
            0 => response = response.header("location", script.pick(&LOCATIONS)),
            1 => response = response.header("retry-after", script.pick(&["0", "1", "100", "x"])),
            2 => {
                response = response.header(
                    "content-type",
                    script.pick(&["text/html", "application/xml", "text/calendar"]),
                )
            }
            3 => response = response.header("dav", "1, bind").header("x-sabre-version", "4"),
            4 => response = response.header("etag", script.pick(&TAGS)),
            _ => {}
        }
        let error = |name: &str| format!("<D:error xmlns:D=\"DAV:\"><D:{name}/></D:error>");
        let body = match script.next() % 8 {
            0 => Bytes::from(error("number-of-matches-within-limits")),
            1 => Bytes::from(error("supported-filter")),
            2 => Bytes::from_static(script.pick(&BODIES)),
            _ => Bytes::new(),
        };
        // A body of its own may pass for a resource, and a redirect may lead to one under another name.
        self.game.misled |= matches!(status, 200..400);
        response.body(body).expect("plain headers")
    }

    /// Members that may be anything, and perhaps one wrong octet.
    fn multistatus(&mut self, exchange: &Exchange) -> Response<Bytes> {
        self.game.misled = true;
        let script = &mut self.game.script;
        let path = exchange.request.uri().path();
        let mut body = String::from("<D:multistatus xmlns:D=\"DAV:\" xmlns:C=\"urn:ietf:params:xml:ns:caldav\">");
        for _ in 0..script.next() % 6 {
            let name = script.pick(&NAMES);
            body.push_str(&format!("<D:response><D:href>{path}{name}</D:href>"));
            let parts = script.next();
            if parts & 1 != 0 {
                body.push_str("<D:status>HTTP/1.1 404 Not Found</D:status>");
            }
            body.push_str("<D:propstat><D:prop>");
            if parts & 2 == 0 {
                body.push_str(&format!("<D:getetag>{}</D:getetag>", script.pick(&TAGS)));
            }
            if parts & 4 == 0 {
                let data = String::from_utf8_lossy(script.pick(&BODIES)).replace('<', "&lt;");
                body.push_str(&format!(
                    "<C:calendar-data>{}</C:calendar-data>",
                    data.replace('\r', "&#13;")
                ));
            }
            if parts & 8 != 0 {
                body.push_str("<D:resourcetype><D:collection/><C:calendar/></D:resourcetype>");
            }
            if parts & 16 != 0 {
                let home = script.pick(&LOCATIONS);
                body.push_str(&format!(
                    "<C:calendar-home-set><D:href>{home}</D:href></C:calendar-home-set>"
                ));
            }
            if parts & 32 != 0 {
                body.push_str("<D:getcontentlength>99999999</D:getcontentlength>");
            }
            let status = if parts & 64 == 0 { "200 OK" } else { "404 Not Found" };
            body.push_str(&format!(
                "</D:prop><D:status>HTTP/1.1 {status}</D:status></D:propstat></D:response>"
            ));
        }
        body.push_str("</D:multistatus>");
        let mut octets = body.into_bytes();
        if script.next() % 4 == 1 {
            let at = (script.next() << 8 | script.next()) % octets.len();
            match script.next() {
                0 => octets.truncate(at),
                octet => octets[at] = octet as u8,
            }
        }
        let response = Response::builder()
            .status(207)
            .header("content-type", "application/xml");
        response.body(octets.into()).expect("plain headers")
    }
}

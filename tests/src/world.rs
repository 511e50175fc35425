//! A simulated CalDAV server: one with or without oddities in memory, and around it every fault that the explorer chooses.

use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, LOCATION, RETRY_AFTER};
use kalends_core::machine::{BodyLimit, Effect, Exchange, Failure, FailureKind, Moment, Reply, Sent};

use crate::account::{ALLOWED, FOREIGN, HOME};
use crate::explore::Choices;
use crate::host::World;
use crate::server::Server;

/// One way to misbehave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The connection is refused.
    Refused,
    /// The certificate is wrong.
    Untrusted,
    /// The request was read and no answer comes.
    Dropped,
    /// The answer breaks off in its body.
    CutBody,
    /// The body is larger than may come back.
    TooLarge,
    /// No answer before the deadline.
    Slow,
    /// A status without a body.
    Status(u16),
    /// 429 with a long `Retry-After`.
    LeaveMeAlone,
    /// 503 with a short `Retry-After`.
    OneMoment,
    /// 200 with an HTML page.
    Html,
    /// 207 with a warning before the XML.
    Warning,
    /// 207 whose XML breaks off.
    CutXml,
    /// 207 without any response.
    Nothing,
    /// A redirect to an allowed host, where the same is found.
    RedirectInside,
    /// A redirect to a host that nobody allowed.
    RedirectOutside,
    /// A redirect to the same place without encryption.
    RedirectDown,
    /// A redirect to itself.
    RedirectCircle,
    /// A redirect that wants another method.
    SeeOther,
}

/// Every fault that a read can meet.
pub const FAULTS: [Fault; 27] = [
    Fault::Refused,
    Fault::Untrusted,
    Fault::Dropped,
    Fault::CutBody,
    Fault::TooLarge,
    Fault::Slow,
    Fault::Status(400),
    Fault::Status(401),
    Fault::Status(403),
    Fault::Status(404),
    Fault::Status(405),
    Fault::Status(429),
    Fault::Status(500),
    Fault::Status(501),
    Fault::Status(503),
    Fault::Status(507),
    Fault::LeaveMeAlone,
    Fault::OneMoment,
    Fault::Html,
    Fault::Warning,
    Fault::CutXml,
    Fault::Nothing,
    Fault::RedirectInside,
    Fault::RedirectOutside,
    Fault::RedirectDown,
    Fault::RedirectCircle,
    Fault::SeeOther,
];

/// A text in the body of a request, and what happens to the server before the first such request is answered.
pub type Incident = (&'static str, fn(&Server));

/// A server with as many faults as it has left, at places that the explorer chooses.
pub struct Simulated {
    /// The path taken.
    pub choices: Choices,
    /// What was asked, as `METHOD host/path`.
    pub log: Vec<String>,
    /// What went wrong, in order.
    pub faults: Vec<Fault>,
    /// How often a text was looked for.
    pub searches: usize,
    /// Whether a query was answered with nothing: a lie that no client can see.
    pub lied: bool,
    /// When the operation began.
    pub begun: Moment,
    /// What happens meanwhile, once.
    pub incident: Option<Incident>,
    pub(crate) now: Moment,
    /// What is asked. Clones share their content.
    pub server: Server,
    menu: &'static [Fault],
    pub(crate) left: usize,
    always: Option<Fault>,
    pub(crate) blocked: Option<String>,
    pub(crate) max_requests: usize,
}

impl std::fmt::Debug for Simulated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulated")
            .field("log", &self.log)
            .field("faults", &self.faults)
            .finish_non_exhaustive()
    }
}

/// How long an answer takes.
pub(crate) const LATENCY: Duration = Duration::from_millis(100);

impl Simulated {
    /// A server that misbehaves `faults` times at most, and fails the test after `max_requests`.
    #[must_use]
    pub fn new(choices: Choices, server: impl Into<Server>, faults: usize, max_requests: usize) -> Self {
        let (log, done) = (Vec::new(), Vec::new());
        Self {
            choices,
            log,
            faults: done,
            searches: 0,
            lied: false,
            begun: Moment::ZERO,
            incident: None,
            now: Moment::ZERO,
            server: server.into(),
            menu: &FAULTS,
            left: faults,
            always: None,
            blocked: None,
            max_requests,
        }
    }

    /// The same with a choice of fewer faults.
    #[must_use]
    pub fn with_menu(self, menu: &'static [Fault]) -> Self {
        Self { menu, ..self }
    }

    /// A server that misbehaves in the same way on every request.
    #[must_use]
    pub fn always(fault: Fault, server: impl Into<Server>, max_requests: usize) -> Self {
        let mut world = Self::new(Choices::default(), server, 0, max_requests);
        world.always = Some(fault);
        world
    }

    /// Ten minutes later, another operation begins: the server has forgotten what it was angry about.
    pub fn begin(&mut self) -> Moment {
        self.now = self.now + Duration::from_secs(600);
        self.begun = self.now;
        self.log.clear();
        self.faults.clear();
        self.lied = false;
        self.blocked = None;
        self.begun
    }

    pub(crate) fn promises(&mut self, exchange: &Exchange) {
        let request = &exchange.request;
        let host = request.uri().host().expect("absolute").to_owned();
        self.log
            .push(format!("{} {host}{}", request.method(), request.uri().path()));
        assert_ne!(
            host, FOREIGN,
            "a host was contacted that nobody allowed: {:?}",
            self.log
        );
        assert_eq!(
            request.uri().scheme_str(),
            Some("https"),
            "the request goes without encryption: {:?}",
            self.log
        );
        assert!(
            request.headers()[AUTHORIZATION].is_sensitive(),
            "the credential may be logged"
        );
        assert!(
            request
                .headers()
                .get(COOKIE)
                .is_none_or(http::HeaderValue::is_sensitive)
        );
        assert!(
            matches!(request.method().as_str(), "PROPFIND" | "REPORT" | "GET" | "OPTIONS"),
            "a read sends a write: {:?}",
            self.log
        );
        let report = String::from_utf8_lossy(request.body());
        assert!(
            !report.contains("sync-collection") || !report.contains("nresults"),
            "a limit makes some servers lose changes"
        );
        self.searches += usize::from(report.contains("text-match"));
        assert_eq!(exchange.effect, Effect::Read);
        assert!(matches!(exchange.body, BodyLimit::Bytes(_)));
        assert!(self.log.len() <= self.max_requests, "too many requests: {:?}", self.log);
        assert!(self.now < exchange.deadline, "sent after its own deadline");
        assert!(
            self.blocked.as_deref() != exchange.request.uri().host(),
            "asked although the server wants to be left alone: {:?}",
            self.log
        );
    }

    pub(crate) fn honest(&self, exchange: &Exchange) -> Response<Bytes> {
        self.server.answer(&exchange.request)
    }

    pub(crate) fn misbehave(&mut self, fault: Fault, exchange: &Exchange) -> Reply {
        let failure = |sent, kind| Err(Failure { sent, kind });
        let path = exchange.request.uri().path();
        let moved = |status: u16, target: String| {
            Ok(Response::builder()
                .status(status)
                .header(LOCATION, target)
                .body(Bytes::new())
                .expect("valid"))
        };
        let page = |status: u16, media: &str, body: &'static str| {
            Ok(Response::builder()
                .status(status)
                .header(CONTENT_TYPE, media)
                .body(Bytes::from_static(body.as_bytes()))
                .expect("valid"))
        };
        match fault {
            Fault::Refused => failure(Sent::No, FailureKind::Unreachable),
            Fault::Untrusted => failure(Sent::No, FailureKind::Untrusted),
            Fault::Dropped | Fault::CutBody => failure(Sent::Maybe, FailureKind::Broken),
            Fault::TooLarge => failure(Sent::Maybe, FailureKind::TooLarge),
            Fault::Slow => {
                self.now = exchange.deadline;
                failure(Sent::Maybe, FailureKind::TimedOut)
            }
            Fault::Status(status) => Ok(Response::builder().status(status).body(Bytes::new()).expect("valid")),
            Fault::LeaveMeAlone => {
                self.blocked = exchange.request.uri().host().map(str::to_owned);
                Ok(Response::builder()
                    .status(429)
                    .header(RETRY_AFTER, "300")
                    .body(Bytes::from_static(b"<html>"))
                    .expect("valid"))
            }
            Fault::OneMoment => Ok(Response::builder()
                .status(503)
                .header(RETRY_AFTER, "1")
                .body(Bytes::new())
                .expect("valid")),
            Fault::Html => page(200, "text/html", "<html><body>Welcome</body></html>"),
            Fault::Warning => page(
                207,
                "application/xml",
                "Warning: x in y.php\n<?xml version=\"1.0\"?><D:multistatus xmlns:D=\"DAV:\"/>",
            ),
            Fault::CutXml => {
                let mut response = self.honest(exchange);
                // Nothing else shows by itself that it is cut; a host sees it by its length.
                if response.status() != 207 {
                    return failure(Sent::Maybe, FailureKind::Broken);
                }
                let half = response.body().len() / 2;
                response.body_mut().truncate(half);
                Ok(response)
            }
            Fault::Nothing => page(207, "application/xml", "<D:multistatus xmlns:D=\"DAV:\"/>"),
            Fault::RedirectInside => moved(307, format!("https://{ALLOWED}{path}")),
            Fault::RedirectOutside => moved(301, format!("https://{FOREIGN}{path}")),
            Fault::RedirectDown => moved(301, format!("http://{HOME}{path}")),
            Fault::RedirectCircle => moved(302, path.to_owned()),
            Fault::SeeOther => moved(303, path.to_owned()),
        }
    }
}

impl World for Simulated {
    fn now(&self) -> Moment {
        self.now
    }

    fn advance(&mut self, to: Moment) {
        self.now = self.now.max(to);
    }

    fn sent(&mut self, exchange: &Exchange) {
        self.promises(exchange);
    }

    fn answer(&mut self, exchange: &Exchange) -> Reply {
        self.now = self.now + LATENCY;
        let body = String::from_utf8_lossy(exchange.request.body());
        if let Some((_, happens)) = self.incident.take_if(|(text, _)| body.contains(*text)) {
            happens(&self.server);
        }
        if let Some(fault) = self.always {
            self.faults.push(fault);
            return self.misbehave(fault, exchange);
        }
        let chosen = if self.left == 0 {
            0
        } else {
            self.choices.pick(self.menu.len() + 1)
        };
        let response = if chosen == 0 {
            self.honest(exchange)
        } else {
            self.left -= 1;
            let fault = self.menu[chosen - 1];
            self.faults.push(fault);
            let query = exchange
                .request
                .body()
                .windows(15)
                .any(|part| part == b":calendar-query");
            self.lied |= fault == Fault::Nothing && query;
            self.misbehave(fault, exchange)?
        };
        let BodyLimit::Bytes(limit) = exchange.body else {
            return Ok(response);
        };
        if response.body().len() > limit {
            return Err(Failure {
                sent: Sent::Maybe,
                kind: FailureKind::TooLarge,
            });
        }
        Ok(response)
    }

    fn choose(&mut self, open: usize) -> usize {
        self.choices.pick(open)
    }
}

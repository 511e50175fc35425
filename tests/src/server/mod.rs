//! A CalDAV server with the oddities of real ones: an honest server in memory, whose answers are changed on the way.

mod answer;
mod filter;
mod persona;
mod sync;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, ETAG, LOCATION};
use http::{HeaderValue, Method, Request, Response};
use kalends_local::Local;

pub use persona::{PERSONAS, Persona};

use crate::account::ALLOWED;
use answer::Multistatus;

/// What a server does that no RFC says, or that a client may not expect. Each was seen on a real one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Oddity {
    /// The calendar home lies on another host (iCloud).
    HomeElsewhere,
    /// The well-known URL is a web page (SOGo).
    WellKnownPage,
    /// A deleted Calendar stays in the home, without being a Calendar, and beside a trash bin (Nextcloud).
    TrashBin,
    /// Inbox and outbox are listed as Calendars (DAViCal).
    SchedulingListed,
    /// The first Calendar is the outbox, too (SOGo).
    OwnOutbox,
    /// PROPFIND of what is missing is 207 with a status 404 in it (Xandikos).
    MissingIs207,
    /// A calendar-query finds every member (Google).
    FiltersIgnored,
    /// An endless rule has no occurrence from 2037 on (sabre/dav, Nextcloud, Cyrus).
    EndlessEndsIn2037,
    /// An Event without an end is not found at its own instant (sabre/dav, Nextcloud).
    StartAloneNotFound,
    /// A DURATION takes no time (Nextcloud).
    DurationIgnored,
    /// A time with a TZID is taken for UTC (Xandikos).
    ZoneIgnored,
    /// A range finds no To-do (DAViCal).
    TodoRangeFindsNothing,
    /// A text is looked for in the master and in overrides (sabre/dav, Cyrus, as their headers tell).
    TextsSearched,
    /// A text is looked for in the master only (DAViCal).
    OverridesNotSearched,
    /// A text is compared with its escapes, as it is stored.
    TextsEscaped,
    /// A text is not looked for: this status, perhaps with a condition (RFC 4791, 7.8).
    TextsRefused(u16, &'static str),
    /// 400 where a query touches 10,000 occurrences (Radicale).
    OccurrencesLimited,
    /// A multiget leaves out what is missing (sabre/dav, Nextcloud, DAViCal).
    MissingLeftOut,
    /// A multiget fails as a whole, where a member is missing (sabre/dav 1.8).
    MissingFailsReport,
    /// Reports spell hrefs in another way than listings: `@`, and escapes in lower case.
    SpelledOtherwise,
    /// Calendar data is a CDATA section (iCloud).
    CharacterData,
    /// A propstat with status 404 and empty elements stands before the one that counts (iCloud).
    SecondPropstat,
    /// Answers and bodies begin with a byte order mark.
    ByteOrderMark,
    /// There are no Entity Tags.
    NoTags,
    /// All Entity Tags are weak.
    WeakTags,
    /// Entity Tags are weak in reports only.
    WeakTagsInReports,
    /// Entity Tags have no quotation marks in reports.
    BareTags,
    /// Entity Tags count versions and come back after delete and re-create (SOGo).
    RepeatedTags,
    /// A limited delta is cut and has the token of what was left out (Nextcloud, Xandikos).
    CutDelta,
    /// A limited first report is refused (Nextcloud).
    FirstReportWhole,
    /// The first report is always refused with 507 (Google).
    FirstReportRefused,
    /// A member that was deleted and made again is reported as removed (Nextcloud).
    RecreatedLooksRemoved,
    /// A token that was never given passes for the newest one (sabre/dav, Nextcloud, SOGo).
    AnyToken,
    /// A token that was never given lists everything (DAViCal).
    UnknownTokenListsAll,
    /// The collection reports itself without its slash, as something that is gone (sabre/dav, Nextcloud).
    CollectionReported,
    /// Reports of changes repeat what has not changed (SOGo, DAViCal).
    ChangesRepeated,
    /// 501 for a free/busy report (SOGo, Google).
    NoFreeBusy,
    /// 400 for a free/busy report (iCloud).
    FreeBusyIs400,

    /// `If-None-Match: *` on PUT is not looked at (SOGo, Google).
    AbsenceIgnored,
    /// `If-Match` on DELETE is not looked at (SOGo).
    MatchIgnoredOnDelete,
    /// `If-Match` on MOVE is not looked at (Radicale, Xandikos, SOGo).
    MatchIgnoredOnMove,
    /// `If-Match: *` lets something new be made (SOGo).
    AnyMatchesNothing,
    /// `If-Match: *` means its opposite (iCloud).
    AnyReversed,
    /// A weak Entity Tag matches its strong form (Cyrus).
    WeakMatches,
    /// Properties are stored in another order, and folded anew (Radicale, Xandikos).
    Reordered,
    /// Each category is stored on a line of its own (Cyrus).
    CategoriesSplit,
    /// What has no CLASS is stored with one (SOGo).
    ClassAdded,
    /// What became of each invitation is added at once (servers that schedule).
    ScheduleStatusAdded,
    /// The answer to PUT has no Entity Tag (sabre/dav where it changed something; case 020).
    NoTagInAnswer,
    /// A UID that is in the Calendar already is refused with this status, perhaps with a condition.
    UidTaken(u16, &'static str),
    /// A UID that is in the Calendar already is taken again (sabre/dav, DAViCal).
    UidAccepted,
    /// A UID may be in one Calendar only (Cyrus).
    UidUniqueEverywhere,
    /// A Calendar takes kinds that it does not list (Radicale, DAViCal, SOGo).
    AnyComponent,
    /// An Event without an end is refused (Cyrus 3.6, iCloud).
    EndNeeded,
    /// PUT without `text/calendar` is refused (Cyrus).
    MediaTypeNeeded,
    /// DELETE is answered with 200 (Radicale).
    DeleteIs200,
    /// There is no MOVE (Google).
    NoMove,
    /// MOVE is answered with 200 (DAViCal).
    MoveIs200,
    /// MOVE names what it moves by its UID (SOGo).
    MoveNamesByUid,
    /// `Overwrite: F` is not looked at (SOGo).
    OverwriteIgnored,
    /// A new name in the same Calendar is refused (sabre/dav, Nextcloud).
    RenameRefused,
    /// A `Destination` that is a path is refused (SOGo).
    DestinationNeedsHost,
    /// There is no MKCALENDAR (Google).
    NoMake,
    /// 207 to MKCALENDAR, and nothing is made (Cyrus, DAViCal).
    MakeRefused207,
    /// 207 to MKCALENDAR, and it is made (Xandikos).
    MakeIs207,
    /// 201 to MKCALENDAR, and most properties are dropped (SOGo).
    MakeDrops,
    /// The order of a Calendar is protected; PROPPATCH is done whole or not at all (sabre/dav, DAViCal, Cyrus).
    OrderRefused,
    /// The order of a Calendar is protected; the other properties are set (Radicale, Nextcloud, Xandikos).
    PatchNotAtomic,
    /// PROPPATCH is refused as a whole, without a word (SOGo).
    PatchRefused,
    /// The time zone of a Calendar is not kept, and not named in the answer (DAViCal).
    ZoneDropped,
    /// OPTIONS says that invitations are sent (RFC 6638).
    AutoSchedule,
    /// OPTIONS is refused, so that nobody knows whether invitations are sent.
    OptionsRefused,
}

/// Those that only writes meet.
pub const WRITE_ODDITIES: [Oddity; 37] = {
    use Oddity::*;
    [
        AbsenceIgnored,
        MatchIgnoredOnDelete,
        MatchIgnoredOnMove,
        AnyMatchesNothing,
        AnyReversed,
        WeakMatches,
        Reordered,
        CategoriesSplit,
        ClassAdded,
        ScheduleStatusAdded,
        NoTagInAnswer,
        UidTaken(400, ""),
        UidTaken(409, ""),
        UidTaken(412, "no-uid-conflict"),
        UidTaken(403, "unique-scheduling-object-resource"),
        UidAccepted,
        UidUniqueEverywhere,
        AnyComponent,
        EndNeeded,
        MediaTypeNeeded,
        DeleteIs200,
        NoMove,
        MoveIs200,
        MoveNamesByUid,
        OverwriteIgnored,
        RenameRefused,
        DestinationNeedsHost,
        NoMake,
        MakeRefused207,
        MakeIs207,
        MakeDrops,
        OrderRefused,
        PatchNotAtomic,
        PatchRefused,
        ZoneDropped,
        AutoSchedule,
        OptionsRefused,
    ]
};

/// Those that reads meet.
pub const ODDITIES: [Oddity; 44] = {
    use Oddity::*;
    [
        HomeElsewhere,
        WellKnownPage,
        TrashBin,
        SchedulingListed,
        OwnOutbox,
        MissingIs207,
        FiltersIgnored,
        EndlessEndsIn2037,
        StartAloneNotFound,
        DurationIgnored,
        ZoneIgnored,
        TodoRangeFindsNothing,
        TextsSearched,
        OverridesNotSearched,
        TextsEscaped,
        TextsRefused(403, "supported-filter"),
        TextsRefused(403, "supported-collation"),
        TextsRefused(403, ""),
        TextsRefused(405, ""),
        TextsRefused(501, ""),
        TextsRefused(500, ""),
        TextsRefused(413, ""),
        OccurrencesLimited,
        MissingLeftOut,
        MissingFailsReport,
        SpelledOtherwise,
        CharacterData,
        SecondPropstat,
        ByteOrderMark,
        NoTags,
        WeakTags,
        WeakTagsInReports,
        BareTags,
        RepeatedTags,
        CutDelta,
        FirstReportWhole,
        FirstReportRefused,
        RecreatedLooksRemoved,
        AnyToken,
        UnknownTokenListsAll,
        CollectionReported,
        ChangesRepeated,
        NoFreeBusy,
        FreeBusyIs400,
    ]
};

impl Oddity {
    fn refusal(self) -> Option<(u16, &'static str)> {
        if let Self::TextsRefused(status, condition) = self {
            Some((status, condition))
        } else {
            None
        }
    }
}

const PRINCIPAL: &str = "/principals/ana/";
const WELL_KNOWN: &str = "/.well-known/caldav";
const DAVICAL: &[Header] = &[
    ("dav", "1, 2, 3, access-control, calendar-access, calendar-schedule"),
    (
        "dav",
        "extended-mkcol, bind, addressbook, calendar-auto-schedule, calendar-proxy",
    ),
];
const SABRE: &[Header] = &[("x-sabre-version", "4.7.1")];

type Header = (&'static str, &'static str);

/// A change of a Calendar, as its log has it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Stored(String),
    Removed(String),
    Properties,
}

#[derive(Debug, Default)]
struct State {
    /// The changes of each Calendar, by path.
    logs: BTreeMap<String, Vec<Entry>>,
    /// How often a member was changed since it was made, by path.
    versions: BTreeMap<String, u32>,
    /// The paths of deleted Calendars.
    trashed: BTreeSet<String>,
    /// The UIDs of deleted members, with the paths of their Calendars.
    discarded: BTreeSet<(String, String)>,
}

/// The server. Clones share their content.
#[derive(Clone, Debug)]
pub struct Server {
    honest: Local,
    home: String,
    token: &'static str,
    headers: &'static [Header],
    oddities: BTreeSet<Oddity>,
    state: Arc<Mutex<State>>,
}

impl From<Local> for Server {
    /// A server without oddities.
    fn from(honest: Local) -> Self {
        Self {
            honest,
            home: "/".to_owned(),
            token: "",
            headers: &[],
            oddities: BTreeSet::new(),
            state: Arc::default(),
        }
    }
}

impl Server {
    /// A server with these oddities, and with the signs by which servers that have them are known.
    #[must_use]
    pub fn odd(honest: Local, oddities: &[Oddity]) -> Self {
        let has = |oddity| oddities.contains(&oddity);
        let (home, token) = match () {
            () if has(Oddity::RepeatedTags) => ("/SOGo/dav/ana/Calendar/", "17960496"),
            () if has(Oddity::RecreatedLooksRemoved) => ("/remote.php/dav/calendars/ana/", "http://sabre.io/ns/sync/"),
            () => ("/calendars/ana/", "data:,"),
        };
        let headers = match () {
            () if has(Oddity::TodoRangeFindsNothing) => DAVICAL,
            () if has(Oddity::TextsSearched) || oddities.iter().any(|it| it.refusal().is_some()) => SABRE,
            () => &[],
        };
        Self::at(honest, (home, token, headers), oddities)
    }

    /// A server that is like this one.
    #[must_use]
    pub fn like(honest: Local, persona: Persona) -> Self {
        let signs = (persona.home(), persona.token(), persona.headers());
        Self::at(honest, signs, persona.oddities())
    }

    fn at(honest: Local, (home, token, headers): (&str, &'static str, &'static [Header]), oddities: &[Oddity]) -> Self {
        Self {
            honest: honest.at(home),
            home: home.to_owned(),
            token,
            headers,
            oddities: oddities.iter().copied().collect(),
            state: Arc::default(),
        }
    }

    /// The same server without its oddities.
    #[must_use]
    pub fn honestly(&self) -> Self {
        Self {
            oddities: BTreeSet::new(),
            headers: &[],
            ..self.clone()
        }
    }

    /// The path of the calendar home.
    #[must_use]
    pub fn home(&self) -> &str {
        &self.home
    }

    fn has(&self, oddity: Oddity) -> bool {
        self.oddities.contains(&oddity)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // ---- what happens to it ------------------------------------------------------------------------------------

    fn perform(&self, method: Method, path: &str, body: Bytes) -> u16 {
        let request = Request::builder().method(method).uri(format!("{}{path}", self.home));
        let request = request.body(body).expect("a path");
        self.honest.answer(request).status().as_u16()
    }

    fn note(&self, path: &str, entry: fn(String) -> Entry) {
        let path = format!("{}{path}", self.home);
        let calendar = path.rfind('/').map_or("", |at| &path[..=at]).to_owned();
        self.state().logs.entry(calendar).or_default().push(entry(path));
    }

    /// Stores a member, such as `work/a.ics`.
    ///
    /// # Panics
    /// If it cannot be stored.
    pub fn put(&self, path: &str, content: impl Into<Bytes>) {
        assert!(self.try_put(path, content), "{path}");
    }

    /// Stores a member, unless the server refuses it.
    pub fn try_put(&self, path: &str, content: impl Into<Bytes>) -> bool {
        let status = self.perform(Method::PUT, path, content.into());
        if !matches!(status, 201 | 204) {
            return false;
        }
        let mut state = self.state();
        let version = state.versions.entry(format!("{}{path}", self.home)).or_default();
        *version = if status == 201 { 0 } else { *version + 1 };
        drop(state);
        self.note(path, Entry::Stored);
        true
    }

    /// Deletes a member.
    ///
    /// # Panics
    /// If it is not there.
    pub fn delete(&self, path: &str) {
        assert!(self.try_delete(path), "{path}");
    }

    /// Deletes a member, if it is there.
    pub fn try_delete(&self, path: &str) -> bool {
        let there = self.perform(Method::DELETE, path, Bytes::new()) == 204;
        if there {
            self.note(path, Entry::Removed);
        }
        there
    }

    /// Changes a property of a Calendar, such as `work/`.
    pub fn change_properties(&self, calendar: &str) {
        self.note(calendar, |_| Entry::Properties);
    }

    /// Deletes a Calendar and makes it again, empty.
    pub fn make_again(&self, calendar: &str) {
        let path = format!("{}{calendar}", self.home);
        for member in self.members(&path) {
            self.perform(Method::DELETE, &member[self.home.len()..], Bytes::new());
        }
        self.state().logs.remove(&path);
    }

    /// Deletes a Calendar, which goes to the trash bin.
    pub fn trash(&self, calendar: &str) {
        self.state().trashed.insert(format!("{}{calendar}", self.home));
    }

    // ---- what it answers ---------------------------------------------------------------------------------------

    /// Answers a request; a write is done at once.
    #[must_use]
    pub fn answer(&self, request: &Request<Bytes>) -> Response<Bytes> {
        if self.oddities.is_empty() && self.home == "/" {
            return self.honest.answer(request.clone());
        }
        let mut response = self.dispatch(request);
        for (name, value) in self.headers {
            let value = HeaderValue::from_static(value);
            response.headers_mut().append(*name, value);
        }
        response
    }

    fn dispatch(&self, request: &Request<Bytes>) -> Response<Bytes> {
        let path = request.uri().path();
        if !path.starts_with(&self.home) {
            return self.signpost(request);
        }
        if self.has(Oddity::HomeElsewhere) && request.uri().host() != Some(ALLOWED) {
            return status(404);
        }
        match request.method().as_str() {
            "PROPFIND" => self.listing(request),
            "REPORT" => self.report(request),
            "GET" => self.resource(request),
            _ => self.write(request),
        }
    }

    /// Leads to the home from anywhere else.
    fn signpost(&self, request: &Request<Bytes>) -> Response<Bytes> {
        let path = request.uri().path();
        if path == WELL_KNOWN && self.has(Oddity::WellKnownPage) {
            return page();
        }
        if path == WELL_KNOWN {
            let moved = Response::builder().status(301).header(LOCATION, "/");
            return moved.body(Bytes::new()).expect("a path");
        }
        if request.method().as_str() != "PROPFIND" || !matches!(path, "/" | PRINCIPAL) {
            return status(404);
        }
        let at = |name: &str, href: &str| format!("<{name}><D:href>{href}</D:href></{name}>");
        let mut found = at("D:current-user-principal", PRINCIPAL);
        if path == PRINCIPAL {
            let host = if self.has(Oddity::HomeElsewhere) {
                format!("https://{ALLOWED}")
            } else {
                String::new()
            };
            found.push_str(&at("C:calendar-home-set", &format!("{host}{}", self.home)));
            if self.has(Oddity::SchedulingListed) {
                found.push_str(&at("C:schedule-inbox-URL", &format!("{}.in/", self.home)));
                found.push_str(&at("C:schedule-outbox-URL", &format!("{}.out/", self.home)));
            }
            if self.has(Oddity::OwnOutbox) {
                found.push_str(&at("C:schedule-outbox-URL", &format!("{}{OUTBOX}", self.home)));
            }
        }
        let missing =
            "<D:propstat><D:prop><D:principal-URL/></D:prop><D:status>HTTP/1.1 404 Not Found</D:status></D:propstat>";
        Multistatus::default()
            .with(format!(
                "<D:response><D:href>{path}</D:href>{}{missing}</D:response>",
                found_propstat(&found)
            ))
            .finish()
    }

    fn listing(&self, request: &Request<Bytes>) -> Response<Bytes> {
        let honest = self.honest.answer(request.clone());
        let path = request.uri().path();
        if honest.status() == 404 && self.has(Oddity::MissingIs207) {
            let href = format!("https://{}{path}", request.uri().host().unwrap_or_default());
            let gone =
                format!("<D:response><D:href>{href}</D:href><D:status>HTTP/1.1 404 Not Found</D:status></D:response>");
            return Multistatus::default().with(gone).finish();
        }
        let Some(mut answer) = Multistatus::read(&honest) else {
            return honest;
        };
        let deep = request.headers().get("depth").is_some_and(|depth| depth == "1");
        for response in &mut answer.responses {
            let href = answer::href(response).to_owned();
            if self.state().trashed.contains(&href) {
                let deleted = "<N:deleted-calendar xmlns:N=\"http://nextcloud.com/ns\"/>";
                *response = response.replace("<C:calendar/>", deleted);
            }
            if self.has(Oddity::OwnOutbox) && href == format!("{}{OUTBOX}", self.home) {
                *response = response.replace("<C:calendar/>", "<C:calendar/><C:schedule-outbox/>");
            }
            *response = self.dressed(response);
        }
        if path == self.home && deep {
            let collection = |name: &str, kinds: &str| {
                let kinds = format!("<D:resourcetype><D:collection/>{kinds}</D:resourcetype>");
                let href = format!("{}{name}", self.home);
                format!(
                    "<D:response><D:href>{href}</D:href>{}</D:response>",
                    found_propstat(&kinds)
                )
            };
            if self.has(Oddity::TrashBin) {
                let kind = "<N:trash-bin xmlns:N=\"http://nextcloud.com/ns\"/>";
                answer.responses.push(collection("trashbin/", kind));
            }
            if self.has(Oddity::SchedulingListed) {
                answer.responses.push(collection(".in/", "<C:calendar/>"));
                answer.responses.push(collection(".out/", "<C:calendar/>"));
            }
        }
        self.finish(answer)
    }

    fn report(&self, request: &Request<Bytes>) -> Response<Bytes> {
        let body = String::from_utf8_lossy(request.body()).into_owned();
        if body.contains("sync-collection") {
            return self.changes(request.uri().path(), &body);
        }
        if body.contains("free-busy-query") {
            return match () {
                () if self.has(Oddity::NoFreeBusy) => status(501),
                () if self.has(Oddity::FreeBusyIs400) => status(400),
                () => self.honest.answer(request.clone()),
            };
        }
        let is_query = body.contains("calendar-query");
        let honest = if is_query {
            self.query(request, &body)
        } else {
            self.honest.answer(request.clone())
        };
        let Some(mut answer) = Multistatus::read(&honest) else {
            return honest;
        };
        if !is_query && self.has(Oddity::MissingFailsReport) && answer.responses.iter().any(|it| answer::is_gone(it)) {
            return status(404);
        }
        if self.has(Oddity::MissingLeftOut) {
            answer.responses.retain(|response| !answer::is_gone(response));
        }
        for response in &mut answer.responses {
            *response = self.dressed_in_report(response);
        }
        self.finish(answer)
    }

    fn resource(&self, request: &Request<Bytes>) -> Response<Bytes> {
        let mut response = self.honest.answer(request.clone());
        let tag = response.headers().get(ETAG).and_then(|tag| tag.to_str().ok());
        if let Some(tag) = tag.map(str::to_owned) {
            let head = response.headers_mut();
            head.remove(ETAG);
            if let Some(tag) = self.tag(request.uri().path(), &tag, false) {
                head.insert(ETAG, HeaderValue::from_str(&tag).expect("plain ASCII"));
            }
        }
        if self.has(Oddity::ByteOrderMark) && response.status() == 200 {
            *response.body_mut() = [b"\xef\xbb\xbf", &response.body()[..]].concat().into();
        }
        response
    }

    /// The Entity Tag that it gives for one.
    fn tag(&self, path: &str, honest: &str, in_report: bool) -> Option<String> {
        let weak = self.has(Oddity::WeakTags) || (in_report && self.has(Oddity::WeakTagsInReports));
        match () {
            () if self.has(Oddity::NoTags) => None,
            () if self.has(Oddity::RepeatedTags) => {
                let version = self.state().versions.get(path).copied().unwrap_or_default();
                Some(format!("\"gcs{version:08}\""))
            }
            () if weak => Some(format!("W/{honest}")),
            () if in_report && self.has(Oddity::BareTags) => Some(honest.trim_matches('"').to_owned()),
            () => Some(honest.to_owned()),
        }
    }

    // ---- asking the honest one ---------------------------------------------------------------------------------

    /// The hrefs of all members of a Calendar.
    fn members(&self, calendar: &str) -> Vec<String> {
        let body = "<D:propfind xmlns:D=\"DAV:\"><D:prop><D:getetag/></D:prop></D:propfind>";
        let answer = self.ask("PROPFIND", calendar, body.to_owned());
        let hrefs = answer
            .responses
            .iter()
            .map(|response| answer::href(response).to_owned());
        hrefs.filter(|href| href != calendar).collect()
    }

    /// These members with these properties, honestly.
    fn give(&self, calendar: &str, hrefs: &[String], properties: &str) -> Multistatus {
        let hrefs: String = hrefs.iter().map(|href| format!("<D:href>{href}</D:href>")).collect();
        let body = format!(
            "<C:calendar-multiget xmlns:D=\"DAV:\" xmlns:C=\"urn:ietf:params:xml:ns:caldav\">\
             <D:prop>{properties}</D:prop>{hrefs}</C:calendar-multiget>"
        );
        self.ask("REPORT", calendar, body)
    }

    fn ask(&self, method: &str, path: &str, body: String) -> Multistatus {
        let request = Request::builder().method(method).uri(path).header("depth", "1");
        let response = self.honest.answer(request.body(body.into()).expect("a path"));
        Multistatus::read(&response).unwrap_or_default()
    }

    /// The content of a member.
    fn content(&self, href: &str) -> String {
        let request = Request::get(href).body(Bytes::new()).expect("a path");
        String::from_utf8_lossy(self.honest.answer(request).body()).into_owned()
    }
}

/// The Calendar that is the outbox, where one is.
const OUTBOX: &str = "work/";

fn found_propstat(properties: &str) -> String {
    format!("<D:propstat><D:prop>{properties}</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>")
}

fn status(code: u16) -> Response<Bytes> {
    Response::builder().status(code).body(Bytes::new()).expect("a status")
}

fn page() -> Response<Bytes> {
    let page = Response::builder().header(CONTENT_TYPE, "text/html");
    page.body("<html><body>Welcome</body></html>".into())
        .expect("a media type")
}

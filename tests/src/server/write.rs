//! PUT, DELETE, MOVE, MKCALENDAR and PROPPATCH as real servers do them: what is not odd is done by the honest one.

use std::collections::BTreeSet;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, ETAG, IF_MATCH, IF_NONE_MATCH};
use http::{HeaderValue, Request, Response};
use kalends_core::ical::document::{Component, Document};

use super::answer::Multistatus;
use super::{Entry, Oddity, Server, status};

/// What Nextcloud says where a UID is taken, perhaps by something in the trash.
const TAKEN: &str = "Calendar object with uid already exists in this calendar collection.";
/// A property that some servers do not let anybody set.
const PROTECTED: &str = "calendar-order";
/// Properties that may stand beside it.
const OTHERS: [&str; 4] = [
    "D:displayname",
    "C:calendar-description",
    "C:calendar-timezone",
    "A:calendar-color",
];

impl Server {
    /// The octets of a member, such as `work/a.ics`, if it is there.
    #[must_use]
    pub fn stored(&self, path: &str) -> Option<Bytes> {
        Some(self.current(&format!("{}{path}", self.home))?.0)
    }

    /// The Entity Tag of a member, if it is there and has one.
    #[must_use]
    pub fn tag_of(&self, path: &str) -> Option<String> {
        self.current(&format!("{}{path}", self.home))?.1
    }

    /// The octets and the Entity Tag of all members of a Calendar, such as `work/`, by their names.
    #[must_use]
    pub fn content_of(&self, calendar: &str) -> Vec<(String, Bytes)> {
        let hrefs = self.members(&format!("{}{calendar}", self.home));
        let content = |href: String| Some((href[self.home.len()..].to_owned(), self.current(&href)?.0));
        hrefs.into_iter().filter_map(content).collect()
    }

    /// All that a client can see of the account: Calendars with what is known of them, members with their octets.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let body = "<D:propfind xmlns:D=\"DAV:\" xmlns:C=\"urn:ietf:params:xml:ns:caldav\" xmlns:A=\"http://apple.com/ns/ical/\">\
             <D:prop><D:resourcetype/><D:displayname/><C:calendar-description/><C:calendar-timezone/><A:calendar-color/>\
             <A:calendar-order/><C:supported-calendar-component-set/></D:prop></D:propfind>";
        let mut all = self.ask("PROPFIND", &self.home, body.to_owned()).responses.concat();
        for calendar in self.members(&self.home) {
            for member in self.members(&calendar) {
                let content = self.current(&member).map(|(content, _)| content).unwrap_or_default();
                all.push_str(&format!("{member}\n{}\n", String::from_utf8_lossy(&content)));
            }
        }
        let state = self.state();
        all.push_str(&format!("{:?}", state.trashed));
        all
    }

    pub(super) fn write(&self, request: &Request<Bytes>) -> Response<Bytes> {
        let path = request.uri().path();
        let is_collection = path.ends_with('/');
        match request.method().as_str() {
            "OPTIONS" => self.options(request),
            "PUT" => self.store(request),
            "DELETE" if is_collection && self.has(Oddity::TrashBin) && !request.headers().contains_key(NO_TRASH) => {
                self.state().trashed.insert(path.to_owned());
                status(204)
            }
            "DELETE" if !is_collection => self.remove(request),
            "MOVE" if self.has(Oddity::NoMove) => status(501),
            "MOVE" if !is_collection => self.relocate(request),
            "MKCALENDAR" => self.make(request),
            "PROPPATCH" => self.patch(request),
            _ => self.honest.answer(request.clone()),
        }
    }

    fn options(&self, request: &Request<Bytes>) -> Response<Bytes> {
        if self.has(Oddity::OptionsRefused) {
            return status(501);
        }
        let mut response = self.honest.answer(request.clone());
        if self.has(Oddity::AutoSchedule) {
            let tokens = HeaderValue::from_static("calendar-auto-schedule");
            response.headers_mut().append("dav", tokens);
        }
        response
    }

    /// What is at a path: octets, and the Entity Tag that this server gives.
    fn current(&self, path: &str) -> Option<(Bytes, Option<String>)> {
        let request = Request::get(path).body(Bytes::new()).expect("a path");
        let response = self.honest.answer(request);
        let tag = response.headers().get(ETAG).and_then(|tag| tag.to_str().ok());
        let tag = tag.and_then(|tag| self.tag(path, tag, false));
        (response.status() == 200).then(|| (response.into_body(), tag))
    }

    /// Whether the conditions of a write hold.
    fn allows(&self, request: &Request<Bytes>, current: Option<&(Bytes, Option<String>)>) -> bool {
        let ignored = match request.method().as_str() {
            "DELETE" => self.has(Oddity::MatchIgnoredOnDelete),
            "MOVE" => self.has(Oddity::MatchIgnoredOnMove),
            _ => false,
        };
        let value = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
        let strong = |tag: &str| self.has(Oddity::WeakMatches) || !tag.starts_with("W/");
        let bare = |tag: &str| tag.trim_start_matches("W/").to_owned();
        let matches = match (value(IF_MATCH), current) {
            (None, _) => true,
            _ if ignored => true,
            (Some("*"), None) => self.has(Oddity::AnyMatchesNothing) || self.has(Oddity::AnyReversed),
            (Some("*"), Some(_)) => !self.has(Oddity::AnyReversed),
            (Some(_), None) => false,
            (Some(tag), Some((_, own))) => own
                .as_deref()
                .is_some_and(|own| strong(tag) && strong(own) && bare(tag) == bare(own)),
        };
        let absent = match (value(IF_NONE_MATCH), current) {
            (Some("*"), Some(_)) => self.has(Oddity::AbsenceIgnored),
            _ => true,
        };
        matches && absent
    }

    // ---- members -----------------------------------------------------------------------------------------------

    fn store(&self, request: &Request<Bytes>) -> Response<Bytes> {
        let path = request.uri().path();
        let current = self.current(path);
        if !self.allows(request, current.as_ref()) {
            return status(412);
        }
        let media = request.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
        if self.has(Oddity::MediaTypeNeeded) && !media.is_some_and(|media| media.starts_with(b"text/calendar")) {
            return condition(403, "supported-calendar-data");
        }
        let (calendar, _) = split(path);
        let uid = uid(request.body());
        let (discarded, elsewhere) = (self.is_discarded(calendar, &uid), self.is_elsewhere(path, &uid));
        if discarded && current.is_none() {
            return text(
                500,
                "UNIQUE constraint failed: oc_calendarobjects.calendarid, oc_calendarobjects.uid",
            );
        }
        if elsewhere && self.has(Oddity::UidUniqueEverywhere) {
            return condition(403, "unique-scheduling-object-resource");
        }
        if self.has(Oddity::EndNeeded) && has_bare_start(request.body()) {
            return condition(403, "valid-calendar-data");
        }
        let content = self.rewritten(request.body());
        let response = self.send("PUT", path, content.clone());
        let refused = String::from_utf8_lossy(response.body()).into_owned();
        let is_new = current.is_none();
        match response.status().as_u16() {
            201 | 204 => {}
            409 if refused.contains("no-uid-conflict") => match self.uid_taken() {
                Some(UidTaken::Refused(answer)) => return answer,
                Some(UidTaken::Accepted) => self.force(path, content),
                None => return response,
            },
            403 if refused.contains("supported-calendar-component") && self.has(Oddity::AnyComponent) => {
                self.force(path, content);
            }
            _ => return response,
        }
        self.noted(path, Some(is_new));
        let mut answer = status(if is_new { 201 } else { 204 });
        let tag = self.current(path).and_then(|(_, tag)| tag);
        if let (Some(tag), false) = (tag, self.has(Oddity::NoTagInAnswer)) {
            let tag = HeaderValue::from_str(&tag).expect("plain ASCII");
            answer.headers_mut().insert(ETAG, tag);
        }
        answer
    }

    fn remove(&self, request: &Request<Bytes>) -> Response<Bytes> {
        let path = request.uri().path();
        let Some(current) = self.current(path) else {
            return status(404);
        };
        if !self.allows(request, Some(&current)) {
            return status(412);
        }
        self.send("DELETE", path, Bytes::new());
        self.discard(path, &current.0);
        self.noted(path, None);
        status(if self.has(Oddity::DeleteIs200) { 200 } else { 204 })
    }

    fn relocate(&self, request: &Request<Bytes>) -> Response<Bytes> {
        let path = request.uri().path();
        let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
        let Some(destination) = header("destination") else {
            return status(400);
        };
        let place = match destination.split_once("://") {
            Some((_, rest)) => &rest[rest.find('/').unwrap_or(rest.len())..],
            None if self.has(Oddity::DestinationNeedsHost) => return status(403),
            None => destination,
        };
        let Some(current) = self.current(path) else {
            return status(404);
        };
        if !self.allows(request, Some(&current)) {
            return status(412);
        }
        let uid = uid(&current.0);
        let ((from, _), (calendar, _)) = (split(path), split(place));
        if !place.starts_with(&self.home) || calendar == self.home || self.listed(calendar).responses.is_empty() {
            return status(409);
        }
        let mut place = place.to_owned();
        if self.has(Oddity::MoveNamesByUid) {
            place = format!("{calendar}{}.ics", uid.replace(['/', '?', '#', '%'], "_"));
        }
        let there = self.current(&place);
        if there.is_some() && header("overwrite") == Some("F") && !self.has(Oddity::OverwriteIgnored) {
            return status(412);
        }
        if from == calendar && self.has(Oddity::RenameRefused) {
            return status(403);
        }
        if self.is_discarded(calendar, &uid) {
            return text(400, TAKEN);
        }
        if from != calendar && self.has_uid(calendar, &uid, &place) {
            match self.uid_taken() {
                Some(UidTaken::Refused(answer)) => return answer,
                Some(UidTaken::Accepted) => {}
                None => return condition(409, "no-uid-conflict"),
            }
        }
        self.send("DELETE", path, Bytes::new());
        self.discard(path, &current.0);
        self.noted(path, None);
        self.force(&place, current.0);
        self.noted(&place, Some(there.is_none()));
        status(match there {
            _ if self.has(Oddity::MoveIs200) => 200,
            Some(_) => 204,
            None => 201,
        })
    }

    /// Stores what the honest one would refuse.
    fn force(&self, path: &str, content: Bytes) {
        let member = &path[self.home.len()..];
        drop(self.honest.clone().put(member, content));
    }

    fn send(&self, method: &str, path: &str, body: Bytes) -> Response<Bytes> {
        let request = Request::builder().method(method).uri(path);
        self.honest.answer(request.body(body).expect("a path"))
    }

    /// Notes a change for the log, and counts versions: a member that was made, changed, or is gone.
    fn noted(&self, path: &str, made: Option<bool>) {
        let (calendar, _) = split(path);
        let mut state = self.state();
        let entry = match made {
            Some(is_new) => {
                let version = state.versions.entry(path.to_owned()).or_default();
                *version = if is_new { 0 } else { *version + 1 };
                Entry::Stored(path.to_owned())
            }
            None => Entry::Removed(path.to_owned()),
        };
        state.logs.entry(calendar.to_owned()).or_default().push(entry);
    }

    // ---- UIDs --------------------------------------------------------------------------------------------------

    fn uid_taken(&self) -> Option<UidTaken> {
        if self.has(Oddity::UidAccepted) {
            return Some(UidTaken::Accepted);
        }
        let (code, name) = self.oddities.iter().find_map(|oddity| {
            if let Oddity::UidTaken(code, name) = oddity {
                Some((*code, *name))
            } else {
                None
            }
        })?;
        Some(UidTaken::Refused(match (code, name) {
            (400, _) => text(400, TAKEN),
            // The namespace is not that of DAV, as SOGo has it.
            (code, "") => xml(
                code,
                "<D:error xmlns:D=\"DAV\">Event UID already in use.</D:error>".into(),
            ),
            (code, name) => condition(code, name),
        }))
    }

    fn has_uid(&self, calendar: &str, wanted: &str, but: &str) -> bool {
        let mut members = self.members(calendar).into_iter().filter(|member| member != but);
        members.any(|member| {
            self.current(&member)
                .is_some_and(|(content, _)| uid(&content) == wanted)
        })
    }

    fn is_elsewhere(&self, path: &str, wanted: &str) -> bool {
        let home = self.members(&self.home);
        home.iter().any(|calendar| self.has_uid(calendar, wanted, path))
    }

    fn listed(&self, calendar: &str) -> Multistatus {
        self.ask("PROPFIND", calendar, String::new())
    }

    /// Whether the trash of a Calendar has the UID.
    fn is_discarded(&self, calendar: &str, uid: &str) -> bool {
        self.state().discarded.contains(&(calendar.to_owned(), uid.to_owned()))
    }

    fn discard(&self, path: &str, content: &Bytes) {
        if self.has(Oddity::TrashBin) {
            let (calendar, _) = split(path);
            self.state().discarded.insert((calendar.to_owned(), uid(content)));
        }
    }

    // ---- Calendars ---------------------------------------------------------------------------------------------

    fn make(&self, request: &Request<Bytes>) -> Response<Bytes> {
        let body = String::from_utf8_lossy(request.body()).into_owned();
        if self.has(Oddity::MakeRefused207) {
            let propstats = format!(
                "<D:propstat><D:prop><A:{PROTECTED}/></D:prop><D:status>HTTP/1.1 403 Forbidden</D:status>\
                 <D:error><D:cannot-modify-protected-property/></D:error></D:propstat><D:propstat><D:prop>\
                 <D:displayname/></D:prop><D:status>HTTP/1.1 424 Failed Dependency</D:status></D:propstat>"
            );
            return Multistatus {
                tail: propstats,
                ..Multistatus::default()
            }
            .finish();
        }
        if self.has(Oddity::NoMake) {
            return status(405);
        }
        let mut kept = body;
        if self.has(Oddity::MakeDrops) {
            for name in [
                "calendar-description",
                PROTECTED,
                "calendar-timezone",
                "supported-calendar-component-set",
            ] {
                kept = without(&kept, name);
            }
        }
        let made = self.send("MKCALENDAR", request.uri().path(), kept.into());
        if made.status() == 201 && self.has(Oddity::MakeIs207) {
            let path = request.uri().path();
            let found =
                "<D:propstat><D:prop><D:displayname/></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>";
            return Multistatus::default()
                .with(format!("<D:response><D:href>{path}</D:href>{found}</D:response>"))
                .finish();
        }
        made
    }

    fn patch(&self, request: &Request<Bytes>) -> Response<Bytes> {
        let body = String::from_utf8_lossy(request.body()).into_owned();
        let path = request.uri().path();
        if self.has(Oddity::PatchRefused) {
            return status(403);
        }
        if self.has(Oddity::ZoneDropped) && body.contains("calendar-timezone") {
            self.send("PROPPATCH", path, without(&body, "calendar-timezone").into());
            return outcome(path, &[("", 200)]);
        }
        let is_odd = self.has(Oddity::OrderRefused) || self.has(Oddity::PatchNotAtomic);
        if !is_odd || !body.contains(PROTECTED) {
            self.note(&path[self.home.len()..], |_| Entry::Properties);
            return self.send("PROPPATCH", path, request.body().clone());
        }
        let others = OTHERS.into_iter().filter(|name| body.contains(&name[2..]));
        let not_atomic = self.has(Oddity::PatchNotAtomic);
        let mut lines: Vec<_> = others.map(|name| (name, if not_atomic { 200 } else { 424 })).collect();
        if not_atomic && !lines.is_empty() {
            self.send("PROPPATCH", path, without(&body, PROTECTED).into());
        }
        lines.push(("A:calendar-order", 403));
        outcome(path, &lines)
    }

    // ---- what is stored ----------------------------------------------------------------------------------------

    /// Calendar data as this server keeps it.
    fn rewritten(&self, content: &Bytes) -> Bytes {
        let rewrites = [
            Oddity::Reordered,
            Oddity::CategoriesSplit,
            Oddity::ClassAdded,
            Oddity::ScheduleStatusAdded,
        ];
        if !rewrites.iter().any(|oddity| self.has(*oddity)) {
            return content.clone();
        }
        let text = String::from_utf8_lossy(content).replace("\r\n", "\n");
        let text = text.replace("\n ", "").replace("\n\t", "");
        let mut lines = text.lines();
        let mut out = String::new();
        while let Some(line) = lines.next() {
            if let Some(name) = line.strip_prefix("BEGIN:") {
                self.write_component(name, &mut lines, &mut out);
            }
        }
        out.into()
    }

    fn write_component<'a>(&self, name: &str, lines: &mut impl Iterator<Item = &'a str>, out: &mut String) {
        let (mut own, mut inner) = (Vec::new(), String::new());
        while let Some(line) = lines.next() {
            if let Some(name) = line.strip_prefix("BEGIN:") {
                self.write_component(name, lines, &mut inner);
            } else if line.starts_with("END:") {
                break;
            } else {
                self.write_line(line, &mut own);
            }
        }
        let is_entity = matches!(name, "VEVENT" | "VTODO");
        if is_entity && self.has(Oddity::ClassAdded) && !own.iter().any(|line| line.starts_with("CLASS")) {
            own.push("CLASS:PUBLIC".into());
        }
        if self.has(Oddity::Reordered) {
            own.sort();
        }
        fold(&format!("BEGIN:{name}"), out);
        own.iter().for_each(|line| fold(line, out));
        out.push_str(&inner);
        fold(&format!("END:{name}"), out);
    }

    fn write_line(&self, line: &str, own: &mut Vec<String>) {
        match line.split_once(':') {
            Some(("CATEGORIES", values)) if self.has(Oddity::CategoriesSplit) && !values.contains('\\') => {
                own.extend(values.split(',').map(|value| format!("CATEGORIES:{value}")));
            }
            Some((head, address))
                if self.has(Oddity::ScheduleStatusAdded)
                    && head.starts_with("ATTENDEE")
                    && !head.contains("SCHEDULE-STATUS") =>
            {
                own.push(format!("{head};SCHEDULE-STATUS=1.1:{address}"));
            }
            _ => own.push(line.to_owned()),
        }
    }
}

/// The header that keeps a Calendar out of Nextcloud's trash.
const NO_TRASH: &str = "x-nc-caldav-no-trashbin";

enum UidTaken {
    Accepted,
    Refused(Response<Bytes>),
}

/// A path as its collection and the last segment.
fn split(path: &str) -> (&str, &str) {
    path.split_at(path.rfind('/').map_or(0, |at| at + 1))
}

/// The UIDs of a document, usually one.
fn uid(content: &Bytes) -> String {
    let Ok(document) = Document::parse(content.clone()) else {
        return String::new();
    };
    let components = document.roots().flat_map(|root| root.children().collect::<Vec<_>>());
    let uids: BTreeSet<_> = components
        .filter_map(|component| component.first("UID").map(|uid| uid.value().into_owned()))
        .collect();
    let uids: Vec<_> = uids.iter().map(|uid| String::from_utf8_lossy(uid)).collect();
    uids.join(" ")
}

/// Whether an Event says when it begins, and not when it ends.
fn has_bare_start(content: &Bytes) -> bool {
    let Ok(document) = Document::parse(content.clone()) else {
        return false;
    };
    let bare = |event: Component<'_>| {
        event.is("VEVENT") && event.first("DTEND").is_none() && event.first("DURATION").is_none()
    };
    document.roots().any(|root| root.children().any(bare))
}

/// A content line on lines of at most 75 octets (RFC 5545, 3.1).
fn fold(line: &str, out: &mut String) {
    let mut left = 75;
    for c in line.chars() {
        if c.len_utf8() > left {
            out.push_str("\r\n ");
            left = 74;
        }
        left -= c.len_utf8();
        out.push(c);
    }
    out.push_str("\r\n");
}

/// XML without the elements of this name, whatever their prefix.
fn without(xml: &str, name: &str) -> String {
    let mut out = xml.to_owned();
    let opens = |tag: &str| {
        let own = tag.split(['>', ' ', '/']).next().unwrap_or_default();
        own.rsplit(':').next() == Some(name)
    };
    let mut from = 0;
    while let Some(at) = out[from..].find('<').map(|at| from + at) {
        if !opens(&out[at + 1..]) {
            from = at + 1;
            continue;
        }
        let head = at + out[at..].find('>').map_or(out.len() - at, |end| end + 1);
        let end = if out[..head].ends_with("/>") {
            head
        } else {
            let own = out[at + 1..head].split(['>', ' ']).next().unwrap_or_default();
            let close = format!("</{own}>");
            out[head..]
                .find(&close)
                .map_or(out.len(), |found| head + found + close.len())
        };
        out.replace_range(at..end, "");
        from = at;
    }
    out
}

/// An answer to PROPPATCH.
fn outcome(path: &str, properties: &[(&str, u16)]) -> Response<Bytes> {
    let propstat = |(name, code): &(&str, u16)| {
        let property = if name.is_empty() {
            String::new()
        } else {
            format!("<{name}/>")
        };
        format!("<D:propstat><D:prop>{property}</D:prop><D:status>HTTP/1.1 {code} x</D:status></D:propstat>")
    };
    let propstats: String = properties.iter().map(propstat).collect();
    Multistatus::default()
        .with(format!("<D:response><D:href>{path}</D:href>{propstats}</D:response>"))
        .finish()
}

fn condition(code: u16, name: &str) -> Response<Bytes> {
    xml(
        code,
        format!("<D:error xmlns:D=\"DAV:\" xmlns:C=\"urn:ietf:params:xml:ns:caldav\"><C:{name}/></D:error>"),
    )
}

fn xml(code: u16, body: String) -> Response<Bytes> {
    let response = Response::builder().status(code);
    let response = response.header(CONTENT_TYPE, "application/xml; charset=utf-8");
    response.body(body.into()).expect("a status")
}

fn text(code: u16, body: &'static str) -> Response<Bytes> {
    let response = Response::builder().status(code).header(CONTENT_TYPE, "text/plain");
    response.body(body.into()).expect("a status")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_taken_out_of_xml() {
        let xml = "<a><C:x y=\"1\">t</C:x><D:xx/><x/><z>1</z></a>";
        assert_eq!(without(xml, "x"), "<a><D:xx/><z>1</z></a>");
    }

    #[test]
    fn lines_are_folded_at_75_octets() {
        let mut out = String::new();
        fold(&"é".repeat(60), &mut out);
        let lines: Vec<_> = out.split("\r\n").collect();
        assert_eq!(lines.iter().map(|line| line.len()).collect::<Vec<_>>(), [74, 47, 0]);
    }
}

//! What a calendar-query finds.

use bytes::Bytes;
use http::{Request, Response};
use kalends_core::ical::entity::Entity;
use kalends_core::ical::expand::Window;
use kalends_core::ical::recur::Steps;
use kalends_core::ical::zone::Zone;

use super::answer::{Multistatus, between, href, unescaped};
use super::sync::refusal;
use super::{Oddity, Server, status};

/// The occurrences that Radicale's queries may touch.
const OCCURRENCES: usize = 10_000;

/// Start and end of a range, in the form `20261201T000000Z`, which compares as the time does.
type Range<'a> = (&'a str, &'a str);

impl Server {
    /// What a calendar-query finds, before it is dressed.
    pub(super) fn query(&self, request: &Request<Bytes>, body: &str) -> Response<Bytes> {
        let calendar = request.uri().path();
        if self.has(Oddity::FiltersIgnored) {
            let wanted = between(body, "<D:prop>", "</D:prop>").unwrap_or_default();
            return self.give(calendar, &self.members(calendar), wanted).finish();
        }
        let text = Text::read(body);
        if let (Some((code, condition)), Some(_)) = (self.oddities.iter().find_map(|it| it.refusal()), &text) {
            return match condition {
                "" => status(code),
                condition => refusal(code, condition),
            };
        }
        let honest = self.honest.answer(request.clone());
        let Some(mut answer) = Multistatus::read(&honest) else {
            return honest;
        };
        if let Some(text) = text {
            answer
                .responses
                .retain(|response| self.has_text(&self.content(href(response)), &text));
            return answer.finish();
        }
        let range = between(body, "start=\"", "\"").zip(between(body, "end=\"", "\""));
        let Some(range) = range else {
            return honest;
        };
        if self.has(Oddity::TodoRangeFindsNothing) && body.contains("\"VTODO\"") {
            answer.responses.clear();
        }
        let found = answer.responses.iter().map(|response| self.content(href(response)));
        let found: Vec<String> = found.collect();
        if self.has(Oddity::OccurrencesLimited) && too_many(&found, range) {
            return status(400);
        }
        let mut contents = found.iter();
        answer
            .responses
            .retain(|_| contents.next().is_some_and(|content| self.finds(content, range)));
        answer.finish()
    }

    /// Whether the range finds a member that it should find.
    fn finds(&self, content: &str, (from, to): Range<'_>) -> bool {
        let lines = content.replace("\r\n ", "");
        let has = |name: &str| lines.contains(&format!("\r\n{name}"));
        if has("RRULE") {
            let endless = !lines.contains("COUNT=") && !lines.contains("UNTIL=");
            return !(self.has(Oddity::EndlessEndsIn2037) && endless && from >= "2037");
        }
        if let Some(start) = between(&lines, "\r\nDTSTART:", "\r\n") {
            let instant = self.has(Oddity::StartAloneNotFound) && !has("DTEND") && !has("DURATION") && !has("DUE")
                || self.has(Oddity::DurationIgnored) && has("DURATION");
            return !instant || (from < start && start < to);
        }
        let ends_of = |name: &str| {
            let line = between(&lines, &format!("\r\n{name};TZID="), "\r\n")?;
            Some(format!("{}Z", line.split_once(':')?.1))
        };
        match (self.has(Oddity::ZoneIgnored), ends_of("DTSTART"), ends_of("DTEND")) {
            (true, Some(start), Some(end)) => start.as_str() < to && from < end.as_str(),
            _ => true,
        }
    }
}

/// A property of a component, and what it has to contain.
struct Text {
    component: String,
    property: String,
    text: String,
}

impl Text {
    fn read(body: &str) -> Option<Self> {
        let filter = &body[body.find("<C:prop-filter")?..];
        let component = ["VEVENT", "VTODO"]
            .into_iter()
            .find(|kind| body.contains(&format!("\"{kind}\"")));
        let text = between(filter, "<C:text-match", "</C:text-match>")?;
        Some(Self {
            component: component?.to_owned(),
            property: between(filter, "name=\"", "\"")?.to_owned(),
            text: unescaped(text.split_once('>')?.1).to_ascii_lowercase(),
        })
    }
}

impl Server {
    /// Whether a member answers to a text match: an honest server need not look.
    fn has_text(&self, content: &str, text: &Text) -> bool {
        let master_only = self.has(Oddity::OverridesNotSearched);
        if !master_only && !self.has(Oddity::TextsSearched) {
            return true;
        }
        let lines = content.replace("\r\n ", "").replace("\r\n\t", "");
        let (mut open, mut found): (Vec<&str>, Vec<(bool, bool)>) = (Vec::new(), Vec::new());
        for line in lines.split("\r\n") {
            let (head, value) = line.split_once(':').unwrap_or((line, ""));
            let name = head.split(';').next().unwrap_or_default();
            match (name, open.as_slice()) {
                ("BEGIN", [_]) if value == text.component => {
                    open.push(value);
                    found.push((true, false));
                }
                ("BEGIN", _) => open.push(value),
                ("END", _) => drop(open.pop()),
                (name, [_, component]) if *component == text.component => {
                    let (is_master, has) = found.last_mut().expect("its component is open");
                    *is_master &= name != "RECURRENCE-ID";
                    *has |= name == text.property && self.compared(value).contains(&text.text);
                }
                _ => {}
            }
        }
        found
            .iter()
            .any(|(is_master, has)| *has && (*is_master || !master_only))
    }

    /// A text as it is compared: in ASCII without case. sabre/dav decodes what RFC 5545 escapes, and nothing else.
    fn compared(&self, value: &str) -> String {
        let mut out = value.to_owned();
        if !self.has(Oddity::TextsEscaped) {
            let mut decoded = String::new();
            let mut rest = value.chars();
            while let Some(c) = rest.next() {
                match (c, rest.clone().next()) {
                    ('\\', Some(next @ ('\\' | ',' | ';' | 'n' | 'N'))) => {
                        decoded.push(if matches!(next, 'n' | 'N') { '\n' } else { next });
                        rest.next();
                    }
                    _ => decoded.push(c),
                }
            }
            out = decoded;
        }
        out.make_ascii_lowercase();
        out
    }
}

fn too_many(contents: &[String], (from, to): Range<'_>) -> bool {
    let second = |text: &str| {
        let civil = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", text).expect("a time in UTC");
        jiff::tz::Offset::UTC.to_timestamp(civil).expect("in range").as_second()
    };
    let window = Window {
        from: second(from),
        to: second(to),
    };
    let count = |content: &String| {
        let entity = Entity::read(Bytes::copy_from_slice(content.as_bytes()));
        let found = entity.occurrences(&Zone::utc(), window, &mut Steps::new(10_000_000));
        found.map_or(0, |found| found.len())
    };
    contents.iter().map(count).sum::<usize>() >= OCCURRENCES
}

//! What a calendar-query finds.

use bytes::Bytes;
use http::{Request, Response};
use kalends_core::ical::entity::Entity;
use kalends_core::ical::expand::Window;
use kalends_core::ical::recur::Steps;
use kalends_core::ical::zone::Zone;

use super::answer::{Multistatus, between, href};
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
        let honest = self.honest.answer(request.clone());
        let Some(mut answer) = Multistatus::read(&honest) else {
            return honest;
        };
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

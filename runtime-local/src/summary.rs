//! What a listing or filter needs to know of a file's content: cheap to keep for ten thousand files.

use std::collections::BTreeMap;

use bytes::Bytes;
use kalends_core::ical::document::{Component, Document};
use sha2::{Digest, Sha256};

/// The component that holds all others.
pub(crate) const CALENDAR: &str = "VCALENDAR";
/// Added on both sides of every range: two UTC offsets of almost a day each, and a day for what is left.
const MARGIN: i64 = 3 * 86_400;

/// The content of a file, seen from outside.
#[derive(Debug)]
pub(crate) struct Summary {
    /// A strong Entity Tag with its quotes: a hash of the content.
    pub(crate) etag: String,
    /// Bytes.
    pub(crate) length: usize,
    /// Distinct UIDs.
    pub(crate) uids: Vec<String>,
    /// The kinds of component directly in a VCALENDAR; `None` if the content is too large to tell.
    parts: Option<Vec<Part>>,
}

/// All components of one kind.
#[derive(Debug)]
struct Part {
    kind: String,
    /// No occurrence lies outside these Unix seconds.
    from: i64,
    to: i64,
}

impl Summary {
    pub(crate) fn read(content: &Bytes) -> Self {
        let mut uids: Vec<String> = Vec::new();
        let parts = Document::parse(content.clone()).ok().map(|document| {
            let mut spreads: BTreeMap<String, Spread> = BTreeMap::new();
            for calendar in document.roots().filter(|root| root.is(CALENDAR)) {
                spreads.entry(CALENDAR.into()).or_default();
                for component in calendar.children() {
                    let kind = String::from_utf8_lossy(&component.name()).to_ascii_uppercase();
                    if kind == "VTIMEZONE" {
                        continue;
                    }
                    let uid = component.first("UID").map(|uid| text(&uid.value()));
                    if let Some(uid) = uid.filter(|uid| uids.last() != Some(uid)) {
                        uids.push(uid);
                    }
                    spreads.entry(kind).or_default().add(component);
                }
            }
            spreads.into_iter().map(|(kind, spread)| spread.part(kind)).collect()
        });
        uids.sort();
        uids.dedup();
        Self {
            etag: etag(content),
            length: content.len(),
            uids,
            parts,
        }
    }

    /// Whether the file holds a component of this kind (`VCALENDAR` for any iCalendar at all). True if in doubt.
    pub(crate) fn has(&self, kind: &str) -> bool {
        self.parts
            .as_ref()
            .is_none_or(|parts| parts.iter().any(|part| part.kind == kind))
    }

    /// Whether the file holds a component of this kind. False if in doubt.
    pub(crate) fn surely_has(&self, kind: &str) -> bool {
        self.parts.is_some() && self.has(kind)
    }

    /// Whether a component of this kind may have an occurrence in this window. True if in doubt.
    pub(crate) fn may_overlap(&self, kind: &str, from: i64, to: i64) -> bool {
        self.parts.as_ref().is_none_or(|parts| {
            parts
                .iter()
                .any(|part| part.kind == kind && part.from <= to && part.to >= from)
        })
    }

    /// The kind of component to name in `getcontenttype`, if there is just one.
    pub(crate) fn kind(&self) -> Option<&str> {
        let mut kinds = self
            .parts
            .iter()
            .flatten()
            .map(|part| part.kind.as_str())
            .filter(|kind| *kind != CALENDAR);
        kinds.next().filter(|_| kinds.next().is_none())
    }
}

/// A strong Entity Tag of any content: the first 128 bits of its SHA-256.
pub(crate) fn etag(content: &[u8]) -> String {
    let mut tag = String::from("\"");
    for byte in &Sha256::digest(content)[..16] {
        tag.push_str(&format!("{byte:02x}"));
    }
    tag.push('"');
    tag
}

/// A property value as text without surrounding blanks. Escapes stay: it is only compared.
pub(crate) fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value.trim_ascii()).into_owned()
}

/// Collects the outermost times of components of one kind.
#[derive(Debug, Default)]
struct Spread {
    first: Option<i64>,
    last: Option<i64>,
    longest: i64,
    /// A rule without UNTIL, or times that are missing or not understood.
    endless: bool,
    beginless: bool,
}

impl Spread {
    fn add(&mut self, component: Component<'_>) {
        let mut start = None;
        for property in component.properties() {
            let name = property.name().to_ascii_uppercase();
            match name.as_slice() {
                b"DTSTART" | b"RECURRENCE-ID" => {
                    let at = self.see(&property.value());
                    if name == b"DTSTART" {
                        start = at;
                    }
                    // The later instances move with such an override.
                    self.endless |= property.parameter("RANGE").is_some();
                }
                b"RDATE" => {
                    for value in property.value().split(|byte| *byte == b',') {
                        let mut ends = value.splitn(2, |byte| *byte == b'/');
                        let at = ends.next().and_then(|at| self.see(at));
                        if let Some(end) = ends.next() {
                            self.lasts(at, end);
                        }
                    }
                }
                b"RRULE" => {
                    let value = property.value().to_ascii_uppercase();
                    let until = value
                        .split(|byte| *byte == b';')
                        .find_map(|part| part.strip_prefix(b"UNTIL="));
                    match until {
                        Some(until) => drop(self.see(until)),
                        None => self.endless = true,
                    }
                }
                _ => {}
            }
        }
        for name in ["DTEND", "DUE", "DURATION"] {
            for property in component.all(name) {
                let value = property.value();
                if start.is_none() && name == "DUE" {
                    start = self.see(&value);
                }
                self.lasts(start, &value);
            }
        }
        if start.is_none() && component.first("RECURRENCE-ID").is_none() {
            (self.beginless, self.endless) = (true, true);
        }
    }

    fn see(&mut self, value: &[u8]) -> Option<i64> {
        let at = seconds(value.trim_ascii());
        match at {
            Some(at) => {
                self.first = Some(self.first.map_or(at, |first| first.min(at)));
                self.last = Some(self.last.map_or(at, |last| last.max(at)));
            }
            None => (self.beginless, self.endless) = (true, true),
        }
        at
    }

    /// Notes an end, given as a time or as a duration.
    fn lasts(&mut self, start: Option<i64>, end: &[u8]) {
        let end = end.trim_ascii();
        let length = match end.first() {
            Some(b'P' | b'p' | b'+' | b'-') => duration(end),
            _ => seconds(end).zip(start).map(|(end, start)| end - start),
        };
        match length {
            Some(length) => self.longest = self.longest.max(length),
            None => self.endless = true,
        }
    }

    fn part(self, kind: String) -> Part {
        let from = self.first.filter(|_| !self.beginless);
        let to = self.last.filter(|_| !self.endless);
        Part {
            kind,
            from: from.map_or(i64::MIN, |from| from - MARGIN),
            to: to.map_or(i64::MAX, |to| to.saturating_add(self.longest).saturating_add(MARGIN)),
        }
    }
}

fn number(digits: &[u8]) -> Option<i64> {
    let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    plain.then(|| std::str::from_utf8(digits).ok()?.parse().ok()).flatten()
}

/// A DATE or DATE-TIME as Unix seconds, as if it were in UTC (RFC 5545, 3.3.4 and 3.3.5).
pub(crate) fn seconds(value: &[u8]) -> Option<i64> {
    let (date, time) = (value.get(..8)?, &value[8..]);
    let (year, month, day) = (number(&date[..4])?, number(&date[4..6])?, number(&date[6..])?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let within_day = match time {
        [] => 0,
        [b'T' | b't', clock @ ..] => {
            let clock = clock.strip_suffix(b"Z").or(clock.strip_suffix(b"z")).unwrap_or(clock);
            if clock.len() != 6 {
                return None;
            }
            number(&clock[..2])? * 3600 + number(&clock[2..4])? * 60 + number(&clock[4..])?
        }
        _ => return None,
    };
    // Days since the epoch: years begin in March, so that the leap day is their last.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468;
    Some(days * 86_400 + within_day)
}

/// A DURATION in seconds (RFC 5545, 3.3.6), its days taken as 24 hours; negative ones count as nothing.
fn duration(value: &[u8]) -> Option<i64> {
    let negative = value.starts_with(b"-");
    let value = value.trim_ascii();
    let value = value.strip_prefix(b"-").or(value.strip_prefix(b"+")).unwrap_or(value);
    let value = value.strip_prefix(b"P").or(value.strip_prefix(b"p"))?;
    let (mut total, mut from) = (0_i64, 0);
    for (at, byte) in value.iter().enumerate() {
        let unit = match byte.to_ascii_uppercase() {
            b'0'..=b'9' => continue,
            b'T' => {
                from = at + 1;
                continue;
            }
            b'W' => 7 * 86_400,
            b'D' => 86_400,
            b'H' => 3600,
            b'M' => 60,
            b'S' => 1,
            _ => return None,
        };
        total = total.checked_add(number(&value[from..at])?.checked_mul(unit)?)?;
        from = at + 1;
    }
    (from == value.len()).then_some(if negative { 0 } else { total })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overlaps(lines: &str, from: &str, to: &str) -> bool {
        let content = format!("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n{lines}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n");
        let at = |text: &str| seconds(text.as_bytes()).expect("a date");
        Summary::read(&Bytes::from(content)).may_overlap("VEVENT", at(from), at(to))
    }

    #[test]
    fn times_are_unix_seconds() {
        for (text, expected) in [
            ("19700101", 0),
            ("20000229T120000Z", 951_825_600),
            ("20261130T161654Z", 1_796_055_414),
            ("16010101T000000", -11_644_473_600),
        ] {
            assert_eq!(seconds(text.as_bytes()), Some(expected), "{text}");
        }
        for bad in [
            "",
            "2026",
            "20261301",
            "20260100T",
            "20260101T0000",
            "2026010aT000000",
            "-0260101",
        ] {
            assert_eq!(seconds(bad.as_bytes()), None, "{bad}");
        }
        for (text, expected) in [("P1W", 604_800), ("P1DT2H3M4S", 93_784), ("-PT5M", 0), ("PT0S", 0)] {
            assert_eq!(duration(text.as_bytes()), Some(expected), "{text}");
        }
        for bad in ["P1", "PX", "PT99999999999999999999S", "1D"] {
            assert_eq!(duration(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn what_may_lie_in_a_window_is_never_missed() {
        for (lines, expected) in [
            ("DTSTART:20260101T100000Z\r\nDTEND:20260101T110000Z", false),
            ("DTSTART:20260101T100000Z\r\nDURATION:P200D", true),
            ("DTSTART:20260101T100000Z\r\nDTEND:20260610T110000Z", true),
            ("DTSTART;TZID=Europe/Berlin:20260602T003000", true),
            ("DTSTART;VALUE=DATE:20260531", true),
            ("DTSTART:20260601T000000", true),
            ("DTSTART:20200101T100000Z\r\nRRULE:FREQ=DAILY", true),
            ("DTSTART:20200101T100000Z\r\nRRULE:FREQ=DAILY;COUNT=2", true),
            (
                "DTSTART:20200101T100000Z\r\nRRULE:FREQ=DAILY;UNTIL=20200301T000000Z",
                false,
            ),
            ("DTSTART:20200101T100000Z\r\nRRULE:FREQ=DAILY;UNTIL=20260601", true),
            (
                "DTSTART:20200101T100000Z\r\nRDATE:20210101T000000Z,20260602T000000Z",
                true,
            ),
            (
                "DTSTART:20200101T100000Z\r\nRDATE;VALUE=PERIOD:20260501T000000Z/P60D",
                true,
            ),
            ("DTSTART:20300101T100000Z\r\nRRULE:FREQ=DAILY", false),
            ("DTSTART:garbage", true),
            ("SUMMARY:no time at all", true),
        ] {
            assert_eq!(overlaps(lines, "20260601", "20260603"), expected, "{lines}");
        }
    }

    #[test]
    fn kinds_and_uids_are_those_of_all_calendars_in_the_file() {
        let content = b"BEGIN:VCALENDAR\r\nBEGIN:VTIMEZONE\r\nTZID:x\r\nEND:VTIMEZONE\r\nBEGIN:vtodo\r\nUID: a\r\n b \r\nEND:vtodo\r\nEND:VCALENDAR\r\nBEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:c\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
        let summary = Summary::read(&Bytes::from_static(content));
        assert_eq!(summary.uids, ["ab", "c"]);
        assert!(summary.has("VTODO") && summary.has("VEVENT") && summary.has("VCALENDAR") && !summary.has("VJOURNAL"));
        let nothing = Summary::read(&Bytes::from_static(b"\xff\xfe no calendar"));
        assert!(!nothing.has("VCALENDAR") && nothing.uids.is_empty());
    }
}

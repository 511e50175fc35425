//! Reads what the three queries are asked with, and says what is wrong with it.

use std::collections::BTreeSet;

use jiff::{Timestamp, ToSpan};
use kalends_core::ical::zone::Zone;
use kalends_core::ops::scope::{CalendarChoice, Scope};
use kalends_core::outcome::{Error, Outcome, Phase, Violation};
use kalends_core::query::text_filter::{MAX_TERMS, TextFilter};
use kalends_core::query::window;
use serde_json::{Map, Value};

use super::Context;
use crate::schema::{integer, missing, violation};

const DEFAULT_PAGE: usize = 50;
const EXAMPLE: &str = "{\"kind\":\"utcDateTime\",\"value\":\"2026-12-01T00:00:00Z\"}";

/// What a call asks for.
pub(crate) enum Asked<'a> {
    /// A new query, with so many rows on a page.
    Start(usize),
    /// The page of this cursor.
    Continue(&'a str, usize),
}

/// Whether a query starts or continues.
///
/// # Errors
/// `invalid_input` if anything but `pageSize` stands beside a cursor.
pub(crate) fn asked(arguments: &Value) -> Outcome<Asked<'_>> {
    let size = integer(&arguments["pageSize"]).map_or(DEFAULT_PAGE, |size| size as usize);
    let Some(cursor) = arguments.get("cursor").and_then(Value::as_str) else {
        return Ok(Asked::Start(size));
    };
    let others = arguments.as_object().into_iter().flat_map(Map::keys);
    let others = others.filter(|name| !matches!(name.as_str(), "cursor" | "pageSize"));
    let text = "Leave this member out: a cursor continues its own query. Send cursor and optionally pageSize, or start anew without cursor.";
    let found: Vec<_> = others
        .map(|name| violation(&format!("/{name}"), "shape_mismatch", text))
        .collect();
    if found.is_empty() {
        Ok(Asked::Continue(cursor, size))
    } else {
        Err(invalid(found))
    }
}

fn invalid(found: Vec<Violation>) -> Box<Error> {
    Error::violations(Phase::SchemaLexicalDiscriminator, found)
}

/// The arguments of a Start, which fit the advertised schema. Collects what else is wrong with them.
pub(crate) struct Start<'a> {
    arguments: &'a Value,
    found: Vec<Violation>,
}

impl<'a> Start<'a> {
    pub(crate) fn new(arguments: &'a Value) -> Self {
        Self {
            arguments,
            found: Vec::new(),
        }
    }

    /// The operation, if nothing is wrong.
    ///
    /// # Errors
    /// `invalid_input` with all that is.
    pub(crate) fn finish<T>(self, read: Option<T>) -> Outcome<T> {
        read.filter(|_| self.found.is_empty())
            .ok_or_else(|| invalid(self.found))
    }

    pub(crate) fn has(&self, member: &str) -> bool {
        self.arguments.get(member).is_some()
    }

    pub(crate) fn note(&mut self, pointer: &str, code: &'static str, message: impl Into<String>) {
        self.found.push(violation(pointer, code, message));
    }

    /// The strings of an array, if it was sent.
    pub(crate) fn strings(&self, member: &str) -> Option<impl Iterator<Item = &'a str> + use<'a>> {
        let items = self.arguments.get(member)?.as_array()?;
        Some(items.iter().filter_map(Value::as_str))
    }

    /// Notes that a member has to be sent.
    pub(crate) fn require(&mut self, member: &str, hint: &str) {
        self.note(&format!("/{member}"), "required_member", missing(member, Some(hint)));
    }

    pub(crate) fn scope(&mut self) -> Option<Scope> {
        let Some(scope) = self.arguments.get("scope") else {
            self.require("scope", "which calendars, e.g. {\"mode\":\"all\"}.");
            return None;
        };
        let calendar = scope.get("calendar");
        if scope["mode"] != "selected" {
            if calendar.is_some() {
                let text = "Leave calendar out, or send mode selected to ask one calendar.";
                self.note("/scope/calendar", "unknown_member", text);
            }
            return Some(if scope["mode"] == "all" {
                Scope::All
            } else {
                Scope::Default
            });
        }
        let Some(calendar) = calendar else {
            let text = "Send calendar: {\"by\":\"name\",\"name\":…} or {\"by\":\"href\",\"href\":…}.";
            self.note("/scope/calendar", "required_member", text);
            return None;
        };
        let (wanted, other) = if calendar["by"] == "name" {
            ("name", "href")
        } else {
            ("href", "name")
        };
        if calendar.get(other).is_some() {
            let text = format!("Leave {other} out: by is {wanted}.");
            self.note(&format!("/scope/calendar/{other}"), "unknown_member", text);
        }
        let Some(value) = calendar[wanted].as_str().map(str::to_owned) else {
            let text = missing(wanted, Some("which calendar is meant."));
            self.note(&format!("/scope/calendar/{wanted}"), "required_member", text);
            return None;
        };
        Some(Scope::Selected(if wanted == "name" {
            CalendarChoice::Name(value)
        } else {
            CalendarChoice::Href(value)
        }))
    }

    /// A window by the names of its ends. One that was not sent is only missed if it is `needed`.
    pub(crate) fn window(&mut self, [from, to]: [&str; 2], needed: bool) -> Option<(Timestamp, Timestamp)> {
        if !needed && !self.has(from) && !self.has(to) {
            return None;
        }
        let (first, last) = (self.instant(from), self.instant(to));
        let (first, last) = (first?, last?);
        self.found.extend(window::violation(first, last, from, to));
        Some((first, last))
    }

    fn instant(&mut self, member: &str) -> Option<Timestamp> {
        let Some(value) = self.arguments.get(member) else {
            let text = format!("Send {member}, and both ends of the window, e.g. {EXAMPLE}.");
            self.note(&format!("/{member}"), "required_member", text);
            return None;
        };
        let pointer = format!("/{member}/value");
        let text = value["value"].as_str().unwrap_or_default();
        if !is_utc(text) {
            let text = format!("Send a UTC time like 2026-12-01T00:00:00Z, as in {EXAMPLE}.");
            self.note(&pointer, "format_mismatch", text);
            return None;
        }
        let read = rounded(text);
        if read.is_none() {
            self.note(&pointer, "temporal_value_invalid", "Send a day and time that exist.");
        }
        read
    }

    /// The evaluation zone: the one that was sent, or the one that is configured.
    pub(crate) fn context(&mut self, configured: Option<&str>) -> Option<Context> {
        let (name, source) = match (self.arguments["evaluationTimeZone"].as_str(), configured) {
            (Some(name), _) => (name, "caller"),
            (None, Some(name)) => (name, "configuration"),
            (None, None) => {
                let text = "Send evaluationTimeZone: the user's IANA zone, e.g. Europe/Berlin (or configure CALDAV_EVALUATION_TIME_ZONE).";
                self.note("/evaluationTimeZone", "required_member", text);
                return None;
            }
        };
        let text = match Zone::canonical_iana(name) {
            Some(exact) if exact == name => return Zone::iana(name).map(|zone| Context { zone, source }),
            Some(exact) => format!("Send {exact}: names are spelled exactly."),
            None => "Send an IANA time zone name, e.g. Europe/Berlin or America/New_York.".to_owned(),
        };
        self.note("/evaluationTimeZone", "temporal_value_invalid", text);
        None
    }

    /// What `text` and `categories` select.
    pub(crate) fn filter(&mut self) -> TextFilter {
        let text = self.arguments.get("text").and_then(Value::as_str);
        if let Some(text) = text {
            self.words(text);
        }
        let given = self.strings("categories").into_iter().flatten();
        let given: Vec<String> = given.map(|category| category.trim().to_owned()).collect();
        for (index, category) in given.iter().enumerate() {
            if category.is_empty() {
                let text = "Send a category that is not blank.";
                self.note(&format!("/categories/{index}"), "length_out_of_range", text);
            }
        }
        if given.iter().collect::<BTreeSet<_>>().len() < given.len() {
            self.note("/categories", "duplicate_items", "Send each category once.");
        }
        TextFilter::new(text, &given)
    }

    fn words(&mut self, text: &str) {
        if text.chars().any(char::is_control) {
            self.note("/text", "format_mismatch", "Send words without control characters.");
        }
        let count = text.split_whitespace().count();
        if !(1..=MAX_TERMS).contains(&count) {
            let message = format!("Send 1 to {MAX_TERMS} words separated by spaces, not {count}.");
            self.note("/text", "item_count_out_of_range", message);
        }
    }
}

/// The lexical form of the contract: `YYYY-MM-DDTHH:MM:SS`, a fraction or none, `Z`.
pub(crate) fn is_utc(text: &str) -> bool {
    let bytes = text.as_bytes();
    let shape = b"dddd-dd-ddTdd:dd:dd";
    let fits = |(byte, form): (&u8, &u8)| {
        if *form == b'd' {
            byte.is_ascii_digit()
        } else {
            byte == form
        }
    };
    let Some((head, tail)) = bytes.split_at_checked(shape.len()) else {
        return false;
    };
    let number = |at: usize| u32::from(head[at].wrapping_sub(b'0')) * 10 + u32::from(head[at + 1].wrapping_sub(b'0'));
    let fraction = match tail {
        b"Z" => true,
        [b'.', digits @ .., b'Z'] => !digits.is_empty() && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    head.iter().zip(shape).all(fits)
        && fraction
        && (1..=12).contains(&number(5))
        && (1..=31).contains(&number(8))
        && number(11) < 24
        && number(14) < 60
        && number(17) < 60
}

/// The instant, with digits beyond the seventh of the fraction rounded up.
pub(crate) fn rounded(text: &str) -> Option<Timestamp> {
    let text = text.strip_suffix('Z')?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let (kept, rest) = fraction.split_at(fraction.len().min(7));
    let padded = format!("{kept:0<7}");
    let ticks: i64 = padded.parse().ok()?;
    let up = i64::from(rest.bytes().any(|digit| digit != b'0'));
    let second: Timestamp = format!("{whole}Z").parse().ok()?;
    second.checked_add(((ticks + up) * 100).nanoseconds()).ok()
}

/// A whole second in the form of `utcDateTime`, if its year has four digits.
pub(crate) fn utc(second: i64) -> Option<String> {
    const YEARS: std::ops::RangeInclusive<i64> = -62_167_219_200..=253_402_300_799;
    let instant = Timestamp::from_second(second).ok().filter(|_| YEARS.contains(&second));
    instant.map(|instant| instant.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_read_by_the_lexical_form_of_the_contract() {
        for text in [
            "2026-12-01T00:00:00Z",
            "2026-12-01T23:59:59.1234567890Z",
            "0001-01-01T00:00:00Z",
        ] {
            assert!(is_utc(text), "{text}");
        }
        for text in [
            "",
            "2026-12-01",
            "2026-12-01T00:00:00",
            "2026-12-01T00:00:00+00:00",
            "2026-12-01t00:00:00z",
            "2026-13-01T00:00:00Z",
            "2026-12-32T00:00:00Z",
            "2026-12-01T24:00:00Z",
            "2026-12-01T00:00:60Z",
            "2026-12-01T00:00:00.Z",
            "2026-12-01T00:00:00.1xZ",
            "２026-12-01T00:00:00Z",
            " 2026-12-01T00:00:00Z",
            "2026-12-01T00:00:00ZZ",
        ] {
            assert!(!is_utc(text), "{text}");
        }
        assert_eq!(rounded("2026-02-30T00:00:00Z"), None);
    }

    #[test]
    fn digits_beyond_the_seventh_round_up() {
        for (text, nanosecond) in [
            ("2026-12-01T00:00:00Z", 0),
            ("2026-12-01T00:00:00.5Z", 500_000_000),
            ("2026-12-01T00:00:00.1234567Z", 123_456_700),
            ("2026-12-01T00:00:00.12345670Z", 123_456_700),
            ("2026-12-01T00:00:00.12345671Z", 123_456_800),
        ] {
            assert_eq!(rounded(text).unwrap().subsec_nanosecond(), nanosecond, "{text}");
        }
        let carried = rounded("2026-12-31T23:59:59.99999991Z").unwrap();
        assert_eq!(carried.to_string(), "2027-01-01T00:00:00Z");
    }
}

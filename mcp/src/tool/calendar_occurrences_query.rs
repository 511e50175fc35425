//! `calendar_occurrences_query`: what is on in a window, page by page.
//!
//! A Start asks the server and keeps the rest of the rows, typed, if they do not fit on one page. A Continue
//! renders its page from what is kept and asks nobody; the same cursor gives the same page.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::{Timestamp, ToSpan};
use kalends_core::href::Href;
use kalends_core::ical::entity::Entity;
use kalends_core::ical::series::OccurrenceTiming;
use kalends_core::ical::zone::Zone;
use kalends_core::ops::query_occurrences::{OccurrenceRow, Occurrences, QueryOccurrences};
use kalends_core::ops::scope::{CalendarChoice, Scope};
use kalends_core::outcome::{Error, Outcome, Phase, Violation};
use kalends_core::query::cursor::{Position, expired};
use kalends_core::query::snapshot::Weight;
use kalends_core::query::text_filter::{MAX_TERMS, TextFilter};
use kalends_core::query::window::window_violation;
use serde_json::{Map, Value, json};

use crate::schema::{integer, missing, violation};
use crate::session::Session;
use crate::tool::compact::{self, Detail, drop_empty, object};

/// The name that cursors are bound to.
const TOOL: &str = "calendar_occurrences.query";
const DEFAULT_PAGE: usize = 50;
/// The most hrefs of resources that were left out.
const MAX_UNRESOLVED: usize = 25;
/// What a resource keeps alive beside its octets, in bytes: for each content line, and for components and zones.
const LINE: usize = 28;
const STRUCTURE: usize = 1024;

/// A result of a Start, as it is kept for its later pages.
#[derive(Debug)]
pub(crate) struct Held {
    found: Occurrences,
    zone: Zone,
    source: &'static str,
    detail: Detail,
}

/// Answers a call whose arguments fit the schema.
pub(crate) async fn call(session: &Session, arguments: &Value, canceled: impl Future<Output = ()>) -> Outcome<Value> {
    let size = integer(&arguments["pageSize"]).map_or(DEFAULT_PAGE, |size| size as usize);
    if let Some(cursor) = arguments.get("cursor").and_then(Value::as_str) {
        refuse_beside_cursor(arguments)?;
        return next(session, cursor, size);
    }
    let (ask, source) = start(session, arguments)?;
    let zone = ask.evaluation.clone();
    let found = session.engine.run(ask, &session.account, canceled).await?;
    let held = Arc::new(Held {
        found,
        zone,
        source,
        detail: Detail::of(arguments),
    });
    if held.found.rows.len() <= size {
        return Ok(page(&held, 0, size, None));
    }
    let now = session.engine.now();
    let weight = weight(&held.found);
    let (snapshot, expires) = session.snapshots(|store| store.keep(now, Arc::clone(&held), weight))?;
    let position = Position {
        snapshot,
        row: size as u32,
        expires,
        zone: held.zone.name().to_owned(),
    };
    Ok(page(&held, 0, size, Some(session.cursors.seal(TOOL, &position))))
}

fn next(session: &Session, cursor: &str, size: usize) -> Outcome<Value> {
    let now = session.engine.now();
    let position = session.cursors.open(TOOL, cursor, now)?;
    let held = session.snapshots(|store| store.get(now, position.snapshot));
    let held = held
        .filter(|held| held.zone.name() == position.zone)
        .ok_or_else(expired)?;
    let from = position.row as usize;
    let more = from + size < held.found.rows.len();
    let following = more.then(|| {
        let row = position.row + size as u32;
        session.cursors.seal(TOOL, &Position { row, ..position })
    });
    Ok(page(&held, from, size, following))
}

fn refuse_beside_cursor(arguments: &Value) -> Outcome<()> {
    let others = arguments.as_object().into_iter().flat_map(Map::keys);
    let others = others.filter(|name| !matches!(name.as_str(), "cursor" | "pageSize"));
    let violations: Vec<_> = others
        .map(|name| {
            let text = "Leave this member out: a cursor continues its own query. Send cursor and optionally pageSize, or start anew without cursor.";
            violation(&format!("/{name}"), "shape_mismatch", text)
        })
        .collect();
    if violations.is_empty() {
        Ok(())
    } else {
        Err(invalid(violations))
    }
}

fn invalid(violations: Vec<Violation>) -> Box<Error> {
    Error::violations(Phase::SchemaLexicalDiscriminator, violations)
}

/// Reads a Start: the operation, and who named its evaluation zone.
fn start(session: &Session, arguments: &Value) -> Outcome<(QueryOccurrences, &'static str)> {
    let mut found = Vec::new();
    let scope = scope(arguments, &mut found);
    let from = instant(arguments, "from", &mut found);
    let to = instant(arguments, "to", &mut found);
    if let (Some(from), Some(to)) = (from, to) {
        found.extend(window_violation(from, to));
    }
    let (zone, source) = match arguments.get("evaluationTimeZone").and_then(Value::as_str) {
        Some(name) => (Some(name), "caller"),
        None => (session.evaluation_zone.as_deref(), "configuration"),
    };
    let evaluation = zone.and_then(|name| evaluation(name, &mut found));
    if zone.is_none() {
        let text = "Send evaluationTimeZone: the user's IANA zone, e.g. Europe/Berlin (or configure CALDAV_EVALUATION_TIME_ZONE).";
        found.push(violation("/evaluationTimeZone", "required_member", text));
    }
    let text = arguments.get("text").and_then(Value::as_str);
    if let Some(text) = text {
        words(text, &mut found);
    }
    let categories = categories(arguments, &mut found);
    match (scope, from, to, evaluation) {
        (Some(scope), Some(from), Some(to), Some(evaluation)) if found.is_empty() => {
            let filter = TextFilter::new(text, &categories);
            let ask = QueryOccurrences {
                scope,
                from,
                to,
                evaluation,
                filter,
            };
            Ok((ask, source))
        }
        _ => Err(invalid(found)),
    }
}

fn scope(arguments: &Value, found: &mut Vec<Violation>) -> Option<Scope> {
    let Some(scope) = arguments.get("scope") else {
        found.push(violation(
            "/scope",
            "required_member",
            missing("scope", Some("which calendars, e.g. {\"mode\":\"all\"}.")),
        ));
        return None;
    };
    let calendar = scope.get("calendar");
    if scope["mode"] != "selected" {
        if calendar.is_some() {
            let text = "Leave calendar out, or send mode selected to ask one calendar.";
            found.push(violation("/scope/calendar", "unknown_member", text));
        }
        return Some(if scope["mode"] == "all" {
            Scope::All
        } else {
            Scope::Default
        });
    }
    let Some(calendar) = calendar else {
        let text = "Send calendar: {\"by\":\"name\",\"name\":…} or {\"by\":\"href\",\"href\":…}.";
        found.push(violation("/scope/calendar", "required_member", text));
        return None;
    };
    let (wanted, other) = if calendar["by"] == "name" {
        ("name", "href")
    } else {
        ("href", "name")
    };
    if calendar.get(other).is_some() {
        let text = format!("Leave {other} out: by is {wanted}.");
        found.push(violation(&format!("/scope/calendar/{other}"), "unknown_member", text));
    }
    let Some(value) = calendar[wanted].as_str().map(str::to_owned) else {
        let text = missing(wanted, Some("which calendar is meant."));
        found.push(violation(&format!("/scope/calendar/{wanted}"), "required_member", text));
        return None;
    };
    Some(Scope::Selected(if wanted == "name" {
        CalendarChoice::Name(value)
    } else {
        CalendarChoice::Href(value)
    }))
}

fn instant(arguments: &Value, member: &str, found: &mut Vec<Violation>) -> Option<Timestamp> {
    let example = "{\"kind\":\"utcDateTime\",\"value\":\"2026-12-01T00:00:00Z\"}";
    let Some(value) = arguments.get(member) else {
        let text = format!("Send {member}, and both ends of the window, e.g. {example}.");
        found.push(violation(&format!("/{member}"), "required_member", text));
        return None;
    };
    let pointer = format!("/{member}/value");
    let text = value["value"].as_str().unwrap_or_default();
    if !is_utc(text) {
        let text = format!("Send a UTC time like 2026-12-01T00:00:00Z, as in {example}.");
        found.push(violation(&pointer, "format_mismatch", text));
        return None;
    }
    let read = rounded(text);
    if read.is_none() {
        found.push(violation(
            &pointer,
            "temporal_value_invalid",
            "Send a day and time that exist.",
        ));
    }
    read
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

fn evaluation(name: &str, found: &mut Vec<Violation>) -> Option<Zone> {
    let text = match Zone::canonical_iana(name) {
        Some(exact) if exact == name => return Zone::iana(name),
        Some(exact) => format!("Send {exact}: names are spelled exactly."),
        None => "Send an IANA time zone name, e.g. Europe/Berlin or America/New_York.".to_owned(),
    };
    found.push(violation("/evaluationTimeZone", "temporal_value_invalid", text));
    None
}

fn words(text: &str, found: &mut Vec<Violation>) {
    if text.chars().any(char::is_control) {
        found.push(violation(
            "/text",
            "format_mismatch",
            "Send words without control characters.",
        ));
    }
    let count = text.split_whitespace().count();
    if !(1..=MAX_TERMS).contains(&count) {
        let message = format!("Send 1 to {MAX_TERMS} words separated by spaces, not {count}.");
        found.push(violation("/text", "item_count_out_of_range", message));
    }
}

fn categories(arguments: &Value, found: &mut Vec<Violation>) -> Vec<String> {
    let given = arguments["categories"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    let given: Vec<String> = given.map(|category| category.trim().to_owned()).collect();
    for (index, category) in given.iter().enumerate() {
        if category.is_empty() {
            let text = "Send a category that is not blank.";
            found.push(violation(&format!("/categories/{index}"), "length_out_of_range", text));
        }
    }
    if given.iter().collect::<BTreeSet<_>>().len() < given.len() {
        found.push(violation("/categories", "duplicate_items", "Send each category once."));
    }
    given
}

/// What a result keeps alive.
fn weight(found: &Occurrences) -> Weight {
    let mut seen = BTreeSet::new();
    let distinct = found.rows.iter().filter(|row| seen.insert(Arc::as_ptr(&row.resource)));
    let kept = |entity: &Entity| entity.size() + LINE * entity.document().line_count() + STRUCTURE;
    let resources: usize = distinct.map(|row| kept(&row.resource.entity)).sum();
    Weight {
        items: found.rows.len(),
        bytes: resources + found.rows.len() * size_of::<OccurrenceRow>(),
    }
}

fn page(held: &Held, from: usize, size: usize, following: Option<String>) -> Value {
    let rows = held.found.rows.iter().skip(from).take(size);
    let items: Vec<Value> = rows
        .map(|row| match held.detail {
            Detail::Compact => compact::row(&row.resource, &row.instance),
            Detail::Full => full_row(row, &held.zone),
        })
        .collect();
    let mut page = json!({
        "outcome": "success",
        "diagnostics": held.found.diagnostics,
        "temporalEvaluationContext": {"timeZone": held.zone.name(), "source": held.source},
        "pagination": {"mode": "query_result_snapshot", "nextCursor": following}
    });
    page["items"] = items.into();
    let unresolved = &held.found.unresolved;
    if !unresolved.is_empty() {
        let hrefs: Vec<&Href> = unresolved.iter().take(MAX_UNRESOLVED).collect();
        page["temporallyUnresolved"] = json!({"count": unresolved.len(), "hrefs": hrefs});
    }
    if let (Value::Object(members), Detail::Compact) = (&mut page, held.detail) {
        drop_empty(members, &["diagnostics"]);
    }
    page
}

fn full_row(row: &OccurrenceRow, evaluation: &Zone) -> Value {
    object([
        ("snapshot", compact::full(&row.resource)),
        ("recurrenceIdentity", json!(Entity::recurrence_identity(&row.instance))),
        ("timing", json!(OccurrenceTiming::of(&row.instance, evaluation))),
    ])
}

/// A whole second in the form of `utcDateTime`.
pub(crate) fn utc(second: i64) -> String {
    Timestamp::from_second(second).map_or_else(|_| String::new(), |instant| instant.to_string())
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

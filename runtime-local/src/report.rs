//! REPORT: calendar-query and calendar-multiget (RFC 4791, sections 7.8 and 7.9), and the way to the others.
//!
//! A calendar-query answers every member that fits the filter, and perhaps more: the kind of component is tested
//! exactly, a time range by the outermost times of all components, anything finer not at all.

use std::collections::BTreeSet;

use bytes::Bytes;
use http::{Response, StatusCode};

use crate::element::{CALDAV, DAV, Element};
use crate::free_busy::free_busy;
use crate::multistatus::{Multistatus, empty, refused};
use crate::path::{Base, Target};
use crate::property::{Depth, Subject, Wanted, describe};
use crate::store::{Store, Trouble};
use crate::summary::{CALENDAR, Summary, etag, seconds};
use crate::sync::{History, sync_collection};

/// The most bytes of an answer.
const MAX_ANSWER: usize = 256 * 1024 * 1024;

/// Answers a REPORT on something that exists.
pub(crate) fn report(
    here: (&dyn Store, &Base),
    history: &History,
    (target, depth): (&Target, Option<Depth>),
    body: &Element,
) -> Result<Response<Bytes>, Trouble> {
    let expands = body
        .child(DAV, "prop")
        .and_then(|prop| prop.child(CALDAV, "calendar-data"));
    let expands = expands.is_some_and(|data| {
        let changes = ["expand", "limit-recurrence-set", "limit-freebusy-set"];
        changes.iter().any(|change| data.child(CALDAV, change).is_some())
    });
    let calendar = match target {
        Target::Calendar(calendar) => Some(calendar.as_str()),
        Target::Root | Target::Member(..) => None,
    };
    match (body.name.space.as_str(), body.name.local.as_str()) {
        (CALDAV, "calendar-query" | "calendar-multiget") if expands => Ok(empty(StatusCode::NOT_IMPLEMENTED)),
        (CALDAV, "calendar-query") => match (calendar, depth) {
            (None, _) => Ok(refused(StatusCode::FORBIDDEN, DAV, "supported-report", None)),
            // Without the header the depth is 0 and the answer empty, which no client wants (RFC 4791, 7.8).
            (Some(_), None) => Ok(empty(StatusCode::BAD_REQUEST)),
            (Some(_), Some(Depth::Zero)) => Ok(Multistatus::new().finish()),
            (Some(calendar), Some(Depth::One | Depth::Infinity)) => query(here, calendar, body),
        },
        (CALDAV, "calendar-multiget") => multiget(here, calendar, body),
        (CALDAV, "free-busy-query") => match (calendar, depth) {
            (Some(calendar), Some(Depth::One | Depth::Infinity)) => free_busy(here.0, calendar, body),
            // The depth says whose busy time it is (RFC 4791, 7.10): that of the collection itself is none.
            (Some(_), None | Some(Depth::Zero)) => Ok(empty(StatusCode::BAD_REQUEST)),
            (None, _) => Ok(refused(StatusCode::FORBIDDEN, DAV, "supported-report", None)),
        },
        (DAV, "sync-collection") => match calendar {
            Some(calendar) => sync_collection(here, history, (calendar, depth), body),
            None => Ok(refused(StatusCode::FORBIDDEN, DAV, "supported-report", None)),
        },
        _ => Ok(refused(StatusCode::FORBIDDEN, DAV, "supported-report", None)),
    }
}

/// One condition on the components directly in a VCALENDAR.
#[derive(Debug, PartialEq, Eq)]
struct Condition {
    kind: String,
    absent: bool,
    window: Option<(i64, i64)>,
}

/// The part of a filter that is evaluated: all conditions have to hold.
fn conditions(body: &Element) -> Option<Vec<Condition>> {
    let filter = body.child(CALDAV, "filter")?;
    let [calendar] = filter.children.as_slice() else {
        return None;
    };
    let is_filter = calendar.name.is(CALDAV, "comp-filter");
    if !is_filter || !calendar.attribute("name")?.eq_ignore_ascii_case(CALENDAR) {
        return None;
    }
    let mut conditions = Vec::new();
    for inner in calendar.all(CALDAV, "comp-filter") {
        let window = match inner.child(CALDAV, "time-range") {
            Some(range) => Some(window(range)?),
            None => None,
        };
        conditions.push(Condition {
            kind: inner.attribute("name")?.to_ascii_uppercase(),
            absent: inner.child(CALDAV, "is-not-defined").is_some(),
            window,
        });
    }
    Some(conditions)
}

/// A time range in Unix seconds; an end that is left out lies infinitely far away (RFC 4791, 9.9).
pub(crate) fn window(range: &Element) -> Option<(i64, i64)> {
    let bound = |name: &str, open: i64| match range.attribute(name) {
        Some(text) => seconds(text.as_bytes()).filter(|_| text.len() == 16 && text.ends_with('Z')),
        None => Some(open),
    };
    let (from, to) = (bound("start", i64::MIN)?, bound("end", i64::MAX)?);
    ((from, to) != (i64::MIN, i64::MAX) && from < to).then_some((from, to))
}

fn fits(summary: &Summary, conditions: &[Condition]) -> bool {
    summary.has(CALENDAR)
        && conditions.iter().all(|condition| match condition.window {
            _ if condition.absent => !summary.surely_has(&condition.kind),
            Some((from, to)) => summary.may_overlap(&condition.kind, from, to),
            None => summary.has(&condition.kind),
        })
}

fn query(here: (&dyn Store, &Base), calendar: &str, body: &Element) -> Result<Response<Bytes>, Trouble> {
    let (store, base) = here;
    let members = store.members(calendar)?;
    let Some(conditions) = conditions(body) else {
        return Ok(refused(StatusCode::FORBIDDEN, CALDAV, "valid-filter", None));
    };
    let wanted = Wanted::read(Some(body));
    let mut out = Multistatus::new();
    for member in members {
        let href = base.member(calendar, &member.name);
        match member.content {
            Ok(summary) if !fits(&summary, &conditions) => {}
            Ok(summary) if wanted.wants_data() => {
                give(here, &wanted, Some(&summary), (calendar, &member.name), &href, &mut out);
            }
            Ok(summary) => describe(here, &wanted, Subject::Member(&summary, None), &href, &mut out),
            // It might have fitted.
            Err(trouble) => out.status(&href, trouble.status()),
        }
        if out.len() > MAX_ANSWER {
            return Ok(too_many());
        }
    }
    Ok(out.finish())
}

fn multiget(here: (&dyn Store, &Base), within: Option<&str>, body: &Element) -> Result<Response<Bytes>, Trouble> {
    let (store, base) = here;
    if let Some(calendar) = within {
        store.metadata(calendar)?;
    }
    let wanted = Wanted::read(Some(body));
    let mut out = Multistatus::new();
    let mut seen = BTreeSet::new();
    for href in body.all(DAV, "href") {
        let href = href.text.trim();
        if !seen.insert(href) {
            continue;
        }
        let path = href.find("://").map_or(href, |scheme| {
            let rest = &href[scheme + 3..];
            rest.find('/').map_or("/", |slash| &rest[slash..])
        });
        match base.target(path) {
            Ok(Target::Member(calendar, name)) if within.is_none_or(|within| within == calendar) => {
                let own = base.member(&calendar, &name);
                if !give(here, &wanted, None, (&calendar, &name), &own, &mut out) {
                    out.status(&own, StatusCode::NOT_FOUND);
                }
            }
            Ok(_) => out.status(href, StatusCode::NOT_FOUND),
            Err(status) => out.status(href, status),
        }
        if out.len() > MAX_ANSWER {
            return Ok(too_many());
        }
    }
    Ok(out.finish())
}

/// Writes a member with its content. The Entity Tag is that of the very bytes that are given. False if the member
/// is not there.
fn give(
    here: (&dyn Store, &Base),
    wanted: &Wanted,
    known: Option<&Summary>,
    (calendar, name): (&str, &str),
    href: &str,
    out: &mut Multistatus,
) -> bool {
    match here.0.read(calendar, name) {
        Ok(content) => match known.filter(|known| known.etag == etag(&content)) {
            Some(known) => describe(here, wanted, Subject::Member(known, Some(&content)), href, out),
            None => {
                let summary = Summary::read(&content);
                describe(here, wanted, Subject::Member(&summary, Some(&content)), href, out);
            }
        },
        Err(Trouble::Missing) => return false,
        Err(trouble) => out.status(href, trouble.status()),
    }
    true
}

fn too_many() -> Response<Bytes> {
    refused(
        StatusCode::INSUFFICIENT_STORAGE,
        DAV,
        "number-of-matches-within-limits",
        None,
    )
}

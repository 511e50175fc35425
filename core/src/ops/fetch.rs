//! The members of a Calendar that a window may touch (RFC 4791, 7.8 and 7.9).
//!
//! ```text
//! calendar-query with bodies ──answer too large──▶ calendar-query, Entity Tags only ──▶ multiget in batches
//!          └──────────query refused──────────────▶ PROPFIND Depth 1, Entity Tags ────▶ multiget in batches
//!                                                              multiget refused ──▶ one GET each
//! ```
//!
//! Server filters are hints: the window is widened, because servers compare floating times and dates in zones of
//! their own choice, and what comes is filtered again by the caller.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::StatusCode;

use crate::account::quirk::Quirk;
use crate::dav::calendar_query::CalendarQuery;
use crate::dav::{calendar_multiget, error_body, propfind};
use crate::exchange::fault::{Fault, refused};
use crate::exchange::{Answer, Channel, Rules, exhausted, protocol};
use crate::flow::{IN_FLIGHT, windowed};
use crate::href::{Href, HrefKey};
use crate::ical::entity::Kind;
use crate::ical::expand::Window;
use crate::ops::discover::{read, request};
use crate::ops::get_resource;
use crate::outcome::{Code, Diagnostic, Dimension, Error, Outcome};

/// How far a window is widened on each side, in seconds: two zones differ by 26 hours at most (UTC+14 and UTC-12).
const WIDENING: i64 = 26 * 3_600;
/// From here on servers miss endless rules (sabre/dav, Nextcloud, Cyrus): 2037-01-01T00:00:00Z.
const FAR_FUTURE: i64 = 2_114_380_800;
/// The most resources of one query.
const MAX_RESOURCES: usize = 50_000;
/// The most bytes of bodies of one query.
const MAX_BYTES: usize = 64 * 1024 * 1024;
/// The most members of one multiget.
const BATCH: usize = 50;
/// The most bytes of bodies that one multiget asks for, as far as the server tells sizes.
const BATCH_BYTES: u64 = 2 * 1024 * 1024;
/// The most resources of one query that are read one by one.
const MAX_SINGLE: usize = 200;

/// One resource with its body.
#[derive(Clone, Debug)]
pub struct Member {
    /// The Calendar it belongs to.
    pub calendar: Href,
    /// As the server spelled it.
    pub href: Href,
    /// Strong Entity Tag, if the server gives one.
    pub etag: Option<String>,
    /// iCalendar, with line ends as they came.
    pub body: Bytes,
}

/// The members that were read.
#[derive(Debug, Default)]
pub struct Fetched {
    /// In the order of the answers.
    pub members: Vec<Member>,
    /// Members that vanished or cannot be read.
    pub diagnostics: Vec<Diagnostic>,
}

/// What one query has read so far, over all its Calendars.
#[derive(Debug, Default)]
pub struct Tally {
    resources: AtomicUsize,
    bytes: AtomicUsize,
    single: AtomicUsize,
}

impl Tally {
    fn add(&self, resources: usize, bytes: usize) -> Outcome<()> {
        let resources = resources + self.resources.fetch_add(resources, Ordering::Relaxed);
        let bytes = bytes + self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if resources > MAX_RESOURCES {
            return Err(too_many(Dimension::ResourceCount, resources, MAX_RESOURCES));
        }
        if bytes > MAX_BYTES {
            return Err(too_many(Dimension::ByteCount, bytes, MAX_BYTES));
        }
        Ok(())
    }

    /// Whether one more resource may be read by itself.
    fn one_more(&self) -> bool {
        self.single.fetch_add(1, Ordering::Relaxed) < MAX_SINGLE
    }
}

fn too_many(dimension: Dimension, observed: usize, limit: usize) -> Box<Error> {
    let message = "The window touches more than one query may read. Ask for a smaller window or fewer Calendars.";
    exhausted(dimension, observed, limit, message)
}

/// A member that has to be asked for by itself.
#[derive(Clone, Debug)]
struct Candidate {
    href: Href,
    size: Option<u64>,
    /// The body, where only a strong Entity Tag is missing.
    body: Option<Bytes>,
}

/// Reads all members of one kind that may have an occurrence in the window.
///
/// # Errors
/// The server's refusals, an answer that is not CalDAV, or a bound of the query.
pub async fn members(
    channel: &Channel<'_>,
    calendar: &Href,
    kind: Kind,
    window: Window,
    tally: &Tally,
) -> Outcome<Fetched> {
    let wide = (window.from - WIDENING, window.to + WIDENING);
    let unbounded = wide.1 >= FAR_FUTURE || (kind == Kind::Todo && channel.account.has(Quirk::TodoRangeFindsNothing));
    let query = CalendarQuery {
        component: kind.component(),
        window: (!unbounded).then_some(wide),
        data: true,
    };
    let mut fetched = Fetched::default();
    let candidates = match report(channel, calendar, query.body()).await {
        Ok(answer) if answer.response.status() == StatusCode::MULTI_STATUS => {
            let Collected { incomplete, .. } = collect(calendar, &answer, &mut fetched, tally)?;
            let (untagged, bare) = incomplete.into_iter().partition(|candidate| candidate.body.is_some());
            complete(channel, calendar, untagged, &mut fetched, tally).await?;
            bare
        }
        Ok(answer) if query_refused(&answer) => inventory(channel, calendar).await?,
        Ok(answer) => return Err(unexpected(&answer)),
        Err(Fault::TooLarge(_)) => {
            let answer = report(channel, calendar, CalendarQuery { data: false, ..query }.body()).await;
            match answer.map_err(|fault| channel.error(&fault))? {
                answer if answer.response.status() == StatusCode::MULTI_STATUS => candidates(calendar, &answer)?,
                answer if query_refused(&answer) => inventory(channel, calendar).await?,
                answer => return Err(unexpected(&answer)),
            }
        }
        Err(fault) => return Err(channel.error(&fault)),
    };
    multiget(channel, calendar, candidates, &mut fetched, tally).await?;
    Ok(fetched)
}

async fn report(channel: &Channel<'_>, calendar: &Href, body: Bytes) -> Result<Answer, Fault> {
    channel
        .send(calendar, request("REPORT", "1", body), Rules::REPORT)
        .await
}

/// Whether a refusal is about this query, so that another way may work: Radicale answers 400 where more than 10,000
/// occurrences are touched, others name a precondition (RFC 4791, 7.8 and 9.9), or fail on filters that are legal.
fn query_refused(answer: &Answer) -> bool {
    match answer.response.status().as_u16() {
        400 | 405 | 422 | 500 | 501 | 507 => true,
        403 | 409 | 412 => !error_body::read(None, answer.response.body()).preconditions.is_empty(),
        _ => false,
    }
}

/// Tells which members of an answer belong to the Calendar that was asked, also where a redirect led elsewhere.
pub(crate) struct Place<'a> {
    calendar: &'a Href,
    url: &'a Href,
    calendar_key: HrefKey,
    url_key: HrefKey,
    related: usize,
    unrelated: usize,
}

impl<'a> Place<'a> {
    pub(crate) fn new(calendar: &'a Href, answer: &'a Answer) -> Self {
        let url = &answer.url;
        let (calendar_key, url_key) = (calendar.as_collection().key(), url.as_collection().key());
        Self {
            calendar,
            url,
            calendar_key,
            url_key,
            related: 0,
            unrelated: 0,
        }
    }

    /// The member's href below the Calendar. The collection itself is no member.
    pub(crate) fn member(&mut self, raw: &str) -> Option<Href> {
        let href = self.url.resolve(raw);
        let key = href.as_ref().map(Href::key);
        let within = |collection: &HrefKey| key.as_ref().is_some_and(|key| key.is_within(collection));
        if !within(&self.calendar_key) && !within(&self.url_key) {
            self.unrelated += 1;
            return None;
        }
        self.related += 1;
        let (href, key) = (href?, key?);
        if key.is_member_of(&self.calendar_key) {
            return Some(href);
        }
        key.is_member_of(&self.url_key).then(|| href.moved_into(self.calendar))
    }

    /// Whether this is the Calendar itself, with or without its slash.
    pub(crate) fn is_collection(&self, raw: &str) -> bool {
        let key = self.url.resolve(raw).map(|href| href.as_collection().key());
        key.is_some_and(|key| key == self.calendar_key || key == self.url_key)
    }

    /// An answer that is about other places only must not pass for an empty Calendar.
    pub(crate) fn check(&self) -> Outcome<()> {
        if self.related == 0 && self.unrelated > 0 {
            return Err(protocol(
                "The CalDAV server's answer is about other places than the Calendar that was asked.",
            ));
        }
        Ok(())
    }
}

/// What is left to do after a report with bodies.
#[derive(Default)]
struct Collected {
    /// Members without a body or without a strong Entity Tag.
    incomplete: Vec<Candidate>,
    /// Members that the server calls gone.
    gone: BTreeSet<HrefKey>,
    /// Members that the server does not let be read.
    refused: BTreeSet<HrefKey>,
}

/// Takes the members that came whole.
fn collect(calendar: &Href, answer: &Answer, fetched: &mut Fetched, tally: &Tally) -> Outcome<Collected> {
    let mut left = Collected::default();
    let mut outcome = Ok(());
    let mut place = Place::new(calendar, answer);
    read(answer, |member| {
        let Some(href) = place.member(&member.href) else {
            return ControlFlow::Continue(());
        };
        let etag = member.props.etag.and_then(|tag| tag.strong().map(str::to_owned));
        match (member.props.calendar_data, member.status) {
            (Some(body), _) if etag.is_some() => {
                outcome = tally.add(1, body.len());
                fetched.members.push(Member {
                    calendar: calendar.clone(),
                    href,
                    etag,
                    body: body.into(),
                });
            }
            (None, Some(404 | 410)) => drop(left.gone.insert(href.key())),
            (None, Some(400..)) => drop(left.refused.insert(href.key())),
            (body, _) => {
                let body = body.map(Bytes::from);
                left.incomplete.push(Candidate {
                    href,
                    size: member.props.content_length,
                    body,
                });
            }
        }
        if outcome.is_err() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    outcome?;
    place.check()?;
    vanished(fetched, left.gone.len());
    if !left.refused.is_empty() {
        let message = format!(
            "The server does not let {} resources be read; they are left out.",
            left.refused.len()
        );
        fetched
            .diagnostics
            .push(Diagnostic::warning("resource_not_readable", message));
    }
    Ok(left)
}

/// The names in an answer that holds no bodies.
fn candidates(calendar: &Href, answer: &Answer) -> Outcome<Vec<Candidate>> {
    let mut found = Vec::new();
    let mut place = Place::new(calendar, answer);
    read(answer, |member| {
        let href = place.member(&member.href).filter(|href| !href.as_str().ends_with('/'));
        if let Some(href) = href.filter(|_| member.status.is_none_or(|status| status < 400)) {
            found.push(Candidate {
                href,
                size: member.props.content_length,
                body: None,
            });
        }
        if found.len() > MAX_RESOURCES {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    if found.len() > MAX_RESOURCES {
        return Err(too_many(Dimension::ResourceCount, found.len(), MAX_RESOURCES));
    }
    place.check()?;
    Ok(found)
}

/// All members by name, where the server refuses the query.
async fn inventory(channel: &Channel<'_>, calendar: &Href) -> Outcome<Vec<Candidate>> {
    let request = request("PROPFIND", "1", propfind::member_listing_body());
    let answer = channel
        .send(calendar, request, Rules::INVENTORY)
        .await
        .map_err(|fault| channel.error(&fault))?;
    // A listing holds at least the collection itself (RFC 4918, 9.1).
    if read(&answer, |_| ControlFlow::Break(()))?.members == 0 {
        return Err(protocol("A listing of the CalDAV server names not even the Calendar."));
    }
    candidates(calendar, &answer)
}

/// Reads bodies in batches, a few at a time.
async fn multiget(
    channel: &Channel<'_>,
    calendar: &Href,
    candidates: Vec<Candidate>,
    fetched: &mut Fetched,
    tally: &Tally,
) -> Outcome<()> {
    let jobs = batches(candidates)
        .into_iter()
        .map(|batch| read_batch(channel, calendar, batch, tally))
        .collect();
    for batch in windowed(IN_FLIGHT, jobs).await? {
        fetched.members.extend(batch.members);
        fetched.diagnostics.extend(batch.diagnostics);
    }
    Ok(())
}

fn batches(candidates: Vec<Candidate>) -> Vec<Vec<Candidate>> {
    let (mut batches, mut batch, mut bytes) = (Vec::new(), Vec::new(), 0);
    for candidate in candidates {
        let size = candidate.size.unwrap_or(0);
        if batch.len() == BATCH || (!batch.is_empty() && bytes + size > BATCH_BYTES) {
            batches.push(std::mem::take(&mut batch));
            bytes = 0;
        }
        bytes += size;
        batch.push(candidate);
    }
    if !batch.is_empty() {
        batches.push(batch);
    }
    batches
}

async fn read_batch(channel: &Channel<'_>, calendar: &Href, batch: Vec<Candidate>, tally: &Tally) -> Outcome<Fetched> {
    let mut fetched = Fetched::default();
    let hrefs = batch.iter().map(|candidate| candidate.href.path());
    let answer = report(channel, calendar, calendar_multiget::body(hrefs)).await;
    let left = match answer.map_err(|fault| channel.error(&fault))? {
        answer if answer.response.status() == StatusCode::MULTI_STATUS => {
            let Collected {
                mut incomplete,
                mut gone,
                refused,
            } = collect(calendar, &answer, &mut fetched, tally)?;
            // What the answer leaves out is asked for by itself: it may be gone, or the server may be odd.
            gone.extend(refused);
            gone.extend(fetched.members.iter().map(|member| member.href.key()));
            gone.extend(incomplete.iter().map(|candidate| candidate.href.key()));
            incomplete.extend(
                batch
                    .into_iter()
                    .filter(|candidate| !gone.contains(&candidate.href.key())),
            );
            incomplete
        }
        // One missing member makes the whole report 404 (sabre/dav 1.8); other servers have no multiget.
        answer if query_refused(&answer) || answer.response.status() == StatusCode::NOT_FOUND => batch,
        answer => return Err(unexpected(&answer)),
    };
    complete(channel, calendar, left, &mut fetched, tally).await?;
    Ok(fetched)
}

/// Reads members one by one. Where there are too many, a body that only lacks its Entity Tag has to do.
async fn complete(
    channel: &Channel<'_>,
    calendar: &Href,
    left: Vec<Candidate>,
    fetched: &mut Fetched,
    tally: &Tally,
) -> Outcome<()> {
    let read_one = async |candidate: Candidate| {
        let Candidate { href, body, .. } = candidate;
        let read = match body {
            body if tally.one_more() => get_resource::read(channel, &href).await.or_else(|error| match body {
                Some(body) if error.code != Code::NotFound => Ok((None, body)),
                _ => Err(error),
            }),
            Some(body) => Ok((None, body)),
            None => {
                let message = "The server refuses to give several resources at once, and there are too many to read one by one. Ask for a smaller window.";
                Err(exhausted(Dimension::AttemptCount, MAX_SINGLE + 1, MAX_SINGLE, message))
            }
        };
        match read {
            Ok((etag, body)) => Ok(Some((href, etag, body))),
            Err(error) if error.code == Code::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    };
    let jobs = left.into_iter().map(read_one).collect();
    let read = windowed(IN_FLIGHT, jobs).await?;
    let disappeared = read.iter().filter(|found| found.is_none()).count();
    for (href, etag, body) in read.into_iter().flatten() {
        tally.add(1, body.len())?;
        let calendar = calendar.clone();
        fetched.members.push(Member {
            calendar,
            href,
            etag,
            body,
        });
    }
    vanished(fetched, disappeared);
    Ok(())
}

fn vanished(fetched: &mut Fetched, count: usize) {
    if count > 0 {
        let message = format!("{count} resources disappeared while the query ran.");
        fetched
            .diagnostics
            .push(Diagnostic::warning("resource_disappeared_during_query", message));
    }
}

fn unexpected(answer: &Answer) -> Box<Error> {
    let status = answer.response.status();
    if status.is_success() {
        protocol(format!(
            "The CalDAV server answered a query with {status} instead of 207."
        ))
    } else {
        refused(status)
    }
}

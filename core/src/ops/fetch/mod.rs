//! The members of a Calendar that a query may touch (RFC 4791, 7.8 and 7.9).
//!
//! ```text
//! first time:   calendar-query with bodies ──answer too large──▶ Entity Tags only ─┐
//! seen before:  calendar-query, Entity Tags only ─────────────────────────────────┤
//! either way:        └──────query refused───────▶ PROPFIND Depth 1, Entity Tags ──┤
//!                                            what is not on the shelf ▼           ▼
//!                                                       multiget in batches ──refused──▶ one GET each
//! ```
//!
//! Server filters are hints: the window is widened, because servers compare floating times and dates in zones of
//! their own choice, and what comes is filtered again by the caller.

mod answer;
mod place;
mod reduce;
mod tally;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::StatusCode;

use crate::account::quirk::Quirk;
use crate::dav::calendar_query::CalendarQuery;
use crate::dav::{calendar_multiget, error_body, propfind};
use crate::exchange::fault::{Fault, refused};
use crate::exchange::{Answer, Channel, Rules, exhausted, protocol};
use crate::flow::{IN_FLIGHT, windowed};
use crate::href::{Href, HrefKey};
use crate::ical::entity::{Entity, Kind};
use crate::ical::expand::Window;
use crate::ops::discover::{read, request};
use crate::ops::get_resource;
use crate::outcome::{Code, Dimension, Error, Outcome};
use crate::query::shelf::{EVERYTHING, Listing, Named};
use crate::query::text_filter::TextFilter;
use crate::resource::Resource;

use answer::{Arrival, BATCH, Candidate, Collected, Names, batches, candidates, collect, names};
pub(crate) use place::Place;
use tally::MAX_SINGLE;
pub use tally::Tally;

/// How far a window is widened on each side, in seconds: two zones differ by 26 hours at most (UTC+14 and UTC-12).
const WIDENING: i64 = 26 * 3_600;
/// From here on servers miss endless rules (sabre/dav, Nextcloud, Cyrus): 2037-01-01T00:00:00Z.
const FAR_FUTURE: i64 = 2_114_380_800;
/// Resources that are parsed before the host may breathe.
pub(super) const BREATH: usize = 64;

/// One resource that was read.
#[derive(Clone, Debug)]
pub struct Member {
    /// What tells it from others.
    pub key: HrefKey,
    /// What it is.
    pub resource: Arc<Resource>,
}

/// How the members of one kind were told.
#[derive(Clone, Debug)]
pub enum Told {
    /// All were given to the caller; with what was named, if the next answer can be held against it.
    Each(Option<Arc<Listing>>),
    /// None was given: they are the same as the last time.
    Same(Arc<Listing>),
}

impl Told {
    /// What was not given.
    #[must_use]
    pub fn same(&self) -> Option<&Listing> {
        match self {
            Self::Each(_) => None,
            Self::Same(listing) => Some(listing),
        }
    }

    /// What was named, if the next answer can be held against it.
    #[must_use]
    pub fn listing(&self) -> Option<&Arc<Listing>> {
        match self {
            Self::Each(listing) => listing.as_ref(),
            Self::Same(listing) => Some(listing),
        }
    }
}

/// What of a Calendar is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// The collection.
    pub calendar: &'a Href,
    /// Events or To-dos. Some servers give both.
    pub kind: Kind,
    /// Those that may have an occurrence in this window, or all.
    pub window: Option<Window>,
    /// Nothing that this selects is left out.
    pub filter: &'a TextFilter,
}

/// Reads all members of one kind that a query may touch, and gives each to `take` as soon as it is there, unless they are
/// the same as the last time.
///
/// # Errors
/// The server's refusals, an answer that is not CalDAV, a bound of the query, or what `take` returns.
pub async fn members<T>(channel: &Channel<'_>, ask: Ask<'_>, tally: &Tally, take: &T) -> Outcome<Told>
where
    T: Fn(Member) -> Outcome<()>,
{
    let reach = reach(channel, &ask);
    let fetch = Fetch {
        channel,
        calendar: ask.calendar,
        tally,
        take,
        told: Mutex::new(Some(Vec::new())),
    };
    let query = CalendarQuery {
        component: ask.kind.component(),
        window: (reach != EVERYTHING).then_some((reach.from, reach.to)),
        text: None,
        data: true,
    };
    let key = ask.calendar.as_collection().key();
    let may_keep = || !channel.account.has(Quirk::EntityTagsRepeat);
    let (seen, before, state) = channel.account.shelf(|shelf| {
        let seen = shelf.has_seen(&key, ask.kind, reach);
        (seen, shelf.listing(&key, ask.kind, reach), shelf.state())
    });
    let reducible = !seen && channel.account.has(Quirk::TextSearchSeesOverrides);
    let probes = if reducible {
        reduce::probes(channel, &ask)
    } else {
        Vec::new()
    };
    let before = before.filter(|_| seen && may_keep());
    let (url, names) = fetch
        .named(query, !seen && probes.is_empty(), before.as_deref())
        .await?;
    let named = match (names, before) {
        (Names::Other(named), _) => named,
        (Names::Same, Some(before)) if may_keep() => {
            tally.add(before.members().len(), before.size())?;
            return Ok(Told::Same(before));
        }
        (Names::Same, before) => before
            .iter()
            .flat_map(|before| before.members())
            .map(Candidate::from)
            .collect(),
    };
    let mut unknown = fetch.not_on_shelf(named).await?;
    // A batch more costs less than the questions that might save it.
    let reduced = !probes.is_empty() && unknown.len() > BATCH;
    if reduced {
        unknown = fetch.reduced(query, &probes, unknown).await?;
    }
    if !unknown.is_empty() {
        fetch.out_of_order();
    }
    fetch.multiget(unknown).await?;
    if reduced || !may_keep() {
        return Ok(Told::Each(None));
    }
    let told = lock(&fetch.told).take().zip(url);
    let listing = told.map(|(members, url)| Arc::new(Listing::new(url, members)));
    channel.account.shelf(|shelf| {
        shelf.saw(key.clone(), ask.kind, reach);
        let listing = listing.filter(|_| shelf.state() == state);
        if let Some(listing) = &listing {
            shelf.note((key, ask.kind, reach), listing);
        }
        Ok(Told::Each(listing))
    })
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The window that the server is asked for. To-dos are few, and servers place them each in its own way: Cyrus leaves
/// out those that began before the window.
fn reach(channel: &Channel<'_>, ask: &Ask<'_>) -> Window {
    let blind = ask.kind == Kind::Todo || channel.account.has(Quirk::TimeRangeMisses);
    match ask.window {
        Some(window) if !blind && window.to.saturating_add(WIDENING) < FAR_FUTURE => Window {
            from: window.from.saturating_sub(WIDENING),
            to: window.to + WIDENING,
        },
        _ => EVERYTHING,
    }
}

/// The hands of one fetch.
struct Fetch<'a, T> {
    channel: &'a Channel<'a>,
    calendar: &'a Href,
    tally: &'a Tally,
    take: &'a T,
    /// What was given so far, while that is what one answer named, in its order, and all of it on the shelf.
    told: Mutex<Option<Vec<Named>>>,
}

impl<T: Fn(Member) -> Outcome<()>> Fetch<'_, T> {
    /// Asks which members there are. Those that come whole are handed over, the others are named. With the URL of an
    /// answer that the next one can be held against.
    async fn named(
        &self,
        query: CalendarQuery<'_>,
        mut data: bool,
        before: Option<&Listing>,
    ) -> Outcome<(Option<Href>, Names)> {
        loop {
            let answer = match self.report(CalendarQuery { data, ..query }.body()).await {
                Err(Fault::TooLarge(_)) if data => {
                    data = false;
                    continue;
                }
                answer => answer.map_err(|fault| self.channel.error(&fault))?,
            };
            return match answer.response.status() {
                StatusCode::MULTI_STATUS if data => {
                    let Collected {
                        whole,
                        incomplete,
                        without,
                    } = collect(self.calendar, &answer, self.tally)?;
                    let url = answer.url.clone();
                    drop(answer);
                    self.hand_over(whole).await?;
                    if !(incomplete.is_empty() && without.is_empty()) {
                        self.out_of_order();
                    }
                    let (untagged, bare) = incomplete.into_iter().partition(|candidate| candidate.body.is_some());
                    self.one_by_one(untagged).await?;
                    Ok((Some(url), Names::Other(bare)))
                }
                StatusCode::MULTI_STATUS => Ok((Some(answer.url.clone()), names(self.calendar, &answer, before)?)),
                _ if query_refused(&answer) => Ok((None, Names::Other(self.inventory().await?))),
                _ => Err(unexpected(&answer)),
            };
        }
    }

    async fn report(&self, body: Bytes) -> Result<Answer, Fault> {
        self.channel
            .send(self.calendar, request("REPORT", "1", body), Rules::REPORT)
            .await
    }

    /// All members by name, where the server refuses the query.
    async fn inventory(&self) -> Outcome<Vec<Candidate>> {
        let request = request("PROPFIND", "1", propfind::member_listing_body());
        let answer = self
            .channel
            .send(self.calendar, request, Rules::INVENTORY)
            .await
            .map_err(|fault| self.channel.error(&fault))?;
        // A listing holds at least the collection itself (RFC 4918, 9.1).
        if read(&answer, |_| std::ops::ControlFlow::Break(()))?.members == 0 {
            return Err(protocol("A listing of the CalDAV server names not even the Calendar."));
        }
        candidates(self.calendar, &answer)
    }

    /// Hands over what is kept under the Entity Tags that were just told; the others are left.
    async fn not_on_shelf(&self, named: Vec<Candidate>) -> Outcome<Vec<Candidate>> {
        let mut unknown = Vec::new();
        for (at, candidate) in named.into_iter().enumerate() {
            let kept = |etag: &String| self.channel.account.shelf(|shelf| shelf.get(&candidate.key, etag));
            let Some(entity) = candidate.etag.as_ref().and_then(kept) else {
                unknown.push(candidate);
                continue;
            };
            self.tally.add(1, entity.size())?;
            let Candidate {
                raw, href, key, etag, ..
            } = candidate;
            let member = self.member(href, key, etag, entity);
            self.give(raw, member, true)?;
            if at % BREATH == BREATH - 1 {
                self.channel.breathe().await?;
            }
        }
        Ok(unknown)
    }

    /// Reads what arrived, and keeps it.
    async fn hand_over(&self, arrivals: Vec<Arrival>) -> Outcome<()> {
        for (at, arrival) in arrivals.into_iter().enumerate() {
            let Arrival {
                raw,
                href,
                key,
                etag,
                body,
            } = arrival;
            let (entity, kept) = self.understood(&key, etag.as_deref(), body);
            let member = self.member(href, key, etag, entity);
            self.give(raw, member, kept)?;
            if at % BREATH == BREATH - 1 {
                self.channel.breathe().await?;
            }
        }
        Ok(())
    }

    /// A body that was read before is not parsed again. With whether it is on the shelf.
    fn understood(&self, key: &HrefKey, etag: Option<&str>, body: Bytes) -> (Arc<Entity>, bool) {
        let account = self.channel.account;
        let Some(etag) = etag.filter(|etag| account.may_keep(etag)) else {
            return (Arc::new(Entity::read(body)), false);
        };
        if let Some(entity) = account.shelf(|shelf| shelf.get(key, etag)) {
            return (entity, true);
        }
        let entity = Arc::new(Entity::read(body));
        // What cannot be understood may have been damaged on its way, and is read anew.
        let kept = entity.opaque().is_none();
        if kept {
            account.shelf(|shelf| shelf.keep(key.clone(), etag, &entity));
        }
        (entity, kept)
    }

    fn member(&self, href: Href, key: HrefKey, etag: Option<String>, entity: Arc<Entity>) -> Member {
        let calendar = self.calendar.clone();
        let resource = Arc::new(Resource {
            calendar,
            href,
            etag,
            entity,
        });
        Member { key, resource }
    }

    fn give(&self, raw: String, member: Member, kept: bool) -> Outcome<()> {
        {
            let mut told = lock(&self.told);
            if let Some(members) = told.as_mut().filter(|_| kept) {
                members.push(Named {
                    raw: raw.into(),
                    key: member.key.clone(),
                    resource: Arc::clone(&member.resource),
                });
            } else {
                *told = None;
            }
        }
        (self.take)(member)
    }

    /// What is given from here on is not in the order of one answer.
    fn out_of_order(&self) {
        *lock(&self.told) = None;
    }

    /// Reads bodies in batches, a few at a time.
    async fn multiget(&self, unknown: Vec<Candidate>) -> Outcome<()> {
        let jobs = batches(unknown).into_iter().map(|batch| self.batch(batch)).collect();
        windowed(IN_FLIGHT, jobs).await.map(drop)
    }

    async fn batch(&self, batch: Vec<Candidate>) -> Outcome<()> {
        let hrefs = batch.iter().map(|candidate| candidate.href.path());
        let answer = self.report(calendar_multiget::body(hrefs)).await;
        let left = match answer.map_err(|fault| self.channel.error(&fault))? {
            answer if answer.response.status() == StatusCode::MULTI_STATUS => {
                let Collected {
                    whole,
                    mut incomplete,
                    without: mut settled,
                } = collect(self.calendar, &answer, self.tally)?;
                drop(answer);
                settled.extend(whole.iter().map(|arrival| arrival.key.clone()));
                settled.extend(incomplete.iter().map(|candidate| candidate.key.clone()));
                self.hand_over(whole).await?;
                // What the answer leaves out is asked for by itself: it may be gone, or the server may be odd.
                let left_out = batch.into_iter().filter(|candidate| !settled.contains(&candidate.key));
                incomplete.extend(left_out);
                incomplete
            }
            // One missing member makes the whole report 404 (sabre/dav 1.8); other servers have no multiget.
            answer if query_refused(&answer) || answer.response.status() == StatusCode::NOT_FOUND => batch,
            answer => return Err(unexpected(&answer)),
        };
        self.one_by_one(left).await
    }

    /// Reads members one by one. Where there are too many, a body that only lacks its Entity Tag has to do.
    async fn one_by_one(&self, left: Vec<Candidate>) -> Outcome<()> {
        let jobs = left.into_iter().map(|candidate| self.one(candidate)).collect();
        let read = windowed(IN_FLIGHT, jobs).await?;
        let arrivals: Vec<Arrival> = read.into_iter().flatten().collect();
        for arrival in &arrivals {
            self.tally.add(1, arrival.body.len())?;
        }
        self.hand_over(arrivals).await
    }

    async fn one(&self, candidate: Candidate) -> Outcome<Option<Arrival>> {
        let Candidate {
            raw, href, key, body, ..
        } = candidate;
        let read = match body {
            body if self.tally.one_more() => {
                get_resource::read(self.channel, &href)
                    .await
                    .or_else(|error| match body {
                        Some(body) if error.code != Code::NotFound => Ok((None, body)),
                        _ => Err(error),
                    })
            }
            Some(body) => Ok((None, body)),
            None => {
                let message = "The server refuses to give several resources at once, and there are too many to read one by one. Ask for a smaller window.";
                Err(exhausted(Dimension::AttemptCount, MAX_SINGLE + 1, MAX_SINGLE, message))
            }
        };
        match read {
            Ok((etag, body)) => Ok(Some(Arrival {
                raw,
                href,
                key,
                etag,
                body,
            })),
            Err(error) if error.code == Code::NotFound => {
                self.tally.vanished(1);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
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

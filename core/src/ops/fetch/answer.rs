//! What an answer of the server holds, and what is left to be asked for.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use bytes::Bytes;

use super::place::Place;
use super::tally::{MAX_RESOURCES, Tally, too_many};
use crate::dav::etag::EntityTag;
use crate::exchange::Answer;
use crate::href::{Href, HrefKey};
use crate::ops::discover::read;
use crate::outcome::{Dimension, Outcome};
use crate::query::shelf::{Listing, Named};

/// The most members of one multiget.
pub(super) const BATCH: usize = 50;
/// The most bytes of bodies that one multiget asks for, as far as the server tells sizes.
const BATCH_BYTES: u64 = 2 * 1024 * 1024;

/// A member whose body came.
#[derive(Debug)]
pub(super) struct Arrival {
    /// The href as the answer spelled it.
    pub(super) raw: String,
    pub(super) href: Href,
    pub(super) key: HrefKey,
    pub(super) etag: Option<String>,
    pub(super) body: Bytes,
}

/// A member that is named, and may have to be asked for.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// The href as the answer spelled it.
    pub(super) raw: String,
    pub(super) href: Href,
    pub(super) key: HrefKey,
    /// Strong Entity Tag.
    pub(super) etag: Option<String>,
    pub(super) size: Option<u64>,
    /// The body, where only a strong Entity Tag is missing.
    pub(super) body: Option<Bytes>,
}

/// What a report with bodies gave.
#[derive(Debug, Default)]
pub(super) struct Collected {
    /// Members that came whole.
    pub(super) whole: Vec<Arrival>,
    /// Members without a body or without a strong Entity Tag.
    pub(super) incomplete: Vec<Candidate>,
    /// Members that the server calls gone, or does not let be read.
    pub(super) without: BTreeSet<HrefKey>,
}

/// Reads a report with bodies.
pub(super) fn collect(calendar: &Href, answer: &Answer, tally: &Tally) -> Outcome<Collected> {
    let mut found = Collected::default();
    let (mut gone, mut refused) = (0, 0);
    let mut outcome = Ok(());
    let mut place = Place::new(calendar, answer);
    read(answer, |member| {
        let Some((href, key)) = place.member(&member.href) else {
            return ControlFlow::Continue(());
        };
        let raw = member.href;
        let etag = member.props.etag.and_then(EntityTag::into_strong);
        match (member.props.calendar_data, member.status) {
            (Some(body), _) if etag.is_some() => {
                outcome = tally.add(1, body.len());
                let body = body.into();
                found.whole.push(Arrival {
                    raw,
                    href,
                    key,
                    etag,
                    body,
                });
            }
            (None, Some(404 | 410)) => {
                gone += 1;
                found.without.insert(key);
            }
            (None, Some(400..)) => {
                refused += 1;
                found.without.insert(key);
            }
            (body, _) => found.incomplete.push(Candidate {
                raw,
                href,
                key,
                etag,
                size: member.props.content_length,
                body: body.map(Bytes::from),
            }),
        }
        if outcome.is_err() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    outcome?;
    place.check()?;
    tally.vanished(gone);
    tally.refused(refused);
    Ok(found)
}

/// What an answer that holds no bodies names.
#[derive(Debug)]
pub(super) enum Names {
    /// The same as the answer before, in the same order.
    Same,
    Other(Vec<Candidate>),
}

/// The names in an answer that holds no bodies.
pub(super) fn candidates(calendar: &Href, answer: &Answer) -> Outcome<Vec<Candidate>> {
    match names(calendar, answer, None)? {
        Names::Same => Ok(Vec::new()),
        Names::Other(found) => Ok(found),
    }
}

/// The names in an answer that holds no bodies, where `before` is what the answer before named.
pub(super) fn names(calendar: &Href, answer: &Answer, before: Option<&Listing>) -> Outcome<Names> {
    let before = before.filter(|before| *before.url() == answer.url);
    let mut same = before.map(|before| (before.members(), 0));
    let mut found = Vec::new();
    let mut place = Place::new(calendar, answer);
    read(answer, |member| {
        let is_there = member.status.is_none_or(|status| status < 400);
        if let Some((members, count)) = &mut same {
            let tag = member.props.etag.as_ref().and_then(EntityTag::strong);
            let is_same = |named: &Named| *named.raw == *member.href && named.resource.etag.as_deref() == tag;
            if is_there && tag.is_some() && members.get(*count).is_some_and(is_same) {
                *count += 1;
                return ControlFlow::Continue(());
            }
            found.extend(members[..*count].iter().map(Candidate::from));
            same = None;
        }
        let place = place
            .member(&member.href)
            .filter(|(href, _)| !href.as_str().ends_with('/'));
        if let Some((href, key)) = place.filter(|_| is_there) {
            found.push(Candidate {
                raw: member.href,
                href,
                key,
                etag: member.props.etag.and_then(EntityTag::into_strong),
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
    match same {
        Some((members, count)) if count == members.len() => return Ok(Names::Same),
        Some((members, count)) => found.extend(members[..count].iter().map(Candidate::from)),
        None if found.is_empty() => place.check()?,
        None => {}
    }
    Ok(Names::Other(found))
}

impl From<&Named> for Candidate {
    fn from(named: &Named) -> Self {
        Self {
            raw: named.raw.to_string(),
            href: named.resource.href.clone(),
            key: named.key.clone(),
            etag: named.resource.etag.clone(),
            size: None,
            body: None,
        }
    }
}

/// Multigets of bounded count and size.
pub(super) fn batches(candidates: Vec<Candidate>) -> Vec<Vec<Candidate>> {
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

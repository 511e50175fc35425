//! The end of a Calendar with all that is in it: seen before, agreed to, sent once, and looked for afterwards.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::Bytes;
use http::header::USER_AGENT;
use http::{Method, Request, StatusCode};

use crate::account::{Account, Scheduling};
use crate::calendar::{CalendarDescriptor, CapabilityState};
use crate::change::{Change, Changed, Committed, Consent, Fact, Failed, Review, SideEffects};
use crate::dav::calendar_multiget;
use crate::dav::multistatus::Member;
use crate::dav::name::Name;
use crate::dav::propfind::member_listing_body;
use crate::env::Env;
use crate::exchange::dispatch::{Dispatch, undone};
use crate::exchange::{Channel, Rules, exhausted};
use crate::flow::{Flow, Io};
use crate::href::{Href, HrefKey};
use crate::ledger::Mutation;
use crate::machine::Machine;
use crate::operation::Operation;
use crate::ops::discover::{AGENT, discover, read, request};
use crate::ops::inspect_calendar::{described, scheduling};
use crate::ops::scheduling::takes_part;
use crate::ops::scope::{address, href_of};
use crate::outcome::{Code, Dimension, Error, Outcome, Phase};

/// The most members that are looked through, in how many at a time, and their octets.
const MAX_MEMBERS: usize = 5000;
const BATCH: usize = 50;
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// Asks for a Calendar to be deleted.
#[derive(Clone, Debug)]
pub struct DeleteCalendar {
    /// Absolute URL, as results give it.
    pub href: String,
    /// Whether a person has agreed.
    pub consent: Consent,
}

impl Operation for DeleteCalendar {
    type Outcome = Changed<CalendarDescriptor>;

    fn start(self, env: Env, account: &Arc<Account>) -> impl Machine<Output = Self::Outcome> + Send + 'static + use<> {
        let account = Arc::clone(account);
        Flow::new(
            env.now,
            move |io| async move { delete(&io, &account, &env, self).await },
        )
    }
}

async fn delete(io: &Io, account: &Account, env: &Env, asked: DeleteCalendar) -> Changed<CalendarDescriptor> {
    let channel = Channel::writing(io, account, env);
    let key = address(account, &asked.href, "/href").map_err(Failed::before)?;
    let key = key.as_collection().key();
    io.phase("discovery");
    let before = listed(&channel, &key).await.map_err(Failed::before)?;
    let before = before.ok_or_else(|| Failed::before(missing()))?;
    let href = href_of(&before);
    io.phase("review");
    let side_effects = admit(&channel, &href).await?;
    let review = review(&before, side_effects == Some(SideEffects::Possible));
    if let Some(review) = review.settle(&asked.consent)? {
        return Ok(Change::Review(review));
    }
    io.phase("write");
    let request = Request::builder()
        .method(Method::DELETE)
        .header(USER_AGENT, AGENT)
        .body(Bytes::new())
        .expect("static headers are valid");
    let dispatch = channel.write_within(&href, request, |_| false).await;
    io.phase("reconcile");
    let answer = match &dispatch {
        Dispatch::Accepted(_) => Answer::Accepted,
        Dispatch::Unsure(_) => Answer::Doubt,
        Dispatch::Refused(answer) if about_the_place(answer.response.status()) => Answer::Refused,
        Dispatch::Refused(_) | Dispatch::NotSent(_) | Dispatch::Declined(_) => {
            let (error, state) = undone(&channel, &dispatch).expect("it was not done");
            return Err(Failed::with(error, state));
        }
    };
    let settling = channel.reconciling();
    let there = still_there(&settling, &href, &key).await;
    let (code, text, state) = match verdict(answer, there) {
        Verdict::Gone => {
            return Ok(Change::Committed(Committed {
                value: before,
                side_effects,
                diagnostics: Vec::new(),
            }));
        }
        Verdict::NotDone => {
            let (error, state) = undone(&channel, &dispatch).expect("it was refused");
            return Err(Failed::with(error, state));
        }
        Verdict::Unverified => (
            Code::CommittedButUnverified,
            "The CalDAV server says that the Calendar was deleted, and it is still listed or could not be looked for. List the Calendars before you go on.",
            Mutation::Committed,
        ),
        Verdict::Unknown => (
            Code::Indeterminate,
            "It is not known whether the Calendar was deleted, or which of its resources: no clear answer came, and it does not look deleted yet. List the Calendars before you go on.",
            Mutation::Unknown,
        ),
    };
    let error = Error::new(code, Phase::PostWriteVerificationOrReconciliation, text);
    Err(Box::new(Failed {
        side_effects,
        ..*Failed::with(error, state)
    }))
}

fn missing() -> Box<Error> {
    Error::new(
        Code::NotFound,
        Phase::SelectionDiscoveryCapability,
        "No Calendar was discovered at that href. List the Calendars to see which there are.",
    )
}

/// The Calendar at a place, if it is listed as one. In Nextcloud's trash it is none.
async fn listed(channel: &Channel<'_>, key: &HrefKey) -> Outcome<Option<CalendarDescriptor>> {
    let found = discover(channel).await?.calendars;
    Ok(found.into_iter().find(|calendar| href_of(calendar).key() == *key))
}

/// Whether the Calendar is there after all, if that can be told. A listing without it is not enough: it may be another one,
/// where a redirect leads to.
async fn still_there(channel: &Channel<'_>, href: &Href, key: &HrefKey) -> Option<bool> {
    if listed(channel, key).await.ok()?.is_some() {
        return Some(true);
    }
    match described(channel, href).await {
        Ok(_) => Some(true),
        Err(error) if error.code == Code::NotFound => Some(false),
        Err(_) => None,
    }
}

/// What is agreed to: this Calendar, as it is described now.
fn review(before: &CalendarDescriptor, may_notify: bool) -> Review {
    let kinds = &before.entity_kinds;
    let kinds = [("event", &kinds.event), ("todo", &kinds.todo)];
    let taken = kinds
        .iter()
        .filter(|(_, kind)| kind.state != CapabilityState::NotAdvertised);
    let taken: Vec<_> = taken.map(|(name, _)| *name).collect();
    let facts = vec![
        Fact::new("Calendar", before.display_name.as_deref().unwrap_or_default()),
        Fact::new("Address", &*before.calendar.href),
        Fact::new("Kinds", taken.join(", ")),
        Fact::new("Loses", "all events and to-dos in it"),
    ];
    let described = format!("{before:?}");
    let parts: [&[u8]; 3] = [
        b"delete calendar",
        before.calendar.href.as_bytes(),
        described.as_bytes(),
    ];
    Review::of(&parts, facts, may_notify)
}

// ---- scheduling ---------------------------------------------------------------------------------------------------

/// Lets the deletion through, if the server sends no messages or may send them, or nothing in the Calendar has anything
/// to do with other people.
async fn admit(channel: &Channel<'_>, calendar: &Href) -> Result<Option<SideEffects>, Box<Failed>> {
    let managed = channel.account.settings().scheduling == Scheduling::ServerManaged;
    let seen = scheduling(channel, calendar).await.map_err(Failed::before)?;
    let side_effects = match (seen.state, managed) {
        (CapabilityState::NotAdvertised, _) => SideEffects::None,
        (CapabilityState::Advertised, true) => SideEffects::Possible,
        (CapabilityState::Advertised | CapabilityState::Unknown, _) => {
            harmless(channel, calendar).await.map_err(Failed::before)?;
            SideEffects::None
        }
    };
    Ok(managed.then_some(side_effects))
}

/// Members by place, with their href as it was given and their strong Entity Tag.
type Inventory = BTreeMap<HrefKey, (String, String)>;

/// Makes sure that no member has an organizer or guests: every one is read, between two listings that are the same.
async fn harmless(channel: &Channel<'_>, calendar: &Href) -> Outcome<()> {
    channel.io.phase("fetch");
    let first = inventory(channel, calendar).await?;
    let members: Vec<_> = first.iter().collect();
    let mut bytes = 0;
    for batch in members.chunks(BATCH) {
        let mut left: BTreeMap<&HrefKey, &str> = batch.iter().map(|(key, (_, tag))| (*key, tag.as_str())).collect();
        let mut guests = false;
        let body = calendar_multiget::body(batch.iter().map(|(_, (href, _))| href.as_str()));
        each(
            channel,
            calendar,
            request("REPORT", "1", body),
            Rules::REPORT,
            |href, member| {
                let Some(data) = &member.props.calendar_data else {
                    return;
                };
                bytes += data.len();
                guests |= takes_part(data.as_bytes());
                let tag = member.props.etag.as_ref().and_then(|tag| tag.strong());
                let key = href.key();
                if left.get(&key).copied() == tag {
                    left.remove(&key);
                }
            },
        )
        .await?;
        if bytes > MAX_BYTES {
            let text = "The Calendar holds more than is looked through before it is deleted. Nothing was deleted.";
            return Err(exhausted(Dimension::ByteCount, bytes, MAX_BYTES, text));
        }
        if guests {
            return Err(blocked(
                "an event in it has an organizer or guests, and the CalDAV server may send them messages. If it may, set CALDAV_SCHEDULING_MODE=server_managed",
            ));
        }
        if !left.is_empty() {
            return Err(blocked("not every resource in it could be read"));
        }
    }
    if inventory(channel, calendar).await? != first {
        return Err(blocked("it was changed while it was looked through"));
    }
    Ok(())
}

async fn inventory(channel: &Channel<'_>, calendar: &Href) -> Outcome<Inventory> {
    let own = calendar.as_collection().key();
    let (mut found, mut unfit) = (Inventory::new(), false);
    let listing = request("PROPFIND", "1", member_listing_body());
    each(channel, calendar, listing, Rules::INVENTORY, |href, member| {
        if href.as_collection().key() == own {
            return;
        }
        let types = member.props.resource_type.unwrap_or_default();
        let tag = member.props.etag.as_ref().and_then(|tag| tag.strong());
        match tag.filter(|_| !types.contains(Name::Collection) && member.status.is_none()) {
            Some(tag) => {
                found.insert(href.key(), (member.href.clone(), tag.to_owned()));
            }
            None => unfit = true,
        }
    })
    .await?;
    if unfit {
        return Err(blocked("something in it is a collection, or has no strong Entity Tag"));
    }
    if found.len() > MAX_MEMBERS {
        let text = "The Calendar has more resources than are looked through before it is deleted. Nothing was deleted.";
        return Err(exhausted(Dimension::ResourceCount, found.len(), MAX_MEMBERS, text));
    }
    Ok(found)
}

/// Asks the Calendar itself, and reads each member of the answer with its place.
async fn each(
    channel: &Channel<'_>,
    calendar: &Href,
    request: Request<Bytes>,
    rules: Rules,
    mut take: impl FnMut(Href, &Member),
) -> Outcome<()> {
    let answer = channel.send(calendar, request, rules).await;
    let answer = answer.map_err(|fault| channel.error(&fault))?;
    if answer.url.key() != calendar.key() {
        return Err(blocked("the CalDAV server redirects it"));
    }
    let mut lost = false;
    read(&answer, |member| {
        match answer.url.resolve(&member.href) {
            Some(href) => take(href, &member),
            None => lost = true,
        }
        ControlFlow::Continue(())
    })?;
    match lost {
        true => Err(blocked("the CalDAV server lists a resource without an address")),
        false => Ok(()),
    }
}

fn blocked(why: &str) -> Box<Error> {
    let text = format!(
        "The Calendar is not deleted, because it is not certain that nobody is sent a message: {why}. Nothing was deleted."
    );
    Error::new(Code::UnsupportedCapability, Phase::SelectionDiscoveryCapability, text)
}

// ---- what became of it --------------------------------------------------------------------------------------------

/// Refusals that are about what is at the place.
fn about_the_place(status: StatusCode) -> bool {
    matches!(status.as_u16(), 404 | 405 | 409 | 410 | 412)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Accepted,
    Refused,
    Doubt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// It is not listed any more.
    Gone,
    /// The server says that it was deleted, and nothing else is known.
    Unverified,
    NotDone,
    Unknown,
}

/// Decides by the answer and by whether it is listed. That it is gone is what was asked for, whoever did it.
fn verdict(answer: Answer, there: Option<bool>) -> Verdict {
    match (answer, there) {
        (_, Some(false)) => Verdict::Gone,
        (Answer::Accepted, Some(true) | None) => Verdict::Unverified,
        (Answer::Refused, Some(true) | None) => Verdict::NotDone,
        (Answer::Doubt, Some(true) | None) => Verdict::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_calendar_is_gone_as_far_as_answer_and_listing_prove_it() {
        use Verdict::{Gone, NotDone, Unknown, Unverified};
        // For each answer: not listed, listed, not seen.
        for (answer, expected) in [
            (Answer::Accepted, [Gone, Unverified, Unverified]),
            (Answer::Refused, [Gone, NotDone, NotDone]),
            (Answer::Doubt, [Gone, Unknown, Unknown]),
        ] {
            let found = [Some(false), Some(true), None].map(|there| verdict(answer, there));
            assert_eq!(found, expected, "{answer:?}");
        }
    }
}

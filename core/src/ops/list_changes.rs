//! Which members of a Calendar have changed, as its server remembers it (RFC 6578).

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use http::StatusCode;
use http::header::CONTENT_TYPE;

use crate::account::Account;
use crate::account::quirk::{self, Quirk};
use crate::dav::sync_collection::{self, Change};
use crate::dav::{calendar_multiget, error_body, propfind};
use crate::env::Env;
use crate::exchange::fault::refused;
use crate::exchange::{Answer, Channel, Rules, exhausted, protocol};
use crate::flow::{Flow, Io};
use crate::href::{Href, HrefKey};
use crate::machine::Machine;
use crate::operation::Operation;
use crate::ops::discover::{read, report_refused, request};
use crate::ops::fetch::Place;
use crate::ops::scope;
use crate::outcome::{Code, Dimension, Error, Outcome, Phase};

/// The longest sync token, in bytes.
pub const MAX_TOKEN: usize = 8192;
/// The most bytes of names and Entity Tags of one report.
pub const MAX_BYTES: usize = 6 << 20;
/// The most removals that are looked for by name; more are looked for in a listing of all members.
const BATCH: usize = 50;

/// Asks what has changed.
#[derive(Clone, Debug)]
pub struct ListChanges {
    /// Since when.
    pub since: Since,
}

/// Where a report of changes begins.
#[derive(Clone, Debug)]
pub enum Since {
    /// All members that there are.
    Beginning {
        /// Absolute URL of the Calendar, as results give it.
        calendar_href: String,
    },
    /// What has changed after an earlier report.
    Token {
        /// The Calendar of that report, which needs no discovery.
        calendar: Href,
        /// What that report ended with.
        token: String,
    },
}

/// The changes up to a token. Some servers repeat members that have not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// Whose members they are.
    pub calendar: Href,
    /// In order of their hrefs, each once.
    pub changes: Vec<Change>,
    /// Where the next report begins.
    pub token: String,
    /// There are further changes already.
    pub truncated: bool,
}

impl Operation for ListChanges {
    type Outcome = Outcome<Changes>;

    fn start(self, env: Env, account: &Arc<Account>) -> impl Machine<Output = Self::Outcome> + Send + 'static + use<> {
        let account = Arc::clone(account);
        Flow::new(
            env.now,
            move |io| async move { list(&io, &account, &env, self.since).await },
        )
    }
}

async fn list(io: &Io, account: &Account, env: &Env, since: Since) -> Outcome<Changes> {
    let channel = Channel::reading(io, account, env);
    let (calendar, token) = match since {
        Since::Beginning { calendar_href } => {
            io.phase("discovery");
            let calendar = scope::calendar(&channel, &calendar_href, "/calendarHref").await?;
            (calendar, String::new())
        }
        Since::Token { calendar, token } => (calendar, token),
    };
    io.phase("fetch");
    let request = request("REPORT", "0", sync_collection::body(&token));
    let answer = channel
        .send(&calendar, request, Rules::BRIEF_REPORT)
        .await
        .map_err(|fault| channel.error(&fault))?;
    if answer.response.status() != StatusCode::MULTI_STATUS {
        return Err(refusal(&answer, &token));
    }
    let mut found = changes(calendar, &answer, &token)?;
    if quirk::by_sync_token(&found.token).any(|quirk| quirk == Quirk::RecreatedLooksRemoved) {
        look_again(&channel, &mut found).await?;
    }
    Ok(found)
}

/// What it means that a server does not report.
fn refusal(answer: &Answer, token: &str) -> Box<Error> {
    let status = answer.response.status();
    let media = answer.response.headers().get(CONTENT_TYPE);
    let media = media.and_then(|value| value.to_str().ok());
    let forgotten = || error_body::read(media, answer.response.body()).names("valid-sync-token");
    if !token.is_empty() && status.is_client_error() && (status == StatusCode::GONE || forgotten()) {
        return Error::new(
            Code::SyncResetRequired,
            Phase::Execution,
            "The CalDAV server no longer knows that state. Start again with calendarHref and compare with what you have: what is missing then is gone.",
        );
    }
    if status.is_success() {
        return protocol(format!(
            "The CalDAV server answered a report with {status} instead of 207."
        ));
    }
    report_refused(answer).unwrap_or_else(|| refused(status))
}

/// Reads a report that begins at `token`.
fn changes(calendar: Href, answer: &Answer, token: &str) -> Outcome<Changes> {
    let mut found: BTreeMap<HrefKey, Change> = BTreeMap::new();
    let (mut truncated, mut bytes) = (false, 0);
    let mut place = Place::new(&calendar, answer);
    let tail = read(answer, |member| {
        // About the Calendar itself: 507 is the sign of more to come (RFC 6578, 3.6), anything else is no change of a member.
        if place.is_collection(&member.href) {
            truncated |= member.status == Some(507);
        }
        let named = place
            .member(&member.href)
            .filter(|(href, _)| !href.as_str().ends_with('/'));
        let Some((href, key)) = named else {
            return ControlFlow::Continue(());
        };
        let etag = match member.status {
            Some(404 | 410) => None,
            _ => Some(
                member
                    .props
                    .etag
                    .map_or_else(String::new, |tag| tag.as_str().to_owned()),
            ),
        };
        let change = Change { href, etag };
        bytes += weight(&change);
        // Some servers name a member twice; the last word counts.
        found.insert(key, change);
        if bytes > MAX_BYTES {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    if bytes > MAX_BYTES {
        let message = "The Calendar has more changes than are kept. Query occurrences instead.";
        return Err(exhausted(Dimension::ByteCount, bytes, MAX_BYTES, message));
    }
    place.check()?;
    let next = tail.sync_token.filter(|next| (1..=MAX_TOKEN).contains(&next.len()));
    let next = next.ok_or_else(|| protocol("The CalDAV server's report has no sync token that can be used."))?;
    if truncated && next == token {
        return Err(protocol(
            "The CalDAV server says that there are more changes, and gives no way to them. Query occurrences instead.",
        ));
    }
    Ok(Changes {
        calendar,
        changes: found.into_values().collect(),
        token: next,
        truncated,
    })
}

/// About how many bytes a change takes in memory.
#[must_use]
pub fn weight(change: &Change) -> usize {
    size_of::<Change>() + change.href.as_str().len() + change.etag.as_ref().map_or(0, String::len)
}

/// Looks for what is reported as removed, where the server says so of members that were deleted and made again.
async fn look_again(channel: &Channel<'_>, found: &mut Changes) -> Outcome<()> {
    let removed: Vec<&str> = found
        .changes
        .iter()
        .filter(|change| change.etag.is_none())
        .map(|change| change.href.path())
        .collect();
    if removed.is_empty() {
        return Ok(());
    }
    channel.io.phase("verify");
    let all = removed.len() > BATCH;
    let (request, rules) = if all {
        (
            request("PROPFIND", "1", propfind::member_listing_body()),
            Rules::INVENTORY,
        )
    } else {
        (
            request("REPORT", "1", calendar_multiget::tags_body(removed)),
            Rules::BRIEF_REPORT,
        )
    };
    let answer = channel
        .send(&found.calendar, request, rules)
        .await
        .map_err(|fault| channel.error(&fault))?;
    let mut there = BTreeMap::new();
    let mut place = Place::new(&found.calendar, &answer);
    let tail = read(&answer, |member| {
        if let Some((_, key)) = place
            .member(&member.href)
            .filter(|_| member.status.is_none_or(|status| status < 400))
        {
            let etag = member
                .props
                .etag
                .map_or_else(String::new, |tag| tag.as_str().to_owned());
            there.insert(key, etag);
        }
        ControlFlow::Continue(())
    })?;
    place.check()?;
    // A listing holds at least the collection itself (RFC 4918, 9.1); a multiget may leave out what is gone.
    if all && tail.members == 0 {
        return Err(protocol("A listing of the CalDAV server names not even the Calendar."));
    }
    for change in found.changes.iter_mut().filter(|change| change.etag.is_none()) {
        change.etag = there.remove(&change.href.key());
    }
    Ok(())
}

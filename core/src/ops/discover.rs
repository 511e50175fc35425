//! Principal, calendar homes and Calendars (RFC 6764, RFC 5397, RFC 4791 section 6.2).
//!
//! ```text
//! CALDAV_URL ──no multistatus──▶ /.well-known/caldav ──no multistatus──▶ /
//!     │ principal                        │                                │
//!     ▼                                  ▼                                ▼
//! principal ──calendar-home-set──▶ homes ──PROPFIND Depth 1──▶ Calendars, and plain collections to be walked
//! ```
//!
//! Principal and homes are kept for the process; the listing is read anew in each operation.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::ControlFlow;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_TYPE, USER_AGENT};
use http::{Request, StatusCode};

use crate::account::{Account, Known};
use crate::calendar::CalendarDescriptor;
use crate::dav::descriptor::{self, CollectionKind};
use crate::dav::fault::{DavFault, FaultKind};
use crate::dav::multistatus::{self, Member};
use crate::dav::name::Name;
use crate::dav::xml::{Limited, XmlFault};
use crate::dav::{error_body, propfind, xml};
use crate::exchange::fault::{Fault, refused};
use crate::exchange::{Answer, Channel, Rules, exhausted, protocol};
use crate::flow::{IN_FLIGHT, windowed};
use crate::href::{Href, HrefKey};
use crate::outcome::{Code, Diagnostic, Dimension, Error, Outcome, Phase};

const TOO_MUCH: &str =
    "The CalDAV server's answer holds more than is read at once. Ask for a smaller window or fewer Calendars.";
/// How the client names itself.
pub const AGENT: &str = concat!("kalends/", env!("CARGO_PKG_VERSION"));
/// The most calendar homes.
const MAX_HOMES: usize = 16;
/// The most listings of one discovery.
const MAX_LISTINGS: usize = 64;
/// The most Calendars.
const MAX_CALENDARS: usize = 256;
/// How deep plain collections below a home are walked.
const MAX_DEPTH: usize = 8;
/// The most bytes of all listings together.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The longest part of an href of the server that an error shows, in bytes.
const MAX_SHOWN: usize = 300;

/// What discovery found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discovery {
    /// In order of their hrefs, inside the configured scope.
    pub calendars: Vec<CalendarDescriptor>,
    /// Configured hrefs that are named twice or were not found.
    pub diagnostics: Vec<Diagnostic>,
}

/// Finds the Calendars of the account.
///
/// # Errors
/// The server's refusals, a place that is not trusted, an answer that is not CalDAV, or a bound of discovery.
pub async fn discover(channel: &Channel<'_>) -> Outcome<Discovery> {
    let known = match channel.account.known() {
        Some(known) => known,
        None => locate(channel).await?,
    };
    let listed = list(channel, &known).await;
    if listed.is_err() {
        // Homes that moved are looked for anew by the next operation.
        channel.account.forget();
    } else {
        channel.account.learn(known);
    }
    Ok(in_scope(channel.account, listed?))
}

// ---- principal and homes ----------------------------------------------------------------------------------------

/// What one place says about the account.
#[derive(Debug, Default)]
struct Signpost {
    principal: Option<Href>,
    homes: Vec<Href>,
    scheduling: Vec<HrefKey>,
    unauthenticated: bool,
    collection: bool,
}

async fn locate(channel: &Channel<'_>) -> Outcome<Known> {
    let start = &channel.account.settings().url;
    let elsewhere = ["/.well-known/caldav", "/"]
        .iter()
        .filter_map(|path| start.resolve(path));
    let mut places: Vec<Href> = vec![start.clone()];
    places.extend(elsewhere.filter(|place| place.key() != start.key()));
    let mut first_error = None;
    let mut fallback = None;
    for place in places {
        let (url, signpost) = match ask(channel, &place).await {
            Ok(found) => found,
            Err(error) if final_for_discovery(&error) => return Err(error),
            Err(error) => {
                first_error.get_or_insert_with(|| no_service(error));
                continue;
            }
        };
        if signpost.unauthenticated {
            return Err(refused(StatusCode::UNAUTHORIZED));
        }
        let Signpost {
            principal,
            homes,
            scheduling,
            collection,
            ..
        } = signpost;
        if !homes.is_empty() {
            return Ok(Known {
                principal,
                homes,
                scheduling,
            });
        }
        if let Some(principal) = principal.filter(|principal| principal.key() != url.key()) {
            let (_, Signpost { homes, scheduling, .. }) = ask(channel, &principal).await?;
            if !homes.is_empty() {
                return Ok(Known {
                    principal: Some(principal),
                    homes,
                    scheduling,
                });
            }
        }
        // A URL that is itself a Calendar or holds Calendars serves, where nothing better is found.
        if collection && place.key() == start.key() {
            fallback = Some(Known {
                principal: None,
                homes: vec![url.as_collection()],
                scheduling,
            });
        }
        first_error
            .get_or_insert_with(|| protocol(format!("The server answers, but names no calendar home. {CHECK_URL}")));
    }
    fallback.ok_or_else(|| first_error.expect("the place that was asked first gave homes, an error, or this"))
}

/// What to do where there is no CalDAV.
const CHECK_URL: &str = "Check that CALDAV_URL is the CalDAV address that the provider gives.";

/// The error of a place that is no CalDAV server, with what helps. Nothing at the configured URL means that it is the
/// wrong one.
fn no_service(mut error: Box<Error>) -> Box<Error> {
    if error.code == Code::NotFound {
        return protocol(format!("There is no CalDAV service at CALDAV_URL. {CHECK_URL}"));
    }
    if !error.message.contains("CALDAV_URL") {
        error.message = format!("{} {CHECK_URL}", error.message).into();
    }
    error
}

/// What would be the same at another place of the same server, or must not be tried again.
fn final_for_discovery(error: &Error) -> bool {
    let everywhere = matches!(
        error.code,
        Code::UpstreamUnauthorized | Code::UpstreamRateLimited | Code::UpstreamUnavailable | Code::LimitExhausted
    );
    everywhere || error.phase == Phase::OriginScopeAuthorization
}

async fn ask(channel: &Channel<'_>, place: &Href) -> Outcome<(Href, Signpost)> {
    let request = request("PROPFIND", "0", propfind::discovery_body());
    let answer = channel
        .send(place, request, Rules::LISTING)
        .await
        .map_err(|fault| channel.error(&fault))?;
    let mut signpost = Signpost::default();
    let mut untrusted = None;
    let url = answer.url.clone();
    read(&answer, |member| {
        let props = member.props;
        let mut resolve = |raw: &String| {
            let href = url.resolve(raw)?;
            if !channel.account.trusts(&href) {
                untrusted.get_or_insert(Fault::Untrusted(href.origin().to_string()));
                return None;
            }
            Some(href)
        };
        let principal = props.current_user_principal.as_ref().or(props.principal_url.as_ref());
        signpost.principal = signpost.principal.take().or(principal.and_then(&mut resolve));
        let homes = props
            .calendar_home_set
            .iter()
            .filter_map(&mut resolve)
            .map(|home| home.as_collection());
        signpost.homes.extend(homes.take(MAX_HOMES));
        signpost.scheduling.extend(descriptor::scheduling_keys(&props, &url));
        signpost.unauthenticated |= props.unauthenticated;
        signpost.collection |= props
            .resource_type
            .is_some_and(|kinds| kinds.contains(Name::Collection));
        ControlFlow::Continue(())
    })?;
    match untrusted {
        // A home or principal on a foreign host must be allowed by the user; an empty list would hide it.
        Some(fault) if signpost.homes.is_empty() => Err(channel.error(&fault)),
        _ => Ok((url, signpost)),
    }
}

// ---- the listing --------------------------------------------------------------------------------------------------

/// Walks the homes with a worklist, level by level, a few listings at a time.
async fn list(channel: &Channel<'_>, known: &Known) -> Outcome<BTreeMap<HrefKey, CalendarDescriptor>> {
    let mut calendars = BTreeMap::new();
    let mut seen: BTreeSet<HrefKey> = BTreeSet::new();
    let mut level: VecDeque<Href> = known
        .homes
        .iter()
        .filter(|home| leads_into_scope(channel.account, home))
        .cloned()
        .collect();
    let (mut listings, mut bytes) = (0, 0);
    for _ in 0..=MAX_DEPTH {
        level.retain(|collection| seen.insert(collection.key()));
        if level.is_empty() {
            return Ok(calendars);
        }
        listings += level.len();
        if listings > MAX_LISTINGS {
            return Err(exhausted(
                Dimension::AttemptCount,
                listings,
                MAX_LISTINGS,
                "The account has more collections than are walked. Name the Calendars with CALDAV_CALENDAR_HREFS.",
            ));
        }
        let jobs = level
            .drain(..)
            .map(|collection| list_one(channel, collection, &known.scheduling))
            .collect();
        for listed in windowed(IN_FLIGHT, jobs).await? {
            let Listed { found, below, size } = listed;
            bytes += size;
            level.extend(
                below
                    .into_iter()
                    .filter(|collection| leads_into_scope(channel.account, collection)),
            );
            calendars.extend(found);
        }
        if bytes > MAX_BYTES {
            return Err(exhausted(
                Dimension::ByteCount,
                bytes,
                MAX_BYTES,
                "The listings of the account are larger than is read. Name the Calendars with CALDAV_CALENDAR_HREFS.",
            ));
        }
        if calendars.len() > MAX_CALENDARS {
            return Err(exhausted(
                Dimension::ResourceCount,
                calendars.len(),
                MAX_CALENDARS,
                "The account has more Calendars than are listed. Name the Calendars with CALDAV_CALENDAR_HREFS.",
            ));
        }
    }
    Ok(calendars)
}

struct Listed {
    found: Vec<(HrefKey, CalendarDescriptor)>,
    below: Vec<Href>,
    size: usize,
}

async fn list_one(channel: &Channel<'_>, collection: Href, scheduling: &[HrefKey]) -> Outcome<Listed> {
    let request = request("PROPFIND", "1", propfind::listing_body());
    let answer = channel
        .send(&collection, request, Rules::LISTING)
        .await
        .map_err(|fault| channel.error(&fault))?;
    let url = answer.url.as_collection();
    let mut listed = Listed {
        found: Vec::new(),
        below: Vec::new(),
        size: answer.response.body().len(),
    };
    let (mut refusal, mut related) = (None, false);
    read(&answer, |member| {
        let Some(href) = url.resolve(&member.href).map(|href| href.as_collection()) else {
            return ControlFlow::Continue(());
        };
        let own = href.key() == url.key();
        if let Some(status) = member.status.filter(|status| own && *status >= 400) {
            refusal = StatusCode::from_u16(status).ok();
        }
        if !own && !href.is_member_of(&url) {
            return ControlFlow::Continue(());
        }
        related = true;
        match descriptor::kind(&member.props, &href, scheduling) {
            CollectionKind::Calendar => listed
                .found
                .push((href.key(), descriptor::describe(&member.props, &href))),
            CollectionKind::Plain if !own => listed.below.push(href),
            CollectionKind::Plain | CollectionKind::Service(_) | CollectionKind::Deleted | CollectionKind::Other => {}
        }
        ControlFlow::Continue(())
    })?;
    match refusal {
        Some(status) => Err(refused(status)),
        // A listing holds at least the collection itself (RFC 4918, 9.1): this one tells nothing.
        None if !related => Err(protocol(
            "A listing of the CalDAV server names neither the collection nor anything in it.",
        )),
        None => Ok(listed),
    }
}

/// Whether a branch can hold a configured Calendar.
fn leads_into_scope(account: &Account, collection: &Href) -> bool {
    let configured = &account.settings().calendar_hrefs;
    configured.is_empty() || configured.iter().any(|calendar| calendar.is_within(collection))
}

fn in_scope(account: &Account, mut found: BTreeMap<HrefKey, CalendarDescriptor>) -> Discovery {
    let configured = &account.settings().calendar_hrefs;
    if configured.is_empty() {
        return Discovery {
            calendars: found.into_values().collect(),
            diagnostics: Vec::new(),
        };
    }
    let (mut calendars, mut diagnostics, mut seen) = (BTreeMap::new(), Vec::new(), BTreeSet::new());
    for href in configured {
        let key = href.as_collection().key();
        if !seen.insert(key.clone()) {
            diagnostics.push(Diagnostic::warning(
                "duplicate_calendar_href",
                format!("CALDAV_CALENDAR_HREFS names {href} twice."),
            ));
        } else if let Some(calendar) = found.remove(&key) {
            calendars.insert(key, calendar);
        } else {
            diagnostics.push(Diagnostic::warning(
                "calendar_href_not_found",
                format!("CALDAV_CALENDAR_HREFS names {href}, which was not discovered."),
            ));
        }
    }
    diagnostics.truncate(32);
    Discovery {
        calendars: calendars.into_values().collect(),
        diagnostics,
    }
}

// ---- requests and answers that other operations share --------------------------------------------------------------

/// A request with an XML body. Its URI is set when it is sent.
pub(crate) fn request(method: &str, depth: &str, body: Bytes) -> Request<Bytes> {
    Request::builder()
        .method(method)
        .header("depth", depth)
        .header(CONTENT_TYPE, "application/xml; charset=utf-8")
        .header(ACCEPT_ENCODING, "gzip")
        .header(USER_AGENT, AGENT)
        .body(body)
        .expect("static headers are valid")
}

/// The error of a server that does not know the report that it was asked for; `None` for any other refusal.
pub(crate) fn report_refused(answer: &Answer) -> Option<Box<Error>> {
    let media = answer.response.headers().get(CONTENT_TYPE);
    let media = media.and_then(|value| value.to_str().ok());
    let unknown = match answer.response.status().as_u16() {
        405 | 501 => true,
        400..=499 => error_body::read(media, answer.response.body()).names("supported-report"),
        _ => false,
    };
    unknown.then(|| {
        Error::new(
            Code::UnsupportedCapability,
            Phase::SelectionDiscoveryCapability,
            "The CalDAV server cannot do this for that Calendar. Query occurrences or read resources instead.",
        )
    })
}

/// Reads a multistatus, member by member. A status other than 207, or a body that is none, is the error it stands for.
pub(crate) fn read(answer: &Answer, mut each: impl FnMut(Member) -> ControlFlow<()>) -> Outcome<multistatus::Tail> {
    let status = answer.response.status();
    if status.is_client_error() || status.is_server_error() {
        return Err(refused(status));
    }
    let media = answer
        .response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let limits = xml::Limits::default();
    multistatus::read(status.as_u16(), media, answer.response.body(), &limits, &mut each)
        .map_err(|fault| unusable(&fault))
}

/// More than is read of any server is a bound that was reached, what no server has reason to send is not CalDAV.
fn unusable(fault: &DavFault) -> Box<Error> {
    if let FaultKind::Xml(XmlFault::Limit {
        limited,
        observed,
        limit,
    }) = fault.kind
    {
        let (dimension, message) = match limited {
            Limited::Text => {
                let which = fault
                    .member
                    .as_deref()
                    .map_or("", |href| href.get(..MAX_SHOWN).unwrap_or(href));
                let text = format!(
                    "A resource on the CalDAV server is larger than is read. Ask for a window or for Calendars without it: {which}"
                );
                return exhausted(Dimension::ByteCount, observed, limit, text);
            }
            Limited::Bytes => (Dimension::ByteCount, TOO_MUCH),
            Limited::Elements | Limited::Responses => (Dimension::ResourceCount, TOO_MUCH),
            Limited::Attributes | Limited::Bindings | Limited::Depth => return not_caldav(fault),
        };
        return exhausted(dimension, observed, limit, message);
    }
    not_caldav(fault)
}

fn not_caldav(fault: &DavFault) -> Box<Error> {
    protocol(format!("The CalDAV server's answer cannot be used: {fault}."))
}

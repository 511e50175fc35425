//! One Calendar Object Resource, read by its href (RFC 4791, 5.3.4).

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, ETAG, USER_AGENT};
use http::{Method, Request, StatusCode};

use crate::account::Account;
use crate::calendar::CalendarDescriptor;
use crate::dav::etag::EntityTag;
use crate::dav::fault::media_type;
use crate::env::Env;
use crate::exchange::fault::{Fault, refused};
use crate::exchange::{Answer, Channel, Rules, exhausted, protocol};
use crate::flow::{Flow, Io};
use crate::href::Href;
use crate::ical::entity::Entity;
use crate::machine::Machine;
use crate::operation::Operation;
use crate::ops::discover::{AGENT, discover};
use crate::ops::scope::{address, href_of};
use crate::outcome::{Code, Dimension, Error, Outcome, Phase, Violation};
use crate::resource::Resource;

/// Asks for one resource.
#[derive(Clone, Debug)]
pub struct GetResource {
    /// Absolute URL, as results give it.
    pub href: String,
}

impl Operation for GetResource {
    type Outcome = Outcome<Arc<Resource>>;

    fn start(self, env: Env, account: &Arc<Account>) -> impl Machine<Output = Self::Outcome> + Send + 'static + use<> {
        let account = Arc::clone(account);
        Flow::new(
            env.now,
            move |io| async move { get(&io, &account, &env, &self.href).await },
        )
    }
}

async fn get(io: &Io, account: &Account, env: &Env, href: &str) -> Outcome<Arc<Resource>> {
    let href = address(account, href, "/href")?;
    let channel = Channel::reading(io, account, env);
    io.phase("discovery");
    let calendar = owner(&channel, &href, "/href").await?;
    io.phase("fetch");
    let (etag, body) = read(&channel, &href).await?;
    Ok(Arc::new(Resource {
        calendar,
        href,
        etag,
        entity: Arc::new(Entity::read(body)),
    }))
}

/// The Calendar that an href belongs to. A Calendar that is configured by href is taken at its word.
///
/// # Errors
/// Discovery's errors; `outside_scope` with a violation at `pointer`.
pub(crate) async fn owner(channel: &Channel<'_>, href: &Href, pointer: &str) -> Outcome<Href> {
    if let Some(calendar) = configured_owner(channel.account, href, pointer)? {
        return Ok(calendar);
    }
    let found = discover(channel).await?.calendars;
    owner_among(&found, href, pointer).map(href_of)
}

/// The Calendar that an href belongs to, if it is configured by href; `None` if it has to be discovered.
///
/// # Errors
/// `outside_scope` with a violation at `pointer`.
pub(crate) fn configured_owner(account: &Account, href: &Href, pointer: &str) -> Outcome<Option<Href>> {
    let configured = &account.settings().calendar_hrefs;
    let owner = configured.iter().find(|calendar| href.is_member_of(calendar));
    if owner.is_some() || configured.is_empty() {
        return Ok(owner.cloned());
    }
    let text = "That href is in no Calendar that CALDAV_CALENDAR_HREFS allows.";
    Err(foreign(pointer, "outside_configured_scope", text))
}

/// The Calendar that an href belongs to, among those that were discovered.
///
/// # Errors
/// `outside_scope` with a violation at `pointer`.
pub(crate) fn owner_among<'a>(
    found: &'a [CalendarDescriptor],
    href: &Href,
    pointer: &str,
) -> Outcome<&'a CalendarDescriptor> {
    let mut found = found.iter();
    found
        .find(|calendar| href.is_member_of(&href_of(calendar)))
        .ok_or_else(|| {
            let text =
                "That href is no member of a Calendar of this account. Query first and use the hrefs of the results.";
            foreign(pointer, "no_owning_calendar", text)
        })
}

fn foreign(pointer: &str, code: &'static str, message: &str) -> Box<Error> {
    let violation = Violation {
        pointer: pointer.into(),
        code,
        message: Some(message.into()),
    };
    let mut error = Error::violations(Phase::OriginScopeAuthorization, vec![violation]);
    error.code = Code::OutsideScope;
    error
}

/// Reads one resource without compression, since a proxy that compresses weakens the Entity Tag (RFC 9110, 8.8.1).
pub(crate) async fn read(channel: &Channel<'_>, href: &Href) -> Outcome<(Option<String>, Bytes)> {
    let request = Request::builder()
        .method(Method::GET)
        .header(ACCEPT, "text/calendar")
        .header(ACCEPT_ENCODING, "identity")
        .header(USER_AGENT, AGENT)
        .body(Bytes::new())
        .expect("static headers are valid");
    let answer = channel
        .send(href, request, Rules::RESOURCE)
        .await
        .map_err(|fault| match fault {
            Fault::TooLarge(limit) => larger(limit),
            Fault::Failure(_) | Fault::Redirect(_) | Fault::RateLimited(_) | Fault::Untrusted(_) => {
                channel.error(&fault)
            }
        })?;
    match answer.response.status() {
        // A proxy that wants a login answers so. What is no iCalendar otherwise is shown as it is.
        StatusCode::OK if is_web_page(&answer) => Err(protocol(
            "The CalDAV server answered with a web page. Check that CALDAV_URL can be used without signing in on a web page.",
        )),
        StatusCode::OK => {
            let tag = answer.response.headers().get(ETAG).and_then(EntityTag::from_header);
            let strong = tag.as_ref().and_then(EntityTag::strong).map(str::to_owned);
            Ok((strong, answer.response.into_body()))
        }
        StatusCode::NOT_FOUND | StatusCode::GONE => Err(Error::new(
            Code::NotFound,
            Phase::TargetRevision,
            "There is no resource at that href (any more). Query again.",
        )),
        status => Err(refused(status)),
    }
}

fn larger(limit: usize) -> Box<Error> {
    let text = "The resource is larger than is read here. Open it with another calendar program.";
    exhausted(Dimension::ByteCount, limit.saturating_add(1), limit, text)
}

pub(crate) fn is_web_page(answer: &Answer) -> bool {
    let declared = answer.response.headers().get(CONTENT_TYPE);
    declared.is_some_and(|value| value.to_str().is_ok_and(|value| media_type(value) == "text/html"))
}

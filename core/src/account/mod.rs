//! Settings and state that the machines of one session share.
//!
//! An [`Account`] is an `Arc` of plain data: no waker, and no lock that is held across I/O, so it works in any host.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, COOKIE};
use http::{HeaderValue, Request, Response};

use crate::href::{Href, HrefKey, Origin};
use crate::machine::Moment;
use crate::query::shelf::Shelf;

pub mod cookie;
pub mod credential;
pub mod quirk;
pub mod secret;
pub mod trust;

use cookie::Cookies;
use credential::{Credential, CredentialFault};
use quirk::{Profile, Quirk};
use trust::RedirectHost;

/// What the user configured.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where discovery starts; its origin is the account's.
    pub url: Href,
    /// Proves who asks.
    pub credential: Credential,
    /// https hosts beside the origin that may be redirected to and see the credential.
    pub redirect_hosts: Vec<RedirectHost>,
    /// The only Calendars that may be used; empty means all that are discovered.
    pub calendar_hrefs: Vec<Href>,
    /// Display name of the Calendar that `default` means for Events.
    pub default_event_calendar: Option<String>,
    /// Display name of the Calendar that `default` means for To-dos.
    pub default_todo_calendar: Option<String>,
    /// The family of servers that this one belongs to, where the user says so.
    pub profile: Option<Profile>,
    /// Whether the server may send invitations and answers by itself when something is written.
    pub scheduling: Scheduling,
}

/// Who deals with invitations (RFC 6638).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduling {
    /// Nobody: what takes part in scheduling is written only where the server is known to send nothing.
    #[default]
    StorageOnly,
    /// The server: it may send messages for what is written.
    ServerManaged,
}

impl Settings {
    /// An account at this URL with this credential, and nothing else configured.
    #[must_use]
    pub fn new(url: Href, credential: Credential) -> Self {
        Self {
            url,
            credential,
            redirect_hosts: Vec::new(),
            calendar_hrefs: Vec::new(),
            default_event_calendar: None,
            default_todo_calendar: None,
            profile: None,
            scheduling: Scheduling::default(),
        }
    }
}

/// Principal and calendar homes, kept for the process once they are discovered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// `DAV:current-user-principal`, where the server has one.
    pub principal: Option<Href>,
    /// `CALDAV:calendar-home-set`.
    pub homes: Vec<Href>,
    /// Schedule inbox and outbox, which some servers list as Calendars (RFC 6638, 2.1 and 2.2).
    pub scheduling: Vec<HrefKey>,
}

#[derive(Debug, Default)]
struct State {
    cookies: Cookies,
    known: Option<Known>,
    quirks: BTreeSet<Quirk>,
    paused: BTreeMap<Origin, Moment>,
}

/// One account on one server.
#[derive(Debug)]
pub struct Account {
    settings: Settings,
    authorization: Option<HeaderValue>,
    state: Mutex<State>,
    shelf: Mutex<Shelf>,
}

impl Account {
    /// An account with these settings. Contacts nothing.
    ///
    /// # Errors
    /// If the credential does not fit into a header.
    pub fn new(settings: Settings) -> Result<Arc<Self>, CredentialFault> {
        let authorization = settings.credential.header()?;
        let places = settings.calendar_hrefs.iter().chain([&settings.url]);
        let by_place = places.flat_map(|place| quirk::by_home(place.path()));
        let state = State {
            quirks: quirk::by_profile(settings.profile).chain(by_place).collect(),
            ..State::default()
        };
        Ok(Arc::new(Self {
            settings,
            authorization,
            state: Mutex::new(state),
            shelf: Mutex::default(),
        }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the user configured.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether credentials may go to this URL.
    #[must_use]
    pub fn trusts(&self, url: &Href) -> bool {
        trust::trusts(
            &self.settings.url.origin(),
            &self.settings.redirect_hosts,
            &url.origin(),
        )
    }

    /// Adds credential and cookies, if the URL is trusted; takes away any that are there already.
    pub fn sign(&self, url: &Href, request: &mut Request<Bytes>) {
        let headers = request.headers_mut();
        headers.remove(AUTHORIZATION);
        headers.remove(COOKIE);
        if !self.trusts(url) {
            return;
        }
        if let Some(value) = &self.authorization {
            headers.insert(AUTHORIZATION, value.clone());
        }
        if let Some(value) = self.state().cookies.header(url) {
            headers.insert(COOKIE, value);
        }
    }

    /// Takes in what an answer's headers tell: session cookies and server oddities.
    pub fn observe(&self, url: &Href, response: &Response<Bytes>) {
        if !self.trusts(url) {
            return;
        }
        let mut state = self.state();
        state.cookies.store(url, response.headers());
        state.quirks.extend(quirk::by_headers(response.headers()));
    }

    /// Whether the server shows this oddity.
    #[must_use]
    pub fn has(&self, quirk: Quirk) -> bool {
        self.state().quirks.contains(&quirk)
    }

    /// Remembers an oddity that the server has shown.
    pub fn note(&self, quirk: Quirk) {
        self.state().quirks.insert(quirk);
    }

    /// The resources that were read before. Do not call back into the account from `run`.
    pub fn shelf<T>(&self, run: impl FnOnce(&mut Shelf) -> T) -> T {
        run(&mut self.shelf.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether a body may be kept under this strong Entity Tag.
    #[must_use]
    pub fn may_keep(&self, etag: &str) -> bool {
        for quirk in quirk::by_entity_tag(etag) {
            self.note(quirk);
        }
        !self.has(Quirk::EntityTagsRepeat)
    }

    /// Principal and homes, if they are known.
    #[must_use]
    pub fn known(&self) -> Option<Known> {
        self.state().known.clone()
    }

    /// Keeps principal and homes for the process.
    pub fn learn(&self, known: Known) {
        let mut state = self.state();
        let quirks = known
            .homes
            .iter()
            .flat_map(|home| quirk::by_home(home.path()))
            .collect::<Vec<_>>();
        state.quirks.extend(quirks);
        state.known = Some(known);
    }

    /// Forgets principal and homes, since they no longer answer.
    pub fn forget(&self) {
        self.state().known = None;
    }

    /// Sends nothing more to this origin before `wait` has passed (RFC 6585, 4).
    pub fn pause(&self, origin: Origin, now: Moment, wait: Duration) {
        self.state().paused.insert(origin, now + wait);
    }

    /// How long this origin still wants to be left alone.
    #[must_use]
    pub fn paused(&self, origin: &Origin, now: Moment) -> Option<Duration> {
        let until = self.state().paused.get(origin).copied()?;
        Some(until.since(now)).filter(|wait| !wait.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::secret::Secret;
    use http::header::SET_COOKIE;

    #[test]
    fn credential_and_cookies_go_to_trusted_places_only() {
        let href = |text: &str| Href::parse(text).unwrap();
        let credential = Credential::Basic {
            username: "ana".into(),
            password: Secret::new("hunter2"),
        };
        let mut settings = Settings::new(href("https://dav.example/"), credential);
        settings.redirect_hosts = vec![RedirectHost::parse("p1.dav.example").unwrap()];
        let account = Account::new(settings).unwrap();
        let response = Response::builder().header(SET_COOKIE, "s=1; Path=/").body(Bytes::new());
        account.observe(&href("https://dav.example/"), response.as_ref().unwrap());
        account.observe(&href("https://evil.example/"), &response.unwrap());
        for (url, credential, cookie) in [
            ("https://dav.example/x", true, true),
            ("https://p1.dav.example/x", true, false),
            ("https://evil.example/x", false, false),
            ("http://dav.example/x", false, false),
        ] {
            let mut request = Request::builder()
                .header(AUTHORIZATION, "stale")
                .header(COOKIE, "stale");
            request = request.uri(url);
            let mut request = request.body(Bytes::new()).unwrap();
            account.sign(&href(url), &mut request);
            let sensitive = |value: Option<&HeaderValue>| value.map(HeaderValue::is_sensitive);
            assert_eq!(
                sensitive(request.headers().get(AUTHORIZATION)),
                credential.then_some(true),
                "{url}"
            );
            assert_eq!(
                sensitive(request.headers().get(COOKIE)),
                cookie.then_some(true),
                "{url}"
            );
        }
    }

    #[test]
    fn a_pause_holds_for_its_origin_and_ends() {
        let account = Account::new(Settings::new(Href::parse("https://x/").unwrap(), Credential::None)).unwrap();
        let (origin, other) = (
            Href::parse("https://x/a").unwrap().origin(),
            Href::parse("https://y/").unwrap().origin(),
        );
        account.pause(origin.clone(), Moment::ZERO, Duration::from_secs(300));
        assert_eq!(
            account.paused(&origin, Moment(Duration::from_secs(100))),
            Some(Duration::from_secs(200))
        );
        assert_eq!(account.paused(&other, Moment::ZERO), None);
        assert_eq!(account.paused(&origin, Moment(Duration::from_secs(300))), None);
    }
}

//! The account that tests ask for, and the moment at which they begin.

use std::sync::Arc;

use kalends_core::account::credential::Credential;
use kalends_core::account::secret::Secret;
use kalends_core::account::trust::RedirectHost;
use kalends_core::account::{Account, Known, Settings};
use kalends_core::env::Env;
use kalends_core::href::Href;
use kalends_core::machine::Moment;
use kalends_core::time::Utc;

/// The host of the account.
pub const HOME: &str = "dav.example";
/// A host that the user allowed.
pub const ALLOWED: &str = "p1.dav.example";
/// A host that nobody allowed.
pub const FOREIGN: &str = "evil.example";
/// What must never be shown.
pub const PASSWORD: &str = "hunter2";

/// 2026-11-30T16:00:00Z, and the same entropy every time.
pub const ENV: Env = Env {
    now: Moment::ZERO,
    utc: Utc(1_796_054_400_000),
    seed: [7; 32],
};

/// [`ENV`], begun at this moment.
#[must_use]
pub fn env(now: Moment) -> Env {
    Env { now, ..ENV }
}

/// The URL of a path on the account's host.
///
/// # Panics
/// If it is no path.
#[must_use]
pub fn url(path: &str) -> Href {
    Href::parse(&format!("https://{HOME}{path}")).expect("an absolute URL")
}

/// An account at this path, and [`ALLOWED`] beside it.
///
/// # Panics
/// If it is no path.
#[must_use]
pub fn settings(path: &str) -> Settings {
    let credential = Credential::Basic {
        username: "ana".into(),
        password: Secret::new(PASSWORD),
    };
    let mut settings = Settings::new(url(path), credential);
    settings.redirect_hosts.extend(RedirectHost::parse(ALLOWED));
    settings
}

fn open(settings: Settings) -> Arc<Account> {
    Account::new(settings).expect("a plain credential")
}

/// An account of which nothing is known.
#[must_use]
pub fn unknown() -> Arc<Account> {
    open(settings("/"))
}

/// An account that knows its home.
#[must_use]
pub fn known() -> Arc<Account> {
    with_home(settings("/"))
}

/// An account whose only Calendar is configured, so that nothing need be discovered.
#[must_use]
pub fn configured(calendar: &str) -> Arc<Account> {
    let mut settings = settings("/");
    settings.calendar_hrefs = vec![url(calendar)];
    with_home(settings)
}

fn with_home(settings: Settings) -> Arc<Account> {
    let account = open(settings);
    account.learn(Known {
        principal: None,
        homes: vec![url("/")],
        scheduling: Vec::new(),
    });
    account
}

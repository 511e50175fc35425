//! The environment, read once at start: settings, or all that is wrong with it.
//!
//! There is no configuration file and no option for any of it; secrets come from variables or from the files that
//! `*_FILE` variables name, and are never shown.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::PathBuf;

use kalends_core::account::credential::Credential;
use kalends_core::account::quirk::Profile;
use kalends_core::account::secret::Secret;
use kalends_core::account::trust::RedirectHost;
use kalends_core::account::{Scheduling, Settings};
use kalends_core::href::{Href, HrefFault};
use kalends_core::ical::zone::Zone;

use crate::catalog::Naming;
use crate::confirm::Policy;
use crate::tzdata;

/// Environment variables by name.
pub type Environment = BTreeMap<String, String>;

/// What the environment says.
#[derive(Debug)]
pub(crate) struct Config {
    /// For the account.
    pub(crate) account: Settings,
    /// Exact IANA name of the zone for floating times and dates, if one is configured.
    pub(crate) evaluation_zone: Option<String>,
    /// How tool names are listed.
    pub(crate) naming: Naming,
    /// What a person is asked before.
    pub(crate) policy: Policy,
    /// Whether a client that cannot ask its user may send a token instead.
    pub(crate) two_step: bool,
    /// Whether the tools that show and write octets as they are, and their links, are there.
    pub(crate) exact: bool,
    /// Certificate authorities beside those of the platform.
    pub(crate) ca_file: Option<PathBuf>,
}

/// Everything that is wrong with the environment. Holds no value that could be a secret.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ConfigError {
    failures: Vec<(&'static str, String)>,
    /// Nothing was set at all.
    empty: bool,
}

impl ConfigError {
    /// One failure, found after the environment was read.
    pub(crate) fn of(variable: &'static str, failure: String) -> Self {
        Self {
            failures: vec![(variable, failure)],
            empty: false,
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CalDAV configuration error:")?;
        for (variable, failure) in &self.failures {
            write!(f, "\n  - {variable} {failure}")?;
        }
        if self.empty {
            write!(
                f,
                "\n\nSet in the environment of this process:\n\
                 \x20 CALDAV_URL                   your CalDAV server, e.g. https://dav.example.com/\n\
                 \x20 CALDAV_USERNAME              your user name there\n\
                 \x20 CALDAV_PASSWORD              your password, or better an app password\n\
                 \x20                              (or CALDAV_PASSWORD_FILE, a file that holds it)\n\
                 \x20 CALDAV_EVALUATION_TIME_ZONE  your time zone, e.g. Europe/Berlin\n\
                 or, for a folder of .ics files without a server: CALDAV_URL=file:///path/to/folder\n\
                 To see what Kalends does: kalends demo"
            )?;
        }
        Ok(())
    }
}

impl Config {
    /// Reads the environment.
    pub(crate) fn read(environment: &Environment) -> Result<Self, ConfigError> {
        let mut reader = Reader {
            environment,
            failures: Vec::new(),
        };
        let config = reader.config();
        let mut failures = reader.failures;
        failures.sort();
        match config {
            Some(config) if failures.is_empty() => Ok(config),
            _ => Err(ConfigError {
                failures,
                empty: !environment.keys().any(|name| name.starts_with("CALDAV_")),
            }),
        }
    }
}

struct Reader<'a> {
    environment: &'a Environment,
    failures: Vec<(&'static str, String)>,
}

impl Reader<'_> {
    /// An unset and an empty variable are the same.
    fn get(&self, name: &str) -> Option<&str> {
        self.environment
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    fn fail(&mut self, variable: &'static str, failure: impl Into<String>) {
        self.failures.push((variable, failure.into()));
    }

    fn config(&mut self) -> Option<Config> {
        let url = self.url();
        // Also where the URL is not right yet: whoever means a folder is not asked for a password.
        let local = self.get("CALDAV_URL").is_some_and(|url| url.starts_with("file:"));
        let credential = self.credential(local);
        let redirect_hosts = self.redirect_hosts(url.as_ref());
        let calendar_hrefs = self.calendar_hrefs();
        let evaluation_zone = self.evaluation_zone();
        let naming = self.naming();
        let profile = self.profile();
        let scheduling = self.closed(
            "CALDAV_SCHEDULING_MODE",
            &[
                ("storage_only", Scheduling::StorageOnly),
                ("server_managed", Scheduling::ServerManaged),
            ],
        );
        let policy = self.closed(
            "CALDAV_CONFIRMATION_POLICY",
            &[
                ("always", Policy::Always),
                ("destructive-scope", Policy::DestructiveScope),
                ("never", Policy::Never),
            ],
        );
        let two_step = self.closed("CALDAV_CONFIRMATION_FALLBACK", &[("none", false), ("two_step", true)]);
        self.modes();
        let name = |variable| {
            self.get(variable)
                .map(|name| name.trim().to_owned())
                .filter(|name| !name.is_empty())
        };
        let account = Settings {
            redirect_hosts,
            calendar_hrefs,
            profile,
            scheduling,
            default_event_calendar: name("CALDAV_DEFAULT_EVENT_CALENDAR_NAME"),
            default_todo_calendar: name("CALDAV_DEFAULT_TODO_CALENDAR_NAME"),
            ..Settings::new(url?, credential?)
        };
        Some(Config {
            account,
            evaluation_zone,
            naming,
            policy,
            two_step,
            exact: self
                .get("CALDAV_EXPOSE_EXACT_TOOLS")
                .is_some_and(|value| value.eq_ignore_ascii_case("true")),
            ca_file: self.get("CALDAV_CA_FILE").map(PathBuf::from),
        })
    }

    fn url(&mut self) -> Option<Href> {
        const NAME: &str = "CALDAV_URL";
        let Some(text) = self.get(NAME).map(str::to_owned) else {
            self.fail(NAME, "is required: the URL of your CalDAV server, or file:///folder");
            return None;
        };
        let lower = text.to_ascii_lowercase();
        if ["%2e", "%2f", "%5c"].iter().any(|escape| lower.contains(escape)) {
            self.fail(
                NAME,
                "must not contain an encoded dot, slash or backslash (%2e, %2f, %5c)",
            );
            return None;
        }
        let href = match Href::parse(&text) {
            Ok(href) => href,
            Err(fault) => {
                self.fail(NAME, fault_text(fault));
                return None;
            }
        };
        let dots = href.path().split('/').any(|segment| matches!(segment, "." | ".."));
        let canonical = href.as_str() == text || href.as_str().strip_suffix('/') == Some(&text);
        if dots || !canonical {
            let hint = if dots { String::new() } else { format!(": {href}") };
            self.fail(NAME, format!("must be written in its canonical form{hint}"));
            return None;
        }
        Some(href)
    }

    /// The value of a secret, from its variable or from the file that `*_FILE` names, whose last line end is not
    /// part of it.
    fn secret(&mut self, variable: &'static str, file_variable: &'static str) -> Option<Secret> {
        let (value, path) = (
            self.get(variable).map(Secret::new),
            self.get(file_variable).map(PathBuf::from),
        );
        let Some(path) = path else { return value };
        if value.is_some() {
            self.fail(file_variable, format!("must not be set together with {variable}"));
            return value;
        }
        match fs::read_to_string(&path) {
            Ok(text) => {
                let text = text.strip_suffix('\n').unwrap_or(&text);
                let text = text.strip_suffix('\r').unwrap_or(text);
                if text.is_empty() {
                    self.fail(file_variable, "names a file that is empty");
                }
                Some(Secret::new(text)).filter(|_| !text.is_empty())
            }
            Err(error) => {
                self.fail(
                    file_variable,
                    format!("names a file that cannot be read: {}", error.kind()),
                );
                None
            }
        }
    }

    fn credential(&mut self, local: bool) -> Option<Credential> {
        let scheme = self.get("CALDAV_AUTH_SCHEME").unwrap_or("basic").to_owned();
        let username = self.get("CALDAV_USERNAME").map(str::to_owned);
        let password_set = self
            .get("CALDAV_PASSWORD")
            .or(self.get("CALDAV_PASSWORD_FILE"))
            .is_some();
        if local {
            for (set, variable) in [
                (username.is_some(), "CALDAV_USERNAME"),
                (password_set, "CALDAV_PASSWORD"),
            ] {
                if set {
                    self.fail(variable, "must not be set for a file: URL, which needs no credentials");
                }
            }
            return Some(Credential::None);
        }
        let failures = self.failures.len();
        if scheme != "oauth2" {
            for variable in [
                "CALDAV_OAUTH_TOKEN_ENDPOINT",
                "CALDAV_OAUTH_CLIENT_ID",
                "CALDAV_OAUTH_CLIENT_SECRET",
                "CALDAV_OAUTH_REFRESH_TOKEN",
            ] {
                if self.get(variable).is_some() {
                    self.fail(variable, "may be set only with CALDAV_AUTH_SCHEME=oauth2");
                }
            }
        }
        let credential = match scheme.as_str() {
            "basic" => self.basic(username, password_set),
            "bearer" => self.bearer(username, password_set),
            "oauth2" => {
                self.fail(
                    "CALDAV_AUTH_SCHEME",
                    "oauth2 is not available yet: use basic with an app password, or bearer",
                );
                None
            }
            _ => {
                self.fail("CALDAV_AUTH_SCHEME", "must be basic or bearer");
                None
            }
        };
        credential.filter(|_| self.failures.len() == failures)
    }

    fn basic(&mut self, username: Option<String>, password_set: bool) -> Option<Credential> {
        if username.as_deref().is_none_or(|name| name.trim().is_empty()) {
            self.fail("CALDAV_USERNAME", "is required for basic authentication");
        }
        if !password_set {
            self.fail(
                "CALDAV_PASSWORD",
                "is required for basic authentication (or CALDAV_PASSWORD_FILE)",
            );
        }
        let password = self.secret("CALDAV_PASSWORD", "CALDAV_PASSWORD_FILE")?;
        let credential = Credential::Basic {
            username: username?,
            password,
        };
        if credential.header().is_err() {
            let text =
                "cannot be sent by basic authentication: no colon, and no control characters in it or the password";
            self.fail("CALDAV_USERNAME", text);
        }
        Some(credential)
    }

    fn bearer(&mut self, username: Option<String>, password_set: bool) -> Option<Credential> {
        if username.is_some() {
            self.fail("CALDAV_USERNAME", "must not be set for bearer authentication");
        }
        if !password_set {
            let text = "is required for bearer authentication: it is the token (or CALDAV_PASSWORD_FILE)";
            self.fail("CALDAV_PASSWORD", text);
        }
        let credential = Credential::Bearer(self.secret("CALDAV_PASSWORD", "CALDAV_PASSWORD_FILE")?);
        if credential.header().is_err() {
            self.fail(
                "CALDAV_PASSWORD",
                "must be visible ASCII characters only, since it is a bearer token",
            );
        }
        Some(credential)
    }

    fn redirect_hosts(&mut self, url: Option<&Href>) -> Vec<RedirectHost> {
        const NAME: &str = "CALDAV_REDIRECT_HOSTS";
        let Some(text) = self.get(NAME).map(str::to_owned) else {
            return Vec::new();
        };
        if url.is_some_and(|url| url.origin().scheme != "https") {
            self.fail(
                NAME,
                "needs an https CALDAV_URL, since these hosts are sent the credentials",
            );
        }
        let hosts: Vec<_> = text.split(',').map(|entry| RedirectHost::parse(entry.trim())).collect();
        if hosts.contains(&None) {
            self.fail(
                NAME,
                "must be a comma list of host.example or .suffix.example, without scheme, port or path",
            );
        }
        hosts.into_iter().flatten().collect()
    }

    fn calendar_hrefs(&mut self) -> Vec<Href> {
        const NAME: &str = "CALDAV_CALENDAR_HREFS";
        let text = self.get(NAME).unwrap_or_default().to_owned();
        let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        let hrefs: Result<Vec<_>, _> = entries
            .map(|entry| Href::parse(entry).map(|href| href.as_collection()))
            .collect();
        hrefs.unwrap_or_else(|fault| {
            self.fail(NAME, format!("holds an entry that {}", fault_text(fault)));
            Vec::new()
        })
    }

    fn evaluation_zone(&mut self) -> Option<String> {
        const NAME: &str = "CALDAV_EVALUATION_TIME_ZONE";
        let name = self.get(NAME)?.to_owned();
        match Zone::canonical_iana(&name) {
            Some(exact) if exact == name => Some(name),
            Some(exact) => {
                self.fail(NAME, format!("must be spelled exactly: {exact}"));
                None
            }
            None => {
                self.fail(NAME, "must be an IANA time zone name, e.g. Europe/Berlin");
                None
            }
        }
    }

    fn naming(&mut self) -> Naming {
        match self.get("CALDAV_TOOL_NAMES") {
            None | Some("underscore") => Naming::Underscore,
            Some("dotted") => Naming::Dotted,
            Some(_) => {
                self.fail("CALDAV_TOOL_NAMES", "must be underscore or dotted");
                Naming::Underscore
            }
        }
    }

    fn profile(&mut self) -> Option<Profile> {
        const NAME: &str = "CALDAV_INTEROPERABILITY_PROFILE";
        match self.get(NAME)? {
            "radicale" | "radicale-3.7.8" => Some(Profile::Radicale),
            "nextcloud" | "nextcloud-34.0.3" => Some(Profile::Nextcloud),
            _ => {
                let text = "must be one of radicale, nextcloud, radicale-3.7.8, nextcloud-34.0.3";
                self.fail(NAME, text);
                None
            }
        }
    }

    /// One of these words, whose first is what an unset variable means.
    fn closed<T: Copy>(&mut self, variable: &'static str, words: &[(&str, T)]) -> T {
        let (word, unset) = (self.get(variable), words[0].1);
        let found = word.map_or(Some(unset), |word| {
            words.iter().find(|(known, _)| *known == word).map(|(_, it)| *it)
        });
        found.unwrap_or_else(|| {
            let allowed: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            self.fail(variable, format!("must be one of {}", allowed.join(", ")));
            unset
        })
    }

    /// Variables that only have to be right, or absent, for the tools that there are.
    fn modes(&mut self) {
        if let Err(failure) = tzdata::folder(self.get(tzdata::VARIABLE)) {
            self.fail(tzdata::VARIABLE, failure);
        }
        if self
            .get("CALDAV_TOOLSETS")
            .is_some_and(|value| value.trim() != "semantic")
        {
            self.fail(
                "CALDAV_TOOLSETS",
                "must be semantic: planner and assistant are not available yet",
            );
        }
    }
}

fn fault_text(fault: HrefFault) -> &'static str {
    match fault {
        HrefFault::NotAbsolute => "must be an absolute URL, e.g. https://dav.example.com/",
        HrefFault::SchemeUnsupported => "must be an http, https or file URL",
        HrefFault::HasUserinfo => "must not hold a user name or password; use CALDAV_USERNAME and CALDAV_PASSWORD",
        HrefFault::HasQueryOrFragment => "must not have a query or fragment",
        HrefFault::Malformed => "is no URL",
    }
}

#[cfg(test)]
mod tests;

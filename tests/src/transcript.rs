//! A server that answers by a script, as the `server.json` of the cases write it, and remembers what it was asked.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{HeaderMap, Response};
use kalends_core::account::credential::Credential;
use kalends_core::account::secret::Secret;
use kalends_core::account::trust::RedirectHost;
use kalends_core::account::{Account, Settings};
use kalends_core::href::Href;
use kalends_core::machine::{Exchange, Failure, FailureKind, Moment, Reply, Sent};
use serde_json::{Value, json};

use crate::host::World;

/// A request that came.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Such as `PROPFIND`.
    pub method: String,
    /// Without a port.
    pub host: String,
    /// As it was spelled.
    pub path: String,
    /// All of them.
    pub headers: HeaderMap,
    /// As text.
    pub body: String,
    /// Whether a rule fitted; else the answer was 404.
    pub foreseen: bool,
}

impl Asked {
    /// The value of a header, or nothing.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or("")
    }

    fn fits(&self, rule: &Value, home: &str) -> bool {
        let same = |name: &str, given: &str| rule[name].as_str().is_none_or(|wanted| wanted == given);
        let needs = rule["needs"].as_object().into_iter().flatten();
        same("method", &self.method)
            && same("path", &self.path)
            && self.host == rule["host"].as_str().unwrap_or(home)
            && needs
                .into_iter()
                .all(|(name, wanted)| self.meets(name, wanted.as_str().unwrap_or("")))
    }

    fn meets(&self, name: &str, wanted: &str) -> bool {
        let given = if name == "body" { &self.body } else { self.header(name) };
        match (name, wanted) {
            ("authorization", "none") => given.is_empty(),
            ("authorization", "basic") => given.starts_with("Basic "),
            ("authorization", token) => given.strip_prefix("Bearer ") == token.strip_prefix("bearer:"),
            _ => match wanted.strip_prefix("contains ") {
                Some(part) => given.contains(part),
                None => given == wanted,
            },
        }
    }
}

/// Rules that are tried in order; the first that fits answers.
#[derive(Debug)]
pub struct Transcript {
    /// What was asked, in order.
    pub asked: Vec<Asked>,
    server: Value,
    folder: PathBuf,
    home: String,
    answered: Vec<u64>,
    now: Moment,
}

impl Transcript {
    /// The server of a script. Its `body_file`s lie in `folder`.
    ///
    /// # Panics
    /// If `configured_url` or `rules` is missing.
    #[must_use]
    pub fn new(folder: &Path, server: Value) -> Self {
        let url = Href::parse(server["configured_url"].as_str().expect("configured_url")).expect("a URL");
        let rules = server["rules"].as_array().expect("rules").len();
        Self {
            asked: Vec::new(),
            server,
            folder: folder.to_owned(),
            home: url.origin().host,
            answered: vec![0; rules],
            now: Moment::ZERO,
        }
    }

    /// A server of example.com with these rules.
    #[must_use]
    pub fn with_rules(folder: &Path, rules: &[Value]) -> Self {
        Self::new(
            folder,
            json!({"configured_url": "https://cal.example.com/", "rules": rules}),
        )
    }

    /// The account that the script is about, restricted to these Calendars if there are any.
    ///
    /// # Panics
    /// If the script is malformed.
    #[must_use]
    pub fn account(&self, calendars: &[Href]) -> Arc<Account> {
        let url = self.server["configured_url"].as_str().expect("configured_url");
        let credentials = &self.server["credentials"];
        let text = |name: &str, usual: &str| credentials[name].as_str().unwrap_or(usual).to_owned();
        let credential = Credential::Basic {
            username: text("user", "ana"),
            password: Secret::new(text("password", "app-password-1")),
        };
        let mut settings = Settings::new(Href::parse(url).expect("a URL"), credential);
        let allowed = self.server["allowed_hosts"].as_array().into_iter().flatten();
        settings.redirect_hosts = allowed
            .map(|host| host.as_str().and_then(RedirectHost::parse).expect("a host"))
            .collect();
        settings.calendar_hrefs = calendars.to_vec();
        Account::new(settings).expect("the credential fits into a header")
    }

    /// How many requests with credentials came to a host.
    #[must_use]
    pub fn with_credentials_to(&self, host: &str) -> usize {
        let trusted = self.asked.iter().filter(|asked| asked.host == host);
        trusted
            .filter(|asked| asked.headers.contains_key(AUTHORIZATION))
            .count()
    }

    /// The same rules at any path: where a resource goes is chosen by who makes it.
    ///
    /// # Panics
    /// If the script has no rules.
    pub fn anywhere(&mut self) {
        for rule in self.server["rules"].as_array_mut().expect("rules") {
            rule.as_object_mut().expect("a rule").remove("path");
        }
    }

    /// What was asked, as `METHOD path`.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.asked
            .iter()
            .map(|asked| format!("{} {}", asked.method, asked.path))
            .collect()
    }

    fn respond(&self, rule: &Value) -> Reply {
        if rule["drop_connection"] == true {
            return Err(Failure {
                sent: Sent::Maybe,
                kind: FailureKind::Broken,
            });
        }
        let status = rule["status"]
            .as_u64()
            .and_then(|status| u16::try_from(status).ok())
            .expect("a status");
        let mut response = Response::builder().status(status);
        for (name, value) in rule["headers"].as_object().into_iter().flatten() {
            response = response.header(name, value.as_str().expect("a header value"));
        }
        let body = match rule["body_file"].as_str() {
            Some(file) => std::fs::read(self.folder.join(file)).expect("the body's file").into(),
            None => Bytes::from(rule["body"].as_str().unwrap_or("").to_owned()),
        };
        Ok(response.body(body).expect("a response"))
    }
}

impl World for Transcript {
    fn now(&self) -> Moment {
        self.now
    }

    fn advance(&mut self, to: Moment) {
        self.now = self.now.max(to);
    }

    fn answer(&mut self, exchange: &Exchange) -> Reply {
        let request = &exchange.request;
        let mut asked = Asked {
            method: request.method().to_string(),
            host: request.uri().host().expect("absolute").to_owned(),
            path: request.uri().path().to_owned(),
            headers: request.headers().clone(),
            body: String::from_utf8_lossy(request.body()).into_owned(),
            foreseen: true,
        };
        let rules = self.server["rules"].as_array().expect("rules");
        let left = |at: usize| {
            rules[at]["times"]
                .as_u64()
                .is_none_or(|times| self.answered[at] < times)
        };
        let found = (0..rules.len()).find(|at| left(*at) && asked.fits(&rules[*at], &self.home));
        let reply = match found {
            Some(at) => self.respond(&rules[at]),
            None => Ok(Response::builder().status(404).body(Bytes::new()).expect("a response")),
        };
        if let Some(at) = found {
            self.answered[at] += 1;
        }
        asked.foreseen = found.is_some();
        self.asked.push(asked);
        reply
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(method: &str, headers: &[(&'static str, &'static str)], body: &str) -> Asked {
        let headers = headers.iter().map(|(name, value)| {
            (
                http::HeaderName::from_static(name),
                http::HeaderValue::from_static(value),
            )
        });
        Asked {
            method: method.into(),
            host: "cal.example.com".into(),
            path: "/a".into(),
            headers: headers.collect(),
            body: body.into(),
            foreseen: true,
        }
    }

    #[test]
    fn a_rule_fits_when_all_that_it_names_does() {
        let home = "cal.example.com";
        let plain = asked(
            "PUT",
            &[("if-match", "\"1\""), ("authorization", "Basic YQ==")],
            "SUMMARY:x",
        );
        for (rule, fits) in [
            (json!({"method": "PUT", "path": "/a"}), true),
            (json!({"method": "GET", "path": "/a"}), false),
            (json!({"path": "/b"}), false),
            (json!({"host": "other.example.com"}), false),
            (json!({"needs": {"if-match": "\"1\""}}), true),
            (json!({"needs": {"if-match": "\"2\""}}), false),
            (json!({"needs": {"body": "contains MARY"}}), true),
            (json!({"needs": {"authorization": "basic"}}), true),
            (json!({"needs": {"authorization": "none"}}), false),
            (json!({"needs": {"authorization": "bearer:at-1"}}), false),
            (json!({"needs": {"if-none-match": "*"}}), false),
        ] {
            assert_eq!(plain.fits(&rule, home), fits, "{rule}");
        }
        let bearer = asked("GET", &[("authorization", "Bearer at-1")], "");
        assert!(bearer.fits(&json!({"needs": {"authorization": "bearer:at-1"}}), home));
        assert!(!bearer.fits(&json!({"needs": {"authorization": "bearer:at-2"}}), home));
    }
}

//! Session cookies of one origin, in memory only (RFC 6265).
//!
//! Nextcloud and others check a password anew, at 0.4 to 1.5 s, on each request that does not bring back their
//! session cookie. `Domain` is ignored: a cookie goes back to the origin that set it and to no other.

use std::collections::BTreeMap;

use http::header::{DATE, SET_COOKIE};
use http::{HeaderMap, HeaderValue};
use jiff::fmt::rfc2822::DateTimeParser;

use crate::href::{Href, Origin};

/// The most cookies that are kept; the first ones stay.
const MAX_COOKIES: usize = 64;
/// The longest cookie, name and value together.
const MAX_COOKIE: usize = 4096;

/// Cookies by origin, path and name.
#[derive(Clone, Default)]
pub struct Cookies(BTreeMap<(Origin, String, String), Cookie>);

#[derive(Clone)]
struct Cookie {
    value: String,
    secure: bool,
}

/// Shows how many there are, never their contents.
impl std::fmt::Debug for Cookies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Cookies({})", self.0.len())
    }
}

impl Cookies {
    /// Takes what a response from `url` sets. A cookie that has expired by the response's own `Date` is dropped.
    pub fn store(&mut self, url: &Href, headers: &HeaderMap) {
        let now = headers.get(DATE).and_then(|value| http_date(value.to_str().ok()?));
        for line in headers.get_all(SET_COOKIE) {
            let Ok(line) = line.to_str() else { continue };
            let mut parts = line.split(';').map(str::trim);
            let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else {
                continue;
            };
            let (name, value) = (name.trim(), value.trim());
            let (mut path, mut secure, mut expired) = (None, false, false);
            for (key, value) in parts.map(|part| part.split_once('=').unwrap_or((part, ""))) {
                match key.trim().to_ascii_lowercase().as_str() {
                    "path" => path = Some(value.trim()).filter(|path| path.starts_with('/')),
                    "secure" => secure = true,
                    "max-age" => expired |= value.trim().parse().is_ok_and(|age: i64| age <= 0),
                    "expires" => expired |= http_date(value).is_some_and(|at| now.is_some_and(|now| at <= now)),
                    _ => {}
                }
            }
            if name.is_empty() || name.len() + value.len() > MAX_COOKIE {
                continue;
            }
            let default = || {
                url.path()
                    .rfind('/')
                    .map_or("/", |at| if at == 0 { "/" } else { &url.path()[..at] })
            };
            let key = (
                url.origin(),
                path.map_or_else(|| default().to_owned(), str::to_owned),
                name.to_owned(),
            );
            if expired {
                self.0.remove(&key);
            } else if self.0.len() < MAX_COOKIES || self.0.contains_key(&key) {
                self.0.insert(
                    key,
                    Cookie {
                        value: value.to_owned(),
                        secure,
                    },
                );
            }
        }
    }

    /// The `Cookie` header for a request to `url`, if there is anything to send.
    #[must_use]
    pub fn header(&self, url: &Href) -> Option<HeaderValue> {
        let origin = url.origin();
        let within = |path: &str| {
            url.path()
                .strip_prefix(path)
                .is_some_and(|rest| rest.is_empty() || path.ends_with('/') || rest.starts_with('/'))
        };
        let mut fit: Vec<_> = self
            .0
            .iter()
            .filter(|((from, path, _), cookie)| {
                *from == origin && within(path) && (!cookie.secure || origin.scheme == "https")
            })
            .collect();
        // Longer paths first (RFC 6265, 5.4).
        fit.sort_by_key(|((_, path, _), _)| std::cmp::Reverse(path.len()));
        let pairs: Vec<String> = fit
            .iter()
            .map(|((_, _, name), cookie)| format!("{name}={}", cookie.value))
            .collect();
        let mut value = HeaderValue::from_str(&pairs.join("; "))
            .ok()
            .filter(|_| !pairs.is_empty())?;
        value.set_sensitive(true);
        Some(value)
    }
}

/// Seconds since the Unix epoch of an HTTP date (RFC 9110, 5.6.7), also with the hyphens that old cookies have.
#[must_use]
pub fn http_date(text: &str) -> Option<i64> {
    let text = text.trim().replace('-', " ");
    let text = text
        .strip_suffix("GMT")
        .map_or(text.clone(), |rest| format!("{rest}+0000"));
    DateTimeParser::new()
        .relaxed_weekday(true)
        .parse_timestamp(&text)
        .ok()
        .map(jiff::Timestamp::as_second)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jar(url: &str, lines: &[&str]) -> Cookies {
        let mut headers = HeaderMap::new();
        headers.insert(DATE, HeaderValue::from_static("Mon, 30 Nov 2026 16:00:00 GMT"));
        for line in lines {
            headers.append(SET_COOKIE, line.parse().unwrap());
        }
        let mut jar = Cookies::default();
        jar.store(&Href::parse(url).unwrap(), &headers);
        jar
    }

    fn sent(jar: &Cookies, url: &str) -> Option<String> {
        jar.header(&Href::parse(url).unwrap())
            .map(|value| value.to_str().unwrap().to_owned())
    }

    #[test]
    fn cookies_go_back_to_their_origin_and_path_only() {
        let jar = jar(
            "https://x/remote.php/dav/",
            &["a=1; Path=/; Secure; HttpOnly", "b=2; Path=/remote.php", "c=3"],
        );
        assert_eq!(
            sent(&jar, "https://x/remote.php/dav/cal").as_deref(),
            Some("c=3; b=2; a=1")
        );
        assert_eq!(sent(&jar, "https://x/remote.phpx").as_deref(), Some("a=1"));
        assert_eq!(sent(&jar, "https://y/"), None);
        assert_eq!(sent(&jar, "http://x/remote.php/"), None);
        assert_eq!(sent(&jar, "https://x:8443/"), None);
    }

    #[test]
    fn expired_cookies_are_dropped() {
        let gone = [
            "a=1; Max-Age=0",
            "a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
            "a=1; expires=Thu, 01-Jan-1970 00:00:01 GMT; Max-Age=-1",
        ];
        for line in gone {
            assert_eq!(sent(&jar("http://x/", &["a=1", line]), "http://x/"), None, "{line}");
        }
        let kept = jar(
            "http://x/",
            &["a=1; Expires=Wed, 30 Dec 2026 16:00:00 GMT", "b=x; Domain=evil.example"],
        );
        assert_eq!(sent(&kept, "http://x/").as_deref(), Some("a=1; b=x"));
    }

    #[test]
    fn what_is_no_cookie_is_ignored() {
        let long = format!("l={}", "x".repeat(MAX_COOKIE));
        assert_eq!(sent(&jar("http://x/", &["novalue", "=1", &long]), "http://x/"), None);
        assert!(!format!("{:?}", jar("http://x/", &["a=secret"])).contains("secret"));
    }

    #[test]
    fn dates_are_read() {
        // RFC 9110, 5.6.7.
        assert_eq!(http_date("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(http_date("soon"), None);
    }
}

//! Which places may see the account's credentials: its own origin, and https hosts that the user allowed.

use crate::href::Origin;

/// A host that redirects may lead to: exactly, or as any strict subdomain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedirectHost {
    /// `host.example`
    Exact(String),
    /// `.suffix.example`
    Below(String),
}

impl RedirectHost {
    /// Reads one entry of a list of hosts: at least two labels of letters, digits and inner hyphens, no IP address,
    /// no scheme, port, path or wildcard.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let host = text.strip_prefix('.').unwrap_or(text);
        let label = |label: &str| {
            (1..=63).contains(&label.len())
                && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
                && !label.starts_with('-')
                && !label.ends_with('-')
        };
        let last = host.rsplit('.').next()?;
        let sound = host.len() <= 253
            && host.contains('.')
            && host.split('.').all(label)
            && !last.bytes().all(|b| b.is_ascii_digit());
        let host = host.to_ascii_lowercase();
        sound.then(|| {
            if text.starts_with('.') {
                Self::Below(host)
            } else {
                Self::Exact(host)
            }
        })
    }

    fn covers(&self, host: &str) -> bool {
        match self {
            Self::Exact(exact) => exact == host,
            Self::Below(suffix) => {
                host.len() > suffix.len() + 1
                    && host.ends_with(suffix.as_str())
                    && host.as_bytes()[host.len() - suffix.len() - 1] == b'.'
            }
        }
    }
}

/// Whether credentials may go to `target`: the account's origin, or an allowed host over https on the account's own
/// port.
#[must_use]
pub fn trusts(account: &Origin, allowed: &[RedirectHost], target: &Origin) -> bool {
    target == account
        || (account.scheme == "https"
            && target.scheme == "https"
            && target.port == account.port
            && allowed.iter().any(|host| host.covers(&target.host)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::href::Href;

    #[test]
    fn only_the_origin_and_allowed_https_hosts_are_trusted() {
        let allowed = [
            RedirectHost::parse("p57.example.com"),
            RedirectHost::parse(".icloud.com"),
        ]
        .map(Option::unwrap);
        let origin = |text: &str| Href::parse(text).unwrap().origin();
        for (account, target, trusted) in [
            ("https://a.example/", "https://a.example:443/x", true),
            ("https://a.example/", "http://a.example/", false),
            ("https://a.example/", "https://a.example:8443/", false),
            ("https://a.example/", "https://p57.example.com/", true),
            ("https://a.example/", "https://P57.example.com:443/", true),
            ("https://a.example/", "http://p57.example.com/", false),
            ("https://a.example/", "https://p57.example.com:8443/", false),
            ("https://a.example:8443/", "https://p57.example.com:8443/", true),
            ("https://a.example/", "https://p01-caldav.icloud.com/", true),
            ("https://a.example/", "https://icloud.com/", false),
            ("https://a.example/", "https://evilicloud.com/", false),
            ("https://a.example/", "https://x.p57.example.com/", false),
            ("http://a.example/", "https://p57.example.com/", false),
            ("http://a.example/", "http://a.example:80/", true),
            ("file:///a/", "file:///b/", true),
            ("file:///a/", "http://localhost/", false),
        ] {
            assert_eq!(
                trusts(&origin(account), &allowed, &origin(target)),
                trusted,
                "{account} -> {target}"
            );
        }
    }

    #[test]
    fn host_entries_are_checked() {
        for good in ["a.example", ".icloud.com", "A-1.b.example"] {
            assert!(RedirectHost::parse(good).is_some(), "{good}");
        }
        for bad in [
            "",
            ".",
            "a",
            ".com",
            "a..b",
            "-a.example",
            "a-.example",
            "*.a.example",
            "https://a.example",
            "a.example:1",
            "1.2.3.4",
            "a.example.",
            "a_b.example",
            "a.example/x",
        ] {
            assert!(RedirectHost::parse(bad).is_none(), "{bad}");
        }
    }
}

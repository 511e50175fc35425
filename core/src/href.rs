//! Absolute URLs of calendars and resources (RFC 3986, RFC 4918 section 8.3): resolved, compared and sent back as
//! the server spelled them.

use std::fmt;

use http::Uri;

/// The longest href that is accepted, in bytes.
pub const MAX_HREF: usize = 8192;

/// Scheme, host and port: the unit of trust (RFC 6454). The default port of the scheme is no port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// `http`, `https` or `file`.
    pub scheme: String,
    /// Lower case; empty for `file`.
    pub host: String,
    /// Absent where it is the scheme's default.
    pub port: Option<u16>,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.host)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// What makes two spellings one resource: origin and decoded path segments. `@` equals `%40`, hexadecimal case is
/// indifferent, and an encoded slash never becomes a segment border.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HrefKey(String);

impl HrefKey {
    /// The key as text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is a member of the collection: exactly one more segment, with or without its own slash. The key of
    /// the collection ends with a slash.
    #[must_use]
    pub fn is_member_of(&self, collection: &Self) -> bool {
        let below = self.0.strip_prefix(&collection.0);
        below.is_some_and(|rest| !rest.is_empty() && !rest.trim_end_matches('/').contains('/'))
    }

    /// Whether this lies at or below the collection. The key of the collection ends with a slash.
    #[must_use]
    pub fn is_within(&self, collection: &Self) -> bool {
        self.0.starts_with(&collection.0) || collection.0.strip_suffix('/') == Some(&self.0)
    }
}

/// Why a text is no usable href.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HrefFault {
    /// No scheme, or nothing after it.
    NotAbsolute,
    /// Neither `http`, `https` nor `file`.
    SchemeUnsupported,
    /// A user name or password stands before the host.
    HasUserinfo,
    /// A `?` or `#` part.
    HasQueryOrFragment,
    /// Too long, or characters that no URL may hold.
    Malformed,
}

/// An absolute `http`, `https` or `file` URL without user name, query and fragment, in the spelling it came in
/// (scheme and host in lower case, default port dropped, illegal characters percent-encoded).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Href {
    text: String,
    path_at: usize,
}

impl fmt::Debug for Href {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Href({})", self.text)
    }
}

impl fmt::Display for Href {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl serde::Serialize for Href {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl Href {
    /// Reads an absolute URL.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn parse(text: &str) -> Result<Self, HrefFault> {
        if text.len() > MAX_HREF {
            return Err(HrefFault::Malformed);
        }
        let (scheme, rest) = text.split_once("://").ok_or(HrefFault::NotAbsolute)?;
        let scheme = scheme.to_ascii_lowercase();
        if !matches!(scheme.as_str(), "http" | "https" | "file") {
            return Err(HrefFault::SchemeUnsupported);
        }
        if rest.contains(['?', '#']) {
            return Err(HrefFault::HasQueryOrFragment);
        }
        let (authority, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
        if authority.contains('@') {
            return Err(HrefFault::HasUserinfo);
        }
        let authority = normal_authority(&scheme, authority)?;
        Self::join(&format!("{scheme}://{authority}"), path)
    }

    /// The URL of a path at an origin that is in its normal form.
    fn join(origin: &str, path: &str) -> Result<Self, HrefFault> {
        if origin.len() + path.len() > MAX_HREF {
            return Err(HrefFault::Malformed);
        }
        let mut text = String::with_capacity(origin.len() + path.len());
        text.push_str(origin);
        encode_illegal(path, &mut text)?;
        Ok(Self {
            text,
            path_at: origin.len(),
        })
    }

    /// Resolves what a server wrote in `DAV:href` or `Location` against the URL that was asked (RFC 3986, 5.2).
    /// A query or fragment is dropped.
    #[must_use]
    pub fn resolve(&self, reference: &str) -> Option<Self> {
        let reference = reference.trim();
        let reference = reference.split(['?', '#']).next().unwrap_or("");
        let scheme = reference.split_once(':').map(|(scheme, _)| scheme);
        let is_scheme = |s: &str| {
            s.starts_with(|c: char| c.is_ascii_alphabetic())
                && s.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        };
        if scheme.is_some_and(is_scheme) {
            return Self::parse(reference).ok().map(Self::without_dots);
        }
        let base = &self.text[..self.path_at];
        if reference.is_empty() {
            return Some(self.clone());
        }
        let joined = if reference.starts_with("//") {
            Self::parse(&format!("{}:{reference}", self.origin().scheme))
        } else if reference.starts_with('/') {
            Self::join(base, reference)
        } else {
            let folder = self.path().rfind('/').map_or("/", |at| &self.path()[..=at]);
            Self::join(base, &format!("{folder}{reference}"))
        };
        joined.ok().map(Self::without_dots)
    }

    fn without_dots(self) -> Self {
        if !self.path().split('/').any(|segment| segment == "." || segment == "..") {
            return self;
        }
        let mut out: Vec<&str> = Vec::new();
        let mut segments = self.path()[1..].split('/').peekable();
        while let Some(segment) = segments.next() {
            let last = segments.peek().is_none();
            match segment {
                "." | ".." => {
                    if segment == ".." {
                        out.pop();
                    }
                    if last {
                        out.push("");
                    }
                }
                other => out.push(other),
            }
        }
        let text = format!("{}/{}", &self.text[..self.path_at], out.join("/"));
        Self {
            text,
            path_at: self.path_at,
        }
    }

    /// The whole URL.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The path, with its leading slash.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.text[self.path_at..]
    }

    /// Scheme, host and port.
    #[must_use]
    pub fn origin(&self) -> Origin {
        let head = &self.text[..self.path_at];
        let (scheme, authority) = head.split_once("://").unwrap_or(("", head));
        let port_at = authority.rfind(':').filter(|at| !authority[*at..].contains(']'));
        let (host, port) = port_at.map_or((authority, None), |at| {
            (&authority[..at], authority[at + 1..].parse().ok())
        });
        Origin {
            scheme: scheme.into(),
            host: host.into(),
            port,
        }
    }

    /// For comparing: see [`HrefKey`]. A trailing slash is kept, because it tells a collection from a member.
    #[must_use]
    pub fn key(&self) -> HrefKey {
        let mut key = self.text.as_bytes()[..self.path_at].to_vec();
        let bytes = self.path().as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            match decoded(bytes, at) {
                // A decoded slash or percent sign stays encoded, in one spelling.
                Some(byte @ (b'/' | b'%')) => {
                    key.extend_from_slice(format!("%{byte:02X}").as_bytes());
                    at += 3;
                }
                Some(byte) => {
                    key.push(byte);
                    at += 3;
                }
                None => {
                    key.push(bytes[at]);
                    at += 1;
                }
            }
        }
        HrefKey(String::from_utf8_lossy(&key).into_owned())
    }

    /// Whether `self` is a member of this collection: exactly one more segment, with or without its own slash.
    #[must_use]
    pub fn is_member_of(&self, collection: &Self) -> bool {
        self.key().is_member_of(&collection.as_collection().key())
    }

    /// Whether `self` lies at or below this collection.
    #[must_use]
    pub fn is_within(&self, collection: &Self) -> bool {
        self.key().is_within(&collection.as_collection().key())
    }

    /// The URL of the same last segment in another collection.
    #[must_use]
    pub fn moved_into(&self, collection: &Self) -> Self {
        let name_at = self
            .text
            .trim_end_matches('/')
            .rfind('/')
            .map_or(self.text.len(), |at| at + 1);
        let collection = collection.as_collection();
        Self {
            text: format!("{}{}", collection.text, &self.text[name_at..]),
            path_at: collection.path_at,
        }
    }

    /// The same URL with a trailing slash.
    #[must_use]
    pub fn as_collection(&self) -> Self {
        if self.text.ends_with('/') {
            return self.clone();
        }
        Self {
            text: format!("{}/", self.text),
            path_at: self.path_at,
        }
    }

    /// The last path segment, percent-decoded, if it is not empty.
    #[must_use]
    pub fn last_segment(&self) -> Option<String> {
        let segment = self
            .path()
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .filter(|s| !s.is_empty())?;
        let bytes = segment.as_bytes();
        let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
        while at < bytes.len() {
            let byte = decoded(bytes, at);
            out.push(byte.unwrap_or(bytes[at]));
            at += if byte.is_some() { 3 } else { 1 };
        }
        Some(String::from_utf8_lossy(&out).into_owned())
    }

    /// The URI of a request. A `file` URL is sent as `file://localhost/…` (RFC 8089, 2), since a request URI needs
    /// an authority.
    #[must_use]
    pub fn to_uri(&self) -> Uri {
        let text = match self.text.strip_prefix("file:///") {
            Some(path) => format!("file://localhost/{path}"),
            None => self.text.clone(),
        };
        text.parse().expect("an Href holds only what a URI may hold")
    }

    /// The href of a request URI: the inverse of [`Self::to_uri`].
    #[must_use]
    pub fn from_uri(uri: &Uri) -> Option<Self> {
        Self::parse(&uri.to_string()).ok()
    }
}

fn decoded(bytes: &[u8], at: usize) -> Option<u8> {
    let hex = |at: usize| bytes.get(at).and_then(|b| (*b as char).to_digit(16));
    let (high, low) = (hex(at + 1)?, hex(at + 2)?);
    (bytes[at] == b'%').then_some((high * 16 + low) as u8)
}

fn normal_authority(scheme: &str, authority: &str) -> Result<String, HrefFault> {
    let authority = authority.to_ascii_lowercase();
    if scheme == "file" {
        return if matches!(authority.as_str(), "" | "localhost") {
            Ok(String::new())
        } else {
            Err(HrefFault::Malformed)
        };
    }
    let default = if scheme == "https" { ":443" } else { ":80" };
    let authority = authority
        .strip_suffix(default)
        .or(authority.strip_suffix(':'))
        .unwrap_or(&authority);
    if authority.is_empty() {
        return Err(HrefFault::NotAbsolute);
    }
    // One parse by the library tells whether host and port are legal.
    format!("{scheme}://{authority}/")
        .parse::<Uri>()
        .map_err(|_| HrefFault::Malformed)?;
    Ok(authority.to_owned())
}

/// Percent-encodes what a path may not hold (RFC 3986, 3.3), leaving existing escapes as they are.
fn encode_illegal(path: &str, out: &mut String) -> Result<(), HrefFault> {
    for (at, byte) in path.bytes().enumerate() {
        let legal = byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte);
        if legal || (byte == b'%' && decoded(path.as_bytes(), at).is_some()) {
            out.push(byte as char);
        } else if byte < 0x20 || byte == 0x7f {
            return Err(HrefFault::Malformed);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn href(text: &str) -> Href {
        Href::parse(text).unwrap()
    }

    #[test]
    fn spelling_is_kept_and_host_is_normal() {
        for (given, kept) in [
            ("HTTPS://Cal.Example.com:443", "https://cal.example.com/"),
            ("http://x:80/a@b%2Fc", "http://x/a@b%2Fc"),
            ("http://x:8080/a b/é", "http://x:8080/a%20b/%C3%A9"),
            ("http://[::1]:8080/", "http://[::1]:8080/"),
            ("http://x/50%", "http://x/50%25"),
            ("file:///a/b", "file:///a/b"),
            ("file://localhost/a", "file:///a"),
        ] {
            assert_eq!(href(given).as_str(), kept);
        }
        for (given, fault) in [
            ("/a", HrefFault::NotAbsolute),
            ("http://", HrefFault::NotAbsolute),
            ("ftp://x/", HrefFault::SchemeUnsupported),
            ("http://u:p@x/", HrefFault::HasUserinfo),
            ("http://x/?q", HrefFault::HasQueryOrFragment),
            ("http://x/#f", HrefFault::HasQueryOrFragment),
            ("http://x/a\nb", HrefFault::Malformed),
            ("http://x y/", HrefFault::Malformed),
        ] {
            assert_eq!(Href::parse(given), Err(fault), "{given}");
        }
    }

    #[test]
    fn references_resolve_as_rfc_3986_says() {
        let base = href("https://x/b/c/d.ics");
        for (reference, expected) in [
            ("/e/f", "https://x/e/f"),
            ("g", "https://x/b/c/g"),
            ("./g/", "https://x/b/c/g/"),
            ("../g", "https://x/b/g"),
            ("../../../g", "https://x/g"),
            ("..", "https://x/b/"),
            ("//y/z", "https://y/z"),
            ("http://y:8080/z", "http://y:8080/z"),
            ("", "https://x/b/c/d.ics"),
            ("/a?q#f", "https://x/a"),
        ] {
            assert_eq!(base.resolve(reference).unwrap().as_str(), expected, "{reference}");
        }
        assert_eq!(base.resolve("mailto:a@b"), None);
    }

    #[test]
    fn keys_compare_decoded_segments() {
        let same = |a: &str, b: &str| href(a).key() == href(b).key();
        assert!(same("http://x/a@b", "http://X:80/a%40b"));
        assert!(same("http://x/%7Ea%c3%a9", "http://x/~a%C3%A9"));
        assert!(!same("http://x/a%2Fb", "http://x/a/b"));
        assert!(same("http://x/a%2fb", "http://x/a%2Fb"));
        assert!(!same("http://x/a%2540", "http://x/a%40"));
        assert!(!same("http://x/a", "http://x/a/"));
    }

    #[test]
    fn membership_is_one_segment() {
        let home = href("http://x/home");
        assert!(href("http://x/home/a").is_member_of(&home));
        assert!(href("http://x/home/a/").is_member_of(&home));
        assert!(!href("http://x/home/a/b").is_member_of(&home));
        assert!(!href("http://x/home/").is_member_of(&home));
        assert!(!href("http://x/homer").is_member_of(&home));
        assert!(href("http://x/home").is_within(&home));
        assert!(href("http://x/home/a/b").is_within(&home));
    }

    #[test]
    fn a_member_keeps_its_name_elsewhere() {
        for (member, moved) in [
            ("https://y/p/a%2Fb.ics", "http://x/c/a%2Fb.ics"),
            ("https://y/p/q/", "http://x/c/q/"),
        ] {
            assert_eq!(href(member).moved_into(&href("http://x/c")).as_str(), moved);
        }
    }

    #[test]
    fn request_uris_round_trip() {
        for text in ["file:///a/b%20c", "http://x/a", "https://x:8443/é"] {
            let it = href(text);
            assert_eq!(Href::from_uri(&it.to_uri()), Some(it));
        }
    }
}

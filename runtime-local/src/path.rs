//! Which resource a request URI names, if it names one that is safe to touch.
//!
//! Segments are decoded once and compared as octets with those of the root. Below the root a segment is a plain
//! file name or the request is refused: no `.` or `..`, no encoded slash, no backslash, no control character, no
//! name that begins with a dot.

use http::StatusCode;

/// What a request URI names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The account's root: principal and calendar home at once.
    Root,
    /// A folder directly below it.
    Calendar(String),
    /// A file in such a folder.
    Member(String, String),
}

/// The path of the root, in octets and as it is written in answers.
#[derive(Clone, Debug)]
pub(crate) struct Base {
    segments: Vec<Vec<u8>>,
    href: String,
}

impl Base {
    /// A root with these path segments, not encoded.
    pub(crate) fn new(segments: Vec<Vec<u8>>) -> Self {
        let mut href = String::from("/");
        for segment in &segments {
            encode(segment, &mut href);
            href.push('/');
        }
        Self { segments, href }
    }

    /// The root's own href, with its trailing slash.
    pub(crate) fn href(&self) -> &str {
        &self.href
    }

    /// The href of a Calendar, with its trailing slash.
    pub(crate) fn calendar(&self, calendar: &str) -> String {
        let mut href = self.href.clone();
        encode(calendar.as_bytes(), &mut href);
        href.push('/');
        href
    }

    /// The href of a member.
    pub(crate) fn member(&self, calendar: &str, name: &str) -> String {
        let mut href = self.calendar(calendar);
        encode(name.as_bytes(), &mut href);
        href
    }

    /// What a path names.
    ///
    /// # Errors
    /// 400 for what no client may send, 404 for what lies outside or too deep, 403 for names that are kept back.
    pub(crate) fn target(&self, path: &str) -> Result<Target, StatusCode> {
        let path = path.strip_prefix('/').ok_or(StatusCode::BAD_REQUEST)?;
        let mut segments = Vec::new();
        for segment in path.split('/') {
            segments.push(decode(segment).ok_or(StatusCode::BAD_REQUEST)?);
        }
        let inner = segments
            .strip_prefix(self.segments.as_slice())
            .ok_or(StatusCode::NOT_FOUND)?;
        match inner {
            [] => Ok(Target::Root),
            [end] if end.is_empty() => Ok(Target::Root),
            [calendar] => Ok(Target::Calendar(safe(calendar)?)),
            [calendar, end] if end.is_empty() => Ok(Target::Calendar(safe(calendar)?)),
            [calendar, member] => Ok(Target::Member(safe(calendar)?, safe(member)?)),
            deeper => {
                for segment in deeper.iter().filter(|segment| !segment.is_empty()) {
                    safe(segment)?;
                }
                Err(StatusCode::NOT_FOUND)
            }
        }
    }
}

/// Whether a file name can be served at all, wherever it comes from.
pub(crate) fn is_safe(name: &str) -> bool {
    safe(name.as_bytes()).is_ok()
}

fn safe(segment: &[u8]) -> Result<String, StatusCode> {
    let text = std::str::from_utf8(segment).map_err(|_| StatusCode::BAD_REQUEST)?;
    let unsafe_char = |c: char| c.is_control() || matches!(c, '/' | '\\') || (cfg!(windows) && c == ':');
    if text.is_empty() || text == "." || text == ".." || text.contains(unsafe_char) {
        return Err(StatusCode::BAD_REQUEST);
    }
    if text.starts_with('.') {
        return Err(StatusCode::FORBIDDEN);
    }
    Ok(text.to_owned())
}

pub(crate) fn decode(segment: &str) -> Option<Vec<u8>> {
    let (bytes, mut at) = (segment.as_bytes(), 0);
    let mut out = Vec::with_capacity(bytes.len());
    while at < bytes.len() {
        if bytes[at] == b'%' {
            let hex = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
            let byte = u8::try_from(hex(at + 1)? * 16 + hex(at + 2)?).expect("two hexadecimal digits are a byte");
            if byte == b'/' || byte == 0 {
                return None;
            }
            out.push(byte);
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    Some(out)
}

/// Percent-encodes everything but unreserved characters (RFC 3986, 2.3).
fn encode(segment: &[u8], out: &mut String) {
    for byte in segment {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
            out.push(char::from(*byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_the_root_its_calendars_and_their_members() {
        let base = Base::new(vec![b"a b".to_vec(), b"c".to_vec()]);
        assert_eq!(base.href(), "/a%20b/c/");
        let calendar = || String::from("w@x");
        for (path, target) in [
            ("/a%20b/c", Ok(Target::Root)),
            ("/a%20b/c/", Ok(Target::Root)),
            ("/a%20b/%63/w@x", Ok(Target::Calendar(calendar()))),
            ("/a%20b/c/w%40x/", Ok(Target::Calendar(calendar()))),
            (
                "/a%20b/c/w@x/%C3%A9.ics",
                Ok(Target::Member(calendar(), "é.ics".into())),
            ),
            ("/a%20b", Err(StatusCode::NOT_FOUND)),
            ("/a%20b/cc/x", Err(StatusCode::NOT_FOUND)),
            ("/a%20b/c/x/y/z", Err(StatusCode::NOT_FOUND)),
            ("/a%20b/c/x/y/", Err(StatusCode::NOT_FOUND)),
            ("/a%20b/c/..", Err(StatusCode::BAD_REQUEST)),
            ("/a%20b/c/x/%2e%2e/%2e%2e/y", Err(StatusCode::BAD_REQUEST)),
            ("/a%20b/c/x/..%2fy", Err(StatusCode::BAD_REQUEST)),
            ("/a%20b/c/x/..%5cy", Err(StatusCode::BAD_REQUEST)),
            ("/a%20b/c/x/a%00.ics", Err(StatusCode::BAD_REQUEST)),
            ("/a%20b/c/x/%ff.ics", Err(StatusCode::BAD_REQUEST)),
            ("/a%20b/c/x/a%.ics", Err(StatusCode::BAD_REQUEST)),
            ("/a%20b/c//x", Err(StatusCode::BAD_REQUEST)),
            ("/a%20b/c/x/.calendar.json", Err(StatusCode::FORBIDDEN)),
            ("/a%20b/c/.git/x", Err(StatusCode::FORBIDDEN)),
        ] {
            assert_eq!(base.target(path), target, "{path}");
        }
        assert_eq!(base.member("w@x", "a+b.ics"), "/a%20b/c/w%40x/a%2Bb.ics");
        assert_eq!(Base::new(Vec::new()).href(), "/");
        assert_eq!(Base::new(Vec::new()).target("/"), Ok(Target::Root));
    }
}

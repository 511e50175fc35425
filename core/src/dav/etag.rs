//! Entity tags (RFC 9110, 8.8.3) as headers and `DAV:getetag` give them.

use http::HeaderValue;

/// The longest entity tag that is accepted, in bytes, quotes and `W/` included.
pub const MAX_ENTITY_TAG: usize = 1024;

/// An entity tag in the spelling that a header takes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntityTag {
    /// `"…"`, quotes included. Only these prove a revision (RFC 9110, 13.1.1).
    Strong(String),
    /// `W/"…"`. Never sent in `If-Match`, stripped or not.
    Weak(String),
}

impl EntityTag {
    /// Reads the text of `DAV:getetag` or of an `ETag` header.
    ///
    /// A bare value, as some servers give it, is taken as the strong tag with that content. `None`: empty, too long,
    /// or a quotation mark or control character inside.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim_matches([' ', '\t', '\r', '\n']);
        if text.is_empty() || text.len() + 2 > MAX_ENTITY_TAG {
            return None;
        }
        let weak = text.strip_prefix("W/").or_else(|| text.strip_prefix("w/"));
        let opaque = weak.unwrap_or(text);
        let content = match opaque.strip_prefix('"') {
            Some(rest) => rest.strip_suffix('"')?,
            None => opaque,
        };
        let legal = |byte: u8| byte >= 0x20 && byte != 0x7f && byte != b'"';
        if !content.bytes().all(legal) {
            return None;
        }
        Some(if weak.is_some() {
            Self::Weak(format!("W/\"{content}\""))
        } else {
            Self::Strong(format!("\"{content}\""))
        })
    }

    /// Reads an `ETag` header.
    #[must_use]
    pub fn from_header(value: &HeaderValue) -> Option<Self> {
        Self::parse(std::str::from_utf8(value.as_bytes()).ok()?)
    }

    /// The tag if it is strong, with its quotes.
    #[must_use]
    pub fn strong(&self) -> Option<&str> {
        match self {
            Self::Strong(tag) => Some(tag),
            Self::Weak(_) => None,
        }
    }

    /// The tag if it is strong, with its quotes.
    #[must_use]
    pub fn into_strong(self) -> Option<String> {
        match self {
            Self::Strong(tag) => Some(tag),
            Self::Weak(_) => None,
        }
    }

    /// The tag in the spelling of a header.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Strong(tag) | Self::Weak(tag) => tag,
        }
    }

    /// The value for `If-Match`: a strong tag only.
    #[must_use]
    pub fn if_match(&self) -> Option<HeaderValue> {
        let tag = self.strong()?;
        Some(HeaderValue::from_bytes(tag.as_bytes()).expect("a tag holds only what a header may hold"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read_as_servers_write_them() {
        let strong = |tag: &str| Some(EntityTag::Strong(tag.into()));
        for (text, expected) in [
            ("\"a1\"", strong("\"a1\"")),
            (" \"a1\"\r\n", strong("\"a1\"")),
            ("ky8817", strong("\"ky8817\"")),
            ("63647421014", strong("\"63647421014\"")),
            ("\"\"", strong("\"\"")),
            ("\"grüße\"", strong("\"grüße\"")),
            ("W/\"v5\"", Some(EntityTag::Weak("W/\"v5\"".into()))),
            ("w/\"v5\"", Some(EntityTag::Weak("W/\"v5\"".into()))),
            ("W/v5", Some(EntityTag::Weak("W/\"v5\"".into()))),
            ("", None),
            ("  ", None),
            ("\"", None),
            ("\"open", None),
            ("open\"", None),
            ("\"a\"b\"", None),
            ("\"a\", \"b\"", None),
            ("\"a\r\nX: y\"", None),
            ("a\nb", None),
            ("\"a\u{7f}\"", None),
        ] {
            assert_eq!(EntityTag::parse(text), expected, "{text:?}");
        }
    }

    #[test]
    fn length_is_bounded() {
        let tag = |length: usize| EntityTag::parse(&"x".repeat(length));
        assert!(tag(MAX_ENTITY_TAG - 2).is_some());
        assert!(tag(MAX_ENTITY_TAG - 1).is_none());
    }

    #[test]
    fn a_weak_tag_is_no_condition() {
        let header = |text| EntityTag::parse(text).unwrap().if_match();
        assert_eq!(header("ky8817").unwrap(), "\"ky8817\"");
        assert_eq!(header("\"grüße\"").unwrap().as_bytes(), "\"grüße\"".as_bytes());
        assert_eq!(header("W/\"v5\""), None);
    }
}

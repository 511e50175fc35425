//! Answers: multistatus bodies (RFC 4918, section 13) and error bodies (section 16).

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};

use crate::element::{APPLE, CALDAV, CALENDAR_SERVER, DAV, Name};

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n";
const PREFIXES: [(&str, &str); 4] = [("D", DAV), ("C", CALDAV), ("CS", CALENDAR_SERVER), ("A", APPLE)];

/// An answer without a body.
pub(crate) fn empty(status: StatusCode) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = status;
    response
}

/// An answer with an XML body.
fn xml(status: StatusCode, body: String) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/xml; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// An answer that names the precondition that failed, and perhaps the resource that is in the way.
pub(crate) fn refused(status: StatusCode, space: &str, condition: &str, href: Option<&str>) -> Response<Bytes> {
    let mut body = String::from(HEAD);
    open_root(&mut body, "error");
    let name = Name {
        space: space.to_owned(),
        local: condition.to_owned(),
    };
    let mut inner = String::new();
    if let Some(href) = href {
        element(&mut inner, "D:href", href);
    }
    property(&mut body, &name, &inner);
    body.push_str("</D:error>\n");
    xml(status, body)
}

/// A multistatus being written.
#[derive(Debug)]
pub(crate) struct Multistatus {
    body: String,
}

impl Multistatus {
    pub(crate) fn new() -> Self {
        let mut body = String::from(HEAD);
        open_root(&mut body, "multistatus");
        body.push('\n');
        Self { body }
    }

    /// How much was written.
    pub(crate) fn len(&self) -> usize {
        self.body.len()
    }

    /// A resource with the properties that it has, each as a finished element, and those that it has not.
    pub(crate) fn response(&mut self, href: &str, found: &str, missing: &[&Name]) {
        self.body.push_str("<D:response>");
        element(&mut self.body, "D:href", href);
        if !found.is_empty() || missing.is_empty() {
            self.propstat(found, StatusCode::OK);
        }
        if !missing.is_empty() {
            let mut names = String::new();
            for name in missing {
                property(&mut names, name, "");
            }
            self.propstat(&names, StatusCode::NOT_FOUND);
        }
        self.body.push_str("</D:response>\n");
    }

    fn propstat(&mut self, properties: &str, status: StatusCode) {
        self.body.push_str("<D:propstat><D:prop>");
        self.body.push_str(properties);
        self.body.push_str("</D:prop>");
        self.status_line(status);
        self.body.push_str("</D:propstat>");
    }

    /// A resource, and how the change of each of its properties ended.
    pub(crate) fn changed(&mut self, href: &str, outcomes: &[(StatusCode, Vec<&Name>)]) {
        self.body.push_str("<D:response>");
        element(&mut self.body, "D:href", href);
        for (status, names) in outcomes {
            let mut properties = String::new();
            for name in names {
                property(&mut properties, name, "");
            }
            self.propstat(&properties, *status);
        }
        self.body.push_str("</D:response>\n");
    }

    /// A resource of which nothing can be told.
    pub(crate) fn status(&mut self, href: &str, status: StatusCode) {
        self.body.push_str("<D:response>");
        element(&mut self.body, "D:href", href);
        self.status_line(status);
        self.body.push_str("</D:response>\n");
    }

    fn status_line(&mut self, status: StatusCode) {
        let reason = status.canonical_reason().unwrap_or_default();
        element(
            &mut self.body,
            "D:status",
            &format!("HTTP/1.1 {} {reason}", status.as_str()),
        );
    }

    /// The state after all changes that are written.
    pub(crate) fn sync_token(&mut self, token: &str) {
        element(&mut self.body, "D:sync-token", token);
    }

    pub(crate) fn finish(mut self) -> Response<Bytes> {
        self.body.push_str("</D:multistatus>\n");
        xml(StatusCode::MULTI_STATUS, self.body)
    }
}

fn open_root(out: &mut String, local: &str) {
    out.push_str("<D:");
    out.push_str(local);
    for (prefix, space) in PREFIXES {
        out.push_str(&format!(" xmlns:{prefix}=\"{space}\""));
    }
    out.push('>');
}

/// Writes an element with text, under a prefixed name of ours.
pub(crate) fn element(out: &mut String, name: &str, text: &str) {
    out.push('<');
    out.push_str(name);
    out.push('>');
    escape(text, out);
    out.push_str("</");
    out.push_str(name);
    out.push('>');
}

/// Writes an element with finished content, under any name.
pub(crate) fn property(out: &mut String, name: &Name, inner: &str) {
    property_in(out, name, None, inner);
}

/// Writes an element with finished content in a language (XML 1.0, 2.12).
pub(crate) fn property_in(out: &mut String, name: &Name, language: Option<&str>, inner: &str) {
    let known = PREFIXES.iter().find(|(_, space)| *space == name.space);
    let (tag, declaration) = match known {
        Some((prefix, _)) => (format!("{prefix}:{}", name.local), String::new()),
        None => {
            let mut space = String::new();
            escape(&name.space, &mut space);
            (name.local.clone(), format!(" xmlns=\"{space}\""))
        }
    };
    out.push_str(&format!("<{tag}{declaration}"));
    if let Some(language) = language {
        out.push_str(" xml:lang=\"");
        escape(language, out);
        out.push('"');
    }
    if inner.is_empty() {
        out.push_str("/>");
    } else {
        out.push('>');
        out.push_str(inner);
        out.push_str(&format!("</{tag}>"));
    }
}

/// Escapes text for content and attributes. CR is written as a reference, or readers would make LF of it
/// (XML 1.0, 2.11).
pub(crate) fn escape(text: &str, out: &mut String) {
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let reference = match byte {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            b'\r' => "&#13;",
            _ => continue,
        };
        out.push_str(&text[from..at]);
        out.push_str(reference);
        from = at + 1;
    }
    out.push_str(&text[from..]);
}

/// Whether XML 1.0 can hold this text at all (2.2).
pub(crate) fn is_representable(text: &str) -> bool {
    !text
        .chars()
        .any(|c| (c < ' ' && !matches!(c, '\t' | '\n' | '\r')) || matches!(c, '\u{fffe}' | '\u{ffff}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_escaped_and_declare_what_they_use() {
        let name = |space: &str, local: &str| Name {
            space: space.into(),
            local: local.into(),
        };
        let mut out = String::new();
        property(&mut out, &name(CALDAV, "x"), "");
        property(&mut out, &name("urn:a\"&", "y"), "t");
        property(&mut out, &name("", "z"), "");
        assert_eq!(out, "<C:x/><y xmlns=\"urn:a&quot;&amp;\">t</y><z xmlns=\"\"/>");
        let mut out = String::new();
        escape("a\r\n<b> & \"é\"", &mut out);
        assert_eq!(out, "a&#13;\n&lt;b&gt; &amp; &quot;é&quot;");
        assert!(is_representable("a\r\n\té") && !is_representable("\u{b}") && !is_representable("\u{ffff}"));
    }
}

//! The multistatus of the honest server, taken apart and dressed as the other one would write it.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Response, StatusCode};

use super::{Oddity, Server};

const OPEN: &str = "<D:response>";
const CLOSE: &str = "</D:response>";
const END: &str = "</D:multistatus>";
const ROOT: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:multistatus xmlns:D=\"DAV:\" xmlns:C=\"urn:ietf:params:xml:ns:caldav\" \
     xmlns:CS=\"http://calendarserver.org/ns/\" xmlns:A=\"http://apple.com/ns/ical/\">\n";

/// Responses as text, each with its own tags, and what stands after them.
#[derive(Debug, Default)]
pub(super) struct Multistatus {
    pub(super) responses: Vec<String>,
    pub(super) tail: String,
}

impl Multistatus {
    /// What the honest server wrote; nothing if it is no multistatus.
    pub(super) fn read(response: &Response<Bytes>) -> Option<Self> {
        let text = std::str::from_utf8(response.body()).ok()?;
        let inner = text.strip_suffix('\n').unwrap_or(text).strip_suffix(END)?;
        let mut responses = Vec::new();
        let mut rest = inner;
        while let Some(at) = rest.find(OPEN) {
            let end = at + rest[at..].find(CLOSE)? + CLOSE.len();
            responses.push(rest[at..end].to_owned());
            rest = &rest[end..];
        }
        let tail = if responses.is_empty() { "" } else { rest.trim() };
        Some(Self {
            responses,
            tail: tail.to_owned(),
        })
    }

    pub(super) fn with(mut self, response: String) -> Self {
        self.responses.push(response);
        self
    }

    pub(super) fn finish(self) -> Response<Bytes> {
        let body = format!("{ROOT}{}{}{END}", self.responses.concat(), self.tail);
        Response::builder()
            .status(StatusCode::MULTI_STATUS)
            .header(CONTENT_TYPE, "application/xml; charset=utf-8")
            .body(body.into())
            .expect("a media type")
    }
}

/// What stands between two texts.
pub(super) fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let from = text.find(open)? + open.len();
    Some(&text[from..from + text[from..].find(close)?])
}

pub(super) fn href(response: &str) -> &str {
    between(response, "<D:href>", "</D:href>").unwrap_or_default()
}

/// Whether the response says that there is nothing.
pub(super) fn is_gone(response: &str) -> bool {
    !response.contains("<D:propstat>") && response.contains("404 Not Found")
}

pub(super) fn unescaped(text: &str) -> String {
    let mut text = text.to_owned();
    for (reference, plain) in [
        ("&#13;", "\r"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&amp;", "&"),
    ] {
        text = text.replace(reference, plain);
    }
    text
}

/// `%40` becomes `@`, other escapes are written in lower case.
fn respelled(href: &str) -> String {
    let mut parts = href.split('%');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (code, rest) = part.split_at(2.min(part.len()));
        if code == "40" {
            out.push('@');
        } else {
            out.push('%');
            out.push_str(&code.to_ascii_lowercase());
        }
        out.push_str(rest);
    }
    out
}

impl Server {
    pub(super) fn finish(&self, answer: Multistatus) -> Response<Bytes> {
        let mut response = answer.finish();
        if self.has(Oddity::ByteOrderMark) {
            *response.body_mut() = [b"\xef\xbb\xbf", &response.body()[..]].concat().into();
        }
        response
    }

    /// A response as this server writes it in a listing.
    pub(super) fn dressed(&self, response: &str) -> String {
        self.with_its_tag(response, false)
    }

    /// A response as this server writes it in a report.
    pub(super) fn dressed_in_report(&self, response: &str) -> String {
        let mut out = self.with_its_tag(response, true);
        let own = href(&out).to_owned();
        if self.has(Oddity::SpelledOtherwise) {
            out = out.replacen(&own, &respelled(&own), 1);
        }
        if let Some(data) = between(&out, "<C:calendar-data>", "</C:calendar-data>").map(str::to_owned) {
            let mark = if self.has(Oddity::ByteOrderMark) {
                "\u{feff}"
            } else {
                ""
            };
            let data = if self.has(Oddity::CharacterData) {
                format!("<![CDATA[{mark}{}]]>", unescaped(&data))
            } else {
                format!("{mark}{data}")
            };
            let from = out.find("<C:calendar-data>").unwrap_or_default();
            let to = out.find("</C:calendar-data>").unwrap_or_default();
            out.replace_range(from..to, &format!("<C:calendar-data>{data}"));
        }
        if self.has(Oddity::SecondPropstat) && out.contains("<D:propstat>") {
            let size = between(&out, "<D:getcontentlength>", "</D:getcontentlength>").map(str::to_owned);
            if let Some(size) = size {
                out = out.replacen(&format!("<D:getcontentlength>{size}</D:getcontentlength>"), "", 1);
            }
            let empty = "<D:propstat><D:prop><D:getcontentlength/><D:getlastmodified/></D:prop><D:status>HTTP/1.1 404 Not Found</D:status></D:propstat>";
            out = out.replacen("<D:propstat>", &format!("{empty}<D:propstat>"), 1);
        }
        out
    }

    fn with_its_tag(&self, response: &str, in_report: bool) -> String {
        let Some(text) = between(response, "<D:getetag>", "</D:getetag>") else {
            return response.to_owned();
        };
        let element = |text: &str| format!("<D:getetag>{text}</D:getetag>");
        let escaped = |tag: String| element(&tag.replace('"', "&quot;"));
        let tag = self.tag(href(response), &unescaped(text), in_report);
        response.replacen(&element(text), &tag.map_or_else(String::new, escaped), 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hrefs_are_respelled() {
        assert_eq!(respelled("/a%40b%2Bc%C3%A9/x"), "/a@b%2bc%c3%a9/x");
    }
}

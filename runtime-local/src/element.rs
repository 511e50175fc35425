//! Request bodies as small trees. Tolerant of what does not matter, and bounded in size, depth and count.

use quick_xml::NsReader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{Namespace, ResolveResult};

use crate::multistatus::is_representable;

/// The most bytes of a request body that is XML.
const MAX_BODY: usize = 16 * 1024 * 1024;
/// The most elements.
const MAX_ELEMENTS: usize = 200_000;
/// The deepest nesting.
const MAX_DEPTH: usize = 32;

/// `DAV:`
pub(crate) const DAV: &str = "DAV:";
/// CalDAV (RFC 4791).
pub(crate) const CALDAV: &str = "urn:ietf:params:xml:ns:caldav";
/// Extensions of CalendarServer.
pub(crate) const CALENDAR_SERVER: &str = "http://calendarserver.org/ns/";
/// Extensions of Apple's clients.
pub(crate) const APPLE: &str = "http://apple.com/ns/ical/";

/// Namespace and local name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name {
    pub(crate) space: String,
    pub(crate) local: String,
}

impl Name {
    pub(crate) fn is(&self, space: &str, local: &str) -> bool {
        self.space == space && self.local == local
    }
}

/// An element with its attributes, children and joined text.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub(crate) name: Name,
    attributes: Vec<(String, String)>,
    pub(crate) children: Vec<Self>,
    pub(crate) text: String,
}

/// The body is no XML that a request may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotXml;

impl Element {
    /// The root element of a body; `None` if the body is empty.
    pub(crate) fn read(body: &[u8]) -> Result<Option<Self>, NotXml> {
        if body.trim_ascii().is_empty() {
            return Ok(None);
        }
        if body.len() > MAX_BODY {
            return Err(NotXml);
        }
        let text = std::str::from_utf8(body)
            .ok()
            .filter(|text| is_representable(text))
            .ok_or(NotXml)?;
        let mut reader = NsReader::from_str(text.trim_start_matches('\u{feff}'));
        reader.config_mut().expand_empty_elements = true;
        let mut open: Vec<Self> = Vec::new();
        let mut root = None;
        let mut count = 0_usize;
        loop {
            let (space, event) = reader.read_resolved_event().map_err(|_| NotXml)?;
            match event {
                Event::Start(start) => {
                    count += 1;
                    if count > MAX_ELEMENTS || open.len() == MAX_DEPTH || root.is_some() {
                        return Err(NotXml);
                    }
                    open.push(Self::start(&space, &start)?);
                }
                Event::End(_) => {
                    let done = open.pop().ok_or(NotXml)?;
                    match open.last_mut() {
                        Some(parent) => parent.children.push(done),
                        None => root = Some(done),
                    }
                }
                Event::Text(text) => append(&mut open, &text.xml10_content()),
                Event::CData(text) => append(&mut open, &text.xml10_content()),
                Event::GeneralRef(reference) => {
                    let resolved = match reference.resolve_char_ref().map_err(|_| NotXml)? {
                        Some(c) => c,
                        None => match &*reference {
                            "amp" => '&',
                            "lt" => '<',
                            "gt" => '>',
                            "quot" => '"',
                            "apos" => '\'',
                            _ => return Err(NotXml),
                        },
                    };
                    let mut buffer = [0; 4];
                    let resolved = resolved.encode_utf8(&mut buffer);
                    if !is_representable(resolved) {
                        return Err(NotXml);
                    }
                    append(&mut open, resolved);
                }
                Event::DocType(_) => return Err(NotXml),
                Event::Eof => break,
                Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            }
        }
        if open.is_empty() && root.is_some() {
            Ok(root)
        } else {
            Err(NotXml)
        }
    }

    fn start(space: &ResolveResult<'_>, start: &BytesStart<'_>) -> Result<Self, NotXml> {
        let space = match space {
            ResolveResult::Bound(Namespace(space)) => (*space).to_owned(),
            ResolveResult::Unbound => String::new(),
            ResolveResult::Unknown(_) => return Err(NotXml),
        };
        let local = start.local_name();
        let local = local.as_ref();
        let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        if local.is_empty() || !local.chars().all(fits) || local.starts_with(|c: char| !c.is_alphabetic() && c != '_') {
            return Err(NotXml);
        }
        let mut attributes = Vec::new();
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|_| NotXml)?;
            let value = attribute
                .normalized_value(XmlVersion::Explicit1_0)
                .map_err(|_| NotXml)?;
            if !is_representable(&value) {
                return Err(NotXml);
            }
            attributes.push((attribute.key.local_name().as_ref().to_owned(), value.into_owned()));
        }
        Ok(Self {
            name: Name {
                space,
                local: local.to_owned(),
            },
            attributes,
            children: Vec::new(),
            text: String::new(),
        })
    }

    /// The first child with this name.
    pub(crate) fn child(&self, space: &str, local: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name.is(space, local))
    }

    /// All children with this name.
    pub(crate) fn all<'a>(&'a self, space: &'a str, local: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name.is(space, local))
    }

    /// The value of an attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find_map(|(key, value)| (key == name).then_some(value.as_str()))
    }
}

fn append(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_resolved_and_text_is_joined() {
        let body = b"<?xml version='1.0'?><a:x xmlns:a='DAV:'><y xmlns='urn:y' k='1&amp;2'>a&#13;<![CDATA[<b>]]>&lt;</y></a:x>";
        let root = Element::read(body).expect("well-formed").expect("not empty");
        assert!(root.name.is(DAV, "x"));
        let inner = root.child("urn:y", "y").expect("a child");
        assert_eq!((inner.text.as_str(), inner.attribute("k")), ("a\r<b><", Some("1&2")));
    }

    #[test]
    fn hostile_bodies_are_refused() {
        let deep = "<a>".repeat(100_000);
        for body in [
            "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>",
            "<a>&b;</a>",
            "<a/><b/>",
            "<a>",
            "<p:a/>",
            "<a>&#1;</a>",
            "<a b='&#1;'/>",
            "<a b='1' b='2'/>",
            "text",
            "<a&quot;/>",
            "\u{1}",
            deep.as_str(),
        ] {
            assert_eq!(
                Element::read(body.as_bytes()).err(),
                Some(NotXml),
                "{}",
                &body[..body.len().min(40)]
            );
        }
        assert_eq!(Element::read(b"<a>\xff</a>").err(), Some(NotXml));
        assert!(Element::read(b" \n").expect("no body").is_none());
    }
}

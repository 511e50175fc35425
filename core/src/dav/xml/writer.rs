//! The writer of request bodies.

use crate::dav::xml::text::is_xml_char;

/// Writes one document. Names are ours and not escaped; texts and values are. A character that XML cannot hold is
/// written as U+FFFD.
#[derive(Debug)]
pub struct Writer {
    out: String,
    open: Vec<&'static str>,
}

impl Writer {
    /// A document with this root, which declares the prefixes `D`, `C`, `CS` and `A`: other prefixes come back
    /// undeclared from some servers.
    #[must_use]
    pub fn new(root: &'static str) -> Self {
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
        out.push_str(&format!(
            "<{root} xmlns:D=\"DAV:\" xmlns:C=\"urn:ietf:params:xml:ns:caldav\" \
             xmlns:CS=\"http://calendarserver.org/ns/\" xmlns:A=\"http://apple.com/ns/ical/\">"
        ));
        Self { out, open: vec![root] }
    }

    /// Opens an element with attributes.
    pub fn open(&mut self, name: &'static str, attributes: &[(&str, &str)]) -> &mut Self {
        self.tag(name, attributes, ">");
        self.open.push(name);
        self
    }

    /// Closes the element that was opened last.
    pub fn close(&mut self) -> &mut Self {
        if let Some(name) = self.open.pop() {
            self.out.push_str(&format!("</{name}>"));
        }
        self
    }

    /// An element without content.
    pub fn empty(&mut self, name: &str, attributes: &[(&str, &str)]) -> &mut Self {
        self.tag(name, attributes, "/>");
        self
    }

    /// An element with text.
    pub fn element(&mut self, name: &'static str, text: &str) -> &mut Self {
        self.open(name, &[]).text(text).close()
    }

    /// Text inside the element that is open.
    pub fn text(&mut self, text: &str) -> &mut Self {
        escape(text, false, &mut self.out);
        self
    }

    /// The document, every open element closed.
    #[must_use]
    pub fn finish(mut self) -> bytes::Bytes {
        while !self.open.is_empty() {
            self.close();
        }
        self.out.into()
    }

    fn tag(&mut self, name: &str, attributes: &[(&str, &str)], end: &str) {
        self.out.push('<');
        self.out.push_str(name);
        for (key, value) in attributes {
            self.out.push_str(&format!(" {key}=\""));
            escape(value, true, &mut self.out);
            self.out.push('"');
        }
        self.out.push_str(end);
    }
}

fn escape(text: &str, attribute: bool, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\r' => out.push_str("&#xD;"),
            '"' if attribute => out.push_str("&quot;"),
            '\n' if attribute => out.push_str("&#xA;"),
            '\t' if attribute => out.push_str("&#x9;"),
            c if is_xml_char(c) => out.push(c),
            _ => out.push(char::REPLACEMENT_CHARACTER),
        }
    }
}

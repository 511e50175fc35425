//! A guarded, namespace-aware pull reader and a small writer of XML 1.0.
//!
//! The tokens are quick-xml's, which checks little; this module refuses what is dangerous or broken: a DOCTYPE, any
//! entity but the five of XML, illegal characters, a second root, text or an XML declaration in the wrong place, an
//! end of input inside an element, an undeclared prefix, and everything above [`Limits`]. Accepted although XML or
//! Namespaces forbid it, because it is harmless and met: relative namespace names, `]]>` in text, and, where the
//! reader is told so by [`Reader::tolerate_undeclared`], undeclared prefixes on names that nothing would be read from.

use std::borrow::Cow;

use quick_xml::events::{BytesStart, Event};

use crate::dav::name::{Name, Space};

/// The deepest nesting of elements that is accepted.
pub const MAX_DEPTH: usize = 64;

/// The most namespace declarations that may be in force at one place.
const MAX_BINDINGS: usize = 128;

/// Bounds of one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the body.
    pub bytes: usize,
    /// Elements in the document.
    pub elements: usize,
    /// Attributes of one element.
    pub attributes: usize,
    /// Bytes of text of one element.
    pub text: usize,
    /// Hrefs in a multistatus.
    pub responses: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 64 << 20,
            elements: 4_000_000,
            attributes: 64,
            text: 4 << 20,
            responses: 50_000,
        }
    }
}

/// Which of the [`Limits`] was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limited {
    /// Bytes of the body.
    Bytes,
    /// Elements.
    Elements,
    /// Attributes of one element.
    Attributes,
    /// Namespace declarations in force.
    Bindings,
    /// Elements within each other.
    Depth,
    /// Bytes of text of one element.
    Text,
    /// Hrefs in a multistatus.
    Responses,
}

/// Why a document is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum XmlFault {
    /// There is no element.
    Empty,
    /// Declared in, or evidently written in, an encoding other than UTF-8; the name is ASCII and at most 40 long.
    Encoding(String),
    /// Not UTF-8, and no other encoding is declared.
    NotUtf8,
    /// A character that XML forbids, written as itself or as a reference.
    Character,
    /// A document type declaration.
    Doctype,
    /// An entity other than the five that XML defines.
    Entity,
    /// Text, a second root or an XML declaration where none may stand.
    Misplaced,
    /// The end of the input inside an element or tag.
    Truncated,
    /// A prefix that is not declared.
    UndeclaredPrefix,
    /// Any other breach of the grammar.
    Malformed,
    /// A bound was reached.
    Limit {
        /// Which.
        limited: Limited,
        /// How much was seen when that was noticed.
        observed: usize,
        /// The bound.
        limit: usize,
    },
}

impl std::fmt::Display for XmlFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => f.write_str("there is no element"),
            Self::Encoding(name) => write!(f, "the encoding is {name}, not UTF-8"),
            Self::NotUtf8 => f.write_str("the text is not UTF-8"),
            Self::Character => f.write_str("there is a character that XML forbids"),
            Self::Doctype => f.write_str("there is a document type declaration"),
            Self::Entity => f.write_str("there is an unknown entity"),
            Self::Misplaced => f.write_str("there is text or a declaration outside of the document"),
            Self::Truncated => f.write_str("the document is cut short"),
            Self::UndeclaredPrefix => f.write_str("a namespace prefix is not declared"),
            Self::Malformed => f.write_str("the document is not well-formed"),
            Self::Limit {
                limited,
                observed,
                limit,
            } => write!(f, "too much: {limited:?} {observed} of {limit}"),
        }
    }
}

impl std::error::Error for XmlFault {}

fn bounded(limited: Limited, observed: usize, limit: usize) -> Result<(), XmlFault> {
    if observed > limit {
        return Err(XmlFault::Limit {
            limited,
            observed,
            limit,
        });
    }
    Ok(())
}

/// A prefix and what it stands for, from the depth of the element that declares it.
#[derive(Debug)]
struct Binding {
    prefix: String,
    space: Space,
    depth: usize,
}

enum Token<'a> {
    Start(Name),
    End,
    Text(Cow<'a, str>),
    Eof,
}

/// Reads one document from its beginning to its end. Every element whose start is returned must be read or skipped
/// to its end by [`Self::child`], [`Self::text`] or [`Self::skip`].
pub struct Reader<'a> {
    tokens: quick_xml::Reader<&'a [u8]>,
    limits: Limits,
    bindings: Vec<Binding>,
    /// The tag of the last start.
    tag: BytesStart<'a>,
    space: Space,
    depth: usize,
    elements: usize,
    /// The last start was an empty-element tag, whose end has not been returned.
    ends_at_once: bool,
    begun: bool,
    rooted: bool,
    tolerant: bool,
}

impl std::fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Reader(depth {}, elements {})", self.depth, self.elements)
    }
}

impl<'a> Reader<'a> {
    /// A reader of this body. `charset` is the one of the `Content-Type` header.
    ///
    /// # Errors
    /// The body is too large, not UTF-8, or holds an illegal character.
    pub fn new(body: &'a [u8], charset: Option<&str>, limits: Limits) -> Result<Self, XmlFault> {
        bounded(Limited::Bytes, body.len(), limits.bytes)?;
        let text = decoded(body, charset)?;
        let mut tokens = quick_xml::Reader::from_str(text);
        // Both are the defaults of quick-xml; the guards rely on them.
        tokens.config_mut().check_end_names = true;
        tokens.config_mut().allow_unmatched_ends = false;
        Ok(Self {
            tokens,
            limits,
            bindings: Vec::new(),
            tag: BytesStart::new(""),
            space: Space::Missing,
            depth: 0,
            elements: 0,
            ends_at_once: false,
            begun: false,
            rooted: false,
            tolerant: false,
        })
    }

    /// The root element's name.
    ///
    /// # Errors
    /// Any fault up to there.
    pub fn root(&mut self) -> Result<Name, XmlFault> {
        loop {
            match self.token(false)? {
                Token::Start(name) => return Ok(name),
                Token::Text(_) => {}
                Token::End | Token::Eof => return Err(XmlFault::Empty),
            }
        }
    }

    /// The next child of the element that is open, or `None` once at its end. Text between children is passed over.
    ///
    /// # Errors
    /// Any fault up to there.
    pub fn child(&mut self) -> Result<Option<Name>, XmlFault> {
        loop {
            match self.token(false)? {
                Token::Start(name) => return Ok(Some(name)),
                Token::Text(_) => {}
                Token::End | Token::Eof => return Ok(None),
            }
        }
    }

    /// The text of the element that is open, to its end: text, references and CDATA joined, line ends normalised (XML
    /// 1.0, 2.11; a CR written as reference stays), children left out.
    ///
    /// # Errors
    /// Any fault up to there.
    pub fn text(&mut self) -> Result<String, XmlFault> {
        let mut text = String::new();
        loop {
            match self.token(false)? {
                Token::Text(piece) => {
                    bounded(Limited::Text, text.len() + piece.len(), self.limits.text)?;
                    text.push_str(&piece);
                }
                Token::Start(_) => self.skip()?,
                Token::End | Token::Eof => return Ok(text),
            }
        }
    }

    /// Passes over the element that is open, to its end.
    ///
    /// # Errors
    /// Any fault up to there.
    pub fn skip(&mut self) -> Result<(), XmlFault> {
        let outside = self.depth.saturating_sub(1);
        while self.depth > outside {
            self.token(true)?;
        }
        Ok(())
    }

    /// Passes over what may follow the root (comments, processing instructions, white space).
    ///
    /// # Errors
    /// Anything else follows.
    pub fn finish(&mut self) -> Result<(), XmlFault> {
        loop {
            match self.token(false)? {
                Token::Eof => return Ok(()),
                Token::Start(_) | Token::End => return Err(XmlFault::Misplaced),
                Token::Text(_) => {}
            }
        }
    }

    /// The local name of the last start, as it was written.
    #[must_use]
    pub fn local(&self) -> &str {
        let name = self.tag.name().0;
        name.split_once(':').map_or(name, |(_, local)| local)
    }

    /// The namespace of the last start.
    #[must_use]
    pub fn space(&self) -> Space {
        self.space
    }

    /// The value of an attribute without prefix of the last start.
    ///
    /// # Errors
    /// The tag's attributes are broken, or an entity is unknown.
    pub fn attribute(&self, name: &str) -> Result<Option<String>, XmlFault> {
        for attribute in self.tag.attributes() {
            let attribute = attribute.map_err(|_| XmlFault::Malformed)?;
            if attribute.key.0 == name {
                return unescaped(&attribute.value).map(Some);
            }
        }
        Ok(None)
    }

    /// Whether an undeclared prefix is passed over instead of refused, where the local name is none that is listed in
    /// [`Name`] or the element is being skipped. Cyrus writes such names into `DAV:prop`.
    pub fn tolerate_undeclared(&mut self, tolerant: bool) {
        self.tolerant = tolerant;
    }

    fn token(&mut self, skipping: bool) -> Result<Token<'a>, XmlFault> {
        if self.ends_at_once {
            self.ends_at_once = false;
            return Ok(self.end());
        }
        loop {
            let event = self.tokens.read_event().map_err(|error| fault_of(&error))?;
            let first = !std::mem::replace(&mut self.begun, true);
            match event {
                Event::Start(tag) => return self.start(tag, skipping).map(Token::Start),
                Event::Empty(tag) => {
                    self.ends_at_once = true;
                    return self.start(tag, skipping).map(Token::Start);
                }
                Event::End(_) => return Ok(self.end()),
                Event::Text(text) if self.depth > 0 => return Ok(Token::Text(text.xml10_content())),
                Event::Text(text) if text.trim_matches([' ', '\t', '\r', '\n']).is_empty() => {}
                Event::CData(text) if self.depth > 0 => return Ok(Token::Text(text.xml10_content())),
                Event::GeneralRef(name) if self.depth > 0 => return Ok(Token::Text(referred(&name)?)),
                Event::Text(_) | Event::CData(_) | Event::GeneralRef(_) => return Err(XmlFault::Misplaced),
                Event::Decl(declaration) if first => encoding_is_utf8(&declaration)?,
                Event::Decl(_) => return Err(XmlFault::Misplaced),
                Event::DocType(_) => return Err(XmlFault::Doctype),
                Event::Comment(_) | Event::PI(_) => {}
                Event::Eof if self.depth > 0 => return Err(XmlFault::Truncated),
                Event::Eof if !self.rooted => return Err(XmlFault::Empty),
                Event::Eof => return Ok(Token::Eof),
            }
        }
    }

    fn start(&mut self, tag: BytesStart<'a>, skipping: bool) -> Result<Name, XmlFault> {
        if self.depth == 0 && std::mem::replace(&mut self.rooted, true) {
            return Err(XmlFault::Misplaced);
        }
        self.depth += 1;
        self.elements += 1;
        bounded(Limited::Depth, self.depth, MAX_DEPTH)?;
        bounded(Limited::Elements, self.elements, self.limits.elements)?;
        self.tag = tag;
        if !self.tag.attributes_raw().trim_ascii().is_empty() {
            self.declare()?;
        }
        let name = self.tag.name().0;
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        let binding = self.bindings.iter().rev().find(|binding| binding.prefix == prefix);
        self.space = match binding.map(|binding| binding.space) {
            Some(space) => space,
            None if prefix.is_empty() => Space::Missing,
            None if prefix == "xml" => Space::Other,
            None if self.tolerant && (skipping || !Name::has_local(local)) => Space::Other,
            None => return Err(XmlFault::UndeclaredPrefix),
        };
        Ok(Name::of(self.space, local))
    }

    /// Checks the attributes of the tag and takes its namespace declarations.
    fn declare(&mut self) -> Result<(), XmlFault> {
        for (at, attribute) in self.tag.attributes().enumerate() {
            bounded(Limited::Attributes, at + 1, self.limits.attributes)?;
            let attribute = attribute.map_err(|_| XmlFault::Malformed)?;
            let key = attribute.key.0;
            let Some(prefix) = key.strip_prefix("xmlns:").or((key == "xmlns").then_some("")) else {
                continue;
            };
            let space = Space::of(&unescaped(&attribute.value)?);
            if space == Space::Missing && !prefix.is_empty() {
                return Err(XmlFault::Malformed);
            }
            self.bindings.push(Binding {
                prefix: prefix.to_owned(),
                space,
                depth: self.depth,
            });
        }
        bounded(Limited::Bindings, self.bindings.len(), MAX_BINDINGS)
    }

    fn end(&mut self) -> Token<'a> {
        while self.bindings.last().is_some_and(|binding| binding.depth == self.depth) {
            self.bindings.pop();
        }
        self.depth -= 1;
        Token::End
    }
}

fn fault_of(error: &quick_xml::Error) -> XmlFault {
    use quick_xml::errors::SyntaxError::InvalidBangMarkup;
    // All syntax errors but this one are about something that is not closed.
    let unclosed = matches!(error, quick_xml::Error::Syntax(syntax) if *syntax != InvalidBangMarkup);
    if unclosed {
        XmlFault::Truncated
    } else {
        XmlFault::Malformed
    }
}

/// The body as text, if it is UTF-8 (a byte order mark is dropped) and every character is one that XML allows.
fn decoded<'a>(body: &'a [u8], charset: Option<&str>) -> Result<&'a str, XmlFault> {
    if body.starts_with(&[0xFE, 0xFF]) || body.starts_with(&[0xFF, 0xFE]) || body[..body.len().min(2)].contains(&0) {
        return Err(XmlFault::Encoding("UTF-16".into()));
    }
    let body = body.strip_prefix(&[0xEF, 0xBB, 0xBF]).unwrap_or(body);
    let declared = declared_encoding(body);
    let named = declared.or(charset);
    let Ok(text) = std::str::from_utf8(body) else {
        return Err(match named {
            Some(name) if !is_utf8_name(name) => XmlFault::Encoding(printable(name)),
            _ => XmlFault::NotUtf8,
        });
    };
    match named {
        Some(name) if !is_utf8_name(name) && (declared.is_some() || !text.is_ascii()) => {
            return Err(XmlFault::Encoding(printable(name)));
        }
        _ => {}
    }
    let illegal = |byte: u8| byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r');
    // Blocks without early exit are what the compiler makes vector code of.
    let blocks = body.chunks(4096);
    if blocks
        .into_iter()
        .any(|block| block.iter().fold(false, |seen, byte| seen | illegal(*byte)))
    {
        return Err(XmlFault::Character);
    }
    // U+FFFE and U+FFFF.
    if memchr::memmem::find(body, b"\xEF\xBF\xBE").is_some() || memchr::memmem::find(body, b"\xEF\xBF\xBF").is_some() {
        return Err(XmlFault::Character);
    }
    Ok(text)
}

/// The encoding that an XML declaration at the very beginning names.
fn declared_encoding(body: &[u8]) -> Option<&str> {
    let head = &body[..body.len().min(256)];
    let head = head.strip_prefix(b"<?xml")?;
    let head = &head[..memchr::memmem::find(head, b"?>")?];
    let head = std::str::from_utf8(head).ok()?;
    let value = head
        .split_once("encoding")?
        .1
        .trim_start()
        .strip_prefix('=')?
        .trim_start();
    let quote = value.chars().next().filter(|quote| "'\"".contains(*quote))?;
    value[1..].split(quote).next()
}

fn is_utf8_name(name: &str) -> bool {
    ["utf-8", "utf8", "us-ascii", "ascii"]
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
}

fn printable(name: &str) -> String {
    name.chars().filter(char::is_ascii_graphic).take(40).collect()
}

fn encoding_is_utf8(declaration: &quick_xml::events::BytesDecl<'_>) -> Result<(), XmlFault> {
    match declaration.encoding() {
        None => Ok(()),
        Some(Ok(name)) if is_utf8_name(&name) => Ok(()),
        Some(Ok(name)) => Err(XmlFault::Encoding(printable(&name))),
        Some(Err(_)) => Err(XmlFault::Malformed),
    }
}

/// What a reference stands for.
fn referred(name: &str) -> Result<Cow<'static, str>, XmlFault> {
    Ok(Cow::Borrowed(match name {
        // The usual way to write a carriage return is worth a shortcut.
        "#13" | "#xD" | "#xd" => "\r",
        "lt" => "<",
        "gt" => ">",
        "amp" => "&",
        "apos" => "'",
        "quot" => "\"",
        _ => {
            let number = name.strip_prefix('#').ok_or(XmlFault::Entity)?;
            let (digits, radix) = number.strip_prefix('x').map_or((number, 10), |hex| (hex, 16));
            // from_str_radix takes a sign, XML does not.
            let code = Some(digits).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
            let code = code.and_then(|digits| u32::from_str_radix(digits, radix).ok());
            let character = code.and_then(char::from_u32).filter(|c| is_xml_char(*c));
            return Ok(Cow::Owned(character.ok_or(XmlFault::Character)?.to_string()));
        }
    }))
}

/// Whether XML 1.0, 2.2, allows the character.
fn is_xml_char(c: char) -> bool {
    !matches!(c, '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

/// An attribute value: white space to spaces, references resolved (XML 1.0, 3.3.3).
fn unescaped(value: &str) -> Result<String, XmlFault> {
    let mut out = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find(['&', '\t', '\n', '\r']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(reference) = rest.strip_prefix('&') {
            let (name, after) = reference.split_once(';').ok_or(XmlFault::Malformed)?;
            out.push_str(&referred(name)?);
            rest = after;
        } else {
            out.push(' ');
            rest = rest.strip_prefix("\r\n").unwrap_or(&rest[1..]);
        }
    }
    out.push_str(rest);
    Ok(out)
}

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
        self.open(name, &[]);
        escape(text, false, &mut self.out);
        self.close()
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

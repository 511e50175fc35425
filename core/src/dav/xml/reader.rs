//! The pull reader.

use std::borrow::Cow;

use quick_xml::events::{BytesStart, Event};

use crate::dav::name::{Name, Space};
use crate::dav::xml::text::{decoded, encoding_is_utf8, referred, unescaped};
use crate::dav::xml::{Limited, Limits, MAX_DEPTH, XmlFault};

/// The most namespace declarations that may be in force at one place.
const MAX_BINDINGS: usize = 128;

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
    /// The name of a namespace that is not understood.
    other: Option<Box<str>>,
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
    source: &'a str,
    tokens: quick_xml::Reader<&'a [u8]>,
    /// Where the text began that was read last; none of an empty-element tag.
    text_at: Option<usize>,
    /// Texts that were marked, with where they begin.
    marks: Vec<(Name, usize)>,
    limits: Limits,
    bindings: Vec<Binding>,
    /// Values of `xml:lang` in force, each with the depth of its element.
    languages: Vec<(usize, String)>,
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
            source: text,
            tokens,
            text_at: None,
            marks: Vec::new(),
            limits,
            bindings: Vec::new(),
            languages: Vec::new(),
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

    /// The document.
    pub(in crate::dav) fn source(&self) -> &'a str {
        self.source
    }

    /// How much of the document was read.
    pub(in crate::dav) fn at(&self) -> usize {
        self.source.len() - self.tokens.get_ref().len()
    }

    /// How many elements were read.
    pub(in crate::dav) fn elements(&self) -> usize {
        self.elements
    }

    /// Marks the text that was read last, unless it is that of an empty-element tag.
    pub(in crate::dav) fn mark(&mut self, name: Name) {
        self.marks.extend(self.text_at.map(|at| (name, at)));
    }

    /// The texts that were marked, in order.
    pub(in crate::dav) fn marks(&self) -> &[(Name, usize)] {
        &self.marks
    }

    /// Forgets all marks.
    pub(in crate::dav) fn unmark(&mut self) {
        self.marks.clear();
    }

    /// Passes over whole elements that come next, where an end was read last. The caller knows what they hold. False,
    /// and nothing is done, where they are too many.
    pub(in crate::dav) fn pass(&mut self, octets: usize, elements: usize) -> bool {
        if self.ends_at_once || self.elements + elements > self.limits.elements {
            return false;
        }
        self.elements += elements;
        let rest = self.tokens.get_mut();
        *rest = &rest[octets..];
        true
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
                Token::End => return Ok(None),
                Token::Eof => return Err(XmlFault::Truncated),
            }
        }
    }

    /// The text of the element that is open, to its end: text, references and CDATA joined, line ends normalised (XML
    /// 1.0, 2.11; a CR written as reference stays), children left out.
    ///
    /// # Errors
    /// Any fault up to there.
    pub fn text(&mut self) -> Result<String, XmlFault> {
        self.text_at = Some(self.at()).filter(|_| !self.ends_at_once);
        let mut text = String::new();
        loop {
            match self.token(false)? {
                Token::Text(piece) => {
                    bounded(Limited::Text, text.len() + piece.len(), self.limits.text)?;
                    text.push_str(&piece);
                }
                Token::Start(_) => self.skip()?,
                Token::End => return Ok(text),
                Token::Eof => return Err(XmlFault::Truncated),
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
            if let Token::Eof = self.token(true)? {
                return Err(XmlFault::Truncated);
            }
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

    /// The name of the namespace of the last start.
    #[must_use]
    pub fn namespace(&self) -> &str {
        if self.space != Space::Other {
            return self.space.uri();
        }
        let prefix = self.tag.name().0.split_once(':').map_or("", |(prefix, _)| prefix);
        let binding = self.bindings.iter().rev().find(|binding| binding.prefix == prefix);
        binding.and_then(|binding| binding.other.as_deref()).unwrap_or("")
    }

    /// The language of the text of the element that is open (XML 1.0, 2.12), as it was written.
    #[must_use]
    pub fn language(&self) -> Option<&str> {
        self.languages.last().map(|(_, language)| language.as_str())
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
            if key == "xml:lang" {
                self.languages.push((self.depth, unescaped(&attribute.value)?));
            }
            let Some(prefix) = key.strip_prefix("xmlns:").or((key == "xmlns").then_some("")) else {
                continue;
            };
            let uri = unescaped(&attribute.value)?;
            let space = Space::of(&uri);
            if space == Space::Missing && !prefix.is_empty() {
                return Err(XmlFault::Malformed);
            }
            self.bindings.push(Binding {
                prefix: prefix.to_owned(),
                space,
                other: (space == Space::Other).then(|| uri.into()),
                depth: self.depth,
            });
        }
        bounded(Limited::Bindings, self.bindings.len(), MAX_BINDINGS)
    }

    fn end(&mut self) -> Token<'a> {
        while self.bindings.last().is_some_and(|binding| binding.depth == self.depth) {
            self.bindings.pop();
        }
        if self.languages.last().is_some_and(|(depth, _)| *depth == self.depth) {
            self.languages.pop();
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

//! A lossless view of any octets that claim to be iCalendar (RFC 5545, section 3.1).
//!
//! A document is its octets plus spans: content lines, and the components that BEGIN and END lines make. Nothing
//! is copied or decoded before it is asked for, so the octets of what is not understood are never lost. Blank
//! lines, a byte order mark, bare CR, broken lines and bad UTF-8 all stay where they are; what is structurally
//! wrong is reported as a [`Fault`] with its place.

use std::borrow::Cow;
use std::ops::Range;

use super::line::{Line, LineKind, NONE, component_name, decode, read_line, split_quoted, unfolded};
pub use super::line::{Parameter, unfold};
use bytes::Bytes;

/// The largest document, in bytes.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;
/// The most content lines.
pub const MAX_LINES: usize = 200_000;
/// The deepest nesting of components that is understood; deeper ones are reported and left alone.
pub const MAX_DEPTH: usize = 64;

/// Why octets are not taken as a document at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLarge {
    /// More than [`MAX_BYTES`].
    Bytes,
    /// More than [`MAX_LINES`].
    Lines,
}

/// What is structurally wrong, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// Offset of the content line in bytes.
    pub offset: usize,
    /// Number of the physical line, from 1.
    pub line: usize,
}

/// A structural fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A content line without a colon.
    NoColon,
    /// A double quote that is not closed: the first colon ends the name.
    UnbalancedQuote,
    /// A BEGIN that no END closes.
    Unclosed,
    /// An END that closes nothing, or not the innermost component.
    StrayEnd,
    /// A component deeper than [`MAX_DEPTH`].
    TooDeep,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    begin: u32,
    /// The END line, or the number of lines if there is none.
    end: u32,
    /// The span after the last one inside.
    after: u32,
}

/// Octets with their content lines and components. Cheap to clone are only the octets; keep it in an `Arc`.
#[derive(Clone, Debug)]
pub struct Document {
    bytes: Bytes,
    lines: Vec<Line>,
    spans: Vec<Span>,
    faults: Vec<Fault>,
}

impl Document {
    /// Finds the content lines and components. Any octets are a document unless there are too many of them.
    ///
    /// # Errors
    /// [`TooLarge`].
    pub fn parse(bytes: Bytes) -> Result<Self, TooLarge> {
        if bytes.len() > MAX_BYTES {
            return Err(TooLarge::Bytes);
        }
        let source: &[u8] = &bytes;
        let mut lines = Vec::with_capacity(source.len() / 32 + 4);
        let mut spans: Vec<Span> = Vec::new();
        let mut stack: Vec<(u32, Cow<'_, [u8]>)> = Vec::new();
        let mut too_deep = 0_usize;
        let mut faults = Vec::new();
        let mut at = if source.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let mut number = 1;
        while at < source.len() {
            let (line, physical, unbalanced) = read_line(source, at);
            let (offset, this) = (at, number);
            at = line.next as usize;
            number += physical;
            if line.start == line.end {
                continue;
            }
            if lines.len() == MAX_LINES {
                return Err(TooLarge::Lines);
            }
            let mut fault = |kind| {
                faults.push(Fault {
                    kind,
                    offset,
                    line: this,
                })
            };
            if unbalanced {
                fault(FaultKind::UnbalancedQuote);
            }
            let index = lines.len() as u32;
            lines.push(line);
            match line.kind {
                LineKind::Broken => fault(FaultKind::NoColon),
                LineKind::Property if too_deep > 0 => lines[index as usize].kind = LineKind::Buried,
                LineKind::Property | LineKind::Buried => {}
                LineKind::Begin if stack.len() == MAX_DEPTH => {
                    if too_deep == 0 {
                        fault(FaultKind::TooDeep);
                    }
                    too_deep += 1;
                }
                LineKind::Begin => {
                    stack.push((spans.len() as u32, component_name(source, &lines[index as usize])));
                    spans.push(Span {
                        begin: index,
                        end: NONE,
                        after: NONE,
                    });
                }
                LineKind::End if too_deep > 0 => too_deep -= 1,
                LineKind::End => {
                    let name = component_name(source, &lines[index as usize]);
                    match stack.iter().rposition(|(_, open)| open.eq_ignore_ascii_case(&name)) {
                        Some(depth) => {
                            if depth + 1 != stack.len() {
                                fault(FaultKind::StrayEnd);
                            }
                            let after = spans.len() as u32;
                            for (span, _) in stack.drain(depth..) {
                                let span = &mut spans[span as usize];
                                (span.end, span.after) = (index, after);
                            }
                        }
                        None => fault(FaultKind::StrayEnd),
                    }
                }
            }
        }
        let (last, after) = (lines.len() as u32, spans.len() as u32);
        let mut unclosed = stack.iter().map(|(span, _)| *span).peekable();
        if unclosed.peek().is_some() {
            let mut counted = (0, 1);
            for span in unclosed {
                let span = &mut spans[span as usize];
                (span.end, span.after) = (last, after);
                let offset = lines[span.begin as usize].start as usize;
                counted.1 += memchr::memchr_iter(b'\n', &source[counted.0..offset]).count();
                counted.0 = offset;
                faults.push(Fault {
                    kind: FaultKind::Unclosed,
                    offset,
                    line: counted.1,
                });
            }
        }
        drop(stack);
        Ok(Self {
            bytes,
            lines,
            spans,
            faults,
        })
    }

    /// Octets that are too many to be looked into: a document without content lines.
    #[must_use]
    pub fn unread(bytes: Bytes) -> Self {
        Self {
            bytes,
            lines: Vec::new(),
            spans: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// How many content lines there are: each takes 24 bytes beside its octets.
    #[must_use]
    pub fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// Whether any content line, unfolded and otherwise as written, contains this ASCII text, in any case.
    #[must_use]
    pub fn has_text(&self, text: &[u8]) -> bool {
        let Some((first, rest)) = text.split_first() else {
            return true;
        };
        let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
        let is_at = |line: &[u8], at: usize| {
            let found = line[at + 1..].get(..rest.len());
            found.is_some_and(|found| found.eq_ignore_ascii_case(rest))
        };
        self.lines.iter().any(|line| {
            let octets = unfolded(&self.bytes[line.start as usize..line.end as usize], line.folded);
            memchr::memchr2_iter(lower, upper, &octets).any(|at| is_at(&octets, at))
        })
    }

    /// The octets, unchanged.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// What is structurally wrong, in order of discovery.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// The components that lie in no other component: usually one VCALENDAR.
    pub fn roots(&self) -> impl Iterator<Item = Component<'_>> {
        self.siblings(0, self.spans.len() as u32)
    }

    /// A component by its [`Component::index`].
    ///
    /// # Panics
    /// If the index is not of a component of this document, at the latest when the component is used.
    #[must_use]
    pub fn component(&self, index: usize) -> Component<'_> {
        Component {
            document: self,
            index: index as u32,
        }
    }

    /// The property with this [`Property::index`].
    ///
    /// # Panics
    /// If the index is not of a property of this document.
    #[must_use]
    pub fn property(&self, index: usize) -> Property<'_> {
        assert!(self.lines[index].colon != NONE, "an index of a property");
        Property {
            document: self,
            line: index as u32,
        }
    }

    /// The spans from `first` up to `end` that lie in no other of them.
    fn siblings(&self, first: u32, end: u32) -> impl Iterator<Item = Component<'_>> {
        let mut next = first;
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let index = next;
                next = self.spans[index as usize].after;
                Component { document: self, index }
            })
        })
    }
}

/// A component: what stands between BEGIN and END.
#[derive(Clone, Copy, Debug)]
pub struct Component<'a> {
    document: &'a Document,
    index: u32,
}

impl<'a> Component<'a> {
    /// Its place among all components of the document, for [`Document::component`].
    #[must_use]
    pub fn index(self) -> usize {
        self.index as usize
    }

    /// The document that it is in.
    pub(super) fn document(self) -> &'a Document {
        self.document
    }

    fn span(self) -> Span {
        self.document.spans[self.index as usize]
    }

    /// Its name as written.
    #[must_use]
    pub fn name(self) -> Cow<'a, [u8]> {
        component_name(&self.document.bytes, &self.document.lines[self.span().begin as usize])
    }

    /// Whether it has this name, in any case.
    #[must_use]
    pub fn is(self, name: &str) -> bool {
        self.name().eq_ignore_ascii_case(name.as_bytes())
    }

    /// The octets from its BEGIN line through its END line, line ends included.
    #[must_use]
    pub fn slice(self) -> &'a [u8] {
        &self.document.bytes[self.range()]
    }

    /// Where [`Self::slice`] lies in the document.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        let lines = &self.document.lines;
        let first = lines[self.span().begin as usize].start as usize;
        let last = lines[(self.span().end as usize).min(lines.len() - 1)].next as usize;
        first..last
    }

    /// After its BEGIN line.
    pub(super) fn begin_end(self) -> usize {
        self.document.lines[self.span().begin as usize].next as usize
    }

    /// Before the first component inside, or else where [`Self::inner_end`] is.
    pub(super) fn properties_end(self) -> usize {
        let first = self.children().next();
        first.map_or_else(|| self.inner_end(), |child| child.range().start)
    }

    /// Before its END line; after everything in it if it has none, or one that closes a component around it too.
    pub(super) fn inner_end(self) -> usize {
        let lines = &self.document.lines;
        lines
            .get(self.span().end as usize)
            .map_or(self.document.bytes.len(), |line| line.start as usize)
    }

    /// The components directly inside.
    pub fn children(self) -> impl Iterator<Item = Component<'a>> {
        self.document.siblings(self.index + 1, self.span().after)
    }

    /// The properties of this component itself, in order, without those of components inside.
    pub fn properties(self) -> impl Iterator<Item = Property<'a>> {
        let Span { begin, end, .. } = self.span();
        let document = self.document;
        let mut inner = self
            .children()
            .map(|child| (child.span().begin, child.span().end))
            .peekable();
        let mut at = begin + 1;
        std::iter::from_fn(move || {
            while at < end {
                if let Some((first, last)) = inner.peek().copied()
                    && at >= first
                {
                    at = last.saturating_add(1).max(at);
                    inner.next();
                    continue;
                }
                at += 1;
                let line = &document.lines[at as usize - 1];
                if line.kind == LineKind::Property {
                    return Some(Property { document, line: at - 1 });
                }
            }
            None
        })
    }

    /// The properties with this name, in any case.
    pub fn all<'n>(self, name: &'n str) -> impl Iterator<Item = Property<'a>> + use<'a, 'n> {
        self.properties().filter(move |property| property.is(name))
    }

    /// The first property with this name, in any case.
    #[must_use]
    pub fn first(self, name: &str) -> Option<Property<'a>> {
        self.all(name).next()
    }
}

/// One content line: name, parameters and value, all still encoded.
#[derive(Clone, Copy, Debug)]
pub struct Property<'a> {
    document: &'a Document,
    line: u32,
}

impl<'a> Property<'a> {
    /// Its place among the content lines, for [`Document::property`].
    #[must_use]
    pub fn index(self) -> usize {
        self.line as usize
    }

    fn line(self) -> &'a Line {
        &self.document.lines[self.line as usize]
    }

    fn part(self, from: u32, to: u32) -> Cow<'a, [u8]> {
        unfolded(&self.document.bytes[from as usize..to as usize], self.line().folded)
    }

    /// Its name as written, unfolded.
    #[must_use]
    pub fn name(self) -> Cow<'a, [u8]> {
        self.part(self.line().start, self.line().name_end)
    }

    /// Whether it has this name, in any case.
    #[must_use]
    pub fn is(self, name: &str) -> bool {
        self.name().eq_ignore_ascii_case(name.as_bytes())
    }

    /// Its value, unfolded and otherwise as written.
    #[must_use]
    pub fn value(self) -> Cow<'a, [u8]> {
        self.part(self.line().colon + 1, self.line().end)
    }

    /// The octets of the whole line with its folds and line end.
    #[must_use]
    pub fn slice(self) -> &'a [u8] {
        &self.document.bytes[self.range()]
    }

    /// Where [`Self::slice`] lies in the document.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        self.line().start as usize..self.line().next as usize
    }

    /// Where the octets of its value lie in the document, without the line end.
    #[must_use]
    pub fn value_range(self) -> Range<usize> {
        self.line().colon as usize + 1..self.line().end as usize
    }

    /// Its parameters as written, unfolded, each with the semicolon before it.
    pub(super) fn raw_parameters(self) -> Cow<'a, [u8]> {
        self.part(self.line().name_end, self.line().colon)
    }

    /// Its parameters in order: names as written, values without their quotes and decoded (RFC 6868).
    #[must_use]
    pub fn parameters(self) -> Vec<Parameter> {
        let text = self.raw_parameters();
        split_quoted(&text, b';')
            .filter(|part| !part.is_empty())
            .map(Parameter::read)
            .collect()
    }

    /// The first value of the first parameter with this name, in any case.
    #[must_use]
    pub fn parameter(self, name: &str) -> Option<String> {
        if self.line().name_end == self.line().colon {
            return None;
        }
        let text = self.raw_parameters();
        split_quoted(&text, b';')
            .filter(|part| !part.is_empty())
            .find_map(|part| {
                let (own, values) = part.split_at(memchr::memchr(b'=', part).unwrap_or(part.len()));
                let same = own.trim_ascii().eq_ignore_ascii_case(name.as_bytes());
                same.then(|| {
                    let first = split_quoted(values.get(1..).unwrap_or_default(), b',').next();
                    decode(first.unwrap_or_default())
                })
            })
    }

    /// Whether it has no parameters at all.
    #[must_use]
    pub fn is_plain(self) -> bool {
        self.line().name_end == self.line().colon
    }
}

#[cfg(test)]
mod tests;

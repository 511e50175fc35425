//! A lossless view of any octets that claim to be iCalendar (RFC 5545, section 3.1).
//!
//! A document is its octets plus spans: content lines, and the components that BEGIN and END lines make. Nothing
//! is copied or decoded before it is asked for, so the octets of what is not understood are never lost. Blank
//! lines, a byte order mark, bare CR, broken lines and bad UTF-8 all stay where they are; what is structurally
//! wrong is reported as a [`Fault`] with its place.

use std::borrow::Cow;

use bytes::Bytes;
use memchr::memchr;

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
struct Line {
    start: u32,
    /// Before the line end.
    end: u32,
    /// After the line end.
    next: u32,
    name_end: u32,
    /// `u32::MAX` if there is none.
    colon: u32,
    kind: LineKind,
    folded: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineKind {
    Begin,
    End,
    Property,
    Broken,
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Span {
    begin: u32,
    /// The END line, or the number of lines if there is none.
    end: u32,
    parent: u32,
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
        let mut stack: Vec<u32> = Vec::new();
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
            match line.kind {
                LineKind::Broken => fault(FaultKind::NoColon),
                LineKind::Property => {}
                LineKind::Begin if stack.len() == MAX_DEPTH => {
                    if too_deep == 0 {
                        fault(FaultKind::TooDeep);
                    }
                    too_deep += 1;
                }
                LineKind::Begin => {
                    let parent = stack.last().copied().unwrap_or(NONE);
                    stack.push(spans.len() as u32);
                    spans.push(Span {
                        begin: index,
                        end: NONE,
                        parent,
                    });
                }
                LineKind::End if too_deep > 0 => too_deep -= 1,
                LineKind::End => {
                    let name = component_name(source, &line);
                    let same = |span: &u32| {
                        let begin: &Line = &lines[spans[*span as usize].begin as usize];
                        component_name(source, begin).eq_ignore_ascii_case(&name)
                    };
                    match stack.iter().rposition(same) {
                        Some(depth) => {
                            if depth + 1 != stack.len() {
                                fault(FaultKind::StrayEnd);
                            }
                            for span in stack.drain(depth..) {
                                spans[span as usize].end = index;
                            }
                        }
                        None => fault(FaultKind::StrayEnd),
                    }
                }
            }
            lines.push(line);
        }
        for span in stack {
            let begin: &Line = &lines[spans[span as usize].begin as usize];
            faults.push(Fault {
                kind: FaultKind::Unclosed,
                offset: begin.start as usize,
                line: 0,
            });
            spans[span as usize].end = lines.len() as u32;
        }
        for fault in &mut faults {
            if fault.line == 0 {
                fault.line = 1 + memchr::memchr_iter(b'\n', &source[..fault.offset]).count();
            }
        }
        Ok(Self {
            bytes,
            lines,
            spans,
            faults,
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
        self.children_of(NONE)
    }

    /// A component by its [`Component::index`].
    #[must_use]
    pub fn component(&self, index: usize) -> Component<'_> {
        Component {
            document: self,
            index: index as u32,
        }
    }

    fn children_of(&self, parent: u32) -> impl Iterator<Item = Component<'_>> {
        let first = if parent == NONE { 0 } else { parent + 1 };
        let end = if parent == NONE {
            NONE
        } else {
            self.spans[parent as usize].end
        };
        (first..self.spans.len() as u32)
            .take_while(move |index| self.spans[*index as usize].begin < end)
            .filter(move |index| self.spans[*index as usize].parent == parent)
            .map(|index| Component { document: self, index })
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
        let lines = &self.document.lines;
        let first = lines[self.span().begin as usize].start as usize;
        let last = lines[(self.span().end as usize).min(lines.len() - 1)].next as usize;
        &self.document.bytes[first..last]
    }

    /// The components directly inside.
    pub fn children(self) -> impl Iterator<Item = Component<'a>> {
        self.document.children_of(self.index)
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
    pub fn all(self, name: &'a str) -> impl Iterator<Item = Property<'a>> {
        self.properties().filter(move |property| property.is(name))
    }

    /// The first property with this name, in any case.
    #[must_use]
    pub fn first(self, name: &'a str) -> Option<Property<'a>> {
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
    fn line(self) -> &'a Line {
        &self.document.lines[self.line as usize]
    }

    fn part(self, from: u32, to: u32) -> Cow<'a, [u8]> {
        let octets = &self.document.bytes[from as usize..to as usize];
        if self.line().folded {
            unfold(octets)
        } else {
            Cow::Borrowed(octets)
        }
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
        &self.document.bytes[self.line().start as usize..self.line().next as usize]
    }

    /// Its parameters in order: names as written, values without their quotes and decoded (RFC 6868).
    #[must_use]
    pub fn parameters(self) -> Vec<Parameter> {
        let text = self.part(self.line().name_end, self.line().colon);
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
        let found = self
            .parameters()
            .into_iter()
            .find(|parameter| parameter.name.eq_ignore_ascii_case(name));
        found.and_then(|parameter| parameter.values.into_iter().next())
    }
}

/// A property parameter (RFC 5545, 3.2).
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Parameter {
    /// As written.
    pub name: String,
    /// At least one; bad UTF-8 becomes U+FFFD.
    pub values: Vec<String>,
}

impl Parameter {
    fn read(text: &[u8]) -> Self {
        let (name, values) = memchr(b'=', text).map_or((text, None), |at| (&text[..at], Some(&text[at + 1..])));
        let values = values.map_or_else(
            || vec![String::new()],
            |values| split_quoted(values, b',').map(decode).collect(),
        );
        Self {
            name: String::from_utf8_lossy(name).into_owned(),
            values,
        }
    }
}

/// Drops the quotes and decodes `^n`, `^^` and `^'` (RFC 6868).
fn decode(value: &[u8]) -> String {
    let value = value.trim_ascii();
    let value = value
        .strip_prefix(b"\"")
        .map_or(value, |rest| rest.strip_suffix(b"\"").unwrap_or(rest));
    let text = String::from_utf8_lossy(value);
    if !text.contains('^') {
        return text.into_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let decoded = match (c, chars.peek()) {
            ('^', Some('n')) => '\n',
            ('^', Some('^')) => '^',
            ('^', Some('\'')) => '"',
            _ => {
                out.push(c);
                continue;
            }
        };
        chars.next();
        out.push(decoded);
    }
    out
}

/// Splits at a separator that does not stand between double quotes.
fn split_quoted(text: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut quoted = false;
        let end = text.iter().position(|byte| {
            quoted ^= *byte == b'"';
            *byte == separator && !quoted
        });
        rest = end.map(|at| &text[at + 1..]);
        Some(end.map_or(text, |at| &text[..at]))
    })
}

fn component_name<'a>(source: &'a [u8], line: &Line) -> Cow<'a, [u8]> {
    let value = &source[line.colon as usize + 1..line.end as usize];
    match unfold(value) {
        Cow::Borrowed(name) => Cow::Borrowed(name.trim_ascii()),
        Cow::Owned(name) => Cow::Owned(name.trim_ascii().to_vec()),
    }
}

/// Reads one content line with its folds. Also tells its physical lines and whether a quote is left open.
fn read_line(source: &[u8], start: usize) -> (Line, usize, bool) {
    let (mut at, mut folded, mut physical) = (start, false, 1);
    let (end, next) = loop {
        let Some(found) = memchr(b'\n', &source[at..]) else {
            break (source.len(), source.len());
        };
        let newline = at + found;
        if matches!(source.get(newline + 1), Some(b' ' | b'\t')) {
            (folded, at) = (true, newline + 1);
            physical += 1;
            continue;
        }
        let end = if newline > start && source[newline - 1] == b'\r' {
            newline - 1
        } else {
            newline
        };
        break (end, newline + 1);
    };
    let line = &source[start..end];
    let (mut name_end, mut colon, mut quoted) = (line.len(), None, false);
    for (at, byte) in line.iter().enumerate() {
        match byte {
            b':' if !quoted => {
                colon = Some(at);
                break;
            }
            b';' if name_end == line.len() => name_end = at,
            b'"' => quoted = !quoted,
            _ => {}
        }
    }
    let unbalanced = colon.is_none() && quoted;
    if unbalanced {
        colon = memchr(b':', line);
    }
    let name_end = name_end.min(colon.unwrap_or(line.len()));
    let kind = match colon {
        None => LineKind::Broken,
        Some(colon) if colon == name_end => match unfold(&line[..name_end]) {
            name if name.eq_ignore_ascii_case(b"BEGIN") => LineKind::Begin,
            name if name.eq_ignore_ascii_case(b"END") => LineKind::End,
            _ => LineKind::Property,
        },
        Some(_) => LineKind::Property,
    };
    let line = Line {
        start: start as u32,
        end: end as u32,
        next: next as u32,
        name_end: (start + name_end) as u32,
        colon: colon.map_or(NONE, |colon| (start + colon) as u32),
        kind,
        folded,
    };
    (line, physical, unbalanced && line.colon != NONE)
}

/// Takes out every line end that is followed by a space or tab, with that character (RFC 5545, 3.1). Works on
/// octets, so a fold inside a UTF-8 sequence is healed.
#[must_use]
pub fn unfold(octets: &[u8]) -> Cow<'_, [u8]> {
    let Some(mut newline) = memchr(b'\n', octets) else {
        return Cow::Borrowed(octets);
    };
    let (mut out, mut from) = (Vec::with_capacity(octets.len()), 0);
    loop {
        let end = if newline > from && octets[newline - 1] == b'\r' {
            newline - 1
        } else {
            newline
        };
        out.extend_from_slice(&octets[from..end]);
        from = (newline + 2).min(octets.len());
        match memchr(b'\n', &octets[from..]) {
            Some(found) => newline = from + found,
            None => break,
        }
    }
    out.extend_from_slice(&octets[from..]);
    Cow::Owned(out)
}

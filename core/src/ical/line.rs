//! Content lines (RFC 5545, section 3.1): where one ends, its folds, its name and its parameters.

use std::borrow::Cow;

use memchr::{memchr, memchr2_iter};

#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) start: u32,
    /// Before the line end.
    pub(super) end: u32,
    /// After the line end.
    pub(super) next: u32,
    pub(super) name_end: u32,
    /// `u32::MAX` if there is none.
    pub(super) colon: u32,
    pub(super) kind: LineKind,
    pub(super) folded: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    Begin,
    End,
    Property,
    Broken,
    /// A property of a component that is nested too deep to be understood.
    Buried,
}

pub(super) const NONE: u32 = u32::MAX;

/// The value of a BEGIN or END line, unfolded and without white space around it.
pub(super) fn component_name<'a>(source: &'a [u8], line: &Line) -> Cow<'a, [u8]> {
    let value = &source[line.colon as usize + 1..line.end as usize];
    match unfolded(value, line.folded) {
        Cow::Borrowed(name) => Cow::Borrowed(name.trim_ascii()),
        Cow::Owned(name) => Cow::Owned(name.trim_ascii().to_vec()),
    }
}

/// Reads one content line with its folds. Also tells its physical lines and whether a quote is left open.
pub(super) fn read_line(source: &[u8], start: usize) -> (Line, usize, bool) {
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
    let (name_end, colon, unbalanced) = split(line);
    let kind = match colon {
        None => LineKind::Broken,
        Some(colon) if colon == name_end => match unfolded(&line[..name_end], folded) {
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

/// Where the name of a line and the colon before its value are, and whether a quote is left open. The first colon
/// outside of quotes counts, or the first of all if a quote is left open.
fn split(line: &[u8]) -> (usize, Option<usize>, bool) {
    let head = line.iter().position(|octet| matches!(octet, b':' | b';' | b'"'));
    let head = head.unwrap_or(line.len());
    if line.get(head) == Some(&b':') {
        return (head, Some(head), false);
    }
    let (mut colon, mut quoted) = (None, false);
    for at in memchr2_iter(b':', b'"', &line[head..]) {
        if line[head + at] == b'"' {
            quoted = !quoted;
        } else if !quoted {
            colon = Some(head + at);
            break;
        }
    }
    let unbalanced = colon.is_none() && quoted;
    if unbalanced {
        colon = memchr(b':', line);
    }
    let name_end = memchr(b';', &line[head..]).map_or(line.len(), |at| head + at);
    (name_end.min(colon.unwrap_or(line.len())), colon, unbalanced)
}

/// [`unfold`], where it is known whether there are folds.
pub(super) fn unfolded(octets: &[u8], folded: bool) -> Cow<'_, [u8]> {
    if folded { unfold(octets) } else { Cow::Borrowed(octets) }
}

/// Takes out every line end that is followed by a space or tab, with that character (RFC 5545, 3.1). Works on
/// octets, so a fold inside a UTF-8 sequence is healed.
#[must_use]
pub fn unfold(octets: &[u8]) -> Cow<'_, [u8]> {
    let (mut out, mut from, mut at) = (Vec::new(), 0, 0);
    while let Some(found) = memchr(b'\n', &octets[at..]) {
        let newline = at + found;
        at = newline + 1;
        if !matches!(octets.get(at), Some(b' ' | b'\t')) {
            continue;
        }
        let end = if newline > from && octets[newline - 1] == b'\r' {
            newline - 1
        } else {
            newline
        };
        out.extend_from_slice(&octets[from..end]);
        at += 1;
        from = at;
    }
    if from == 0 {
        return Cow::Borrowed(octets);
    }
    out.extend_from_slice(&octets[from..]);
    Cow::Owned(out)
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
    pub(super) fn read(text: &[u8]) -> Self {
        let (name, values) = memchr(b'=', text).map_or((text, None), |at| (&text[..at], Some(&text[at + 1..])));
        let values = values.map_or_else(
            || vec![String::new()],
            |values| split_quoted(values, b',').map(decode).collect(),
        );
        Self {
            name: String::from_utf8_lossy(name.trim_ascii()).into_owned(),
            values,
        }
    }
}

/// Drops the quotes and decodes `^n`, `^^` and `^'` (RFC 6868).
pub(super) fn decode(value: &[u8]) -> String {
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
pub(super) fn split_quoted(text: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let plain = memchr(b'"', text).is_none();
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut quoted = false;
        let end = if plain {
            memchr(separator, text)
        } else {
            text.iter().position(|byte| {
                quoted ^= *byte == b'"';
                *byte == separator && !quoted
            })
        };
        rest = end.map(|at| &text[at + 1..]);
        Some(end.map_or(text, |at| &text[..at]))
    })
}

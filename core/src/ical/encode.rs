//! Content lines and components to be written: encoded, folded, and safe (RFC 5545, 3.1; RFC 6868).
//!
//! [`ContentLine`] is the only way to make a line. It refuses names that are no tokens and control characters, so no
//! value that a caller supplies can make a line of its own.

use std::borrow::Cow;
use std::fmt;

use super::document::{Parameter, Property};
use super::line::split_quoted;

/// The most octets of a physical line, without its line end.
const WIDTH: usize = 75;

/// How lines end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// As RFC 5545 asks for.
    CrLf,
    /// As many files have it.
    Lf,
}

impl LineEnd {
    /// Its octets.
    #[must_use]
    pub fn octets(self) -> &'static [u8] {
        match self {
            Self::CrLf => b"\r\n",
            Self::Lf => b"\n",
        }
    }
}

/// Why something cannot be written as a content line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwritable {
    /// The name of a property, parameter or component is no token: letters, digits and hyphens; or it is BEGIN or END.
    Name,
    /// A parameter has no value, or one with a control character.
    Parameter,
    /// The value has a control character, which TEXT cannot express and no other type allows.
    Value,
}

impl fmt::Display for Unwritable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Name => "a name may have letters, digits and hyphens only",
            Self::Parameter => "a parameter needs a value, without control characters",
            Self::Value => "the value has a control character",
        })
    }
}

impl std::error::Error for Unwritable {}

/// One content line, encoded, not yet folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentLine(Vec<u8>);

impl ContentLine {
    /// A line whose value is already in the syntax of its type.
    ///
    /// # Errors
    /// [`Unwritable`].
    pub fn new(name: &str, parameters: &[Parameter], value: &str) -> Result<Self, Unwritable> {
        if !is_token(name) {
            return Err(Unwritable::Name);
        }
        let mut line = name.as_bytes().to_vec();
        for parameter in parameters {
            push_parameter(&mut line, parameter)?;
        }
        Self::finish(line, value)
    }

    /// A line with a TEXT value, which is encoded here.
    ///
    /// # Errors
    /// [`Unwritable`].
    pub fn text(name: &str, parameters: &[Parameter], text: &str) -> Result<Self, Unwritable> {
        Self::new(name, parameters, &escape_text(text))
    }

    /// The line of a stored property with another value and other values of some parameters: those in `replaced` are
    /// taken out and written anew; the others and the name stay as they are stored.
    ///
    /// # Errors
    /// [`Unwritable`].
    pub fn like(
        property: Property<'_>,
        replaced: &[&str],
        parameters: &[Parameter],
        value: &str,
    ) -> Result<Self, Unwritable> {
        let mut line = property.name().into_owned();
        let stored = property.raw_parameters();
        for part in split_quoted(&stored, b';').filter(|part| !part.is_empty()) {
            let name = part[..memchr::memchr(b'=', part).unwrap_or(part.len())].trim_ascii();
            if !replaced.iter().any(|other| name.eq_ignore_ascii_case(other.as_bytes())) {
                line.push(b';');
                line.extend_from_slice(part);
            }
        }
        for parameter in parameters {
            push_parameter(&mut line, parameter)?;
        }
        if line.iter().filter(|octet| **octet == b'"').count() % 2 == 1 {
            return Err(Unwritable::Parameter);
        }
        Self::finish(line, value)
    }

    fn finish(mut line: Vec<u8>, value: &str) -> Result<Self, Unwritable> {
        if [&b"BEGIN"[..], b"END"]
            .iter()
            .any(|edge| line.eq_ignore_ascii_case(edge))
        {
            return Err(Unwritable::Name);
        }
        if value.chars().any(|c| c.is_control() && c != '\t') {
            return Err(Unwritable::Value);
        }
        line.push(b':');
        line.extend_from_slice(value.as_bytes());
        Ok(Self(line))
    }

    /// The line without folds and line end.
    #[must_use]
    pub fn octets(&self) -> &[u8] {
        &self.0
    }

    /// Writes it folded, with its line end.
    pub fn write(&self, end: LineEnd, out: &mut Vec<u8>) {
        fold(&self.0, 0, end, out);
        out.extend_from_slice(end.octets());
    }
}

/// A component to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewComponent {
    name: String,
    /// Its properties, in order.
    pub lines: Vec<ContentLine>,
    /// The components inside, after the properties.
    pub components: Vec<Self>,
}

impl NewComponent {
    /// An empty one.
    ///
    /// # Errors
    /// [`Unwritable::Name`].
    pub fn new(name: &str) -> Result<Self, Unwritable> {
        let name = is_token(name).then(|| name.to_owned()).ok_or(Unwritable::Name)?;
        Ok(Self {
            name,
            lines: Vec::new(),
            components: Vec::new(),
        })
    }

    /// Writes it from its BEGIN through its END line.
    pub fn write(&self, end: LineEnd, out: &mut Vec<u8>) {
        let edge = |word: &[u8], out: &mut Vec<u8>| {
            fold(&[word, self.name.as_bytes()].concat(), 0, end, out);
            out.extend_from_slice(end.octets());
        };
        edge(b"BEGIN:", out);
        self.lines.iter().for_each(|line| line.write(end, out));
        self.components.iter().for_each(|inner| inner.write(end, out));
        edge(b"END:", out);
    }
}

/// Folds octets that begin in this column, without a line end after them: at 75 octets, never inside of a UTF-8
/// sequence.
pub(super) fn fold(mut octets: &[u8], mut column: usize, end: LineEnd, out: &mut Vec<u8>) {
    while column + octets.len() > WIDTH {
        let mut cut = WIDTH.saturating_sub(column).min(octets.len());
        // A sequence has at most three continuation octets; more are no UTF-8, and may be cut anywhere.
        let back = (0..4.min(cut + 1)).find(|back| octets.get(cut - back).is_none_or(|octet| octet & 0xC0 != 0x80));
        cut -= back.unwrap_or(0);
        out.extend_from_slice(&octets[..cut]);
        out.extend_from_slice(end.octets());
        out.push(b' ');
        (octets, column) = (&octets[cut..], 1);
    }
    out.extend_from_slice(octets);
}

/// A name of RFC 5545, 3.1: letters, digits and hyphens.
pub(super) fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|octet| octet.is_ascii_alphanumeric() || octet == b'-')
}

fn push_parameter(line: &mut Vec<u8>, parameter: &Parameter) -> Result<(), Unwritable> {
    if !is_token(&parameter.name) {
        return Err(Unwritable::Name);
    }
    if parameter.values.is_empty() {
        return Err(Unwritable::Parameter);
    }
    line.push(b';');
    line.extend_from_slice(parameter.name.as_bytes());
    for (at, value) in parameter.values.iter().enumerate() {
        line.push(if at == 0 { b'=' } else { b',' });
        let value = value.replace("\r\n", "\n");
        if value.chars().any(|c| c.is_control() && c != '\t' && c != '\n') {
            return Err(Unwritable::Parameter);
        }
        let blank = value.starts_with([' ', '\t']) || value.ends_with([' ', '\t']);
        let quoted = blank || value.contains([':', ';', ',']);
        let encoded = value.replace('^', "^^").replace('\n', "^n").replace('"', "^'");
        let quote: &[u8] = if quoted { b"\"" } else { b"" };
        line.extend_from_slice(&[quote, encoded.as_bytes(), quote].concat());
    }
    Ok(())
}

/// Encodes TEXT (RFC 5545, 3.3.11): backslash, semicolon, comma, and line ends, which all become `\n`.
#[must_use]
pub fn escape_text(text: &str) -> Cow<'_, str> {
    if !text.contains(['\\', ';', ',', '\n', '\r']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' | ';' | ',' => out.extend(['\\', c]),
            '\r' => {
                chars.next_if_eq(&'\n');
                out.push_str("\\n");
            }
            '\n' => out.push_str("\\n"),
            _ => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// The values of a comma list of TEXT, encoded.
#[must_use]
pub fn escape_list(values: &[String]) -> String {
    let values: Vec<_> = values.iter().map(|value| escape_text(value)).collect();
    values.join(",")
}

#[cfg(test)]
mod tests;

//! Encodings, characters and references (XML 1.0, 2.2, 3.3.3, 4.1 and 4.3.3).

use std::borrow::Cow;

use crate::dav::xml::XmlFault;

/// The body as text, if it is UTF-8 (a byte order mark is dropped) and every character is one that XML allows.
pub(super) fn decoded<'a>(body: &'a [u8], charset: Option<&str>) -> Result<&'a str, XmlFault> {
    if body.starts_with(&[0xFE, 0xFF]) || body.starts_with(&[0xFF, 0xFE]) || body[..body.len().min(2)].contains(&0) {
        return Err(XmlFault::Encoding("UTF-16".into()));
    }
    let body = body.strip_prefix(&[0xEF, 0xBB, 0xBF]).unwrap_or(body);
    let declared = declared_encoding(body);
    let other = |name: Option<&str>| name.filter(|name| !is_utf8_name(name)).map(printable);
    let Ok(text) = std::str::from_utf8(body) else {
        return Err(other(declared.or(charset)).map_or(XmlFault::NotUtf8, XmlFault::Encoding));
    };
    // What the document itself declares is judged where the reader meets it.
    if let Some(name) = other(charset).filter(|_| declared.is_none() && !text.is_ascii()) {
        return Err(XmlFault::Encoding(name));
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

pub(super) fn encoding_is_utf8(declaration: &quick_xml::events::BytesDecl<'_>) -> Result<(), XmlFault> {
    match declaration.encoding() {
        None => Ok(()),
        Some(Ok(name)) if is_utf8_name(&name) => Ok(()),
        Some(Ok(name)) => Err(XmlFault::Encoding(printable(&name))),
        Some(Err(_)) => Err(XmlFault::Malformed),
    }
}

/// What a reference stands for.
pub(super) fn referred(name: &str) -> Result<Cow<'static, str>, XmlFault> {
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

/// The text of an element without markup: references resolved, line ends normalised (XML 1.0, 2.11). `None` if a
/// reference is broken.
pub(in crate::dav) fn resolved(raw: &str) -> Option<Cow<'_, str>> {
    let special = |from: usize| memchr::memchr2(b'&', b'\r', &raw.as_bytes()[from..]).map(|at| from + at);
    let Some(mut at) = special(0) else {
        return Some(Cow::Borrowed(raw));
    };
    let (mut out, mut from) = (String::with_capacity(raw.len()), 0);
    loop {
        out.push_str(&raw[from..at]);
        let rest = &raw[at + 1..];
        if raw.as_bytes()[at] == b'\r' {
            out.push('\n');
            from = at + 1 + usize::from(rest.starts_with('\n'));
        } else {
            let (name, _) = rest.split_once(';').filter(|(name, _)| !name.contains('&'))?;
            out.push_str(&referred(name).ok()?);
            from = at + name.len() + 2;
        }
        match special(from) {
            Some(next) => at = next,
            None => break,
        }
    }
    out.push_str(&raw[from..]);
    Some(Cow::Owned(out))
}

/// Whether XML 1.0, 2.2, allows the character.
pub(super) fn is_xml_char(c: char) -> bool {
    !matches!(c, '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

/// An attribute value: white space to spaces, references resolved (XML 1.0, 3.3.3).
pub(super) fn unescaped(value: &str) -> Result<String, XmlFault> {
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

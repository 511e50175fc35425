//! Strict reading of one JSON text: as `serde_json` does, and noting duplicate members and invalid Unicode
//! instead of taking the last member or refusing the whole.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Stands where octets are no UTF-8 or an escape is half a surrogate pair. Noncharacters (Unicode 23.7), which no
/// text that people write contains.
const INVALID: &str = "\u{fdd0}\u{fdd1}\u{fdd0}";

/// Deeper values are refused, as `serde_json` does.
const MAX_FAULTS: usize = 32;

/// What is wrong with a value that could still be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// A member name stands twice in one object; the last one counts.
    DuplicateMember,
    /// A string holds what is no Unicode text.
    InvalidUnicode,
}

/// A value with its flaws, each with its RFC 6901 pointer.
#[derive(Debug, PartialEq)]
pub(crate) struct Strict {
    /// The value, with replacement characters where the text was invalid.
    pub(crate) value: Value,
    /// At most 32, in document order.
    pub(crate) flaws: Vec<(String, Flaw)>,
}

/// Reads a text.
///
/// # Errors
/// What `serde_json` says of a text that is no JSON even with its invalid characters replaced.
pub(crate) fn read(text: &[u8]) -> Result<Strict, serde_json::Error> {
    match parse(text) {
        Ok(strict) => Ok(strict),
        Err(error) => {
            let repaired = repair(text);
            if repaired == text {
                return Err(error);
            }
            let mut strict = parse(&repaired)?;
            find_invalid(&mut strict.value, &mut String::new(), &mut strict.flaws);
            Ok(strict)
        }
    }
}

/// Appends one reference token to an RFC 6901 pointer.
pub(crate) fn push_token(pointer: &mut String, token: &str) {
    pointer.push('/');
    for character in token.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

fn parse(text: &[u8]) -> Result<Strict, serde_json::Error> {
    let mut flaws = Vec::new();
    let mut pointer = String::new();
    let mut reader = serde_json::Deserializer::from_slice(text);
    let seed = Seed {
        pointer: &mut pointer,
        flaws: &mut flaws,
    };
    let value = seed.deserialize(&mut reader)?;
    reader.end()?;
    Ok(Strict { value, flaws })
}

struct Seed<'a> {
    pointer: &'a mut String,
    flaws: &'a mut Vec<(String, Flaw)>,
}

impl Seed<'_> {
    /// Runs with one more token in the pointer.
    fn below<T>(&mut self, token: &str, run: impl FnOnce(Seed<'_>) -> T) -> T {
        let length = self.pointer.len();
        push_token(self.pointer, token);
        let out = run(Seed {
            pointer: self.pointer,
            flaws: self.flaws,
        });
        self.pointer.truncate(length);
        out
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("not a finite number"))?;
        Ok(Value::Number(number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Value, A::Error> {
        let mut out = Vec::new();
        loop {
            let token = out.len().to_string();
            match self.below(&token, |seed| items.next_element_seed(seed))? {
                Some(item) => out.push(item),
                None => return Ok(Value::Array(out)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Value, A::Error> {
        let mut out = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = self.below(&name, |seed| {
                if out.contains_key(&name) && seed.flaws.len() < MAX_FAULTS {
                    seed.flaws.push((seed.pointer.clone(), Flaw::DuplicateMember));
                }
                members.next_value_seed(seed)
            });
            out.insert(name, value.map_err(A::Error::custom)?);
        }
        Ok(Value::Object(out))
    }
}

/// Replaces octets that are no UTF-8 and escapes of lone surrogates by [`INVALID`]; leaves all else.
fn repair(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        repair_escapes(chunk.valid().as_bytes(), &mut out);
        if !chunk.invalid().is_empty() {
            out.extend_from_slice(INVALID.as_bytes());
        }
    }
    out
}

fn repair_escapes(text: &[u8], out: &mut Vec<u8>) {
    let unit = |at: usize| -> Option<u32> {
        let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut at = 0;
    while at < text.len() {
        let length = match (unit(at), unit(at + 6)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => 12,
            (Some(0xd800..0xe000), _) => {
                out.extend_from_slice(INVALID.as_bytes());
                at += 6;
                continue;
            }
            (Some(_), _) => 6,
            // Any other escape is two octets; so the second backslash of `\\` begins none.
            (None, _) => 1 + usize::from(text[at] == b'\\' && at + 1 < text.len()),
        };
        out.extend_from_slice(&text[at..at + length]);
        at += length;
    }
}

/// Notes and replaces what [`repair`] marked.
fn find_invalid(value: &mut Value, pointer: &mut String, flaws: &mut Vec<(String, Flaw)>) {
    let length = pointer.len();
    match value {
        Value::String(text) if text.contains(INVALID) => {
            *text = text.replace(INVALID, "\u{fffd}");
            if flaws.len() < MAX_FAULTS {
                flaws.push((pointer.clone(), Flaw::InvalidUnicode));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                push_token(pointer, &index.to_string());
                find_invalid(item, pointer, flaws);
                pointer.truncate(length);
            }
        }
        Value::Object(members) => {
            let marked: Vec<String> = members.keys().filter(|name| name.contains(INVALID)).cloned().collect();
            for name in marked {
                let plain = name.replace(INVALID, "\u{fffd}");
                push_token(pointer, &plain);
                flaws.push((pointer.clone(), Flaw::InvalidUnicode));
                pointer.truncate(length);
                let item = members.remove(&name).unwrap_or_default();
                members.insert(plain, item);
            }
            for (name, item) in members.iter_mut() {
                push_token(pointer, name);
                find_invalid(item, pointer, flaws);
                pointer.truncate(length);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn flaws(text: &[u8]) -> Vec<(String, Flaw)> {
        read(text).unwrap().flaws
    }

    #[test]
    fn a_good_text_reads_as_serde_json_reads_it() {
        let text = r#" {"a":[1,-2,3.5,1e400e,null]} "#;
        assert!(read(text.as_bytes()).is_err());
        let text = r#" {"a":[1,-2,3.5,18446744073709551616,null,true,"\ud83d\ude00é\\u12"],"b":{"":{}}} "#;
        let strict = read(text.as_bytes()).unwrap();
        assert_eq!(strict.value, serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(strict.flaws, []);
        for text in ["", "{", "[1,]", "{} {}", "nul", "\"\\x\""] {
            assert!(read(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn duplicate_members_are_noted_where_they_stand() {
        let text = br#"{"x":1,"a/b":{"c":[{"d":1,"d":2,"d":3}]},"x":2}"#;
        let expected = [
            ("/a~1b/c/0/d".to_owned(), Flaw::DuplicateMember),
            ("/a~1b/c/0/d".to_owned(), Flaw::DuplicateMember),
            ("/x".to_owned(), Flaw::DuplicateMember),
        ];
        assert_eq!(flaws(text), expected);
        assert_eq!(flaws(br#"{"a":1,"\u0061":2}"#).len(), 1);
    }

    #[test]
    fn invalid_unicode_is_noted_and_replaced() {
        let strict = read(b"{\"a\":[\"x\xffy\",\"\\ud800z\",\"\\\\ud800\"],\"\\udc00\":1}").unwrap();
        assert_eq!(
            strict.value,
            json!({"a": ["x\u{fffd}y", "\u{fffd}z", "\\ud800"], "\u{fffd}": 1})
        );
        let expected = [
            ("/\u{fffd}".to_owned(), Flaw::InvalidUnicode),
            ("/a/0".to_owned(), Flaw::InvalidUnicode),
            ("/a/1".to_owned(), Flaw::InvalidUnicode),
        ];
        assert_eq!(strict.flaws, expected);
    }

    #[test]
    fn depth_and_faults_are_bounded() {
        let deep = [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
        assert!(read(&deep).is_err());
        let many = format!("{{{}\"a\":0}}", "\"a\":0,".repeat(1000));
        assert_eq!(flaws(many.as_bytes()).len(), MAX_FAULTS);
    }
}

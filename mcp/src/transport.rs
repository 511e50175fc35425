//! The stdio transport: one JSON-RPC message a line, every line answered or rightly ignored.
//!
//! | line | what happens |
//! |---|---|
//! | no JSON | −32700, without an id |
//! | longer than [`MAX_LINE`] | −32600, without an id; the rest of the line is skipped |
//! | a batch, or no JSON-RPC message | −32600, with the id where one can be read |
//! | `params` or `_meta` that is no object | −32602 |
//! | a request that names no revision while no `initialize` was seen | −32602 |
//! | a notification or response that nobody waits for | ignored |
//!
//! This module knows lines and JSON only; the server makes protocol types of what is accepted.

use std::collections::VecDeque;
use std::io;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::json::{self, Flaw};

/// The longest line, in bytes: the largest exact write of the contract, escaped, with room to spare.
pub(crate) const MAX_LINE: usize = 32 << 20;

const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// JSON-RPC 2.0, section 5.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Parse = -32700,
    InvalidRequest = -32600,
    InvalidParams = -32602,
}

/// What to do with a line.
#[derive(Debug, PartialEq)]
pub(crate) enum Accepted {
    /// A message for the server. Flaws are those below `/params/arguments`, with pointers into the arguments.
    Message { value: Value, flaws: Vec<(String, Flaw)> },
    /// An error to answer with.
    Reject {
        /// A string or an integer, if one could be read.
        id: Option<Value>,
        code: Refusal,
        text: String,
    },
    /// Nothing.
    Ignore,
}

/// Judges lines in their order.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    initialized: bool,
}

impl Gate {
    /// Judges one line, without its line end.
    pub(crate) fn accept(&mut self, line: &[u8]) -> Accepted {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Accepted::Ignore;
        }
        let strict = match json::read(line) {
            Ok(strict) => strict,
            // The error names the place and never repeats the text.
            Err(error) => return reject(None, Refusal::Parse, format!("Parse error: {error}")),
        };
        let Value::Object(message) = &strict.value else {
            let text = "Invalid Request: one JSON-RPC object per line; batches are not supported";
            return reject(None, Refusal::InvalidRequest, text);
        };
        let id = message
            .get("id")
            .filter(|id| id.is_string() || id.as_i64().is_some())
            .cloned();
        let Some(Value::String(method)) = message.get("method") else {
            let is_response = message.contains_key("result") || message.contains_key("error");
            return if is_response && !message.contains_key("method") {
                self.pass(strict)
            } else {
                reject(
                    id,
                    Refusal::InvalidRequest,
                    "Invalid Request: method is missing or no string",
                )
            };
        };
        if !message.contains_key("id") {
            // A notification is never answered, whatever is wrong with it.
            return self.pass(strict);
        }
        if id.is_none() {
            return reject(
                None,
                Refusal::InvalidRequest,
                "Invalid Request: id must be a string or an integer",
            );
        }
        if message.get("jsonrpc") != Some(&Value::String("2.0".into())) {
            return reject(id, Refusal::InvalidRequest, "Invalid Request: jsonrpc must be \"2.0\"");
        }
        let params = message.get("params").filter(|params| !params.is_null());
        if params.is_some_and(|params| !params.is_object()) {
            return reject(id, Refusal::InvalidParams, "Invalid params: params must be an object");
        }
        let meta = params
            .and_then(|params| params.get("_meta"))
            .filter(|meta| !meta.is_null());
        if meta.is_some_and(|meta| !meta.is_object()) {
            return reject(id, Refusal::InvalidParams, "Invalid params: _meta must be an object");
        }
        match method.as_str() {
            "initialize" => self.initialized = true,
            "ping" | "server/discover" => {}
            _ if self.initialized || meta.is_some_and(|meta| meta.get(PROTOCOL_VERSION).is_some()) => {}
            _ => {
                let text = format!(
                    "Invalid params: send initialize first, or _meta[\"{PROTOCOL_VERSION}\"] with each request"
                );
                return reject(id, Refusal::InvalidParams, text);
            }
        }
        self.pass(strict)
    }

    fn pass(&self, strict: json::Strict) -> Accepted {
        let prefix = "/params/arguments";
        let (inside, outside): (Vec<_>, Vec<_>) = strict
            .flaws
            .into_iter()
            .partition(|(pointer, _)| pointer.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/')));
        if !outside.is_empty() {
            return match strict.value.get("id").cloned() {
                Some(id) if strict.value.get("method").is_some() => {
                    let (pointer, flaw) = &outside[0];
                    let what = match flaw {
                        Flaw::DuplicateMember => "a duplicate member",
                        Flaw::InvalidUnicode => "invalid Unicode",
                    };
                    reject(
                        Some(id),
                        Refusal::InvalidRequest,
                        format!("Invalid Request: {what} at {pointer}"),
                    )
                }
                _ => Accepted::Ignore,
            };
        }
        let flaws = inside
            .into_iter()
            .map(|(pointer, flaw)| (pointer[prefix.len()..].to_owned(), flaw))
            .collect();
        Accepted::Message {
            value: strict.value,
            flaws,
        }
    }
}

fn reject(id: Option<Value>, code: Refusal, text: impl Into<String>) -> Accepted {
    Accepted::Reject {
        id,
        code,
        text: text.into(),
    }
}

/// One line of the input, or what there is instead.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line without its line end.
    Text(Vec<u8>),
    /// A line that was longer than [`MAX_LINE`] and is skipped.
    TooLong,
    /// The input ended.
    End,
}

/// Splits the input into lines. [`Self::next`] may be dropped at any await: nothing that was read is lost.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: R,
    chunk: Box<[u8]>,
    line: Vec<u8>,
    skipping: bool,
    ready: VecDeque<Line>,
    max: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(input: R, max: usize) -> Self {
        Self {
            input,
            chunk: vec![0; 64 << 10].into_boxed_slice(),
            line: Vec::new(),
            skipping: false,
            ready: VecDeque::new(),
            max,
        }
    }

    /// The next line. A last line without a line end counts.
    pub(crate) async fn next(&mut self) -> io::Result<Line> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Ok(line);
            }
            let count = self.input.read(&mut self.chunk).await?;
            if count == 0 {
                let rest = std::mem::take(&mut self.line);
                let rest = if rest.is_empty() { Line::End } else { Line::Text(rest) };
                return Ok(rest);
            }
            self.split(count);
        }
    }

    fn split(&mut self, count: usize) {
        let mut rest = &self.chunk[..count];
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            if !std::mem::take(&mut self.skipping) {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(&rest[..end]);
                if line.len() > self.max {
                    self.ready.push_back(Line::TooLong);
                } else {
                    self.ready.push_back(Line::Text(line));
                }
            }
            rest = &rest[end + 1..];
        }
        if self.skipping {
            return;
        }
        self.line.extend_from_slice(rest);
        if self.line.len() > self.max {
            self.line = Vec::new();
            self.skipping = true;
            self.ready.push_back(Line::TooLong);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(gate: &mut Gate, line: &str) -> (Option<Value>, Refusal) {
        let Accepted::Reject { id, code, .. } = gate.accept(line.as_bytes()) else {
            panic!("{line} is accepted");
        };
        (id, code)
    }

    #[test]
    fn what_is_no_message_is_answered_with_the_right_code() {
        let mut gate = Gate::default();
        for (line, id, code) in [
            ("{", None, Refusal::Parse),
            ("\u{feff}{}", None, Refusal::Parse),
            ("[]", None, Refusal::InvalidRequest),
            ("5", None, Refusal::InvalidRequest),
            (r#"{"id":1}"#, Some(json!(1)), Refusal::InvalidRequest),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
                None,
                Refusal::InvalidRequest,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
                None,
                Refusal::InvalidRequest,
            ),
            (
                r#"{"id":"a","method":"ping"}"#,
                Some(json!("a")),
                Refusal::InvalidRequest,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":5}"#,
                Some(json!(1)),
                Refusal::InvalidRequest,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}"#,
                Some(json!(1)),
                Refusal::InvalidRequest,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
                Some(json!(1)),
                Refusal::InvalidParams,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":[]}}"#,
                Some(json!(1)),
                Refusal::InvalidParams,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
                Some(json!(1)),
                Refusal::InvalidParams,
            ),
        ] {
            assert_eq!(refused(&mut gate, line), (id, code), "{line}");
        }
    }

    #[test]
    fn requests_pass_once_their_revision_is_known() {
        let passes = |gate: &mut Gate, line: &str| matches!(gate.accept(line.as_bytes()), Accepted::Message { .. });
        let mut gate = Gate::default();
        assert!(passes(
            &mut gate,
            r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#
        ));
        assert!(passes(
            &mut gate,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#
        ));
        assert!(passes(
            &mut gate,
            r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{}}"#
        ));
        assert!(passes(&mut gate, r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#));
        assert!(passes(
            &mut gate,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#
        ));
        assert!(passes(&mut gate, r#"{"jsonrpc":"2.0","id":3,"result":{}}"#));
        assert_eq!(gate.accept(b" \r"), Accepted::Ignore);
    }

    #[test]
    fn flaws_of_the_arguments_travel_with_the_message() {
        let mut gate = Gate { initialized: true };
        let line = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":1,"a":2}}}"#;
        let Accepted::Message { flaws, .. } = gate.accept(line) else {
            panic!("the message passes")
        };
        assert_eq!(flaws, [("/a".to_owned(), Flaw::DuplicateMember)]);
    }

    #[test]
    fn lines_are_cut_bounded_and_complete_at_the_end() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut lines = Lines::new(&b"ab\n\ntoo long\nlong"[..], 4);
        let mut seen = Vec::new();
        runtime.block_on(async {
            loop {
                seen.push(lines.next().await.unwrap());
                if seen.last() == Some(&Line::End) {
                    break;
                }
            }
        });
        let text = |text: &str| Line::Text(text.into());
        assert_eq!(seen, [text("ab"), text(""), Line::TooLong, text("long"), Line::End]);
    }
}

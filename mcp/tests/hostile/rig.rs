//! A CalDAV server that misbehaves until it is healed, and the real binary with all that it says.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use kalends_local::Local;
use kalends_tests::conformance::{Seen, Server, Then, Wire};
pub(crate) use kalends_tests::gate::honest;
use serde_json::{Value, json};

use crate::client;

/// What must not come out of the process: the password, and what carries it.
pub(crate) const PASSWORD: &str = "correct-horse-battery";
/// `ana:correct-horse-battery` in base64 (RFC 7617).
pub(crate) const BASIC: &str = "YW5hOmNvcnJlY3QtaG9yc2UtYmF0dGVyeQ==";

/// Both tools that ask the network without an href, with their arguments.
pub(crate) fn tools() -> [(&'static str, Value); 2] {
    let query = client::window("2026-12-01T00:00:00Z", "2026-12-08T00:00:00Z");
    [("calendars_list", json!({})), ("calendar_occurrences_query", query)]
}

/// A server whose answers are wrong while it is ill.
pub(crate) struct Hostile {
    pub(crate) server: Server,
    healed: Arc<AtomicBool>,
}

impl Hostile {
    /// Answers like this until it is healed.
    pub(crate) fn new(ill: impl Fn(&Seen, &mut dyn Wire) -> io::Result<Then> + Send + Sync + 'static) -> Self {
        Self::over(Ok, ill)
    }

    /// The same over TLS, or whatever else makes a stream of a connection.
    pub(crate) fn over<W: Wire>(
        wrap: impl Fn(std::net::TcpStream) -> io::Result<W> + Send + Sync + 'static,
        ill: impl Fn(&Seen, &mut dyn Wire) -> io::Result<Then> + Send + Sync + 'static,
    ) -> Self {
        let healed = Arc::new(AtomicBool::new(false));
        let (local, is_healed) = (account(), Arc::clone(&healed));
        let server = Server::over(wrap, move |seen, wire| {
            if is_healed.load(Ordering::SeqCst) {
                honest(&local, seen, wire)
            } else {
                ill(seen, wire)
            }
        });
        Self { server, healed }
    }

    pub(crate) fn heal(&self) {
        self.healed.store(true, Ordering::SeqCst);
    }

    pub(crate) fn url(&self) -> String {
        self.server.uri("/")
    }
}

/// One event in each of three Calendars.
pub(crate) fn account() -> Local {
    ["work", "home", "club"].iter().fold(Local::memory(), |local, name| {
        local
            .with_calendar(name, name)
            .put(&format!("{name}/daily.ics"), client::DAILY)
    })
}

/// The binary on its pipes. Keeps every line and the whole of standard error.
pub(crate) struct Kalends {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    said: String,
    errors: Option<JoinHandle<String>>,
    asked: u64,
    canceled: u64,
}

impl Drop for Kalends {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Kalends {
    /// A server for this URL that has said hello. Whoever wants logs asks for all of them.
    pub(crate) fn at(url: &str, more: &[(&str, &str)]) -> Self {
        let usual = [
            ("CALDAV_URL", url),
            ("CALDAV_USERNAME", "ana"),
            ("CALDAV_PASSWORD", PASSWORD),
            ("CALDAV_EVALUATION_TIME_ZONE", "UTC"),
            ("RUST_LOG", "trace"),
            ("RUST_BACKTRACE", "full"),
        ];
        let mut child = client::command(&[&usual[..], more].concat())
            .spawn()
            .expect("the binary starts");
        let mut stderr = child.stderr.take().expect("piped");
        let errors = thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).expect("UTF-8");
            text
        });
        let mut kalends = Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().expect("piped")),
            child,
            said: String::new(),
            errors: Some(errors),
            asked: 0,
            canceled: 0,
        };
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}});
        kalends.ask("initialize", &hello);
        kalends.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        kalends
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().expect("open"), "{message}").expect("the server reads");
    }

    /// Sends a request and does not wait for its answer.
    fn request(&mut self, method: &str, params: &Value) -> u64 {
        self.asked += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params}));
        self.asked
    }

    /// The result of a request. Its answer must be the next message.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params);
        let mut line = String::new();
        self.output.read_line(&mut line).expect("UTF-8");
        self.said += &line;
        let mut message: Value = serde_json::from_str(&line).expect("nothing but JSON comes out");
        assert_eq!(message["id"], id, "{message}");
        message["result"].take()
    }

    /// Sends a call, and takes it back as soon as `ready` returns.
    pub(crate) fn cancel(&mut self, tool: &str, arguments: &Value, ready: impl FnOnce()) {
        let id = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        ready();
        self.canceled += 1;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    }

    /// Sends a call whose answer nobody waits for.
    pub(crate) fn abandon(&mut self, tool: &str, arguments: &Value) {
        self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        self.canceled += 1;
    }

    /// The structured content of a call, which its text must agree with.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> (bool, Value) {
        let mut result = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        let text = result["content"][0]["text"].as_str().expect("a text block");
        let parsed: Value = serde_json::from_str(text).expect("the text is JSON");
        assert_eq!(parsed, result["structuredContent"]);
        (result["isError"] == true, result["structuredContent"].take())
    }

    /// One call that must fail like this, with these words in its message.
    pub(crate) fn fails(&mut self, tool: &str, arguments: &Value, code: &str, words: &[&str]) -> Value {
        let (is_error, error) = self.call(tool, arguments);
        assert!(is_error, "{tool}: {error}");
        assert!(error.get("outcome").is_none(), "{error}");
        assert_eq!(error["code"], code, "{tool}: {error}");
        let (category, retryable) = match code {
            "upstream_unavailable" | "upstream_rate_limited" => ("upstream", true),
            "not_found" => ("selection", false),
            "limit_exhausted" => ("limitsAndAdmission", false),
            "unsupported_capability" => ("capabilityAndProjection", false),
            "sync_reset_required" => ("state", false),
            _ => ("upstream", false),
        };
        assert_eq!(
            (&error["category"], &error["retryable"]),
            (&json!(category), &json!(retryable))
        );
        assert!(error["phase"].is_string(), "{error}");
        let message = error["message"].as_str().expect("a message");
        for word in words {
            assert!(message.contains(word), "{tool}: {message:?} lacks {word:?}");
        }
        error
    }

    /// Both tools must fail like this.
    pub(crate) fn both_fail(&mut self, code: &str, words: &[&str]) {
        for (tool, arguments) in tools() {
            self.fails(tool, &arguments, code, words);
        }
    }

    /// Both tools must succeed, against the account of [`account`].
    pub(crate) fn both_work(&mut self) {
        for ((tool, arguments), count) in tools().into_iter().zip([3, 21]) {
            let (is_error, content) = self.call(tool, &arguments);
            assert!(!is_error, "{tool}: {content}");
            assert_eq!(content["items"].as_array().map(Vec::len), Some(count), "{content}");
        }
    }

    /// The most memory that was ever resident, in KiB.
    #[cfg(target_os = "linux")]
    pub(crate) fn peak(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("the process lives");
        let line = status
            .lines()
            .find(|line| line.starts_with("VmHWM:"))
            .expect("Linux tells");
        line.split_whitespace()
            .nth(1)
            .and_then(|number| number.parse().ok())
            .expect("a number of kB")
    }

    /// Ends the process: each request was answered once, all went well, and nothing secret came out.
    pub(crate) fn finish(mut self) {
        drop(self.input.take());
        self.output.read_to_string(&mut self.said).expect("UTF-8");
        assert!(self.child.wait().expect("the process ends").success());
        let errors = self.errors.take().expect("taken once").join().expect("the reader ends");
        for secret in [PASSWORD, BASIC] {
            assert!(!self.said.contains(secret), "{}", self.said);
            assert!(!errors.contains(secret), "{errors}");
        }
        assert_eq!(errors, "", "a server of others is no reason to write to standard error");
        let mut answers = BTreeMap::new();
        for line in self.said.lines() {
            let message: Value = serde_json::from_str(line).expect("nothing but JSON comes out");
            *answers.entry(message["id"].as_u64().expect("an answer")).or_insert(0) += 1;
        }
        assert!(answers.values().all(|count| *count == 1), "{answers:?}");
        assert!(answers.len() as u64 + self.canceled >= self.asked, "{answers:?}");
    }
}

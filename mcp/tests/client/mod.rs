//! A client on the pipes of the real binary: raw lines out, JSON in.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of it")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

pub const MODERN: &str = "2026-07-28";

/// The binary with nothing but these variables.
pub fn command(environment: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kalends"));
    command.env_clear().envs(environment.iter().copied());
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs the binary to its end with nothing on its input.
pub fn run(environment: &[(&str, &str)], arguments: &[&str]) -> Output {
    command(environment)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs")
}

/// A folder account that is deleted at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("kalends-test-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).expect("a fresh folder");
        Self(path)
    }

    /// Adds a Calendar with members by file name.
    pub fn calendar(self, name: &str, members: &[(&str, &[u8])]) -> Self {
        let calendar = self.0.join(name);
        std::fs::create_dir_all(&calendar).expect("a fresh calendar");
        for (file, octets) in members {
            std::fs::write(calendar.join(file), octets).expect("a member");
        }
        self
    }

    pub fn url(&self) -> String {
        format!("file://{}", self.0.display())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A running server.
pub struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: i64,
    /// Messages for other ids that came while one was waited for.
    early: BTreeMap<i64, Value>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    pub fn start(environment: &[(&str, &str)]) -> Self {
        let mut child = command(environment)
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the binary starts");
        let (input, output) = (child.stdin.take(), child.stdout.take().expect("piped"));
        Self {
            child,
            input,
            output: BufReader::new(output),
            next: 0,
            early: BTreeMap::new(),
        }
    }

    /// A server on a folder that has said hello in this revision.
    pub fn on(folder: &Folder, revision: &str) -> Self {
        let mut server = Self::start(&[("CALDAV_URL", &folder.url()), ("CALDAV_EVALUATION_TIME_ZONE", "UTC")]);
        server.initialize(revision);
        server
    }

    /// How the process ends while its input stays open.
    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect("the process ends")
    }

    pub fn process(&self) -> u32 {
        self.child.id()
    }

    pub fn send(&mut self, line: impl AsRef<[u8]>) {
        let input = self.input.as_mut().expect("the input is open");
        input
            .write_all(line.as_ref())
            .and_then(|()| input.write_all(b"\n"))
            .expect("the server reads");
    }

    /// The next line, which must be JSON.
    pub fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the server writes UTF-8");
        assert!(!line.is_empty(), "the server has closed its output");
        serde_json::from_str(&line).expect("nothing but JSON comes out")
    }

    /// Everything that is left after the input is closed, and how the process ended.
    pub fn close(mut self) -> (String, ExitStatus) {
        drop(self.input.take());
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.output, &mut rest).expect("UTF-8");
        (rest, self.child.wait().expect("the process ends"))
    }

    pub fn request(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        let id = self.next;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        id
    }

    pub fn answer(&mut self, id: i64) -> Value {
        if let Some(message) = self.early.remove(&id) {
            return message;
        }
        loop {
            let message = self.receive();
            match message["id"].as_i64() {
                Some(other) if other != id => drop(self.early.insert(other, message)),
                _ => return message,
            }
        }
    }

    /// The result of a request that succeeds.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        let mut message = self.answer(id);
        assert!(message.get("error").is_none(), "{method}: {message}");
        message["result"].take()
    }

    pub fn initialize(&mut self, revision: &str) -> Value {
        self.initialize_with(revision, &json!({}))
    }

    /// Says hello as a client with these capabilities.
    pub fn initialize_with(&mut self, revision: &str, capabilities: &Value) -> Value {
        let params = json!({"protocolVersion": revision, "capabilities": capabilities, "clientInfo": {"name": "test", "version": "0"}});
        let result = self.ask("initialize", params);
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        result
    }

    /// The whole result of a tool, whose text and structured content must agree.
    pub fn tool(&mut self, name: &str, arguments: Value) -> Value {
        let result = self.ask("tools/call", json!({"name": name, "arguments": arguments}));
        let text = result["content"][0]["text"].as_str().expect("a text block");
        let parsed: Value = serde_json::from_str(text).expect("the text is JSON");
        assert_eq!(parsed, result["structuredContent"]);
        result
    }

    /// The structured content of a call that succeeds.
    pub fn success(&mut self, name: &str, arguments: Value) -> Value {
        let mut result = self.tool(name, arguments);
        assert_eq!(result["isError"], false, "{result}");
        assert_eq!(result["structuredContent"]["outcome"], "success");
        result["structuredContent"].take()
    }

    /// The structured content of a call that fails.
    pub fn failure(&mut self, name: &str, arguments: Value) -> Value {
        let mut result = self.tool(name, arguments);
        assert_eq!(result["isError"], true, "{result}");
        result["structuredContent"].take()
    }
}

/// `_meta` of a request in the modern revision.
pub fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"}
    })
}

pub fn window(from: &str, to: &str) -> Value {
    let instant = |text: &str| json!({"kind": "utcDateTime", "value": text});
    json!({"scope": {"mode": "all"}, "from": instant(from), "to": instant(to)})
}

/// The case files of the workspace.
pub fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases")
}

/// A daily event from the first of December 2026 on.
pub const DAILY: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:VEVENT\r\nUID:daily\r\nDTSTAMP:20260101T000000Z\r\n\
    DTSTART:20261201T090000Z\r\nDTEND:20261201T093000Z\r\nRRULE:FREQ=DAILY\r\nSUMMARY:Daily\r\nDESCRIPTION:Long text\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";

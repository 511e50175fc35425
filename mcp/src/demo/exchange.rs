//! A small MCP client on the other end of an in-memory pipe: the server's real transport, line by line.

use std::future::pending;
use std::io;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex, split};

use crate::server;
use crate::session::Session;

const BUFFER: usize = 64 << 10;

/// A client that has said hello.
pub(super) struct Client {
    input: Lines<BufReader<ReadHalf<DuplexStream>>>,
    output: WriteHalf<DuplexStream>,
    next: u64,
    revision: String,
}

impl Client {
    /// Starts a server on the session and opens the exchange with it.
    pub(super) async fn connect(session: Arc<Session>) -> io::Result<Self> {
        let (near, far) = duplex(BUFFER);
        let (input, output) = split(far);
        tokio::spawn(server::serve(session, input, output, pending()));
        let (input, output) = split(near);
        let mut client = Self {
            input: BufReader::new(input).lines(),
            output,
            next: 0,
            revision: String::new(),
        };
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "kalends-demo", "version": env!("CARGO_PKG_VERSION")}
        });
        let welcome = client.request("initialize", hello).await?;
        client.revision = welcome["protocolVersion"].as_str().unwrap_or_default().to_owned();
        client
            .send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await?;
        Ok(client)
    }

    /// The revision that was agreed on.
    pub(super) fn revision(&self) -> &str {
        &self.revision
    }

    /// The names of the server's tools.
    pub(super) async fn tools(&mut self) -> io::Result<Vec<String>> {
        let listed = self.request("tools/list", json!({})).await?;
        let tools = listed["tools"].as_array().into_iter().flatten();
        Ok(tools
            .filter_map(|tool| tool["name"].as_str().map(str::to_owned))
            .collect())
    }

    /// The structured result of a tool.
    pub(super) async fn call(&mut self, name: &str, arguments: Value) -> io::Result<Value> {
        let mut result = self
            .request("tools/call", json!({"name": name, "arguments": arguments}))
            .await?;
        if result["isError"] == true {
            return Err(io::Error::other(format!("{name}: {}", result["content"][0]["text"])));
        }
        Ok(result["structuredContent"].take())
    }

    async fn send(&mut self, message: &Value) -> io::Result<()> {
        self.output.write_all(format!("{message}\n").as_bytes()).await
    }

    async fn request(&mut self, method: &str, params: Value) -> io::Result<Value> {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await?;
        while let Some(line) = self.input.next_line().await? {
            let mut message: Value = serde_json::from_str(&line)?;
            if message["id"] == id {
                if message.get("error").is_some() {
                    return Err(io::Error::other(format!("{method}: {}", message["error"]["message"])));
                }
                return Ok(message["result"].take());
            }
        }
        Err(io::Error::other("the server has closed the exchange"))
    }
}

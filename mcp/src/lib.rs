//! The MCP server of Kalends: a thin adapter from tools to the core's operations.
//!
//! | module | what |
//! |---|---|
//! | [`run`] | the binary's command line |
//! | `config` | the environment, or all that is wrong with it |
//! | `tzdata` | a newer IANA database from a folder |
//! | `server` | the protocol: the only module that names the SDK's types |
//! | `transport`, `json` | lines in and out, judged strictly |
//! | `catalog`, `schema` | what is advertised, and the check of arguments against it |
//! | `output` | the check of results before they leave |
//! | `session` | the way of a call; what is kept between calls |
//! | `caller` | who waits for an answer: takes the call back, leaves, sees progress |
//! | `engine` | the host: network or folder |
//! | `tool` | one tool per file |
//! | `demo` | a fortnight in a folder, asked through the server |
//!
//! Nothing is contacted before the first call that needs it, nothing but the protocol goes to standard output, and
//! no text of a calendar goes into instructions, descriptions or messages.

mod caller;
mod catalog;
mod config;
mod confirm;
mod demo;
mod engine;
mod exact_link;
mod json;
mod output;
mod run;
mod schema;
mod server;
mod session;
mod tool;
mod transport;
mod tzdata;

pub use config::Environment;
pub use run::run;

/// Judges one line of input as the server does and throws the verdict away: for fuzzing.
pub fn judge_line(line: &[u8]) {
    let mut gate = transport::Gate::default();
    let _verdict = gate.accept(line);
}

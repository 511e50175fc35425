//! `kalends`: calendars over CalDAV for AI clients. See the library for what is where.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // A variable that is no Unicode is none of ours.
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    kalends_mcp::run(&arguments, &environment)
}

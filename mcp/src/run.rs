//! The command line: the server, the demo, or a word about them.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use crate::config::{Config, ConfigError, Environment};
use crate::session::Session;
use crate::{demo, server, tzdata};

const HELP: &str = "\
kalends: calendars over CalDAV for AI clients

  kalends            the MCP server on standard input and output
  kalends demo       a sample fortnight in a folder, asked through the server
  kalends --version
  kalends --help

The server is configured by environment variables: CALDAV_URL, CALDAV_USERNAME,
CALDAV_PASSWORD or CALDAV_PASSWORD_FILE, CALDAV_EVALUATION_TIME_ZONE and others;
started without any it says what to set.
";

/// Runs the command line. Exit codes: 0 done, 1 configuration or start failure, 2 wrong usage.
#[must_use]
pub fn run(arguments: &[String], environment: &Environment) -> ExitCode {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        [] => serve(environment),
        ["demo"] => report(demo::run(environment)),
        ["--version" | "-V"] => report(print(&format!("kalends {}\n", env!("CARGO_PKG_VERSION")))),
        ["--help" | "-h" | "help"] => report(print(HELP)),
        _ => {
            complain(&format!("kalends: unknown arguments\n\n{HELP}"));
            ExitCode::from(2)
        }
    }
}

fn report(result: io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("kalends: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn print(text: &str) -> io::Result<()> {
    io::stdout().write_all(text.as_bytes())
}

/// A line for whoever started the process. That standard error is closed is no reason to stop.
fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

fn serve(environment: &Environment) -> ExitCode {
    hush_panics();
    // Before any zone is asked for; a value that is wrong fails the configuration.
    if let Ok(Some(folder)) = tzdata::folder(environment.get(tzdata::VARIABLE).map(String::as_str)) {
        complain(&tzdata::use_newer(&folder));
    }
    let session = match Config::read(environment) {
        Ok(config) => Session::new(config).map_err(|(variable, failure)| ConfigError::of(variable, failure)),
        Err(error) => Err(error),
    };
    let session = match session {
        Ok(session) => Arc::new(session),
        Err(error) => {
            complain(&error.to_string());
            return ExitCode::FAILURE;
        }
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return report(Err(error)),
    };
    let result = runtime.block_on(server::serve_stdio(session, terminated()));
    // A read of standard input that is still blocked must not hold up the end.
    runtime.shutdown_background();
    report(result)
}

/// Says where a panic happened, and not with which values: those may be of someone's calendar.
fn hush_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info
            .location()
            .map_or_else(String::new, |place| format!(" at {}:{}", place.file(), place.line()));
        complain(&format!(
            "kalends: internal error{place}; the call is answered with an error"
        ));
    }));
}

/// Resolves when the process is asked to end.
async fn terminated() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut signal) = signal(SignalKind::terminate()) {
            signal.recv().await;
            return;
        }
    }
    std::future::pending().await
}

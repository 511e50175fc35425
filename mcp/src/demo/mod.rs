//! `kalends demo`: a sample fortnight in a folder, asked through the server as a client would, and printed as an
//! agenda.

mod agenda;
mod exchange;
mod sample;

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use kalends_core::ical::zone::Zone;
use serde_json::json;

use crate::config::{Config, Environment};
use crate::session::Session;
use exchange::Client;

/// Makes the folder, asks, prints.
///
/// # Errors
/// If the folder cannot be made, the exchange fails or standard output is closed.
pub(crate) fn run(environment: &Environment) -> io::Result<()> {
    let (zone, source) = local_zone(environment);
    let now = Timestamp::now().as_second();
    let folder = fresh_folder()?;
    let url = sample::write(&folder, &zone, now)?;
    let settings = [
        ("CALDAV_URL", url.as_str()),
        ("CALDAV_EVALUATION_TIME_ZONE", zone.name()),
    ];
    let settings: Environment = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let config = Config::read(&settings).map_err(|error| io::Error::other(error.to_string()))?;
    let session =
        Session::new(config).map_err(|(variable, failure)| io::Error::other(format!("{variable} {failure}")))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let text = runtime.block_on(ask(Arc::new(session), &zone, now))?;
    let command = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("kalends"));
    let snippet = json!({"mcpServers": {"kalends": {"command": command, "args": [], "env": settings}}});
    let out = format!(
        "Kalends demo: three calendars with a sample fortnight, in {}\n{text}\n\
         Times are in {} ({source}).\n\n\
         To use this folder from an AI client, put this into its configuration:\n\n{snippet:#}\n\n\
         For your own calendars set CALDAV_URL to your server, with CALDAV_USERNAME and CALDAV_PASSWORD.\n",
        folder.display(),
        zone.name(),
    );
    io::stdout().write_all(out.as_bytes())
}

/// The exchange: open, list the tools, list the calendars, query a week. Returns what there is to read.
async fn ask(session: Arc<Session>, zone: &Zone, now: i64) -> io::Result<String> {
    let mut client = Client::connect(session).await?;
    let tools = client.tools().await?;
    let calendars = client.call("calendars_list", json!({})).await?;
    let today = zone.local_at(now).date();
    let midnight = |days: i64| {
        let date = today.checked_add(jiff::Span::new().days(days)).unwrap_or(today);
        zone.resolve_local(date.at(0, 0, 0, 0)).second
    };
    let instant = |second: i64| {
        let text = Timestamp::from_second(second).unwrap_or_default().to_string();
        json!({"kind": "utcDateTime", "value": text})
    };
    let mut arguments = json!({"scope": {"mode": "all"}, "from": instant(midnight(0)), "to": instant(midnight(7))});
    let mut rows = Vec::new();
    loop {
        let mut page = client.call("calendar_occurrences_query", arguments).await?;
        if let serde_json::Value::Array(items) = page["items"].take() {
            rows.extend(items);
        }
        match page["pagination"]["nextCursor"].as_str() {
            Some(cursor) => arguments = json!({"cursor": cursor}),
            None => break,
        }
    }
    let names: Vec<_> = calendars["items"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|item| item["displayName"].as_str())
        .collect();
    let heading = format!(
        "Asked over MCP {} by {}.\nCalendars: {}\n",
        client.revision(),
        tools.join(", "),
        names.join(", ")
    );
    Ok(heading + &agenda::render(&rows, zone, today, 7))
}

/// The zone of whoever started the process, and where it is known from.
fn local_zone(environment: &Environment) -> (Zone, &'static str) {
    let variable = environment.get("TZ").map(|name| name.trim_start_matches(':'));
    if let Some(zone) = variable.and_then(Zone::iana) {
        return (zone, "from TZ");
    }
    let link = std::fs::read_link("/etc/localtime").ok();
    let name = link
        .as_deref()
        .and_then(|path| path.to_str())
        .and_then(|path| path.split_once("zoneinfo/"));
    match name.and_then(|(_, name)| Zone::iana(name)) {
        Some(zone) => (zone, "from /etc/localtime"),
        None => (Zone::utc(), "since neither TZ nor /etc/localtime names an IANA zone"),
    }
}

/// A folder that did not exist, in the folder for temporary files.
fn fresh_folder() -> io::Result<PathBuf> {
    let base = std::env::temp_dir();
    let process = std::process::id();
    for attempt in 0..100 {
        let folder = base.join(format!("kalends-demo-{process}-{attempt}"));
        match std::fs::create_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| folder),
        }
    }
    Err(io::Error::other("no free name for a folder"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_week_is_asked_and_rendered_whatever_the_zone_and_day() {
        for (name, second) in [
            ("Europe/Berlin", 1_796_040_000),
            ("America/St_Johns", 1_798_761_599),
            ("Pacific/Apia", 1_803_500_000),
        ] {
            let zone = Zone::iana(name).expect("a known zone");
            let folder = fresh_folder().unwrap();
            let url = sample::write(&folder, &zone, second).unwrap();
            let settings = [("CALDAV_URL", url.as_str()), ("CALDAV_EVALUATION_TIME_ZONE", name)];
            let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
            let session = Arc::new(Session::new(Config::read(&settings).unwrap()).unwrap());
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            let text = runtime.block_on(ask(session, &zone, second)).unwrap();
            std::fs::remove_dir_all(&folder).unwrap();
            for expected in [
                "Dentist",
                "Visit from Lena",
                "Stand-up",
                "Send the invoice",
                "Calendars: ",
                "America/New_York",
            ] {
                assert!(text.contains(expected), "{name}: no {expected} in\n{text}");
            }
            assert!(
                !text.contains("Choir practice"),
                "the one of this week is cancelled:\n{text}"
            );
            let headings = text
                .lines()
                .filter(|line| line.contains(" 202") && line.contains("day, "))
                .count();
            assert_eq!(headings, 7, "{text}");
        }
    }
}

//! Prints what is on in the coming week, from an async program on tokio.
//!
//! ```sh
//! CALDAV_URL=https://cal.example.com/ CALDAV_USERNAME=ana CALDAV_PASSWORD=… CALDAV_EVALUATION_TIME_ZONE=Europe/Lisbon \
//!   cargo run -p kalends-tokio --example agenda-tokio
//! ```
//!
//! Two RFC 3339 times as arguments ask for another window; `--tsv` prints `start<TAB>summary` for programs.
#![allow(clippy::print_stdout, reason = "printing is what this example is for")]

use std::env::{self, args};
use std::error::Error;
use std::future::pending;

use jiff::{SignedDuration, Timestamp};
use kalends_core::account::credential::Credential;
use kalends_core::account::secret::Secret;
use kalends_core::account::{Account, Settings};
use kalends_core::href::Href;
use kalends_core::ical::value::Temporal;
use kalends_core::ical::zone::Zone;
use kalends_core::ops::query_occurrences::{OccurrenceRow, QueryOccurrences};
use kalends_core::ops::scope::Scope;
use kalends_core::query::text_filter::TextFilter;
use kalends_tokio::{Options, Tokio};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (url, username) = (env::var("CALDAV_URL")?, env::var("CALDAV_USERNAME")?);
    let password = Secret::new(env::var("CALDAV_PASSWORD")?);
    let zone = env::var("CALDAV_EVALUATION_TIME_ZONE").unwrap_or_else(|_| "UTC".to_owned());
    let evaluation = Zone::iana(&zone).ok_or("CALDAV_EVALUATION_TIME_ZONE is no IANA time zone")?;
    let times: Vec<Timestamp> = args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let (from, to) = match times[..] {
        [from, to] => (from, to),
        _ => (Timestamp::now(), Timestamp::now() + SignedDuration::from_hours(7 * 24)),
    };

    let url = Href::parse(&url).map_err(|_| "CALDAV_URL is no http or https URL")?;
    let account = Account::new(Settings::new(url, Credential::Basic { username, password }))
        .map_err(|_| "the user name or password cannot be sent")?;
    let host = Tokio::new(Options::from_env())?;
    let filter = TextFilter::default();
    let query = QueryOccurrences {
        scope: Scope::All,
        from,
        to,
        evaluation: evaluation.clone(),
        filter,
    };
    let found = host.run(query, &account, pending()).await?;

    for row in found.rows.iter() {
        if args().any(|arg| arg == "--tsv") {
            println!("{}\t{}", start(row), summary(row));
        } else {
            println!(
                "{}  {}",
                evaluation.local_at(row.instance.from).strftime("%a %d %b %H:%M"),
                summary(row)
            );
        }
    }
    for diagnostic in &found.diagnostics {
        println!("({})", diagnostic.message);
    }
    Ok(())
}

/// The day of an all-day occurrence, the UTC time of any other.
fn start(row: &OccurrenceRow) -> String {
    match &row.instance.start {
        Temporal::Date(date) => date.to_string(),
        Temporal::Floating(_) | Temporal::Utc(_) | Temporal::Zoned(..) => {
            Timestamp::from_second(row.instance.from).map_or_else(|_| String::new(), |time| time.to_string())
        }
    }
}

fn summary(row: &OccurrenceRow) -> String {
    row.resource
        .entity
        .occurrence_fields(&row.instance)
        .summary
        .unwrap_or_default()
}

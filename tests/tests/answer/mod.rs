//! The questions of the cases, by what they are asked of.

pub(crate) mod dav;
pub(crate) mod ical;
pub(crate) mod moves;
pub(crate) mod write;

use kalends_core::account::Account;
use kalends_core::env::Env;
use kalends_core::href::Href;
use kalends_core::ical::zone::Zone;
use kalends_core::machine::Moment;
use kalends_core::operation::Operation;
use kalends_core::ops::query_occurrences::{OccurrenceRow, Occurrences, QueryOccurrences};
use kalends_core::ops::scope::{CalendarChoice, Scope};
use kalends_core::outcome::Outcome;
use kalends_core::query::text_filter::TextFilter;
use kalends_core::time::Utc;
use kalends_tests::host::sequential;
use kalends_tests::transcript::Transcript;
use serde_json::Value;

use std::sync::Arc;

/// The clock and entropy of each operation.
pub(crate) const ENV: Env = Env {
    now: Moment::ZERO,
    utc: Utc(1_796_054_400_000),
    seed: [7; 32],
};

/// Runs an operation against a scripted server.
pub(crate) fn run<O: Operation>(operation: O, account: &Arc<Account>, server: &mut Transcript) -> O::Outcome {
    sequential(operation.start(ENV, account), server, None).0
}

/// Asks for the occurrences of one Calendar.
pub(crate) fn ask(calendar: &Href, from: &str, to: &str, evaluation: Zone) -> QueryOccurrences {
    QueryOccurrences {
        scope: Scope::Selected(CalendarChoice::Href(calendar.to_string())),
        from: from.parse().expect("an instant"),
        to: to.parse().expect("an instant"),
        evaluation,
        filter: TextFilter::default(),
    }
}

/// The occurrences of 2026 in one Calendar.
pub(crate) fn year(calendar: &Href, account: &Arc<Account>, server: &mut Transcript) -> Outcome<Occurrences> {
    let question = ask(calendar, "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", Zone::utc());
    run(question, account, server)
}

/// The last segment of a resource's path, as it is spelled.
pub(crate) fn name(row: &OccurrenceRow) -> &str {
    row.resource
        .href
        .path()
        .rsplit('/')
        .next()
        .expect("a path has a segment")
}

/// The summary of an occurrence.
pub(crate) fn summary(row: &OccurrenceRow) -> String {
    row.resource
        .entity
        .occurrence_fields(&row.instance)
        .summary
        .unwrap_or_default()
}

/// The strings of an array.
pub(crate) fn strings(value: &Value) -> Vec<&str> {
    value
        .as_array()
        .expect("an array")
        .iter()
        .map(|text| text.as_str().expect("a string"))
        .collect()
}

/// A string.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

//! `calendars_free_busy`: when one Calendar is busy.

use jiff::Timestamp;
use kalends_core::ical::free_busy::BusyPeriod;
use kalends_core::ops::query_free_busy::QueryFreeBusy;
use kalends_core::outcome::{Error, Outcome, Phase, Violation};
use kalends_core::query::window::window_violation;
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::schema::violation;
use crate::session::Session;
use crate::tool::query::arguments::{is_utc, rounded, utc};

/// Answers a call whose arguments fit the schema.
pub(crate) async fn call(session: &Session, arguments: &Value, caller: Caller) -> Outcome<Value> {
    let mut found = Vec::new();
    let (from, to) = (
        instant(arguments, "from", &mut found),
        instant(arguments, "to", &mut found),
    );
    let (Some(from), Some(to)) = (from, to) else {
        return Err(Error::violations(Phase::SchemaLexicalDiscriminator, found));
    };
    if let Some(violation) = window_violation(from, to) {
        return Err(Error::violations(Phase::SchemaLexicalDiscriminator, vec![violation]));
    }
    let ask = QueryFreeBusy {
        calendar_href: arguments["calendarHref"].as_str().unwrap_or_default().to_owned(),
        from,
        to,
    };
    let told = session.engine.run(ask, &session.account, caller).await?;
    let period =
        |period: &BusyPeriod| json!({"from": utc(period.from), "to": utc(period.to), "busyType": period.busy_type});
    Ok(json!({
        "outcome": "success",
        "calendarHref": told.calendar,
        "from": from.to_string(),
        "to": to.to_string(),
        "temporalAuthority": "server",
        "complete": true,
        "periods": told.periods.iter().map(period).collect::<Vec<_>>()
    }))
}

/// A whole second of the form `YYYY-MM-DDTHH:MM:SSZ`.
fn instant(arguments: &Value, member: &str, found: &mut Vec<Violation>) -> Option<Timestamp> {
    let text = arguments[member].as_str().unwrap_or_default();
    let pointer = format!("/{member}");
    if text.contains('.') || !is_utc(text) {
        let text = "Send a UTC time in whole seconds like 2026-12-01T00:00:00Z.";
        found.push(violation(&pointer, "format_mismatch", text));
        return None;
    }
    let read = rounded(text);
    if read.is_none() {
        let text = "Send a day and time that exist.";
        found.push(violation(&pointer, "temporal_value_invalid", text));
    }
    read
}

//! `calendars_list`: which Calendars there are.

use kalends_core::ops::list_calendars::ListCalendars;
use kalends_core::outcome::Outcome;
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::session::Session;

/// Answers a call; its arguments are empty.
pub(crate) async fn call(session: &Session, caller: Caller) -> Outcome<Value> {
    let found = session.engine.run(ListCalendars, &session.account, caller).await?;
    Ok(json!({
        "outcome": "success",
        "items": found.calendars,
        "diagnostics": found.diagnostics,
        "pagination": {"mode": "non_snapshot", "nextCursor": null}
    }))
}

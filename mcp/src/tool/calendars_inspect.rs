//! `calendars_inspect`: what one Calendar says about itself.

use kalends_core::ops::inspect_calendar::InspectCalendar;
use kalends_core::outcome::Outcome;
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::session::Session;

/// Answers a call whose arguments fit the schema.
pub(crate) async fn call(session: &Session, arguments: &Value, caller: Caller) -> Outcome<Value> {
    let calendar_href = arguments["calendarHref"].as_str().unwrap_or_default().to_owned();
    let ask = InspectCalendar { calendar_href };
    let mut success = json!(session.engine.run(ask, &session.account, caller).await?);
    success["outcome"] = json!("success");
    Ok(success)
}

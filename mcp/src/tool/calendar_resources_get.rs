//! `calendar_resources_get`: one resource by its href.

use kalends_core::ops::get_resource::GetResource;
use kalends_core::outcome::Outcome;
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::session::Session;
use crate::tool::compact::{self, Detail, object};

/// Answers a call whose arguments fit the schema.
pub(crate) async fn call(session: &Session, arguments: &Value, caller: Caller) -> Outcome<Value> {
    let href = arguments["href"].as_str().unwrap_or_default().to_owned();
    let resource = session
        .engine
        .run(GetResource { href }, &session.account, caller)
        .await?;
    let snapshot = match Detail::of(arguments) {
        Detail::Compact => compact::snapshot(&resource),
        Detail::Full => compact::full(&resource),
    };
    Ok(object([("outcome", json!("success")), ("snapshot", snapshot)]))
}

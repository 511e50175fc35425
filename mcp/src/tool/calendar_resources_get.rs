//! `calendar_resources_get`: one resource by its href.

use kalends_core::ops::get_resource::GetResource;
use kalends_core::outcome::Outcome;
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::session::Session;
use crate::tool::Shown;
use crate::tool::compact::{self, Detail, object};

/// Answers a call whose arguments fit the schema.
pub(crate) async fn call(session: &Session, arguments: &Value, caller: Caller) -> Outcome<Shown> {
    let href = arguments["href"].as_str().unwrap_or_default().to_owned();
    let resource = session
        .engine
        .run(GetResource { href }, &session.account, caller)
        .await?;
    let detail = Detail::of(arguments);
    let snapshot = match detail {
        Detail::Compact => compact::snapshot(&resource),
        Detail::Full => compact::full(&resource),
    };
    let value = object([("outcome", json!("success")), ("snapshot", snapshot)]);
    Ok(Shown { value, detail })
}

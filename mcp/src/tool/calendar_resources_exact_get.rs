//! `calendar_resources_exact_get`: a link to the octets of one resource.

use kalends_core::ops::get_resource::GetResource;
use kalends_core::outcome::{Code, Error, Outcome, Phase};
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::exact_link::ExactLink;
use crate::session::Session;

/// Answers a call whose arguments fit the schema. The link names a state, so the server has to tell one.
pub(crate) async fn call(session: &Session, arguments: &Value, caller: Caller) -> Outcome<Value> {
    let href = arguments["href"].as_str().unwrap_or_default().to_owned();
    let resource = session
        .engine
        .run(GetResource { href }, &session.account, caller)
        .await?;
    let tag = resource.etag.clone().ok_or_else(|| {
        let text = "The CalDAV server gives this resource no strong Entity Tag, so no link can name its state.";
        Error::new(Code::ConcurrencyUnavailable, Phase::TargetRevision, text)
    })?;
    let link = ExactLink {
        href: resource.href.as_str().to_owned(),
        tag,
    };
    let name = "Calendar Object Resource exact snapshot";
    Ok(json!({
        "outcome": "success",
        "resourceLink": {"type": "resource_link", "uri": link.uri(), "name": name}
    }))
}

//! `calendar_resources_changes`: which resources of a Calendar have changed, page by page.
//!
//! A report of the server is given out in pages; what does not fit on one is kept with the checkpoint and costs no
//! request. A checkpoint can be sent again and gives the same page, or what the server says by then.

use std::sync::Arc;

use kalends_core::dav::sync_collection::Change;
use kalends_core::ops::list_changes::{ListChanges, Since, weight};
use kalends_core::outcome::{Code, Error, Outcome, Phase};
use kalends_core::query::checkpoint::{Backlog, Rest, State};
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::schema::{integer, missing, violation};
use crate::session::Session;

const DEFAULT_PAGE: usize = 100;

/// Answers a call whose arguments fit the schema.
pub(crate) async fn call(session: &Session, arguments: &Value, caller: Caller) -> Outcome<Value> {
    let size = integer(&arguments["pageSize"]).map_or(DEFAULT_PAGE, |size| size as usize);
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    let (since, initial) = match (text("calendarHref"), text("checkpoint")) {
        (Some(href), None) => {
            let calendar_href = href.to_owned();
            (Since::Beginning { calendar_href }, true)
        }
        (None, Some(checkpoint)) => {
            let state = session.checkpoints(|store| store.get(checkpoint)).ok_or_else(unknown)?;
            if let Some(rest) = state.rest.clone() {
                return Ok(page(session, &state, rest, size));
            }
            let (calendar, token) = (state.calendar.clone(), state.token.clone());
            (Since::Token { calendar, token }, state.initial)
        }
        (given, _) => return Err(shape(given.is_some())),
    };
    let found = session
        .engine
        .run(ListChanges { since }, &session.account, caller)
        .await?;
    let backlog = Arc::new(Backlog {
        bytes: found.changes.iter().map(weight).sum(),
        changes: found.changes,
    });
    let state = State {
        calendar: found.calendar,
        token: found.token,
        initial,
        rest: None,
    };
    let rest = Rest {
        backlog,
        from: 0,
        truncated: found.truncated,
    };
    Ok(page(session, &state, rest, size))
}

/// The next changes of what is left to give out, and the checkpoint after them.
fn page(session: &Session, state: &State, rest: Rest, size: usize) -> Value {
    let Rest {
        backlog,
        from,
        truncated,
    } = rest;
    let to = backlog.changes.len().min(from + size);
    let changes: Vec<Value> = backlog.changes[from..to].iter().map(shown).collect();
    let left = to < backlog.changes.len();
    let more = left || truncated;
    let next = State {
        calendar: state.calendar.clone(),
        token: state.token.clone(),
        initial: state.initial && more,
        rest: left.then_some(Rest {
            backlog,
            from: to,
            truncated,
        }),
    };
    let seed = session.engine.env().seed;
    let checkpoint = session.checkpoints(|store| store.keep(next, seed));
    json!({
        "outcome": "success",
        "calendarHref": state.calendar,
        "mode": if state.initial { "initial" } else { "incremental" },
        "checkpoint": checkpoint,
        "hasMore": more,
        "checkpointLifetime": "session",
        "removalMeaning": "removed_from_view",
        "changes": changes
    })
}

fn shown(change: &Change) -> Value {
    match &change.etag {
        Some(etag) => json!({"href": change.href, "kind": "changed", "etag": etag}),
        None => json!({"href": change.href, "kind": "removed"}),
    }
}

fn unknown() -> Box<Error> {
    let text = "That checkpoint is not known here (any more). If it was not copied exactly, send it again as it was given; else start again with calendarHref and compare with what you have.";
    Error::new(Code::SyncResetRequired, Phase::Pagination, text)
}

/// Both of calendarHref and checkpoint are there, or none.
fn shape(both: bool) -> Box<Error> {
    let violation = if both {
        let text =
            "Leave calendarHref out: a checkpoint goes on with its own calendar. To start anew leave checkpoint out.";
        violation("/calendarHref", "shape_mismatch", text)
    } else {
        let hint = "the calendar to start with, or checkpoint to go on.";
        violation("/calendarHref", "required_member", missing("calendarHref", Some(hint)))
    };
    Error::violations(Phase::SchemaLexicalDiscriminator, vec![violation])
}

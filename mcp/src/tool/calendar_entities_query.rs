//! `calendar_entities_query`: Events and To-dos as they are stored, page by page.

use kalends_core::ical::entity::Kind;
use kalends_core::ops::query_entities::QueryEntities;
use kalends_core::outcome::Outcome;
use kalends_core::query::window::Bounds;
use kalends_core::resource::Resource;
use serde_json::Value;

use crate::caller::Caller;
use crate::session::Session;
use crate::tool::Shown;
use crate::tool::compact::{self, Detail};
use crate::tool::query::arguments::{Asked, Start, asked};
use crate::tool::query::{self, Context, Held, Rows};

/// The name that cursors are bound to.
const TOOL: &str = "calendar_entities.query";

/// Answers a call whose arguments fit the schema.
pub(crate) async fn call(session: &Session, arguments: &Value, caller: Caller) -> Outcome<Shown> {
    let size = match asked(arguments)? {
        Asked::Start(size) => size,
        Asked::Continue(cursor, size) => return query::next(session, TOOL, cursor, size),
    };
    let (ask, context) = read(session, arguments)?;
    let found = session.engine.run(ask, &session.account, caller).await?;
    let held = Held {
        rows: Rows::Entities(found.rows),
        context,
        detail: Detail::of(arguments),
        diagnostics: found.diagnostics,
        unresolved: found.unresolved,
    };
    query::first(session, TOOL, held, size)
}

fn read(session: &Session, arguments: &Value) -> Outcome<(QueryEntities, Option<Context>)> {
    let mut start = Start::new(arguments);
    let scope = start.scope();
    let kinds: Vec<Kind> = start.strings("entityKinds").into_iter().flatten().map(kind).collect();
    if !start.has("entityKinds") {
        start.require("entityKinds", "[\"event\"], [\"todo\"] or both.");
    }
    let window = start.window(["from", "to"], false);
    let context = if start.has("from") || start.has("to") {
        start.context(session.evaluation_zone.as_deref())
    } else {
        if start.has("evaluationTimeZone") {
            let text = "Leave evaluationTimeZone out, or send from and to: it is the zone of their window.";
            start.note("/evaluationTimeZone", "shape_mismatch", text);
        }
        None
    };
    let filter = start.filter();
    let bounds = window.zip(context.as_ref()).map(|((from, to), context)| Bounds {
        from,
        to,
        evaluation: context.zone.clone(),
    });
    let read = scope.map(|scope| {
        let ask = QueryEntities {
            scope,
            kinds,
            window: bounds,
            filter,
        };
        (ask, context)
    });
    start.finish(read)
}

fn kind(name: &str) -> Kind {
    if name == "event" { Kind::Event } else { Kind::Todo }
}

/// One row of a page.
pub(crate) fn shown(resource: &Resource, detail: Detail) -> Value {
    match detail {
        Detail::Compact => compact::entity_row(resource),
        Detail::Full => compact::full(resource),
    }
}

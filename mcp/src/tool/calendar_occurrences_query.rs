//! `calendar_occurrences_query`: what is on in a window, page by page.

use std::mem::take;

use kalends_core::ical::entity::Entity;
use kalends_core::ical::series::OccurrenceTiming;
use kalends_core::ical::zone::Zone;
use kalends_core::ops::query_occurrences::{OccurrenceRow, QueryOccurrences};
use kalends_core::outcome::Outcome;
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::session::Session;
use crate::tool::Shown;
use crate::tool::compact::{self, Detail, object};
use crate::tool::query::arguments::{Asked, Start, asked};
use crate::tool::query::{self, Context, Held, Rows};

/// The name that cursors are bound to.
const TOOL: &str = "calendar_occurrences.query";

/// Answers a call whose arguments fit the schema.
pub(crate) async fn call(session: &Session, arguments: &Value, caller: Caller) -> Outcome<Shown> {
    let size = match asked(arguments)? {
        Asked::Start(size) => size,
        Asked::Continue(cursor, size) => return query::next(session, TOOL, cursor, size),
    };
    let (ask, context) = read(session, arguments)?;
    let mut found = session.engine.run(ask, &session.account, caller).await?;
    let (diagnostics, unresolved) = (take(&mut found.diagnostics), take(&mut found.unresolved));
    let held = Held {
        rows: Rows::Occurrences(found, context.zone.clone()),
        context: Some(context),
        detail: Detail::of(arguments),
        diagnostics,
        unresolved,
    };
    query::first(session, TOOL, held, size)
}

fn read(session: &Session, arguments: &Value) -> Outcome<(QueryOccurrences, Context)> {
    let mut start = Start::new(arguments);
    let scope = start.scope();
    let window = start.window(["from", "to"], true);
    let context = start.context(session.evaluation_zone.as_deref());
    let filter = start.filter();
    let read = scope.zip(window).zip(context).map(|((scope, (from, to)), context)| {
        let evaluation = context.zone.clone();
        let ask = QueryOccurrences {
            scope,
            from,
            to,
            evaluation,
            filter,
        };
        (ask, context)
    });
    start.finish(read)
}

/// One row of a page.
pub(crate) fn shown(row: &OccurrenceRow, evaluation: &Zone, detail: Detail) -> Value {
    let OccurrenceRow { resource, instance } = row;
    match detail {
        Detail::Compact => compact::occurrence_row(resource, instance),
        Detail::Full => object([
            ("snapshot", compact::full(resource)),
            ("recurrenceIdentity", json!(Entity::recurrence_identity(instance))),
            ("timing", json!(OccurrenceTiming::of(instance, evaluation))),
        ]),
    }
}

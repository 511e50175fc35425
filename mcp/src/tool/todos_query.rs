//! `todos_query`: what is to be done and what is done, page by page.

use std::collections::BTreeSet;

use kalends_core::ical::completion::CompletionState;
use kalends_core::ical::placement::Placed;
use kalends_core::ical::project::Fields;
use kalends_core::ical::value::Temporal;
use kalends_core::ops::query_todos::{CompletionTarget, QueryTodos, ResultKind, TodoRow};
use kalends_core::outcome::{Diagnostic, Outcome};
use serde_json::{Map, Value, json};

use crate::caller::Caller;
use crate::session::Session;
use crate::tool::Shown;
use crate::tool::compact::{self, Detail, object};
use crate::tool::query::arguments::{Asked, Start, asked, utc};
use crate::tool::query::{self, Context, Held, Rows};

/// The name that cursors are bound to.
const TOOL: &str = "todos.query";

/// What a row shows of its To-do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Field {
    Summary,
    Status,
    CompletedAt,
    PercentComplete,
    Due,
    Priority,
    Categories,
    Start,
    Description,
    Recurrence,
}

impl Field {
    /// All of them by the names that `projection` takes.
    pub(crate) const NAMES: [(&'static str, Self); 10] = [
        ("summary", Self::Summary),
        ("status", Self::Status),
        ("completedAt", Self::CompletedAt),
        ("percentComplete", Self::PercentComplete),
        ("due", Self::Due),
        ("priority", Self::Priority),
        ("categories", Self::Categories),
        ("start", Self::Start),
        ("description", Self::Description),
        ("recurrence", Self::Recurrence),
    ];
    const USUAL: [Self; 4] = [Self::Summary, Self::Due, Self::Priority, Self::Categories];
}

/// All states by the names that `completionStates` takes.
pub(crate) const STATES: [(&str, CompletionState); 4] = [
    ("open", CompletionState::Open),
    ("completed", CompletionState::Completed),
    ("cancelled", CompletionState::Cancelled),
    ("indeterminate", CompletionState::Indeterminate),
];

/// The To-dos that were found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) rows: Vec<TodoRow>,
    pub(crate) excluded_indeterminate: usize,
    pub(crate) projection: BTreeSet<Field>,
}

/// Answers a call whose arguments fit the schema.
pub(crate) async fn call(session: &Session, arguments: &Value, caller: Caller) -> Outcome<Shown> {
    let size = match asked(arguments)? {
        Asked::Start(size) => size,
        Asked::Continue(cursor, size) => return query::next(session, TOOL, cursor, size),
    };
    let (ask, projection, context) = read(session, arguments)?;
    let found = session.engine.run(ask, &session.account, caller).await?;
    let held = Held {
        rows: Rows::Todos(Found {
            rows: found.rows,
            excluded_indeterminate: found.excluded_indeterminate,
            projection,
        }),
        context: Some(context),
        detail: Detail::of(arguments),
        diagnostics: found.diagnostics,
        unresolved: found.unresolved,
    };
    query::first(session, TOOL, held, size)
}

fn read(session: &Session, arguments: &Value) -> Outcome<(QueryTodos, BTreeSet<Field>, Context)> {
    let mut start = Start::new(arguments);
    let scope = start.scope();
    let window = start.window(["from", "to"], false);
    let due = start.window(["dueFrom", "dueTo"], false);
    let context = start.context(session.evaluation_zone.as_deref());
    let filter = start.filter();
    let states = chosen(&start, "completionStates", &STATES, &[CompletionState::Open]);
    let projection = chosen(&start, "projection", &Field::NAMES, &Field::USUAL);
    let read = scope.zip(context).map(|(scope, context)| {
        let ask = QueryTodos {
            scope,
            states,
            window,
            due,
            evaluation: context.zone.clone(),
            filter,
        };
        (ask, projection, context)
    });
    start.finish(read)
}

/// The values of an array of names, or the usual ones if it was not sent.
fn chosen<T: Copy + Ord>(start: &Start<'_>, member: &str, names: &[(&str, T)], usual: &[T]) -> BTreeSet<T> {
    let by_name = |name| names.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    match start.strings(member) {
        Some(given) => given.filter_map(by_name).collect(),
        None => usual.iter().copied().collect(),
    }
}

/// One row of a page.
pub(crate) fn shown(row: &TodoRow, projection: &BTreeSet<Field>, detail: Detail) -> Value {
    let entity = &row.resource.entity;
    let kind = row.kind();
    let mut members = Map::new();
    let name = match kind {
        ResultKind::Entity => "entity",
        ResultKind::Occurrence => "occurrence",
        ResultKind::Unresolved => "unresolved",
    };
    members.insert("resultKind".into(), json!(name));
    members.insert("completionState".into(), json!(row.state));
    let target = row.target();
    if let Some(uid) = entity.uid()
        && (detail == Detail::Full || target == CompletionTarget::Unavailable)
    {
        members.insert("uid".into(), json!(uid));
    }
    members.insert("completionTarget".into(), completion_target(row, target));
    if kind != ResultKind::Unresolved {
        fields(row, projection, detail, &mut members);
    }
    let diagnostics = diagnostics(row);
    if detail == Detail::Full || !diagnostics.is_empty() {
        members.insert("diagnostics".into(), json!(diagnostics));
    }
    members.into()
}

/// The fields that were asked for and are there.
fn fields(row: &TodoRow, projection: &BTreeSet<Field>, detail: Detail, members: &mut Map<String, Value>) {
    let entity = &row.resource.entity;
    let component = match &row.instance {
        Some(instance) => instance.component,
        None => entity.components().next().flatten(),
    };
    let Fields {
        summary,
        status,
        percent_complete,
        priority,
        categories,
        description,
        ..
    } = entity.component_fields(component);
    for field in projection {
        let (name, value) = match field {
            Field::Summary => ("summary", summary.as_ref().map(|it| json!(it))),
            Field::Status => ("status", status.as_ref().map(|it| json!(it))),
            Field::CompletedAt => (
                "completedAt",
                entity.completed_at(component).map(|it| compact::shown(&it, detail)),
            ),
            Field::PercentComplete => ("percentComplete", percent_complete.map(|it| json!(it))),
            Field::Due => ("due", row.due.as_ref().map(|it| evaluated(it, detail))),
            Field::Priority => ("priority", priority.map(|it| json!(it))),
            Field::Categories => ("categories", categories.as_ref().map(|it| json!(it))),
            Field::Start => ("start", row.start.as_ref().map(|it| evaluated(it, detail))),
            Field::Description => ("description", description.as_ref().map(|it| json!(it))),
            Field::Recurrence => ("recurrence", entity.recurrence().map(|it| json!(it))),
        };
        if let Some(mut value) = value {
            if detail == Detail::Compact {
                compact::plain(&mut value);
            }
            members.insert(name.into(), value);
        }
    }
}

/// A time as it is stored, and its moment where that takes a zone and can be shown.
fn evaluated(placed: &Placed, detail: Detail) -> Value {
    let source = compact::shown(&placed.source, detail);
    let moment = match placed.source {
        Temporal::Utc(_) => None,
        Temporal::Date(_) | Temporal::Floating(_) | Temporal::Zoned(..) => utc(placed.second),
    };
    let Some(moment) = moment else { return source };
    let mut pair = object([("source", source)]);
    match detail {
        Detail::Full => pair["evaluatedUtc"] = json!({"kind": "utcDateTime", "value": moment}),
        Detail::Compact if compact::tells(&placed.source, placed.second) => {}
        Detail::Compact => pair["evaluatedUtc"] = json!({"value": moment}),
    }
    pair
}

/// What completing the To-do takes, to be sent as it stands.
fn completion_target(row: &TodoRow, target: CompletionTarget) -> Value {
    let resource = &row.resource;
    match target {
        CompletionTarget::Direct => {
            let mut direct = json!({"kind": "direct", "entityRevision": resource.entity_revision()});
            if let Some(instance) = row.instance.as_ref().filter(|_| resource.entity.is_recurring()) {
                direct["recurrenceIdentity"] = json!(instance.identity);
            }
            direct
        }
        CompletionTarget::OccurrenceRequired => {
            json!({"kind": "occurrence_required", "entityRevision": resource.entity_revision()})
        }
        CompletionTarget::Unavailable => {
            json!({"kind": "unavailable", "resourceRevision": compact::resource_revision(resource)})
        }
    }
}

fn diagnostics(row: &TodoRow) -> Vec<Diagnostic> {
    let mut told = row.resource.diagnostics().into_owned();
    told.extend(row.remark.clone());
    told.sort();
    told.dedup();
    told
}

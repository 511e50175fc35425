//! What is to be done: To-dos by their state, when they are due, and in a window each of their occurrences.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use crate::account::Account;
use crate::env::Env;
use crate::exchange::Channel;
use crate::flow::{Flow, Io};
use crate::href::Href;
use crate::ical::completion::CompletionState;
use crate::ical::entity::Kind;
use crate::ical::expand::{Instance, Unevaluable};
use crate::ical::placement::{Placed, Placement};
use crate::ical::zone::Zone;
use crate::machine::Machine;
use crate::operation::Operation;
use crate::ops::gather::{Remarks, gather};
use crate::ops::query_entities::{is_wanted, touches};
use crate::ops::query_occurrences::bounded;
use crate::ops::scope::{self, Scope};
use crate::outcome::{Diagnostic, Error, Outcome, Phase, Violation};
use crate::query::text_filter::TextFilter;
use crate::query::window::{Bounds, is_within, seconds, violation, window_violation};
use crate::resource::Resource;

/// Asks for To-dos.
#[derive(Clone, Debug)]
pub struct QueryTodos {
    /// Which Calendars.
    pub scope: Scope,
    /// The states that are wanted.
    pub states: BTreeSet<CompletionState>,
    /// Recurring To-dos by their occurrences in this half-open window, others if they touch it or have no date; else
    /// every To-do once.
    pub window: Option<(Timestamp, Timestamp)>,
    /// Those due in this half-open window.
    pub due: Option<(Timestamp, Timestamp)>,
    /// What floating times and dates mean. Zoned times do not depend on it.
    pub evaluation: Zone,
    /// Those with text and categories: of any component, an occurrence by its own.
    pub filter: TextFilter,
}

/// The To-dos, in order of due time, start (both with none last), Calendar, UID, resource and identity.
#[derive(Debug, Default)]
pub struct Todos {
    /// One row a To-do or occurrence.
    pub rows: Vec<TodoRow>,
    /// How many rows are not there because their state cannot be told.
    pub excluded_indeterminate: usize,
    /// What could not be read or evaluated, and what is odd.
    pub diagnostics: Vec<Diagnostic>,
    /// Resources that were left out because a time zone of theirs cannot be resolved, in order.
    pub unresolved: Vec<Href>,
}

/// A To-do, or one occurrence of it.
#[derive(Clone, Debug)]
pub struct TodoRow {
    /// Shared by all occurrences of the resource.
    pub resource: Arc<Resource>,
    /// The occurrence.
    pub instance: Option<Arc<Instance>>,
    /// Whether it is done.
    pub state: CompletionState,
    /// Why its state cannot be told.
    pub remark: Option<Diagnostic>,
    /// Where it starts.
    pub start: Option<Placed>,
    /// When it is due: by DUE, or by DTSTART and DURATION.
    pub due: Option<Placed>,
}

/// What a row stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultKind {
    /// A whole To-do.
    Entity,
    /// An occurrence.
    Occurrence,
    /// A resource that cannot be understood.
    Unresolved,
}

/// What completing the To-do of a row needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionTarget {
    /// Its revision, and the identity if it is an occurrence.
    Direct,
    /// An occurrence has to be chosen first, by a query with a window.
    OccurrenceRequired,
    /// It cannot be completed: it is not understood, or has no strong Entity Tag.
    Unavailable,
}

impl TodoRow {
    /// What the row stands for.
    #[must_use]
    pub fn kind(&self) -> ResultKind {
        if self.resource.entity.opaque().is_some() {
            ResultKind::Unresolved
        } else if self.instance.is_some() {
            ResultKind::Occurrence
        } else {
            ResultKind::Entity
        }
    }

    /// What completing it needs.
    #[must_use]
    pub fn target(&self) -> CompletionTarget {
        if self.resource.entity_revision().is_none() {
            CompletionTarget::Unavailable
        } else if self.instance.is_none() && self.resource.entity.is_recurring() {
            CompletionTarget::OccurrenceRequired
        } else {
            CompletionTarget::Direct
        }
    }
}

impl Operation for QueryTodos {
    type Outcome = Outcome<Todos>;

    fn start(self, env: Env, account: &Arc<Account>) -> impl Machine<Output = Self::Outcome> + Send + 'static + use<> {
        let account = Arc::clone(account);
        Flow::new(
            env.now,
            move |io| async move { query(&io, &account, &env, &self).await },
        )
    }
}

async fn query(io: &Io, account: &Account, env: &Env, ask: &QueryTodos) -> Outcome<Todos> {
    let violations: Vec<Violation> = [
        ask.window.and_then(|(from, to)| window_violation(from, to)),
        ask.due.and_then(|(from, to)| violation(from, to, "dueFrom", "dueTo")),
    ]
    .into_iter()
    .flatten()
    .collect();
    if !violations.is_empty() {
        return Err(Error::violations(Phase::SchemaLexicalDiscriminator, violations));
    }
    let channel = Channel::reading(io, account, env);
    io.phase("discovery");
    let targets = scope::resolve(&channel, &ask.scope, &[Kind::Todo]).await?;
    let (mut rows, mut excluded_indeterminate) = (Vec::new(), 0);
    // No range is sent: servers leave out To-dos without dates then, each in its own way.
    let remarks = gather(
        &channel,
        targets,
        &ask.filter,
        |_| None,
        |remarks, resource| {
            if resource.entity.kind().is_none() || !is_wanted(&resource.entity, &[Kind::Todo]) {
                return Ok(());
            }
            let before = rows.len();
            for row in rows_of(remarks, &resource, ask)? {
                if ask.states.contains(&row.state) {
                    rows.push(row);
                } else if row.state == CompletionState::Indeterminate {
                    excluded_indeterminate += 1;
                }
            }
            if rows.len() > before {
                remarks.keep(&resource)?;
            }
            bounded(rows.len())
        },
    )
    .await?;
    rows.sort_by(|a, b| order(a).cmp(&order(b)));
    let (diagnostics, unresolved) = remarks.finish();
    Ok(Todos {
        rows,
        excluded_indeterminate,
        diagnostics,
        unresolved,
    })
}

fn order(row: &TodoRow) -> impl Ord {
    let last = |placed: &Option<Placed>| placed.as_ref().map_or((true, 0), |placed| (false, placed.second));
    let TodoRow { resource, instance, .. } = row;
    let uid = resource.entity.uid().unwrap_or("");
    let identity = instance.as_ref().map(|instance| &instance.identity);
    (
        last(&row.due),
        last(&row.start),
        &resource.calendar,
        uid,
        &resource.href,
        identity,
    )
}

/// The rows of a resource that the filters select, in any state.
fn rows_of(remarks: &mut Remarks, resource: &Arc<Resource>, ask: &QueryTodos) -> Outcome<Vec<TodoRow>> {
    let entity = &resource.entity;
    if entity.opaque().is_some() {
        if !ask.filter.is_empty() {
            return Ok(Vec::new());
        }
        if ask.window.is_some() || ask.due.is_some() {
            remarks.unfiltered(resource);
        }
        let text = "The To-do cannot be understood, so whether it is done is not known.";
        return Ok(vec![TodoRow {
            resource: Arc::clone(resource),
            instance: None,
            state: CompletionState::Indeterminate,
            remark: Some(Diagnostic::warning("completion_resource_unreadable", text)),
            start: None,
            due: None,
        }]);
    }
    let mut rows = match ask.window {
        Some((from, to)) if entity.has_occurrences() => occurrences(remarks, resource, ask, from, to)?,
        window => whole(remarks, resource, ask, window)?.into_iter().collect(),
    };
    if let Some((from, to)) = ask.due {
        let window = seconds(from, to);
        let is_due = |due: &Placed| window.holds(due.second, due.second) && is_within(from, due.second, due.second);
        rows.retain(|row| row.due.as_ref().is_some_and(is_due));
    }
    Ok(rows)
}

fn occurrences(
    remarks: &mut Remarks,
    resource: &Arc<Resource>,
    ask: &QueryTodos,
    from: Timestamp,
    to: Timestamp,
) -> Outcome<Vec<TodoRow>> {
    let entity = &resource.entity;
    let instances = remarks.occurrences(resource, &ask.evaluation, seconds(from, to))?;
    let mut rows = Vec::new();
    for instance in instances.iter().flat_map(|instances| instances.iter()) {
        let selected =
            is_within(from, instance.from, instance.to) && ask.filter.selects_component(entity, instance.component);
        if !selected {
            continue;
        }
        let Ok(due) = entity.end_of(instance, &ask.evaluation) else {
            remarks.unresolved(resource);
            return Ok(Vec::new());
        };
        let start = Placed {
            source: instance.start.clone(),
            second: instance.from,
        };
        let component = instance.component;
        rows.push(TodoRow {
            start: Some(start),
            due,
            ..row(resource, component, Some(Arc::new(instance.clone())))
        });
    }
    Ok(rows)
}

/// The row of a To-do as a whole.
fn whole(
    remarks: &mut Remarks,
    resource: &Arc<Resource>,
    ask: &QueryTodos,
    window: Option<(Timestamp, Timestamp)>,
) -> Outcome<Option<TodoRow>> {
    let entity = &resource.entity;
    if !ask.filter.selects_any(entity) {
        return Ok(None);
    }
    if let Some((from, to)) = window {
        let evaluation = ask.evaluation.clone();
        if !touches(remarks, resource, &Bounds { from, to, evaluation })? {
            return Ok(None);
        }
    }
    let Placement { start, end } = match entity.placement(&ask.evaluation) {
        Ok(placement) => placement,
        Err(Unevaluable::Zone(_)) => {
            remarks.unresolved(resource);
            return Ok(None);
        }
        Err(_) => Placement::default(),
    };
    let row = row(resource, entity.components().next().flatten(), None);
    Ok(Some(TodoRow { start, due: end, ..row }))
}

fn row(resource: &Arc<Resource>, component: Option<usize>, instance: Option<Arc<Instance>>) -> TodoRow {
    let (state, remark) = match resource.entity.completion(component) {
        Some(Ok(state)) => (state, None),
        Some(Err(remark)) => (CompletionState::Indeterminate, Some(remark)),
        None => (CompletionState::Indeterminate, None),
    };
    TodoRow {
        resource: Arc::clone(resource),
        instance,
        state,
        remark,
        start: None,
        due: None,
    }
}

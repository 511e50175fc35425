//! Events and To-dos as they are stored, each once: all of them, or those that a window touches.

use std::sync::Arc;

use crate::account::Account;
use crate::env::Env;
use crate::exchange::Channel;
use crate::flow::{Flow, Io};
use crate::href::Href;
use crate::ical::entity::{Entity, Kind};
use crate::ical::expand::Unevaluable;
use crate::machine::Machine;
use crate::operation::Operation;
use crate::ops::gather::{Remarks, gather};
use crate::ops::query_occurrences::bounded;
use crate::ops::scope::{self, Scope};
use crate::outcome::{Diagnostic, Error, Outcome, Phase};
use crate::query::text_filter::TextFilter;
use crate::query::window::{Bounds, is_within, seconds, window_violation};
use crate::resource::Resource;

/// Asks for stored Events and To-dos.
#[derive(Clone, Debug)]
pub struct QueryEntities {
    /// Which Calendars.
    pub scope: Scope,
    /// Which kinds.
    pub kinds: Vec<Kind>,
    /// Those with an occurrence in this window, and To-dos without any date; else all.
    pub window: Option<Bounds>,
    /// Those with a component that this selects.
    pub filter: TextFilter,
}

/// The resources, in order of Calendar and resource.
#[derive(Debug, Default)]
pub struct Entities {
    /// One row a resource. What cannot be understood is among them, unless a filter was given.
    pub rows: Vec<Arc<Resource>>,
    /// What could not be read or evaluated, and what is odd.
    pub diagnostics: Vec<Diagnostic>,
    /// Resources that were left out because a time zone of theirs cannot be resolved, in order.
    pub unresolved: Vec<Href>,
}

impl Operation for QueryEntities {
    type Outcome = Outcome<Entities>;

    fn start(self, env: Env, account: &Arc<Account>) -> impl Machine<Output = Self::Outcome> + Send + 'static + use<> {
        let account = Arc::clone(account);
        Flow::new(
            env.now,
            move |io| async move { query(&io, &account, &env, &self).await },
        )
    }
}

async fn query(io: &Io, account: &Account, env: &Env, ask: &QueryEntities) -> Outcome<Entities> {
    let violation = ask
        .window
        .as_ref()
        .and_then(|window| window_violation(window.from, window.to));
    if let Some(violation) = violation {
        return Err(Error::violations(Phase::SchemaLexicalDiscriminator, vec![violation]));
    }
    let channel = Channel::reading(io, account, env);
    io.phase("discovery");
    let targets = scope::resolve(&channel, &ask.scope, &ask.kinds).await?;
    // Servers leave out To-dos without dates where a range is given, each in its own way.
    let window = |kind| match kind {
        Kind::Event => ask.window.as_ref().map(|window| seconds(window.from, window.to)),
        Kind::Todo => None,
    };
    let mut rows = Vec::new();
    let remarks = gather(&channel, targets, &ask.filter, window, |remarks, resource| {
        if !is_wanted(&resource.entity, &ask.kinds) || !selects(remarks, &resource, ask)? {
            return Ok(());
        }
        remarks.keep(&resource)?;
        rows.push(resource);
        bounded(rows.len())
    })
    .await?;
    rows.sort_by(|a, b| (&a.calendar, &a.href).cmp(&(&b.calendar, &b.href)));
    let (diagnostics, unresolved) = remarks.finish();
    Ok(Entities {
        rows,
        diagnostics,
        unresolved,
    })
}

/// Whether a resource is of a kind that was asked for. Where servers list everything there are others, such as journals.
pub(crate) fn is_wanted(entity: &Entity, kinds: &[Kind]) -> bool {
    match (entity.kind(), entity.opaque()) {
        (Some(kind), _) => kinds.contains(&kind),
        (None, Some("unsupported_entity_component" | "entity_master_missing")) => false,
        (None, _) => true,
    }
}

fn selects(remarks: &mut Remarks, resource: &Resource, ask: &QueryEntities) -> Outcome<bool> {
    let entity = &resource.entity;
    if entity.opaque().is_some() {
        let kept = ask.filter.is_empty();
        if kept && ask.window.is_some() {
            remarks.unfiltered(resource);
        }
        return Ok(kept);
    }
    if !ask.filter.selects_any(entity) {
        return Ok(false);
    }
    match &ask.window {
        None => Ok(true),
        Some(bounds) => touches(remarks, resource, bounds),
    }
}

/// Whether a resource has something in the window. A To-do without any date is always current.
pub(crate) fn touches(remarks: &mut Remarks, resource: &Resource, bounds: &Bounds) -> Outcome<bool> {
    let window = seconds(bounds.from, bounds.to);
    let entity = &resource.entity;
    if entity.kind() == Some(Kind::Event) || entity.has_occurrences() {
        let instances = remarks.occurrences(resource, &bounds.evaluation, window)?;
        return Ok(instances
            .iter()
            .flat_map(|instances| instances.iter())
            .any(|instance| is_within(bounds.from, instance.from, instance.to)));
    }
    let placement = match entity.placement(&bounds.evaluation) {
        Ok(placement) => placement,
        Err(Unevaluable::Zone(_)) => {
            remarks.unresolved(resource);
            return Ok(false);
        }
        Err(_) => return Ok(false),
    };
    let (from, to) = match (placement.start, placement.end) {
        (None, None) => return Ok(true),
        (Some(start), None) => (start.second, start.second),
        (None, Some(due)) => (due.second, due.second),
        (Some(start), Some(due)) => (start.second, due.second.max(start.second)),
    };
    Ok(window.holds(from, to) && is_within(bounds.from, from, to))
}

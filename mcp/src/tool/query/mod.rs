//! What the three queries share: Start and Continue, the rows that are kept for later pages, and the members of a page.
//!
//! A Start asks the server and keeps the rows, typed, if they do not fit on one page. A Continue renders its page from
//! what is kept and asks nobody; the same cursor gives the same page.

pub(crate) mod arguments;

use std::collections::BTreeSet;
use std::sync::Arc;

use kalends_core::href::Href;
use kalends_core::ical::expand::Instance;
use kalends_core::ical::zone::Zone;
use kalends_core::ops::query_occurrences::Occurrences;
use kalends_core::outcome::{Diagnostic, Outcome};
use kalends_core::query::cursor::{Position, expired};
use kalends_core::query::snapshot::Weight;
use kalends_core::resource::Resource;
use serde_json::{Map, Value, json};

use crate::session::Session;
use crate::tool::Shown;
use crate::tool::compact::{Detail, drop_empty};
use crate::tool::todos_query::Found;
use crate::tool::{calendar_entities_query, calendar_occurrences_query, todos_query};

/// The most hrefs of resources that were left out.
const MAX_UNRESOLVED: usize = 25;

/// The evaluation zone of a query, and who named it.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) zone: Zone,
    pub(crate) source: &'static str,
}

/// The rows of a query, in order.
#[derive(Debug)]
pub(crate) enum Rows {
    Entities(Vec<Arc<Resource>>),
    /// With the zone that they were evaluated in.
    Occurrences(Occurrences, Zone),
    Todos(Found),
}

/// The result of a Start, as it is kept for its later pages.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) rows: Rows,
    pub(crate) context: Option<Context>,
    pub(crate) detail: Detail,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Resources that were left out because a zone of theirs is unknown.
    pub(crate) unresolved: Vec<Href>,
}

/// The first page of a result. The rest is kept, and space for it is found before a cursor is issued.
///
/// # Errors
/// `busy` or `limit_exhausted` if there is no space.
pub(crate) fn first(session: &Session, tool: &str, held: Held, size: usize) -> Outcome<Shown> {
    if held.rows.len() <= size {
        return Ok(held.page(0, size, None));
    }
    let (now, weight, held) = (session.engine.now(), held.rows.weight(), Arc::new(held));
    let (snapshot, expires) = session.snapshots(|store| store.keep(now, Arc::clone(&held), weight))?;
    let position = Position {
        snapshot,
        row: size as u32,
        expires,
        zone: held.zone().to_owned(),
    };
    Ok(held.page(0, size, Some(session.cursors.seal(tool, &position))))
}

/// The page of a cursor.
///
/// # Errors
/// `invalid_input` for what is no cursor of this tool, `cursor_expired`.
pub(crate) fn next(session: &Session, tool: &str, cursor: &str, size: usize) -> Outcome<Shown> {
    let now = session.engine.now();
    let position = session.cursors.open(tool, cursor, now)?;
    let held = session.snapshots(|store| store.get(now, position.snapshot));
    let held = held.filter(|held| held.zone() == position.zone).ok_or_else(expired)?;
    let from = position.row as usize;
    let more = from + size < held.rows.len();
    let following = more.then(|| {
        let row = position.row + size as u32;
        session.cursors.seal(tool, &Position { row, ..position })
    });
    Ok(held.page(from, size, following))
}

impl Held {
    /// The name of the evaluation zone, empty if there is none.
    fn zone(&self) -> &str {
        self.context.as_ref().map_or("", |context| context.zone.name())
    }

    fn page(&self, from: usize, size: usize, following: Option<String>) -> Shown {
        let mut page = Map::new();
        page.insert("outcome".into(), json!("success"));
        page.insert("items".into(), self.items(from, size).into());
        page.insert("diagnostics".into(), json!(self.diagnostics));
        if let Rows::Todos(found) = &self.rows {
            page.insert("excludedIndeterminateCount".into(), json!(found.excluded_indeterminate));
        }
        if let Some(Context { zone, source }) = &self.context {
            let context = json!({"timeZone": zone.name(), "source": source});
            page.insert("temporalEvaluationContext".into(), context);
        }
        if !self.unresolved.is_empty() {
            let hrefs: Vec<&Href> = self.unresolved.iter().take(MAX_UNRESOLVED).collect();
            let left_out = json!({"count": self.unresolved.len(), "hrefs": hrefs});
            page.insert("temporallyUnresolved".into(), left_out);
        }
        let pagination = json!({"mode": "query_result_snapshot", "nextCursor": following});
        page.insert("pagination".into(), pagination);
        if self.detail == Detail::Compact {
            drop_empty(&mut page, &["diagnostics"]);
        }
        Shown {
            value: page.into(),
            detail: self.detail,
        }
    }

    fn items(&self, from: usize, size: usize) -> Vec<Value> {
        match &self.rows {
            Rows::Entities(rows) => {
                let shown = |row: &Arc<Resource>| calendar_entities_query::shown(row, self.detail);
                rows.iter().skip(from).take(size).map(shown).collect()
            }
            Rows::Occurrences(found, evaluation) => {
                let shown = |row| calendar_occurrences_query::shown(row, evaluation, self.detail);
                found.rows.iter().skip(from).take(size).map(shown).collect()
            }
            Rows::Todos(Found { rows, projection, .. }) => {
                let shown = |row| todos_query::shown(row, projection, self.detail);
                rows.iter().skip(from).take(size).map(shown).collect()
            }
        }
    }
}

impl Rows {
    fn len(&self) -> usize {
        match self {
            Self::Entities(rows) => rows.len(),
            Self::Occurrences(found, _) => found.rows.len(),
            Self::Todos(found) => found.rows.len(),
        }
    }

    /// What the rows keep alive. A resource that several share counts once.
    fn weight(&self) -> Weight {
        match self {
            Self::Entities(rows) => weight(rows, |row| row),
            Self::Todos(found) => {
                let weight = weight(&found.rows, |row| &row.resource);
                let instances = found.rows.iter().filter(|row| row.instance.is_some());
                weight.with(instances.count() * size_of::<Instance>())
            }
            Self::Occurrences(found, _) => Weight {
                items: found.rows.len(),
                bytes: found.bytes,
            },
        }
    }
}

fn weight<T>(rows: &[T], resource: impl Fn(&T) -> &Arc<Resource>) -> Weight {
    let mut seen = BTreeSet::new();
    let resources = rows.iter().map(resource);
    let distinct = resources.filter(|resource| seen.insert(Arc::as_ptr(&resource.entity)));
    let bytes: usize = distinct.map(|resource| resource.entity.footprint()).sum();
    Weight {
        items: rows.len(),
        bytes: bytes + size_of_val(rows),
    }
}

#[cfg(test)]
mod tests {
    use kalends_core::ical::entity::Entity;

    use super::*;

    #[test]
    fn a_resource_that_several_rows_share_counts_once() {
        let resource = |name: &str, entity: &Arc<Entity>| {
            Arc::new(Resource {
                calendar: Href::parse("https://dav.example/work/").unwrap(),
                href: Href::parse(&format!("https://dav.example/work/{name}")).unwrap(),
                etag: None,
                entity: Arc::clone(entity),
            })
        };
        let (one, other) = (vec![b'x'; 1000], vec![b'y'; 3000]);
        let [one, other] = [one, other].map(|octets| Arc::new(Entity::read(octets.into())));
        let (first, second) = (resource("a", &one), resource("b", &other));
        let rows = [&first, &first, &second, &first].map(Arc::clone).to_vec();
        let weight = Rows::Entities(rows).weight();
        let pointers = 4 * size_of::<Arc<Resource>>();
        assert_eq!(
            weight,
            Weight {
                items: 4,
                bytes: one.footprint() + other.footprint() + pointers
            }
        );
        assert!(weight.bytes >= 4000);
    }
}

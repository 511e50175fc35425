//! What is on in a window: every occurrence of Events and dated To-dos, evaluated locally.

use std::sync::Arc;

use jiff::Timestamp;

use crate::account::Account;
use crate::env::Env;
use crate::exchange::{Channel, exhausted};
use crate::flow::{Flow, Io};
use crate::href::Href;
use crate::ical::entity::Kind;
use crate::ical::expand::Instance;
use crate::ical::series::Occurrence;
use crate::ical::zone::Zone;
use crate::machine::Machine;
use crate::operation::Operation;
use crate::ops::gather::{Gathered, gather_unless};
use crate::ops::scope::{self, Scope};
use crate::outcome::{Diagnostic, Dimension, Error, Outcome, Phase};
use crate::query::text_filter::TextFilter;
use crate::query::window::{is_within, seconds, window_violation};
use crate::resource::Resource;

/// The most occurrences of one query.
pub const MAX_OCCURRENCES: usize = 50_000;

/// Asks for the occurrences that overlap a half-open window.
#[derive(Clone, Debug)]
pub struct QueryOccurrences {
    /// Which Calendars.
    pub scope: Scope,
    /// First instant of the window.
    pub from: Timestamp,
    /// First instant after the window.
    pub to: Timestamp,
    /// What floating times and dates mean. Zoned times do not depend on it.
    pub evaluation: Zone,
    /// Which of them, by their own component's text and categories.
    pub filter: TextFilter,
}

/// The occurrences, in order of evaluated start, Calendar, UID, identity and resource.
#[derive(Clone, Debug, Default)]
pub struct Occurrences {
    /// One row an occurrence; cancelled ones are left out. Shared with what is kept for the same question.
    pub rows: Arc<[OccurrenceRow]>,
    /// Octets that the rows keep alive.
    pub bytes: usize,
    /// What could not be read or evaluated, and what is odd.
    pub diagnostics: Vec<Diagnostic>,
    /// Resources that were left out because a time zone of theirs cannot be resolved, in order.
    pub unresolved: Vec<Href>,
}

/// One occurrence, with the resource that it comes from.
#[derive(Clone, Debug)]
pub struct OccurrenceRow {
    /// Shared by all occurrences of the resource.
    pub resource: Arc<Resource>,
    /// Identity, effective time and evaluated time.
    pub instance: Occurrence,
}

impl Operation for QueryOccurrences {
    type Outcome = Outcome<Occurrences>;

    fn start(self, env: Env, account: &Arc<Account>) -> impl Machine<Output = Self::Outcome> + Send + 'static + use<> {
        let account = Arc::clone(account);
        Flow::new(
            env.now,
            move |io| async move { query(&io, &account, &env, &self).await },
        )
    }
}

async fn query(io: &Io, account: &Account, env: &Env, ask: &QueryOccurrences) -> Outcome<Occurrences> {
    if let Some(violation) = window_violation(ask.from, ask.to) {
        return Err(Error::violations(Phase::SchemaLexicalDiscriminator, vec![violation]));
    }
    let channel = Channel::reading(io, account, env);
    io.phase("discovery");
    let targets = scope::resolve(&channel, &ask.scope, &[Kind::Event, Kind::Todo]).await?;
    let window = seconds(ask.from, ask.to);
    // Which Calendars these are is told by what they hold.
    let question = ask.evaluation.is_iana().then(|| Question {
        from: ask.from,
        to: ask.to,
        evaluation: ask.evaluation.name().to_owned(),
        filter: ask.filter.clone(),
        diagnostics: targets.diagnostics.clone(),
    });
    let (mut rows, mut bytes) = (Vec::new(), 0);
    let gathered = gather_unless(
        &channel,
        targets,
        &ask.filter,
        |_| Some(window),
        |remarks, resource| {
            if resource.entity.opaque().is_some() {
                remarks.leave_out("opaque_resource", &resource);
                return Ok(());
            }
            let Some(instances) = remarks.occurrences(&resource, &ask.evaluation, window)? else {
                return Ok(());
            };
            let before = rows.len();
            let chosen = Occurrence::chosen(&instances, |instance| {
                !instance.cancelled
                    && is_within(ask.from, instance.from, instance.to)
                    && ask.filter.selects_component(&resource.entity, instance.component)
            });
            rows.extend(chosen.into_iter().map(|instance| OccurrenceRow {
                resource: Arc::clone(&resource),
                instance,
            }));
            if rows.len() > before {
                bytes += resource.entity.footprint();
                remarks.keep(&resource)?;
            }
            bounded(rows.len())
        },
        |listings| account.shelf(|shelf| shelf.recall(question.as_ref()?, listings)),
    )
    .await?;
    let (remarks, listings) = match gathered {
        Gathered::Known(found) => return Ok(found),
        Gathered::New(remarks, listings) => (remarks, listings),
    };
    let rows = in_order(rows);
    let own = rows.len() * (size_of::<OccurrenceRow>() + size_of::<Instance>());
    let (diagnostics, unresolved) = remarks.finish();
    let found = Occurrences {
        rows,
        bytes: bytes + own,
        diagnostics,
        unresolved,
    };
    if let Some((question, listings)) = question.zip(listings) {
        account.shelf(|shelf| shelf.made(question, listings, found.clone(), own));
    }
    Ok(found)
}

/// What a result depends on beside what the Calendars hold.
#[derive(PartialEq)]
struct Question {
    from: Timestamp,
    to: Timestamp,
    evaluation: String,
    filter: TextFilter,
    diagnostics: Vec<Diagnostic>,
}

/// The starts lie behind two pointers each, so they are brought together first.
fn in_order(rows: Vec<OccurrenceRow>) -> Arc<[OccurrenceRow]> {
    let mut places: Vec<(i64, usize)> = rows.iter().map(|row| row.instance.from).zip(0..).collect();
    places.sort_unstable_by(|(from, a), (later, b)| {
        from.cmp(later)
            .then_with(|| order(&rows[*a]).cmp(&order(&rows[*b])))
            .then(a.cmp(b))
    });
    let mut rows: Vec<Option<OccurrenceRow>> = rows.into_iter().map(Some).collect();
    places.into_iter().filter_map(|(_, at)| rows[at].take()).collect()
}

fn order(row: &OccurrenceRow) -> impl Ord {
    let OccurrenceRow { resource, instance } = row;
    let uid = resource.entity.uid().unwrap_or("");
    (
        instance.from,
        &resource.calendar,
        uid,
        &instance.identity,
        &resource.href,
    )
}

/// # Errors
/// `limit_exhausted`.
pub(crate) fn bounded(rows: usize) -> Outcome<()> {
    if rows <= MAX_OCCURRENCES {
        return Ok(());
    }
    let message = "The query finds more than it may return. Ask for a smaller window or fewer Calendars.";
    Err(exhausted(Dimension::ResourceCount, rows, MAX_OCCURRENCES, message))
}

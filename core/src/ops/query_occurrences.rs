//! What is on in a window: every occurrence of Events and dated To-dos, evaluated locally.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};

use crate::account::Account;
use crate::env::Env;
use crate::exchange::{Channel, exhausted};
use crate::flow::{Flow, IN_FLIGHT, Io, windowed};
use crate::href::{Href, HrefKey};
use crate::ical::entity::{Entity, Kind};
use crate::ical::expand::{self, Instance, Unevaluable, Window};
use crate::ical::recur::Steps;
use crate::ical::zone::Zone;
use crate::machine::Machine;
use crate::operation::Operation;
use crate::ops::fetch::{self, Member, Tally};
use crate::ops::scope::{self, Scope, Target};
use crate::outcome::{Diagnostic, Dimension, Error, Outcome, Phase, Violation};
use crate::query::text_filter::TextFilter;
use crate::resource::Resource;

/// The longest window, in days.
pub const MAX_WINDOW_DAYS: i64 = 366;
/// The most occurrences of one query.
pub const MAX_OCCURRENCES: usize = 50_000;
/// Resources that are evaluated before the host may breathe.
const BREATH: usize = 64;
/// The most evaluation steps of one resource: some 50 ms of work.
const RESOURCE_STEPS: u64 = 1_000_000;
/// The most content lines of all resources that one query keeps.
const QUERY_LINES: usize = 2_000_000;
/// The most evaluation steps of one query.
const QUERY_STEPS: u64 = 20_000_000;

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
#[derive(Debug, Default)]
pub struct Occurrences {
    /// One row an occurrence; cancelled ones are left out.
    pub rows: Vec<OccurrenceRow>,
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
    pub instance: Instance,
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
    check(ask)?;
    let channel = Channel::reading(io, account, env);
    io.phase("discovery");
    let (targets, diagnostics) = scope::resolve(&channel, &ask.scope, &[Kind::Event, Kind::Todo]).await?;
    io.phase("fetch");
    let window = Window {
        from: ask.from.as_second(),
        to: ceiling(ask.to),
    };
    let tally = Tally::default();
    let gathering = Mutex::new(Gathering::new(ask, window, diagnostics));
    let gather = async |calendar: &Href, kind| {
        let fetched = fetch::members(&channel, calendar, kind, window, &tally).await?;
        lock(&gathering).found.diagnostics.extend(fetched.diagnostics);
        // What came first is evaluated while other answers are on their way.
        for (at, member) in fetched.members.into_iter().enumerate() {
            if at % BREATH == BREATH - 1 {
                channel.breathe().await?;
            }
            lock(&gathering).take(member)?;
        }
        Outcome::Ok(())
    };
    let pairs = targets
        .iter()
        .flat_map(|Target { calendar, kinds }| kinds.iter().map(move |kind| (calendar, *kind)));
    let jobs = pairs.map(|(calendar, kind)| gather(calendar, kind)).collect();
    windowed(IN_FLIGHT, jobs).await?;
    io.phase("order");
    Ok(gathering.into_inner().unwrap_or_else(PoisonError::into_inner).finish())
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn check(ask: &QueryOccurrences) -> Outcome<()> {
    match window_violation(ask.from, ask.to) {
        None => Ok(()),
        Some(violation) => Err(Error::violations(Phase::SchemaLexicalDiscriminator, vec![violation])),
    }
}

/// What is wrong with a window, if anything: it is empty, or longer than [`MAX_WINDOW_DAYS`].
#[must_use]
pub fn window_violation(from: Timestamp, to: Timestamp) -> Option<Violation> {
    let message = if to <= from {
        "Send a to that is later than from.".to_owned()
    } else if to.duration_since(from) > SignedDuration::from_hours(24 * MAX_WINDOW_DAYS) {
        format!("Send a window of at most {MAX_WINDOW_DAYS} days; ask for less at a time.")
    } else {
        return None;
    };
    Some(Violation {
        pointer: "/to".into(),
        code: "out_of_range",
        message: Some(message),
    })
}

fn ceiling(instant: Timestamp) -> i64 {
    instant.as_second() + i64::from(instant.subsec_nanosecond() > 0)
}

/// Collects rows and remarks while resources come in.
struct Gathering<'a> {
    ask: &'a QueryOccurrences,
    window: Window,
    found: Occurrences,
    left_out: BTreeMap<&'static str, Vec<Href>>,
    uids: BTreeMap<(Href, String), Vec<Href>>,
    seen: BTreeSet<HrefKey>,
    steps: u64,
    lines: usize,
}

impl<'a> Gathering<'a> {
    fn new(ask: &'a QueryOccurrences, window: Window, diagnostics: Vec<Diagnostic>) -> Self {
        let (left_out, uids, seen) = Default::default();
        let found = Occurrences {
            diagnostics,
            ..Occurrences::default()
        };
        Self {
            ask,
            window,
            found,
            left_out,
            uids,
            seen,
            steps: 0,
            lines: 0,
        }
    }

    fn take(&mut self, member: Member) -> Outcome<()> {
        // Some servers ignore the component filter and give a resource for Events and To-dos alike.
        if !self.seen.insert(member.href.key()) {
            return Ok(());
        }
        let Member {
            calendar,
            href,
            etag,
            body,
        } = member;
        let resource = Resource {
            calendar,
            href,
            etag,
            entity: Entity::read(body),
        };
        if let Some(uid) = resource.entity.uid() {
            self.uids
                .entry((resource.calendar.clone(), uid.to_owned()))
                .or_default()
                .push(resource.href.clone());
        }
        if resource.entity.opaque().is_some() {
            self.left_out.entry("opaque_resource").or_default().push(resource.href);
            return Ok(());
        }
        let mut steps = Steps::new(RESOURCE_STEPS);
        let instances = resource
            .entity
            .occurrences(&self.ask.evaluation, self.window, &mut steps);
        self.steps += steps.used();
        if self.steps > QUERY_STEPS {
            let message = "The recurrence rules in the window take more work than one query may do. Ask for a smaller window or fewer Calendars.";
            let (observed, limit) = (self.steps as usize, QUERY_STEPS as usize);
            return Err(exhausted(Dimension::AttemptCount, observed, limit, message));
        }
        let instances = match instances {
            Ok(instances) => instances,
            Err(Unevaluable::Zone(_)) => {
                self.found.unresolved.push(resource.href);
                return Ok(());
            }
            Err(Unevaluable::Occurrences) => {
                let limit = expand::MAX_OCCURRENCES;
                let message =
                    "One resource has more occurrences in the window than are returned. Ask for a smaller window.";
                return Err(exhausted(Dimension::ResourceCount, limit + 1, limit, message));
            }
            Err(_) => {
                self.left_out
                    .entry("recurrence_unevaluable")
                    .or_default()
                    .push(resource.href);
                return Ok(());
            }
        };
        let resource = Arc::new(resource);
        let before = self.found.rows.len();
        for instance in instances {
            if !instance.cancelled && self.overlaps(&instance) && self.selects(&resource, &instance) {
                self.found.rows.push(OccurrenceRow {
                    resource: Arc::clone(&resource),
                    instance,
                });
            }
        }
        if self.found.rows.len() > before {
            self.lines += resource.entity.document().line_count();
        }
        if self.lines > QUERY_LINES {
            let message =
                "The resources in the window hold more lines than one query may keep. Ask for a smaller window.";
            return Err(exhausted(Dimension::ResourceCount, self.lines, QUERY_LINES, message));
        }
        if self.found.rows.len() > MAX_OCCURRENCES {
            let message = "The window holds more occurrences than one query may return. Ask for a smaller window.";
            return Err(exhausted(
                Dimension::ResourceCount,
                self.found.rows.len(),
                MAX_OCCURRENCES,
                message,
            ));
        }
        Ok(())
    }

    /// The window in whole seconds is a little too wide at its start for an instant (RFC 4791, 9.9).
    fn overlaps(&self, instance: &Instance) -> bool {
        instance.from != instance.to
            || instance.from > self.ask.from.as_second()
            || (instance.from == self.ask.from.as_second() && self.ask.from.subsec_nanosecond() == 0)
    }

    fn selects(&self, resource: &Resource, instance: &Instance) -> bool {
        if self.ask.filter.is_empty() {
            return true;
        }
        let own = resource.entity.searchable(instance.component);
        let texts = [
            own.summary.as_deref(),
            own.description.as_deref(),
            own.location.as_deref(),
        ];
        self.ask.filter.selects(&texts, &own.categories)
    }

    fn finish(mut self) -> Occurrences {
        let order = |row: &OccurrenceRow| {
            let (resource, instance) = (&row.resource, &row.instance);
            (
                instance.from,
                resource.calendar.clone(),
                resource.entity.uid().unwrap_or("").to_owned(),
                instance.identity.clone(),
                resource.href.clone(),
            )
        };
        self.found.rows.sort_by_cached_key(order);
        self.found.unresolved.sort();
        for (code, mut hrefs) in std::mem::take(&mut self.left_out) {
            hrefs.sort();
            let message = match code {
                "opaque_resource" => "These resources cannot be understood and are left out; read them one by one",
                _ => {
                    "The recurrence of these resources cannot be evaluated, so they are left out; read them one by one"
                }
            };
            self.found
                .diagnostics
                .push(Diagnostic::warning(code, listed(message, &hrefs)));
        }
        for hrefs in self.uids.values().filter(|hrefs| hrefs.len() > 1) {
            let message = "These resources of one Calendar share a UID; address them by href";
            self.found
                .diagnostics
                .push(Diagnostic::warning("uid_not_unique", listed(message, hrefs)));
        }
        self.found.diagnostics.sort();
        self.found.diagnostics.dedup();
        self.found.diagnostics.truncate(32);
        self.found
    }
}

/// A remark with how many there are and the first few hrefs.
fn listed(message: &str, hrefs: &[Href]) -> String {
    let shown: Vec<&str> = hrefs.iter().take(5).map(Href::as_str).collect();
    let more = if hrefs.len() > shown.len() { " , …" } else { "" };
    format!("{message} ({}): {}{more}", hrefs.len(), shown.join(" , "))
}

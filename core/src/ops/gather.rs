//! What all queries do: read every resource of the selected Calendars once, and say what is odd about them.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::exchange::{Channel, exhausted};
use crate::flow::{IN_FLIGHT, windowed};
use crate::href::{Href, HrefKey};
use crate::ical::entity::Kind;
use crate::ical::expand::{self, Instance, Unevaluable, Window};
use crate::ical::recur::Steps;
use crate::ical::zone::Zone;
use crate::ops::fetch::{self, Ask, BREATH, Member, Tally, Told};
use crate::ops::scope::{Target, Targets};
use crate::outcome::{Diagnostic, Dimension, Outcome};
use crate::query::shelf::Listing;
use crate::query::text_filter::TextFilter;
use crate::resource::Resource;

/// The most evaluation steps of one resource: some 50 ms of work.
const RESOURCE_STEPS: u64 = 1_000_000;
/// The most evaluation steps of one query.
const QUERY_STEPS: u64 = 20_000_000;
/// The most content lines of all resources that one query keeps.
const QUERY_LINES: usize = 2_000_000;
/// The most diagnostics of a query.
const MAX_DIAGNOSTICS: usize = 32;

/// Reads the resources of these Calendars that may touch the window of their kind, and gives each to `take` once.
///
/// # Errors
/// Those of [`fetch::members`], and what `take` returns.
pub(crate) async fn gather<T>(
    channel: &Channel<'_>,
    targets: Targets,
    filter: &TextFilter,
    window: impl Fn(Kind) -> Option<Window>,
    take: T,
) -> Outcome<Remarks>
where
    T: FnMut(&mut Remarks, Arc<Resource>) -> Outcome<()>,
{
    match gather_unless(channel, targets, filter, window, take, |_| None::<Infallible>).await? {
        Gathered::New(remarks, _) => Ok(remarks),
        Gathered::Known(never) => match never {},
    }
}

/// What was gathered.
pub(crate) enum Gathered<R> {
    /// Nothing: the result is known, since all members are the same as when it was made.
    Known(R),
    /// Each resource was given; with what was named, if the next answers can be held against it.
    New(Remarks, Option<Vec<Arc<Listing>>>),
}

/// The same, unless `known` has the result that follows from what the Calendars hold.
///
/// # Errors
/// As there.
pub(crate) async fn gather_unless<T, R>(
    channel: &Channel<'_>,
    targets: Targets,
    filter: &TextFilter,
    window: impl Fn(Kind) -> Option<Window>,
    take: T,
    known: impl Fn(&[Arc<Listing>]) -> Option<R>,
) -> Outcome<Gathered<R>>
where
    T: FnMut(&mut Remarks, Arc<Resource>) -> Outcome<()>,
{
    channel.io.phase("fetch");
    let tally = Tally::default();
    let gathering = Mutex::new((Remarks::new(targets.diagnostics), take));
    let receive = |Member { key, resource }: Member| {
        let (remarks, take) = &mut *lock(&gathering);
        // Some servers ignore the component filter and give a resource for Events and To-dos alike.
        if !remarks.seen.insert(key) {
            return Ok(());
        }
        remarks.meet(&resource);
        take(remarks, resource)
    };
    let jobs = targets.calendars.iter().flat_map(|Target { calendar, kinds }| {
        let asks = kinds.iter().map(move |kind| (calendar, *kind));
        asks.map(|(calendar, kind)| {
            let ask = Ask {
                calendar,
                kind,
                window: window(kind),
                filter,
            };
            // What came first is evaluated while other answers are on their way.
            fetch::members(channel, ask, &tally, &receive)
        })
        .collect::<Vec<_>>()
    });
    let told = windowed(IN_FLIGHT, jobs.collect()).await?;
    let listings: Option<Vec<_>> = told.iter().map(|told| told.listing().cloned()).collect();
    let same: Vec<_> = told.iter().filter_map(Told::same).collect();
    let all = listings.as_ref().filter(|_| same.len() == told.len());
    if let Some(known) = all.and_then(|listings| known(listings)) {
        channel.io.phase("order");
        return Ok(Gathered::Known(known));
    }
    for listing in same {
        for (at, member) in listing.members().iter().enumerate() {
            receive(Member {
                key: member.key.clone(),
                resource: Arc::clone(&member.resource),
            })?;
            if at % BREATH == BREATH - 1 {
                channel.breathe().await?;
            }
        }
    }
    let (mut remarks, _) = gathering.into_inner().unwrap_or_else(PoisonError::into_inner);
    remarks.diagnostics.extend(tally.diagnostics());
    channel.io.phase("order");
    Ok(Gathered::New(remarks, listings))
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a query has to say beside its rows, and what it has spent.
#[derive(Debug)]
pub(crate) struct Remarks {
    diagnostics: Vec<Diagnostic>,
    left_out: BTreeMap<&'static str, Vec<Href>>,
    uids: BTreeMap<Href, BTreeMap<Box<str>, Vec<Arc<Resource>>>>,
    seen: BTreeSet<HrefKey>,
    unresolved: Vec<Href>,
    steps: u64,
    lines: usize,
}

impl Remarks {
    fn new(diagnostics: Vec<Diagnostic>) -> Self {
        Self {
            diagnostics,
            left_out: BTreeMap::new(),
            uids: BTreeMap::new(),
            seen: BTreeSet::new(),
            unresolved: Vec::new(),
            steps: 0,
            lines: 0,
        }
    }

    fn meet(&mut self, resource: &Arc<Resource>) {
        let Some(uid) = resource.entity.uid() else { return };
        if !self.uids.contains_key(&resource.calendar) {
            self.uids.insert(resource.calendar.clone(), BTreeMap::new());
        }
        if let Some(uids) = self.uids.get_mut(&resource.calendar) {
            uids.entry(uid.into()).or_default().push(Arc::clone(resource));
        }
    }

    /// A resource is not among the rows, or not for what it is; the code says why.
    pub(crate) fn leave_out(&mut self, code: &'static str, resource: &Resource) {
        self.left_out.entry(code).or_default().push(resource.href.clone());
    }

    /// A resource that the filters could not be held against is among the rows.
    pub(crate) fn unfiltered(&mut self, resource: &Resource) {
        self.leave_out("opaque_filter_unresolved", resource);
    }

    /// A time zone of the resource cannot be resolved, so that it is not among the rows.
    pub(crate) fn unresolved(&mut self, resource: &Resource) {
        self.unresolved.push(resource.href.clone());
    }

    /// The occurrences of a resource in a window; `None` if they cannot be told, which is remarked.
    ///
    /// # Errors
    /// `limit_exhausted`, where the work or the occurrences are too many.
    pub(crate) fn occurrences(
        &mut self,
        resource: &Resource,
        evaluation: &Zone,
        window: Window,
    ) -> Outcome<Option<Arc<Vec<Instance>>>> {
        let mut steps = Steps::new(RESOURCE_STEPS);
        let instances = resource.entity.shared_occurrences(evaluation, window, &mut steps);
        self.steps += steps.used();
        if self.steps > QUERY_STEPS {
            let message = "The recurrence rules in the window take more work than one query may do. Ask for a smaller window or fewer Calendars.";
            let (observed, limit) = (self.steps as usize, QUERY_STEPS as usize);
            return Err(exhausted(Dimension::AttemptCount, observed, limit, message));
        }
        match instances {
            Ok(instances) => return Ok(Some(instances)),
            Err(Unevaluable::Zone(_)) => self.unresolved(resource),
            Err(Unevaluable::Occurrences) => {
                let limit = expand::MAX_OCCURRENCES;
                let message = format!(
                    "One resource has more occurrences in the window than are returned. Ask for a smaller window. It is {}",
                    resource.href
                );
                return Err(exhausted(Dimension::ResourceCount, limit + 1, limit, message));
            }
            Err(_) => self.leave_out("recurrence_unevaluable", resource),
        }
        Ok(None)
    }

    /// Counts a resource that the rows keep.
    ///
    /// # Errors
    /// `limit_exhausted`.
    pub(crate) fn keep(&mut self, resource: &Resource) -> Outcome<()> {
        self.lines += resource.entity.document().line_count();
        if self.lines <= QUERY_LINES {
            return Ok(());
        }
        let message = "The resources of the query hold more lines than are kept at once. Ask for a smaller window.";
        Err(exhausted(Dimension::ResourceCount, self.lines, QUERY_LINES, message))
    }

    /// The diagnostics, and the resources whose zones cannot be resolved, in order.
    pub(crate) fn finish(mut self) -> (Vec<Diagnostic>, Vec<Href>) {
        self.unresolved.sort();
        for (code, mut hrefs) in self.left_out {
            hrefs.sort();
            let message = match code {
                "opaque_resource" => "These resources cannot be understood and are left out; read them one by one",
                "opaque_filter_unresolved" => {
                    "These resources cannot be understood, so the filters were not held against them"
                }
                _ => {
                    "The recurrence of these resources cannot be evaluated, so they are left out; read them one by one"
                }
            };
            self.diagnostics
                .push(Diagnostic::warning(code, listed(message, &hrefs)));
        }
        let shared = self.uids.into_values().flat_map(BTreeMap::into_values);
        for resources in shared.filter(|resources| resources.len() > 1) {
            let mut hrefs: Vec<Href> = resources.iter().map(|resource| resource.href.clone()).collect();
            hrefs.sort();
            let message = "These resources of one Calendar share a UID; address them by href";
            self.diagnostics
                .push(Diagnostic::warning("uid_not_unique", listed(message, &hrefs)));
        }
        self.diagnostics.sort();
        self.diagnostics.dedup();
        self.diagnostics.truncate(MAX_DIAGNOSTICS);
        (self.diagnostics, self.unresolved)
    }
}

/// A remark with how many there are and the first few hrefs.
fn listed(message: &str, hrefs: &[Href]) -> String {
    let shown: Vec<&str> = hrefs.iter().take(5).map(Href::as_str).collect();
    let more = if hrefs.len() > shown.len() { " , …" } else { "" };
    format!("{message} ({}): {}{more}", hrefs.len(), shown.join(" , "))
}

//! The tools that change something: from arguments to an operation that can be run as often as it takes to get consent,
//! and from how it ended to a result.

pub(crate) mod input;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use kalends_core::calendar::CalendarDescriptor;
use kalends_core::change::{Change, Changed, Committed, Consent, Failed, Review};
use kalends_core::ledger::Mutation;
use kalends_core::operation::Operation;
use kalends_core::ops::create_calendar::CreateCalendar;
use kalends_core::ops::create_resource::CreateResource;
use kalends_core::ops::delete_calendar::DeleteCalendar;
use kalends_core::ops::delete_resource::{DeleteResource, Receipt};
use kalends_core::ops::edit_resource::{Edit, EditResource, OccurrenceEdit, Reach};
use kalends_core::ops::exact_create::ExactCreate;
use kalends_core::ops::exact_move::ExactMove;
use kalends_core::ops::exact_replace::ExactReplace;
use kalends_core::ops::inspect_calendar::Inspection;
use kalends_core::ops::move_resource::MoveResource;
use kalends_core::ops::patch_calendar::PatchCalendar;
use kalends_core::outcome::{Code, Outcome};
use kalends_core::resource::Resource;
use serde_json::{Map, Value, json};

use crate::caller::Caller;
use crate::catalog::Kind;
use crate::schema::integer;
use crate::session::Session;
use crate::tool::compact::{self, Detail};
use input::Input;

/// A change, as its arguments ask for it.
#[derive(Clone, Debug)]
pub(crate) enum Plan {
    Create(Box<CreateResource>),
    Edit(EditResource),
    Move(MoveResource),
    Delete(DeleteResource),
    ExactCreate(ExactCreate),
    ExactReplace(ExactReplace),
    ExactMove(ExactMove),
    CreateCalendar(CreateCalendar),
    PatchCalendar(PatchCalendar),
    DeleteCalendar(DeleteCalendar),
}

/// What a person may be asked, and when a policy spares them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// To delete a resource.
    Delete,
    /// To delete a Calendar.
    DeleteCalendar,
    /// To replace a whole collection of one component.
    ReplaceAll,
    /// To change many occurrences at once.
    Series,
    /// To write octets.
    Exact,
}

/// How a change ended, short of failing.
#[derive(Debug)]
pub(crate) enum Ended {
    /// This result.
    Done(Value),
    /// Somebody has to agree first.
    Review(Review),
}

impl Plan {
    /// Reads the arguments of a tool.
    ///
    /// # Errors
    /// `invalid_input` with all that is wrong.
    pub(crate) fn read(kind: Kind, arguments: &Value) -> Outcome<Self> {
        use kalends_core::ical::entity::Kind::{Event, Todo};
        match kind {
            Kind::EventsCreate => create(arguments, Event),
            Kind::TodosCreate => create(arguments, Todo),
            Kind::EventsPatch => patch(arguments, Event),
            Kind::TodosPatch => patch(arguments, Todo),
            Kind::TodosComplete => complete(arguments),
            Kind::OccurrencesAdd => occurrence(arguments, OccurrenceEdit::Add),
            Kind::OccurrencesExclude => occurrence(arguments, OccurrenceEdit::Exclude),
            Kind::OccurrencesRestoreExclusion => occurrence(arguments, OccurrenceEdit::RestoreExclusion),
            Kind::OccurrencesCancel => occurrence(arguments, OccurrenceEdit::Cancel),
            Kind::OccurrencesRestoreCancellation => occurrence(arguments, OccurrenceEdit::RestoreCancellation),
            Kind::ResourcesMove => moved(arguments),
            Kind::ResourcesDelete => delete(arguments),
            Kind::ExactCreate => exact_create(arguments),
            Kind::ExactReplace => exact_replace(arguments),
            Kind::ExactMove => exact_move(arguments),
            Kind::CalendarsCreate => create_calendar(arguments),
            Kind::CalendarsPatch => patch_calendar(arguments),
            Kind::CalendarsDelete => Ok(Self::DeleteCalendar(DeleteCalendar {
                href: arguments["href"].as_str().unwrap_or_default().to_owned(),
                consent: Consent::Ask,
            })),
            Kind::CalendarsList
            | Kind::EntitiesQuery
            | Kind::OccurrencesQuery
            | Kind::TodosQuery
            | Kind::ResourcesGet
            | Kind::CalendarsInspect
            | Kind::FreeBusy
            | Kind::ResourcesChanges
            | Kind::ExactGet => unreachable!("a tool that reads has no plan"),
        }
    }

    /// What a person has to agree to, unless a policy spares them.
    pub(crate) fn ask(&self) -> Option<Ask> {
        match self {
            Self::Create(_) | Self::Move(_) | Self::CreateCalendar(_) | Self::PatchCalendar(_) => None,
            Self::DeleteCalendar(_) => Some(Ask::DeleteCalendar),
            Self::ExactCreate(_) | Self::ExactReplace(_) | Self::ExactMove(_) => Some(Ask::Exact),
            Self::Delete(_) => Some(Ask::Delete),
            Self::Edit(edit) => match edit.edit.reach() {
                Reach::Values => None,
                Reach::Collection => Some(Ask::ReplaceAll),
                Reach::Series => Some(Ask::Series),
            },
        }
    }

    /// Runs it.
    ///
    /// # Errors
    /// Those of the operation, with what is known about the change.
    pub(crate) async fn run(
        &self,
        session: &Session,
        caller: Caller,
        consent: Consent,
        detail: Detail,
    ) -> Result<Ended, Box<Failed>> {
        match self.clone() {
            Self::Create(operation) => ended(session, *operation, caller, detail).await,
            Self::Edit(operation) => ended(session, EditResource { consent, ..operation }, caller, detail).await,
            Self::Move(operation) => ended(session, operation, caller, detail).await,
            Self::Delete(operation) => ended(session, DeleteResource { consent, ..operation }, caller, detail).await,
            Self::ExactCreate(operation) => ended(session, ExactCreate { consent, ..operation }, caller, detail).await,
            Self::ExactReplace(operation) => {
                ended(session, ExactReplace { consent, ..operation }, caller, detail).await
            }
            Self::ExactMove(operation) => ended(session, ExactMove { consent, ..operation }, caller, detail).await,
            Self::CreateCalendar(operation) => ended(session, operation, caller, detail).await,
            Self::PatchCalendar(operation) => ended(session, operation, caller, detail).await,
            Self::DeleteCalendar(operation) => {
                ended(session, DeleteCalendar { consent, ..operation }, caller, detail).await
            }
        }
    }
}

async fn ended<O, T>(session: &Session, operation: O, caller: Caller, detail: Detail) -> Result<Ended, Box<Failed>>
where
    O: Operation<Outcome = Changed<T>> + Send + 'static,
    T: Shown + Send + 'static,
{
    let change = session.engine.run(operation, &session.account, caller).await?;
    Ok(match change {
        Change::Review(review) => Ended::Review(review),
        Change::Unchanged => Ended::Done(untouched("no_change")),
        Change::Committed(committed) => Ended::Done(success(&committed, detail)),
    })
}

/// A failure in the result of a tool. Those that write octets show of the current state only where it is.
pub(crate) fn failure(kind: Kind, failed: &Failed) -> serde_json::Result<Value> {
    let mut value = serde_json::to_value(failed)?;
    if kind.is_exact() {
        if let Some(current) = value.get_mut("currentSnapshot").and_then(Value::as_object_mut) {
            let shown = ["calendar", "resourceRevision", "entityRevision"];
            current.retain(|name, _| shown.contains(&name.as_str()));
        }
        if failed.error.code == Code::OpaqueResource {
            value["code"] = json!(Code::InvalidCalendarData);
            value["category"] = json!(Code::InvalidCalendarData.category());
        }
    }
    Ok(value)
}

/// The result of a call that changed nothing and is no error.
pub(crate) fn untouched(outcome: &str) -> Value {
    json!({"outcome": outcome, "mutationState": "not_attempted", "diagnostics": []})
}

/// What a change leaves, in a result.
trait Shown {
    /// What protects the change, where nothing does; such results have no diagnostics.
    const CONCURRENCY: Option<&'static str> = None;

    /// The member, and its value.
    fn shown(&self, detail: Detail) -> (&'static str, Value);
}

impl Shown for Arc<Resource> {
    fn shown(&self, detail: Detail) -> (&'static str, Value) {
        let snapshot = match detail {
            Detail::Compact => compact::snapshot(self),
            Detail::Full => compact::full(self),
        };
        ("snapshot", snapshot)
    }
}

impl Shown for Receipt {
    fn shown(&self, _detail: Detail) -> (&'static str, Value) {
        let receipt = json!({
            "href": self.href,
            "entityUid": self.uid,
            "entityKind": self.kind,
            "consumedEntityTag": self.tag
        });
        ("deletionReceipt", receipt)
    }
}

impl Shown for CalendarDescriptor {
    fn shown(&self, _detail: Detail) -> (&'static str, Value) {
        ("calendar", json!(self))
    }
}

impl Shown for Inspection {
    const CONCURRENCY: Option<&'static str> = Some("unconditional");

    fn shown(&self, _detail: Detail) -> (&'static str, Value) {
        ("calendar", json!(self))
    }
}

fn success<T: Shown>(committed: &Committed<T>, detail: Detail) -> Value {
    let Committed {
        value,
        side_effects,
        diagnostics,
    } = committed;
    let mut result = Map::new();
    result.insert("outcome".into(), json!("success"));
    result.insert("mutationState".into(), json!(Mutation::Committed));
    if let Some(side_effects) = side_effects {
        result.insert("schedulingSideEffects".into(), json!(side_effects));
    }
    let (name, value) = value.shown(detail);
    result.insert(name.into(), value);
    match T::CONCURRENCY {
        Some(concurrency) => result.insert("concurrency".into(), json!(concurrency)),
        None => result.insert("diagnostics".into(), json!(diagnostics)),
    };
    Value::Object(result)
}

fn create(arguments: &Value, kind: kalends_core::ical::entity::Kind) -> Outcome<Plan> {
    let mut input = Input::default();
    let destination = input.destination(&arguments["destination"], "/destination");
    let entity = input.entity(&arguments["entity"], kind);
    input.finish(destination.zip(entity).map(|(destination, (uid, fields, series))| {
        Plan::Create(Box::new(CreateResource {
            destination,
            kind,
            uid,
            fields,
            series,
        }))
    }))
}

fn patch(arguments: &Value, kind: kalends_core::ical::entity::Kind) -> Outcome<Plan> {
    let mut input = Input::default();
    let revision = input.revision(&arguments["snapshot"], "/snapshot", Some(kind));
    let target = input.target(&arguments["target"], "/target");
    let patch = input.patch(&arguments["patch"], "/patch", kind);
    let edit = target.zip(patch).map(|(target, patch)| Edit::Patch { target, patch });
    input.finish(revision.zip(edit).map(|(revision, edit)| edited(revision, edit)))
}

fn complete(arguments: &Value) -> Outcome<Plan> {
    let mut input = Input::default();
    let only = Some(kalends_core::ical::entity::Kind::Todo);
    let revision = input.revision(&arguments["snapshot"], "/snapshot", only);
    let identity = match arguments.get("recurrenceIdentity") {
        Some(identity) => input.identity(identity, "/recurrenceIdentity").map(Some),
        None => Some(None),
    };
    let both = revision.zip(identity);
    input.finish(both.map(|(revision, identity)| edited(revision, Edit::Complete(identity))))
}

fn occurrence(arguments: &Value, edit: OccurrenceEdit) -> Outcome<Plan> {
    let mut input = Input::default();
    let revision = input.revision(&arguments["snapshot"], "/snapshot", None);
    let identity = input.identity(&arguments["recurrenceIdentity"], "/recurrenceIdentity");
    let both = revision.zip(identity);
    input.finish(both.map(|(revision, identity)| edited(revision, Edit::Occurrence(edit, identity))))
}

fn edited(revision: kalends_core::change::Revision, edit: Edit) -> Plan {
    Plan::Edit(EditResource {
        revision,
        edit,
        consent: Consent::Ask,
    })
}

fn delete(arguments: &Value) -> Outcome<Plan> {
    let mut input = Input::default();
    let revision = input.revision(&arguments["revision"], "/revision", None);
    input.finish(revision.map(|revision| {
        Plan::Delete(DeleteResource {
            revision,
            consent: Consent::Ask,
        })
    }))
}

fn moved(arguments: &Value) -> Outcome<Plan> {
    let mut input = Input::default();
    let revision = input.revision(&arguments["revision"], "/revision", None);
    let destination = input.destination(&arguments["destination"], "/destination");
    let both = revision.zip(destination);
    input.finish(both.map(|(revision, destination)| Plan::Move(MoveResource { revision, destination })))
}

fn exact_create(arguments: &Value) -> Outcome<Plan> {
    let mut input = Input::default();
    let href = input.text(&arguments["destinationHref"], "/destinationHref", 1);
    let body = input.body(arguments);
    input.finish(href.zip(body).map(|(href, body)| {
        Plan::ExactCreate(ExactCreate {
            href,
            body,
            consent: Consent::Ask,
        })
    }))
}

fn exact_replace(arguments: &Value) -> Outcome<Plan> {
    let mut input = Input::default();
    let revision = input.revision(&arguments["revision"], "/revision", None);
    let body = input.body(arguments);
    input.finish(revision.zip(body).map(|(revision, body)| {
        Plan::ExactReplace(ExactReplace {
            revision,
            body,
            consent: Consent::Ask,
        })
    }))
}

fn exact_move(arguments: &Value) -> Outcome<Plan> {
    let mut input = Input::default();
    let revision = input.revision(&arguments["revision"], "/revision", None);
    let href = input.text(&arguments["destinationHref"], "/destinationHref", 1);
    input.finish(revision.zip(href).map(|(revision, destination_href)| {
        Plan::ExactMove(ExactMove {
            revision,
            destination_href,
            consent: Consent::Ask,
        })
    }))
}

fn create_calendar(arguments: &Value) -> Outcome<Plan> {
    let mut input = Input::default();
    let name = input.text(&arguments["displayName"], "/displayName", 1);
    let kinds = input.kinds(&arguments["entityKinds"], "/entityKinds");
    let text = |member: &str| arguments.get(member).and_then(Value::as_str).map(str::to_owned);
    input.finish(name.zip(kinds).map(|(display_name, kinds)| {
        Plan::CreateCalendar(CreateCalendar {
            display_name,
            kinds,
            destination_href: text("destinationHref"),
            color: text("color"),
            order: arguments
                .get("order")
                .and_then(integer)
                .and_then(|order| order.try_into().ok()),
            time_zone: text("timeZone"),
        })
    }))
}

fn patch_calendar(arguments: &Value) -> Outcome<Plan> {
    let mut input = Input::default();
    let href = input.text(&arguments["calendarHref"], "/calendarHref", 1);
    let patch = input.calendar_patch(&arguments["patch"], "/patch");
    let both = href.zip(patch);
    input.finish(both.map(|(calendar_href, patch)| Plan::PatchCalendar(PatchCalendar { calendar_href, patch })))
}

//! One resource on its way to the server: the state that a change is bound to, the write, and what became of it.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, IF_MATCH, IF_NONE_MATCH, USER_AGENT};
use http::{HeaderValue, Method, Request, StatusCode};

use crate::account::quirk::Quirk;
use crate::change::{Change, Changed, Committed, Fact, Failed, Revision, SideEffects};
use crate::dav::etag::EntityTag;
use crate::exchange::Channel;
use crate::exchange::dispatch::{Dispatch, UID_TAKEN, undone};
use crate::href::Href;
use crate::ical::document::{Component, Document};
use crate::ical::entity::Entity;
use crate::ical::fidelity::{Difference, differences, sentence};
use crate::ical::project::Projection;
use crate::ical::value::Temporal;
use crate::ledger::Mutation;
use crate::ops::discover::AGENT;
use crate::ops::get_resource::{owner, read};
use crate::ops::scope::address;
use crate::outcome::{Code, Diagnostic, Error, Phase, Violation};
use crate::resource::Resource;

/// What has to hold on the server for a write to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Precondition {
    /// Nothing is there (RFC 9110, 13.1.2).
    Absent,
    /// What is there has this strong Entity Tag (RFC 9110, 13.1.1).
    Tag(String),
}

impl Precondition {
    /// Adds the header.
    pub(crate) fn apply<T>(&self, request: &mut Request<T>) {
        let headers = request.headers_mut();
        match self {
            Self::Absent => headers.insert(IF_NONE_MATCH, HeaderValue::from_static("*")),
            Self::Tag(tag) => {
                let value = HeaderValue::from_bytes(tag.as_bytes());
                headers.insert(IF_MATCH, value.expect("a strong Entity Tag was parsed"))
            }
        };
    }
}

/// The strong Entity Tag of a revision, in its header's spelling.
///
/// # Errors
/// `concurrency_unavailable` for a weak one, `invalid_input` for what is none.
pub(crate) fn strong(revision: &Revision, pointer: &str) -> Result<String, Box<Failed>> {
    match EntityTag::parse(&revision.tag) {
        Some(EntityTag::Strong(tag)) if tag == revision.tag => Ok(tag),
        Some(EntityTag::Weak(_)) => Err(Failed::before(Error::new(
            Code::ConcurrencyUnavailable,
            Phase::TargetRevision,
            "A weak Entity Tag proves no revision, so nothing was changed. Read the resource again by its href.",
        ))),
        Some(EntityTag::Strong(_)) | None => {
            let violation = Violation {
                pointer: format!("{pointer}/entityTag"),
                code: "format_mismatch",
                message: Some("Send the entityTag exactly as the result gave it, with its quotes.".into()),
            };
            Err(Failed::before(Error::violations(
                Phase::SchemaLexicalDiscriminator,
                vec![violation],
            )))
        }
    }
}

/// Reads the resource that a change is bound to, and makes sure that it is still in that state.
///
/// # Errors
/// Bad hrefs, discovery, `not_found`; `opaque_resource`, `entity_kind_mismatch`, `concurrency_unavailable`, `conflict`,
/// with the resource as it is now.
pub(crate) async fn target(
    channel: &Channel<'_>,
    revision: &Revision,
    pointer: &str,
) -> Result<Arc<Resource>, Box<Failed>> {
    let at = format!("{pointer}/href");
    let href = address(channel.account, &revision.href, &at).map_err(Failed::before)?;
    let tag = strong(revision, pointer)?;
    channel.io.phase("discovery");
    let calendar = owner(channel, &href, &at).await.map_err(Failed::before)?;
    held(channel, &calendar, &href, (revision, &tag), false).await
}

/// The resource at a place, if it is still in the state that a change is bound to. With `opaque` also one that cannot be
/// taken for one Event or To-do.
///
/// # Errors
/// As those of [`target`], but for discovery's.
pub(crate) async fn held(
    channel: &Channel<'_>,
    calendar: &Href,
    href: &Href,
    (revision, tag): (&Revision, &str),
    opaque: bool,
) -> Result<Arc<Resource>, Box<Failed>> {
    channel.io.phase("fetch");
    let current = now(channel, calendar, href).await.map_err(Failed::before)?;
    match unfit(&current, revision, tag, opaque) {
        None => Ok(current),
        Some(error) => Err(Failed::before(error).showing(current)),
    }
}

/// The resource as it is now.
pub(crate) async fn now(channel: &Channel<'_>, calendar: &Href, href: &Href) -> Result<Arc<Resource>, Box<Error>> {
    let (etag, body) = read(channel, href).await?;
    Ok(Arc::new(Resource {
        calendar: calendar.clone(),
        href: href.clone(),
        etag,
        entity: Arc::new(Entity::read(body)),
    }))
}

/// Why a resource is not in the state that a change is bound to.
fn unfit(current: &Resource, revision: &Revision, tag: &str, opaque: bool) -> Option<Box<Error>> {
    let error = |code, text: &'static str| Some(Error::new(code, Phase::TargetRevision, text));
    let readable = current.entity.opaque().is_none();
    if !readable && !opaque {
        return error(
            Code::OpaqueResource,
            "The resource cannot be taken for one Event or To-do. Nothing was changed. The exact tools can replace it as a whole.",
        );
    }
    if readable && current.entity.kind() != Some(revision.kind) {
        return error(
            Code::EntityKindMismatch,
            "The resource is of the other kind: an Event is no To-do. Nothing was changed.",
        );
    }
    let Some(own) = current.etag.as_deref() else {
        return error(
            Code::ConcurrencyUnavailable,
            "The CalDAV server gives no strong Entity Tag for this resource, so it cannot be changed safely. Nothing was changed.",
        );
    };
    if readable && current.entity.uid() != Some(&*revision.uid) || own != tag {
        return error(
            Code::Conflict,
            "The resource has changed since it was read. Nothing was changed by this call. Look at currentSnapshot, decide again, and send its entityRevision.",
        );
    }
    None
}

/// What a person has to see of a resource that is going to be changed.
pub(crate) fn facts(current: &Resource, revision: &Revision) -> Vec<Fact> {
    let mut facts = vec![Fact::new("Kind", revision.kind.name())];
    let projection = current.entity.projection();
    if let Projection::Event { fields, .. } | Projection::Todo { fields, .. } = projection {
        facts.extend(fields.summary.map(|title| Fact::new("Title", title)));
        facts.extend(fields.start.map(|start| Fact::new("Start", shown(&start))));
    }
    facts.extend([
        Fact::new("Resource", current.href.as_str()),
        Fact::new("UID", &*revision.uid),
        Fact::new("Entity Tag", &*revision.tag),
    ]);
    facts
}

/// A time as its content line has it.
pub(crate) fn shown(time: &Temporal) -> String {
    match time {
        Temporal::Zoned(_, zone) => format!("{} {zone}", time.encoded()),
        Temporal::Date(_) | Temporal::Floating(_) | Temporal::Utc(_) => time.encoded(),
    }
}

/// A change that is bound to the state of one resource, or to its absence.
pub(crate) struct Put<'a> {
    pub(crate) calendar: &'a Href,
    pub(crate) href: &'a Href,
    pub(crate) precondition: Precondition,
    /// The octets that are meant to be there.
    pub(crate) body: Bytes,
    /// Whether they have to be there to the octet, or in what they mean.
    pub(crate) exact: bool,
    pub(crate) side_effects: Option<SideEffects>,
}

impl Put<'_> {
    fn request(&self) -> Request<Bytes> {
        let mut request = Request::builder()
            .method(Method::PUT)
            .header(CONTENT_TYPE, "text/calendar; charset=utf-8")
            .header(USER_AGENT, AGENT)
            .body(self.body.clone())
            .expect("static headers are valid");
        self.precondition.apply(&mut request);
        request
    }

    /// Writes, and finds out what became of it.
    pub(crate) async fn run(self, channel: &Channel<'_>) -> Changed<Arc<Resource>> {
        if self.precondition == Precondition::Absent && channel.account.has(Quirk::CreationUnprotected) {
            channel.io.phase("fetch");
            vacant(channel, self.href).await?;
        }
        channel.io.phase("write");
        let dispatch = channel.write(self.href, self.request()).await;
        channel.io.phase("reconcile");
        let settling = channel.reconciling();
        let mut failed = match &dispatch {
            Dispatch::Accepted(_) => return self.settle(&settling, true, None).await,
            Dispatch::Unsure(_) => return self.settle(&settling, false, None).await,
            Dispatch::Refused(_) | Dispatch::NotSent(_) | Dispatch::Declined(_) => {
                let (error, state) = undone(channel, &dispatch).expect("it was not done");
                Failed::with(error, state)
            }
        };
        let Dispatch::Refused(answer) = &dispatch else {
            return Err(failed);
        };
        // What was there was not what it should be. It may be this very write, which something on the way repeated.
        if answer.response.status() == StatusCode::PRECONDITION_FAILED && answer.conditions().preconditions.is_empty()
            || failed.error.code == Code::Conflict
        {
            failed.error = self.conflict(failed.error, answer.response.status());
            return self.settle(&settling, false, Some(failed)).await;
        }
        Err(failed)
    }

    fn conflict(&self, error: Box<Error>, status: StatusCode) -> Box<Error> {
        match (&self.precondition, status) {
            (Precondition::Absent, StatusCode::PRECONDITION_FAILED) if error.message != UID_TAKEN => occupied(),
            (Precondition::Tag(_), StatusCode::PRECONDITION_FAILED) => Error::new(
                Code::Conflict,
                Phase::Execution,
                "The resource was changed by somebody else just now. Nothing was written by this call. Look at currentSnapshot, decide again, and send its entityRevision.",
            ),
            _ => error,
        }
    }

    /// Reads what is there. `refused` is the error if it is not this write.
    async fn settle(
        self,
        channel: &Channel<'_>,
        accepted: bool,
        refused: Option<Box<Failed>>,
    ) -> Changed<Arc<Resource>> {
        let seen = now(channel, self.calendar, self.href).await;
        let found = seen.as_ref().ok().map(|resource| self.compared(resource));
        let verdict = verdict(accepted, found.as_ref());
        if let (Some(mut failed), Verdict::Unknown) = (refused, verdict) {
            if seen.is_err() && failed.error.code == Code::DestinationConflict {
                failed.error = Error::new(
                    Code::Conflict,
                    Phase::Execution,
                    "The CalDAV server says that there is already a resource where this one would go, and it could not be looked at. Query before you try again.",
                );
            }
            // A resource that is in the way of a new one is none of the caller's business.
            failed.current = seen.ok().filter(|_| self.precondition != Precondition::Absent);
            return Err(failed);
        }
        let failed = |code, text: String, state| {
            let error = Error::new(code, Phase::PostWriteVerificationOrReconciliation, text);
            let mut failed = Failed::with(error, state);
            failed.side_effects = self.side_effects;
            failed
        };
        Err(match (verdict, seen) {
            (Verdict::Committed, Ok(value)) => {
                let remark = match self.precondition {
                    Precondition::Absent => unprotected(channel, Quirk::CreationUnprotected),
                    Precondition::Tag(_) => None,
                };
                return Ok(Change::Committed(Committed {
                    value,
                    side_effects: self.side_effects,
                    diagnostics: remark.into_iter().collect(),
                }));
            }
            (Verdict::Otherwise, Ok(seen)) => {
                let found = found.map(|found| found.differences).unwrap_or_default();
                let text = format!(
                    "The CalDAV server has the write, and what is there now says something else: {}. Read it before you go on.",
                    sentence(&found)
                );
                failed(Code::FidelityFailure, text, Mutation::Committed).showing(seen)
            }
            (Verdict::NoRevision, _) => failed(
                Code::CommittedButConcurrencyUnavailable,
                "It was written, and the CalDAV server gives no strong Entity Tag for it, so it cannot be changed safely.".into(),
                Mutation::Committed,
            ),
            (Verdict::Unverified | Verdict::Committed | Verdict::Otherwise, _) => failed(
                Code::CommittedButUnverified,
                "The CalDAV server says that it was written, and it could not be read back. Do not write it again; read it by its href or query for it.".into(),
                Mutation::Committed,
            ),
            // What goes only where nothing is did not go where another resource is, and does not go there later.
            (Verdict::Unknown, Ok(seen)) if self.is_taken(channel, &seen) => {
                let text = "No clear answer came, and there is another resource where this one would go, so it was not written. Query before you try again.";
                failed(Code::Conflict, text.into(), Mutation::NotCommitted)
            }
            (Verdict::Unknown, seen) => {
                let text = format!(
                    "It is not known whether this was written: no clear answer came, and what is at {} does not prove it. It may still be written later. Do not send it again before you have looked there.",
                    self.href
                );
                let failed = failed(Code::Indeterminate, text, Mutation::Unknown);
                match seen {
                    Ok(current) if self.precondition != Precondition::Absent => failed.showing(current),
                    Ok(_) | Err(_) => failed,
                }
            }
        })
    }

    /// Whether a resource with another UID is where a new one would go, on a server that does not overwrite it later.
    fn is_taken(&self, channel: &Channel<'_>, found: &Resource) -> bool {
        let own = Entity::read(self.body.clone());
        let guarded = self.precondition == Precondition::Absent && !channel.account.has(Quirk::CreationUnprotected);
        guarded && found.entity.uid().is_some() && found.entity.uid() != own.uid()
    }

    /// What was found, against what was meant.
    fn compared(&self, found: &Resource) -> Found {
        let same = *found.entity.document().bytes() == self.body;
        let meant = Entity::read(self.body.clone());
        let differences = if same {
            Vec::new()
        } else if self.exact {
            vec![Difference::octets()]
        } else {
            differences(&meant, &found.entity)
        };
        Found {
            strong: found.etag.is_some(),
            // Only an answer that got lost needs to be told from the write of somebody else.
            ours: same || stamps(meant.document()) == stamps(found.entity.document()),
            moved: match &self.precondition {
                Precondition::Absent => true,
                Precondition::Tag(before) => found.etag.as_ref() != Some(before) || same,
            },
            differences,
        }
    }
}

/// Makes sure that nothing is at a place, on a server that does not do so itself.
pub(crate) async fn vacant(channel: &Channel<'_>, href: &Href) -> Result<(), Box<Failed>> {
    match read(channel, href).await {
        Err(error) if error.code == Code::NotFound => Ok(()),
        Err(error) => Err(Failed::before(error)),
        Ok(_) => Err(Failed::before(occupied())),
    }
}

fn occupied() -> Box<Error> {
    Error::new(
        Code::DestinationConflict,
        Phase::Execution,
        "There is already a resource where this one would go. Nothing was written.",
    )
}

/// The remark on a creation or deletion that the server did not protect.
pub(crate) fn unprotected(channel: &Channel<'_>, quirk: Quirk) -> Option<Diagnostic> {
    channel.account.has(quirk).then(|| {
        Diagnostic::warning(
            "precondition_not_enforced",
            "This CalDAV server does not check conditions on such a change. It was looked at immediately before instead, so a change by somebody else in that moment would be lost.",
        )
    })
}

/// What a read after a write shows.
#[derive(Clone, Debug, PartialEq)]
struct Found {
    strong: bool,
    /// Its stamps are those of this write.
    ours: bool,
    /// It is another state than the one that was there before.
    moved: bool,
    /// How it differs from what was meant.
    differences: Vec<Difference>,
}

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// It is there as it was meant.
    Committed,
    /// It was written, and something else is there.
    Otherwise,
    /// It is there, without a revision.
    NoRevision,
    /// The server has said that it was written, and nothing else is known.
    Unverified,
    /// Nothing proves anything.
    Unknown,
}

/// Decides by the answer and by what is there. Without an answer, only the very write is proof; its absence is none.
fn verdict(accepted: bool, found: Option<&Found>) -> Verdict {
    match found {
        None if accepted => Verdict::Unverified,
        Some(found) if accepted && !found.differences.is_empty() => Verdict::Otherwise,
        Some(found) if accepted || found.ours && found.moved && found.differences.is_empty() => match found.strong {
            true => Verdict::Committed,
            false => Verdict::NoRevision,
        },
        Some(_) | None => Verdict::Unknown,
    }
}

/// The DTSTAMPs of the Events and To-dos of a document, in any order.
fn stamps(document: &Document) -> Vec<Vec<u8>> {
    let entities = |root: Component<'_>| -> Vec<Vec<u8>> {
        let entities = root.children().filter(|child| child.is("VEVENT") || child.is("VTODO"));
        entities
            .filter_map(|child| child.first("DTSTAMP").map(|line| line.value().trim_ascii().to_vec()))
            .collect()
    };
    let mut stamps: Vec<_> = document.roots().flat_map(entities).collect();
    stamps.sort();
    stamps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_what_its_answer_and_a_read_prove() {
        let found = |strong, ours, moved, same: bool| Found {
            strong,
            ours,
            moved,
            differences: if same { Vec::new() } else { vec![Difference::octets()] },
        };
        use Verdict::{Committed, NoRevision, Otherwise, Unknown, Unverified};
        for (accepted, found, expected) in [
            (true, None, Unverified),
            (true, Some(found(true, true, true, true)), Committed),
            // A server may set stamps of its own, and keep a tag.
            (true, Some(found(true, false, false, true)), Committed),
            (true, Some(found(false, true, true, true)), NoRevision),
            (true, Some(found(true, true, true, false)), Otherwise),
            (true, Some(found(false, false, true, false)), Otherwise),
            (false, None, Unknown),
            (false, Some(found(true, true, true, true)), Committed),
            (false, Some(found(false, true, true, true)), NoRevision),
            (false, Some(found(true, false, true, true)), Unknown),
            (false, Some(found(true, true, false, true)), Unknown),
            (false, Some(found(true, true, true, false)), Unknown),
        ] {
            assert_eq!(verdict(accepted, found.as_ref()), expected, "{accepted} {found:?}");
        }
    }
}

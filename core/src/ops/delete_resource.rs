//! Deletes one resource that is in a known state.

use std::sync::Arc;

use bytes::Bytes;
use http::header::USER_AGENT;
use http::{Method, Request, StatusCode};

use crate::account::Account;
use crate::account::quirk::Quirk;
use crate::change::{Change, Changed, Committed, Consent, Failed, Review, Revision, SideEffects};
use crate::env::Env;
use crate::exchange::Channel;
use crate::exchange::dispatch::{Dispatch, undone};
use crate::flow::{Flow, Io};
use crate::href::Href;
use crate::ical::entity::Kind;
use crate::ledger::Mutation;
use crate::machine::Machine;
use crate::operation::Operation;
use crate::ops::discover::AGENT;
use crate::ops::put::{Precondition, facts, now, target, unprotected};
use crate::ops::scheduling::admit;
use crate::outcome::{Code, Error, Phase};
use crate::resource::Resource;

/// Asks for a resource to be deleted.
#[derive(Clone, Debug)]
pub struct DeleteResource {
    /// The state that it is in.
    pub revision: Revision,
    /// Whether a person has agreed.
    pub consent: Consent,
}

/// What was deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Where it was.
    pub href: Href,
    /// Its UID.
    pub uid: String,
    /// Event or To-do.
    pub kind: Kind,
    /// The Entity Tag of the state that was deleted.
    pub tag: String,
}

impl Operation for DeleteResource {
    type Outcome = Changed<Receipt>;

    fn start(self, env: Env, account: &Arc<Account>) -> impl Machine<Output = Self::Outcome> + Send + 'static + use<> {
        let account = Arc::clone(account);
        Flow::new(
            env.now,
            move |io| async move { delete(&io, &account, &env, self).await },
        )
    }
}

async fn delete(io: &Io, account: &Account, env: &Env, asked: DeleteResource) -> Changed<Receipt> {
    let channel = Channel::writing(io, account, env);
    let DeleteResource { revision, consent } = asked;
    let current = target(&channel, &revision, "/revision").await?;
    let octets = current.entity.document().bytes();
    io.phase("review");
    let side_effects = admit(&channel, &current.calendar, &[octets]).await?;
    if let Some(review) = review(&current, &revision, side_effects.is_some()).settle(&consent)? {
        return Ok(Change::Review(review));
    }
    io.phase("write");
    let mut request = Request::builder()
        .method(Method::DELETE)
        .header(USER_AGENT, AGENT)
        .body(Bytes::new())
        .expect("static headers are valid");
    Precondition::Tag(revision.tag.clone()).apply(&mut request);
    let dispatch = channel.write(&current.href, request).await;
    io.phase("reconcile");
    let settling = channel.reconciling();
    let refusal = refused_by_state(&dispatch);
    if let (Some((error, state)), None) = (undone(&channel, &dispatch), &refusal) {
        return Err(Failed::with(error, state));
    }
    let accepted = matches!(dispatch, Dispatch::Accepted(_));
    let seen = now(&settling, &current.calendar, &current.href).await;
    let verdict = verdict(accepted, &current, &seen);
    if let (Some(error), true) = (refusal, verdict != Verdict::Gone) {
        let current = seen.ok();
        return Err(Box::new(Failed {
            current,
            ..*Failed::with(error, Mutation::NotCommitted)
        }));
    }
    let (code, text, state) = match verdict {
        Verdict::Gone => {
            return Ok(Change::Committed(Committed {
                value: Receipt {
                    href: current.href.clone(),
                    uid: revision.uid,
                    kind: revision.kind,
                    tag: revision.tag,
                },
                side_effects,
                diagnostics: unprotected(&channel, Quirk::DeletionUnprotected).into_iter().collect(),
            }));
        }
        Verdict::Unverified => (
            Code::CommittedButUnverified,
            "The CalDAV server says that it was deleted, and that could not be checked, or something else is there now. Query before you go on.",
            Mutation::Committed,
        ),
        Verdict::Unknown => (
            Code::Indeterminate,
            "It is not known whether this was deleted: no clear answer came, and it does not look deleted yet. Look at it before you go on.",
            Mutation::Unknown,
        ),
    };
    Err(unsettled(code, text, state, side_effects, seen.ok()))
}

fn unsettled(
    code: Code,
    text: &'static str,
    state: Mutation,
    side_effects: Option<SideEffects>,
    current: Option<Arc<Resource>>,
) -> Box<Failed> {
    let error = Error::new(code, Phase::PostWriteVerificationOrReconciliation, text);
    Box::new(Failed {
        current,
        side_effects,
        ..*Failed::with(error, state)
    })
}

/// The error of an answer that speaks of the state of what is there. It may be gone by this very call, which something on
/// the way repeated.
fn refused_by_state(dispatch: &Dispatch) -> Option<Box<Error>> {
    let Dispatch::Refused(answer) = dispatch else {
        return None;
    };
    let error = |code, text: &'static str| Some(Error::new(code, Phase::Execution, text));
    match answer.response.status() {
        StatusCode::PRECONDITION_FAILED | StatusCode::CONFLICT => error(
            Code::Conflict,
            "The resource was changed by somebody else just now. Nothing was deleted. Look at currentSnapshot and decide again.",
        ),
        StatusCode::NOT_FOUND | StatusCode::GONE => error(
            Code::NotFound,
            "The CalDAV server says that the resource is not there any more, and that could not be checked, or something else is there now. Query again.",
        ),
        _ => None,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// It is not there any more.
    Gone,
    /// The server has said that it was deleted, and nothing else is known.
    Unverified,
    /// It is there, or nobody can tell.
    Unknown,
}

/// Decides by the answer and by what is there. That it is gone is what was asked for, whoever did it.
fn verdict(accepted: bool, before: &Resource, seen: &Result<Arc<Resource>, Box<Error>>) -> Verdict {
    match seen {
        Err(error) if error.code == Code::NotFound => Verdict::Gone,
        Err(_) if accepted => Verdict::Unverified,
        Ok(seen) if accepted && seen.etag != before.etag => Verdict::Unverified,
        Ok(_) | Err(_) => Verdict::Unknown,
    }
}

fn review(current: &Resource, revision: &Revision, may_notify: bool) -> Review {
    let facts = facts(current, revision);
    let parts: [&[u8]; 4] = [
        b"delete",
        current.href.as_str().as_bytes(),
        revision.uid.as_bytes(),
        revision.tag.as_bytes(),
    ];
    Review::of(&parts, facts, may_notify)
}

//! What became of a write, as far as its own answer tells (RFC 9110, 9.2.2).
//!
//! A write is sent once. Its answer proves that it was done or that it was not; everything else is doubt, which only
//! reads can end.

use bytes::Bytes;
use http::{Request, Response, StatusCode};

use super::budget;
use super::fault::{Fault, refused};
use super::redirect::{Redirect, Refusal, redirect};
use super::{Answer, Channel, Rules};
use crate::dav::error_body::{self, ErrorBody};
use crate::href::Href;
use crate::ledger::{Mutation, Word, word_of};
use crate::machine::{Effect, Failure, Moment, Sent};
use crate::outcome::{Code, Error};

/// The answer to a write.
#[derive(Debug)]
pub enum Dispatch {
    /// It did not leave.
    NotSent(Fault),
    /// The server did nothing, and says why.
    Refused(Answer),
    /// The server did nothing: it asks for fewer requests, or leads to where nothing may be sent.
    Declined(Fault),
    /// The server says that it has done it (200, 201, 204).
    Accepted(Answer),
    /// It may have been done, or be done yet.
    Unsure(Doubt),
}

/// Why nothing is known.
#[derive(Debug)]
pub enum Doubt {
    /// No answer came.
    Lost(Fault),
    /// An answer that says neither; of 207 the body may.
    Answered(Answer),
}

/// A write whose first word was a redirect or a refusal of the moment.
enum Turn {
    Done(Dispatch),
    Elsewhere(Href),
}

impl<'a> Channel<'a> {
    /// Opens a channel for one changing operation: [`budget::REVIEW`] for everything up to and with the write.
    #[must_use]
    pub fn writing(io: &crate::flow::Io, account: &'a crate::account::Account, env: &crate::env::Env) -> Self {
        Self::opened(io, account, env, budget::REVIEW)
    }

    /// The same channel after the write left: deaf to cancellation, with [`budget::SETTLE`] from now.
    #[must_use]
    pub fn reconciling(&self) -> Self {
        let now = self.io.now();
        Self {
            io: self.io.shielded(now + budget::SETTLE),
            started: now,
            ..self.clone()
        }
    }

    /// Sends a write. It is never repeated; a redirect of 307 or 308 is followed inside the trusted places, since the
    /// server that sent it did nothing.
    pub async fn write(&self, url: &Href, request: Request<Bytes>) -> Dispatch {
        self.write_within(url, request, |_| true).await
    }

    /// Sends a write as [`Self::write`] does, and follows a redirect only to places that are also `allowed`.
    pub async fn write_within(&self, url: &Href, request: Request<Bytes>, allowed: impl Fn(&Href) -> bool) -> Dispatch {
        let mut url = url.clone();
        if !self.account.trusts(&url) {
            return Dispatch::NotSent(Fault::Untrusted(url.origin().to_string()));
        }
        let mut hops = 0;
        loop {
            let turn = match self.account.paused(&url.origin(), self.io.now()) {
                Some(wait) => Turn::Done(Dispatch::NotSent(Fault::RateLimited(Some(wait)))),
                None => {
                    let reply = self.attempt(&url, request.clone(), Rules::WRITE).await;
                    self.turn(url, reply, hops)
                }
            };
            match turn {
                // It did leave, to where a redirect was.
                Turn::Done(Dispatch::NotSent(fault)) if hops > 0 => return Dispatch::Declined(fault),
                Turn::Done(dispatch) => return dispatch,
                Turn::Elsewhere(target) if allowed(&target) => url = target,
                Turn::Elsewhere(_) => return Dispatch::Declined(Fault::Redirect(Refusal::Elsewhere)),
            }
            hops += 1;
        }
    }

    fn turn(&self, url: Href, reply: Result<Response<Bytes>, Failure>, hops: u32) -> Turn {
        let response = match reply {
            Ok(response) => response,
            Err(failure) => {
                let fault = Fault::of(failure, Rules::WRITE.body);
                return Turn::Done(match failure.sent {
                    Sent::No => Dispatch::NotSent(fault),
                    Sent::Maybe => Dispatch::Unsure(Doubt::Lost(fault)),
                });
            }
        };
        self.account.observe(&url, &response);
        let wait = self.asked_to_wait(&url, &response);
        match word_of(&response) {
            Word::Doubt => return Turn::Done(Dispatch::Unsure(Doubt::Answered(Answer { url, response }))),
            Word::Done => return Turn::Done(Dispatch::Accepted(Answer { url, response })),
            Word::Nothing => {}
        }
        if let Some(fault) = wait {
            return Turn::Done(Dispatch::Declined(fault));
        }
        match redirect(self.account, Effect::Write, &url, &response, hops) {
            Redirect::Stop => Turn::Done(Dispatch::Refused(Answer { url, response })),
            Redirect::Refuse(refusal) => Turn::Done(Dispatch::Declined(Fault::Redirect(refusal))),
            Redirect::Follow(target) => Turn::Elsewhere(target),
        }
    }

    /// When the time to settle ends.
    #[must_use]
    pub fn deadline(&self) -> Moment {
        self.io.deadline()
    }
}

impl Answer {
    /// The conditions that an error answer names.
    #[must_use]
    pub fn conditions(&self) -> ErrorBody {
        let kind = self.response.headers().get(http::header::CONTENT_TYPE);
        error_body::read(kind.and_then(|kind| kind.to_str().ok()), self.response.body())
    }
}

/// What is said of a UID that another resource has.
pub const UID_TAKEN: &str = "The CalDAV server has another resource with this UID, perhaps in its trash or in another Calendar. Nothing was written.";

/// The error of a write that the server refused, by its status and the conditions that it names (RFC 4791, 5.3.2.1
/// and 5.3.1.1; RFC 4918, 9; RFC 6638, 3.2.4.1).
#[must_use]
pub fn refusal(status: StatusCode, conditions: &ErrorBody) -> Box<Error> {
    let names = |any: &[&str]| any.iter().any(|name| conditions.names(name));
    let error = |code, text: String| Error::new(code, crate::outcome::Phase::Execution, text);
    let fixed = |code, text: &'static str| Error::new(code, crate::outcome::Phase::Execution, text);
    if names(&["no-uid-conflict", "unique-scheduling-object-resource"]) {
        return fixed(Code::Conflict, UID_TAKEN);
    }
    if names(&["supported-calendar-component"]) {
        return fixed(
            Code::UnsupportedCapability,
            "The Calendar does not take this kind. Choose one whose entityKinds has it.",
        );
    }
    if names(&["max-resource-size"]) {
        return fixed(
            Code::PayloadTooLarge,
            "The resource is larger than the CalDAV server takes. Nothing was written.",
        );
    }
    if names(&[
        "max-attendees-per-instance",
        "max-instances",
        "min-date-time",
        "max-date-time",
    ]) {
        return fixed(
            Code::LimitExhausted,
            "The resource is beyond a limit of the CalDAV server (attendees, instances or dates; calendars_inspect shows them). Nothing was written.",
        );
    }
    if names(&[
        "valid-calendar-data",
        "valid-calendar-object-resource",
        "supported-calendar-data",
    ]) {
        return fixed(
            Code::InvalidCalendarData,
            "The CalDAV server does not accept this calendar data. Nothing was written.",
        );
    }
    if names(&["quota-not-exceeded", "sufficient-disk-space"]) {
        return fixed(
            Code::UpstreamUnavailable,
            "The CalDAV server has no space left for this user. Nothing was written.",
        );
    }
    match status.as_u16() {
        400 | 415 | 422 => error(
            Code::InvalidCalendarData,
            format!("The CalDAV server does not accept this ({status}). Nothing was written."),
        ),
        403 => fixed(
            Code::UpstreamForbidden,
            "The CalDAV server refused the change (403). Check that this user may write there. Nothing was written.",
        ),
        405 | 501 => error(
            Code::UnsupportedCapability,
            format!("The CalDAV server cannot do this there ({status}). Nothing was written."),
        ),
        409 | 412 | 423 => error(
            Code::Conflict,
            format!(
                "The CalDAV server refused the change because of the state of what is there ({status}). Nothing was written."
            ),
        ),
        413 => fixed(
            Code::PayloadTooLarge,
            "The resource is larger than the CalDAV server takes (413). Nothing was written.",
        ),
        507 => fixed(
            Code::UpstreamUnavailable,
            "The CalDAV server has no space left (507). Nothing was written.",
        ),
        _ => refused(status),
    }
}

/// The error and truth of a write that was not done.
#[must_use]
pub fn undone(channel: &Channel<'_>, dispatch: &Dispatch) -> Option<(Box<Error>, Mutation)> {
    Some(match dispatch {
        Dispatch::NotSent(fault) => (channel.error(fault), Mutation::NotAttempted),
        Dispatch::Declined(fault) => (channel.error(fault), Mutation::NotCommitted),
        Dispatch::Refused(answer) => (
            refusal(answer.response.status(), &answer.conditions()),
            Mutation::NotCommitted,
        ),
        Dispatch::Accepted(_) | Dispatch::Unsure(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dav::error_body::Precondition;

    #[test]
    fn a_refusal_is_told_by_its_condition_first() {
        let conditions = |name: &str| ErrorBody {
            preconditions: vec![Precondition {
                name: name.into(),
                hrefs: Vec::new(),
            }],
            description: None,
        };
        for (status, condition, code) in [
            (409, "no-uid-conflict", Code::Conflict),
            (412, "no-uid-conflict", Code::Conflict),
            (403, "unique-scheduling-object-resource", Code::Conflict),
            (403, "supported-calendar-component", Code::UnsupportedCapability),
            (403, "valid-calendar-data", Code::InvalidCalendarData),
            (403, "supported-calendar-data", Code::InvalidCalendarData),
            (403, "max-resource-size", Code::PayloadTooLarge),
            (403, "max-attendees-per-instance", Code::LimitExhausted),
            (507, "quota-not-exceeded", Code::UpstreamUnavailable),
            (400, "", Code::InvalidCalendarData),
            (401, "", Code::UpstreamUnauthorized),
            (403, "need-privileges", Code::UpstreamForbidden),
            (404, "", Code::NotFound),
            (405, "", Code::UnsupportedCapability),
            (409, "", Code::Conflict),
            (412, "", Code::Conflict),
            (413, "", Code::PayloadTooLarge),
            (415, "", Code::InvalidCalendarData),
            (501, "", Code::UnsupportedCapability),
            (507, "", Code::UpstreamUnavailable),
        ] {
            let error = refusal(StatusCode::from_u16(status).unwrap(), &conditions(condition));
            assert_eq!(error.code, code, "{status} {condition}");
        }
    }
}

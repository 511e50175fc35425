//! One MOVE, and what became of it at both ends (RFC 4918, 9.9).

use std::sync::Arc;

use bytes::Bytes;
use http::header::USER_AGENT;
use http::{Request, StatusCode};

use crate::account::Account;
use crate::account::quirk::Profile;
use crate::change::{Change, Changed, Committed, Failed};
use crate::exchange::Channel;
use crate::exchange::dispatch::{Dispatch, undone};
use crate::href::Href;
use crate::ical::fidelity::differences;
use crate::ledger::Mutation;
use crate::ops::discover::AGENT;
use crate::ops::put::{Precondition, now, vacant};
use crate::outcome::{Code, Error, Outcome, Phase, Violation};
use crate::resource::Resource;

/// The family of servers that the user vouches for; none for a folder, which needs no voucher.
///
/// # Errors
/// `unsupported_capability` where there is neither: only some servers keep `Overwrite: F` and UIDs apart.
pub(crate) fn family(account: &Account, pointer: &str) -> Outcome<Option<Profile>> {
    let settings = account.settings();
    if settings.profile.is_none() && settings.url.origin().scheme != "file" {
        let text = "Resources are moved only on servers that are known to do it safely. If this is Radicale or Nextcloud, set CALDAV_INTEROPERABILITY_PROFILE to radicale or nextcloud. Nothing was moved.";
        let code = Code::UnsupportedCapability;
        return Err(impossible(code, pointer, "interoperability_profile_unverified", text));
    }
    Ok(settings.profile)
}

/// A move that is not tried, with the argument that is in the way.
pub(crate) fn impossible(code: Code, pointer: &str, violation: &'static str, text: &str) -> Box<Error> {
    let violation = Violation {
        pointer: pointer.into(),
        code: violation,
        message: Some(text.into()),
    };
    let mut error = Error::violations(Phase::SelectionDiscoveryCapability, vec![violation]);
    error.code = code;
    error
}

/// A resource in a known state that is going to be somewhere else.
pub(crate) struct Relocation<'a> {
    pub(crate) source: &'a Resource,
    /// Its strong Entity Tag.
    pub(crate) tag: &'a str,
    /// Where it goes, and the Calendar of that place.
    pub(crate) href: Href,
    pub(crate) calendar: Href,
    /// Whether it has to arrive octet by octet, or in what it means.
    pub(crate) exact: bool,
}

type Seen = Result<Arc<Resource>, Box<Error>>;

impl Relocation<'_> {
    fn request(&self) -> Request<Bytes> {
        let mut request = Request::builder()
            .method("MOVE")
            .header("destination", self.href.to_uri().to_string())
            .header("overwrite", "F")
            .header(USER_AGENT, AGENT)
            .body(Bytes::new())
            .expect("an Href holds only what a header may hold");
        Precondition::Tag(self.tag.to_owned()).apply(&mut request);
        request
    }

    /// Moves, and finds out what became of it.
    pub(crate) async fn run(self, channel: &Channel<'_>) -> Changed<Arc<Resource>> {
        channel.io.phase("fetch");
        vacant(channel, &self.href).await?;
        channel.io.phase("write");
        let within = |target: &Href| target.is_member_of(&self.source.calendar);
        let dispatch = channel.write_within(&self.source.href, self.request(), within).await;
        channel.io.phase("reconcile");
        let answer = match &dispatch {
            Dispatch::Accepted(_) => Answer::Accepted,
            Dispatch::Unsure(_) => Answer::Doubt,
            Dispatch::Refused(answer) if about_the_ends(answer.response.status()) => Answer::Refused,
            Dispatch::Refused(_) | Dispatch::NotSent(_) | Dispatch::Declined(_) => {
                let (error, state) = undone(channel, &dispatch).expect("it was not done");
                return Err(Failed::with(error, state));
            }
        };
        let settling = channel.reconciling();
        // One after the other: a server that wants to be left alone after the first is.
        let destination = now(&settling, &self.calendar, &self.href).await;
        let source = now(&settling, &self.source.calendar, &self.source.href).await;
        let (there, here) = (self.there(&destination), self.here(&source));
        self.told(verdict(answer, there, here), channel, &dispatch, (destination, source))
    }

    fn there(&self, seen: &Seen) -> There {
        match seen {
            Ok(seen) if self.faithful(seen) => There::Faithful,
            Ok(_) => There::Different,
            Err(error) if error.code == Code::NotFound => There::Absent,
            Err(_) => There::Unseen,
        }
    }

    fn here(&self, seen: &Seen) -> Here {
        match seen {
            Ok(_) => Here::Present,
            Err(error) if error.code == Code::NotFound => Here::Absent,
            Err(_) => Here::Unseen,
        }
    }

    fn faithful(&self, seen: &Resource) -> bool {
        let same = seen.entity.document().bytes() == self.source.entity.document().bytes();
        same || !self.exact && differences(&self.source.entity, &seen.entity).is_empty()
    }

    fn told(
        &self,
        verdict: Verdict,
        channel: &Channel<'_>,
        dispatch: &Dispatch,
        (destination, source): (Seen, Seen),
    ) -> Changed<Arc<Resource>> {
        let failed = |code, text: String, state| {
            Failed::with(
                Error::new(code, Phase::PostWriteVerificationOrReconciliation, text),
                state,
            )
        };
        Err(match (verdict, destination) {
            (Verdict::Moved, Ok(value)) if value.etag.is_some() => {
                return Ok(Change::Committed(Committed {
                    value,
                    side_effects: None,
                    diagnostics: Vec::new(),
                }));
            }
            (Verdict::Moved, Ok(_)) => failed(
                Code::CommittedButConcurrencyUnavailable,
                format!("It is now at {}, and the CalDAV server gives no strong Entity Tag for it, so it cannot be changed safely.", self.href),
                Mutation::Committed,
            ),
            (Verdict::Otherwise, Ok(seen)) => failed(
                Code::FidelityFailure,
                format!("It was moved to {}, and what is there says something else: the CalDAV server or somebody has changed it. Read it before you go on.", self.href),
                Mutation::Committed,
            )
            .showing(seen),
            (Verdict::Unverified | Verdict::Moved | Verdict::Otherwise, _) => failed(
                Code::CommittedButUnverified,
                format!("The CalDAV server says that it was moved to {}, and that could not be checked. Do not move it again; look at both places.", self.href),
                Mutation::Committed,
            ),
            (Verdict::NotMoved, destination) => self.not_moved(channel, dispatch, destination.is_ok(), source),
            (Verdict::Unknown, _) => failed(
                Code::Indeterminate,
                format!("It is not known whether this was moved: no clear answer came, or what is at both places does not fit to it. It may still be moved later. Look at {} and {} before you go on.", self.source.href, self.href),
                Mutation::Unknown,
            ),
        })
    }

    /// The server has refused, and the resource has not moved.
    fn not_moved(&self, channel: &Channel<'_>, dispatch: &Dispatch, occupied: bool, source: Seen) -> Box<Failed> {
        let (error, state) = undone(channel, dispatch).expect("it was refused");
        let error = match (dispatch, &source) {
            _ if occupied => Error::new(
                Code::DestinationConflict,
                Phase::Execution,
                "There is already a resource where this one would go. Nothing was moved.",
            ),
            (_, Err(gone)) if gone.code == Code::NotFound => Error::new(
                Code::NotFound,
                Phase::Execution,
                "The resource is not there any more. It was not moved by this call.",
            ),
            (_, Ok(now)) if now.etag.as_deref() != Some(self.tag) => Error::new(
                Code::Conflict,
                Phase::Execution,
                "The resource was changed by somebody else just now. Nothing was moved. Look at currentSnapshot, decide again, and send its entityRevision.",
            ),
            // Nextcloud answers so where the trash bin of the destination has the UID.
            (Dispatch::Refused(answer), _) if answer.response.status() == StatusCode::BAD_REQUEST => Error::new(
                Code::Conflict,
                Phase::Execution,
                "The CalDAV server refused the move (400), and the resource is where it was. Probably its UID is taken in the destination Calendar, perhaps by what is in the trash bin of that Calendar. Empty that, or choose another Calendar.",
            ),
            _ => error,
        };
        let failed = Failed::with(error, state);
        match source {
            Ok(current) if !occupied => failed.showing(current),
            Ok(_) | Err(_) => failed,
        }
    }
}

/// Refusals that are about what is at the two places, and not about whether the server does such a thing at all.
fn about_the_ends(status: StatusCode) -> bool {
    matches!(status.as_u16(), 400 | 404 | 409 | 410 | 412 | 423)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Accepted,
    Refused,
    Doubt,
}

/// What is at the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum There {
    Faithful,
    Different,
    Absent,
    Unseen,
}

/// What is left at the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Here {
    Present,
    Absent,
    Unseen,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// It is there and not here.
    Moved,
    /// It was moved, and something else is there.
    Otherwise,
    /// The server has said that it was moved, and nothing speaks against it.
    Unverified,
    /// The server has refused, and nothing speaks against it.
    NotMoved,
    /// Nothing proves anything.
    Unknown,
}

/// Decides by the answer and by what is at both ends. Without an answer only both ends together are proof; a source that
/// is still there is none, since a move may be on its way.
fn verdict(answer: Answer, there: There, here: Here) -> Verdict {
    match (answer, there, here) {
        // The destination was seen empty before, so this is the very move, whatever was answered.
        (_, There::Faithful, Here::Absent) => Verdict::Moved,
        (Answer::Accepted, There::Different, Here::Absent) => Verdict::Otherwise,
        (Answer::Accepted, There::Unseen, Here::Absent | Here::Unseen) => Verdict::Unverified,
        (Answer::Accepted, There::Faithful | There::Different, Here::Unseen) => Verdict::Unverified,
        (Answer::Refused, _, _) => Verdict::NotMoved,
        (Answer::Accepted | Answer::Doubt, _, _) => Verdict::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Settings;
    use crate::account::credential::Credential;

    #[test]
    fn a_move_is_what_its_answer_and_both_ends_prove() {
        use There::{Absent, Different, Faithful, Unseen};
        use Verdict::{Moved, NotMoved, Otherwise, Unknown, Unverified};
        // For each answer and destination: the source present, absent, unseen.
        let rows = [
            (Answer::Accepted, Faithful, [Unknown, Moved, Unverified]),
            (Answer::Accepted, Different, [Unknown, Otherwise, Unverified]),
            (Answer::Accepted, Absent, [Unknown, Unknown, Unknown]),
            (Answer::Accepted, Unseen, [Unknown, Unverified, Unverified]),
            (Answer::Doubt, Faithful, [Unknown, Moved, Unknown]),
            (Answer::Doubt, Different, [Unknown, Unknown, Unknown]),
            (Answer::Doubt, Absent, [Unknown, Unknown, Unknown]),
            (Answer::Doubt, Unseen, [Unknown, Unknown, Unknown]),
            (Answer::Refused, Faithful, [NotMoved, Moved, NotMoved]),
            (Answer::Refused, Different, [NotMoved, NotMoved, NotMoved]),
            (Answer::Refused, Absent, [NotMoved, NotMoved, NotMoved]),
            (Answer::Refused, Unseen, [NotMoved, NotMoved, NotMoved]),
        ];
        for (answer, there, expected) in rows {
            let found = [Here::Present, Here::Absent, Here::Unseen].map(|here| verdict(answer, there, here));
            assert_eq!(found, expected, "{answer:?} {there:?}");
        }
    }

    #[test]
    fn a_move_needs_a_family_or_a_folder() {
        let account = |url: &str, profile| {
            let mut settings = Settings::new(Href::parse(url).unwrap(), Credential::None);
            settings.profile = profile;
            family(&Account::new(settings).unwrap(), "/destination").map_err(|error| error.code)
        };
        assert_eq!(account("https://x/", None), Err(Code::UnsupportedCapability));
        assert_eq!(account("file:///x/", None), Ok(None));
        for profile in [Profile::Radicale, Profile::Nextcloud] {
            assert_eq!(account("https://x/", Some(profile)), Ok(Some(profile)));
        }
    }
}

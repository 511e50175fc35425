//! Why an exchange gave no usable answer, and how that is told to the caller.

use std::time::Duration;

use http::StatusCode;

use crate::exchange::exhausted;
use crate::exchange::redirect::Refusal;
use crate::machine::{BodyLimit, Failure, FailureKind};
use crate::outcome::{Code, Dimension, Error, Phase};

/// No answer that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The host got no response.
    Failure(Failure),
    /// The body of the response passed this many bytes.
    TooLarge(usize),
    /// The server's last word was a redirect that is not followed.
    Redirect(Refusal),
    /// The server wants to be left alone, or said so a moment ago; for how long, if it said.
    RateLimited(Option<Duration>),
    /// The server itself leads to a place that may not see the credentials.
    Untrusted(String),
}

impl Fault {
    /// The fault of an exchange whose body had this limit.
    #[must_use]
    pub fn of(failure: Failure, body: BodyLimit) -> Self {
        match (failure.kind, body) {
            (FailureKind::TooLarge, BodyLimit::Bytes(limit)) => Self::TooLarge(limit),
            _ => Self::Failure(failure),
        }
    }

    /// The error of the operation.
    #[must_use]
    pub fn error(&self) -> Box<Error> {
        let unavailable = |message: &'static str| Error::new(Code::UpstreamUnavailable, Phase::Execution, message);
        let protocol = |message: String| Error::new(Code::UpstreamProtocolError, Phase::Execution, message);
        match self {
            Self::Failure(failure) => match failure.kind {
                FailureKind::Unreachable => unavailable(
                    "The CalDAV server cannot be reached. Check the host name and port of CALDAV_URL and the network.",
                ),
                FailureKind::Untrusted => unavailable(
                    "No trusted TLS connection to the CalDAV server. Check its certificate; name a private CA with CALDAV_CA_FILE.",
                ),
                FailureKind::TimedOut => unavailable("The CalDAV server did not answer in time. Try again later."),
                // A body has no limit but one in bytes, whose fault is `TooLarge`.
                FailureKind::Broken | FailureKind::TooLarge => unavailable(
                    "The connection to the CalDAV server broke before a full answer came. Try again; if it stays so, check scheme (https or http) and port of CALDAV_URL.",
                ),
                FailureKind::Canceled => unavailable("The call was canceled."),
            },
            // The reading stops with the first byte too many.
            Self::TooLarge(limit) => exhausted(
                Dimension::ByteCount,
                limit.saturating_add(1),
                *limit,
                "The CalDAV server's answer is larger than is accepted. Ask for a smaller window or fewer Calendars.",
            ),
            Self::Redirect(Refusal::Untrusted(target)) => self.untrusted(&target.origin().to_string()),
            Self::Untrusted(origin) => self.untrusted(origin),
            Self::Redirect(Refusal::TooMany) => {
                protocol("The CalDAV server redirects in a circle or too often.".into())
            }
            Self::Redirect(Refusal::Elsewhere) => protocol(
                "The CalDAV server redirects this change to another place, where it is not sent. Nothing was changed."
                    .into(),
            ),
            Self::Redirect(Refusal::NoTarget) => protocol("The CalDAV server redirects to no usable place.".into()),
            Self::Redirect(Refusal::WrongKind(status)) => protocol(format!(
                "The CalDAV server answered {status}, a redirect that is not followed here."
            )),
            Self::RateLimited(wait) => {
                let mut error = Error::new(
                    Code::UpstreamRateLimited,
                    Phase::Execution,
                    "The CalDAV server asks for fewer requests. Wait before trying again.",
                );
                error.retry_after = wait.map(|wait| wait.min(Duration::from_millis(600_000)));
                error
            }
        }
    }

    fn untrusted(&self, origin: &str) -> Box<Error> {
        let shown: String = origin.chars().take(300).collect();
        Error::new(
            Code::UpstreamProtocolError,
            Phase::OriginScopeAuthorization,
            format!(
                "The CalDAV server leads to {shown}, which is not authorised; nothing was sent there. If that is the right place, make it CALDAV_URL, or add its host to CALDAV_REDIRECT_HOSTS."
            ),
        )
    }
}

/// The error for a final status that is not the one that was hoped for.
#[must_use]
pub fn refused(status: StatusCode) -> Box<Error> {
    let error = |code, message: String| Error::new(code, Phase::Execution, message);
    match status.as_u16() {
        401 => error(Code::UpstreamUnauthorized, "The CalDAV server refused the credentials (401). Check CALDAV_USERNAME and CALDAV_PASSWORD, or the token that is in it; many providers want an app password.".into()),
        403 => error(Code::UpstreamForbidden, "The CalDAV server refused access (403). Check that this user may read there.".into()),
        404 | 410 => error(Code::NotFound, format!("There is nothing at that place ({status}).")),
        429 => Fault::RateLimited(None).error(),
        507 => error(Code::LimitExhausted, "The CalDAV server says that its answer would be too large (507). Ask for a smaller window or fewer Calendars.".into()),
        500..=599 if status.as_u16() != 501 => error(Code::UpstreamUnavailable, format!("The CalDAV server failed ({status}). Try again later.")),
        _ => error(Code::UpstreamProtocolError, format!("The CalDAV server answered {status} where CalDAV expects something else.")),
    }
}

//! Whether a read is tried again, and what a server's wish to be left alone means (RFC 9110, 10.2.3; RFC 6585, 4).

use std::time::Duration;

use http::header::{DATE, RETRY_AFTER};
use http::{HeaderMap, StatusCode};

use crate::account::cookie::http_date;
use crate::exchange::budget::{ATTEMPTS, PATIENCE, PAUSE};
use crate::machine::{Effect, Failure, FailureKind, Reply};

/// What to do after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// The reply is final.
    Stop,
    /// Ask again after this pause.
    After(Duration),
}

/// Reads are tried up to [`ATTEMPTS`] times when the connection failed or the server says that it is not working
/// for the moment. A write is never repeated.
///
/// `attempt` counts from 1; `jitter` is any number and spreads the pauses over ±25 %.
#[must_use]
pub fn retry(effect: Effect, reply: &Reply, attempt: u32, jitter: u64) -> Retry {
    if effect == Effect::Write || attempt >= ATTEMPTS {
        return Retry::Stop;
    }
    let usual = || {
        let pause = PAUSE * 2_u32.pow(attempt - 1);
        Retry::After(pause * 3 / 4 + pause / 2 * u32::try_from(jitter % 1000).unwrap_or(0) / 1000)
    };
    match reply {
        Err(Failure {
            kind: FailureKind::Unreachable | FailureKind::Broken | FailureKind::TimedOut,
            ..
        }) => usual(),
        Err(_) => Retry::Stop,
        Ok(response) => match (response.status(), retry_after(response.headers())) {
            (StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE, Some(wait)) => {
                if wait <= PATIENCE {
                    Retry::After(wait)
                } else {
                    Retry::Stop
                }
            }
            (StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT, _) => usual(),
            _ => Retry::Stop,
        },
    }
}

/// How long the server wants to be left alone: delta seconds, or a date against the answer's own `Date`, since the
/// local clock may be off. Anything else is no wait that is known.
#[must_use]
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let now = http_date(headers.get(DATE)?.to_str().ok()?)?;
    Some(Duration::from_secs(u64::try_from(http_date(text)? - now).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Sent;
    use bytes::Bytes;
    use http::Response;

    #[test]
    fn only_reads_are_repeated_and_only_when_it_may_help() {
        let status = |code: u16, wait: Option<&str>| -> Reply {
            let mut response = Response::builder().status(code);
            if let Some(wait) = wait {
                response = response.header(RETRY_AFTER, wait);
            }
            Ok(response.body(Bytes::new()).unwrap())
        };
        let failure = |kind| -> Reply {
            Err(Failure {
                sent: Sent::Maybe,
                kind,
            })
        };
        let again = |reply: &Reply| matches!(retry(Effect::Read, reply, 1, 0), Retry::After(_));
        for code in [502, 503, 504] {
            assert!(again(&status(code, None)), "{code}");
        }
        for code in [200, 207, 400, 401, 403, 404, 405, 412, 429, 500, 501, 507] {
            assert!(!again(&status(code, None)), "{code}");
        }
        for kind in [FailureKind::Unreachable, FailureKind::Broken, FailureKind::TimedOut] {
            assert!(again(&failure(kind)), "{kind:?}");
            assert_eq!(retry(Effect::Write, &failure(kind), 1, 0), Retry::Stop);
            assert_eq!(retry(Effect::Read, &failure(kind), ATTEMPTS, 0), Retry::Stop);
        }
        for kind in [FailureKind::Untrusted, FailureKind::TooLarge, FailureKind::Canceled] {
            assert!(!again(&failure(kind)), "{kind:?}");
        }
        assert_eq!(
            retry(Effect::Read, &status(429, Some("1")), 1, 0),
            Retry::After(Duration::from_secs(1))
        );
        assert_eq!(retry(Effect::Read, &status(429, Some("300")), 1, 0), Retry::Stop);
        assert_eq!(retry(Effect::Read, &status(503, Some("300")), 1, 0), Retry::Stop);
    }

    #[test]
    fn pauses_double_within_their_spread() {
        for (attempt, base) in [(1, 200), (2, 400)] {
            for jitter in [0, 1, 499, 999, u64::MAX] {
                let Retry::After(pause) = retry(
                    Effect::Read,
                    &Err(Failure {
                        sent: Sent::No,
                        kind: FailureKind::Unreachable,
                    }),
                    attempt,
                    jitter,
                ) else {
                    panic!("expected a pause")
                };
                assert!((base * 3 / 4..=base * 5 / 4).contains(&pause.as_millis()), "{pause:?}");
            }
        }
    }
}

//! What is known about the one change that a machine may make.
//!
//! The ledger stands beside the flow, not in it, so that no flow can forget it. "Unknown" is the default the
//! moment a write has left; every other word has to be earned.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Response, StatusCode};

use crate::dav::fault::media_type;
use crate::machine::{Effect, Failure, Reply, Sent};

/// What a status says about a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// It was done.
    Done,
    /// Nothing was done.
    Nothing,
    /// Neither is said: it may have been done, or be done yet.
    Doubt,
}

/// 200, 201 and 204 say that a write was done. Another success is no word about all of it (202: perhaps later; 207:
/// see inside), and a 408 or a server error may come after the deed, but for those that say that the server cannot
/// do it (RFC 9110, 15.6.2 and 15.6.6; RFC 4918, 11.5).
#[must_use]
pub fn word(status: StatusCode) -> Word {
    match status.as_u16() {
        200 | 201 | 204 => Word::Done,
        202..=299 | 408 => Word::Doubt,
        501 | 505 | 507 => Word::Nothing,
        500.. => Word::Doubt,
        _ => Word::Nothing,
    }
}

/// What the answer to a write says. A web page with status 200 is the word of something on the way, that wants a login
/// perhaps.
#[must_use]
pub fn word_of(response: &Response<Bytes>) -> Word {
    let kind = response.headers().get(CONTENT_TYPE);
    let page = kind.is_some_and(|kind| kind.to_str().is_ok_and(|kind| media_type(kind) == "text/html"));
    match word(response.status()) {
        Word::Done if page && response.status() == StatusCode::OK => Word::Doubt,
        word @ (Word::Done | Word::Nothing | Word::Doubt) => word,
    }
}

/// The state of the change on the server, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mutation {
    /// No write was sent.
    NotAttempted,
    /// A write was sent and definitely refused.
    NotCommitted,
    /// The server acknowledged the write.
    Committed,
    /// A write may have left and nothing proves what became of it.
    Unknown,
}

/// Transport-level truth about the writes of one machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ledger {
    emitted: u32,
    refused: u32,
    acknowledged: bool,
}

impl Ledger {
    /// Notes that an exchange was handed to the host.
    pub fn emitted(&mut self, effect: Effect) {
        if effect == Effect::Write {
            self.emitted += 1;
        }
    }

    /// Notes the reply to an exchange.
    pub fn answered(&mut self, effect: Effect, reply: &Reply) {
        if effect == Effect::Read {
            return;
        }
        match reply {
            Ok(response) => match word_of(response) {
                Word::Done => self.acknowledged = true,
                Word::Nothing => self.refused += 1,
                Word::Doubt => {}
            },
            Err(Failure { sent: Sent::No, .. }) => self.emitted -= 1,
            Err(Failure { sent: Sent::Maybe, .. }) => {}
        }
    }

    /// What would be known if the machine were dropped right now.
    #[must_use]
    pub fn mutation(&self) -> Mutation {
        if self.acknowledged {
            Mutation::Committed
        } else if self.emitted == 0 {
            Mutation::NotAttempted
        } else if self.emitted == self.refused {
            Mutation::NotCommitted
        } else {
            Mutation::Unknown
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_web_page_is_no_word_of_the_server() {
        for (status, kind, expected) in [
            (200, "text/html; charset=utf-8", Word::Doubt),
            (200, "text/calendar", Word::Done),
            // As Apache's mod_dav says that something was made.
            (201, "text/html", Word::Done),
            (403, "text/html", Word::Nothing),
        ] {
            let response = Response::builder().status(status).header(CONTENT_TYPE, kind);
            assert_eq!(
                word_of(&response.body(Bytes::new()).unwrap()),
                expected,
                "{status} {kind}"
            );
        }
    }

    #[test]
    fn each_status_says_what_it_can() {
        for (word, statuses) in [
            (Word::Done, &[200, 201, 204][..]),
            (
                Word::Doubt,
                &[
                    202, 203, 205, 206, 207, 208, 226, 408, 500, 502, 503, 504, 508, 520, 599,
                ],
            ),
            (
                Word::Nothing,
                &[
                    301, 302, 307, 308, 400, 401, 403, 404, 405, 409, 410, 412, 413, 415, 423, 424, 429, 501, 505, 507,
                ],
            ),
        ] {
            for status in statuses {
                assert_eq!(super::word(StatusCode::from_u16(*status).unwrap()), word, "{status}");
            }
        }
    }
}

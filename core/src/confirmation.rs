//! Sealed questions: what a person is asked, as a text that the client keeps until the answer comes.
//!
//! A text is ChaCha20-Poly1305 (RFC 8439) in base64url, under a key of the process. Tool, arguments, configuration and
//! credentials are associated data; the digest of the review and the expiry are inside. The nonce is fresh entropy: two
//! questions may be the same, so it cannot be derived from them. It is also what an accepted text is remembered by,
//! until it expires: each counts once.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce};

use crate::outcome::{Code, Error, Outcome, Phase};
use crate::time::Moment;

/// How long an answer may take.
pub const LIFETIME: Duration = Duration::from_secs(600);
/// The longest text, in characters.
pub const MAX_CONFIRMATION: usize = 2048;
/// The most accepted texts that are remembered.
const MAX_USED: usize = 1024;
const FORMAT: u8 = 1;

/// A question, as it was sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// [`crate::change::Review::digest`].
    pub review: [u8; 32],
    /// When an answer comes too late.
    pub expires: Moment,
    id: [u8; 12],
}

/// Seals questions, opens them once.
pub struct Confirmations {
    cipher: ChaCha20Poly1305,
    binding: Vec<u8>,
    used: BTreeMap<[u8; 12], Moment>,
}

/// Shows nothing of the key.
impl std::fmt::Debug for Confirmations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Confirmations")
            .field("used", &self.used.len())
            .finish_non_exhaustive()
    }
}

impl Confirmations {
    /// `key` is fresh entropy of this process, and used for nothing else. `configuration` is whatever a question must not
    /// outlive, secrets included; only a keyed digest of it is kept.
    ///
    /// # Panics
    /// Never: sealing nothing cannot fail.
    #[must_use]
    pub fn new(key: [u8; 32], configuration: &[u8]) -> Self {
        let cipher = ChaCha20Poly1305::new(&Key::from(key));
        let payload = Payload {
            msg: &[],
            aad: configuration,
        };
        // Of a nonce that entropy gives with a chance of one in 2^96.
        let binding = cipher.encrypt(&Nonce::from([0xff; 12]), payload);
        Self {
            cipher,
            binding: binding.expect("an empty text is within the cipher's bounds"),
            used: BTreeMap::new(),
        }
    }

    /// Seals the question that a call of a tool with these arguments needs an answer to.
    ///
    /// # Panics
    /// Never: a question is within the cipher's bounds.
    #[must_use]
    pub fn seal(&self, tool: &str, arguments: &str, review: [u8; 32], now: Moment, entropy: [u8; 32]) -> String {
        let mut nonce = [0; 12];
        nonce.copy_from_slice(&entropy[..12]);
        let mut text = vec![FORMAT];
        let expires = u64::try_from((now + LIFETIME).0.as_millis()).unwrap_or(u64::MAX);
        text.extend_from_slice(&expires.to_be_bytes());
        text.extend_from_slice(&review);
        let payload = Payload {
            msg: &text,
            aad: &self.associated(tool, arguments),
        };
        let sealed = self.cipher.encrypt(&Nonce::from(nonce), payload);
        let sealed = sealed.expect("a question is within the cipher's bounds");
        URL_SAFE_NO_PAD.encode([&nonce[..], &sealed[..]].concat())
    }

    /// The question that a text holds, if it was sealed here for this call and has not been used or expired.
    ///
    /// # Errors
    /// `confirmation_mismatch`, `confirmation_expired`.
    pub fn open(&self, tool: &str, arguments: &str, text: &str, now: Moment) -> Outcome<Question> {
        let question = self.unseal(tool, arguments, text).ok_or_else(mismatch)?;
        if self.used.contains_key(&question.id) {
            return Err(mismatch());
        }
        if question.expires <= now {
            return Err(expired());
        }
        Ok(question)
    }

    /// Takes an answer for given: the same text counts no second time.
    ///
    /// # Errors
    /// `confirmation_mismatch` if it was used in the meantime; `busy` if too many are remembered.
    pub fn use_up(&mut self, question: &Question, now: Moment) -> Outcome<()> {
        self.used.retain(|_, expires| *expires > now);
        if self.used.contains_key(&question.id) {
            return Err(mismatch());
        }
        if self.used.len() >= MAX_USED {
            let text = "Too many confirmations were given in the last minutes. Wait, then ask again.";
            return Err(Error::new(Code::Busy, Phase::Mrtr, text));
        }
        self.used.insert(question.id, question.expires);
        Ok(())
    }

    fn unseal(&self, tool: &str, arguments: &str, text: &str) -> Option<Question> {
        if text.len() > MAX_CONFIRMATION {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (id, sealed) = bytes.split_first_chunk::<12>()?;
        let payload = Payload {
            msg: sealed,
            aad: &self.associated(tool, arguments),
        };
        let text = self.cipher.decrypt(&Nonce::from(*id), payload).ok()?;
        let (&[FORMAT], rest) = text.split_first_chunk::<1>()? else {
            return None;
        };
        let (expires, review) = rest.split_first_chunk::<8>()?;
        Some(Question {
            review: review.try_into().ok()?,
            expires: Moment(Duration::from_millis(u64::from_be_bytes(*expires))),
            id: *id,
        })
    }

    fn associated(&self, tool: &str, arguments: &str) -> Vec<u8> {
        [&self.binding, tool.as_bytes(), b"\0", arguments.as_bytes()].concat()
    }
}

/// The answer belongs to something else.
#[must_use]
pub fn mismatch() -> Box<Error> {
    let text = "The confirmation does not belong to this call, or was used already. Nothing was changed. Send the call again without it, and ask anew.";
    Error::new(Code::ConfirmationMismatch, Phase::Mrtr, text)
}

/// The answer came too late.
#[must_use]
pub fn expired() -> Box<Error> {
    let text = "The confirmation came later than 10 minutes after the question. Nothing was changed. Send the call again without it, and ask anew.";
    Error::new(Code::ConfirmationExpired, Phase::Mrtr, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Moment = Moment(Duration::from_secs(5));

    fn sealed() -> (Confirmations, String) {
        let confirmations = Confirmations::new([7; 32], b"account");
        let text = confirmations.seal("delete", "{\"a\":1}", [9; 32], NOW, [3; 32]);
        (confirmations, text)
    }

    #[test]
    fn an_answer_opens_its_question_once() {
        let (mut confirmations, text) = sealed();
        assert!(text.len() < 200);
        let question = confirmations.open("delete", "{\"a\":1}", &text, NOW).unwrap();
        assert_eq!(question.review, [9; 32]);
        confirmations.use_up(&question, NOW).unwrap();
        for error in [
            confirmations.open("delete", "{\"a\":1}", &text, NOW).unwrap_err(),
            confirmations.use_up(&question, NOW).unwrap_err(),
        ] {
            assert_eq!(error.code, Code::ConfirmationMismatch);
        }
        let again = confirmations.seal("delete", "{\"a\":1}", [9; 32], NOW, [4; 32]);
        assert!(confirmations.open("delete", "{\"a\":1}", &again, NOW).is_ok());
    }

    #[test]
    fn another_call_account_process_or_text_does_not_open() {
        let (confirmations, text) = sealed();
        let refused = |confirmations: &Confirmations, tool: &str, arguments: &str, text: &str| {
            let error = confirmations.open(tool, arguments, text, NOW).unwrap_err();
            assert_eq!((error.code, error.phase), (Code::ConfirmationMismatch, Phase::Mrtr));
        };
        refused(&confirmations, "move", "{\"a\":1}", &text);
        refused(&confirmations, "delete", "{\"a\":2}", &text);
        refused(&confirmations, "delete{", "\"a\":1}", &text);
        refused(&Confirmations::new([8; 32], b"account"), "delete", "{\"a\":1}", &text);
        refused(&Confirmations::new([7; 32], b"other"), "delete", "{\"a\":1}", &text);
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let text = std::str::from_utf8(&bytes).unwrap();
            refused(&confirmations, "delete", "{\"a\":1}", text);
        }
        for text in ["", "A", "é", &text[1..], &"A".repeat(MAX_CONFIRMATION + 1)] {
            refused(&confirmations, "delete", "{\"a\":1}", text);
        }
    }

    #[test]
    fn an_answer_may_take_ten_minutes() {
        let (mut confirmations, text) = sealed();
        let open = |confirmations: &Confirmations, at| confirmations.open("delete", "{\"a\":1}", &text, at);
        let question = open(&confirmations, Moment(NOW.0 + LIFETIME - Duration::from_millis(1)));
        confirmations.use_up(&question.unwrap(), NOW).unwrap();
        let (confirmations, _) = sealed();
        let error = open(&confirmations, NOW + LIFETIME).unwrap_err();
        assert_eq!(error.code, Code::ConfirmationExpired);
    }

    #[test]
    fn what_has_expired_is_forgotten_and_the_rest_is_bounded() {
        let (mut confirmations, _) = sealed();
        for number in 0..MAX_USED + 1 {
            let mut entropy = [0; 32];
            entropy[..8].copy_from_slice(&(number as u64).to_be_bytes());
            let text = confirmations.seal("t", "", [0; 32], NOW, entropy);
            let question = confirmations.open("t", "", &text, NOW).unwrap();
            let used = confirmations.use_up(&question, NOW);
            assert_eq!(used.is_ok(), number < MAX_USED);
        }
        let later = NOW + LIFETIME + Duration::from_secs(1);
        let text = confirmations.seal("t", "", [0; 32], later, [0xaa; 32]);
        let question = confirmations.open("t", "", &text, later).unwrap();
        confirmations.use_up(&question, later).unwrap();
        assert_eq!(confirmations.used.len(), 1);
    }
}

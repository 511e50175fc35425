//! Sealed positions in a snapshot: opaque to the caller, bound to everything they depend on.
//!
//! A cursor is ChaCha20-Poly1305 (RFC 8439) under a key that lives as long as the process, in base64url. That
//! cipher is constant-time in plain integer arithmetic on every target, where AES without its instructions is
//! either slow or leaks through caches. The nonce is (snapshot, position): what is sealed is a function of
//! these two, so a nonce never meets two texts, no entropy is needed, and a replayed page carries the same next
//! cursor.
//!
//! Tool, configuration and credentials are associated data: a cursor of another tool, account or process does
//! not open. The evaluation zone and the expiry are inside. The text filter and all else that was asked need no place: a
//! snapshot is the unchangeable result of one question.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce};

use super::snapshot::SnapshotId;
use crate::outcome::{Code, Error, Outcome, Phase};
use crate::time::Moment;

/// The longest cursor, in characters.
pub const MAX_CURSOR: usize = 2048;

const FORMAT: u8 = 1;
/// Of a snapshot number that no store ever reaches.
const BINDING_NONCE: [u8; 12] = [0xff; 12];

/// A place in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// Which snapshot.
    pub snapshot: SnapshotId,
    /// Index of the first row of the page.
    pub row: u32,
    /// When the snapshot goes.
    pub expires: Moment,
    /// The evaluation zone of the query, empty if it has none; at most 255 bytes.
    pub zone: String,
}

/// Seals and opens cursors.
pub struct Cursors {
    cipher: ChaCha20Poly1305,
    binding: Vec<u8>,
}

/// Shows nothing of the key.
impl std::fmt::Debug for Cursors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cursors").finish_non_exhaustive()
    }
}

impl Cursors {
    /// `key` is fresh entropy of this process. `configuration` is whatever a cursor must not outlive, secrets
    /// included; only a keyed digest of it is kept.
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
        let binding = cipher
            .encrypt(&Nonce::from(BINDING_NONCE), payload)
            .expect("an empty text is within the cipher's bounds");
        Self { cipher, binding }
    }

    /// The cursor of a position for a tool.
    ///
    /// # Panics
    /// Never: a position is within the cipher's bounds.
    #[must_use]
    pub fn seal(&self, tool: &str, position: &Position) -> String {
        let mut text = vec![FORMAT];
        let expires = u64::try_from(position.expires.0.as_millis()).unwrap_or(u64::MAX);
        text.extend_from_slice(&expires.to_be_bytes());
        text.extend_from_slice(position.zone.as_bytes());
        let nonce = nonce(position.snapshot, position.row);
        let payload = Payload {
            msg: &text,
            aad: &self.associated(tool),
        };
        let sealed = self
            .cipher
            .encrypt(&Nonce::from(nonce), payload)
            .expect("a position is within the cipher's bounds");
        URL_SAFE_NO_PAD.encode([&nonce[..], &sealed[..]].concat())
    }

    /// What a cursor says, if it was sealed here for this tool and has not expired.
    ///
    /// # Errors
    /// `invalid_input` in phase pagination for anything that was not sealed here, `cursor_expired`.
    pub fn open(&self, tool: &str, cursor: &str, now: Moment) -> Outcome<Position> {
        let position = self.unseal(tool, cursor).ok_or_else(|| {
            let text = "The cursor is not one that this server issued for this tool. Send nextCursor of the previous page unchanged, or start the query again.";
            Error::new(Code::InvalidInput, Phase::Pagination, text)
        })?;
        if position.expires <= now {
            return Err(expired());
        }
        Ok(position)
    }

    fn unseal(&self, tool: &str, cursor: &str) -> Option<Position> {
        if cursor.len() > MAX_CURSOR {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<12>()?;
        let payload = Payload {
            msg: sealed,
            aad: &self.associated(tool),
        };
        let text = self.cipher.decrypt(&Nonce::from(*nonce), payload).ok()?;
        let (&[FORMAT], rest) = text.split_first_chunk::<1>()? else {
            return None;
        };
        let (expires, zone) = rest.split_first_chunk::<8>()?;
        let (snapshot, row) = nonce.split_first_chunk::<8>()?;
        Some(Position {
            snapshot: SnapshotId(u64::from_be_bytes(*snapshot)),
            row: u32::from_be_bytes(row.try_into().ok()?),
            expires: Moment(std::time::Duration::from_millis(u64::from_be_bytes(*expires))),
            zone: String::from_utf8(zone.to_vec()).ok()?,
        })
    }

    fn associated(&self, tool: &str) -> Vec<u8> {
        [&self.binding, tool.as_bytes()].concat()
    }
}

/// The snapshot of a cursor is gone.
#[must_use]
pub fn expired() -> Box<Error> {
    let text = "The cursor has expired: results are kept for 10 minutes from the first page. Start the query again.";
    Error::new(Code::CursorExpired, Phase::Pagination, text)
}

fn nonce(snapshot: SnapshotId, row: u32) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[..8].copy_from_slice(&snapshot.0.to_be_bytes());
    nonce[8..].copy_from_slice(&row.to_be_bytes());
    nonce
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const KEY: [u8; 32] = [7; 32];

    fn position(row: u32) -> Position {
        Position {
            snapshot: SnapshotId(3),
            row,
            expires: Moment(Duration::from_secs(600)),
            zone: "America/Argentina/ComodRivadavia".into(),
        }
    }

    #[test]
    fn a_sealed_position_opens_again_and_is_the_same_text_each_time() {
        let cursors = Cursors::new(KEY, b"account");
        let sealed = cursors.seal("tool", &position(50));
        assert_eq!(sealed, cursors.seal("tool", &position(50)));
        assert!(sealed.len() < 200 && !sealed.contains("America"), "{sealed}");
        assert_eq!(cursors.open("tool", &sealed, Moment::ZERO), Ok(position(50)));
    }

    #[test]
    fn another_tool_account_process_or_text_does_not_open() {
        let cursors = Cursors::new(KEY, b"account");
        let sealed = cursors.seal("tool", &position(50));
        let refused = |cursors: &Cursors, tool: &str, text: &str| {
            let error = cursors.open(tool, text, Moment::ZERO).unwrap_err();
            assert_eq!(
                (error.code, error.phase),
                (Code::InvalidInput, Phase::Pagination),
                "{text}"
            );
        };
        refused(&cursors, "other", &sealed);
        refused(&Cursors::new(KEY, b"accounts"), "tool", &sealed);
        refused(&Cursors::new([8; 32], b"account"), "tool", &sealed);
        for at in 0..sealed.len() {
            let mut bytes = sealed.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            refused(&cursors, "tool", std::str::from_utf8(&bytes).unwrap());
        }
        for text in [
            "",
            "A",
            "é",
            "====",
            &sealed[1..],
            &format!("{sealed}A"),
            &"A".repeat(MAX_CURSOR + 1),
        ] {
            refused(&cursors, "tool", text);
        }
    }

    #[test]
    fn a_cursor_expires_with_its_snapshot() {
        let cursors = Cursors::new(KEY, b"account");
        let sealed = cursors.seal("tool", &position(50));
        let error = cursors
            .open("tool", &sealed, Moment(Duration::from_secs(600)))
            .unwrap_err();
        assert_eq!((error.code, error.phase), (Code::CursorExpired, Phase::Pagination));
    }
}

//! What is known about the one change that a machine may make.
//!
//! The ledger stands beside the flow, not in it, so that no flow can forget it. "Unknown" is the default the
//! moment a write has left; every other word has to be earned.

use http::StatusCode;

use crate::machine::{Effect, Failure, Reply, Sent};

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

    /// Notes the reply to an exchange. A 408 or a server error is no refusal: the request may still take effect.
    pub fn answered(&mut self, effect: Effect, reply: &Reply) {
        if effect == Effect::Read {
            return;
        }
        match reply {
            Ok(response) if response.status().is_success() => self.acknowledged = true,
            Ok(response) if response.status().is_server_error() || response.status() == StatusCode::REQUEST_TIMEOUT => {
            }
            Ok(_) => self.refused += 1,
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

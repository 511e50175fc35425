//! What a machine may know about the outside, read once by its host.

use crate::time::{Moment, Utc};

/// Clock readings and entropy for one machine.
#[derive(Clone, Copy)]
pub struct Env {
    /// The host's monotonic clock.
    pub now: Moment,
    /// Wall time at `now`.
    pub utc: Utc,
    /// Fresh entropy for this one machine: names, jitter, opaque handles.
    pub seed: [u8; 32],
}

/// Shows the clocks, never the entropy.
impl std::fmt::Debug for Env {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Env")
            .field("now", &self.now)
            .field("utc", &self.utc)
            .finish_non_exhaustive()
    }
}

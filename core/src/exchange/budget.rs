//! How long things may take and how much may come back.

use std::time::Duration;

use crate::machine::BodyLimit;

/// A whole reading operation.
pub const READ: Duration = Duration::from_secs(30);
/// A changing operation, up to and with its write.
pub const REVIEW: Duration = Duration::from_secs(30);
/// Finding out what became of a write, from its end on.
pub const SETTLE: Duration = Duration::from_secs(30);
/// One attempt of a small request: an answer that takes longer is asked for again.
pub const ATTEMPT: Duration = Duration::from_secs(10);
/// How often a read is tried at most.
pub const ATTEMPTS: u32 = 3;
/// The pause before the second attempt; it doubles, with jitter.
pub const PAUSE: Duration = Duration::from_millis(200);
/// A `Retry-After` up to this long is waited for inside a read; a longer one is reported.
pub const PATIENCE: Duration = Duration::from_secs(2);
/// Redirects that a read follows at most.
pub const HOPS: u32 = 5;
/// Redirects that a write follows at most.
pub const WRITE_HOPS: u32 = 3;
/// A listing or another small multistatus.
pub const LISTING: BodyLimit = BodyLimit::Bytes(4 * 1024 * 1024);
/// A report with calendar data.
pub const REPORT: BodyLimit = BodyLimit::Bytes(16 * 1024 * 1024);
/// A report without calendar data: free/busy, or what has changed.
pub const BRIEF_REPORT: BodyLimit = BodyLimit::Bytes(4 * 1024 * 1024);
/// A listing of all members of a Calendar.
pub const INVENTORY: BodyLimit = BodyLimit::Bytes(32 * 1024 * 1024);
/// One Calendar Object Resource.
pub const RESOURCE: BodyLimit = BodyLimit::Bytes(4 * 1024 * 1024);
/// The answer to a write: as much as an error page of a proxy may have.
pub const WRITE: BodyLimit = BodyLimit::Bytes(1024 * 1024);

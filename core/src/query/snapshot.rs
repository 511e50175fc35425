//! Results that are kept so that later pages cost no exchange.
//!
//! A snapshot lives [`LIFETIME`] from its first page and is never evicted before that: a cursor that was issued
//! works until it expires. So the space is reserved before a cursor is issued, and a full store answers `busy`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::outcome::{Code, Dimension, Error, Limits, Outcome, Phase};
use crate::time::Moment;

/// How long a snapshot lives, counted from its first page.
pub const LIFETIME: Duration = Duration::from_secs(600);
/// The most snapshots at a time.
pub const MAX_SNAPSHOTS: usize = 16;
/// The most bytes of all snapshots together.
pub const MAX_TOTAL_BYTES: usize = 128 << 20;
/// The most bytes of one snapshot.
pub const MAX_BYTES: usize = 32 << 20;
/// The most items of one snapshot.
pub const MAX_ITEMS: usize = 50_000;

/// Names one snapshot of one store. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SnapshotId(pub(super) u64);

/// How much a snapshot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight {
    /// Rows.
    pub items: usize,
    /// Octets kept alive by it.
    pub bytes: usize,
}

impl Weight {
    /// The same with this many bytes more.
    #[must_use]
    pub fn with(self, bytes: usize) -> Self {
        Self {
            bytes: self.bytes + bytes,
            ..self
        }
    }
}

#[derive(Debug)]
struct Entry<T> {
    value: Arc<T>,
    bytes: usize,
    expires: Moment,
}

/// The snapshots of one session.
#[derive(Debug)]
pub struct Snapshots<T> {
    entries: BTreeMap<SnapshotId, Entry<T>>,
    next: u64,
}

impl<T> Default for Snapshots<T> {
    fn default() -> Self {
        Self {
            entries: BTreeMap::new(),
            next: 0,
        }
    }
}

impl<T> Snapshots<T> {
    /// Keeps a result, or says that there is no room. Returns its name and when it expires.
    ///
    /// # Errors
    /// `limit_exhausted` for a result that no store would take, `busy` with the wait until room is made.
    pub fn keep(&mut self, now: Moment, value: Arc<T>, weight: Weight) -> Outcome<(SnapshotId, Moment)> {
        fits(Dimension::ResourceCount, weight.items, MAX_ITEMS)?;
        fits(Dimension::ByteCount, weight.bytes, MAX_BYTES)?;
        self.expire(now);
        let total: usize = self.entries.values().map(|entry| entry.bytes).sum();
        if self.entries.len() >= MAX_SNAPSHOTS || total + weight.bytes > MAX_TOTAL_BYTES {
            return Err(self.full(now));
        }
        let id = SnapshotId(self.next);
        self.next += 1;
        let expires = now + LIFETIME;
        let bytes = weight.bytes;
        self.entries.insert(id, Entry { value, bytes, expires });
        Ok((id, expires))
    }

    /// The result of that name, until it expires.
    pub fn get(&mut self, now: Moment, id: SnapshotId) -> Option<Arc<T>> {
        self.expire(now);
        self.entries.get(&id).map(|entry| Arc::clone(&entry.value))
    }

    fn expire(&mut self, now: Moment) {
        self.entries.retain(|_, entry| now < entry.expires);
    }

    fn full(&self, now: Moment) -> Box<Error> {
        // Ids are given in order of time, so the first entry is the first to go.
        let first = self
            .entries
            .values()
            .next()
            .map_or(LIFETIME, |entry| entry.expires.since(now));
        let text = "Too many query results are kept for paging. Narrow the query so that one page holds it, raise pageSize, or wait.";
        let mut error = Error::new(Code::Busy, Phase::Pagination, text);
        error.retry_after = Some(first.clamp(Duration::from_millis(1), LIFETIME));
        error
    }
}

fn fits(dimension: Dimension, observed: usize, limit: usize) -> Outcome<()> {
    if observed <= limit {
        return Ok(());
    }
    let limits = Limits {
        dimension,
        observed: observed as u64,
        limit: limit as u64,
    };
    let text = "The result is too large to be kept for paging. Narrow the window, the scope or the filters.";
    Err(Error::limit(Phase::Execution, limits, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Weight = Weight { items: 1, bytes: 10 };

    fn at(seconds: u64) -> Moment {
        Moment(Duration::from_secs(seconds))
    }

    #[test]
    fn a_snapshot_lives_ten_minutes_from_its_first_page_whatever_happens() {
        let mut store = Snapshots::default();
        let (id, expires) = store.keep(at(5), Arc::new("rows"), SMALL).unwrap();
        assert_eq!(expires, at(605));
        assert_eq!(store.get(at(604), id).as_deref(), Some(&"rows"));
        assert_eq!(store.get(at(605), id), None);
    }

    #[test]
    fn a_full_store_is_busy_until_the_first_snapshot_expires() {
        let mut store = Snapshots::default();
        for second in 0..MAX_SNAPSHOTS as u64 {
            store.keep(at(second), Arc::new(()), SMALL).unwrap();
        }
        let error = store.keep(at(100), Arc::new(()), SMALL).unwrap_err();
        assert_eq!((error.code, error.phase), (Code::Busy, Phase::Pagination));
        assert_eq!(error.retry_after, Some(Duration::from_secs(500)));
        assert!(store.keep(at(600), Arc::new(()), SMALL).is_ok());
    }

    #[test]
    fn bytes_and_items_are_bounded_alone_and_together() {
        let mut store = Snapshots::default();
        let heavy = Weight {
            items: 1,
            bytes: MAX_BYTES,
        };
        for _ in 0..MAX_TOTAL_BYTES / MAX_BYTES {
            store.keep(at(0), Arc::new(()), heavy).unwrap();
        }
        assert_eq!(store.keep(at(0), Arc::new(()), SMALL).unwrap_err().code, Code::Busy);
        for (items, bytes, dimension) in [
            (1, MAX_BYTES + 1, Dimension::ByteCount),
            (MAX_ITEMS + 1, 1, Dimension::ResourceCount),
        ] {
            let error = store.keep(at(0), Arc::new(()), Weight { items, bytes }).unwrap_err();
            assert_eq!(error.code, Code::LimitExhausted);
            assert_eq!(error.limits.unwrap().dimension, dimension);
        }
    }
}

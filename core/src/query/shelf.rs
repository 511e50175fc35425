//! Resources that were read before, kept by href and strong Entity Tag, so that only what is new is downloaded.
//!
//! A kept resource is used only where the server has just told the same Entity Tag for its href: an answer is as
//! fresh as the server. The shelf also remembers which windows of a Calendar it has seen whole, since a listing is
//! worth its request only where most of what it names is here.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::href::HrefKey;
use crate::ical::entity::{Entity, Kind};
use crate::ical::expand::Window;

/// The most bytes that the shelf of one account keeps.
pub const MAX_BYTES: usize = 32 << 20;

/// All times that a server can be asked for.
pub const EVERYTHING: Window = Window {
    from: i64::MIN,
    to: i64::MAX,
};

#[derive(Debug)]
struct Kept {
    etag: Box<str>,
    entity: Arc<Entity>,
    footprint: usize,
    used: u64,
}

/// Parsed resources of one account, the least recently used ones leaving first.
#[derive(Debug, Default)]
pub struct Shelf {
    kept: BTreeMap<HrefKey, Kept>,
    seen: BTreeMap<(HrefKey, Kind), Window>,
    bytes: usize,
    uses: u64,
}

impl Shelf {
    /// The resource with this href, if it is kept with this strong Entity Tag.
    pub fn get(&mut self, href: &HrefKey, etag: &str) -> Option<Arc<Entity>> {
        let kept = self.kept.get_mut(href).filter(|kept| *kept.etag == *etag)?;
        self.uses += 1;
        kept.used = self.uses;
        Some(Arc::clone(&kept.entity))
    }

    /// Keeps a resource under the strong Entity Tag that came with its octets.
    pub fn keep(&mut self, href: HrefKey, etag: &str, entity: &Arc<Entity>) {
        let footprint = entity.footprint();
        self.uses += 1;
        let kept = Kept {
            etag: etag.into(),
            entity: Arc::clone(entity),
            footprint,
            used: self.uses,
        };
        self.bytes += footprint;
        if let Some(before) = self.kept.insert(href, kept) {
            self.bytes -= before.footprint;
        }
        if self.bytes > MAX_BYTES {
            self.make_room();
        }
    }

    /// Whether the members of a Calendar that this window touches were read before and not been evicted since.
    #[must_use]
    pub fn has_seen(&self, calendar: &HrefKey, kind: Kind, window: Window) -> bool {
        let seen = self.seen.get(&(calendar.clone(), kind));
        seen.is_some_and(|seen| seen.from <= window.from && window.to <= seen.to)
    }

    /// Remembers that all members of a Calendar that this window touches were read.
    pub fn saw(&mut self, calendar: HrefKey, kind: Kind, window: Window) {
        let seen = self.seen.entry((calendar, kind)).or_insert(window);
        *seen = if window.from <= seen.to && seen.from <= window.to {
            Window {
                from: seen.from.min(window.from),
                to: seen.to.max(window.to),
            }
        } else {
            window
        };
    }

    /// Drops the least recently used resources until a quarter is free. What was seen whole is so no longer.
    fn make_room(&mut self) {
        let mut by_use: Vec<(u64, usize)> = self.kept.values().map(|kept| (kept.used, kept.footprint)).collect();
        by_use.sort_unstable();
        let mut last = 0;
        for (used, footprint) in by_use {
            if self.bytes <= MAX_BYTES / 4 * 3 {
                break;
            }
            self.bytes -= footprint;
            last = used;
        }
        self.kept.retain(|_, kept| kept.used > last);
        self.seen.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::href::Href;
    use bytes::Bytes;

    fn key(name: &str) -> HrefKey {
        Href::parse(&format!("https://dav.example/{name}")).unwrap().key()
    }

    fn entity(octets: usize) -> Arc<Entity> {
        Arc::new(Entity::read(Bytes::from(vec![b'x'; octets])))
    }

    #[test]
    fn a_body_is_given_out_for_its_own_tag_only() {
        let mut shelf = Shelf::default();
        let first = entity(1);
        shelf.keep(key("a"), "\"1\"", &first);
        assert!(Arc::ptr_eq(&shelf.get(&key("a"), "\"1\"").unwrap(), &first));
        assert!(shelf.get(&key("a"), "\"2\"").is_none());
        assert!(shelf.get(&key("b"), "\"1\"").is_none());
        let second = entity(2);
        shelf.keep(key("a"), "\"2\"", &second);
        assert!(shelf.get(&key("a"), "\"1\"").is_none());
        assert!(Arc::ptr_eq(&shelf.get(&key("a"), "\"2\"").unwrap(), &second));
        assert_eq!(shelf.bytes, second.footprint());
    }

    #[test]
    fn what_was_used_least_recently_leaves_first_and_bytes_are_bounded() {
        let mut shelf = Shelf::default();
        let large = entity(MAX_BYTES / 8);
        shelf.saw(key("cal/"), Kind::Event, EVERYTHING);
        for name in ["a", "b", "c", "d", "e", "f", "g"] {
            shelf.keep(key(name), "\"1\"", &large);
        }
        assert!(shelf.has_seen(&key("cal/"), Kind::Event, EVERYTHING));
        assert!(shelf.get(&key("a"), "\"1\"").is_some());
        shelf.keep(key("h"), "\"1\"", &large);
        assert!(shelf.bytes <= MAX_BYTES);
        for (name, stays) in [
            ("a", true),
            ("b", false),
            ("c", false),
            ("d", false),
            ("e", true),
            ("h", true),
        ] {
            assert_eq!(shelf.get(&key(name), "\"1\"").is_some(), stays, "{name}");
        }
        assert!(!shelf.has_seen(&key("cal/"), Kind::Event, EVERYTHING));
        // One that is larger than all the room is not kept, and nothing else is lost to it twice.
        shelf.keep(key("i"), "\"1\"", &entity(MAX_BYTES + 1));
        assert!(shelf.bytes <= MAX_BYTES);
    }

    #[test]
    fn windows_that_meet_become_one_and_others_replace_it() {
        let window = |from, to| Window { from, to };
        let mut shelf = Shelf::default();
        let mut saw = |seen: Window, asked: Window| {
            shelf.saw(key("cal/"), Kind::Event, seen);
            assert!(!shelf.has_seen(&key("cal/"), Kind::Todo, asked));
            assert!(!shelf.has_seen(&key("other/"), Kind::Event, asked));
            shelf.has_seen(&key("cal/"), Kind::Event, asked)
        };
        assert!(saw(window(0, 10), window(0, 10)));
        assert!(saw(window(10, 20), window(5, 15)));
        assert!(!saw(window(10, 20), window(5, 21)));
        assert!(!saw(window(30, 40), window(5, 15)));
        assert!(saw(EVERYTHING, window(-5, 500)));
    }
}

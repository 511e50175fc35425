//! Resources that were read before, kept by href and strong Entity Tag, so that only what is new is downloaded.
//!
//! A kept resource is used only where the server has just told the same Entity Tag for its href: an answer is as
//! fresh as the server. The shelf also remembers which windows of a Calendar it has seen whole, since a listing is
//! worth its request only where most of what it names is here.
//!
//! Beside the resources it keeps what the last answers named ([`Listing`]), so that an answer that names the same hrefs
//! with the same Entity Tags in the same order leads to the same resources, and what was last made of such listings
//! ([`Shelf::recall`]): where all of them are the same again, so is the result of the same question.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::href::{Href, HrefKey};
use crate::ical::entity::{Entity, Kind};
use crate::ical::expand::Window;
use crate::resource::Resource;

/// The most bytes of resources that the shelf of one account keeps.
pub const MAX_BYTES: usize = 32 << 20;
/// The most bytes of listings and of the last result, beside the resources that they share with the shelf.
pub const MAX_NOTES: usize = 16 << 20;

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

/// What one answer named, in its order: each with a strong Entity Tag, and all of them on the shelf.
#[derive(Debug)]
pub struct Listing {
    url: Href,
    members: Vec<Named>,
    size: usize,
}

/// A member as an answer named it, and what that was.
#[derive(Debug)]
pub struct Named {
    /// The href as the answer spelled it.
    pub raw: Box<str>,
    /// What tells it from others.
    pub key: HrefKey,
    /// What it is.
    pub resource: Arc<Resource>,
}

impl Listing {
    /// What an answer from this URL named.
    #[must_use]
    pub fn new(url: Href, members: Vec<Named>) -> Self {
        let size = members.iter().map(|member| member.resource.entity.size()).sum();
        Self { url, members, size }
    }

    /// The URL that answered; hrefs are relative to it.
    #[must_use]
    pub fn url(&self) -> &Href {
        &self.url
    }

    /// In the order of the answer.
    #[must_use]
    pub fn members(&self) -> &[Named] {
        &self.members
    }

    /// Bytes of the bodies of all members.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    fn weight(&self) -> usize {
        /// What the allocator adds to the five strings of a member.
        const ALLOCATIONS: usize = 64;
        let named = self.members.iter().map(|Named { raw, key, resource }| {
            let Resource {
                calendar, href, etag, ..
            } = &**resource;
            let etag = etag.as_ref().map_or(0, String::len);
            raw.len() + key.as_str().len() + calendar.as_str().len() + href.as_str().len() + etag
        });
        let each = size_of::<Named>() + size_of::<Resource>() + ALLOCATIONS;
        named.sum::<usize>() + self.members.len() * each
    }
}

/// What a listing answers: the Calendar, what it was asked for, and the window.
pub type Asked = (HrefKey, Kind, Window);

#[derive(Debug)]
struct Noted {
    asked: Asked,
    listing: Arc<Listing>,
    weight: usize,
}

/// What was made of some listings.
struct Made {
    basis: Vec<Arc<Listing>>,
    /// A question with its result.
    result: Box<dyn Any + Send>,
    weight: usize,
}

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Made")
            .field("weight", &self.weight)
            .finish_non_exhaustive()
    }
}

/// Parsed resources of one account, the least recently used ones leaving first.
#[derive(Debug, Default)]
pub struct Shelf {
    kept: BTreeMap<HrefKey, Kept>,
    seen: BTreeMap<(HrefKey, Kind), Window>,
    bytes: usize,
    uses: u64,
    /// The least recently used first.
    notes: Vec<Noted>,
    /// How often something left.
    state: u64,
    made: Option<Made>,
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
            // Listings with the state before would keep that alive.
            self.forget_notes();
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

    /// Changes when something leaves: what is read while it stays the same is on the shelf.
    #[must_use]
    pub fn state(&self) -> u64 {
        self.state
    }

    /// What the last answer to this question named.
    pub fn listing(&mut self, calendar: &HrefKey, kind: Kind, window: Window) -> Option<Arc<Listing>> {
        let asked = |noted: &Noted| noted.asked.0 == *calendar && (noted.asked.1, noted.asked.2) == (kind, window);
        let at = self.notes.iter().position(asked)?;
        self.notes[at..].rotate_left(1);
        self.notes.last().map(|noted| Arc::clone(&noted.listing))
    }

    /// Keeps what an answer named, in the place of what the answer before it did. All of it has to be on the shelf.
    pub fn note(&mut self, asked: Asked, listing: &Arc<Listing>) {
        self.notes.retain(|noted| noted.asked != asked);
        self.notes.push(Noted {
            asked,
            listing: Arc::clone(listing),
            weight: listing.weight(),
        });
        self.bound_notes();
    }

    /// What was made last, if it answers this question and was made of just these listings.
    #[must_use]
    pub fn recall<Q, R>(&self, question: &Q, basis: &[Arc<Listing>]) -> Option<R>
    where
        Q: PartialEq + 'static,
        R: Clone + 'static,
    {
        let made = self.made.as_ref()?;
        let same = made.basis.len() == basis.len() && made.basis.iter().zip(basis).all(|(a, b)| Arc::ptr_eq(a, b));
        let (asked, result) = made.result.downcast_ref::<(Q, R)>().filter(|_| same)?;
        (asked == question).then(|| result.clone())
    }

    /// Keeps the result of a question, which follows from these listings alone. `weight` is what it holds beside them.
    pub fn made<Q, R>(&mut self, question: Q, basis: Vec<Arc<Listing>>, result: R, weight: usize)
    where
        Q: Send + 'static,
        R: Send + 'static,
    {
        let noted = |listing: &Arc<Listing>| self.notes.iter().any(|noted| Arc::ptr_eq(&noted.listing, listing));
        self.made = basis.iter().all(noted).then(|| Made {
            basis,
            result: Box::new((question, result)),
            weight,
        });
        self.bound_notes();
    }

    fn bound_notes(&mut self) {
        let notes: usize = self.notes.iter().map(|noted| noted.weight).sum();
        let made = self.made.as_ref().map_or(0, |made| made.weight);
        let mut surplus = (notes + made).saturating_sub(MAX_NOTES);
        if surplus > 0 {
            self.made = None;
            surplus = surplus.saturating_sub(made);
        }
        while surplus > 0 && !self.notes.is_empty() {
            surplus = surplus.saturating_sub(self.notes.remove(0).weight);
        }
        // A result does not outlive what it was made of.
        let noted = |listing: &Arc<Listing>| self.notes.iter().any(|noted| Arc::ptr_eq(&noted.listing, listing));
        if self.made.as_ref().is_some_and(|made| !made.basis.iter().all(noted)) {
            self.made = None;
        }
    }

    fn forget_notes(&mut self) {
        self.state += 1;
        self.made = None;
        for noted in std::mem::take(&mut self.notes) {
            // A listing that is the same again uses its members without a look at each.
            for member in &noted.listing.members {
                if let Some(kept) = self.kept.get_mut(&member.key) {
                    self.uses += 1;
                    kept.used = self.uses;
                }
            }
        }
    }

    /// Drops the least recently used resources until a quarter is free. What was seen whole is so no longer.
    fn make_room(&mut self) {
        self.forget_notes();
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

    fn listing(names: &[&str], etag: &str, octets: usize) -> Arc<Listing> {
        let calendar = Href::parse("https://dav.example/cal/").unwrap();
        let named = |name: &&str| {
            let href = calendar.resolve(name).unwrap();
            Named {
                raw: (*name).into(),
                key: href.key(),
                resource: Arc::new(Resource {
                    calendar: calendar.clone(),
                    href,
                    etag: Some(etag.to_owned()),
                    entity: entity(octets),
                }),
            }
        };
        Arc::new(Listing::new(calendar.clone(), names.iter().map(named).collect()))
    }

    fn asked(from: i64) -> Asked {
        (key("cal/"), Kind::Event, Window { from, to: 100 })
    }

    fn noted(shelf: &mut Shelf, (calendar, kind, window): Asked) -> Option<Arc<Listing>> {
        shelf.listing(&calendar, kind, window)
    }

    #[test]
    fn a_result_is_recalled_for_its_question_and_its_very_listings() {
        let mut shelf = Shelf::default();
        let (events, todos) = (listing(&["a"], "\"1\"", 1), listing(&["b"], "\"1\"", 1));
        shelf.note(asked(0), &events);
        shelf.note(asked(1), &todos);
        let basis = [Arc::clone(&events), Arc::clone(&todos)];
        shelf.made("week", basis.to_vec(), 7, 10);
        let recall = |shelf: &Shelf, question, basis: &[Arc<Listing>]| shelf.recall::<&str, i32>(&question, basis);
        assert_eq!(recall(&shelf, "week", &basis), Some(7));
        assert_eq!(recall(&shelf, "year", &basis), None);
        assert_eq!(recall(&shelf, "week", &basis[..1]), None);
        assert_eq!(recall(&shelf, "week", &[todos, events]), None);
        // One that names the same is another one all the same.
        let again = [listing(&["a"], "\"1\"", 1), Arc::clone(&basis[1])];
        shelf.note(asked(0), &again[0]);
        assert_eq!(recall(&shelf, "week", &again), None);
        assert_eq!(recall(&shelf, "week", &basis), None);
    }

    #[test]
    fn a_listing_goes_with_what_it_names() {
        let mut shelf = Shelf::default();
        shelf.keep(key("a"), "\"1\"", &entity(1));
        let state = shelf.state();
        let first = listing(&["a"], "\"1\"", 1);
        shelf.note(asked(0), &first);
        shelf.made("week", vec![Arc::clone(&first)], 7, 10);
        shelf.keep(key("b"), "\"1\"", &entity(1));
        assert!(noted(&mut shelf, asked(0)).is_some() && shelf.state() == state);
        assert!(noted(&mut shelf, asked(1)).is_none());
        shelf.keep(key("a"), "\"2\"", &entity(1));
        assert!(noted(&mut shelf, asked(0)).is_none() && shelf.state() != state);
        assert_eq!(shelf.recall::<_, i32>(&"week", std::slice::from_ref(&first)), None);
        shelf.note(asked(0), &first);
        shelf.keep(key("large"), "\"1\"", &entity(MAX_BYTES));
        assert!(noted(&mut shelf, asked(0)).is_none());
    }

    #[test]
    fn listings_and_results_are_bounded_and_the_result_leaves_first() {
        let mut shelf = Shelf::default();
        let etag = "1".repeat(MAX_NOTES / 10 * 3);
        let listings: Vec<_> = (0..4).map(|_| listing(&["a"], &etag, 1)).collect();
        shelf.note(asked(0), &listings[0]);
        shelf.made("week", vec![Arc::clone(&listings[0])], 7, MAX_NOTES / 2);
        assert_eq!(shelf.recall(&"week", &listings[..1]), Some(7));
        shelf.note(asked(1), &listings[1]);
        assert_eq!(shelf.recall::<_, i32>(&"week", &listings[..1]), None);
        shelf.note(asked(2), &listings[2]);
        assert!(noted(&mut shelf, asked(0)).is_some());
        shelf.note(asked(3), &listings[3]);
        let left: Vec<_> = (0..4).filter(|at| noted(&mut shelf, asked(*at)).is_some()).collect();
        assert_eq!(left, [0, 2, 3]);
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

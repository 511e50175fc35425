//! Which members of an answer belong to the Calendar that was asked.

use crate::exchange::{Answer, protocol};
use crate::href::{Href, HrefKey};
use crate::outcome::Outcome;

/// Tells which members of an answer belong to the Calendar that was asked, also where a redirect led elsewhere.
pub(crate) struct Place<'a> {
    calendar: &'a Href,
    url: &'a Href,
    calendar_key: HrefKey,
    url_key: HrefKey,
    related: usize,
    unrelated: usize,
}

impl<'a> Place<'a> {
    pub(crate) fn new(calendar: &'a Href, answer: &'a Answer) -> Self {
        let url = &answer.url;
        let (calendar_key, url_key) = (calendar.as_collection().key(), url.as_collection().key());
        Self {
            calendar,
            url,
            calendar_key,
            url_key,
            related: 0,
            unrelated: 0,
        }
    }

    /// The member's href below the Calendar, and its key. The collection itself is no member.
    pub(crate) fn member(&mut self, raw: &str) -> Option<(Href, HrefKey)> {
        let href = self.url.resolve(raw);
        let key = href.as_ref().map(Href::key);
        let within = |collection: &HrefKey| key.as_ref().is_some_and(|key| key.is_within(collection));
        if !within(&self.calendar_key) && !within(&self.url_key) {
            self.unrelated += 1;
            return None;
        }
        self.related += 1;
        let (href, key) = (href?, key?);
        if key.is_member_of(&self.calendar_key) {
            return Some((href, key));
        }
        key.is_member_of(&self.url_key).then(|| {
            let href = href.moved_into(self.calendar);
            let key = href.key();
            (href, key)
        })
    }

    /// Whether this is the Calendar itself, with or without its slash.
    pub(crate) fn is_collection(&self, raw: &str) -> bool {
        let key = self.url.resolve(raw).map(|href| href.as_collection().key());
        key.is_some_and(|key| key == self.calendar_key || key == self.url_key)
    }

    /// An answer that is about other places only must not pass for an empty Calendar.
    pub(crate) fn check(&self) -> Outcome<()> {
        if self.related == 0 && self.unrelated > 0 {
            return Err(protocol(
                "The CalDAV server's answer is about other places than the Calendar that was asked.",
            ));
        }
        Ok(())
    }
}

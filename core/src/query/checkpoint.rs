//! States of Calendars that changes can be asked from, behind short handles.
//!
//! A handle stands for a Calendar, the server's sync token, and what of an earlier report has not been given out yet. It
//! means something only to the store that made it, so it is bound to the process and its configuration. The same
//! state has the same handle, and giving out a later one takes no earlier one back. When the store is full, what has
//! not been used for the longest time goes.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::dav::sync_collection::Change;
use crate::href::Href;

/// The most states.
pub const MAX_STATES: usize = 1024;
/// The most bytes of all states together.
pub const MAX_BYTES: usize = 8 << 20;
/// What a handle begins with.
const PREFIX: &str = "cs1_";
/// About how many bytes a state takes beside its texts.
const ENTRY: usize = 256;

/// Changes of one report, shared by the states that have not given out all of them.
#[derive(Debug, PartialEq, Eq)]
pub struct Backlog {
    /// In order.
    pub changes: Vec<Change>,
    /// About how many bytes they take.
    pub bytes: usize,
}

/// What a handle stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Whose changes.
    pub calendar: Href,
    /// The sync token after everything that is known.
    pub token: String,
    /// Not all members that there were at the beginning have been given out.
    pub initial: bool,
    /// What is known and has not been given out.
    pub rest: Option<Rest>,
}

/// The end of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rest {
    /// The whole report.
    pub backlog: Arc<Backlog>,
    /// How many of its changes have been given out.
    pub from: usize,
    /// The server has more after it.
    pub truncated: bool,
}

#[derive(Debug)]
struct Entry {
    state: Arc<State>,
    used: u64,
}

/// The states of one session.
#[derive(Debug, Default)]
pub struct Checkpoints {
    entries: BTreeMap<String, Entry>,
    clock: u64,
}

impl Checkpoints {
    /// The handle of a state: `cs1_` and 32 hexadecimal digits. `seed` is fresh entropy, used if the state is new.
    pub fn keep(&mut self, state: State, seed: [u8; 32]) -> String {
        self.clock += 1;
        let used = self.clock;
        if let Some((handle, entry)) = self.entries.iter_mut().find(|(_, entry)| *entry.state == state) {
            entry.used = used;
            return handle.clone();
        }
        let mut handle = String::from(PREFIX);
        for byte in &seed[..16] {
            handle.push_str(&format!("{byte:02x}"));
        }
        let state = Arc::new(state);
        self.entries.insert(handle.clone(), Entry { state, used });
        while self.entries.len() > 1 && (self.entries.len() > MAX_STATES || self.bytes() > MAX_BYTES) {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used);
            let oldest = oldest.map(|(handle, _)| handle.clone()).unwrap_or_default();
            self.entries.remove(&oldest);
        }
        handle
    }

    /// What a handle stands for, unless it was never given out or has gone.
    pub fn get(&mut self, handle: &str) -> Option<Arc<State>> {
        self.clock += 1;
        let entry = self.entries.get_mut(handle)?;
        entry.used = self.clock;
        Some(Arc::clone(&entry.state))
    }

    /// Each backlog counts once, however many states share it.
    fn bytes(&self) -> usize {
        let mut backlogs = BTreeMap::new();
        let mut bytes = 0;
        for Entry { state, .. } in self.entries.values() {
            bytes += ENTRY + state.calendar.as_str().len() + state.token.len();
            if let Some(rest) = &state.rest {
                backlogs.insert(Arc::as_ptr(&rest.backlog), rest.backlog.bytes);
            }
        }
        bytes + backlogs.values().sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(token: &str, rest: Option<Rest>) -> State {
        State {
            calendar: Href::parse("https://x/c/").unwrap(),
            token: token.into(),
            initial: false,
            rest,
        }
    }

    fn backlog(bytes: usize) -> Arc<Backlog> {
        let href = Href::parse("https://x/c/a").unwrap();
        let changes = vec![Change { href, etag: None }];
        Arc::new(Backlog { changes, bytes })
    }

    fn rest(backlog: &Arc<Backlog>, from: usize) -> Option<Rest> {
        Some(Rest {
            backlog: Arc::clone(backlog),
            from,
            truncated: false,
        })
    }

    fn seed(number: usize) -> [u8; 32] {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&number.to_be_bytes());
        seed
    }

    #[test]
    fn a_handle_gives_its_state_and_nothing_else_does() {
        let mut store = Checkpoints::default();
        let handle = store.keep(state("t", None), [0xab; 32]);
        assert_eq!(handle, format!("cs1_{}", "ab".repeat(16)));
        assert_eq!(store.get(&handle).as_deref(), Some(&state("t", None)));
        for other in [
            "",
            "cs1_",
            &handle[..35],
            &handle.to_uppercase(),
            &handle.replace("cs1", "cs2"),
        ] {
            assert_eq!(store.get(other), None, "{other}");
        }
        assert_eq!(Checkpoints::default().get(&handle), None);
    }

    #[test]
    fn the_same_state_has_the_same_handle() {
        let mut store = Checkpoints::default();
        let (one, equal) = (backlog(10), backlog(10));
        let first = store.keep(state("t", rest(&one, 1)), seed(1));
        assert_eq!(store.keep(state("t", rest(&equal, 1)), seed(2)), first);
        for (number, other) in [state("t", rest(&one, 0)), state("u", rest(&one, 1)), state("t", None)]
            .into_iter()
            .enumerate()
        {
            assert_ne!(store.keep(other, seed(number + 3)), first);
        }
        assert!(store.get(&first).is_some(), "a later handle takes no earlier one back");
    }

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let mut store = Checkpoints::default();
        let handles: Vec<_> = (0..MAX_STATES)
            .map(|at| store.keep(state(&at.to_string(), None), seed(at)))
            .collect();
        assert!(store.get(&handles[0]).is_some());
        store.keep(state("new", None), seed(MAX_STATES));
        assert!(store.get(&handles[0]).is_some());
        assert!(store.get(&handles[1]).is_none());
        assert_eq!(store.entries.len(), MAX_STATES);
    }

    #[test]
    fn bytes_are_bounded_and_a_backlog_counts_once() {
        let mut store = Checkpoints::default();
        let large = backlog(MAX_BYTES / 2);
        let handles: Vec<_> = (0..100)
            .map(|at| store.keep(state("t", rest(&large, at)), seed(at)))
            .collect();
        assert!(handles.iter().all(|handle| store.get(handle).is_some()));
        // Another one of that size pushes out all states that share the first.
        let other = store.keep(state("u", rest(&backlog(MAX_BYTES / 2), 0)), seed(100));
        assert!(handles.iter().all(|handle| store.get(handle).is_none()));
        assert!(store.get(&other).is_some() && store.bytes() <= MAX_BYTES);
    }
}

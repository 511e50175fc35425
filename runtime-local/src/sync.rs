//! REPORT sync-collection (RFC 6578).
//!
//! A token is a hash of a Calendar's names and Entity Tags, so the same state has the same token in every process. What
//! the Calendar was like at a token is remembered for the last few states that were asked for, in this process only;
//! any other token is refused, and the client starts again.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{Response, StatusCode};

use crate::element::{DAV, Element};
use crate::multistatus::{Multistatus, empty, refused};
use crate::path::Base;
use crate::property::{Depth, Subject, Wanted, describe};
use crate::store::{Store, Trouble};
use crate::summary::etag;

/// The most states that are remembered.
const MAX_STATES: usize = 32;
/// The most members of all of them together.
const MAX_MEMBERS: usize = 400_000;

/// Names and Entity Tags; a member that cannot be read has none.
type Members = BTreeMap<String, Option<String>>;

/// States by token, the one that was used last at the end.
#[derive(Debug, Default)]
pub(crate) struct History(Mutex<VecDeque<(String, Arc<Members>)>>);

impl History {
    fn recall(&self, token: &str) -> Option<Arc<Members>> {
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = states.iter().position(|(known, _)| known == token)?;
        let state = states.remove(at)?;
        let members = Arc::clone(&state.1);
        states.push_back(state);
        Some(members)
    }

    fn remember(&self, token: &str, members: Arc<Members>) {
        if self.recall(token).is_some() {
            return;
        }
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        states.push_back((token.to_owned(), members));
        let total =
            |states: &VecDeque<(_, Arc<Members>)>| states.iter().map(|(_, members)| members.len()).sum::<usize>();
        while states.len() > MAX_STATES || (states.len() > 1 && total(&states) > MAX_MEMBERS) {
            states.pop_front();
        }
    }
}

/// Answers the report. A limit is not observed: the answer is always whole.
pub(crate) fn sync_collection(
    here: (&dyn Store, &Base),
    history: &History,
    (calendar, depth): (&str, Option<Depth>),
    body: &Element,
) -> Result<Response<Bytes>, Trouble> {
    let text = |name: &str| body.child(DAV, name).map(|child| child.text.trim());
    let (Some(token), Some("1")) = (text("sync-token"), text("sync-level")) else {
        return Ok(empty(StatusCode::BAD_REQUEST));
    };
    if !matches!(depth, None | Some(Depth::Zero)) {
        return Ok(empty(StatusCode::BAD_REQUEST));
    }
    let known = match token {
        "" => Some(Arc::default()),
        token => history.recall(token),
    };
    let Some(known) = known else {
        return Ok(refused(StatusCode::FORBIDDEN, DAV, "valid-sync-token", None));
    };
    let (store, base) = here;
    let wanted = Wanted::read(Some(body));
    let mut members = Members::new();
    let mut out = Multistatus::new();
    for member in store.members(calendar)? {
        let href = base.member(calendar, &member.name);
        let tag = member.content.as_ref().ok().map(|summary| summary.etag.clone());
        let same = tag.is_some() && known.get(&member.name) == Some(&tag);
        match &member.content {
            _ if same => {}
            Ok(summary) => describe(here, &wanted, Subject::Member(summary, None), &href, &mut out),
            Err(trouble) => out.status(&href, trouble.status()),
        }
        members.insert(member.name, tag);
    }
    for name in known.keys().filter(|name| !members.contains_key(*name)) {
        out.status(&base.member(calendar, name), StatusCode::NOT_FOUND);
    }
    let token = token_of(calendar, &members);
    history.remember(&token, Arc::new(members));
    out.sync_token(&token);
    Ok(out.finish())
}

fn token_of(calendar: &str, members: &Members) -> String {
    let mut state = format!("{calendar}\n");
    for (name, tag) in members {
        state.push_str(&format!("{name}\n{}\n", tag.as_deref().unwrap_or("-")));
    }
    format!("data:,{}", etag(state.as_bytes()).trim_matches('"'))
}

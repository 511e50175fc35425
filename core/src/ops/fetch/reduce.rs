//! Fewer bodies for a text filter, where the server's own search can be relied on.

use std::collections::BTreeSet;

use http::StatusCode;

use super::answer::{Candidate, candidates};
use super::{Ask, Fetch, Member};
use crate::account::quirk::Quirk;
use crate::dav::calendar_query::{CalendarQuery, TextMatch};
use crate::dav::error_body;
use crate::exchange::fault::{Fault, refused};
use crate::exchange::{Answer, Channel, Rules};
use crate::flow::{IN_FLIGHT, windowed};
use crate::href::HrefKey;
use crate::ops::discover::request;
use crate::outcome::Outcome;
use crate::query::prefilter::{self, Probe};

/// What the server is asked about a filter; nothing where it refused such questions before.
pub(super) fn probes<'a>(channel: &Channel<'_>, ask: &Ask<'a>) -> Vec<Probe<'a>> {
    if channel.account.has(Quirk::TextFilterRefused) {
        return Vec::new();
    }
    prefilter::probes(ask.filter)
}

impl<T: Fn(Member) -> Outcome<()>> Fetch<'_, T> {
    /// The candidates that answer to every probe; all of them where the server does not tell.
    pub(super) async fn reduced(
        &self,
        query: CalendarQuery<'_>,
        probes: &[Probe<'_>],
        mut named: Vec<Candidate>,
    ) -> Outcome<Vec<Candidate>> {
        for probe in probes {
            let jobs = probe.properties.iter().map(|property| {
                let text = TextMatch {
                    property,
                    text: probe.run,
                };
                // The window is not repeated: one component need not satisfy both.
                self.hits(CalendarQuery {
                    window: None,
                    text: Some(text),
                    data: false,
                    ..query
                })
            });
            let mut hits = BTreeSet::new();
            for found in windowed(IN_FLIGHT, jobs.collect()).await? {
                match found {
                    Some(found) => hits.extend(found),
                    None => return Ok(named),
                }
            }
            named.retain(|candidate| hits.contains(&candidate.key));
        }
        Ok(named)
    }

    /// The members that the server finds; `None` if it does not tell.
    async fn hits(&self, query: CalendarQuery<'_>) -> Outcome<Option<Vec<HrefKey>>> {
        let request = request("REPORT", "1", query.body());
        let answer = match self.channel.send(self.calendar, request, Rules::BRIEF_REPORT).await {
            Err(Fault::TooLarge(_)) => return Ok(None),
            answer => answer.map_err(|fault| self.channel.error(&fault))?,
        };
        match answer.response.status() {
            StatusCode::MULTI_STATUS => {
                let found = candidates(self.calendar, &answer)?;
                Ok(Some(found.into_iter().map(|candidate| candidate.key).collect()))
            }
            status if is_unsupported(&answer) => {
                self.channel.account.note(Quirk::TextFilterRefused);
                tell(status)
            }
            status => tell(status),
        }
    }
}

/// A refusal that concerns more than this question is an error; any other leaves the candidates as they are.
fn tell(status: StatusCode) -> Outcome<Option<Vec<HrefKey>>> {
    match status.as_u16() {
        401 | 404 | 410 => Err(refused(status)),
        _ => Ok(None),
    }
}

/// Whether the server will refuse every such question (RFC 4791, 7.5.1 and 7.8).
fn is_unsupported(answer: &Answer) -> bool {
    match answer.response.status().as_u16() {
        405 | 501 => true,
        400..=499 => {
            let error = error_body::read(None, answer.response.body());
            error.names("supported-filter") || error.names("supported-collation")
        }
        _ => false,
    }
}

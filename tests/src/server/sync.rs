//! REPORT sync-collection over a log of changes.

use std::collections::BTreeSet;

use bytes::Bytes;
use http::Response;
use http::header::CONTENT_TYPE;

use super::answer::{Multistatus, between};
use super::{Entry, Oddity, Server};

impl Server {
    pub(super) fn changes(&self, calendar: &str, body: &str) -> Response<Bytes> {
        let token = between(body, "<D:sync-token>", "</D:sync-token>").unwrap_or_default();
        let limited = body.contains("nresults");
        let log = self.state().logs.get(calendar).cloned().unwrap_or_default();
        let newest = format!("{}{}", self.token, log.len());
        let everything = || self.report_of(calendar, &self.members(calendar), &newest);
        if token.is_empty() {
            let refused = self.has(Oddity::FirstReportRefused) || (limited && self.has(Oddity::FirstReportWhole));
            return if refused {
                refusal(507, "number-of-matches-within-limits")
            } else {
                everything()
            };
        }
        let since = token
            .strip_prefix(self.token)
            .and_then(|number| number.parse::<usize>().ok());
        let entries = match since {
            Some(since) if since <= log.len() => &log[since..],
            Some(_) if self.has(Oddity::AnyToken) => return self.report_of(calendar, &[], token),
            _ if self.has(Oddity::UnknownTokenListsAll) => return everything(),
            _ => return refusal(403, "valid-sync-token"),
        };
        let (mut paths, mut removed, mut own) = (Vec::new(), BTreeSet::new(), false);
        for entry in entries {
            let path = match entry {
                Entry::Stored(path) => path,
                Entry::Removed(path) => {
                    removed.insert(path.clone());
                    path
                }
                Entry::Properties => {
                    own = true;
                    continue;
                }
            };
            if !paths.contains(path) {
                paths.push(path.clone());
            }
        }
        if self.has(Oddity::ChangesRepeated) {
            paths.extend(self.members(calendar));
        }
        if limited && self.has(Oddity::CutDelta) {
            paths.truncate(1);
        }
        let (gone, there) = paths
            .into_iter()
            .partition::<Vec<_>, _>(|path| self.has(Oddity::RecreatedLooksRemoved) && removed.contains(path));
        let mut answer = self.tags_of(calendar, &there);
        for path in gone {
            answer.responses.push(format!(
                "<D:response><D:href>{path}</D:href><D:status>HTTP/1.1 404 Not Found</D:status></D:response>"
            ));
        }
        if own && self.has(Oddity::CollectionReported) {
            answer.responses.push(format!(
                "<D:response><D:href>{}</D:href><D:propstat><D:prop><D:getetag/></D:prop>\
                 <D:status>HTTP/1.1 404 Not Found</D:status></D:propstat></D:response>",
                calendar.trim_end_matches('/')
            ));
        }
        answer.tail = format!("<D:sync-token>{newest}</D:sync-token>");
        self.finish(answer)
    }

    fn tags_of(&self, calendar: &str, hrefs: &[String]) -> Multistatus {
        let mut answer = self.give(calendar, hrefs, "<D:getetag/>");
        for response in &mut answer.responses {
            *response = self.dressed_in_report(response);
        }
        answer
    }

    fn report_of(&self, calendar: &str, hrefs: &[String], token: &str) -> Response<Bytes> {
        let mut answer = self.tags_of(calendar, hrefs);
        answer.tail = format!("<D:sync-token>{token}</D:sync-token>");
        self.finish(answer)
    }
}

pub(super) fn refusal(status: u16, condition: &str) -> Response<Bytes> {
    let body = format!("<D:error xmlns:D=\"DAV:\"><D:{condition}/></D:error>");
    Response::builder()
        .status(status)
        .header(CONTENT_TYPE, "application/xml")
        .body(body.into())
        .expect("a status")
}

//! The register of server oddities: the only place that knows them.
//!
//! Each entry says what was seen, on which servers, how it is recognised and what is done instead. An oddity that
//! has a remedy without cost where it is absent (widened windows, local filters, a full listing after a refused
//! query) needs no recognition and is handled everywhere.

use http::HeaderMap;

/// A named oddity that changes what is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quirk {
    /// calendar-query with a time range leaves out members that are on in it.
    TimeRangeMisses,
    /// A free/busy report has one VFREEBUSY for each period, and none where nothing is busy.
    FreeBusyByComponent,
    /// sync-collection reports a member as removed that was deleted and made again.
    RecreatedLooksRemoved,
    /// An Entity Tag comes back for other content after delete and re-create.
    EntityTagsRepeat,
    /// `If-None-Match: *` is not checked: a PUT of something new overwrites what is there.
    CreationUnprotected,
    /// `If-Match` on DELETE is not checked.
    DeletionUnprotected,
    /// A text match of calendar-query looks into overrides too, so that it may reduce what is downloaded.
    TextSearchSeesOverrides,
    /// A text match of calendar-query is refused, whatever the text.
    TextFilterRefused,
}

/// A family of servers, as the user names it with `CALDAV_INTEROPERABILITY_PROFILE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Radicale.
    Radicale,
    /// Nextcloud.
    Nextcloud,
}

/// One line of the register.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The oddity.
    pub quirk: Quirk,
    /// Where it was seen.
    pub servers: &'static str,
    /// How it is recognised.
    pub sign: Sign,
    /// What is done instead.
    pub remedy: &'static str,
}

/// What in an answer gives a server away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// A token of the `DAV` header lines.
    DavToken(&'static str),
    /// A whole `DAV` header line.
    DavLine(&'static str),
    /// The path of a calendar home begins with this.
    HomePrefix(&'static str),
    /// A sync token begins with this.
    SyncToken(&'static str),
    /// A strong Entity Tag begins with this, its quote included.
    EntityTag(&'static str),
    /// A header of this name has a value that begins with this.
    Header(&'static str, &'static str),
    /// An answer to a question of ours.
    Refusal,
    /// Nothing: the user has to say it.
    Profile(Profile),
}

/// All entries.
pub const REGISTER: &[Entry] = &[
    Entry {
        quirk: Quirk::TimeRangeMisses,
        servers: "DAViCal 1.1.12: series after an override with RANGE=THISANDFUTURE",
        sign: Sign::DavToken("bind"),
        remedy: "no time range is sent",
    },
    Entry {
        quirk: Quirk::TimeRangeMisses,
        servers: "Xandikos 0.4.10: RDATE beside RRULE; overrides that were moved far; recurring events of several days",
        // It has no sign of its own but in OPTIONS; this is aiohttp, which it runs on.
        sign: Sign::Header("server", "Python/"),
        remedy: "no time range is sent",
    },
    Entry {
        quirk: Quirk::TimeRangeMisses,
        servers: "sabre/dav 1.8.12: RDATE beside RRULE",
        // Its version stands in answers to OPTIONS only; later versions have more tokens.
        sign: Sign::DavLine(
            "1, 3, extended-mkcol, access-control, calendarserver-principal-property-search, calendar-access, calendar-proxy",
        ),
        remedy: "no time range is sent",
    },
    Entry {
        quirk: Quirk::FreeBusyByComponent,
        servers: "Radicale 3.7.8",
        sign: Sign::Profile(Profile::Radicale),
        remedy: "that form is read too; elsewhere it fails the report",
    },
    Entry {
        quirk: Quirk::RecreatedLooksRemoved,
        servers: "Nextcloud 32.0.1",
        // sabre/dav is right about it, and makes the same tokens.
        sign: Sign::SyncToken("http://sabre.io/ns/sync/"),
        remedy: "members that are reported as removed are looked for",
    },
    Entry {
        quirk: Quirk::EntityTagsRepeat,
        servers: "SOGo 5.8, 5.12",
        sign: Sign::HomePrefix("/SOGo/dav/"),
        remedy: "bodies are never kept by Entity Tag",
    },
    Entry {
        quirk: Quirk::EntityTagsRepeat,
        servers: "SOGo 5.8, 5.12, under another path",
        sign: Sign::EntityTag("\"gcs"),
        remedy: "bodies with such a tag are not kept",
    },
    Entry {
        quirk: Quirk::CreationUnprotected,
        servers: "SOGo 5.8, 5.12",
        sign: Sign::HomePrefix("/SOGo/dav/"),
        remedy: "a read immediately before, and a diagnostic",
    },
    Entry {
        quirk: Quirk::CreationUnprotected,
        servers: "SOGo 5.8, 5.12, under another path",
        sign: Sign::EntityTag("\"gcs"),
        remedy: "a read immediately before, and a diagnostic",
    },
    Entry {
        quirk: Quirk::CreationUnprotected,
        servers: "Google, whose guide names If-Match as the only conditional header",
        sign: Sign::HomePrefix("/caldav/v2/"),
        remedy: "a read immediately before, and a diagnostic",
    },
    Entry {
        quirk: Quirk::DeletionUnprotected,
        servers: "SOGo 5.8, 5.12",
        sign: Sign::HomePrefix("/SOGo/dav/"),
        remedy: "a read immediately before, and a diagnostic",
    },
    Entry {
        quirk: Quirk::DeletionUnprotected,
        servers: "SOGo 5.8, 5.12, under another path",
        sign: Sign::EntityTag("\"gcs"),
        remedy: "a read immediately before, and a diagnostic",
    },
    Entry {
        quirk: Quirk::TextSearchSeesOverrides,
        servers: "sabre/dav 1.8.12 and 4.7.1, Baïkal",
        // Only answers to OPTIONS show it, so it is known after an inspection; Nextcloud hides it.
        sign: Sign::Header("x-sabre-version", ""),
        remedy: "text filters are sent along where many bodies would have to be read",
    },
    Entry {
        quirk: Quirk::TextSearchSeesOverrides,
        servers: "Cyrus 3.6.1",
        sign: Sign::Header("server", "Cyrus-HTTP/"),
        remedy: "text filters are sent along where many bodies would have to be read",
    },
    Entry {
        quirk: Quirk::TextFilterRefused,
        servers: "any: supported-filter and supported-collation are preconditions of RFC 4791",
        sign: Sign::Refusal,
        remedy: "text filters are not sent again",
    },
];

/// The oddities whose sign is seen.
fn whose(is_seen: impl Fn(Sign) -> bool) -> impl Iterator<Item = Quirk> {
    let seen = REGISTER.iter().filter(move |entry| is_seen(entry.sign));
    seen.map(|entry| entry.quirk)
}

/// The oddities that an answer's headers give away.
pub fn by_headers(headers: &HeaderMap) -> impl Iterator<Item = Quirk> {
    whose(|sign| seen_in(sign, headers))
}

/// The oddities that the path of a calendar home gives away.
pub fn by_home(path: &str) -> impl Iterator<Item = Quirk> {
    whose(move |sign| matches!(sign, Sign::HomePrefix(prefix) if path.starts_with(prefix)))
}

/// The oddities that a strong Entity Tag gives away.
pub fn by_entity_tag(etag: &str) -> impl Iterator<Item = Quirk> {
    whose(move |sign| matches!(sign, Sign::EntityTag(prefix) if etag.starts_with(prefix)))
}

/// The oddities of a family that the user names.
pub fn by_profile(profile: Option<Profile>) -> impl Iterator<Item = Quirk> {
    whose(move |sign| matches!(sign, Sign::Profile(named) if Some(named) == profile))
}

/// The oddities that a sync token gives away.
pub fn by_sync_token(token: &str) -> impl Iterator<Item = Quirk> {
    whose(move |sign| matches!(sign, Sign::SyncToken(prefix) if token.starts_with(prefix)))
}

fn seen_in(sign: Sign, headers: &HeaderMap) -> bool {
    let lines = |name: &str| {
        headers
            .get_all(name)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .collect::<Vec<_>>()
    };
    match sign {
        Sign::DavToken(token) => lines("dav")
            .iter()
            .any(|line| line.split(',').any(|part| part.trim().eq_ignore_ascii_case(token))),
        Sign::DavLine(whole) => lines("dav").contains(&whole),
        Sign::Header(name, prefix) => lines(name).iter().any(|line| line.starts_with(prefix)),
        Sign::HomePrefix(_) | Sign::SyncToken(_) | Sign::EntityTag(_) | Sign::Refusal | Sign::Profile(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOGO: [Quirk; 3] = [
        Quirk::EntityTagsRepeat,
        Quirk::CreationUnprotected,
        Quirk::DeletionUnprotected,
    ];

    #[test]
    fn servers_are_told_by_their_answers() {
        // The DAV headers of spec'd servers as they were seen; DAViCal sends two lines.
        let quirks = |lines: &[&str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append("dav", line.parse().unwrap());
            }
            by_headers(&headers).collect::<Vec<_>>()
        };
        let davical = [
            "1, 2, 3, access-control, calendar-access, calendar-schedule",
            "extended-mkcol, bind, addressbook, calendar-auto-schedule, calendar-proxy",
        ];
        assert_eq!(quirks(&davical), [Quirk::TimeRangeMisses]);
        let sabre = "1, 3, extended-mkcol, access-control, calendarserver-principal-property-search, calendar-access, calendar-proxy";
        assert_eq!(quirks(&[sabre]), [Quirk::TimeRangeMisses]);
        let later = "1, 3, extended-mkcol, access-control, calendarserver-principal-property-search, calendar-access, calendar-proxy, resource-sharing, calendar-auto-schedule";
        assert_eq!(quirks(&[later]), []);
        assert_eq!(quirks(&["1, 2, 3, calendar-access, addressbook, extended-mkcol"]), []);
        assert_eq!(by_home("/SOGo/dav/alice/Calendar/").collect::<Vec<_>>(), SOGO);
        let google = by_home("/caldav/v2/ana@example.com/events/").collect::<Vec<_>>();
        assert_eq!(google, [Quirk::CreationUnprotected]);
        assert_eq!(by_home("/alice/").count(), 0);
        let header = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            by_headers(&headers).collect::<Vec<_>>()
        };
        let searches = [Quirk::TextSearchSeesOverrides];
        assert_eq!(header("x-sabre-version", "4.7.1"), searches);
        assert_eq!(header("server", "Python/3.11 aiohttp/3.14.5"), [Quirk::TimeRangeMisses]);
        assert_eq!(
            header("server", "Cyrus-HTTP/3.6.1-Debian-3.6.1-4+deb12u4 Cyrus-SASL/2.1.28"),
            searches
        );
        assert_eq!(header("server", "Apache/2.4.66 (Debian)"), []);
        let by_tag = |tag| by_entity_tag(tag).collect::<Vec<_>>();
        assert_eq!(by_tag("\"gcs00000000\""), SOGO);
        assert_eq!(by_tag("\"d41d8cd98f00b204e9800998ecf8427e\""), []);
        let by_token = |token| by_sync_token(token).collect::<Vec<_>>();
        assert_eq!(by_token("http://sabre.io/ns/sync/6"), [Quirk::RecreatedLooksRemoved]);
        for other in ["http://radicale.org/ns/sync/ab", "data:,32", "1796049611", ""] {
            assert_eq!(by_token(other), [], "{other}");
        }
        let named = |profile| by_profile(profile).collect::<Vec<_>>();
        assert_eq!(named(Some(Profile::Radicale)), [Quirk::FreeBusyByComponent]);
        assert_eq!(named(Some(Profile::Nextcloud)), []);
        assert_eq!(named(None), []);
    }
}

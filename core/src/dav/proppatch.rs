//! Body of PROPPATCH (RFC 4918, 9.2), and what answers to it and to MKCALENDAR say about each property.

use std::ops::ControlFlow;

use bytes::Bytes;

use crate::dav::fault::DavFault;
use crate::dav::multistatus::{self, Member};
use crate::dav::name::Name;
use crate::dav::xml::{Limits, Writer};

/// One property and its new value; none to take it away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting<'a> {
    /// Its name with our prefix: `D:displayname`.
    pub name: &'static str,
    /// What it becomes.
    pub value: Option<&'a str>,
    /// The language of that text (XML 1.0, 2.12).
    pub language: Option<&'a str>,
}

/// Asks for all of these at once.
#[must_use]
pub fn body(settings: &[Setting<'_>]) -> Bytes {
    let mut xml = Writer::new("D:propertyupdate");
    let set = settings.iter().filter_map(|it| Some((it, it.value?)));
    if set.clone().next().is_some() {
        xml.open("D:set", &[]).open("D:prop", &[]);
        for (setting, value) in set {
            match setting.language {
                Some(language) => xml.open(setting.name, &[("xml:lang", language)]),
                None => xml.open(setting.name, &[]),
            };
            xml.text(value).close();
        }
        xml.close().close();
    }
    let removed = settings.iter().filter(|it| it.value.is_none());
    if removed.clone().next().is_some() {
        xml.open("D:remove", &[]).open("D:prop", &[]);
        for setting in removed {
            xml.empty(setting.name, &[]);
        }
    }
    xml.finish()
}

/// The status of each property that an answer of 207 names, in the order of success and refusal. Propstats that stand in
/// no response (Cyrus, DAViCal) count like those that do.
///
/// # Errors
/// The answer is no multistatus.
pub fn outcomes(content_type: Option<&str>, body: &[u8]) -> Result<Vec<(Name, u16)>, DavFault> {
    let mut found = Vec::new();
    let mut take = |member: &Member| {
        found.extend(member.props.given.iter().map(|name| (name, 200)));
        found.extend(member.other.iter().copied());
        if let Some(status) = member.status {
            found.push((Name::Unknown, status));
        }
    };
    let tail = multistatus::read(207, content_type, body, &Limits::default(), &mut |member| {
        take(&member);
        ControlFlow::Continue(())
    })?;
    if let Some(bare) = &tail.bare {
        take(bare);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_set_and_removed_in_one_body() {
        let setting = |name, value, language| Setting { name, value, language };
        let text = |settings: &[Setting<'_>]| String::from_utf8(body(settings).to_vec()).unwrap();
        let both = text(&[
            setting("D:displayname", Some("<Work>"), None),
            setting("A:calendar-color", None, None),
            setting("C:calendar-description", Some(""), Some("de")),
        ]);
        let inner = "><D:set><D:prop><D:displayname>&lt;Work&gt;</D:displayname><C:calendar-description xml:lang=\"de\">\
                     </C:calendar-description></D:prop></D:set><D:remove><D:prop><A:calendar-color/></D:prop></D:remove>\
                     </D:propertyupdate>";
        assert!(both.ends_with(inner), "{both}");
        let removed = text(&[setting("A:calendar-order", None, None)]);
        assert!(removed.ends_with("><D:remove><D:prop><A:calendar-order/></D:prop></D:remove></D:propertyupdate>"));
        let set = text(&[setting("A:calendar-order", Some("3"), None)]);
        assert!(set.ends_with("<A:calendar-order>3</A:calendar-order></D:prop></D:set></D:propertyupdate>"));
    }

    #[test]
    fn every_property_of_an_answer_has_its_status() {
        // Cyrus 3.6.1 refuses MKCALENDAR so.
        let cyrus = "<D:multistatus xmlns:D='DAV:'><D:propstat><D:prop><D:getetag/></D:prop><D:status>HTTP/1.1 403 Forbidden</D:status>\
                     <D:error><D:cannot-modify-protected-property/></D:error></D:propstat><D:propstat><D:prop><D:displayname/></D:prop>\
                     <D:status>HTTP/1.1 424 Failed Dependency</D:status></D:propstat></D:multistatus>";
        // Its PROPPATCH names what it does not know with a prefix that is declared nowhere.
        let undeclared = "<D:multistatus xmlns:D='DAV:'><D:response><D:href>/c/</D:href><D:propstat><D:prop><N:mine/></D:prop>\
                          <D:status>HTTP/1.1 403 Forbidden</D:status></D:propstat><D:propstat><D:prop><D:displayname/></D:prop>\
                          <D:status>HTTP/1.1 424 Failed Dependency</D:status></D:propstat></D:response></D:multistatus>";
        // Radicale: some of it done.
        let radicale = "<multistatus xmlns='DAV:' xmlns:A='http://apple.com/ns/ical/'><response><href>/c/</href><propstat><prop><displayname/></prop>\
                        <status>HTTP/1.1 200 OK</status></propstat><propstat><prop><A:calendar-order/></prop><status>HTTP/1.1 403 Forbidden</status>\
                        </propstat></response></multistatus>";
        // DAViCal: a time zone is taken, and not named.
        let empty = "<multistatus xmlns='DAV:'><response><href>/c/</href><propstat><prop/><status>HTTP/1.1 200 OK</status></propstat>\
                     </response></multistatus>";
        let whole = "<multistatus xmlns='DAV:'><response><href>/c/</href><status>HTTP/1.1 403 Forbidden</status></response></multistatus>";
        for (body, expected) in [
            (cyrus, vec![(Name::Etag, 403), (Name::Displayname, 424)]),
            (undeclared, vec![(Name::Displayname, 424)]),
            (radicale, vec![(Name::Displayname, 200), (Name::CalendarOrder, 403)]),
            (empty, vec![]),
            (whole, vec![(Name::Unknown, 403)]),
        ] {
            assert_eq!(
                outcomes(Some("application/xml"), body.as_bytes()),
                Ok(expected),
                "{body}"
            );
        }
        assert!(outcomes(None, b"<x/>").is_err());
    }
}

//! Body of the CALDAV:calendar-multiget report (RFC 4791, 7.9).

use bytes::Bytes;

use crate::dav::xml::Writer;

/// Asks for entity tag and calendar data of these members, each href in the spelling that the server gave.
#[must_use]
pub fn body<'a>(hrefs: impl IntoIterator<Item = &'a str>) -> Bytes {
    asking(hrefs, &["D:getetag", "C:calendar-data"])
}

/// Asks for the entity tags of these members only.
#[must_use]
pub fn tags_body<'a>(hrefs: impl IntoIterator<Item = &'a str>) -> Bytes {
    asking(hrefs, &["D:getetag"])
}

fn asking<'a>(hrefs: impl IntoIterator<Item = &'a str>, properties: &[&str]) -> Bytes {
    let mut xml = Writer::new("C:calendar-multiget");
    xml.open("D:prop", &[]);
    for property in properties {
        xml.empty(property, &[]);
    }
    xml.close();
    for href in hrefs {
        xml.element("D:href", href);
    }
    xml.finish()
}

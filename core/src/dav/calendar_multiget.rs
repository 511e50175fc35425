//! Body of the CALDAV:calendar-multiget report (RFC 4791, 7.9).

use bytes::Bytes;

use crate::dav::xml::Writer;

/// Asks for entity tag and calendar data of these members, each href in the spelling that the server gave.
#[must_use]
pub fn body<'a>(hrefs: impl IntoIterator<Item = &'a str>) -> Bytes {
    let mut xml = Writer::new("C:calendar-multiget");
    xml.open("D:prop", &[])
        .empty("D:getetag", &[])
        .empty("C:calendar-data", &[])
        .close();
    for href in hrefs {
        xml.element("D:href", href);
    }
    xml.finish()
}

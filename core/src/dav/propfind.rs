//! Bodies of PROPFIND (RFC 4918, 9.1).

use bytes::Bytes;

use crate::dav::name::{Name, Space};
use crate::dav::xml::Writer;

/// What leads to the principal and its homes.
const PRINCIPAL: [&str; 7] = [
    "D:resourcetype",
    "D:current-user-principal",
    "D:principal-URL",
    "C:calendar-home-set",
    "C:calendar-user-address-set",
    "C:schedule-inbox-URL",
    "C:schedule-outbox-URL",
];

/// What a Calendar is described by, without the resource type.
const CALENDAR: [&str; 8] = [
    "D:displayname",
    "D:description",
    "D:current-user-privilege-set",
    "C:calendar-description",
    "C:supported-calendar-component-set",
    "CS:getctag",
    "A:calendar-color",
    "A:calendar-order",
];

/// What is told of one Calendar when it is looked at closely.
pub const INSPECTED: [Name; 15] = [
    Name::ResourceType,
    Name::Displayname,
    Name::DavDescription,
    Name::CurrentUserPrivilegeSet,
    Name::SupportedReportSet,
    Name::CalendarDescription,
    Name::CalendarTimezone,
    Name::MaxResourceSize,
    Name::MaxInstances,
    Name::MaxAttendeesPerInstance,
    Name::MinDateTime,
    Name::MaxDateTime,
    Name::Ctag,
    Name::CalendarColor,
    Name::CalendarOrder,
];

/// At a Calendar, depth 0: all of [`INSPECTED`].
#[must_use]
pub fn inspection_body() -> Bytes {
    let prefixed = INSPECTED.map(|name| {
        let prefix = match name.space() {
            Space::CalDav => "C",
            Space::CalendarServer => "CS",
            Space::Apple => "A",
            Space::Dav | Space::CardDav | Space::Nextcloud | Space::Missing | Space::Other => "D",
        };
        format!("{prefix}:{}", name.local())
    });
    body(prefixed.iter().map(String::as_str))
}

/// At the configured URL or at a principal, depth 0: what it is, and where principal, homes and scheduling collections
/// are (RFC 5397; RFC 4791, 6.2.1; RFC 6638, 2.4).
#[must_use]
pub fn discovery_body() -> Bytes {
    body(PRINCIPAL)
}

/// At a home or a collection below it, depth 1; or at a Calendar, depth 0: all that a descriptor needs.
#[must_use]
pub fn listing_body() -> Bytes {
    body(["D:resourcetype"].into_iter().chain(CALENDAR))
}

/// At a Calendar, depth 0: whose it is (RFC 3744, 5.1), and who asks (RFC 5397).
#[must_use]
pub fn ownership_body() -> Bytes {
    body(["D:resourcetype", "D:owner", "D:current-user-principal"])
}

/// At a Calendar, depth 1: its members with entity tag and size.
#[must_use]
pub fn member_listing_body() -> Bytes {
    body(["D:getetag", "D:getcontentlength", "D:resourcetype"])
}

fn body<'a>(properties: impl IntoIterator<Item = &'a str>) -> Bytes {
    let mut xml = Writer::new("D:propfind");
    xml.open("D:prop", &[]);
    for property in properties {
        xml.empty(property, &[]);
    }
    xml.finish()
}

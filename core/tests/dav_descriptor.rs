//! Collections and Calendars as listings show them, told apart and described.

use std::ops::ControlFlow;

use kalends_core::calendar::{Access, CapabilityState, NameProvenance};
use kalends_core::dav::descriptor::{self, CollectionKind};
use kalends_core::dav::multistatus::{self, Member};
use kalends_core::dav::name::Name;
use kalends_core::dav::xml::Limits;
use kalends_core::href::Href;

fn read(body: &str) -> Vec<Member> {
    let mut members = Vec::new();
    let tail = multistatus::read(207, None, body.as_bytes(), &Limits::default(), &mut |member| {
        members.push(member);
        ControlFlow::Continue(())
    });
    tail.expect("the answer is usable");
    members
}

/// A multistatus with this inside, prefixes D, C, CS, A and nc declared.
fn wrapped(inside: &str) -> String {
    format!(
        "<?xml version='1.0' encoding='UTF-8'?><D:multistatus xmlns:D='DAV:' xmlns:C='urn:ietf:params:xml:ns:caldav' \
         xmlns:CS='http://calendarserver.org/ns/' xmlns:A='http://apple.com/ns/ical/' \
         xmlns:nc='http://nextcloud.com/ns' xmlns:K='urn:ietf:params:xml:ns:carddav'>{inside}</D:multistatus>"
    )
}

/// One response at `href` whose properties have status 200.
fn found(href: &str, props: &str) -> Member {
    let body = wrapped(&format!(
        "<D:response><D:href>{href}</D:href><D:propstat><D:prop>{props}</D:prop>\
         <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>"
    ));
    read(&body).remove(0)
}

fn base() -> Href {
    Href::parse("https://cal.example.com/calendars/me@example.com/work/").expect("it is a URL")
}

#[test]
fn writing_is_known_from_privileges() {
    let members = read(include_str!(
        "../../tests/cases/014-privilege-set-absent-or-aggregate/home.xml"
    ));
    let access = |m: &Member| descriptor::describe(&m.props, &base().resolve(&m.href).unwrap()).access;
    let seen: Vec<_> = members.iter().map(access).collect();
    use Access::{ReadOnly, Unknown, Writable};
    assert_eq!(seen, [Unknown, Writable, Writable, ReadOnly, ReadOnly]);
    assert_eq!(members[0].refused(Name::CurrentUserPrivilegeSet), Some(404));
    let subscribed = descriptor::kind(&members[4].props, &base(), &[]);
    assert_eq!(subscribed, CollectionKind::Calendar);
}

#[test]
fn colours_are_read_as_rgb() {
    let members = read(include_str!("../../tests/cases/015-calendar-color-with-alpha/home.xml"));
    let described = members
        .iter()
        .map(|m| descriptor::describe(&m.props, &base().resolve(&m.href).unwrap()));
    let seen: Vec<_> = described.map(|d| (d.color, d.raw_color)).collect();
    let seen: Vec<_> = seen.iter().map(|(rgb, raw)| (rgb.as_deref(), raw.as_deref())).collect();
    let green = Some("#2E8B57");
    let raw = ["#2E8B57FF", "#2e8b57", "2E8B57"].map(Some);
    assert_eq!(
        seen,
        [
            (green, raw[0]),
            (green, raw[1]),
            (green, raw[2]),
            (None, None),
            (None, Some("peachpuff"))
        ]
    );
}

#[test]
fn names_come_from_the_server_or_the_href() {
    let members = read(include_str!(
        "../../tests/cases/051-two-calendars-with-one-name/home.xml"
    ));
    let url = |m: &Member| base().resolve(&m.href).unwrap();
    let calendars = members
        .iter()
        .filter(|m| descriptor::kind(&m.props, &url(m), &[]) == CollectionKind::Calendar);
    let described: Vec<_> = calendars.map(|m| descriptor::describe(&m.props, &url(m))).collect();
    let names: Vec<_> = described.iter().map(|d| d.display_name.as_deref().unwrap()).collect();
    assert_eq!(names, ["Calendar", "Calendar", "Work", "plain one"]);
    assert_eq!(described[2].display_name_provenance, NameProvenance::DavDisplayname);
    assert_eq!(described[3].display_name_provenance, NameProvenance::DerivedFromHref);
    let blank = found("/x/", "<D:displayname> \n </D:displayname>");
    assert_eq!(
        descriptor::describe(&blank.props, &url(&blank)).display_name.as_deref(),
        Some("x")
    );
    let root = Href::parse("https://cal.example.com").unwrap();
    let nameless = descriptor::describe(&blank.props, &root);
    assert_eq!(
        (nameless.display_name, nameless.display_name_provenance),
        (None, NameProvenance::Missing)
    );
}

#[test]
fn collections_are_told_apart() {
    use CollectionKind::{Calendar, Deleted, Other, Plain, Service};
    for (types, expected) in [
        ("<D:collection/><C:calendar/>", Calendar),
        ("<D:collection/><C:calendar/><CS:shared-owner/>", Calendar),
        ("<D:collection/><C:calendar/><CS:subscribed/>", Calendar),
        ("<D:collection/><CS:subscribed/>", Service("subscribed")),
        ("<D:collection/>", Plain),
        ("<D:collection/><D:principal/>", Plain),
        ("<D:collection/><vendor xmlns='urn:x'/>", Plain),
        ("<D:principal/>", Service("principal")),
        ("<D:collection/><C:schedule-inbox/>", Service("schedule-inbox")),
        ("<D:collection/><C:schedule-outbox/>", Service("schedule-outbox")),
        ("<D:collection/><CS:notification/>", Service("notification")),
        ("<D:collection/><K:addressbook/>", Service("addressbook")),
        ("<D:collection/><nc:trash-bin/>", Service("trash-bin")),
        ("<D:collection/><nc:deleted-calendar/>", Deleted),
        (
            "<D:collection/><C:calendar/><x:deleted-calendar xmlns:x='http://nextcloud.org/ns'/>",
            Deleted,
        ),
        // SOGo: the calendar `personal` is its own outbox, and the inbox is a calendar too.
        ("<D:collection/><C:calendar/><C:schedule-outbox/>", Calendar),
        ("<D:collection/><C:calendar/><C:schedule-inbox/>", Service("schedule")),
        ("", Other),
    ] {
        let member = found("/h/c/", &format!("<D:resourcetype>{types}</D:resourcetype>"));
        let href = base().resolve(&member.href).unwrap();
        assert_eq!(descriptor::kind(&member.props, &href, &[]), expected, "{types}");
    }
    assert_eq!(descriptor::kind(&found("/h/c", "").props, &base(), &[]), Other);
}

#[test]
fn scheduling_collections_are_known_by_the_principal() {
    let principal = found(
        "/caldav.php/alice/",
        "<C:schedule-inbox-URL><D:href>/caldav.php/alice/.in/</D:href></C:schedule-inbox-URL>\
         <C:schedule-outbox-URL><D:href>/caldav.php/alice/.out</D:href></C:schedule-outbox-URL>",
    );
    let keys = descriptor::scheduling_keys(&principal.props, &base());
    assert_eq!(keys.len(), 2);
    let kind = |href: &str, types: &str| {
        let member = found(
            href,
            &format!("<D:resourcetype><D:collection/>{types}</D:resourcetype>"),
        );
        descriptor::kind(&member.props, &base().resolve(href).unwrap(), &keys)
    };
    assert_eq!(
        kind("/caldav.php/alice/.in/", "<C:calendar/>"),
        CollectionKind::Service("schedule")
    );
    assert_eq!(
        kind("/caldav.php/alice/.out/", "<C:calendar/>"),
        CollectionKind::Service("schedule")
    );
    assert_eq!(kind("/caldav.php/alice/.out/", ""), CollectionKind::Service("schedule"));
    assert_eq!(
        kind("/caldav.php/alice/.out/", "<C:calendar/><C:schedule-outbox/>"),
        CollectionKind::Calendar
    );
    assert_eq!(
        kind("/caldav.php/alice/home/", "<C:calendar/>"),
        CollectionKind::Calendar
    );
}

#[test]
fn a_calendar_is_described_by_its_properties() {
    let member = found(
        "/dav/c%C3%A9",
        "<D:displayname>Work</D:displayname><C:calendar-description xml:lang='de'> Büro </C:calendar-description>\
         <D:description/><A:calendar-order>7</A:calendar-order><CS:getctag>\"12</CS:getctag>\
         <C:supported-calendar-component-set><C:comp name='vevent'/><C:comp name=\"VFREE&#66;USY\"/>\
         </C:supported-calendar-component-set>",
    );
    let described = descriptor::describe(&member.props, &base().resolve(&member.href).unwrap());
    assert_eq!(described.calendar.href, "https://cal.example.com/dav/c%C3%A9/");
    assert_eq!(described.description.as_deref(), Some("Büro"));
    assert_eq!(described.dav_description, None);
    assert_eq!(
        (described.order, described.change_tag.as_deref()),
        (Some(7), Some("\"12"))
    );
    let kinds = described.entity_kinds;
    assert_eq!(kinds.event.state, CapabilityState::Advertised);
    assert_eq!(kinds.todo.state, CapabilityState::NotAdvertised);
    assert_eq!(kinds.todo.evidence[0].value, "VEVENT,VFREEBUSY");
    let silent = descriptor::describe(&found("/x/", "<A:calendar-order>-1</A:calendar-order>").props, &base());
    assert_eq!(silent.entity_kinds.event.state, CapabilityState::Unknown);
    assert_eq!(
        (silent.entity_kinds.event.evidence.len(), silent.order, silent.access),
        (0, None, Access::Unknown)
    );
    let huge = found("/x/", "<A:calendar-order>2147483648</A:calendar-order>");
    assert_eq!(descriptor::describe(&huge.props, &base()).order, None);
}

//! What servers really answer, read as RFC 4918 and RFC 4791 mean it. The files in `dav/` were written after public
//! reports about real servers, the quoted bodies after observed answers.

use std::ops::ControlFlow;

use kalends_core::dav::etag::EntityTag;
use kalends_core::dav::fault::{DavFault, FaultKind};
use kalends_core::dav::multistatus::{self, Member, Tail};
use kalends_core::dav::name::Name;
use kalends_core::dav::xml::{Limited, Limits, XmlFault};
use kalends_core::href::Href;

const XML: Option<&str> = Some("application/xml; charset=utf-8");

fn try_read(body: &[u8]) -> Result<(Vec<Member>, Tail), DavFault> {
    let mut members = Vec::new();
    let tail = multistatus::read(207, XML, body, &Limits::default(), &mut |member| {
        members.push(member);
        ControlFlow::Continue(())
    })?;
    assert_eq!(tail.members, members.len());
    Ok((members, tail))
}

fn read(body: &str) -> Vec<Member> {
    try_read(body.as_bytes()).expect("the answer is usable").0
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

fn data(member: &Member) -> &str {
    member.props.calendar_data.as_deref().expect("there is calendar data")
}

fn summary(member: &Member) -> &str {
    let line = data(member).lines().find_map(|line| line.strip_prefix("SUMMARY:"));
    line.expect("there is a summary")
}

fn base() -> Href {
    Href::parse("https://cal.example.com/calendars/me@example.com/work/").expect("it is a URL")
}

#[test]
fn at_sign_and_percent_40_are_one_resource() {
    let keys = |body: &str| -> Vec<_> {
        let members = read(body).into_iter();
        let hrefs = members.map(|member| base().resolve(&member.href).unwrap());
        hrefs
            .filter(|href| href.is_member_of(&base()))
            .map(|href| href.key())
            .collect()
    };
    let listed = keys(include_str!(
        "../../tests/cases/004-href-at-sign-and-percent-40/listing.xml"
    ));
    assert_eq!(listed.len(), 3);
    assert_eq!(
        listed,
        keys(include_str!(
            "../../tests/cases/004-href-at-sign-and-percent-40/multiget.xml"
        ))
    );
    assert!(!listed.contains(&base().resolve("a/b.ics").unwrap().key()));
    // The spelling of the server is kept.
    let spelled = &read(include_str!(
        "../../tests/cases/004-href-at-sign-and-percent-40/multiget.xml"
    ))[1]
        .href;
    assert_eq!(spelled, "/calendars/me%40example.com/work/caf%c3%a9%7E2.ics");
}

#[test]
fn a_member_may_have_a_status_only() {
    let members = read(include_str!(
        "../../tests/cases/008-multiget-member-with-status-only/multiget.xml"
    ));
    let seen: Vec<_> = members
        .iter()
        .map(|m| (m.status, m.props.calendar_data.is_some()))
        .collect();
    assert_eq!(
        seen,
        [(None, true), (Some(404), false), (None, true), (Some(403), false)]
    );
    assert_eq!((summary(&members[0]), summary(&members[2])), ("A", "C"));
    assert_eq!(members[0].props.etag, EntityTag::parse("\"a1\""));
    assert_eq!(members[3].error[0].name, "need-privileges");
}

#[test]
fn calendar_data_may_be_cdata_with_its_own_namespace() {
    let members = read(include_str!("../../tests/cases/009-calendar-data-in-cdata/query.xml"));
    assert_eq!(members.len(), 2);
    assert_eq!(summary(&members[0]), "Fish &amp; chips");
    assert_eq!(summary(&members[1]), "Fish & chips");
    assert!(data(&members[1]).starts_with("\nBEGIN:VCALENDAR\n"));
}

#[test]
fn an_absent_entity_tag_is_reported() {
    let members = read(include_str!("../../tests/cases/010-getetag-absent/query.xml"));
    assert_eq!(members.len(), 2);
    assert_eq!(members[0].props.etag, EntityTag::parse("\"k1\""));
    assert_eq!(members[1].props.etag, None);
    assert_eq!(members[1].refused(Name::Etag), Some(404));
    assert_eq!(summary(&members[1]), "Without tag");
}

#[test]
fn prefix_order_and_quotes_are_indifferent() {
    let members = read(include_str!(
        "../../tests/cases/011-etag-unquoted-and-odd-prefix/query.xml"
    ));
    let tags: Vec<_> = members
        .iter()
        .map(|m| m.props.etag.as_ref().unwrap().if_match().unwrap())
        .collect();
    assert_eq!(tags, ["\"ky8817\"", "\"q1\""]);
    assert!(members[0].href.ends_with("/0001.eml"));
    assert_eq!(summary(&members[0]), "Kerio style");
}

#[test]
fn html_and_a_warning_before_the_xml_are_faults() {
    let html = include_bytes!("../../tests/cases/013-html-or-warning-before-xml/body-1.html");
    let read_as = |status, media: Option<&str>, body: &[u8]| {
        let none = &mut |_| panic!("there is no member");
        multistatus::read(status, media, body, &Limits::default(), none).unwrap_err()
    };
    let fault = read_as(200, Some("text/html; charset=utf-8"), html);
    assert_eq!((fault.kind.clone(), fault.status), (FaultKind::Status, 200));
    assert_eq!(fault.media_type.as_deref(), Some("text/html"));
    assert!(fault.excerpt.starts_with("This version"), "{}", fault.excerpt);
    assert!(fault.excerpt.is_ascii() && fault.excerpt.len() < 200);
    assert!(!fault.to_string().contains("version of the groupware"));
    assert_eq!(read_as(207, Some("Text/HTML"), html).kind, FaultKind::MediaType);
    assert_eq!(read_as(207, None, html).kind, FaultKind::Xml(XmlFault::Misplaced));
    let warning = include_bytes!("../../tests/cases/013-html-or-warning-before-xml/body-2.txt");
    assert_eq!(
        read_as(207, XML, warning).kind,
        FaultKind::Shape("the root is not DAV:multistatus")
    );
    let text = b"Warning: key\n<?xml version=\"1.0\"?><multistatus xmlns=\"DAV:\"/>";
    assert_eq!(read_as(207, XML, text).kind, FaultKind::Xml(XmlFault::Misplaced));
    assert_eq!(read_as(207, XML, b"").kind, FaultKind::Xml(XmlFault::Empty));
}

#[test]
fn three_resources_with_one_uid_are_three_members() {
    let members = read(include_str!(
        "../../tests/cases/053-ten-resources-with-one-uid/query.xml"
    ));
    let hrefs: Vec<_> = members.iter().map(|m| m.href.rsplit('/').next().unwrap()).collect();
    assert_eq!(hrefs, ["b1.ics", "b2.ics", "b3.ics"]);
    // A CR that is written as a reference stays.
    assert!(data(&members[0]).starts_with("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n"));
}

#[test]
fn principal_and_homes_are_found() {
    let member = found(
        "/",
        "<D:current-user-principal><D:href> /alice/ </D:href></D:current-user-principal>\
         <D:principal-URL><D:href>/alice/</D:href></D:principal-URL><C:calendar-home-set>\
         <D:href>/a/</D:href><D:href/><D:href>https://p57.example.com:443/b/</D:href></C:calendar-home-set>\
         <C:calendar-user-address-set><D:href>mailto:alice@example.test</D:href></C:calendar-user-address-set>\
         <D:supported-report-set><D:supported-report><D:report><D:sync-collection/></D:report></D:supported-report>\
         <D:supported-report><D:report><C:calendar-query/></D:report></D:supported-report></D:supported-report-set>",
    );
    let props = member.props;
    assert_eq!(props.current_user_principal.as_deref(), Some("/alice/"));
    assert_eq!(props.principal_url.as_deref(), Some("/alice/"));
    assert_eq!(props.calendar_home_set, ["/a/", "https://p57.example.com:443/b/"]);
    assert_eq!(props.calendar_user_address_set, ["mailto:alice@example.test"]);
    let reports: Vec<_> = props.report_names.iter().map(|name| name.local_name.as_str()).collect();
    assert_eq!(reports, ["sync-collection", "calendar-query"]);
    assert!(!props.unauthenticated);
}

#[test]
fn cyrus_answers_without_login() {
    let member = found(
        "/",
        "<D:current-user-principal><D:unauthenticated/></D:current-user-principal>",
    );
    assert!(member.props.unauthenticated);
    assert_eq!(member.props.current_user_principal, None);
}

#[test]
fn xandikos_reports_a_missing_resource_within_207() {
    let members = read(
        "<ns0:multistatus xmlns:ns0=\"DAV:\"><ns0:response><ns0:href>http://127.0.0.1:5234/alice/calendars/rig-n/\
         </ns0:href><ns0:status>HTTP/1.1 404 Not Found</ns0:status></ns0:response></ns0:multistatus>",
    );
    assert_eq!((members.len(), members[0].status), (1, Some(404)));
}

#[test]
fn propstats_without_a_response_are_kept_apart() {
    let (members, tail) = try_read(
        wrapped(
            "<D:propstat><D:prop><D:getetag/></D:prop><D:status>HTTP/1.1 403 Forbidden</D:status>\
             <D:error><D:cannot-modify-protected-property/></D:error></D:propstat><D:propstat><D:prop>\
             <D:displayname/></D:prop><D:status>HTTP/1.1 424 Failed Dependency</D:status></D:propstat>",
        )
        .as_bytes(),
    )
    .unwrap();
    assert!(members.is_empty());
    let bare = tail.bare.unwrap();
    assert_eq!(bare.other, [(Name::Etag, 403), (Name::Displayname, 424)]);
    assert_eq!(bare.error[0].name, "cannot-modify-protected-property");
}

#[test]
fn a_prefix_that_cyrus_echoes_undeclared_is_passed_over() {
    let echoed = found(
        "/c/",
        "<N:calendar-availability><N:displayname/></N:calendar-availability><D:displayname>x</D:displayname>",
    );
    assert_eq!(echoed.props.display_name.as_deref(), Some("x"));
    for unsafe_place in [
        "<D:response><D:href>/c/</D:href><D:propstat><D:prop><N:getetag/></D:prop></D:propstat></D:response>",
        "<N:response/>",
        "<D:response><N:propstat/></D:response>",
    ] {
        let fault = try_read(wrapped(unsafe_place).as_bytes()).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Xml(XmlFault::UndeclaredPrefix), "{unsafe_place}");
    }
}

#[test]
fn sync_answers_have_a_token_and_a_507_for_the_collection() {
    let (members, tail) = try_read(
        wrapped(
            "<D:response><D:href>/c/</D:href><D:status>HTTP/1.1 507 Insufficient Storage</D:status>\
             <D:error><D:number-of-matches-within-limits/></D:error></D:response>\
             <D:sync-token>data:,1796049457-151-154</D:sync-token><D:responsedescription>cut</D:responsedescription>",
        )
        .as_bytes(),
    )
    .unwrap();
    assert_eq!(
        (members[0].status, members[0].error[0].name.as_str()),
        (Some(507), "number-of-matches-within-limits")
    );
    assert_eq!(tail.sync_token.as_deref(), Some("data:,1796049457-151-154"));
    assert_eq!(tail.description.as_deref(), Some("cut"));
}

#[test]
fn several_hrefs_share_a_status() {
    let members = read(&wrapped(
        "<D:response><D:href>/a</D:href><D:href>/b</D:href><D:status>HTTP/1.1 423 Locked</D:status></D:response>",
    ));
    let seen: Vec<_> = members.iter().map(|m| (m.href.as_str(), m.status)).collect();
    assert_eq!(seen, [("/a", Some(423)), ("/b", Some(423))]);
}

#[test]
fn statuses_are_read_leniently_but_never_guessed() {
    let status = |text: &str| {
        let body = wrapped(&format!(
            "<D:response><D:href>/a</D:href><D:status>{text}</D:status></D:response>"
        ));
        try_read(body.as_bytes())
            .ok()
            .and_then(|(members, _)| members[0].status)
    };
    for text in [
        "HTTP/1.1 404 Not Found",
        "HTTP/1.0 404",
        "http/2 404 x",
        "404",
        " 404 Gone ",
        "HTTP/1.1\t404",
    ] {
        assert_eq!(status(text), Some(404), "{text}");
    }
    for text in [
        "",
        "OK",
        "HTTP/1.1",
        "HTTP/1.1 4040",
        "HTTP/1.1 abc",
        "0404",
        "+04",
        "999",
        "HTTP/1.1404",
    ] {
        assert_eq!(status(text), None, "{text}");
    }
}

#[test]
fn only_status_200_gives_values() {
    let body = wrapped(
        "<D:response><D:href>/a</D:href>\
         <D:propstat><D:prop><D:displayname>no</D:displayname><x xmlns='urn:x'/></D:prop><D:status>HTTP/1.1 403 Forbidden</D:status></D:propstat>\
         <D:propstat><D:status>HTTP/1.1 200 OK</D:status><D:prop><D:getetag>\"1\"</D:getetag></D:prop></D:propstat>\
         <D:propstat><D:prop><D:getcontentlength>12</D:getcontentlength></D:prop><D:status>200</D:status></D:propstat>\
         </D:response>",
    );
    let member = read(&body).remove(0);
    assert_eq!(member.props.display_name, None);
    assert_eq!(member.other, [(Name::Displayname, 403)]);
    assert_eq!(
        (member.props.etag, member.props.content_length),
        (EntityTag::parse("\"1\""), Some(12))
    );
}

#[test]
fn broken_responses_are_faults() {
    for (inside, what) in [
        ("<D:response/>", "a response has no href"),
        (
            "<D:response><D:href> </D:href><D:status>200</D:status></D:response>",
            "an href is empty",
        ),
        (
            "<D:response><D:href>/a</D:href></D:response>",
            "a response has neither status nor properties",
        ),
        (
            "<D:response><D:href>/a</D:href><D:propstat><D:prop/></D:propstat></D:response>",
            "a propstat has no status",
        ),
        (
            "<D:response><D:href>/a</D:href><D:href>/b</D:href><D:propstat><D:status>200</D:status></D:propstat>\
             </D:response>",
            "a response has several hrefs and properties",
        ),
    ] {
        let fault = try_read(wrapped(inside).as_bytes()).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Shape(what));
    }
    let long = format!("<D:response><D:href>/{}</D:href></D:response>", "x".repeat(8192));
    assert_eq!(
        try_read(wrapped(&long).as_bytes()).unwrap_err().kind,
        FaultKind::Shape("an href is too long")
    );
}

#[test]
fn reading_stops_where_the_receiver_says_so() {
    let response = "<D:response><D:href>/a</D:href><D:status>404</D:status></D:response>";
    let body = wrapped(&response.repeat(3)).replace("</D:multistatus>", "<broken");
    let mut seen = 0;
    let tail = multistatus::read(207, XML, body.as_bytes(), &Limits::default(), &mut |_| {
        seen += 1;
        if seen == 2 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    assert!(tail.unwrap().stopped);
    assert_eq!(seen, 2);
}

#[test]
fn responses_are_bounded() {
    let response = "<D:response><D:href>/a</D:href><D:status>404</D:status></D:response>";
    let read = |hrefs: usize| {
        let limits = Limits {
            responses: 5,
            ..Limits::default()
        };
        let body = wrapped(&response.repeat(hrefs));
        multistatus::read(207, XML, body.as_bytes(), &limits, &mut |_| ControlFlow::Continue(()))
    };
    assert_eq!(read(5).unwrap().members, 5);
    let limit = XmlFault::Limit {
        limited: Limited::Responses,
        observed: 6,
        limit: 5,
    };
    assert_eq!(read(6).unwrap_err().kind, FaultKind::Xml(limit));
}

#[test]
fn an_empty_multistatus_is_an_answer() {
    let (members, tail) = try_read(b"\xEF\xBB\xBF<multistatus xmlns='DAV:'/>\n<!-- end -->").unwrap();
    assert_eq!((members.len(), tail), (0, Tail::default()));
}

/// A response that is written like one before it is read by that one's pattern: each has to say what it says alone.
#[test]
fn a_response_says_the_same_after_any_other() {
    let ok = "<D:status>HTTP/1.1 200 OK</D:status>";
    let entity = |href: &str, props: &str| {
        format!("<D:response><D:href>{href}</D:href><D:propstat><D:prop>{props}</D:prop>{ok}</D:propstat></D:response>")
    };
    let whole = |href: &str, etag: &str, data: &str| {
        let props = format!("<D:getetag>{etag}</D:getetag><C:calendar-data>{data}</C:calendar-data>");
        entity(href, &props)
    };
    let missing =
        "<D:propstat><D:prop><D:getcontentlength/></D:prop><D:status>HTTP/1.1 404 Not Found</D:status></D:propstat>";
    let responses = [
        whole("/a.ics", "\"1\"", "BEGIN:VCALENDAR\r\nX:1\r\nEND:VCALENDAR\r\n"),
        whole(
            " /b.ics\n",
            "&quot;2&quot;",
            "X:a&amp;b &lt;\rc&#13;\nd&#xD;&#13;\n\r\n",
        ),
        whole("/c.ics", "W/\"3\"", "\r"),
        whole("/d.ics", "4", "<![CDATA[X:<>&\r\n]]>"),
        whole("/e.ics", "\"5\"", "X:1<!-- here -->X:2"),
        whole("/f&amp;.ics", "\"6", ""),
        whole("/g.ics", "", "X:&nbsp;"),
        whole("/h.ics", "\"8\"", "X:&amp"),
        whole("/i.ics", "\"9\"", "X:&&amp;;"),
        whole("", "\"10\"", "X"),
        whole(" ", "\"11\"", "X").replace("200 OK", "403 Forbidden"),
        entity(
            "/k.ics",
            "<D:getetag>\"12\"</D:getetag><D:getcontentlength> 7 </D:getcontentlength>",
        ),
        entity(
            "/l.ics",
            "<D:getetag>\"13\"</D:getetag><D:getcontentlength>many</D:getcontentlength>",
        ),
        entity("/m.ics", "<D:getetag>\"14\"</D:getetag><D:getetag>\"15\"</D:getetag>"),
        entity("/n.ics", "<D:getetag/>"),
        format!("\n {} ", entity("/o.ics", "<D:getetag>\"16\"</D:getetag>")),
        entity("/p.ics", "<D:getetag>\"17\"</D:getetag>").replace("</D:propstat>", &format!("</D:propstat>{missing}")),
        entity("/q.ics", "<D:getetag>\"18\"</D:getetag>").replace("200 OK", "404"),
        entity("/r.ics", "<getetag xmlns='DAV:'>\"19\"</getetag>"),
        "<D:response><D:href>/s.ics</D:href><D:status>HTTP/1.1 404</D:status></D:response>".to_owned(),
        "<D:response><D:href>/t</D:href><D:href>/u</D:href><D:status>410</D:status></D:response>".to_owned(),
    ];
    // The same names and tags twice, so that each follows one of its own kind.
    let alone: Vec<_> = responses
        .iter()
        .map(|response| try_read(wrapped(response).as_bytes()).map_err(|fault| fault.kind))
        .collect();
    assert_eq!(alone.iter().filter(|read| read.is_ok()).count(), 16);
    for first in 0..responses.len() {
        for second in 0..responses.len() {
            for third in [0, 1, first, second] {
                let order = [first, second, third];
                let body = wrapped(&order.map(|at| responses[at].as_str()).concat());
                let read = try_read(body.as_bytes()).map_err(|fault| fault.kind);
                let mut expected = Ok(Vec::new());
                for at in order {
                    match (&mut expected, &alone[at]) {
                        (Ok(all), Ok((members, _))) => all.extend(members.iter().cloned()),
                        (Ok(_), Err(fault)) => expected = Err(fault.clone()),
                        (Err(_), _) => {}
                    }
                }
                assert_eq!(read.map(|(members, _)| members), expected, "{order:?}");
            }
        }
    }
}

#[test]
fn elements_are_bounded_where_responses_are_alike() {
    let response = "<D:response><D:href>/a</D:href><D:propstat><D:prop><D:getetag>\"1\"</D:getetag></D:prop>\
                    <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>";
    let body = wrapped(&response.repeat(5));
    let read = |elements: usize| {
        let limits = Limits {
            elements,
            ..Limits::default()
        };
        multistatus::read(207, XML, body.as_bytes(), &limits, &mut |_| ControlFlow::Continue(()))
    };
    assert_eq!(read(1 + 5 * 6).unwrap().members, 5);
    let limit = XmlFault::Limit {
        limited: Limited::Elements,
        observed: 31,
        limit: 30,
    };
    assert_eq!(read(5 * 6).unwrap_err().kind, FaultKind::Xml(limit));
}

//! What is answered, over memory and over a folder. Expected values are those of RFC 4791, 4918 and 9110; answers
//! are read by the core's own readers.

mod account;

use std::ops::ControlFlow;

use account::{DEPTH_0, DEPTH_1, event, propfind, query, send, todo, with_both};
use bytes::Bytes;
use http::Response;
use kalends_core::dav::name::Name;
use kalends_core::dav::xml::Limits;
use kalends_core::dav::{calendar_multiget, multistatus};
use kalends_local::Local;

fn members(response: &Response<Bytes>) -> Vec<multistatus::Member> {
    let mut members = Vec::new();
    let kind = response
        .headers()
        .get("content-type")
        .and_then(|kind| kind.to_str().ok());
    let limits = Limits::default();
    multistatus::read(
        response.status().as_u16(),
        kind,
        response.body(),
        &limits,
        &mut |member| {
            members.push(member);
            ControlFlow::Continue(())
        },
    )
    .expect("a multistatus");
    members
}

fn hrefs(response: &Response<Bytes>, local: &Local) -> Vec<String> {
    let root = local.url();
    let relative = |member: multistatus::Member| member.href.strip_prefix(root.path()).map(str::to_owned);
    members(response)
        .into_iter()
        .map(|member| relative(member).expect("below the root"))
        .collect()
}

fn etag(response: &Response<Bytes>) -> String {
    response.headers()["etag"].to_str().expect("ASCII").to_owned()
}

#[test]
fn the_root_is_principal_and_home() {
    with_both(|local| {
        let body =
            propfind("<current-user-principal/><C:calendar-home-set/><resourcetype/><x xmlns='urn:x'/><getetag/>");
        let response = send(local, "PROPFIND", "", &[DEPTH_0], body);
        let all = members(&response);
        let [root] = all.as_slice() else {
            panic!("one response: {all:?}")
        };
        let own = local.url().path().to_owned();
        assert_eq!(root.href, own);
        let text = std::str::from_utf8(response.body()).expect("UTF-8");
        let link = format!("<D:href>{own}</D:href>");
        assert!(text.contains(&format!("<D:current-user-principal>{link}</D:current-user-principal>")));
        assert!(text.contains(&format!("<C:calendar-home-set>{link}</C:calendar-home-set>")));
        assert!(text.contains("<D:prop><x xmlns=\"urn:x\"/><D:getetag/></D:prop><D:status>HTTP/1.1 404 Not Found"));
    });
}

#[test]
fn a_listing_describes_calendars_and_members() {
    with_both(|local| {
        let response = send(local, "PROPFIND", "", &[DEPTH_1], "");
        assert_eq!(hrefs(&response, local), ["", "work/", "%C3%A9%20home/"]);
        let body = propfind(
            "<displayname/><A:calendar-color/><A:calendar-order/><S:getctag/><C:supported-calendar-component-set/>\
             <supported-report-set/><current-user-privilege-set/>",
        );
        let response = send(local, "PROPFIND", "work/", &[DEPTH_0], body.clone());
        let text = std::str::from_utf8(response.body()).expect("UTF-8");
        for part in [
            "<D:displayname>Work &amp; &lt;more&gt;</D:displayname>",
            "<A:calendar-color>#11AAFF</A:calendar-color>",
            "<A:calendar-order>3</A:calendar-order>",
            "<C:supported-calendar-component-set><C:comp name=\"VEVENT\"/></C:supported-calendar-component-set>",
            "<D:report><C:calendar-query/></D:report>",
            "<D:privilege><D:write/></D:privilege>",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(!text.contains("404"));
        let before = response.body().clone();
        assert_eq!(
            send(local, "PROPFIND", "work/", &[DEPTH_0], body.clone()).body(),
            &before
        );
        send(local, "DELETE", "work/b.ics", &[], "");
        assert_ne!(
            send(local, "PROPFIND", "work/", &[DEPTH_0], body).body(),
            &before,
            "the ctag changes"
        );

        let response = send(
            local,
            "PROPFIND",
            "%C3%A9%20home/",
            &[DEPTH_1],
            propfind("<getetag/><getcontentlength/>"),
        );
        assert_eq!(hrefs(&response, local), ["%C3%A9%20home/", "%C3%A9%20home/c%20d.ics"]);
        let member = send(local, "GET", "%C3%A9%20home/c%20d.ics", &[], "");
        let text = std::str::from_utf8(response.body()).expect("UTF-8");
        let tag = etag(&member).replace('"', "&quot;");
        assert!(text.contains(&format!("<D:getetag>{tag}</D:getetag>")));
        assert!(text.contains(&format!(
            "<D:getcontentlength>{}</D:getcontentlength>",
            member.body().len()
        )));
        assert_eq!(
            member.headers()["content-type"],
            "text/calendar; charset=utf-8; component=VTODO"
        );
    });
}

#[test]
fn a_query_finds_all_that_fits_and_gives_it_unchanged() {
    with_both(|local| {
        let find = |path: &str, filter: &str| {
            let body = query("<getetag/>", filter);
            hrefs(&send(local, "REPORT", path, &[DEPTH_1], body), local)
        };
        let range =
            |kind: &str, range: &str| format!("<C:comp-filter name='{kind}'><C:time-range {range}/></C:comp-filter>");
        let june = "start='20260601T000000Z' end='20260602T000000Z'";
        assert_eq!(find("work/", ""), ["work/a.ics", "work/b.ics"]);
        assert_eq!(
            find("work/", "<C:comp-filter name='vevent'/>"),
            ["work/a.ics", "work/b.ics"]
        );
        assert!(find("work/", "<C:comp-filter name='VTODO'/>").is_empty());
        let absent = "<C:comp-filter name='VTODO'><C:is-not-defined/></C:comp-filter>";
        assert_eq!(find("work/", absent), ["work/a.ics", "work/b.ics"]);
        assert_eq!(find("work/", &range("VEVENT", june)), ["work/a.ics"]);
        assert_eq!(
            find("work/", &range("VEVENT", "end='20210101T000000Z'")),
            ["work/b.ics"]
        );
        assert_eq!(
            find("%C3%A9%20home/", &range("VTODO", june)),
            ["%C3%A9%20home/c%20d.ics"]
        );

        let body = query("<getetag/><C:calendar-data/>", &range("VEVENT", june));
        let response = send(local, "REPORT", "work/", &[DEPTH_1], body);
        let member = &members(&response)[0];
        let stored = send(local, "GET", "work/a.ics", &[], "");
        let data = member.props.calendar_data.as_ref().expect("calendar data");
        assert_eq!(data.as_bytes(), stored.body());
    });
}

#[test]
fn a_multiget_answers_for_every_href() {
    with_both(|local| {
        let root = local.url();
        let at = |path: &str| format!("{}{path}", root.path());
        let absolute = format!("{root}work/b.ics");
        let asked = [
            at("work/a.ics"),
            absolute,
            at("work/z.ics"),
            at("work/a.ics"),
            at("%C3%A9%20home/c%20d.ics"),
            "/elsewhere/x.ics".into(),
            at("work/../work/a.ics"),
        ];
        let body = calendar_multiget::body(asked.iter().map(String::as_str));
        let status = |response| {
            members(&response)
                .iter()
                .map(|m| m.status.unwrap_or(200))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            status(send(local, "REPORT", "work/", &[], body.clone())),
            [200, 200, 404, 404, 404, 400]
        );
        assert_eq!(
            status(send(local, "REPORT", "", &[], body)),
            [200, 200, 404, 200, 404, 400]
        );
    });
}

#[test]
fn what_is_put_is_what_is_got_and_its_tag_says_so() {
    with_both(|local| {
        // Octets that a careless server would change: bare LF, odd folds, unknown properties, trailing blanks.
        let odd =
            "BEGIN:VCALENDAR\nBEGIN:VEVENT\r\nUID:new\nX-ODD;P=\"a:b\":1\\,2 \n SUM\r\nEND:VEVENT\r\nEND:VCALENDAR\n\n";
        let created = send(local, "PUT", "work/new.ics", &[("If-None-Match", "*")], odd);
        let got = send(local, "GET", "work/new.ics", &[], "");
        assert_eq!((got.body(), etag(&got)), (&Bytes::from(odd), etag(&created)));

        let stale = etag(&created);
        let changed = odd.replace("1\\,2", "3");
        let updated = send(local, "PUT", "work/new.ics", &[("If-Match", &stale)], changed.clone());
        assert_eq!(updated.status().as_u16(), 204);
        assert_ne!(etag(&updated), stale);
        assert_eq!(
            send(local, "PUT", "work/new.ics", &[("If-Match", &stale)], odd)
                .status()
                .as_u16(),
            412
        );
        assert_eq!(
            send(local, "DELETE", "work/new.ics", &[("If-Match", &stale)], "")
                .status()
                .as_u16(),
            412
        );
        let weak = format!("W/{}", etag(&updated));
        assert_eq!(
            send(local, "DELETE", "work/new.ics", &[("If-Match", &weak)], "")
                .status()
                .as_u16(),
            412
        );
        assert_eq!(
            send(local, "GET", "work/new.ics", &[], "").body(),
            &Bytes::from(changed)
        );
        let gone = send(local, "DELETE", "work/new.ics", &[("If-Match", &etag(&updated))], "");
        assert_eq!(gone.status().as_u16(), 204);
        assert_eq!(send(local, "GET", "work/new.ics", &[], "").status().as_u16(), 404);
    });
}

#[test]
fn a_uid_conflict_names_the_member_in_the_way() {
    with_both(|local| {
        let response = send(local, "PUT", "work/new.ics", &[], event("b", ""));
        let text = std::str::from_utf8(response.body()).expect("UTF-8");
        let href = format!("<D:href>{}work/b.ics</D:href>", local.url().path());
        assert!(
            text.contains(&format!("<C:no-uid-conflict>{href}</C:no-uid-conflict>")),
            "{text}"
        );
        assert_eq!(
            send(local, "PUT", "%C3%A9%20home/new.ics", &[], event("b", ""))
                .status()
                .as_u16(),
            201
        );
    });
}

#[test]
fn a_new_calendar_is_what_was_asked_for() {
    with_both(|local| {
        let body = "<C:mkcalendar xmlns='DAV:' xmlns:C='urn:ietf:params:xml:ns:caldav' \
                    xmlns:A='http://apple.com/ns/ical/'><set><prop><displayname>Pläne</displayname>\
                    <A:calendar-color>#00FF00</A:calendar-color><A:calendar-order>7</A:calendar-order>\
                    <C:supported-calendar-component-set><C:comp name='VTODO'/></C:supported-calendar-component-set>\
                    </prop></set></C:mkcalendar>";
        assert_eq!(send(local, "MKCALENDAR", "play/", &[], body).status().as_u16(), 201);
        let wanted = "<displayname/><A:calendar-color/><A:calendar-order/><C:supported-calendar-component-set/>";
        let response = send(local, "PROPFIND", "play/", &[DEPTH_0], propfind(wanted));
        let text = std::str::from_utf8(response.body()).expect("UTF-8");
        for part in [">Pläne<", ">#00FF00<", ">7<", "<C:comp name=\"VTODO\"/>"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert_eq!(send(local, "PUT", "play/t.ics", &[], todo("t")).status().as_u16(), 201);
        assert_eq!(
            send(local, "PUT", "play/e.ics", &[], event("e", "")).status().as_u16(),
            403
        );
    });
}

#[test]
fn properties_are_changed_all_or_none() {
    let update = |instructions: &str| {
        format!(
            "<propertyupdate xmlns='DAV:' xmlns:C='urn:ietf:params:xml:ns:caldav' xmlns:A='http://apple.com/ns/ical/'>\
             {instructions}</propertyupdate>"
        )
    };
    with_both(|local| {
        let ask = |instructions: &str| {
            let response = send(local, "PROPPATCH", "work/", &[], update(instructions));
            let [member] = <[_; 1]>::try_from(members(&response)).expect("one response");
            member
        };
        let told = || {
            let wanted =
                "<displayname/><A:calendar-color/><A:calendar-order/><C:calendar-description/><C:calendar-timezone/>";
            let response = send(local, "PROPFIND", "work/", &[DEPTH_0], propfind(wanted));
            let [member] = <[_; 1]>::try_from(members(&response)).expect("one response");
            member.props
        };
        let before = told();
        for (instructions, refusals) in [
            (
                "<set><prop><displayname>No</displayname><getetag>x</getetag></prop></set>",
                &[(Name::Displayname, 424), (Name::Etag, 403)][..],
            ),
            (
                "<set><prop><C:supported-calendar-component-set><C:comp name='VTODO'/></C:supported-calendar-component-set></prop></set>\
                 <remove><prop><displayname/></prop></remove>",
                &[(Name::SupportedCalendarComponentSet, 403), (Name::Displayname, 424)],
            ),
            (
                "<set><prop><A:calendar-order>first</A:calendar-order></prop></set>",
                &[(Name::CalendarOrder, 409)],
            ),
            (
                "<set><prop><C:calendar-timezone>BEGIN:VCALENDAR\nEND:VCALENDAR\n</C:calendar-timezone></prop></set>",
                &[(Name::CalendarTimezone, 403)],
            ),
        ] {
            let member = ask(instructions);
            for (name, status) in refusals {
                assert_eq!(member.refused(*name), Some(*status), "{instructions}");
            }
            assert!(member.props.given.is_empty());
            assert_eq!(told(), before);
        }
        let zone = "BEGIN:VCALENDAR&#xD;\nBEGIN:VTIMEZONE&#xD;\nTZID:X&#xD;\nEND:VTIMEZONE&#xD;\nEND:VCALENDAR&#xD;\n";
        let member = ask(&format!(
            "<set xml:lang='de'><prop><displayname>Privat</displayname><C:calendar-description>Für mich</C:calendar-description>\
             <C:calendar-timezone>{zone}</C:calendar-timezone></prop></set><remove><prop><A:calendar-color/></prop></remove>"
        ));
        assert!(member.other.is_empty());
        let after = told();
        assert_eq!(after.display_name.as_deref(), Some("Privat"));
        assert_eq!(after.calendar_description.as_deref(), Some("Für mich"));
        assert_eq!(after.description_language.as_deref(), Some("de"));
        assert_eq!(after.calendar_timezone, Some(zone.replace("&#xD;", "\r")));
        assert_eq!(
            (after.calendar_color, after.calendar_order),
            (None, before.calendar_order)
        );
    });
}

#[test]
fn a_calendar_is_deleted_whole() {
    with_both(|local| {
        assert_eq!(send(local, "DELETE", "work/", &[], "").status().as_u16(), 204);
        assert_eq!(send(local, "DELETE", "work/", &[], "").status().as_u16(), 404);
        assert_eq!(send(local, "GET", "work/a.ics", &[], "").status().as_u16(), 404);
        let response = send(local, "PROPFIND", "", &[DEPTH_1], "");
        assert_eq!(hrefs(&response, local), ["", "%C3%A9%20home/"]);
        assert_eq!(send(local, "MKCALENDAR", "work/", &[], "").status().as_u16(), 201);
        let response = send(local, "PROPFIND", "work/", &[DEPTH_1], "");
        assert_eq!(hrefs(&response, local), ["work/"]);
    });
}

#[test]
fn octets_that_are_no_calendar_or_no_xml_are_served_by_get() {
    with_both(|local| {
        let latin = b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:l\r\nSUMMARY:\xe9\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
        let control = event("k", "SUMMARY:\u{b}\r\n");
        let several = event("m", "END:VEVENT\r\nBEGIN:VEVENT\r\nUID:n\r\n");
        let local = local
            .clone()
            .put("work/latin.ics", latin.to_vec())
            .put("work/control.ics", control.clone())
            .put("work/several.ics", several.clone())
            .put("work/nothing.ics", "nothing");
        let got = |name: &str| send(&local, "GET", name, &[], "").into_body();
        assert_eq!(got("work/latin.ics"), latin.as_slice());
        assert_eq!(got("work/control.ics"), control);
        assert_eq!(got("work/several.ics"), several);
        assert_eq!(got("work/nothing.ics"), "nothing");
        let body = query("<getetag/><C:calendar-data/>", "<C:comp-filter name='VEVENT'/>");
        let response = send(&local, "REPORT", "work/", &[DEPTH_1], body);
        let without: Vec<_> = members(&response)
            .into_iter()
            .filter(|member| member.props.calendar_data.is_none())
            .map(|member| {
                (
                    member.href.rsplit('/').next().unwrap_or_default().to_owned(),
                    member.props.etag.is_some(),
                )
            })
            .collect();
        assert_eq!(without, [("control.ics".into(), true), ("latin.ics".into(), true)]);
    });
}

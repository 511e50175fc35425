//! What is answered to which request in which state, over memory and over a folder. Expected values are those of
//! RFC 4791, 4918 and 9110; answers are read by the core's own readers.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::OnceLock;
use std::{fs, io};

use bytes::Bytes;
use http::{Request, Response};
use kalends_core::dav::xml::Limits;
use kalends_core::dav::{calendar_multiget, multistatus};
use kalends_local::{Local, Metadata};
use tempfile::TempDir;

/// An event with this UID and these further lines.
fn event(uid: &str, lines: &str) -> String {
    format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:{uid}\r\n{lines}END:VEVENT\r\nEND:VCALENDAR\r\n")
}

fn todo(uid: &str) -> String {
    event(uid, "").replace("VEVENT", "VTODO")
}

fn sample(local: Local) -> Local {
    let work = Metadata {
        name: Some("Work & <more>".into()),
        color: Some("#11AAFF".into()),
        order: Some(3),
        components: Some(vec!["VEVENT".into()]),
        ..Metadata::default()
    };
    local
        .with_metadata("work", &work)
        .with_calendar("é home", "Home")
        .put("work/a.ics", event("a", "DTSTART:20260601T100000Z\r\n"))
        .put("work/b.ics", event("b", "DTSTART:20200601T100000Z\r\n"))
        .put("é home/c d.ics", todo("c"))
}

/// Runs a test over memory and over a folder.
fn with_both(test: impl Fn(&Local)) {
    test(&sample(Local::memory().at("/dav/ann")));
    // Written once with all care, then copied with none.
    static SAMPLE: OnceLock<TempDir> = OnceLock::new();
    let original = SAMPLE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        drop(sample(Local::folder(folder.path()).expect("a folder")));
        folder
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    copy(original.path(), folder.path()).expect("a copy");
    test(&Local::folder(folder.path()).expect("a folder"));
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            fs::create_dir(&to)?;
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

fn send(local: &Local, method: &str, path: &str, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Response<Bytes> {
    let uri = local.url().resolve("./").expect("a root").to_uri().to_string() + path;
    let mut request = Request::builder().method(method).uri(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    local.answer(request.body(body.into()).expect("a request"))
}

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

const DEPTH_0: (&str, &str) = ("Depth", "0");
const DEPTH_1: (&str, &str) = ("Depth", "1");

fn propfind(properties: &str) -> String {
    format!(
        "<propfind xmlns='DAV:' xmlns:C='urn:ietf:params:xml:ns:caldav' xmlns:S='http://calendarserver.org/ns/' \
         xmlns:A='http://apple.com/ns/ical/'><prop>{properties}</prop></propfind>"
    )
}

fn query(properties: &str, filter: &str) -> String {
    format!(
        "<C:calendar-query xmlns='DAV:' xmlns:C='urn:ietf:params:xml:ns:caldav'><prop>{properties}</prop>\
         <C:filter><C:comp-filter name='VCALENDAR'>{filter}</C:comp-filter></C:filter></C:calendar-query>"
    )
}

#[test]
fn every_request_has_its_status() {
    let get_etag = propfind("<getetag/>");
    let all = query("<getetag/>", "");
    let bad_filter = all.replace("VCALENDAR", "VEVENT");
    let bad_range = query(
        "<getetag/>",
        "<C:comp-filter name='VEVENT'><C:time-range start='now'/></C:comp-filter>",
    );
    let open_range = query(
        "<getetag/>",
        "<C:comp-filter name='VEVENT'><C:time-range/></C:comp-filter>",
    );
    let expand = query("<C:calendar-data><C:expand start='' end=''/></C:calendar-data>", "");
    let unknown_report = "<x xmlns='DAV:'/>";
    let mkcalendar = "<C:mkcalendar xmlns='DAV:' xmlns:C='urn:ietf:params:xml:ns:caldav'><set><prop>\
                      <displayname>N</displayname></prop></set></C:mkcalendar>";
    let protected = mkcalendar.replace("displayname", "getetag");
    let sync = "<sync-collection xmlns='DAV:'/>";
    let free_busy = "<C:free-busy-query xmlns:C='urn:ietf:params:xml:ns:caldav'/>";
    let (new, same, other) = (event("new", ""), event("a", "SUMMARY:x\r\n"), event("other", ""));
    let (two, method) = (
        event("a", "END:VEVENT\r\nBEGIN:VEVENT\r\nUID:b\r\n"),
        event("new", "").replace("VERSION:2.0", "METHOD:REQUEST"),
    );
    let task = todo("t");
    let large = event("new", &format!("SUMMARY:{}\r\n", "x".repeat(4 * 1024 * 1024)));
    let calendar = ("Content-Type", "text/calendar; charset=utf-8");
    let absent = ("If-None-Match", "*");
    let present = ("If-Match", "*");
    type Row<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], &'a str, u16);
    let rows: &[Row<'_>] = &[
        ("OPTIONS", "", &[], "", 200),
        ("OPTIONS", "work/", &[], "", 200),
        ("OPTIONS", "work/a.ics", &[], "", 200),
        ("PROPFIND", "", &[DEPTH_0], &get_etag, 207),
        ("PROPFIND", "", &[DEPTH_1], "", 207),
        ("PROPFIND", "", &[], &get_etag, 403),
        ("PROPFIND", "", &[("Depth", "infinity")], &get_etag, 403),
        ("PROPFIND", "", &[DEPTH_0], "<propfind", 400),
        ("PROPFIND", "", &[DEPTH_0], "<!DOCTYPE x><propfind xmlns='DAV:'/>", 400),
        ("PROPFIND", "", &[DEPTH_0], unknown_report, 422),
        ("PROPFIND", "work", &[DEPTH_1], &get_etag, 207),
        ("PROPFIND", "work/a.ics", &[DEPTH_0], &get_etag, 207),
        ("PROPFIND", "work/z.ics", &[DEPTH_0], &get_etag, 404),
        ("PROPFIND", "play/", &[DEPTH_0], &get_etag, 404),
        ("REPORT", "work/", &[DEPTH_1], &all, 207),
        ("REPORT", "work/", &[DEPTH_0], &all, 207),
        ("REPORT", "work/", &[], &all, 400),
        ("REPORT", "work/", &[DEPTH_1], "", 400),
        ("REPORT", "work/", &[DEPTH_1], &bad_filter, 403),
        ("REPORT", "work/", &[DEPTH_1], &bad_range, 403),
        ("REPORT", "work/", &[DEPTH_1], &open_range, 403),
        ("REPORT", "work/", &[DEPTH_1], &expand, 501),
        ("REPORT", "work/", &[DEPTH_1], unknown_report, 403),
        ("REPORT", "work/", &[DEPTH_1], sync, 501),
        ("REPORT", "work/", &[DEPTH_1], free_busy, 501),
        ("REPORT", "", &[DEPTH_1], &all, 403),
        ("REPORT", "play/", &[DEPTH_1], &all, 404),
        ("GET", "work/a.ics", &[], "", 200),
        ("GET", "work/a.ics", &[present], "", 200),
        ("GET", "work/a.ics", &[("If-Match", "\"x\"")], "", 412),
        ("GET", "work/a.ics", &[absent], "", 304),
        ("GET", "work/z.ics", &[], "", 404),
        ("GET", "work/z.txt", &[], "", 404),
        ("HEAD", "work/a.ics", &[], "", 200),
        ("GET", "work/", &[], "", 405),
        ("GET", "", &[], "", 405),
        ("PUT", "work/new.ics", &[calendar, absent], &new, 201),
        ("PUT", "work/new.ics", &[], &new, 201),
        ("PUT", "work/new.ics", &[present], &new, 412),
        ("PUT", "work/new.ics", &[("If-Match", "\"x\"")], &new, 412),
        ("PUT", "work/new.ics", &[], "no calendar", 403),
        ("PUT", "work/new.ics", &[], &large, 403),
        ("PUT", "work/new.ics", &[], &two, 403),
        ("PUT", "work/new.ics", &[], &method, 403),
        ("PUT", "work/new.ics", &[], &task, 403),
        ("PUT", "work/new.ics", &[("Content-Type", "text/plain")], &new, 403),
        ("PUT", "work/new.ics", &[], &same, 409),
        ("PUT", "work/a.ics", &[absent], &same, 412),
        ("PUT", "work/a.ics", &[present], &same, 204),
        ("PUT", "work/a.ics", &[("If-Match", "\"x\"")], &same, 412),
        ("PUT", "work/a.ics", &[], &other, 409),
        ("PUT", "work/new.txt", &[], &new, 403),
        ("PUT", "play/new.ics", &[], &new, 409),
        ("PUT", "work/", &[], &new, 405),
        ("PUT", "work/.calendar.json", &[], &new, 403),
        ("DELETE", "work/a.ics", &[], "", 204),
        ("DELETE", "work/a.ics", &[present], "", 204),
        ("DELETE", "work/a.ics", &[("If-Match", "\"x\"")], "", 412),
        ("DELETE", "work/z.ics", &[("If-Match", "\"x\"")], "", 404),
        ("DELETE", "work/.calendar.json", &[], "", 403),
        ("DELETE", "work/", &[], "", 501),
        ("DELETE", "", &[], "", 405),
        ("MKCALENDAR", "play/", &[], "", 201),
        ("MKCALENDAR", "play", &[], mkcalendar, 201),
        ("MKCALENDAR", "play", &[], &protected, 403),
        ("MKCALENDAR", "play", &[], &get_etag, 422),
        ("MKCALENDAR", "work/", &[], mkcalendar, 405),
        ("MKCALENDAR", "work/deep", &[], mkcalendar, 403),
        ("MKCALENDAR", ".play/", &[], mkcalendar, 403),
        ("MOVE", "work/a.ics", &[], "", 501),
        ("COPY", "work/a.ics", &[], "", 501),
        ("PROPPATCH", "work/", &[], "", 501),
        ("BREW", "work/", &[], "", 405),
        ("GET", "../x", &[], "", 400),
        ("GET", "work/%2e%2e/work/a.ics", &[], "", 400),
        ("GET", "work/..%2fwork%2fa.ics", &[], "", 400),
        ("GET", "work/a.ics%00", &[], "", 400),
        ("GET", "work//a.ics", &[], "", 404),
        ("GET", "work/a.ics/", &[], "", 404),
        ("GET", "work/a.ics/b.ics", &[], "", 404),
    ];
    for (method, path, headers, body, status) in rows {
        // Each row finds the sample as it was.
        with_both(|local| {
            let response = send(local, method, path, headers, (*body).to_owned());
            let start = &body[..body.len().min(300)];
            assert_eq!(
                response.status().as_u16(),
                *status,
                "{method} {path} {headers:?} {start} {local:?}"
            );
        });
    }
}

#[test]
fn outside_the_root_there_is_nothing() {
    with_both(|local| {
        for uri in [
            "http://localhost/",
            "http://localhost/other/work/a.ics",
            "file://localhost/etc/passwd",
        ] {
            let request = Request::get(uri).body(Bytes::new()).expect("a request");
            assert_eq!(local.answer(request).status().as_u16(), 404, "{uri}");
        }
    });
}

#[test]
fn options_tell_what_is_spoken() {
    with_both(|local| {
        let response = send(local, "OPTIONS", "", &[], "");
        assert_eq!(response.headers()["dav"], "1, 3, calendar-access");
        assert!(
            response.headers()["allow"]
                .to_str()
                .expect("ASCII")
                .contains("PROPFIND")
        );
    });
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

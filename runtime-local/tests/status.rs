//! The status of every request in every state, as RFC 4791, 4918 and 9110 have it.

mod account;

use account::{DEPTH_0, DEPTH_1, event, propfind, query, send, todo, with_both};
use bytes::Bytes;
use http::Request;

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
    let update = mkcalendar.replace("C:mkcalendar", "propertyupdate");
    let protected = mkcalendar.replace("displayname", "getetag");
    let sync = "<sync-collection xmlns='DAV:'><sync-token/><sync-level>1</sync-level></sync-collection>";
    let later = sync.replace("<sync-token/>", "<sync-token>data:,x</sync-token>");
    let free_busy = "<C:free-busy-query xmlns:C='urn:ietf:params:xml:ns:caldav'>\
                     <C:time-range start='20260101T000000Z' end='20260201T000000Z'/></C:free-busy-query>";
    let endless = free_busy.replace("start='20260101T000000Z' ", "");
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
        ("REPORT", "work/", &[DEPTH_0], sync, 207),
        ("REPORT", "work/", &[], sync, 207),
        ("REPORT", "work/", &[DEPTH_1], sync, 400),
        ("REPORT", "work/", &[DEPTH_0], &sync.replace('1', "infinite"), 400),
        ("REPORT", "work/", &[DEPTH_0], &later, 403),
        ("REPORT", "", &[DEPTH_0], sync, 403),
        ("REPORT", "play/", &[DEPTH_0], sync, 404),
        ("REPORT", "work/", &[DEPTH_1], free_busy, 200),
        ("REPORT", "work/", &[DEPTH_1], &endless, 403),
        (
            "REPORT",
            "work/",
            &[DEPTH_1],
            &free_busy.replace("time-range", "x"),
            403,
        ),
        ("REPORT", "work/", &[DEPTH_0], free_busy, 400),
        ("REPORT", "work/", &[], free_busy, 400),
        ("REPORT", "", &[DEPTH_1], free_busy, 403),
        ("REPORT", "play/", &[DEPTH_1], free_busy, 404),
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
        ("DELETE", "work/", &[], "", 204),
        ("DELETE", "play/", &[], "", 404),
        ("DELETE", "", &[], "", 405),
        ("MKCALENDAR", "play/", &[], "", 201),
        ("MKCALENDAR", "play", &[], mkcalendar, 201),
        ("MKCALENDAR", "play", &[], &protected, 403),
        ("MKCALENDAR", "play", &[], &get_etag, 422),
        ("MKCALENDAR", "work/", &[], mkcalendar, 405),
        ("MKCALENDAR", "work/deep", &[], mkcalendar, 403),
        ("MKCALENDAR", ".play/", &[], mkcalendar, 403),
        ("MOVE", "work/a.ics", &[], "", 400),
        ("MOVE", "work/a.ics", &[("Destination", "other/x.ics")], "", 400),
        (
            "MOVE",
            "work/a.ics",
            &[("Destination", "https://elsewhere/x.ics")],
            "",
            502,
        ),
        ("MOVE", "work/a.ics", &[("Destination", "/elsewhere/x.ics")], "", 404),
        ("MOVE", "work/", &[("Destination", "/elsewhere/")], "", 405),
        ("COPY", "work/a.ics", &[], "", 501),
        ("PROPPATCH", "work/", &[], &update, 207),
        ("PROPPATCH", "play/", &[], &update, 404),
        ("PROPPATCH", "", &[], &update, 403),
        ("PROPPATCH", "work/a.ics", &[], &update, 403),
        ("PROPPATCH", "work/", &[], mkcalendar, 422),
        ("PROPPATCH", "work/", &[], "<propertyupdate xmlns='DAV:'/>", 422),
        ("PROPPATCH", "work/", &[], "", 422),
        ("PROPPATCH", "work/", &[], "<x", 400),
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
fn a_move_has_its_status() {
    let (stale, held) = (("If-Match", "\"x\""), ("If-Match", "*"));
    let keep = ("Overwrite", "F");
    type Row<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], u16);
    let rows: &[Row<'_>] = &[
        ("work/a.ics", "party/a.ics", &[], 201),
        ("work/a.ics", "party/new.ics", &[held, keep], 201),
        ("work/a.ics", "work/new.ics", &[keep], 201),
        ("work/a.ics", "work/b.ics", &[keep], 412),
        ("work/a.ics", "work/b.ics", &[], 204),
        ("work/a.ics", "party/a.ics", &[stale, keep], 412),
        ("work/a.ics", "party/busy.ics", &[keep], 412),
        ("work/a.ics", "work/a.ics", &[keep], 403),
        ("work/a.ics", "party/a.txt", &[keep], 403),
        ("work/a.ics", "party/", &[keep], 403),
        ("work/a.ics", "party/.a.ics", &[keep], 403),
        ("work/a.ics", "party/%2e%2e/a.ics", &[keep], 400),
        ("work/a.ics", "party/..%2fa.ics", &[keep], 400),
        ("work/a.ics", "gone/a.ics", &[keep], 409),
        ("work/z.ics", "party/z.ics", &[held], 404),
        ("work/b.ics", "party/b2.ics", &[keep], 409),
        ("%C3%A9%20home/c%20d.ics", "work/c.ics", &[keep], 403),
    ];
    for (from, to, headers, status) in rows {
        with_both(|local| {
            for (at, uid) in [("party/busy.ics", "busy"), ("party/x.ics", "b")] {
                send(local, "MKCALENDAR", "party/", &[], "");
                let stored = send(local, "PUT", at, &[], event(uid, ""));
                assert_eq!(stored.status().as_u16(), 201);
            }
            // As a whole URL and as a path.
            let root = local.url().resolve("./").expect("a root").to_uri().to_string();
            let before = send(local, "GET", from, &[], "");
            for destination in [format!("{root}{to}"), format!("{}{to}", local.url().path())] {
                let mut headers = headers.to_vec();
                headers.push(("Destination", &destination));
                let answer = send(local, "MOVE", from, &headers, "");
                assert_eq!(answer.status().as_u16(), *status, "{from} {destination} {headers:?}");
                let is_there = |path: &str| send(local, "GET", path, &[], "").into_body() == *before.body();
                if *status < 300 {
                    assert!(is_there(to) && !is_there(from), "{from} {to}");
                    assert_eq!(
                        send(local, "GET", to, &[], "").headers()["etag"],
                        before.headers()["etag"]
                    );
                    return;
                }
                assert!(before.status() != 200 || is_there(from), "{from} {to}");
            }
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

//! Whatever is asked, there is an answer, and what says that it is a multistatus is one.

use std::ops::ControlFlow;

use bytes::Bytes;
use http::Request;
use kalends_core::dav::multistatus;
use kalends_core::dav::xml::Limits;
use kalends_local::Local;
use proptest::prelude::{Strategy, any, prop, prop_oneof, proptest};

const EVENT: &str =
    "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:a\nDTSTART:20260601\nSUMMARY:\u{1}]]>&\nEND:VEVENT\nEND:VCALENDAR\n";

/// Pieces of what clients send, in any order.
fn pieces(pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
    let piece = prop_oneof![8 => prop::sample::select(pieces).prop_map(str::to_owned), 1 => ".{0,3}"];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn path() -> impl Strategy<Value = String> {
    pieces(&[
        "/", "work", "a.ics", "..", ".", "%2e", "%2F", "%00", "%", "%C3%A9", "a b", "x",
    ])
}

fn xml() -> impl Strategy<Value = String> {
    let whole = (pieces(PARTS), prop::sample::select(ROOTS)).prop_map(|(inner, root)| {
        format!("<{root} xmlns='DAV:' xmlns:C='urn:ietf:params:xml:ns:caldav'>{inner}</{root}>")
    });
    prop_oneof![whole, pieces(PARTS)]
}

const ROOTS: &[&str] = &["propfind", "C:calendar-query", "C:calendar-multiget", "C:mkcalendar"];
const PARTS: &[&str] = &[
    "<prop><getetag/><C:calendar-data/><x xmlns='a&amp;b'/></prop>",
    "<prop xmlns=''><y/></prop>",
    "<allprop/>",
    "<propname/>",
    "<href>/work/a.ics</href>",
    "<href>/work/&lt;&#13;</href>",
    "<C:filter><C:comp-filter name='VCALENDAR'/></C:filter>",
    "<C:filter><C:comp-filter name='VCALENDAR'><C:comp-filter name='VEVENT'><C:time-range start='20260601T000000Z'/></C:comp-filter></C:comp-filter></C:filter>",
    "<set><prop><displayname>d</displayname></prop></set>",
    "<!-- c -->",
    "<![CDATA[x]]>",
    "&amp;",
    "<a",
    ">",
];

proptest! {
    #[test]
    fn every_request_is_answered(
        method in prop::sample::select(&["PROPFIND", "REPORT", "GET", "PUT", "DELETE", "MKCALENDAR", "OPTIONS", "MOVE", "PROPPATCH"][..]),
        path in path(),
        depth in prop::sample::select(&["0", "1", "infinity", ""][..]),
        destination in path(),
        tag in pieces(&["\"", "W/", "*", ",", "a", " "]),
        body in prop_oneof![3 => xml(), 1 => pieces(&[EVENT, "BEGIN:VCALENDAR\n", "UID:b\n", "END:VEVENT\n"])],
        raw in any::<Option<Vec<u8>>>(),
    ) {
        let local = Local::memory().with_calendar("work", "<Work>").put("work/a.ics", EVENT);
        let body = raw.map_or_else(|| Bytes::from(body), Bytes::from);
        let request = Request::builder().method(method).uri(format!("http://localhost/{path}"));
        let request = request.header("depth", depth).header("if-match", tag.as_str());
        let request = request.header("destination", format!("http://localhost/{destination}")).body(body);
        // What is no URI or header never gets here.
        if let Ok(request) = request {
            let response = local.answer(request);
            if response.status().as_u16() == 207 {
                let mut each = |_| ControlFlow::Continue(());
                multistatus::read(207, None, response.body(), &Limits::default(), &mut each).expect("a multistatus");
            }
        }
    }

    #[test]
    fn any_octets_can_be_stored_and_queried(content in any::<Vec<u8>>(), lines in pieces(&[
        "BEGIN:VCALENDAR\n", "BEGIN:VEVENT\n", "END:VEVENT\n", "END:VCALENDAR\n", "DTSTART:", "RRULE:UNTIL=", "DURATION:",
        "RDATE:", "20260601", "T100000Z", "P", "T", "99999999999999999999", "D", "-", "/", ",", "\n", "UID:a\n",
    ])) {
        let local = Local::memory().with_calendar("work", "W").put("work/a.ics", content).put("work/b.ics", lines);
        let body = format!(
            "<C:calendar-query xmlns='DAV:' xmlns:C='urn:ietf:params:xml:ns:caldav'><prop><C:calendar-data/></prop>{}\
             </C:calendar-query>",
            PARTS[7]
        );
        let request = Request::builder().method("REPORT").uri("http://localhost/work/").header("depth", "1");
        let response = local.answer(request.body(Bytes::from(body)).expect("a request"));
        let mut each = |_| ControlFlow::Continue(());
        multistatus::read(response.status().as_u16(), None, response.body(), &Limits::default(), &mut each).expect("a multistatus");
    }
}

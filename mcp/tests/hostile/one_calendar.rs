//! The tools that work on one Calendar, over the network: typed refusals, and the cases that are about them.

use std::io;

use kalends_tests::case::Case;
use kalends_tests::conformance::{Seen, Server, Then, Wire, respond};
use serde_json::{Value, json};

use crate::rig::{Hostile, Kalends};

const PATH: &str = "/dav/calendars/ana/work/";
const CHANGES: &str = "calendar_resources_changes";

fn case(number: u32) -> Case {
    let mut cases = Case::all().into_iter();
    cases.find(|case| case.number == number).expect("the case is there")
}

/// The binary with this Calendar configured, which needs no discovery.
fn kalends(server: &Server, more: &[(&str, &str)]) -> Kalends {
    let calendar = [("CALDAV_CALENDAR_HREFS", &*server.uri(PATH))];
    Kalends::at(&server.uri("/dav/"), &[&calendar, more].concat())
}

fn multistatus(wire: &mut dyn Wire, body: &[u8]) -> io::Result<Then> {
    respond(
        wire,
        "207 Multi-Status\nContent-Type: application/xml; charset=utf-8",
        body,
    )
}

fn body(seen: &Seen) -> String {
    String::from_utf8_lossy(&seen.body).into_owned()
}

/// Name and kind of each change.
fn told(page: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("a string").to_owned();
    let name = |href: &Value| text(href).rsplit('/').next().expect("a name").to_owned();
    let changes = page["changes"].as_array().expect("changes").iter();
    changes
        .map(|change| (name(&change["href"]), text(&change["kind"])))
        .collect()
}

#[test]
fn each_tool_fails_like_all_others() {
    for (head, codes, words) in [
        ("401 Unauthorized", ["upstream_unauthorized"; 3], "CALDAV_PASSWORD"),
        ("403 Forbidden", ["upstream_forbidden"; 3], "403"),
        ("404 Not Found", ["not_found"; 3], "404"),
        ("500 Internal Server Error", ["upstream_unavailable"; 3], "Try again"),
        ("429 Too Many Requests", ["upstream_rate_limited"; 3], "Wait"),
        ("200 OK\nContent-Type: text/html", ["upstream_protocol_error"; 3], "200"),
        (
            "302 Found\nLocation: http://other.invalid/",
            ["upstream_protocol_error"; 3],
            "other.invalid",
        ),
        (
            "501 Not Implemented",
            [
                "upstream_protocol_error",
                "unsupported_capability",
                "unsupported_capability",
            ],
            "",
        ),
        ("507 Insufficient Storage", ["limit_exhausted"; 3], "507"),
    ] {
        let server = Hostile::new(move |_, wire| respond(wire, head, b""));
        let work = server.server.uri("/work/");
        let mut kalends = Kalends::at(&server.url(), &[("CALDAV_CALENDAR_HREFS", &work)]);
        let window = json!({"calendarHref": work, "from": "2026-12-01T00:00:00Z", "to": "2026-12-08T00:00:00Z"});
        let calls = [
            ("calendars_inspect", json!({"calendarHref": work})),
            ("calendars_free_busy", window),
            (CHANGES, json!({"calendarHref": work})),
        ];
        for ((tool, arguments), code) in calls.iter().zip(codes) {
            kalends.fails(tool, arguments, code, &[words]);
        }
        assert!(server.server.log().iter().all(|seen| !seen.line.starts_with("OPTIONS")));
        server.heal();
        for ((tool, arguments), count) in calls.iter().zip([4, 7, 1]) {
            let (is_error, content) = kalends.call(tool, arguments);
            assert!(!is_error, "{tool}: {content}");
            let member = content["reports"].as_array().or(content["periods"].as_array());
            assert_eq!(
                member.or(content["changes"].as_array()).map(Vec::len),
                Some(count),
                "{content}"
            );
        }
        kalends.finish();
    }
}

/// Case 046: one VFREEBUSY for each period, under the profile that expects it and without it.
#[test]
fn busy_time_by_component_is_read_under_its_profile() {
    let case = case(46);
    let window = |server: &Server| json!({"calendarHref": server.uri(PATH), "from": "2026-06-02T00:00:00Z", "to": "2026-06-04T00:00:00Z"});
    let report = case.file("reply.ics");
    let server = Server::start(move |_, wire| {
        respond(
            wire,
            "200 OK\nContent-Type: text/calendar; charset=utf-8; charset=utf-8",
            &report,
        )
    });
    let mut named = kalends(&server, &[("CALDAV_INTEROPERABILITY_PROFILE", "radicale")]);
    let (is_error, content) = named.call("calendars_free_busy", &window(&server));
    assert!(!is_error, "{content}");
    let periods = content["periods"].as_array().expect("periods").iter();
    let short = |value: &Value| value.as_str().expect("a time").replace(":00Z", "Z");
    let periods: Vec<_> = periods
        .map(|it| json!([short(&it["from"]), short(&it["to"]), it["busyType"]]))
        .collect();
    assert_eq!(json!(periods), case.expected["reply.ics"]);
    named.finish();
    let mut other = kalends(&server, &[]);
    other.fails(
        "calendars_free_busy",
        &window(&server),
        "upstream_protocol_error",
        &["nothing about free time"],
    );
    other.finish();
}

/// Case 017: a token that is refused is a reset, and one more report starts anew.
#[test]
fn a_forgotten_state_is_a_reset() {
    let case = case(17);
    let script = case.json("server.json");
    let known = script["known"].clone();
    let rules = script["rules"].as_array().expect("rules").clone();
    let members: String = known["members"].as_object().expect("members").iter().map(|(name, tag)| {
        format!("<d:response><d:href>{PATH}{name}</d:href><d:propstat><d:prop><d:getetag>{}</d:getetag></d:prop><d:status>HTTP/1.1 200 OK</d:status>\
                 </d:propstat></d:response>", tag.as_str().expect("a tag"))
    }).collect();
    let token = known["sync_token"].as_str().expect("a token").to_owned();
    let first = format!("<d:multistatus xmlns:d='DAV:'>{members}<d:sync-token>{token}</d:sync-token></d:multistatus>");
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let server = Server::start(move |seen, wire| {
        if asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0 {
            return multistatus(wire, first.as_bytes());
        }
        let rule = if body(seen).contains(&token) {
            &rules[0]
        } else {
            &rules[1]
        };
        let head = format!("{} X\nContent-Type: application/xml", rule["status"]);
        respond(wire, &head, rule["body"].as_str().expect("a body").as_bytes())
    });
    let mut kalends = kalends(&server, &[]);
    let start = json!({"calendarHref": server.uri(PATH)});
    let (_, before) = kalends.call(CHANGES, &start);
    assert_eq!(told(&before).len(), 3, "{before}");
    let later = json!({"checkpoint": before["checkpoint"]});
    kalends.fails(CHANGES, &later, "sync_reset_required", &["calendarHref"]);
    let (_, after) = kalends.call(CHANGES, &start);
    assert_eq!((&after["mode"], &after["hasMore"]), (&json!("initial"), &json!(false)));
    let tags = |page: &Value| -> Vec<(String, Value)> {
        let changes = page["changes"].as_array().expect("changes").iter();
        changes
            .map(|it| (it["href"].as_str().expect("an href").to_owned(), it["etag"].clone()))
            .collect()
    };
    let (before, after) = (tags(&before), tags(&after));
    let fate = |(href, tag): &(String, Value)| match after.iter().find(|(now, _)| now == href) {
        None => "removed",
        Some((_, now)) if now == tag => "unchanged",
        Some(_) => "changed",
    };
    let name = |href: &str| href.rsplit('/').next().expect("a name").to_owned();
    for list in ["unchanged", "changed", "removed"] {
        let names: Vec<_> = before
            .iter()
            .filter(|it| fate(it) == list)
            .map(|(href, _)| name(href))
            .collect();
        assert_eq!(json!(names), case.expected[list], "{list}");
    }
    assert_eq!(
        server.log().len() as u64 - 1,
        case.expected["reports_sent"].as_u64().expect("a count")
    );
    kalends.finish();
}

/// Case 018: a report that is cut goes on from its own token, and one that does not get on is an error.
#[test]
fn a_cut_report_goes_on_until_it_is_whole() {
    for stuck in [false, true] {
        let case = case(18);
        let [first, second, third] = ["page1.xml", "page2.xml", "stuck.xml"].map(|file| case.file(file));
        let server = Server::start(move |seen, wire| match body(seen).contains("sync/11") {
            false => multistatus(wire, &first),
            true if stuck => multistatus(wire, &third),
            true => multistatus(wire, &second),
        });
        let mut kalends = kalends(&server, &[]);
        let (_, one) = kalends.call(CHANGES, &json!({"calendarHref": server.uri(PATH), "pageSize": 1}));
        let (_, two) = kalends.call(CHANGES, &json!({"checkpoint": one["checkpoint"]}));
        for page in [&one, &two] {
            assert_eq!(
                (&page["mode"], &page["hasMore"]),
                (&json!("initial"), &json!(true)),
                "{page}"
            );
        }
        assert_eq!(server.log().len(), 1, "what is kept costs no request");
        let on = json!({"checkpoint": two["checkpoint"]});
        if stuck {
            kalends.fails(CHANGES, &on, "upstream_protocol_error", &["more changes"]);
        } else {
            let (_, three) = kalends.call(CHANGES, &on);
            assert_eq!((&three["mode"], &three["hasMore"]), (&json!("initial"), &json!(false)));
            let mut all = [told(&one), told(&two), told(&three)].concat();
            all.sort();
            for (list, kind) in [("changed", "changed"), ("removed", "removed")] {
                let names: Vec<_> = all
                    .iter()
                    .filter(|(_, own)| own == kind)
                    .map(|(name, _)| name)
                    .collect();
                assert_eq!(json!(names), case.expected[list]);
            }
        }
        kalends.finish();
    }
}

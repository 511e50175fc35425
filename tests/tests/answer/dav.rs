//! Questions about servers: each answer of a case scripted, and the operation run that meets it.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use kalends_core::account::quirk::Profile;
use kalends_core::account::{Account, Settings};
use kalends_core::calendar::{Access, CalendarDescriptor};
use kalends_core::dav::multistatus;
use kalends_core::dav::xml::Limits;
use kalends_core::href::Href;
use kalends_core::ops::get_resource::GetResource;
use kalends_core::ops::list_calendars::{CalendarList, ListCalendars};
use kalends_core::ops::list_changes::{Changes, ListChanges, Since};
use kalends_core::ops::query_free_busy::QueryFreeBusy;
use kalends_core::ops::query_occurrences::Occurrences;
use kalends_core::ops::scope::named;
use kalends_core::outcome::{Code, Outcome, Phase};
use kalends_tests::case::Case;
use kalends_tests::transcript::Transcript;
use serde_json::{Value, json};

use super::{ask, name, run, strings, summary, text, year};
use crate::Answered::{self, Whole};

const WORK: &str = "https://cal.example.com/dav/calendars/ana/work/";
const HOME: &str = "/dav/calendars/ana/";
const EMPTY: &str = r#"<d:multistatus xmlns:d="DAV:"/>"#;

fn href(text: &str) -> Href {
    Href::parse(text).expect("a URL")
}

fn multistatus(members: &str) -> String {
    format!(r#"<d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav">{members}</d:multistatus>"#)
}

/// The answer to a report of this name, for Events; there are no To-dos.
fn report(name: &str, body: Value) -> [Value; 2] {
    let rule = |part: &str, answer: Value| {
        let mut rule = json!({
            "method": "REPORT", "needs": {"body": format!("contains {part}")},
            "status": 207, "headers": {"Content-Type": "application/xml; charset=utf-8"},
        });
        rule.as_object_mut()
            .expect("an object")
            .extend(answer.as_object().expect("an object").clone());
        rule
    };
    [rule("VTODO", json!({"body": EMPTY})), rule(name, body)]
}

/// The occurrences of 2026, where the query is answered with a file.
fn queried(case: &Case, calendar: &str, file: &str, more: &[Value]) -> (Occurrences, Transcript) {
    let rules = [more, &report("calendar-query", json!({"body_file": file}))].concat();
    let mut server = Transcript::with_rules(&case.folder, &rules);
    let calendar = href(calendar);
    let account = server.account(std::slice::from_ref(&calendar));
    let found = year(&calendar, &account, &mut server).expect("the query is answered");
    (found, server)
}

/// The Calendars, where the home is listed by `home.xml`.
fn listed(case: &Case) -> CalendarList {
    let mut server = Transcript::with_rules(&case.folder, &home());
    let account = server.account(&[]);
    run(ListCalendars, &account, &mut server).expect("the Calendars are listed")
}

/// The way to the Calendars of a case.
pub(crate) fn home() -> [Value; 2] {
    let principal = multistatus(&format!(
        "<d:response><d:href>/</d:href><d:propstat><d:prop><c:calendar-home-set><d:href>{HOME}</d:href></c:calendar-home-set></d:prop>\
         <d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
    ));
    [
        json!({"method": "PROPFIND", "path": "/", "status": 207, "body": principal}),
        json!({"method": "PROPFIND", "path": HOME, "status": 207, "body_file": "home.xml"}),
    ]
}

/// What a case expects of each Calendar, by display name.
fn each_calendar(case: &Case, check: impl Fn(&CalendarDescriptor, &Value)) {
    let (list, wanted) = (listed(case), case.expected.as_object().expect("names"));
    assert_eq!(list.calendars.len(), wanted.len());
    for calendar in &list.calendars {
        check(calendar, &wanted[calendar.display_name.as_deref().expect("a name")]);
    }
}

/// Calendars, principal and forbidden requests of one script, or of those for `allowed` and `not_allowed`.
pub(crate) fn discovery(case: &Case) -> Answered {
    if case.folder.join("server.json").exists() {
        discover(case, "server.json", &case.expected);
        return Whole;
    }
    for (answer, expected) in case.expected.as_object().expect("answers") {
        discover(case, &format!("server-{}.json", answer.replace('_', "-")), expected);
    }
    Whole
}

fn discover(case: &Case, script: &str, expected: &Value) {
    let mut script = case.json(script);
    let mut server = Transcript::new(&case.folder, script.clone());
    let account = server.account(&[]);
    let outcome: Outcome<CalendarList> = run(ListCalendars, &account, &mut server);
    let lines = server.lines();
    if let Some(wanted) = expected["calendars"].as_array() {
        let found = outcome.as_ref().expect("the Calendars are found");
        let mut found: Vec<_> = found
            .calendars
            .iter()
            .map(|it| (it.calendar.href.as_str(), it.display_name.as_deref()))
            .collect();
        let read = |it: &'_ Value| -> (String, Option<String>) {
            (
                it["url"].as_str().or(it.as_str()).expect("a URL").to_owned(),
                it["name"].as_str().map(str::to_owned),
            )
        };
        let mut wanted: Vec<_> = wanted.iter().map(read).collect();
        wanted.sort();
        found.sort_unstable();
        assert_eq!(found.len(), wanted.len());
        for ((url, name), (wanted_url, wanted_name)) in found.iter().zip(&wanted) {
            assert_eq!(url, wanted_url);
            assert!(wanted_name.is_none() || wanted_name.as_deref() == *name, "{name:?}");
        }
    }
    if let Some(wanted) = expected["principal"].as_str() {
        let known = account.known().expect("a successful discovery is kept");
        assert_eq!(known.principal, Some(href(wanted)));
    }
    for line in expected["must_request"].as_array().into_iter().flatten() {
        assert!(lines.iter().any(|asked| asked == text(line)), "{line} {lines:?}");
    }
    for line in expected["must_not_request"].as_array().into_iter().flatten() {
        assert!(!lines.iter().any(|asked| asked == text(line)), "{line} {lines:?}");
    }
    assert!(
        server
            .asked
            .iter()
            .all(|asked| matches!(asked.method.as_str(), "PROPFIND" | "OPTIONS")),
        "{lines:?}"
    );
    if let Some(host) = expected["names_host"].as_str() {
        let error = outcome.expect_err("nothing can be found");
        assert!(error.message.contains(host), "{error}");
        assert_eq!(error.phase, Phase::OriginScopeAuthorization);
    }
    for (host, count) in expected["requests_with_authorization_to"]
        .as_object()
        .into_iter()
        .flatten()
    {
        assert_eq!(Some(server.with_credentials_to(host) as u64), count.as_u64());
    }
    if let Some(allowed) = script["allowed_hosts"].take().as_array() {
        let mut server = Transcript::new(&case.folder, script);
        let error = run(ListCalendars, &server.account(&[]), &mut server).expect_err("nobody allows that host");
        assert_eq!(error.phase, Phase::OriginScopeAuthorization);
        assert!(allowed.iter().all(|host| server.with_credentials_to(text(host)) == 0));
    }
}

/// Members that are listed in one spelling and delivered in another.
pub(crate) fn spellings(case: &Case) -> Answered {
    let calendar = "https://cal.example.com/calendars/me@example.com/work/";
    let (found, server) = queried(
        case,
        calendar,
        "listing.xml",
        &report("calendar-multiget", json!({"body_file": "multiget.xml"}))[1..],
    );
    let wanted = case.expected["matched"].as_object().expect("names");
    let key = |name: &str| href(calendar).resolve(name).expect("a name").key();
    let wanted: BTreeMap<_, _> = wanted
        .iter()
        .map(|(name, summary)| (key(name), text(summary).to_owned()))
        .collect();
    let matched: BTreeMap<_, _> = found
        .rows
        .iter()
        .map(|row| (row.resource.href.key(), summary(row)))
        .collect();
    assert_eq!(matched, wanted);
    let count = |name: &str| case.expected[name].as_u64();
    assert_eq!(count("unsolicited"), Some((found.rows.len() - matched.len()) as u64));
    assert_eq!(count("missing"), Some(found.diagnostics.len() as u64));
    assert!(
        server.asked.iter().all(|asked| asked.method == "REPORT"),
        "a member is asked for again"
    );
    let multiget = server
        .asked
        .iter()
        .find(|asked| asked.body.contains("calendar-multiget"))
        .expect("a multiget");
    for name in case.expected["matched"].as_object().expect("names").keys() {
        let listed = format!("<D:href>/calendars/me%40example.com/work/{name}</D:href>");
        assert!(multiget.body.contains(&listed), "{listed} {}", multiget.body);
    }
    Whole
}

/// The same refusal with several `Retry-After`.
pub(crate) fn rate_limited(case: &Case) -> Answered {
    let waits = case.expected["retry_after_seconds"].as_array().expect("waits");
    let exchanges = case.json("exchange.json");
    assert_eq!(case.expected["category"], "rate_limited");
    assert_eq!(exchanges.as_array().map(Vec::len), Some(waits.len()));
    for (exchange, wait) in exchanges.as_array().expect("exchanges").iter().zip(waits) {
        let mut rule = exchange.clone();
        rule["method"] = json!("REPORT");
        let mut server = Transcript::with_rules(&case.folder, &[rule]);
        let calendar = href(WORK);
        let account = server.account(std::slice::from_ref(&calendar));
        let error = year(&calendar, &account, &mut server).expect_err("the server wants to be left alone");
        assert_eq!(error.code, Code::UpstreamRateLimited);
        assert_eq!(error.retry_after.map(|wait| wait.as_secs()), wait.as_u64());
        let before = server.asked.len();
        assert!(before <= 2, "{:?}", server.lines());
        let again = year(&calendar, &account, &mut server).expect_err("it still does");
        assert_eq!(again.code, Code::UpstreamRateLimited);
        assert!(wait.is_null() || server.asked.len() == before, "{:?}", server.lines());
    }
    Whole
}

/// Members of a multiget without propstat.
pub(crate) fn status_only(case: &Case) -> Answered {
    let names = ["a.ics", "b.ics", "c.ics", "d.ics"].map(|name| {
        format!(
            "<d:response><d:href>{HOME}work/{name}</d:href><d:propstat><d:prop><d:getetag>\"x\"</d:getetag></d:prop>\
             <d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
        )
    });
    let listing = report("calendar-query", json!({"body": multistatus(&names.concat())}));
    let rules = [
        &report("calendar-multiget", json!({"body_file": "multiget.xml"}))[1..],
        &listing,
    ]
    .concat();
    let mut server = Transcript::with_rules(&case.folder, &rules);
    let calendar = href(WORK);
    let account = server.account(std::slice::from_ref(&calendar));
    let found = year(&calendar, &account, &mut server).expect("the call as a whole succeeds");
    let events: BTreeMap<_, _> = found.rows.iter().map(|row| (name(row), summary(row))).collect();
    assert_eq!(json!(events), case.expected["events"]);
    assert!(found.rows.iter().all(|row| row.resource.etag.is_some()));
    for (list, code) in [
        ("gone", "resource_disappeared_during_query"),
        ("not_readable", "resource_not_readable"),
    ] {
        let count = case.expected[list].as_array().expect("names").len().to_string();
        let told = found.diagnostics.iter().find(|it| it.code == code).expect("it is told");
        assert!(told.message.split(' ').any(|word| word == count), "{}", told.message);
    }
    assert!(
        server.asked.iter().all(|asked| asked.method == "REPORT"),
        "{:?}",
        server.lines()
    );
    Whole
}

/// UID and summary of each Event.
pub(crate) fn texts(case: &Case) -> Answered {
    let (found, _) = queried(case, WORK, "query.xml", &[]);
    let events: Vec<_> = found
        .rows
        .iter()
        .map(|row| json!({"uid": row.resource.entity.uid(), "summary": summary(row)}))
        .collect();
    assert_eq!(json!(events), case.expected["events"]);
    Whole
}

/// A member without Entity Tag, whose GET has one or has none.
pub(crate) fn missing_tags(case: &Case) -> Answered {
    let without = text(&case.expected["without_revision"][0]);
    let body = calendar_data(case, "query.xml", without);
    let answers = case.json("get-headers.json");
    let tags = [case.expected["write_variant_1"]["if_match"].as_str(), None];
    for (answer, tag) in answers.as_array().expect("answers").iter().zip(tags) {
        let mut get = answer.clone();
        let path = format!("{HOME}work/{without}");
        (get["method"], get["path"], get["body"]) = (json!("GET"), json!(path), json!(body));
        let (found, _) = queried(case, WORK, "query.xml", std::slice::from_ref(&get));
        assert_eq!(Some(found.rows.len() as u64), case.expected["events"].as_u64());
        for row in found.rows.iter() {
            let told = row
                .resource
                .diagnostics()
                .iter()
                .any(|it| it.code == "revision_unavailable");
            assert_eq!(told, row.resource.etag.is_none());
            if name(row) == without {
                assert_eq!(row.resource.etag.as_deref(), tag);
            } else {
                assert!(row.resource.etag.is_some());
            }
        }
        let untagged = found.rows.iter().filter(|row| row.resource.etag.is_none()).map(name);
        let untagged: Vec<_> = untagged.collect();
        assert!(tag.is_some() || untagged == strings(&case.expected["without_revision"]));
        let mut server = Transcript::with_rules(&case.folder, &[get]);
        let account = server.account(&[href(WORK)]);
        let read = GetResource {
            href: format!("{WORK}{without}"),
        };
        assert_eq!(
            run(read, &account, &mut server).expect("it is read").etag.as_deref(),
            tag
        );
    }
    Whole
}

/// The calendar data of one member of a file.
fn calendar_data(case: &Case, file: &str, name: &str) -> String {
    let mut found = None;
    multistatus::read(207, None, &case.file(file), &Limits::default(), &mut |member| {
        if member.href.ends_with(name) {
            found = member.props.calendar_data;
        }
        ControlFlow::Continue(())
    })
    .expect("a multistatus");
    found.expect("the member has a body")
}

/// The Entity Tag of each member.
pub(crate) fn odd_tags(case: &Case) -> Answered {
    let (found, _) = queried(
        case,
        "https://cal.example.com/groupware/cal/example.org/ana/7d1c/",
        "query.xml",
        &[],
    );
    let events: Vec<_> = found
        .rows
        .iter()
        .map(|row| json!({"name": name(row), "if_match": row.resource.etag}))
        .collect();
    assert_eq!(json!(events), case.expected["events"]);
    Whole
}

/// An Entity Tag that compression weakens.
pub(crate) fn weak_tag(case: &Case) -> Answered {
    let mut server = Transcript::new(&case.folder, case.json("server.json"));
    let account = server.account(&[href(WORK)]);
    let read = GetResource {
        href: format!("{WORK}a.ics"),
    };
    let resource = run(read, &account, &mut server).expect("it is read");
    assert_eq!(resource.etag.as_deref(), case.expected["put"]["if_match"].as_str());
    let plain = |encoding: &str| !encoding.contains("gzip");
    assert!(
        server
            .asked
            .iter()
            .any(|asked| asked.method == "GET" && plain(asked.header("accept-encoding")))
    );
    Whole
}

/// Success without a multistatus.
pub(crate) fn not_xml(case: &Case) -> Answered {
    let calendars = [WORK, "https://cal.example.com/dav/calendars/ana/other/"].map(href);
    for (file, status, media) in [
        ("body-1.html", 200, "text/html"),
        ("body-2.txt", 207, "application/xml"),
    ] {
        assert_eq!(case.expected[&file[..6]], "protocol_error");
        let rules = [
            json!({"method": "REPORT", "path": calendars[0].path(), "status": status, "headers": {"Content-Type": media}, "body_file": file}),
            json!({"method": "REPORT", "status": 207, "body": EMPTY}),
        ];
        let mut server = Transcript::with_rules(&case.folder, &rules);
        let account = server.account(&calendars);
        let error = year(&calendars[0], &account, &mut server).expect_err("this is no answer");
        assert_eq!(error.code, Code::UpstreamProtocolError);
        year(&calendars[1], &account, &mut server).expect("other Calendars work");
    }
    Whole
}

/// Whether the user may write.
pub(crate) fn access(case: &Case) -> Answered {
    each_calendar(case, |calendar, wanted| {
        let found = match calendar.access {
            Access::Unknown => "unknown",
            Access::Writable => "writable",
            Access::ReadOnly => "read-only",
        };
        assert_eq!(found, wanted, "{:?}", calendar.display_name);
    });
    Whole
}

/// Colours, and what is kept of others.
pub(crate) fn colors(case: &Case) -> Answered {
    each_calendar(case, |calendar, wanted| match wanted.as_str() {
        None => assert_eq!((&calendar.color, &calendar.raw_color), (&None, &None)),
        Some(wanted) => match wanted.strip_prefix("raw:") {
            Some(raw) => assert_eq!(calendar.raw_color.as_deref(), Some(raw)),
            None => assert_eq!(
                calendar.color.as_deref().and_then(|color| color.strip_prefix('#')),
                Some(wanted)
            ),
        },
    });
    Whole
}

/// A server that gives all that it has, whatever is asked.
pub(crate) fn outside_the_window(case: &Case) -> Answered {
    let member = |(at, octets): (usize, Vec<u8>)| {
        let data = String::from_utf8(octets).expect("UTF-8");
        format!(
            "<d:response><d:href>{HOME}work/{at}.ics</d:href><d:propstat><d:prop><d:getetag>\"1\"</d:getetag>\
             <c:calendar-data>{data}</c:calendar-data></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
        )
    };
    let members: String = case
        .resources("events.ics")
        .into_iter()
        .enumerate()
        .map(member)
        .collect();
    let rules = report("calendar-query", json!({"body": multistatus(&members)}));
    let calendar = href(WORK);
    for query in case.expected["queries"].as_array().expect("queries") {
        let mut server = Transcript::with_rules(&case.folder, &rules);
        let account = server.account(std::slice::from_ref(&calendar));
        let question = ask(&calendar, text(&query["from"]), text(&query["to"]), case.zone());
        let found = run(question, &account, &mut server).expect("the query is answered");
        let mut found: Vec<_> = found.rows.iter().map(summary).collect();
        found.sort();
        assert_eq!(found, strings(&query["summaries"]));
    }
    Whole
}

/// Calendars by display name.
pub(crate) fn names(case: &Case) -> Answered {
    let list = listed(case);
    assert_eq!(Some(list.calendars.len() as u64), case.expected["targets"].as_u64());
    let unnamed = list
        .calendars
        .iter()
        .find(|calendar| calendar.calendar.href.contains("plain%20one"));
    assert_eq!(
        unnamed.expect("it is listed").display_name.as_deref(),
        Some("plain one")
    );
    for (name, wanted) in case
        .expected
        .as_object()
        .expect("names")
        .iter()
        .filter(|(name, _)| *name != "targets")
    {
        let wanted = text(wanted);
        for name in [name.clone(), name.to_lowercase()] {
            match (named(&list.calendars, &name), wanted.strip_prefix("ambiguous: ")) {
                (Ok(found), None) => assert_eq!(href(&found.calendar.href).path(), wanted),
                (Err(error), Some(candidates)) => {
                    assert_eq!(error.code, Code::Ambiguous);
                    let found: Vec<_> = error
                        .candidates
                        .iter()
                        .map(|it| href(&it.calendar.href).last_segment())
                        .collect();
                    let wanted: Vec<_> = candidates.split(", ").map(|name| Some(name.to_owned())).collect();
                    assert_eq!(found, wanted);
                }
                (found, _) => panic!("{name}: {found:?}"),
            }
        }
    }
    Whole
}

/// Several resources with one UID.
pub(crate) fn one_uid(case: &Case) -> Answered {
    let (found, _) = queried(case, WORK, "query.xml", &[]);
    assert_eq!(Some(found.rows.len() as u64), case.expected["events"].as_u64());
    let mut hrefs: Vec<_> = found.rows.iter().map(|row| row.resource.href.path()).collect();
    hrefs.sort_unstable();
    assert_eq!(hrefs, strings(&case.expected["hrefs"]));
    let told = found
        .diagnostics
        .iter()
        .find(|it| it.code == "uid_not_unique")
        .expect("it is told");
    assert!(hrefs.iter().all(|href| told.message.contains(href)), "{}", told.message);
    Whole
}

/// Free/busy reports of one component for each period, under the profile that expects them and without it.
pub(crate) fn busy_by_component(case: &Case) -> Answered {
    let instant = |text: &str| text.parse::<jiff::Timestamp>().expect("an instant");
    let short = |second: i64| {
        let text = jiff::Timestamp::from_second(second).expect("in range").to_string();
        text.replace(":00Z", "Z")
    };
    for (file, wanted) in case.expected.as_object().expect("files") {
        let rule = json!({
            "method": "REPORT", "needs": {"depth": "1", "body": "contains free-busy-query"},
            "status": 200, "headers": {"Content-Type": "text/calendar; charset=utf-8; charset=utf-8"}, "body_file": file,
        });
        for profile in [Some(Profile::Radicale), Some(Profile::Nextcloud), None] {
            let mut server = Transcript::with_rules(&case.folder, std::slice::from_ref(&rule));
            let settings = server.account(&[href(WORK)]).settings().clone();
            let account = Account::new(Settings { profile, ..settings }).expect("the credential fits into a header");
            let question = QueryFreeBusy {
                calendar_href: WORK.into(),
                from: instant("2026-06-02T00:00:00Z"),
                to: instant("2026-06-04T00:00:00Z"),
            };
            let found = run(question, &account, &mut server);
            if profile != Some(Profile::Radicale) && wanted != &json!([]) {
                // The form is a deviation: it is recognised where the user says so, and never taken for free time.
                assert_eq!(found.expect_err("nobody said so").code, Code::UpstreamProtocolError);
                continue;
            }
            let periods = found.expect("the report is read").periods;
            let periods: Vec<_> = periods
                .iter()
                .map(|it| json!([short(it.from), short(it.to), it.busy_type]))
                .collect();
            assert_eq!(&json!(periods), wanted, "{file}");
        }
    }
    Whole
}

/// Asks what has changed since a token; since the beginning without one.
fn changed(token: Option<&str>, calendars: &[Href], server: &mut Transcript) -> Outcome<Changes> {
    let since = match token {
        Some(token) => Since::Token {
            calendar: href(WORK),
            token: token.to_owned(),
        },
        None => Since::Beginning {
            calendar_href: WORK.into(),
        },
    };
    let account = server.account(calendars);
    run(ListChanges { since }, &account, server)
}

/// Each change: the file's name and the Entity Tag that it has, if it is still there.
fn told(found: &Changes) -> BTreeMap<String, Option<String>> {
    let each = found.changes.iter();
    each.map(|change| (change.href.last_segment().expect("a name"), change.etag.clone()))
        .collect()
}

/// A token that the server no longer knows: the inventory is read anew, and compared by who keeps one.
pub(crate) fn forgotten_token(case: &Case) -> Answered {
    let script = case.json("server.json");
    let known = &script["known"];
    let calendars = [href(WORK)];
    let mut server = Transcript::new(&case.folder, script.clone());
    let error = changed(known["sync_token"].as_str(), &calendars, &mut server).expect_err("the token is refused");
    assert_eq!(error.code, Code::SyncResetRequired);
    assert_eq!(case.expected["reset"], true);
    let found = changed(None, &calendars, &mut server).expect("all members are listed");
    assert_eq!(Some(&*found.token), case.expected["new_token"].as_str());
    let lines = server.lines();
    assert!(lines.iter().all(|line| line.starts_with("REPORT ")), "{lines:?}");
    assert_eq!(Some(lines.len() as u64), case.expected["reports_sent"].as_u64());
    let now = told(&found);
    let before = known["members"].as_object().expect("members");
    let mut sorted: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, tag) in before {
        let fate = match now.get(name) {
            None => "removed",
            Some(now) if now.as_deref() == tag.as_str() => "unchanged",
            Some(_) => "changed",
        };
        sorted.entry(fate).or_default().push(name);
    }
    for (fate, names) in sorted {
        assert_eq!(names, strings(&case.expected[fate]), "{fate}");
    }
    for (status, body, code) in [
        (409, "<d:valid-sync-token/>", Code::SyncResetRequired),
        (412, "<d:valid-sync-token/>", Code::SyncResetRequired),
        (410, "", Code::SyncResetRequired),
        (403, "<d:need-privileges/>", Code::UpstreamForbidden),
        (403, "", Code::UpstreamForbidden),
        (403, "<d:supported-report/>", Code::UnsupportedCapability),
        (501, "", Code::UnsupportedCapability),
        (507, "<d:number-of-matches-within-limits/>", Code::LimitExhausted),
    ] {
        let body = format!("<d:error xmlns:d=\"DAV:\">{body}</d:error>");
        let rule = json!({"method": "REPORT", "status": status, "body": body});
        let mut server = Transcript::with_rules(&case.folder, &[rule]);
        let error = changed(Some("t"), &calendars, &mut server).expect_err("the token is refused");
        assert_eq!((error.code, server.asked.len()), (code, 1), "{status} {body}");
    }
    Whole
}

/// A report that the server cuts, and one that it cuts without getting on.
pub(crate) fn cut_report(case: &Case) -> Answered {
    let answer = |token: &str, file: &str| {
        json!({"method": "REPORT", "needs": {"depth": "0", "body": format!("contains >{token}<")},
            "status": 207, "headers": {"Content-Type": "application/xml"}, "body_file": file})
    };
    let rules = [answer("sync/10", "page1.xml"), answer("sync/11", "page2.xml")];
    let mut server = Transcript::with_rules(&case.folder, &rules);
    let (mut token, mut all) = ("sync/10".to_owned(), BTreeMap::new());
    let mut pages = Vec::new();
    while pages.last() != Some(&false) {
        let found = changed(Some(&token), &[], &mut server).expect("a page");
        pages.push(found.truncated);
        all.extend(told(&found));
        token = found.token;
    }
    assert_eq!(pages, [true, false]);
    assert_eq!(Some(&*token), case.expected["token"].as_str());
    for (list, there) in [("changed", true), ("removed", false)] {
        let names: Vec<_> = all
            .iter()
            .filter(|(_, tag)| tag.is_some() == there)
            .map(|(name, _)| &**name)
            .collect();
        assert_eq!(names, strings(&case.expected[list]));
    }
    let mut server = Transcript::with_rules(&case.folder, &[answer("sync/11", "stuck.xml")]);
    let error = changed(Some("sync/11"), &[], &mut server).expect_err("it would go on forever");
    assert_eq!((error.code, server.asked.len()), (Code::UpstreamProtocolError, 1));
    Whole
}

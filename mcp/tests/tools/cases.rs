//! The cases of `tests/cases` about recurrence, time zones, sync, free/busy and what assistants do, asked of the server.
//!
//! What a case asks of reading is answered here; `tests/tests/cases.rs` asks the core the same and all other kinds.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp, civil};
use kalends_core::ical::zone::Zone;
use kalends_tests::case::Case;
use serde_json::{Value, json};

use crate::client::{Folder, Server, window};
use crate::referee::Referee;
use crate::scripted::Scripted;
use crate::{GET, OCCURRENCES, rows, with};

const CHANGES: &str = "calendar_resources_changes";
const DAYS: i64 = 366;

/// How a case was answered.
enum Answered {
    Whole,
    /// The rest is about writes.
    ReadHalf,
    /// There is nothing to read.
    OnlyWrites,
}

use Answered::{OnlyWrites, ReadHalf, Whole};

/// The question of a case, if it is of a kind that is asked here.
fn answer(case: &Case) -> Option<Answered> {
    let kinds = ["recurrence", "timezone", "sync", "freebusy", "mcp"];
    Some(match case.number {
        17 => forgotten_token(case),
        18 => cut_report(case),
        31 => one_of(case),
        41 => floating(case),
        46 => busy_by_component(case),
        47 => OnlyWrites,
        48 => before_the_delete(case),
        50 => guests(case),
        51 => names(case),
        _ if kinds.contains(&case.kind.as_str()) => queries(case),
        _ => return None,
    })
}

#[test]
fn every_case_of_reading_has_its_right_answer() {
    let mut summary: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    let mut failed = Vec::new();
    for case in Case::all() {
        let counts = match std::panic::catch_unwind(|| answer(&case)) {
            Ok(None) => continue,
            Ok(Some(Whole)) => 0,
            Ok(Some(ReadHalf)) => 1,
            Ok(Some(OnlyWrites)) => 2,
            Err(_) => {
                failed.push(format!("{} {}", case.number, case.title));
                continue;
            }
        };
        summary.entry(case.kind.clone()).or_default()[counts] += 1;
    }
    for (kind, [whole, half, writes]) in &summary {
        println!("{kind}: {whole} answered by the server, {half} read half, {writes} only about writes");
    }
    assert!(failed.is_empty(), "wrong answers: {failed:#?}");
    let asked: usize = summary.values().flatten().sum();
    assert!(asked >= 23, "only {asked} cases were asked");
}

/// The resources of a file on a folder account.
struct Account {
    server: Server,
    referee: Referee,
    _folder: Folder,
}

/// Start, end, whether it is a whole day, and summary.
type Row = (i64, i64, bool, String);

impl Account {
    fn of(case: &Case, file: &str) -> Self {
        let files = case.resources(file);
        let names: Vec<_> = (0..files.len()).map(|at| format!("{at}.ics")).collect();
        let members: Vec<_> = names
            .iter()
            .zip(&files)
            .map(|(name, octets)| (name.as_str(), &octets[..]))
            .collect();
        let folder = Folder::new().calendar("work", &members);
        let mut server = Server::on(&folder, "2025-11-25");
        Self {
            referee: Referee::new(&mut server),
            server,
            _folder: folder,
        }
    }

    /// All occurrences in a window of any length, each compact and in full.
    fn pairs(&mut self, from: &str, to: &str, zone: &str) -> Vec<(Value, Value)> {
        let end: Timestamp = to.parse().unwrap();
        let mut from: Timestamp = from.parse().unwrap();
        let mut pairs = Vec::new();
        while from < end {
            let to = end.min(from + SignedDuration::from_hours(24 * DAYS));
            let ask = with(
                window(&from.to_string(), &to.to_string()),
                json!({"evaluationTimeZone": zone}),
            );
            let [compact, full] =
                ["compact", "full"].map(|detail| self.all(with(ask.clone(), json!({"detail": detail}))));
            assert_eq!(compact.len(), full.len());
            pairs.extend(compact.into_iter().zip(full));
            from = to;
        }
        pairs
    }

    /// The rows of all pages.
    fn all(&mut self, mut ask: Value) -> Vec<Value> {
        let full = ask["detail"] == "full";
        let mut found = Vec::new();
        loop {
            let page = self.server.success(OCCURRENCES, with(ask, json!({"pageSize": 200})));
            if full {
                self.referee.full(OCCURRENCES, &page);
                assert_eq!(
                    (&page["diagnostics"], page.get("temporallyUnresolved")),
                    (&json!([]), None)
                );
            } else {
                self.referee.own(OCCURRENCES, &page);
            }
            found.extend(rows(&page).iter().cloned());
            let cursor = &page["pagination"]["nextCursor"];
            if cursor.is_null() {
                return found;
            }
            ask = json!({"cursor": cursor});
        }
    }

    fn rows(&mut self, from: &str, to: &str, zone: &str) -> Vec<Row> {
        let mut seen = BTreeSet::new();
        let pairs = self.pairs(from, to, zone);
        let row = |(compact, full): &(Value, Value)| -> Row {
            let timing = &full["timing"];
            let second = |member: &str| {
                timing[member]["value"]
                    .as_str()
                    .unwrap()
                    .parse::<Timestamp>()
                    .unwrap()
                    .as_second()
            };
            (
                second("evaluatedStartUtc"),
                second("evaluatedEndUtc"),
                timing["effectiveStart"]["kind"] == "date",
                text(&compact["snapshot"]["projection"]["fields"]["summary"]).to_owned(),
            )
        };
        // What lies on the border of two windows is in both.
        let href = |full: &Value| full["snapshot"]["resourceRevision"]["href"].to_string();
        let fresh = pairs.iter().filter(|pair| seen.insert((href(&pair.1), row(pair))));
        fresh.map(row).collect()
    }

    /// The codes of all diagnostics on rows.
    fn remarks(&mut self) -> BTreeSet<String> {
        let rows = self.pairs("2020-01-01T00:00:00Z", "2030-01-01T00:00:00Z", "UTC");
        let told = rows
            .iter()
            .flat_map(|(_, full)| full["snapshot"]["diagnostics"].as_array().unwrap());
        told.map(|told| text(&told["code"]).to_owned()).collect()
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().expect("an array").iter().map(text).collect()
}

fn zone(case: &Case) -> String {
    case.expected["evaluation_time_zone"]
        .as_str()
        .unwrap_or("UTC")
        .to_owned()
}

/// A moment, or the day of an all-day value at its midnight in the evaluation zone.
fn moment(text: &str, zone: &str) -> i64 {
    if text.len() == 10 {
        let midnight = text.parse::<civil::Date>().unwrap().at(0, 0, 0, 0);
        return Zone::iana(zone).unwrap().resolve_local(midnight).second;
    }
    text.parse::<Timestamp>().unwrap().as_second()
}

/// `queries` of the only file, or `files` with queries each.
fn queries(case: &Case) -> Answered {
    let (files, expected) = (case.calendars(), &case.expected);
    if let Some(by_file) = expected["files"].as_object() {
        by_file.iter().for_each(|(file, queries)| compare(case, file, queries));
    } else {
        compare(case, &files[0], &expected["queries"]);
        let words = expected["diagnostics"].as_array().into_iter().flatten().map(text);
        for word in words {
            let own = word.replace("timezone_resolved", "timezone_reference_resolved");
            let remarks = Account::of(case, &files[0]).remarks();
            assert!(remarks.contains(&own), "{own} {remarks:?}");
        }
    }
    Whole
}

fn compare(case: &Case, file: &str, queries: &Value) {
    let (mut account, zone) = (Account::of(case, file), zone(case));
    for query in queries.as_array().expect("queries") {
        let mut found = account.rows(text(&query["from"]), text(&query["to"]), &zone);
        found.sort();
        if query["summaries"].is_array() {
            let summaries: Vec<_> = found.iter().map(|row| row.3.as_str()).collect();
            assert_eq!(summaries, strings(&query["summaries"]), "{query}");
            continue;
        }
        let read = |wanted: &Value| -> Row {
            let (start, end) = (text(&wanted["start"]), text(&wanted["end"]));
            let summary = text(&wanted["summary"]).to_owned();
            (moment(start, &zone), moment(end, &zone), start.len() == 10, summary)
        };
        let wanted = query["occurrences"].as_array().expect("rows");
        let mut wanted: Vec<_> = wanted.iter().map(read).collect();
        wanted.sort();
        assert_eq!(found, wanted, "{file} {query}");
    }
}

/// One of several sets of starts.
fn one_of(case: &Case) -> Answered {
    let zone = zone(case);
    let starts = |file: &str| -> Vec<i64> {
        let rows = Account::of(case, file).rows("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", &zone);
        rows.iter().map(|row| row.0).collect()
    };
    let found = starts("series.ics");
    let accepted = case.expected["accept_one_of"].as_object().expect("alternatives");
    let read = |wanted: &Value| -> Vec<i64> { strings(wanted).into_iter().map(|text| moment(text, &zone)).collect() };
    assert!(accepted.values().any(|wanted| read(wanted) == found), "{found:?}");
    assert!(starts("override.ics").contains(&moment("2026-03-08T09:00:00-04:00", &zone)));
    Whole
}

/// A time without a zone under several evaluation zones.
fn floating(case: &Case) -> Answered {
    let mut account = Account::of(case, "event.ics");
    for (zone, wanted) in case.expected["by_evaluation_zone"].as_object().expect("zones") {
        let pairs = account.pairs("2020-01-01T00:00:00Z", "2030-01-01T00:00:00Z", zone);
        let [(compact, full)] = &pairs[..] else {
            panic!("{pairs:#?}")
        };
        let start = text(&full["timing"]["evaluatedStartUtc"]["value"]);
        assert_eq!(moment(start, zone), moment(text(wanted), zone), "{zone}");
        assert_eq!(full["timing"]["evaluationTimeZone"], json!(zone));
        let is_floating = full["timing"]["effectiveStart"]["kind"] == "floatingDateTime";
        assert_eq!(json!(is_floating), case.expected["floating"]);
        assert_eq!(compact["timing"]["effectiveStart"].as_object().unwrap().len(), 1);
    }
    Whole
}

/// A token that the server has forgotten, and what else its refusal may mean.
fn forgotten_token(case: &Case) -> Answered {
    let script = case.json("server.json");
    let known = script["known"]["members"].as_object().expect("members");
    let member = |name: &str, tag: &Value| {
        let tag = text(tag);
        format!(
            "<d:response><d:href>/dav/calendars/ana/work/{name}</d:href><d:propstat><d:prop><d:getetag>{tag}</d:getetag></d:prop>\
             <d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
        )
    };
    let members: String = known.iter().map(|(name, tag)| member(name, tag)).collect();
    let token = text(&script["known"]["sync_token"]);
    let listing =
        format!("<d:multistatus xmlns:d=\"DAV:\">{members}<d:sync-token>{token}</d:sync-token></d:multistatus>");
    let first = json!({"method": "REPORT", "times": 1, "status": 207, "headers": {"Content-Type": "application/xml"}, "body": listing});
    let rules = [&[first.clone()][..], script["rules"].as_array().expect("rules")].concat();
    let scripted = Scripted::new(&case.folder, &rules);
    let mut server = scripted.client(&[]);
    let referee = Referee::new(&mut server);
    let tags = |page: &Value| -> BTreeMap<String, Value> {
        let changes = page["changes"].as_array().unwrap().iter();
        changes.map(|it| (name(it).to_owned(), it["etag"].clone())).collect()
    };
    let start = json!({"calendarHref": scripted.calendar()});
    let before = server.success(CHANGES, start.clone());
    assert_eq!(tags(&before).len(), known.len());
    let error = server.failure(CHANGES, json!({"checkpoint": before["checkpoint"]}));
    referee.full(CHANGES, &error);
    assert_eq!(error["code"], "sync_reset_required");
    let after = server.success(CHANGES, start);
    referee.full(CHANGES, &after);
    assert_eq!((&after["mode"], &after["hasMore"]), (&json!("initial"), &json!(false)));
    let (before, after) = (tags(&before), tags(&after));
    for (fate, names) in [
        ("unchanged", "unchanged"),
        ("changed", "changed"),
        ("removed", "removed"),
    ] {
        let has = |name: &String| match after.get(name) {
            None => fate == "removed",
            Some(tag) if *tag == before[name] => fate == "unchanged",
            Some(_) => fate == "changed",
        };
        let found: Vec<_> = before.keys().filter(|name| has(name)).map(String::as_str).collect();
        assert_eq!(found, strings(&case.expected[names]), "{fate}");
    }
    let lines = scripted.lines();
    assert!(lines.iter().all(|line| line.starts_with("REPORT ")), "{lines:?}");
    assert_eq!(Some(lines.len() as u64 - 1), case.expected["reports_sent"].as_u64());
    for (status, body, code) in [
        (409, "<d:valid-sync-token/>", "sync_reset_required"),
        (412, "<d:valid-sync-token/>", "sync_reset_required"),
        (410, "", "sync_reset_required"),
        (403, "<d:need-privileges/>", "upstream_forbidden"),
        (403, "", "upstream_forbidden"),
        (403, "<d:supported-report/>", "unsupported_capability"),
        (507, "<d:number-of-matches-within-limits/>", "limit_exhausted"),
    ] {
        let body = format!("<d:error xmlns:d=\"DAV:\">{body}</d:error>");
        let refusal =
            json!({"method": "REPORT", "status": status, "headers": {"Content-Type": "application/xml"}, "body": body});
        let scripted = Scripted::new(&case.folder, &[first.clone(), refusal]);
        let mut server = scripted.client(&[]);
        let before = server.success(CHANGES, json!({"calendarHref": scripted.calendar()}));
        let error = server.failure(CHANGES, json!({"checkpoint": before["checkpoint"]}));
        referee.full(CHANGES, &error);
        assert_eq!(
            (&error["code"], scripted.lines().len()),
            (&json!(code), 2),
            "{status} {body}"
        );
    }
    Whole
}

/// The last segment of the href of a change.
fn name(change: &Value) -> &str {
    text(&change["href"]).rsplit('/').next().expect("a segment")
}

/// A report that the server cuts, and one that it cuts without getting on.
fn cut_report(case: &Case) -> Answered {
    let answer = |token: &str, file: &str| {
        json!({"method": "REPORT", "needs": {"depth": "0", "body": format!("contains >{token}<")},
            "status": 207, "headers": {"Content-Type": "application/xml"}, "body_file": file})
    };
    let empty = "<d:multistatus xmlns:d=\"DAV:\"><d:sync-token>sync/10</d:sync-token></d:multistatus>";
    let first = json!({"method": "REPORT", "times": 1, "status": 207, "headers": {"Content-Type": "application/xml"}, "body": empty});
    let rules = [
        first.clone(),
        answer("sync/10", "page1.xml"),
        answer("sync/11", "page2.xml"),
    ];
    let scripted = Scripted::new(&case.folder, &rules);
    let mut server = scripted.client(&[]);
    let referee = Referee::new(&mut server);
    let mut page = server.success(CHANGES, json!({"calendarHref": scripted.calendar()}));
    let (mut more, mut all) = (Vec::new(), BTreeMap::new());
    while more.last() != Some(&json!(false)) {
        page = server.success(CHANGES, json!({"checkpoint": page["checkpoint"]}));
        referee.full(CHANGES, &page);
        more.push(page["hasMore"].clone());
        let changes = page["changes"].as_array().unwrap().iter();
        all.extend(changes.map(|change| (name(change).to_owned(), text(&change["kind"]).to_owned())));
    }
    assert_eq!(more, [json!(true), json!(false)]);
    for kind in ["changed", "removed"] {
        let names: Vec<_> = all
            .iter()
            .filter(|(_, told)| *told == kind)
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(names, strings(&case.expected[kind]));
    }
    // The token after the last page, seen where it is sent.
    server.failure(CHANGES, json!({"checkpoint": page["checkpoint"]}));
    let log = scripted.server.log();
    let sent = String::from_utf8_lossy(&log.last().expect("a request").body).into_owned();
    assert!(sent.contains(&format!(">{}<", text(&case.expected["token"]))), "{sent}");

    let rules = [first, answer("sync/10", "page1.xml"), answer("sync/11", "stuck.xml")];
    let scripted = Scripted::new(&case.folder, &rules);
    let mut server = scripted.client(&[]);
    let page = server.success(CHANGES, json!({"calendarHref": scripted.calendar()}));
    let page = server.success(CHANGES, json!({"checkpoint": page["checkpoint"]}));
    let error = server.failure(CHANGES, json!({"checkpoint": page["checkpoint"]}));
    referee.full(CHANGES, &error);
    assert_eq!(
        (&error["code"], scripted.lines().len()),
        (&json!("upstream_protocol_error"), 3)
    );
    Whole
}

/// Free/busy reports of one component for each period, under the profile that expects them and without it.
fn busy_by_component(case: &Case) -> Answered {
    let tool = "calendars_free_busy";
    for (file, wanted) in case.expected.as_object().expect("files") {
        let rule = json!({
            "method": "REPORT", "needs": {"depth": "1", "body": "contains free-busy-query"},
            "status": 200, "headers": {"Content-Type": "text/calendar; charset=utf-8"}, "body_file": file,
        });
        let scripted = Scripted::new(&case.folder, &[rule]);
        let (from, to) = ("2026-06-02T00:00:00Z", "2026-06-04T00:00:00Z");
        let ask = json!({"calendarHref": scripted.calendar(), "from": from, "to": to});
        for profile in ["radicale", "nextcloud", ""] {
            let variable = ("CALDAV_INTEROPERABILITY_PROFILE", profile);
            let mut server = scripted.client(if profile.is_empty() {
                &[]
            } else {
                std::slice::from_ref(&variable)
            });
            let referee = Referee::new(&mut server);
            if profile != "radicale" && *wanted != json!([]) {
                let error = server.failure(tool, ask.clone());
                referee.full(tool, &error);
                assert_eq!(error["code"], "upstream_protocol_error");
                continue;
            }
            let told = server.success(tool, ask.clone());
            referee.full(tool, &told);
            assert_eq!((&told["from"], &told["to"]), (&json!(from), &json!(to)));
            let short = |time: &Value| text(time).replace(":00Z", "Z");
            let periods = told["periods"].as_array().unwrap().iter();
            let periods: Vec<_> = periods
                .map(|it| json!([short(&it["from"]), short(&it["to"]), it["busyType"]]))
                .collect();
            assert_eq!(json!(periods), *wanted, "{file}");
        }
    }
    Whole
}

/// A delete is asked for one day of a series: the answer says that it is an occurrence, and of what.
fn before_the_delete(case: &Case) -> Answered {
    let (mut account, zone) = (Account::of(case, "series.ics"), zone(case));
    let after = &case.expected["queries_after_the_change"][0];
    let all = account.rows(text(&after["from"]), text(&after["to"]), &zone);
    let staying = after["occurrences"].as_array().expect("rows");
    assert_eq!(all.len(), staying.len() + 1);
    let stays = |row: &Row| staying.iter().any(|it| moment(text(&it["start"]), &zone) == row.0);
    let goes: Vec<_> = all.iter().filter(|row| !stays(row)).collect();
    let start = Timestamp::from_second(goes[0].0).unwrap();
    assert_eq!((goes.len(), start.to_string().as_str()), (1, "2026-06-10T11:30:00Z"));
    let pairs = account.pairs("2026-06-10T00:00:00Z", "2026-06-11T00:00:00Z", &zone);
    let [(compact, full)] = &pairs[..] else {
        panic!("{pairs:#?}")
    };
    assert_eq!(compact["recurrenceIdentity"], json!({}));
    let identity = json!({"kind": "zonedDateTime", "value": "2026-06-10T12:30:00", "timeZoneId": "Europe/Lisbon"});
    assert_eq!(full["recurrenceIdentity"], json!({"value": identity}));
    ReadHalf
}

/// An Event with guests shows who they are.
fn guests(case: &Case) -> Answered {
    let mut account = Account::of(case, "existing.ics");
    let pairs = account.pairs("2026-05-04T00:00:00Z", "2026-05-05T00:00:00Z", "UTC");
    let href = pairs[0].0["snapshot"]["entityRevision"]["href"].clone();
    let got = account.server.success(GET, json!({"href": href}));
    let data = &got["snapshot"]["projection"]["fields"]["structuredData"];
    assert_eq!(data["organizer"]["uri"], "mailto:ana@example.com");
    let attendees: Vec<_> = data["attendees"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| text(&it["uri"]))
        .collect();
    for address in strings(&case.expected["addresses_named"]) {
        assert!(
            attendees.contains(&format!("mailto:{address}").as_str()),
            "{attendees:?}"
        );
    }
    ReadHalf
}

/// A name that several Calendars have is refused with all of them.
fn names(case: &Case) -> Answered {
    let home = "/dav/calendars/ana/";
    let principal = format!(
        "<d:multistatus xmlns:d=\"DAV:\" xmlns:c=\"urn:ietf:params:xml:ns:caldav\"><d:response><d:href>/</d:href><d:propstat><d:prop>\
         <c:calendar-home-set><d:href>{home}</d:href></c:calendar-home-set></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>\
         </d:response></d:multistatus>"
    );
    let empty = "<d:multistatus xmlns:d=\"DAV:\"/>";
    let xml = json!({"Content-Type": "application/xml"});
    let rules = [
        json!({"method": "PROPFIND", "path": "/", "status": 207, "headers": xml, "body": principal}),
        json!({"method": "PROPFIND", "path": home, "status": 207, "headers": xml, "body_file": "home.xml"}),
        json!({"method": "REPORT", "status": 207, "headers": xml, "body": empty}),
    ];
    let scripted = Scripted::new(&case.folder, &rules);
    let mut server = scripted.client(&[("CALDAV_CALENDAR_HREFS", "")]);
    let referee = Referee::new(&mut server);
    let listed = server.success("calendars_list", json!({}));
    referee.full("calendars_list", &listed);
    assert_eq!(Some(rows(&listed).len() as u64), case.expected["targets"].as_u64());
    let unnamed = rows(&listed)
        .iter()
        .find(|row| text(&row["calendar"]["href"]).contains("plain%20one"));
    let unnamed = unnamed.expect("it is listed");
    assert_eq!(
        (&unnamed["displayName"], &unnamed["displayNameProvenance"]),
        (&json!("plain one"), &json!("derived-from-href"))
    );
    let ask = |scope: Value| {
        with(
            window("2026-12-01T00:00:00Z", "2026-12-08T00:00:00Z"),
            json!({"scope": scope}),
        )
    };
    for (name, wanted) in [
        ("Calendar", "Calendar"),
        ("calendar", "Calendar"),
        ("Work", "Work"),
        ("work", "Work"),
    ] {
        let wanted = text(&case.expected[wanted]);
        let before = scripted.lines().len();
        let named = ask(json!({"mode": "selected", "calendar": {"by": "name", "name": name}}));
        if let Some(candidates) = wanted.strip_prefix("ambiguous: ") {
            let error = server.failure(OCCURRENCES, named);
            referee.full(OCCURRENCES, &error);
            assert_eq!(error["code"], "ambiguous");
            let hrefs = error["authorizedCandidates"]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| text(&it["calendar"]["href"]));
            let hrefs: Vec<_> = hrefs.collect();
            assert!(hrefs.iter().all(|href| text(&error["message"]).contains(href)));
            let last = |href: &&str| href.trim_end_matches('/').rsplit('/').next().unwrap().to_owned();
            assert_eq!(hrefs.iter().map(last).collect::<Vec<_>>().join(", "), candidates);
            assert!(
                scripted.lines()[before..]
                    .iter()
                    .all(|line| line.starts_with("PROPFIND "))
            );
        } else {
            server.success(OCCURRENCES, named);
            let asked = scripted.lines();
            let asked: Vec<_> = asked[before..]
                .iter()
                .filter(|line| line.starts_with("REPORT "))
                .collect();
            assert!(
                !asked.is_empty() && asked.iter().all(|line| **line == format!("REPORT {wanted}")),
                "{asked:?}"
            );
        }
    }
    // Nothing is taken for the default that nobody named.
    let error = server.failure(OCCURRENCES, ask(json!({"mode": "default"})));
    referee.full(OCCURRENCES, &error);
    ReadHalf
}

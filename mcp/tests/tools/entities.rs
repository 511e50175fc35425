//! The entity query.

use serde_json::{Value, json};

use crate::client::{DAILY, Folder, Server, window};
use crate::referee::Referee;
use crate::{ENTITIES, GET, OCCURRENCES, resource, rows, with};

/// Two Calendars: a series, single Events, To-dos with and without dates, what cannot be understood, an unknown zone.
fn account() -> Folder {
    let files = [
        ("b.ics", DAILY.to_owned()),
        (
            "a.ics",
            resource(
                "VEVENT",
                "a",
                "DTSTART;VALUE=DATE:20261205 | SUMMARY:Trip | CATEGORIES:Away,Fun | DESCRIPTION:By train",
            ),
        ),
        ("c.ics", resource("VTODO", "c", "SUMMARY:Call the vet")),
        (
            "d.ics",
            resource("VTODO", "d", "DUE:20261224T170000Z | SUMMARY:Wrap up | CATEGORIES:fun"),
        ),
        ("j.ics", resource("VEVENT", "j", "SUMMARY:No start")),
        (
            "z.ics",
            resource(
                "VEVENT",
                "z",
                "DTSTART;TZID=Nowhere/Land:20261205T100000 | SUMMARY:Somewhere",
            ),
        ),
    ];
    let files: Vec<_> = files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    let other = resource("VEVENT", "x", "DTSTART:20261207T100000Z | SUMMARY:Vet");
    Folder::new()
        .calendar("home", &[("x.ics", other.as_bytes())])
        .calendar("work", &files)
}

fn ask(more: Value) -> Value {
    with(
        json!({"scope": {"mode": "all"}, "entityKinds": ["event", "todo"]}),
        more,
    )
}

/// The file names of the rows.
fn names(page: &Value) -> Vec<String> {
    let href = |row: &Value, member: &str| row[member]["href"].as_str().map(str::to_owned);
    rows(page)
        .iter()
        .map(|row| href(row, "entityRevision").or(href(row, "resourceRevision")).unwrap())
        .map(|href| href.rsplit('/').next().unwrap().to_owned())
        .collect()
}

#[test]
fn rows_are_chosen_by_kind_scope_window_and_words_and_come_in_order_of_href() {
    let folder = account();
    let mut server = Server::on(&folder, "2025-11-25");
    let referee = Referee::new(&mut server);
    let week = window("2026-12-05T00:00:00Z", "2026-12-08T00:00:00Z");
    let bounded = |more: Value| with(week.clone(), more);
    let home = json!({"mode": "selected", "calendar": {"by": "href", "href": format!("{}/home/", folder.url())}});
    for (more, expected) in [
        (
            json!({}),
            &["x.ics", "a.ics", "b.ics", "c.ics", "d.ics", "j.ics", "z.ics"] as &[&str],
        ),
        (
            json!({"entityKinds": ["event"]}),
            &["x.ics", "a.ics", "b.ics", "j.ics", "z.ics"],
        ),
        (json!({"entityKinds": ["todo"]}), &["c.ics", "d.ics"]),
        (json!({"scope": home}), &["x.ics"]),
        // The zone of z.ics is unknown, and a To-do without dates is always current.
        (bounded(json!({})), &["x.ics", "a.ics", "b.ics", "c.ics", "j.ics"]),
        (bounded(json!({"entityKinds": ["todo"]})), &["c.ics"]),
        (json!({"text": "vet"}), &["x.ics", "c.ics"]),
        (json!({"text": "TRAIN trip"}), &["a.ics"]),
        (json!({"text": "trip vet"}), &[]),
        (json!({"categories": ["FUN"]}), &["a.ics", "d.ics"]),
        (json!({"categories": ["fun", "away"]}), &["a.ics"]),
        (json!({"categories": ["fu"]}), &[]),
        (bounded(json!({"text": "daily"})), &["b.ics"]),
    ] {
        for detail in ["compact", "full"] {
            let page = server.success(ENTITIES, with(ask(more.clone()), json!({"detail": detail})));
            assert_eq!(names(&page), expected, "{more}");
            if detail == "full" {
                referee.full(ENTITIES, &page);
            } else {
                referee.own(ENTITIES, &page);
            }
            let unresolved =
                more.get("from").is_some() && more["entityKinds"] != json!(["todo"]) && more.get("text").is_none();
            let href = format!("{}/work/z.ics", folder.url());
            let told = if unresolved {
                json!({"count": 1, "hrefs": [href]})
            } else {
                Value::Null
            };
            assert_eq!(page["temporallyUnresolved"], told, "{more}");
        }
    }
}

#[test]
fn a_row_is_the_whole_snapshot_but_for_what_cannot_be_understood() {
    let folder = account();
    let mut server = Server::on(&folder, "2025-11-25");
    for detail in ["compact", "full"] {
        let page = server.success(ENTITIES, ask(json!({"detail": detail})));
        for row in rows(&page) {
            let revision = row.get("entityRevision").unwrap_or(&row["resourceRevision"]);
            let mut got = server.success(GET, json!({"href": revision["href"], "detail": detail}))["snapshot"].take();
            if detail == "compact" && row["projection"]["kind"] == "opaque" {
                got["projection"].as_object_mut().unwrap().remove("properties");
                assert_eq!(row["diagnostics"][0]["code"], "entity_start_invalid");
                assert!(revision["entityTag"].is_string());
            }
            assert_eq!(*row, got);
        }
        let series = &rows(&page)[2]["projection"]["fields"];
        assert_eq!(series["description"], "Long text");
        assert_eq!(series["recurrenceSet"]["rrules"][0]["text"], "FREQ=DAILY");
    }
}

#[test]
fn scopes_that_name_no_one_calendar_are_refused() {
    let folder = account();
    let mut server = Server::on(&folder, "2025-11-25");
    let referee = Referee::new(&mut server);
    let href = |href: String| json!({"by": "href", "href": href});
    for (calendar, code, phase) in [
        (
            json!({"by": "name", "name": "none"}),
            "not_found",
            "selectionDiscoveryCapability",
        ),
        (
            href(format!("{}/none/", folder.url())),
            "not_found",
            "selectionDiscoveryCapability",
        ),
        (
            href("https://elsewhere.example/work/".into()),
            "outside_scope",
            "originScopeAuthorization",
        ),
        (href("work".into()), "invalid_input", "originScopeAuthorization"),
    ] {
        let scope = json!({"scope": {"mode": "selected", "calendar": calendar}});
        let error = server.failure(ENTITIES, ask(scope.clone()));
        referee.full(ENTITIES, &error);
        assert_eq!(
            (&error["code"], &error["phase"]),
            (&json!(code), &json!(phase)),
            "{scope}"
        );
    }
}

#[test]
fn a_calendar_that_does_not_take_the_kind_is_told() {
    let folder = account();
    let settings = json!({"name": "Home", "components": ["VEVENT"]});
    std::fs::write(folder.0.join("home/.calendar.json"), settings.to_string()).unwrap();
    let mut server = Server::on(&folder, "2025-11-25");
    let referee = Referee::new(&mut server);
    let home = json!({"mode": "selected", "calendar": {"by": "name", "name": "home"}});
    let more = json!({"scope": home, "entityKinds": ["todo"], "detail": "full"});
    let page = server.success(ENTITIES, ask(more));
    referee.full(ENTITIES, &page);
    assert_eq!(page["items"], json!([]));
    assert_eq!(page["diagnostics"][0]["code"], "entity_kind_not_advertised");
}

#[test]
fn of_many_resources_with_an_unknown_zone_all_are_counted_and_25_named() {
    let lost = |at: usize| {
        resource(
            "VEVENT",
            &format!("{at:02}"),
            "DTSTART;TZID=Nowhere/Land:20261205T100000",
        )
    };
    let files: Vec<_> = (0..30).map(|at| (format!("{at:02}.ics"), lost(at))).collect();
    let files: Vec<_> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_bytes()))
        .collect();
    let folder = Folder::new().calendar("work", &files);
    let mut server = Server::on(&folder, "2025-11-25");
    let referee = Referee::new(&mut server);
    let first: Vec<_> = (0..25).map(|at| format!("{}/work/{at:02}.ics", folder.url())).collect();
    let days = window("2026-12-05T00:00:00Z", "2026-12-08T00:00:00Z");
    for (tool, more) in [(ENTITIES, json!({"entityKinds": ["event"]})), (OCCURRENCES, json!({}))] {
        let page = server.success(tool, with(days.clone(), with(more, json!({"detail": "full"}))));
        referee.full(tool, &page);
        assert_eq!(page["temporallyUnresolved"], json!({"count": 30, "hrefs": first}));
        assert_eq!(page["items"], json!([]));
    }
    // Without a window nothing has to be evaluated.
    let page = server.success(ENTITIES, ask(json!({})));
    assert_eq!((rows(&page).len(), page.get("temporallyUnresolved")), (30, None));
}

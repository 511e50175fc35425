//! The handed cases with `queries` or `files`, answered through [`Entity`]: every resource of a file, then one order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kalends_core::ical::document::Document;
use kalends_core::ical::entity::Entity;
use kalends_core::ical::expand::Window;
use kalends_core::ical::recur::Steps;
use kalends_core::ical::value::Temporal;
use kalends_core::ical::zone::Zone;
use serde_json::Value;

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases")
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON")
}

/// The resources that a server would hold of a file: one for each UID, with all time zones.
fn resources(file: &Path) -> Vec<Entity> {
    let document = Document::parse(std::fs::read(file).expect("a file").into()).expect("small");
    let calendar = document.roots().next().expect("a VCALENDAR");
    let mut zones = Vec::new();
    let mut by_uid: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    for component in calendar.children() {
        match component.first("UID") {
            None => zones.extend_from_slice(component.slice()),
            Some(uid) => by_uid
                .entry(uid.value().into_owned())
                .or_default()
                .extend_from_slice(component.slice()),
        }
    }
    let wrap = |components: &Vec<u8>| {
        let head = b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//example.org//case//EN\r\n";
        Entity::read([&head[..], &zones, components, b"END:VCALENDAR\r\n"].concat().into())
    };
    by_uid.values().map(wrap).collect()
}

/// An RFC 3339 time in Unix seconds.
fn second(text: &str) -> i64 {
    text.parse::<jiff::Timestamp>().expect(text).as_second()
}

/// A moment, or the day of an all-day value at its midnight in the evaluation zone.
fn moment(text: &str, zone: &Zone) -> i64 {
    match text.parse::<jiff::civil::Date>() {
        Ok(date) if text.len() == 10 => {
            zone.resolve_local(date.to_datetime(jiff::civil::Time::midnight()))
                .second
        }
        _ => second(text),
    }
}

/// Start, end, whether all-day, and the summary.
type Row = (i64, i64, bool, String);

fn rows(entities: &[Entity], zone: &Zone, query: &Value) -> Vec<Row> {
    let bound = |name: &str| second(query[name].as_str().expect("a time"));
    let window = Window {
        from: bound("from"),
        to: bound("to"),
    };
    let mut rows = Vec::new();
    for entity in entities {
        let found = entity
            .occurrences(zone, window, &mut Steps::new(100_000))
            .expect("evaluable");
        for instance in found.iter().filter(|instance| !instance.cancelled) {
            let summary = entity.occurrence_fields(instance).summary.unwrap_or_default();
            rows.push((
                instance.from,
                instance.to,
                matches!(instance.start, Temporal::Date(_)),
                summary,
            ));
        }
    }
    rows.sort();
    rows
}

fn check(file: &Path, zone: &Zone, queries: &Value) -> usize {
    let entities = resources(file);
    for entity in &entities {
        assert_eq!(entity.opaque(), None, "{file:?}");
    }
    let queries = queries.as_array().expect("queries");
    for query in queries {
        let got = rows(&entities, zone, query);
        if let Some(want) = query["summaries"].as_array() {
            let mut got: Vec<_> = got.iter().map(|row| row.3.as_str()).collect();
            got.sort_unstable();
            assert_eq!(
                got,
                want.iter().map(|text| text.as_str().expect("text")).collect::<Vec<_>>(),
                "{file:?}"
            );
            continue;
        }
        let read = |row: &Value| -> Row {
            let text = |name: &str| row[name].as_str().expect("text");
            let (start, end) = (text("start"), text("end"));
            (
                moment(start, zone),
                moment(end, zone),
                start.len() == 10,
                text("summary").to_owned(),
            )
        };
        let mut want: Vec<_> = query["occurrences"]
            .as_array()
            .expect("rows")
            .iter()
            .map(read)
            .collect();
        want.sort();
        assert_eq!(got, want, "{file:?} {query}");
    }
    queries.len()
}

#[test]
fn the_occurrences_are_those_of_the_cases() {
    let mut folders: Vec<_> = std::fs::read_dir(cases())
        .expect("tests/cases")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    folders.sort();
    let mut answered = 0;
    for folder in folders.iter().filter(|folder| folder.join("expected.json").exists()) {
        let expected = json(&folder.join("expected.json"));
        let zone = expected["evaluation_time_zone"].as_str().and_then(Zone::iana);
        if let (Some(queries), Some(zone)) = (expected.get("queries"), &zone) {
            let inputs = std::fs::read_dir(folder)
                .expect("a folder")
                .map(|entry| entry.expect("an entry").path());
            let mut inputs = inputs.filter(|path| path.extension().is_some_and(|ext| ext == "ics"));
            let file = inputs.next().expect("one file");
            answered += check(&file, zone, queries);
        }
        if let (Some(files), Some(zone)) = (expected["files"].as_object(), &zone) {
            for (file, queries) in files {
                answered += check(&folder.join(file), zone, queries);
            }
        }
    }
    assert!(answered >= 24, "only {answered} queries were found");
}

/// The codes of all diagnostics of a case's file.
fn codes(file: &str) -> Vec<&'static str> {
    let entities = resources(&cases().join(file));
    entities
        .iter()
        .flat_map(Entity::diagnostics)
        .map(|diagnostic| diagnostic.code)
        .collect()
}

#[test]
fn what_is_odd_is_told() {
    assert_eq!(
        codes("029-exdate-as-date-on-timed-series/series.ics"),
        ["exdate_type_mismatch"]
    );
    assert_eq!(
        codes("030-until-in-utc-windows-zone/series.ics"),
        ["timezone_reference_resolved_externally"]
    );
    assert_eq!(
        codes("044-end-before-start/events.ics"),
        ["end_not_after_start", "duration_not_positive"]
    );
    let dates = codes("042-date-without-value-parameter/events.ics");
    assert_eq!(
        dates,
        ["value_type_mismatch", "end_not_after_start", "value_type_mismatch"]
    );
    for quiet in [
        "037-rdate-with-periods/series.ics",
        "038-customized-time-zone-defined/event.ics",
        "040-vtimezone-with-daylight-only/event.ics",
    ] {
        assert_eq!(codes(quiet), [""; 0], "{quiet}");
    }
}

#[test]
fn days_without_their_value_type_are_days() {
    let entities = resources(&cases().join("042-date-without-value-parameter/events.ics"));
    let expected = json(&cases().join("042-date-without-value-parameter/expected.json"));
    let utc = Zone::utc();
    let window = Window {
        from: second("2026-01-01T00:00:00Z"),
        to: second("2027-01-01T00:00:00Z"),
    };
    for entity in &entities {
        let found = entity
            .occurrences(&utc, window, &mut Steps::new(1_000))
            .expect("evaluable");
        let want = &expected["events"][entity.uid().expect("a UID")];
        let bound = |name: &str| moment(want[name].as_str().expect("a date"), &utc);
        assert_eq!(found.len(), 1);
        assert!(found[0].start.is_date());
        assert_eq!((found[0].from, found[0].to), (bound("start"), bound("end")));
    }
}

#[test]
fn an_override_keeps_its_identity_wherever_it_is_moved() {
    let entities = resources(&cases().join("036-override-moved-across-the-window/series.ics"));
    let projection = serde_json::to_value(entities[0].projection()).expect("serializes");
    let moved = &projection["fields"]["recurrenceSet"]["overrides"][0];
    let identity =
        serde_json::json!({"kind":"zonedDateTime","value":"2026-09-15T15:00:00","timeZoneId":"Europe/Berlin"});
    assert_eq!(moved["recurrenceIdentity"]["value"], identity);
    assert_eq!(moved["movedStart"]["value"], "2026-10-01T15:00:00");
    let berlin = Zone::iana("Europe/Berlin").expect("known");
    let window = Window {
        from: second("2026-09-30T00:00:00Z"),
        to: second("2026-10-02T00:00:00Z"),
    };
    let found = entities[0]
        .occurrences(&berlin, window, &mut Steps::new(1_000))
        .expect("evaluable");
    assert_eq!(serde_json::to_value(&found[0].identity).expect("serializes"), identity);
}

#[test]
fn times_without_a_zone_follow_the_evaluation_zone() {
    let folder = cases().join("041-floating-time-and-x-wr-timezone");
    let entity = Entity::read(std::fs::read(folder.join("event.ics")).expect("a file").into());
    let window = Window {
        from: second("2026-08-01T00:00:00Z"),
        to: second("2026-09-01T00:00:00Z"),
    };
    for (name, want) in json(&folder.join("expected.json"))["by_evaluation_zone"]
        .as_object()
        .expect("zones")
    {
        let zone = Zone::iana(name).expect("known");
        let found = entity
            .occurrences(&zone, window, &mut Steps::new(1_000))
            .expect("evaluable");
        assert_eq!(found[0].from, second(want.as_str().expect("a time")), "{name}");
        assert!(matches!(found[0].start, Temporal::Floating(_)));
    }
    assert_eq!(entity.diagnostics()[0].code, "floating_time_zone_hint");
}

#[test]
fn folded_and_quoted_text_comes_out_whole() {
    let folder = cases().join("043-fold-inside-a-utf8-sequence");
    let entity = Entity::read(std::fs::read(folder.join("event.ics")).expect("a file").into());
    let (got, want) = (entity.searchable(None), json(&folder.join("expected.json")));
    assert_eq!(got.summary.as_deref(), want["summary"].as_str());
    assert_eq!(got.description.as_deref(), want["description"].as_str());

    let folder = cases().join("045-quoted-parameter-with-colon");
    let entity = Entity::read(std::fs::read(folder.join("event.ics")).expect("a file").into());
    let event = entity
        .document()
        .roots()
        .next()
        .and_then(|root| root.children().next())
        .expect("an event");
    let want = json(&folder.join("expected.json"));
    for (attendee, want) in event.all("ATTENDEE").zip(want["attendees"].as_array().expect("a list")) {
        let address = String::from_utf8_lossy(&attendee.value()).to_lowercase();
        assert_eq!(address.strip_prefix("mailto:"), want["address"].as_str());
        for (name, values) in want
            .as_object()
            .expect("an object")
            .iter()
            .filter(|(name, _)| *name != "address")
        {
            let values: Vec<&str> = match values.as_array() {
                Some(values) => values.iter().filter_map(Value::as_str).collect(),
                None => values.as_str().into_iter().collect(),
            };
            let parameter = attendee
                .parameters()
                .into_iter()
                .find(|parameter| parameter.name == *name);
            assert_eq!(parameter.expect("there").values, values);
        }
    }
}

/// RFC 5545, 3.3.10 and 3.3.5 allow both for a start in the gap; all places have to agree on one.
#[test]
fn a_daily_start_inside_the_gap_is_one_of_two() {
    let folder = cases().join("031-daily-start-inside-the-dst-gap");
    let expected = json(&folder.join("expected.json"));
    let zone = Zone::iana("America/New_York").expect("known");
    let query = serde_json::json!({"from": "2026-03-01T00:00:00Z", "to": "2026-04-01T00:00:00Z"});
    let got: Vec<i64> = rows(&resources(&folder.join("series.ics")), &zone, &query)
        .iter()
        .map(|row| row.0)
        .collect();
    let accepted = expected["accept_one_of"].as_object().expect("choices");
    let accepted = accepted.values().map(|list| -> Vec<i64> {
        list.as_array()
            .expect("a list")
            .iter()
            .map(|text| second(text.as_str().expect("a time")))
            .collect()
    });
    assert!(accepted.collect::<Vec<_>>().contains(&got), "{got:?}");
}

/// Case 054: 30 February ends at the budget or by proof, with at most the start itself.
#[test]
fn a_rule_that_never_matches_ends() {
    let entities = resources(&cases().join("054-series-with-nothing-left/endless.ics"));
    let window = Window {
        from: second("2026-01-01T00:00:00Z"),
        to: second("2100-01-01T00:00:00Z"),
    };
    let found = entities[0].occurrences(&Zone::utc(), window, &mut Steps::new(100_000));
    assert!(found.expect("proved empty").len() <= 1);
}

//! No text that a caller supplies makes a content line of its own, wherever it stands in the inputs of an edit.

use std::fs;
use std::path::Path;

use jiff::Timestamp;
use kalends_core::ical::document::{Component, Document};
use kalends_core::ical::edit::Edited;
use kalends_core::ical::edit::collection::CollectionPatch;
use kalends_core::ical::edit::create::{NewEntity, NewFields, create};
use kalends_core::ical::edit::patch::{Patch, Target, patch};
use kalends_core::ical::edit::recurrence_set::NewRecurrence;
use kalends_core::ical::edit::scalar::ScalarPatch;
use kalends_core::ical::entity::{Entity, Kind};
use kalends_core::ical::structured::{NamedUri, StructuredData};
use kalends_core::ical::value::{DateOrPeriod, Temporal};
use serde_json::{Value, json};

/// What would be lines, parameters or components of their own if it were written as it is.
const HOSTILE: [&str; 14] = [
    "x\r\nX-INJECTED:1",
    "x\nX-INJECTED:1",
    "x\rX-INJECTED:1",
    "x\n\rX-INJECTED:1\r\n",
    "\r\nX-INJECTED:1",
    "mailto:x@example.com\r\nX-INJECTED:1",
    "https://example.com/\nX-INJECTED:1",
    "PT1H\r\nX-INJECTED:1",
    "x\u{b}X-INJECTED:1\u{c}\u{85}\u{2028}X-INJECTED:1\u{2029}",
    "x\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nX-INJECTED:1",
    "x\0\u{1b}\u{7f}",
    "x\";X-INJECTED=1:\"",
    "X-A:1\r\n X-INJECTED:1",
    "x;X-INJECTED=1",
];

fn now() -> Timestamp {
    Timestamp::from_second(1_796_040_000).expect("in range")
}

/// All structured data that an input can have, one of each.
fn sample() -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/structured-data-input.json");
    serde_json::from_slice(&fs::read(file).expect("the sample")).expect("JSON")
}

/// The input once with each text in it exchanged for another.
fn variants(value: &Value, text: &str) -> Vec<Value> {
    match value {
        Value::String(_) => vec![json!(text)],
        Value::Array(items) => {
            let each = items.iter().enumerate().flat_map(|(at, item)| {
                variants(item, text).into_iter().map(move |item| {
                    let mut whole = value.clone();
                    whole[at] = item;
                    whole
                })
            });
            each.collect()
        }
        Value::Object(members) => {
            let each = members.iter().flat_map(|(name, member)| {
                variants(member, text).into_iter().map(move |member| {
                    let mut whole = value.clone();
                    whole[name] = member;
                    whole
                })
            });
            each.collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

fn all(document: &Document) -> Vec<Component<'_>> {
    let mut open: Vec<_> = document.roots().collect();
    let mut out = Vec::new();
    while let Some(component) = open.pop() {
        open.extend(component.children());
        out.push(component);
    }
    out
}

/// The names of components, and of properties with the names of their parameters.
fn check(octets: &[u8], about: &str) {
    let document = Document::parse(octets.to_vec().into()).expect("small");
    assert!(document.faults().is_empty(), "{about}: {:?}", document.faults());
    for component in all(&document) {
        for property in component.properties() {
            assert!(!property.is("X-INJECTED"), "{about}");
            for parameter in property.parameters() {
                assert_ne!(parameter.name, "X-INJECTED", "{about}");
            }
            let raw = property.value();
            let control = |octet: &u8| octet.is_ascii_control() && *octet != b'\t';
            assert!(!raw.iter().any(control), "{about}: {:?}", String::from_utf8_lossy(&raw));
        }
    }
    let entities = all(&document)
        .into_iter()
        .filter(|component| component.is("VEVENT"))
        .count();
    assert_eq!(entities, 1, "{about}");
}

fn fields(structured: StructuredData) -> NewFields {
    NewFields {
        start: Some(Temporal::parse(b"20260706T090000Z", None).expect("a time")),
        structured,
        ..NewFields::default()
    }
}

fn created(uid: &str, fields: NewFields) -> Option<Vec<u8>> {
    let entity = NewEntity {
        kind: Kind::Event,
        uid: uid.to_owned(),
        fields,
        series: None,
    };
    create(&entity, now()).ok().map(|octets| octets.to_vec())
}

#[test]
fn the_sample_is_written_as_it_is() {
    let data = StructuredData::from_json(&sample(), Kind::Event, "").expect("good");
    let octets = created("1", fields(data)).expect("an Event");
    check(&octets, "the sample");
    assert!(octets.windows(8).any(|part| part == b"location"));
}

#[test]
fn structured_data_makes_no_lines_of_its_own() {
    let plain = created("1", fields(StructuredData::default())).expect("an Event");
    let plain = Entity::read(plain.into());
    let (mut written, mut refused) = (0, 0);
    let sample = sample();
    for (member, whole) in sample.as_object().expect("an object") {
        for text in HOSTILE {
            for value in variants(whole, text) {
                let about = format!("{member}: {value}");
                let made = StructuredData::from_json(&json!({member: value}), Kind::Event, "").ok();
                let made = made.and_then(|data| created("1", fields(data)));
                made.iter().for_each(|octets| check(octets, &about));
                let patch = if member == "organizer" {
                    let organizer = NamedUri::from_json(&value, "").ok();
                    organizer.map(|organizer| Patch {
                        scalars: vec![ScalarPatch::Organizer(Some(organizer))],
                        ..Patch::default()
                    })
                } else {
                    let instruction = json!({"field": member, "operation": "replaceAll", "values": value});
                    let collection = CollectionPatch::from_json(&instruction, Kind::Event, "").ok();
                    collection.map(|collection| Patch {
                        collections: vec![collection],
                        ..Patch::default()
                    })
                };
                let patched = patch.and_then(|patch| self::patch(&plain, &Target::Master, &patch, now()).ok());
                if let Some(Edited::Changed(octets)) = &patched {
                    check(octets, &about);
                }
                assert_eq!(made.is_some(), patched.is_some(), "created and patched alike: {about}");
                *if made.is_some() { &mut written } else { &mut refused } += 1;
            }
        }
    }
    assert!(written > 500 && refused > 500, "{written} written, {refused} refused");
}

#[test]
fn scalars_make_no_lines_of_their_own() {
    let plain = created("1", fields(StructuredData::default())).expect("an Event");
    let plain = Entity::read(plain.into());
    let mut written = 0;
    for text in HOSTILE {
        let some = || Some(text.to_owned());
        let zoned = Temporal::Zoned("2026-07-06T09:00:00".parse().expect("a time"), text.into());
        let scalars = [
            ScalarPatch::Summary(some()),
            ScalarPatch::Description(some()),
            ScalarPatch::Location(some()),
            ScalarPatch::Start(Some(zoned.clone())),
            ScalarPatch::End(Some(zoned.clone())),
            ScalarPatch::Duration(some()),
            ScalarPatch::Status(some()),
            ScalarPatch::Transparency(some()),
            ScalarPatch::Classification(some()),
            ScalarPatch::Url(some()),
        ];
        let set = |rrule: &str, rdate: &Temporal| NewRecurrence {
            rrule: Some(rrule.to_owned()),
            rdates: Some(vec![DateOrPeriod::Date(rdate.clone())]),
            ..NewRecurrence::default()
        };
        let utc = Temporal::parse(b"20260708T090000Z", None).expect("a time");
        let daily = |text: &str| format!("FREQ=DAILY;{text}");
        let sets = [
            set(text, &utc),
            set(&daily(text), &utc),
            set("FREQ=DAILY;COUNT=3", &zoned),
        ];
        let sets = sets.map(|set| ScalarPatch::RecurrenceSet {
            set: Some(set),
            orphans: Vec::new(),
        });
        for scalar in scalars.into_iter().chain(sets) {
            let about = format!("{scalar:?}");
            let patch = Patch {
                scalars: vec![scalar],
                ..Patch::default()
            };
            if let Ok(Edited::Changed(octets)) = self::patch(&plain, &Target::EntireSet, &patch, now()) {
                check(&octets, &about);
                written += 1;
            }
        }
        let base = || fields(StructuredData::default());
        #[rustfmt::skip]
        let new = [
            ("1", NewFields { summary: some(), ..base() }),
            ("1", NewFields { description: some(), ..base() }),
            ("1", NewFields { location: some(), ..base() }),
            ("1", NewFields { duration: some(), ..base() }),
            ("1", NewFields { status: some(), ..base() }),
            ("1", NewFields { transparency: some(), ..base() }),
            ("1", NewFields { classification: some(), ..base() }),
            ("1", NewFields { url: some(), ..base() }),
            ("1", NewFields { categories: vec![text.to_owned(), "b".to_owned()], ..base() }),
            ("1", NewFields { start: Some(zoned.clone()), ..base() }),
            (text, base()),
        ];
        for (uid, fields) in new {
            let about = format!("{uid:?} {fields:?}");
            if let Some(octets) = created(uid, fields) {
                check(&octets, &about);
                written += 1;
            }
        }
    }
    assert!(written > 40, "{written} written");
}

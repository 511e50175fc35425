//! Edits of any document: some octets, then a script of edits.
//!
//! The data up to the first NUL is a document, or with one octet the number of a [`TEMPLATES`] entry; the rest is the
//! script. Each step changes content lines as [`Changes`] does, or is an edit of an Event or To-do.

use bytes::Bytes;
use jiff::Timestamp;
use kalends_core::ical::changes::Changes;
use kalends_core::ical::document::{Component, Document, FaultKind, Parameter, Property};
use kalends_core::ical::edit::Edited;
use kalends_core::ical::edit::collection::CollectionPatch;
use kalends_core::ical::edit::complete::complete;
use kalends_core::ical::edit::create::{NewEntity, NewFields, NewOverride, NewSeries, create};
use kalends_core::ical::edit::occurrence;
use kalends_core::ical::edit::patch::{Patch, Target, patch};
use kalends_core::ical::edit::recurrence_set::NewRecurrence;
use kalends_core::ical::edit::scalar::ScalarPatch;
use kalends_core::ical::encode::{ContentLine, NewComponent, escape_text};
use kalends_core::ical::entity::{Entity, Kind};
use kalends_core::ical::expand::Window;
use kalends_core::ical::recur::Steps;
use kalends_core::ical::structured::StructuredData;
use kalends_core::ical::value::{DateOrPeriod, Geo, Temporal, text};
use kalends_core::ical::zone::Zone;
use kalends_core::outcome::{Error, Violation};
use serde_json::{Value, json};

const TEMPLATES: [&[u8]; 10] = [
    include_bytes!("../../tests/corpus/plain.ics"),
    include_bytes!("../../tests/corpus/override.ics"),
    include_bytes!("../../tests/corpus/this-and-future.ics"),
    include_bytes!("../../tests/corpus/exdate-lines.ics"),
    include_bytes!("../../tests/corpus/exdate-dates.ics"),
    include_bytes!("../../tests/corpus/todo-recurring.ics"),
    include_bytes!("../../tests/corpus/todo.ics"),
    include_bytes!("../../tests/corpus/attendees.ics"),
    include_bytes!("../../tests/corpus/like-apple.ics"),
    include_bytes!("../../tests/corpus/mixed-line-ends.ics"),
];

/// One of each element of a collection.
const SAMPLE: &str = include_str!("../../tests/data/structured-data-input.json");

/// June through September 2026, where the templates have their occurrences.
const WINDOW: Window = Window {
    from: 1_780_272_000,
    to: 1_790_812_800,
};

const STEPS: usize = 6;

const TEXTS: [&str; 16] = [
    "Lunch",
    "",
    "x\r\nX-INJECTED:1",
    "x\nX-INJECTED:1",
    "x\rX-INJECTED:1",
    "\u{2028}X-INJECTED:1\u{85}",
    "a, b; c\\d:e \"f\" ^n^'",
    "Grüße 🎉 aus Köln, wo die Zeile länger als fünfundsiebzig Oktette ist, und wieder 🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉",
    "\0\u{7f}",
    "mailto:a@example.com",
    "https://example.com/",
    "confirmed",
    "X-OTHER",
    "PT1H",
    "P1D",
    " x ",
];

const TIMES: [(&str, Option<&str>); 10] = [
    ("20260706", None),
    ("20260708", None),
    ("20260706T090000Z", None),
    ("20260707T100000Z", None),
    ("20260713T070000Z", None),
    ("20260706T090000", None),
    ("20260706T090000", Some("Europe/Berlin")),
    ("20260708T113000", Some("Europe/Berlin")),
    ("20260329T023000", Some("Europe/Berlin")),
    ("20261101T013000", Some("America/New_York")),
];

const RULES: [&str; 6] = [
    "FREQ=DAILY;COUNT=5",
    "FREQ=WEEKLY;BYDAY=MO,WE",
    "FREQ=MONTHLY;UNTIL=20261231T090000Z",
    "FREQ=DAILY;UNTIL=20260720",
    "FREQ=HOURLY;INTERVAL=30;COUNT=20",
    "FREQ=YEARLY;BYMONTH=7;BYDAY=1MO",
];

/// Properties that any edit may change: its stamps, and what follows from the times of a series.
const FOLLOW: [&str; 13] = [
    "DTSTAMP",
    "LAST-MODIFIED",
    "SEQUENCE",
    "COMPLETED",
    "PERCENT-COMPLETE",
    "DTSTART",
    "DTEND",
    "DUE",
    "DURATION",
    "RRULE",
    "RDATE",
    "EXDATE",
    "RECURRENCE-ID",
];

pub(crate) fn play(data: &[u8]) {
    let end = data.iter().position(|octet| *octet == 0).unwrap_or(data.len());
    let octets = match data[..end] {
        [number] => TEMPLATES[usize::from(number) % TEMPLATES.len()],
        _ => &data[..end],
    };
    let Ok(mut document) = Document::parse(Bytes::copy_from_slice(octets)) else {
        return;
    };
    let mut script = Script(data.get(end + 1..).unwrap_or_default());
    for _ in 0..STEPS {
        if script.0.is_empty() {
            return;
        }
        document = match script.byte() % 8 {
            0 | 1 => lines(document, &mut script),
            2 | 3 => occurrence(document, &mut script),
            4 => created(&mut script).unwrap_or(document),
            _ => entity(document, &mut script),
        };
    }
}

/// What is left of the script; zeros after its end.
struct Script<'a>(&'a [u8]);

impl<'a> Script<'a> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    fn below(&mut self, count: usize) -> usize {
        usize::from(self.byte()) % count.max(1)
    }

    /// One of [`TEXTS`], or octets of the script.
    fn text(&mut self) -> String {
        let byte = usize::from(self.byte());
        if let Some(text) = TEXTS.get(byte) {
            return (*text).to_owned();
        }
        let (text, rest) = self.0.split_at((byte % 40).min(self.0.len()));
        self.0 = rest;
        String::from_utf8_lossy(text).into_owned()
    }

    fn time(&mut self) -> Temporal {
        let (time, zone) = TIMES[self.below(TIMES.len())];
        Temporal::parse(time.as_bytes(), zone).expect("a time")
    }

    fn maybe<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (!self.byte().is_multiple_of(8)).then(|| read(self))
    }
}

fn components(document: &Document) -> Vec<Component<'_>> {
    let mut open: Vec<_> = document.roots().collect();
    let mut out = Vec::new();
    while let Some(component) = open.pop() {
        open.extend(component.children());
        out.push(component);
    }
    out.sort_by_key(|component| component.index());
    out
}

fn properties(document: &Document) -> Vec<Property<'_>> {
    let mut all: Vec<_> = components(document)
        .into_iter()
        .flat_map(Component::properties)
        .collect();
    all.sort_by_key(|property| property.index());
    all
}

/// Whether it is clear what belongs to what.
fn is_clear(document: &Document) -> bool {
    document
        .faults()
        .iter()
        .all(|fault| matches!(fault.kind, FaultKind::NoColon | FaultKind::UnbalancedQuote))
}

/// The octets after changes: those that no change is about stay.
fn applied(changes: Changes<'_>, before: &Document) -> Document {
    let mut splices: Vec<_> = changes
        .splices()
        .map(|(range, octets)| (range, octets.to_vec()))
        .collect();
    splices.sort_by_key(|(range, _)| range.start);
    let after = changes.octets();
    let (mut rest, mut at) = (&after[..], 0);
    for (range, octets) in splices {
        let same = &before.bytes()[at..range.start];
        assert!(rest.starts_with(same), "octets before a change");
        rest = &rest[same.len()..];
        assert!(rest.starts_with(&octets));
        (rest, at) = (&rest[octets.len()..], range.end);
    }
    assert_eq!(rest, &before.bytes()[at..], "octets after the last change");
    Document::parse(after).expect("it grew by little")
}

/// Changes content lines.
fn lines(document: Document, script: &mut Script<'_>) -> Document {
    let (all, inside) = (properties(&document), components(&document));
    let mut changes = Changes::of(&document);
    match script.byte() % 5 {
        0 | 1 if !all.is_empty() => {
            let property = all[script.below(all.len())];
            let value = escape_text(&script.text()).into_owned();
            if changes.set_value(property, &value).is_err() {
                return document;
            }
            let after = applied(changes, &document);
            let again = after.property(property.index());
            assert_eq!(after.line_count(), document.line_count());
            assert_eq!((again.name(), &*again.value()), (property.name(), value.as_bytes()));
            assert_eq!(again.parameters(), property.parameters());
            after
        }
        2 if !all.is_empty() => {
            let property = all[script.below(all.len())];
            changes.replace(property, &[]);
            let after = applied(changes, &document);
            assert_eq!(after.line_count() + 1, document.line_count());
            after
        }
        3 if !inside.is_empty() => {
            let component = inside[script.below(inside.len())];
            let value = script.text();
            let parameter = Parameter {
                name: "X-P".to_owned(),
                values: vec![script.text(), script.text()],
            };
            let Ok(line) = ContentLine::text("X-NEW", std::slice::from_ref(&parameter), &value) else {
                return document;
            };
            let met = component.all("X-NEW").count();
            changes.add(component, &[line]);
            let after = applied(changes, &document);
            assert_eq!(after.line_count(), document.line_count() + 1);
            if is_clear(&document) {
                let component = after.component(component.index());
                assert_eq!(component.all("X-NEW").count(), met + 1);
                // The value is read as it was meant, but for spellings of line ends.
                let plain = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n");
                let found = component.all("X-NEW").find(|property| {
                    text(property.value()) == plain(&value)
                        && property.parameters().first().is_some_and(|read| {
                            read.values.len() == 2
                                && read.values.iter().zip(&parameter.values).all(|(a, b)| *a == plain(b))
                        })
                });
                assert!(found.is_some(), "{value:?} {parameter:?}");
            }
            after
        }
        4 if !inside.is_empty() => {
            let component = inside[script.below(inside.len())];
            let mut new = NewComponent::new("X-COMPONENT").expect("a token");
            new.lines.extend(ContentLine::text("X-INNER", &[], &script.text()));
            if script.byte().is_multiple_of(2) {
                changes.add_components(component, &[new]);
            } else {
                changes.add_components_first(component, &[new]);
            }
            let after = applied(changes, &document);
            if is_clear(&document) && inside.len() < 50 {
                assert_eq!(components(&after).len(), inside.len() + 1);
                assert!(is_clear(&after));
            }
            after
        }
        _ => {
            let Some(component) = inside.last() else {
                return document;
            };
            changes.remove(*component);
            let after = applied(changes, &document);
            if is_clear(&document) {
                assert_eq!(components(&after).len(), inside.len() - 1);
            }
            after
        }
    }
}

/// An identity with its times.
type Occurrence = (Temporal, i64, i64);

fn occurrences(entity: &Entity) -> Option<Vec<Occurrence>> {
    let all = entity.occurrences(&Zone::utc(), WINDOW, &mut Steps::new(20_000)).ok()?;
    Some(all.into_iter().map(|one| (one.identity, one.from, one.to)).collect())
}

fn scalar(script: &mut Script<'_>) -> ScalarPatch {
    match script.byte() % 14 {
        0 => ScalarPatch::Summary(script.maybe(Script::text)),
        1 => ScalarPatch::Description(script.maybe(Script::text)),
        2 => ScalarPatch::Location(script.maybe(Script::text)),
        3 => ScalarPatch::Start(script.maybe(Script::time)),
        4 => ScalarPatch::End(script.maybe(Script::time)),
        5 => ScalarPatch::Duration(script.maybe(Script::text)),
        6 => ScalarPatch::Geo(script.maybe(|script| Geo {
            latitude: f64::from(script.byte()) - 100.0,
            longitude: f64::from(script.byte()) / 3.0,
        })),
        7 => ScalarPatch::Status(script.maybe(Script::text)),
        8 => ScalarPatch::Transparency(script.maybe(Script::text)),
        9 => ScalarPatch::Classification(script.maybe(Script::text)),
        10 => ScalarPatch::Priority(script.maybe(|script| script.byte() % 12)),
        11 => ScalarPatch::PercentComplete(script.maybe(|script| script.byte() % 110)),
        12 => ScalarPatch::RecurrenceSet {
            set: script.maybe(set),
            orphans: Vec::new(),
        },
        _ => ScalarPatch::Url(script.maybe(Script::text)),
    }
}

fn set(script: &mut Script<'_>) -> NewRecurrence {
    NewRecurrence {
        rrule: script.maybe(|script| match script.below(RULES.len() + 1) {
            0 => script.text(),
            at => RULES[at - 1].to_owned(),
        }),
        rdates: script.maybe(|script| {
            (0..script.byte() % 4)
                .map(|_| DateOrPeriod::Date(script.time()))
                .collect()
        }),
        exdates: script.maybe(|script| (0..script.byte() % 4).map(|_| script.time()).collect()),
        overrides: None,
    }
}

/// The sample with some of its texts exchanged.
fn sampled(value: &mut Value, script: &mut Script<'_>) {
    match value {
        Value::String(text) => {
            if !script.0.is_empty() && script.byte() % 8 == 1 {
                *text = script.text();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| sampled(item, script)),
        Value::Object(members) => members.values_mut().for_each(|member| sampled(member, script)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A collection of the sample, with its name in the inputs.
fn sample(script: &mut Script<'_>) -> (String, Value) {
    let all: Value = serde_json::from_str(SAMPLE).expect("JSON");
    let members = all.as_object().expect("an object");
    let at = script.below(members.len() + 1);
    let (name, mut value) = match members.iter().nth(at) {
        Some((name, value)) => (name.clone(), value.clone()),
        None => ("categories".to_owned(), json!(["one", "two"])),
    };
    sampled(&mut value, script);
    (name, value)
}

fn collection(kind: Kind, script: &mut Script<'_>) -> Option<CollectionPatch> {
    let (field, value) = sample(script);
    let instruction = match script.byte() % 4 {
        0 => json!({"field": field, "operation": "replaceAll", "values": []}),
        1 => json!({"field": field, "operation": "replaceAll", "values": value}),
        2 => json!({"field": field, "operation": "addRemove", "remove": value}),
        _ => json!({"field": field, "operation": "addRemove", "add": value}),
    };
    CollectionPatch::from_json(&instruction, kind, "/patch/collections/0").ok()
}

/// 2026-11-30 12:00:00 UTC.
fn now() -> Timestamp {
    Timestamp::from_second(1_796_040_000).expect("in range")
}

/// One of the occurrences, or some time.
fn identity(known: Option<&Vec<Occurrence>>, script: &mut Script<'_>) -> Temporal {
    match known {
        Some(all) if !all.is_empty() && !script.byte().is_multiple_of(8) => all[script.below(all.len())].0.clone(),
        _ => script.time(),
    }
}

/// Those but the one with this identity.
fn others(all: &[Occurrence], identity: &Temporal) -> Vec<Occurrence> {
    all.iter().filter(|(one, ..)| one != identity).cloned().collect()
}

/// What an edit made, if it made something: the Event or To-do that it was.
fn made(before: &Entity, edited: Result<Edited, Box<Error>>) -> Option<Entity> {
    let octets = match edited {
        Ok(Edited::Changed(octets)) => octets,
        Ok(Edited::Unchanged) => return None,
        Err(error) => {
            let good = |violation: &Violation| violation.pointer.starts_with('/');
            assert!(error.violations.iter().all(good), "{error:?}");
            return None;
        }
    };
    let after = Entity::read(octets);
    assert_eq!(after.opaque(), None);
    assert_eq!((after.kind(), after.uid()), (before.kind(), before.uid()));
    assert!(is_clear(after.document()));
    Some(after)
}

/// Adds, excludes, cancels, completes one occurrence, and takes it back.
fn occurrence(document: Document, script: &mut Script<'_>) -> Document {
    type Edit = fn(&Entity, &Temporal, Timestamp) -> Result<Edited, Box<Error>>;
    let before = Entity::from_document(document.clone());
    let known = occurrences(&before);
    let identity = identity(known.as_ref(), script);
    let completed: Edit = |entity, identity, now| {
        let identity = entity.is_recurring().then_some(identity);
        complete(entity, identity, now)
    };
    let (there, back): (Edit, Option<Edit>) = match script.byte() % 6 {
        0 => (occurrence::add, None),
        1 => (occurrence::exclude, Some(occurrence::restore_exclusion)),
        2 => (occurrence::restore_exclusion, None),
        3 => (occurrence::cancel, Some(occurrence::restore_cancellation)),
        4 => (occurrence::restore_cancellation, None),
        _ => (completed, None),
    };
    let Some(after) = made(&before, there(&before, &identity, now())) else {
        return document;
    };
    let context = || format!("{identity:?}\n{}", String::from_utf8_lossy(after.document().bytes()));
    untouched(&before, &after, &["STATUS"], &context);
    let again = there(&after, &identity, now());
    assert!(matches!(again, Ok(Edited::Unchanged)), "{again:?} {}", context());
    let new = occurrences(&after);
    if let (Some(old), Some(new)) = (&known, &new) {
        // A day may name several occurrences of a series with times.
        if !identity.is_date() {
            assert_eq!(others(old, &identity), others(new, &identity), "{}", context());
        }
    }
    if let Some(back) = back {
        let restored = made(&after, back(&after, &identity, now())).expect("it can be taken back");
        assert_eq!(occurrences(&restored), known, "{}", context());
        untouched(&after, &restored, &["STATUS"], &context);
    }
    after.document().clone()
}

/// Edits an Event or To-do.
fn entity(document: Document, script: &mut Script<'_>) -> Document {
    let before = Entity::from_document(document.clone());
    let known = occurrences(&before);
    let identity = |script: &mut Script<'_>| identity(known.as_ref(), script);
    let target = match script.byte() % 6 {
        0 | 1 => Target::Master,
        2 => Target::EntireSet,
        3 => Target::ThisAndFuture(identity(script)),
        _ => Target::Occurrence(identity(script)),
    };
    let kind = before.kind().unwrap_or(Kind::Event);
    let scalars: Vec<_> = (0..script.byte() % 4).map(|_| scalar(script)).collect();
    let collections: Vec<_> = (0..script.byte() % 3)
        .filter_map(|_| collection(kind, script))
        .collect();
    let instructions = Patch { scalars, collections };
    let Some(after) = made(&before, patch(&before, &target, &instructions, now())) else {
        return document;
    };
    let fields: Vec<_> = instructions.scalars.iter().map(|scalar| scalar.field(kind)).collect();
    let timed = ["start", "end", "due", "duration", "recurrenceSet"]
        .iter()
        .any(|field| fields.contains(field));
    let context = || {
        format!(
            "{target:?} {instructions:?}\n{}",
            String::from_utf8_lossy(after.document().bytes())
        )
    };
    let touched: Vec<_> = fields.iter().map(|field| property_of(field)).collect();
    if instructions.collections.is_empty() {
        untouched(&before, &after, &touched, &context);
    } else {
        let none = injected(&document) > 0 || injected(after.document()) == 0;
        assert!(none, "{}", context());
    }
    if let (Some(old), Some(new)) = (&known, occurrences(&after)) {
        if !timed {
            assert_eq!(*old, new, "{}", context());
        } else if let Target::Occurrence(identity) = &target {
            assert_eq!(others(old, identity), others(&new, identity), "{}", context());
        }
    }
    if let ([ScalarPatch::Summary(summary)], Target::Master) = (&instructions.scalars[..], &target) {
        let shown = serde_json::to_value(after.projection()).expect("it can be shown");
        let meant = summary
            .as_ref()
            .map(|text| text.replace("\r\n", "\n").replace('\r', "\n"));
        assert_eq!(shown["fields"]["summary"].as_str(), meant.as_deref(), "{}", context());
    }
    if instructions.collections.is_empty() {
        let again = patch(&after, &target, &instructions, now());
        assert!(matches!(again, Ok(Edited::Unchanged)), "{again:?} {}", context());
    }
    after.document().clone()
}

/// How many properties there are that only texts of the script name.
fn injected(document: &Document) -> usize {
    properties(document)
        .iter()
        .filter(|property| property.is("X-INJECTED"))
        .count()
}

/// No line is gone but of these properties and of those that follow from them, and no text has made one.
fn untouched(before: &Entity, after: &Entity, touched: &[&str], context: &dyn Fn() -> String) {
    let (before, after) = (before.document(), after.document());
    assert!(injected(before) > 0 || injected(after) == 0, "{}", context());
    let kept = |document: &Document| -> Vec<Vec<u8>> {
        let all = properties(document).into_iter();
        let all = all.filter(|property| !touched.iter().chain(&FOLLOW).any(|name| property.is(name)));
        let mut slices: Vec<_> = all.map(|property| property.slice().trim_ascii_end().to_vec()).collect();
        slices.sort();
        slices
    };
    let (old, new) = (kept(before), kept(after));
    let mut rest = new.iter();
    for line in &old {
        assert!(
            rest.any(|other| other == line),
            "{} is gone: {}",
            String::from_utf8_lossy(line),
            context()
        );
    }
}

/// The property of a field.
fn property_of(field: &str) -> &'static str {
    match field {
        "summary" => "SUMMARY",
        "description" => "DESCRIPTION",
        "location" => "LOCATION",
        "geo" => "GEO",
        "status" => "STATUS",
        "transparency" => "TRANSP",
        "classification" => "CLASS",
        "priority" => "PRIORITY",
        "url" => "URL",
        "organizer" => "ORGANIZER",
        _ => "DTSTART",
    }
}

/// A new Event or To-do.
fn created(script: &mut Script<'_>) -> Option<Document> {
    let kind = if script.byte().is_multiple_of(2) {
        Kind::Event
    } else {
        Kind::Todo
    };
    let (member, value) = sample(script);
    let structured = StructuredData::from_json(&json!({member: value}), kind, "/entity/fields/structuredData");
    let summary = script.maybe(Script::text);
    let fields = NewFields {
        summary: summary.clone(),
        description: script.maybe(Script::text),
        start: script.maybe(Script::time),
        end: (script.byte() % 4 == 1).then(|| script.time()),
        duration: (script.byte() % 4 == 1).then(|| script.text()),
        status: (script.byte() % 4 == 1).then(|| script.text()),
        categories: (0..script.byte() % 3).map(|_| script.text()).collect(),
        structured: structured.unwrap_or_default(),
        ..NewFields::default()
    };
    let uid = script.text();
    let series = (script.byte() % 4 == 1).then(|| NewSeries {
        set: set(script),
        overrides: (0..script.byte() % 3)
            .map(|_| NewOverride {
                identity: script.time(),
                future: script.byte() % 4 == 1,
                cancelled: script.byte() % 4 == 1,
                fields: NewFields {
                    summary: script.maybe(Script::text),
                    ..NewFields::default()
                },
            })
            .collect(),
    });
    let new = NewEntity {
        kind,
        uid,
        fields,
        series,
    };
    let made = Entity::read(create(&new, now()).ok()?);
    assert_eq!((made.opaque(), made.kind()), (None, Some(kind)), "{new:?}");
    assert!(made.document().faults().is_empty());
    assert!(
        properties(made.document())
            .iter()
            .all(|property| !property.is("X-INJECTED")),
        "{new:?}"
    );
    let shown = serde_json::to_value(made.projection()).expect("it can be shown");
    let meant = summary.map(|text| text.replace("\r\n", "\n").replace('\r', "\n"));
    assert_eq!(shown["fields"]["summary"].as_str(), meant.as_deref(), "{new:?}");
    Some(made.document().clone())
}

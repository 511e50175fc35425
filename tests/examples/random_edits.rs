//! Makes random edits for `tests/corpus/random_edits.py`, which judges them.
//!
//!   usage: random_edits FOLDER COUNT SEED < PATHS
//!
//! Each line of stdin names a calendar file. Edits take turns by what they are about: every scalar field, collection and
//! scope, the recurrence set, completion, the edits of one occurrence, and new resources. What an edit makes may be edited
//! again. Octets go to FOLDER; each line of stdout tells one edit: what was asked, of which file, and what came of it.
#![expect(clippy::print_stdout, reason = "the answers")]

use std::fs;
use std::io::stdin;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kalends_core::ical::edit::collection::CollectionPatch;
use kalends_core::ical::edit::create::{NewEntity, NewFields, NewSeries, create};
use kalends_core::ical::edit::patch::{Patch, Target, patch};
use kalends_core::ical::edit::recurrence_set::{NewRecurrence, Orphan, OverrideName};
use kalends_core::ical::edit::scalar::ScalarPatch;
use kalends_core::ical::edit::{Edited, complete::complete, occurrence};
use kalends_core::ical::entity::{Entity, Kind};
use kalends_core::ical::expand::{Instance, Window};
use kalends_core::ical::recur::Steps;
use kalends_core::ical::structured::{NamedUri, StructuredData};
use kalends_core::ical::value::{Geo, Temporal};
use kalends_core::ical::zone::Zone;
use kalends_core::outcome::Error;
use serde_json::{Map, Value, json};

/// Files that are larger say nothing new.
const LARGEST: usize = 60_000;
/// Resources that edits made and that may be edited again.
const KEPT: usize = 400;

const SCALARS: [&str; 15] = [
    "summary",
    "description",
    "location",
    "start",
    "end",
    "duration",
    "geo",
    "status",
    "transparency",
    "classification",
    "priority",
    "percentComplete",
    "url",
    "organizer",
    "recurrenceSet",
];
const COLLECTIONS: [&str; 18] = [
    "categories",
    "attendees",
    "participants",
    "contacts",
    "resources",
    "relatedTo",
    "requestStatuses",
    "alarms",
    "attachments",
    "comments",
    "styledDescriptions",
    "images",
    "conferences",
    "links",
    "concepts",
    "structuredDataUris",
    "locationUris",
    "resourceUris",
];
const SCOPES: [&str; 4] = ["master", "entire-set", "one-occurrence", "this-and-future"];
const OPERATIONS: [&str; 4] = ["add", "remove", "replaceAll", "clear"];
const OTHERS: [&str; 8] = [
    "complete",
    "complete-occurrence",
    "add",
    "exclude",
    "restore_exclusion",
    "cancel",
    "restore_cancellation",
    "create",
];
const TEXTS: [&str; 8] = [
    "Lunch",
    "commas, semicolons; colons: and = equals",
    "two\nlines\n\nand more",
    "\"double\" 'single' \\ back\\nslash ^n ^'",
    "Grüße aus Köln – ÄÖÜß",
    "🎉 Fête 👨‍👩‍👧 שלום",
    "BEGIN:VALARM",
    "a text that is long enough for a fold, and then for another: ääääääääääääääääääääääääääääääääääääääääääääääää",
];

/// Numbers in an order that looks like none.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides.max(1)
    }

    fn pick<'a, T>(&mut self, things: &'a [T]) -> Option<&'a T> {
        things.get(self.roll(things.len()))
    }
}

/// A resource with what is needed to ask for something that it has.
struct Known {
    path: PathBuf,
    entity: Entity,
    kind: Kind,
    shown: Value,
    occurrences: Arc<Vec<Instance>>,
}

impl Known {
    fn read(path: PathBuf, octets: Vec<u8>) -> Option<Self> {
        let entity = Entity::read(octets.into());
        let kind = entity.kind().filter(|_| entity.opaque().is_none())?;
        let start = entity
            .placement(&Zone::utc())
            .ok()
            .and_then(|placement| placement.start);
        let from = start.map_or(0, |start| start.second) - 86_400;
        let window = Window {
            from,
            to: from + 400 * 86_400,
        };
        let occurrences = entity.shared_occurrences(&Zone::utc(), window, &mut Steps::new(100_000));
        let shown = serde_json::to_value(entity.projection()).expect("serializes");
        Some(Self {
            path,
            kind,
            shown,
            occurrences: occurrences.unwrap_or_default(),
            entity,
        })
    }

    fn start(&self) -> Option<Temporal> {
        Some(self.entity.placement(&Zone::utc()).ok()?.start?.source)
    }

    /// The member of the shown resource with this name, wherever it is.
    fn member<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
        let object = value.as_object()?;
        let own = object.get(name).filter(|found| !found.is_null());
        own.or_else(|| object.values().find_map(|inner| Self::member(inner, name)))
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut argument = || arguments.next().expect("FOLDER COUNT SEED");
    let (folder, count, seed) = (PathBuf::from(argument()), argument(), argument());
    let count: usize = count.parse().expect("a number");
    let mut pool = Vec::new();
    for path in stdin().lines() {
        let path = PathBuf::from(path.expect("a path"));
        let octets = fs::read(&path).expect("readable");
        if octets.len() <= LARGEST
            && let Some(known) = Known::read(path, octets)
        {
            pool.push(known);
        }
    }
    let files = pool.len();
    let mut dice = Dice(seed.parse().expect("a number"));
    let mut turns: Vec<(&str, &str, &str)> = OTHERS.iter().map(|other| (*other, "", "")).collect();
    for scope in SCOPES {
        turns.extend(
            SCALARS
                .iter()
                .flat_map(|field| ["set", "clear"].map(|how| (*field, scope, how))),
        );
        turns.extend(
            COLLECTIONS
                .iter()
                .flat_map(|field| OPERATIONS.map(|how| (*field, scope, how))),
        );
    }
    // The rarer ones come oftener.
    turns.extend(OTHERS.iter().flat_map(|other| vec![(*other, "", ""); 5]));
    turns.extend(vec![("recurrenceSet", "entire-set", "set"); 8]);
    let (mut changed, mut number) = (0, 0);
    while changed < count && number < count * 6 {
        let (field, scope, how) = turns[number % turns.len()];
        let instruction = Instruction {
            field,
            scope,
            how,
            number,
        };
        number += 1;
        let out = folder.join(format!("{number}.ics"));
        let Some((mut told, before, done)) = instruction.run(&pool, &mut dice) else {
            continue;
        };
        told["before"] = json!(before);
        told["result"] = match done {
            Ok(Edited::Unchanged) => json!("unchanged"),
            Err(error) => json!(error.code),
            Ok(Edited::Changed(octets)) => {
                changed += 1;
                fs::write(&out, &octets).expect("writable");
                told["out"] = json!(out);
                if let Some(known) = Known::read(out, octets.to_vec()).filter(|_| dice.roll(3) == 0) {
                    match pool.len() < files + KEPT {
                        true => pool.push(known),
                        false => {
                            let at = files + dice.roll(KEPT);
                            pool[at] = known;
                        }
                    }
                }
                json!("changed")
            }
        };
        println!("{told}");
    }
}

struct Instruction<'a> {
    field: &'a str,
    scope: &'a str,
    how: &'a str,
    number: usize,
}

type Outcome = Result<Edited, Box<Error>>;
type Done = (Value, Option<PathBuf>, Outcome);
type Field = fn(Option<String>) -> ScalarPatch;

impl Instruction<'_> {
    /// `None` if there is no resource that it could be about.
    fn run(&self, pool: &[Known], dice: &mut Dice) -> Option<Done> {
        let now = Timestamp::from_second(1_900_000_000 + self.number as i64 * 61).expect("in range");
        if self.field == "create" {
            return Some(self.create(dice, now));
        }
        let needs_series = matches!(self.scope, "one-occurrence" | "this-and-future" | "") && self.field != "complete"
            || self.field == "recurrenceSet";
        let (event, todo) = match self.field {
            "location" | "geo" | "transparency" | "classification" | "url" => (true, false),
            "percentComplete" | "complete" | "complete-occurrence" => (false, true),
            _ => (true, true),
        };
        let fits = |known: &&Known| {
            let kind = match known.kind {
                Kind::Event => event,
                Kind::Todo => todo,
            };
            kind && (!needs_series || known.entity.is_recurring() && !known.occurrences.is_empty())
        };
        let fitting: Vec<_> = pool.iter().filter(fits).collect();
        let holders: Vec<_> = match self.how {
            "remove" | "clear" => fitting
                .iter()
                .copied()
                .filter(|known| Known::member(&known.shown, self.field).is_some())
                .collect(),
            _ => fitting
                .iter()
                .copied()
                .filter(|known| self.has_what_it_restores(known))
                .collect(),
        };
        let known = *dice.pick(&holders).or_else(|| dice.pick(&fitting))?;
        let before = Some(known.path.clone());
        let entity = &known.entity;
        if self.scope.is_empty() {
            let (identity, done) = self.occurrence(known, dice, now)?;
            let told = json!({"tool": self.field, "kind": known.kind, "identity": identity.map(|it| it.encoded())});
            return Some((told, before, done));
        }
        let target = match self.scope {
            "master" => Target::Master,
            "entire-set" => Target::EntireSet,
            "one-occurrence" => Target::Occurrence(dice.pick(&known.occurrences)?.identity.clone()),
            _ => Target::ThisAndFuture(dice.pick(&known.occurrences)?.identity.clone()),
        };
        let identity = match &target {
            Target::Occurrence(identity) | Target::ThisAndFuture(identity) => Some(identity.encoded()),
            Target::Master | Target::EntireSet => None,
        };
        let mut told = json!({
            "tool": "patch", "kind": known.kind, "scope": self.scope, "field": self.field, "how": self.how, "identity": identity,
        });
        if self.field == "recurrenceSet" {
            let (changes, done) = self.recurrence_set(known, &target, dice, now);
            told["text"] = json!(changes);
            return Some((told, before, done));
        }
        let mut change = Patch::default();
        if SCALARS.contains(&self.field) {
            let (scalar, text) = self.scalar(known, dice)?;
            told["text"] = json!(text);
            change.scalars.push(scalar);
        } else {
            let (collection, mark) = self.collection(known, dice)?;
            told["mark"] = json!(mark);
            change.collections.push(collection);
        }
        Some((told, before, patch(entity, &target, &change, now)))
    }

    fn has_what_it_restores(&self, known: &Known) -> bool {
        match self.field {
            "restore_cancellation" => known.occurrences.iter().any(|instance| instance.cancelled),
            "restore_exclusion" => Known::member(&known.shown, "exdates").is_some_and(|it| *it != json!([])),
            _ => false,
        }
    }

    /// A field with a new value, and that value in the form that readers give.
    fn scalar(&self, known: &Known, dice: &mut Dice) -> Option<(ScalarPatch, Option<String>)> {
        let set = self.how == "set";
        let text = |dice: &mut Dice, texts: &[&str]| Some((*dice.pick(texts)?).to_owned()).filter(|_| set);
        let near = |dice: &mut Dice| {
            let hours = [-30, -24, -1, 1, 5, 24, 48, 24 * 14][dice.roll(8)];
            let mut near = known
                .start()
                .or_else(|| "2026-05-04".parse().ok().map(Temporal::Date))?;
            let by = SignedDuration::from_hours(hours);
            match &mut near {
                Temporal::Date(day) => *day = day.checked_add(SignedDuration::from_hours(hours / 24 * 24)).ok()?,
                Temporal::Floating(time) | Temporal::Utc(time) | Temporal::Zoned(time, _) => {
                    *time = time.checked_add(by).ok()?;
                }
            }
            Some(match dice.roll(8) {
                0 => Temporal::Date(near.civil().date()),
                1 => Temporal::Utc(near.civil()),
                2 => Temporal::Zoned(near.civil(), "Europe/Lisbon".into()),
                _ => near,
            })
        };
        Some(match self.field {
            "start" | "end" => {
                let time = near(dice).filter(|_| set);
                let text = time.as_ref().map(Temporal::encoded);
                let scalar = match self.field {
                    "start" => ScalarPatch::Start(time),
                    _ => ScalarPatch::End(time),
                };
                (scalar, text)
            }
            "geo" => {
                let geo = set.then(|| Geo {
                    latitude: dice.roll(90) as f64 + 0.5,
                    longitude: -(dice.roll(180) as f64),
                });
                let text = geo.map(|geo| format!("{};{}", geo.latitude, geo.longitude));
                (ScalarPatch::Geo(geo), text)
            }
            "priority" => {
                let number = set.then(|| dice.roll(10) as u8);
                (ScalarPatch::Priority(number), number.map(|number| number.to_string()))
            }
            "percentComplete" => {
                let number = set.then(|| dice.roll(101) as u8);
                (
                    ScalarPatch::PercentComplete(number),
                    number.map(|number| number.to_string()),
                )
            }
            "organizer" => {
                let uri = format!("mailto:chair-{}@example.com", self.number);
                let json = json!({"uri": uri, "label": "Ms. Chair, really", "parameters": []});
                let organizer = set.then(|| NamedUri::from_json(&json, "").expect("an organizer"));
                (ScalarPatch::Organizer(organizer), set.then_some(uri))
            }
            field => {
                let (scalar, texts): (Field, &[&str]) = match (field, known.kind) {
                    ("summary", _) => (ScalarPatch::Summary, &TEXTS),
                    ("description", _) => (ScalarPatch::Description, &TEXTS),
                    ("location", _) => (ScalarPatch::Location, &TEXTS),
                    ("duration", _) => (ScalarPatch::Duration, &["PT45M", "P1D", "PT2H30M", "P2W"]),
                    ("status", Kind::Event) => (ScalarPatch::Status, &["TENTATIVE", "CONFIRMED", "CANCELLED"]),
                    ("status", Kind::Todo) => (ScalarPatch::Status, &["NEEDS-ACTION", "IN-PROCESS", "COMPLETED"]),
                    ("transparency", _) => (ScalarPatch::Transparency, &["OPAQUE", "TRANSPARENT"]),
                    ("classification", _) => (ScalarPatch::Classification, &["PRIVATE", "CONFIDENTIAL", "PUBLIC"]),
                    ("url", _) => (ScalarPatch::Url, &["https://example.com/a?b=c;d,e", "urn:x:y"]),
                    _ => unreachable!("no scalar {field}"),
                };
                let text = text(dice, texts);
                (scalar(text.clone()), text)
            }
        })
    }

    /// A change of a collection, and a text that comes in with it.
    fn collection(&self, known: &Known, dice: &mut Dice) -> Option<(CollectionPatch, Option<String>)> {
        let mark = format!("new-{}", self.number);
        let value = |value: &str| json!({"value": value, "parameters": []});
        let uri = json!({"uri": format!("https://example.com/{mark}"), "parameters": []});
        let new = match self.field {
            "categories" => json!(mark),
            "attendees" => {
                json!({"uri": format!("mailto:{mark}@example.com"), "commonName": "Müller, Jörg; Dr.: \"JM\"", "role": "chair", "rsvp": true,
                    "parameters": [{"name": "X-A", "values": ["a:b", "c"]}]})
            }
            "participants" => json!({"uid": value(&mark), "participantType": value("SPEAKER")}),
            "contacts" | "comments" | "resources" | "styledDescriptions" => value(&format!("{mark}, with; more")),
            "relatedTo" => json!({"value": mark, "relationType": "CHILD", "parameters": []}),
            "requestStatuses" => json!({"code": "2.0", "description": mark, "parameters": []}),
            "alarms" => json!({"action": value("DISPLAY"), "trigger": value("-PT5M"), "description": value(&mark)}),
            "attachments" | "images" | "conferences" | "links" | "concepts" | "structuredDataUris" => uri,
            "locationUris" => json!({"uid": mark, "parameters": [], "url": uri}),
            "resourceUris" => {
                json!({"uid": mark, "parameters": [], "name": value(&mark), "componentTypes": {"value": ["ROOM"], "parameters": []}})
            }
            _ => unreachable!("no collection {}", self.field),
        };
        let stored = Known::member(&known.shown, self.field)
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let stored: Vec<Value> = stored.into_iter().map(as_input).collect();
        let json = match self.how {
            "add" => json!({"field": self.field, "operation": "addRemove", "add": [new]}),
            "remove" => {
                let gone = dice.pick(&stored)?;
                json!({"field": self.field, "operation": "addRemove", "remove": [gone]})
            }
            "clear" => json!({"field": self.field, "operation": "replaceAll", "values": []}),
            _ => {
                let mut values = stored;
                values.truncate(2);
                values.insert(dice.roll(values.len() + 1), new);
                json!({"field": self.field, "operation": "replaceAll", "values": values})
            }
        };
        let patch = CollectionPatch::from_json(&json, known.kind, "");
        let comes = matches!(self.how, "add" | "replaceAll");
        // What is shown may be more lenient than what is taken.
        match (patch, self.how) {
            (Ok(patch), _) => Some((patch, comes.then_some(mark))),
            (Err(wrong), "add") => panic!("{json}: {wrong:?}"),
            (Err(_), _) => None,
        }
    }

    fn occurrence(&self, known: &Known, dice: &mut Dice, now: Timestamp) -> Option<(Option<Temporal>, Outcome)> {
        let entity = &known.entity;
        if self.field == "complete" {
            return Some((None, complete(entity, None, now)));
        }
        let cancelled: Vec<_> = known
            .occurrences
            .iter()
            .filter(|instance| instance.cancelled)
            .cloned()
            .collect();
        let mut identity = match (self.field, dice.pick(&cancelled)) {
            ("restore_cancellation", Some(instance)) => instance.identity.clone(),
            _ => dice.pick(&known.occurrences)?.identity.clone(),
        };
        if self.field == "restore_exclusion"
            && let Some(exdates) = Known::member(&known.shown, "exdates").and_then(Value::as_array)
            && let Some(exdate) = dice.pick(exdates)
        {
            identity = temporal(exdate)?;
        }
        if self.field == "add" {
            let by = SignedDuration::from_hours(24 * (1 + dice.roll(5) as i64));
            match &mut identity {
                Temporal::Date(day) => *day = day.checked_add(by).ok()?,
                Temporal::Floating(time) | Temporal::Utc(time) | Temporal::Zoned(time, _) => {
                    *time = time.checked_add(by).ok()?;
                }
            }
        }
        let edit = match self.field {
            "complete-occurrence" => return Some((Some(identity.clone()), complete(entity, Some(&identity), now))),
            "add" => occurrence::add,
            "exclude" => occurrence::exclude,
            "restore_exclusion" => occurrence::restore_exclusion,
            "cancel" => occurrence::cancel,
            _ => occurrence::restore_cancellation,
        };
        let done = edit(entity, &identity, now);
        Some((Some(identity), done))
    }

    /// Asks first without orphans, then with all that there could be.
    fn recurrence_set(
        &self,
        known: &Known,
        target: &Target,
        dice: &mut Dice,
        now: Timestamp,
    ) -> (Option<String>, Outcome) {
        let rules = [
            "FREQ=DAILY;COUNT=9",
            "FREQ=WEEKLY;COUNT=30",
            "FREQ=DAILY;INTERVAL=2",
            "FREQ=MONTHLY;COUNT=4",
        ];
        let rule = dice.pick(&rules).map(|rule| (*rule).to_owned());
        let set = (self.how == "set").then(|| NewRecurrence {
            rrule: rule.clone(),
            exdates: (dice.roll(3) == 0).then(Vec::new),
            rdates: (dice.roll(4) == 0).then(Vec::new),
            ..NewRecurrence::default()
        });
        let list = |name: &str| {
            Known::member(&known.shown, name)
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default()
        };
        let exdates: Vec<_> = list("exdates")
            .iter()
            .filter_map(temporal)
            .map(Orphan::Exdate)
            .collect();
        let overrides: Vec<_> = list("overrides")
            .iter()
            .filter_map(override_name)
            .map(Orphan::Override)
            .collect();
        let mut last = None;
        for orphans in [
            vec![],
            [&exdates[..], &overrides[..]].concat(),
            exdates.clone(),
            overrides.clone(),
        ] {
            let scalar = ScalarPatch::RecurrenceSet {
                set: set.clone(),
                orphans,
            };
            let change = Patch {
                scalars: vec![scalar],
                collections: Vec::new(),
            };
            let done = patch(&known.entity, target, &change, now);
            let over = done.is_ok();
            last = Some(done);
            if over {
                break;
            }
        }
        (rule.filter(|_| self.how == "set"), last.expect("it was tried"))
    }

    fn create(&self, dice: &mut Dice, now: Timestamp) -> Done {
        let kind = [Kind::Event, Kind::Todo][dice.roll(2)];
        let day = "2026-05-04T08:00:00".parse::<jiff::civil::DateTime>().expect("a time");
        let start = [
            Temporal::Date(day.date()),
            Temporal::Floating(day),
            Temporal::Utc(day),
            Temporal::Zoned(day, "America/New_York".into()),
        ];
        let text = TEXTS[dice.roll(TEXTS.len())].to_owned();
        let mark = format!("new-{}", self.number);
        let structured = json!({
            "attendees": [{"uri": format!("mailto:{mark}@example.com"), "parameters": []}],
            "organizer": {"uri": "mailto:me@example.com", "parameters": []},
            "alarms": [{"action": {"value": "DISPLAY", "parameters": []}, "trigger": {"value": "-PT5M", "parameters": []},
                "description": {"value": text, "parameters": []}}],
        });
        let series = (dice.roll(2) == 0).then(|| NewSeries {
            set: NewRecurrence {
                rrule: Some("FREQ=DAILY;COUNT=9".into()),
                ..NewRecurrence::default()
            },
            overrides: Vec::new(),
        });
        let entity = NewEntity {
            kind,
            uid: mark.clone(),
            fields: NewFields {
                summary: Some(text.clone()),
                start: start.get(dice.roll(4)).cloned(),
                categories: vec![mark.clone(), "a, b".into()],
                structured: StructuredData::from_json(&structured, kind, "").expect("structured data"),
                ..NewFields::default()
            },
            series,
        };
        let told = json!({"tool": "create", "kind": kind, "text": text, "mark": mark});
        (told, None, create(&entity, now).map(Edited::Changed))
    }
}

/// An element as it is shown, in the shape of the inputs.
fn as_input(value: Value) -> Value {
    match value {
        Value::Object(members) if members.contains_key("effectiveValue") => {
            members.get("explicitValue").cloned().map_or(Value::Null, as_input)
        }
        Value::Object(members) if members.contains_key("rawValue") => {
            json!({"value": members["rawValue"], "parameters": []})
        }
        Value::Object(members) => {
            let members = members.into_iter().map(|(name, value)| (name, as_input(value)));
            Value::Object(members.filter(|(_, value)| !value.is_null()).collect::<Map<_, _>>())
        }
        Value::Array(items) => items.into_iter().map(as_input).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

fn temporal(value: &Value) -> Option<Temporal> {
    let text = value["value"].as_str()?;
    Some(match value["kind"].as_str()? {
        "date" => Temporal::Date(text.parse().ok()?),
        "utcDateTime" => Temporal::Utc(text.trim_end_matches('Z').parse().ok()?),
        "zonedDateTime" => Temporal::Zoned(text.parse().ok()?, value["timeZoneId"].as_str()?.into()),
        _ => Temporal::Floating(text.parse().ok()?),
    })
}

fn override_name(value: &Value) -> Option<OverrideName> {
    Some(OverrideName {
        identity: temporal(&value["recurrenceIdentity"]["value"])?,
        future: value.get("range").is_some_and(|range| !range.is_null()),
    })
}

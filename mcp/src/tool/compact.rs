//! `detail: compact`: the full result with members left out. Nothing is renamed or moved.
//!
//! **A snapshot** (`calendar_resources_get`) is without
//! * `calendarProperties`, and `originalSlice` anywhere but in an opaque projection, whose properties are all there is;
//! * `calendar`, which is the href without its last segment;
//! * `resourceRevision` beside an `entityRevision`;
//! * what is empty: `diagnostics`, `parameters`, and the lists of a `recurrenceSet` and its overrides;
//! * `kind` of an enumerated value that is a registered one;
//! * of structured data: what holds anyway where nothing is said ([`DEFAULTS`], and a participant that is not
//!   `schedulable`), and `explicitValue` beside the `effectiveValue` that it equals.
//!
//! **A row of an entity query** is further without the `properties` of an opaque projection, which are one read by href
//! away.
//!
//! **An occurrence row** is further without
//! * of `projection`: `uid`, `description`, `duration` and `recurrenceSet`, one read by href away, and so are attendees,
//!   alarms and all other `structuredData`; `start`, `end` and `due`, which `timing` has. The fields that stay are those
//!   of the occurrence, which is of its override where it has one. `TRANSP:OPAQUE`, `CLASS:PUBLIC` and `PRIORITY:0` say
//!   what their absence says (RFC 5545, 3.8.2.7, 3.8.1.3, 3.8.1.9), and so do `STATUS:CONFIRMED` of an Event and
//!   `STATUS:NEEDS-ACTION` of a To-do, which are what everyone takes an absent one for;
//! * of the revision: everything but `href`. A tag is most of what a series would repeat in every row, and a change needs
//!   all four members together, as the read by href gives them;
//! * `recurrenceIdentity` of what does not recur, and its `value` where it equals `effectiveStart`;
//! * of `timing`: everything but `effectiveStart`; `effectiveEnd`, or `effectiveDuration` where the end is only told
//!   by a length; and `evaluatedStartUtc` and `evaluatedEndUtc` where the zone's IANA rules do not give these
//!   instants, since the resource has rules of its own. What is left out follows from these and from
//!   `temporalEvaluationContext`;
//! * of times: `kind`, which their form shows (ten characters are a day, `Z` is UTC, a `timeZoneId` a zone, nothing
//!   is floating), and the `timeZoneId` of an end or a `recurrenceIdentity` that is that of `effectiveStart`.
//!
//! **A To-do row** is without
//! * `uid` where `completionTarget` has it, and empty `diagnostics`;
//! * of times: `kind` as in an occurrence row, but not in `recurrence` and in `completionTarget`, which is sent as it
//!   stands; `evaluatedUtc` beside a `source` whose form and IANA zone, or the evaluation zone, tell it;
//! * of `status` and `recurrence`: what a snapshot is without.
//!
//! **A page** is without empty `diagnostics`.

use kalends_core::ical::expand::Instance;
use kalends_core::ical::project::Fields;
use kalends_core::ical::value::Temporal;
use kalends_core::ical::zone::Zone;
use kalends_core::resource::Resource;
use serde_json::{Map, Value, json};

use super::query::arguments::utc;

/// Members of structured data with the value that holds where nothing is said (RFC 5545, 3.2.3, 3.2.12, 3.2.15 to
/// 3.2.17).
const DEFAULTS: [(&str, &str); 4] = [
    ("role", "REQ-PARTICIPANT"),
    ("partStat", "NEEDS-ACTION"),
    ("cutype", "INDIVIDUAL"),
    ("relationType", "PARENT"),
];

/// How much a result shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// See the [module](self).
    Compact,
    /// The shape of the contract.
    Full,
}

impl Detail {
    /// What checked arguments ask for.
    pub(crate) fn of(arguments: &Value) -> Self {
        if arguments["detail"] == "full" {
            Self::Full
        } else {
            Self::Compact
        }
    }
}

/// A resource in the shape of the contract. Without a strong Entity Tag it still says where it is.
pub(crate) fn full(resource: &Resource) -> Value {
    let mut snapshot = json!(resource);
    if resource.resource_revision().is_none() {
        snapshot["resourceRevision"] = resource_revision(resource);
    }
    snapshot
}

/// The revision that there is: without a strong Entity Tag only where the resource is.
pub(crate) fn resource_revision(resource: &Resource) -> Value {
    let bare = || json!({"href": resource.href});
    resource
        .resource_revision()
        .map_or_else(bare, |revision| json!(revision))
}

/// A resource, compact.
pub(crate) fn snapshot(resource: &Resource) -> Value {
    with_projection(resource, json!(resource.entity.projection()))
}

/// A row of an entity query, compact.
pub(crate) fn entity_row(resource: &Resource) -> Value {
    if resource.entity.opaque().is_some() {
        with_projection(resource, json!({"kind": "opaque"}))
    } else {
        snapshot(resource)
    }
}

fn with_projection(resource: &Resource, mut projection: Value) -> Value {
    if projection["kind"] != "opaque" {
        plain(&mut projection);
    }
    let (name, revision) = match resource.entity_revision() {
        Some(revision) => ("entityRevision", json!(revision)),
        None => ("resourceRevision", resource_revision(resource)),
    };
    shaped(resource, name, revision, projection)
}

fn shaped(resource: &Resource, name: &str, revision: Value, projection: Value) -> Value {
    let mut members = Map::new();
    members.insert(name.into(), revision);
    members.insert("projection".into(), projection);
    let diagnostics = resource.diagnostics();
    if !diagnostics.is_empty() {
        members.insert("diagnostics".into(), json!(diagnostics));
    }
    members.into()
}

/// One occurrence, compact.
pub(crate) fn occurrence_row(resource: &Resource, instance: &Instance) -> Value {
    let entity = &resource.entity;
    let own = entity.occurrence_fields(instance);
    let mut fields = json!(Fields {
        description: None,
        start: None,
        end: None,
        due: None,
        duration: None,
        recurrence_set: None,
        ..own
    });
    plain(&mut fields);
    if let Value::Object(fields) = &mut fields {
        let is = |value: &Value, usual: &[&str]| value["rawValue"].as_str().is_some_and(|raw| usual.contains(&raw));
        fields.retain(|name, value| match name.as_str() {
            "transparency" => !is(value, &["OPAQUE"]),
            "classification" => !is(value, &["PUBLIC"]),
            "status" => !is(value, &["CONFIRMED", "NEEDS-ACTION"]),
            "priority" => *value != 0,
            _ => true,
        });
    }
    let projection = object([("kind", json!(entity.kind())), ("fields", fields)]);
    let name = if resource.entity_revision().is_some() {
        "entityRevision"
    } else {
        "resourceRevision"
    };
    let snapshot = shaped(resource, name, json!({"href": resource.href}), projection);
    let mut row = object([("snapshot", snapshot), ("timing", timing(instance))]);
    if entity.is_recurring() {
        row["recurrenceIdentity"] = if instance.identity == instance.start {
            json!({})
        } else {
            object([("value", time(&instance.identity, Some(&instance.start)))])
        };
    }
    row
}

fn timing(instance: &Instance) -> Value {
    let start = &instance.start;
    let mut timing = object([("effectiveStart", time(start, None))]);
    match (&instance.end, &instance.duration) {
        (Some(end), _) => timing["effectiveEnd"] = time(end, Some(start)),
        (None, Some(duration)) => timing["effectiveDuration"] = json!(duration.to_string()),
        (None, None) => {}
    }
    for (member, time, second) in [
        ("evaluatedStartUtc", Some(start), instance.from),
        ("evaluatedEndUtc", instance.end.as_ref(), instance.to),
    ] {
        let unsaid = time.is_some_and(|time| !tells(time, second));
        if let Some(value) = utc(second).filter(|_| unsaid) {
            timing[member] = json!({"value": value});
        }
    }
    timing
}

/// Whether the instant of a time follows from what is shown.
pub(crate) fn tells(time: &Temporal, second: i64) -> bool {
    match time {
        Temporal::Zoned(local, zone) => {
            Zone::iana(zone).is_some_and(|zone| zone.resolve_local(*local).second == second)
        }
        Temporal::Date(_) | Temporal::Floating(_) | Temporal::Utc(_) => true,
    }
}

/// A time; compact without its kind.
pub(crate) fn shown(value: &Temporal, detail: Detail) -> Value {
    match detail {
        Detail::Compact => time(value, None),
        Detail::Full => json!(value),
    }
}

/// A time without its kind, and without its zone if that is the one of `beside`.
fn time(time: &Temporal, beside: Option<&Temporal>) -> Value {
    let mut value = json!(time);
    if let (Value::Object(members), Some(shown)) = (&mut value, shows_kind(time, beside)) {
        members.remove("kind");
        if !shown {
            members.remove("timeZoneId");
        }
    }
    value
}

/// Whether the zone has to be shown for the form to tell the kind; `None` if only `kind` tells.
fn shows_kind(time: &Temporal, beside: Option<&Temporal>) -> Option<bool> {
    match (time, beside) {
        (Temporal::Zoned(_, zone), Some(Temporal::Zoned(_, other))) => Some(zone != other),
        // Without a zone it would be read in the zone of the start.
        (Temporal::Floating(_), Some(Temporal::Zoned(..))) => None,
        _ => Some(true),
    }
}

/// Leaves out what is raw or empty, at any depth.
pub(crate) fn plain(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(plain),
        Value::Object(members) => {
            members.remove("originalSlice");
            if members.contains_key("effectiveValue") {
                members.remove("explicitValue");
            }
            members.retain(|name, value| !is_implied(name, value));
            if members.contains_key("rawValue") && members.get("kind").is_some_and(|kind| kind == "known") {
                members.remove("kind");
            }
            members.values_mut().for_each(plain);
            drop_empty(
                members,
                &["rrules", "rdates", "exdates", "overrides", "categories", "parameters"],
            );
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether a member of structured data says what holds without it.
fn is_implied(name: &str, value: &Value) -> bool {
    match name {
        "schedulable" => *value == false,
        "rsvp" => value["effectiveValue"] == false,
        _ => DEFAULTS.iter().any(|(member, default)| {
            *member == name
                && value["effectiveValue"]["rawValue"]
                    .as_str()
                    .is_some_and(|value| value.eq_ignore_ascii_case(default))
        }),
    }
}

/// An object of these members. Unlike `json!`, it does not copy them.
pub(crate) fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    members
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Leaves out the members named that are empty arrays.
pub(crate) fn drop_empty(members: &mut Map<String, Value>, names: &[&str]) {
    for name in names {
        if members.get(*name).and_then(Value::as_array).is_some_and(Vec::is_empty) {
            members.remove(*name);
        }
    }
}

//! `calendarSnapshot`, and the rows that hold one.

use serde_json::{Map, Value};

use super::exception::REVISION_WITHOUT_TAG;
use super::form::Form;
use super::shape::{Member, Shape, always, joined, may, sorted, spared, spared_in_row};
use super::structured::STRUCTURED_DATA;
use super::value::{
    ADDRESS, ANY_TEXT, COUNT, DIAGNOSTICS, EFFECTIVE_TEMPORAL, GEO, KIND, NAME, OPEN_TOKEN, PARAMETERS, PERCENT,
    PRIORITY, ROW_TEMPORAL, ROW_UTC, TEMPORAL, TEXTS, URI, UTC, list,
};
use super::{object, text};

/// What Events and To-dos have in common.
const COMMON: [Member; 9] = [
    may("summary", &ANY_TEXT),
    may("description", &ANY_TEXT),
    may("start", &TEMPORAL),
    may("duration", &ANY_TEXT),
    may("status", &OPEN_TOKEN),
    may("classification", &OPEN_TOKEN),
    may("priority", &PRIORITY),
    may("categories", &TEXTS),
    may("structuredData", &STRUCTURED_DATA),
];
const EVENT: [Member; 5] = [
    may("end", &TEMPORAL),
    may("location", &ANY_TEXT),
    may("geo", &GEO),
    may("transparency", &OPEN_TOKEN),
    may("url", &URI),
];
const TODO: [Member; 2] = [may("due", &TEMPORAL), may("percentComplete", &PERCENT)];

const EVENT_OVERRIDE: [Member; 14] = joined(COMMON, EVENT);
const TODO_OVERRIDE: [Member; 11] = joined(COMMON, TODO);
static EVENT_OVERRIDE_FIELDS: Shape = Shape::object(&EVENT_OVERRIDE);
static TODO_OVERRIDE_FIELDS: Shape = Shape::object(&TODO_OVERRIDE);
static EVENT_FIELDS: Shape = object![joined EVENT_OVERRIDE, [may("recurrenceSet", &RECURRENCE_SET)]];
static TODO_FIELDS: Shape = object![joined TODO_OVERRIDE, [may("recurrenceSet", &RECURRENCE_SET)]];

static IDENTITY: Shape = object![always("value", &TEMPORAL)];
static EVALUATION_STATE: Shape = Shape::Token(&["evaluable", "unevaluable"]);
static RULES: Shape = list(&object![always("text", &NAME), may("originalSlice", &NAME)]);
static PERIOD_KIND: Shape = Shape::Token(&["period"]);
static PERIOD: Shape = Shape::With {
    member: "end",
    then: &object![
        always("kind", &PERIOD_KIND),
        always("start", &TEMPORAL),
        always("end", &TEMPORAL)
    ],
    otherwise: &object![
        always("kind", &PERIOD_KIND),
        always("start", &TEMPORAL),
        always("duration", &NAME)
    ],
};
static DATES: Shape = list(&Shape::With {
    member: "start",
    then: &PERIOD,
    otherwise: &TEMPORAL,
});
static EXCLUDED: Shape = list(&TEMPORAL);
static RANGE: Shape = Shape::Token(&["this-and-prior", "this-and-future"]);
static OVERRIDE_STATUS: Shape = Shape::Token(&["active", "cancelled"]);
static EVENT_KIND: Shape = Shape::Token(&["event"]);
static TODO_KIND: Shape = Shape::Token(&["todo"]);

const fn overriding(kind: &'static Shape, fields: &'static Shape) -> [Member; 7] {
    sorted([
        always("recurrenceIdentity", &IDENTITY),
        always("entityKind", kind),
        may("range", &RANGE),
        always("status", &OVERRIDE_STATUS),
        always("fields", fields),
        may("movedStart", &TEMPORAL),
        may("movedEnd", &TEMPORAL),
    ])
}
static TODO_COMPONENT: Shape = Shape::object(&const { overriding(&TODO_KIND, &TODO_OVERRIDE_FIELDS) });
static EVENT_COMPONENT: Shape = Shape::object(&const { overriding(&EVENT_KIND, &EVENT_OVERRIDE_FIELDS) });
static OVERRIDES: Shape = list(&Shape::By {
    member: "entityKind",
    of: &[("event", &EVENT_COMPONENT), ("todo", &TODO_COMPONENT)],
    otherwise: None,
});
static TODO_OVERRIDES: Shape = list(&TODO_COMPONENT);

const fn recurrence(overrides: &'static Shape) -> [Member; 5] {
    sorted([
        always("evaluationState", &EVALUATION_STATE),
        spared("rrules", &RULES),
        spared("rdates", &DATES),
        spared("exdates", &EXCLUDED),
        spared("overrides", overrides),
    ])
}
static RECURRENCE_SET: Shape = Shape::object(&const { recurrence(&OVERRIDES) });
static TODO_RECURRENCE_SET: Shape = Shape::object(&const { recurrence(&TODO_OVERRIDES) });

static COMPONENT_NAME: Shape = text(1, usize::MAX, Form::Name);
static COMPONENT_PATH: Shape = Shape::List {
    of: &object![always("name", &COMPONENT_NAME), always("occurrence", &COUNT)],
    least: 1,
    most: usize::MAX,
};
static VALUE_TYPE: Shape = Shape::Token(&[
    "text",
    "uri",
    "date",
    "date-time",
    "duration",
    "integer",
    "float",
    "period",
    "recur",
    "binary",
    "uid",
    "unknown",
]);
static PROPERTIES: Shape = list(&object![
    always("componentPath", &COMPONENT_PATH),
    always("name", &NAME),
    always("parameters", &PARAMETERS),
    always("valueType", &VALUE_TYPE),
    always("rawEncodedValue", &ANY_TEXT),
    always("originalSlice", &NAME)
]);

static OPAQUE_KIND: Shape = Shape::Token(&["opaque"]);
static EVENT_PROJECTION: Shape = object![
    always("kind", &EVENT_KIND),
    spared_in_row("uid", &NAME),
    always("fields", &EVENT_FIELDS)
];
static TODO_PROJECTION: Shape = object![
    always("kind", &TODO_KIND),
    spared_in_row("uid", &NAME),
    always("fields", &TODO_FIELDS),
    may("completedAt", &UTC)
];
static PROJECTION: Shape = Shape::By {
    member: "kind",
    of: &[
        ("event", &EVENT_PROJECTION),
        ("todo", &TODO_PROJECTION),
        (
            "opaque",
            &object![always("kind", &OPAQUE_KIND), always("properties", &PROPERTIES)],
        ),
    ],
    otherwise: None,
};
/// In pages the properties of what is opaque may be left out.
static LISTED_PROJECTION: Shape = Shape::By {
    member: "kind",
    of: &[
        ("event", &EVENT_PROJECTION),
        ("todo", &TODO_PROJECTION),
        (
            "opaque",
            &object![always("kind", &OPAQUE_KIND), spared("properties", &PROPERTIES)],
        ),
    ],
    otherwise: None,
};

pub(super) static REVISION: Shape = object![
    always("href", &URI),
    spared_in_row("entityUid", &NAME),
    spared_in_row("entityKind", &KIND),
    spared_in_row("entityTag", &NAME)
];

const fn snapshot(projection: &'static Shape) -> [Member; 6] {
    sorted([
        spared("calendar", &ADDRESS),
        spared("calendarProperties", &PROPERTIES),
        always("projection", projection),
        spared("diagnostics", &DIAGNOSTICS),
        spared("resourceRevision", &REVISION_WITHOUT_TAG),
        may("entityRevision", &REVISION),
    ])
}
/// `calendarSnapshot`.
pub(super) static SNAPSHOT: Shape = Shape::bound(&const { snapshot(&PROJECTION) }, revisions);
static LISTED_SNAPSHOT: Shape = Shape::bound(&const { snapshot(&LISTED_PROJECTION) }, revisions);

/// What is readable has an `entityRevision`, what is opaque has none. Only where nothing is bound to it may a
/// `resourceRevision` be without its tag, and only beside an `entityRevision` may it be absent.
fn revisions(members: &Map<String, Value>) -> Option<&'static str> {
    let opaque = members.get("projection")?.get("kind")? == "opaque";
    let bound = members.contains_key("entityRevision");
    let tagged = members
        .get("resourceRevision")
        .map(|revision| revision.get("entityTag").is_some());
    match (opaque, bound, tagged) {
        (true, true, _) | (false, false, Some(true)) => Some("entityRevision"),
        (_, false, None) | (false, true, Some(false)) => Some("resourceRevision"),
        (true, false, Some(_)) | (false, false, Some(false)) | (false, true, None | Some(true)) => None,
    }
}

static ROW_IDENTITY: Shape = object![spared("value", &ROW_TEMPORAL)];
static TIMING: Shape = object![
    spared("sourceStart", &TEMPORAL),
    always("effectiveStart", &ROW_TEMPORAL),
    may("sourceEnd", &TEMPORAL),
    may("effectiveEnd", &ROW_TEMPORAL),
    may("sourceDuration", &ANY_TEXT),
    may("effectiveDuration", &ANY_TEXT),
    may("evaluatedStartUtc", &ROW_UTC),
    may("evaluatedEndUtc", &ROW_UTC),
    may("evaluationTimeZone", &NAME)
];
/// `occurrenceSnapshot`s.
pub(super) static OCCURRENCES: Shape = list(&Shape::Row(&object![
    always("snapshot", &SNAPSHOT),
    spared("recurrenceIdentity", &ROW_IDENTITY),
    always("timing", &TIMING)
]));

/// Snapshots in a page.
pub(super) static SNAPSHOTS: Shape = list(&LISTED_SNAPSHOT);

static RESULT_KIND: Shape = Shape::Token(&["entity", "occurrence", "unresolved"]);
static COMPLETION_STATE: Shape = Shape::Token(&["open", "completed", "cancelled", "indeterminate"]);
static TODO_REVISION: Shape = object![
    always("href", &URI),
    always("entityUid", &NAME),
    always("entityKind", &TODO_KIND),
    always("entityTag", &NAME)
];
static DIRECT: Shape = Shape::Token(&["direct"]);
static OCCURRENCE_REQUIRED: Shape = Shape::Token(&["occurrence_required"]);
static UNAVAILABLE: Shape = Shape::Token(&["unavailable"]);
static COMPLETION_TARGET: Shape = Shape::By {
    member: "kind",
    of: &[
        (
            "direct",
            &object![
                always("kind", &DIRECT),
                always("entityRevision", &TODO_REVISION),
                may("recurrenceIdentity", &TEMPORAL)
            ],
        ),
        (
            "occurrence_required",
            &object![
                always("kind", &OCCURRENCE_REQUIRED),
                always("entityRevision", &TODO_REVISION)
            ],
        ),
        (
            "unavailable",
            &object![
                always("kind", &UNAVAILABLE),
                always("resourceRevision", &REVISION_WITHOUT_TAG)
            ],
        ),
    ],
    otherwise: None,
};
/// `todoQueryItem`s.
pub(super) static TODOS: Shape = list(&Shape::Row(&object![
    always("resultKind", &RESULT_KIND),
    may("uid", &NAME),
    always("completionState", &COMPLETION_STATE),
    may("summary", &ANY_TEXT),
    may("status", &OPEN_TOKEN),
    may("completedAt", &ROW_TEMPORAL),
    may("percentComplete", &PERCENT),
    may("due", &EFFECTIVE_TEMPORAL),
    may("priority", &PRIORITY),
    may("categories", &TEXTS),
    may("start", &EFFECTIVE_TEMPORAL),
    may("description", &ANY_TEXT),
    may("recurrence", &TODO_RECURRENCE_SET),
    always("completionTarget", &COMPLETION_TARGET),
    spared("diagnostics", &DIAGNOSTICS)
]));

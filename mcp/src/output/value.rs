//! Values that many results share.

use super::form::Form;
use super::shape::{Shape, always, may, spared};
use super::{object, text};

pub(super) static ANY_TEXT: Shape = text(0, usize::MAX, Form::Any);
pub(super) static NAME: Shape = text(1, usize::MAX, Form::Any);
pub(super) static URI: Shape = text(1, usize::MAX, Form::Uri);
pub(super) static BOOLEAN: Shape = Shape::Boolean;
pub(super) static COUNT: Shape = Shape::Integer {
    least: 0,
    most: i64::MAX,
};
pub(super) static POSITIVE: Shape = Shape::Integer {
    least: 1,
    most: i64::MAX,
};
pub(super) static PRIORITY: Shape = Shape::Integer { least: 0, most: 9 };
pub(super) static PERCENT: Shape = Shape::Integer { least: 0, most: 100 };
pub(super) static TEXT_OR_NULL: Shape = Shape::Nullable(&ANY_TEXT);
pub(super) static TEXTS: Shape = list(&ANY_TEXT);
pub(super) static URIS: Shape = list(&URI);
pub(super) static ZONE: Shape = text(1, 255, Form::Any);
pub(super) static KIND: Shape = Shape::Token(&["event", "todo"]);

/// Any number of these.
pub(super) const fn list(of: &'static Shape) -> Shape {
    Shape::List {
        of,
        least: 0,
        most: usize::MAX,
    }
}

/// At most so many of these.
pub(super) const fn list_to(most: usize, of: &'static Shape) -> Shape {
    Shape::List { of, least: 0, most }
}

static DATE: Shape = text(0, usize::MAX, Form::Date);
static LOCAL: Shape = text(0, usize::MAX, Form::Local);
static UTC_TEXT: Shape = text(0, usize::MAX, Form::Utc);
static TIME: Shape = text(0, usize::MAX, Form::Time);

static DATE_KIND: Shape = Shape::Token(&["date"]);
static FLOATING_KIND: Shape = Shape::Token(&["floatingDateTime"]);
static UTC_KIND: Shape = Shape::Token(&["utcDateTime"]);
static ZONED_KIND: Shape = Shape::Token(&["zonedDateTime"]);

static DAY: Shape = object![always("kind", &DATE_KIND), always("value", &DATE)];
static FLOATING: Shape = object![always("kind", &FLOATING_KIND), always("value", &LOCAL)];
static ZONED: Shape = object![
    always("kind", &ZONED_KIND),
    always("value", &LOCAL),
    always("timeZoneId", &NAME)
];
/// `utcTemporalValue`.
pub(super) static UTC: Shape = object![always("kind", &UTC_KIND), always("value", &UTC_TEXT)];
/// `temporalValue`.
pub(super) static TEMPORAL: Shape = Shape::By {
    member: "kind",
    of: &[
        ("date", &DAY),
        ("floatingDateTime", &FLOATING),
        ("utcDateTime", &UTC),
        ("zonedDateTime", &ZONED),
    ],
    otherwise: None,
};
/// The same, whose form tells the kind in compact results.
pub(super) static ROW_TEMPORAL: Shape = Shape::With {
    member: "kind",
    then: &TEMPORAL,
    otherwise: &Shape::Short(&BARE),
};
static BARE: Shape = Shape::With {
    member: "timeZoneId",
    then: &object![always("value", &LOCAL), always("timeZoneId", &NAME)],
    otherwise: &object![always("value", &TIME)],
};
/// A `utcTemporalValue` whose form tells the kind in compact results.
pub(super) static ROW_UTC: Shape = object![spared("kind", &UTC_KIND), always("value", &UTC_TEXT)];
/// `effectiveTemporalValue`.
pub(super) static EFFECTIVE_TEMPORAL: Shape = Shape::With {
    member: "source",
    then: &object![always("source", &ROW_TEMPORAL), spared("evaluatedUtc", &ROW_UTC)],
    otherwise: &ROW_TEMPORAL,
};
/// A UTC time as text.
pub(super) static INSTANT: Shape = text(0, usize::MAX, Form::Utc);

static OPEN_KIND: Shape = text(1, usize::MAX, Form::Any);
/// `openEnumValue`.
pub(super) static OPEN_TOKEN: Shape = object![spared("kind", &OPEN_KIND), always("rawValue", &NAME)];
/// `geo`.
pub(super) static GEO: Shape = object![
    always("latitude", &Shape::Within(90.0)),
    always("longitude", &Shape::Within(180.0))
];
static VALUES: Shape = Shape::List {
    of: &ANY_TEXT,
    least: 1,
    most: usize::MAX,
};
/// `icalParameter`s.
pub(super) static PARAMETERS: Shape = list(&object![always("name", &NAME), always("values", &VALUES)]);

static SEVERITY: Shape = Shape::Token(&["info", "warning", "error"]);
static DIAGNOSTIC: Shape = object![
    always("code", &ANY_TEXT),
    always("message", &ANY_TEXT),
    always("severity", &SEVERITY)
];
/// Remarks on a success.
pub(super) static DIAGNOSTICS: Shape = list(&DIAGNOSTIC);

/// `{href}`.
pub(super) static ADDRESS: Shape = object![always("href", &URI)];

static EVIDENCE_SOURCE: Shape = Shape::Token(&[
    "supported-calendar-component-set",
    "DAV-resourcetype",
    "probe",
    "server-response",
]);
static EVIDENCE: Shape = list(&object![always("source", &EVIDENCE_SOURCE), always("value", &ANY_TEXT)]);
/// What a server says it has.
pub(super) static ADVERTISED: Shape = Shape::Token(&["advertised", "not_advertised", "unknown"]);
static CAPABILITY: Shape = object![always("state", &ADVERTISED), always("evidence", &EVIDENCE)];
/// `entityKinds`.
pub(super) static ENTITY_KINDS: Shape = object![always("event", &CAPABILITY), always("todo", &CAPABILITY)];
static NAME_PROVENANCE: Shape = Shape::Token(&["dav-displayname", "derived-from-href", "missing"]);
pub(super) static COLOR: Shape = Shape::Nullable(&text(0, usize::MAX, Form::Color));
pub(super) static ORDER: Shape = Shape::Nullable(&Shape::Integer {
    least: 0,
    most: 2_147_483_647,
});
pub(super) static CHANGE_TAG: Shape = text(1, 1024, Form::Any);
/// `calendarDescriptor`.
pub(super) static CALENDAR: Shape = object![
    always("calendar", &ADDRESS),
    always("displayName", &TEXT_OR_NULL),
    always("displayNameProvenance", &NAME_PROVENANCE),
    may("description", &TEXT_OR_NULL),
    may("davDescription", &TEXT_OR_NULL),
    may("color", &COLOR),
    may("order", &ORDER),
    may("changeTag", &CHANGE_TAG),
    always("entityKinds", &ENTITY_KINDS)
];

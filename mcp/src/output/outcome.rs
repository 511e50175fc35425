//! How the tools that read end: a success, or an error.

use super::exception::COMPLETION_STATE_CONFLICT;
use super::form::Form;
use super::shape::{Member, Shape, always, may, spared};
use super::snapshot::{OCCURRENCES, SNAPSHOT, SNAPSHOTS, TODOS};
use super::value::{
    ADDRESS, ADVERTISED, ANY_TEXT, BOOLEAN, CALENDAR, CHANGE_TAG, COLOR, COUNT, DIAGNOSTICS, ENTITY_KINDS, INSTANT,
    ORDER, POSITIVE, TEXT_OR_NULL, URI, ZONE, list, list_to,
};
use super::{object, text};

static SUCCESS: Shape = Shape::Token(&["success"]);

/// A success, or else an error.
macro_rules! outcome {
    ($success:expr, $error:expr) => {
        Shape::By {
            member: "outcome",
            of: &[("success", $success)],
            otherwise: Some($error),
        }
    };
}

/// The last two are not those of a change, and the five before them not those of an exact one.
const CODES: &[&str] = &[
    "invalid_input",
    "invalid_calendar_data",
    "not_found",
    "outside_scope",
    "entity_kind_mismatch",
    "unsupported_capability",
    "conflict",
    "destination_conflict",
    "concurrency_unavailable",
    "limit_exhausted",
    "payload_too_large",
    "busy",
    "upstream_unauthorized",
    "upstream_forbidden",
    "upstream_rate_limited",
    "upstream_unavailable",
    "upstream_protocol_error",
    "confirmation_expired",
    "confirmation_mismatch",
    "fidelity_failure",
    "committed_but_unverified",
    "committed_but_concurrency_unavailable",
    "indeterminate",
    COMPLETION_STATE_CONFLICT,
    "ambiguous",
    "opaque_resource",
    "temporal_unresolved",
    "recurrence_unevaluable",
    "cursor_expired",
    "sync_reset_required",
];
static CODE: Shape = Shape::Token(CODES);
pub(super) static CHANGE_CODE: Shape = Shape::Token(CODES.split_at(CODES.len() - 2).0);
pub(super) static EXACT_CODE: Shape = Shape::Token(CODES.split_at(CODES.len() - 7).0);
pub(super) static CATEGORY: Shape = Shape::Token(&[
    "input",
    "selection",
    "capabilityAndProjection",
    "state",
    "limitsAndAdmission",
    "upstream",
    "confirmation",
    "postWriteTruth",
]);
/// The last one is not that of a change.
const PHASES: &[&str] = &[
    "transportAuthorization",
    "admissionAndPayload",
    "schemaLexicalDiscriminator",
    "originScopeAuthorization",
    "selectionDiscoveryCapability",
    "targetRevision",
    "completeResourceSemantics",
    "mrtr",
    "execution",
    "postWriteVerificationOrReconciliation",
    "pagination",
];
static PHASE: Shape = Shape::Token(PHASES);
pub(super) static CHANGE_PHASE: Shape = Shape::Token(PHASES.split_at(PHASES.len() - 1).0);

static POINTER: Shape = text(1, usize::MAX, Form::Pointer);
static VIOLATIONS: Shape = list_to(
    32,
    &object![
        always("pointer", &POINTER),
        always("code", &ANY_TEXT),
        may("message", &ANY_TEXT)
    ],
);
static DIMENSION: Shape = Shape::Token(&["elapsed_time", "resource_count", "attempt_count", "byte_count"]);
static LIMITS: Shape = object![
    may("resourcesInspected", &COUNT),
    may("calendarCount", &COUNT),
    may("occurrenceCount", &COUNT),
    may("byteCount", &COUNT),
    may("itemCount", &COUNT),
    may("snapshotCount", &COUNT),
    may("dimension", &DIMENSION),
    may("observed", &COUNT),
    may("limit", &COUNT)
];
static CANDIDATE: Shape = object![
    always("calendar", &ADDRESS),
    always("displayName", &TEXT_OR_NULL),
    always("entityKinds", &ENTITY_KINDS)
];
pub(super) static CANDIDATES: Shape = list(&CANDIDATE);

/// An error with one of these codes, categories and phases.
pub(super) const fn error(code: &'static Shape, category: &'static Shape, phase: &'static Shape) -> [Member; 7] {
    [
        always("code", code),
        always("category", category),
        always("message", &ANY_TEXT),
        always("retryable", &BOOLEAN),
        always("phase", phase),
        may("violations", &VIOLATIONS),
        may("limits", &LIMITS),
    ]
}

/// `errorOutcome`.
static ERROR: Shape = object![joined error(&CODE, &CATEGORY, &PHASE), [
    may("retryAfterMs", &COUNT),
    may("authorizedCandidates", &CANDIDATES),
]];

static QUERY_CODE: Shape = Shape::Token(&[
    "invalid_input",
    "cursor_expired",
    "limit_exhausted",
    "busy",
    "payload_too_large",
    "upstream_protocol_error",
    "unsupported_capability",
    "concurrency_unavailable",
    "recurrence_unevaluable",
    "upstream_unavailable",
    "upstream_unauthorized",
    "upstream_forbidden",
    "upstream_rate_limited",
    "not_found",
    "ambiguous",
    "outside_scope",
]);
static QUERY_CATEGORY: Shape = Shape::Token(&[
    "input",
    "state",
    "limitsAndAdmission",
    "upstream",
    "capabilityAndProjection",
    "selection",
]);
static QUERY_PHASE: Shape = Shape::Token(&[
    "schemaLexicalDiscriminator",
    "pagination",
    "execution",
    "admissionAndPayload",
    "selectionDiscoveryCapability",
    "targetRevision",
    "completeResourceSemantics",
    "originScopeAuthorization",
]);
static QUERY_WAIT: Shape = Shape::Integer {
    least: 0,
    most: 600_000,
};
static QUERY_CANDIDATES: Shape = list_to(32, &CANDIDATE);
/// `entityQueryErrorOutcome`.
static QUERY_ERROR: Shape = object![joined error(&QUERY_CODE, &QUERY_CATEGORY, &QUERY_PHASE), [
    may("retryAfterMs", &QUERY_WAIT),
    may("authorizedCandidates", &QUERY_CANDIDATES),
]];

static LIST_MODE: Shape = Shape::Token(&["non_snapshot"]);
static LIST_PAGINATION: Shape = object![always("mode", &LIST_MODE), always("nextCursor", &TEXT_OR_NULL)];
static CALENDARS: Shape = list(&CALENDAR);
static LIST_SUCCESS: Shape = object![
    always("outcome", &SUCCESS),
    always("items", &CALENDARS),
    always("diagnostics", &DIAGNOSTICS),
    always("pagination", &LIST_PAGINATION)
];
pub(super) static CALENDARS_LIST: Shape = outcome!(&LIST_SUCCESS, &ERROR);

static CONTEXT: Shape = object![
    always("timeZone", &ZONE),
    always("source", &Shape::Token(&["caller", "configuration"]))
];
static UNRESOLVED_HREFS: Shape = Shape::List {
    of: &URI,
    least: 1,
    most: 25,
};
static UNRESOLVED: Shape = object![always("count", &POSITIVE), always("hrefs", &UNRESOLVED_HREFS)];
static PAGE_MODE: Shape = Shape::Token(&["query_result_snapshot"]);
static CURSOR: Shape = Shape::Nullable(&text(0, 2048, Form::Any));
static PAGINATION: Shape = object![always("mode", &PAGE_MODE), always("nextCursor", &CURSOR)];

/// A page of rows.
const fn page(items: &'static Shape) -> [Member; 5] {
    [
        always("outcome", &SUCCESS),
        always("items", items),
        spared("diagnostics", &DIAGNOSTICS),
        may("temporallyUnresolved", &UNRESOLVED),
        always("pagination", &PAGINATION),
    ]
}
static ENTITIES_SUCCESS: Shape = object![joined page(&SNAPSHOTS), [may("temporalEvaluationContext", &CONTEXT)]];
static OCCURRENCES_SUCCESS: Shape = object![joined page(&OCCURRENCES), [may("temporalEvaluationContext", &CONTEXT)]];
static TODOS_SUCCESS: Shape = object![joined page(&TODOS), [
    always("temporalEvaluationContext", &CONTEXT),
    always("excludedIndeterminateCount", &COUNT),
]];
pub(super) static ENTITIES_QUERY: Shape = outcome!(&ENTITIES_SUCCESS, &QUERY_ERROR);
pub(super) static OCCURRENCES_QUERY: Shape = outcome!(&OCCURRENCES_SUCCESS, &QUERY_ERROR);
pub(super) static TODOS_QUERY: Shape = outcome!(&TODOS_SUCCESS, &ERROR);

static RESOURCE_SUCCESS: Shape = object![always("outcome", &SUCCESS), always("snapshot", &SNAPSHOT)];
pub(super) static RESOURCES_GET: Shape = outcome!(&RESOURCE_SUCCESS, &ERROR);

static LINK: Shape = object![
    always("type", &Shape::Token(&["resource_link"])),
    always("uri", &URI),
    always("name", &ANY_TEXT)
];
static EXACT_GET_SUCCESS: Shape = object![always("outcome", &SUCCESS), always("resourceLink", &LINK)];
pub(super) static EXACT_GET: Shape = outcome!(&EXACT_GET_SUCCESS, &ERROR);

static CALENDAR_HREF: Shape = text(1, 8192, Form::Uri);
static SUPPORT: Shape = Shape::Token(&["available", "unavailable", "unknown"]);
static PROTOCOL_NAMES: Shape = list_to(
    64,
    &object![always("namespaceUri", &ANY_TEXT), always("localName", &ANY_TEXT)],
);
static HTTP_STATUS: Shape = Shape::Nullable(&Shape::Integer { least: 100, most: 599 });
static OBSERVATIONS: Shape = list_to(
    15,
    &object![
        always("namespaceUri", &ANY_TEXT),
        always("localName", &ANY_TEXT),
        always("statusCode", &HTTP_STATUS)
    ],
);
static BOUND: Shape = Shape::Nullable(&COUNT);
static ADVERTISED_LIMITS: Shape = object![
    always("maximumResourceBytes", &BOUND),
    always("maximumInstances", &BOUND),
    always("maximumAttendeesPerInstance", &BOUND),
    always("minimumDateTime", &TEXT_OR_NULL),
    always("maximumDateTime", &TEXT_OR_NULL)
];
static ZONE_IDS: Shape = list_to(16, &ANY_TEXT);
static SCHEDULING: Shape = object![always("state", &ADVERTISED), always("statusCode", &HTTP_STATUS)];
/// `calendarMetadataSnapshot`.
const METADATA: [Member; 16] = [
    always("calendarHref", &CALENDAR_HREF),
    always("displayName", &TEXT_OR_NULL),
    always("description", &TEXT_OR_NULL),
    always("descriptionLanguage", &TEXT_OR_NULL),
    always("davDescription", &TEXT_OR_NULL),
    always("color", &COLOR),
    always("order", &ORDER),
    always("reportSupport", &SUPPORT),
    always("reports", &PROTOCOL_NAMES),
    always("privilegeSupport", &SUPPORT),
    always("privileges", &PROTOCOL_NAMES),
    always("limits", &ADVERTISED_LIMITS),
    always("timeZoneIds", &ZONE_IDS),
    always("properties", &OBSERVATIONS),
    always("scheduling", &SCHEDULING),
    may("changeTag", &CHANGE_TAG),
];
static INSPECT_SUCCESS: Shape = object![joined METADATA, [always("outcome", &SUCCESS)]];
pub(super) static CALENDARS_INSPECT: Shape = outcome!(&INSPECT_SUCCESS, &ERROR);

static PERIODS: Shape = list_to(
    5_000,
    &object![
        always("from", &INSTANT),
        always("to", &INSTANT),
        always("busyType", &ANY_TEXT)
    ],
);
static FREE_BUSY_SUCCESS: Shape = object![
    always("outcome", &SUCCESS),
    always("calendarHref", &URI),
    always("from", &INSTANT),
    always("to", &INSTANT),
    always("temporalAuthority", &Shape::Token(&["server"])),
    always("complete", &Shape::Constant(true)),
    always("periods", &PERIODS)
];
pub(super) static FREE_BUSY: Shape = outcome!(&FREE_BUSY_SUCCESS, &ERROR);

static CHANGED: Shape = Shape::Token(&["changed"]);
static REMOVED: Shape = Shape::Token(&["removed"]);
static CHANGES: Shape = list_to(
    500,
    &Shape::By {
        member: "kind",
        of: &[
            (
                "changed",
                &object![
                    always("href", &URI),
                    always("kind", &CHANGED),
                    always("etag", &ANY_TEXT)
                ],
            ),
            ("removed", &object![always("href", &URI), always("kind", &REMOVED)]),
        ],
        otherwise: None,
    },
);
static CHECKPOINT: Shape = text(36, 36, Form::Any);
static CHANGES_SUCCESS: Shape = object![
    always("outcome", &SUCCESS),
    always("calendarHref", &URI),
    always("mode", &Shape::Token(&["initial", "incremental"])),
    always("checkpoint", &CHECKPOINT),
    always("hasMore", &BOOLEAN),
    always("checkpointLifetime", &Shape::Token(&["session"])),
    always("removalMeaning", &Shape::Token(&["removed_from_view"])),
    always("changes", &CHANGES)
];
pub(super) static RESOURCES_CHANGES: Shape = outcome!(&CHANGES_SUCCESS, &ERROR);

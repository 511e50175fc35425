//! How the tools that write end: a success, no change, or an error that tells what became of the write.

use super::exception::CONFIRMATION_REQUIRED;
use super::object;
use super::outcome::{CANDIDATES, CATEGORY, CHANGE_CODE, CHANGE_PHASE, EXACT_CODE, error};
use super::shape::{Member, Shape, always, joined, may};
use super::snapshot::{REVISION, SNAPSHOT};
use super::value::{ADDRESS, ANY_TEXT, COUNT, DIAGNOSTICS, NAME, URI};

/// What is known of a write.
pub(super) static STATES: [&str; 4] = ["not_attempted", "not_committed", "committed", "unknown"];
static STATE: Shape = Shape::Token(&STATES);
static COMMITTED: Shape = Shape::Token(&["committed"]);
static NOT_ATTEMPTED: Shape = Shape::Token(&["not_attempted"]);
static SUCCESS: Shape = Shape::Token(&["success"]);

/// What any end of a write may have.
const SIDE_EFFECTS: [Member; 2] = [
    may("schedulingSideEffects", &Shape::Token(&["none", "possible"])),
    may("confirmation", &Shape::Token(&["skipped_by_policy"])),
];
const STATED: [Member; 10] = joined(
    error(&CHANGE_CODE, &CATEGORY, &CHANGE_PHASE),
    [always("mutationState", &STATE), SIDE_EFFECTS[0], SIDE_EFFECTS[1]],
);
/// `mutationErrorOutcome`.
static ERROR: Shape = object![joined STATED, [
    may("retryAfterMs", &COUNT),
    may("authorizedCandidates", &CANDIDATES),
    may("currentSnapshot", &SNAPSHOT),
]];
static ERRORS: Shape = Shape::By {
    member: "code",
    of: &[("confirmation_required", &CONFIRMATION_REQUIRED)],
    otherwise: Some(&ERROR),
};

static UNCHANGED: Shape = object![
    always("outcome", &Shape::Token(&["no_change", "confirmation_declined"])),
    always("mutationState", &NOT_ATTEMPTED),
    always("diagnostics", &DIAGNOSTICS)
];
static SNAPSHOT_SUCCESS: Shape = object![joined SIDE_EFFECTS, [
    always("outcome", &SUCCESS),
    always("mutationState", &COMMITTED),
    always("snapshot", &SNAPSHOT),
    always("diagnostics", &DIAGNOSTICS),
]];
static RECEIPT: Shape = object![
    always("href", &URI),
    always("entityUid", &ANY_TEXT),
    always("entityKind", &Shape::Token(&["event", "todo"])),
    always("consumedEntityTag", &ANY_TEXT)
];
static DELETE_SUCCESS: Shape = object![joined SIDE_EFFECTS, [
    always("outcome", &SUCCESS),
    always("mutationState", &COMMITTED),
    always("deletionReceipt", &RECEIPT),
    always("diagnostics", &DIAGNOSTICS),
]];
/// `deleteMutationOutcome`.
pub(super) static DELETE_MUTATION: Shape = Shape::By {
    member: "outcome",
    of: &[
        ("success", &DELETE_SUCCESS),
        ("no_change", &UNCHANGED),
        ("confirmation_declined", &UNCHANGED),
    ],
    otherwise: Some(&ERRORS),
};
const EXACT_STATED: [Member; 10] = joined(
    error(&EXACT_CODE, &CATEGORY, &CHANGE_PHASE),
    [always("mutationState", &STATE), SIDE_EFFECTS[0], SIDE_EFFECTS[1]],
);
static STRONG: Shape = object![always("href", &URI), always("entityTag", &NAME)];
/// Of the current state only where it is.
static EXACT_CURRENT: Shape = object![
    always("calendar", &ADDRESS),
    always("resourceRevision", &STRONG),
    may("entityRevision", &REVISION)
];
/// `exactMutationErrorOutcome`.
static EXACT_ERROR: Shape = object![joined EXACT_STATED, [
    may("retryAfterMs", &COUNT),
    may("currentSnapshot", &EXACT_CURRENT),
]];
static EXACT_ERRORS: Shape = Shape::By {
    member: "code",
    of: &[("confirmation_required", &CONFIRMATION_REQUIRED)],
    otherwise: Some(&EXACT_ERROR),
};
/// `exactSnapshotMutationOutcome`.
pub(super) static EXACT_MUTATION: Shape = Shape::By {
    member: "outcome",
    of: &[
        ("success", &SNAPSHOT_SUCCESS),
        ("no_change", &UNCHANGED),
        ("confirmation_declined", &UNCHANGED),
    ],
    otherwise: Some(&EXACT_ERRORS),
};
/// `snapshotMutationOutcome`.
pub(super) static SNAPSHOT_MUTATION: Shape = Shape::By {
    member: "outcome",
    of: &[
        ("success", &SNAPSHOT_SUCCESS),
        ("no_change", &UNCHANGED),
        ("confirmation_declined", &UNCHANGED),
    ],
    otherwise: Some(&ERRORS),
};

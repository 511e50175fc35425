//! How the tools that write end: a success, no change, or an error that tells what became of the write.

#![cfg_attr(not(test), expect(dead_code, reason = "for the tools that write"))]

use super::exception::CONFIRMATION_REQUIRED;
use super::object;
use super::outcome::{CANDIDATES, CATEGORY, CHANGE_CODE, CHANGE_PHASE, error};
use super::shape::{Member, Shape, always, joined, may};
use super::snapshot::SNAPSHOT;
use super::value::{COUNT, DIAGNOSTICS};

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

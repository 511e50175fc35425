//! Where results are wider than the published schemas of the semantic toolset. This is the whole list.
//!
//! | what | why |
//! |---|---|
//! | [`COMPLETION_STATE_CONFLICT`] as the code of a change | completing a To-do is the only thing that ends so, and only the errors of reads have the code |
//! | [`REVISION_WITHOUT_TAG`], and then no `entityRevision` | a resource without a strong Entity Tag is shown, with where it is, and cannot be changed |
//! | [`CONFIRMATION_REQUIRED`] | clients that cannot ask their user send a token back instead |

use super::object;
use super::shape::{Shape, always, excepted};
use super::value::{ANY_TEXT, INSTANT, NAME, URI};

/// A code that only the errors of reads list.
pub(super) const COMPLETION_STATE_CONFLICT: &str = "completion_state_conflict";

/// A `resourceRevision` whose tag may be absent.
pub(super) static REVISION_WITHOUT_TAG: Shape = object![always("href", &URI), excepted("entityTag", &NAME)];

static CODE: Shape = Shape::Token(&["confirmation_required"]);
static CATEGORY: Shape = Shape::Token(&["confirmation"]);
static PHASE: Shape = Shape::Token(&["mrtr"]);
static NOT_ATTEMPTED: Shape = Shape::Token(&["not_attempted"]);
static FALSE: Shape = Shape::Constant(false);

static CONFIRMATION: Shape = object![
    always("token", &NAME),
    always("expiresAt", &INSTANT),
    always("review", &NAME)
];
/// The error that a change waits with for its confirmation.
pub(super) static CONFIRMATION_REQUIRED: Shape = object![
    always("code", &CODE),
    always("category", &CATEGORY),
    always("phase", &PHASE),
    always("message", &ANY_TEXT),
    always("retryable", &FALSE),
    always("mutationState", &NOT_ATTEMPTED),
    always("confirmation", &CONFIRMATION)
];

//! The last look at a result before it leaves: whether it is what the tool promises, to the last member.
//!
//! What is advertised is small ([`crate::catalog`]); the shapes here are whole, and are not sent. There is one shape
//! for each tool. Its members are marked with what `detail: compact` may leave out, so the shape of a compact
//! result is not written twice; the list is the documentation of [`crate::tool::compact`].
//!
//! | module | what |
//! |---|---|
//! | `shape` | how a shape is written down, and the walk |
//! | `form` | lexical forms of texts |
//! | `value`, `structured`, `snapshot` | what results are made of |
//! | `outcome`, `mutation` | how tools end: reads, and changes |
//! | `exception` | where a result is wider than the published schemas: the whole list |

mod exception;
mod form;
mod mutation;
mod outcome;
mod shape;
mod snapshot;
mod structured;
#[cfg(test)]
mod tests;
mod value;

use serde_json::{Value, json};

use crate::catalog::Kind;
use crate::tool::compact::Detail;
use form::Form;
use shape::{Mode, Shape};

/// What the results of a tool have to be.
#[derive(Debug)]
pub(crate) struct Promise {
    shape: &'static Shape,
    /// Whether its calls change nothing.
    read_only: bool,
}

/// What a result that breaks its promise becomes. Nothing of the result is in it but what is known of a write.
#[derive(Debug, PartialEq)]
pub(crate) enum Broken {
    /// A call that changes nothing failed; where its result was wrong.
    Read(String),
    /// This error instead of the result of a change.
    Change(Value),
}

/// What a tool promises.
pub(crate) fn promise(kind: Kind) -> Promise {
    let shape = match kind {
        Kind::CalendarsList => &outcome::CALENDARS_LIST,
        Kind::EntitiesQuery => &outcome::ENTITIES_QUERY,
        Kind::OccurrencesQuery => &outcome::OCCURRENCES_QUERY,
        Kind::TodosQuery => &outcome::TODOS_QUERY,
        Kind::ResourcesGet => &outcome::RESOURCES_GET,
        Kind::CalendarsInspect => &outcome::CALENDARS_INSPECT,
        Kind::FreeBusy => &outcome::FREE_BUSY,
        Kind::ResourcesChanges => &outcome::RESOURCES_CHANGES,
        Kind::EventsCreate
        | Kind::EventsPatch
        | Kind::TodosCreate
        | Kind::TodosPatch
        | Kind::TodosComplete
        | Kind::OccurrencesAdd
        | Kind::OccurrencesExclude
        | Kind::OccurrencesRestoreExclusion
        | Kind::OccurrencesCancel
        | Kind::OccurrencesRestoreCancellation
        | Kind::ResourcesMove => &mutation::SNAPSHOT_MUTATION,
        Kind::ResourcesDelete => &mutation::DELETE_MUTATION,
        Kind::ExactGet => &outcome::EXACT_GET,
        Kind::ExactCreate | Kind::ExactReplace | Kind::ExactMove => &mutation::EXACT_MUTATION,
    };
    Promise {
        shape,
        read_only: kind.change().is_none(),
    }
}

impl Promise {
    /// Looks at a result. Tools without `detail` give full ones.
    ///
    /// # Errors
    /// What leaves instead.
    pub(crate) fn check(&self, result: &Value, detail: Detail) -> Result<(), Broken> {
        let mode = match detail {
            Detail::Full => Mode::Full,
            Detail::Compact => Mode::Compact,
        };
        self.shape.check(result, mode).map_err(|fault| {
            if self.read_only {
                Broken::Read(fault.pointer())
            } else {
                Broken::Change(indeterminate(result))
            }
        })
    }
}

/// A change may have happened, and its result cannot be shown.
fn indeterminate(result: &Value) -> Value {
    let told = result.get("mutationState").and_then(Value::as_str);
    let state = mutation::STATES.into_iter().find(|state| Some(*state) == told);
    json!({
        "code": "indeterminate",
        "category": "postWriteTruth",
        "message": "The change was worked on, and its result cannot be shown. Read the resource to see what became of it; do not send the change again before that.",
        "retryable": false,
        "phase": "postWriteVerificationOrReconciliation",
        "mutationState": state.unwrap_or("unknown")
    })
}

/// A text of so many characters and this form.
const fn text(least: usize, most: usize, form: Form) -> Shape {
    Shape::Text { least, most, form }
}

/// An object of these members; with `joined`, of two tables of them.
macro_rules! object {
    (joined $one:expr, $other:expr $(,)?) => {
        $crate::output::shape::Shape::object(
            &const { $crate::output::shape::joined::<_, _, { $one.len() + $other.len() }>($one, $other) },
        )
    };
    ($($member:expr),* $(,)?) => {
        $crate::output::shape::Shape::object(&const { $crate::output::shape::sorted([$($member),*]) })
    };
}
use object;

//! The semantic toolset: JSON to an operation and back, one tool per file.

pub(crate) mod calendar_entities_query;
pub(crate) mod calendar_occurrences_query;
pub(crate) mod calendar_resources_changes;
pub(crate) mod calendar_resources_exact_get;
pub(crate) mod calendar_resources_get;
pub(crate) mod calendars_free_busy;
pub(crate) mod calendars_inspect;
pub(crate) mod calendars_list;
pub(crate) mod change;
pub(crate) mod compact;
pub(crate) mod query;
pub(crate) mod todos_query;

use serde_json::Value;

use compact::Detail;

/// A result, and how much of it is shown.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) value: Value,
    pub(crate) detail: Detail,
}

/// Of a tool without `detail`.
impl From<Value> for Shown {
    fn from(value: Value) -> Self {
        Self {
            value,
            detail: Detail::Full,
        }
    }
}

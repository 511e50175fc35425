//! What is known about a Calendar besides its members: the optional file `.calendar.json` in its folder.

use serde::{Deserialize, Serialize};

/// The content of `.calendar.json`. Every part is optional; a file that is not understood counts as empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Metadata {
    /// `DAV:displayname`; the folder's name if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `CALDAV:calendar-description`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The language of the description (XML 1.0, 2.12).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Apple `calendar-color`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    /// Apple `calendar-order`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<u32>,
    /// The kinds of component that may be stored, in upper case; `VEVENT`, `VTODO` and `VJOURNAL` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub components: Option<Vec<String>>,
    /// `CALDAV:calendar-timezone`: an iCalendar object with one VTIMEZONE.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
}

impl Metadata {
    /// The kinds of component that may be stored.
    pub(crate) fn kinds(&self) -> Vec<&str> {
        match &self.components {
            Some(kinds) => kinds.iter().map(String::as_str).collect(),
            None => vec!["VEVENT", "VTODO", "VJOURNAL"],
        }
    }
}

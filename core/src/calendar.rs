//! What is known about a Calendar collection (RFC 4791, 5.2), in the shape of the results.

use serde::Serialize;

use crate::outcome::CalendarReference;

/// Where a display name comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NameProvenance {
    /// `DAV:displayname` as the server gave it.
    DavDisplayname,
    /// The last path segment, decoded, because the server gave no name.
    DerivedFromHref,
    /// Neither is there.
    Missing,
}

/// Whether a Calendar takes a kind of entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CapabilityState {
    /// The server lists it.
    Advertised,
    /// The server lists others only.
    NotAdvertised,
    /// The server does not say.
    Unknown,
}

/// What a capability is known from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// `supported-calendar-component-set`, `DAV-resourcetype`, `probe` or `server-response`.
    pub source: &'static str,
    /// The value seen.
    pub value: String,
}

/// One kind's capability with its evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EntityKindCapability {
    /// Whether the kind is taken.
    pub state: CapabilityState,
    /// Why that is believed.
    pub evidence: Vec<Evidence>,
}

/// The kinds of entity that a Calendar takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EntityKinds {
    /// VEVENT.
    pub event: EntityKindCapability,
    /// VTODO.
    pub todo: EntityKindCapability,
}

/// Whether the user may write, as far as `DAV:current-user-privilege-set` tells (RFC 3744, 5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The server does not say: a write is tried.
    Unknown,
    /// Members can be written.
    Writable,
    /// Members cannot be written.
    ReadOnly,
}

/// A Calendar as a listing shows it: the `calendarDescriptor` of the semantic toolset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CalendarDescriptor {
    /// Where it is.
    pub calendar: CalendarReference,
    /// What people call it.
    pub display_name: Option<String>,
    /// Where that name comes from.
    pub display_name_provenance: NameProvenance,
    /// `CALDAV:calendar-description`.
    pub description: Option<String>,
    /// `DAV:description`, as some servers have it.
    pub dav_description: Option<String>,
    /// `#RRGGBB`, upper case; alpha is dropped, anything else is absent.
    pub color: Option<String>,
    /// Apple `calendar-order`.
    pub order: Option<u32>,
    /// CalendarServer `getctag`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change_tag: Option<String>,
    /// What it can hold.
    pub entity_kinds: EntityKinds,
    /// The colour text as the server gave it, where it is not empty.
    #[serde(skip)]
    pub raw_color: Option<String>,
    /// Whether the user may write.
    #[serde(skip)]
    pub access: Access,
}

//! One Calendar Object Resource as it was read: where it is, its revision and what it holds.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::href::Href;
use crate::ical::entity::{Entity, Kind};
use crate::outcome::{CalendarReference, Diagnostic};

/// A resource that was read. Serializes as the full `calendarSnapshot` of the semantic toolset.
pub struct Resource {
    /// The Calendar that it belongs to.
    pub calendar: Href,
    /// Where it is, as the server spelled it.
    pub href: Href,
    /// Its strong Entity Tag with its quotes; absent where the server gives none, and then it cannot be changed.
    pub etag: Option<String>,
    /// What it holds; shared with the shelf.
    pub entity: Arc<Entity>,
}

/// Shows where it is, never what it holds.
impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resource")
            .field("href", &self.href)
            .field("etag", &self.etag)
            .finish_non_exhaustive()
    }
}

/// What a change of this very state is bound to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EntityRevision<'a> {
    /// Where it is.
    pub href: &'a str,
    /// UID of the entity.
    pub entity_uid: &'a str,
    /// Event or To-do.
    pub entity_kind: Kind,
    /// Strong Entity Tag.
    pub entity_tag: &'a str,
}

/// A state of the octets, without what they mean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceRevision<'a> {
    /// Where it is.
    pub href: &'a str,
    /// Strong Entity Tag.
    pub entity_tag: &'a str,
}

impl Resource {
    /// The revision that semantic changes are bound to: absent without a strong Entity Tag and for what is opaque.
    #[must_use]
    pub fn entity_revision(&self) -> Option<EntityRevision<'_>> {
        let (kind, uid, tag) = (self.entity.kind()?, self.entity.uid()?, self.etag.as_deref()?);
        let readable = self.entity.opaque().is_none();
        readable.then_some(EntityRevision {
            href: self.href.as_str(),
            entity_uid: uid,
            entity_kind: kind,
            entity_tag: tag,
        })
    }

    /// The revision of the octets.
    #[must_use]
    pub fn resource_revision(&self) -> Option<ResourceRevision<'_>> {
        Some(ResourceRevision {
            href: self.href.as_str(),
            entity_tag: self.etag.as_deref()?,
        })
    }

    /// Remarks on this resource: those of its contents, and a missing revision.
    #[must_use]
    pub fn diagnostics(&self) -> Cow<'_, [Diagnostic]> {
        let mut diagnostics = Cow::Borrowed(self.entity.diagnostics());
        if self.etag.is_none() {
            diagnostics.to_mut().push(Diagnostic::warning(
                "revision_unavailable",
                "The server gives no strong Entity Tag for this resource, so it cannot be changed safely.",
            ));
        }
        diagnostics
    }
}

impl Serialize for Resource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Resource", 6)?;
        out.serialize_field(
            "calendar",
            &CalendarReference {
                href: self.calendar.as_str().to_owned(),
            },
        )?;
        out.serialize_field("calendarProperties", &self.entity.calendar_properties())?;
        out.serialize_field("projection", &self.entity.projection())?;
        out.serialize_field("diagnostics", &self.diagnostics())?;
        match self.resource_revision() {
            Some(revision) => out.serialize_field("resourceRevision", &revision)?,
            None => out.skip_field("resourceRevision")?,
        }
        match self.entity_revision() {
            Some(revision) => out.serialize_field("entityRevision", &revision)?,
            None => out.skip_field("entityRevision")?,
        }
        out.end()
    }
}

//! Whether a stored resource means what was sent.

use crate::ical::entity::Entity;

/// Something that a server stores otherwise than it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    name: String,
}

impl Difference {
    /// The octets differ, where they should not.
    #[must_use]
    pub fn octets() -> Self {
        Self {
            name: "the octets".into(),
        }
    }
}

/// What differs, as part of a sentence. Names only.
#[must_use]
pub fn sentence(found: &[Difference]) -> String {
    let names: Vec<_> = found.iter().take(8).map(|difference| &*difference.name).collect();
    names.join(", ")
}

/// What is stored otherwise than it was meant; nothing if it means the same.
#[must_use]
pub fn differences(meant: &Entity, stored: &Entity) -> Vec<Difference> {
    let shown = |entity: &Entity| serde_json::to_value(entity.projection()).unwrap_or_default();
    match shown(meant) == shown(stored) {
        true => Vec::new(),
        false => vec![Difference {
            name: "the fields".into(),
        }],
    }
}

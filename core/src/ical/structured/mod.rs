//! The structured data of Events and To-dos: attendees, alarms, attachments and what else is a list of properties or
//! components.
//!
//! One model serves both directions. An [`Element`] holds values as they are stored or were sent; tables say what each
//! collection is in results and in iCalendar, and reading, writing, checking, comparing and showing walk the same tables.
//!
//! Reading is lenient: what does not fit the shape of the results is left out with a diagnostic, and stays in the
//! document.

mod input;
mod output;
mod read;
mod table;
mod write;

use std::collections::BTreeMap;

use jiff::civil::DateTime;

use super::document::Parameter;
use super::encode::{ContentLine, NewComponent, Unwritable};
use super::value::Geo;
pub(super) use input::{Walk, check_authored, organizer};
pub(super) use read::{MAX_ELEMENTS, Place, Unit, is_derived, is_inline, read, units};
pub(super) use table::{Field, collection};
pub(super) use write::{Written, canonical_uri, key, list_value, same_parameters, written, written_list};

/// Members by their name in results, each with at least one element.
pub type Members = BTreeMap<&'static str, Vec<Element>>;

/// One element of a collection, or one property of a component.
#[derive(Clone, Debug, PartialEq)]
pub enum Element {
    /// A property.
    Property(Entry),
    /// A component.
    Component(Members),
}

/// A property with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its value, decoded.
    pub value: Content,
    /// The parameters that have members of their own in results, by the name of the parameter.
    pub named: BTreeMap<&'static str, Vec<String>>,
    /// The others, but a VALUE that says what is meant anyway.
    pub parameters: Vec<Parameter>,
}

/// The value of a property.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A text, URI, token or duration.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
    /// A number.
    Integer(u32),
    /// A place.
    Geo(Geo),
    /// A time in UTC.
    Utc(DateTime),
    /// A REQUEST-STATUS (RFC 5545, 3.8.8.3).
    RequestStatus {
        /// Two numbers with a dot between them.
        code: String,
        /// What it means.
        description: String,
        /// What caused it.
        data: Option<String>,
    },
}

/// The structured data of one Event or To-do: its members, without those that are empty.
///
/// Serializes as the `structuredData` of the semantic toolset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StructuredData {
    members: Members,
}

/// A URI with a label, such as an organizer.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedUri(pub(super) Element);

impl StructuredData {
    /// The elements of a member such as `attendees`.
    #[must_use]
    pub fn elements(&self, member: &str) -> &[Element] {
        self.members.get(member).map_or(&[], Vec::as_slice)
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The calendar addresses of the attendees, those of alarms left aside.
    pub fn attendees(&self) -> impl Iterator<Item = &str> {
        self.elements("attendees").iter().filter_map(Element::text)
    }

    /// The calendar address of the organizer.
    #[must_use]
    pub fn organizer(&self) -> Option<&str> {
        self.elements("organizer").first().and_then(Element::text)
    }

    /// Everything as it is written into a component: its properties, and the components in it.
    ///
    /// # Errors
    /// [`Unwritable`], for what was not checked.
    pub fn write(&self) -> Result<(Vec<ContentLine>, Vec<NewComponent>), Unwritable> {
        write::members(&self.members, table::ENTITY)
    }
}

impl Element {
    /// The text, URI, token or duration of a property.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Property(Entry {
                value: Content::Text(text),
                ..
            }) => Some(text),
            Self::Property(_) | Self::Component(_) => None,
        }
    }
}

impl Entry {
    /// What VALUE says, in upper case, or the first of these types.
    fn value_type(&self, types: &[&str]) -> String {
        let declared = self.parameters.iter().find(|it| it.name.eq_ignore_ascii_case("VALUE"));
        let declared = declared.and_then(|it| it.values.first());
        declared.map_or_else(|| types[0].to_owned(), |value| value.to_ascii_uppercase())
    }
}

#[cfg(test)]
mod tests;

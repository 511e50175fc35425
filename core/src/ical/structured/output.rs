//! From the model to the shape of the results.

use std::collections::BTreeSet;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::super::value::{OpenEnum, Temporal, boolean};
use super::table::{self, Field, Form, Kind, NamedKind, Shape, Type};
use super::write::canonical_uri;
use super::{Content, Element, Entry, Members, StructuredData};

/// As the `structuredData` of the semantic toolset.
impl Serialize for StructuredData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let attendees = match self.elements("participants") {
            [] => BTreeSet::new(),
            _ => self.attendees().map(canonical_uri).collect(),
        };
        ShownMembers {
            members: &self.members,
            fields: table::ENTITY,
            attendees: &attendees,
        }
        .serialize(serializer)
    }
}

/// An object with the members of a component. `attendees` are the addresses of the Event or To-do.
struct ShownMembers<'a> {
    members: &'a Members,
    fields: &'static [Field],
    attendees: &'a BTreeSet<String>,
}

impl Serialize for ShownMembers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(None)?;
        for field in self.fields {
            let Some(elements) = self.members.get(field.member) else {
                continue;
            };
            let shown = |element| Shown {
                element,
                field,
                attendees: self.attendees,
            };
            if field.many {
                out.serialize_entry(field.member, &elements.iter().map(shown).collect::<Vec<_>>())?;
            } else if let Some(element) = elements.first() {
                out.serialize_entry(field.member, &shown(element))?;
                if let (Element::Property(entry), Shape::Property(held)) = (element, field.shape)
                    && held.form == Form::Hoisted
                {
                    out.serialize_entry("parameters", &entry.parameters)?;
                }
            }
            // RFC 9073, 7.1.1: a participant whose address is that of an attendee.
            if field.name == "PARTICIPANT-TYPE" {
                let address = self.members.get("calendarAddress");
                let address = address.and_then(|all| all.first()?.text()).map(canonical_uri);
                let schedulable = address.is_some_and(|address| self.attendees.contains(&address));
                out.serialize_entry("schedulable", &schedulable)?;
            }
        }
        out.end()
    }
}

/// One element of a field.
struct Shown<'a> {
    element: &'a Element,
    field: &'static Field,
    attendees: &'a BTreeSet<String>,
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.element, self.field.shape) {
            (Element::Property(entry), Shape::Property(held)) => match held.form {
                Form::Bare | Form::BareToken | Form::Hoisted => {
                    ShownValue(&entry.value, held.kind).serialize(serializer)
                }
                Form::Object | Form::ListOfOne => shown_entry(entry, held, serializer),
            },
            (Element::Component(members), Shape::Component(fields)) => ShownMembers {
                members,
                fields,
                attendees: self.attendees,
            }
            .serialize(serializer),
            (Element::Property(_), Shape::Component(_)) | (Element::Component(_), Shape::Property(_)) => {
                serializer.serialize_unit()
            }
        }
    }
}

fn shown_entry<S: Serializer>(entry: &Entry, held: &Type, serializer: S) -> Result<S::Ok, S::Error> {
    let mut out = serializer.serialize_map(None)?;
    if let Content::RequestStatus {
        code,
        description,
        data,
    } = &entry.value
    {
        out.serialize_entry("code", code)?;
        out.serialize_entry("description", description)?;
        if let Some(data) = data {
            out.serialize_entry("exceptionData", data)?;
        }
    } else {
        let member = if held.kind == Kind::Uri { "uri" } else { "value" };
        out.serialize_entry(member, &ShownValue(&entry.value, held.kind))?;
    }
    for named in held.named {
        let values = entry.named.get(named.name);
        let first = values.and_then(|values| values.first());
        match (named.kind, first) {
            (NamedKind::Token(tokens), explicit) => {
                let token = |text| Token(text, tokens);
                let shown = Effective::of(explicit.map(|it| token(it)), token(tokens[0]));
                out.serialize_entry(named.member, &shown)?;
            }
            (NamedKind::Boolean, explicit) => {
                let explicit = explicit.and_then(|it| boolean(it.as_bytes()).ok());
                out.serialize_entry(named.member, &Effective::of(explicit, false))?;
            }
            (NamedKind::Uris, Some(_)) => out.serialize_entry(named.member, &values)?,
            (NamedKind::Text | NamedKind::Uri, Some(first)) => out.serialize_entry(named.member, first)?,
            (NamedKind::Text | NamedKind::Uri | NamedKind::Uris, None) => {}
        }
    }
    out.serialize_entry("parameters", &entry.parameters)?;
    out.end()
}

struct ShownValue<'a>(&'a Content, Kind);

impl Serialize for ShownValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.0, self.1) {
            (Content::Text(text), Kind::Token(tokens)) => Token(text, tokens).serialize(serializer),
            (Content::Text(text), _) => text.serialize(serializer),
            (Content::List(texts), _) => texts.serialize(serializer),
            (Content::Integer(number), _) => number.serialize(serializer),
            (Content::Geo(geo), _) => geo.serialize(serializer),
            (Content::Utc(time), _) => Temporal::Utc(*time).serialize(serializer),
            (Content::RequestStatus { .. }, _) => serializer.serialize_unit(),
        }
    }
}

/// An `openEnumValue`.
#[derive(Clone, Copy)]
struct Token<'a>(&'a str, &'static [&'static str]);

impl Serialize for Token<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        OpenEnum::read(self.0.as_bytes().into(), self.1).serialize(serializer)
    }
}

/// What is said, and what holds: that, or the default.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Effective<T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    explicit_value: Option<T>,
    effective_value: T,
}

impl<T: Copy> Effective<T> {
    fn of(explicit: Option<T>, default: T) -> Self {
        Self {
            explicit_value: explicit,
            effective_value: explicit.unwrap_or(default),
        }
    }
}

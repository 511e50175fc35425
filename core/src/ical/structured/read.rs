//! From components to the model.

use std::collections::{BTreeMap, BTreeSet};

use super::super::document::{Component, Parameter, Property};
use super::super::duration::Duration;
use super::super::value::request_status::RequestStatus;
use super::super::value::{Geo, Temporal, boolean, lossy, text, text_list, uri};
use super::table::{self, Field, Kind, NamedKind, Shape, Type};
use super::{Content, Element, Entry, Members, StructuredData};
use crate::outcome::Diagnostic;

/// How much of a resource is read as structured data: elements of all its collections, members of components inside,
/// and further values of lists and parameters. It is several times what real invitations have, and keeps a result below
/// the 4 MiB that one may have.
pub(in super::super) const MAX_ELEMENTS: usize = 8_000;

/// What was left out, or read with leniency, and how much more may be read.
struct Notes<'r> {
    remarks: &'r mut BTreeSet<Diagnostic>,
    room: usize,
    full: bool,
}

impl Notes<'_> {
    fn warn(&mut self, code: &'static str, message: &'static str) {
        self.remarks.insert(Diagnostic::warning(code, message));
    }

    /// Whether this much may be read.
    fn take(&mut self, cost: usize) -> bool {
        if let Some(room) = self.room.checked_sub(cost) {
            self.room = room;
            return true;
        }
        self.full = true;
        self.warn(
            "structured_data_omitted",
            "The resource has more than 8,000 attendees, alarms and the like, their parameters included; the others are left out.",
        );
        false
    }
}

/// Where elements are stored.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Place<'a> {
    Line(Property<'a>),
    Component(Component<'a>),
}

/// A content line or component with the elements in it: one, but for comma lists.
#[derive(Clone, Debug)]
pub(in super::super) struct Unit<'a> {
    pub(in super::super) place: Place<'a>,
    pub(in super::super) elements: Vec<Element>,
}

/// The structured data of a VEVENT or VTODO; `None` if there is nothing. `room` is what is left of [`MAX_ELEMENTS`].
pub(in super::super) fn read(
    component: Component<'_>,
    room: &mut usize,
    remarks: &mut BTreeSet<Diagnostic>,
) -> Option<StructuredData> {
    let full = false;
    let mut notes = Notes {
        remarks,
        room: *room,
        full,
    };
    let members = members(component, table::ENTITY, &mut notes);
    *room = notes.room;
    (!members.is_empty()).then_some(StructuredData { members })
}

/// The elements of one collection where they are stored. What is left out of results has no unit. `None` if there are
/// more than [`MAX_ELEMENTS`].
pub(in super::super) fn units<'a>(component: Component<'a>, field: &Field) -> Option<Vec<Unit<'a>>> {
    let notes = &mut Notes {
        remarks: &mut BTreeSet::new(),
        room: MAX_ELEMENTS,
        full: false,
    };
    let mut units = Vec::new();
    match field.shape {
        Shape::Property(held) => {
            for property in component.all(field.name) {
                let elements = elements(property, held, notes).unwrap_or_default();
                units.push(Unit {
                    place: Place::Line(property),
                    elements,
                });
            }
        }
        Shape::Component(fields) => {
            for child in component.children().filter(|child| child.is(field.name)) {
                let elements = complete(child, field.name, fields, notes).into_iter().collect();
                units.push(Unit {
                    place: Place::Component(child),
                    elements,
                });
            }
        }
    }
    units.retain(|unit| !unit.elements.is_empty());
    (!notes.full).then_some(units)
}

/// Whether it is marked as derived from something else (RFC 9073, 5.3), and so not to be edited.
pub(in super::super) fn is_derived(property: Property<'_>) -> bool {
    property
        .parameter("DERIVED")
        .is_some_and(|value| value.eq_ignore_ascii_case("TRUE"))
}

fn members(component: Component<'_>, fields: &'static [Field], notes: &mut Notes<'_>) -> Members {
    let mut out = Members::new();
    for property in component.properties() {
        let name = property.name();
        let found = fields.iter().find_map(|field| match field.shape {
            Shape::Property(held) if name.eq_ignore_ascii_case(field.name.as_bytes()) => Some((field, held)),
            Shape::Property(_) | Shape::Component(_) => None,
        });
        let Some((field, held)) = found else { continue };
        let Some(elements) = elements(property, held, notes) else {
            continue;
        };
        match (out.get_mut(field.member), field.many) {
            (Some(all), true) => all.extend(elements),
            (Some(all), false) => {
                if let ([Element::Property(one)], Some(Element::Property(other))) =
                    (all.as_mut_slice(), elements.into_iter().next())
                    && let (Content::List(values), Content::List(more)) = (&mut one.value, other.value)
                {
                    values.extend(more);
                } else {
                    notes.warn(
                        "singleton_property_repeated",
                        "A property stands several times where one may stand; the first counts.",
                    );
                }
            }
            (None, _) if elements.is_empty() => {}
            (None, _) => {
                out.insert(field.member, elements);
            }
        }
    }
    for child in component.children() {
        let name = child.name();
        let found = fields.iter().find_map(|field| match field.shape {
            Shape::Component(fields) if name.eq_ignore_ascii_case(field.name.as_bytes()) => Some((field, fields)),
            Shape::Property(_) | Shape::Component(_) => None,
        });
        if let Some((field, fields)) = found
            && let Some(element) = complete(child, field.name, fields, notes)
        {
            out.entry(field.member).or_default().push(element);
        }
    }
    out
}

/// A component, if it has all that it needs.
fn complete(component: Component<'_>, name: &str, fields: &'static [Field], notes: &mut Notes<'_>) -> Option<Element> {
    let members = members(component, fields, notes);
    if fields
        .iter()
        .all(|field| !field.required || members.contains_key(field.member))
    {
        return notes.take(1).then_some(Element::Component(members));
    }
    let (code, message) = if name == "VALARM" {
        (
            "alarm_invalid",
            "An alarm has no readable ACTION or TRIGGER, and is left out.",
        )
    } else {
        (
            "extension_component_invalid",
            "A component for a participant, location or resource lacks a property that it needs, and is left out.",
        )
    };
    notes.warn(code, message);
    None
}

/// The elements of a property: one, or those of a comma list; `None` if it cannot be read.
fn elements(property: Property<'_>, held: &Type, notes: &mut Notes<'_>) -> Option<Vec<Element>> {
    let mut parameters = Vec::new();
    let mut named = BTreeMap::new();
    if !property.is_plain() {
        let all = property.parameters();
        if held.kind == Kind::Uri && all.iter().any(says_inline) {
            return None;
        }
        for parameter in all {
            take(parameter, held, &mut named, &mut parameters, notes);
        }
    }
    let mut entry = Entry {
        value: Content::Integer(0),
        named,
        parameters,
    };
    let further = |values: &Vec<String>| values.len().saturating_sub(1);
    let cost = 1
        + entry.parameters.iter().map(|it| 1 + further(&it.values)).sum::<usize>()
        + entry.named.values().map(further).sum::<usize>();
    if held.kind == Kind::Each {
        let mut values = text_list(property.value());
        values.retain(|value| !value.is_empty());
        if !notes.take(values.len().saturating_mul(cost)) {
            return None;
        }
        let values = values.into_iter();
        let each = values.map(|value| {
            Element::Property(Entry {
                value: Content::Text(value),
                ..entry.clone()
            })
        });
        return Some(each.collect());
    }
    let Some(value) = content(property, held, &entry.value_type(held.types)) else {
        notes.warn(
            "registered_property_value_invalid",
            "A property has a value that is not of its type, and is left out.",
        );
        return None;
    };
    let more = match &value {
        Content::List(values) => further(values),
        Content::Text(_) | Content::Integer(_) | Content::Geo(_) | Content::Utc(_) | Content::RequestStatus { .. } => 0,
    };
    entry.value = value;
    notes.take(cost + more).then(|| vec![Element::Property(entry)])
}

/// Puts a parameter where it belongs.
fn take(
    parameter: Parameter,
    held: &Type,
    named: &mut BTreeMap<&'static str, Vec<String>>,
    parameters: &mut Vec<Parameter>,
    notes: &mut Notes<'_>,
) {
    let name = parameter.name.as_str();
    let first = parameter.values.first().map_or("", String::as_str);
    if name.is_empty() {
        return;
    }
    if name.eq_ignore_ascii_case("VALUE") && first.eq_ignore_ascii_case(held.types[0]) {
        return;
    }
    let Some(known) = held.named.iter().find(|known| name.eq_ignore_ascii_case(known.name)) else {
        parameters.push(parameter);
        return;
    };
    let several = parameter.values.len() > 1 && known.kind != NamedKind::Uris;
    if several || named.contains_key(known.name) {
        notes.warn(
            "property_parameter_cardinality",
            "A parameter stands several times or has several values where one may stand.",
        );
        if named.contains_key(known.name) {
            return;
        }
    }
    let read = match known.kind {
        // Of a comma that should have been quoted.
        NamedKind::Text => Some(vec![parameter.values.join(", ")]),
        NamedKind::Token(_) => (!first.is_empty()).then(|| vec![first.to_owned()]),
        NamedKind::Boolean => boolean(first.as_bytes()).ok().map(|_| vec![first.to_owned()]),
        NamedKind::Uri => address(first.as_bytes()).map(|uri| vec![uri]),
        NamedKind::Uris => parameter.values.iter().map(|it| address(it.as_bytes())).collect(),
    };
    match read {
        Some(values) => {
            named.insert(known.name, values);
        }
        None => notes.warn(
            "property_parameter_invalid",
            "A parameter has a value that is not of its type, and is left out.",
        ),
    }
}

/// Whether the value is content instead of a URI: BINARY, or a text.
pub(in super::super) fn is_inline(property: Property<'_>) -> bool {
    !property.is_plain() && property.parameters().iter().any(says_inline)
}

fn says_inline(parameter: &Parameter) -> bool {
    let said = parameter.values.first().map_or("", String::as_str);
    [("VALUE", "BINARY"), ("VALUE", "TEXT"), ("ENCODING", "BASE64")]
        .iter()
        .any(|(name, word)| parameter.name.eq_ignore_ascii_case(name) && said.eq_ignore_ascii_case(word))
}

/// An absolute URI; an IRI is mapped to one (RFC 3987, 3.1).
fn address(value: &[u8]) -> Option<String> {
    if value.is_ascii() {
        return uri(value).ok();
    }
    let mut mapped = String::with_capacity(value.len() * 2);
    for octet in value {
        match octet {
            0x80.. => mapped.push_str(&format!("%{octet:02X}")),
            _ => mapped.push(char::from(*octet)),
        }
    }
    uri(mapped.as_bytes()).ok()
}

/// The value if it is one of this type.
fn content(property: Property<'_>, held: &Type, value_type: &str) -> Option<Content> {
    let value = property.value();
    let plain = || lossy(value.clone()).trim().to_owned();
    Some(match held.kind {
        Kind::Text | Kind::Name if value_type == "URI" => Content::Text(address(&value)?),
        Kind::Text => Content::Text(text(value).into_owned()),
        Kind::Name => Content::Text(Some(text(value).into_owned()).filter(|text| !text.is_empty())?),
        Kind::Each | Kind::List => Content::List(text_list(value)),
        Kind::Uri => Content::Text(address(&value)?),
        Kind::Token(_) => Content::Text(Some(plain()).filter(|token| !token.is_empty())?),
        Kind::Integer(least, most) => {
            let digits = plain();
            let digits = digits.strip_prefix('+').unwrap_or(&digits);
            let number = digits.bytes().all(|digit| digit.is_ascii_digit()).then_some(digits)?;
            let number = number.parse().ok()?;
            Content::Integer((least..=most).contains(&number).then_some(number)?)
        }
        Kind::Geo => Content::Geo(Geo::parse(&value).ok()?),
        Kind::Utc => match Temporal::parse(&value, None) {
            Ok(Temporal::Utc(time)) => Content::Utc(time),
            Ok(Temporal::Date(_) | Temporal::Floating(_) | Temporal::Zoned(..)) | Err(_) => return None,
        },
        Kind::Duration => Content::Text(Duration::parse(&plain()).map(|_| plain())?),
        Kind::Trigger => {
            let text = plain();
            let time = Temporal::parse(text.as_bytes(), None).is_ok_and(|time| !time.is_date());
            Content::Text((time || Duration::parse(&text).is_some()).then_some(text)?)
        }
        Kind::RequestStatus => request_status(&value)?,
    })
}

fn request_status(value: &[u8]) -> Option<Content> {
    let RequestStatus {
        code,
        description,
        exception_data: data,
    } = RequestStatus::parse(value).ok()?;
    is_status_code(&code).then_some(Content::RequestStatus {
        code,
        description,
        data,
    })
}

/// Two numbers with a dot between them; RFC 5545 allows three, for which the results have no form.
pub(super) fn is_status_code(code: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    code.split_once('.')
        .is_some_and(|(major, minor)| number(major) && number(minor))
}

//! From the model to the shape of the results.

use std::collections::BTreeSet;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::super::value::{OpenEnum, Temporal};
use super::table::{self, Field, Form, Kind, NamedKind, Shape, Type};
use super::write::canonical_uri;
use super::{Content, Element, Entry, Members, StructuredData, read};

/// As the `structuredData` of the semantic toolset.
impl Serialize for StructuredData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut shown = shown_members(&self.members, table::ENTITY);
        // RFC 9073, 7.1.1: one whose address is that of an attendee.
        if let (Some(Value::Array(shown)), Some(stored)) =
            (shown.get_mut("participants"), self.members.get("participants"))
        {
            let attendees: BTreeSet<_> = self.attendees().map(canonical_uri).collect();
            for (shown, stored) in shown.iter_mut().zip(stored) {
                let address = match stored {
                    Element::Component(members) => members.get("calendarAddress"),
                    Element::Property(_) => None,
                };
                let address = address.and_then(|all| all.first()?.text()).map(canonical_uri);
                shown["schedulable"] = json!(address.is_some_and(|address| attendees.contains(&address)));
            }
        }
        shown.serialize(serializer)
    }
}

fn shown_members(members: &Members, fields: &[Field]) -> Map<String, Value> {
    let mut out = Map::new();
    for field in fields {
        let Some(elements) = members.get(field.member) else {
            continue;
        };
        let mut shown = elements.iter().map(|element| shown(element, field.shape));
        let value = if field.many {
            Value::Array(shown.collect())
        } else {
            shown.next().unwrap_or_default()
        };
        out.insert(field.member.to_owned(), value);
        if let ([Element::Property(entry)], Shape::Property(held)) = (elements.as_slice(), field.shape)
            && held.form == Form::Hoisted
        {
            out.insert("parameters".to_owned(), json!(entry.parameters));
        }
    }
    out
}

fn shown(element: &Element, shape: Shape) -> Value {
    match (element, shape) {
        (Element::Property(entry), Shape::Property(held)) => shown_entry(entry, held),
        (Element::Component(members), Shape::Component(fields)) => shown_members(members, fields).into(),
        (Element::Property(_), Shape::Component(_)) | (Element::Component(_), Shape::Property(_)) => Value::Null,
    }
}

fn shown_entry(entry: &Entry, held: &Type) -> Value {
    let value = match (&entry.value, held.kind) {
        (Content::Text(text), Kind::Token(tokens)) => token(text, tokens),
        (Content::Text(text), _) => json!(text),
        (Content::List(texts), _) => json!(texts),
        (Content::Integer(number), _) => json!(number),
        (Content::Geo(geo), _) => json!(geo),
        (Content::Utc(time), _) => json!(Temporal::Utc(*time)),
        (Content::RequestStatus { .. }, _) => Value::Null,
    };
    match held.form {
        Form::Bare | Form::BareToken | Form::Hoisted => return value,
        Form::Object | Form::ListOfOne => {}
    }
    let mut out = Map::new();
    if let Content::RequestStatus {
        code,
        description,
        data,
    } = &entry.value
    {
        out.insert("code".to_owned(), json!(code));
        out.insert("description".to_owned(), json!(description));
        if let Some(data) = data {
            out.insert("exceptionData".to_owned(), json!(data));
        }
    } else {
        let member = if held.kind == Kind::Uri { "uri" } else { "value" };
        out.insert(member.to_owned(), value);
    }
    for named in held.named {
        let values = entry.named.get(named.name);
        let first = values.and_then(|values| values.first());
        let shown = match (named.kind, first) {
            (NamedKind::Token(tokens), explicit) => {
                effective(explicit.map(|it| token(it, tokens)), token(tokens[0], tokens))
            }
            (NamedKind::Boolean, explicit) => effective(
                explicit.and_then(|it| read::boolean(it)).map(Value::Bool),
                Value::Bool(false),
            ),
            (NamedKind::Uris, Some(_)) => json!(values),
            (NamedKind::Text | NamedKind::Uri, Some(first)) => json!(first),
            (NamedKind::Text | NamedKind::Uri | NamedKind::Uris, None) => continue,
        };
        out.insert(named.member.to_owned(), shown);
    }
    out.insert("parameters".to_owned(), json!(entry.parameters));
    out.into()
}

fn token(token: &str, registered: &[&str]) -> Value {
    json!(OpenEnum::read(token.as_bytes().into(), registered))
}

/// What is said, and what holds: that, or the default.
fn effective(explicit: Option<Value>, default: Value) -> Value {
    match explicit {
        Some(value) => json!({"explicitValue": value, "effectiveValue": value}),
        None => json!({"effectiveValue": default}),
    }
}

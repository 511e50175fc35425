//! From the model to content lines and components; and a form in which equal meanings are equal.

use std::fmt::Write;

use super::super::document::Parameter;
use super::super::duration::Duration;
use super::super::encode::{ContentLine, NewComponent, Unwritable, escape_list, escape_text};
use super::super::value::request_status::RequestStatus;
use super::super::value::{Temporal, boolean};
use super::table::{Field, Form, Kind, Named, NamedKind, Shape, Type};
use super::{Content, Element, Entry, Members};

/// One element, written.
#[derive(Clone, Debug)]
pub(in super::super) enum Written {
    Line(ContentLine),
    Component(NewComponent),
}

/// An element of a field.
pub(in super::super) fn written(element: &Element, field: &Field) -> Result<Written, Unwritable> {
    match (element, field.shape) {
        (Element::Property(entry), Shape::Property(held)) => Ok(Written::Line(line(entry, field.name, held)?)),
        (Element::Component(inner), Shape::Component(fields)) => {
            let mut component = NewComponent::new(field.name)?;
            (component.lines, component.components) = members(inner, fields)?;
            Ok(Written::Component(component))
        }
        (Element::Property(_), Shape::Component(_)) | (Element::Component(_), Shape::Property(_)) => {
            Err(Unwritable::Value)
        }
    }
}

pub(super) fn members(
    members: &Members,
    fields: &'static [Field],
) -> Result<(Vec<ContentLine>, Vec<NewComponent>), Unwritable> {
    let (mut lines, mut components) = (Vec::new(), Vec::new());
    for field in fields {
        for element in members.get(field.member).into_iter().flatten() {
            match written(element, field)? {
                Written::Line(line) => lines.push(line),
                Written::Component(component) => components.push(component),
            }
        }
    }
    Ok((lines, components))
}

/// Elements that make one content line or component: one, but for comma lists, where all have the same parameters.
pub(in super::super) fn written_list(elements: &[&Element], field: &Field) -> Result<Written, Unwritable> {
    match (elements, field.shape) {
        ([Element::Property(first), _, ..], Shape::Property(held)) => {
            let value = list_value(elements.iter().copied());
            Ok(Written::Line(line_with(first, field.name, held, &value)?))
        }
        ([first, ..], _) => written(first, field),
        ([], _) => Err(Unwritable::Value),
    }
}

/// Whether two elements of a comma list can stand in one line.
pub(in super::super) fn same_parameters(one: &Element, other: &Element, field: &Field) -> bool {
    match (one, other, field.shape) {
        (Element::Property(one), Element::Property(other), Shape::Property(held)) => {
            held.form == Form::Bare || one.parameters == other.parameters && one.named == other.named
        }
        _ => false,
    }
}

/// The value of a comma list with these texts.
pub(in super::super) fn list_value<'a>(elements: impl Iterator<Item = &'a Element>) -> String {
    let texts: Vec<_> = elements.filter_map(Element::text).map(escape_text).collect();
    texts.join(",")
}

fn line(entry: &Entry, name: &str, held: &Type) -> Result<ContentLine, Unwritable> {
    line_with(entry, name, held, &encoded(entry, held, &entry.value_type(held.types)))
}

fn line_with(entry: &Entry, name: &str, held: &Type, value: &str) -> Result<ContentLine, Unwritable> {
    let value_type = entry.value_type(held.types);
    let mut parameters: Vec<Parameter> = held
        .named
        .iter()
        .filter_map(|known| {
            Some(Parameter {
                name: known.name.to_owned(),
                values: entry.named.get(known.name)?.clone(),
            })
        })
        .collect();
    if held.declared && value_type == held.types[0] {
        parameters.push(Parameter {
            name: "VALUE".to_owned(),
            values: vec![value_type],
        });
    }
    parameters.extend_from_slice(&entry.parameters);
    ContentLine::new(name, &parameters, value)
}

fn encoded(entry: &Entry, held: &Type, value_type: &str) -> String {
    match &entry.value {
        Content::Text(text) => {
            let escaped = matches!(held.kind, Kind::Text | Kind::Name | Kind::Each) && value_type != "URI";
            if escaped {
                escape_text(text).into_owned()
            } else {
                text.clone()
            }
        }
        Content::List(texts) => escape_list(texts),
        Content::Integer(number) => number.to_string(),
        Content::Geo(geo) => format!("{};{}", geo.latitude, geo.longitude),
        Content::Utc(time) => Temporal::Utc(*time).encoded(),
        Content::RequestStatus {
            code,
            description,
            data,
        } => {
            let status = RequestStatus {
                code: code.clone(),
                description: description.clone(),
                exception_data: data.clone(),
            };
            status.to_string()
        }
    }
}

/// A text that is the same for elements of the same meaning: tokens and names of parameters in any case, parameters in
/// any order, what is meant where nothing is said, durations by their length, calendar addresses by RFC 6068.
pub(in super::super) fn key(element: &Element, field: &Field) -> String {
    let mut out = String::new();
    push_key(element, field.shape, &mut out);
    out
}

fn push_key(element: &Element, shape: Shape, out: &mut String) {
    match (element, shape) {
        (Element::Property(entry), Shape::Property(held)) => push_entry(entry, held, out),
        (Element::Component(members), Shape::Component(fields)) => {
            out.push('{');
            for field in fields {
                for element in members.get(field.member).into_iter().flatten() {
                    out.push_str(field.member);
                    push_key(element, field.shape, out);
                }
            }
            out.push('}');
        }
        (Element::Property(_), Shape::Component(_)) | (Element::Component(_), Shape::Property(_)) => {}
    }
}

/// Strings are written as Rust literals, so none can be taken for two.
fn push_entry(entry: &Entry, held: &Type, out: &mut String) {
    let value_type = entry.value_type(held.types);
    let value = match &entry.value {
        Content::Text(text) => match held.kind {
            Kind::Uri => canonical_uri(text),
            Kind::Token(_) => text.to_ascii_uppercase(),
            Kind::Duration | Kind::Trigger => canonical_trigger(text),
            Kind::Text | Kind::Name | Kind::List | Kind::Each => lines(text),
            Kind::Integer(..) | Kind::Geo | Kind::Utc | Kind::RequestStatus => text.clone(),
        },
        Content::List(_) | Content::Integer(_) | Content::Geo(_) | Content::Utc(_) | Content::RequestStatus { .. } => {
            lines(&encoded(entry, held, &value_type))
        }
    };
    let mut parameters: Vec<String> = Vec::new();
    for known in held.named {
        if let Some(values) = entry.named.get(known.name)
            && let Some(values) = canonical_named(known, values)
        {
            parameters.push(format!("{}={values:?}", known.name));
        }
    }
    for parameter in &entry.parameters {
        let name = parameter.name.to_ascii_uppercase();
        let first = parameter.values.first().map_or("", String::as_str);
        let implied =
            name == "VALUE" || name == "RELATED" && held.kind == Kind::Trigger && first.eq_ignore_ascii_case("START");
        if !implied {
            let values: Vec<_> = parameter.values.iter().map(|value| lines(value)).collect();
            parameters.push(format!("{name}={values:?}"));
        }
    }
    let plain = matches!(held.kind, Kind::Trigger) || value_type == held.types[0];
    if !plain {
        parameters.push(format!("VALUE={value_type:?}"));
    }
    if matches!(held.form, Form::Bare | Form::BareToken) {
        parameters.clear();
    }
    parameters.sort();
    // Writing to a String does not fail.
    let _ = write!(out, "{value:?}{parameters:?};");
}

/// With one kind of line ends.
fn lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

fn canonical_named(known: &Named, values: &[String]) -> Option<Vec<String>> {
    let first = values.first()?;
    match known.kind {
        NamedKind::Text => Some(vec![lines(first)]),
        NamedKind::Token(tokens) => {
            let token = first.to_ascii_uppercase();
            (token != tokens[0]).then(|| vec![token])
        }
        NamedKind::Boolean => boolean(first.as_bytes()).ok()?.then(|| vec!["TRUE".to_owned()]),
        NamedKind::Uri | NamedKind::Uris => Some(values.iter().map(|value| canonical_uri(value)).collect()),
    }
}

/// Schemes are in any case (RFC 3986, 3.1), and so, in practice, are mail addresses.
pub(in super::super) fn canonical_uri(uri: &str) -> String {
    let (scheme, rest) = uri.split_once(':').unwrap_or_default();
    let scheme = scheme.to_ascii_lowercase();
    if scheme == "mailto" {
        uri.to_ascii_lowercase()
    } else {
        format!("{scheme}:{rest}")
    }
}

fn canonical_trigger(text: &str) -> String {
    match (Duration::parse(text), Temporal::parse(text.as_bytes(), None)) {
        (Some(duration), _) => format!("{}+{}", duration.nominal_days(), duration.exact_seconds()),
        (None, Ok(time)) => format!("{time:?}"),
        (None, Err(_)) => text.to_owned(),
    }
}

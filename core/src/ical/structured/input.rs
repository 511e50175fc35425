//! From JSON inputs to the model, with a pointer for everything that is wrong.
//!
//! Reading an input ([`Walk::element`]) tells whether it has the shape; [`check_authored`] whether what it says can be
//! written. They are apart because an element that only names a stored one may say what nobody would write anew.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::DateTime;
use serde_json::{Map, Value};

use super::super::document::Parameter;
use super::super::duration::Duration;
use super::super::encode::is_token;
use super::super::entity;
use super::super::value::{Geo, Temporal, uri};
use super::table::{self, Field, Form, Kind, Named, NamedKind, ROLES, Shape, TODO_PART_STAT, Type};
use super::{Content, Element, Entry, Members, NamedUri, StructuredData, read};
use crate::outcome::Violation;

impl StructuredData {
    /// Reads and checks a `structuredData` of the inputs, for an Event or a To-do. `pointer` says where it stands in
    /// the arguments.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub fn from_json(value: &Value, kind: entity::Kind, pointer: &str) -> Result<Self, Vec<Violation>> {
        let mut walk = Walk::at(pointer, kind);
        let members = walk.members(value, table::ENTITY);
        walk.check_members(&members, table::ENTITY);
        walk.finish(Self { members })
    }
}

impl NamedUri {
    /// Reads and checks an `organizer` of the inputs. `pointer` says where it stands in the arguments.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub fn from_json(value: &Value, pointer: &str) -> Result<Self, Vec<Violation>> {
        let mut walk = Walk::at(pointer, entity::Kind::Event);
        let element = walk.element(value, organizer());
        if let Some(element) = &element {
            walk.check(element, organizer());
        }
        let read = walk.finish(element)?;
        // Without violations there is an element.
        read.map(Self).ok_or_else(Vec::new)
    }
}

/// The field of an organizer.
pub(in super::super) fn organizer() -> &'static Field {
    &table::ENTITY[0]
}

/// What is wrong with an element that is to be written.
pub(in super::super) fn check_authored(
    element: &Element,
    field: &'static Field,
    kind: entity::Kind,
    pointer: &str,
) -> Vec<Violation> {
    let mut walk = Walk::at(pointer, kind);
    walk.check(element, field);
    walk.found
}

/// A walk over an input or a model, with the place where it is.
pub(in super::super) struct Walk {
    pointer: String,
    found: Vec<Violation>,
    kind: entity::Kind,
}

impl Walk {
    pub(in super::super) fn at(pointer: &str, kind: entity::Kind) -> Self {
        Self {
            pointer: pointer.to_owned(),
            found: Vec::new(),
            kind,
        }
    }

    /// What was read, if nothing was wrong.
    pub(in super::super) fn finish<T>(self, read: T) -> Result<T, Vec<Violation>> {
        if self.found.is_empty() {
            Ok(read)
        } else {
            Err(self.found)
        }
    }

    pub(in super::super) fn below<T>(&mut self, token: &str, run: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(&token.replace('~', "~0").replace('/', "~1"));
        let out = run(self);
        self.pointer.truncate(length);
        out
    }

    pub(in super::super) fn note(&mut self, code: &'static str, message: impl Into<String>) {
        self.found.push(Violation {
            pointer: self.pointer.clone(),
            code,
            message: Some(message.into()),
        });
    }

    /// An object with some of these members, and all of the required ones.
    pub(in super::super) fn object<'v>(
        &mut self,
        value: &'v Value,
        known: &[&str],
        required: &[&str],
    ) -> Option<&'v Map<String, Value>> {
        let Some(members) = value.as_object() else {
            self.note("invalid_type", "Send an object here.");
            return None;
        };
        for name in members.keys().filter(|name| !known.contains(&name.as_str())) {
            let text = format!("Leave this member out. Known members here: {}.", known.join(", "));
            self.below(name, |walk| walk.note("unknown_member", text));
        }
        for name in required.iter().filter(|name| !members.contains_key(**name)) {
            let hint = if *name == "parameters" {
                ": [] if there are none"
            } else {
                ""
            };
            self.below(name, |walk| walk.note("required_member", format!("Send {name}{hint}.")));
        }
        Some(members)
    }

    pub(in super::super) fn list<T>(
        &mut self,
        value: &Value,
        mut each: impl FnMut(&mut Self, &Value) -> Option<T>,
    ) -> Vec<T> {
        let Some(items) = value.as_array() else {
            self.note("invalid_type", "Send an array here.");
            return Vec::new();
        };
        let read = items.iter().enumerate();
        read.filter_map(|(at, item)| self.below(&at.to_string(), |walk| each(walk, item)))
            .collect()
    }

    fn text(&mut self, value: &Value, least: usize) -> Option<String> {
        match value.as_str() {
            Some(text) if text.len() >= least => Some(text.to_owned()),
            Some(_) => {
                self.note("length_out_of_range", "Send at least 1 character.");
                None
            }
            None => {
                self.note("invalid_type", "Send a string here.");
                None
            }
        }
    }

    fn members(&mut self, value: &Value, fields: &'static [Field]) -> Members {
        let hoists = fields.iter().any(is_hoisted);
        let extra = if hoists { Some("parameters") } else { None };
        let known: Vec<_> = fields.iter().map(|field| field.member).chain(extra).collect();
        let needed = fields.iter().filter(|field| field.required).map(|field| field.member);
        let needed: Vec<_> = needed.chain(extra).collect();
        let mut out = Members::new();
        let Some(object) = self.object(value, &known, &needed) else {
            return out;
        };
        for field in fields {
            let Some(value) = object.get(field.member) else {
                continue;
            };
            let elements = self.below(field.member, |walk| {
                if field.many {
                    walk.list(value, |walk, item| walk.element(item, field))
                } else {
                    walk.element(value, field).into_iter().collect()
                }
            });
            if !elements.is_empty() {
                out.insert(field.member, elements);
            }
        }
        if let Some(value) = extra.and_then(|name| object.get(name)) {
            let parameters = self.parameters(value);
            let uid = fields.iter().find(|field| is_hoisted(field));
            let uid = uid.and_then(|field| out.get_mut(field.member)?.first_mut());
            if let Some(Element::Property(uid)) = uid {
                uid.parameters = parameters;
            }
        }
        out
    }

    /// An element of a field in the shape of the inputs.
    pub(in super::super) fn element(&mut self, value: &Value, field: &'static Field) -> Option<Element> {
        match field.shape {
            Shape::Component(fields) => Some(Element::Component(self.members(value, fields))),
            Shape::Property(held) => self.property(value, held).map(Element::Property),
        }
    }

    fn property(&mut self, value: &Value, held: &Type) -> Option<Entry> {
        let mut entry = Entry {
            value: Content::Integer(0),
            named: BTreeMap::new(),
            parameters: Vec::new(),
        };
        if matches!(held.form, Form::Bare | Form::Hoisted) {
            entry.value = Content::Text(self.text(value, usize::from(held.form == Form::Hoisted))?);
            return Some(entry);
        }
        let (own, needed): (&[&str], &[&str]) = match held.kind {
            Kind::Uri => (&["uri"], &["uri", "parameters"]),
            Kind::RequestStatus => (
                &["code", "description", "exceptionData"],
                &["code", "description", "parameters"],
            ),
            Kind::Text
            | Kind::Name
            | Kind::List
            | Kind::Each
            | Kind::Token(_)
            | Kind::Integer(..)
            | Kind::Geo
            | Kind::Utc
            | Kind::Duration
            | Kind::Trigger => (&["value"], &["value", "parameters"]),
        };
        let named = held.named.iter().map(|named| named.member);
        let known: Vec<_> = own.iter().copied().chain(named).chain(["parameters"]).collect();
        let object = self.object(value, &known, needed)?;
        if let Some(value) = object.get("parameters") {
            entry.parameters = self.parameters(value);
        }
        for named in held.named {
            if let Some(value) = object.get(named.member)
                && let Some(values) = self.below(named.member, |walk| walk.named(value, named))
                && !values.is_empty()
            {
                entry.named.insert(named.name, values);
            }
        }
        entry.value = if held.kind == Kind::RequestStatus {
            let mut text = |name: &str| {
                let value = object.get(name)?;
                self.below(name, |walk| walk.text(value, 0))
            };
            Content::RequestStatus {
                code: text("code")?,
                description: text("description")?,
                data: text("exceptionData"),
            }
        } else {
            let value = object.get(own[0])?;
            self.below(own[0], |walk| walk.content(value, held))?
        };
        let typed = entry
            .parameters
            .iter()
            .any(|parameter| parameter.name.eq_ignore_ascii_case("VALUE"));
        if let Content::Text(text) = &entry.value
            && held.kind == Kind::Trigger
            && !typed
            && Temporal::parse(text.as_bytes(), None).is_ok()
        {
            entry.parameters.push(Parameter {
                name: "VALUE".to_owned(),
                values: vec!["DATE-TIME".to_owned()],
            });
        }
        entry.parameters.retain(|parameter| {
            let implied = matches!(parameter.values.as_slice(), [one] if one.eq_ignore_ascii_case(held.types[0]));
            !(parameter.name.eq_ignore_ascii_case("VALUE") && implied)
        });
        Some(entry)
    }

    fn parameters(&mut self, value: &Value) -> Vec<Parameter> {
        self.below("parameters", |walk| walk.list(value, Self::parameter))
    }

    fn parameter(&mut self, value: &Value) -> Option<Parameter> {
        let members = self.object(value, &["name", "values"], &["name", "values"])?;
        let (name, values) = (members.get("name")?, members.get("values")?);
        let name = self.below("name", |walk| walk.text(name, 1));
        let values = self.below("values", |walk| {
            if value_is_empty(values) {
                walk.note("item_count_out_of_range", "Send at least 1 item.");
            }
            walk.list(values, |walk, item| walk.text(item, 0))
        });
        Some(Parameter { name: name?, values })
    }

    fn named(&mut self, value: &Value, named: &Named) -> Option<Vec<String>> {
        match named.kind {
            NamedKind::Text | NamedKind::Uri => self.text(value, 0).map(|text| vec![text]),
            NamedKind::Token(_) => {
                let token = self.text(value, 0)?.to_ascii_uppercase();
                let word = ROLES.iter().find(|(word, _)| named.name == "ROLE" && *word == token);
                Some(vec![word.map_or(token, |(_, role)| (*role).to_owned())])
            }
            NamedKind::Boolean => {
                let Some(value) = value.as_bool() else {
                    self.note("invalid_type", "Send true or false here.");
                    return None;
                };
                Some(vec![if value { "TRUE" } else { "FALSE" }.to_owned()])
            }
            NamedKind::Uris => Some(self.list(value, |walk, item| walk.text(item, 0))),
        }
    }

    fn content(&mut self, value: &Value, held: &Type) -> Option<Content> {
        match held.kind {
            Kind::Token(_) if held.form == Form::ListOfOne => {
                let mut values = self.list(value, |walk, item| walk.text(item, 0));
                if values.len() != 1 {
                    self.note("item_count_out_of_range", "Send 1 item.");
                }
                values.pop().map(|token| Content::Text(token.to_ascii_uppercase()))
            }
            Kind::Token(_) => Some(Content::Text(self.text(value, 0)?.to_ascii_uppercase())),
            Kind::List => Some(Content::List(self.list(value, |walk, item| walk.text(item, 0)))),
            Kind::Integer(least, most) => {
                let whole = value.as_f64().filter(|number| number.fract() == 0.0);
                let Some(number) = whole else {
                    self.note("invalid_type", "Send an integer here.");
                    return None;
                };
                if number < f64::from(least) || number > f64::from(most) {
                    self.note("out_of_range", format!("Send {least} to {most}."));
                    return None;
                }
                Some(Content::Integer(number as u32))
            }
            Kind::Geo => self.geo(value),
            Kind::Utc => self.utc(value),
            Kind::Duration | Kind::Trigger => {
                let text = self.text(value, usize::from(held.kind == Kind::Duration))?;
                // In the form of RFC 5545.
                let duration = Duration::parse(&text).map(|duration| duration.to_string());
                Some(Content::Text(duration.unwrap_or(text)))
            }
            Kind::Name => self.text(value, 1).map(Content::Text),
            Kind::Text | Kind::Each | Kind::Uri | Kind::RequestStatus => self.text(value, 0).map(Content::Text),
        }
    }

    fn geo(&mut self, value: &Value) -> Option<Content> {
        let names = ["latitude", "longitude"];
        let object = self.object(value, &names, &names)?;
        let mut degrees = |name: &str, most: f64| {
            let value = object.get(name)?;
            self.below(name, |walk| match value.as_f64() {
                Some(degrees) if degrees.abs() <= most => Some(degrees),
                Some(_) => {
                    walk.note("out_of_range", format!("Send -{most} to {most}."));
                    None
                }
                None => {
                    walk.note("invalid_type", "Send a number here.");
                    None
                }
            })
        };
        let (latitude, longitude) = (degrees("latitude", 90.0), degrees("longitude", 180.0));
        Some(Content::Geo(Geo {
            latitude: latitude?,
            longitude: longitude?,
        }))
    }

    fn utc(&mut self, value: &Value) -> Option<Content> {
        let names = ["kind", "value"];
        let object = self.object(value, &names, &names)?;
        if object.get("kind").is_some_and(|kind| kind != "utcDateTime") {
            self.below("kind", |walk| walk.note("value_not_allowed", "Send utcDateTime."));
        }
        let value = object.get("value")?;
        self.below("value", |walk| {
            let text = walk.text(value, 0)?;
            let bytes = text.as_bytes();
            let whole = bytes.len() == 20 && bytes[10] == b'T' && bytes[19] == b'Z';
            let time = text
                .get(..19)
                .filter(|_| whole)
                .and_then(|time| time.parse::<DateTime>().ok());
            if time.is_none() {
                walk.note(
                    "temporal_value_invalid",
                    "Send a UTC time in whole seconds that exists, like 2026-12-01T00:00:00Z.",
                );
            }
            time.map(Content::Utc)
        })
    }

    fn check(&mut self, element: &Element, field: &'static Field) {
        match (element, field.shape) {
            (Element::Property(entry), Shape::Property(held)) => self.check_entry(entry, held),
            (Element::Component(members), Shape::Component(fields)) => {
                self.check_members(members, fields);
                if field.name == "VALARM" {
                    self.check_alarm(members);
                }
            }
            (Element::Property(_), Shape::Component(_)) | (Element::Component(_), Shape::Property(_)) => {}
        }
    }

    fn check_members(&mut self, members: &Members, fields: &'static [Field]) {
        for field in fields {
            let elements = members.get(field.member).map_or(&[][..], Vec::as_slice);
            self.below(field.member, |walk| {
                for (at, element) in elements.iter().enumerate() {
                    if field.many {
                        walk.below(&at.to_string(), |walk| walk.check(element, field));
                    } else {
                        walk.check(element, field);
                    }
                }
            });
            if is_hoisted(field)
                && let Some(Element::Property(entry)) = elements.first()
                && let Shape::Property(held) = field.shape
            {
                self.check_parameters(&entry.parameters, held);
            }
        }
    }

    fn check_entry(&mut self, entry: &Entry, held: &Type) {
        let value_type = entry.value_type(held.types);
        match (&entry.value, held.kind) {
            (
                Content::RequestStatus {
                    code,
                    description,
                    data,
                },
                _,
            ) => {
                if !read::is_status_code(code) {
                    self.below("code", |walk| {
                        walk.note("format_mismatch", "Send two numbers with a dot between them, like 2.0.");
                    });
                }
                self.below("description", |walk| walk.check_text(description));
                if let Some(data) = data {
                    self.below("exceptionData", |walk| walk.check_text(data));
                }
            }
            (Content::Text(text), Kind::Uri) => self.below("uri", |walk| walk.check_uri(text)),
            (Content::Text(text), _) if matches!(held.form, Form::Bare | Form::Hoisted) => {
                self.check_text(text);
                if text.is_empty() {
                    self.note("length_out_of_range", "Send at least 1 character.");
                }
            }
            (value, kind) => self.below("value", |walk| match value {
                Content::Text(text) => walk.check_value(text, kind, entry, &value_type),
                Content::List(texts) => texts.iter().for_each(|text| walk.check_text(text)),
                Content::Integer(_) | Content::Geo(_) | Content::Utc(_) | Content::RequestStatus { .. } => {}
            }),
        }
        for named in held.named {
            if let Some(values) = entry.named.get(named.name) {
                self.below(named.member, |walk| walk.check_named(values, named));
            }
        }
        if held.form != Form::Hoisted {
            self.check_parameters(&entry.parameters, held);
        }
    }

    fn check_value(&mut self, text: &str, kind: Kind, entry: &Entry, value_type: &str) {
        match kind {
            Kind::Token(tokens) => self.check_token(text, tokens),
            Kind::Duration => {
                let duration = Duration::parse(text);
                if duration.is_none_or(|duration| duration.is_negative() || duration.is_zero()) {
                    self.note("duration_invalid", "Send a duration greater than zero, like PT5M.");
                }
            }
            Kind::Trigger => {
                let related = entry
                    .parameters
                    .iter()
                    .any(|it| it.name.eq_ignore_ascii_case("RELATED"));
                let time = matches!(Temporal::parse(text.as_bytes(), None), Ok(Temporal::Utc(_)));
                let fits = match value_type {
                    "DATE-TIME" => time && !related,
                    _ => Duration::parse(text).is_some(),
                };
                if !fits {
                    self.note(
                        "format_mismatch",
                        "Send a duration like -PT15M (with RELATED START or END if wanted), or a UTC time like 20261201T080000Z with the parameter VALUE DATE-TIME.",
                    );
                }
            }
            Kind::Text
            | Kind::Name
            | Kind::List
            | Kind::Each
            | Kind::Uri
            | Kind::Integer(..)
            | Kind::Geo
            | Kind::Utc
            | Kind::RequestStatus => {
                if value_type == "URI" {
                    self.check_uri(text);
                } else {
                    self.check_text(text);
                }
            }
        }
    }

    fn check_named(&mut self, values: &[String], named: &Named) {
        match named.kind {
            NamedKind::Text => values.iter().for_each(|value| self.check_text(value)),
            NamedKind::Boolean => {}
            NamedKind::Uri => values.iter().for_each(|value| self.check_uri(value)),
            NamedKind::Uris => {
                for (at, value) in values.iter().enumerate() {
                    self.below(&at.to_string(), |walk| walk.check_uri(value));
                }
            }
            NamedKind::Token(tokens) => {
                let own = |token: &&&str| self.kind == entity::Kind::Todo || !TODO_PART_STAT.contains(token);
                let tokens: Vec<&str> = match named.name {
                    "PARTSTAT" => tokens.iter().filter(own).copied().collect(),
                    _ => tokens.to_vec(),
                };
                values.iter().for_each(|value| self.check_token(value, &tokens));
            }
        }
    }

    fn check_parameters(&mut self, parameters: &[Parameter], held: &Type) {
        let mut names = BTreeSet::new();
        for (at, parameter) in parameters.iter().enumerate() {
            let name = parameter.name.to_ascii_uppercase();
            let first = parameter.values.first().map_or("", String::as_str);
            let fault = if !is_token(&name) {
                Some((
                    "format_mismatch",
                    "Send a name of letters, digits and hyphens.".to_owned(),
                ))
            } else if let Some(named) = held.named.iter().find(|named| named.name == name) {
                let text = format!("Leave this parameter out, and send {} instead.", named.member);
                Some(("value_not_allowed", text))
            } else if matches!(name.as_str(), "ENCODING" | "TZID") {
                let text = "Leave this parameter out: it would change what the value means.";
                Some(("value_not_allowed", text.to_owned()))
            } else if name == "VALUE" && !held.types.iter().any(|it| it.eq_ignore_ascii_case(first)) {
                let text = format!("Send a VALUE of {}, or none.", held.types.join(" or "));
                Some(("value_not_allowed", text))
            } else if name == "RELATED"
                && held.kind == Kind::Trigger
                && !["START", "END"].iter().any(|it| it.eq_ignore_ascii_case(first))
            {
                Some(("value_not_allowed", "Send a RELATED of START or END.".to_owned()))
            } else if names.contains(&name) {
                Some(("duplicate_items", "Send each parameter once.".to_owned()))
            } else {
                None
            };
            names.insert(name);
            self.below("parameters", |walk| {
                walk.below(&at.to_string(), |walk| {
                    if let Some((code, text)) = fault {
                        walk.below("name", |walk| walk.note(code, text));
                    }
                    for (at, value) in parameter.values.iter().enumerate() {
                        walk.below("values", |walk| {
                            walk.below(&at.to_string(), |walk| walk.check_text(value))
                        });
                    }
                });
            });
        }
    }

    fn check_text(&mut self, text: &str) {
        if text.chars().any(|c| c.is_control() && !matches!(c, '\r' | '\n' | '\t')) {
            self.note(
                "format_mismatch",
                "Send text without control characters but line ends and tabs.",
            );
        }
    }

    fn check_uri(&mut self, text: &str) {
        // Reading ignores white space around it.
        if uri(text.as_bytes()).ok().as_deref() != Some(text) {
            self.note("format_mismatch", "Send an absolute URI, like mailto:ann@example.com.");
        }
    }

    fn check_token(&mut self, token: &str, tokens: &[&str]) {
        let extension = token.len() > 2 && token.starts_with("X-") && is_token(token);
        if !extension && !tokens.contains(&token) {
            let tokens = tokens.join(", ");
            self.note(
                "value_not_allowed",
                format!("Send one of: {tokens}; or a token that begins with X-."),
            );
        }
    }

    fn check_alarm(&mut self, members: &Members) {
        let text = |member: &str| members.get(member).and_then(|all| all.first()?.text());
        let mut require = |member: &str, why: &str| {
            if !members.contains_key(member) {
                self.below(member, |walk| {
                    walk.note("required_member", format!("Send {member}: {why}."))
                });
            }
        };
        if text("action") == Some("DISPLAY") {
            require("description", "an alarm with the action display shows it");
        }
        if members.contains_key("repeat") {
            require("duration", "how long after each other a repeated alarm goes off");
        }
        if members.contains_key("duration") {
            require("repeat", "how often the alarm goes off again");
        }
        let arrival = matches!(text("proximity"), Some("ARRIVE" | "DEPART"));
        let places = members.get("proximityLocations").into_iter().flatten();
        let mut places = places.filter_map(|place| match place {
            Element::Component(members) => members.get("url")?.first()?.text(),
            Element::Property(_) => None,
        });
        if arrival && !places.any(|url| url.get(..4).is_some_and(|scheme| scheme.eq_ignore_ascii_case("geo:"))) {
            self.below("proximityLocations", |walk| {
                walk.note(
                    "required_member",
                    "Send the place of arrive or depart, with a url like geo:52.5,13.4.",
                );
            });
        }
        let known = ["DISPLAY", "AUDIO", "EMAIL"];
        if text("action").is_some_and(|action| !known.contains(&action)) {
            self.below("action", |walk| {
                walk.below("value", |walk| {
                    walk.note("value_not_allowed", "Send one of: display, audio, email.")
                });
            });
        }
    }
}

fn is_hoisted(field: &Field) -> bool {
    matches!(field.shape, Shape::Property(held) if held.form == Form::Hoisted)
}

fn value_is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
}

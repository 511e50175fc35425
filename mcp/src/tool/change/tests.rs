//! What is taken as arguments against the published input schemas, which are named by `KALENDS_REFERENCE_CATALOG`.

#![allow(clippy::print_stdout, reason = "what was skipped and compared is said")]

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::catalog::{self, Naming, ToolSpec};
use crate::schema;
use crate::tool::change::Plan;

/// Values of every type, for where another one is asked for.
fn strangers() -> [Value; 9] {
    [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(""),
        json!("x"),
        json!([]),
        json!({}),
    ]
}

/// Texts of every form that some text of the schemas has.
const TEXTS: [&str; 30] = [
    "https://dav.example/cal/a.ics",
    "mailto:ann@example.com",
    "geo:52.5,13.4",
    "/cal/a.ics",
    "cal",
    "2026-12-01",
    "2026-13-01",
    "2026-12-32",
    "2026-12-01T09:00:00",
    "2026-12-01T09:00:00.125",
    "2026-12-01T24:00:00",
    "2026-12-01T09:00:00Z",
    "2026-12-01T09:00:00.5Z",
    "2026-12-01T09:00:00+02:00",
    "2026-12-01 09:00:00",
    "PT1H",
    "-PT15M",
    "P1W",
    "Europe/Berlin",
    "FREQ=WEEKLY;BYDAY=TU",
    "\"7\"",
    "W/\"7\"",
    "CONFIRMED",
    "#00AAff",
    "#00AAf",
    "2.0",
    "de-AT",
    "QkVHSU4=",
    "X-A",
    "X-A B",
];

/// Texts that mean something where the schemas ask for any.
const TYPICAL: [(&str, &str); 9] = [
    ("trigger", "-PT15M"),
    ("action", "audio"),
    ("participantType", "speaker"),
    ("cutype", "room"),
    ("role", "chair"),
    ("partStat", "accepted"),
    ("name", "X-A"),
    ("duration", "PT1H"),
    ("relationType", "child"),
];

/// Makes cases from a JSON schema: one for each choice in it, and each with one thing wrong. What has a name is taken
/// apart in the first place where it stands.
struct Cases<'a> {
    definitions: &'a Value,
    seen: BTreeSet<String>,
}

impl<'a> Cases<'a> {
    fn found(&self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str() {
            Some(name) => self.found(&self.definitions[name.trim_start_matches("#/$defs/")]),
            // The others only narrow the first.
            None if schema["type"].is_null() => schema["allOf"].get(0).map_or(schema, |first| self.found(first)),
            None => schema,
        }
    }

    /// A value that fits, with as little as possible.
    fn base(&self, schema: &'a Value) -> Value {
        self.base_of(schema, "")
    }

    /// The same for a member of this name; a `value` is named by what it is the value of.
    fn base_of(&self, schema: &'a Value, of: &str) -> Value {
        let schema = self.found(schema);
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        if let Some(all) = schema["enum"].as_array() {
            let typical = TYPICAL
                .iter()
                .find(|(name, text)| *name == of && all.contains(&json!(text)));
            return typical.map_or_else(|| all[0].clone(), |(_, text)| json!(text));
        }
        if schema["type"].is_null()
            && let Some(choices) = choices(schema)
        {
            return self.base_of(&choices[0], of);
        }
        match schema["type"].as_str() {
            Some("object") => {
                let mut members = Map::new();
                for name in required(schema) {
                    members.insert(name.to_owned(), self.base_of(member(schema, name), named(name, of)));
                }
                // Where members exclude each other, the first of them.
                for name in choices(schema).map_or_else(Vec::new, |of| required(&of[0])) {
                    let member = member(schema, name);
                    let list = (member["type"] == "array").then(|| json!([self.base(&member["items"])]));
                    members.insert(name.to_owned(), list.unwrap_or_else(|| self.base_of(member, name)));
                }
                if let (true, Some(properties)) = (
                    members.is_empty() && schema["minProperties"] == 1,
                    schema["properties"].as_object(),
                ) {
                    let (name, member) = properties.iter().next().expect("a member");
                    members.insert(name.clone(), self.base(member));
                }
                Value::Object(members)
            }
            Some("array") => {
                let least = schema["minItems"].as_u64().unwrap_or(0);
                (0..least).map(|_| self.base(&schema["items"])).collect()
            }
            Some("string") => json!(self.typical(schema, of)),
            Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(0)),
            Some("boolean") => json!(false),
            other => panic!("{other:?} in {schema}"),
        }
    }

    fn typical(&self, schema: &Value, of: &str) -> String {
        if let Some((_, text)) = TYPICAL.iter().find(|(name, _)| *name == of) {
            return (*text).to_owned();
        }
        let validator = jsonschema::options()
            .should_validate_formats(true)
            .build(schema)
            .expect("a schema");
        let texts = TEXTS.iter().chain(&["", "a", "VEVENT"]);
        let mut fitting = texts.filter(|text| validator.is_valid(&json!(text)));
        (*fitting.next().unwrap_or_else(|| panic!("no text for {schema}"))).to_owned()
    }

    fn each(&mut self, schema: &'a Value, of: &'a str, sink: &mut dyn FnMut(Value)) {
        if let Some(name) = schema["$ref"].as_str() {
            if !self.seen.insert(name.to_owned()) {
                [json!(null), json!("x"), json!({}), self.base_of(schema, of)]
                    .into_iter()
                    .for_each(sink);
                return;
            }
            return self.each(&self.definitions[name.trim_start_matches("#/$defs/")], of, sink);
        }
        if schema["type"].is_null()
            && let Some(first) = schema["allOf"].get(0)
        {
            return self.each(first, of, sink);
        }
        for stranger in strangers() {
            sink(stranger);
        }
        if let Some(constant) = schema.get("const") {
            return sink(constant.clone());
        }
        if let Some(all) = schema["enum"].as_array() {
            return all.iter().cloned().for_each(sink);
        }
        if schema["type"].is_null()
            && let Some(choices) = choices(schema)
        {
            return choices.iter().for_each(|schema| self.each(schema, of, sink));
        }
        match schema["type"].as_str() {
            Some("object") => self.each_object(schema, of, sink),
            Some("array") => {
                let items = &schema["items"];
                let item = self.base(items);
                sink(json!([item]));
                sink(json!([item, item]));
                sink(json!([item, 5]));
                sink(json!([item, item, item]));
                self.each(items, of, &mut |item| sink(json!([item])));
            }
            Some("string") => {
                TEXTS.iter().for_each(|text| sink(json!(text)));
                for bound in ["minLength", "maxLength"] {
                    if let Some(bound) = schema[bound].as_u64() {
                        let lengths = [bound.saturating_sub(1), bound, bound + 1];
                        lengths
                            .iter()
                            .for_each(|length| sink(json!("a".repeat(*length as usize))));
                    }
                }
            }
            Some("integer" | "number") => {
                for bound in ["minimum", "maximum"] {
                    if let Some(bound) = schema[bound].as_i64() {
                        [bound - 1, bound, bound + 1]
                            .iter()
                            .for_each(|number| sink(json!(number)));
                        sink(json!(bound as f64));
                    }
                }
            }
            Some("boolean") => sink(json!(false)),
            other => panic!("{other:?} in {schema}"),
        }
    }

    fn each_object(&mut self, schema: &'a Value, of: &'a str, sink: &mut dyn FnMut(Value)) {
        let base = self.base_of(schema, of);
        let with = |name: &str, value: Value| {
            let mut base = base.clone();
            base[name] = value;
            base
        };
        sink(base.clone());
        sink(with("unknown", json!(1)));
        let members = base.as_object().expect("an object");
        for name in members.keys() {
            let mut less = members.clone();
            less.remove(name);
            sink(Value::Object(less));
        }
        let Some(properties) = schema["properties"].as_object() else {
            return;
        };
        let all = properties
            .keys()
            .map(|name| (name.clone(), self.base_of(member(schema, name), named(name, of))));
        sink(all.collect());
        for name in properties.keys() {
            self.each(member(schema, name), named(name, of), &mut |value| {
                sink(with(name, value))
            });
        }
    }
}

fn named<'a>(member: &'a str, of: &'a str) -> &'a str {
    if member == "value" { of } else { member }
}

fn choices(schema: &Value) -> Option<&Vec<Value>> {
    let narrowed = schema["allOf"].get(0).filter(|_| schema.get("type").is_some());
    let of = [
        schema.get("oneOf"),
        schema.get("anyOf"),
        narrowed.and_then(|schema| schema.get("oneOf")),
    ];
    of.into_iter().flatten().next().and_then(Value::as_array)
}

/// What a member has to be; where the choices of an object say it, by the first of them.
fn member<'a>(schema: &'a Value, name: &str) -> &'a Value {
    let first = choices(schema).map(|of| &of[0]["properties"][name]);
    let says = |schema: &&Value| {
        ["type", "$ref", "const"]
            .iter()
            .any(|keyword| schema.get(keyword).is_some())
    };
    first.filter(says).unwrap_or(&schema["properties"][name])
}

fn required(schema: &Value) -> Vec<&str> {
    let names = schema["required"].as_array().into_iter().flatten();
    names.map(|name| name.as_str().expect("a name")).collect()
}

/// Codes of what is wrong by ours.
fn verdict(spec: &ToolSpec, arguments: &Value) -> Vec<(String, &'static str)> {
    let mut found = schema::check(&spec.input, arguments);
    if found.is_empty()
        && let Err(error) = Plan::read(spec.kind, arguments)
    {
        found = error.violations;
        assert!(!found.is_empty(), "{arguments}");
    }
    found.into_iter().map(|found| (found.pointer, found.code)).collect()
}

/// Why ours refuses what the schemas take: the whole list.
fn strictness(pointer: &str, code: &str) -> Option<&'static str> {
    if code == "temporal_value_invalid" {
        return Some("times are written in whole seconds");
    }
    if pointer.contains("/structuredData/") {
        return Some("what attendees, alarms and the like say has to be writable");
    }
    (pointer.contains("/overrides/") && pointer.ends_with("/range")).then_some("this-and-prior is only read")
}

/// Why ours takes what the schemas refuse: the whole list.
fn leniency(case: &Value, is_uri: impl Fn(&str) -> bool) -> Option<&'static str> {
    let fields = [&case["entity"]["fields"]["url"], &case["patch"]["scalars"][0]["value"]];
    let hrefs = ["href", "destinationHref"].map(|member| texts(case, member));
    if hrefs.iter().flatten().any(|href| !is_uri(href)) {
        return Some("the operation judges hrefs, before it asks for anything");
    }
    if fields.iter().filter_map(|url| url.as_str()).any(|url| !is_uri(url)) {
        return Some("the edit judges the url of an Event");
    }
    if case["patch"]["collections"][0]["add"][0].is_object() || case["patch"]["collections"][0]["values"][0].is_object()
    {
        return Some("the edit judges what elements of collections say");
    }
    let stored = &case["patch"]["scalars"][0]["value"]["overrides"][0];
    stored
        .is_object()
        .then_some("of an override that is stored only the name counts")
}

/// All texts by this name.
fn texts<'a>(value: &'a Value, member: &str) -> Vec<&'a str> {
    match value {
        Value::Array(items) => items.iter().flat_map(|item| texts(item, member)).collect(),
        Value::Object(members) => {
            let own = members.get(member).and_then(Value::as_str);
            own.into_iter()
                .chain(members.values().flat_map(|value| texts(value, member)))
                .collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

#[test]
fn what_is_taken_is_what_the_published_schemas_take() {
    let Ok(path) = std::env::var("KALENDS_REFERENCE_CATALOG") else {
        println!("skipped: comparison of arguments with the reference (KALENDS_REFERENCE_CATALOG is unset)");
        return;
    };
    let text = std::fs::read_to_string(path).expect("the reference catalog");
    let catalog: Value = serde_json::from_str(&text).expect("JSON");
    let uri = json!({"format": "uri"});
    let uri = jsonschema::options()
        .should_validate_formats(true)
        .build(&uri)
        .expect("a schema");
    let mut reasons = BTreeMap::new();
    let mut differing = Vec::new();
    for spec in catalog::tools(true).iter().filter(|spec| spec.kind.change().is_some()) {
        let name = spec.name(Naming::Dotted);
        let mut theirs = catalog["tools"].as_array().expect("tools").iter();
        let theirs = theirs.find(|tool| tool["name"] == name).expect("the reference has it");
        let mut schema = theirs["inputSchema"].clone();
        schema["$defs"] = catalog["$defs"].clone();
        let validator = jsonschema::options().should_validate_formats(true);
        let validator = validator.build(&schema).expect("the reference's schema");
        let (mut taken, mut refused) = (0, 0);
        let mut cases = Cases {
            definitions: &catalog["$defs"],
            seen: BTreeSet::new(),
        };
        let base = cases.base(&theirs["inputSchema"]);
        assert!(validator.is_valid(&base), "{name}: {base}");
        cases.each(&theirs["inputSchema"], "", &mut |case| {
            let ours = verdict(spec, &case);
            let reason = match (validator.is_valid(&case), &ours[..]) {
                (true, []) => return taken += 1,
                (false, [_, ..]) => return refused += 1,
                (true, [(pointer, code), ..]) => strictness(pointer, code),
                (false, []) => leniency(&case, |text| uri.is_valid(&json!(text))),
            };
            match reason {
                Some(reason) => *reasons.entry(reason).or_insert(0) += 1,
                None => differing.push(format!("{name} {ours:?} {case}")),
            }
        });
        println!("compared with the reference: {name}: {taken} taken by both, {refused} refused by both");
    }
    println!("different for a reason: {reasons:#?}");
    differing.iter().take(10).for_each(|case| println!("{case}"));
    assert!(differing.is_empty(), "{} differ", differing.len());
    assert_eq!(reasons.len(), 7, "the whole list was met: {reasons:?}");
}

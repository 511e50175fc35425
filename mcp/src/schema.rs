//! Checks arguments against the schemas that are advertised, and says what to send instead.
//!
//! The advertised schemas keep to what every model provider takes: `type`, `properties`, `required`,
//! `additionalProperties: false`, `enum`, `items` and bounds. So this interpreter is all that is needed for what is
//! advertised to be what is accepted; choices between shapes are checked by each tool.

use kalends_core::outcome::Violation;
use serde_json::{Map, Value};

use crate::json::push_token;

/// A violation at a pointer.
pub(crate) fn violation(pointer: &str, code: &'static str, message: impl Into<String>) -> Violation {
    Violation {
        pointer: pointer.to_owned(),
        code,
        message: Some(message.into()),
    }
}

/// All violations of a schema.
pub(crate) fn check(schema: &Value, value: &Value) -> Vec<Violation> {
    let mut check = Check {
        pointer: String::new(),
        found: Vec::new(),
    };
    check.value(schema, value);
    check.found
}

struct Check {
    pointer: String,
    found: Vec<Violation>,
}

impl Check {
    fn below(&mut self, token: &str, run: impl FnOnce(&mut Self)) {
        let length = self.pointer.len();
        push_token(&mut self.pointer, token);
        run(self);
        self.pointer.truncate(length);
    }

    fn note(&mut self, code: &'static str, message: String) {
        let pointer = if self.pointer.is_empty() { "/" } else { &self.pointer };
        self.found.push(violation(pointer, code, message));
    }

    fn value(&mut self, schema: &Value, value: &Value) {
        // Without a type anything goes: a member that may be null, since no provider takes lists of types.
        let Some(kind) = schema["type"].as_str() else { return };
        let fits = match kind {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "integer" => integer(value).is_some(),
            _ => false,
        };
        if !fits {
            let article = if kind.starts_with(['a', 'i', 'o']) { "an" } else { "a" };
            let what = format!("Send {article} {kind} here, not {}", name(value));
            let hint = schema["description"].as_str();
            let message = hint.map_or_else(|| format!("{what}."), |hint| format!("{what}: {hint}"));
            return self.note("invalid_type", message);
        }
        if let Some(allowed) = schema["enum"].as_array()
            && !allowed.contains(value)
        {
            let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
            return self.note("value_not_allowed", format!("Send one of: {}.", allowed.join(", ")));
        }
        match value {
            Value::Object(members) => self.object(schema, members),
            Value::Array(items) => self.array(schema, items),
            Value::String(text) => self.within(
                schema,
                ["minLength", "maxLength"],
                text.chars().count() as i64,
                "characters",
            ),
            Value::Number(_) => {
                let number = integer(value).unwrap_or_default();
                self.within(schema, ["minimum", "maximum"], number, "");
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn object(&mut self, schema: &Value, members: &Map<String, Value>) {
        let none = Map::new();
        let known = schema["properties"].as_object().unwrap_or(&none);
        let required = schema["required"].as_array().into_iter().flatten();
        let required: Vec<&str> = required.filter_map(Value::as_str).collect();
        for &required in &required {
            if !members.contains_key(required) {
                let hint = known.get(required).and_then(|schema| schema["description"].as_str());
                let message = missing(required, hint);
                self.below(required, |check| check.note("required_member", message));
            }
        }
        for (member, value) in members {
            self.below(member, |check| match known.get(member) {
                Some(schema)
                    if value.is_null() && schema.get("type").is_some() && !required.contains(&member.as_str()) =>
                {
                    check.note(
                        "invalid_type",
                        "Leave this member out; null is not taken for that.".into(),
                    );
                }
                Some(schema) => check.value(schema, value),
                None if schema["additionalProperties"] != false => {}
                None => {
                    let known: Vec<&str> = known.keys().map(String::as_str).collect();
                    let known = if known.is_empty() {
                        "none".into()
                    } else {
                        known.join(", ")
                    };
                    check.note(
                        "unknown_member",
                        format!("Leave this member out. Known members here: {known}."),
                    );
                }
            });
        }
    }

    fn array(&mut self, schema: &Value, items: &[Value]) {
        self.within(schema, ["minItems", "maxItems"], items.len() as i64, "items");
        if schema["uniqueItems"] == true
            && items
                .iter()
                .enumerate()
                .any(|(at, item)| items[..at.min(64)].contains(item))
        {
            self.note("duplicate_items", "Send each item once.".into());
        }
        // What is beyond the bound needs no word of its own.
        let most = schema["maxItems"].as_u64().map_or(items.len(), |most| most as usize);
        for (index, item) in items.iter().take(most).enumerate() {
            self.below(&index.to_string(), |check| check.value(&schema["items"], item));
        }
    }

    fn within(&mut self, schema: &Value, [least, most]: [&str; 2], observed: i64, unit: &str) {
        let (low, high) = (schema[least].as_i64(), schema[most].as_i64());
        if low.is_none_or(|low| observed >= low) && high.is_none_or(|high| observed <= high) {
            return;
        }
        let code = match least {
            "minLength" => "length_out_of_range",
            "minItems" => "item_count_out_of_range",
            _ => "out_of_range",
        };
        let range = match (low, high) {
            (Some(low), Some(high)) => format!("{low} to {high}"),
            (Some(low), None) => format!("at least {low}"),
            (None, high) => format!("at most {}", high.unwrap_or_default()),
        };
        let gap = if unit.is_empty() { "" } else { " " };
        self.note(code, format!("Send {range}{gap}{unit}, not {observed}."));
    }
}

/// The message for a member that has to be sent.
pub(crate) fn missing(member: &str, hint: Option<&str>) -> String {
    hint.map_or_else(|| format!("Send {member}."), |hint| format!("Send {member}: {hint}"))
}

/// As JSON Schema has it: 50.0 is an integer.
pub(crate) fn integer(value: &Value) -> Option<i64> {
    let whole = |number: &f64| number.fract() == 0.0 && number.abs() < 9e15;
    value
        .as_i64()
        .or_else(|| value.as_f64().filter(whole).map(|number| number as i64))
}

fn name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_keyword_is_checked_and_named() {
        let schema = json!({
            "type": "object", "required": ["a"], "additionalProperties": false,
            "properties": {
                "a": {"type": "string", "minLength": 1, "maxLength": 3, "description": "a short text"},
                "n": {"type": "integer", "minimum": 1, "maximum": 200},
                "e": {"type": "string", "enum": ["x", "y"]},
                "l": {"type": "array", "minItems": 1, "maxItems": 2, "uniqueItems": true, "items": {"type": "string"}},
                "o": {"type": "object", "properties": {"b/c": {"type": "boolean"}}, "additionalProperties": false}
            }
        });
        for (value, expected) in [
            (
                json!({"a": "äöü", "n": 50.0, "e": "x", "l": ["p", "q"], "o": {"b/c": true}}),
                vec![],
            ),
            (json!({}), vec![("/a", "required_member")]),
            (json!({"a": 1}), vec![("/a", "invalid_type")]),
            (json!({"a": null}), vec![("/a", "invalid_type")]),
            (json!({"a": ""}), vec![("/a", "length_out_of_range")]),
            (json!({"a": "äöüß"}), vec![("/a", "length_out_of_range")]),
            (json!({"a": "x", "n": 0}), vec![("/n", "out_of_range")]),
            (json!({"a": "x", "n": 1.5}), vec![("/n", "invalid_type")]),
            (json!({"a": "x", "n": 1e300}), vec![("/n", "invalid_type")]),
            (json!({"a": "x", "e": "z"}), vec![("/e", "value_not_allowed")]),
            (json!({"a": "x", "l": []}), vec![("/l", "item_count_out_of_range")]),
            (json!({"a": "x", "l": ["p", "p"]}), vec![("/l", "duplicate_items")]),
            (json!({"a": "x", "l": ["p", 5]}), vec![("/l/1", "invalid_type")]),
            (
                json!({"a": "x", "o": {"b/c": 1, "~": 2}}),
                vec![("/o/b~1c", "invalid_type"), ("/o/~0", "unknown_member")],
            ),
            (json!([]), vec![("/", "invalid_type")]),
        ] {
            let found = check(&schema, &value);
            let found: Vec<_> = found.iter().map(|v| (v.pointer.as_str(), v.code)).collect();
            assert_eq!(found, expected, "{value}");
        }
        let messages = |value: Value| check(&schema, &value)[0].message.clone().unwrap();
        assert_eq!(messages(json!({})), "Send a: a short text");
        assert_eq!(
            messages(json!({"a": 1})),
            "Send a string here, not a number: a short text"
        );
        assert_eq!(
            messages(json!({"a": "x", "n": null})),
            "Leave this member out; null is not taken for that."
        );
        assert_eq!(messages(json!({"a": "x", "n": 500})), "Send 1 to 200, not 500.");
    }
}

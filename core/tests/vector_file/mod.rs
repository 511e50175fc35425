//! The file of recurrence vectors.

use std::path::Path;

use serde_json::Value;

pub(crate) fn vectors(section: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/recurrence-vectors.json");
    let text = std::fs::read_to_string(path).expect("the vectors are part of the project");
    let all: Value = serde_json::from_str(&text).expect("the vectors are JSON");
    all[section].as_array().expect("a section is a list").clone()
}

pub(crate) fn text<'a>(vector: &'a Value, field: &str) -> &'a str {
    vector[field].as_str().unwrap_or_default()
}

pub(crate) fn list(value: &Value) -> Vec<String> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    items
        .iter()
        .map(|item| item.as_str().expect("a list of texts").to_owned())
        .collect()
}

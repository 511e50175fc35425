//! The shapes against the published output schemas, which are named by `KALENDS_REFERENCE_CATALOG`: every case of
//! every shape gets the same verdict from both, but for the list of exceptions.

#![allow(clippy::print_stdout, reason = "what was skipped and compared is said")]

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::shape::{Mode, Shape};
use super::super::{mutation, outcome};
use super::cases::{Cases, Made};

/// Tools with their shapes; the last ones stand for others that write.
fn tools() -> [(&'static str, &'static Shape); 12] {
    [
        ("calendars.list", &outcome::CALENDARS_LIST),
        ("calendar_entities.query", &outcome::ENTITIES_QUERY),
        ("calendar_occurrences.query", &outcome::OCCURRENCES_QUERY),
        ("todos.query", &outcome::TODOS_QUERY),
        ("calendar_resources.get", &outcome::RESOURCES_GET),
        ("calendars.inspect", &outcome::CALENDARS_INSPECT),
        ("calendars.free_busy", &outcome::FREE_BUSY),
        ("calendar_resources.changes", &outcome::RESOURCES_CHANGES),
        ("calendar_resources.exact_get", &outcome::EXACT_GET),
        ("calendar_resources.delete", &mutation::DELETE_MUTATION),
        ("calendar_resources.exact_replace", &mutation::EXACT_MUTATION),
        ("events.patch", &mutation::SNAPSHOT_MUTATION),
    ]
}

/// Which entry of the list of exceptions a value is about.
fn exception(value: &Value) -> Option<&'static str> {
    match (value["code"].as_str(), value.get("mutationState")) {
        (Some("completion_state_conflict"), Some(_)) => return Some("completion_state_conflict of a change"),
        (Some("confirmation_required"), Some(_)) => return Some("confirmation_required"),
        _ => {}
    }
    has_bare_revision(value).then_some("a revision without its tag")
}

fn has_bare_revision(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_bare_revision),
        Value::Object(members) => {
            let bare = |revision: &Value| revision.get("href").is_some() && revision.get("entityTag").is_none();
            members.get("resourceRevision").is_some_and(bare) || members.values().any(has_bare_revision)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Names of members and tokens, of either side.
#[derive(Debug, Default, PartialEq)]
struct Words(BTreeSet<String>);

impl Words {
    fn of_ours(&mut self, shape: &Shape) {
        match shape {
            Shape::Token(tokens) => self.0.extend(tokens.iter().map(|token| format!("{token:?}"))),
            Shape::Nullable(of) | Shape::List { of, .. } | Shape::Short(of) | Shape::Row(of) => self.of_ours(of),
            Shape::Object(object) => {
                for member in object.members {
                    self.0.insert(member.name.to_owned());
                    self.of_ours(member.shape);
                }
            }
            Shape::By { of, otherwise, .. } => {
                of.iter().for_each(|(_, shape)| self.of_ours(shape));
                otherwise.iter().for_each(|shape| self.of_ours(shape));
            }
            Shape::With { then, otherwise, .. } | Shape::ListOr(then, otherwise) => {
                self.of_ours(then);
                self.of_ours(otherwise);
            }
            Shape::Text { .. } | Shape::Integer { .. } | Shape::Within(_) | Shape::Boolean | Shape::Constant(_) => {}
        }
    }

    fn of_theirs(&mut self, schema: &Value, definitions: &Value, seen: &mut BTreeSet<String>) {
        match schema {
            Value::Array(all) => all.iter().for_each(|schema| self.of_theirs(schema, definitions, seen)),
            Value::Object(keywords) => {
                let tokens = keywords.get("enum").and_then(Value::as_array).into_iter().flatten();
                let tokens = tokens.chain(keywords.get("const")).filter(|token| token.is_string());
                self.0.extend(tokens.map(ToString::to_string));
                for (name, schema) in keywords
                    .get("properties")
                    .and_then(Value::as_object)
                    .into_iter()
                    .flatten()
                {
                    self.0.insert(name.clone());
                    self.of_theirs(schema, definitions, seen);
                }
                if let Some(name) = keywords.get("$ref").and_then(Value::as_str)
                    && seen.insert(name.to_owned())
                {
                    let name = name.trim_start_matches("#/$defs/");
                    self.of_theirs(&definitions[name], definitions, seen);
                }
                let below = keywords
                    .iter()
                    .filter(|(keyword, _)| !matches!(keyword.as_str(), "$defs" | "properties"));
                below.for_each(|(_, schema)| self.of_theirs(schema, definitions, seen));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

#[test]
fn every_case_gets_the_verdict_of_the_published_schemas() {
    let Ok(path) = std::env::var("KALENDS_REFERENCE_CATALOG") else {
        println!("skipped: comparison with the reference (KALENDS_REFERENCE_CATALOG is unset)");
        return;
    };
    let text = std::fs::read_to_string(path).expect("the reference catalog");
    let catalog: Value = serde_json::from_str(&text).expect("JSON");
    let mut exceptions = BTreeMap::new();
    for (name, shape) in tools() {
        let theirs = catalog["tools"].as_array().expect("tools").iter();
        let mut theirs = theirs.filter(|tool| tool["name"] == name);
        let mut schema = theirs.next().expect("the reference has it")["outputSchema"].clone();
        schema["$defs"] = catalog["$defs"].clone();
        let (mut own, mut published) = (Words::default(), Words::default());
        own.of_ours(shape);
        published.of_theirs(&schema, &catalog["$defs"], &mut BTreeSet::new());
        let changes = published.0.contains("mutationState");
        let exceptions_of_changes: &[&str] = match changes {
            false => &[],
            true => &["\"confirmation_required\"", "expiresAt", "review", "token"],
        };
        published
            .0
            .extend(exceptions_of_changes.iter().map(|word| (*word).to_owned()));
        if changes && !name.contains("exact") {
            published.0.insert("\"completion_state_conflict\"".to_owned());
        }
        assert_eq!(own, published, "{name}");
        let validator = jsonschema::options().should_validate_formats(true);
        let validator = validator.build(&schema).expect("the reference's schema");
        let (mut fitting, mut refused, mut differing) = (0, 0, Vec::new());
        Cases::default().each(shape, Mode::Full, &mut |case, made| {
            let ours = shape.check(&case, Mode::Full);
            match made {
                Made::Fitting => assert!(ours.is_ok(), "{name}: {ours:?}\n{case:#}"),
                Made::Wrong => assert!(ours.is_err(), "{name} takes\n{case:#}"),
                Made::Either => {}
            }
            match (ours.is_ok(), validator.is_valid(&case), exception(&case)) {
                (true, true, _) => fitting += 1,
                (false, false, _) => refused += 1,
                (true, false, Some(exception)) => *exceptions.entry(exception).or_insert(0) += 1,
                (true, false, None) | (false, true, _) => differing.push((ours.is_ok(), case)),
            }
        });
        for (ours, case) in differing.iter().take(10) {
            println!(
                "{name}: {} only by ours:\n{case}",
                if *ours { "taken" } else { "refused" }
            );
        }
        assert!(differing.is_empty(), "{name}: {} differ", differing.len());
        println!("compared with the reference: {name}: {fitting} taken by both, {refused} refused by both");
    }
    assert_eq!(exceptions.len(), 3, "the whole list was met: {exceptions:?}");
    println!("taken by ours alone: {exceptions:?}");
}

/// Marks in one table make two shapes: what fits a full result fits a compact one.
#[test]
fn a_full_case_is_a_compact_one_and_no_other() {
    let detailed = ["calendar_occurrences.query", "todos.query", "calendar_resources.get"];
    for (name, shape) in tools().into_iter().filter(|(name, _)| detailed.contains(name)) {
        Cases::default().each(shape, Mode::Full, &mut |case, made| {
            if made == Made::Fitting {
                assert!(shape.check(&case, Mode::Compact).is_ok(), "{name}: {case:#}");
            }
        });
        let mut shorter = 0;
        Cases::default().each(shape, Mode::Compact, &mut |case, made| {
            let found = shape.check(&case, Mode::Compact);
            assert!(made != Made::Fitting || found.is_ok(), "{name}: {found:?}\n{case:#}");
            shorter += usize::from(found.is_ok() && shape.check(&case, Mode::Full).is_err());
        });
        assert!(shorter > 100, "{name}: {shorter} cases are compact only");
    }
}

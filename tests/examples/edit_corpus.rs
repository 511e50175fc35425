//! Edits files for `tests/corpus/check.py`, and tells which octets it means to have touched.
//!
//! Each line of stdin is an instruction: `{"file", "out", "edit", ...}` with `edit` one of
//!
//! * `none`: write what was read
//! * `summary`: give the first SUMMARY of an Event or To-do the value `text`
//! * `attendee`: add the ATTENDEE `value` with `parameters` (`[[name, value], ...]`) to the first Event or To-do
//! * `exdate`: take out the first value of the first EXDATE of an Event or To-do
//!
//! The answer to each is a line of stdout: `{"splices": [[from, to, length], ...]}`, octets of the file and how many come
//! in their place, or `{"skipped": why}`.
#![expect(clippy::print_stdout, reason = "the answers")]

use std::fs;
use std::io::{BufRead, stdin};

use kalends_core::ical::changes::Changes;
use kalends_core::ical::document::{Component, Document, Parameter, Property};
use kalends_core::ical::encode::{ContentLine, escape_text};
use serde_json::{Value, json};

/// Why nothing was written.
type Skipped = String;

fn main() {
    for line in stdin().lock().lines() {
        let line = line.expect("readable");
        let instruction: Value = serde_json::from_str(&line).expect("an instruction");
        let answer = match edit(&instruction) {
            Ok(splices) => json!({"splices": splices}),
            Err(why) => json!({"skipped": why}),
        };
        println!("{answer}");
    }
}

fn edit(instruction: &Value) -> Result<Vec<(usize, usize, usize)>, Skipped> {
    let word = |name: &str| instruction[name].as_str().expect("a word of the instruction");
    let file = fs::read(word("file")).map_err(|error| error.to_string())?;
    let document = Document::parse(file.into()).map_err(|large| format!("{large:?}"))?;
    let mut changes = Changes::of(&document);
    match word("edit") {
        "none" => {}
        "summary" => {
            let summary = first(&document, "SUMMARY").ok_or("no SUMMARY")?;
            let value = escape_text(word("text"));
            changes.set_value(summary, &value).map_err(|error| error.to_string())?;
        }
        "attendee" => {
            let component = entities(&document).next().ok_or("no Event or To-do")?;
            let parameters = instruction["parameters"].as_array().expect("parameters");
            let parameters: Vec<Parameter> = parameters.iter().map(parameter).collect();
            let line = ContentLine::new("ATTENDEE", &parameters, word("value")).map_err(|error| error.to_string())?;
            changes.add(component, &[line]);
        }
        "exdate" => without_first_value(&mut changes, first(&document, "EXDATE").ok_or("no EXDATE")?)?,
        other => panic!("no edit: {other}"),
    }
    let splices = changes
        .splices()
        .map(|(range, octets)| (range.start, range.end, octets.len()));
    let splices = splices.collect();
    fs::write(word("out"), changes.octets()).map_err(|error| error.to_string())?;
    Ok(splices)
}

fn parameter(pair: &Value) -> Parameter {
    let word = |at: usize| pair[at].as_str().expect("a name and a value").to_owned();
    Parameter {
        name: word(0),
        values: vec![word(1)],
    }
}

/// The Events and To-dos, wherever they lie, in the order of their BEGIN lines.
fn entities(document: &Document) -> impl Iterator<Item = Component<'_>> {
    let mut open: Vec<_> = document.roots().collect();
    open.reverse();
    std::iter::from_fn(move || {
        let component = open.pop()?;
        let children: Vec<_> = component.children().collect();
        open.extend(children.into_iter().rev());
        Some(component)
    })
    .filter(|component| component.is("VEVENT") || component.is("VTODO"))
}

fn first<'a>(document: &'a Document, name: &str) -> Option<Property<'a>> {
    entities(document).find_map(|component| component.first(name))
}

fn without_first_value<'a>(changes: &mut Changes<'a>, exdate: Property<'a>) -> Result<(), Skipped> {
    let value = exdate.value();
    let rest = value
        .iter()
        .position(|octet| *octet == b',')
        .map(|comma| &value[comma + 1..]);
    match rest.map(|rest| std::str::from_utf8(rest).map_err(|_| "not UTF-8")) {
        Some(rest) => changes.set_value(exdate, rest?).map_err(|error| error.to_string()),
        None => {
            changes.replace(exdate, &[]);
            Ok(())
        }
    }
}

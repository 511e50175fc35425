//! The tools over the pipes of the real binary, on folder accounts and on scripted servers.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]
#![allow(clippy::print_stdout, reason = "what was skipped and measured is said")]

mod arguments;
mod cases;
mod catalog;
mod changes;
#[path = "../client/mod.rs"]
mod client;
mod compact;
mod entities;
mod native;
mod opaque;
mod paging;
mod referee;
mod scripted;
mod todos;

use client::{DAILY, Folder};
use serde_json::{Value, json};

const ENTITIES: &str = "calendar_entities_query";
const OCCURRENCES: &str = "calendar_occurrences_query";
const TODOS: &str = "todos_query";
const GET: &str = "calendar_resources_get";

fn folder() -> Folder {
    Folder::new().calendar("work", &[("daily.ics", DAILY.as_bytes())])
}

/// A component as a resource; ` | ` ends a line of it.
fn resource(kind: &str, uid: &str, lines: &str) -> String {
    let lines = lines.replace(" | ", "\r\n");
    format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:{kind}\r\nUID:{uid}\r\nDTSTAMP:20260101T000000Z\r\n{lines}\r\nEND:{kind}\r\n\
         END:VCALENDAR\r\n"
    )
}

/// A folder of one Calendar, `work`, with these resources by file name.
fn work(members: &[(&str, String)]) -> Folder {
    let members: Vec<_> = members.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    Folder::new().calendar("work", &members)
}

/// An instant of a window.
fn at(value: &str) -> Value {
    json!({"kind": "utcDateTime", "value": value})
}

/// The arguments with more members, or others.
fn with(mut arguments: Value, more: Value) -> Value {
    let Value::Object(more) = more else { panic!("members") };
    arguments.as_object_mut().unwrap().extend(more);
    arguments
}

/// The rows of a page.
fn rows(page: &Value) -> &Vec<Value> {
    page["items"].as_array().unwrap()
}

//! Edits of one Calendar Object Resource, as pure functions from a resource, an instruction and the time to octets.
//!
//! An edit works from document to document: each step changes only the lines it is about. Last, it stamps the
//! components that are different from before, adds the VTIMEZONEs of zones that came in, and makes sure that the result
//! is still the same Event or To-do.
//!
//! ```
//! use jiff::Timestamp;
//! use kalends_core::ical::edit::Edited;
//! use kalends_core::ical::edit::patch::{Patch, Target, patch};
//! use kalends_core::ical::edit::scalar::ScalarPatch;
//! use kalends_core::ical::entity::Entity;
//!
//! let stored = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//EN\r\nBEGIN:VEVENT\r\nUID:1\r\n\
//!     DTSTAMP:20260101T000000Z\r\nDTSTART:20260102T090000Z\r\nsummary:Old\r\nX-Odd;A=b:c\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
//! let title = ScalarPatch::Summary(Some("New, and better".into()));
//! let change = Patch { scalars: vec![title], ..Patch::default() };
//! let now = Timestamp::UNIX_EPOCH;
//! let Edited::Changed(octets) = patch(&Entity::read(stored.into()), &Target::Master, &change, now)? else {
//!     panic!("the title is another one");
//! };
//! let text = std::str::from_utf8(&octets).expect("UTF-8");
//! assert!(text.contains("summary:New\\, and better\r\nX-Odd;A=b:c\r\n"));
//! # Ok::<(), Box<kalends_core::outcome::Error>>(())
//! ```
//!
//! * [`collection`]: elements of one collection, and the organizer, of one component
//! * [`complete`], [`occurrence`]: a To-do that is done, and edits of single occurrences
//! * [`create`]: a new Event or To-do
//! * [`patch`]: scalar fields and collections, over a [`patch::Target`]
//! * [`recurrence_set`]: rules and dates as a whole

pub mod collection;
pub mod complete;
pub mod create;
mod materialize;
mod membership;
pub mod occurrence;
pub mod patch;
pub mod recurrence_set;
#[cfg(test)]
mod sample;
pub mod scalar;
mod shift;
mod stamp;
mod temporal;
mod zone;

use bytes::Bytes;
use jiff::Timestamp;

use super::document::{Component, Document};
use super::encode::Unwritable;
use super::entity::Entity;
use crate::outcome::{Code, Error, Phase, Violation};

/// What became of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edited {
    /// It says already what was asked for: there is nothing to write.
    Unchanged,
    /// Its new octets.
    Changed(Bytes),
}

/// One argument that is wrong for this resource.
fn fault(pointer: impl Into<String>, code: &'static str, message: &str) -> Box<Error> {
    Error::violations(
        Phase::CompleteResourceSemantics,
        vec![Violation {
            pointer: pointer.into(),
            code,
            message: Some(message.to_owned()),
        }],
    )
}

/// A refusal that no single argument causes.
fn refusal(code: Code, message: &'static str) -> Box<Error> {
    Error::new(code, Phase::CompleteResourceSemantics, message)
}

/// A value that no content line can hold.
fn unwritable(pointer: &str, fault: Unwritable) -> Box<Error> {
    self::fault(pointer, "format_mismatch", &format!("Change the text: {fault}."))
}

/// The resource has to be one that is understood.
fn understood(entity: &Entity) -> Result<(), Box<Error>> {
    match entity.opaque() {
        None => Ok(()),
        Some(_) => Err(refusal(
            Code::OpaqueResource,
            "The resource cannot be taken for one Event or To-do. Use the exact tools to replace it as a whole.",
        )),
    }
}

/// A document that an edit made.
fn read(octets: Bytes) -> Result<Document, Box<Error>> {
    Document::parse(octets).map_err(|_| {
        refusal(
            Code::PayloadTooLarge,
            "The resource would have more than 4 MiB or 200,000 content lines.",
        )
    })
}

/// The VCALENDAR of a document that is an Event or To-do.
fn calendar(document: &Document) -> Component<'_> {
    let mut roots = document.roots();
    roots
        .find(|root| root.is("VCALENDAR"))
        .expect("a resource that is understood has one VCALENDAR")
}

/// Stamps what changed, adds time zones, and makes sure that the result is the Event or To-do that it was.
fn finish(before: &Entity, after: Document, now: Timestamp) -> Result<Edited, Box<Error>> {
    if after.bytes() == before.document().bytes() {
        return Ok(Edited::Unchanged);
    }
    let after = Entity::from_document(after);
    let stamped = stamp::apply(before, &after, now)?;
    let done = Entity::from_document(zone::complete(before.document(), stamped)?);
    if done.opaque().is_some() || done.kind() != before.kind() || done.uid() != before.uid() {
        return Err(refusal(
            Code::InvalidCalendarData,
            "The resource would no longer be one Event or To-do.",
        ));
    }
    Ok(Edited::Changed(done.document().bytes().clone()))
}

#[cfg(test)]
mod tests;

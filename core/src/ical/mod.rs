//! iCalendar (RFC 5545): lossless documents, values, recurrence, time zones, typed projection. No I/O, no clock.
//!
//! * [`document`]: content lines and components as spans over the original octets
//! * [`encode`], [`changes`]: content lines that are written, and changes that leave everything else as it is
//! * [`value`], [`duration`]: dates, times, durations and the other value types
//! * [`zone`], [`windows_zone`], [`vtimezone`]: what a TZID means
//! * [`recur`], [`expand`]: rules, and the occurrences of a recurrence set
//! * [`entity`]: one Calendar Object Resource understood: master, overrides, zones; its [`series`] of occurrences, its
//!   [`recurrence`] properties as stored, the [`completion`] of a To-do
//! * [`placement`]: start and end of a component, with their moments
//! * [`structured`]: attendees, alarms, attachments and other collections
//! * [`free_busy`]: the busy time that a server reports
//! * [`edit`]: edits of one resource, as pure functions
//! * [`project`], [`raw`]: the typed Event and To-do of the results, and properties as they are stored

pub mod changes;
pub mod completion;
pub mod document;
pub mod duration;
pub mod edit;
pub mod encode;
pub mod entity;
pub mod expand;
pub mod fidelity;
pub mod free_busy;
mod gregorian;
mod line;
mod part;
pub mod placement;
pub mod project;
pub mod raw;
pub mod recur;
pub mod recurrence;
mod remark;
pub mod series;
pub mod structured;
pub mod value;
pub mod vtimezone;
pub mod windows_zone;
pub mod zone;

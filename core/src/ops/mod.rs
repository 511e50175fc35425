//! One operation per file, and nothing else.
//!
//! Every file has the same parts, top down: the request, its outcome, `impl Operation`, the `async fn`.
//!
//! * [`list_calendars`]: what is there
//! * [`query_occurrences`]: what is on in a window
//! * [`query_entities`]: Events and To-dos as they are stored
//! * [`query_todos`]: what is to be done
//! * [`query_free_busy`]: when a Calendar is busy
//! * [`get_resource`]: one Calendar Object Resource
//! * [`list_changes`]: which members of a Calendar have changed
//! * [`inspect_calendar`]: what a Calendar says about itself
//! * [`create_resource`]: a new Event or To-do
//! * [`edit_resource`]: a change of one that is stored
//! * [`delete_resource`]: its end
//! * [`create_calendar`], [`patch_calendar`], [`delete_calendar`]: the life of a Calendar
//! * [`move_resource`]: its way to another Calendar
//! * [`exact_create`], [`exact_replace`], [`exact_move`]: the same with octets and places of the caller
//!
//! and the steps that several operations share:
//!
//! * [`discover`]: principal, homes and Calendars (RFC 4791 section 6.2, RFC 6764)
//! * [`scope`]: which Calendars an operation works on
//! * [`fetch`]: the members of a Calendar that a query may touch
//! * `masked`: whether somebody else's resource is shown without its content
//! * [`scheduling`]: whether a change may set off invitations
//! * `collection`: what changes of Calendars have in common
//! * `exact`: octets of the caller that are to be stored as they are
//! * `relocate`: one MOVE, and what became of it
//! * `put`: the state that a change is bound to, the write, and what became of it
//!
//! A query is one pass over those members: `gather`.

mod collection;
pub mod create_calendar;
pub mod create_resource;
pub mod delete_calendar;
pub mod delete_resource;
pub mod discover;
pub mod edit_resource;
mod exact;
pub mod exact_create;
pub mod exact_move;
pub mod exact_replace;
pub mod fetch;
mod gather;
pub mod get_resource;
pub mod inspect_calendar;
pub mod list_calendars;
pub mod list_changes;
mod masked;
pub mod move_resource;
pub mod patch_calendar;
mod put;
pub mod query_entities;
pub mod query_free_busy;
pub mod query_occurrences;
pub mod query_todos;
mod relocate;
pub mod scheduling;
pub mod scope;

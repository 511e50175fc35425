//! A CalDAV client core that does no I/O.

pub mod account;
pub mod calendar;
pub mod dav;
pub mod env;
pub mod exchange;
pub mod flow;
pub mod href;
pub mod ical;
pub mod ledger;
pub mod machine;
pub mod operation;
pub mod ops;
pub mod outcome;
pub mod query;
pub mod resource;
pub mod time;

//! A CalDAV client core that does no I/O: protocol flows, lossless iCalendar, recurrence and time zones.
//!
//! # How it is used
//!
//! A caller makes an [`operation::Operation`], such as [`ops::query_occurrences::QueryOccurrences`], and hands it to a host.
//! The host starts it, which gives a [`machine::Machine`], performs the exchanges that the machine asks for, and hands in the
//! replies until the machine is done. The crates `kalends-tokio`, `kalends-blocking` and `kalends-local` are hosts; the
//! contract for another one is the documentation of [`machine`], and its heart is the **drain rule**: after construction,
//! `receive` or `cancel`, call `step` until it returns `Wait` or `Done`, and only then wait.
//!
//! # What it does not do
//!
//! It opens no socket or file, reads no clock, environment or entropy (all of these come in with [`env::Env`] and `step`),
//! starts no thread, and depends on no runtime. It follows no redirect to a place that is not trusted and never repeats a
//! write. It decides nothing by the order of a hash map: the same inputs give the same requests, byte for byte.
//!
//! # The house
//!
//! | module | what it holds |
//! |---|---|
//! | [`machine`], [`operation`], [`mod@env`], [`time`], [`ledger`] | the host contract, and what is known about a write |
//! | [`flow`] | the executor: the only file that names `Future` |
//! | [`change`], [`confirmation`] | how a change ends: truth, consent, side effects; sealed questions |
//! | [`outcome`] | values, error codes, violations, limits, diagnostics |
//! | [`href`], [`calendar`], [`resource`] | what results are made of |
//! | [`account`] | settings and state that the machines of one session share: trust, credential, cookies, server oddities |
//! | [`exchange`] | one request under the account's rules: redirect, retry, budget, fault |
//! | [`dav`] | one file per body: request writer and response reader; no I/O, no policy |
//! | [`ical`] | iCalendar: document, values, zones, recurrence, projection |
//! | `interop` | with the features `chrono-interop` and `icalendar-interop`: conversions from and to those crates |
//! | [`query`] | text filter, snapshots, cursors, checkpoints |
//! | [`ops`] | one operation per file |
//!
//! `ops` may use all of these; `exchange` uses `account` and `machine`; `dav`, `ical` and `query` use none of `account`,
//! `exchange`, `machine` and `ops`; nothing uses `ops`.

#[cfg(all(doctest, feature = "icalendar-interop"))]
#[doc = include_str!("../../README.md")]
struct Readme;

pub mod account;
pub mod calendar;
pub mod change;
pub mod confirmation;
pub mod dav;
pub mod env;
pub mod exchange;
pub mod flow;
pub mod href;
pub mod ical;
#[cfg(feature = "chrono-interop")]
pub mod interop;
pub mod ledger;
pub mod machine;
pub mod operation;
pub mod ops;
pub mod outcome;
pub mod query;
pub mod resource;
pub mod time;

//! The test kit: what a hostile server may do, enumerated, and machines driven through it without a socket.
//!
//! * [`case`]: the cases of `tests/cases`, met in the wild
//! * [`conformance`]: what every host must do
//! * [`explore`]: visits every path through a tree of choices
//! * [`host`]: drives machines: one exchange at a time, in any order, cancelling anywhere
//! * [`transcript`]: a server that answers by a script
//! * [`world`]: a simulated CalDAV server that misbehaves as the explorer chooses

pub mod case;
pub mod conformance;
pub mod explore;
pub mod host;
pub mod transcript;
pub mod world;

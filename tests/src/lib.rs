//! The test kit: what a hostile server may do, enumerated, and machines driven through it without a socket.
//!
//! * [`account`]: the account that is asked for, and when
//! * [`case`]: the cases of `tests/cases`, met in the wild
//! * [`conformance`]: what every host must do
//! * [`explore`]: visits every path through a tree of choices
//! * [`gate`]: a server that holds requests until a test lets them go
//! * [`host`]: drives machines: one exchange at a time, in any order, cancelling anywhere
//! * [`promises`]: what every read keeps to, on every path
//! * [`server`]: a CalDAV server with the oddities of real ones
//! * [`transcript`]: a server that answers by a script
//! * [`world`]: that server, which misbehaves as the explorer chooses
//! * [`writing`]: the same while something is written, and what every write keeps to

pub mod account;
pub mod case;
pub mod conformance;
pub mod explore;
pub mod gate;
pub mod host;
pub mod promises;
pub mod server;
pub mod transcript;
pub mod world;
pub mod writing;

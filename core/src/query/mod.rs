//! What queries of every kind share: snapshots of results and the cursors that lead to their pages.
//!
//! * [`snapshot`]: results kept for later pages, under bounds
//! * [`cursor`]: sealed positions in a snapshot

pub mod cursor;
pub mod snapshot;

//! What queries of every kind share: pure, no I/O, no clock.
//!
//! * [`text_filter`]: which components a text and categories select
//! * [`snapshot`]: results kept for later pages, under bounds
//! * [`cursor`]: sealed positions in a snapshot
//! * [`checkpoint`]: states that changes can be asked from

pub mod checkpoint;
pub mod cursor;
pub mod snapshot;
pub mod text_filter;

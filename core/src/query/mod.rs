//! What queries of every kind share: pure, no I/O, no clock.
//!
//! * [`text_filter`]: which components a text and categories select
//! * [`prefilter`]: what of that a server can be asked
//! * [`window`]: half-open windows
//! * [`shelf`]: resources that need not be downloaded again
//! * [`snapshot`]: results kept for later pages, under bounds
//! * [`cursor`]: sealed positions in a snapshot
//! * [`checkpoint`]: states that changes can be asked from

pub mod checkpoint;
pub mod cursor;
pub mod prefilter;
pub mod shelf;
pub mod snapshot;
pub mod text_filter;
pub mod window;

//! What queries of every kind share: pure, no I/O, no clock.
//!
//! * [`text_filter`]: which components a text and categories select

pub mod text_filter;

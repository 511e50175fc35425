//! The test kit of Kalends.
pub mod conformance;

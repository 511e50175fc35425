//! `kalends`
mod json;
mod transport;
fn main() {}

//! demo
use std::io;
use crate::config::Environment;
pub(crate) fn run(_environment: &Environment) -> io::Result<()> { Ok(()) }

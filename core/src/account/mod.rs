//! Settings and state that the machines of one session share.

/// One account on one server.
#[derive(Debug)]
pub struct Account;

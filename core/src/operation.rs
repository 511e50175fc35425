//! What a caller asks for, before it becomes a machine.

use std::sync::Arc;

use crate::account::Account;
use crate::env::Env;
use crate::machine::Machine;

/// A typed request to do one thing, which knows how to start.
pub trait Operation {
    /// What the machine ends with.
    type Outcome;

    /// Builds the machine. Sends nothing; even invalid input is reported by the machine.
    fn start(
        self,
        env: Env,
        account: &Arc<Account>,
    ) -> impl Machine<Output = Self::Outcome> + Send + 'static + use<Self>;
}

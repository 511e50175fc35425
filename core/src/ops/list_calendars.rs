//! Which Calendars there are.

use std::sync::Arc;

use crate::account::Account;
use crate::calendar::CalendarDescriptor;
use crate::env::Env;
use crate::exchange::Channel;
use crate::flow::Flow;
use crate::machine::Machine;
use crate::operation::Operation;
use crate::ops::discover::discover;
use crate::outcome::{Diagnostic, Outcome};

/// Asks for all Calendars in the configured scope.
#[derive(Clone, Copy, Debug)]
pub struct ListCalendars;

/// The Calendars, in order of their hrefs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalendarList {
    /// What is known about each.
    pub calendars: Vec<CalendarDescriptor>,
    /// Configured hrefs that are named twice or were not found.
    pub diagnostics: Vec<Diagnostic>,
}

impl Operation for ListCalendars {
    type Outcome = Outcome<CalendarList>;

    fn start(self, env: Env, account: &Arc<Account>) -> impl Machine<Output = Self::Outcome> + Send + 'static + use<> {
        let account = Arc::clone(account);
        Flow::new(env.now, move |io| async move {
            io.phase("discovery");
            let found = discover(&Channel::reading(&io, &account, &env)).await?;
            Ok(CalendarList {
                calendars: found.calendars,
                diagnostics: found.diagnostics,
            })
        })
    }
}

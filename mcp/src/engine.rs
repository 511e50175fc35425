//! The host that runs the account's operations: the network, or this process for a folder.

use std::io;
use std::sync::Arc;

use kalends_core::account::Account;
use kalends_core::change::Failed;
use kalends_core::env::Env;
use kalends_core::href::Href;
use kalends_core::machine::Mutation;
use kalends_core::operation::{Observed, Operation};
use kalends_core::outcome::{Code, Error, Phase};
use kalends_core::time::Moment;
use kalends_local::Local;
use kalends_tokio::{Options, SetupError, Tokio};

use crate::caller::Caller;

/// The error of an operation that ended in a way that it should not be able to.
pub(crate) trait Collapsed {
    fn collapsed() -> Self;
}

/// Of a read.
impl Collapsed for Box<Error> {
    fn collapsed() -> Self {
        let text = "The local account failed in an unexpected way. Nothing was changed by this read.";
        Error::new(Code::UpstreamUnavailable, Phase::Execution, text)
    }
}

/// Of a change.
impl Collapsed for Box<Failed> {
    fn collapsed() -> Self {
        let text = "The local account failed in an unexpected way while it worked on this change. Read the resource to see what became of it; do not send the change again before that.";
        let phase = Phase::PostWriteVerificationOrReconciliation;
        Failed::with(Error::new(Code::Indeterminate, phase, text), Mutation::Unknown)
    }
}

/// Runs operations of one account. Contacts and opens nothing before the first one.
#[derive(Debug)]
pub(crate) enum Engine {
    /// Over the network.
    Network(Box<Tokio>),
    /// A folder.
    Folder(Arc<Local>),
}

impl Engine {
    /// A host for this URL.
    ///
    /// # Errors
    /// The variable to blame, and why: a folder that cannot be made, or options that cannot be used.
    pub(crate) fn new(url: &Href, options: Options) -> Result<Self, (&'static str, String)> {
        if url.origin().scheme == "file" {
            let open = |error: io::Error| {
                (
                    "CALDAV_URL",
                    format!("names a folder that cannot be used: {}", error.kind()),
                )
            };
            return Local::open(url)
                .map(|local| Self::Folder(Arc::new(local)))
                .map_err(open);
        }
        Tokio::new(options)
            .map(|tokio| Self::Network(Box::new(tokio)))
            .map_err(|error| match error {
                SetupError::CaFileUnreadable(..) | SetupError::CaFileInvalid(_) => {
                    ("CALDAV_CA_FILE", format!("names a file that cannot be used: {error}"))
                }
                SetupError::ProxyInvalid => ("HTTPS_PROXY", format!("or ALL_PROXY cannot be used: {error}")),
            })
    }

    /// The host's clock and fresh entropy.
    pub(crate) fn env(&self) -> Env {
        match self {
            Self::Network(tokio) => tokio.env(),
            Self::Folder(local) => local.env(),
        }
    }

    /// The host's monotonic clock.
    pub(crate) fn now(&self) -> Moment {
        match self {
            Self::Network(tokio) => tokio.now(),
            Self::Folder(local) => local.now(),
        }
    }

    /// Runs an operation to its outcome, and tells its phases. On the network it is told to finish early when the
    /// caller takes it back or leaves; a folder answers at once, on a thread where it does not hold up other calls.
    pub(crate) async fn run<O, T, E>(&self, operation: O, account: &Arc<Account>, caller: Caller) -> Result<T, E>
    where
        O: Operation<Outcome = Result<T, E>> + Send + 'static,
        T: Send + 'static,
        E: Collapsed + Send + 'static,
    {
        let Caller { canceled, gone, phase } = caller;
        let operation = Observed::new(operation, move |name| {
            phase.send_replace(name);
        });
        match self {
            Self::Network(tokio) => {
                let unwanted = async {
                    tokio::select! {
                        () = canceled => {}
                        () = gone => {}
                    }
                };
                tokio.run(operation, account, unwanted).await
            }
            Self::Folder(local) => {
                let (local, account) = (Arc::clone(local), Arc::clone(account));
                let work = tokio::task::spawn_blocking(move || local.run(operation, &account));
                work.await.unwrap_or_else(|_| Err(E::collapsed()))
            }
        }
    }
}

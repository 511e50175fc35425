//! One Event or To-do on its way to another Calendar (RFC 4918, 9.9), with a constant number of requests.

use std::sync::Arc;

use crate::account::Account;
use crate::change::{Changed, Failed, Revision};
use crate::env::Env;
use crate::exchange::Channel;
use crate::flow::{Flow, Io};
use crate::href::Href;
use crate::machine::Machine;
use crate::operation::Operation;
use crate::ops::create_resource::place;
use crate::ops::discover::discover;
use crate::ops::get_resource::{configured_owner, owner_among};
use crate::ops::put::{held, strong};
use crate::ops::relocate::{Relocation, family, impossible};
use crate::ops::scope::{Destination, configured_destination, destination_among, href_of, member_address};
use crate::outcome::{Code, Outcome};
use crate::resource::Resource;

/// Asks for a resource to be moved to another Calendar of the same server. Only where the account names a family of
/// servers that move safely, or is a folder.
#[derive(Clone, Debug)]
pub struct MoveResource {
    /// The state that it is in.
    pub revision: Revision,
    /// Where it goes.
    pub destination: Destination,
}

impl Operation for MoveResource {
    type Outcome = Changed<Arc<Resource>>;

    fn start(self, env: Env, account: &Arc<Account>) -> impl Machine<Output = Self::Outcome> + Send + 'static + use<> {
        let account = Arc::clone(account);
        Flow::new(env.now, move |io| async move { go(&io, &account, &env, self).await })
    }
}

async fn go(io: &Io, account: &Account, env: &Env, asked: MoveResource) -> Changed<Arc<Resource>> {
    let channel = Channel::writing(io, account, env);
    let MoveResource { revision, destination } = asked;
    family(account, "/destination").map_err(Failed::before)?;
    let href = member_address(account, &revision.href, "/revision/href").map_err(Failed::before)?;
    let tag = strong(&revision, "/revision")?;
    io.phase("discovery");
    let (from, to) = ends(&channel, &href, &destination, &revision)
        .await
        .map_err(Failed::before)?;
    let current = held(&channel, &from, &href, (&revision, &tag), false).await?;
    Relocation {
        source: &current,
        tag: &tag,
        href: place(&to, &revision.uid),
        calendar: to,
        exact: false,
    }
    .run(&channel)
    .await
}

/// The Calendars that it leaves and goes to, with at most one discovery.
async fn ends(channel: &Channel<'_>, href: &Href, wanted: &Destination, revision: &Revision) -> Outcome<(Href, Href)> {
    let account = channel.account;
    let (from, to) = (
        configured_owner(account, href, "/revision/href")?,
        configured_destination(account, wanted)?,
    );
    let (from, to) = match (from, to) {
        (Some(from), Some(to)) => (from, to),
        (from, to) => {
            let found = discover(channel).await?.calendars;
            let from = match from {
                Some(from) => from,
                None => href_of(owner_among(&found, href, "/revision/href")?),
            };
            let to = match to {
                Some(to) => to,
                None => destination_among(account, &found, wanted, revision.kind)?,
            };
            (from, to)
        }
    };
    if from.key() == to.key() {
        let text = "The resource is in that Calendar already. Nothing was moved.";
        return Err(impossible(Code::InvalidInput, "/destination", "same_calendar", text));
    }
    if from.origin() != to.origin() {
        let text =
            "The two Calendars are on different hosts, and a server moves nothing to another. Nothing was moved.";
        return Err(impossible(
            Code::UnsupportedCapability,
            "/destination",
            "destination_calendar_invalid",
            text,
        ));
    }
    Ok((from, to))
}

//! A resource on its way to a place of the caller, octet by octet.

use std::sync::Arc;

use crate::account::Account;
use crate::account::quirk::Profile;
use crate::change::{Change, Changed, Consent, Fact, Failed, Review, Revision};
use crate::env::Env;
use crate::exchange::Channel;
use crate::flow::{Flow, Io};
use crate::href::Href;
use crate::machine::Machine;
use crate::operation::Operation;
use crate::ops::discover::discover;
use crate::ops::exact::document;
use crate::ops::get_resource::{configured_owner, owner_among};
use crate::ops::put::{facts, held, strong};
use crate::ops::relocate::{Relocation, family, impossible};
use crate::ops::scope::{accepting, href_of, member_address};
use crate::outcome::{Code, Error, Outcome};
use crate::resource::Resource;

/// Asks for a resource to be moved to another place, as it is.
#[derive(Clone, Debug)]
pub struct ExactMove {
    /// The state that it is in.
    pub revision: Revision,
    /// Absolute URL, in a Calendar of the same server.
    pub destination_href: String,
    /// Whether a person has agreed.
    pub consent: Consent,
}

impl Operation for ExactMove {
    type Outcome = Changed<Arc<Resource>>;

    fn start(self, env: Env, account: &Arc<Account>) -> impl Machine<Output = Self::Outcome> + Send + 'static + use<> {
        let account = Arc::clone(account);
        Flow::new(env.now, move |io| async move { go(&io, &account, &env, self).await })
    }
}

const TO: &str = "/destinationHref";

async fn go(io: &Io, account: &Account, env: &Env, asked: ExactMove) -> Changed<Arc<Resource>> {
    let channel = Channel::writing(io, account, env);
    let ExactMove {
        revision,
        destination_href,
        consent,
    } = asked;
    let profile = family(account, TO).map_err(Failed::before)?;
    let from = member_address(account, &revision.href, "/revision/href").map_err(Failed::before)?;
    let to = member_address(account, &destination_href, TO).map_err(Failed::before)?;
    different(&from, &to).map_err(Failed::before)?;
    let tag = strong(&revision, "/revision")?;
    io.phase("discovery");
    let (source, calendar) = owners(&channel, &from, &to, &revision).await.map_err(Failed::before)?;
    if source.key() == calendar.key() && profile == Some(Profile::Nextcloud) {
        let text = "This family of servers does not rename inside one Calendar. Nothing was moved.";
        let code = Code::UnsupportedCapability;
        return Err(Failed::before(impossible(
            code,
            TO,
            "same_calendar_move_unsupported",
            text,
        )));
    }
    let current = held(&channel, &source, &from, (&revision, &tag), false).await?;
    let octets = current.entity.document().bytes();
    document(octets).map_err(|error| Failed::before(unfit(&error)))?;
    let mut facts = facts(&current, &revision);
    facts.push(Fact::new("Destination", to.as_str()));
    // Moving is no part of scheduling (RFC 6638, 3.2.2): nobody is told.
    let parts: [&[u8]; 6] = [
        b"exact move",
        from.as_str().as_bytes(),
        revision.uid.as_bytes(),
        tag.as_bytes(),
        octets,
        to.as_str().as_bytes(),
    ];
    if let Some(review) = Review::of(&parts, facts, false).settle(&consent)? {
        return Ok(Change::Review(review));
    }
    Relocation {
        source: &current,
        tag: &tag,
        href: to,
        calendar,
        exact: true,
    }
    .run(&channel)
    .await
}

fn unfit(error: &Error) -> Box<Error> {
    let text = format!("{} What is stored is not moved as long as it is so.", error.message);
    Error::new(error.code, error.phase, text)
}

fn different(from: &Href, to: &Href) -> Outcome<()> {
    if from.key() == to.key() {
        let text = "The resource is at that href already. Nothing was moved.";
        return Err(impossible(Code::InvalidInput, TO, "same_resource_href", text));
    }
    if from.origin() != to.origin() {
        let text = "That href is on another host, and a server moves nothing to another. Nothing was moved.";
        let code = Code::UnsupportedCapability;
        return Err(impossible(code, TO, "destination_calendar_invalid", text));
    }
    Ok(())
}

/// The Calendars that it leaves and goes to, with at most one discovery.
async fn owners(channel: &Channel<'_>, from: &Href, to: &Href, revision: &Revision) -> Outcome<(Href, Href)> {
    let account = channel.account;
    let source = configured_owner(account, from, "/revision/href")?;
    let calendar = configured_owner(account, to, TO)?;
    if let (Some(source), Some(calendar)) = (source, calendar) {
        return Ok((source, calendar));
    }
    let found = discover(channel).await?.calendars;
    let source = href_of(owner_among(&found, from, "/revision/href")?);
    Ok((source, accepting(owner_among(&found, to, TO)?, revision.kind)?))
}

//! Other octets for a resource, given by the caller as a whole.

use std::sync::Arc;

use bytes::Bytes;

use crate::account::Account;
use crate::change::{Change, Changed, Consent, Fact, Failed, Review, Revision};
use crate::env::Env;
use crate::exchange::Channel;
use crate::flow::{Flow, Io};
use crate::ical::entity::Entity;
use crate::machine::Machine;
use crate::operation::Operation;
use crate::ops::exact::document;
use crate::ops::get_resource::owner;
use crate::ops::masked;
use crate::ops::put::{Precondition, Put, facts, held, strong};
use crate::ops::scheduling::admit;
use crate::ops::scope::member_address;
use crate::outcome::{Code, Error, Outcome, Phase};
use crate::resource::Resource;

/// Asks for exactly these octets in place of a known state. What is there may be opaque: then its UID and kind are not
/// compared.
#[derive(Clone, Debug)]
pub struct ExactReplace {
    /// The state that it is in.
    pub revision: Revision,
    /// The octets.
    pub body: Bytes,
    /// Whether a person has agreed.
    pub consent: Consent,
}

impl Operation for ExactReplace {
    type Outcome = Changed<Arc<Resource>>;

    fn start(self, env: Env, account: &Arc<Account>) -> impl Machine<Output = Self::Outcome> + Send + 'static + use<> {
        let account = Arc::clone(account);
        Flow::new(
            env.now,
            move |io| async move { replace(&io, &account, &env, self).await },
        )
    }
}

async fn replace(io: &Io, account: &Account, env: &Env, asked: ExactReplace) -> Changed<Arc<Resource>> {
    let channel = Channel::writing(io, account, env);
    let ExactReplace {
        revision,
        body,
        consent,
    } = asked;
    // Bad input costs no request.
    let href = member_address(account, &revision.href, "/revision/href").map_err(Failed::before)?;
    let tag = strong(&revision, "/revision")?;
    let entity = document(&body).map_err(Failed::before)?;
    same_entity(&entity, &revision).map_err(Failed::before)?;
    io.phase("discovery");
    let calendar = owner(&channel, &href, "/revision/href").await.map_err(Failed::before)?;
    let current = held(&channel, &calendar, &href, (&revision, &tag), true).await?;
    let before = current.entity.document().bytes();
    if *before == body {
        return Ok(Change::Unchanged);
    }
    io.phase("review");
    masked::guard(&channel, &current).await?;
    let side_effects = admit(&channel, &calendar, &[before, &body]).await?;
    let mut facts = facts(&current, &revision);
    facts.push(Fact::new("Size", format!("{} bytes, now {}", body.len(), before.len())));
    let parts: [&[u8]; 5] = [
        b"exact replace",
        href.as_str().as_bytes(),
        revision.uid.as_bytes(),
        tag.as_bytes(),
        &body,
    ];
    if let Some(review) = Review::of(&parts, facts, side_effects.is_some()).settle(&consent)? {
        return Ok(Change::Review(review));
    }
    Put {
        calendar: &calendar,
        href: &href,
        precondition: Precondition::Tag(tag),
        body,
        exact: true,
        side_effects,
    }
    .run(&channel)
    .await
}

/// Whether octets describe what they are going to replace.
fn same_entity(entity: &Entity, revision: &Revision) -> Outcome<()> {
    let error = |code, text: &'static str| Err(Error::new(code, Phase::CompleteResourceSemantics, text));
    if entity.kind() != Some(revision.kind) {
        return error(
            Code::EntityKindMismatch,
            "The octets are of the other kind: an Event is no To-do. Nothing was written.",
        );
    }
    if entity.uid() != Some(&*revision.uid) {
        return error(
            Code::InvalidCalendarData,
            "The octets have another UID than what they would replace. Nothing was written. Keep the UID, or create another resource.",
        );
    }
    Ok(())
}

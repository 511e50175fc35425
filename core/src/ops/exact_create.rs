//! A new resource with octets and a place of the caller.

use std::sync::Arc;

use bytes::Bytes;

use crate::account::Account;
use crate::change::{Change, Changed, Consent, Fact, Failed, Review};
use crate::env::Env;
use crate::exchange::Channel;
use crate::flow::{Flow, Io};
use crate::machine::Machine;
use crate::operation::Operation;
use crate::ops::exact::document;
use crate::ops::get_resource::owner;
use crate::ops::put::{Precondition, Put};
use crate::ops::scheduling::admit;
use crate::ops::scope::member_address;
use crate::resource::Resource;

/// Asks for a new resource of exactly these octets.
#[derive(Clone, Debug)]
pub struct ExactCreate {
    /// Absolute URL, in a Calendar.
    pub href: String,
    /// The octets.
    pub body: Bytes,
    /// Whether a person has agreed.
    pub consent: Consent,
}

impl Operation for ExactCreate {
    type Outcome = Changed<Arc<Resource>>;

    fn start(self, env: Env, account: &Arc<Account>) -> impl Machine<Output = Self::Outcome> + Send + 'static + use<> {
        let account = Arc::clone(account);
        Flow::new(
            env.now,
            move |io| async move { create(&io, &account, &env, self).await },
        )
    }
}

async fn create(io: &Io, account: &Account, env: &Env, asked: ExactCreate) -> Changed<Arc<Resource>> {
    let channel = Channel::writing(io, account, env);
    let ExactCreate { href, body, consent } = asked;
    // Bad input costs no request.
    let href = member_address(account, &href, "/destinationHref").map_err(Failed::before)?;
    let entity = document(&body).map_err(Failed::before)?;
    io.phase("discovery");
    let calendar = owner(&channel, &href, "/destinationHref")
        .await
        .map_err(Failed::before)?;
    io.phase("review");
    let side_effects = admit(&channel, &calendar, &[&body]).await?;
    let facts = vec![
        Fact::new("Destination", href.as_str()),
        Fact::new("UID", entity.uid().unwrap_or_default()),
        Fact::new("Kind", entity.kind().map_or("", |kind| kind.name())),
        Fact::new("Size", format!("{} bytes", body.len())),
    ];
    let parts: [&[u8]; 3] = [b"exact create", href.as_str().as_bytes(), &body];
    if let Some(review) = Review::of(&parts, facts, side_effects.is_some()).settle(&consent)? {
        return Ok(Change::Review(review));
    }
    Put {
        calendar: &calendar,
        href: &href,
        precondition: Precondition::Absent,
        body,
        exact: true,
        side_effects,
    }
    .run(&channel)
    .await
}

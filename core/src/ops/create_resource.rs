//! A new Event or To-do (RFC 4791, 5.3.2).

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::account::Account;
use crate::change::{Changed, Failed};
use crate::env::Env;
use crate::exchange::Channel;
use crate::exchange::dispatch::UID_TAKEN;
use crate::flow::{Flow, Io};
use crate::href::Href;
use crate::ical::edit::create::{NewEntity, NewFields, NewSeries, create};
use crate::ical::entity::Kind;
use crate::ledger::Mutation;
use crate::machine::Machine;
use crate::operation::Operation;
use crate::ops::put::{Precondition, Put};
use crate::ops::scheduling::admit;
use crate::ops::scope::{self, Destination};
use crate::outcome::Code;
use crate::resource::Resource;

/// How many UIDs of our own are tried.
const TRIES: u8 = 3;

/// Asks for a new Event or To-do in a Calendar.
#[derive(Clone, Debug)]
pub struct CreateResource {
    /// Where.
    pub destination: Destination,
    /// Which of them.
    pub kind: Kind,
    /// Its UID; a fresh one if there is none.
    pub uid: Option<String>,
    /// What it says.
    pub fields: NewFields,
    /// How it repeats.
    pub series: Option<NewSeries>,
}

impl Operation for CreateResource {
    type Outcome = Changed<Arc<Resource>>;

    fn start(self, env: Env, account: &Arc<Account>) -> impl Machine<Output = Self::Outcome> + Send + 'static + use<> {
        let account = Arc::clone(account);
        Flow::new(env.now, move |io| async move { make(&io, &account, &env, self).await })
    }
}

async fn make(io: &Io, account: &Account, env: &Env, asked: CreateResource) -> Changed<Arc<Resource>> {
    let channel = Channel::writing(io, account, env);
    let generated = asked.uid.is_none();
    let mut new = NewEntity {
        kind: asked.kind,
        uid: asked.uid.unwrap_or_else(|| fresh(env.seed, 0)),
        fields: asked.fields,
        series: asked.series,
    };
    // Bad input costs no request.
    let now = env.utc.timestamp();
    let mut body = create(&new, now).map_err(Failed::before)?;
    io.phase("discovery");
    let calendar = scope::destination(&channel, &asked.destination, new.kind)
        .await
        .map_err(Failed::before)?;
    let side_effects = admit(&channel, &calendar, &[&body]).await?;
    let mut tried = 1;
    loop {
        let href = place(&calendar, &new.uid);
        let put = Put {
            calendar: &calendar,
            href: &href,
            precondition: Precondition::Absent,
            body,
            exact: false,
            side_effects,
        };
        match put.run(&channel).await {
            Err(failed) if generated && tried < TRIES && taken(&failed) => {
                new.uid = fresh(env.seed, tried);
                body = create(&new, now).map_err(Failed::before)?;
                tried += 1;
            }
            // What was refused before was attempted.
            Err(mut failed) if tried > 1 && failed.state == Mutation::NotAttempted => {
                failed.state = Mutation::NotCommitted;
                return Err(failed);
            }
            done => return done,
        }
    }
}

/// Whether a name of ours met one that is there already, for certain: a conflict that could not be looked into may be
/// with this very write.
fn taken(failed: &Failed) -> bool {
    let error = &failed.error;
    let named = error.code == Code::Conflict && error.message == UID_TAKEN;
    failed.state == Mutation::NotCommitted && (named || error.code == Code::DestinationConflict)
}

/// Where a resource with this UID goes: a name that no UID can break out of.
pub(crate) fn place(calendar: &Href, uid: &str) -> Href {
    let name = format!("{}.ics", URL_SAFE_NO_PAD.encode(Sha256::digest(uid.as_bytes())));
    let place = calendar.as_collection().resolve(&name);
    place.expect("a name of base64url is a reference")
}

/// A UID of random bits in the usual form (RFC 9562, 5.4; RFC 7986, 5.3).
fn fresh(seed: [u8; 32], tried: u8) -> String {
    let mut digest = Sha256::new();
    digest.update(b"UID");
    digest.update(seed);
    digest.update([tried]);
    let digest = digest.finalize();
    let mut bits = [0; 16];
    bits.copy_from_slice(&digest[..16]);
    let value = u128::from_be_bytes(bits) & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let hex = format!("{value:032x}");
    format!(
        "{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_uid_is_a_random_uuid() {
        for tried in 0..3 {
            let uid = fresh([7; 32], tried);
            let groups: Vec<_> = uid.split('-').map(str::len).collect();
            assert_eq!(groups, [8, 4, 4, 4, 12]);
            assert_eq!(uid.as_bytes()[14], b'4');
            assert!(b"89ab".contains(&uid.as_bytes()[19]), "{uid}");
        }
        assert_ne!(fresh([7; 32], 0), fresh([7; 32], 1));
        assert_ne!(fresh([7; 32], 0), fresh([8; 32], 0));
    }

    #[test]
    fn no_uid_leaves_its_calendar() {
        let calendar = Href::parse("https://dav.example/cal/a").unwrap();
        for uid in ["1", "../../b/x", "a/b?c#d", "%2e%2e", "", "\u{202e}"] {
            let place = place(&calendar, uid);
            assert!(place.is_member_of(&calendar), "{place}");
            assert!(place.as_str().ends_with(".ics"));
        }
        // SHA-256 of "u-1" in base64url, by Python's hashlib and base64.
        let expected = "https://dav.example/cal/a/okp_VfJ43Un7H5nFUHgAyxmKW_4Q_iEmzQslZyFSsNo.ics";
        let name = place(&calendar, "u-1");
        assert_eq!(name.as_str(), expected);
    }
}

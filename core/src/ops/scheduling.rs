//! Whether a change may set off invitations (RFC 6638, 3.2): storing an organizer's Event is itself the sending.
//!
//! The Calendar is asked immediately before the write. What is not known counts as dangerous.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::account::Scheduling;
use crate::calendar::CapabilityState;
use crate::change::{Failed, SideEffects};
use crate::exchange::Channel;
use crate::href::Href;
use crate::ical::document::{Component, Document};
use crate::ical::value::lossy;
use crate::ops::inspect_calendar::scheduling;
use crate::outcome::{Code, Error, Phase};

/// The most guests that a message names, and how much of each address.
const NAMED: usize = 10;
const ADDRESS: usize = 80;

/// Whether octets say anything about an organizer or guests: a content line of that name, in any component.
#[must_use]
pub fn takes_part(octets: &[u8]) -> bool {
    let names = |line: &[u8]| {
        let name = line.iter().position(|octet| matches!(octet, b':' | b';' | b'\r'));
        let name = line[..name.unwrap_or(line.len())].trim_ascii();
        [&b"ORGANIZER"[..], b"ATTENDEE"]
            .iter()
            .any(|it| name.eq_ignore_ascii_case(it))
    };
    unfolded(octets).split(|octet| *octet == b'\n').any(names)
}

/// The octets with each content line on one line (RFC 5545, 3.1).
fn unfolded(octets: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(octets.len());
    for octet in octets {
        let folded = matches!(octet, b' ' | b'\t') && out.last() == Some(&b'\n');
        if folded {
            out.pop();
            if out.last() == Some(&b'\r') {
                out.pop();
            }
        } else {
            out.push(*octet);
        }
    }
    out
}

/// The addresses of ORGANIZER and ATTENDEE lines, each once, in order.
fn guests(octets: &[&[u8]]) -> Vec<String> {
    fn collect(component: Component<'_>, found: &mut Vec<String>) {
        for name in ["ATTENDEE", "ORGANIZER"] {
            for line in component.all(name) {
                let address = lossy(line.value()).trim().to_owned();
                if !found.iter().any(|known| known.eq_ignore_ascii_case(&address)) {
                    found.push(address);
                }
            }
        }
        component.children().for_each(|child| collect(child, found));
    }
    let mut found = Vec::new();
    for octets in octets {
        if let Ok(document) = Document::parse(bytes::Bytes::copy_from_slice(octets)) {
            document.roots().for_each(|root| collect(root, &mut found));
        }
    }
    found
}

/// What the evidence allows: the side effects to tell, or a refusal (contract of the semantic toolset, scheduling
/// safety).
fn decide(mode: Scheduling, evidence: CapabilityState) -> Result<Option<SideEffects>, Refused> {
    match (evidence, mode) {
        (CapabilityState::NotAdvertised, Scheduling::StorageOnly) => Ok(None),
        (CapabilityState::NotAdvertised, Scheduling::ServerManaged) => Ok(Some(SideEffects::None)),
        (CapabilityState::Advertised, Scheduling::ServerManaged) => Ok(Some(SideEffects::Possible)),
        (CapabilityState::Advertised, Scheduling::StorageOnly) => Err(Refused::WouldSend),
        (CapabilityState::Unknown, _) => Err(Refused::Unknown),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refused {
    WouldSend,
    Unknown,
}

/// Lets a change of this Calendar through, if what it writes and what it replaces have nothing to do with scheduling,
/// or the mode of the account and the server's word allow it.
///
/// # Errors
/// `unsupported_capability`, naming the guests; nothing was attempted.
pub async fn admit(
    channel: &Channel<'_>,
    calendar: &Href,
    octets: &[&[u8]],
) -> Result<Option<SideEffects>, Box<Failed>> {
    let mode = channel.account.settings().scheduling;
    if !octets.iter().any(|octets| takes_part(octets)) {
        return Ok(None);
    }
    let seen = scheduling(channel, calendar).await.map_err(Failed::before)?;
    decide(mode, seen.state).map_err(|refused| Failed::before(refusal(refused, &guests(octets))))
}

fn refusal(refused: Refused, guests: &[String]) -> Box<Error> {
    let text: Cow<'static, str> = match refused {
        Refused::Unknown => "It cannot be told whether the CalDAV server would send invitations (no usable answer to OPTIONS), and this has an organizer or guests. Nothing was written. Try again later.".into(),
        Refused::WouldSend => {
            let mut text = String::from("The CalDAV server would send messages about this by itself");
            for (at, guest) in guests.iter().take(NAMED).enumerate() {
                let shown: String = guest.chars().filter(|c| !c.is_control()).take(ADDRESS).collect();
                let _ = write!(text, "{} {shown:?}", if at == 0 { ", to" } else { "," });
            }
            if guests.len() > NAMED {
                let _ = write!(text, " and {} more", guests.len() - NAMED);
            }
            text.push_str(". Nothing was written. If it may, set CALDAV_SCHEDULING_MODE=server_managed.");
            text.into()
        }
    };
    Error::new(Code::UnsupportedCapability, Phase::SelectionDiscoveryCapability, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_organizer_or_guest_is_seen_in_any_spelling_and_nowhere_else() {
        for (text, expected) in [
            ("BEGIN:VEVENT\r\nATTENDEE:mailto:a@example.com\r\nEND:VEVENT", true),
            ("organizer;CN=A:mailto:a@example.com", true),
            ("X:1\nATTEN\n DEE;CN=x:mailto:a@example.com\n", true),
            ("X:1\r\nORGANI\r\n\tZER:mailto:a@example.com", true),
            ("DESCRIPTION:attendee: all of us\r\n ATTENDEE:x", false),
            ("DESCRIPTION:the\r\n  ORGANIZER: us", false),
            ("X-ATTENDEE:mailto:a@example.com\r\nSUMMARY:ORGANIZER", false),
            ("", false),
        ] {
            assert_eq!(takes_part(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn only_evidence_lets_a_change_through() {
        use CapabilityState::{Advertised, NotAdvertised, Unknown};
        use Scheduling::{ServerManaged, StorageOnly};
        for (mode, evidence, expected) in [
            (StorageOnly, NotAdvertised, Ok(None)),
            (ServerManaged, NotAdvertised, Ok(Some(SideEffects::None))),
            (StorageOnly, Advertised, Err(Refused::WouldSend)),
            (ServerManaged, Advertised, Ok(Some(SideEffects::Possible))),
            (StorageOnly, Unknown, Err(Refused::Unknown)),
            (ServerManaged, Unknown, Err(Refused::Unknown)),
        ] {
            assert_eq!(decide(mode, evidence), expected, "{mode:?} {evidence:?}");
        }
    }

    #[test]
    fn a_refusal_names_the_guests_and_what_to_set() {
        let octets = b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nATTENDEE;CN=Ben:mailto:ben@example.com\r\nBEGIN:VALARM\r\nATTENDEE:MAILTO:Ben@example.com\r\nEND:VALARM\r\nORGANIZER:mailto:ana@example.com\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
        let error = refusal(Refused::WouldSend, &guests(&[octets]));
        let text = "The CalDAV server would send messages about this by itself, to \"mailto:ben@example.com\", \"mailto:ana@example.com\". Nothing was written. If it may, set CALDAV_SCHEDULING_MODE=server_managed.";
        assert_eq!(error.message, text);
    }
}

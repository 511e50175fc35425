//! A confidential resource of somebody else is shown without its content, and would lose it if it were written back:
//! PUT replaces the whole (RFC 4791, 5.3.2), and what a server hides is its own matter (RFC 5545, 3.8.1.3).

use std::ops::ControlFlow;

use crate::change::Failed;
use crate::dav::name::Name;
use crate::dav::propfind::ownership_body;
use crate::dav::props::Props;
use crate::exchange::{Channel, Rules};
use crate::href::Href;
use crate::ical::document::Component;
use crate::ical::entity::Entity;
use crate::ops::discover::{read, request};
use crate::outcome::{Code, Error, Phase};
use crate::resource::Resource;

/// What is left of a resource that is shown as busy only.
const LEFT: &[&str] = &[
    "CLASS",
    "CREATED",
    "DTEND",
    "DTSTAMP",
    "DTSTART",
    "DUE",
    "DURATION",
    "EXDATE",
    "LAST-MODIFIED",
    "RDATE",
    "RECURRENCE-ID",
    "RRULE",
    "SEQUENCE",
    "STATUS",
    "SUMMARY",
    "TRANSP",
    "UID",
];

/// Refuses to change what may be shown without its content. Costs a request only where it looks so.
///
/// # Errors
/// `unsupported_capability`, and those of the request; nothing was attempted.
pub(crate) async fn guard(channel: &Channel<'_>, current: &Resource) -> Result<(), Box<Failed>> {
    if !looks_masked(&current.entity) {
        return Ok(());
    }
    let props = ownership(channel, &current.calendar).await.map_err(Failed::before)?;
    if !is_shared(&props, &current.calendar) {
        return Ok(());
    }
    Err(Failed::before(Error::new(
        Code::UnsupportedCapability,
        Phase::CompleteResourceSemantics,
        "The content is masked: this is confidential, in a Calendar of somebody else, and only its time is shown. Writing it back would destroy its title, place and notes. Nothing was changed. Ask its owner.",
    )))
}

/// Whether a component is confidential or private, and bare.
fn looks_masked(entity: &Entity) -> bool {
    let bare = |component: Component<'_>| {
        let class = component.first("CLASS").map(|class| class.value());
        let hidden = class.is_some_and(|class| {
            let class = class.trim_ascii();
            class.eq_ignore_ascii_case(b"CONFIDENTIAL") || class.eq_ignore_ascii_case(b"PRIVATE")
        });
        let mut lines = component.properties();
        hidden && component.children().next().is_none() && lines.all(|line| LEFT.iter().any(|name| line.is(name)))
    };
    let mut roots = entity.document().roots();
    roots.any(|root| root.children().any(bare))
}

async fn ownership(channel: &Channel<'_>, calendar: &Href) -> Result<Props, Box<Error>> {
    let answer = channel
        .send(calendar, request("PROPFIND", "0", ownership_body()), Rules::LISTING)
        .await
        .map_err(|fault| channel.error(&fault))?;
    let mut props = Props::default();
    read(&answer, |member| {
        props = member.props;
        ControlFlow::Break(())
    })?;
    Ok(props)
}

/// Whether a Calendar is somebody else's: it says so, or its owner is another than who asks.
fn is_shared(props: &Props, calendar: &Href) -> bool {
    let key = |href: &Option<String>| Some(calendar.resolve(href.as_ref()?)?.as_collection().key());
    let says_so = props.resource_type.is_some_and(|kinds| kinds.contains(Name::Shared));
    let other = match (key(&props.owner), key(&props.current_user_principal)) {
        (Some(owner), Some(user)) => owner != user,
        _ => false,
    };
    says_so || other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_and_confidential_looks_masked() {
        let event = |lines: &str| {
            let text = format!(
                "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//EN\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20260101T000000Z\r\n\
                 DTSTART:20260504T080000Z\r\n{lines}END:VEVENT\r\nEND:VCALENDAR\r\n"
            );
            looks_masked(&Entity::read(text.into()))
        };
        assert!(event(
            "CLASS:CONFIDENTIAL\r\nSUMMARY:Busy\r\nDTEND:20260504T090000Z\r\n"
        ));
        assert!(event("class:private\r\n"));
        assert!(!event("SUMMARY:Busy\r\n"));
        assert!(!event("CLASS:PUBLIC\r\nSUMMARY:Busy\r\n"));
        assert!(!event("CLASS:CONFIDENTIAL\r\nSUMMARY:Doctor\r\nLOCATION:Room 3\r\n"));
        assert!(!event(
            "CLASS:PRIVATE\r\nBEGIN:VALARM\r\nACTION:AUDIO\r\nTRIGGER:-PT5M\r\nEND:VALARM\r\n"
        ));
    }

    #[test]
    fn a_calendar_is_shared_by_its_word_or_its_owner() {
        let calendar = Href::parse("https://dav.example/ana/team/").unwrap();
        let props = |owner: Option<&str>, user: Option<&str>| Props {
            owner: owner.map(Into::into),
            current_user_principal: user.map(Into::into),
            ..Props::default()
        };
        for (owner, user, expected) in [
            (Some("/p/ben/"), Some("/p/ana/"), true),
            (Some("https://dav.example/p/ana"), Some("/p/ana/"), false),
            (None, Some("/p/ana/"), false),
            (Some("/p/ben/"), None, false),
        ] {
            assert_eq!(
                is_shared(&props(owner, user), &calendar),
                expected,
                "{owner:?} {user:?}"
            );
        }
        let mut told = props(None, None);
        let mut kinds = crate::dav::name::NameSet::default();
        kinds.insert(Name::Shared);
        told.resource_type = Some(kinds);
        assert!(is_shared(&told, &calendar));
    }
}

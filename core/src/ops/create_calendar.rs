//! A new Calendar (RFC 4791, 5.3.1): one MKCALENDAR, and a listing that shows what became of it.

use std::sync::Arc;

use http::StatusCode;
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::{Method, Request};

use crate::account::Account;
use crate::calendar::{CalendarDescriptor, CapabilityState, EntityKindCapability};
use crate::change::{Change, Changed, Committed, Failed};
use crate::dav::mkcalendar::{NewCalendar, body};
use crate::dav::name::Name;
use crate::env::Env;
use crate::exchange::Channel;
use crate::exchange::dispatch::{Dispatch, undone};
use crate::flow::{Flow, Io};
use crate::href::Href;
use crate::ical::entity::Kind;
use crate::ledger::Mutation;
use crate::machine::Machine;
use crate::operation::Operation;
use crate::ops::collection::{
    check_color, check_name, check_order, is_refusal, rejected, time_zone, told, valid, violation,
};
use crate::ops::discover::{AGENT, discover};
use crate::ops::scope::{address, href_of};
use crate::outcome::{Code, Error, Outcome, Phase};

/// Asks for a new Calendar.
#[derive(Clone, Debug)]
pub struct CreateCalendar {
    /// What people call it: no other Calendar may be called so.
    pub display_name: String,
    /// What it takes.
    pub kinds: Vec<Kind>,
    /// Absolute URL directly below a calendar home; a fresh one if there is none.
    pub destination_href: Option<String>,
    /// `#RRGGBB`.
    pub color: Option<String>,
    /// Its place among others.
    pub order: Option<u32>,
    /// IANA name of the zone of its floating times.
    pub time_zone: Option<String>,
}

impl Operation for CreateCalendar {
    type Outcome = Changed<CalendarDescriptor>;

    fn start(self, env: Env, account: &Arc<Account>) -> impl Machine<Output = Self::Outcome> + Send + 'static + use<> {
        let account = Arc::clone(account);
        Flow::new(env.now, move |io| async move { make(&io, &account, &env, self).await })
    }
}

const DESTINATION: &str = "/destinationHref";

async fn make(io: &Io, account: &Account, env: &Env, asked: CreateCalendar) -> Changed<CalendarDescriptor> {
    let channel = Channel::writing(io, account, env);
    // Bad input costs no request.
    let zone = checked(&asked).map_err(Failed::before)?;
    let wanted = asked.destination_href.as_deref();
    let wanted = wanted.map(|text| address(account, text, DESTINATION)).transpose();
    let wanted = wanted.map_err(Failed::before)?;
    io.phase("discovery");
    let found = discover(&channel).await.map_err(Failed::before)?.calendars;
    let homes = account.known().map(|known| known.homes).unwrap_or_default();
    let href = place(account, &homes, wanted.as_ref(), env.seed).map_err(Failed::before)?;
    free(&found, &asked.display_name, &href).map_err(Failed::before)?;
    io.phase("write");
    let components: Vec<_> = asked.kinds.iter().map(|kind| kind.component()).collect();
    let new = NewCalendar {
        display_name: &asked.display_name,
        components: &components,
        color: asked.color.as_deref(),
        order: asked.order,
        time_zone: zone.as_deref(),
    };
    let request = Request::builder()
        .method(Method::from_bytes(b"MKCALENDAR").expect("a token"))
        .header(CONTENT_TYPE, "application/xml; charset=utf-8")
        .header(USER_AGENT, AGENT)
        .body(body(&new))
        .expect("static headers are valid");
    let dispatch = channel.write_within(&href, request, |_| false).await;
    io.phase("reconcile");
    let told = told(&dispatch);
    let answer = match &dispatch {
        Dispatch::Accepted(_) => Answer::Accepted,
        Dispatch::Unsure(_) if told.as_ref().is_some_and(|told| refuses(told)) => Answer::Rejected,
        Dispatch::Unsure(_) => Answer::Doubt,
        Dispatch::Refused(answer) if about_the_place(answer.response.status()) => Answer::Refused,
        Dispatch::Refused(_) | Dispatch::NotSent(_) | Dispatch::Declined(_) => {
            let (error, state) = undone(&channel, &dispatch).expect("it was not done");
            return Err(Failed::with(error, state));
        }
    };
    let settling = channel.reconciling();
    let listed = discover(&settling).await;
    let seen = listed.as_ref().ok().map(|listed| {
        let mut calendars = listed.calendars.iter();
        calendars.find(|calendar| href_of(calendar).key() == href.key())
    });
    let differences = seen.flatten().map(|seen| differences(&asked, seen));
    let there = match (seen, &differences) {
        (None, _) => There::Unseen,
        (Some(Some(_)), Some(found)) if found.is_empty() => There::AsMeant,
        (Some(Some(_)), _) => There::Otherwise,
        (Some(None), _) => There::Absent,
    };
    let failed = |code, text: String, state| {
        Failed::with(
            Error::new(code, Phase::PostWriteVerificationOrReconciliation, text),
            state,
        )
    };
    Err(match (verdict(answer, there, wanted.is_none()), seen.flatten()) {
        (Verdict::Made, Some(value)) => {
            return Ok(Change::Committed(Committed {
                value: value.clone(),
                side_effects: None,
                diagnostics: Vec::new(),
            }));
        }
        (Verdict::Otherwise, _) => failed(
            Code::FidelityFailure,
            format!(
                "The CalDAV server has made the Calendar at {href}, and not kept: {}. Change it there, or delete it.",
                differences.unwrap_or_default().join(", ")
            ),
            Mutation::Committed,
        ),
        (Verdict::Made | Verdict::Unverified, _) => failed(
            Code::CommittedButUnverified,
            format!(
                "The CalDAV server says that it has made the Calendar at {href}, and that could not be checked. List the Calendars before you go on."
            ),
            Mutation::Committed,
        ),
        (Verdict::NotMade, seen) => {
            let error = match (told, undone(&channel, &dispatch)) {
                _ if seen.is_some() => Error::new(
                    Code::DestinationConflict,
                    Phase::Execution,
                    "There is already something where the Calendar would go. Nothing was made.",
                ),
                (_, Some((error, _))) => error,
                (told, None) => rejected(&told.unwrap_or_default(), ""),
            };
            Failed::with(error, Mutation::NotCommitted)
        }
        (Verdict::Unknown, _) => failed(
            Code::Indeterminate,
            format!(
                "It is not known whether the Calendar was made: no clear answer came, and {href} does not prove it. It may still be made later. List the Calendars before you go on."
            ),
            Mutation::Unknown,
        ),
    })
}

/// Checks the arguments; the octets of the time zone.
fn checked(asked: &CreateCalendar) -> Outcome<Option<String>> {
    let mut wrong = Vec::new();
    wrong.extend(check_name(&asked.display_name, "/displayName"));
    wrong.extend(asked.color.as_deref().and_then(|color| check_color(color, "/color")));
    wrong.extend(asked.order.and_then(|order| check_order(order, "/order")));
    if !matches!(asked.kinds.as_slice(), [_]) && !matches!(asked.kinds.as_slice(), [one, other] if one != other) {
        let text = "Send event, todo or both, each once.";
        wrong.push(violation("/entityKinds", "entity_kinds_invalid", text));
    }
    let zone = match asked.time_zone.as_deref().map(|name| time_zone(name, "/timeZone")) {
        Some(Err(violation)) => {
            wrong.push(violation);
            None
        }
        Some(Ok(zone)) => Some(zone),
        None => None,
    };
    valid(wrong)?;
    Ok(zone)
}

/// Where it goes.
fn place(account: &Account, homes: &[Href], wanted: Option<&Href>, seed: [u8; 32]) -> Outcome<Href> {
    let configured = &account.settings().calendar_hrefs;
    let refuse = |code, text: &str| {
        let violation = violation(DESTINATION, code, text);
        Err(Error::violations(Phase::SelectionDiscoveryCapability, vec![violation]))
    };
    if let Some(wanted) = wanted {
        if !wanted.as_str().ends_with('/') || !homes.iter().any(|home| wanted.is_member_of(home)) {
            return refuse(
                "destination_href_invalid",
                "Send the URL of a collection directly below the calendar home, with a slash at the end.",
            );
        }
        if !configured.is_empty() && !configured.iter().any(|href| href.as_collection().key() == wanted.key()) {
            let mut error = Error::violations(
                Phase::OriginScopeAuthorization,
                vec![violation(
                    DESTINATION,
                    "outside_configured_scope",
                    "That href is none of the Calendars that CALDAV_CALENDAR_HREFS allows.",
                )],
            );
            error.code = Code::OutsideScope;
            return Err(error);
        }
        return Ok(wanted.clone());
    }
    match homes {
        _ if !configured.is_empty() => refuse(
            "destination_href_required_by_scope",
            "CALDAV_CALENDAR_HREFS allows named Calendars only. Send the href of one of them.",
        ),
        [home] => {
            let name: String = seed[..16].iter().map(|byte| format!("{byte:02x}")).collect();
            let place = home.as_collection().resolve(&format!("{name}/"));
            Ok(place.expect("hexadecimal digits are a reference"))
        }
        _ => refuse(
            "destination_href_required",
            "The account has several calendar homes. Send the href that the Calendar shall have.",
        ),
    }
}

/// Makes sure that name and place are free.
fn free(found: &[CalendarDescriptor], name: &str, href: &Href) -> Outcome<()> {
    let name = name.trim().to_lowercase();
    let called = |calendar: &&CalendarDescriptor| {
        let own = calendar.display_name.as_deref();
        own.is_some_and(|own| own.trim().to_lowercase() == name)
    };
    let taken = |code, violation| {
        let mut error = Error::violations(Phase::Execution, vec![violation]);
        error.code = code;
        Err(error)
    };
    if found.iter().any(|calendar| called(&calendar)) {
        let text = "There is a Calendar of that name. Nothing was made. Choose another name.";
        return taken(Code::Conflict, violation("/displayName", "display_name_taken", text));
    }
    if found.iter().any(|calendar| href_of(calendar).key() == href.key()) {
        let text = "There is a Calendar at that href. Nothing was made.";
        return taken(
            Code::DestinationConflict,
            violation(DESTINATION, "destination_occupied", text),
        );
    }
    Ok(())
}

/// What is not as it was asked for, by the names of the arguments.
fn differences(asked: &CreateCalendar, seen: &CalendarDescriptor) -> Vec<&'static str> {
    let takes = |kind: Kind, capability: &EntityKindCapability| match capability.state {
        CapabilityState::Unknown => true,
        CapabilityState::Advertised => asked.kinds.contains(&kind),
        CapabilityState::NotAdvertised => !asked.kinds.contains(&kind),
    };
    let color = asked.color.as_ref().map(|color| color.to_ascii_uppercase());
    let checks = [
        (
            "displayName",
            seen.display_name.as_deref() == Some(asked.display_name.trim()),
        ),
        (
            "entityKinds",
            takes(Kind::Event, &seen.entity_kinds.event) && takes(Kind::Todo, &seen.entity_kinds.todo),
        ),
        ("color", color.is_none() || seen.color == color),
        ("order", asked.order.is_none() || seen.order == asked.order),
    ];
    let wrong = checks.into_iter().filter(|(_, holds)| !holds);
    wrong.map(|(name, _)| name).collect()
}

/// Whether a 207 refuses: it names a property that was not set (RFC 4791, 5.3.1.2: then nothing is made).
fn refuses(told: &[(Name, u16)]) -> bool {
    told.iter().any(|(_, status)| is_refusal(*status))
}

/// Refusals that are about what is at the place.
fn about_the_place(status: StatusCode) -> bool {
    matches!(status.as_u16(), 403 | 405 | 409 | 412 | 423)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Accepted,
    Refused,
    /// 207 with refused properties.
    Rejected,
    Doubt,
}

/// What a listing shows at the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum There {
    AsMeant,
    Otherwise,
    Absent,
    Unseen,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Made,
    /// Made, and not as it was meant.
    Otherwise,
    /// The server says that it was made, and nothing shows it.
    Unverified,
    NotMade,
    Unknown,
}

/// Decides by the answer and by what is there. `own`: the place has a random name, so that nobody else makes anything
/// there. It was free before.
fn verdict(answer: Answer, there: There, own: bool) -> Verdict {
    match (answer, there) {
        (_, There::AsMeant) => Verdict::Made,
        (Answer::Accepted, There::Otherwise) => Verdict::Otherwise,
        (_, There::Otherwise) if own => Verdict::Otherwise,
        (Answer::Accepted, There::Absent | There::Unseen) => Verdict::Unverified,
        (Answer::Refused, There::Otherwise | There::Absent | There::Unseen) => Verdict::NotMade,
        (Answer::Rejected, There::Absent) => Verdict::NotMade,
        (Answer::Rejected, There::Otherwise | There::Unseen) => Verdict::Unknown,
        (Answer::Doubt, There::Otherwise | There::Absent | There::Unseen) => Verdict::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Settings;
    use crate::account::credential::Credential;

    #[test]
    fn a_calendar_is_made_as_far_as_answer_and_listing_prove_it() {
        use There::{Absent, AsMeant, Otherwise, Unseen};
        use Verdict::{Made, NotMade, Unknown, Unverified};
        // For each answer: as meant, otherwise at a name of ours, otherwise at a given name, absent, unseen.
        for (answer, expected) in [
            (
                Answer::Accepted,
                [Made, Verdict::Otherwise, Verdict::Otherwise, Unverified, Unverified],
            ),
            (Answer::Refused, [Made, Verdict::Otherwise, NotMade, NotMade, NotMade]),
            (Answer::Rejected, [Made, Verdict::Otherwise, Unknown, NotMade, Unknown]),
            (Answer::Doubt, [Made, Verdict::Otherwise, Unknown, Unknown, Unknown]),
        ] {
            let rows = [
                (AsMeant, true),
                (Otherwise, true),
                (Otherwise, false),
                (Absent, true),
                (Unseen, true),
            ];
            assert_eq!(
                rows.map(|(there, own)| verdict(answer, there, own)),
                expected,
                "{answer:?}"
            );
        }
    }

    #[test]
    fn a_place_is_directly_below_a_home_and_in_scope() {
        let href = |text: &str| Href::parse(text).unwrap();
        let account = |scope: &[&str]| {
            let mut settings = Settings::new(href("https://x/"), Credential::None);
            settings.calendar_hrefs = scope.iter().map(|text| href(text)).collect();
            Account::new(settings).unwrap()
        };
        let homes = [href("https://x/ana/"), href("https://x/team/")];
        let told = |account: &Account, homes: &[Href], wanted: Option<&str>| {
            let wanted = wanted.map(href);
            let found = place(account, homes, wanted.as_ref(), [0xab; 32]);
            found
                .map(|href| href.as_str().to_owned())
                .map_err(|error| error.violations[0].code)
        };
        let open = account(&[]);
        let fresh = format!("https://x/ana/{}/", "ab".repeat(16));
        assert_eq!(told(&open, &homes[..1], None), Ok(fresh));
        assert_eq!(told(&open, &homes, None), Err("destination_href_required"));
        assert_eq!(told(&open, &[], None), Err("destination_href_required"));
        assert_eq!(
            told(&open, &homes, Some("https://x/team/a/")),
            Ok("https://x/team/a/".into())
        );
        for bad in [
            "https://x/team/a",
            "https://x/team/",
            "https://x/team/a/b/",
            "https://x/other/a/",
        ] {
            assert_eq!(told(&open, &homes, Some(bad)), Err("destination_href_invalid"), "{bad}");
        }
        let narrow = account(&["https://x/ana/a/"]);
        assert_eq!(told(&narrow, &homes, None), Err("destination_href_required_by_scope"));
        assert_eq!(
            told(&narrow, &homes, Some("https://x/ana/b/")),
            Err("outside_configured_scope")
        );
        assert_eq!(
            told(&narrow, &homes, Some("https://x/ana/a/")),
            Ok("https://x/ana/a/".into())
        );
    }
}

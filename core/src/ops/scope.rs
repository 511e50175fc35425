//! Which Calendars an operation works on.

use crate::account::Account;
use crate::calendar::{CalendarDescriptor, CapabilityState};
use crate::exchange::Channel;
use crate::href::{Href, HrefFault};
use crate::ical::entity::Kind;
use crate::ops::discover::{Discovery, discover};
use crate::outcome::{Candidate, Code, Diagnostic, Error, Outcome, Phase, Violation};

/// One Calendar, as a caller names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CalendarChoice {
    /// By display name: exactly, or ignoring case if that fits just one.
    Name(String),
    /// By absolute URL.
    Href(String),
}

/// The Calendar that something new goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// The configured default Calendar for its kind.
    Default,
    /// One Calendar.
    Selected(CalendarChoice),
}

/// The Calendars of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The configured default Calendars: Events from one, To-dos from the other.
    Default,
    /// One Calendar.
    Selected(CalendarChoice),
    /// All Calendars in the configured scope.
    All,
}

/// A Calendar to query, and for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The collection.
    pub calendar: Href,
    /// The kinds to ask for.
    pub kinds: Vec<Kind>,
}

/// The Calendars of a scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Targets {
    /// Those that take a kind that was asked for.
    pub calendars: Vec<Target>,
    /// What discovery remarked, and a kind that the selected Calendar does not take.
    pub diagnostics: Vec<Diagnostic>,
}

/// Finds the Calendars of a scope. A Calendar that is configured by href is taken at its word, without a request.
///
/// # Errors
/// Discovery's errors; `ambiguous` with candidates; `not_found`; `outside_scope`; `invalid_input` for a bad href.
pub async fn resolve(channel: &Channel<'_>, scope: &Scope, kinds: &[Kind]) -> Outcome<Targets> {
    let settings = channel.account.settings();
    let wanted = match scope {
        Scope::Selected(CalendarChoice::Href(text)) => Some(
            address(channel.account, text, "/scope/calendar/href")?
                .as_collection()
                .key(),
        ),
        Scope::Selected(CalendarChoice::Name(_)) | Scope::Default | Scope::All => None,
    };
    if let Some(wanted) = &wanted {
        if let Some(exact) = settings
            .calendar_hrefs
            .iter()
            .find(|configured| configured.key() == *wanted)
        {
            return Ok(Targets {
                calendars: vec![Target {
                    calendar: exact.clone(),
                    kinds: kinds.to_vec(),
                }],
                diagnostics: Vec::new(),
            });
        }
        if !settings.calendar_hrefs.is_empty() {
            return Err(outside());
        }
    }
    let Discovery {
        calendars,
        mut diagnostics,
    } = discover(channel).await?;
    let targets: Vec<Target> = match scope {
        Scope::All => calendars.iter().map(|calendar| target(calendar, kinds)).collect(),
        Scope::Selected(CalendarChoice::Href(_)) => {
            let found = calendars
                .iter()
                .find(|calendar| Some(href_of(calendar).key()) == wanted);
            vec![target(found.ok_or_else(not_discovered)?, kinds)]
        }
        Scope::Selected(CalendarChoice::Name(name)) => vec![target(named(&calendars, name)?, kinds)],
        Scope::Default => defaults(channel.account, &calendars, kinds)?,
    };
    if let (Scope::Selected(_), [target]) = (scope, targets.as_slice()) {
        let refused = kinds.iter().filter(|kind| !target.kinds.contains(kind));
        diagnostics.extend(refused.map(|kind| not_advertised(*kind)));
    }
    let calendars = targets.into_iter().filter(|target| !target.kinds.is_empty()).collect();
    Ok(Targets { calendars, diagnostics })
}

/// The Calendar that something new of this kind goes to. One that is configured by href is taken at its word, without a
/// request.
///
/// # Errors
/// Those of [`resolve`], with violations below `/destination`; `unsupported_capability` if the Calendar says that it
/// does not take the kind.
pub async fn destination(channel: &Channel<'_>, wanted: &Destination, kind: Kind) -> Outcome<Href> {
    if let Some(exact) = configured_destination(channel.account, wanted)? {
        return Ok(exact);
    }
    let found = discover(channel).await?.calendars;
    destination_among(channel.account, &found, wanted, kind)
}

/// The Calendar that something goes to, if it is configured by href; `None` if it has to be discovered.
///
/// # Errors
/// A bad href, or one outside of what is configured.
pub(crate) fn configured_destination(account: &Account, wanted: &Destination) -> Outcome<Option<Href>> {
    let Destination::Selected(CalendarChoice::Href(text)) = wanted else {
        return Ok(None);
    };
    let configured = &account.settings().calendar_hrefs;
    let key = address(account, text, "/destination/calendar/href")?
        .as_collection()
        .key();
    match configured.iter().find(|href| href.key() == key) {
        Some(exact) => Ok(Some(exact.clone())),
        None if configured.is_empty() => Ok(None),
        None => Err(outside()),
    }
}

/// The Calendar that something of this kind goes to, among those that were discovered.
///
/// # Errors
/// Those of [`destination`] but for discovery's.
pub(crate) fn destination_among(
    account: &Account,
    found: &[CalendarDescriptor],
    wanted: &Destination,
    kind: Kind,
) -> Outcome<Href> {
    let settings = account.settings();
    match wanted {
        Destination::Selected(CalendarChoice::Name(name)) => accepting(named(found, name)?, kind),
        Destination::Selected(CalendarChoice::Href(text)) => {
            let key = address(account, text, "/destination/calendar/href")?
                .as_collection()
                .key();
            let found = found.iter().find(|calendar| href_of(calendar).key() == key);
            accepting(found.ok_or_else(not_discovered)?, kind)
        }
        Destination::Default => {
            let (name, text) = match kind {
                Kind::Event => (
                    &settings.default_event_calendar,
                    "No default Calendar for Events is configured (CALDAV_DEFAULT_EVENT_CALENDAR_NAME). Select a Calendar by name or href.",
                ),
                Kind::Todo => (
                    &settings.default_todo_calendar,
                    "No default Calendar for To-dos is configured (CALDAV_DEFAULT_TODO_CALENDAR_NAME). Select a Calendar by name or href.",
                ),
            };
            let unset = || Error::new(Code::NotFound, Phase::SelectionDiscoveryCapability, text);
            accepting(named(found, name.as_ref().ok_or_else(unset)?)?, kind)
        }
    }
}

/// The Calendar, if it does not say that it takes none of a kind.
pub(crate) fn accepting(calendar: &CalendarDescriptor, kind: Kind) -> Outcome<Href> {
    let Target { calendar, kinds } = target(calendar, &[kind]);
    if !kinds.is_empty() {
        return Ok(calendar);
    }
    let violation = Violation {
        pointer: "/destination".into(),
        code: "entity_kind_not_advertised",
        message: Some("That Calendar does not take this kind. Choose one whose entityKinds has it.".into()),
    };
    let mut error = Error::violations(Phase::SelectionDiscoveryCapability, vec![violation]);
    error.code = Code::UnsupportedCapability;
    Err(error)
}

/// The one Calendar at an href that a caller gave. One that is configured by href is taken at its word, without a request.
///
/// # Errors
/// Discovery's errors; `not_found`; `outside_scope`; `invalid_input` for a bad href, with a violation at `pointer`.
pub async fn calendar(channel: &Channel<'_>, text: &str, pointer: &str) -> Outcome<Href> {
    let asked = address(channel.account, text, pointer)?.as_collection().key();
    let configured = &channel.account.settings().calendar_hrefs;
    if let Some(exact) = configured.iter().find(|configured| configured.key() == asked) {
        return Ok(exact.clone());
    }
    if !configured.is_empty() {
        return Err(outside());
    }
    let found = discover(channel).await?.calendars;
    let mut hrefs = found.iter().map(href_of);
    hrefs.find(|href| href.key() == asked).ok_or_else(not_discovered)
}

fn not_discovered() -> Box<Error> {
    Error::new(
        Code::NotFound,
        Phase::SelectionDiscoveryCapability,
        "No Calendar was discovered at that href. List the Calendars to see which there are.",
    )
}

/// The Calendar with this display name: an exact match, else one that differs in case only.
///
/// # Errors
/// `ambiguous` with all that fit, or `not_found`.
pub fn named<'a>(calendars: &'a [CalendarDescriptor], name: &str) -> Outcome<&'a CalendarDescriptor> {
    let name = name.trim();
    let matching = |same: &dyn Fn(&str) -> bool| -> Vec<&'a CalendarDescriptor> {
        calendars
            .iter()
            .filter(|calendar| calendar.display_name.as_deref().is_some_and(|own| same(own.trim())))
            .collect()
    };
    let mut found = matching(&|own| own == name);
    if found.is_empty() {
        found = matching(&|own| own.to_lowercase() == name.to_lowercase());
    }
    match found.as_slice() {
        [one] => Ok(one),
        [] => Err(Error::new(
            Code::NotFound,
            Phase::SelectionDiscoveryCapability,
            "No Calendar has that display name. List the Calendars to see their names.",
        )),
        several => {
            let hrefs: Vec<&str> = several
                .iter()
                .take(8)
                .map(|calendar| calendar.calendar.href.as_str())
                .collect();
            let mut error = Error::new(
                Code::Ambiguous,
                Phase::SelectionDiscoveryCapability,
                format!(
                    "Several Calendars have that display name. Select one by href: {}",
                    hrefs.join(" , ")
                ),
            );
            error.candidates = several.iter().take(32).map(|calendar| candidate(calendar)).collect();
            Err(error)
        }
    }
}

fn defaults(account: &Account, calendars: &[CalendarDescriptor], kinds: &[Kind]) -> Outcome<Vec<Target>> {
    let settings = account.settings();
    let mut targets = Vec::new();
    for kind in kinds {
        let name = match kind {
            Kind::Event => &settings.default_event_calendar,
            Kind::Todo => &settings.default_todo_calendar,
        };
        if let Some(name) = name {
            targets.push(target(named(calendars, name)?, &[*kind]));
        }
    }
    if targets.is_empty() {
        return Err(Error::new(
            Code::NotFound,
            Phase::SelectionDiscoveryCapability,
            "No default Calendar is configured (CALDAV_DEFAULT_EVENT_CALENDAR_NAME, CALDAV_DEFAULT_TODO_CALENDAR_NAME). Select a Calendar, or use the mode all.",
        ));
    }
    Ok(targets)
}

fn not_advertised(kind: Kind) -> Diagnostic {
    let text = match kind {
        Kind::Event => "The Calendar says that it takes no Events, so it was not asked for any.",
        Kind::Todo => "The Calendar says that it takes no To-dos, so it was not asked for any.",
    };
    Diagnostic::warning("entity_kind_not_advertised", text)
}

fn target(calendar: &CalendarDescriptor, kinds: &[Kind]) -> Target {
    let takes = |kind: &Kind| {
        let capability = match kind {
            Kind::Event => &calendar.entity_kinds.event,
            Kind::Todo => &calendar.entity_kinds.todo,
        };
        capability.state != CapabilityState::NotAdvertised
    };
    Target {
        calendar: href_of(calendar),
        kinds: kinds.iter().copied().filter(takes).collect(),
    }
}

pub(crate) fn href_of(calendar: &CalendarDescriptor) -> Href {
    Href::parse(&calendar.calendar.href).expect("a descriptor holds the text of an Href")
}

fn candidate(calendar: &CalendarDescriptor) -> Candidate {
    Candidate {
        calendar: calendar.calendar.clone(),
        display_name: calendar.display_name.clone(),
        entity_kinds: calendar.entity_kinds.clone(),
    }
}

fn outside() -> Box<Error> {
    Error::new(
        Code::OutsideScope,
        Phase::OriginScopeAuthorization,
        "That href is outside the Calendars that CALDAV_CALENDAR_HREFS allows.",
    )
}

/// Reads the href of a resource that a caller gave.
///
/// # Errors
/// Those of [`address`], and a violation where it is the href of a collection.
pub fn member_address(account: &Account, text: &str, pointer: &str) -> Outcome<Href> {
    let href = address(account, text, pointer)?;
    if !href.as_str().ends_with('/') {
        return Ok(href);
    }
    let violation = Violation {
        pointer: pointer.to_owned(),
        code: "href_not_canonical",
        message: Some("Send the URL of a resource, without a slash at the end.".to_owned()),
    };
    Err(Error::violations(Phase::OriginScopeAuthorization, vec![violation]))
}

/// Reads an href that a caller gave, and checks that it is one that may be asked at all.
///
/// # Errors
/// `invalid_input` with one violation at `pointer`, or `outside_scope` for a foreign origin.
pub fn address(account: &Account, text: &str, pointer: &str) -> Outcome<Href> {
    let violation = |code: &'static str, message: &str| {
        let violation = Violation {
            pointer: pointer.to_owned(),
            code,
            message: Some(message.to_owned()),
        };
        Error::violations(Phase::OriginScopeAuthorization, vec![violation])
    };
    let href = Href::parse(text).map_err(|fault| match fault {
        HrefFault::NotAbsolute => violation("href_not_absolute", "Send an absolute URL, as results give it."),
        HrefFault::SchemeUnsupported => violation("href_scheme_unsupported", "Send an http, https or file URL."),
        HrefFault::HasUserinfo => violation("href_has_userinfo", "Send the URL without a user name."),
        HrefFault::HasQueryOrFragment => violation("href_has_query_or_fragment", "Send the URL without ? and #."),
        HrefFault::Malformed => violation("href_not_canonical", "Send the URL exactly as results give it."),
    })?;
    let dots = |segment: &str| matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
    if href.as_str() != text && href.as_str().trim_end_matches('/') != text || href.path().split('/').any(dots) {
        return Err(violation(
            "href_not_canonical",
            "Send the URL exactly as results give it.",
        ));
    }
    if !account.trusts(&href) {
        let mut error = violation(
            "href_foreign_origin",
            "That URL belongs to another server than the account's.",
        );
        error.code = Code::OutsideScope;
        return Err(error);
    }
    Ok(href)
}

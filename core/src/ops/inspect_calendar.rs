//! What one Calendar says about itself: PROPFIND of depth 0, and OPTIONS.

use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::Bytes;
use http::header::USER_AGENT;
use http::{Method, Request, StatusCode};
use serde::Serialize;

use crate::account::Account;
use crate::calendar::CapabilityState;
use crate::dav::compliance::automatic_scheduling;
use crate::dav::descriptor;
use crate::dav::multistatus::Member;
use crate::dav::name::{Name, ProtocolName};
use crate::dav::propfind::{INSPECTED, inspection_body};
use crate::env::Env;
use crate::exchange::fault::{Fault, refused};
use crate::exchange::{Channel, Rules, protocol};
use crate::flow::{Flow, Io};
use crate::href::Href;
use crate::ical::document::Document;
use crate::ical::value::lossy;
use crate::machine::{Failure, FailureKind, Machine};
use crate::operation::Operation;
use crate::ops::discover::{AGENT, read, request};
use crate::ops::scope;
use crate::outcome::{Code, Error, Outcome, Phase};

/// The most time zones that are named.
const MAX_ZONES: usize = 16;
/// The longest name of a time zone, in bytes.
const MAX_ZONE: usize = 255;

/// Asks what is known of one Calendar.
#[derive(Clone, Debug)]
pub struct InspectCalendar {
    /// Absolute URL of the Calendar, as results give it.
    pub calendar_href: String,
}

/// What the server told. Serializes as the success of `calendars.inspect`, without its discriminator.
///
/// All of it is evidence: a report that is advertised may fail, and one that is not may work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Inspection {
    /// Where it is.
    pub calendar_href: Href,
    /// `DAV:displayname`.
    pub display_name: Option<String>,
    /// `CALDAV:calendar-description`.
    pub description: Option<String>,
    /// The language tag of that description.
    pub description_language: Option<String>,
    /// `DAV:description`.
    pub dav_description: Option<String>,
    /// `#RRGGBB`.
    pub color: Option<String>,
    /// Apple `calendar-order`.
    pub order: Option<u32>,
    /// Whether `DAV:supported-report-set` was given.
    pub report_support: Support,
    /// The reports in it.
    pub reports: Vec<ProtocolName>,
    /// Whether `DAV:current-user-privilege-set` was given.
    pub privilege_support: Support,
    /// The privileges in it.
    pub privileges: Vec<ProtocolName>,
    /// Bounds of RFC 4791, 5.2.5 to 5.2.9.
    pub limits: AdvertisedLimits,
    /// The TZIDs in `CALDAV:calendar-timezone`.
    pub time_zone_ids: Vec<String>,
    /// How each property that was asked for was answered.
    pub properties: Vec<PropertyObservation>,
    /// Whether the server sends invitations by itself.
    pub scheduling: SchedulingObservation,
    /// CalendarServer `getctag`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change_tag: Option<String>,
}

/// Whether a property was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Support {
    /// With status 200.
    Available,
    /// With another status.
    Unavailable,
    /// The answer does not mention it.
    Unknown,
}

/// Bounds that the server names; absent where it names none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AdvertisedLimits {
    /// In bytes.
    pub maximum_resource_bytes: Option<u64>,
    /// Occurrences of one entity.
    pub maximum_instances: Option<u64>,
    /// Attendees of one occurrence.
    pub maximum_attendees_per_instance: Option<u64>,
    /// The earliest time, as the server writes it.
    pub minimum_date_time: Option<String>,
    /// The latest time, as the server writes it.
    pub maximum_date_time: Option<String>,
}

/// How one property was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PropertyObservation {
    /// Which.
    #[serde(flatten)]
    pub name: ProtocolName,
    /// The status of its propstat; absent where the answer does not mention it.
    pub status_code: Option<u16>,
}

/// What OPTIONS tells about automatic scheduling (RFC 6638).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SchedulingObservation {
    /// Whether it is advertised.
    pub state: CapabilityState,
    /// The status of the answer, if one came.
    pub status_code: Option<u16>,
}

impl Operation for InspectCalendar {
    type Outcome = Outcome<Inspection>;

    fn start(self, env: Env, account: &Arc<Account>) -> impl Machine<Output = Self::Outcome> + Send + 'static + use<> {
        let account = Arc::clone(account);
        Flow::new(env.now, move |io| async move {
            inspect(&io, &account, &env, &self.calendar_href).await
        })
    }
}

async fn inspect(io: &Io, account: &Account, env: &Env, href: &str) -> Outcome<Inspection> {
    let channel = Channel::reading(io, account, env);
    io.phase("discovery");
    let calendar = scope::calendar(&channel, href, "/calendarHref").await?;
    io.phase("fetch");
    let member = described(&channel, &calendar).await?;
    // Asked for only after the server has shown that it takes the credentials: a wrong password is not tried twice.
    let scheduling = scheduling(&channel, &calendar).await?;
    Ok(observed(&member, calendar, scheduling))
}

/// The answer about the Calendar itself.
pub(crate) async fn described(channel: &Channel<'_>, calendar: &Href) -> Outcome<Member> {
    let request = request("PROPFIND", "0", inspection_body());
    let answer = channel
        .send(calendar, request, Rules::LISTING)
        .await
        .map_err(|fault| channel.error(&fault))?;
    let own = answer.url.as_collection().key();
    let mut found = None;
    read(&answer, |member| {
        let href = answer.url.resolve(&member.href);
        if href.is_some_and(|href| href.as_collection().key() == own) {
            found = Some(member);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    let member =
        found.ok_or_else(|| protocol("The CalDAV server's answer is not about the Calendar that was asked."))?;
    if let Some(status) = member.status.and_then(|status| StatusCode::from_u16(status).ok())
        && !status.is_success()
    {
        return Err(refused(status));
    }
    match member.props.resource_type {
        Some(kinds) if !kinds.contains(Name::Calendar) => Err(Error::new(
            Code::NotFound,
            Phase::SelectionDiscoveryCapability,
            "What is at that href is no Calendar. List the Calendars to see which there are.",
        )),
        _ => Ok(member),
    }
}

/// Asks a Calendar whether its server sends invitations (RFC 6638, 2). A failure leaves that unknown.
///
/// # Errors
/// If the operation was canceled.
pub async fn scheduling(channel: &Channel<'_>, calendar: &Href) -> Outcome<SchedulingObservation> {
    let request = Request::builder()
        .method(Method::OPTIONS)
        .header(USER_AGENT, AGENT)
        .body(Bytes::new())
        .expect("static headers are valid");
    let (state, status_code) = match channel.send(calendar, request, Rules::LISTING).await {
        Ok(answer) => {
            let status = answer.response.status();
            let told = status
                .is_success()
                .then(|| automatic_scheduling(answer.response.headers()));
            // HTTP has none beyond 599 (RFC 9110, 15).
            let code = Some(status.as_u16()).filter(|code| *code < 600);
            (told.unwrap_or(CapabilityState::Unknown), code)
        }
        Err(
            fault @ Fault::Failure(Failure {
                kind: FailureKind::Canceled,
                ..
            }),
        ) => return Err(channel.error(&fault)),
        Err(_) => (CapabilityState::Unknown, None),
    };
    Ok(SchedulingObservation { state, status_code })
}

/// What a described member and the answer to OPTIONS say together.
pub(crate) fn observed(member: &Member, calendar: Href, scheduling: SchedulingObservation) -> Inspection {
    let props = &member.props;
    let descriptor = descriptor::describe(props, &calendar);
    let status = |name| {
        if props.given.contains(name) {
            Some(200)
        } else {
            member.refused(name)
        }
    };
    let support = |name| match status(name) {
        Some(200) => Support::Available,
        Some(_) => Support::Unavailable,
        None => Support::Unknown,
    };
    let name = props
        .display_name
        .as_deref()
        .map(str::trim)
        .filter(|name| !name.is_empty());
    Inspection {
        calendar_href: calendar,
        display_name: name.map(str::to_owned),
        description_language: props
            .description_language
            .clone()
            .filter(|_| descriptor.description.is_some()),
        description: descriptor.description,
        dav_description: descriptor.dav_description,
        color: descriptor.color,
        order: descriptor.order,
        report_support: support(Name::SupportedReportSet),
        reports: props.report_names.clone(),
        privilege_support: support(Name::CurrentUserPrivilegeSet),
        privileges: props.privilege_names.clone(),
        limits: AdvertisedLimits {
            maximum_resource_bytes: props.max_resource_size,
            maximum_instances: props.max_instances,
            maximum_attendees_per_instance: props.max_attendees,
            minimum_date_time: props.min_date_time.clone(),
            maximum_date_time: props.max_date_time.clone(),
        },
        time_zone_ids: props.calendar_timezone.as_deref().map(zones).unwrap_or_default(),
        properties: INSPECTED
            .iter()
            .map(|name| PropertyObservation {
                name: ProtocolName {
                    namespace_uri: name.space().uri().to_owned(),
                    local_name: name.local().to_owned(),
                },
                status_code: status(*name),
            })
            .collect(),
        scheduling,
        change_tag: descriptor.change_tag,
    }
}

/// The TZIDs of the VTIMEZONEs in a text, in order, each once.
fn zones(text: &str) -> Vec<String> {
    let Ok(document) = Document::parse(Bytes::copy_from_slice(text.as_bytes())) else {
        return Vec::new();
    };
    let mut found: Vec<String> = Vec::new();
    for calendar in document.roots() {
        for zone in calendar.children().filter(|component| component.is("VTIMEZONE")) {
            let Some(name) = zone.first("TZID").map(|name| lossy(name.value()).trim().to_owned()) else {
                continue;
            };
            if found.len() < MAX_ZONES && (1..=MAX_ZONE).contains(&name.len()) && !found.contains(&name) {
                found.push(name);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dav::multistatus;
    use crate::dav::xml::Limits;

    fn inspected(properties: &str, refused: &str) -> Inspection {
        let body = format!(
            "<D:multistatus xmlns:D='DAV:' xmlns:C='urn:ietf:params:xml:ns:caldav' xmlns:X='urn:x' xml:lang='de'>\
             <D:response><D:href>/c/</D:href><D:propstat><D:prop>{properties}</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>\
             <D:propstat><D:prop>{refused}</D:prop><D:status>HTTP/1.1 403 Forbidden</D:status></D:propstat></D:response></D:multistatus>"
        );
        let mut found = None;
        multistatus::read(207, None, body.as_bytes(), &Limits::default(), &mut |member| {
            found = Some(member);
            ControlFlow::Continue(())
        })
        .unwrap();
        let scheduling = SchedulingObservation {
            state: CapabilityState::Unknown,
            status_code: None,
        };
        observed(&found.unwrap(), Href::parse("https://x/c/").unwrap(), scheduling)
    }

    #[test]
    fn names_of_any_namespace_are_told_as_they_are() {
        let found = inspected(
            "<D:supported-report-set><D:supported-report><D:report><C:free-busy-query/></D:report></D:supported-report>\
             <D:supported-report><D:report><X:mine/><y xmlns='urn:y'/></D:report></D:supported-report></D:supported-report-set>",
            "<D:current-user-privilege-set/>",
        );
        let names: Vec<_> = found
            .reports
            .iter()
            .map(|name| (&*name.namespace_uri, &*name.local_name))
            .collect();
        let expected = [
            ("urn:ietf:params:xml:ns:caldav", "free-busy-query"),
            ("urn:x", "mine"),
            ("urn:y", "y"),
        ];
        assert_eq!(names, expected);
        assert_eq!(found.report_support, Support::Available);
        assert_eq!(found.privilege_support, Support::Unavailable);
        let status = |local: &str| {
            let found = found.properties.iter().find(|it| it.name.local_name == local);
            found.unwrap().status_code
        };
        assert_eq!(status("supported-report-set"), Some(200));
        assert_eq!(status("current-user-privilege-set"), Some(403));
        assert_eq!(status("max-instances"), None);
    }

    #[test]
    fn a_description_has_the_language_that_is_in_force() {
        let description =
            |attribute: &str| format!("<C:calendar-description {attribute}>Text</C:calendar-description>");
        for (properties, expected) in [
            (description("xml:lang='en-GB'"), Some("en-GB")),
            (description(""), Some("de")),
            (description("xml:lang=''"), None),
            (
                format!("<D:displayname xml:lang='fr'>x</D:displayname>{}", description("")),
                Some("de"),
            ),
            ("<C:calendar-description/>".to_owned(), None),
        ] {
            assert_eq!(
                inspected(&properties, "").description_language.as_deref(),
                expected,
                "{properties}"
            );
        }
    }

    #[test]
    fn limits_and_zones_are_read_or_left_out() {
        let found = inspected(
            "<C:max-resource-size>102400 </C:max-resource-size><C:max-instances>-1</C:max-instances>\
             <C:min-date-time> 19000101T000000Z</C:min-date-time><C:max-date-time/>\
             <C:calendar-timezone>BEGIN:VCALENDAR\nBEGIN:VTIMEZONE\nTZID:A\nEND:VTIMEZONE\nBEGIN:VTIMEZONE\nTZID:A\nEND:VTIMEZONE\n\
             BEGIN:VTIMEZONE\nTZID:B/\n C\nEND:VTIMEZONE\nEND:VCALENDAR\n</C:calendar-timezone>",
            "",
        );
        let expected = AdvertisedLimits {
            maximum_resource_bytes: Some(102_400),
            minimum_date_time: Some("19000101T000000Z".into()),
            ..AdvertisedLimits::default()
        };
        assert_eq!(found.limits, expected);
        assert_eq!(found.time_zone_ids, ["A", "B/C"]);
    }
}

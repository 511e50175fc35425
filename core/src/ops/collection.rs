//! What changes of Calendars have in common: arguments, and the answers that tell about each property.

use http::StatusCode;
use http::header::CONTENT_TYPE;

use crate::dav::error_body::ErrorBody;
use crate::dav::name::Name;
use crate::dav::proppatch::outcomes;
use crate::exchange::Answer;
use crate::exchange::dispatch::{Dispatch, Doubt, refusal};
use crate::ical::edit::create::PRODID;
use crate::ical::encode::{ContentLine, LineEnd, NewComponent};
use crate::ical::vtimezone::{Horizon, vtimezone};
use crate::outcome::{Error, Outcome, Phase, Violation};

/// The longest display name, in characters.
const MAX_NAME: usize = 256;
/// The year that a `calendar-timezone` is exact from.
const FROM_YEAR: i16 = 1970;

/// An argument that is wrong.
pub(crate) fn violation(pointer: impl Into<String>, code: &'static str, message: &str) -> Violation {
    Violation {
        pointer: pointer.into(),
        code,
        message: Some(message.into()),
    }
}

/// Arguments, if nothing is wrong with them.
pub(crate) fn valid(found: Vec<Violation>) -> Outcome<()> {
    match found.is_empty() {
        true => Ok(()),
        false => Err(Error::violations(Phase::SchemaLexicalDiscriminator, found)),
    }
}

/// What is wrong with a display name.
pub(crate) fn check_name(name: &str, pointer: &str) -> Option<Violation> {
    if name.trim().is_empty() {
        return Some(violation(
            pointer,
            "display_name_blank",
            "A Calendar needs a name that can be read.",
        ));
    }
    let long = name.chars().count() > MAX_NAME;
    long.then(|| {
        violation(
            pointer,
            "display_name_too_long",
            "Send a name of at most 256 characters.",
        )
    })
}

/// What is wrong with a colour.
pub(crate) fn check_color(color: &str, pointer: &str) -> Option<Violation> {
    let digits = color.strip_prefix('#').unwrap_or_default();
    let legal = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    (!legal).then(|| violation(pointer, "color_invalid", "Send a colour as #RRGGBB."))
}

/// What is wrong with a place in the order.
pub(crate) fn check_order(order: u32, pointer: &str) -> Option<Violation> {
    let legal = i32::try_from(order).is_ok();
    (!legal).then(|| violation(pointer, "order_invalid", "Send a number from 0 to 2147483647."))
}

/// The `calendar-timezone` of an IANA zone (RFC 4791, 5.2.2): checked here, because several servers store anything and
/// fail over it later.
pub(crate) fn time_zone(name: &str, pointer: &str) -> Result<String, Violation> {
    let made = || {
        let mut calendar = NewComponent::new("VCALENDAR").ok()?;
        for (name, value) in [("VERSION", "2.0"), ("PRODID", PRODID)] {
            calendar.lines.push(ContentLine::new(name, &[], value).ok()?);
        }
        calendar
            .components
            .push(vtimezone(name, FROM_YEAR, Horizon::Through2100)?);
        let mut out = Vec::new();
        calendar.write(LineEnd::CrLf, &mut out);
        String::from_utf8(out).ok()
    };
    made().ok_or_else(|| {
        violation(
            pointer,
            "time_zone_invalid",
            "Send an IANA name, such as Europe/Berlin.",
        )
    })
}

/// What an answer of 207 says about the properties; `None` for any other answer, and for a body that cannot be read.
pub(crate) fn told(dispatch: &Dispatch) -> Option<Vec<(Name, u16)>> {
    let Dispatch::Unsure(Doubt::Answered(Answer { response, .. })) = dispatch else {
        return None;
    };
    if response.status() != StatusCode::MULTI_STATUS {
        return None;
    }
    let media = response.headers().get(CONTENT_TYPE);
    outcomes(media.and_then(|media| media.to_str().ok()), response.body()).ok()
}

/// Whether a property was refused.
pub(crate) fn is_refusal(status: u16) -> bool {
    status >= 300
}

/// The error of refused properties: its code by the first that is not refused because of another one.
pub(crate) fn rejected(told: &[(Name, u16)], prefix: &str) -> Box<Error> {
    let refused = || told.iter().filter(|(_, status)| is_refusal(*status));
    let first = refused().map(|(_, status)| *status).find(|status| *status != 424);
    let status = StatusCode::from_u16(first.unwrap_or(424)).unwrap_or(StatusCode::FAILED_DEPENDENCY);
    let mut error = refusal(status, &ErrorBody::default());
    let violations = refused().filter_map(|(name, status)| {
        let pointer = format!("{prefix}/{}", argument(*name)?);
        Some(match status {
            424 => violation(
                pointer,
                "property_not_applied",
                "Not set, because another property was refused.",
            ),
            _ => violation(
                pointer,
                "property_rejected",
                "The CalDAV server does not let this be set. Leave it out.",
            ),
        })
    });
    error.violations = violations.collect();
    error.violations.sort();
    error.violations.dedup();
    error
}

/// The name of the argument that a property has.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other property is ever set")]
fn argument(name: Name) -> Option<&'static str> {
    Some(match name {
        Name::Displayname => "displayName",
        Name::CalendarDescription => "description",
        Name::CalendarColor => "color",
        Name::CalendarOrder => "order",
        Name::CalendarTimezone => "timeZone",
        Name::SupportedCalendarComponentSet => "entityKinds",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Code;

    #[test]
    fn a_refusal_is_named_by_the_property_that_caused_it() {
        let told = [
            (Name::Displayname, 424),
            (Name::CalendarOrder, 403),
            (Name::CalendarColor, 200),
            (Name::Etag, 409),
        ];
        let error = rejected(&told, "/patch");
        assert_eq!(error.code, Code::UpstreamForbidden);
        let found: Vec<_> = error.violations.iter().map(|it| (&*it.pointer, it.code)).collect();
        let expected = [
            ("/patch/displayName", "property_not_applied"),
            ("/patch/order", "property_rejected"),
        ];
        assert_eq!(found, expected);
        assert_eq!(
            rejected(&[(Name::CalendarTimezone, 507)], "").code,
            Code::UpstreamUnavailable
        );
        assert_eq!(rejected(&[(Name::CalendarTimezone, 409)], "").code, Code::Conflict);
    }

    #[test]
    fn a_time_zone_is_one_vtimezone_to_2100() {
        let text = time_zone("Europe/Berlin", "/timeZone").unwrap();
        assert!(text.starts_with("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n"));
        assert_eq!(text.matches("BEGIN:VTIMEZONE\r\nTZID:Europe/Berlin\r\n").count(), 1);
        assert!(text.contains("UNTIL=21001231T235959Z"), "{text}");
        let refused = time_zone("Mars/Olympus", "/timeZone").unwrap_err();
        assert_eq!((&*refused.pointer, refused.code), ("/timeZone", "time_zone_invalid"));
    }

    #[test]
    fn arguments_are_checked_before_anything_is_sent() {
        let code = |found: Option<Violation>| found.map(|it| it.code);
        assert_eq!(code(check_name(" \t", "/n")), Some("display_name_blank"));
        assert_eq!(code(check_name(&"é".repeat(257), "/n")), Some("display_name_too_long"));
        assert_eq!(code(check_name(&"é".repeat(256), "/n")), None);
        for bad in ["", "#12345", "123456", "#12345G", "#12345678"] {
            assert_eq!(code(check_color(bad, "/c")), Some("color_invalid"), "{bad}");
        }
        assert_eq!(code(check_color("#11aaFF", "/c")), None);
        assert_eq!(code(check_order(2_147_483_647, "/o")), None);
        assert_eq!(code(check_order(2_147_483_648, "/o")), Some("order_invalid"));
    }
}

//! Octets of the caller that are to be stored as they are.

use bytes::Bytes;

use crate::ical::entity::Entity;
use crate::outcome::{Code, Error, Outcome, Phase};

/// The most octets of one resource.
const MAX_BODY: usize = 4 * 1024 * 1024;

/// Remarks on a resource that is valid all the same.
const HARMLESS: &[&str] = &[
    "completion_evidence_conflict",
    "completion_property_ambiguous",
    "completion_status_unknown",
    "completion_value_invalid",
    "floating_time_zone_hint",
    "inline_content_omitted",
    "timezone_reference_resolved_externally",
];

/// Reads octets that are going to be stored: one Event or To-do, whole and without a fault (RFC 4791, 4.1). A TZID
/// without a VTIMEZONE has to be one that everybody knows.
///
/// # Errors
/// `payload_too_large`, `invalid_calendar_data`.
pub(crate) fn document(body: &Bytes) -> Outcome<Entity> {
    if body.len() > MAX_BODY {
        return Err(Error::new(
            Code::PayloadTooLarge,
            Phase::AdmissionAndPayload,
            "The resource is larger than 4 MiB. Nothing was written.",
        ));
    }
    let invalid = |what: &str| {
        Err(Error::new(
            Code::InvalidCalendarData,
            Phase::CompleteResourceSemantics,
            format!(
                "The octets are no valid Calendar Object Resource: {what}. Nothing was written. Send one whole VCALENDAR with one Event or To-do and its overrides."
            ),
        ))
    };
    if std::str::from_utf8(body).is_err() {
        return invalid("not UTF-8");
    }
    let entity = Entity::read(body.clone());
    if let Some(reason) = entity.opaque() {
        return invalid(reason);
    }
    let fault = entity.diagnostics().iter().find(|it| !HARMLESS.contains(&it.code));
    if let Some(fault) = fault {
        return invalid(fault.code);
    }
    if entity.document().roots().any(|root| root.first("METHOD").is_some()) {
        return invalid("METHOD is for messages");
    }
    Ok(entity)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(lines: &str) -> String {
        format!(
            "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//EN\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20260101T000000Z\r\n\
             {lines}END:VEVENT\r\nEND:VCALENDAR\r\n"
        )
    }

    #[test]
    fn only_a_whole_and_valid_resource_is_taken() {
        let start = "DTSTART:20260504T080000Z\r\n";
        let read = |text: String| document(&Bytes::from(text)).err().map(|error| error.code);
        for lines in [
            start,
            "DTSTART;VALUE=DATE:20260504\r\n",
            "DTSTART;TZID=Europe/Berlin:20260504T080000\r\n",
            "DTSTART;TZID=W. Europe Standard Time:20260504T080000\r\n",
            "DTSTART:20260504T080000Z\r\nX-MINE;X-A=b:c\r\nATTACH;ENCODING=BASE64;VALUE=BINARY:AAAA\r\n",
        ] {
            assert_eq!(read(event(lines)), None, "{lines}");
        }
        for text in [
            String::new(),
            "text".into(),
            event("DTSTART;TZID=Nowhere/At all:20260504T080000\r\n"),
            event("DTSTART:20260504T080000Z\r\nDTEND:20260504T070000Z\r\n"),
            event("DTSTART:20260504T080000Z\r\nSUMMARY:a\r\nSUMMARY:b\r\n"),
            event(start).replace("UID:1\r\n", ""),
            event(start).replace("VERSION:2.0\r\n", ""),
            event(start).replace("VERSION:2.0", "VERSION:2.0\r\nMETHOD:REQUEST"),
            event(start).replace("END:VCALENDAR\r\n", ""),
            event(start).replace("VEVENT", "VJOURNAL"),
            event(start).repeat(2),
        ] {
            assert_eq!(read(text.clone()), Some(Code::InvalidCalendarData), "{text}");
        }
        let latin = [event(start).as_bytes(), b"\xe9"].concat();
        assert_eq!(
            document(&latin.into()).err().map(|it| it.code),
            Some(Code::InvalidCalendarData)
        );
        let long = event(&format!("{start}X-A:{}\r\n", "a".repeat(MAX_BODY)));
        assert_eq!(read(long), Some(Code::PayloadTooLarge));
    }
}

//! REQUEST-STATUS (RFC 5545, 3.8.8.3): what became of a scheduling request.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use super::{Malformed, separators, text};
use crate::ical::encode::escape_text;

/// The value of a REQUEST-STATUS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestStatus {
    /// Two or three numbers with full stops between them, as written, e.g. `2.0` or `3.1.1`. The first is the class: 1 is
    /// preliminary, 2 successful, 3 a client's fault, 4 a scheduling fault.
    pub code: String,
    /// For people; may be empty.
    pub description: String,
    /// The content that is at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exception_data: Option<String>,
}

impl RequestStatus {
    /// Reads `code;description` with or without `;exception data`. Semicolons in the exception data need no backslash.
    ///
    /// # Errors
    /// A code of other than two or three numbers, or nothing after it.
    pub fn parse(value: &[u8]) -> Result<Self, Malformed> {
        let mut stops = separators(value, b';');
        let (description, data) = (stops.next().ok_or(Malformed)?, stops.next());
        let code = std::str::from_utf8(value[..description].trim_ascii()).map_err(|_| Malformed)?;
        let part = |from: usize, to: Option<usize>| {
            let part = &value[from + 1..to.unwrap_or(value.len())];
            text(Cow::Borrowed(part)).into_owned()
        };
        is_code(code)
            .then(|| Self {
                code: code.to_owned(),
                description: part(description, data),
                exception_data: data.map(|from| part(from, None)),
            })
            .ok_or(Malformed)
    }
}

/// As a value of the property.
impl fmt::Display for RequestStatus {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{};{}", self.code, escape_text(&self.description))?;
        match &self.exception_data {
            Some(data) => write!(out, ";{}", escape_text(data)),
            None => Ok(()),
        }
    }
}

/// Whether text is a status code (RFC 5545, 3.8.8.3): two or three numbers with full stops between them.
#[must_use]
pub fn is_code(text: &str) -> bool {
    let number = |part: &str| !part.is_empty() && part.bytes().all(|octet| octet.is_ascii_digit());
    text.split('.').all(number) && (2..=3).contains(&text.split('.').count())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn status(code: &str, description: &str, data: Option<&str>) -> RequestStatus {
        RequestStatus {
            code: code.to_owned(),
            description: description.to_owned(),
            exception_data: data.map(str::to_owned),
        }
    }

    #[test]
    fn the_examples_of_the_rfc_are_read_and_written() {
        for (value, want) in [
            ("2.0;Success", status("2.0", "Success", None)),
            (
                "3.1;Invalid property value;DTSTART:96-Apr-01",
                status("3.1", "Invalid property value", Some("DTSTART:96-Apr-01")),
            ),
            (
                r"2.8; Success\, repeating event ignored. Scheduled as a single event.;RRULE:FREQ=WEEKLY\;INTERVAL=2",
                status(
                    "2.8",
                    " Success, repeating event ignored. Scheduled as a single event.",
                    Some("RRULE:FREQ=WEEKLY;INTERVAL=2"),
                ),
            ),
            (
                "4.1;Event conflict.  Date-time is busy.",
                status("4.1", "Event conflict.  Date-time is busy.", None),
            ),
            (
                "3.7;Invalid calendar user;ATTENDEE:mailto:jsmith@example.com",
                status(
                    "3.7",
                    "Invalid calendar user",
                    Some("ATTENDEE:mailto:jsmith@example.com"),
                ),
            ),
            ("10.11.12;", status("10.11.12", "", None)),
        ] {
            assert_eq!(RequestStatus::parse(value.as_bytes()), Ok(want.clone()));
            assert_eq!(want.to_string(), value);
        }
    }

    #[test]
    fn what_others_write_is_read() {
        for (value, want) in [
            (
                &b"2.8;a;RRULE:FREQ=WEEKLY;INTERVAL=2"[..],
                status("2.8", "a", Some("RRULE:FREQ=WEEKLY;INTERVAL=2")),
            ),
            (br"2.0;a\\;b\;\n", status("2.0", "a\\", Some("b;\n"))),
            (b" 2.0 ;\xff", status("2.0", "\u{fffd}", None)),
        ] {
            assert_eq!(RequestStatus::parse(value), Ok(want));
        }
    }

    #[test]
    fn codes_have_two_or_three_numbers() {
        for bad in [
            "", "2", "2.", ".0", "2.0.0.0", "2..0", "2.0.", "a.b", "+2.0", "2.0 x", "２.0",
        ] {
            let value = format!("{bad};Success");
            assert_eq!(RequestStatus::parse(value.as_bytes()), Err(Malformed), "{bad}");
        }
        assert_eq!(RequestStatus::parse(b"2.0"), Err(Malformed));
    }

    proptest! {
        #[test]
        fn written_ones_are_read(
            code in "[0-9]{1,3}(\\.[0-9]{1,3}){1,2}",
            description in "[^\r]{0,20}",
            data in prop::option::of("[^\r]{0,20}"),
        ) {
            let written = status(&code, &description, data.as_deref());
            prop_assert_eq!(RequestStatus::parse(written.to_string().as_bytes()), Ok(written));
        }

        #[test]
        fn no_octets_panic(octets in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = RequestStatus::parse(&octets);
        }
    }
}

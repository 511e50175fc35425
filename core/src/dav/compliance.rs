//! The `DAV` header (RFC 4918, 10.1).

use http::HeaderMap;

use crate::calendar::CapabilityState;

/// Whether an answer to OPTIONS advertises automatic scheduling (RFC 6638, 2). All header lines count. Without any, or
/// where one is malformed, nothing is known.
#[must_use]
pub fn automatic_scheduling(headers: &HeaderMap) -> CapabilityState {
    let mut state = CapabilityState::Unknown;
    for line in headers.get_all("dav") {
        let Ok(line) = line.to_str() else {
            return CapabilityState::Unknown;
        };
        for class in line.split(',').map(str::trim).filter(|class| !class.is_empty()) {
            if !is_token(class) && !is_coded_url(class) {
                return CapabilityState::Unknown;
            }
            if class.eq_ignore_ascii_case("calendar-auto-schedule") {
                state = CapabilityState::Advertised;
            } else if state == CapabilityState::Unknown {
                state = CapabilityState::NotAdvertised;
            }
        }
    }
    state
}

/// RFC 9110, 5.6.2.
fn is_token(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    text.bytes().all(fits)
}

/// RFC 4918, 10.1.
fn is_coded_url(text: &str) -> bool {
    let url = text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    url.is_some_and(|url| !url.is_empty() && !url.contains(['<', '>', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scheduling_is_told_by_all_header_lines() {
        use CapabilityState::{Advertised, NotAdvertised, Unknown};
        // The first four as they were seen: Radicale, DAViCal (two lines), Cyrus, SOGo.
        for (lines, expected) in [
            (
                &["1, 2, 3, calendar-access, addressbook, extended-mkcol"][..],
                NotAdvertised,
            ),
            (
                &[
                    "1, 2, 3, access-control, calendar-access, calendar-schedule",
                    "extended-mkcol, bind, addressbook, calendar-auto-schedule, calendar-proxy",
                ],
                Advertised,
            ),
            (
                &[
                    "1, 2, 3, access-control, resource-sharing, calendar-access, calendar-auto-schedule, inbox-availability",
                ],
                Advertised,
            ),
            (
                &["1, 2, access-control, calendar-access, calendar-schedule"],
                NotAdvertised,
            ),
            (
                &["1, <http://apache.org/dav/propset/fs/1>, Calendar-Auto-Schedule"],
                Advertised,
            ),
            (&["calendar-auto-schedule", "no token"], Unknown),
            (&["1, calendar-auto-schedule", "\u{e9}"], Unknown),
            (&["<unclosed, calendar-auto-schedule"], Unknown),
            (&["x-calendar-auto-schedule"], NotAdvertised),
            (&[" , "], Unknown),
            (&[], Unknown),
        ] {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append("dav", http::HeaderValue::from_bytes(line.as_bytes()).unwrap());
            }
            assert_eq!(automatic_scheduling(&headers), expected, "{lines:?}");
        }
    }
}

//! CAL-ADDRESS (RFC 5545, 3.3.3).

use super::{Malformed, uri};

/// A CAL-ADDRESS: a URI, as written; one that begins with `mailto:` names a mailbox.
///
/// # Errors
/// Text that is no URI, such as a mail address alone, and `mailto:` without a mailbox.
pub fn cal_address(value: &[u8]) -> Result<String, Malformed> {
    let address = uri(value)?;
    let named = mailbox(&address).is_none_or(|mailbox| {
        mailbox
            .split_once('@')
            .is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty())
    });
    if named { Ok(address) } else { Err(Malformed) }
}

/// Whether two addresses are of the same calendar user: mailboxes in any case, as mail and calendar servers compare them,
/// without header fields; other URIs as they are but for the case of their schemes (RFC 3986, 6.2.2.1).
#[must_use]
pub fn same_cal_address(one: &str, other: &str) -> bool {
    let (one, other) = (one.trim_ascii(), other.trim_ascii());
    match (mailbox(one), mailbox(other)) {
        (Some(one), Some(other)) => one.eq_ignore_ascii_case(other),
        (None, None) => match (one.split_once(':'), other.split_once(':')) {
            (Some((scheme, rest)), Some((other_scheme, other_rest))) => {
                scheme.eq_ignore_ascii_case(other_scheme) && rest == other_rest
            }
            _ => one == other,
        },
        _ => false,
    }
}

/// What a `mailto:` URI names, without header fields (RFC 6068).
fn mailbox(uri: &str) -> Option<&str> {
    let (scheme, rest) = uri.split_once(':')?;
    let mailbox = rest.split('?').next().unwrap_or(rest);
    scheme.eq_ignore_ascii_case("mailto").then_some(mailbox)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_uris() {
        // RFC 5545, 3.3.3 and the schemes that servers use instead of mail.
        for good in [
            "mailto:jane_doe@example.com",
            "MAILTO:jane_doe@example.com",
            "urn:uuid:a5c7f6c5-6ff3-4b42-a4ad-5b8b0ee0c3b5",
            "http://example.com/principals/jane/",
            "invalid:nomail",
            "mailto:jane%20doe@example.com?subject=x",
        ] {
            assert_eq!(cal_address(good.as_bytes()).as_deref(), Ok(good));
        }
        for bad in [
            "",
            "jane_doe@example.com",
            "Jane Doe",
            "mailto:",
            "mailto:jane",
            "mailto:@example.com",
            "mailto:jane@",
            "mailto:jane doe@example.com",
            "mailto:<jane@example.com>",
        ] {
            assert_eq!(cal_address(bad.as_bytes()), Err(Malformed), "{bad}");
        }
    }

    #[test]
    fn the_same_user_is_written_in_several_ways() {
        for (one, other, same) in [
            ("mailto:jane@example.com", "MAILTO:Jane@Example.COM", true),
            ("mailto:jane@example.com", " mailto:jane@example.com?subject=x", true),
            ("mailto:jane@example.com", "mailto:john@example.com", false),
            ("mailto:jane@example.com", "jane@example.com", false),
            ("HTTP://example.com/jane/", "http://example.com/jane/", true),
            ("http://example.com/jane/", "http://example.com/Jane/", false),
            ("jane", "jane", true),
        ] {
            assert_eq!(same_cal_address(one, other), same, "{one} {other}");
            assert_eq!(same_cal_address(other, one), same, "{other} {one}");
        }
    }
}

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
}

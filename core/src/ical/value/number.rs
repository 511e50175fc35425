//! BOOLEAN, INTEGER, FLOAT and UTC-OFFSET (RFC 5545, 3.3.2, 3.3.7, 3.3.8 and 3.3.14).

use super::Malformed;

/// A BOOLEAN in any case.
///
/// # Errors
/// Anything but TRUE and FALSE.
pub fn boolean(value: &[u8]) -> Result<bool, Malformed> {
    match value.trim_ascii() {
        word if word.eq_ignore_ascii_case(b"TRUE") => Ok(true),
        word if word.eq_ignore_ascii_case(b"FALSE") => Ok(false),
        _ => Err(Malformed),
    }
}

/// An INTEGER.
///
/// # Errors
/// Any other text, and numbers beyond 32 bits.
pub fn signed_integer(value: &[u8]) -> Result<i32, Malformed> {
    let value = value.trim_ascii();
    let digits = value.strip_prefix(b"+").or(value.strip_prefix(b"-")).unwrap_or(value);
    let good = digits.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(value).ok().filter(|_| good).ok_or(Malformed)?;
    text.parse().map_err(|_| Malformed)
}

/// An INTEGER from 0 to `most`.
///
/// # Errors
/// Any other text.
pub fn integer(value: &[u8], most: u8) -> Result<u8, Malformed> {
    let number = u8::try_from(signed_integer(value)?).map_err(|_| Malformed)?;
    if number <= most { Ok(number) } else { Err(Malformed) }
}

/// A FLOAT; the digits on one side of the point may be left out.
///
/// # Errors
/// Any other text, such as one with an exponent.
pub fn float(value: &[u8]) -> Result<f64, Malformed> {
    let legal = |octet: &u8| matches!(octet, b'0'..=b'9' | b'.' | b'+' | b'-');
    let value = value.trim_ascii();
    let text = std::str::from_utf8(value).ok().filter(|_| value.iter().all(legal));
    let number: f64 = text.ok_or(Malformed)?.parse().map_err(|_| Malformed)?;
    // More digits than the type has range.
    if number.is_finite() { Ok(number) } else { Err(Malformed) }
}

/// A UTC-OFFSET in seconds east of UTC, with or without colons. All zeros need no sign and may have any.
///
/// # Errors
/// Any other text, and a day or more.
pub fn utc_offset(value: &[u8]) -> Result<i32, Malformed> {
    let value: Vec<u8> = value
        .trim_ascii()
        .iter()
        .copied()
        .filter(|octet| *octet != b':')
        .collect();
    let (sign, digits) = match &value[..] {
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        digits => (0, digits),
    };
    if !matches!(digits.len(), 4 | 6) || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Malformed);
    }
    let pair = |at: usize| {
        digits
            .get(at..at + 2)
            .map_or(0, |pair| i32::from(pair[0] - b'0') * 10 + i32::from(pair[1] - b'0'))
    };
    let (hours, minutes, seconds) = (pair(0), pair(2), pair(4));
    let amount = hours * 3600 + minutes * 60 + seconds;
    if hours < 24 && minutes < 60 && seconds < 60 && (sign != 0 || amount == 0) {
        Ok(sign * amount)
    } else {
        Err(Malformed)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn booleans() {
        // RFC 5545, 3.3.2: "These values are case-insensitive text".
        for (text, want) in [
            ("TRUE", Ok(true)),
            ("false", Ok(false)),
            (" True ", Ok(true)),
            ("", Err(Malformed)),
            ("1", Err(Malformed)),
            ("YES", Err(Malformed)),
        ] {
            assert_eq!(boolean(text.as_bytes()), want, "{text}");
        }
    }

    #[test]
    fn integers() {
        // The range and the first four are those of RFC 5545, 3.3.8.
        for (text, want) in [
            ("1234567890", Ok(1_234_567_890)),
            ("-1234567890", Ok(-1_234_567_890)),
            ("+1234567890", Ok(1_234_567_890)),
            ("432109876", Ok(432_109_876)),
            ("2147483647", Ok(i32::MAX)),
            ("-2147483648", Ok(i32::MIN)),
            (" 007 ", Ok(7)),
            ("2147483648", Err(Malformed)),
            ("-2147483649", Err(Malformed)),
            ("", Err(Malformed)),
            ("+", Err(Malformed)),
            ("-", Err(Malformed)),
            ("+-1", Err(Malformed)),
            ("1.0", Err(Malformed)),
            ("1e1", Err(Malformed)),
            ("१", Err(Malformed)),
        ] {
            assert_eq!(signed_integer(text.as_bytes()), want, "{text}");
        }
    }

    #[test]
    fn floats() {
        // The first three are those of RFC 5545, 3.3.7.
        for (text, want) in [
            ("1000000.0000001", Ok(1_000_000.000_000_1)),
            ("1.333", Ok(1.333)),
            ("-3.25", Ok(-3.25)),
            ("+5", Ok(5.0)),
            (".5", Ok(0.5)),
            ("5.", Ok(5.0)),
            ("", Err(Malformed)),
            (".", Err(Malformed)),
            ("1,5", Err(Malformed)),
            ("1e3", Err(Malformed)),
            ("NaN", Err(Malformed)),
            ("inf", Err(Malformed)),
            ("--1", Err(Malformed)),
        ] {
            assert_eq!(float(text.as_bytes()), want, "{text}");
        }
        assert_eq!(float("9".repeat(400).as_bytes()), Err(Malformed));
    }

    #[test]
    fn offsets() {
        // The first two are those of RFC 5545, 3.3.14.
        for (text, want) in [
            ("-0500", Ok(-18_000)),
            ("+0100", Ok(3600)),
            ("+0530", Ok(19_800)),
            ("-00:30", Ok(-1800)),
            ("+012345", Ok(5025)),
            (" +0100 ", Ok(3600)),
            ("-0000", Ok(0)),
            ("0000", Ok(0)),
            ("0100", Err(Malformed)),
            ("+01", Err(Malformed)),
            ("+2400", Err(Malformed)),
            ("+0160", Err(Malformed)),
            ("+010060", Err(Malformed)),
            ("+1é", Err(Malformed)),
            ("+1é0", Err(Malformed)),
            ("++100", Err(Malformed)),
            ("", Err(Malformed)),
        ] {
            assert_eq!(utc_offset(text.as_bytes()), want, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_octets_panic(octets in prop::collection::vec(prop_oneof![b'0'..=b'9', any::<u8>(), Just(b'-')], 0..12)) {
            let _ = (boolean(&octets), integer(&octets, 9), float(&octets), utc_offset(&octets));
        }
    }
}

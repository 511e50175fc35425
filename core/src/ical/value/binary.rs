//! BINARY (RFC 5545, 3.3.1).

use super::Malformed;

/// How many octets BASE64 text stands for, without decoding it. White space, which some writers leave behind where they
/// fold, counts for nothing.
///
/// # Errors
/// Characters that are not of the alphabet, and missing or misplaced padding (RFC 4648, 4).
pub fn binary_len(value: &[u8]) -> Result<usize, Malformed> {
    let (mut digits, mut padding) = (0_usize, 0_usize);
    for octet in value {
        match octet {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' if padding == 0 => digits += 1,
            b'=' => padding += 1,
            b' ' | b'\t' => {}
            _ => return Err(Malformed),
        }
    }
    if padding <= 2 && (digits + padding).is_multiple_of(4) {
        Ok(digits * 3 / 4)
    } else {
        Err(Malformed)
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lengths() {
        // The first seven are those of RFC 4648, 10.
        for (text, want) in [
            ("", Ok(0)),
            ("Zg==", Ok(1)),
            ("Zm8=", Ok(2)),
            ("Zm9v", Ok(3)),
            ("Zm9vYg==", Ok(4)),
            ("Zm9vYmE=", Ok(5)),
            ("Zm9vYmFy", Ok(6)),
            ("Zm9v YmFy\t", Ok(6)),
            ("Z", Err(Malformed)),
            ("Zg", Err(Malformed)),
            ("Zg=", Err(Malformed)),
            ("Z===", Err(Malformed)),
            ("====", Err(Malformed)),
            ("Zg==Zg==", Err(Malformed)),
            ("Zm9v-_==", Err(Malformed)),
            ("Zm9v,Zm9v", Err(Malformed)),
        ] {
            assert_eq!(binary_len(text.as_bytes()), want, "{text}");
        }
    }

    proptest! {
        /// The `base64` crate is strict about the last bits; nothing else differs.
        #[test]
        fn what_base64_decodes_has_its_length(octets in prop::collection::vec(any::<u8>(), 0..40), text in "[A-Ba=]{0,9}") {
            prop_assert_eq!(binary_len(STANDARD.encode(&octets).as_bytes()), Ok(octets.len()));
            if let Ok(decoded) = STANDARD.decode(&text) {
                prop_assert_eq!(binary_len(text.as_bytes()), Ok(decoded.len()));
            }
        }
    }
}

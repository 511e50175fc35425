//! Lexical forms of text in results.

/// What a text has to look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Like anything.
    Any,
    /// A scheme and a colon. What servers and people put there is shown as it is written.
    Uri,
    /// `2026-12-01`.
    Date,
    /// `2026-12-01T09:00:00`, with a fraction or without.
    Local,
    /// The same with `Z`.
    Utc,
    /// One of the three above: the form tells which.
    Time,
    /// `#RRGGBB`.
    Color,
    /// Begins with a slash.
    Pointer,
    /// `2.0`.
    Status,
    /// Letters, digits and hyphens.
    Name,
}

impl Form {
    /// Whether a text is of this form.
    pub(crate) fn fits(self, text: &str) -> bool {
        let octets = text.as_bytes();
        match self {
            Self::Any => true,
            Self::Uri => is_uri(text),
            Self::Date => date(octets) == Some(b""),
            Self::Local => local(octets) == Some(b""),
            Self::Utc => local(octets) == Some(b"Z"),
            Self::Time => date(octets) == Some(b"") || matches!(local(octets), Some(b"" | b"Z")),
            Self::Color => {
                matches!(octets, [b'#', digits @ ..] if digits.len() == 6 && digits.iter().all(u8::is_ascii_hexdigit))
            }
            Self::Pointer => octets.starts_with(b"/"),
            Self::Status => text
                .split_once('.')
                .is_some_and(|(class, detail)| is_number(class) && is_number(detail)),
            Self::Name => {
                !octets.is_empty()
                    && octets
                        .iter()
                        .all(|octet| octet.is_ascii_alphanumeric() || *octet == b'-')
            }
        }
    }
}

fn is_uri(text: &str) -> bool {
    let scheme = |scheme: &str| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme
                .bytes()
                .all(|octet| octet.is_ascii_alphanumeric() || matches!(octet, b'+' | b'-' | b'.'))
    };
    text.split_once(':').is_some_and(|(name, _)| scheme(name))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_digit())
}

/// What follows a day.
fn date(octets: &[u8]) -> Option<&[u8]> {
    let (year, rest) = octets.split_at_checked(4)?;
    let [b'-', a, b, b'-', c, d, rest @ ..] = rest else {
        return None;
    };
    let fits =
        year.iter().all(u8::is_ascii_digit) && (1..=12).contains(&two(*a, *b)?) && (1..=31).contains(&two(*c, *d)?);
    fits.then_some(rest)
}

/// What follows a day and a time of day.
fn local(octets: &[u8]) -> Option<&[u8]> {
    let [b'T', a, b, b':', c, d, b':', e, f, rest @ ..] = date(octets)? else {
        return None;
    };
    let fits = two(*a, *b)? < 24 && two(*c, *d)? < 60 && two(*e, *f)? < 60;
    let rest = match rest {
        [b'.', fraction @ ..] => {
            let digits = fraction.iter().take_while(|octet| octet.is_ascii_digit()).count();
            fraction.get(digits..).filter(|_| digits > 0)?
        }
        rest => rest,
    };
    fits.then_some(rest)
}

fn two(tens: u8, ones: u8) -> Option<u8> {
    (tens.is_ascii_digit() && ones.is_ascii_digit()).then(|| (tens - b'0') * 10 + (ones - b'0'))
}

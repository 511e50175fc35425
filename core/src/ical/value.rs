//! Value types of RFC 5545, section 3.3, and of its extensions.

use std::borrow::Cow;
use std::sync::Arc;

use jiff::civil::{Date, DateTime, Time};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::document::{Parameter, Property};
use super::duration::Duration;

mod address;
mod binary;
mod number;
pub mod request_status;

pub use address::cal_address;
pub use binary::binary_len;
pub use number::{boolean, float, integer, signed_integer, utc_offset};

/// A value that is not of the type it has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// A DATE or one of the three forms of DATE-TIME (RFC 5545, 3.3.4 and 3.3.5).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Temporal {
    /// A day without a zone.
    Date(Date),
    /// A local time without a zone.
    Floating(DateTime),
    /// A time in UTC.
    Utc(DateTime),
    /// A local time with the TZID as written, which the occurrences of a series share.
    Zoned(DateTime, Arc<str>),
}

/// As the `temporalValue` of the semantic toolset.
impl Serialize for Temporal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, value, zone) = match self {
            Self::Date(date) => ("date", date.to_string(), None),
            Self::Floating(time) => ("floatingDateTime", time.to_string(), None),
            Self::Utc(time) => ("utcDateTime", format!("{time}Z"), None),
            Self::Zoned(time, zone) => ("zonedDateTime", time.to_string(), Some(&**zone)),
        };
        let mut out = serializer.serialize_struct("Temporal", 2 + usize::from(zone.is_some()))?;
        out.serialize_field("kind", kind)?;
        out.serialize_field("value", &value)?;
        if let Some(zone) = zone {
            out.serialize_field("timeZoneId", zone)?;
        }
        out.end()
    }
}

impl Temporal {
    /// The local date and time; midnight for a date.
    #[must_use]
    pub fn civil(&self) -> DateTime {
        match self {
            Self::Date(date) => date.to_datetime(Time::midnight()),
            Self::Floating(time) | Self::Utc(time) | Self::Zoned(time, _) => *time,
        }
    }

    /// Whether this is a day without a time.
    #[must_use]
    pub fn is_date(&self) -> bool {
        matches!(self, Self::Date(_))
    }

    /// The value of a content line (RFC 5545, 3.3.4 and 3.3.5). A fraction of a second is not written.
    #[must_use]
    pub fn encoded(&self) -> String {
        let time = self.civil();
        let date = format!("{:04}{:02}{:02}", time.year(), time.month(), time.day());
        let utc = if matches!(self, Self::Utc(_)) { "Z" } else { "" };
        match self {
            Self::Date(_) => date,
            Self::Floating(_) | Self::Utc(_) | Self::Zoned(..) => {
                format!("{date}T{:02}{:02}{:02}{utc}", time.hour(), time.minute(), time.second())
            }
        }
    }

    /// The parameters that a property of type DATE-TIME needs for this value: VALUE, or TZID, or none.
    #[must_use]
    pub fn parameters(&self) -> Vec<Parameter> {
        let parameter = |name: &str, value: &str| {
            vec![Parameter {
                name: name.to_owned(),
                values: vec![value.to_owned()],
            }]
        };
        match self {
            Self::Date(_) => parameter("VALUE", "DATE"),
            Self::Zoned(_, zone) => parameter("TZID", zone),
            Self::Floating(_) | Self::Utc(_) => Vec::new(),
        }
    }

    /// Reads `YYYYMMDD` or `YYYYMMDD` `T` `HHMMSS` with or without `Z`: what is written decides, not VALUE. A leap
    /// second becomes the 59th (RFC 5545, 3.3.12). The TZID counts only for a local time.
    ///
    /// # Errors
    /// Anything else, and days or times that do not exist.
    pub fn parse(value: &[u8], zone: Option<&str>) -> Result<Self, Malformed> {
        let value = value.trim_ascii();
        let (date, time) = value.split_at_checked(8).ok_or(Malformed)?;
        let date = Date::new(
            number(&date[..4])?,
            number(&date[4..6])? as i8,
            number(&date[6..])? as i8,
        );
        let date = date.map_err(|_| Malformed)?;
        let (clock, utc) = match time {
            [] => return Ok(Self::Date(date)),
            [b'T' | b't', clock @ .., b'Z' | b'z'] => (clock, true),
            [b'T' | b't', clock @ ..] => (clock, false),
            _ => return Err(Malformed),
        };
        if clock.len() != 6 {
            return Err(Malformed);
        }
        let second = number(&clock[4..])? as i8;
        let second = if second == 60 { 59 } else { second };
        let time = Time::new(number(&clock[..2])? as i8, number(&clock[2..4])? as i8, second, 0);
        let time = date.to_datetime(time.map_err(|_| Malformed)?);
        Ok(match zone {
            _ if utc => Self::Utc(time),
            Some(zone) if !zone.is_empty() => Self::Zoned(time, zone.into()),
            _ => Self::Floating(time),
        })
    }

    /// Whether `other` is a day where this is a day, or a time where this is a time.
    #[must_use]
    pub fn same_family(&self, other: &Self) -> bool {
        self.is_date() == other.is_date()
    }
}

/// An unsigned number of at most four digits.
fn number(digits: &[u8]) -> Result<i16, Malformed> {
    digits.iter().try_fold(0, |number, digit| {
        let digit = digit
            .is_ascii_digit()
            .then(|| i16::from(digit - b'0'))
            .ok_or(Malformed)?;
        Ok(number * 10 + digit)
    })
}

/// The temporal values of one property: all share its TZID and its VALUE.
#[derive(Clone, Debug)]
pub struct Times<'a> {
    value: Cow<'a, [u8]>,
    zone: Option<String>,
    declared: Option<String>,
}

/// A period of time (RFC 5545, 3.3.9), its second half as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Period {
    /// When it begins.
    pub start: Temporal,
    /// An explicit end, or the text of a duration.
    pub end: Result<Temporal, Box<str>>,
}

impl Period {
    /// Reads `start/end` or `start/duration`; the TZID counts for local times. What [`Self::is_regular`] wants is not asked
    /// for here.
    ///
    /// # Errors
    /// Text without a slash, and a start or end that is no DATE or DATE-TIME.
    pub fn parse(value: &[u8], zone: Option<&str>) -> Result<Self, Malformed> {
        let slash = memchr::memchr(b'/', value).ok_or(Malformed)?;
        let (start, end) = (Temporal::parse(&value[..slash], zone)?, value[slash + 1..].trim_ascii());
        let end = match end {
            [b'P' | b'p' | b'+' | b'-', ..] => Err(String::from_utf8_lossy(end).into()),
            _ => Ok(Temporal::parse(end, zone)?),
        };
        Ok(Self { start, end })
    }

    /// Whether it is a period as RFC 5545, 3.3.9 wants it: both moments are times of the same form and the end is later,
    /// or the duration is one and longer than nothing.
    #[must_use]
    pub fn is_regular(&self) -> bool {
        let positive = |duration: Duration| !duration.is_negative() && !duration.is_zero();
        !self.start.is_date()
            && match &self.end {
                Ok(end) => {
                    std::mem::discriminant(end) == std::mem::discriminant(&self.start)
                        && end.civil() > self.start.civil()
                }
                Err(duration) => Duration::parse(duration).is_some_and(positive),
            }
    }
}

/// As the `period` of the semantic toolset.
impl Serialize for Period {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Period", 3)?;
        out.serialize_field("kind", "period")?;
        out.serialize_field("start", &self.start)?;
        match &self.end {
            Ok(end) => out.serialize_field("end", end)?,
            Err(duration) => out.serialize_field("duration", duration)?,
        }
        out.end()
    }
}

/// A value of RDATE (RFC 5545, 3.8.5.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum DateOrPeriod {
    /// A moment or day.
    Date(Temporal),
    /// A moment with a length of its own.
    Period(Period),
}

impl DateOrPeriod {
    /// When it begins.
    #[must_use]
    pub fn start(&self) -> &Temporal {
        match self {
            Self::Date(date) => date,
            Self::Period(period) => &period.start,
        }
    }
}

impl<'a> Times<'a> {
    /// Of this property.
    #[must_use]
    pub fn of(property: Property<'a>) -> Self {
        let plain = property.is_plain();
        Self {
            value: property.value(),
            zone: if plain { None } else { property.parameter("TZID") },
            declared: if plain { None } else { property.parameter("VALUE") },
        }
    }

    /// The only value.
    ///
    /// # Errors
    /// If it is not a DATE or DATE-TIME.
    pub fn single(&self) -> Result<Temporal, Malformed> {
        self.read(&self.value)
    }

    /// Each value of a comma list but empty ones: a moment, or a period where there is a slash.
    pub fn each(&self) -> impl Iterator<Item = Result<DateOrPeriod, Malformed>> {
        let values = self.value.split(|octet| *octet == b',');
        values.filter(|value| !value.trim_ascii().is_empty()).map(|value| {
            if value.contains(&b'/') {
                Period::parse(value, self.zone.as_deref()).map(DateOrPeriod::Period)
            } else {
                self.read(value).map(DateOrPeriod::Date)
            }
        })
    }

    /// Whether `value` is of another type than VALUE (or the default DATE-TIME) says.
    #[must_use]
    pub fn misdeclares(&self, value: &Temporal) -> bool {
        let date = self
            .declared
            .as_deref()
            .is_some_and(|declared| declared.eq_ignore_ascii_case("DATE"));
        date != value.is_date()
    }

    fn read(&self, value: &[u8]) -> Result<Temporal, Malformed> {
        Temporal::parse(value, self.zone.as_deref())
    }
}

/// Octets as text; bad UTF-8 becomes U+FFFD.
#[must_use]
pub fn lossy(octets: Cow<'_, [u8]>) -> Cow<'_, str> {
    match octets {
        Cow::Borrowed(octets) => String::from_utf8_lossy(octets),
        Cow::Owned(octets) => Cow::Owned(
            String::from_utf8(octets).unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned()),
        ),
    }
}

/// A TEXT value (RFC 5545, 3.3.11): `\n`, `\N`, `\,`, `\;` and `\\` are decoded, and so are the frequent `\:` and
/// `\"`; any other backslash stays.
#[must_use]
pub fn text(value: Cow<'_, [u8]>) -> Cow<'_, str> {
    let text = lossy(value);
    let Some(mut from) = text.find('\\') else {
        return text;
    };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..from]);
    while let Some(escape) = text[from..].find('\\').map(|found| from + found) {
        out.push_str(&text[from..escape]);
        let decoded = match text.as_bytes().get(escape + 1) {
            Some(b'n' | b'N') => Some('\n'),
            Some(other @ (b',' | b';' | b'\\' | b':' | b'"')) => Some(char::from(*other)),
            _ => None,
        };
        from = escape + 1 + usize::from(decoded.is_some());
        out.push(decoded.unwrap_or('\\'));
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

/// The values of a comma list of TEXT, decoded.
#[must_use]
pub fn text_list(value: Cow<'_, [u8]>) -> Vec<String> {
    let (mut out, mut from) = (Vec::new(), 0);
    for at in separators(&value, b',') {
        out.push(text(Cow::Borrowed(&value[from..at])).into_owned());
        from = at + 1;
    }
    out.push(text(Cow::Borrowed(&value[from..])).into_owned());
    out
}

/// Where an octet stands without a backslash before it that is not itself escaped.
fn separators(value: &[u8], separator: u8) -> impl Iterator<Item = usize> {
    let mut escaped = false;
    value.iter().enumerate().filter_map(move |(at, octet)| {
        let found = *octet == separator && !escaped;
        escaped = *octet == b'\\' && !escaped;
        found.then_some(at)
    })
}

/// A place on earth in degrees (RFC 5545, 3.8.1.6).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Geo {
    /// North is positive; -90 to 90.
    pub latitude: f64,
    /// East is positive; -180 to 180.
    pub longitude: f64,
}

impl Geo {
    /// Reads `latitude;longitude`.
    ///
    /// # Errors
    /// Any other text, and degrees out of range.
    pub fn parse(value: &[u8]) -> Result<Self, Malformed> {
        let semicolon = memchr::memchr(b';', value).ok_or(Malformed)?;
        let (latitude, longitude) = (&value[..semicolon], &value[semicolon + 1..]);
        let degrees = |value: &[u8], most: f64| {
            let degrees = float(value)?;
            if degrees.abs() <= most {
                Ok(degrees)
            } else {
                Err(Malformed)
            }
        };
        Ok(Self {
            latitude: degrees(latitude, 90.0)?,
            longitude: degrees(longitude, 180.0)?,
        })
    }
}

/// An absolute URI (RFC 3986, 4.3), as written.
///
/// # Errors
/// Text without a scheme, or with characters that no URI has.
pub fn uri(value: &[u8]) -> Result<String, Malformed> {
    let text = std::str::from_utf8(value.trim_ascii()).map_err(|_| Malformed)?;
    let (scheme, rest) = text.split_once(':').ok_or(Malformed)?;
    let scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|octet| octet.is_ascii_alphanumeric() || matches!(octet, b'+' | b'-' | b'.'));
    let octets = rest.as_bytes();
    let legal = octets.iter().enumerate().all(|(at, octet)| match octet {
        b'%' => matches!(octets.get(at + 1..at + 3), Some([a, b]) if a.is_ascii_hexdigit() && b.is_ascii_hexdigit()),
        b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' => false,
        _ => octet.is_ascii_graphic(),
    });
    if scheme && legal && !rest.is_empty() {
        Ok(text.to_owned())
    } else {
        Err(Malformed)
    }
}

/// A value from a list that others may add to, such as STATUS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenEnum {
    /// How it is known.
    pub kind: OpenEnumKind,
    /// As stored.
    pub raw_value: String,
}

/// How a value of an open list is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OpenEnumKind {
    /// Registered for this property.
    Known,
    /// Begins with `X-`.
    Extension,
    /// Neither.
    Unknown,
}

impl OpenEnum {
    /// Reads a token; `None` if there is none.
    #[must_use]
    pub fn read(value: Cow<'_, [u8]>, registered: &[&str]) -> Option<Self> {
        let raw_value = lossy(value).trim().to_owned();
        let kind = if registered.iter().any(|token| token.eq_ignore_ascii_case(&raw_value)) {
            OpenEnumKind::Known
        } else if raw_value.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("X-")) {
            OpenEnumKind::Extension
        } else {
            OpenEnumKind::Unknown
        };
        (!raw_value.is_empty()).then_some(Self { kind, raw_value })
    }
}

#[cfg(test)]
mod tests;

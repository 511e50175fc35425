//! Value types of RFC 5545, section 3.3, and of its extensions.

use jiff::civil::{Date, DateTime};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// A DATE or one of the three forms of DATE-TIME (RFC 5545, 3.3.4 and 3.3.5).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Temporal {
    /// A day without a zone.
    Date(Date),
    /// A local time without a zone.
    Floating(DateTime),
    /// A time in UTC.
    Utc(DateTime),
    /// A local time with the TZID as written.
    Zoned(DateTime, Box<str>),
}

/// As the `temporalValue` of the semantic toolset.
impl Serialize for Temporal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, value, zone) = match self {
            Self::Date(date) => ("date", date.to_string(), None),
            Self::Floating(time) => ("floatingDateTime", time.to_string(), None),
            Self::Utc(time) => ("utcDateTime", format!("{time}Z"), None),
            Self::Zoned(time, zone) => ("zonedDateTime", time.to_string(), Some(zone)),
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
            Self::Date(date) => date.to_datetime(jiff::civil::Time::midnight()),
            Self::Floating(time) | Self::Utc(time) | Self::Zoned(time, _) => *time,
        }
    }

    /// Whether this is a day without a time.
    #[must_use]
    pub fn is_date(&self) -> bool {
        matches!(self, Self::Date(_))
    }
}

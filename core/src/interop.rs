//! Conversions from and to the types of other crates: `chrono` by the feature `chrono-interop`, `icalendar` by
//! `icalendar-interop`.
//!
//! A conversion that would lose something is refused with [`Unconvertible`] and never rounds, guesses or invents. What
//! the other crate cannot express at all is said where it is converted.
//!
//! Zones do not cross: [`Zone`](crate::ical::zone::Zone) makes an instant of a local time, and instants convert.

pub mod chrono;
#[cfg(feature = "icalendar-interop")]
pub mod icalendar;

use std::fmt;

/// Why a value has no equal in the other type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unconvertible {
    /// A date, a floating time, a time in UTC or one in a zone, where another of these is asked for.
    Form,
    /// A year that is not written with four digits, 0000 to 9999.
    Year,
    /// A part of a second, or a leap second.
    Fraction,
    /// A duration with days or weeks: they follow the calendar and have no fixed length.
    Nominal,
    /// A duration beyond what the other type holds.
    TooLong,
    /// The document is not one VCALENDAR, or its components do not close.
    Structure,
    /// A property that is not UTF-8, has a control character or would be more than one line: its name.
    Property(String),
    /// A component that must have this property has none.
    Missing(&'static str),
    /// The other crate does not read what is written: its words.
    Refused(String),
}

impl fmt::Display for Unconvertible {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => out.write_str("the value has another form of date or time"),
            Self::Year => out.write_str("the year is not between 0000 and 9999"),
            Self::Fraction => out.write_str("parts of a second and leap seconds cannot be expressed"),
            Self::Nominal => out.write_str("days and weeks have no fixed length"),
            Self::TooLong => out.write_str("the duration is too long"),
            Self::Structure => out.write_str("the document is not one VCALENDAR whose components all close"),
            Self::Property(name) => write!(out, "the property {name:?} cannot be written as one content line"),
            Self::Missing(name) => write!(out, "a component has no {name}: set one"),
            Self::Refused(words) => write!(out, "the document is not read: {words}"),
        }
    }
}

impl std::error::Error for Unconvertible {}

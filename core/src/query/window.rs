//! The windows of queries: half-open, bounded, and evaluated in a zone.

use jiff::{SignedDuration, Timestamp};

use crate::ical::expand::Window;
use crate::ical::zone::Zone;
use crate::outcome::Violation;

/// The longest window, in days.
pub const MAX_WINDOW_DAYS: i64 = 366;

/// A window, and what floating times and dates mean in it.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// First instant.
    pub from: Timestamp,
    /// First instant after it.
    pub to: Timestamp,
    /// For floating times and dates. Zoned times do not depend on it.
    pub evaluation: Zone,
}

/// What is wrong with a window, if anything: it is empty, or longer than [`MAX_WINDOW_DAYS`].
#[must_use]
pub fn window_violation(from: Timestamp, to: Timestamp) -> Option<Violation> {
    violation(from, to, "from", "to")
}

/// The same for a window whose ends have other names.
#[must_use]
pub fn violation(from: Timestamp, to: Timestamp, first: &str, last: &str) -> Option<Violation> {
    let message = if to <= from {
        format!("Send a {last} that is later than {first}.")
    } else if to.duration_since(from) > SignedDuration::from_hours(24 * MAX_WINDOW_DAYS) {
        format!("Send a window of at most {MAX_WINDOW_DAYS} days; ask for less at a time.")
    } else {
        return None;
    };
    Some(Violation {
        pointer: format!("/{last}"),
        code: "out_of_range",
        message: Some(message),
    })
}

/// The whole seconds that hold a window.
#[must_use]
pub fn seconds(from: Timestamp, to: Timestamp) -> Window {
    Window {
        from: from.as_second(),
        to: ceiling(to),
    }
}

/// Whether something that overlaps the window in whole seconds does so exactly: a moment in the second in which the
/// window begins may lie before it.
#[must_use]
pub fn is_within(start: Timestamp, from: i64, to: i64) -> bool {
    from != to || from >= ceiling(start)
}

/// The first whole second that is not before the instant.
fn ceiling(instant: Timestamp) -> i64 {
    instant.as_second() + i64::from(instant.subsec_nanosecond() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("an instant")
    }

    #[test]
    fn windows_are_not_empty_and_not_longer_than_a_leap_year() {
        let from = at("2026-01-01T00:00:00Z");
        for (to, wrong) in [
            ("2026-01-01T00:00:00Z", true),
            ("2025-12-31T00:00:00Z", true),
            ("2026-01-01T00:00:00.0000001Z", false),
            ("2027-01-02T00:00:00Z", false),
            ("2027-01-02T00:00:00.0000001Z", true),
        ] {
            let found = window_violation(from, at(to)).map(|violation| violation.pointer);
            assert_eq!(found, wrong.then(|| "/to".to_owned()), "{to}");
        }
        let due = violation(from, from, "dueFrom", "dueTo").expect("empty");
        assert_eq!(due.pointer, "/dueTo");
        assert!(due.message.expect("a message").contains("dueFrom"));
    }

    #[test]
    fn fractions_of_a_second_count_for_moments_only() {
        let (from, to) = (at("2026-01-01T00:00:00.5Z"), at("2026-01-01T00:00:01.5Z"));
        let first = from.as_second();
        assert_eq!(
            seconds(from, to),
            Window {
                from: first,
                to: first + 2
            }
        );
        for (start, end, within) in [(0, 0, false), (0, 1, true), (1, 1, true)] {
            assert_eq!(is_within(from, first + start, first + end), within, "{start} {end}");
        }
        assert!(is_within(at("2026-01-01T00:00:00Z"), first, first));
    }
}

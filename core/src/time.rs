//! Time as data: the host's monotonic clock and wall time.

use std::ops::Add;
use std::time::Duration;

/// A reading of the host's monotonic clock, counted from a start that the host chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub Duration);

impl Moment {
    /// The host's own start.
    pub const ZERO: Self = Self(Duration::ZERO);
    /// A moment that never comes.
    pub const NEVER: Self = Self(Duration::MAX);

    /// How long it is from `earlier` to this moment; zero if it lies before.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Moment {
    type Output = Self;

    fn add(self, rhs: Duration) -> Self {
        Self(self.0.saturating_add(rhs))
    }
}

/// Wall time in milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Utc(pub i64);

impl Utc {
    /// The whole second, clamped to the years -9999 to 9999.
    #[must_use]
    pub fn timestamp(self) -> jiff::Timestamp {
        let second = self.0.div_euclid(1000);
        let clamped = second.clamp(jiff::Timestamp::MIN.as_second(), jiff::Timestamp::MAX.as_second());
        jiff::Timestamp::from_second(clamped).expect("clamped to its range")
    }
}

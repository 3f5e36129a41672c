//! `System.TimeSpan`.

use std::fmt;

/// A span of time in ticks of 100 ns (`System.TimeSpan`), negative ones included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeSpan(i64);

impl TimeSpan {
    /// Ticks in a second.
    pub const TICKS_PER_SECOND: i64 = 10_000_000;

    /// From ticks of 100 ns.
    pub const fn from_ticks(ticks: i64) -> Self {
        Self(ticks)
    }

    /// The ticks of 100 ns.
    pub const fn ticks(self) -> i64 {
        self.0
    }
}

/// As an XML duration, such as `P1DT2H3M4.5S`.
impl fmt::Display for TimeSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let _ = f;
        todo!()
    }
}

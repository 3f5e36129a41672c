//! `System.DateTime`.

/// A date and time of day (`System.DateTime`): ticks of 100 ns since the start of year 1, and what they are relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DateTime {
    ticks: i64,
    kind: DateTimeKind,
}

/// What the ticks of a [`DateTime`] are relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DateTimeKind {
    /// Not known.
    Unspecified,
    /// Coordinated universal time, `Z`.
    Utc,
    /// Local time of the sender, with its offset from universal time in minutes, eastern ones positive.
    Local(i16),
}

impl DateTime {
    /// The ticks of the last moment of year 9999.
    pub const MAX_TICKS: i64 = 3_155_378_975_999_999_999;

    /// From ticks of 100 ns since 0001-01-01T00:00:00; `None` outside of the years 1 to 9999.
    pub const fn from_ticks(ticks: i64, kind: DateTimeKind) -> Option<Self> {
        if ticks < 0 || ticks > Self::MAX_TICKS { None } else { Some(Self { ticks, kind }) }
    }

    /// The ticks of 100 ns since 0001-01-01T00:00:00 on the clock of its kind.
    pub const fn ticks(self) -> i64 {
        self.ticks
    }

    /// What the ticks are relative to.
    pub const fn kind(self) -> DateTimeKind {
        self.kind
    }
}

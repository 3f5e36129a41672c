//! `System.TimeSpan`.

use std::str::FromStr;
use std::time::Duration;

use super::ascii::{self, AsciiBuffer};
use super::date_time::out_of_range;
use crate::Error;
use crate::error::Kind;

/// A signed time span in ticks of 100 ns (`System.TimeSpan`).
///
/// ```
/// use psrp::value::TimeSpan;
///
/// let span: TimeSpan = "P1DT2H3M4.5S".parse()?;
/// assert_eq!(span.ticks(), 937_845_000_000);
/// assert_eq!(TimeSpan::from_seconds(90).unwrap().to_string(), "PT1M30S");
/// # Ok::<(), psrp::Error>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeSpan(i64);

impl TimeSpan {
    /// Ticks per second.
    pub const TICKS_PER_SECOND: i64 = 10_000_000;

    pub(crate) const TICKS_PER_MINUTE: i64 = 60 * Self::TICKS_PER_SECOND;
    pub(crate) const TICKS_PER_HOUR: i64 = 60 * Self::TICKS_PER_MINUTE;
    pub(crate) const TICKS_PER_DAY: i64 = 24 * Self::TICKS_PER_HOUR;

    /// Creates a span from ticks of 100 ns.
    pub const fn from_ticks(ticks: i64) -> Self {
        Self(ticks)
    }

    /// Creates a span from whole seconds. Returns `None` for more than 29,000 years.
    pub const fn from_seconds(seconds: i64) -> Option<Self> {
        match seconds.checked_mul(Self::TICKS_PER_SECOND) {
            Some(ticks) => Some(Self(ticks)),
            None => None,
        }
    }

    /// Returns the ticks of 100 ns.
    pub const fn ticks(self) -> i64 {
        self.0
    }

    pub(crate) fn text(self) -> AsciiBuffer {
        let mut text = AsciiBuffer::new();
        if self.0 < 0 {
            text.push(b'-');
        }
        text.push(b'P');
        let ticks = self.0.unsigned_abs();
        let part = |unit: i64| ticks / unit.unsigned_abs();
        let mut buffer = itoa::Buffer::new();
        let days = part(Self::TICKS_PER_DAY);
        if days != 0 {
            text.push_bytes(buffer.format(days).as_bytes());
            text.push(b'D');
        }
        if days != 0 && ticks.is_multiple_of(Self::TICKS_PER_DAY.unsigned_abs()) {
            return text;
        }
        text.push(b'T');
        let hours = part(Self::TICKS_PER_HOUR) % 24;
        let minutes = part(Self::TICKS_PER_MINUTE) % 60;
        for (count, letter) in [(hours, b'H'), (minutes, b'M')] {
            if count != 0 {
                text.push_bytes(buffer.format(count).as_bytes());
                text.push(letter);
            }
        }
        let seconds = ticks % Self::TICKS_PER_MINUTE.unsigned_abs();
        if seconds != 0 || ticks == 0 {
            let second = Self::TICKS_PER_SECOND.unsigned_abs();
            text.push_bytes(buffer.format(seconds / second).as_bytes());
            text.push_fraction((seconds % second) as u32);
            text.push(b'S');
        }
        text
    }
}

ascii::impl_text! {
    /// Writes an XML duration such as `P1DT2H3M4.5S`; zero parts are omitted.
    TimeSpan
}

/// Parses an XML duration surrounded by optional white space. Like in .NET, a year is 365 days, a month 30 days, and a
/// part may exceed the range of its unit. A fraction of a second is rounded to 100 ns.
impl FromStr for TimeSpan {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let bytes = ascii::trim(text).as_bytes();
        let ticks = match bytes.strip_prefix(b"-") {
            Some(duration) => parse(duration).and_then(|ticks| 0_i64.checked_sub_unsigned(ticks)),
            None => parse(bytes).and_then(|ticks| i64::try_from(ticks).ok()),
        };
        ticks.map(Self).ok_or_else(|| Error::with(Kind::InvalidText, "not a duration"))
    }
}

/// Rounds down to 100 ns. Fails with [`Error::is_mismatch`] for more than 29,000 years.
impl TryFrom<Duration> for TimeSpan {
    type Error = Error;

    fn try_from(duration: Duration) -> Result<Self, Error> {
        i64::try_from(duration.as_nanos() / 100).map(Self).map_err(|_| out_of_range())
    }
}

/// Fails with [`Error::is_mismatch`] for a negative span.
impl TryFrom<TimeSpan> for Duration {
    type Error = Error;

    fn try_from(span: TimeSpan) -> Result<Self, Error> {
        let ticks = u64::try_from(span.ticks()).map_err(|_| out_of_range())?;
        Ok(Self::from_nanos_u128(u128::from(ticks) * 100))
    }
}

/// Unit letters before and after `T`, in the required order, with their ticks.
const DATE: [(u8, i64); 3] = [
    (b'Y', 365 * TimeSpan::TICKS_PER_DAY),
    (b'M', 30 * TimeSpan::TICKS_PER_DAY),
    (b'D', TimeSpan::TICKS_PER_DAY),
];
const TIME: [(u8, i64); 3] = [
    (b'H', TimeSpan::TICKS_PER_HOUR),
    (b'M', TimeSpan::TICKS_PER_MINUTE),
    (b'S', TimeSpan::TICKS_PER_SECOND),
];

/// Parses numbers with unit letters to ticks. Each letter occurs at most once and in order. Only seconds may have a
/// fraction.
fn parse(duration: &[u8]) -> Option<u64> {
    let mut text = duration.strip_prefix(b"P").filter(|parts| !parts.is_empty())?;
    let (mut units, mut is_time, mut ticks) = (&DATE[..], false, 0u64);
    while !text.is_empty() {
        if let [b'T', time @ ..] = text
            && !is_time
        {
            (units, is_time, text) = (&TIME, true, time);
        }
        let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, mut rest) = text.split_at(len);
        let number: u64 = str::from_utf8(digits).ok()?.parse().ok()?;
        let has_fraction = rest.starts_with(b".");
        let (subticks, excess) = ascii::fraction(&mut rest)?;
        let (letter, rest) = rest.split_first()?;
        if has_fraction && *letter != b'S' {
            return None;
        }
        let unit = units.iter().position(|(own, _)| own == letter)?;
        let is_up = excess.first().is_some_and(|digit| *digit >= b'5');
        ticks = number
            .checked_mul(units[unit].1.unsigned_abs())?
            .checked_add(ticks)?
            .checked_add(u64::from(subticks) + u64::from(is_up))?;
        (units, text) = (&units[unit + 1..], rest);
    }
    Some(ticks)
}

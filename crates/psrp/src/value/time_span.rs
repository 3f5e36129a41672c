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
        let (negative, duration) = match bytes {
            [b'-', duration @ ..] => (true, duration),
            duration => (false, duration),
        };
        parse(duration)
            .and_then(
                |ticks| if negative { 0_i64.checked_sub_unsigned(ticks) } else { i64::try_from(ticks).ok() },
            )
            .map(Self)
            .ok_or_else(|| Error::with(Kind::InvalidText, "not a duration"))
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

fn parse(duration: &[u8]) -> Option<u64> {
    let duration = duration.strip_prefix(b"P")?;
    let (date, time) = match memchr::memchr(b'T', duration) {
        Some(at) => (&duration[..at], Some(&duration[at + 1..])),
        None => (duration, None),
    };
    match (date, time) {
        ([], None) | (_, Some([])) => None,
        _ => parts(date, DATE, false)?.checked_add(parts(time.unwrap_or_default(), TIME, true)?),
    }
}

/// Parses numbers with unit letters to ticks. Only the last unit may have a fraction, and only if `fraction` is set.
fn parts(mut text: &[u8], units: [(u8, i64); 3], fraction: bool) -> Option<u64> {
    let mut ticks = 0u64;
    // Each letter occurs at most once and in order: the units before `first` are used up.
    let mut first = 0;
    while !text.is_empty() {
        let (number, mut rest) = number(text)?;
        let mut subunit = None;
        if fraction && let [b'.', digits @ ..] = rest {
            let (ticks, tail) = fraction_ticks(digits)?;
            (subunit, rest) = (Some(ticks), tail);
        }
        let (letter, rest) = rest.split_first()?;
        let unit = first + units[first..].iter().position(|(own, _)| own == letter)?;
        if subunit.is_some() && unit != 2 {
            return None;
        }
        ticks = number
            .checked_mul(units[unit].1.unsigned_abs())?
            .checked_add(ticks)?
            .checked_add(subunit.unwrap_or(0))?;
        first = unit + 1;
        text = rest;
    }
    Some(ticks)
}

/// Parses a number of at least one digit. Returns it with the rest of the text.
fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(len);
    let mut number = 0u64;
    for digit in digits {
        number = number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
    }
    (len > 0).then_some((number, rest))
}

/// Parses fractional digits of a second to ticks, rounded half up. Returns them with the rest of the text.
fn fraction_ticks(text: &[u8]) -> Option<(u64, &[u8])> {
    let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(len);
    let mut ticks = 0;
    for at in 0..7 {
        ticks = ticks * 10 + u64::from(digits.get(at).map_or(0, |digit| digit - b'0'));
    }
    let up = digits.get(7).is_some_and(|digit| *digit >= b'5');
    (len > 0).then_some((ticks + u64::from(up), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::tests::check_text;

    #[test]
    fn text_is_parsed_and_written() {
        check_text::<TimeSpan>(
            &[
                "PT0S",
                "PT10S",
                "PT30S",
                "PT1M40S",
                "PT20M",
                "PT1H",
                "P1D",
                "P1DT1S",
                "P9DT10H12M13.1234567S",
                "-P1DT1H2M3.0000005S",
                "-PT0.0000001S",
                "P10675199DT2H48M5.4775807S",
                "-P10675199DT2H48M5.4775808S",
            ],
            &[
                (" PT90M\n", "PT1H30M"),
                ("P1Y", "P365D"),
                ("P1M", "P30D"),
                ("P1Y2M3DT4H", "P428DT4H"),
                ("PT1H120S", "PT1H2M"),
                ("PT00S", "PT0S"),
                ("-P0D", "PT0S"),
                ("PT1.9999999999S", "PT2S"),
                ("PT5.0S", "PT5S"),
                ("PT0.00000005S", "PT0.0000001S"),
                ("PT0.00000004S", "PT0S"),
            ],
            &[
                "",
                "-",
                "P",
                "PT",
                "P1DT",
                "1D",
                "00:00:10",
                "P1S",
                "PT1D",
                "PT1S1M",
                "PT1M1M",
                "PT1.5M",
                "P1.5D",
                "PT.5S",
                "PT5.S",
                "PT5",
                "+PT5S",
                "P-1D",
                "PT1ST2S",
                "pt1s",
                "P10675199DT2H48M5.4775808S",
                "P99999999999999999999999999999999999999999D",
                "P\u{0}",
                "PT1S1\u{0}",
            ],
        );
    }

    #[test]
    fn durations_round_trip() {
        let span = TimeSpan::try_from(Duration::from_nanos(1_999)).unwrap();
        assert_eq!(span.ticks(), 19);
        assert_eq!(Duration::try_from(span).unwrap(), Duration::from_nanos(1_900));
        assert!(Duration::try_from(TimeSpan::from_ticks(-1)).unwrap_err().is_mismatch());
        assert!(TimeSpan::try_from(Duration::MAX).unwrap_err().is_mismatch());
    }
}

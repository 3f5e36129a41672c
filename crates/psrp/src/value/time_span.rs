//! `System.TimeSpan`.

use std::str::FromStr;

use super::ascii::{self, AsciiBuffer};
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

    fn ticks(text: &str) -> i64 {
        text.parse::<TimeSpan>().unwrap_or_else(|error| panic!("{text}: {error}")).ticks()
    }

    #[test]
    fn canonical_text_round_trips() {
        for text in [
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
        ] {
            assert_eq!(TimeSpan::from_ticks(ticks(text)).to_string(), text);
        }
    }

    #[test]
    fn non_canonical_text_is_parsed() {
        for (text, seconds) in [
            (" PT90M\n", 5400),
            ("P1Y", 365 * 86400),
            ("P1M", 30 * 86400),
            ("P1Y2M3DT4H", 428 * 86400 + 14400),
            ("PT1H120S", 3720),
            ("PT00S", 0),
            ("-P0D", 0),
            ("PT1.9999999999S", 2),
            ("PT5.0S", 5),
        ] {
            assert_eq!(ticks(text), seconds * TimeSpan::TICKS_PER_SECOND, "{text}");
        }
        assert_eq!(ticks("PT0.00000005S"), 1);
        assert_eq!(ticks("PT0.00000004S"), 0);
    }

    #[test]
    fn malformed_text_is_rejected() {
        for text in [
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
        ] {
            assert!(text.parse::<TimeSpan>().unwrap_err().is_invalid_text(), "{text}");
        }
    }
}

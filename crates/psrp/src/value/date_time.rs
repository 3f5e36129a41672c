//! `System.DateTime`.

use std::str::FromStr;
use std::time::{Duration, SystemTime};

use jiff::{SignedDuration, civil};

use super::TimeSpan;
use super::ascii::{self, AsciiBuffer};
use crate::Error;
use crate::error::Kind;

/// A date and time of day from year 1 to 9999 (`System.DateTime`): the time of a clock with a resolution of 100 ns, in
/// the time zone given by its [`kind`](Self::kind).
///
/// ```
/// use psrp::value::{DateTime, DateTimeKind};
///
/// let leap: DateTime = "2024-02-29T23:59:59.5+02:00".parse()?;
/// assert_eq!((leap.civil().year(), leap.civil().month(), leap.civil().day()), (2024, 2, 29));
/// assert_eq!(leap.kind(), DateTimeKind::Local(120));
/// assert_eq!(leap.to_utc().unwrap().to_string(), "2024-02-29T21:59:59.5Z");
/// # Ok::<(), psrp::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DateTime {
    /// From year 1, in steps of 100 ns.
    civil: civil::DateTime,
    kind: DateTimeKind,
}

/// The time zone of a [`DateTime`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DateTimeKind {
    /// Unknown time zone.
    Unspecified,
    /// Coordinated universal time, `Z`.
    Utc,
    /// The sender's local time; the offset from UTC in minutes, positive east of Greenwich.
    Local(i16),
}

impl DateTime {
    /// 0001-01-01T00:00:00, the value of an uninitialized date in .NET.
    pub const UNSET: Self =
        Self { civil: civil::DateTime::constant(1, 1, 1, 0, 0, 0, 0), kind: DateTimeKind::Unspecified };

    /// Ticks of the last moment of year 9999.
    pub const MAX_TICKS: i64 = 3_155_378_975_999_999_999;

    /// Ticks from the start of year 1 to the start of 1970.
    pub(super) const TICKS_TO_1970: i64 = 719_162 * TimeSpan::TICKS_PER_DAY;

    /// Maximum offset of a time zone, in minutes: 14 hours.
    pub const MAX_OFFSET: i16 = 14 * 60;

    /// Creates a date. Fractions below 100 ns are rounded down. Returns `None` for years before 1 and for an offset
    /// beyond [`MAX_OFFSET`](Self::MAX_OFFSET).
    pub fn new(civil: civil::DateTime, kind: DateTimeKind) -> Option<Self> {
        let has_offset = match kind {
            DateTimeKind::Local(minutes) => (-Self::MAX_OFFSET..=Self::MAX_OFFSET).contains(&minutes),
            DateTimeKind::Unspecified | DateTimeKind::Utc => true,
        };
        let excess = civil.subsec_nanosecond() % 100;
        let civil = match excess {
            0 => civil,
            excess => civil.checked_sub(SignedDuration::from_nanos(excess.into())).ok()?,
        };
        (has_offset && civil.year() >= 1).then_some(Self { civil, kind })
    }

    /// Creates a date from ticks of 100 ns since 0001-01-01T00:00:00. Returns `None` outside of the years 1 to 9999 and
    /// for an offset beyond [`MAX_OFFSET`](Self::MAX_OFFSET).
    pub fn from_ticks(ticks: i64, kind: DateTimeKind) -> Option<Self> {
        const UNIX_EPOCH: civil::DateTime = civil::DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

        // jiff does not add more days than there are between 1970 and 9999.
        let ticks = ticks.checked_sub(Self::TICKS_TO_1970)?;
        let (seconds, rest) = (ticks / TimeSpan::TICKS_PER_SECOND, ticks % TimeSpan::TICKS_PER_SECOND);
        let since = SignedDuration::new(seconds, rest as i32 * 100);
        Self::new(UNIX_EPOCH.checked_add(since).ok()?, kind)
    }

    /// Returns the ticks of 100 ns since 0001-01-01T00:00:00 in the date's own time zone.
    pub fn ticks(self) -> i64 {
        let since = self.civil.duration_since(Self::UNSET.civil);
        since.as_secs() * TimeSpan::TICKS_PER_SECOND + i64::from(since.subsec_nanos() / 100)
    }

    /// Returns the date and time of day in the date's own time zone.
    pub const fn civil(self) -> civil::DateTime {
        self.civil
    }

    /// Returns the time zone.
    pub const fn kind(self) -> DateTimeKind {
        self.kind
    }

    /// Converts to UTC. Returns `None` if the time zone is unknown or the result is outside of the years 1 to 9999.
    pub fn to_utc(self) -> Option<Self> {
        let offset = match self.kind {
            DateTimeKind::Unspecified => return None,
            DateTimeKind::Utc => 0,
            DateTimeKind::Local(minutes) => minutes,
        };
        let utc = self.civil.checked_sub(SignedDuration::from_mins(offset.into())).ok()?;
        Self::new(utc, DateTimeKind::Utc)
    }

    pub(crate) fn text(self) -> AsciiBuffer {
        let mut text = AsciiBuffer::new();
        let civil = self.civil;
        text.push_digits::<4>(civil.year().unsigned_abs().into());
        for (mark, number) in [
            (b'-', civil.month()),
            (b'-', civil.day()),
            (b'T', civil.hour()),
            (b':', civil.minute()),
            (b':', civil.second()),
        ] {
            text.push(mark);
            text.push_digits::<2>(number.unsigned_abs().into());
        }
        text.push_fraction(civil.subsec_nanosecond().unsigned_abs() / 100);
        match self.kind {
            DateTimeKind::Unspecified => {}
            DateTimeKind::Utc => text.push(b'Z'),
            DateTimeKind::Local(minutes) => {
                text.push(if minutes < 0 { b'-' } else { b'+' });
                let minutes = u32::from(minutes.unsigned_abs());
                text.push_digits::<2>(minutes / 60);
                text.push(b':');
                text.push_digits::<2>(minutes % 60);
            }
        }
        text
    }
}

ascii::impl_text! {
    /// Writes the date like .NET does in XML, such as `2024-02-29T23:59:59.1234567+02:00`.
    DateTime
}

/// Parses a date with optional time and offset, surrounded by optional white space. The fraction of the second may have
/// any number of digits and is rounded to 100 ns, half to even. `24:00:00` is the end of the day.
impl FromStr for DateTime {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        parse(ascii::trim(text).as_bytes()).ok_or_else(|| Error::with(Kind::InvalidText, "not a date"))
    }
}

pub(super) fn out_of_range() -> Error {
    Error::with(Kind::Mismatch, "time out of range")
}

/// Rounds down to 100 ns. Fails with [`Error::is_mismatch`] outside of the years 1 to 9999.
impl TryFrom<SystemTime> for DateTime {
    type Error = Error;

    fn try_from(time: SystemTime) -> Result<Self, Error> {
        let nanos = match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => i128::try_from(after.as_nanos()),
            Err(before) => i128::try_from(before.duration().as_nanos()).map(|nanos| -nanos),
        };
        let ticks = nanos.ok().and_then(|nanos| i64::try_from(nanos.div_euclid(100)).ok());
        ticks
            .and_then(|ticks| ticks.checked_add(Self::TICKS_TO_1970))
            .and_then(|ticks| Self::from_ticks(ticks, DateTimeKind::Utc))
            .ok_or_else(out_of_range)
    }
}

/// Fails with [`Error::is_mismatch`] if the time zone is unknown or the system can't represent the time.
impl TryFrom<DateTime> for SystemTime {
    type Error = Error;

    fn try_from(date: DateTime) -> Result<Self, Error> {
        let utc = date.to_utc().ok_or_else(|| match date.kind() {
            DateTimeKind::Unspecified => Error::with(Kind::Mismatch, "the time zone of the date is unknown"),
            _ => out_of_range(),
        })?;
        let ticks = utc.ticks() - DateTime::TICKS_TO_1970;
        let distance = Duration::from_nanos_u128(u128::from(ticks.unsigned_abs()) * 100);
        let time = match ticks {
            ..0 => Self::UNIX_EPOCH.checked_sub(distance),
            _ => Self::UNIX_EPOCH.checked_add(distance),
        };
        time.ok_or_else(out_of_range)
    }
}

/// Consumes a number of `N` digits.
fn digits<const N: usize>(text: &mut &[u8]) -> Option<u32> {
    let (digits, rest) = text.split_first_chunk::<N>()?;
    let mut number = 0;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        number = number * 10 + u32::from(digit - b'0');
    }
    *text = rest;
    Some(number)
}

/// Consumes this byte.
fn skip(text: &mut &[u8], byte: u8) -> Option<()> {
    *text = text.strip_prefix(&[byte])?;
    Some(())
}

fn parse(mut text: &[u8]) -> Option<DateTime> {
    let text = &mut text;
    let year = digits::<4>(text)?;
    skip(text, b'-')?;
    let month = digits::<2>(text)?;
    skip(text, b'-')?;
    let day = digits::<2>(text)?;
    let date = civil::Date::new(year as i16, month as i8, day as i8).ok()?;
    let time = if skip(text, b'T').is_some() { time(text, date)? } else { date.at(0, 0, 0, 0) };
    let kind = match text {
        [] => DateTimeKind::Unspecified,
        [b'Z'] => DateTimeKind::Utc,
        [sign @ (b'+' | b'-'), offset @ ..] => DateTimeKind::Local(minutes(*sign == b'-', offset)?),
        _ => return None,
    };
    DateTime::new(time, kind)
}

/// Parses a time of day.
fn time(text: &mut &[u8], date: civil::Date) -> Option<civil::DateTime> {
    let hour = digits::<2>(text)?;
    skip(text, b':')?;
    let minute = digits::<2>(text)?;
    skip(text, b':')?;
    let second = digits::<2>(text)?;
    let ticks = if skip(text, b'.').is_some() { fraction(text)? } else { 0 };
    // The end of the day, and a fraction that was rounded up to a second.
    let (hour, days) = if (hour, minute, second, ticks) == (24, 0, 0, 0) { (0, 1) } else { (hour, 0) };
    let (ticks, seconds) = if ticks == 10_000_000 { (0, 1) } else { (ticks, 0) };
    // jiff accepts a leap second.
    if second > 59 {
        return None;
    }
    let time = civil::Time::new(hour as i8, minute as i8, second as i8, ticks * 100).ok()?;
    let time = date.to_datetime(time);
    match (days, seconds) {
        (0, 0) => Some(time),
        _ => time.checked_add(SignedDuration::from_secs(days * 86_400 + seconds)).ok(),
    }
}

/// Consumes the digits of a fraction and returns them as ticks, rounded half to even.
fn fraction(text: &mut &[u8]) -> Option<i32> {
    let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(len);
    let mut ticks = 0;
    for at in 0..7 {
        ticks = ticks * 10 + i32::from(digits.get(at).map_or(0, |digit| digit - b'0'));
    }
    if let Some((first, rest)) = digits.get(7..).and_then(<[u8]>::split_first) {
        let half = *first == b'5' && rest.iter().all(|digit| *digit == b'0');
        ticks += i32::from(if half { ticks % 2 == 1 } else { *first >= b'5' });
    }
    *text = rest;
    (len > 0).then_some(ticks)
}

fn minutes(west: bool, mut offset: &[u8]) -> Option<i16> {
    let offset = &mut offset;
    let hours = digits::<2>(offset)?;
    skip(offset, b':')?;
    let minutes = digits::<2>(offset)?;
    if minutes > 59 || !offset.is_empty() {
        return None;
    }
    let minutes = i16::try_from(hours * 60 + minutes).ok()?;
    Some(if west { -minutes } else { minutes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::tests::check_text;

    #[test]
    fn text_is_parsed_and_written() {
        check_text::<DateTime>(
            &[
                "0001-01-01T00:00:00",
                "0999-12-31T00:00:00Z",
                "9999-12-31T23:59:59.9999999",
                "2024-02-29T23:59:59.1234567Z",
                "2021-12-31T12:00:00+05:30",
                "2021-12-31T12:00:00-00:30",
                "2021-12-31T12:00:00+00:00",
                "2020-01-01T00:00:00.5-14:00",
                "2000-02-29T00:00:00.000001Z",
            ],
            &[
                (" 2024-01-02\n", "2024-01-02T00:00:00"),
                ("2024-01-02Z", "2024-01-02T00:00:00Z"),
                ("2024-01-02+01:00", "2024-01-02T00:00:00+01:00"),
                ("2024-12-31T24:00:00Z", "2025-01-01T00:00:00Z"),
                ("2024-12-31T23:59:59.99999999", "2025-01-01T00:00:00"),
                ("2024-01-02T03:04:05.1000000", "2024-01-02T03:04:05.1"),
                ("2024-01-02T03:04:05.00000005", "2024-01-02T03:04:05"),
                ("2024-01-02T03:04:05.00000015", "2024-01-02T03:04:05.0000002"),
                ("2024-01-02T03:04:05.000000050001", "2024-01-02T03:04:05.0000001"),
            ],
            &[
                "",
                "2024",
                "2024-01",
                "2024-1-2",
                "0000-01-01",
                "2023-02-29",
                "1900-02-29",
                "2024-13-01",
                "2024-00-01",
                "2024-01-00",
                "2024-04-31",
                "12024-01-01",
                "-2024-01-01",
                "2024-01-02t03:04:05",
                "2024-01-02 03:04:05",
                "2024-01-02T03:04",
                "2024-01-02T03:04:60",
                "2024-01-02T03:60:00",
                "2024-01-02T25:00:00",
                "2024-01-02T24:00:01",
                "2024-01-02T03:04:05.",
                "2024-01-02T03:04:05z",
                "2024-01-02T03:04:05+1:00",
                "2024-01-02T03:04:05+0100",
                "2024-01-02T03:04:05+01:60",
                "2024-01-02T03:04:05+14:01",
                "2024-01-02T03:04:05Zx",
                "9999-12-31T24:00:00",
                "9999-12-31T23:59:59.99999995",
                "2024-01-0\u{665}",
            ],
        );
    }

    #[test]
    fn ticks_and_offsets_are_converted() {
        for (text, ticks) in [
            ("0001-01-01T00:00:00", 0),
            ("1970-01-01T00:00:00", 621_355_968_000_000_000),
            ("2024-02-29T23:58:57.0000001", 638_448_479_370_000_001),
            ("9999-12-31T23:59:59.9999999", DateTime::MAX_TICKS),
        ] {
            let date: DateTime = text.parse().unwrap();
            assert_eq!(date.ticks(), ticks, "{text}");
            assert_eq!(DateTime::from_ticks(ticks, DateTimeKind::Unspecified), Some(date), "{text}");
        }
        for ticks in [-1, i64::MIN, DateTime::MAX_TICKS + 1, i64::MAX] {
            assert_eq!(DateTime::from_ticks(ticks, DateTimeKind::Utc), None, "{ticks}");
        }
        let date = DateTime::new(civil::date(1, 1, 1).at(0, 0, 0, 199), DateTimeKind::Utc).unwrap();
        assert_eq!(date.ticks(), 1);
        let date: DateTime = "2024-02-29T23:58:57.0000001-01:30".parse().unwrap();
        assert_eq!(date.to_utc().unwrap().to_string(), "2024-03-01T01:28:57.0000001Z");
        assert_eq!(DateTime::from_ticks(0, DateTimeKind::Local(841)), None);
        assert_eq!(DateTime::from_ticks(0, DateTimeKind::Local(1)).unwrap().to_utc(), None);
    }

    #[test]
    fn system_times_round_trip() {
        for text in ["1969-12-31T23:59:59.9999999Z", "2024-02-29T23:59:59.1234567Z", "1970-01-01T00:00:00Z"] {
            let date: DateTime = text.parse().unwrap();
            assert_eq!(DateTime::try_from(SystemTime::try_from(date).unwrap()).unwrap(), date);
        }
        let date: DateTime = "2024-01-02T03:04:05+01:00".parse().unwrap();
        let time = SystemTime::try_from(date).unwrap();
        assert_eq!(DateTime::try_from(time).unwrap().to_string(), "2024-01-02T02:04:05Z");
        let unknown: DateTime = "2024-01-02T03:04:05".parse().unwrap();
        assert!(SystemTime::try_from(unknown).unwrap_err().is_mismatch());
    }
}

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

/// Consumes text of this form, in which `0` stands for a digit. Returns the numbers before and after the other
/// characters.
#[inline]
fn numbers<const N: usize>(text: &mut &[u8], form: &[u8]) -> Option<[u32; N]> {
    let (own, rest) = text.split_at_checked(form.len())?;
    let (mut numbers, mut index) = ([0; N], 0);
    for (byte, form) in own.iter().zip(form) {
        match form {
            b'0' if byte.is_ascii_digit() => numbers[index] = numbers[index] * 10 + u32::from(byte - b'0'),
            mark if mark == byte => index += 1,
            _ => return None,
        }
    }
    *text = rest;
    Some(numbers)
}

fn parse(mut text: &[u8]) -> Option<DateTime> {
    let text = &mut text;
    let [year, month, day] = numbers(text, b"0000-00-00")?;
    let date = civil::Date::new(year as i16, month as i8, day as i8).ok()?;
    let time = match numbers(text, b"T00:00:00") {
        Some([_, hour, minute, second]) => date_time(date, [hour, minute, second], text)?,
        None => date.at(0, 0, 0, 0),
    };
    let kind = match text {
        [] => DateTimeKind::Unspecified,
        [b'Z'] => DateTimeKind::Utc,
        [sign @ (b'+' | b'-'), offset @ ..] => DateTimeKind::Local(minutes(*sign == b'-', offset)?),
        _ => return None,
    };
    DateTime::new(time, kind)
}

/// Consumes the fraction of the second, rounds it half to even, and joins the date and the time of day.
fn date_time(
    date: civil::Date,
    [hour, minute, second]: [u32; 3],
    text: &mut &[u8],
) -> Option<civil::DateTime> {
    let (ticks, excess) = ascii::fraction(text)?;
    let is_up = match excess {
        [b'5', rest @ ..] if rest.iter().all(|digit| *digit == b'0') => ticks % 2 == 1,
        _ => excess.first().is_some_and(|digit| *digit >= b'5'),
    };
    let is_end_of_day = (hour, minute, second, ticks, is_up) == (24, 0, 0, 0, false);
    let hour = if is_end_of_day { 0 } else { hour };
    // jiff accepts a leap second.
    if second > 59 {
        return None;
    }
    let time = civil::Time::new(hour as i8, minute as i8, second as i8, ticks as i32 * 100).ok()?;
    let time = date.to_datetime(time);
    let rest = SignedDuration::new(if is_end_of_day { 86_400 } else { 0 }, if is_up { 100 } else { 0 });
    if rest.is_zero() { Some(time) } else { time.checked_add(rest).ok() }
}

fn minutes(west: bool, mut offset: &[u8]) -> Option<i16> {
    let [hours, minutes] = numbers(&mut offset, b"00:00")?;
    if minutes > 59 || !offset.is_empty() {
        return None;
    }
    let minutes = i16::try_from(hours * 60 + minutes).ok()?;
    Some(if west { -minutes } else { minutes })
}

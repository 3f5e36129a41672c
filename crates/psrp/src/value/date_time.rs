//! `System.DateTime`.

use std::fmt;
use std::str::FromStr;

use super::TimeSpan;
use super::ascii::{self, AsciiBuffer};
use crate::Error;
use crate::error::Kind;

/// A date and time of day (`System.DateTime`): ticks of 100 ns since the start of year 1, in the time zone given by its
/// [`kind`](Self::kind).
///
/// ```
/// use psrp::value::{DateTime, DateTimeKind};
///
/// let leap: DateTime = "2024-02-29T23:59:59.5+02:00".parse()?;
/// assert_eq!((leap.year(), leap.month(), leap.day()), (2024, 2, 29));
/// assert_eq!(leap.kind(), DateTimeKind::Local(120));
/// assert_eq!(leap.to_utc().unwrap().to_string(), "2024-02-29T21:59:59.5Z");
/// # Ok::<(), psrp::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DateTime {
    ticks: i64,
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

/// A day of the calendar.
#[derive(Clone, Copy)]
struct Date {
    year: u32,
    month: u32,
    day: u32,
}

impl Date {
    /// Converts days since 0001-01-01, at most 9999-12-31, to a date.
    fn from_days(days: u32) -> Self {
        // With years that begin in March the leap day comes last; March to December have 306 days.
        let days = days + 306;
        let (era, of_era) = (days / 146_097, days % 146_097);
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        Self { year: era * 400 + year + next, month, day }
    }

    /// Returns the days since 0001-01-01, or `None` for a date that does not exist or is outside of the years 1 to
    /// 9999.
    fn days(self) -> Option<u32> {
        let Self { year, month, day } = self;
        if !(1..=9999).contains(&year)
            || !(1..=12).contains(&month)
            || day < 1
            || day > days_in_month(year, month)
        {
            return None;
        }
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let of_year = (153 * month + 2) / 5 + day - 1;
        Some(365 * year + year / 4 - year / 100 + year / 400 + of_year - 306)
    }
}

fn days_in_month(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl DateTime {
    /// 0001-01-01T00:00:00, the value of an uninitialized date in .NET.
    pub const UNSET: Self = Self { ticks: 0, kind: DateTimeKind::Unspecified };

    /// Ticks of the last moment of year 9999.
    pub const MAX_TICKS: i64 = 3_155_378_975_999_999_999;

    /// Maximum offset of a time zone, in minutes: 14 hours.
    pub const MAX_OFFSET: i16 = 14 * 60;

    /// Creates a date from ticks of 100 ns since 0001-01-01T00:00:00. Returns `None` outside of the years 1 to 9999 and
    /// for an offset beyond [`MAX_OFFSET`](Self::MAX_OFFSET).
    pub const fn from_ticks(ticks: i64, kind: DateTimeKind) -> Option<Self> {
        if let DateTimeKind::Local(minutes) = kind
            && (minutes < -Self::MAX_OFFSET || minutes > Self::MAX_OFFSET)
        {
            return None;
        }
        if ticks < 0 || ticks > Self::MAX_TICKS { None } else { Some(Self { ticks, kind }) }
    }

    /// Returns midnight of a day, or `None` if the day does not exist or is outside of the years 1 to 9999.
    pub fn from_date(year: u32, month: u32, day: u32, kind: DateTimeKind) -> Option<Self> {
        let days = Date { year, month, day }.days()?;
        Self::from_ticks(i64::from(days) * TimeSpan::TICKS_PER_DAY, kind)
    }

    /// Replaces the time of day, with no fraction of a second. Returns `None` for an invalid time.
    pub fn with_time(self, hour: u32, minute: u32, second: u32) -> Option<Self> {
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let seconds = i64::from(hour * 3600 + minute * 60 + second);
        let midnight = self.ticks - self.ticks % TimeSpan::TICKS_PER_DAY;
        Some(Self { ticks: midnight + seconds * TimeSpan::TICKS_PER_SECOND, ..self })
    }

    /// Replaces the fraction of the second, in ticks of 100 ns. Returns `None` for 10,000,000 and more.
    pub fn with_subsecond_ticks(self, ticks: u32) -> Option<Self> {
        let whole = self.ticks - self.ticks % TimeSpan::TICKS_PER_SECOND;
        let ticks = i64::from(ticks);
        (ticks < TimeSpan::TICKS_PER_SECOND).then_some(Self { ticks: whole + ticks, ..self })
    }

    /// Returns the ticks of 100 ns since 0001-01-01T00:00:00 in the date's own time zone.
    pub const fn ticks(self) -> i64 {
        self.ticks
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
            DateTimeKind::Local(minutes) => i64::from(minutes) * TimeSpan::TICKS_PER_MINUTE,
        };
        Self::from_ticks(self.ticks - offset, DateTimeKind::Utc)
    }

    fn date(self) -> Date {
        Date::from_days((self.ticks / TimeSpan::TICKS_PER_DAY) as u32)
    }

    /// Returns the number of whole `unit`s (in ticks) of the time of day, modulo `count`.
    fn part(self, unit: i64, count: i64) -> u32 {
        (self.ticks / unit % count) as u32
    }

    /// Returns the year, from 1 to 9999.
    pub fn year(self) -> u32 {
        self.date().year
    }

    /// Returns the month, from 1 to 12.
    pub fn month(self) -> u32 {
        self.date().month
    }

    /// Returns the day of the month, from 1 to 31.
    pub fn day(self) -> u32 {
        self.date().day
    }

    /// Returns the hour, from 0 to 23.
    pub fn hour(self) -> u32 {
        self.part(TimeSpan::TICKS_PER_HOUR, 24)
    }

    /// Returns the minute, from 0 to 59.
    pub fn minute(self) -> u32 {
        self.part(TimeSpan::TICKS_PER_MINUTE, 60)
    }

    /// Returns the second, from 0 to 59.
    pub fn second(self) -> u32 {
        self.part(TimeSpan::TICKS_PER_SECOND, 60)
    }

    /// Returns the fraction of the second in ticks of 100 ns, from 0 to 9,999,999.
    pub fn subsecond_ticks(self) -> u32 {
        self.part(1, TimeSpan::TICKS_PER_SECOND)
    }

    pub(crate) fn text(self) -> AsciiBuffer {
        let mut text = AsciiBuffer::new();
        let Date { year, month, day } = self.date();
        text.push_digits::<4>(year);
        for (mark, number) in
            [(b'-', month), (b'-', day), (b'T', self.hour()), (b':', self.minute()), (b':', self.second())]
        {
            text.push(mark);
            text.push_digits::<2>(number);
        }
        text.push_fraction(self.subsecond_ticks());
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

/// Writes the date like .NET does in XML, such as `2024-02-29T23:59:59.1234567+02:00`.
impl fmt::Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.text(), f)
    }
}

impl fmt::Debug for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Parses a date with optional time and offset, surrounded by optional white space. The fraction of the second may have
/// any number of digits and is rounded to 100 ns, half to even. `24:00:00` is the end of the day.
impl FromStr for DateTime {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        parse(ascii::trim(text).as_bytes()).ok_or_else(|| Error::with(Kind::InvalidText, "not a date"))
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
    let mut ticks = i64::from(Date { year, month, day }.days()?) * TimeSpan::TICKS_PER_DAY;
    if skip(text, b'T').is_some() {
        ticks += time(text)?;
    }
    let kind = match text {
        [] => DateTimeKind::Unspecified,
        [b'Z'] => DateTimeKind::Utc,
        [sign @ (b'+' | b'-'), offset @ ..] => DateTimeKind::Local(minutes(*sign == b'-', offset)?),
        _ => return None,
    };
    DateTime::from_ticks(ticks, kind)
}

/// Parses a time of day to ticks.
fn time(text: &mut &[u8]) -> Option<i64> {
    let hour = digits::<2>(text)?;
    skip(text, b':')?;
    let minute = digits::<2>(text)?;
    skip(text, b':')?;
    let second = digits::<2>(text)?;
    let subsecond = if skip(text, b'.').is_some() { fraction(text)? } else { 0 };
    let end_of_day = hour == 24 && minute == 0 && second == 0 && subsecond == 0;
    if hour > 23 && !end_of_day || minute > 59 || second > 59 {
        return None;
    }
    Some(i64::from(hour * 3600 + minute * 60 + second) * TimeSpan::TICKS_PER_SECOND + subsecond)
}

/// Consumes the digits of a fraction and returns them as ticks, rounded half to even.
fn fraction(text: &mut &[u8]) -> Option<i64> {
    let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(len);
    let mut ticks = 0;
    for at in 0..7 {
        ticks = ticks * 10 + i64::from(digits.get(at).map_or(0, |digit| digit - b'0'));
    }
    if let Some((first, rest)) = digits.get(7..).and_then(<[u8]>::split_first) {
        let half = *first == b'5' && rest.iter().all(|digit| *digit == b'0');
        ticks += i64::from(if half { ticks % 2 == 1 } else { *first >= b'5' });
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

    fn reformat(text: &str) -> String {
        text.parse::<DateTime>().map_or_else(|error| error.to_string(), |date| date.to_string())
    }

    #[test]
    fn every_day_converts_to_a_date_and_back() {
        let (mut year, mut month, mut day) = (1, 1, 1);
        for days in 0..=3_652_058 {
            let date = Date::from_days(days);
            assert_eq!((date.year, date.month, date.day), (year, month, day));
            assert_eq!(date.days(), Some(days));
            day += 1;
            if day > days_in_month(year, month) {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        assert_eq!((year, month, day), (10_000, 1, 1));
        assert_eq!(Date { year: 1970, month: 1, day: 1 }.days(), Some(719_162));
    }

    #[test]
    fn canonical_text_round_trips() {
        for text in [
            "0001-01-01T00:00:00",
            "0999-12-31T00:00:00Z",
            "9999-12-31T23:59:59.9999999",
            "2024-02-29T23:59:59.1234567Z",
            "2021-12-31T12:00:00+05:30",
            "2021-12-31T12:00:00-00:30",
            "2021-12-31T12:00:00+00:00",
            "2020-01-01T00:00:00.5-14:00",
            "2000-02-29T00:00:00.000001Z",
        ] {
            assert_eq!(reformat(text), text);
        }
    }

    #[test]
    fn non_canonical_text_is_normalized() {
        for (text, expected) in [
            (" 2024-01-02\n", "2024-01-02T00:00:00"),
            ("2024-01-02Z", "2024-01-02T00:00:00Z"),
            ("2024-01-02+01:00", "2024-01-02T00:00:00+01:00"),
            ("2024-12-31T24:00:00Z", "2025-01-01T00:00:00Z"),
            ("2024-12-31T23:59:59.99999999", "2025-01-01T00:00:00"),
            ("2024-01-02T03:04:05.1000000", "2024-01-02T03:04:05.1"),
            ("2024-01-02T03:04:05.00000005", "2024-01-02T03:04:05"),
            ("2024-01-02T03:04:05.00000015", "2024-01-02T03:04:05.0000002"),
            ("2024-01-02T03:04:05.000000050001", "2024-01-02T03:04:05.0000001"),
        ] {
            assert_eq!(reformat(text), expected, "{text:?}");
        }
    }

    #[test]
    fn malformed_text_is_rejected() {
        for text in [
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
        ] {
            assert!(text.parse::<DateTime>().unwrap_err().is_invalid_text(), "{text}");
        }
    }

    #[test]
    fn parts_can_be_set_and_read() {
        let midnight = DateTime::from_date(2024, 2, 29, DateTimeKind::Local(-90)).unwrap();
        let date = midnight.with_time(23, 58, 57).and_then(|date| date.with_subsecond_ticks(1)).unwrap();
        assert_eq!((date.year(), date.month(), date.day()), (2024, 2, 29));
        assert_eq!((date.hour(), date.minute(), date.second(), date.subsecond_ticks()), (23, 58, 57, 1));
        assert_eq!(date.to_utc().unwrap().to_string(), "2024-03-01T01:28:57.0000001Z");
        assert_eq!(date.with_time(0, 0, 0), Some(midnight));
        assert_eq!(date.with_time(24, 0, 0), None);
        assert_eq!(date.with_subsecond_ticks(10_000_000), None);
        assert_eq!(DateTime::from_date(2023, 2, 29, DateTimeKind::Utc), None);
        assert_eq!(DateTime::from_ticks(0, DateTimeKind::Local(841)), None);
        assert_eq!(DateTime::from_ticks(0, DateTimeKind::Local(1)).unwrap().to_utc(), None);
    }
}

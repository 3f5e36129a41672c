//! Conversions of [`DateTime`] and [`TimeSpan`] to and from the types of the standard library and of jiff.
//!
//! Fractions below 100 ns are rounded down.

use std::time::{Duration, SystemTime};

use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp, Zoned};

use super::{DateTime, DateTimeKind, TimeSpan};
use crate::Error;
use crate::error::Kind;

const NANOS_PER_TICK: i128 = 100;

fn out_of_range() -> Error {
    Error::with(Kind::Mismatch, "time out of range")
}

/// Creates a date from nanoseconds since 1970 in the given time zone.
fn from_unix_nanos(nanos: i128, kind: DateTimeKind) -> Result<DateTime, Error> {
    let ticks = i64::try_from(nanos.div_euclid(NANOS_PER_TICK)).map_err(|_| out_of_range())?;
    ticks
        .checked_add(DateTime::TICKS_TO_1970)
        .and_then(|ticks| DateTime::from_ticks(ticks, kind))
        .ok_or_else(out_of_range)
}

/// Returns the nanoseconds since 1970 in UTC.
fn to_unix_nanos(date: DateTime) -> Result<i128, Error> {
    let utc = date.to_utc().ok_or_else(|| match date.kind() {
        DateTimeKind::Unspecified => Error::with(Kind::Mismatch, "the time zone of the date is unknown"),
        _ => out_of_range(),
    })?;
    Ok(i128::from(utc.ticks() - DateTime::TICKS_TO_1970) * NANOS_PER_TICK)
}

fn span_from_nanos(nanos: i128) -> Result<TimeSpan, Error> {
    let ticks = i64::try_from(nanos.div_euclid(NANOS_PER_TICK)).map_err(|_| out_of_range())?;
    Ok(TimeSpan::from_ticks(ticks))
}

fn span_to_nanos(span: TimeSpan) -> i128 {
    i128::from(span.ticks()) * NANOS_PER_TICK
}

/// Fails with [`Error::is_mismatch`] outside of the years 1 to 9999.
impl TryFrom<SystemTime> for DateTime {
    type Error = Error;

    fn try_from(time: SystemTime) -> Result<Self, Error> {
        let nanos = match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => i128::try_from(after.as_nanos()),
            Err(before) => i128::try_from(before.duration().as_nanos()).map(|nanos| -nanos),
        };
        from_unix_nanos(nanos.map_err(|_| out_of_range())?, DateTimeKind::Utc)
    }
}

/// Fails with [`Error::is_mismatch`] if the time zone is unknown or the system can't represent the time.
impl TryFrom<DateTime> for SystemTime {
    type Error = Error;

    fn try_from(date: DateTime) -> Result<Self, Error> {
        let nanos = to_unix_nanos(date)?;
        let distance = Duration::from_nanos_u128(nanos.unsigned_abs());
        let time = if nanos < 0 {
            Self::UNIX_EPOCH.checked_sub(distance)
        } else {
            Self::UNIX_EPOCH.checked_add(distance)
        };
        time.ok_or_else(out_of_range)
    }
}

/// Fails with [`Error::is_mismatch`] for more than 29,000 years.
impl TryFrom<Duration> for TimeSpan {
    type Error = Error;

    fn try_from(duration: Duration) -> Result<Self, Error> {
        span_from_nanos(i128::try_from(duration.as_nanos()).map_err(|_| out_of_range())?)
    }
}

/// Fails with [`Error::is_mismatch`] for a negative span.
impl TryFrom<TimeSpan> for Duration {
    type Error = Error;

    fn try_from(span: TimeSpan) -> Result<Self, Error> {
        let nanos = u128::try_from(span_to_nanos(span)).map_err(|_| out_of_range())?;
        Ok(Self::from_nanos_u128(nanos))
    }
}

/// Fails with [`Error::is_mismatch`] outside of the years 1 to 9999.
impl TryFrom<Timestamp> for DateTime {
    type Error = Error;

    fn try_from(time: Timestamp) -> Result<Self, Error> {
        from_unix_nanos(time.as_nanosecond(), DateTimeKind::Utc)
    }
}

/// Fails with [`Error::is_mismatch`] if the time zone is unknown, and at the ends of the calendar.
impl TryFrom<DateTime> for Timestamp {
    type Error = Error;

    fn try_from(date: DateTime) -> Result<Self, Error> {
        Self::from_nanosecond(to_unix_nanos(date)?).map_err(|_| out_of_range())
    }
}

/// Converts to local time with an offset; the name of the time zone is lost.
///
/// Fails with [`Error::is_mismatch`] outside of the years 1 to 9999, and for an offset beyond 14 hours or with
/// seconds.
impl TryFrom<&Zoned> for DateTime {
    type Error = Error;

    fn try_from(time: &Zoned) -> Result<Self, Error> {
        let seconds = time.offset().seconds();
        let minutes = i16::try_from(seconds / 60).ok().filter(|_| seconds % 60 == 0);
        let kind = DateTimeKind::Local(minutes.ok_or_else(out_of_range)?);
        let nanos = time.timestamp().as_nanosecond() + i128::from(seconds) * 1_000_000_000;
        from_unix_nanos(nanos, kind)
    }
}

/// Creates a time in a zone with a fixed offset. Fails like the conversion to [`Timestamp`].
impl TryFrom<DateTime> for Zoned {
    type Error = Error;

    fn try_from(date: DateTime) -> Result<Self, Error> {
        let minutes = match date.kind() {
            DateTimeKind::Local(minutes) => i32::from(minutes),
            _ => 0,
        };
        let offset = Offset::from_seconds(minutes * 60).map_err(|_| out_of_range())?;
        Ok(Timestamp::try_from(date)?.to_zoned(offset.to_time_zone()))
    }
}

/// Fails with [`Error::is_mismatch`] for more than 29,000 years.
impl TryFrom<SignedDuration> for TimeSpan {
    type Error = Error;

    fn try_from(duration: SignedDuration) -> Result<Self, Error> {
        span_from_nanos(duration.as_nanos())
    }
}

impl From<TimeSpan> for SignedDuration {
    fn from(span: TimeSpan) -> Self {
        let (seconds, ticks) = (
            span.ticks().div_euclid(TimeSpan::TICKS_PER_SECOND),
            span.ticks().rem_euclid(TimeSpan::TICKS_PER_SECOND),
        );
        Self::new(seconds, ticks as i32 * 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> DateTime {
        text.parse().unwrap()
    }

    #[test]
    fn timestamps_round_trip() {
        for text in ["2024-02-29T23:59:59.1234567Z", "0001-01-01T00:00:00Z", "9999-12-29T00:00:00Z"] {
            let time = Timestamp::try_from(date(text)).unwrap();
            assert_eq!(time, text.parse().unwrap());
            assert_eq!(DateTime::try_from(time).unwrap(), date(text));
        }
        assert!(Timestamp::try_from(date("2024-02-29T00:00:00")).unwrap_err().is_mismatch());
    }

    #[test]
    fn zoned_times_keep_their_offset() {
        let zoned = Zoned::try_from(date("2024-02-29T12:00:00-03:30")).unwrap();
        assert_eq!(zoned.timestamp(), "2024-02-29T15:30:00Z".parse().unwrap());
        assert_eq!(DateTime::try_from(&zoned).unwrap(), date("2024-02-29T12:00:00-03:30"));
    }

    #[test]
    fn signed_durations_round_trip() {
        for ticks in [0, 1, -1, i64::MIN, i64::MAX] {
            let span = TimeSpan::from_ticks(ticks);
            assert_eq!(TimeSpan::try_from(SignedDuration::from(span)).unwrap(), span);
        }
        assert!(TimeSpan::try_from(SignedDuration::MAX).unwrap_err().is_mismatch());
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

    #[test]
    fn durations_round_trip() {
        let span = TimeSpan::try_from(Duration::from_nanos(1_999)).unwrap();
        assert_eq!(span.ticks(), 19);
        assert_eq!(Duration::try_from(span).unwrap(), Duration::from_nanos(1_900));
        assert!(Duration::try_from(TimeSpan::from_ticks(-1)).unwrap_err().is_mismatch());
        assert!(TimeSpan::try_from(Duration::MAX).unwrap_err().is_mismatch());
    }
}

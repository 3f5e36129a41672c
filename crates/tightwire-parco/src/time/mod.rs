//! [`Timestamp`] and [`ZonedTimestamp`], and conversions between them and the types of other crates.

#[cfg(feature = "alloc")]
use alloc::string::String;
#[cfg(feature = "std")]
use std::time::{Duration, SystemTime};

use crate::error::Fault;

#[cfg(any(feature = "jiff", feature = "jiff02"))]
mod jiff;

/// A point in time in nanoseconds since 1970-01-01T00:00:00Z, not counting leap seconds.
///
/// The range is that of an `i64`: 1677-09-21T00:12:43.145224192Z to 2262-04-11T23:47:16.854775807Z. Convert it to other
/// types with [`FromNanos`](crate::wire::FromNanos).
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use tightwire_parco::Timestamp;
/// use tightwire_parco::wire::FromNanos;
///
/// assert_eq!(tightwire_parco::to_vec(&Timestamp::from_nanos(-1))?, [0xff; 8]);
///
/// let time = SystemTime::UNIX_EPOCH + Duration::from_millis(7);
/// let timestamp = Timestamp::checked(&time).ok_or("out of range")?;
/// assert_eq!(SystemTime::from_nanos(timestamp.as_nanos())?, time);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const UNIX_EPOCH: Self = Self(0);

    /// The earliest timestamp: 1677-09-21T00:12:43.145224192Z.
    pub const MIN: Self = Self(i64::MIN);

    /// The latest timestamp: 2262-04-11T23:47:16.854775807Z.
    pub const MAX: Self = Self(i64::MAX);

    /// The timestamp that the Go library writes for Go's zero time.
    ///
    /// Go's zero time is the start of the year 1, which is out of range; wrapped to 64 bits it is
    /// 1754-08-30T22:43:41.128654848Z.
    pub const GO_ZERO: Self = Self(-6_795_364_578_871_345_152);

    /// Creates a timestamp from nanoseconds since 1970; negative values are earlier.
    #[inline]
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// Returns the nanoseconds since 1970; negative values are earlier.
    #[inline]
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// Converts a point in time of another type. Returns `None` if it is out of range or in a leap second.
    #[inline]
    pub fn checked(instant: &impl ToNanos) -> Option<Self> {
        i64::try_from(instant.to_nanos()).ok().filter(|_| !instant.is_leap_second()).map(Self)
    }

    /// Converts a point in time of another type and wraps if it is out of range, as Go does. A wrapped timestamp is a
    /// different time.
    ///
    /// Use it to exchange timestamps with programs that rely on wrapping, such as those that send Go's zero time. All
    /// wire types reject out-of-range times.
    ///
    /// ```
    /// use tightwire_parco::Timestamp;
    ///
    /// let year_1 = -62_135_596_800 * 1_000_000_000_i128;
    /// assert_eq!(Timestamp::wrapping(&year_1), Timestamp::GO_ZERO);
    /// ```
    #[inline]
    pub fn wrapping(instant: &impl ToNanos) -> Self {
        Self(instant.to_nanos() as i64)
    }
}

/// Default type of the names of time zones: `String`, or without the feature `alloc` a constant.
#[cfg(feature = "alloc")]
type Zone = String;
#[cfg(not(feature = "alloc"))]
type Zone = &'static str;

/// A point in time and the name of a time zone.
///
/// The name is one of the IANA database, `UTC`, or `Local` for the zone of the decoding machine. The offset is not
/// encoded, and this type does not look the name up in a database. `Z` is a string or bytes, owned or borrowed from the
/// input.
///
/// ```
/// use tightwire_parco::{ZonedTimestamp, Timestamp};
///
/// let bytes = tightwire_parco::to_vec(&ZonedTimestamp { at: Timestamp::UNIX_EPOCH, zone: "Asia/Kolkata" })?;
/// let located: ZonedTimestamp<&str> = tightwire_parco::decode_exact(&bytes)?;
/// assert_eq!(located.zone, "Asia/Kolkata");
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ZonedTimestamp<Z = Zone> {
    /// The point in time.
    pub at: Timestamp,
    /// The name of the time zone.
    pub zone: Z,
}

impl Default for ZonedTimestamp {
    fn default() -> Self {
        Self { at: Timestamp::UNIX_EPOCH, zone: "UTC".into() }
    }
}

/// A type that can be converted to nanoseconds since 1970.
///
/// Implemented for [`Timestamp`], [`ZonedTimestamp`], `SystemTime`, for `i64` and `i128` as nanoseconds, and for the
/// types of `jiff`, `chrono` and `time` behind their features.
pub trait ToNanos {
    /// Returns the nanoseconds since 1970-01-01T00:00:00Z, not counting leap seconds.
    fn to_nanos(&self) -> i128;

    /// Returns whether the time is in a leap second, for which nanoseconds since 1970 have no number. Default: false.
    #[inline]
    fn is_leap_second(&self) -> bool {
        false
    }
}

/// A type that can be created from nanoseconds since 1970.
pub trait FromNanos: Sized {
    /// Creates the value from nanoseconds since 1970-01-01T00:00:00Z, not counting leap seconds.
    ///
    /// # Errors
    ///
    /// Fails if the type cannot represent this time.
    fn from_nanos(nanos: i64) -> Result<Self, Fault>;
}

macro_rules! instants {
    ($($(#[$cfg:meta])* $type:ty: |$instant:ident| $to_nanos:expr, |$nanos:ident| $from_nanos:expr;)*) => {$(
        $(#[$cfg])*
        impl ToNanos for $type {
            #[inline]
            fn to_nanos(&self) -> i128 {
                let $instant = self;
                $to_nanos
            }
        }

        $(#[$cfg])*
        impl FromNanos for $type {
            #[inline]
            fn from_nanos($nanos: i64) -> Result<Self, Fault> {
                $from_nanos
            }
        }
    )*};
}

// An `OffsetDateTime` is decoded in UTC.
instants! {
    i64: |instant| (*instant).into(), |nanos| Ok(nanos);
    i128: |instant| *instant, |nanos| Ok(nanos.into());
    Timestamp: |instant| instant.0.into(), |nanos| Ok(Self(nanos));
    // A `Duration` has 64-bit seconds, so its nanoseconds fit into 128 bits.
    #[cfg(feature = "std")]
    SystemTime: |instant| match instant.duration_since(Self::UNIX_EPOCH) {
        Ok(after) => after.as_nanos() as i128,
        Err(before) => -(before.duration().as_nanos() as i128),
    }, |nanos| {
        let distance = Duration::from_nanos(nanos.unsigned_abs());
        let time = match nanos {
            ..0 => Self::UNIX_EPOCH.checked_sub(distance),
            _ => Self::UNIX_EPOCH.checked_add(distance),
        };
        time.ok_or(Fault::INVALID_VALUE)
    };
    #[cfg(feature = "jiff")]
    ::jiff1::Timestamp: |instant| instant.as_nanosecond(),
        |nanos| Self::from_nanosecond(nanos.into()).map_err(|_| Fault::INVALID_VALUE);
    #[cfg(feature = "jiff02")]
    ::jiff::Timestamp: |instant| instant.as_nanosecond(),
        |nanos| Self::from_nanosecond(nanos.into()).map_err(|_| Fault::INVALID_VALUE);
    #[cfg(feature = "time")]
    time::OffsetDateTime: |instant| instant.unix_timestamp_nanos(),
        |nanos| Self::from_unix_timestamp_nanos(nanos.into()).map_err(|_| Fault::INVALID_VALUE);
    #[cfg(feature = "time")]
    time::UtcDateTime: |instant| instant.unix_timestamp_nanos(),
        |nanos| Self::from_unix_timestamp_nanos(nanos.into()).map_err(|_| Fault::INVALID_VALUE);
}

impl<Z> ToNanos for ZonedTimestamp<Z> {
    #[inline]
    fn to_nanos(&self) -> i128 {
        self.at.to_nanos()
    }
}

#[cfg(feature = "chrono")]
impl<Z: chrono::TimeZone> ToNanos for chrono::DateTime<Z> {
    #[inline]
    fn to_nanos(&self) -> i128 {
        i128::from(self.timestamp()) * 1_000_000_000 + i128::from(self.timestamp_subsec_nanos())
    }

    #[inline]
    fn is_leap_second(&self) -> bool {
        self.timestamp_subsec_nanos() >= 1_000_000_000
    }
}

#[cfg(feature = "chrono")]
impl FromNanos for chrono::DateTime<chrono::Utc> {
    #[inline]
    fn from_nanos(nanos: i64) -> Result<Self, Fault> {
        Ok(Self::from_timestamp_nanos(nanos))
    }
}

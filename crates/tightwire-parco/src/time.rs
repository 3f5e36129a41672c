//! Points in time: nanoseconds since 1970 in 64 bits, and what they are made from and become.

use alloc::string::String;
#[cfg(feature = "std")]
use std::time::{Duration, SystemTime};

use crate::error::Fault;
use crate::form::{DecodeForm, EncodeForm};
use crate::wire::{FromOctets, Octets, Order, TimeLocation, TimeUtc};

/// The forms that types have by themselves. The modules below use it too.
macro_rules! forms {
    ($($(#[$cfg:meta])* $type:ty => $form:ty;)*) => {$(
        $(#[$cfg])*
        impl<O: Order> EncodeForm<O> for $type {
            type Form = $form;
        }

        $(#[$cfg])*
        impl<O: Order> DecodeForm<'_, O> for $type {
            type Form = $form;
        }
    )*};
}

#[cfg(feature = "chrono")]
mod chrono;
#[cfg(feature = "jiff")]
mod jiff;
#[cfg(feature = "time")]
#[path = "time/time.rs"]
mod time_crate;

/// A point in time: nanoseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
///
/// The range is that of 64 bits: from 1677-09-21T00:12:43.145224192Z to 2262-04-11T23:47:16.854775807Z. Other types are
/// made of one with [`FromNanos`](crate::wire::FromNanos).
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

    /// The earliest: 1677-09-21T00:12:43.145224192Z.
    pub const MIN: Self = Self(i64::MIN);

    /// The latest: 2262-04-11T23:47:16.854775807Z.
    pub const MAX: Self = Self(i64::MAX);

    /// What Go writes for its zero time.
    ///
    /// That time is the start of the year 1, which 64 bits cannot tell; wrapped it is 1754-08-30T22:43:41.128654848Z.
    pub const GO_ZERO: Self = Self(-6_795_364_578_871_345_152);

    /// So many nanoseconds after 1970, or before it if negative.
    #[inline]
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// The nanoseconds after 1970, negative for what is before it.
    #[inline]
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// A point in time of another type, or nothing if it is out of range.
    #[inline]
    pub fn checked(instant: &impl ToNanos) -> Option<Self> {
        i64::try_from(instant.to_nanos()).ok().map(Self)
    }

    /// A point in time of another type as Go writes it: what is out of range loses the upper bits of its nanoseconds,
    /// and so is another time.
    ///
    /// It is the way to exchange such times with programs that rely on it, as those that send Go's zero time do. By
    /// itself every form refuses them.
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

/// A point in time and the name of the zone that it was written in.
///
/// The name is that of the IANA database, or `UTC`, or `Local` for the zone of the reading machine. Offsets are not on
/// the wire: what the name means is up to a database, which this type does not need. `Z` is text, owned or borrowed
/// from the input, or bytes, as a name can be any.
///
/// ```
/// use tightwire_parco::{Located, Timestamp};
///
/// let bytes = tightwire_parco::to_vec(&Located { at: Timestamp::UNIX_EPOCH, zone: "Asia/Kolkata" })?;
/// let located: Located<&str> = tightwire_parco::decode_exact(&bytes)?;
/// assert_eq!(located.zone, "Asia/Kolkata");
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Located<Z = String> {
    /// When it is.
    pub at: Timestamp,
    /// Where, by the zone's name.
    pub zone: Z,
}

impl<Z> Located<Z> {
    /// The same instant with a zone of another type, such as `&str` for a `String`.
    pub fn as_deref(&self) -> Located<&Z::Target>
    where
        Z: core::ops::Deref,
    {
        Located { at: self.at, zone: &self.zone }
    }
}

impl Located<&'static str> {
    /// A point in time in UTC.
    pub const fn utc(at: Timestamp) -> Self {
        Self { at, zone: "UTC" }
    }
}

impl Default for Located {
    fn default() -> Self {
        Self { at: Timestamp::UNIX_EPOCH, zone: "UTC".into() }
    }
}

impl Default for Located<&str> {
    fn default() -> Self {
        Located::utc(Timestamp::UNIX_EPOCH)
    }
}

/// What is a point in time.
///
/// Implemented for [`Timestamp`], for `i64` and `i128` as nanoseconds, for [`Located`], for `SystemTime`, and behind
/// features for the types of `jiff`, `chrono` and `time`.
pub trait ToNanos {
    /// Nanoseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
    fn to_nanos(&self) -> i128;
}

/// What can be made from a point in time.
pub trait FromNanos: Sized {
    /// The point in time that is so many nanoseconds after 1970-01-01T00:00:00Z, leap seconds not counted.
    ///
    /// # Errors
    ///
    /// Fails if the type has no such value.
    fn from_nanos(nanos: i64) -> Result<Self, Fault>;
}

macro_rules! number {
    ($($type:ty),*) => {$(
        impl ToNanos for $type {
            #[inline]
            fn to_nanos(&self) -> i128 {
                i128::from(*self)
            }
        }

        impl FromNanos for $type {
            #[inline]
            fn from_nanos(nanos: i64) -> Result<Self, Fault> {
                Ok(nanos.into())
            }
        }
    )*};
}

number!(i64, i128);

impl ToNanos for Timestamp {
    #[inline]
    fn to_nanos(&self) -> i128 {
        self.0.into()
    }
}

impl FromNanos for Timestamp {
    #[inline]
    fn from_nanos(nanos: i64) -> Result<Self, Fault> {
        Ok(Self(nanos))
    }
}

impl<Z> ToNanos for Located<Z> {
    #[inline]
    fn to_nanos(&self) -> i128 {
        self.at.to_nanos()
    }
}

#[cfg(feature = "std")]
impl ToNanos for SystemTime {
    #[inline]
    fn to_nanos(&self) -> i128 {
        // Seconds have 64 bits, so the nanoseconds of a `Duration` are far from the limits of 128.
        match self.duration_since(Self::UNIX_EPOCH) {
            Ok(after) => after.as_nanos() as i128,
            Err(before) => -(before.duration().as_nanos() as i128),
        }
    }
}

#[cfg(feature = "std")]
impl FromNanos for SystemTime {
    #[inline]
    fn from_nanos(nanos: i64) -> Result<Self, Fault> {
        let distance = Duration::from_nanos(nanos.unsigned_abs());
        let time = if nanos < 0 {
            Self::UNIX_EPOCH.checked_sub(distance)
        } else {
            Self::UNIX_EPOCH.checked_add(distance)
        };
        time.ok_or(Fault::INVALID_VALUE)
    }
}

forms! {
    Timestamp => TimeUtc;
    #[cfg(feature = "std")]
    SystemTime => TimeUtc;
}

impl<O: Order, Z: Octets> EncodeForm<O> for Located<Z> {
    type Form = TimeLocation;
}

impl<'de, O: Order, Z: FromOctets<'de>> DecodeForm<'de, O> for Located<Z> {
    type Form = TimeLocation;
}

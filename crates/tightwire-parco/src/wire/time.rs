//! Points in time, with or without the name of a time zone.

use super::prelude::*;
use super::{FromOctets, I64, Le, Octets, Opt, SmallVarchar};
use crate::options::Mode;
use crate::time::{FromNanos, Timestamp, ToNanos, ZonedTimestamp};

/// A point in time: signed nanoseconds since 1970-01-01T00:00:00Z in eight bytes, always little endian.
///
/// Encodes types that implement [`ToNanos`] and decodes types that implement [`FromNanos`]: [`Timestamp`], `i64`,
/// `SystemTime`, and the types of `jiff`, `chrono` and `time` behind the features of these names. An offset is not encoded.
/// Leap seconds, and times outside of the years 1677 to 2262, fail with [`Error::is_overflow`](crate::Error::is_overflow); [`Timestamp::wrapping`] computes
/// what Go writes for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeUtc;

/// A point in time as [`TimeUtc`], then an optional [`SmallVarchar`] with the name of a time zone.
///
/// Encodes and decodes [`ZonedTimestamp`], and `jiff::ZonedDateTime` behind the feature `jiff`. The flag before the name is
/// always written as 1, because a Go time always has a zone. An absent name is decoded as UTC, and with
/// [`Mode::Compat`] as UTC at [`Timestamp::GO_ZERO`], whatever the encoded time. An empty name also means UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeLocation;

/// Time zone for an absent or empty name.
const UTC: &[u8] = b"UTC";

const INSTANT: I64<Le> = I64::NEW;

const ZONE: Opt<SmallVarchar> = Opt::NEW;

impl Wire for TimeUtc {
    #[inline]
    fn fixed_size(&self) -> Option<usize> {
        Some(8)
    }

    #[inline]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        input.skip(8)
    }

    #[cfg(feature = "alloc")]
    fn schema(&self, _: &mut SchemaContext) -> Schema {
        Schema::TimeUtc
    }
}

static_wire!([] TimeUtc = Self);

impl<T: ToNanos> Put<T> for TimeUtc {
    #[inline]
    fn put(&self, value: &T, writer: &mut Writer<'_>) -> Result<(), Fault> {
        INSTANT.put(&nanos(value)?, writer)
    }

    #[inline]
    fn size(&self, value: &T, _: Levels) -> Result<usize, Fault> {
        nanos(value).map(|_| 8)
    }
}

impl<T: FromNanos> Get<'_, T> for TimeUtc {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, '_>) -> Result<T, Fault> {
        T::from_nanos(INSTANT.get(reader)?)
    }
}

#[inline]
fn nanos<T: ToNanos>(value: &T) -> Result<i64, Fault> {
    Timestamp::checked(value).map(Timestamp::as_nanos).ok_or(Fault::OVERFLOW)
}

impl TimeLocation {
    /// Writes a time and the name of a zone, which has at most 255 bytes.
    #[inline]
    pub(crate) fn put_parts<T: ToNanos>(at: &T, zone: &[u8], writer: &mut Writer<'_>) -> Result<(), Fault> {
        writer.reserve(10 + zone.len());
        TimeUtc.put(at, writer)?;
        writer.array([1]);
        SmallVarchar::NEW.put(zone, writer)
    }

    /// Returns the encoded size of a time and the name of a zone.
    #[inline]
    pub(crate) fn size_of_parts<T: ToNanos>(at: &T, zone: &[u8]) -> Result<usize, Fault> {
        nanos(at)?;
        Ok(8 + 1 + SmallVarchar::NEW.size(zone, Levels::default())?)
    }

    /// Reads a time and the name of a zone, which is never empty.
    #[inline]
    pub(crate) fn get_parts<'de>(reader: &mut Reader<'_, 'de>) -> Result<(Timestamp, &'de [u8]), Fault> {
        let at = TimeUtc.get(reader)?;
        let zone: Option<&[u8]> = ZONE.get(reader)?;
        Ok(match zone {
            None if reader.options().mode == Mode::Compat => (Timestamp::GO_ZERO, UTC),
            None | Some([]) => (at, UTC),
            Some(zone) => (at, zone),
        })
    }
}

impl Wire for TimeLocation {
    #[inline]
    fn min_size(&self) -> usize {
        9
    }

    #[inline]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        input.skip(8)?;
        ZONE.walk(input)
    }

    #[cfg(feature = "alloc")]
    fn schema(&self, _: &mut SchemaContext) -> Schema {
        Schema::TimeLocation
    }
}

static_wire!([] TimeLocation = Self);

impl<Z: Octets> Put<ZonedTimestamp<Z>> for TimeLocation {
    #[inline]
    fn put(&self, value: &ZonedTimestamp<Z>, writer: &mut Writer<'_>) -> Result<(), Fault> {
        Self::put_parts(&value.at, value.zone.octets(), writer)
    }

    #[inline]
    fn size(&self, value: &ZonedTimestamp<Z>, _: Levels) -> Result<usize, Fault> {
        Self::size_of_parts(&value.at, value.zone.octets())
    }
}

impl<'de, Z: FromOctets<'de>> Get<'de, ZonedTimestamp<Z>> for TimeLocation {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<ZonedTimestamp<Z>, Fault> {
        let (at, zone) = Self::get_parts(reader)?;
        if Z::OWNED {
            reader.count_allocation(zone.len())?;
        }
        let name = Z::from_octets(zone).map_err(|fault| reader.rewind_fault(fault, zone.len()))?;
        Ok(ZonedTimestamp { at, zone: name })
    }

    #[inline]
    fn get_into(&self, reader: &mut Reader<'_, 'de>, value: &mut ZonedTimestamp<Z>) -> Result<(), Fault> {
        let (at, zone) = Self::get_parts(reader)?;
        if Z::OWNED {
            reader.count_allocation(zone.len())?;
        }
        value.at = at;
        value.zone.replace(zone).map_err(|fault| reader.rewind_fault(fault, zone.len()))
    }
}

//! Conversions for both versions of the `jiff` crate.

use super::{FromNanos, ToNanos};
use crate::error::ErrorKind;
use crate::wire::TimeLocation;
use crate::wire::prelude::*;

/// Implements the traits for the type with a time zone, and the functions that convert names and zones.
macro_rules! zoned {
    ($jiff:ident::$zoned:ident, $to_zoned:ident, $zone:ident) => {
        impl ToNanos for ::$jiff::$zoned {
            #[inline]
            fn to_nanos(&self) -> i128 {
                self.timestamp().to_nanos()
            }
        }

        /// Fails with [`Error::is_unknown_zone`](crate::Error::is_unknown_zone) if the zone has no IANA name, such as a fixed
        /// offset: the decoder could not restore it.
        impl Put<::$jiff::$zoned> for TimeLocation {
            fn put(&self, value: &::$jiff::$zoned, writer: &mut Writer<'_>) -> Result<(), Fault> {
                let name = value.time_zone().iana_name().ok_or(UNKNOWN)?;
                Self::put_parts(value, name.as_bytes(), writer)
            }

            fn size(&self, value: &::$jiff::$zoned, _: Levels) -> Result<usize, Fault> {
                let name = value.time_zone().iana_name().ok_or(UNKNOWN)?;
                Self::size_of_parts(value, name.as_bytes())
            }
        }

        /// Looks the name up in the time zone database of `jiff`. Fails with
        /// [`Error::is_unknown_zone`](crate::Error::is_unknown_zone) if the name is not found.
        impl Get<'_, ::$jiff::$zoned> for TimeLocation {
            fn get(&self, reader: &mut Reader<'_, '_>) -> Result<::$jiff::$zoned, Fault> {
                let (at, name) = Self::get_parts(reader)?;
                let at = <::$jiff::Timestamp as FromNanos>::from_nanos(at.as_nanos())?;
                Ok(at.$to_zoned($zone(name)?))
            }
        }

        /// Returns the time zone with this name. `UTC` needs no database.
        fn $zone(name: &[u8]) -> Result<::$jiff::tz::TimeZone, Fault> {
            match name {
                b"UTC" => Ok(::$jiff::tz::TimeZone::UTC),
                #[cfg(feature = "std")]
                b"Local" => ::$jiff::tz::TimeZone::try_system().map_err(|_| UNKNOWN),
                name => {
                    let name = core::str::from_utf8(name).map_err(|_| UNKNOWN)?;
                    ::$jiff::tz::TimeZone::get(name).map_err(|_| UNKNOWN)
                }
            }
        }
    };
}

const UNKNOWN: Fault = Fault(ErrorKind::UnknownZone);

#[cfg(feature = "jiff")]
zoned!(jiff1::ZonedDateTime, to_zoned_datetime, zone);
#[cfg(feature = "jiff02")]
zoned!(jiff::Zoned, to_zoned, zone_02);

//! Conversions for the `jiff` crate.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::{FromNanos, ToNanos};
use crate::error::{ErrorKind, Fault};
use crate::options::Levels;
use crate::read::Reader;
use crate::wire::{Get, Put, TimeLocation};
use crate::write::Writer;

impl ToNanos for Zoned {
    #[inline]
    fn to_nanos(&self) -> i128 {
        self.timestamp().to_nanos()
    }
}

/// Fails with [`Error::is_unknown_zone`](crate::Error::is_unknown_zone) if the zone has no IANA name, such as a fixed
/// offset: the decoder could not restore it.
impl Put<Zoned> for TimeLocation {
    fn put(&self, value: &Zoned, writer: &mut Writer<'_>) -> Result<(), Fault> {
        Self::put_parts(value, name(value)?.as_bytes(), writer)
    }

    fn size(&self, value: &Zoned, _: Levels) -> Result<usize, Fault> {
        Self::size_of_parts(value, name(value)?.as_bytes())
    }
}

/// Looks the name up in the time zone database of `jiff`. Fails with
/// [`Error::is_unknown_zone`](crate::Error::is_unknown_zone) if the name is not found.
impl Get<'_, Zoned> for TimeLocation {
    fn get(&self, reader: &mut Reader<'_, '_>) -> Result<Zoned, Fault> {
        let (at, name) = Self::get_parts(reader)?;
        let at = <Timestamp as FromNanos>::from_nanos(at.as_nanos())?;
        Ok(at.to_zoned(zone(name)?))
    }
}

fn name(value: &Zoned) -> Result<&str, Fault> {
    value.time_zone().iana_name().ok_or(Fault(ErrorKind::UnknownZone))
}

/// Returns the time zone with this name. `UTC` needs no database.
fn zone(name: &[u8]) -> Result<TimeZone, Fault> {
    let unknown = Fault(ErrorKind::UnknownZone);
    match name {
        b"UTC" => Ok(TimeZone::UTC),
        #[cfg(feature = "std")]
        b"Local" => TimeZone::try_system().map_err(|_| unknown),
        name => {
            let name = core::str::from_utf8(name).map_err(|_| unknown)?;
            TimeZone::get(name).map_err(|_| unknown)
        }
    }
}

//! Conversions for the `time` crate.

use time::{OffsetDateTime, UtcDateTime};

use super::{FromNanos, ToNanos};
use crate::default_wire::{DecodeAs, EncodeAs};
use crate::error::Fault;
use crate::wire::{Order, TimeUtc};

macro_rules! instant {
    ($($type:ty),*) => {$(
        impl ToNanos for $type {
            #[inline]
            fn to_nanos(&self) -> i128 {
                self.unix_timestamp_nanos()
            }
        }

        impl FromNanos for $type {
            #[inline]
            fn from_nanos(nanos: i64) -> Result<Self, Fault> {
                Self::from_unix_timestamp_nanos(nanos.into()).map_err(|_| Fault::INVALID_VALUE)
            }
        }
    )*};
}

// An `OffsetDateTime` is decoded in UTC.
instant!(OffsetDateTime, UtcDateTime);

default_wires! {
    OffsetDateTime => TimeUtc;
    UtcDateTime => TimeUtc;
}

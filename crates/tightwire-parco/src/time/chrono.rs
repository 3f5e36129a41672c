//! Conversions for the `chrono` crate.

use chrono::{DateTime, TimeZone, Utc};

use super::{FromNanos, ToNanos};
use crate::default_wire::{DecodeAs, EncodeAs};
use crate::error::Fault;
use crate::wire::{Order, TimeUtc};

impl<Z: TimeZone> ToNanos for DateTime<Z> {
    #[inline]
    fn to_nanos(&self) -> i128 {
        i128::from(self.timestamp()) * 1_000_000_000 + i128::from(self.timestamp_subsec_nanos())
    }
}

impl FromNanos for DateTime<Utc> {
    #[inline]
    fn from_nanos(nanos: i64) -> Result<Self, Fault> {
        Ok(Self::from_timestamp_nanos(nanos))
    }
}

default_wires! {
    DateTime<Utc> => TimeUtc;
}

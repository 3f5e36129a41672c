//! Default wire types of types that are encoded as other types: numbers, addresses, dates, identifiers.
//!
//! Each row of the tables below is a type, the type that it is converted to, and the wire type of both.

use core::marker::PhantomData;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use core::num::{NonZero, Wrapping};
use core::time::Duration;

use crate::default_wire::{DecodeAs, EncodeAs};
use crate::error::Fault;
use crate::options::Levels;
use crate::read::Reader;
use crate::wire::{
    Array, Either, Endian, Format, Get, I8, I16, I32, I64, Order, Put, Skip, U8, U16, U32, U64,
};
use crate::write::Writer;

/// Implements the traits for types that are converted. The parameter in brackets is the byte order.
macro_rules! converted {
    ($(
        $(#[$cfg:meta])* [$($order:ident)?] $type:ty: $other:ty = $wire:ty,
        |$value:ident| $to:expr, |$from:pat_param| $back:expr;
    )*) => {$(
        $(#[$cfg])*
        impl<$($order: Order,)? __F: Format<$(Order = $order)?>> EncodeAs<__F> for $type {
            type Wire = $wire;
        }

        $(#[$cfg])*
        impl<$($order: Order,)? __F: Format<$(Order = $order)?>> DecodeAs<'_, __F> for $type {
            type Wire = $wire;
        }

        converted!(put: $(#[$cfg])* [$($order)?] $type: $other = $wire, |$value| $to, |$from| $back);
    )*};
    (
        put: $(#[$cfg:meta])* [$($order:ident)?] $type:ty: $other:ty = $wire:ty,
        |$value:ident| $to:expr, |$from:pat_param| $back:expr
    ) => {
        $(#[$cfg])*
        impl $(<$order: Order>)? Put<$type> for $wire {
            #[inline]
            fn put(&self, $value: &$type, writer: &mut Writer<'_>) -> Result<(), Fault> {
                Put::<$other>::put(self, &$to, writer)
            }

            #[inline]
            fn size(&self, $value: &$type, levels: Levels) -> Result<usize, Fault> {
                Put::<$other>::size(self, &$to, levels)
            }
        }

        $(#[$cfg])*
        impl $(<$order: Order>)? Get<'_, $type> for $wire {
            #[inline]
            fn get(&self, reader: &mut Reader<'_, '_>) -> Result<$type, Fault> {
                let start = reader.rest();
                let $from = Get::<$other>::get(self, reader)?;
                let value: Result<$type, Fault> = $back;
                value.map_err(|fault| reader.fail_at(start, fault))
            }
        }
    };
}

/// Returns the value, or the fault of bytes that are not a valid value.
#[inline]
fn valid<T>(value: Option<T>) -> Result<T, Fault> {
    value.ok_or(Fault::INVALID_VALUE)
}

const NANOS_PER_SECOND: u32 = 1_000_000_000;

converted! {
    [O] char: u32 = U32<O>, |value| u32::from(*value), |number| valid(char::from_u32(number));
    [O] usize: u64 = U64<O>, |value| *value as u64,
        |number| usize::try_from(number).map_err(|_| Fault::OVERFLOW);
    [O] isize: i64 = I64<O>, |value| *value as i64,
        |number| isize::try_from(number).map_err(|_| Fault::OVERFLOW);
    // The halves are in the byte order as well, so that the bytes are those of the whole number.
    [O] u128: (u64, u64) = (U64<O>, U64<O>), |value| halves::<O>(*value), |parts| Ok(whole::<O>(parts));
    [O] i128: u128 = (U64<O>, U64<O>), |value| *value as u128, |number| Ok(number as i128);
    [O] Duration: (u64, u32) = (U64<O>, U32<O>), |value| (value.as_secs(), value.subsec_nanos()),
        |(seconds, nanos)| valid((nanos < NANOS_PER_SECOND).then(|| Duration::new(seconds, nanos)));
    [] Ipv4Addr: [u8; 4] = Array<4, U8>, |value| value.octets(), |octets| Ok(octets.into());
    [] Ipv6Addr: [u8; 16] = Array<16, U8>, |value| value.octets(), |octets| Ok(octets.into());
    [] IpAddr: Result<Ipv4Addr, Ipv6Addr> = Either<Array<4, U8>, Array<16, U8>>,
        |value| match value {
            IpAddr::V4(address) => Ok(*address),
            IpAddr::V6(address) => Err(*address),
        },
        |address| Ok(address.map_or_else(IpAddr::V6, IpAddr::V4));
    [O] SocketAddrV4: (Ipv4Addr, u16) = (Array<4, U8>, U16<O>), |value| (*value.ip(), value.port()),
        |(address, port)| Ok(SocketAddrV4::new(address, port));
    [O] SocketAddrV6: (Ipv6Addr, u16, u32, u32) = (Array<16, U8>, U16<O>, U32<O>, U32<O>),
        |value| (*value.ip(), value.port(), value.flowinfo(), value.scope_id()),
        |(address, port, flow, scope)| Ok(SocketAddrV6::new(address, port, flow, scope));
    [O] SocketAddr: Result<SocketAddrV4, SocketAddrV6>
        = Either<(Array<4, U8>, U16<O>), (Array<16, U8>, U16<O>, U32<O>, U32<O>)>,
        |value| match value {
            SocketAddr::V4(address) => Ok(*address),
            SocketAddr::V6(address) => Err(*address),
        },
        |address| Ok(address.map_or_else(SocketAddr::V6, SocketAddr::V4));
}

fn halves<O: Order>(number: u128) -> (u64, u64) {
    let (low, high) = (number as u64, (number >> 64) as u64);
    match O::ENDIAN {
        Endian::Little => (low, high),
        Endian::Big => (high, low),
    }
}

fn whole<O: Order>((one, other): (u64, u64)) -> u128 {
    let (low, high) = match O::ENDIAN {
        Endian::Little => (one, other),
        Endian::Big => (other, one),
    };
    u128::from(high) << 64 | u128::from(low)
}

/// Implements the traits for the wrappers of integers.
macro_rules! integers {
    ($([$($order:ident)?] $type:ty = $wire:ty;)*) => {converted! {$(
        [$($order)?] NonZero<$type>: $type = $wire, |value| value.get(), |number| valid(NonZero::new(number));
        [$($order)?] Wrapping<$type>: $type = $wire, |value| value.0, |number| Ok(Wrapping(number));
    )*}};
}

integers! {
    [] u8 = U8;
    [] i8 = I8;
    [O] u16 = U16<O>;
    [O] i16 = I16<O>;
    [O] u32 = U32<O>;
    [O] i32 = I32<O>;
    [O] u64 = U64<O>;
    [O] i64 = I64<O>;
    [O] u128 = (U64<O>, U64<O>);
    [O] i128 = (U64<O>, U64<O>);
    [O] usize = U64<O>;
    [O] isize = I64<O>;
}

impl<T: ?Sized, F: Format> EncodeAs<F> for PhantomData<T> {
    type Wire = Skip<0>;
}

impl<T: ?Sized, F: Format> DecodeAs<'_, F> for PhantomData<T> {
    type Wire = Skip<0>;
}

impl<T: ?Sized> Put<PhantomData<T>> for Skip<0> {
    #[inline]
    fn put(&self, _: &PhantomData<T>, _: &mut Writer<'_>) -> Result<(), Fault> {
        Ok(())
    }

    #[inline]
    fn size(&self, _: &PhantomData<T>, _: Levels) -> Result<usize, Fault> {
        Ok(0)
    }
}

impl<T: ?Sized> Get<'_, PhantomData<T>> for Skip<0> {
    #[inline]
    fn get(&self, _: &mut Reader<'_, '_>) -> Result<PhantomData<T>, Fault> {
        Ok(PhantomData)
    }
}

/// Wire type of a date: year, month and day.
#[cfg(any(feature = "chrono", feature = "jiff", feature = "time"))]
type Date<O> = (I32<O>, U8, U8);

/// Wire type of a time of day: hour, minute, second and nanosecond.
#[cfg(any(feature = "chrono", feature = "jiff", feature = "time"))]
type Time<O> = (U8, U8, U8, U32<O>);

/// Returns whether seconds and nanoseconds are a duration: less than a second, and of the same sign.
#[cfg(any(feature = "chrono", feature = "jiff", feature = "time"))]
fn is_duration(seconds: i64, nanos: i32) -> bool {
    nanos.unsigned_abs() < NANOS_PER_SECOND && i64::from(nanos.signum()) * seconds.signum() >= 0
}

#[cfg(feature = "chrono")]
mod chrono {
    use ::chrono::{Datelike as _, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Timelike as _};

    use super::*;

    converted! {
        [O] NaiveDate: (i32, u8, u8) = Date<O>,
            |value| (value.year(), value.month() as u8, value.day() as u8),
            |(year, month, day)| valid(NaiveDate::from_ymd_opt(year, month.into(), day.into()));
        // During a leap second there are up to two billion nanoseconds.
        [O] NaiveTime: (u8, u8, u8, u32) = Time<O>,
            |value| (value.hour() as u8, value.minute() as u8, value.second() as u8, value.nanosecond()),
            |(hour, minute, second, nano)| valid(
                NaiveTime::from_hms_nano_opt(hour.into(), minute.into(), second.into(), nano)
            );
        [O] NaiveDateTime: (NaiveDate, NaiveTime) = (Date<O>, Time<O>), |value| (value.date(), value.time()),
            |(date, time)| Ok(date.and_time(time));
        [O] TimeDelta: (i64, i32) = (I64<O>, I32<O>), |value| (value.num_seconds(), value.subsec_nanos()),
            |(seconds, nanos)| valid(delta(seconds, nanos));
    }

    fn delta(seconds: i64, nanos: i32) -> Option<TimeDelta> {
        let whole = TimeDelta::try_seconds(seconds).filter(|_| is_duration(seconds, nanos))?;
        whole.checked_add(&TimeDelta::nanoseconds(nanos.into()))
    }
}

#[cfg(feature = "jiff")]
mod jiff {
    use ::jiff::SignedDuration;
    use ::jiff::civil::{self, DateTime};

    use super::*;

    converted! {
        [O] civil::Date: (i32, u8, u8) = Date<O>,
            |value| (value.year().into(), value.month() as u8, value.day() as u8),
            |(year, month, day)| valid(date(year, month, day));
        [O] civil::Time: (u8, u8, u8, u32) = Time<O>,
            |value| (
                value.hour() as u8,
                value.minute() as u8,
                value.second() as u8,
                value.subsec_nanosecond() as u32,
            ),
            |(hour, minute, second, nano)| valid(time(hour, minute, second, nano));
        [O] DateTime: (civil::Date, civil::Time) = (Date<O>, Time<O>), |value| (value.date(), value.time()),
            |(date, time)| Ok(DateTime::from_parts(date, time));
        [O] SignedDuration: (i64, i32) = (I64<O>, I32<O>), |value| (value.as_secs(), value.subsec_nanos()),
            |(seconds, nanos)| valid(
                is_duration(seconds, nanos).then(|| SignedDuration::new(seconds, nanos))
            );
    }

    fn date(year: i32, month: u8, day: u8) -> Option<civil::Date> {
        civil::Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()
    }

    fn time(hour: u8, minute: u8, second: u8, nano: u32) -> Option<civil::Time> {
        let (hour, minute, second) =
            (hour.try_into().ok()?, minute.try_into().ok()?, second.try_into().ok()?);
        civil::Time::new(hour, minute, second, nano.try_into().ok()?).ok()
    }
}

#[cfg(feature = "time")]
mod time {
    use ::time::{Duration, Month, PrimitiveDateTime};

    use super::*;

    converted! {
        [O] ::time::Date: (i32, u8, u8) = Date<O>,
            |value| (value.year(), value.month().into(), value.day()),
            |(year, month, day)| valid(date(year, month, day));
        [O] ::time::Time: (u8, u8, u8, u32) = Time<O>, |value| value.as_hms_nano(),
            |(hour, minute, second, nano)| valid(::time::Time::from_hms_nano(hour, minute, second, nano).ok());
        [O] PrimitiveDateTime: (::time::Date, ::time::Time) = (Date<O>, Time<O>),
            |value| (value.date(), value.time()),
            |(date, time)| Ok(PrimitiveDateTime::new(date, time));
        [O] Duration: (i64, i32) = (I64<O>, I32<O>),
            |value| (value.whole_seconds(), value.subsec_nanoseconds()),
            |(seconds, nanos)| valid(is_duration(seconds, nanos).then(|| Duration::new(seconds, nanos)));
    }

    fn date(year: i32, month: u8, day: u8) -> Option<::time::Date> {
        ::time::Date::from_calendar_date(year, Month::try_from(month).ok()?, day).ok()
    }
}

converted! {
    #[cfg(feature = "uuid")]
    [] uuid::Uuid: [u8; 16] = Array<16, U8>, |value| *value.as_bytes(),
        |bytes| Ok(uuid::Uuid::from_bytes(bytes));
    // The bytes of `Decimal::serialize`. Decoding ignores some bits and corrects others, so the result is compared.
    #[cfg(feature = "rust_decimal")]
    [] rust_decimal::Decimal: [u8; 16] = Array<16, U8>, |value| value.serialize(), |bytes| {
        let value = rust_decimal::Decimal::deserialize(bytes);
        valid((value.serialize() == bytes).then_some(value))
    };
}

//! Default wire types of types that are encoded as other types: numbers, addresses, dates, identifiers.
//!
//! Each row of the tables below is a type, the type that it is converted to, and the wire type of both.

use core::convert::identity;
use core::marker::PhantomData;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use core::num::{NonZero, Wrapping};
#[allow(clippy::wildcard_imports, reason = "a target may not have all of them")]
use core::sync::atomic::*;
use core::time::Duration;

use crate::default_wire::{DecodeAs, EncodeAs};
use crate::wire::logical::{self, Logical};
use crate::wire::prelude::*;
use crate::wire::{
    Array, Bool, Either, Format, I8, I16, I32, I64, Native, Order, Skip, U8, U16, U32, U64, U128, put_as,
};
#[cfg(any(feature = "glam", feature = "ordered-float"))]
use crate::wire::{F32, F64};

/// Implements the traits for types that are converted. The trait before the rows is that of the formats in which the types have
/// this wire type. The parameter in brackets is the byte order; the name after `as` is the logical type.
macro_rules! converted {
    ($format:ident: $(
        $(#[$cfg:meta])* [$($order:ident)?] $type:ty: $other:ty = $wire:ty $(as $logical:ident)?,
        |$value:ident| $to:expr, |$from:pat_param| $back:expr;
    )*) => {$(
        $(#[$cfg])*
        impl<$($order: Order,)? __F: $format<$(Order = $order)?>> EncodeAs<__F> for $type {
            type Wire = converted!(wire: $wire $(, $logical)?);
        }

        $(#[$cfg])*
        impl<$($order: Order,)? __F: $format<$(Order = $order)?>> DecodeAs<'_, __F> for $type {
            type Wire = converted!(wire: $wire $(, $logical)?);
        }

        converted!(put: $(#[$cfg])* [$($order)?] $type: $other = $wire, |$value| $to, |$from| $back);
    )*};
    (wire: $wire:ty) => { $wire };
    (wire: $wire:ty, $logical:ident) => { Logical<logical::$logical, $wire> };
    (
        put: $(#[$cfg:meta])* [$($order:ident)?] $type:ty: $other:ty = $wire:ty,
        |$value:ident| $to:expr, |$from:pat_param| $back:expr
    ) => {
        $(#[$cfg])*
        put_as! { [$($order: Order)?] $type, $wire: |wire, $value| &identity::<$other>($to), wire; }

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

converted! { Format:
    [O] usize: u64 = U64<O>, |value| *value as u64,
        |number| usize::try_from(number).map_err(|_| Fault::OVERFLOW);
    [O] isize: i64 = I64<O>, |value| *value as i64,
        |number| isize::try_from(number).map_err(|_| Fault::OVERFLOW);
    [O] Duration: (u64, u32) = (U64<O>, U32<O>) as Duration, |value| (value.as_secs(), value.subsec_nanos()),
        |(seconds, nanos)| valid((nanos < NANOS_PER_SECOND).then(|| Duration::new(seconds, nanos)));
    [] Ipv4Addr: [u8; 4] = Array<4, U8> as Ipv4, |value| value.octets(), |octets| Ok(octets.into());
    [] Ipv6Addr: [u8; 16] = Array<16, U8> as Ipv6, |value| value.octets(), |octets| Ok(octets.into());
    [O] IpAddr: Result<Ipv4Addr, Ipv6Addr> = Either<Array<4, U8>, Array<16, U8>, O> as Ip,
        |value| match value {
            IpAddr::V4(address) => Ok(*address),
            IpAddr::V6(address) => Err(*address),
        },
        |address| Ok(address.map_or_else(IpAddr::V6, IpAddr::V4));
    [O] SocketAddrV4: (Ipv4Addr, u16) = (Array<4, U8>, U16<O>) as SocketV4, |value| (*value.ip(), value.port()),
        |(address, port)| Ok(SocketAddrV4::new(address, port));
}

// bincode and postcard do not encode flow information and scope ids.
converted! { Native:
    [O] SocketAddrV6: (Ipv6Addr, u16, u32, u32) = (Array<16, U8>, U16<O>, U32<O>, U32<O>) as SocketV6,
        |value| (*value.ip(), value.port(), value.flowinfo(), value.scope_id()),
        |(address, port, flow, scope)| Ok(SocketAddrV6::new(address, port, flow, scope));
    [O] SocketAddr: Result<SocketAddrV4, SocketAddrV6>
        = Either<(Array<4, U8>, U16<O>), (Array<16, U8>, U16<O>, U32<O>, U32<O>), O> as Socket,
        |value| match value {
            SocketAddr::V4(address) => Ok(*address),
            SocketAddr::V6(address) => Err(*address),
        },
        |address| Ok(address.map_or_else(SocketAddr::V6, SocketAddr::V4));
}

/// Implements the traits for the wrappers of integers.
macro_rules! integers {
    ($([$($order:ident)?] $type:ty = $wire:ty $(as $logical:ident)?;)*) => {converted! { Format: $(
        [$($order)?] NonZero<$type>: $type = $wire $(as $logical)?, |value| value.get(), |number| valid(NonZero::new(number));
        [$($order)?] Wrapping<$type>: $type = $wire $(as $logical)?, |value| value.0, |number| Ok(Wrapping(number));
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
    [O] u128 = U128<O> as Uint128;
    [O] i128 = U128<O> as Int128;
    [O] usize = U64<O>;
    [O] isize = I64<O>;
}

/// Implements the traits for atomic numbers and flags.
macro_rules! atomics {
    ($($(#[$cfg:meta])* [$($order:ident)?] $type:ident: $value:ty = $wire:ty;)*) => {converted! { Format: $(
        $(#[$cfg])* [$($order)?] $type: $value = $wire, |value| value.load(Ordering::Relaxed), |value| Ok($type::new(value));
    )*}};
}

atomics! {
    #[cfg(target_has_atomic = "8")]
    [] AtomicBool: bool = Bool;
    #[cfg(target_has_atomic = "8")]
    [] AtomicU8: u8 = U8;
    #[cfg(target_has_atomic = "8")]
    [] AtomicI8: i8 = I8;
    #[cfg(target_has_atomic = "16")]
    [O] AtomicU16: u16 = U16<O>;
    #[cfg(target_has_atomic = "16")]
    [O] AtomicI16: i16 = I16<O>;
    #[cfg(target_has_atomic = "32")]
    [O] AtomicU32: u32 = U32<O>;
    #[cfg(target_has_atomic = "32")]
    [O] AtomicI32: i32 = I32<O>;
    #[cfg(target_has_atomic = "64")]
    [O] AtomicU64: u64 = U64<O>;
    #[cfg(target_has_atomic = "64")]
    [O] AtomicI64: i64 = I64<O>;
    #[cfg(target_has_atomic = "ptr")]
    [O] AtomicUsize: usize = U64<O>;
    #[cfg(target_has_atomic = "ptr")]
    [O] AtomicIsize: isize = I64<O>;
}

impl<T: ?Sized, F: Format> EncodeAs<F> for PhantomData<T> {
    type Wire = Skip<0>;
}

impl<T: ?Sized, F: Format> DecodeAs<'_, F> for PhantomData<T> {
    type Wire = Skip<0>;
}

put_as! { [T: ?Sized] PhantomData<T>, Skip<0>: |skip, _| &(), skip; }

impl<T: ?Sized> Get<'_, PhantomData<T>> for Skip<0> {
    #[inline]
    fn get(&self, _: &mut Reader<'_, '_>) -> Result<PhantomData<T>, Fault> {
        Ok(PhantomData)
    }
}

/// Wire type of a date: year, month and day.
#[cfg(any(feature = "chrono", feature = "jiff", feature = "jiff02", feature = "time"))]
type Date<O> = (I32<O>, U8, U8);

/// Wire type of a time of day: hour, minute, second and nanosecond.
#[cfg(any(feature = "chrono", feature = "jiff", feature = "jiff02", feature = "time"))]
type Time<O> = (U8, U8, U8, U32<O>);

/// Returns whether seconds and nanoseconds are a duration: less than a second, and of the same sign.
#[cfg(any(feature = "chrono", feature = "jiff", feature = "jiff02", feature = "time"))]
fn is_duration(seconds: i64, nanos: i32) -> bool {
    nanos.unsigned_abs() < NANOS_PER_SECOND && i64::from(nanos.signum()) * seconds.signum() >= 0
}

#[cfg(feature = "chrono")]
mod chrono {
    use ::chrono::{
        DateTime, Datelike as _, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Timelike as _,
        Utc,
    };

    use super::*;

    converted! { Native:
        [O] NaiveDate: (i32, u8, u8) = Date<O> as Date,
            |value| (value.year(), value.month() as u8, value.day() as u8),
            |(year, month, day)| valid(NaiveDate::from_ymd_opt(year, month.into(), day.into()));
        // During a leap second there are up to two billion nanoseconds. `chrono` has leap seconds at any time.
        [O] NaiveTime: (u8, u8, u8, u32) = Time<O> as TimeOfDay,
            |value| (value.hour() as u8, value.minute() as u8, value.second() as u8, value.nanosecond()),
            |(hour, minute, second, nano)| valid(
                NaiveTime::from_hms_opt(hour.into(), minute.into(), second.into())
                    .and_then(|time| time.with_nanosecond(nano))
            );
        [O] NaiveDateTime: (NaiveDate, NaiveTime) = (Date<O>, Time<O>) as DateTime, |value| (value.date(), value.time()),
            |(date, time)| Ok(date.and_time(time));
        [O] TimeDelta: (i64, i32) = (I64<O>, I32<O>) as SignedDuration, |value| (value.num_seconds(), value.subsec_nanos()),
            |(seconds, nanos)| valid(delta(seconds, nanos));
        [O] DateTime<Utc>: (i64, u32) = (I64<O>, U32<O>) as Instant,
            |value| (value.timestamp(), value.timestamp_subsec_nanos()),
            |(seconds, nanos)| valid(instant(seconds, nanos));
        [O] DateTime<FixedOffset>: (i64, u32, i32) = (I64<O>, U32<O>, I32<O>) as OffsetTime,
            |value| (value.timestamp(), value.timestamp_subsec_nanos(), value.offset().local_minus_utc()),
            |(seconds, nanos, offset)| valid(
                instant(seconds, nanos).zip(FixedOffset::east_opt(offset)).map(|(at, zone)| at.with_timezone(&zone))
            );
    }

    fn instant(seconds: i64, nanos: u32) -> Option<DateTime<Utc>> {
        DateTime::from_timestamp(seconds, 0)?.with_nanosecond(nanos)
    }

    fn delta(seconds: i64, nanos: i32) -> Option<TimeDelta> {
        let whole = TimeDelta::try_seconds(seconds).filter(|_| is_duration(seconds, nanos))?;
        whole.checked_add(&TimeDelta::nanoseconds(nanos.into()))
    }
}

/// Implements the traits for the types of a version of `jiff`.
#[cfg(any(feature = "jiff", feature = "jiff02"))]
macro_rules! jiff {
    ($jiff:ident) => {
        use ::$jiff::SignedDuration;
        use ::$jiff::civil::{self, DateTime};

        use super::*;

        converted! { Native:
            [O] civil::Date: (i32, u8, u8) = Date<O> as Date,
                |value| (value.year().into(), value.month() as u8, value.day() as u8),
                |(year, month, day)| valid(date(year, month, day));
            [O] civil::Time: (u8, u8, u8, u32) = Time<O> as TimeOfDay,
                |value| (
                    value.hour() as u8,
                    value.minute() as u8,
                    value.second() as u8,
                    value.subsec_nanosecond() as u32,
                ),
                |(hour, minute, second, nano)| valid(time(hour, minute, second, nano));
            [O] DateTime: (civil::Date, civil::Time) = (Date<O>, Time<O>) as DateTime,
                |value| (value.date(), value.time()),
                |(date, time)| Ok(DateTime::from_parts(date, time));
            [O] SignedDuration: (i64, i32) = (I64<O>, I32<O>) as SignedDuration,
                |value| (value.as_secs(), value.subsec_nanos()),
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
    };
}

#[cfg(feature = "jiff")]
mod jiff {
    jiff!(jiff1);
}

#[cfg(feature = "jiff02")]
mod jiff02 {
    jiff!(jiff);
}

#[cfg(feature = "time")]
mod time {
    use ::time::{Duration, Month, OffsetDateTime, PrimitiveDateTime, UtcOffset};

    use super::*;

    converted! { Native:
        [O] ::time::Date: (i32, u8, u8) = Date<O> as Date,
            |value| (value.year(), value.month().into(), value.day()),
            |(year, month, day)| valid(date(year, month, day));
        [O] ::time::Time: (u8, u8, u8, u32) = Time<O> as TimeOfDay, |value| value.as_hms_nano(),
            |(hour, minute, second, nano)| valid(::time::Time::from_hms_nano(hour, minute, second, nano).ok());
        [O] PrimitiveDateTime: (::time::Date, ::time::Time) = (Date<O>, Time<O>) as DateTime,
            |value| (value.date(), value.time()),
            |(date, time)| Ok(PrimitiveDateTime::new(date, time));
        [O] Duration: (i64, i32) = (I64<O>, I32<O>) as SignedDuration,
            |value| (value.whole_seconds(), value.subsec_nanoseconds()),
            |(seconds, nanos)| valid(is_duration(seconds, nanos).then(|| Duration::new(seconds, nanos)));
        [O] OffsetDateTime: (i64, u32, i32) = (I64<O>, U32<O>, I32<O>) as OffsetTime,
            |value| (value.unix_timestamp(), value.nanosecond(), value.offset().whole_seconds()),
            |(seconds, nanos, offset)| valid(offset_time(seconds, nanos, offset));
    }

    fn offset_time(seconds: i64, nanos: u32, offset: i32) -> Option<OffsetDateTime> {
        let at = OffsetDateTime::from_unix_timestamp(seconds).ok()?.replace_nanosecond(nanos).ok()?;
        at.checked_to_offset(UtcOffset::from_whole_seconds(offset).ok()?)
    }

    fn date(year: i32, month: u8, day: u8) -> Option<::time::Date> {
        ::time::Date::from_calendar_date(year, Month::try_from(month).ok()?, day).ok()
    }
}

converted! { Native:
    #[cfg(feature = "uuid")]
    [] uuid::Uuid: [u8; 16] = Array<16, U8> as Uuid, |value| *value.as_bytes(),
        |bytes| Ok(uuid::Uuid::from_bytes(bytes));
    // The bytes of `Decimal::serialize`. Decoding ignores some bits and corrects others, so the result is compared.
    #[cfg(feature = "rust_decimal")]
    [] rust_decimal::Decimal: [u8; 16] = Array<16, U8> as Decimal, |value| value.serialize(), |bytes| {
        let value = rust_decimal::Decimal::deserialize(bytes);
        valid((value.serialize() == bytes).then_some(value))
    };
}

#[cfg(feature = "ordered-float")]
converted! { Format:
    [O] ordered_float::OrderedFloat<f32>: f32 = F32<O>, |value| value.0, |number| Ok(ordered_float::OrderedFloat(number));
    [O] ordered_float::OrderedFloat<f64>: f64 = F64<O>, |value| value.0, |number| Ok(ordered_float::OrderedFloat(number));
    [O] ordered_float::NotNan<f32>: f32 = F32<O>, |value| value.into_inner(),
        |number| valid(ordered_float::NotNan::new(number).ok());
    [O] ordered_float::NotNan<f64>: f64 = F64<O>, |value| value.into_inner(),
        |number| valid(ordered_float::NotNan::new(number).ok());
}

/// Implements the traits for types that are converted to and from arrays of numbers.
#[cfg(feature = "glam")]
macro_rules! arrays {
    (
        $to:ident, |$array:ident| $from:ident($numbers:expr):
        $($type:ident = [$number:ty; $count:literal] as $wire:ident;)*
    ) => {converted! { Format: $(
        [O] glam::$type: [$number; $count] = Array<$count, $wire<O>>, |value| value.$to(),
            |$array| Ok(glam::$type::$from($numbers));
    )*}};
}

#[cfg(feature = "glam")]
arrays! { to_array, |array| from_array(array):
    Vec2 = [f32; 2] as F32;
    Vec3 = [f32; 3] as F32;
    Vec3A = [f32; 3] as F32;
    Vec4 = [f32; 4] as F32;
    Quat = [f32; 4] as F32;
    DVec2 = [f64; 2] as F64;
    DVec3 = [f64; 3] as F64;
    DVec4 = [f64; 4] as F64;
    DQuat = [f64; 4] as F64;
    IVec2 = [i32; 2] as I32;
    IVec3 = [i32; 3] as I32;
    IVec4 = [i32; 4] as I32;
    UVec2 = [u32; 2] as U32;
    UVec3 = [u32; 3] as U32;
    UVec4 = [u32; 4] as U32;
}

#[cfg(feature = "glam")]
arrays! { to_cols_array, |array| from_cols_array(&array):
    Mat2 = [f32; 4] as F32;
    Mat3 = [f32; 9] as F32;
    Mat3A = [f32; 9] as F32;
    Mat4 = [f32; 16] as F32;
    Affine2 = [f32; 6] as F32;
    Affine3A = [f32; 12] as F32;
    DMat2 = [f64; 4] as F64;
    DMat3 = [f64; 9] as F64;
    DMat4 = [f64; 16] as F64;
    DAffine2 = [f64; 6] as F64;
    DAffine3 = [f64; 12] as F64;
}

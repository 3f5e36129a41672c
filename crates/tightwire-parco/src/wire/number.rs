//! Numbers and flags, and numbers as length headers.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::marker::PhantomData;

use super::adjust::Id;
#[cfg(feature = "alloc")]
use super::dialect::from_bytes;
use super::dialect::{Dialect, Scalar as _, to_bytes};
use super::prelude::*;
use super::{Bounded, BoundedHeader, Endian, Order, get_each, walk_each};
use crate::error::{ErrorKind, Exceeded, Limit};
#[cfg(feature = "alloc")]
use crate::schema::Number;

/// A number before a string, blob, slice or map that contains its length.
///
/// The integers of this module are headers. Your own wire types can be headers too: their width and maximum are
/// respected everywhere.
pub trait Header: StaticWire {
    /// Minimum width in bytes, at most 8.
    const WIDTH: usize;

    /// Maximum length that the header can carry.
    const MAX: u64;

    /// Maximum length whose header has the minimum width. Default: [`MAX`](Self::MAX).
    const MAX_SHORT: u64 = Self::MAX;

    /// Encodes a length of at most [`MAX`](Self::MAX). The header is the first [`width`](Self::width) bytes; the rest is
    /// ignored.
    fn header(len: u64) -> [u8; 8];

    /// Returns the width of the header of a length in bytes, at most 8. Default: [`WIDTH`](Self::WIDTH).
    #[inline(always)]
    fn width(len: u64) -> usize {
        let _ = len;
        Self::WIDTH
    }

    /// Reads a length.
    ///
    /// # Errors
    ///
    /// Fails at the end of the input, and if the number is negative or does not fit `usize`.
    fn length<I: Input>(input: &mut I) -> Result<usize, Fault>;

    /// Writes a length.
    ///
    /// # Errors
    ///
    /// Fails above [`MAX`](Self::MAX).
    #[inline]
    fn put_length(len: usize, writer: &mut Writer<'_>) -> Result<(), Fault> {
        Self::check(len).map_err(|fault| too_long::<Self>(len, fault, writer))?;
        Self::put_prefixed(len, &[], writer)
    }

    /// Writes a length, then bytes.
    ///
    /// # Errors
    ///
    /// Fails above [`MAX`](Self::MAX), and if the bytes exceed the limits.
    #[inline(always)]
    fn put_prefixed(len: usize, bytes: &[u8], writer: &mut Writer<'_>) -> Result<(), Fault> {
        // No bytes in memory exceed the maximum of a varint.
        if Self::MAX < Varint::MAX
            && let Err(fault) = Self::check(len)
        {
            return Err(too_long::<Self>(len, fault, writer));
        }
        writer.check_bytes(bytes.len())?;
        let len = len as u64;
        // In the first branch the width is a constant.
        if len <= Self::MAX_SHORT {
            writer.prefixed(Self::header(len), Self::WIDTH, bytes);
        } else {
            writer.prefixed(Self::header(len), Self::width(len), bytes);
        }
        Ok(())
    }

    /// Checks a length.
    ///
    /// # Errors
    ///
    /// Fails above [`MAX`](Self::MAX).
    #[inline]
    fn check(len: usize) -> Result<(), Fault> {
        if len as u64 <= Self::MAX { Ok(()) } else { Err(Fault(ErrorKind::LengthOverflow)) }
    }
}

/// Adds the length and the maximum to the error.
#[inline(always)]
fn too_long<H: Header>(len: usize, fault: Fault, writer: &mut Writer<'_>) -> Fault {
    let limit = if fault == Fault::LIMIT { Limit::Attribute } else { Limit::Header };
    writer.exceed(Exceeded::new(limit, len, usize::try_from(H::MAX).unwrap_or(usize::MAX)))
}

macro_rules! wire {
    (
        $name:ident $(<$order:ident>)?, $value:ty, $width:literal, $endian:expr, $dialect:expr, $number:expr, $new:expr
    ) => {
        impl $(<$order: Order>)? Wire for $name $(<$order>)? {
            #[inline]
            fn min_size(&self) -> usize {
                if $dialect.is_variable() { 1 } else { $width }
            }

            #[inline]
            fn fixed_size(&self) -> Option<usize> {
                if $dialect.is_variable() { None } else { Some($width) }
            }

            #[inline]
            fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
                if $dialect.is_variable() { $dialect.read($endian, input).map(|_| ()) } else { input.skip($width) }
            }

            #[inline]
            fn walk_all<I: Input>(&self, count: usize, input: &mut I) -> Result<(), Fault> {
                if $dialect.is_variable() {
                    return walk_each(self, count, input);
                }
                input.skip(count.saturating_mul($width))
            }

            #[cfg(feature = "alloc")]
            fn schema(&self, _: &mut SchemaContext) -> Schema {
                if $dialect.is_variable() {
                    $dialect.schema($number.is_signed())
                } else {
                    Schema::Number($number, $endian)
                }
            }
        }

        impl $(<$order: Order>)? StaticWire for $name $(<$order>)? {
            const NEW: Self = $new;
        }

        impl $(<$order: Order>)? Bounded for $name $(<$order>)? {
            const MAX_SIZE: usize = $dialect.max_width($width);
        }

        impl $(<$order: Order>)? Put<$value> for $name $(<$order>)? {
            #[inline(always)]
            fn put(&self, value: &$value, writer: &mut Writer<'_>) -> Result<(), Fault> {
                if $dialect.is_variable() {
                    $dialect.write($endian, value.to_unsigned(), writer);
                    return Ok(());
                }
                writer.array(to_bytes!($endian, value));
                Ok(())
            }

            #[inline]
            fn size(&self, value: &$value, _: Levels) -> Result<usize, Fault> {
                Ok(if $dialect.is_variable() { $dialect.width(value.to_unsigned()) } else { $width })
            }

            #[inline]
            fn put_all(&self, values: &[$value], writer: &mut Writer<'_>) -> Result<(), Fault> {
                if $dialect.is_variable() {
                    return values.iter().try_for_each(|value| self.put(value, writer));
                }
                match $endian {
                    #[cfg(target_endian = "little")]
                    Endian::Little => writer.native(values),
                    #[cfg(not(target_endian = "little"))]
                    Endian::Little => writer.arrays(values, <$value>::to_le_bytes),
                    Endian::Big => writer.arrays(values, <$value>::to_be_bytes),
                }
                Ok(())
            }
        }

        impl $(<$order: Order>)? Get<'_, $value> for $name $(<$order>)? {
            #[inline(always)]
            fn get(&self, reader: &mut Reader<'_, '_>) -> Result<$value, Fault> {
                if $dialect.is_variable() {
                    let number = $dialect.read($endian, reader)?;
                    return <$value>::from_unsigned(number)
                        .ok_or_else(|| reader.rewind_fault(Fault::OVERFLOW, $dialect.width(number)));
                }
                <$value>::get_fixed($endian, reader)
            }

            #[cfg(feature = "alloc")]
            #[inline]
            fn get_all(
                &self,
                count: usize,
                reader: &mut Reader<'_, '_>,
                values: &mut Vec<$value>,
            ) -> Result<(), Fault> {
                if $dialect.is_variable() {
                    values.reserve(count.min(super::MAX_RESERVED / $width));
                    return get_each(self, count, reader, |value| values.push(value));
                }
                let (chunks, _) = reader.bytes(count.saturating_mul($width))?.as_chunks::<$width>();
                values.extend(chunks.iter().map(|bytes| from_bytes!($endian, $value, *bytes)));
                Ok(())
            }

            #[inline]
            fn check_all(&self, count: usize, reader: &mut Reader<'_, '_>) -> Result<(), Fault> {
                if $dialect.is_variable() {
                    return get_each(self, count, reader, |_: $value| ());
                }
                reader.skip(count.saturating_mul($width))
            }
        }
    };
}

macro_rules! header {
    ($name:ident $(<$order:ident>)?, $value:ty, $width:literal, $endian:expr, $dialect:expr, $max:expr) => {
        impl $(<$order: Order>)? Header for $name $(<$order>)? {
            const WIDTH: usize = if $dialect.is_variable() { 1 } else { $width };
            const MAX: u64 = $dialect.max($max as u64);
            const MAX_SHORT: u64 = $dialect.max_short($max as u64);

            #[inline(always)]
            fn header(len: u64) -> [u8; 8] {
                if $dialect.is_variable() {
                    return $dialect.header($endian, len);
                }
                match $endian {
                    Endian::Little => len.to_le_bytes(),
                    Endian::Big => (len << (64 - 8 * $width)).to_be_bytes(),
                }
            }

            #[inline(always)]
            fn width(len: u64) -> usize {
                if $dialect.is_variable() { $dialect.width(len) } else { $width }
            }

            #[inline(always)]
            fn length<I: Input>(input: &mut I) -> Result<usize, Fault> {
                if $dialect.is_variable() {
                    let len = $dialect.read($endian, input)?;
                    return usize::try_from(len)
                        .map_err(|_| input.rewind_fault(Fault(ErrorKind::Overflow), $dialect.width(len)));
                }
                let number = <$value>::get_fixed($endian, input)?;
                usize::try_from(number).map_err(|_| input.rewind_fault(Fault(ErrorKind::Overflow), $width))
            }
        }

        impl<const N: usize, $($order: Order)?> BoundedHeader for Max<N, $name $(<$order>)?> {
            const MAX_WIDTH: usize = if $dialect.is_variable() { $dialect.width(N as u64) } else { $width };
        }

        impl $(<$order: Order>)? Id for $name $(<$order>)? {
            type Value = $value;

            #[inline]
            fn find<I: Input>(known: &[$value], input: &mut I) -> Result<usize, Fault> {
                let (id, width) = if $dialect.is_variable() {
                    let number = $dialect.read($endian, input)?;
                    (<$value>::from_unsigned(number), $dialect.width(number))
                } else {
                    (Some(<$value>::get_fixed($endian, input)?), $width)
                };
                match known.iter().position(|other| Some(*other) == id) {
                    Some(found) => Ok(found),
                    None => Err(input.rewind_fault(Fault::UNKNOWN_TYPE, width)),
                }
            }
        }
    };
}

macro_rules! byte {
    ($($(#[$doc:meta])* $name:ident: $value:ty = $number:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name;

        wire!($name, $value, 1, Endian::Little, Dialect::Native, Number::$number, $name);
        header!($name, $value, 1, Endian::Little, Dialect::Native, <$value>::MAX);

        impl BoundedHeader for $name {
            const MAX_WIDTH: usize = 1;
        }
    )*};
}

macro_rules! ordered {
    // Floats have the same bytes in all dialects.
    (dialect:) => { Dialect::Native };
    (dialect: $max:expr) => { O::DIALECT };
    ($($(#[$doc:meta])* $name:ident: $value:ty = $number:ident, $width:literal $(, $max:expr)?;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name<O>(PhantomData<O>);

        wire!($name<O>, $value, $width, O::ENDIAN, ordered!(dialect: $($max)?), Number::$number, $name(PhantomData));
        $(header!($name<O>, $value, $width, O::ENDIAN, O::DIALECT, $max);)?
    )*};
}

byte! {
    /// `u8`, one byte. As a header: lengths up to 255.
    U8: u8 = Uint8;
    /// `i8`, one byte, two's complement. As a header: lengths up to 127.
    I8: i8 = Int8;
}

ordered! {
    /// `u16`, two bytes. As a header: lengths up to 65,535.
    U16: u16 = Uint16, 2, u16::MAX;
    /// `i16`, two bytes, two's complement. As a header: lengths up to 32,767.
    I16: i16 = Int16, 2, i16::MAX;
    /// `u32`, four bytes. As a header: lengths up to 2^32 - 1.
    U32: u32 = Uint32, 4, u32::MAX;
    /// `i32`, four bytes, two's complement. As a header: lengths up to 2^31 - 1.
    I32: i32 = Int32, 4, i32::MAX;
    /// `u64`, eight bytes. As a header: lengths up to 2^63 - 1, as Go counts with signed numbers.
    U64: u64 = Uint64, 8, i64::MAX;
    /// `i64`, eight bytes, two's complement. As a header: lengths up to 2^63 - 1.
    I64: i64 = Int64, 8, i64::MAX;
    /// Go's `int` on 64-bit platforms: encoded like [`I64`], with a different name in the schema.
    GoInt: i64 = Int, 8, i64::MAX;
    /// Go's `uint` on 64-bit platforms: encoded like [`U64`], with a different name in the schema.
    GoUint: u64 = Uint, 8, i64::MAX;
    /// `f32`, four bytes of IEEE 754. NaN payloads and the sign of zero are preserved.
    F32: f32 = Float32, 4;
    /// `f64`, eight bytes of IEEE 754. NaN payloads and the sign of zero are preserved.
    F64: f64 = Float64, 8;
}

/// `u64` in one to ten bytes: seven bits per byte, least significant first; the high bit is set in all bytes but the
/// last (unsigned LEB128). As a header, the default of derived types: lengths up to 2^56 - 1 in at most eight bytes.
///
/// Only the shortest form is valid. [`Mode::Compat`](crate::Mode::Compat) also accepts longer forms of at most ten bytes,
/// as Go's `encoding/binary` does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Varint;

impl Varint {
    /// Returns the first eight bytes of the shortest form.
    #[inline(always)]
    pub(super) fn head(value: u64) -> [u8; 8] {
        if value < 0x80 {
            value
        } else if value < 1 << 14 {
            value & 0x7f | 0x80 | value >> 7 << 8
        } else {
            Self::long_head(value)
        }
        .to_le_bytes()
    }

    /// Returns the width of the shortest form.
    #[inline(always)]
    pub(crate) const fn width_of(value: u64) -> usize {
        (70 - (value | 1).leading_zeros() as usize) / 7
    }

    #[cold]
    #[inline(never)]
    fn long_head(value: u64) -> u64 {
        let mut bytes = 0;
        let mut rest = value;
        for shift in (0..64).step_by(8) {
            let is_last = rest < 0x80;
            bytes |= (rest & 0x7f | if is_last { 0 } else { 0x80 }) << shift;
            rest >>= 7;
            if is_last {
                break;
            }
        }
        bytes
    }

    #[inline]
    pub(crate) fn write(value: u64, writer: &mut Writer<'_>) {
        writer.prefixed(Self::head(value), Self::width_of(value).min(8), &[]);
        // The ninth and the tenth byte.
        match value >> 56 {
            0 => {}
            high @ ..0x80 => writer.array([high as u8]),
            high => writer.array([high as u8 | 0x80, 1]),
        }
    }
}

wire!(Varint, u64, 8, Endian::Little, Dialect::Postcard, Number::Uint64, Varint);
header!(Varint, u64, 8, Endian::Little, Dialect::Postcard, u64::MAX);

/// `bool`, one byte: 1 is true, 0 is false.
///
/// Any other byte is an error, or false with [`Mode::Compat`](crate::Mode::Compat).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bool;

impl Wire for Bool {
    #[inline]
    fn fixed_size(&self) -> Option<usize> {
        Some(1)
    }

    #[inline]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        input.flag().map(|_| ())
    }

    #[cfg(feature = "alloc")]
    fn schema(&self, _: &mut SchemaContext) -> Schema {
        Schema::Bool
    }
}

static_wire!([] Bool = Self);

impl Put<bool> for Bool {
    #[inline]
    fn put(&self, value: &bool, writer: &mut Writer<'_>) -> Result<(), Fault> {
        writer.array([u8::from(*value)]);
        Ok(())
    }

    #[inline]
    fn size(&self, _: &bool, _: Levels) -> Result<usize, Fault> {
        Ok(1)
    }

    #[inline]
    fn put_all(&self, values: &[bool], writer: &mut Writer<'_>) -> Result<(), Fault> {
        writer.arrays(values, |value| [u8::from(value)]);
        Ok(())
    }
}

impl Get<'_, bool> for Bool {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, '_>) -> Result<bool, Fault> {
        reader.flag()
    }
}

/// The header `H` limited to lengths and counts of at most `N`, for encoding and decoding.
///
/// `Str<Max<4096, U16<Le>>>` is a string of at most 4096 bytes. Longer strings fail with
/// [`Error::is_limit`](crate::Error::is_limit); the decoder checks this before it allocates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Max<const N: usize, H>(H);

same_wire!([const N: usize, H: Header] Max<N, H>: |max| max.0);

static_wire!([const N: usize, H: Header] Max<N, H> = Self(H::NEW));

impl<const N: usize, H: Header> Header for Max<N, H> {
    const WIDTH: usize = H::WIDTH;
    const MAX: u64 = if (N as u64) < H::MAX { N as u64 } else { H::MAX };
    const MAX_SHORT: u64 = H::MAX_SHORT;

    #[inline(always)]
    fn header(len: u64) -> [u8; 8] {
        H::header(len)
    }

    #[inline(always)]
    fn width(len: u64) -> usize {
        H::width(len)
    }

    #[inline]
    fn length<I: Input>(input: &mut I) -> Result<usize, Fault> {
        let len = H::length(input)?;
        if len <= N { Ok(len) } else { Err(input.state_mut().exceed(Limit::Attribute, len, N)) }
    }

    #[inline]
    fn check(len: usize) -> Result<(), Fault> {
        H::check(len)?;
        if len <= N { Ok(()) } else { Err(Fault::LIMIT) }
    }
}

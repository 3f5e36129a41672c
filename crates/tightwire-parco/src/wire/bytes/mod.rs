//! Strings and blobs: a header with the number of bytes, then the bytes. Reserved bytes have no header.

use core::marker::PhantomData;

use super::prelude::*;
use super::{Header, Le, U8, U16, U32, U64};
use crate::text::text;

/// A string: a header with the number of bytes, then the bytes.
///
/// The bytes need not be UTF-8, because other encoders may not check. Targets that require UTF-8, such as `String`,
/// validate it; `Vec<u8>` and `&[u8]` accept any bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Str<H>(PhantomData<H>);

/// A byte string: a header with the number of bytes, then the bytes. Same encoding as [`Str`], but a different schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blob<H>(PhantomData<H>);

/// A string of at most 255 bytes, with a [`U8`] header.
pub type SmallVarchar = Str<U8>;
/// A string of at most 65,535 bytes, with a [`U16`] header, little endian by default: that of `#[parco(go)]`.
pub type Varchar<O = Le> = Str<U16<O>>;
/// A string of at most 2^32 - 1 bytes, with a [`U32`] header.
pub type Text<O = Le> = Str<U32<O>>;
/// A string of at most 2^63 - 1 bytes, with a [`U64`] header.
pub type LongText<O = Le> = Str<U64<O>>;

/// A type that can be encoded as a string or blob: strings and bytes, owned, borrowed or shared.
pub trait Octets {
    /// Returns the bytes.
    fn octets(&self) -> &[u8];
}

/// A type that can be decoded from a string or blob.
pub trait FromOctets<'de>: Sized {
    /// Whether a value owns a copy of its bytes, which counts against the allocation limit.
    const OWNED: bool;

    /// Creates a value from bytes.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are invalid for this type; for strings, if they are not UTF-8.
    fn from_octets(bytes: &'de [u8]) -> Result<Self, Fault>;

    /// Replaces an existing value and reuses its allocation if possible.
    ///
    /// # Errors
    ///
    /// Same as [`from_octets`](Self::from_octets).
    #[inline]
    fn replace(&mut self, bytes: &'de [u8]) -> Result<(), Fault> {
        *self = Self::from_octets(bytes)?;
        Ok(())
    }
}

macro_rules! octets {
    ($($(#[$cfg:meta])* [$($generics:tt)*] $type:ty: |$value:ident| $bytes:expr;)*) => {$(
        $(#[$cfg])*
        impl<$($generics)*> Octets for $type {
            #[inline]
            fn octets(&self) -> &[u8] {
                let $value = self;
                $bytes
            }
        }
    )*};
}

/// Implements [`FromOctets`]: whether a value owns its bytes, and how it is made.
macro_rules! from_octets {
    ($($(#[$cfg:meta])* [$($generics:tt)*] $type:ty: $owned:literal, |$bytes:ident| $value:expr;)*) => {$(
        $(#[$cfg])*
        impl<'de, $($generics)*> FromOctets<'de> for $type {
            const OWNED: bool = $owned;

            #[inline]
            fn from_octets($bytes: &'de [u8]) -> Result<Self, Fault> {
                $value
            }
        }
    )*};
}

#[cfg(feature = "alloc")]
mod owned;

octets! {
    [] str: |value| value.as_bytes();
    [] [u8]: |value| value;
    [T: Octets + ?Sized] &T: |value| (**value).octets();
}

from_octets! {
    [] &'de str: false, |bytes| text(bytes);
    [] &'de [u8]: false, |bytes| Ok(bytes);
}

/// Implements the traits for strings and bytes of fixed capacity. More bytes fail with
/// [`Error::is_invalid_length`](crate::Error::is_invalid_length).
#[cfg(any(feature = "arrayvec", feature = "heapless"))]
macro_rules! fixed_capacity {
    ($($type:ty: |$value:ident| $octets:expr, |$bytes:ident| $contents:expr, $extend:ident;)*) => {$(
        octets! { [const N: usize] $type: |$value| $octets; }

        from_octets! {
            [const N: usize] $type: false, |$bytes| {
                let mut value = Self::new();
                value.$extend($contents).map_err(|_| Fault::INVALID_LENGTH)?;
                Ok(value)
            };
        }
    )*};
}

#[cfg(feature = "arrayvec")]
fixed_capacity! {
    arrayvec::ArrayString<N>: |value| value.as_bytes(), |bytes| text(bytes)?, try_push_str;
    arrayvec::ArrayVec<u8, N>: |value| value, |bytes| bytes, try_extend_from_slice;
}

#[cfg(feature = "heapless")]
fixed_capacity! {
    heapless::String<N>: |value| value.as_bytes(), |bytes| text(bytes)?, push_str;
    heapless::Vec<u8, N>: |value| value, |bytes| bytes, extend_from_slice;
}

macro_rules! wire {
    ($name:ident, $schema:ident) => {
        impl<H: Header> Wire for $name<H> {
            #[inline]
            fn min_size(&self) -> usize {
                H::WIDTH
            }

            #[inline(always)]
            fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
                let len = H::length(input)?;
                input.check_bytes(len)?;
                input.skip(len)
            }

            #[cfg(feature = "alloc")]
            fn schema(&self, context: &mut SchemaContext) -> Schema {
                Schema::$schema { header: H::NEW.schema(context).into() }
            }
        }

        impl<H: Header> StaticWire for $name<H> {
            const NEW: Self = Self(PhantomData);
        }

        impl<H: Header, T: Octets + ?Sized> Put<T> for $name<H> {
            #[inline(always)]
            fn put(&self, value: &T, writer: &mut Writer<'_>) -> Result<(), Fault> {
                let bytes = value.octets();
                H::put_prefixed(bytes.len(), bytes, writer)
            }

            #[inline]
            fn size(&self, value: &T, _: Levels) -> Result<usize, Fault> {
                let len = value.octets().len();
                H::check(len)?;
                Ok(H::width(len as u64) + len)
            }
        }

        impl<'de, H: Header, T: FromOctets<'de>> Get<'de, T> for $name<H> {
            #[inline(always)]
            fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<T, Fault> {
                let bytes = body::<H, T>(reader)?;
                T::from_octets(bytes).map_err(|fault| reader.rewind_fault(fault, bytes.len()))
            }

            #[inline]
            fn get_into(&self, reader: &mut Reader<'_, 'de>, value: &mut T) -> Result<(), Fault> {
                let bytes = body::<H, T>(reader)?;
                value.replace(bytes).map_err(|fault| reader.rewind_fault(fault, bytes.len()))
            }
        }
    };
}

wire!(Str, String);
wire!(Blob, Blob);

/// Reads a header and returns the bytes after it.
#[inline(always)]
fn body<'de, H: Header, T: FromOctets<'de>>(reader: &mut Reader<'_, 'de>) -> Result<&'de [u8], Fault> {
    let len = H::length(reader)?;
    reader.check_bytes(len)?;
    if T::OWNED {
        reader.count_allocation(len)?;
    }
    reader.bytes(len)
}

/// `N` reserved bytes: encoded as zeros, ignored when decoded. The Rust type is `()`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skip<const N: usize>;

impl<const N: usize> Wire for Skip<N> {
    #[inline]
    fn fixed_size(&self) -> Option<usize> {
        Some(N)
    }

    #[inline]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        input.skip(N)
    }

    #[cfg(feature = "alloc")]
    fn schema(&self, _: &mut SchemaContext) -> Schema {
        Schema::Skip(N as u64)
    }
}

static_wire!([const N: usize] Skip<N> = Self);

impl<const N: usize> Put<()> for Skip<N> {
    #[inline]
    fn put(&self, (): &(), writer: &mut Writer<'_>) -> Result<(), Fault> {
        writer.zeros(N);
        Ok(())
    }

    #[inline]
    fn size(&self, (): &(), _: Levels) -> Result<usize, Fault> {
        Ok(N)
    }
}

impl<const N: usize> Get<'_, ()> for Skip<N> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, '_>) -> Result<(), Fault> {
        reader.skip(N)
    }
}

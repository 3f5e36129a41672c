//! Wire types: how values are encoded, independent of their Rust types.
//!
//! `Slice<U8, U16<Le>>` is a one-byte count, then that many little-endian 16-bit numbers. It implements [`Wire`],
//! [`Put`] for `Vec<u16>` and other collections, and [`Get`] for the collections it can be decoded to. Wire types are
//! zero-sized unless they contain a builder or a run-time schema.
//!
//! For another encoding, and for Rust types without a default, implement a wire type, usually by calling another one:
//!
//! ```
//! use std::net::Ipv4Addr;
//!
//! use tightwire_parco::schema::{SchemaContext, Schema};
//! use tightwire_parco::wire::{Be, StaticWire, U32, Wire};
//! use tightwire_parco::{Decode, Encode, Fault, Get, Input, Levels, Put, Reader, Writer};
//!
//! /// An address as the number `U32<Be>`.
//! struct Address;
//!
//! impl Wire for Address {
//!     fn fixed_size(&self) -> Option<usize> {
//!         Some(4)
//!     }
//!
//!     fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
//!         input.skip(4)
//!     }
//!
//!     fn schema(&self, context: &mut SchemaContext) -> Schema {
//!         U32::<Be>::NEW.schema(context)
//!     }
//! }
//!
//! impl StaticWire for Address {
//!     const NEW: Self = Self;
//! }
//!
//! impl Put<Ipv4Addr> for Address {
//!     fn put(&self, address: &Ipv4Addr, writer: &mut Writer<'_>) -> Result<(), Fault> {
//!         writer.array(address.octets());
//!         Ok(())
//!     }
//!
//!     fn size(&self, _: &Ipv4Addr, _: Levels) -> Result<usize, Fault> {
//!         Ok(4)
//!     }
//! }
//!
//! impl Get<'_, Ipv4Addr> for Address {
//!     fn get(&self, reader: &mut Reader<'_, '_>) -> Result<Ipv4Addr, Fault> {
//!         reader.array::<4>().map(Ipv4Addr::from)
//!     }
//! }
//!
//! #[derive(Debug, PartialEq, Encode, Decode)]
//! struct Host {
//!     #[parco(with = Address)]
//!     address: Ipv4Addr,
//! }
//!
//! let host = Host { address: Ipv4Addr::LOCALHOST };
//! assert_eq!(tightwire_parco::to_vec(&host)?, [127, 0, 0, 1]);
//! assert_eq!(tightwire_parco::decode_exact::<Host>(&[127, 0, 0, 1])?, host);
//! # Ok::<(), tightwire_parco::Error>(())
//! ```

/// Implements [`Wire`] for a wrapper by forwarding to the inner wire type, whose schema may be changed.
macro_rules! same_wire {
    ([$($generics:tt)*] $type:ty: |$wrapper:ident| $inner:expr $(, |$schema:ident| $changed:expr)?) => {
        impl<$($generics)*> Wire for $type {
            #[inline(always)]
            fn min_size(&self) -> usize {
                let $wrapper = self;
                $inner.min_size()
            }

            #[inline(always)]
            fn fixed_size(&self) -> Option<usize> {
                let $wrapper = self;
                $inner.fixed_size()
            }

            #[inline(always)]
            fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
                let $wrapper = self;
                $inner.walk(input)
            }

            #[inline(always)]
            fn walk_all<I: Input>(&self, count: usize, input: &mut I) -> Result<(), Fault> {
                let $wrapper = self;
                $inner.walk_all(count, input)
            }

            #[cfg(feature = "alloc")]
            fn schema(&self, context: &mut SchemaContext) -> Schema {
                let $wrapper = self;
                let schema = $inner.schema(context);
                $(
                    let $schema = schema;
                    let schema = $changed;
                )?
                schema
            }
        }
    };
}

/// Implements [`StaticWire`]: the value of each type.
macro_rules! static_wire {
    ([$($generics:tt)*] $type:ty = $new:expr) => {
        impl<$($generics)*> StaticWire for $type {
            const NEW: Self = $new;
        }
    };
}

/// Implements [`Put`] for values that are encoded as other values, or by other wire types.
macro_rules! put_as {
    ($([$($generics:tt)*] $type:ty, $wire:ty: |$this:ident, $value:pat_param| $other:expr, $inner:expr;)*) => {$(
        impl<$($generics)*> Put<$type> for $wire {
            #[inline(always)]
            fn put(&self, $value: &$type, writer: &mut Writer<'_>) -> Result<(), Fault> {
                let $this = self;
                $inner.put($other, writer)
            }

            #[inline(always)]
            fn size(&self, $value: &$type, levels: Levels) -> Result<usize, Fault> {
                let $this = self;
                $inner.size($other, levels)
            }
        }
    )*};
}

/// Implements [`Get`] for a wrapper of a wire type by forwarding to it.
macro_rules! same_get {
    ([$($generics:tt)*] $type:ty, $inner:ty) => {
        impl<'de, T, $($generics)*> Get<'de, T> for $type
        where
            $inner: Get<'de, T>,
        {
            #[inline(always)]
            fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<T, Fault> {
                self.0.get(reader)
            }

            #[cfg(feature = "alloc")]
            #[inline(always)]
            fn get_boxed(&self, reader: &mut Reader<'_, 'de>) -> Result<alloc::boxed::Box<T>, Fault> {
                self.0.get_boxed(reader)
            }

            #[inline(always)]
            fn get_into(&self, reader: &mut Reader<'_, 'de>, value: &mut T) -> Result<(), Fault> {
                self.0.get_into(reader, value)
            }
        }
    };
}
pub(crate) use put_as;
#[cfg(feature = "alloc")]
pub(crate) use same_wire;
pub(crate) use static_wire;

/// Calls a macro for the tuples of one to sixteen parts, with a wire type, a type, an index and a name for each part.
macro_rules! for_tuples {
    ($call:ident) => {
        for_tuples! { $call: []
            [W0 T0 0 "0"] [W1 T1 1 "1"] [W2 T2 2 "2"] [W3 T3 3 "3"] [W4 T4 4 "4"] [W5 T5 5 "5"] [W6 T6 6 "6"]
            [W7 T7 7 "7"] [W8 T8 8 "8"] [W9 T9 9 "9"] [W10 T10 10 "10"] [W11 T11 11 "11"] [W12 T12 12 "12"]
            [W13 T13 13 "13"] [W14 T14 14 "14"] [W15 T15 15 "15"]
        }
    };
    ($call:ident: [$($before:tt)*]) => {};
    ($call:ident: [$($before:tt)*] [$($part:tt)*] $($after:tt)*) => {
        $call!($($before)* $($part)*);
        for_tuples! { $call: [$($before)* $($part)*,] $($after)* }
    };
}
pub(crate) use for_tuples;

/// Imports that most modules of wire types share.
pub(crate) mod prelude {
    pub(crate) use super::{Get, Put, StaticWire, Wire};
    pub(crate) use crate::error::{Fault, Segment};
    pub(crate) use crate::options::{ElementSize, Levels};
    pub(crate) use crate::read::{Input, Reader};
    #[cfg(feature = "alloc")]
    pub(crate) use crate::schema::{Schema, SchemaContext};
    pub(crate) use crate::write::Writer;
}

pub mod adjust;
mod bounded;
mod bytes;
pub(crate) mod dialect;
pub mod logical;
mod map;
mod message;
mod number;
mod sequence;
mod time;
mod tuple;
mod wrapper;

#[cfg(feature = "alloc")]
use alloc::boxed::Box;
#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::ops::Range;

#[doc(hidden)]
pub use bounded::largest;
pub use bounded::{Bounded, BoundedFields, BoundedHeader};
pub use bytes::{Blob, FromOctets, LongText, Octets, Skip, SmallVarchar, Str, Text, Varchar};
pub use dialect::{Bincode1, Bincode2, Char, Dialect, Native, Postcard, U128};
pub use map::{Map, SortedMap};
#[cfg(feature = "alloc")]
pub(crate) use message::sized;
pub use message::{DecodeFields, Decoding, EncodeFields, Encoding, Message, Shape};
pub use number::{Bool, F32, F64, GoInt, GoUint, Header, I8, I16, I32, I64, Max, U8, U16, U32, U64, Varint};
pub use sequence::{Array, Slice, SortedSlice};
pub use time::{TimeLocation, TimeUtc};
pub use tuple::{Either, RangeBound};
pub use wrapper::{Converted, HeaderInt, Opt, OrDefault, Pointer, WireOf, Wrapped};

pub use crate::time::{FromNanos, ToNanos};

use crate::error::{Fault, Segment};
use crate::options::{ElementSize, Levels};
use crate::read::{Input, Reader};
#[cfg(feature = "alloc")]
use crate::schema::{Schema, SchemaContext};
use crate::write::Writer;

/// A byte order as a type parameter, and the encoding of integers, characters and tags.
pub trait Order: Copy + Default + fmt::Debug + Send + Sync + 'static {
    /// The byte order as a value.
    const ENDIAN: Endian;

    /// The encoding of integers, characters and tags. Default: that of this crate.
    const DIALECT: Dialect = Dialect::Native;
}

/// A choice of default wire types: the byte order, and the type of headers. [`Le`], [`Be`] and [`Go`] implement it, and for the
/// bytes of other libraries [`Bincode1`], [`Bincode2`] and [`Postcard`].
pub trait Format: Copy + Default + fmt::Debug + Send + Sync + 'static {
    /// Byte order of numbers.
    type Order: Order;

    /// Type of the lengths of strings, blobs, slices and maps.
    type Header: Header;
}

/// A byte order as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Endian {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

/// Little endian.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Le;

/// Big endian.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Be;

/// The defaults of the Go library in the byte order `O`: [`U16`] headers. `#[parco(go)]` selects it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Go<O>(PhantomData<O>);

impl Format for Le {
    type Order = Self;
    type Header = Varint;
}

impl Format for Be {
    type Order = Self;
    type Header = Varint;
}

impl<O: Order> Format for Go<O> {
    type Order = O;
    type Header = U16<O>;
}

impl Order for Le {
    const ENDIAN: Endian = Endian::Little;
}

impl Order for Be {
    const ENDIAN: Endian = Endian::Big;
}

/// A wire type: describes how values are encoded.
pub trait Wire {
    /// Returns the minimum encoded size of a value in bytes. Default: the fixed size, or 0.
    ///
    /// No value may be shorter: counts are checked with it, and streams read as many bytes at once.
    #[inline]
    fn min_size(&self) -> usize {
        self.fixed_size().unwrap_or(0)
    }

    /// Returns the encoded size in bytes if all values have the same size. Default: they do not.
    #[inline]
    fn fixed_size(&self) -> Option<usize> {
        None
    }

    /// Walks over one value without building it. Checks lengths, limits and flags, but not UTF-8. On a stream, evolve
    /// structs are skipped by their length; their fields are checked when they are decoded.
    ///
    /// A wire type with a variable number of parts walks over them with [`Input::walk_parts`], so that a `StreamCodec`
    /// can resume after the last complete part when more input arrives.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not a valid value.
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault>;

    /// Walks over `count` values. The caller has checked the count.
    ///
    /// # Errors
    ///
    /// Returns the fault of the first invalid value.
    #[inline]
    fn walk_all<I: Input>(&self, count: usize, input: &mut I) -> Result<(), Fault> {
        walk_each(self, count, input)
    }

    /// Reads the number of elements of a list that can be decoded in parts: see [`Get::empty`].
    #[doc(hidden)]
    fn walk_count<I: Input>(&self, input: &mut I) -> Result<usize, Fault> {
        let _ = input;
        Err(Fault::UNKNOWN_TYPE)
    }

    /// Walks over `count` elements of the list.
    #[doc(hidden)]
    fn walk_part<I: Input>(&self, count: usize, input: &mut I) -> Result<(), Fault> {
        let _ = (count, input);
        Err(Fault::UNKNOWN_TYPE)
    }

    /// Returns the size of an element of the list.
    #[doc(hidden)]
    fn part_size(&self) -> ElementSize {
        ElementSize { min: 0, fixed: None }
    }

    /// Returns the schema.
    #[cfg(feature = "alloc")]
    fn schema(&self, context: &mut SchemaContext) -> Schema;
}

#[inline]
fn walk_each<W: Wire + ?Sized, I: Input>(wire: &W, count: usize, input: &mut I) -> Result<(), Fault> {
    let size = wire.min_size();
    input.announce(count.wrapping_mul(size));
    input.walk_parts(count, |input, index| {
        input.start(size);
        wire.walk(input).map_err(|fault| input.locate(fault, Segment::Index(index)))
    })
}

/// A wire type without run-time state, fully determined by its type.
pub trait StaticWire: Wire + Sized {
    /// The only value of the type.
    const NEW: Self;
}

/// A wire type that can encode a `T`.
pub trait Put<T: ?Sized>: Wire {
    /// Encodes one value.
    ///
    /// # Errors
    ///
    /// Fails if the wire type cannot carry the value. Bytes written before the failure are discarded.
    fn put(&self, value: &T, writer: &mut Writer<'_>) -> Result<(), Fault>;

    /// Returns the exact number of bytes that [`put`](Self::put) writes, with `levels` of nesting left.
    ///
    /// A wire type that contains others passes `levels` on to them.
    ///
    /// # Errors
    ///
    /// Fails if encoding would fail.
    fn size(&self, value: &T, levels: Levels) -> Result<usize, Fault>;

    /// Returns the number of elements, if the value is a list that can be encoded in parts.
    #[doc(hidden)]
    #[inline]
    fn parts(&self, value: &T) -> Option<usize> {
        let _ = value;
        None
    }

    /// Encodes these elements of the list, or without a range their number.
    #[doc(hidden)]
    fn put_part(&self, value: &T, part: Option<Range<usize>>, writer: &mut Writer<'_>) -> Result<(), Fault> {
        let _ = (value, part, writer);
        Err(Fault::UNKNOWN_TYPE)
    }

    /// Encodes the elements of a slice.
    ///
    /// # Errors
    ///
    /// Returns the fault of the first value that cannot be encoded.
    #[inline]
    fn put_all(&self, values: &[T], writer: &mut Writer<'_>) -> Result<(), Fault>
    where
        T: Sized,
    {
        if let Some(size) = self.fixed_size() {
            writer.reserve(size.saturating_mul(values.len()));
        }
        for (index, value) in values.iter().enumerate() {
            self.put(value, writer).map_err(|fault| writer.locate(fault, Segment::Index(index)))?;
        }
        Ok(())
    }
}

/// A wire type that can decode a `T`, which may borrow from the input.
pub trait Get<'de, T>: Wire {
    /// Decodes one value.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not a valid value.
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<T, Fault>;

    /// Decodes one value into an existing one and reuses its allocations.
    ///
    /// # Errors
    ///
    /// Same as [`get`](Self::get). After an error the contents of `value` are unspecified but valid.
    #[inline]
    fn get_into(&self, reader: &mut Reader<'_, 'de>, value: &mut T) -> Result<(), Fault> {
        *value = self.get(reader)?;
        Ok(())
    }

    /// Returns an empty list, if the value is one that can be decoded in parts.
    #[doc(hidden)]
    #[inline]
    fn empty(&self) -> Option<T> {
        None
    }

    /// Decodes `count` elements and appends them to the list.
    #[doc(hidden)]
    fn get_part(&self, count: usize, reader: &mut Reader<'_, 'de>, list: &mut T) -> Result<(), Fault> {
        let _ = (count, reader, list);
        Err(Fault::UNKNOWN_TYPE)
    }

    /// Decodes one value on the heap. An [`Array`] does not move over the stack.
    ///
    /// # Errors
    ///
    /// Same as [`get`](Self::get).
    #[cfg(feature = "alloc")]
    #[inline]
    fn get_boxed(&self, reader: &mut Reader<'_, 'de>) -> Result<Box<T>, Fault> {
        self.get(reader).map(Box::new)
    }

    /// Decodes `count` values and appends them. The caller has checked the count.
    ///
    /// # Errors
    ///
    /// Returns the fault of the first value that cannot be decoded.
    #[cfg(feature = "alloc")]
    #[inline]
    fn get_all(&self, count: usize, reader: &mut Reader<'_, 'de>, values: &mut Vec<T>) -> Result<(), Fault> {
        // For elements of fixed size the caller has checked that their bytes are available. Elements of variable size
        // can be smaller than their Rust type, on every level of nesting, so less is reserved than a forged count asks
        // for.
        let reserved = match self.fixed_size() {
            Some(_) => count,
            None => count.min(MAX_RESERVED / size_of::<T>().max(1)),
        };
        values.reserve(reserved);
        get_each(self, count, reader, |value| values.push(value))
    }

    /// Decodes `count` values and discards them. The caller has checked the count.
    ///
    /// # Errors
    ///
    /// Returns the fault of the first value that cannot be decoded.
    #[inline]
    fn check_all(&self, count: usize, reader: &mut Reader<'_, 'de>) -> Result<(), Fault> {
        get_each(self, count, reader, drop)
    }
}

/// Decodes `count` values and passes them to `take`.
#[inline(always)]
fn get_each<'de, T, W: Get<'de, T> + ?Sized>(
    wire: &W,
    count: usize,
    reader: &mut Reader<'_, 'de>,
    mut take: impl FnMut(T),
) -> Result<(), Fault> {
    for index in 0..count {
        match wire.get(reader) {
            Ok(value) => take(value),
            Err(fault) => return Err(reader.locate(fault, Segment::Index(index))),
        }
    }
    Ok(())
}

/// Maximum bytes allocated for elements of variable size before they arrive.
#[cfg(feature = "alloc")]
const MAX_RESERVED: usize = 64 << 10;

/// Returns the sum of two fixed sizes.
#[inline]
pub(crate) const fn both(one: Option<usize>, other: Option<usize>) -> Option<usize> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        _ => None,
    }
}

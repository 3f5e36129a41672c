//! The maximum encoded size of a wire type.

use super::dialect::{Dialect, tag_width};
use super::logical::Logical;
use super::{
    Array, Blob, Bool, Char, Converted, Either, Encoding, F32, F64, GoInt, GoUint, Header, HeaderInt, I8,
    I16, I32, I64, Map, Max, Message, Opt, Order, Pointer, RangeBound, Shape, Skip, Slice, SortedMap,
    SortedSlice, Str, TimeLocation, TimeUtc, U8, U16, U32, U64, U128, Varint, Wire, Wrapped,
};

/// A wire type whose values have a maximum encoded size.
///
/// Strings, blobs and collections have one if their header is [`Max`], [`U8`], [`I8`], [`U16`] or [`I16`].
#[diagnostic::on_unimplemented(
    message = "values of the wire type `{Self}` have no maximum encoded size",
    label = "no maximum encoded size"
)]
pub trait Bounded: Wire {
    /// Maximum encoded size in bytes.
    const MAX_SIZE: usize;
}

/// A header of strings, blobs and collections that have a maximum encoded size.
#[diagnostic::on_unimplemented(
    message = "strings and collections with the header `{Self}` have no maximum encoded size",
    label = "no maximum encoded size",
    note = "add `#[parco(max = ..)]` or `#[parco(header = u8)]` to the field"
)]
pub trait BoundedHeader: Header {
    /// Width of the header of the maximum length in bytes.
    const MAX_WIDTH: usize;
}

/// The maximum size of the fields of a message. Implemented by `#[derive(MaxSize)]`.
///
/// Do not implement it by hand. Generic code uses [`MaxSize`](crate::MaxSize) as a bound.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no maximum encoded size",
    label = "no maximum encoded size",
    note = "add `#[derive(tightwire_parco::MaxSize)]` to the type"
)]
pub trait BoundedFields: Shape<Encoding> {
    /// Maximum encoded size of the fields, and in an enum of the id, in bytes.
    const MAX_SIZE: usize;
}

macro_rules! bounded {
    ($([$($generics:tt)*] $wire:ty = $size:expr;)*) => {$(
        impl<$($generics)*> Bounded for $wire {
            const MAX_SIZE: usize = $size;
        }
    )*};
}

bounded! {
    [] Bool = 1;
    [] U8 = 1;
    [] I8 = 1;
    [O: Order] U16<O> = O::DIALECT.max_width(2);
    [O: Order] I16<O> = O::DIALECT.max_width(2);
    [O: Order] U32<O> = O::DIALECT.max_width(4);
    [O: Order] I32<O> = O::DIALECT.max_width(4);
    [O: Order] U64<O> = O::DIALECT.max_width(8);
    [O: Order] I64<O> = O::DIALECT.max_width(8);
    [O: Order] U128<O> = O::DIALECT.max_width(16);
    [O: Order] GoInt<O> = O::DIALECT.max_width(8);
    [O: Order] GoUint<O> = O::DIALECT.max_width(8);
    // A string of four bytes in the format of postcard.
    [O: Order] Char<O> = if matches!(O::DIALECT, Dialect::Postcard) { 5 } else { 4 };
    [O: Order] F32<O> = 4;
    [O: Order] F64<O> = 8;
    [] Varint = 10;
    [] TimeUtc = 8;
    // A time, a flag, and a zone of at most 255 bytes with its length.
    [] TimeLocation = 8 + 1 + 1 + 255;
    [const N: usize] Skip<N> = N;
    [W: Bounded] HeaderInt<W> = W::MAX_SIZE;
    [W: Bounded] Opt<W> = 1 + W::MAX_SIZE;
    [W: Bounded] Pointer<W> = W::MAX_SIZE;
    [W: Bounded] Wrapped<W> = W::MAX_SIZE;
    [W: Bounded, O: Order] RangeBound<W, O> = tag_width::<O>() + W::MAX_SIZE;
    [A: Bounded, B: Bounded, O: Order] Either<A, B, O> = tag_width::<O>() + largest(&[A::MAX_SIZE, B::MAX_SIZE]);
    [L: super::logical::LogicalType, W: Bounded] Logical<L, W> = W::MAX_SIZE;
    [T, W: Bounded] Converted<T, W> = W::MAX_SIZE;
    [const N: usize, E: Bounded] Array<N, E> = N * E::MAX_SIZE;
    [H: BoundedHeader] Str<H> = elements::<H>(1);
    [H: BoundedHeader] Blob<H> = elements::<H>(1);
    [H: BoundedHeader, E: Bounded] Slice<H, E> = elements::<H>(E::MAX_SIZE);
    [H: BoundedHeader, E: Bounded] SortedSlice<H, E> = elements::<H>(E::MAX_SIZE);
    [H: BoundedHeader, K: Bounded, V: Bounded] Map<H, K, V> = elements::<H>(K::MAX_SIZE + V::MAX_SIZE);
    [H: BoundedHeader, K: Bounded, V: Bounded] SortedMap<H, K, V> = elements::<H>(K::MAX_SIZE + V::MAX_SIZE);
    [M: BoundedFields] Message<M, Encoding> = message::<M>();
}

macro_rules! tuple {
    ($($wire:ident $type:ident $index:tt $name:literal),*) => {
        bounded! { [$($wire: Bounded),*] ($($wire,)*) = 0 $(+ $wire::MAX_SIZE)*; }
    };
}

for_tuples!(tuple);

/// Implements [`BoundedHeader`] for headers, if they are short, and for their maxima.
macro_rules! headers {
    (maxima: $($header:ident $(<$order:ident>)? = $dialect:expr;)*) => {$(
        impl<const N: usize, $($order: Order)?> BoundedHeader for Max<N, $header $(<$order>)?> {
            const MAX_WIDTH: usize = if $dialect.is_variable() {
                $dialect.width(N as u64)
            } else {
                <$header $(<$order>)? as Header>::WIDTH
            };
        }
    )*};
    (short: $($header:ident $(<$order:ident>)? = $width:expr;)*) => {$(
        impl $(<$order: Order>)? BoundedHeader for $header $(<$order>)? {
            const MAX_WIDTH: usize = $width;
        }
    )*};
}

headers! { maxima:
    U8 = Dialect::Native;
    I8 = Dialect::Native;
    U16<O> = O::DIALECT;
    I16<O> = O::DIALECT;
    U32<O> = O::DIALECT;
    I32<O> = O::DIALECT;
    U64<O> = O::DIALECT;
    I64<O> = O::DIALECT;
    GoInt<O> = O::DIALECT;
    GoUint<O> = O::DIALECT;
}

headers! { short:
    U8 = 1;
    I8 = 1;
    U16<O> = O::DIALECT.max_width(2);
    I16<O> = O::DIALECT.max_width(2);
}

impl<const N: usize> BoundedHeader for Max<N, Varint> {
    const MAX_WIDTH: usize = Varint::width_of(N as u64);
}

/// A maximum of a maximum, such as `#[parco(max = ..)]` on a type of fixed capacity.
impl<const M: usize, const N: usize, H: Header> BoundedHeader for Max<M, Max<N, H>>
where
    Max<N, H>: BoundedHeader,
{
    const MAX_WIDTH: usize = <Max<N, H> as BoundedHeader>::MAX_WIDTH;
}

/// Returns the maximum size of a header and its elements, each of which has at most this size.
const fn elements<H: BoundedHeader>(size: usize) -> usize {
    H::MAX_WIDTH + H::MAX as usize * size
}

const fn message<M: BoundedFields>() -> usize {
    let size = <M as BoundedFields>::MAX_SIZE;
    if M::EVOLVES { Varint::width_of(size as u64) + size } else { size }
}

/// Returns the largest of these sizes.
#[doc(hidden)]
pub const fn largest(sizes: &[usize]) -> usize {
    let (mut largest, mut index) = (0, 0);
    while index < sizes.len() {
        if sizes[index] > largest {
            largest = sizes[index];
        }
        index += 1;
    }
    largest
}

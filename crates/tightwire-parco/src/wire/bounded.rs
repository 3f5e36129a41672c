//! The maximum encoded size of a wire type.

use super::logical::Logical;
use super::{
    Array, Blob, Bool, Converted, Either, Encoding, F32, F64, GoInt, GoUint, Header, HeaderInt, I8, I16, I32,
    I64, Map, Max, Message, Opt, Order, Pointer, RangeBound, Shape, Skip, Slice, SortedMap, SortedSlice, Str,
    TimeLocation, TimeUtc, U8, U16, U32, U64, Varint, Wire, Wrapped,
};

/// A wire type whose values have a maximum encoded size.
///
/// Strings, blobs and collections have one if their header is [`Max`], [`U8`], [`I8`], [`U16`] or [`I16`].
#[diagnostic::on_unimplemented(
    message = "values of the wire type `{Self}` have no maximum encoded size",
    label = "no maximum encoded size",
    note = "add `#[parco(max = ..)]` or `#[parco(header = u8)]` to strings and collections",
    note = "add `#[derive(tightwire_parco::MaxSize)]` to the types of fields"
)]
pub trait Bounded: Wire {
    /// Maximum encoded size in bytes.
    const MAX_SIZE: usize;
}

/// A header of strings, blobs and collections that have a maximum encoded size.
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
    [O: Order] U16<O> = 2;
    [O: Order] I16<O> = 2;
    [O: Order] U32<O> = 4;
    [O: Order] I32<O> = 4;
    [O: Order] U64<O> = 8;
    [O: Order] I64<O> = 8;
    [O: Order] GoInt<O> = 8;
    [O: Order] GoUint<O> = 8;
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
    [W: Bounded] RangeBound<W> = 1 + W::MAX_SIZE;
    [A: Bounded, B: Bounded] Either<A, B> = 1 + largest(&[A::MAX_SIZE, B::MAX_SIZE]);
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

macro_rules! tuples {
    ($($($wire:ident)*;)*) => {
        bounded! { $([$($wire: Bounded),*] ($($wire,)*) = 0 $(+ $wire::MAX_SIZE)*;)* }
    };
}

tuples! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
    A B C D E F G H I;
    A B C D E F G H I J;
    A B C D E F G H I J K;
    A B C D E F G H I J K L;
    A B C D E F G H I J K L M;
    A B C D E F G H I J K L M N;
    A B C D E F G H I J K L M N P;
    A B C D E F G H I J K L M N P Q;
}

/// Implements [`BoundedHeader`] for headers of fixed width, if they are short, and for their maxima.
macro_rules! headers {
    ($($header:ident $(<$order:ident>)?),*: $($short:ident $(<$of_short:ident>)?),*) => {
        $(
            impl<const N: usize, $($order: Order)?> BoundedHeader for Max<N, $header $(<$order>)?> {
                const MAX_WIDTH: usize = <$header $(<$order>)? as Header>::WIDTH;
            }
        )*
        $(
            impl $(<$of_short: Order>)? BoundedHeader for $short $(<$of_short>)? {
                const MAX_WIDTH: usize = Self::WIDTH;
            }
        )*
    };
}

headers!(
    U8, I8, U16<O>, I16<O>, U32<O>, I32<O>, U64<O>, I64<O>, GoInt<O>, GoUint<O>:
    U8, I8, U16<O>, I16<O>
);

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

//! The maximum encoded size of a wire type.

use super::dialect::{Dialect, tag_width};
use super::logical::{Logical, LogicalType};
use super::*;

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
    [O: Order] U128<O> = O::DIALECT.max_width(16);
    // A string of four bytes in the format of postcard.
    [O: Order] Char<O> = if matches!(O::DIALECT, Dialect::Postcard) { 5 } else { 4 };
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
    [L: LogicalType, W: Bounded] Logical<L, W> = W::MAX_SIZE;
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

impl<O: Order> BoundedHeader for U16<O> {
    const MAX_WIDTH: usize = O::DIALECT.max_width(2);
}

impl<O: Order> BoundedHeader for I16<O> {
    const MAX_WIDTH: usize = O::DIALECT.max_width(2);
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

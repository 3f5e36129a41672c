//! Wire types and Rust types of views.

use crate::time::{Timestamp, ZonedTimestamp};
use crate::view::{Entries, Seq};
use crate::wire::{
    Array, Blob, Bool, DecodeFields, Decoding, F32, F64, Get, GoInt, GoUint, Header, I8, I16, I32, I64, Map,
    Message, Opt, Order, Pointer, Skip, Slice, SortedMap, StaticWire, Str, TimeLocation, TimeUtc, U8, U16,
    U32, U64,
};

/// A wire type that can be decoded to a view, for `view`.
#[diagnostic::on_unimplemented(
    message = "the wire type `{Self}` has no view",
    label = "cannot be decoded to a view",
    note = "add `#[parco(view)]` to nested messages"
)]
pub trait ViewAs<'de> {
    /// Wire type of the view, with the same encoding.
    type Wire: StaticWire + Get<'de, Self::View>;
    /// Rust type of the view.
    type View;
}

/// A type with `#[parco(view)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no view",
    label = "no `#[parco(view)]`",
    note = "add `#[parco(view)]` next to `#[derive(tightwire_parco::Decode)]`"
)]
pub trait HasView {
    /// The view of this type.
    type View<'de>: DecodeFields<'de>;
}

macro_rules! plain {
    ($([$($generics:tt)*] $wire:ty => $view:ty;)*) => {$(
        impl<'de, $($generics)*> ViewAs<'de> for $wire {
            type Wire = Self;
            type View = $view;
        }
    )*};
}

plain! {
    [] Bool => bool;
    [] U8 => u8;
    [] I8 => i8;
    [O: Order] U16<O> => u16;
    [O: Order] I16<O> => i16;
    [O: Order] U32<O> => u32;
    [O: Order] I32<O> => i32;
    [O: Order] U64<O> => u64;
    [O: Order] I64<O> => i64;
    [O: Order] GoInt<O> => i64;
    [O: Order] GoUint<O> => u64;
    [O: Order] F32<O> => f32;
    [O: Order] F64<O> => f64;
    [H: Header] Str<H> => &'de str;
    [H: Header] Blob<H> => &'de [u8];
    [const N: usize] Skip<N> => ();
    [] TimeUtc => Timestamp;
    [] TimeLocation => ZonedTimestamp<&'de str>;
}

impl<'de, H: Header, E: ViewAs<'de>> ViewAs<'de> for Slice<H, E> {
    type Wire = Slice<H, E::Wire>;
    type View = Seq<'de, E::Wire, E::View>;
}

impl<'de, const N: usize, E: ViewAs<'de>> ViewAs<'de> for Array<N, E> {
    type Wire = Array<N, E::Wire>;
    type View = [E::View; N];
}

impl<'de, H: Header, K: ViewAs<'de>, V: ViewAs<'de>> ViewAs<'de> for Map<H, K, V> {
    type Wire = Map<H, K::Wire, V::Wire>;
    type View = Entries<'de, K::Wire, V::Wire, K::View, V::View>;
}

impl<'de, H: Header, K: ViewAs<'de>, V: ViewAs<'de>> ViewAs<'de> for SortedMap<H, K, V> {
    type Wire = Map<H, K::Wire, V::Wire>;
    type View = Entries<'de, K::Wire, V::Wire, K::View, V::View>;
}

impl<'de, W: ViewAs<'de>> ViewAs<'de> for Opt<W> {
    type Wire = Opt<W::Wire>;
    type View = Option<W::View>;
}

impl<'de, W: ViewAs<'de>> ViewAs<'de> for Pointer<W> {
    type Wire = W::Wire;
    type View = W::View;
}

impl<'de, M: HasView> ViewAs<'de> for Message<M, Decoding<'_>> {
    type Wire = Message<M::View<'de>, Decoding<'de>>;
    type View = M::View<'de>;
}

//! Wire types and Rust types of views.

use crate::time::{Located, Timestamp};
use crate::view::{Entries, Seq};
use crate::wire::{
    Array, Blob, Bool, DecodeFields, Decoding, F32, F64, Get, GoInt, GoUint, Header, I8, I16, I32, I64, Map,
    Message, Opt, Order, Skip, Slice, SortedMap, StaticWire, Str, TimeLocation, TimeUtc, U8, U16, U32, U64,
    Via,
};

/// A wire type that can be decoded to a view, for `view`.
#[diagnostic::on_unimplemented(
    message = "the wire type `{Self}` has no view",
    label = "cannot be decoded to a view",
    note = "add `#[parco(view)]` to nested messages"
)]
pub trait ViewForm<'de> {
    /// Wire type of the view, with the same encoding.
    type Form: StaticWire + Get<'de, Self::View>;
    /// Rust type of the view.
    type View;
}

/// A type with `#[parco(view)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no view",
    label = "no `#[parco(view)]`",
    note = "add `#[parco(view)]` next to `#[derive(tightwire_parco::Decode)]`"
)]
pub trait Viewed {
    /// The view of this type.
    type View<'de>: DecodeFields<'de>;
}

macro_rules! plain {
    ($([$($generics:tt)*] $form:ty => $view:ty;)*) => {$(
        impl<'de, $($generics)*> ViewForm<'de> for $form {
            type Form = Self;
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
    [] TimeLocation => Located<&'de str>;
}

impl<'de, H: Header, E: ViewForm<'de>> ViewForm<'de> for Slice<H, E> {
    type Form = Slice<H, E::Form>;
    type View = Seq<'de, E::Form, E::View>;
}

impl<'de, const N: usize, E: ViewForm<'de>> ViewForm<'de> for Array<N, E> {
    type Form = Array<N, E::Form>;
    type View = [E::View; N];
}

impl<'de, H: Header, K: ViewForm<'de>, V: ViewForm<'de>> ViewForm<'de> for Map<H, K, V> {
    type Form = Map<H, K::Form, V::Form>;
    type View = Entries<'de, K::Form, V::Form, K::View, V::View>;
}

impl<'de, H: Header, K: ViewForm<'de>, V: ViewForm<'de>> ViewForm<'de> for SortedMap<H, K, V> {
    type Form = Map<H, K::Form, V::Form>;
    type View = Entries<'de, K::Form, V::Form, K::View, V::View>;
}

impl<'de, W: ViewForm<'de>> ViewForm<'de> for Opt<W> {
    type Form = Opt<W::Form>;
    type View = Option<W::View>;
}

impl<'de, W: ViewForm<'de>> ViewForm<'de> for Via<W> {
    type Form = W::Form;
    type View = W::View;
}

impl<'de, M: Viewed> ViewForm<'de> for Message<M, Decoding<'_>> {
    type Form = Message<M::View<'de>, Decoding<'de>>;
    type View = M::View<'de>;
}

//! Forms made from other forms: what the attributes of the derive macros do to a field's default form.
//!
//! Each attribute is a function from types to types, written as a trait with an associated type. So the macros need not
//! guess from its spelling what a field's type is: `#[parco(header = u8)]` asks for [`Reheader<U8>`](Reheader) of
//! whatever form the type has, and a form without a header is a compile error.
//!
//! [`Opt`] and [`Via`] pass on everything but [`HasInner`], so that an attribute means the same for `T`, `Option<T>` and
//! `Box<T>`.

use alloc::string::String;
use alloc::vec::Vec;

use super::{
    Array, Blob, Bool, F32, F64, GoInt, GoUint, I8, I16, I32, I64, Map, Message, Opt, Order, Skip, Slice,
    SortedMap, Str, TimeLocation, TimeUtc, U8, U16, U32, U64, Via,
};
use crate::schema::Schema;

mod id;
mod max;
mod view;

pub use id::Id;
pub use max::Max;
pub use view::{ViewForm, Viewed};

/// Another header: `header = ..` and `small`.
#[diagnostic::on_unimplemented(
    message = "the form `{Self}` has no header",
    label = "`header` and `small` are for strings, blobs, slices and maps"
)]
pub trait Reheader<H> {
    /// The form with the header `H`.
    type Form;
}

/// Another byte order: `be` and `le`, of numbers, headers and everything inside but messages.
#[diagnostic::on_unimplemented(message = "the form `{Self}` has no byte order to choose")]
pub trait Reorder<O> {
    /// The form in the order `O`.
    type Form;
}

/// A limit of its own on a length or count: `max = N`.
#[diagnostic::on_unimplemented(
    message = "the form `{Self}` has no length to limit",
    label = "`max` is for strings, blobs, slices and maps"
)]
pub trait Limit<const N: u64> {
    /// The form whose header goes up to `N`.
    type Form;
}

/// A form with elements, for `elem(..)`.
#[diagnostic::on_unimplemented(
    message = "the form `{Self}` has no elements",
    label = "`elem` is for slices and arrays"
)]
pub trait HasElement {
    /// The form of the elements.
    type Element;
}

/// Another form of the elements.
#[diagnostic::on_unimplemented(
    message = "the form `{Self}` has no elements",
    label = "`elem` is for slices and arrays"
)]
pub trait WithElement<E>: HasElement {
    /// The form with elements of the form `E`.
    type Form;
}

/// A form with entries, for `key(..)` and `value(..)`.
#[diagnostic::on_unimplemented(
    message = "the form `{Self}` has no entries",
    label = "`key` and `value` are for maps"
)]
pub trait HasEntry {
    /// The form of the keys.
    type Key;
    /// The form of the values.
    type Value;
}

/// Another form of the keys.
#[diagnostic::on_unimplemented(
    message = "the form `{Self}` has no entries",
    label = "`key` and `value` are for maps"
)]
pub trait WithKey<K>: HasEntry {
    /// The form with keys of the form `K`.
    type Form;
}

/// Another form of the values.
#[diagnostic::on_unimplemented(
    message = "the form `{Self}` has no entries",
    label = "`key` and `value` are for maps"
)]
pub trait WithValue<V>: HasEntry {
    /// The form with values of the form `V`.
    type Form;
}

/// A form with a value that may be absent, for `inner(..)`.
#[diagnostic::on_unimplemented(
    message = "the form `{Self}` is no option",
    label = "`inner` is for values that may be absent"
)]
pub trait HasInner {
    /// The form of the value.
    type Inner;
}

/// Another form of the value that may be absent.
#[diagnostic::on_unimplemented(
    message = "the form `{Self}` is no option",
    label = "`inner` is for values that may be absent"
)]
pub trait WithInner<W>: HasInner {
    /// The form with a value of the form `W`.
    type Form;
}

/// A map written in the order of its keys: `sorted`.
#[diagnostic::on_unimplemented(message = "the form `{Self}` is no map", label = "`sorted` is for maps")]
pub trait Sorted {
    /// The sorted form.
    type Form;
}

/// Bytes as a blob, one copy instead of one element after the other: `blob`.
#[diagnostic::on_unimplemented(
    message = "the form `{Self}` is not made of bytes",
    label = "`blob` is for slices of `u8` and for strings"
)]
pub trait AsBlob {
    /// The blob.
    type Form;
}

/// Go's name of a 64-bit number: `int` and `uint`.
#[diagnostic::on_unimplemented(
    message = "the form `{Self}` is not that number",
    label = "`int` is for `i64`, `uint` for `u64`"
)]
pub trait AsGo<Signed> {
    /// [`GoInt`] or [`GoUint`].
    type Form;
}

/// Says [`AsGo`] for `int`.
#[derive(Clone, Copy, Debug)]
pub enum Int {}

/// Says [`AsGo`] for `uint`.
#[derive(Clone, Copy, Debug)]
pub enum Uint {}

macro_rules! pass_on {
    ($($trait:ident<$($parameter:ident),*> [$($constant:tt)*];)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($constant)* W: $trait<$($parameter),*>> $trait<$($parameter),*> for Opt<W> {
            type Form = Opt<W::Form>;
        }

        #[diagnostic::do_not_recommend]
        impl<$($constant)* W: $trait<$($parameter),*>> $trait<$($parameter),*> for Via<W> {
            type Form = Via<W::Form>;
        }
    )*};
}

pass_on! {
    Reheader<H> [H,];
    Reorder<O> [O,];
    Limit<N> [const N: u64,];
    WithElement<E> [E,];
    WithKey<K> [K,];
    WithValue<V> [V,];
    Sorted<> [];
    AsBlob<> [];
    AsGo<S> [S,];
}

impl<H, Old> Reheader<H> for Str<Old> {
    type Form = Str<H>;
}

impl<H, Old> Reheader<H> for Blob<Old> {
    type Form = Blob<H>;
}

impl<H, Old, E> Reheader<H> for Slice<Old, E> {
    type Form = Slice<H, E>;
}

impl<H, Old, K, V> Reheader<H> for Map<Old, K, V> {
    type Form = Map<H, K, V>;
}

impl<H, Old, K, V> Reheader<H> for SortedMap<Old, K, V> {
    type Form = SortedMap<H, K, V>;
}

impl<const N: u64, H> Limit<N> for Str<H> {
    type Form = Str<Max<N, H>>;
}

impl<const N: u64, H> Limit<N> for Blob<H> {
    type Form = Blob<Max<N, H>>;
}

impl<const N: u64, H, E> Limit<N> for Slice<H, E> {
    type Form = Slice<Max<N, H>, E>;
}

impl<const N: u64, H, K, V> Limit<N> for Map<H, K, V> {
    type Form = Map<Max<N, H>, K, V>;
}

impl<const N: u64, H, K, V> Limit<N> for SortedMap<H, K, V> {
    type Form = SortedMap<Max<N, H>, K, V>;
}

macro_rules! orderless {
    ($([$($generics:tt)*] $form:ty;)*) => {$(
        impl<O, $($generics)*> Reorder<O> for $form {
            type Form = Self;
        }
    )*};
}

orderless! {
    [] U8;
    [] I8;
    [] Bool;
    [] TimeLocation;
    [] TimeUtc;
    [const N: usize] Skip<N>;
    [M, Role] Message<M, Role>;
}

macro_rules! ordered {
    ($($form:ident)*) => {$(
        impl<O: Order, Old> Reorder<O> for $form<Old> {
            type Form = $form<O>;
        }
    )*};
}

ordered!(U16 I16 U32 I32 U64 I64 GoInt GoUint F32 F64);

impl<O, H: Reorder<O>> Reorder<O> for Str<H> {
    type Form = Str<H::Form>;
}

impl<O, H: Reorder<O>> Reorder<O> for Blob<H> {
    type Form = Blob<H::Form>;
}

impl<O, H: Reorder<O>, E: Reorder<O>> Reorder<O> for Slice<H, E> {
    type Form = Slice<H::Form, E::Form>;
}

impl<O, const N: usize, E: Reorder<O>> Reorder<O> for Array<N, E> {
    type Form = Array<N, E::Form>;
}

impl<O, H: Reorder<O>, K: Reorder<O>, V: Reorder<O>> Reorder<O> for Map<H, K, V> {
    type Form = Map<H::Form, K::Form, V::Form>;
}

impl<H, E> HasElement for Slice<H, E> {
    type Element = E;
}

impl<H, Old, E> WithElement<E> for Slice<H, Old> {
    type Form = Slice<H, E>;
}

impl<const N: usize, E> HasElement for Array<N, E> {
    type Element = E;
}

impl<const N: usize, Old, E> WithElement<E> for Array<N, Old> {
    type Form = Array<N, E>;
}

impl<W: HasElement> HasElement for Opt<W> {
    type Element = W::Element;
}

impl<W: HasElement> HasElement for Via<W> {
    type Element = W::Element;
}

impl<H, K, V> HasEntry for Map<H, K, V> {
    type Key = K;
    type Value = V;
}

impl<H, Old, K, V> WithKey<K> for Map<H, Old, V> {
    type Form = Map<H, K, V>;
}

impl<H, K, Old, V> WithValue<V> for Map<H, K, Old> {
    type Form = Map<H, K, V>;
}

impl<W: HasEntry> HasEntry for Opt<W> {
    type Key = W::Key;
    type Value = W::Value;
}

impl<W: HasEntry> HasEntry for Via<W> {
    type Key = W::Key;
    type Value = W::Value;
}

impl<W> HasInner for Opt<W> {
    type Inner = W;
}

impl<Old, W> WithInner<W> for Opt<Old> {
    type Form = Opt<W>;
}

impl<W: HasInner> HasInner for Via<W> {
    type Inner = W::Inner;
}

impl<Old: WithInner<W>, W> WithInner<W> for Via<Old> {
    type Form = Via<Old::Form>;
}

impl<H, K, V> Sorted for Map<H, K, V> {
    type Form = SortedMap<H, K, V>;
}

impl<H> AsBlob for Slice<H, U8> {
    type Form = Blob<H>;
}

impl<H> AsBlob for Str<H> {
    type Form = Blob<H>;
}

impl<H> AsBlob for Blob<H> {
    type Form = Self;
}

impl<O> AsGo<Int> for I64<O> {
    type Form = GoInt<O>;
}

impl<O> AsGo<Uint> for U64<O> {
    type Form = GoUint<O>;
}

/// Fields with their names, as [`Describe`](crate::schema::Describe) takes them.
pub fn named<const N: usize>(fields: [(&str, Schema); N]) -> Vec<(String, Schema)> {
    fields.into_iter().map(|(name, schema)| (name.into(), schema)).collect()
}

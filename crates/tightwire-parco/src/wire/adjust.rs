//! Type-level functions that the derive attributes apply to a field's default wire type.
//!
//! Each attribute is a trait with an associated type, so the macros do not have to guess the type of a field from its
//! name: `#[parco(header = u8)]` selects [`Reheader<U8>`](Reheader) of the default wire type, and fails to compile if
//! that has no header.
//!
//! [`Opt`] and [`Via`] forward every trait but [`HasInner`], so that an attribute means the same for `T`, `Option<T>`
//! and `Box<T>`.

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

/// Replaces the header: `header = ..` and `small`.
#[diagnostic::on_unimplemented(
    message = "the wire type `{Self}` has no header",
    label = "`header` and `small` apply to strings, blobs, slices and maps"
)]
pub trait Reheader<H> {
    /// The wire type with the header `H`.
    type Form;
}

/// Replaces the byte order: `be` and `le`. Applies to numbers, headers and nested types, but not to nested messages.
#[diagnostic::on_unimplemented(message = "the wire type `{Self}` has no byte order")]
pub trait Reorder<O> {
    /// The wire type in the byte order `O`.
    type Form;
}

/// Limits a length or count: `max = N`.
#[diagnostic::on_unimplemented(
    message = "the wire type `{Self}` has no length to limit",
    label = "`max` applies to strings, blobs, slices and maps"
)]
pub trait Limit<const N: u64> {
    /// The wire type whose header is limited to `N`.
    type Form;
}

/// A wire type with elements, for `elem(..)`.
#[diagnostic::on_unimplemented(
    message = "the wire type `{Self}` has no elements",
    label = "`elem` applies to slices and arrays"
)]
pub trait HasElement {
    /// Wire type of the elements.
    type Element;
}

/// Replaces the wire type of the elements.
#[diagnostic::on_unimplemented(
    message = "the wire type `{Self}` has no elements",
    label = "`elem` applies to slices and arrays"
)]
pub trait WithElement<E>: HasElement {
    /// The wire type with elements of type `E`.
    type Form;
}

/// A wire type with entries, for `key(..)` and `value(..)`.
#[diagnostic::on_unimplemented(
    message = "the wire type `{Self}` has no entries",
    label = "`key` and `value` apply to maps"
)]
pub trait HasEntry {
    /// Wire type of the keys.
    type Key;
    /// Wire type of the values.
    type Value;
}

/// Replaces the wire type of the keys.
#[diagnostic::on_unimplemented(
    message = "the wire type `{Self}` has no entries",
    label = "`key` and `value` apply to maps"
)]
pub trait WithKey<K>: HasEntry {
    /// The wire type with keys of type `K`.
    type Form;
}

/// Replaces the wire type of the values.
#[diagnostic::on_unimplemented(
    message = "the wire type `{Self}` has no entries",
    label = "`key` and `value` apply to maps"
)]
pub trait WithValue<V>: HasEntry {
    /// The wire type with values of type `V`.
    type Form;
}

/// A wire type for optional values, for `inner(..)`.
#[diagnostic::on_unimplemented(
    message = "the wire type `{Self}` is not an option",
    label = "`inner` applies to options"
)]
pub trait HasInner {
    /// Wire type of the value.
    type Inner;
}

/// Replaces the wire type of an optional value.
#[diagnostic::on_unimplemented(
    message = "the wire type `{Self}` is not an option",
    label = "`inner` applies to options"
)]
pub trait WithInner<W>: HasInner {
    /// The wire type with a value of type `W`.
    type Form;
}

/// Sorts map entries by key: `sorted`.
#[diagnostic::on_unimplemented(message = "the wire type `{Self}` is not a map", label = "`sorted` applies to maps")]
pub trait Sorted {
    /// The sorted wire type.
    type Form;
}

/// Encodes bytes as a blob, with one copy instead of one element at a time: `blob`.
#[diagnostic::on_unimplemented(
    message = "the wire type `{Self}` does not contain bytes",
    label = "`blob` applies to slices of `u8` and to strings"
)]
pub trait AsBlob {
    /// The blob.
    type Form;
}

/// Uses Go's name for a 64-bit integer: `int` and `uint`.
#[diagnostic::on_unimplemented(
    message = "the wire type `{Self}` is not a matching integer",
    label = "`int` applies to `i64`, `uint` to `u64`"
)]
pub trait AsGo<Signed> {
    /// [`GoInt`] or [`GoUint`].
    type Form;
}

/// Selects `int` in [`AsGo`].
#[derive(Clone, Copy, Debug)]
pub enum Int {}

/// Selects `uint` in [`AsGo`].
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

/// Named fields, as [`Describe`](crate::schema::Describe) expects them.
pub fn named<const N: usize>(fields: [(&str, Schema); N]) -> Vec<(String, Schema)> {
    fields.into_iter().map(|(name, schema)| (name.into(), schema)).collect()
}

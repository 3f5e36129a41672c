//! Type-level functions that the derive attributes apply to a field's default wire type.
//!
//! Each attribute is a trait with an associated type, so the macros do not have to guess the type of a field from its
//! name: `#[parco(header = u8)]` selects [`WithHeader<U8>`](WithHeader) of the default wire type, and fails to compile
//! if that has no header.
//!
//! [`Opt`] and [`Pointer`] forward every trait but [`HasInner`], so that an attribute means the same for `T`,
//! `Option<T>` and `Box<T>`.

use alloc::string::String;
use alloc::vec::Vec;

use super::{
    Array, Blob, Bool, F32, F64, GoInt, GoUint, I8, I16, I32, I64, Map, Message, Opt, Order, Pointer, Skip,
    Slice, SortedMap, Str, TimeLocation, TimeUtc, U8, U16, U32, U64,
};
use crate::schema::Schema;

mod id;
mod max;
mod view;

pub use id::Id;
pub use max::Max;
pub use view::{HasView, ViewAs};

/// Replaces the header: `header = ..` and `small`.
#[diagnostic::on_unimplemented(
    message = "the wire type `{Self}` has no header",
    label = "`header` and `small` apply to strings, blobs, slices and maps"
)]
pub trait WithHeader<H> {
    /// The wire type with the header `H`.
    type Wire;
}

/// Replaces the byte order: `be` and `le`. Applies to numbers, headers and nested types, but not to nested messages.
#[diagnostic::on_unimplemented(message = "the wire type `{Self}` has no byte order")]
pub trait WithOrder<O> {
    /// The wire type in the byte order `O`.
    type Wire;
}

/// Limits a length or count: `max = N`.
#[diagnostic::on_unimplemented(
    message = "the wire type `{Self}` has no length to limit",
    label = "`max` applies to strings, blobs, slices and maps"
)]
pub trait WithMax<const N: u64> {
    /// The wire type whose header is limited to `N`.
    type Wire;
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
    type Wire;
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
    type Wire;
}

/// Replaces the wire type of the values.
#[diagnostic::on_unimplemented(
    message = "the wire type `{Self}` has no entries",
    label = "`key` and `value` apply to maps"
)]
pub trait WithValue<V>: HasEntry {
    /// The wire type with values of type `V`.
    type Wire;
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
    type Wire;
}

/// Sorts map entries by key: `sorted`.
#[diagnostic::on_unimplemented(
    message = "the wire type `{Self}` is not a map",
    label = "`sorted` applies to maps"
)]
pub trait AsSorted {
    /// The sorted wire type.
    type Wire;
}

/// Encodes bytes as a blob, with one copy instead of one element at a time: `blob`.
#[diagnostic::on_unimplemented(
    message = "the wire type `{Self}` does not contain bytes",
    label = "`blob` applies to slices of `u8` and to strings"
)]
pub trait AsBlob {
    /// The blob.
    type Wire;
}

/// Uses Go's name for a 64-bit integer: `int` and `uint`.
#[diagnostic::on_unimplemented(
    message = "the wire type `{Self}` is not a matching integer",
    label = "`int` applies to `i64`, `uint` to `u64`"
)]
pub trait AsGo<Signed> {
    /// [`GoInt`] or [`GoUint`].
    type Wire;
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
            type Wire = Opt<W::Wire>;
        }

        #[diagnostic::do_not_recommend]
        impl<$($constant)* W: $trait<$($parameter),*>> $trait<$($parameter),*> for Pointer<W> {
            type Wire = Pointer<W::Wire>;
        }
    )*};
}

pass_on! {
    WithHeader<H> [H,];
    WithOrder<O> [O,];
    WithMax<N> [const N: u64,];
    WithElement<E> [E,];
    WithKey<K> [K,];
    WithValue<V> [V,];
    AsSorted<> [];
    AsBlob<> [];
    AsGo<S> [S,];
}

impl<H, Old> WithHeader<H> for Str<Old> {
    type Wire = Str<H>;
}

impl<H, Old> WithHeader<H> for Blob<Old> {
    type Wire = Blob<H>;
}

impl<H, Old, E> WithHeader<H> for Slice<Old, E> {
    type Wire = Slice<H, E>;
}

impl<H, Old, K, V> WithHeader<H> for Map<Old, K, V> {
    type Wire = Map<H, K, V>;
}

impl<H, Old, K, V> WithHeader<H> for SortedMap<Old, K, V> {
    type Wire = SortedMap<H, K, V>;
}

impl<const N: u64, H> WithMax<N> for Str<H> {
    type Wire = Str<Max<N, H>>;
}

impl<const N: u64, H> WithMax<N> for Blob<H> {
    type Wire = Blob<Max<N, H>>;
}

impl<const N: u64, H, E> WithMax<N> for Slice<H, E> {
    type Wire = Slice<Max<N, H>, E>;
}

impl<const N: u64, H, K, V> WithMax<N> for Map<H, K, V> {
    type Wire = Map<Max<N, H>, K, V>;
}

impl<const N: u64, H, K, V> WithMax<N> for SortedMap<H, K, V> {
    type Wire = SortedMap<Max<N, H>, K, V>;
}

macro_rules! orderless {
    ($([$($generics:tt)*] $wire:ty;)*) => {$(
        impl<O, $($generics)*> WithOrder<O> for $wire {
            type Wire = Self;
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
    ($($wire:ident)*) => {$(
        impl<O: Order, Old> WithOrder<O> for $wire<Old> {
            type Wire = $wire<O>;
        }
    )*};
}

ordered!(U16 I16 U32 I32 U64 I64 GoInt GoUint F32 F64);

impl<O, H: WithOrder<O>> WithOrder<O> for Str<H> {
    type Wire = Str<H::Wire>;
}

impl<O, H: WithOrder<O>> WithOrder<O> for Blob<H> {
    type Wire = Blob<H::Wire>;
}

impl<O, H: WithOrder<O>, E: WithOrder<O>> WithOrder<O> for Slice<H, E> {
    type Wire = Slice<H::Wire, E::Wire>;
}

impl<O, const N: usize, E: WithOrder<O>> WithOrder<O> for Array<N, E> {
    type Wire = Array<N, E::Wire>;
}

impl<O, H: WithOrder<O>, K: WithOrder<O>, V: WithOrder<O>> WithOrder<O> for Map<H, K, V> {
    type Wire = Map<H::Wire, K::Wire, V::Wire>;
}

impl<H, E> HasElement for Slice<H, E> {
    type Element = E;
}

impl<H, Old, E> WithElement<E> for Slice<H, Old> {
    type Wire = Slice<H, E>;
}

impl<const N: usize, E> HasElement for Array<N, E> {
    type Element = E;
}

impl<const N: usize, Old, E> WithElement<E> for Array<N, Old> {
    type Wire = Array<N, E>;
}

impl<W: HasElement> HasElement for Opt<W> {
    type Element = W::Element;
}

impl<W: HasElement> HasElement for Pointer<W> {
    type Element = W::Element;
}

impl<H, K, V> HasEntry for Map<H, K, V> {
    type Key = K;
    type Value = V;
}

impl<H, Old, K, V> WithKey<K> for Map<H, Old, V> {
    type Wire = Map<H, K, V>;
}

impl<H, K, Old, V> WithValue<V> for Map<H, K, Old> {
    type Wire = Map<H, K, V>;
}

impl<W: HasEntry> HasEntry for Opt<W> {
    type Key = W::Key;
    type Value = W::Value;
}

impl<W: HasEntry> HasEntry for Pointer<W> {
    type Key = W::Key;
    type Value = W::Value;
}

impl<W> HasInner for Opt<W> {
    type Inner = W;
}

impl<Old, W> WithInner<W> for Opt<Old> {
    type Wire = Opt<W>;
}

impl<W: HasInner> HasInner for Pointer<W> {
    type Inner = W::Inner;
}

impl<Old: WithInner<W>, W> WithInner<W> for Pointer<Old> {
    type Wire = Pointer<Old::Wire>;
}

impl<H, K, V> AsSorted for Map<H, K, V> {
    type Wire = SortedMap<H, K, V>;
}

impl<H> AsBlob for Slice<H, U8> {
    type Wire = Blob<H>;
}

impl<H> AsBlob for Str<H> {
    type Wire = Blob<H>;
}

impl<H> AsBlob for Blob<H> {
    type Wire = Self;
}

impl<O> AsGo<Int> for I64<O> {
    type Wire = GoInt<O>;
}

impl<O> AsGo<Uint> for U64<O> {
    type Wire = GoUint<O>;
}

/// Named fields, as [`SchemaContext`](crate::schema::SchemaContext) expects them.
pub fn named<const N: usize>(fields: [(&str, Schema); N]) -> Vec<(String, Schema)> {
    fields.into_iter().map(|(name, schema)| (name.into(), schema)).collect()
}

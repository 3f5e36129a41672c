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

macro_rules! wires {
    ($([$($generics:tt)*] $wire:ty: $trait:ty => $($kind:ident = $result:ty),*;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> $trait for $wire {
            $(type $kind = $result;)*
        }
    )*};
}

wires! {
    [H, Old] Str<Old>: WithHeader<H> => Wire = Str<H>;
    [H, Old] Blob<Old>: WithHeader<H> => Wire = Blob<H>;
    [H, Old, E] Slice<Old, E>: WithHeader<H> => Wire = Slice<H, E>;
    [H, Old, K, V] Map<Old, K, V>: WithHeader<H> => Wire = Map<H, K, V>;
    [H, Old, K, V] SortedMap<Old, K, V>: WithHeader<H> => Wire = SortedMap<H, K, V>;

    [const N: u64, H] Str<H>: WithMax<N> => Wire = Str<Max<N, H>>;
    [const N: u64, H] Blob<H>: WithMax<N> => Wire = Blob<Max<N, H>>;
    [const N: u64, H, E] Slice<H, E>: WithMax<N> => Wire = Slice<Max<N, H>, E>;
    [const N: u64, H, K, V] Map<H, K, V>: WithMax<N> => Wire = Map<Max<N, H>, K, V>;
    [const N: u64, H, K, V] SortedMap<H, K, V>: WithMax<N> => Wire = SortedMap<Max<N, H>, K, V>;

    [O] U8: WithOrder<O> => Wire = Self;
    [O] I8: WithOrder<O> => Wire = Self;
    [O] Bool: WithOrder<O> => Wire = Self;
    [O] TimeLocation: WithOrder<O> => Wire = Self;
    [O] TimeUtc: WithOrder<O> => Wire = Self;
    [O, const N: usize] Skip<N>: WithOrder<O> => Wire = Self;
    [O, M, Role] Message<M, Role>: WithOrder<O> => Wire = Self;
    [O, H: WithOrder<O>] Str<H>: WithOrder<O> => Wire = Str<H::Wire>;
    [O, H: WithOrder<O>] Blob<H>: WithOrder<O> => Wire = Blob<H::Wire>;
    [O, H: WithOrder<O>, E: WithOrder<O>] Slice<H, E>: WithOrder<O> => Wire = Slice<H::Wire, E::Wire>;
    [O, const N: usize, E: WithOrder<O>] Array<N, E>: WithOrder<O> => Wire = Array<N, E::Wire>;
    [O, H: WithOrder<O>, K: WithOrder<O>, V: WithOrder<O>] Map<H, K, V>: WithOrder<O>
        => Wire = Map<H::Wire, K::Wire, V::Wire>;

    [H, E] Slice<H, E>: HasElement => Element = E;
    [const N: usize, E] Array<N, E>: HasElement => Element = E;
    [W: HasElement] Opt<W>: HasElement => Element = W::Element;
    [W: HasElement] Pointer<W>: HasElement => Element = W::Element;
    [H, Old, E] Slice<H, Old>: WithElement<E> => Wire = Slice<H, E>;
    [const N: usize, Old, E] Array<N, Old>: WithElement<E> => Wire = Array<N, E>;

    [H, K, V] Map<H, K, V>: HasEntry => Key = K, Value = V;
    [W: HasEntry] Opt<W>: HasEntry => Key = W::Key, Value = W::Value;
    [W: HasEntry] Pointer<W>: HasEntry => Key = W::Key, Value = W::Value;
    [H, Old, K, V] Map<H, Old, V>: WithKey<K> => Wire = Map<H, K, V>;
    [H, K, Old, V] Map<H, K, Old>: WithValue<V> => Wire = Map<H, K, V>;

    [W] Opt<W>: HasInner => Inner = W;
    [W: HasInner] Pointer<W>: HasInner => Inner = W::Inner;
    [Old, W] Opt<Old>: WithInner<W> => Wire = Opt<W>;
    [Old: WithInner<W>, W] Pointer<Old>: WithInner<W> => Wire = Pointer<Old::Wire>;

    [H, K, V] Map<H, K, V>: AsSorted => Wire = SortedMap<H, K, V>;
    [H] Slice<H, U8>: AsBlob => Wire = Blob<H>;
    [H] Str<H>: AsBlob => Wire = Blob<H>;
    [H] Blob<H>: AsBlob => Wire = Self;
}

// Without the macro, because the compiler shows these implementations for a number with the other sign.
impl<O> AsGo<Int> for I64<O> {
    type Wire = GoInt<O>;
}

impl<O> AsGo<Uint> for U64<O> {
    type Wire = GoUint<O>;
}

macro_rules! ordered {
    ($($wire:ident)*) => {$(
        impl<O: Order, Old> WithOrder<O> for $wire<Old> {
            type Wire = $wire<O>;
        }
    )*};
}

ordered!(U16 I16 U32 I32 U64 I64 GoInt GoUint F32 F64);

/// Named fields, as [`SchemaContext`](crate::schema::SchemaContext) expects them.
pub fn named<const N: usize>(fields: [(&str, Schema); N]) -> Vec<(String, Schema)> {
    fields.into_iter().map(|(name, schema)| (name.into(), schema)).collect()
}

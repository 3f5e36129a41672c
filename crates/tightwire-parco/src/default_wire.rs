//! Default wire type of each Rust type.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::rc::Rc;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
#[cfg(feature = "std")]
use std::collections::{HashMap, HashSet};

use crate::time::{Timestamp, ZonedTimestamp};
use crate::view::{Entries, Seq};
use crate::wire::{
    Array, Blob, Bool, F32, F64, FromOctets, Get, I8, I16, I32, I64, Le, Map, Octets, Opt, Order, Pointer,
    Put, Skip, Slice, StaticWire, TimeLocation, TimeUtc, U8, U16, U32, U64, Varchar,
};

/// Default wire type of a Rust type for encoding, with the byte order `O` of numbers and headers.
///
/// Implement it with `#[derive(Encode)]`.
///
/// | Rust type | wire type |
/// |---|---|
/// | `bool`, `u8` to `u64`, `i8` to `i64`, `f32`, `f64` | the number type of the same name |
/// | `String`, `&str`, `Box<str>`, `Cow<str>`, ... | [`Varchar`] |
/// | `Cow<[u8]>` | [`Blob`] with a [`U16`] header |
/// | `Vec<T>`, `&[T]`, `Box<[T]>`, `VecDeque<T>`, sets, [`Seq`] | [`Slice`] with a [`U16`] header |
/// | `[T; N]` | [`Array`] |
/// | `HashMap<K, V>`, `BTreeMap<K, V>`, [`Entries`] | [`Map`] with a [`U16`] header |
/// | `Option<T>` | [`Opt`] |
/// | `Box<T>`, `Rc<T>`, `Arc<T>`, `&T` | that of `T` |
/// | [`Timestamp`], `SystemTime`, the instant types of `chrono`, `jiff`, `time` | [`TimeUtc`] |
/// | [`ZonedTimestamp`], `jiff::Zoned` | [`TimeLocation`] |
/// | `()` | no bytes |
/// | a type with `#[derive(Encode)]` | its fields |
///
/// `usize` and `isize` have none, because their width depends on the platform.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be encoded",
    label = "no default wire type",
    note = "add `#[derive(tightwire_parco::Encode)]` to the type, or `#[parco(with = ..)]` to the field"
)]
pub trait EncodeAs<O: Order = Le> {
    /// Wire type used to encode.
    type Wire: StaticWire + Put<Self>;
}

/// Default wire type of a Rust type for decoding, with the byte order `O` of numbers and headers.
///
/// Implement it with `#[derive(Decode)]`. The wire types are those of [`EncodeAs`], except that `&[u8]` is decoded as
/// a [`Blob`], which can be borrowed. It has the same bytes as the [`Slice`] of numbers that `&[u8]` is encoded as.
/// Other slices cannot be borrowed; use [`Seq`] instead.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be decoded",
    label = "no default wire type",
    note = "add `#[derive(tightwire_parco::Decode)]` to the type, or `#[parco(with = ..)]` to the field"
)]
pub trait DecodeAs<'de, O: Order = Le>: Sized {
    /// Wire type used to decode.
    type Wire: StaticWire + Get<'de, Self>;
}

/// A type that can be encoded. Derive it with `#[derive(Encode)]`.
///
/// Implemented for every type that implements [`EncodeAs`].
pub trait Encode: EncodeAs<Le> {}

impl<T: EncodeAs<Le> + ?Sized> Encode for T {}

/// A type that can be decoded, optionally borrowing from the input (`'de`). Derive it with `#[derive(Decode)]`.
///
/// Implemented for every type that implements [`DecodeAs`].
pub trait Decode<'de>: DecodeAs<'de, Le> {}

impl<'de, T: DecodeAs<'de, Le>> Decode<'de> for T {}

/// A type that can be decoded without borrowing from the input.
pub trait DecodeOwned: for<'de> Decode<'de> {}

impl<T: for<'de> Decode<'de>> DecodeOwned for T {}

macro_rules! both {
    ($($(#[$cfg:meta])* $type:ty => $wire:ty;)*) => {$(
        $(#[$cfg])*
        impl<O: Order> EncodeAs<O> for $type {
            type Wire = $wire;
        }

        $(#[$cfg])*
        impl<O: Order> DecodeAs<'_, O> for $type {
            type Wire = $wire;
        }
    )*};
}

both! {
    bool => Bool;
    u8 => U8;
    i8 => I8;
    u16 => U16<O>;
    i16 => I16<O>;
    u32 => U32<O>;
    i32 => I32<O>;
    u64 => U64<O>;
    i64 => I64<O>;
    f32 => F32<O>;
    f64 => F64<O>;
    () => Skip<0>;
    String => Varchar<O>;
    Box<str> => Varchar<O>;
    Rc<str> => Varchar<O>;
    Arc<str> => Varchar<O>;
    Timestamp => TimeUtc;
    #[cfg(feature = "std")]
    std::time::SystemTime => TimeUtc;
    #[cfg(feature = "chrono")]
    chrono::DateTime<chrono::Utc> => TimeUtc;
    #[cfg(feature = "jiff")]
    jiff::Timestamp => TimeUtc;
    #[cfg(feature = "jiff")]
    jiff::Zoned => TimeLocation;
    #[cfg(feature = "time")]
    time::OffsetDateTime => TimeUtc;
    #[cfg(feature = "time")]
    time::UtcDateTime => TimeUtc;
}

macro_rules! encode {
    ($([$($generics:tt)*] $type:ty => $wire:ty;)*) => {$(
        impl<O: Order, $($generics)*> EncodeAs<O> for $type {
            type Wire = $wire;
        }
    )*};
}

macro_rules! decode {
    ($([$($generics:tt)*] $type:ty => $wire:ty;)*) => {$(
        impl<'de, O: Order, $($generics)*> DecodeAs<'de, O> for $type {
            type Wire = $wire;
        }
    )*};
}

encode! {
    [] str => Varchar<O>;
    [] &str => Varchar<O>;
    [] Cow<'_, str> => Varchar<O>;
    [] Cow<'_, [u8]> => Blob<U16<O>>;
    [T: EncodeAs<O>] [T] => Slice<U16<O>, T::Wire>;
    [T: EncodeAs<O>] &[T] => Slice<U16<O>, T::Wire>;
    [T: EncodeAs<O>] Vec<T> => Slice<U16<O>, T::Wire>;
    [T: EncodeAs<O>] Box<[T]> => Slice<U16<O>, T::Wire>;
    [T: EncodeAs<O>] VecDeque<T> => Slice<U16<O>, T::Wire>;
    [T: EncodeAs<O>] BTreeSet<T> => Slice<U16<O>, T::Wire>;
    [E: StaticWire, T] Seq<'_, E, T> => Slice<U16<O>, E>;
    [T: EncodeAs<O>, const N: usize] [T; N] => Array<N, T::Wire>;
    [T: EncodeAs<O>] Option<T> => Opt<T::Wire>;
    [K: EncodeAs<O>, V: EncodeAs<O>] BTreeMap<K, V> => Map<U16<O>, K::Wire, V::Wire>;
    [K: StaticWire, V: StaticWire, A, B] Entries<'_, K, V, A, B> => Map<U16<O>, K, V>;
    [T: EncodeAs<O>] Box<T> => Pointer<T::Wire>;
    [T: EncodeAs<O>] Rc<T> => Pointer<T::Wire>;
    [T: EncodeAs<O>] Arc<T> => Pointer<T::Wire>;
    [T: EncodeAs<O>] &T => Pointer<T::Wire>;
    [T: EncodeAs<O> + Clone] Cow<'_, T> => Pointer<T::Wire>;
    [Z: Octets] ZonedTimestamp<Z> => TimeLocation;
}

decode! {
    [] &'de str => Varchar<O>;
    [] Cow<'de, str> => Varchar<O>;
    [] &'de [u8] => Blob<U16<O>>;
    [] Cow<'de, [u8]> => Blob<U16<O>>;
    [T: DecodeAs<'de, O>] Vec<T> => Slice<U16<O>, T::Wire>;
    [T: DecodeAs<'de, O>] Box<[T]> => Slice<U16<O>, T::Wire>;
    [T: DecodeAs<'de, O>] VecDeque<T> => Slice<U16<O>, T::Wire>;
    [T: DecodeAs<'de, O> + Ord] BTreeSet<T> => Slice<U16<O>, T::Wire>;
    [E: StaticWire + Get<'de, T>, T] Seq<'de, E, T> => Slice<U16<O>, E>;
    [T: DecodeAs<'de, O>, const N: usize] [T; N] => Array<N, T::Wire>;
    [T: DecodeAs<'de, O>] Option<T> => Opt<T::Wire>;
    [K: DecodeAs<'de, O> + Ord, V: DecodeAs<'de, O>] BTreeMap<K, V> => Map<U16<O>, K::Wire, V::Wire>;
    [K: StaticWire + Get<'de, A>, V: StaticWire + Get<'de, B>, A, B] Entries<'de, K, V, A, B>
        => Map<U16<O>, K, V>;
    [T: DecodeAs<'de, O>] Box<T> => Pointer<T::Wire>;
    [T: DecodeAs<'de, O>] Rc<T> => Pointer<T::Wire>;
    [T: DecodeAs<'de, O>] Arc<T> => Pointer<T::Wire>;
    [Z: FromOctets<'de>] ZonedTimestamp<Z> => TimeLocation;
}

#[cfg(feature = "std")]
encode! {
    [K: EncodeAs<O>, V: EncodeAs<O>, S] HashMap<K, V, S> => Map<U16<O>, K::Wire, V::Wire>;
    [T: EncodeAs<O>, S] HashSet<T, S> => Slice<U16<O>, T::Wire>;
}

#[cfg(feature = "std")]
decode! {
    [
        K: DecodeAs<'de, O> + Eq + core::hash::Hash,
        V: DecodeAs<'de, O>,
        S: core::hash::BuildHasher + Default
    ] HashMap<K, V, S> => Map<U16<O>, K::Wire, V::Wire>;
    [T: DecodeAs<'de, O> + Eq + core::hash::Hash, S: core::hash::BuildHasher + Default]
        HashSet<T, S> => Slice<U16<O>, T::Wire>;
}

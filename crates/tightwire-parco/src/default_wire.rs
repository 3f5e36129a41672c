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
    Array, Blob, Bool, F32, F64, Format, FromOctets, Get, I8, I16, I32, I64, Le, Map, Octets, Opt, Pointer,
    Put, Skip, Slice, StaticWire, Str, TimeLocation, TimeUtc, U8, U16, U32, U64,
};

/// Default wire type of a Rust type for encoding, with the byte order and headers of the format `F`.
///
/// Implement it with `#[derive(Encode)]`. Headers are [`Varint`](crate::wire::Varint)s, or [`U16`] in the format
/// [`Go`](crate::wire::Go).
///
/// | Rust type | wire type |
/// |---|---|
/// | `bool`, `u8` to `u64`, `i8` to `i64`, `f32`, `f64` | the number type of the same name |
/// | `String`, `&str`, `Box<str>`, `Cow<str>`, ... | [`Str`] |
/// | `Cow<[u8]>` | [`Blob`] |
/// | `Vec<T>`, `&[T]`, `Box<[T]>`, `VecDeque<T>`, sets, [`Seq`] | [`Slice`] |
/// | `[T; N]` | [`Array`] |
/// | `HashMap<K, V>`, `BTreeMap<K, V>`, [`Entries`] | [`Map`] |
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
pub trait EncodeAs<F: Format = Le> {
    /// Wire type used to encode.
    type Wire: StaticWire + Put<Self>;
}

/// Default wire type of a Rust type for decoding, with the byte order and headers of the format `F`.
///
/// Implement it with `#[derive(Decode)]`. The wire types are those of [`EncodeAs`], except that `&[u8]` is decoded as
/// a [`Blob`], which can be borrowed. It has the same bytes as the [`Slice`] of numbers that `&[u8]` is encoded as.
/// Other slices cannot be borrowed; use [`Seq`] instead.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be decoded",
    label = "no default wire type",
    note = "add `#[derive(tightwire_parco::Decode)]` to the type, or `#[parco(with = ..)]` to the field"
)]
pub trait DecodeAs<'de, F: Format = Le>: Sized {
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
        impl<F: Format> EncodeAs<F> for $type {
            type Wire = $wire;
        }

        $(#[$cfg])*
        impl<F: Format> DecodeAs<'_, F> for $type {
            type Wire = $wire;
        }
    )*};
}

both! {
    bool => Bool;
    u8 => U8;
    i8 => I8;
    u16 => U16<F::Order>;
    i16 => I16<F::Order>;
    u32 => U32<F::Order>;
    i32 => I32<F::Order>;
    u64 => U64<F::Order>;
    i64 => I64<F::Order>;
    f32 => F32<F::Order>;
    f64 => F64<F::Order>;
    () => Skip<0>;
    String => Str<F::Header>;
    Box<str> => Str<F::Header>;
    Rc<str> => Str<F::Header>;
    Arc<str> => Str<F::Header>;
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
        impl<F: Format, $($generics)*> EncodeAs<F> for $type {
            type Wire = $wire;
        }
    )*};
}

macro_rules! decode {
    ($([$($generics:tt)*] $type:ty => $wire:ty;)*) => {$(
        impl<'de, F: Format, $($generics)*> DecodeAs<'de, F> for $type {
            type Wire = $wire;
        }
    )*};
}

encode! {
    [] str => Str<F::Header>;
    [] &str => Str<F::Header>;
    [] Cow<'_, str> => Str<F::Header>;
    [] Cow<'_, [u8]> => Blob<F::Header>;
    [T: EncodeAs<F>] [T] => Slice<F::Header, T::Wire>;
    [T: EncodeAs<F>] &[T] => Slice<F::Header, T::Wire>;
    [T: EncodeAs<F>] Vec<T> => Slice<F::Header, T::Wire>;
    [T: EncodeAs<F>] Box<[T]> => Slice<F::Header, T::Wire>;
    [T: EncodeAs<F>] VecDeque<T> => Slice<F::Header, T::Wire>;
    [T: EncodeAs<F>] BTreeSet<T> => Slice<F::Header, T::Wire>;
    [E: StaticWire, T] Seq<'_, E, T> => Slice<F::Header, E>;
    [T: EncodeAs<F>, const N: usize] [T; N] => Array<N, T::Wire>;
    [T: EncodeAs<F>] Option<T> => Opt<T::Wire>;
    [K: EncodeAs<F>, V: EncodeAs<F>] BTreeMap<K, V> => Map<F::Header, K::Wire, V::Wire>;
    [K: StaticWire, V: StaticWire, A, B] Entries<'_, K, V, A, B> => Map<F::Header, K, V>;
    [T: EncodeAs<F>] Box<T> => Pointer<T::Wire>;
    [T: EncodeAs<F>] Rc<T> => Pointer<T::Wire>;
    [T: EncodeAs<F>] Arc<T> => Pointer<T::Wire>;
    [T: EncodeAs<F>] &T => Pointer<T::Wire>;
    [T: EncodeAs<F> + Clone] Cow<'_, T> => Pointer<T::Wire>;
    [Z: Octets] ZonedTimestamp<Z> => TimeLocation;
}

decode! {
    [] &'de str => Str<F::Header>;
    [] Cow<'de, str> => Str<F::Header>;
    [] &'de [u8] => Blob<F::Header>;
    [] Cow<'de, [u8]> => Blob<F::Header>;
    [T: DecodeAs<'de, F>] Vec<T> => Slice<F::Header, T::Wire>;
    [T: DecodeAs<'de, F>] Box<[T]> => Slice<F::Header, T::Wire>;
    [T: DecodeAs<'de, F>] VecDeque<T> => Slice<F::Header, T::Wire>;
    [T: DecodeAs<'de, F> + Ord] BTreeSet<T> => Slice<F::Header, T::Wire>;
    [E: StaticWire + Get<'de, T>, T] Seq<'de, E, T> => Slice<F::Header, E>;
    [T: DecodeAs<'de, F>, const N: usize] [T; N] => Array<N, T::Wire>;
    [T: DecodeAs<'de, F>] Option<T> => Opt<T::Wire>;
    [K: DecodeAs<'de, F> + Ord, V: DecodeAs<'de, F>] BTreeMap<K, V> => Map<F::Header, K::Wire, V::Wire>;
    [K: StaticWire + Get<'de, A>, V: StaticWire + Get<'de, B>, A, B] Entries<'de, K, V, A, B>
        => Map<F::Header, K, V>;
    [T: DecodeAs<'de, F>] Box<T> => Pointer<T::Wire>;
    [T: DecodeAs<'de, F>] Rc<T> => Pointer<T::Wire>;
    [T: DecodeAs<'de, F>] Arc<T> => Pointer<T::Wire>;
    [Z: FromOctets<'de>] ZonedTimestamp<Z> => TimeLocation;
}

#[cfg(feature = "std")]
encode! {
    [K: EncodeAs<F>, V: EncodeAs<F>, S] HashMap<K, V, S> => Map<F::Header, K::Wire, V::Wire>;
    [T: EncodeAs<F>, S] HashSet<T, S> => Slice<F::Header, T::Wire>;
}

#[cfg(feature = "std")]
decode! {
    [
        K: DecodeAs<'de, F> + Eq + core::hash::Hash,
        V: DecodeAs<'de, F>,
        S: core::hash::BuildHasher + Default
    ] HashMap<K, V, S> => Map<F::Header, K::Wire, V::Wire>;
    [T: DecodeAs<'de, F> + Eq + core::hash::Hash, S: core::hash::BuildHasher + Default]
        HashSet<T, S> => Slice<F::Header, T::Wire>;
}

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

use crate::wire::{
    Array, Bool, F32, F64, Get, I8, I16, I32, I64, Le, Map, Opt, Order, Put, Skip, Slice, StaticWire, U8,
    U16, U32, U64, Varchar, Via,
};

/// Default wire type of a Rust type for encoding, with the byte order `O` of numbers and headers.
///
/// Implement it with `#[derive(Encode)]`.
///
/// | Rust type | wire type |
/// |---|---|
/// | `bool`, `u8` to `u64`, `i8` to `i64`, `f32`, `f64` | the number type of the same name |
/// | `String`, `&str`, `Box<str>`, `Cow<str>`, ... | [`Varchar`] |
/// | `Cow<[u8]>` | [`Blob`](crate::wire::Blob) with a [`U16`] header |
/// | `Vec<T>`, `&[T]`, `Box<[T]>`, `VecDeque<T>`, sets, [`Seq`](crate::Seq) | [`Slice`] with a [`U16`] header |
/// | `[T; N]` | [`Array`] |
/// | `HashMap<K, V>`, `BTreeMap<K, V>`, [`Entries`](crate::Entries) | [`Map`] with a [`U16`] header |
/// | `Option<T>` | [`Opt`] |
/// | `Box<T>`, `Rc<T>`, `Arc<T>`, `&T` | that of `T` |
/// | [`Timestamp`](crate::Timestamp), `SystemTime`, the instant types of `chrono`, `jiff`, `time` | [`TimeUtc`](crate::wire::TimeUtc) |
/// | [`Located`](crate::Located), `jiff::Zoned` | [`TimeLocation`](crate::wire::TimeLocation) |
/// | `()` | no bytes |
/// | a type with `#[derive(Encode)]` | its fields |
///
/// `usize` and `isize` have none, because their width depends on the platform.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be encoded",
    label = "no default wire type",
    note = "add `#[derive(tightwire_parco::Encode)]` to the type, or `#[parco(with = ..)]` to the field"
)]
pub trait EncodeForm<O: Order = Le> {
    /// Wire type used to encode.
    type Form: StaticWire + Put<Self>;
}

/// Default wire type of a Rust type for decoding, with the byte order `O` of numbers and headers.
///
/// Implement it with `#[derive(Decode)]`. The wire types are those of [`EncodeForm`]. `&[u8]` borrows a
/// [`Blob`](crate::wire::Blob), which has the same bytes as the slice of numbers that `&[u8]` is encoded as. Other
/// slices cannot be borrowed; use [`Seq`](crate::Seq) instead.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be decoded",
    label = "no default wire type",
    note = "add `#[derive(tightwire_parco::Decode)]` to the type, or `#[parco(with = ..)]` to the field"
)]
pub trait DecodeForm<'de, O: Order = Le>: Sized {
    /// Wire type used to decode.
    type Form: StaticWire + Get<'de, Self>;
}

/// A type that can be encoded. Derive it with `#[derive(Encode)]`.
///
/// Implemented for every type that implements [`EncodeForm`].
pub trait Encode: EncodeForm<Le> {}

impl<T: EncodeForm<Le> + ?Sized> Encode for T {}

/// A type that can be decoded, optionally borrowing from the input (`'de`). Derive it with `#[derive(Decode)]`.
///
/// Implemented for every type that implements [`DecodeForm`].
pub trait Decode<'de>: DecodeForm<'de, Le> {}

impl<'de, T: DecodeForm<'de, Le>> Decode<'de> for T {}

/// A type that can be decoded without borrowing from the input.
pub trait DecodeOwned: for<'de> Decode<'de> {}

impl<T: for<'de> Decode<'de>> DecodeOwned for T {}

macro_rules! both {
    ($($type:ty => $form:ty;)*) => {$(
        impl<O: Order> EncodeForm<O> for $type {
            type Form = $form;
        }

        impl<O: Order> DecodeForm<'_, O> for $type {
            type Form = $form;
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
}

impl<O: Order> EncodeForm<O> for str {
    type Form = Varchar<O>;
}

impl<O: Order> EncodeForm<O> for &str {
    type Form = Varchar<O>;
}

impl<'de, O: Order> DecodeForm<'de, O> for &'de str {
    type Form = Varchar<O>;
}

impl<O: Order> EncodeForm<O> for Cow<'_, str> {
    type Form = Varchar<O>;
}

impl<'de, O: Order> DecodeForm<'de, O> for Cow<'de, str> {
    type Form = Varchar<O>;
}

impl<'de, O: Order> DecodeForm<'de, O> for &'de [u8] {
    type Form = crate::wire::Blob<U16<O>>;
}

impl<O: Order> EncodeForm<O> for Cow<'_, [u8]> {
    type Form = crate::wire::Blob<U16<O>>;
}

impl<'de, O: Order> DecodeForm<'de, O> for Cow<'de, [u8]> {
    type Form = crate::wire::Blob<U16<O>>;
}

macro_rules! encode {
    ($([$($generics:tt)*] $type:ty => $form:ty;)*) => {$(
        impl<O: Order, $($generics)*> EncodeForm<O> for $type {
            type Form = $form;
        }
    )*};
}

macro_rules! decode {
    ($([$($generics:tt)*] $type:ty => $form:ty;)*) => {$(
        impl<'de, O: Order, $($generics)*> DecodeForm<'de, O> for $type {
            type Form = $form;
        }
    )*};
}

encode! {
    [T: EncodeForm<O>] [T] => Slice<U16<O>, T::Form>;
    [T: EncodeForm<O>] &[T] => Slice<U16<O>, T::Form>;
    [T: EncodeForm<O>] Vec<T> => Slice<U16<O>, T::Form>;
    [T: EncodeForm<O>] Box<[T]> => Slice<U16<O>, T::Form>;
    [T: EncodeForm<O>] VecDeque<T> => Slice<U16<O>, T::Form>;
    [T: EncodeForm<O>] BTreeSet<T> => Slice<U16<O>, T::Form>;
    [T: EncodeForm<O>, const N: usize] [T; N] => Array<N, T::Form>;
    [T: EncodeForm<O>] Option<T> => Opt<T::Form>;
    [K: EncodeForm<O>, V: EncodeForm<O>] BTreeMap<K, V> => Map<U16<O>, K::Form, V::Form>;
    [T: EncodeForm<O>] Box<T> => Via<T::Form>;
    [T: EncodeForm<O>] Rc<T> => Via<T::Form>;
    [T: EncodeForm<O>] Arc<T> => Via<T::Form>;
    [T: EncodeForm<O>] &T => Via<T::Form>;
}

decode! {
    [T: DecodeForm<'de, O>] Vec<T> => Slice<U16<O>, T::Form>;
    [T: DecodeForm<'de, O>] Box<[T]> => Slice<U16<O>, T::Form>;
    [T: DecodeForm<'de, O>] VecDeque<T> => Slice<U16<O>, T::Form>;
    [T: DecodeForm<'de, O> + Ord] BTreeSet<T> => Slice<U16<O>, T::Form>;
    [T: DecodeForm<'de, O>, const N: usize] [T; N] => Array<N, T::Form>;
    [T: DecodeForm<'de, O>] Option<T> => Opt<T::Form>;
    [K: DecodeForm<'de, O> + Ord, V: DecodeForm<'de, O>] BTreeMap<K, V> => Map<U16<O>, K::Form, V::Form>;
    [T: DecodeForm<'de, O>] Box<T> => Via<T::Form>;
    [T: DecodeForm<'de, O>] Rc<T> => Via<T::Form>;
    [T: DecodeForm<'de, O>] Arc<T> => Via<T::Form>;
}

#[cfg(feature = "std")]
encode! {
    [K: EncodeForm<O>, V: EncodeForm<O>, S] HashMap<K, V, S> => Map<U16<O>, K::Form, V::Form>;
    [T: EncodeForm<O>, S] HashSet<T, S> => Slice<U16<O>, T::Form>;
}

#[cfg(feature = "std")]
decode! {
    [
        K: DecodeForm<'de, O> + Eq + core::hash::Hash,
        V: DecodeForm<'de, O>,
        S: core::hash::BuildHasher + Default
    ] HashMap<K, V, S> => Map<U16<O>, K::Form, V::Form>;
    [T: DecodeForm<'de, O> + Eq + core::hash::Hash, S: core::hash::BuildHasher + Default]
        HashSet<T, S> => Slice<U16<O>, T::Form>;
}

impl<O: Order, T: EncodeForm<O> + Clone> EncodeForm<O> for Cow<'_, T> {
    type Form = Via<T::Form>;
}

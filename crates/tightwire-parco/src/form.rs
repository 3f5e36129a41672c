//! Which wire form a Rust type has when nothing else is asked for.

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

/// A type's wire form for encoding, given the byte order of its numbers and headers.
///
/// | Rust | form |
/// |---|---|
/// | `bool`, `u8` to `u64`, `i8` to `i64`, `f32`, `f64` | the scalar of that name |
/// | `String`, `&str`, `Box<str>`, `Cow<str>`, ... | [`Varchar`] |
/// | `Cow<[u8]>` | [`Blob`](crate::wire::Blob) with a [`U16`] header |
/// | `Vec<T>`, `&[T]`, `Box<[T]>`, `VecDeque<T>`, sets, [`Seq`](crate::Seq) | [`Slice`] with a [`U16`] header |
/// | `[T; N]` | [`Array`] |
/// | `HashMap<K, V>`, `BTreeMap<K, V>`, [`Entries`](crate::Entries) | [`Map`] with a [`U16`] header |
/// | `Option<T>` | [`Opt`] |
/// | `Box<T>`, `Rc<T>`, `Arc<T>`, `&T` | the form of `T` |
/// | [`Timestamp`](crate::Timestamp), `SystemTime`, instants of `chrono`, `jiff`, `time` | [`TimeUtc`](crate::wire::TimeUtc) |
/// | [`Located`](crate::Located), `jiff::Zoned` | [`TimeLocation`](crate::wire::TimeLocation) |
/// | `()` | nothing |
/// | a type with `#[derive(Encode)]` | its fields |
///
/// `usize` and `isize` have none, as their width depends on the machine.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no wire form to encode it",
    label = "not a type that can be encoded",
    note = "`#[derive(parco::Encode)]` makes one of a type's fields, and `#[parco(with = ..)]` gives a field one"
)]
pub trait EncodeForm<O: Order = Le> {
    /// The form.
    type Form: StaticWire + Put<Self>;
}

/// A type's wire form for decoding, given the byte order of its numbers and headers.
///
/// The table is that of [`EncodeForm`], but for `&[u8]`, which borrows a [`Blob`](crate::wire::Blob): the same bytes as
/// the slice of numbers that it is written as. Other slices cannot be borrowed; [`Seq`](crate::Seq) is in their place.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no wire form to decode it",
    label = "not a type that can be decoded",
    note = "`#[derive(parco::Decode)]` makes one of a type's fields, and `#[parco(with = ..)]` gives a field one"
)]
pub trait DecodeForm<'de, O: Order = Le>: Sized {
    /// The form.
    type Form: StaticWire + Get<'de, Self>;
}

/// What can be encoded by itself: every type with a form.
///
/// Implemented by `#[derive(Encode)]`, through [`EncodeForm`].
pub trait Encode: EncodeForm<Le> {}

impl<T: EncodeForm<Le> + ?Sized> Encode for T {}

/// What can be decoded by itself, perhaps borrowing from the input for `'de`.
///
/// Implemented by `#[derive(Decode)]`, through [`DecodeForm`].
pub trait Decode<'de>: DecodeForm<'de, Le> {}

impl<'de, T: DecodeForm<'de, Le>> Decode<'de> for T {}

/// What can be decoded without borrowing from the input.
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

// A `Cow` of a message is written as what it points to.
impl<O: Order, T: EncodeForm<O> + Clone> EncodeForm<O> for Cow<'_, T> {
    type Form = Via<T::Form>;
}

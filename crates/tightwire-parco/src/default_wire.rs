//! Default wire type of each Rust type.

use core::cell::{Cell, RefCell};
use core::cmp::Reverse;
use core::ops::{Range, RangeInclusive};

#[cfg(doc)]
use crate::error::Error;
use crate::time::{Timestamp, ZonedTimestamp};
use crate::view::{Entries, Seq};
use crate::wire::{
    Array, Blob, Bool, Either, F32, F64, Format, FromOctets, Get, I8, I16, I32, I64, Le, Map, Octets, Opt,
    Pointer, Put, Skip, Slice, StaticWire, Str, TimeLocation, TimeUtc, U8, U16, U32, U64, Wrapped,
};

/// Default wire type of a Rust type for encoding, with the byte order and headers of the format `F`.
///
/// Implement it with `#[derive(Encode)]`. Headers are [`Varint`](crate::wire::Varint)s, or [`U16`] in the format
/// [`Go`](crate::wire::Go), which `#[parco(go)]` selects.
///
/// | Rust type | wire type | bytes |
/// |---|---|---|
/// | `bool` | [`Bool`] | 0 or 1 |
/// | `u8` to `u64`, `i8` to `i64`, `f32`, `f64` | the type of the same name, such as [`U16`] | fixed width, in the byte order of the field |
/// | `u128`, `i128` | two [`U64`] | 16 bytes, in the byte order of the field |
/// | `usize`, `isize` | [`U64`], [`I64`] | 8 bytes; decoding fails with [`Error::is_overflow`] if the value does not fit |
/// | `NonZero<N>`, `Wrapping<N>` of these integers | that of `N` | zero is not a valid `NonZero` |
/// | `AtomicU8` to `AtomicU64`, `AtomicI8` to `AtomicI64`, `AtomicUsize`, `AtomicIsize`, `AtomicBool` | that of the number or flag | the value at the time of encoding |
/// | `Cell<T>`, `RefCell<T>`, `Mutex<T>`, `RwLock<T>`, `Reverse<T>` | [`Wrapped`](crate::wire::Wrapped) | those of `T`; a `RefCell` that is mutably borrowed fails with [`Error::is_invalid_value`] |
/// | `CString` | [`Blob`] | header, the bytes without the last zero |
/// | `char` | [`U32`] | 4 bytes: the Unicode scalar value |
/// | `String`, `&str`, `Box<str>`, `Rc<str>`, `Arc<str>`, `Cow<str>` | [`Str`] | header, UTF-8 |
/// | `PathBuf`, `&Path` | [`Str`] | header, UTF-8; other paths fail with [`Error::is_invalid_utf8`] |
/// | `Cow<[u8]>`, `bytes::Bytes`, `bytes::BytesMut` | [`Blob`] | header, bytes |
/// | `Vec<T>`, `&[T]`, `Box<[T]>`, `Rc<[T]>`, `Arc<[T]>`, `VecDeque<T>`, `LinkedList<T>`, `smallvec::SmallVec`, [`Seq`] | [`Slice`] | header, elements |
/// | `BTreeSet<T>`, `HashSet<T>`, `BinaryHeap<T>`, `indexmap::IndexSet<T>` | [`Slice`] | header, elements in the order of iteration |
/// | `[T; N]` | [`Array`] | elements |
/// | `BTreeMap<K, V>`, `HashMap<K, V>`, `indexmap::IndexMap<K, V>`, [`Entries`] | [`Map`] | header, then key and value of each entry, in the order of iteration |
/// | `Option<T>` | [`Opt`] | 0, or 1 and the value |
/// | `Result<T, E>` | [`Either`] | 0 and the value, or 1 and the error |
/// | `(A, B, ..)` up to 16 | the tuple of the wire types | the values in order |
/// | `()`, `PhantomData<T>` | [`Skip<0>`](Skip) | none |
/// | `Range<T>`, `RangeInclusive<T>` | a tuple | start, end |
/// | `&T`, `Box<T>`, `Rc<T>`, `Arc<T>`, `Cow<T>` | [`Pointer`] | those of `T` |
/// | `std::time::Duration` | `(U64, U32)` | seconds, nanoseconds below one billion |
/// | `SystemTime`, [`Timestamp`], `jiff::Timestamp`, `time::UtcDateTime` | [`TimeUtc`] | nanoseconds since 1970 as a little-endian `i64`: the years 1677 to 2262 |
/// | `chrono::DateTime<Utc>` | `(I64, U32)` | seconds since 1970, nanoseconds; one to two billion in a leap second |
/// | `chrono::DateTime<FixedOffset>`, `time::OffsetDateTime` | `(I64, U32, I32)` | the same, then the offset from UTC in seconds |
/// | `jiff::Zoned`, [`ZonedTimestamp`] | [`TimeLocation`] | the same, then the optional name of the zone |
/// | `TimeDelta` of `chrono`, `SignedDuration` of `jiff`, `Duration` of `time` | `(I64, I32)` | seconds, nanoseconds of the same sign |
/// | `NaiveDate` of `chrono`, `civil::Date` of `jiff`, `Date` of `time` | `(I32, U8, U8)` | year, month, day |
/// | `NaiveTime` of `chrono`, `civil::Time` of `jiff`, `Time` of `time` | `(U8, U8, U8, U32)` | hour, minute, second, nanosecond |
/// | `NaiveDateTime` of `chrono`, `civil::DateTime` of `jiff`, `PrimitiveDateTime` of `time` | a tuple | the date, then the time |
/// | `Ipv4Addr`, `Ipv6Addr` | [`Array`] | 4 or 16 bytes |
/// | `IpAddr` | [`Either`] | 0 and an `Ipv4Addr`, or 1 and an `Ipv6Addr` |
/// | `SocketAddrV4` | a tuple | address, port as [`U16`] |
/// | `SocketAddrV6` | a tuple | address, port, flow information and scope id as [`U32`] |
/// | `SocketAddr` | [`Either`] | 0 and a `SocketAddrV4`, or 1 and a `SocketAddrV6` |
/// | `uuid::Uuid` | [`Array`] | 16 bytes |
/// | `rust_decimal::Decimal` | [`Array`] | the 16 bytes of `Decimal::serialize` |
/// | a struct with `#[derive(Encode)]` | [`Message`](crate::wire::Message) | the fields |
/// | an enum with `#[derive(Encode)]` | [`Message`](crate::wire::Message) | the id of the variant, the fields |
///
/// 128-bit integers, `char`, addresses, dates, times, durations, `Uuid` and `Decimal` have a [logical type](crate::wire::logical) in
/// the schema. Points in time with the attribute `time` are encoded as [`TimeUtc`] instead, without offset; leap seconds fail
/// with [`Error::is_overflow`].
///
/// Invalid bytes fail with [`Error::is_invalid_value`] if no other error is named, and with [`Error::is_unknown_type`] if
/// the first byte of an [`Either`] is neither 0 nor 1. Types of other crates need the feature of the same name. Elements of
/// all collections count with their size in memory against [`Limits::max_allocation`](crate::Limits::max_allocation).
/// Structs, enums, tuples and results count against [`Limits::max_depth`](crate::Limits::max_depth).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be encoded",
    label = "no default wire type",
    note = "add `#[derive(tightwire_parco::Encode)]` to the type",
    note = "for a type of another crate: enable the feature of `tightwire-parco` with the name of the crate, if there is one; or add \
            `#[parco(serde)]` to the field and enable the feature `serde`, if the type has serde's traits; or add \
            `#[parco(with = ..)]` to the field"
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
    note = "add `#[derive(tightwire_parco::Decode)]` to the type",
    note = "for a type of another crate: enable the feature of `tightwire-parco` with the name of the crate, if there is one; or add \
            `#[parco(serde)]` to the field and enable the feature `serde`, if the type has serde's traits; or add \
            `#[parco(with = ..)]` to the field"
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
    Timestamp => TimeUtc;
    #[cfg(feature = "std")]
    std::time::SystemTime => TimeUtc;
    #[cfg(feature = "jiff")]
    jiff::Timestamp => TimeUtc;
    #[cfg(feature = "jiff")]
    jiff::Zoned => TimeLocation;
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

#[cfg(feature = "alloc")]
mod owned;

encode! {
    [] str => Str<F::Header>;
    [] &str => Str<F::Header>;
    [T: EncodeAs<F>] [T] => Slice<F::Header, T::Wire>;
    [T: EncodeAs<F>] &[T] => Slice<F::Header, T::Wire>;
    [E: StaticWire, T] Seq<'_, E, T> => Slice<F::Header, E>;
    [T: EncodeAs<F>, const N: usize] [T; N] => Array<N, T::Wire>;
    [T: EncodeAs<F>] Option<T> => Opt<T::Wire>;
    [T: EncodeAs<F>, E: EncodeAs<F>] Result<T, E> => Either<T::Wire, E::Wire>;
    [T: EncodeAs<F>] Range<T> => (T::Wire, T::Wire);
    [T: EncodeAs<F>] RangeInclusive<T> => (T::Wire, T::Wire);
    [K: StaticWire, V: StaticWire, A, B] Entries<'_, K, V, A, B> => Map<F::Header, K, V>;
    [T: EncodeAs<F>] &T => Pointer<T::Wire>;
    [T: EncodeAs<F> + Copy] Cell<T> => Wrapped<T::Wire>;
    [T: EncodeAs<F>] RefCell<T> => Wrapped<T::Wire>;
    [T: EncodeAs<F>] Reverse<T> => Wrapped<T::Wire>;
    [Z: Octets] ZonedTimestamp<Z> => TimeLocation;
}

decode! {
    [] &'de str => Str<F::Header>;
    [] &'de [u8] => Blob<F::Header>;
    [E: StaticWire + Get<'de, T>, T] Seq<'de, E, T> => Slice<F::Header, E>;
    [T: DecodeAs<'de, F>, const N: usize] [T; N] => Array<N, T::Wire>;
    [T: DecodeAs<'de, F>] Option<T> => Opt<T::Wire>;
    [T: DecodeAs<'de, F>, E: DecodeAs<'de, F>] Result<T, E> => Either<T::Wire, E::Wire>;
    [T: DecodeAs<'de, F>] Cell<T> => Wrapped<T::Wire>;
    [T: DecodeAs<'de, F>] RefCell<T> => Wrapped<T::Wire>;
    [T: DecodeAs<'de, F>] Reverse<T> => Wrapped<T::Wire>;
    [T: DecodeAs<'de, F>] Range<T> => (T::Wire, T::Wire);
    [T: DecodeAs<'de, F>] RangeInclusive<T> => (T::Wire, T::Wire);
    [K: StaticWire + Get<'de, A>, V: StaticWire + Get<'de, B>, A, B] Entries<'de, K, V, A, B>
        => Map<F::Header, K, V>;
    [Z: FromOctets<'de>] ZonedTimestamp<Z> => TimeLocation;
}

macro_rules! tuples {
    ($(($($type:ident),*);)*) => {
        encode! { $([$($type: EncodeAs<F>),*] ($($type,)*) => ($($type::Wire,)*);)* }
        decode! { $([$($type: DecodeAs<'de, F>),*] ($($type,)*) => ($($type::Wire,)*);)* }
    };
}

tuples! {
    (T0);
    (T0, T1);
    (T0, T1, T2);
    (T0, T1, T2, T3);
    (T0, T1, T2, T3, T4);
    (T0, T1, T2, T3, T4, T5);
    (T0, T1, T2, T3, T4, T5, T6);
    (T0, T1, T2, T3, T4, T5, T6, T7);
    (T0, T1, T2, T3, T4, T5, T6, T7, T8);
    (T0, T1, T2, T3, T4, T5, T6, T7, T8, T9);
    (T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10);
    (T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11);
    (T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12);
    (T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13);
    (T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14);
    (T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15);
}

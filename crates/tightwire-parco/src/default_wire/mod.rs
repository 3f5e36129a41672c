//! Default wire type of each Rust type.

use core::cell::{Cell, RefCell};
use core::cmp::Reverse;
use core::ops::{Bound, Range, RangeInclusive};

#[cfg(doc)]
use crate::error::Error;
use crate::time::{Timestamp, ZonedTimestamp};
use crate::view::{Entries, Seq};
#[cfg(any(doc, feature = "arrayvec", feature = "heapless"))]
use crate::wire::Max;
use crate::wire::logical::{self, Logical};
use crate::wire::{
    Array, Blob, Bool, Bounded, Char, Either, F32, F64, Format, FromOctets, Get, I8, I16, I32, I64, Le, Map,
    Native, Octets, Opt, Pointer, Put, RangeBound, Skip, Slice, StaticWire, Str, TimeLocation, TimeUtc, U8,
    U16, U32, U64, U128, Wrapped, for_tuples,
};

/// Default wire type of a Rust type for encoding, with the byte order and headers of the format `F`.
///
/// Implement it with `#[derive(Encode)]`, or by hand: see [below](#implementation-by-hand). Headers are
/// [`Varint`](crate::wire::Varint)s, or [`U16`] in the format [`Go`](crate::wire::Go), which `#[parco(go)]` selects.
///
/// | Rust type | wire type | bytes |
/// |---|---|---|
/// | `bool` | [`Bool`] | 0 or 1 |
/// | `u8` to `u64`, `i8` to `i64`, `f32`, `f64` | the type of the same name, such as [`U16`] | fixed width, in the byte order of the field |
/// | `u128`, `i128` | [`U128`] | 16 bytes, in the byte order of the field |
/// | `usize`, `isize` | [`U64`], [`I64`] | 8 bytes; decoding fails with [`Error::is_overflow`] if the value does not fit |
/// | `NonZero<N>`, `Wrapping<N>` of these integers | that of `N` | zero is not a valid `NonZero` |
/// | `AtomicU8` to `AtomicU64`, `AtomicI8` to `AtomicI64`, `AtomicUsize`, `AtomicIsize`, `AtomicBool` | that of the number or flag | the value at the time of encoding |
/// | `Cell<T>`, `RefCell<T>`, `Mutex<T>`, `RwLock<T>`, `Reverse<T>` | [`Wrapped`](crate::wire::Wrapped) | those of `T`; a `RefCell` that is mutably borrowed fails with [`Error::is_invalid_value`] |
/// | `CString` | [`Blob`] | header, the bytes without the last zero |
/// | `char` | [`Char`] | 4 bytes: the Unicode scalar value |
/// | `String`, `&str`, `Box<str>`, `Rc<str>`, `Arc<str>`, `Cow<str>`, `compact_str::CompactString` | [`Str`] | header, UTF-8 |
/// | `String<N>` of `heapless`, `ArrayString<N>` of `arrayvec` | [`Str`] with [`Max`] | header of at most `N`, UTF-8 |
/// | `Vec<T, N>` of `heapless`, `ArrayVec<T, N>` of `arrayvec` | [`Slice`] with [`Max`] | header of at most `N`, elements |
/// | `PathBuf`, `&Path` | [`Str`] | header, UTF-8; other paths fail with [`Error::is_invalid_utf8`] |
/// | `Cow<[u8]>`, `bytes::Bytes`, `bytes::BytesMut` | [`Blob`] | header, bytes |
/// | `Vec<T>`, `&[T]`, `Box<[T]>`, `Rc<[T]>`, `Arc<[T]>`, `VecDeque<T>`, `LinkedList<T>`, `smallvec::SmallVec`, [`Seq`] | [`Slice`] | header, elements |
/// | `BTreeSet<T>`, `HashSet<T>`, also of `hashbrown`, `BinaryHeap<T>`, `indexmap::IndexSet<T>` | [`Slice`] | header, elements in the order of iteration |
/// | `[T; N]` | [`Array`] | elements |
/// | `BTreeMap<K, V>`, `HashMap<K, V>`, also of `hashbrown`, `indexmap::IndexMap<K, V>`, [`Entries`] | [`Map`] | header, then key and value of each entry, in the order of iteration |
/// | `Option<T>` | [`Opt`] | 0, or 1 and the value |
/// | `Result<T, E>` | [`Either`] | 0 and the value, or 1 and the error |
/// | `(A, B, ..)` up to 16 | the tuple of the wire types | the values in order |
/// | `()`, `PhantomData<T>` | [`Skip<0>`](Skip) | none |
/// | `Range<T>`, `RangeInclusive<T>` | a tuple | start, end |
/// | `Bound<T>` | [`RangeBound`] | 0 if unbounded, 1 and the value if it is included, 2 and the value if it is excluded |
/// | `&T`, `Box<T>`, `Rc<T>`, `Arc<T>`, `Cow<T>` | [`Pointer`] | those of `T` |
/// | `std::time::Duration` | `(U64, U32)` | seconds, nanoseconds below one billion |
/// | `SystemTime`, [`Timestamp`], `jiff::Timestamp`, `time::UtcDateTime` | [`TimeUtc`] | nanoseconds since 1970 as a little-endian `i64`: the years 1677 to 2262 |
/// | `chrono::DateTime<Utc>` | `(I64, U32)` | seconds since 1970, nanoseconds; one to two billion in a leap second |
/// | `chrono::DateTime<FixedOffset>`, `time::OffsetDateTime` | `(I64, U32, I32)` | the same, then the offset from UTC in seconds |
/// | `jiff::ZonedDateTime` (`Zoned` in version 0.2), [`ZonedTimestamp`] | [`TimeLocation`] | the same, then the optional name of the zone |
/// | `TimeDelta` of `chrono`, `SignedDuration` of `jiff`, `Duration` of `time` | `(I64, I32)` | seconds, nanoseconds of the same sign |
/// | `NaiveDate` of `chrono`, `civil::Date` of `jiff`, `Date` of `time` | `(I32, U8, U8)` | year, month, day |
/// | `NaiveTime` of `chrono`, `civil::Time` of `jiff`, `Time` of `time` | `(U8, U8, U8, U32)` | hour, minute, second, nanosecond |
/// | `NaiveDateTime` of `chrono`, `civil::DateTime` of `jiff`, `PrimitiveDateTime` of `time` | a tuple | the date, then the time |
/// | `Ipv4Addr`, `Ipv6Addr` | [`Array`] | 4 or 16 bytes |
/// | `IpAddr` | [`Either`] | 0 and an `Ipv4Addr`, or 1 and an `Ipv6Addr` |
/// | `SocketAddrV4` | a tuple | address, port as [`U16`] |
/// | `SocketAddrV6` | a tuple | address, port, flow information and scope id as [`U32`] |
/// | `SocketAddr` | [`Either`] | 0 and a `SocketAddrV4`, or 1 and a `SocketAddrV6` |
/// | `OrderedFloat<N>`, `NotNan<N>` of `ordered_float` | that of `N` | NaN is not a valid `NotNan` |
/// | vectors, quaternions, matrices and affine transforms of `glam` | [`Array`] | the numbers, matrices by column |
/// | `uuid::Uuid` | [`Array`] | 16 bytes |
/// | `rust_decimal::Decimal` | [`Array`] | the 16 bytes of `Decimal::serialize` |
/// | a struct with `#[derive(Encode)]` | [`Message`](crate::wire::Message) | the fields |
/// | an enum with `#[derive(Encode)]` | [`Message`](crate::wire::Message) | the id of the variant, the fields |
///
/// 128-bit integers, `char`, addresses, dates, times, durations, `Uuid` and `Decimal` have a [logical type](crate::wire::logical) in
/// the schema. Points in time with the attribute `time` are encoded as [`TimeUtc`] instead, without offset; leap seconds fail
/// with [`Error::is_overflow`].
///
/// The bytes are those of [`Native`] formats. [`Bincode1`](crate::wire::Bincode1), [`Bincode2`](crate::wire::Bincode2) and
/// [`Postcard`](crate::wire::Postcard) have the bytes of these libraries. Types that these libraries encode in another way,
/// such as `SystemTime`, `SocketAddrV6`, `SocketAddr`, `uuid::Uuid`, dates and times, have no default wire type there.
///
/// Invalid bytes fail with [`Error::is_invalid_value`] if no other error is named, and with [`Error::is_unknown_type`] if
/// the first byte of an [`Either`] is neither 0 nor 1. Types of other crates need the feature of the same name, and those of
/// version 0.2 of `jiff` the feature `jiff02`. Elements of all collections count with their size in memory against
/// [`Limits::max_allocation`](crate::Limits::max_allocation). Structs, enums, tuples and results count against
/// [`Limits::max_depth`](crate::Limits::max_depth).
///
/// # Implementation by hand
///
/// A type that can be converted to and from a type with a default wire type needs no code for bytes:
/// [`Converted`](crate::wire::Converted) uses `Into` and `TryFrom`, as the attributes `into` and `try_from` do. A failed conversion is
/// [`Error::is_invalid_value`].
///
/// ```
/// use tightwire_parco::wire::{Array, Converted, Format, U8};
/// use tightwire_parco::{DecodeAs, EncodeAs, decode_exact, to_vec};
///
/// #[derive(Clone, Debug, PartialEq)]
/// struct Color {
///     red: u8,
///     green: u8,
///     blue: u8,
/// }
///
/// impl From<Color> for [u8; 3] {
///     fn from(Color { red, green, blue }: Color) -> Self {
///         [red, green, blue]
///     }
/// }
///
/// impl From<[u8; 3]> for Color {
///     fn from([red, green, blue]: [u8; 3]) -> Self {
///         Self { red, green, blue }
///     }
/// }
///
/// impl<F: Format> EncodeAs<F> for Color {
///     type Wire = Converted<[u8; 3], Array<3, U8>>;
/// }
///
/// impl<F: Format> DecodeAs<'_, F> for Color {
///     type Wire = Converted<[u8; 3], Array<3, U8>>;
/// }
///
/// let colors = vec![Color { red: 1, green: 2, blue: 3 }];
/// assert_eq!(to_vec(&colors)?, [1, 1, 2, 3]);
/// assert_eq!(decode_exact::<Vec<Color>>(&[1, 1, 2, 3])?, colors);
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
///
/// Other bytes need a wire type of your own; [`wire`](crate::wire) has an example.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be encoded",
    label = "no default wire type",
    note = "add `#[derive(tightwire_parco::Encode)]` to the type",
    note = "for a type of another crate: enable the feature of `tightwire-parco` with the name of the crate, if there is one; or add \
            `#[parco(serde)]` to the field and enable the feature `serde`, if the type has serde's traits; or add \
            `#[parco(with = ..)]` to the field",
    note = "in a type with `#[parco(format = ..)]`: add the same attribute to the types of fields that derive the codec"
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
            `#[parco(with = ..)]` to the field",
    note = "in a type with `#[parco(format = ..)]`: add the same attribute to the types of fields that derive the codec"
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

/// A type whose values have a maximum encoded size, for buffers on the stack and fixed records.
///
/// Derive it with `#[derive(MaxSize)]` for a type that derives `Encode`. Strings and collections need a maximum: the attribute
/// `max`, a header of at most two bytes, or a type of fixed capacity of `arrayvec` or `heapless`. Implemented for every type whose
/// default wire type implements [`Bounded`].
///
/// ```
/// use tightwire_parco::{Encode, MaxSize};
///
/// #[derive(Encode, MaxSize)]
/// struct Reading {
///     sensor: u16,
///     #[parco(max = 8)]
///     unit: String,
///     value: Option<f32>,
/// }
///
/// assert_eq!(Reading::MAX_SIZE, 2 + (1 + 8) + (1 + 4));
/// let mut buffer = [0; Reading::MAX_SIZE];
/// let reading = Reading { sensor: 7, unit: "hPa".into(), value: None };
/// assert_eq!(tightwire_parco::encode_to_slice(&reading, &mut buffer)?, 7);
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
pub trait MaxSize: Encode {
    /// Maximum encoded size in bytes.
    const MAX_SIZE: usize;
}

impl<T: EncodeAs<Le, Wire: Bounded> + ?Sized> MaxSize for T {
    const MAX_SIZE: usize = <<T as EncodeAs<Le>>::Wire as Bounded>::MAX_SIZE;
}

/// Implements the traits in the formats that implement a trait, for types of parts that have a default wire type. After `;` there
/// are other parameters, and after `where` the bounds of decoding.
macro_rules! generic {
    ($format:ident: $(
        $(#[$cfg:meta])* [$($part:ident),* $(; $($other:tt)*)?] $type:ty => $wire:ty $(where [$($bounds:tt)*])?;
    )*) => {$(
        $(#[$cfg])*
        impl<F: $format, $($part: EncodeAs<F>,)* $($($other)*)?> EncodeAs<F> for $type {
            type Wire = $wire;
        }

        $(#[$cfg])*
        impl<'de, F: $format, $($part: DecodeAs<'de, F>,)* $($($other)*)?> DecodeAs<'de, F> for $type
        $(where $($bounds)*)?
        {
            type Wire = $wire;
        }
    )*};
}

generic! { Format:
    [] bool => Bool;
    [] u8 => U8;
    [] i8 => I8;
    [] u16 => U16<F::Order>;
    [] i16 => I16<F::Order>;
    [] u32 => U32<F::Order>;
    [] i32 => I32<F::Order>;
    [] u64 => U64<F::Order>;
    [] i64 => I64<F::Order>;
    [] f32 => F32<F::Order>;
    [] f64 => F64<F::Order>;
    [] () => Skip<0>;
    [] char => Logical<logical::Char, Char<F::Order>>;
    [] u128 => Logical<logical::Uint128, U128<F::Order>>;
    [] i128 => Logical<logical::Int128, U128<F::Order>>;
}

generic! { Native:
    [] Timestamp => TimeUtc;
    #[cfg(feature = "std")]
    [] std::time::SystemTime => TimeUtc;
    #[cfg(feature = "jiff")]
    [] jiff1::Timestamp => TimeUtc;
    #[cfg(feature = "jiff")]
    [] jiff1::ZonedDateTime => TimeLocation;
    #[cfg(feature = "jiff02")]
    [] jiff::Timestamp => TimeUtc;
    #[cfg(feature = "jiff02")]
    [] jiff::Zoned => TimeLocation;
    #[cfg(feature = "time")]
    [] time::UtcDateTime => TimeUtc;
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

generic! { Format:
    [T; const N: usize] [T; N] => Array<N, T::Wire>;
    [T] Option<T> => Opt<T::Wire>;
    [T, E] Result<T, E> => Either<T::Wire, E::Wire, F::Order>;
    [T] Range<T> => (T::Wire, T::Wire);
    [T] RangeInclusive<T> => (T::Wire, T::Wire);
    [T] Bound<T> => RangeBound<T::Wire, F::Order>;
    [T] RefCell<T> => Wrapped<T::Wire>;
    [T] Reverse<T> => Wrapped<T::Wire>;
    #[cfg(feature = "arrayvec")]
    [; const N: usize] arrayvec::ArrayString<N> => Str<Max<N, F::Header>>;
    #[cfg(feature = "arrayvec")]
    [T; const N: usize] arrayvec::ArrayVec<T, N> => Slice<Max<N, F::Header>, T::Wire>;
    #[cfg(feature = "heapless")]
    [; const N: usize] heapless::String<N> => Str<Max<N, F::Header>>;
    #[cfg(feature = "heapless")]
    [T; const N: usize] heapless::Vec<T, N> => Slice<Max<N, F::Header>, T::Wire>;
}

encode! {
    [] str => Str<F::Header>;
    [] &str => Str<F::Header>;
    [T: EncodeAs<F>] [T] => Slice<F::Header, T::Wire>;
    [T: EncodeAs<F>] &[T] => Slice<F::Header, T::Wire>;
    [E: StaticWire, T] Seq<'_, E, T> => Slice<F::Header, E>;
    [K: StaticWire, V: StaticWire, A, B] Entries<'_, K, V, A, B> => Map<F::Header, K, V>;
    [T: EncodeAs<F>] &T => Pointer<T::Wire>;
    [T: EncodeAs<F> + Copy] Cell<T> => Wrapped<T::Wire>;
}

decode! {
    [] &'de str => Str<F::Header>;
    [] &'de [u8] => Blob<F::Header>;
    [E: StaticWire + Get<'de, T>, T] Seq<'de, E, T> => Slice<F::Header, E>;
    [T: DecodeAs<'de, F>] Cell<T> => Wrapped<T::Wire>;
    [K: StaticWire + Get<'de, A>, V: StaticWire + Get<'de, B>, A, B] Entries<'de, K, V, A, B>
        => Map<F::Header, K, V>;
}

impl<F: Native, Z: Octets> EncodeAs<F> for ZonedTimestamp<Z> {
    type Wire = TimeLocation;
}

impl<'de, F: Native, Z: FromOctets<'de>> DecodeAs<'de, F> for ZonedTimestamp<Z> {
    type Wire = TimeLocation;
}

macro_rules! tuple {
    ($($wire:ident $type:ident $index:tt $name:literal),*) => {
        generic! { Format: [$($type),*] ($($type,)*) => ($($type::Wire,)*); }
    };
}

for_tuples!(tuple);

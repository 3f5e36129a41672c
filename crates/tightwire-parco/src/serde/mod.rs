//! Encodes and decodes types that implement serde's `Serialize` and `Deserialize`.
//!
//! Use it for types of other crates, and for types that already derive serde's traits. A type that derives the traits of
//! serde and of this crate has the same bytes either way, unless attributes change them.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize)]
//! struct User<'a> {
//!     name: &'a str,
//!     port: u16,
//!     email: Option<String>,
//! }
//!
//! let user = User { name: "ana", port: 80, email: None };
//! let bytes = tightwire_parco::serde::to_vec(&user)?;
//! assert_eq!(bytes, [3, b'a', b'n', b'a', 80, 0, 0]);
//! assert_eq!(tightwire_parco::serde::decode_exact::<User>(&bytes)?, user);
//! # Ok::<(), tightwire_parco::Error>(())
//! ```
//!
//! With the attribute `#[parco(serde)]`, such a type is a field of a struct that derives the traits of this crate: see
//! [`Serde`]. On an asynchronous stream, use `SerdeCodec` (feature `codec`): the end of a message is only known to serde, so a
//! stream needs frames.
//!
//! # Encoding
//!
//! | serde | bytes |
//! | --- | --- |
//! | `bool` | 0 or 1 |
//! | integers of 8 to 128 bits, floats | little endian, of their width; `usize` and `isize` have 64 bits |
//! | `char` | its number as `u32` |
//! | string, byte array | length as a varint, then the bytes |
//! | option | 0, or 1 and the value |
//! | unit, unit struct | none |
//! | newtype struct, tuple, array, struct | the values in order |
//! | sequence | number of elements as a varint, then the elements |
//! | map | number of entries as a varint, then the key and value of each |
//! | enum | index of the variant as a varint, then its values |
//!
//! A sequence or map need not know its length, such as one of `collect_seq`. `is_human_readable` is false. Error paths are those of derived types, except that a part of a tuple is an
//! [`Index`](crate::Segment::Index), because serde does not distinguish tuples from arrays.
//!
//! The encoding of some types is determined by serde, and differs from that of the derive macros: `SystemTime` and the
//! types of `chrono`, `jiff`, `time` and `uuid`, `SocketAddrV6`, and enums with explicit ids, for which serde uses the
//! order of declaration.
//!
//! # Types that are not supported
//!
//! A message does not describe its own structure. These types fail with
//! [`Error::is_unsupported`](crate::Error::is_unsupported):
//!
//! - types with `#[serde(flatten)]` or `#[serde(tag = ..)]`, and raw values of `serde_json`, when they are encoded;
//! - types that are decoded with `deserialize_any`, `deserialize_ignored_any` or `deserialize_identifier`: those above, those
//!   with `#[serde(untagged)]`, and `serde_json::Value`. The last two cannot be detected when a value is encoded;
//! - fields that are skipped when they are encoded (`#[serde(skip_serializing_if = ..)]`). The error contains the field.
//!
//! A struct or tuple with another number of fields than it announces fails with
//! [`Error::is_invalid_length`](crate::Error::is_invalid_length) when it is encoded.
//!
//! `#[serde(skip)]` is supported. `#[serde(skip_serializing)]` without `skip_deserializing`, `skip_serializing_if` in
//! a tuple struct, and a struct with `flatten` that has no other fields and flattens a map, are not, but cannot be detected
//! when a value is encoded. `#[serde(default)]` has no effect.
//!
//! # Limits
//!
//! The [`Limits`] are those of derived types, with these differences:
//!
//! - Options, sequences, maps, tuples and arrays count towards [`max_depth`](crate::Limits::max_depth) as structs and
//!   enums do, both when encoding and when decoding, because a recursive serde type may consist of them alone.
//! - Elements are counted towards [`max_allocation`](crate::Limits::max_allocation) one by one, and only when they are decoded,
//!   because serde does not tell the encoder their size in memory. A collection may reserve
//!   memory before, for at most as many elements as the message has bytes, and 1 MiB.
//! - [`DuplicateKeys::Reject`](crate::DuplicateKeys::Reject) compares encoded keys, and applies to every map of serde.
//!   [`Options::canonical`](crate::Options::canonical) applies to maps, but not to sets, which serde does not distinguish from
//!   sequences.

#[cfg(feature = "codec")]
mod codec;
pub(crate) mod de;
mod ser;

use alloc::boxed::Box;
use alloc::string::ToString as _;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;

#[cfg(feature = "std")]
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

#[cfg(feature = "codec")]
pub use self::codec::SerdeCodec;
use crate::error::{Error, ErrorKind, Exceeded, Fault, Limit, Segment};
use crate::options::{Levels, Limits, Options};
use crate::read::{Context, Input, Reader, level};
use crate::schema::{Schema, SchemaContext};
use crate::wire::adjust::structure;
use crate::wire::{Blob, Format, Get, Header as _, Le, Put, StaticWire, Varint, Wire, sized};
use crate::write::{self, Writer};

/// Encodes a value into a new vector.
///
/// # Errors
///
/// Fails if the type is not supported, its `Serialize` implementation fails, or the value is nested too deeply.
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Error> {
    to_vec_with(Options::new(), value)
}

/// Same as [`to_vec`], with these options.
///
/// # Errors
///
/// Same as [`to_vec`].
pub fn to_vec_with<T: Serialize + ?Sized>(options: Options, value: &T) -> Result<Vec<u8>, Error> {
    to_vec_as::<Le, T>(options, value)
}

/// Encodes a value and appends it to a vector.
///
/// # Errors
///
/// Same as [`to_vec`]. The vector is unchanged on failure.
pub fn encode<T: Serialize + ?Sized>(value: &T, vec: &mut Vec<u8>) -> Result<(), Error> {
    encode_with(Options::new(), value, vec)
}

/// Same as [`encode`], with these options.
///
/// # Errors
///
/// Same as [`to_vec`]. The vector is unchanged on failure.
pub fn encode_with<T: Serialize + ?Sized>(
    options: Options,
    value: &T,
    vec: &mut Vec<u8>,
) -> Result<(), Error> {
    write::append(vec, &options, |writer| ser::put::<Le, T>(value, writer))
}

/// Encodes a value to the start of a slice and returns the number of bytes written.
///
/// # Errors
///
/// Same as [`to_vec`], and fails if the message does not fit the slice. The contents of the slice are then unspecified.
pub fn encode_to_slice<T: Serialize + ?Sized>(value: &T, slice: &mut [u8]) -> Result<usize, Error> {
    write::to_slice(slice, |writer| ser::put::<Le, T>(value, writer))
}

/// Encodes a value to a stream with one `write_all`, and returns the number of bytes written.
///
/// # Errors
///
/// Same as [`to_vec`], before anything is written. Fails if writing fails.
#[cfg(feature = "std")]
pub fn encode_to_writer<T: Serialize + ?Sized>(
    value: &T,
    mut writer: impl std::io::Write,
) -> Result<usize, Error> {
    let message = to_vec(value)?;
    writer.write_all(&message)?;
    Ok(message.len())
}

/// Returns the exact encoded size of a value in bytes. It encodes the value, because serde cannot tell its size.
///
/// # Errors
///
/// Same as [`to_vec`].
pub fn encoded_len<T: Serialize + ?Sized>(value: &T) -> Result<usize, Error> {
    Ok(to_vec(value)?.len())
}

/// Decodes one value from a stream, reading no bytes beyond its end.
///
/// Wrap unbuffered streams in a `BufReader`, because each number and string is read by itself. Values cannot borrow from
/// the stream.
///
/// # Errors
///
/// Fails if the bytes are not a valid value, at the end of the stream, if reading fails, or if the type is not supported.
///
/// ```
/// let mut stream: &[u8] = &[3, b'h', b'e', b'y', 0xff];
/// assert_eq!(tightwire_parco::serde::decode_from_reader::<String>(&mut stream)?, "hey");
/// assert_eq!(stream, [0xff]);
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
#[cfg(feature = "std")]
pub fn decode_from_reader<T: DeserializeOwned>(reader: impl std::io::Read) -> Result<T, Error> {
    decode_from_reader_with(Options::new(), reader)
}

/// Same as [`decode_from_reader`], with options.
///
/// # Errors
///
/// Same as [`decode_from_reader`].
#[cfg(feature = "std")]
pub fn decode_from_reader_with<T: DeserializeOwned>(
    options: Options,
    reader: impl std::io::Read,
) -> Result<T, Error> {
    decode_from_reader_as::<Le, T>(options, reader)
}

/// Encodes a value in a format: [`Bincode1`](crate::wire::Bincode1), [`Bincode2`](crate::wire::Bincode2) and
/// [`Postcard`](crate::wire::Postcard) write the bytes of these libraries.
///
/// # Errors
///
/// Same as [`to_vec`]. A sequence or map that does not know its length fails in the formats of other libraries, as it does there.
///
/// ```
/// use tightwire_parco::Options;
/// use tightwire_parco::serde::{decode_exact, decode_exact_as, to_vec, to_vec_as};
/// use tightwire_parco::wire::Bincode1;
///
/// // What `bincode::serialize` writes.
/// let stored = to_vec_as::<Bincode1, _>(Options::new(), &("ana", 80_u16))?;
/// assert_eq!(stored, b"\x03\0\0\0\0\0\0\0ana\x50\0");
/// let value: (String, u16) = decode_exact_as::<Bincode1, _>(Options::new(), &stored)?;
/// assert_eq!(decode_exact::<(String, u16)>(&to_vec(&value)?)?, value);
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
pub fn to_vec_as<F: Format, T: Serialize + ?Sized>(options: Options, value: &T) -> Result<Vec<u8>, Error> {
    write::to_vec(&options, |writer| ser::put::<F, T>(value, writer))
}

/// Same as [`decode_from_reader`], in the format `F` and with options; see [`to_vec_as`].
///
/// # Errors
///
/// Same as [`decode_from_reader`].
#[cfg(feature = "std")]
pub fn decode_from_reader_as<F: Format, T: DeserializeOwned>(
    options: Options,
    reader: impl std::io::Read,
) -> Result<T, Error> {
    crate::io::Decoder::with_options(reader, options).decode_serde::<F, T>()
}

/// Decodes a value from the start of a slice and returns the remaining bytes.
///
/// # Errors
///
/// Fails if the bytes are not a valid value, or the type is not supported.
pub fn decode<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<(T, &'de [u8]), Error> {
    decode_with(Options::new(), bytes)
}

/// Same as [`decode`], with options.
///
/// # Errors
///
/// Same as [`decode`].
pub fn decode_with<'de, T: Deserialize<'de>>(
    options: Options,
    bytes: &'de [u8],
) -> Result<(T, &'de [u8]), Error> {
    decode_as::<Le, T>(options, bytes)
}

/// Same as [`decode`], in the format `F` and with options; see [`to_vec_as`].
///
/// # Errors
///
/// Same as [`decode`].
pub fn decode_as<'de, F: Format, T: Deserialize<'de>>(
    options: Options,
    bytes: &'de [u8],
) -> Result<(T, &'de [u8]), Error> {
    let mut context = Context::new(bytes, options);
    let mut reader = Reader::new(bytes, &mut context);
    match de::get::<F, T>(&mut reader) {
        Ok(value) => Ok((value, reader.rest())),
        Err(fault) => Err(reader.into_error(fault)),
    }
}

/// Decodes a value that uses the whole slice.
///
/// # Errors
///
/// Fails if the bytes are not a valid value, if bytes remain after it, or the type is not supported.
pub fn decode_exact<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, Error> {
    decode_exact_with(Options::new(), bytes)
}

/// Same as [`decode_exact`], with options.
///
/// # Errors
///
/// Same as [`decode_exact`].
pub fn decode_exact_with<'de, T: Deserialize<'de>>(options: Options, bytes: &'de [u8]) -> Result<T, Error> {
    decode_exact_as::<Le, T>(options, bytes)
}

/// Same as [`decode_exact`], in the format `F` and with options; see [`to_vec_as`].
///
/// # Errors
///
/// Same as [`decode_exact`].
pub fn decode_exact_as<'de, F: Format, T: Deserialize<'de>>(
    options: Options,
    bytes: &'de [u8],
) -> Result<T, Error> {
    match decode_as::<F, T>(options, bytes)? {
        (value, []) => Ok(value),
        (_, rest) => Err(Error::at(ErrorKind::TrailingBytes, bytes.len() - rest.len())),
    }
}

/// Wire type of a value that implements serde's traits: its length in bytes as a [`Varint`], then its encoding.
///
/// It is the wire type of fields with `#[parco(serde)]`.
///
/// The length is there because the encoding is only known to serde. The schema is a blob in a struct with the field
/// `serde`, so a [`Fingerprint`](crate::schema::Fingerprint) or a comparison of schemas does not detect a change of the
/// type.
///
/// ```
/// use tightwire_parco::{Decode, Encode};
///
/// /// A type of another crate.
/// #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
/// struct Color(u8, u8, u8);
///
/// #[derive(Debug, PartialEq, Encode, Decode)]
/// struct Pixel {
///     x: u16,
///     #[parco(serde)]
///     color: Color,
/// }
///
/// let pixel = Pixel { x: 1, color: Color(10, 20, 30) };
/// let bytes = tightwire_parco::to_vec(&pixel)?;
/// assert_eq!(bytes, [1, 0, 3, 10, 20, 30]);
/// assert_eq!(tightwire_parco::decode_exact::<Pixel>(&bytes)?, pixel);
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Serde;

impl Wire for Serde {
    #[inline]
    fn min_size(&self) -> usize {
        1
    }

    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        level(input, |input| {
            let len = Varint::length(input)?;
            input.skip(len)
        })
    }

    fn schema(&self, context: &mut SchemaContext) -> Schema {
        structure([("serde", Blob::<Varint>::NEW.schema(context))])
    }
}

impl StaticWire for Serde {
    const NEW: Self = Self;
}

impl<T: Serialize + ?Sized> Put<T> for Serde {
    fn put(&self, value: &T, writer: &mut Writer<'_>) -> Result<(), Fault> {
        writer.level(|writer| writer.put_sized(|writer| ser::put::<Le, T>(value, writer)))
    }

    fn size(&self, value: &T, levels: Levels) -> Result<usize, Fault> {
        levels.deeper()?.size_of(|writer| ser::put::<Le, T>(value, writer)).map(sized)
    }
}

impl<'de, T: Deserialize<'de>> Get<'de, T> for Serde {
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<T, Fault> {
        level(reader, |reader| {
            let len = Varint::length(reader)?;
            reader.expect(len)?;
            let start = reader.rest();
            let value = de::get::<Le, T>(reader)?;
            match (start.len() - reader.rest().len()).cmp(&len) {
                Ordering::Less => Err(Fault(ErrorKind::TrailingBytes)),
                Ordering::Equal => Ok(value),
                Ordering::Greater => Err(reader.fail_at(start, Fault::INVALID_VALUE)),
            }
        })
    }
}

/// The error of the serializer and the deserializer. Path and offset are recorded in the writer or reader.
///
/// It is boxed to keep the results small.
#[derive(Debug)]
struct Failure(Box<Cause>);

#[derive(Debug)]
struct Cause {
    fault: Fault,
    message: Option<Box<str>>,
    /// Whether the position of the reader is that of the fault.
    is_located: bool,
}

impl Failure {
    /// Creates the error of a `Serialize` or `Deserialize` implementation.
    #[cold]
    fn custom(fault: Fault, message: impl fmt::Display) -> Self {
        Self(Box::new(Cause { fault, message: Some(message.to_string().into()), is_located: false }))
    }

    fn fault(&self) -> Fault {
        self.0.fault
    }

    /// Passes on the message and returns the fault.
    fn explain(self, record: impl FnOnce(Option<Box<str>>)) -> Fault {
        record(self.0.message);
        self.0.fault
    }
}

impl From<Fault> for Failure {
    #[cold]
    fn from(fault: Fault) -> Self {
        Self(Box::new(Cause { fault, message: None, is_located: true }))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.message {
            Some(message) => f.write_str(message),
            None => self.0.fault.fmt(f),
        }
    }
}

impl core::error::Error for Failure {}

/// Sizes of the elements of a collection, which are only known one by one. They are checked against the limits in the same
/// way when encoding and decoding.
#[derive(Default)]
struct Sizes {
    /// Number of elements without bytes.
    empty: usize,
    /// Whether an element did not have exactly one byte. Elements of one byte count as bytes.
    is_wide: bool,
}

impl Sizes {
    /// Returns whether so many elements can exceed a limit that depends on their sizes.
    fn need_check(count: usize, limits: &Limits) -> bool {
        count > limits.elements.min(limits.zero_sized)
    }

    /// Checks a number of elements of any size.
    fn start(&self, count: usize, limits: &Limits) -> Result<(), Exceeded> {
        let most = limits.elements.max(limits.bytes);
        if count <= most { Ok(()) } else { Err(Exceeded::new(Limit::Elements, count, limits.elements)) }
    }

    /// Adds an element of a collection of `count` elements.
    fn add(&mut self, size: usize, count: usize, limits: &Limits) -> Result<(), Exceeded> {
        self.empty += usize::from(size == 0);
        self.is_wide |= size != 1;
        if self.empty > limits.zero_sized {
            return Err(Exceeded::new(Limit::ZeroSized, self.empty, limits.zero_sized));
        }
        let (limit, most) =
            if self.is_wide { (Limit::Elements, limits.elements) } else { (Limit::Bytes, limits.bytes) };
        if count <= most { Ok(()) } else { Err(Exceeded::new(limit, count, most)) }
    }
}

/// Returns the segment of a field without a name.
fn position(index: usize) -> Segment {
    const NAMES: [&str; 12] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"];
    NAMES.get(index).map_or_else(|| Segment::Name(index.to_string()), |name| Segment::Field(name))
}

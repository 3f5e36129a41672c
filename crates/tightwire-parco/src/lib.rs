//! Compact binary encoding for Rust structs, with derive macros, limits for untrusted input, and a mode that is
//! byte-compatible with the Go library `parco`.
//!
//! ```
//! use tightwire_parco::{Decode, Encode};
//!
//! #[derive(Debug, PartialEq, Encode, Decode)]
//! struct User {
//!     name: String,
//!     port: u16,
//!     email: Option<String>,
//! }
//!
//! let user = User { name: "ana".into(), port: 80, email: None };
//! let bytes = tightwire_parco::to_vec(&user)?;
//! assert_eq!(bytes, [3, b'a', b'n', b'a', 80, 0, 0]);
//! assert_eq!(tightwire_parco::decode_exact::<User>(&bytes)?, user);
//! # Ok::<(), tightwire_parco::Error>(())
//! ```
//!
//! Add it with `cargo add tightwire-parco`. [`migration`] has the calls and attributes that replace those of bincode,
//! postcard, borsh and rmp-serde, and a program that converts stored files.
//!
//! A message consists of its fields in order of declaration: no names, no tags, no version. Integers have a fixed width;
//! lengths are varints by default, or the type that an attribute sets. Both peers need the same schema, except that
//! fields can be added at the end of structs with `#[parco(evolve)]`.
//!
//! Use this crate instead of `bincode` or `postcard` to exchange messages with Go programs, to choose the byte order and
//! the width of each length, to decode untrusted input within limits, to add fields while old readers exist, or to check
//! whether a changed schema is still compatible. Types that derive
//! serde's traits can be used with the module `serde`.
//!
//! # Where to start
//!
//! | task | use | feature |
//! | --- | --- | --- |
//! | the bytes of each type of the standard library and of other crates | the table of [`EncodeAs`] | |
//! | encode and decode your own types | [`#[derive(Encode, Decode)]`](derive@Encode), with a list of all attributes | `derive` (default) |
//! | messages in memory | [`to_vec`], [`encode`], [`decode_exact`], [`decode`] | |
//! | messages without an allocator | [`encode_to_slice`] and types that borrow, such as `&str` and [`Seq`]; [`MaxSize`] for the size of buffers | none |
//! | borrow from the input | fields such as `&str`, [`Seq`] and [`Entries`] | |
//! | messages on a `std::io` stream | [`Encoder`], [`Decoder`] | `std` (default) |
//! | collections that are larger than the memory | [`Encoder::encode_elements`], [`Decoder::decode_elements`] | `std` (default) |
//! | messages on a tokio stream | `StreamCodec`, `FrameCodec` | `codec` |
//! | several message types on one stream | an enum with `#[parco(id = ..)]`, or a [`Registry`] | |
//! | types of other crates, several schemas of one type | [`builder()`], or [`compiler`] and [`parser`] | |
//! | types that derive serde's traits | the module `serde`, and `#[parco(serde)]` on a field | `serde` |
//! | other limits, the lenient mode of Go | [`Options`], [`Limits`] | |
//! | equal values as equal bytes, for hashes and signatures | `Options::canonical` | `alloc` |
//! | read and write the bytes of bincode 1, bincode 2 and postcard | `#[parco(format = bincode1)]`, `bincode2` or `postcard` on each type; `serde::to_vec_as` and `decode_as` | |
//! | exchange messages with the Go library | `#[parco(go)]` on each type: lengths of two bytes, as in Go |  |
//! | encode a value with another wire type | [`WireExt`] with the types of [`wire`] | |
//! | add fields while old readers exist | `#[parco(evolve)]` on a struct: its length precedes its fields; [`schema::evolution`] | |
//! | tell another schema from a damaged message | [`Encoder::with_fingerprint`], `FrameCodec::with_fingerprint` | |
//! | types that are only known at run time | [`schema`] | `schema-json` for JSON |
//!
//! All three ways to define a message, derive macros, [`builder`](mod@builder) and [`schema::Schema`], produce the same
//! bytes.
//!
//! # Features
//!
//! | feature | adds |
//! | --- | --- |
//! | `std` (default) | streams, and `HashMap`, `HashSet`, `Path` and `SystemTime`; without it the crate is `no_std` |
//! | `alloc` (with `std`) | types that allocate, encoding to vectors, builders, registries, schemas, the path of errors |
//! | `derive` (default) | the derive macros |
//! | `bytes` | `Bytes` and `BytesMut`; `encode_to_buf` for `BytesMut` and other buffers |
//! | `codec` | codecs for `tokio_util::codec` |
//! | `chrono`, `jiff` (version 1), `jiff02` (version 0.2), `time` | timestamps, dates, times of day and durations of these crates |
//! | `arrayvec`, `compact_str`, `glam`, `hashbrown`, `heapless`, `indexmap`, `ordered-float`, `rust_decimal`, `smallvec`, `uuid` | the types of these crates |
//! | `serde` | the module `serde` for types that implement `Serialize` and `Deserialize` |
//! | `schema-json` | schemas and values as JSON |
//!
//! ## Without std, without an allocator
//!
//! | | `std` | only `alloc` | neither |
//! | --- | --- | --- | --- |
//! | [`encode_to_slice`], [`encoded_len`], [`decode`], [`decode_exact`], [`decode_into`] | yes | yes | yes |
//! | numbers, `&str`, `&[u8]`, arrays, tuples, `Option`, `Result`, addresses, `Duration`, [`Seq`], [`Entries`] | yes | yes | yes |
//! | derive macros, [`wire`], [`Options`], [`Limits`] | yes | yes | yes |
//! | [`Error`]: kind and offset | yes | yes | yes |
//! | [`Error::path`] | yes | yes | empty |
//! | [`to_vec`], [`encode`]; `String`, `Vec`, `Box`, `Rc`, `Arc`, `Cow`, `BTreeMap` and so on | yes | yes | no |
//! | [`builder`](mod@builder), [`Registry`], [`schema`] | yes | yes | no |
//! | [`Encoder`], [`Decoder`]; `HashMap`, `HashSet`, `SystemTime`, `Path` | yes | no | no |
//! | features | all | all but `codec` and `glam` | `derive`, `arrayvec`, `chrono`, `heapless`, `ordered-float`, `time`, `uuid` |
//!
//! ```
//! use tightwire_parco::{Decode, Encode};
//!
//! #[derive(Debug, PartialEq, Encode, Decode)]
//! struct Reading<'a> {
//!     sensor: &'a str,
//!     values: [i16; 3],
//! }
//!
//! let mut buffer = [0; 32];
//! let len = tightwire_parco::encode_to_slice(&Reading { sensor: "t1", values: [7, -2, 9] }, &mut buffer)?;
//! let reading: Reading = tightwire_parco::decode_exact(&buffer[..len])?;
//! assert_eq!(reading.values, [7, -2, 9]);
//! # Ok::<(), tightwire_parco::Error>(())
//! ```
//!
//! # Guarantees
//!
//! - Messages of types with `#[parco(go)]`, and of wire types without [`wire::Varint`], are byte for byte those of the Go
//!   library, which can decode them.
//! - Untrusted input is decoded to a value or an [`Error`] with kind, offset and path. Memory use is proportional to
//!   the size of the input, not to the lengths it claims; [`Limits`] bound it further.
//! - Encoding and decoding have the same [`Limits`], so every encoded message can be decoded.
//! - A decoder never returns a value from the middle of a message: after a timeout it continues, after a malformed message
//!   whose end is unknown it stays failed.
//! - An encoding error leaves a vector or buffer unchanged. The contents of a slice are then unspecified.
//! - Encoding to a reused vector does not allocate, except to sort maps and sets ([`wire::SortedMap`],
//!   [`wire::SortedSlice`], `Options::canonical`) and for evolve structs of 128 bytes or more inside of others.
//!
//! # Limitations
//!
//! - The format is not self-describing: a message decoded with the wrong schema may yield wrong values instead of an
//!   error. [`schema::evolution`] lists the compatible changes, and [`schema::Fingerprint`] detects a changed schema.
//! - Maps and sets are encoded in iteration order by default. For reproducible bytes, use the option `Options::canonical`, which
//!   sorts all of them, or the attribute `sorted` ([`wire::SortedMap`], [`wire::SortedSlice`]) of single fields.
//! - Invalid input that the Go library tolerates is an error, unless [`Mode::Compat`] is set. Truncated input, which
//!   the Go library partly decodes without an error, is always an error.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(feature = "std"), no_std)]

#[cfg(feature = "alloc")]
extern crate alloc;

#[cfg(feature = "alloc")]
pub mod builder;
#[cfg(feature = "codec")]
mod codec;
mod convert;
mod default_wire;
mod error;
#[cfg(feature = "std")]
mod io;
mod message;
#[doc = include_str!("../MIGRATION.md")]
#[cfg(any(doc, doctest))]
pub mod migration {}
mod options;
mod read;
#[cfg(feature = "alloc")]
mod registry;
#[cfg(feature = "alloc")]
pub mod schema;
#[cfg(feature = "serde")]
pub mod serde;
mod text;
mod time;
mod view;
pub mod wire;
mod write;

pub use self::time::{Timestamp, ZonedTimestamp};
#[cfg(feature = "alloc")]
pub use builder::{builder, builder_with, compiler, parser, parser_with};
#[cfg(feature = "codec")]
pub use codec::{FrameCodec, StreamCodec};
pub use default_wire::{Decode, DecodeAs, DecodeOwned, Encode, EncodeAs, MaxSize};
pub use error::{Error, Fault, Segment};
#[cfg(feature = "std")]
pub use io::{Decoder, Elements, Encoder, decode_from_reader, encode_to_writer};
#[cfg(feature = "bytes")]
pub use message::encode_to_buf;
pub use message::{WireExt, decode, decode_exact, decode_into, encode_to_slice, encoded_len};
#[cfg(feature = "alloc")]
pub use message::{encode, to_vec};
pub use options::{DuplicateKeys, ElementSize, Levels, Limits, Mode, Options};
pub use read::{Input, Reader};
#[cfg(feature = "alloc")]
pub use registry::{Frame, Frames, HasId, Registry};
#[cfg(feature = "derive")]
pub use tightwire_parco_derive::{Decode, Encode, MaxSize};
pub use view::{Entries, EntriesIter, Seq, SeqIter};
pub use wire::{Get, Put};
#[cfg(feature = "bytes")]
pub use write::Reserve;
pub use write::Writer;

/// Expands to its input, or to nothing without the feature `alloc`. The derive macros use it in their output, because they do
/// not know the features of this crate.
#[doc(hidden)]
#[macro_export]
#[cfg(feature = "alloc")]
macro_rules! __with_alloc {
    ($($item:tt)*) => { $($item)* };
}

#[doc(hidden)]
#[macro_export]
#[cfg(not(feature = "alloc"))]
macro_rules! __with_alloc {
    ($($item:tt)*) => {};
}

//! Fast JSON for serde types, with limits on untrusted input and optional output identical to Go's.
//!
//! Use it instead of `serde_json` if JSON takes a noticeable part of the CPU time, if documents come from untrusted
//! clients, or if the output must match a Go service byte for byte. It works with the same `Serialize` and `Deserialize`
//! types, and has the functions and types of serde_json under the same names; [`migration`] lists the differences.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize)]
//! struct User {
//!     id: u64,
//!     name: String,
//! }
//!
//! let user = User { id: 7, name: "Ada".to_owned() };
//! let document = tightwire_json::to_string(&user)?;
//! assert_eq!(document, r#"{"id":7,"name":"Ada"}"#);
//! assert_eq!(tightwire_json::from_str::<User>(&document)?, user);
//! # Ok::<(), tightwire_json::Error>(())
//! ```
//!
//! Add it with `cargo add tightwire-json`.
//!
//! Errors have a kind, a path and a position:
//!
//! ```
//! let error = tightwire_json::from_str::<Vec<u8>>("[1, 2, true]").unwrap_err();
//! assert!(error.is_data());
//! assert_eq!(error.to_string(), "[2]: expected an unsigned 8-bit integer, found a boolean (line 1, column 8)");
//! ```
//!
//! A [`Value`] is a tree for documents of unknown structure:
//!
//! ```
//! use tightwire_json::{Value, json};
//!
//! let mut user: Value = tightwire_json::from_str(r#"{"id": 7, "tags": ["new"]}"#)?;
//! user["name"] = json!("Ada");
//! assert_eq!(user["tags"][0], "new");
//! assert_eq!(user.to_string(), r#"{"id":7,"tags":["new"],"name":"Ada"}"#);
//! # Ok::<(), tightwire_json::Error>(())
//! ```
//!
//! A [`Codec`] has the same functions as methods, with options: limits, the output of Go, handling of duplicate keys,
//! numbers as written.
//!
//! ```
//! use tightwire_json::{Codec, Limits};
//!
//! let codec = Codec::compat().with_limits(Limits::new().max_document(1 << 20).max_depth(16));
//! assert_eq!(codec.to_string("<b>")?, r#""\u003cb\u003e""#);
//! # Ok::<(), tightwire_json::Error>(())
//! ```
//!
//! # Overview
//!
//! | task | use |
//! | --- | --- |
//! | encode | [`to_string`], [`to_vec`], [`to_writer`], [`to_fmt_writer`]; [`to_buf`] appends to a reused buffer |
//! | encode with indentation | [`to_string_pretty`], [`to_vec_pretty`], [`to_writer_pretty`] |
//! | encode in a format of your own | [`Codec::to_string_formatted`], [`Format`] |
//! | decode, also into values that borrow | [`from_str`], [`from_slice`] |
//! | decode from a reader | [`from_reader`] |
//! | values of unknown type | [`Value`], [`json!`], [`to_value`], [`from_value`], [`merge_patch`] |
//! | find the cause of an error | [`ErrorDetails::path`], [`Error::line`], [`Error::column`], [`Error::classify`] |
//! | keep a part of a document as text | [`RawValue`], [`to_raw_value`] |
//! | keep all digits of numbers | [`Codec::with_written_numbers`], [`Number::from_written`] |
//! | validate | [`is_valid`], [`Codec::validate`] |
//! | canonical form (RFC 8785) for signatures and hashes | [`Codec::canonical`] |
//! | several documents in a stream | [`Encoder`], [`Decoder`], [`StreamDeserializer`] |
//! | lines, text sequences, elements of a large array | [`DocumentReader`] with [`LineDecoder`], [`TextSequenceDecoder`] or [`ElementDecoder`] |
//! | incomplete text, as from a language model | [`partial::Parser`] |
//! | traits of serde | [`Deserializer`], [`Serializer`], [`value::Serializer`](type@value::Serializer) |
//! | unions of objects whose `type` is not the first field, in one pass | [`TYPE_FIRST`] |
//!
//! | feature | adds |
//! | --- | --- |
//! | `stream` | `DocumentStream`: decodes lines, text sequences and elements in asynchronous bodies; `NdjsonSink` and `NdjsonBody` write lines |
//! | `bytes` | `to_bytes` |
//! | `schemars` | JSON Schemas of [`Value`], [`Map`], [`Array`], [`Number`], [`JsonString`] and [`RawValue`] |
//! | `serde-json` | conversions between [`Value`], [`Map`] and [`Number`] and those of serde_json |
//! | `alloc`, `arbitrary_precision`, `float_roundtrip`, `preserve_order`, `raw_value`, `std`, `unbounded_depth` | nothing: they exist for crates that enable these features of serde_json |
//!
//! A feature only adds items. None changes how this crate or another crate of the build encodes or decodes.
//!
//! # Limits
//!
//! [`Limits`] bound depth (128), document size (64 MiB) and string length (unlimited). No document makes decoding panic
//! or run forever, and memory is bounded by a multiple of the document size.
//!
//! # Guarantees
//!
//! - Every document is validated completely against RFC 8259, including skipped values, and is UTF-8.
//! - Integers are exact in types that can represent them, floats are rounded correctly and once. NaN and infinity are
//!   errors in both directions.
//! - [`Mode::Strict`] writes the same bytes as serde_json, except that serde_json writes NaN as `null`.
//!   [`Mode::Compat`] writes the same bytes as Go's `encoding/json`, [`Mode::Canonical`] those of RFC 8785.
//! - Nothing is written for a value that cannot be encoded.
//!
//! # Differences from serde_json
//!
//! [`migration`] lists all of them. The most important ones:
//!
//! - NaN and infinity cannot be encoded.
//! - Lone surrogates and malformed UTF-8 are errors in skipped values and raw values, too.
//! - A document has at most 64 MiB and 128 levels, unless [`Limits`] are set.
//! - A [`Value`] has [`JsonString`]s in place of `String` and [`Array`]s in place of `Vec`. Objects keep the order of
//!   their entries, as with serde_json's feature `preserve_order`.
//!
//! As in serde_json, a derived struct rejects duplicate keys and a map keeps the last value, unless [`Duplicates`] is
//! set.
//!
//! # Differences of `Mode::Compat` from Go
//!
//! Like Go, it replaces lone surrogates by U+FFFD, uses the last of duplicate keys, and decodes byte strings from
//! base64, in which line breaks are ignored. Unlike Go, it compares keys case-sensitively, invalid UTF-8 is an error, and
//! so is `null` for a string, number, boolean, array, map or struct, which Go leaves unchanged: use `Option`.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod boundary;
mod codec;
pub mod de;
#[doc(hidden)]
pub mod engine;
pub mod error;
mod functions;
mod grammar;
mod marks;
mod path;
mod pointer;
mod powers;
mod raw;
mod scan;
mod sequence;
pub mod ser;
mod stream;
mod tokenizer;

pub use codec::{
    Codec, DEFAULT_MAX_DEPTH, DEFAULT_MAX_DOCUMENT, Duplicates, Limits, Mode, config_fastest_mode,
    config_standard_mode,
};
pub use de::{Deserializer, StreamDeserializer, TYPE_FIRST};
pub use error::{Error, ErrorDetails, Result};
#[cfg(feature = "bytes")]
pub use functions::to_bytes;
pub use functions::{
    from_reader, from_slice, from_str, is_valid, to_buf, to_fmt_writer, to_string, to_string_pretty, to_vec,
    to_vec_pretty, to_writer, to_writer_pretty,
};
pub use path::{Path, Segment};
pub use raw::{RawValue, to_raw_value};
pub use sequence::{Decoder, Encoder};
pub use ser::{Format, Serializer};
pub use stream::{
    ChunkDecoder, DEFAULT_MAX_LINE, DocumentReader, ElementDecoder, LineDecoder, TextSequenceDecoder,
};
#[cfg(feature = "stream")]
pub use stream::{DocumentStream, NdjsonBody, NdjsonSink};
pub use value::{Array, JsonString, Map, Number, Value, from_value, merge_patch, to_value};

/// Object of a tree, its entries and iterators.
pub mod map {
    pub use crate::value::Map;
    pub use crate::value::map_entry::{Entry, OccupiedEntry, VacantEntry};
    pub use crate::value::map_iter::{IntoIter, IntoValues, Iter, IterMut, Keys, Values, ValuesMut};
    pub use crate::value::map_ops::Key;
}
pub mod partial;
pub mod value;
#[doc = include_str!("../MIGRATION.md")]
#[cfg(any(doc, doctest))]
pub mod migration {}

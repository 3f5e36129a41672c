//! JSON for serde types: one way to call it, one answer per document, output like Go's on request.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize)]
//! struct User<'a> {
//!     id: u64,
//!     #[serde(borrow)]
//!     name: &'a str,
//! }
//!
//! let document = tightwire_json::to_vec(&User { id: 7, name: "<Ada>" })?;
//! assert_eq!(document, br#"{"id":7,"name":"<Ada>"}"#);
//!
//! let user: User = tightwire_json::from_slice_borrowed(&document)?;
//! assert_eq!(user.name, "<Ada>");
//!
//! // A codec has a mode, limits and a backend of its own.
//! let go = tightwire_json::Codec::compat().to_string(&user)?;
//! assert_eq!(go, r#"{"id":7,"name":"\u003cAda\u003e"}"#);
//!
//! let error = tightwire_json::from_slice::<tightwire_json::Value>(b"[1, 2,]").unwrap_err();
//! assert!(error.is_syntax());
//! assert_eq!(error.offset(), Some(6));
//! # Ok::<(), tightwire_json::Error>(())
//! ```
//!
//! # What there is
//!
//! The functions of the root ([`to_vec`], [`from_slice`] and their siblings) use the mode of the process, which is
//! [`Mode::Strict`] unless [`config_fastest_mode`] was called. The same functions are methods of [`Codec`].
//! [`Encoder`] and [`Decoder`] write and read documents one after the other. [`Value`], [`Number`], [`Map`] and
//! [`RawValue`] are those of serde_json, so that values pass between both crates.
//!
//! | feature | what it adds |
//! | --- | --- |
//! | `ndjson` | `NdjsonStream`, `NdjsonSink`, `NdjsonBody`, `LineDecoder`: a document per line in asynchronous bodies |
//! | `bytes` | `to_bytes` |
//! | `serde-json`, `simd-json` | the other variants of [`Backend`] |
//! | `envelope` | the modules `envelope` and `errno`: answers of services in envelopes, and error codes |
//! | `validation` | the module `validation`: rules for the fields of requests; turns on `envelope` |
//! | `axum` | the module `axum`: extractors and responses for axum 0.8; turns on `envelope` |
//!
//! # What is promised
//!
//! - Whatever the [`Backend`], a document is accepted or refused alike and gives the same value, or the same kind of
//!   error at the same offset.
//! - All of a document is checked against RFC 8259, skipped values included, and all of it is UTF-8.
//! - Integers are exact in types that can hold them, floats are rounded correctly and once. NaN and the infinities
//!   are errors in both directions.
//! - Duplicate keys are handled as by serde_json, where a derived struct rejects them and a map keeps the last value, or
//!   as [`Duplicates`] says. An error of a `Deserialize` implementation is final.
//! - [`Limits`] bound depth, documents and strings. No document makes decoding panic, run forever, or hold more memory
//!   than a multiple of its length.
//! - What [`Mode::Strict`] writes is byte for byte what serde_json writes, except that serde_json writes NaN as `null`;
//!   what [`Mode::Compat`] writes is byte for byte what Go's `encoding/json` writes for the same value.
//! - Nothing is written for a value that cannot be encoded.
//!
//! # Where it differs from serde_json
//!
//! Half surrogate pairs and malformed UTF-8 are refused in skipped values and raw values, too. `-0` is an integer
//! if the type is one. 128 levels of nesting are accepted, not 127. An
//! `f32` out of range is an error. A value like `{"$serde_json::private::RawValue": "1"}` has a meaning of its own for
//! [`Value`], as it has there.
//!
//! [`Mode::Compat`] reads like Go in three points: lone surrogates become U+FFFD, the last of duplicate keys counts, and
//! bytes are read from base64. In all others it reads like the other modes: keys are compared with their case, and invalid
//! UTF-8 is an error instead of U+FFFD.

mod backend;
mod boundary;
mod codec;
mod de;
mod decoder;
mod encoder;
mod error;
mod functions;
mod limits;
mod mode;
#[cfg(feature = "ndjson")]
mod ndjson;
mod room;
mod scan;
mod ser;

pub use backend::{Backend, backend, is_using_simd};
pub use codec::Codec;
pub use de::Duplicates;
pub use decoder::Decoder;
pub use encoder::Encoder;
pub use error::{Error, Result};
#[cfg(feature = "bytes")]
pub use functions::to_bytes;
pub use functions::{
    from_reader, from_slice, from_slice_borrowed, from_slice_mut, from_str, is_valid, to_buf, to_string,
    to_vec, to_vec_pretty, to_writer,
};
pub use limits::{DEFAULT_MAX_DEPTH, DEFAULT_MAX_DOCUMENT, Limits};
pub use mode::{Mode, config_fastest_mode, config_standard_mode};
#[cfg(feature = "ndjson")]
pub use ndjson::{DEFAULT_MAX_LINE, LineDecoder, NdjsonBody, NdjsonSink, NdjsonStream};
pub use serde_json::value::RawValue;
pub use serde_json::{Map, Number, Value};

#[cfg(feature = "axum")]
pub mod axum;
#[cfg(feature = "envelope")]
pub mod envelope;
#[cfg(feature = "envelope")]
pub mod errno;
#[cfg(feature = "validation")]
pub mod validation;

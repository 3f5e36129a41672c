//! JSON for serde types.
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

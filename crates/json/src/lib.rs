//! JSON for serde types.
mod codec;
mod de;
mod error;
mod limits;
mod scan;
mod scratch;
mod ser;

#[cfg(feature = "bytes")]
pub use codec::to_bytes;
pub use codec::{
    Codec, Mode, config_fastest_mode, config_standard_mode, from_reader, from_slice, from_slice_borrowed,
    from_slice_mut, from_str, is_valid, to_buf, to_string, to_vec, to_vec_pretty, to_writer,
};
pub use de::Duplicates;
pub use error::{Error, Result};
pub use limits::{DEFAULT_MAX_DEPTH, DEFAULT_MAX_DOCUMENT, Limits};
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

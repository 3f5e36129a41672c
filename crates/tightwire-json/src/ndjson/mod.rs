//! NDJSON: one document per line.
//!
//! `lines` is the decoder without I/O, `stream` and `sink` are adaptors for futures.

mod lines;
mod sink;
mod stream;

pub use self::lines::{DEFAULT_MAX_LINE, LineDecoder};
pub use self::sink::{NdjsonBody, NdjsonSink};
pub use self::stream::NdjsonStream;

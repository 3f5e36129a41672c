//! NDJSON: one document per line, as bodies of HTTP messages carry them.
//!
//! `lines` is the framing without I/O, `stream` and `sink` adapt it.

mod lines;
mod sink;
mod stream;

pub use self::lines::{DEFAULT_MAX_LINE, LineDecoder};
pub use self::sink::{NdjsonBody, NdjsonSink};
pub use self::stream::NdjsonStream;

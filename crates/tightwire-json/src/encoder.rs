//! Documents one after the other into a writer.

use std::io::Write;

use serde::Serialize;

use crate::codec::Codec;
use crate::error::{Error, Result};

/// What the encoder keeps of its buffer between documents, in bytes.
const KEPT: usize = 1 << 20;

/// Writes documents to a [`Write`], each followed by a line feed.
///
/// A document and its line feed go out in one call of [`Write::write_all`]; a value that cannot be encoded writes
/// nothing. The buffer is kept between documents up to 1 MiB.
///
/// # Examples
/// ```
/// let mut encoder = tightwire_json::Encoder::new(Vec::new());
/// encoder.encode(&1)?;
/// encoder.encode("two")?;
/// assert!(encoder.encode(&f64::NAN).is_err());
/// assert_eq!(encoder.into_inner(), b"1\n\"two\"\n");
/// # Ok::<(), tightwire_json::Error>(())
/// ```
#[derive(Debug)]
pub struct Encoder<W> {
    writer: W,
    codec: Codec,
    buffer: Vec<u8>,
}

impl<W: Write> Encoder<W> {
    /// An encoder with the codec that the root functions use at the moment. A later switch does not change it.
    pub fn new(writer: W) -> Self {
        Self::with_codec(writer, Codec::standard())
    }

    /// An encoder with a codec of its own.
    pub fn with_codec(writer: W, codec: Codec) -> Self {
        Self { writer, codec, buffer: Vec::new() }
    }

    /// Writes `value` and a line feed.
    ///
    /// # Errors
    /// As [`Codec::to_vec`], and then nothing is written; [`Error::is_io`] if the writer fails, and then any part
    /// of the document may be written.
    pub fn encode<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.buffer.clear();
        self.codec.to_buf(&mut self.buffer, value)?;
        self.buffer.push(b'\n');
        let result = self.writer.write_all(&self.buffer).map_err(Error::io);
        self.buffer.clear();
        self.buffer.shrink_to(KEPT);
        result
    }

    /// The writer.
    pub fn get_ref(&self) -> &W {
        &self.writer
    }

    /// Gives the writer back.
    pub fn into_inner(self) -> W {
        self.writer
    }
}

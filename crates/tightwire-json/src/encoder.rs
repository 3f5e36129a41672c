//! Encoder of a sequence of documents into a writer.

use std::io::Write;

use serde::Serialize;

use crate::codec::Codec;
use crate::error::{Error, Result};

/// Maximum capacity of the buffer between documents, in bytes.
const RETAINED_CAPACITY: usize = 1 << 20;

/// Writes documents to a [`Write`], each followed by a line feed.
///
/// A document and its line feed are written with one call of [`Write::write_all`]. Nothing is written for a value that
/// cannot be encoded. The buffer is reused between documents, up to 1 MiB.
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
    /// Returns an encoder with [`Codec::standard`]. Later changes of the process-wide mode do not affect it.
    pub fn new(writer: W) -> Self {
        Self::with_codec(writer, Codec::standard())
    }

    /// Returns an encoder with this codec.
    pub fn with_codec(writer: W, codec: Codec) -> Self {
        Self { writer, codec, buffer: Vec::new() }
    }

    /// Writes `value` and a line feed.
    ///
    /// # Errors
    /// As [`Codec::to_vec`], without writing anything. [`Error::is_io`] if the writer fails; a part of the document may
    /// have been written.
    pub fn encode<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.buffer.clear();
        self.codec.to_buf(&mut self.buffer, value)?;
        self.buffer.push(b'\n');
        let result = self.writer.write_all(&self.buffer).map_err(Error::io);
        self.buffer.clear();
        self.buffer.shrink_to(RETAINED_CAPACITY);
        result
    }

    /// Returns a reference to the writer.
    pub fn get_ref(&self) -> &W {
        &self.writer
    }

    /// Returns the writer.
    pub fn into_inner(self) -> W {
        self.writer
    }
}

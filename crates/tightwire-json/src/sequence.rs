//! Sequences of documents: an encoder into a writer and a decoder from a reader.

use std::fmt;
use std::io::{ErrorKind, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::boundary::Boundary;
use crate::codec::Codec;
use crate::error::{Error, Limit, Result, Syntax};
use crate::grammar::is_space;

/// Maximum capacity of the buffer between documents, in bytes.
pub(crate) const RETAINED_CAPACITY: usize = 1 << 20;

/// Byte before each document of a text sequence (RFC 7464, section 2.2).
pub(crate) const RECORD_SEPARATOR: u8 = 0x1e;

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
    record_separator: bool,
    buffer: Vec<u8>,
}

impl<W: Write> Encoder<W> {
    /// Returns an encoder with [`Codec::standard`]. Later changes of the process-wide mode do not affect it.
    pub fn new(writer: W) -> Self {
        Self::with_codec(writer, Codec::standard())
    }

    /// Returns an encoder with this codec.
    pub fn with_codec(writer: W, codec: Codec) -> Self {
        Self { writer, codec, record_separator: false, buffer: Vec::new() }
    }

    /// Writes JSON text sequences (RFC 7464, `application/json-seq`): a record separator (0x1E) before each document.
    ///
    /// # Examples
    /// ```
    /// let mut encoder = tightwire_json::Encoder::new(Vec::new()).with_record_separator();
    /// encoder.encode(&1)?;
    /// assert_eq!(encoder.into_inner(), b"\x1e1\n");
    /// # Ok::<(), tightwire_json::Error>(())
    /// ```
    #[must_use]
    pub fn with_record_separator(mut self) -> Self {
        self.record_separator = true;
        self
    }

    /// Writes `value` and a line feed.
    ///
    /// # Errors
    /// Same as [`Codec::to_vec`], without writing anything. [`Error::is_io`] if the writer fails; a part of the document
    /// may have been written.
    pub fn encode<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.buffer.clear();
        if self.record_separator {
            self.buffer.push(RECORD_SEPARATOR);
        }
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

/// Minimum size of the read buffer, and maximum number of bytes read beyond the limit for documents.
const CHUNK: usize = 8 << 10;

/// Decodes documents from a [`Read`], separated by optional white space.
///
/// A truncated document, a byte that cannot begin a document, and a stray bracket are errors; after such an error,
/// the decoder returns `None`. After an error for a document of another type, decoding continues with the next one.
///
/// The buffer has at most [`Limits::max_document`](crate::Limits::max_document) plus 8 KiB.
///
/// # Examples
/// ```
/// let mut decoder = tightwire_json::Decoder::new(&b"{\"a\":1}{\"a\":2}\n[3"[..]);
/// assert_eq!(decoder.decode::<tightwire_json::Value>()?.unwrap()["a"], 1);
/// assert_eq!(decoder.decode::<tightwire_json::Value>()?.unwrap()["a"], 2);
/// assert!(decoder.decode::<tightwire_json::Value>().unwrap_err().is_eof());
/// assert_eq!(decoder.decode::<tightwire_json::Value>()?, None);
/// # Ok::<(), tightwire_json::Error>(())
/// ```
pub struct Decoder<R> {
    reader: R,
    codec: Codec,
    /// Read buffer, always fully initialized. The unconsumed input is `buffer[start..end]`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Offset of the buffer in the stream.
    buffer_offset: u64,
    ended: bool,
}

impl<R: fmt::Debug> fmt::Debug for Decoder<R> {
    /// Omits the buffered input.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder")
            .field("reader", &self.reader)
            .field("codec", &self.codec)
            .field("offset", &(self.buffer_offset + self.start as u64))
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

impl<R: Read> Decoder<R> {
    /// Returns a decoder with [`Codec::standard`]. Later changes of the process-wide mode do not affect it.
    pub fn new(reader: R) -> Self {
        Self::with_codec(reader, Codec::standard())
    }

    /// Returns a decoder with this codec.
    pub fn with_codec(reader: R, codec: Codec) -> Self {
        Self { reader, codec, buffer: Vec::new(), start: 0, end: 0, buffer_offset: 0, ended: false }
    }

    /// Decodes the next document. Returns `None` at the end of the stream and after an error other than
    /// [`Error::is_data`].
    ///
    /// # Errors
    /// Same as [`Codec::from_slice`], with offsets from the start of the stream, but lines and columns from the start
    /// of the document; and [`Error::is_io`] if the reader fails. An interrupted read is retried.
    pub fn decode<T: DeserializeOwned>(&mut self) -> Result<Option<T>> {
        if self.ended {
            return Ok(None);
        }
        let result = self.next_document();
        self.ended = match &result {
            Ok(value) => value.is_none(),
            Err(error) => !error.is_data(),
        };
        result
    }

    fn next_document<T: DeserializeOwned>(&mut self) -> Result<Option<T>> {
        let codec = self.codec;
        let Some(document) = self.document()? else { return Ok(None) };
        let len = document.len();
        let result = codec.from_slice(document);
        let start = self.offset();
        self.consume(len);
        result.map(Some).map_err(|error| error.moved_by(start))
    }

    /// Sets the codec of the following documents.
    pub(crate) fn set_codec(&mut self, codec: Codec) {
        self.codec = codec;
    }

    /// Returns the next document without consuming it, `None` at the end of the stream.
    pub(crate) fn document(&mut self) -> Result<Option<&[u8]>> {
        if !self.skip_space()? {
            return Ok(None);
        }
        if !Boundary::may_begin(self.buffer[self.start]) {
            let error = Error::syntax(Syntax::Value, 0).in_document(self.pending());
            return Err(error.moved_by(self.offset()));
        }
        let mut boundary = Boundary::new();
        let end = loop {
            if let Some(len) = boundary.find(self.pending()) {
                break self.start + len;
            }
            let limit = self.codec.limits().document;
            if self.end - self.start > limit {
                let error = Error::over_limit(Limit::Document, limit, limit as u64);
                return Err(error.in_document(self.pending()).moved_by(self.offset()));
            }
            if !self.fill()? {
                // Only a number or literal name can end with the stream; anything else is truncated or malformed.
                break self.end;
            }
        };
        Ok(Some(&self.buffer[self.start..end]))
    }

    /// Consumes `len` bytes of the buffered input.
    pub(crate) fn consume(&mut self, len: usize) {
        self.start += len;
    }

    /// Skips white space. Returns `false` at the end of the stream.
    pub(crate) fn skip_space(&mut self) -> Result<bool> {
        loop {
            self.start += self.pending().iter().take_while(|byte| is_space(**byte)).count();
            if self.start < self.end {
                return Ok(true);
            }
            if !self.fill()? {
                return Ok(false);
            }
        }
    }

    /// Returns the buffered input.
    pub(crate) fn pending(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Reads more input. Returns `false` at the end of the stream.
    fn fill(&mut self) -> Result<bool> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.buffer_offset += self.start as u64;
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            // Doubling bounds the initialized memory to twice the length of a document.
            let limit = self.codec.limits().document.saturating_add(CHUNK);
            let len = self.buffer.len().saturating_mul(2).clamp(CHUNK, limit.max(self.end + 1));
            self.buffer.resize(len, 0);
        }
        let read = loop {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => break result.map_err(Error::io)?,
            }
        };
        self.end += read;
        Ok(read > 0)
    }

    /// Returns the number of consumed bytes of the stream, including white space that was read before the next
    /// document.
    pub fn offset(&self) -> u64 {
        self.buffer_offset + self.start as u64
    }

    /// Returns the reader. Buffered input is lost.
    pub fn into_inner(self) -> R {
        self.reader
    }
}

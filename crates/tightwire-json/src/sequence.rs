//! Sequences of documents: an encoder into a writer and a decoder from a reader.

use std::fmt;
use std::io::{BufRead, ErrorKind, Read, Write};

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
///
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
    ///
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
    ///
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

/// Input from which no byte behind a document is consumed. Not nameable outside of the crate.
pub trait Input {
    /// Returns the buffered bytes, and reads before if there are none: at most `len` bytes if bytes that were read cannot
    /// be given back. Returns no bytes at the end.
    fn fill(&mut self, len: usize) -> Result<&[u8]>;

    /// Consumes `len` of the buffered bytes.
    fn consume(&mut self, len: usize);
}

/// Repeats a read that was interrupted.
fn retry<T>(mut read: impl FnMut() -> std::io::Result<T>) -> Result<T> {
    loop {
        match read() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result.map_err(Error::io),
        }
    }
}

impl<R: BufRead> Input for R {
    fn fill(&mut self, _len: usize) -> Result<&[u8]> {
        match retry(|| self.fill_buf().map(<[u8]>::len))? {
            // At the end, another call could wait for input again.
            0 => Ok(&[]),
            _ => self.fill_buf().map_err(Error::io),
        }
    }

    fn consume(&mut self, len: usize) {
        BufRead::consume(self, len);
    }
}

/// Reader that is read up to the end of a document: one byte at a time, and more if the document certainly has more.
#[derive(Debug)]
pub(crate) struct Exact<R> {
    reader: R,
    buffer: [u8; 32],
    start: usize,
    end: usize,
}

impl<R> Exact<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, buffer: [0; 32], start: 0, end: 0 }
    }
}

impl<R: Read> Input for Exact<R> {
    fn fill(&mut self, len: usize) -> Result<&[u8]> {
        if self.start == self.end {
            let len = len.min(self.buffer.len());
            (self.start, self.end) = (0, retry(|| self.reader.read(&mut self.buffer[..len]))?);
        }
        Ok(&self.buffer[self.start..self.end])
    }

    fn consume(&mut self, len: usize) {
        self.start += len;
    }
}

/// Decodes documents from a [`BufRead`], separated by optional white space.
///
/// The reader is always directly behind the last document: what follows can be read from it, also with another decoder
/// or as anything else than JSON. It is also an input of a [`Deserializer`](crate::Deserializer).
///
/// A truncated document, a byte that cannot begin a document, and a stray bracket are errors; after such an error,
/// the decoder returns `None`. After an error for a document of another type, decoding continues with the next one.
///
/// A document that extends over several buffers of the reader is copied, up to
/// [`Limits::max_document`](crate::Limits::max_document) and one byte.
///
/// # Examples
///
/// ```
/// let mut reader = &b"{\"a\":1}{\"a\":2}\n[3"[..];
/// let mut decoder = tightwire_json::Decoder::new(&mut reader);
/// assert_eq!(decoder.decode::<tightwire_json::Value>()?.unwrap()["a"], 1);
/// assert_eq!(decoder.decode::<tightwire_json::Value>()?.unwrap()["a"], 2);
/// assert_eq!(reader, b"\n[3");
///
/// let mut decoder = tightwire_json::Decoder::new(reader);
/// assert!(decoder.decode::<tightwire_json::Value>().unwrap_err().is_eof());
/// assert_eq!(decoder.decode::<tightwire_json::Value>()?, None);
/// # Ok::<(), tightwire_json::Error>(())
/// ```
pub struct Decoder<R> {
    reader: R,
    pub(crate) codec: Codec,
    /// Bytes of the current document in earlier buffers of the reader. They stay if the reader fails.
    partial: Vec<u8>,
    boundary: Boundary,
    /// Number of consumed bytes.
    offset: u64,
    ended: bool,
}

impl<R> fmt::Debug for Decoder<R> {
    /// Omits the input.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder")
            .field("codec", &self.codec)
            .field("offset", &self.offset)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

impl<R: BufRead> Decoder<R> {
    /// Returns a decoder with [`Codec::standard`]. Later changes of the process-wide mode do not affect it.
    pub fn new(reader: R) -> Self {
        Self::with_codec(reader, Codec::standard())
    }

    /// Returns a decoder with this codec.
    pub fn with_codec(reader: R, codec: Codec) -> Self {
        Self::of_input(reader, codec)
    }

    /// Decodes the next document. Returns `None` at the end of the stream and after an error other than
    /// [`Error::is_data`].
    ///
    /// # Errors
    ///
    /// Same as [`Codec::from_slice`], with offsets from the start of the stream, but lines and columns from the start
    /// of the document; and [`Error::is_io`] if the reader fails. An interrupted read is retried.
    pub fn decode<T: DeserializeOwned>(&mut self) -> Result<Option<T>> {
        if self.ended {
            return Ok(None);
        }
        let codec = self.codec.without_extensions();
        let result = self.document(|document| codec.from_slice(document));
        self.ended = match &result {
            Ok(value) => value.is_none(),
            Err(error) => !error.is_data(),
        };
        result
    }
}

impl<R: Input> Decoder<R> {
    pub(crate) fn of_input(reader: R, codec: Codec) -> Self {
        Self { reader, codec, partial: Vec::new(), boundary: Boundary::new(), offset: 0, ended: false }
    }

    /// Decodes the next document and consumes it. Returns `None` at the end of the stream.
    pub(crate) fn document<T>(&mut self, decode: impl FnOnce(&[u8]) -> Result<T>) -> Result<Option<T>> {
        let Some(first) = self.peek()? else { return Ok(None) };
        let (start, limit) = (self.offset - self.partial.len() as u64, self.codec.limits().document);
        if !Boundary::may_begin(first) {
            return Err(Error::syntax(Syntax::Value, 0).in_document(self.reader.fill(1)?).moved_by(start));
        }
        let len = loop {
            let chunk = self.reader.fill(self.boundary.missing())?;
            // One byte more than the limit, so that the end of a number of this length is found.
            let window = &chunk[..chunk.len().min(limit.saturating_add(1) - self.partial.len())];
            if window.is_empty() {
                // Only a number can end with the stream; anything else is truncated or malformed.
                break 0;
            }
            if let Some(len) = self.boundary.find(window) {
                break len;
            }
            let len = window.len();
            self.partial.extend_from_slice(window);
            self.consume(len);
            if self.partial.len() > limit {
                break 0;
            }
        };
        let rest = if len == 0 { &[] } else { &self.reader.fill(0)?[..len] };
        let document = if self.partial.is_empty() {
            rest
        } else {
            self.partial.extend_from_slice(rest);
            &self.partial
        };
        let result = match document.len() > limit {
            true => Err(Error::over_limit(Limit::Document, limit, limit as u64).in_document(document)),
            false => decode(document),
        };
        self.partial.clear();
        self.boundary = Boundary::new();
        self.consume(len);
        result.map(Some).map_err(|error| error.moved_by(start))
    }

    fn consume(&mut self, len: usize) {
        self.reader.consume(len);
        self.offset += len as u64;
    }

    /// Skips white space and returns the next byte, `None` at the end of the stream.
    pub(crate) fn peek(&mut self) -> Result<Option<u8>> {
        if let Some(first) = self.partial.first() {
            return Ok(Some(*first));
        }
        loop {
            let chunk = self.reader.fill(1)?;
            let space = chunk.iter().take_while(|byte| is_space(**byte)).count();
            let next = chunk.get(space).copied();
            self.consume(space);
            if next.is_some() || space == 0 {
                return Ok(next);
            }
        }
    }

    /// Returns the next byte, `None` at the end of the stream.
    pub(crate) fn next_byte(&mut self) -> Result<Option<u8>> {
        Ok(self.reader.fill(1)?.first().copied())
    }
}

impl<R> Decoder<R> {
    /// Returns the number of consumed bytes of the stream, including white space before the next document.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the reader, which is directly behind the last document.
    pub fn into_inner(self) -> R {
        self.reader
    }
}

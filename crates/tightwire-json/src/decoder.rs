//! Documents one after the other from a reader.

use std::fmt;
use std::io::{ErrorKind, Read};

use serde::de::DeserializeOwned;

use crate::boundary::Boundary;
use crate::codec::Codec;
use crate::error::{Error, Kind, Limit, Result, Syntax};

/// The least number of bytes that one read asks for.
const CHUNK: usize = 8 << 10;

/// Reads documents from a [`Read`], with white space or nothing between them.
///
/// The stream ends well only between two documents. A document that is cut off, bytes that begin no document, and
/// stray brackets are errors; after such an error the decoder is at its end and returns `None`. A document of
/// another type than was asked for is an error too, but decoding goes on behind it.
///
/// The buffer holds one document and what was read with it: at most
/// [`Limits::max_document`](crate::Limits::max_document) and 8 KiB.
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
    /// Initialized memory. The buffered input is `start..end`.
    buffer: Vec<u8>,
    /// Where the next document, or white space before it, begins in the buffer.
    start: usize,
    end: usize,
    /// How many bytes of the stream precede the buffer.
    before: u64,
    ended: bool,
}

impl<R: fmt::Debug> fmt::Debug for Decoder<R> {
    /// Leaves out what is buffered.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder")
            .field("reader", &self.reader)
            .field("codec", &self.codec)
            .field("offset", &(self.before + self.start as u64))
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

impl<R: Read> Decoder<R> {
    /// A decoder with the codec that the root functions use at the moment. A later switch does not change it.
    pub fn new(reader: R) -> Self {
        Self::with_codec(reader, Codec::standard())
    }

    /// A decoder with a codec of its own.
    pub fn with_codec(reader: R, codec: Codec) -> Self {
        Self { reader, codec, buffer: Vec::new(), start: 0, end: 0, before: 0, ended: false }
    }

    /// The next document; `None` at the end of the stream and after an error that leaves no place to go on.
    ///
    /// # Errors
    /// As [`Codec::from_slice`], with offsets from the start of the stream, and [`Error::is_io`] if the reader
    /// fails. An interrupted read is tried again.
    pub fn decode<T: DeserializeOwned>(&mut self) -> Result<Option<T>> {
        if self.ended {
            return Ok(None);
        }
        let result = self.next();
        self.ended = match &result {
            Ok(value) => value.is_none(),
            Err(error) => !error.is_data(),
        };
        result
    }

    fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>> {
        if !self.skip_space()? {
            return Ok(None);
        }
        if !Boundary::may_begin(self.buffer[self.start]) {
            return Err(Error::new(Kind::Syntax(Syntax::Value), Some(self.offset())));
        }
        let mut boundary = Boundary::new();
        let end = loop {
            if let Some(len) = boundary.find(self.pending()) {
                break self.start + len;
            }
            let limit = self.codec.limits().document;
            if self.end - self.start > limit {
                let start = self.before + self.start as u64;
                let at = start.saturating_add(limit as u64);
                return Err(Error::new(Kind::Limit(Limit::Document, limit), Some(at)));
            }
            if !self.fill()? {
                // A number may end with the stream; anything else is cut off, or malformed before its end.
                break self.end;
            }
        };
        let start = self.start;
        self.start = end;
        let result = self.codec.from_slice(&self.buffer[start..end]);
        result.map(Some).map_err(|error| error.moved_by(self.before + start as u64))
    }

    /// Whether there is anything but white space.
    fn skip_space(&mut self) -> Result<bool> {
        loop {
            let is_space = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
            let space = self.pending().iter().take_while(is_space).count();
            self.start += space;
            if self.start < self.end {
                return Ok(true);
            }
            if !self.fill()? {
                return Ok(false);
            }
        }
    }

    /// Buffered input.
    fn pending(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Reads more; `false` at the end of the stream.
    fn fill(&mut self) -> Result<bool> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.before += self.start as u64;
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            // Doubled, so that all growth together initializes at most twice the length of a document.
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

    /// How many bytes of the stream are decoded, white space before the next document included if it was seen.
    pub fn offset(&self) -> u64 {
        self.before + self.start as u64
    }

    /// Gives the reader back. What is buffered is lost.
    pub fn into_inner(self) -> R {
        self.reader
    }
}

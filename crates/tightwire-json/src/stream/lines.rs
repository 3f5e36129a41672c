//! NDJSON: one document per line.

use std::fmt;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;

use super::ChunkDecoder;
use crate::codec::Codec;
use crate::error::{Error, Limit, Result};
use crate::grammar::is_space;

/// Default of [`LineDecoder::max_line`]: 1 MiB.
pub const DEFAULT_MAX_LINE: usize = 1 << 20;

/// Decodes NDJSON: one document per line.
///
/// A line ends with LF or CRLF, optional for the last line. Empty lines are skipped. A line that is not a document of
/// the type is an error, as for [`Codec::from_slice`]. A line that exceeds [`max_line`](Self::max_line) is
/// [`Error::is_limit`] and is skipped in constant memory. After every error, decoding continues with the next line.
/// Offsets and lines of errors count from the start of the stream.
///
/// # Examples
///
/// ```
/// use tightwire_json::{DocumentReader, ErrorDetails, LineDecoder};
///
/// let mut numbers = DocumentReader::new(&b"1\nx\n3"[..], LineDecoder::<u32>::new());
/// assert_eq!(numbers.next().unwrap()?, 1);
/// assert_eq!(numbers.next().unwrap().unwrap_err().offset(), Some(2));
/// assert_eq!(numbers.next().unwrap()?, 3);
/// assert!(numbers.next().is_none());
/// # Ok::<(), tightwire_json::Error>(())
/// ```
pub struct LineDecoder<T> {
    codec: Codec,
    max_line: usize,
    /// Buffered part of the current line.
    line: Vec<u8>,
    /// Offset of the current line in the stream.
    start: u64,
    /// Number of lines before the current one.
    lines: usize,
    /// Length of the current line so far, including skipped bytes.
    seen: u64,
    /// The current line exceeds the limit, and the error was returned.
    skipping: bool,
    documents: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> LineDecoder<T> {
    /// Returns a decoder with [`Codec::standard`].
    pub fn new() -> Self {
        Self::with_codec(Codec::standard())
    }

    /// Returns a decoder with this codec.
    pub fn with_codec(codec: Codec) -> Self {
        let documents = PhantomData;
        Self {
            codec,
            max_line: DEFAULT_MAX_LINE,
            line: Vec::new(),
            start: 0,
            lines: 0,
            seen: 0,
            skipping: false,
            documents,
        }
    }

    /// Sets the maximum length of a line in bytes, without the line end. Default: [`DEFAULT_MAX_LINE`].
    #[must_use]
    pub fn max_line(mut self, bytes: usize) -> Self {
        self.max_line = bytes;
        self
    }

    /// Buffers a part of the current line.
    fn buffer(&mut self, part: &[u8]) -> Result<()> {
        self.seen += part.len() as u64;
        if self.skipping {
            return Ok(());
        }
        // A CR at the end may be part of the line end.
        let len = self.line.len() + part.len() - usize::from(part.ends_with(b"\r"));
        if len > self.max_line {
            self.skipping = true;
            self.line = Vec::new();
            return Err(self.too_long(self.start, self.lines + 1));
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    fn too_long(&self, start: u64, line: usize) -> Error {
        let at = start.saturating_add(self.max_line as u64);
        Error::over_limit(Limit::Line, self.max_line, at).with_position(line, self.max_line + 1)
    }

    /// Decodes the current line, of which `part` is the last part. `end` is the length of the line end.
    fn line_end(&mut self, part: &[u8], end: u64) -> Option<Result<T>> {
        let start = self.start;
        self.seen += part.len() as u64;
        self.start += self.seen + end;
        self.lines += 1;
        self.seen = 0;
        if std::mem::take(&mut self.skipping) {
            return None;
        }
        let mut buffered = std::mem::take(&mut self.line);
        let line = if buffered.is_empty() {
            part
        } else {
            buffered.extend_from_slice(part);
            &buffered
        };
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > self.max_line {
            return Some(Err(self.too_long(start, self.lines)));
        }
        if line.iter().all(|byte| is_space(*byte)) {
            return None;
        }
        Some(self.codec.from_slice(line).map_err(|error| {
            let column = error.column();
            error.moved_by(start).with_position(self.lines, column)
        }))
    }
}

impl<T: DeserializeOwned> ChunkDecoder for LineDecoder<T> {
    type Document = T;

    fn next(&mut self, chunk: &mut &[u8]) -> Option<Result<T>> {
        while !chunk.is_empty() {
            let Some(len) = memchr::memchr(b'\n', chunk) else {
                let part = std::mem::take(chunk);
                return self.buffer(part).err().map(Err);
            };
            let (part, rest) = chunk.split_at(len);
            *chunk = &rest[1..];
            if let Some(result) = self.line_end(part, 1) {
                return Some(result);
            }
        }
        None
    }

    fn finish(&mut self) -> Option<Result<T>> {
        let result = self.line_end(&[], 0);
        (self.start, self.lines) = (0, 0);
        result
    }
}

impl<T> fmt::Debug for LineDecoder<T> {
    /// Omits the buffered line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LineDecoder")
            .field("codec", &self.codec)
            .field("max_line", &self.max_line)
            .field("start", &self.start)
            .finish_non_exhaustive()
    }
}

impl<T: DeserializeOwned> Default for LineDecoder<T> {
    fn default() -> Self {
        Self::new()
    }
}

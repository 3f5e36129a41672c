//! JSON text sequences (RFC 7464).

use std::fmt;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;

use super::ChunkDecoder;
use super::capture::{Capture, Event};
use crate::codec::Codec;
use crate::error::{Error, Result, Syntax};
use crate::grammar::is_space;
use crate::sequence::RECORD_SEPARATOR;

/// Decodes JSON text sequences (RFC 7464, `application/json-seq`): a record separator (0x1E) before each document and
/// a line feed after it.
///
/// A document is returned as soon as it is complete. Decoding continues after these errors (section 2.1):
///
/// - A document is not of the type, or has duplicate keys if they are rejected.
/// - A document is malformed or truncated, or bytes other than white space follow it. The rest up to the next record
///   separator is skipped.
/// - A number, `true`, `false` or `null` has no white space after it: it may be truncated (section 2.4) and is
///   [`Error::is_eof`].
/// - A document exceeds a limit of [`Limits`](crate::Limits), without the white space around it. The rest is skipped.
/// - There are bytes before the first record separator.
///
/// Consecutive record separators are one. At most one document that continues in the next chunk is buffered. Offsets
/// of errors count from the start of the stream.
/// [`Encoder::with_record_separator`](crate::Encoder::with_record_separator) writes text sequences.
///
/// # Examples
///
/// ```
/// use tightwire_json::{DocumentReader, TextSequenceDecoder};
///
/// let mut numbers = DocumentReader::new(&b"\x1e1\n\x1e2\x1e3\n"[..], TextSequenceDecoder::<u32>::new());
/// assert_eq!(numbers.next().unwrap()?, 1);
/// // The second may be the beginning of 20.
/// assert!(numbers.next().unwrap().unwrap_err().is_eof());
/// assert_eq!(numbers.next().unwrap()?, 3);
/// assert!(numbers.next().is_none());
/// # Ok::<(), tightwire_json::Error>(())
/// ```
pub struct TextSequenceDecoder<T> {
    codec: Codec,
    state: State,
    /// Offset of the next byte in the stream.
    offset: u64,
    capture: Capture,
    documents: PhantomData<fn() -> T>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first record separator.
    Start,
    /// After a record separator.
    Separator,
    /// In a document or the white space around it.
    Document,
    /// After an error, before the next record separator.
    Skip,
}

impl<T: DeserializeOwned> TextSequenceDecoder<T> {
    /// Returns a decoder with [`Codec::standard`].
    pub fn new() -> Self {
        Self::with_codec(Codec::standard())
    }

    /// Returns a decoder with this codec.
    pub fn with_codec(codec: Codec) -> Self {
        let capture = Capture::new(&codec, 0);
        let codec = codec.without_extensions();
        Self { codec, state: State::Start, offset: 0, capture, documents: PhantomData }
    }

    /// Decodes the next document that ends in `text`, which has no record separator. An outer error affects the rest
    /// of the text.
    fn document(&mut self, text: &mut &[u8]) -> Result<Option<Result<T>>> {
        let mut failed = None;
        while !text.is_empty() {
            let (event, part) = self.capture.advance(text)?;
            match event {
                Some(Event::Value(_)) => match self.capture.value(text, &self.codec) {
                    Ok(Some(document)) => return Ok(Some(Ok(document))),
                    Ok(None) => {}
                    Err(error) => failed = Some(error),
                },
                Some(Event::End) => {
                    let Some((document, start)) = self.capture.end(part) else { continue };
                    let is_delimited = document.starts_with(b"\"")
                        || document.starts_with(b"{")
                        || document.starts_with(b"[")
                        || text.first().is_some_and(|byte| is_space(*byte));
                    // Otherwise, the next byte is an error.
                    if is_delimited {
                        let document = failed.map_or_else(|| self.codec.from_slice(document), Err);
                        return Ok(Some(document.map_err(|error| error.moved_by(start))));
                    }
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Ends the text before a record separator, or before the end of the stream.
    fn end_text(&mut self, next: State) -> Option<Result<T>> {
        let is_document = self.state == State::Document;
        self.state = next;
        let capture = std::mem::replace(&mut self.capture, Capture::new(&self.codec, self.offset));
        if is_document { capture.tokens.end().err().map(Err) } else { None }
    }
}

impl<T: DeserializeOwned> ChunkDecoder for TextSequenceDecoder<T> {
    type Document = T;

    fn next(&mut self, chunk: &mut &[u8]) -> Option<Result<T>> {
        while !chunk.is_empty() {
            let len = memchr::memchr(RECORD_SEPARATOR, chunk).unwrap_or(chunk.len());
            let mut text = &chunk[..len];
            let (consumed, result) = match self.state {
                _ if text.is_empty() => {
                    self.offset += 1;
                    *chunk = &chunk[1..];
                    if let Some(error) = self.end_text(State::Separator) {
                        return Some(error);
                    }
                    continue;
                }
                State::Start => (len, Err(Error::syntax(Syntax::RecordSeparator, 0))),
                State::Skip => (len, Ok(None)),
                State::Separator | State::Document => {
                    self.state = State::Document;
                    let result = self.document(&mut text);
                    (if result.is_ok() { len - text.len() } else { len }, result)
                }
            };
            self.offset += consumed as u64;
            *chunk = &chunk[consumed..];
            match result {
                Ok(None) => {}
                Ok(document) => return document,
                Err(error) => {
                    self.state = State::Skip;
                    return Some(Err(error));
                }
            }
        }
        None
    }

    fn finish(&mut self) -> Option<Result<T>> {
        self.offset = 0;
        self.end_text(State::Start)
    }
}

impl<T> fmt::Debug for TextSequenceDecoder<T> {
    /// Omits the buffered document.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextSequenceDecoder")
            .field("codec", &self.codec)
            .field("state", &self.state)
            .field("offset", &self.offset)
            .finish_non_exhaustive()
    }
}

impl<T: DeserializeOwned> Default for TextSequenceDecoder<T> {
    fn default() -> Self {
        Self::new()
    }
}

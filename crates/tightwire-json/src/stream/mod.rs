//! Streams of documents in bounded memory: lines, text sequences and the elements of an array.
//!
//! Each format has a decoder without I/O, a [`ChunkDecoder`]. [`DocumentReader`] and `DocumentStream` (module
//! `futures`) feed it from a reader or an asynchronous stream. `capture` decodes the parts that are
//! in one chunk, and buffers the others.

mod capture;
mod elements;
#[cfg(feature = "stream")]
mod futures;
mod lines;
mod text_sequence;

use std::fmt;
use std::io::{BufRead, ErrorKind};
use std::iter::FusedIterator;

pub use self::elements::ElementDecoder;
#[cfg(feature = "stream")]
pub use self::futures::{DocumentStream, NdjsonBody, NdjsonSink};
pub use self::lines::{DEFAULT_MAX_LINE, LineDecoder};
pub use self::text_sequence::TextSequenceDecoder;
use crate::error::{Error, Result};

/// Decoder without I/O: the input arrives in chunks of any size, the output are decoded documents.
///
/// Implemented by [`LineDecoder`], [`TextSequenceDecoder`] and [`ElementDecoder`]. The results do not depend on the
/// chunks. [`DocumentReader`] and, with the feature `stream`, `DocumentStream` feed a decoder.
///
/// # Examples
///
/// ```
/// use tightwire_json::{ChunkDecoder, LineDecoder};
///
/// let mut decoder = LineDecoder::<u32>::new();
/// let mut numbers = Vec::new();
/// for chunk in ["1\n2", "3\n\nx\n", "4"] {
///     let mut chunk = chunk.as_bytes();
///     while let Some(number) = decoder.next(&mut chunk) {
///         numbers.push(number.ok());
///     }
/// }
/// numbers.extend(decoder.finish().map(Result::ok));
/// assert_eq!(numbers, [Some(1), Some(23), None, Some(4)]);
/// ```
pub trait ChunkDecoder {
    /// Decoded type.
    type Document;

    /// Decodes the next document that ends in `chunk` and removes the consumed bytes from `chunk`. Returns `None` when
    /// all of `chunk` is consumed.
    ///
    /// # Errors
    ///
    /// The type documents its errors, and whether decoding continues after one.
    fn next(&mut self, chunk: &mut &[u8]) -> Option<Result<Self::Document>>;

    /// Ends the input: decodes the rest or reports that it is truncated. Resets the decoder for another input.
    ///
    /// # Errors
    ///
    /// Same as [`next`](Self::next).
    fn finish(&mut self) -> Option<Result<Self::Document>>;

    /// Returns whether an error has ended decoding. Further input is ignored.
    fn is_failed(&self) -> bool {
        false
    }
}

/// Iterator over the documents that a [`ChunkDecoder`] finds in the input of a [`BufRead`].
///
/// The reader is directly behind the input of which the decoder needs no more. An error of the reader is returned as
/// [`Error::is_io`] and ends the iterator; an interrupted read is retried.
///
/// # Examples
///
/// ```
/// use tightwire_json::{DocumentReader, ElementDecoder};
///
/// let export = br#"{"version": 2, "data": {"items": [{"id": 1}, {"id": 2}], "total": 2}}"#;
/// let decoder = ElementDecoder::<tightwire_json::Value>::new("/data/items")?;
/// let mut ids = Vec::new();
/// for item in DocumentReader::new(&export[..], decoder) {
///     ids.push(item?["id"].clone());
/// }
/// assert_eq!(ids, [1, 2]);
/// # Ok::<(), tightwire_json::Error>(())
/// ```
pub struct DocumentReader<R, D> {
    reader: R,
    decoder: D,
    ended: bool,
}

impl<R: BufRead, D: ChunkDecoder> DocumentReader<R, D> {
    /// Returns an iterator over the documents that `decoder` finds in `reader`.
    pub fn new(reader: R, decoder: D) -> Self {
        Self { reader, decoder, ended: false }
    }

    /// Returns the reader. The decoder may have consumed the start of a document that has not ended.
    pub fn into_inner(self) -> R {
        self.reader
    }
}

impl<R, D: fmt::Debug> fmt::Debug for DocumentReader<R, D> {
    /// Omits the input.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DocumentReader")
            .field("decoder", &self.decoder)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

impl<R: BufRead, D: ChunkDecoder> Iterator for DocumentReader<R, D> {
    type Item = Result<D::Document>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended && !self.decoder.is_failed() {
            let buffer = match self.reader.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.ended = true;
                    return Some(Err(Error::io(error)));
                }
                Ok([]) => {
                    self.ended = true;
                    return self.decoder.finish();
                }
                Ok(buffer) => buffer,
            };
            let mut rest = buffer;
            let document = self.decoder.next(&mut rest);
            let consumed = buffer.len() - rest.len();
            self.reader.consume(consumed);
            if document.is_some() {
                return document;
            }
        }
        None
    }
}

impl<R: BufRead, D: ChunkDecoder> FusedIterator for DocumentReader<R, D> {}

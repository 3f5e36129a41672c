//! Input of a [`Deserializer`](super::Deserializer).

use std::{fmt, io};

use super::source::{Borrowed, Copied, Source};
use super::{Action, State};
use crate::error::{Error, Kind, Limit, Result, Syntax};
use crate::grammar::is_space;
use crate::sequence::Decoder;

/// Input of a [`Deserializer`](super::Deserializer). Sealed: implemented by [`StrRead`], [`SliceRead`], [`IoRead`] and
/// mutable references to them.
pub trait Read<'de>: private::Input<'de> {}

impl<'de, R: private::Input<'de>> Read<'de> for R {}

/// Input without I/O errors. Not nameable outside of the crate.
pub trait Fused {}

pub(super) mod private {
    use super::{Action, Error, Result, State};

    pub trait Input<'de> {
        /// Runs `action` at the next value, and consumes the value.
        fn value<A: Action<'de>>(&mut self, state: &mut State, action: A) -> Result<A::Value>;
        /// Skips white space and returns the next byte, `None` at the end.
        fn peek(&mut self) -> Result<Option<u8>>;
        /// Returns the byte behind the last value, `None` at the end.
        fn behind(&self) -> Option<u8>;
        /// Returns the number of consumed bytes.
        fn offset(&self) -> u64;
        /// Returns the error for text behind the last value.
        fn trailing(&mut self) -> Error;
    }
}

/// Returns the number of bytes of white space (section 2) at the start of `bytes`.
fn space(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| is_space(**byte)).count()
}

/// Runs `action` at the value at the start of `text`. Returns the length of the value, and its result.
fn run<'t, 'de, M: Source<'t, 'de>, A: Action<'de>>(
    text: &'t str,
    state: &mut State,
    action: A,
) -> (usize, Result<A::Value>) {
    let limit = state.codec.limits().document;
    // One byte more than the limit, so that a value of exactly this length is known to be complete.
    let end = limit.saturating_add(1);
    let end = (end..text.len()).find(|end| text.is_char_boundary(*end)).unwrap_or(text.len());
    let (len, result) = state.run::<M, A>(&text[..end], action);
    let is_cut = end < text.len() && matches!(&result, Err(error) if error.is_eof());
    if is_cut || len > limit {
        return (len, Err(Error::over_limit(Limit::Document, limit, limit as u64)));
    }
    (len, result)
}

/// Input from a `str`.
pub struct StrRead<'a> {
    text: &'a str,
    at: usize,
    lines: Lines,
}

/// Lines of the input before an offset.
#[derive(Default)]
struct Lines {
    at: usize,
    count: usize,
    /// Offset of the line at `at`.
    start: usize,
}

impl Lines {
    /// Adds position and path to an error of the value at the offset `start`, whose own offset is relative to the value.
    /// Values are never before that of the previous call, so that many errors take linear time.
    #[cold]
    fn locate(&mut self, error: Error, input: &[u8], start: usize) -> Error {
        let passed = &input[self.at..start];
        self.count += memchr::memchr_iter(b'\n', passed).count();
        if let Some(end) = memchr::memrchr(b'\n', passed) {
            self.start = self.at + end + 1;
        }
        self.at = start;
        error.in_document(&input[start..]).moved_by(start as u64).behind(self.count, start - self.start)
    }
}

impl<'a> StrRead<'a> {
    /// Returns an input that starts at the first byte of `text`.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0, lines: Lines::default() }
    }
}

impl StrRead<'_> {
    /// Skips white space and returns the offset behind it.
    fn skip_space(&mut self) -> usize {
        self.at += space(&self.text.as_bytes()[self.at..]);
        self.at
    }
}

impl<'a> private::Input<'a> for StrRead<'a> {
    fn value<A: Action<'a>>(&mut self, state: &mut State, action: A) -> Result<A::Value> {
        let start = self.skip_space();
        let (len, result) = run::<Borrowed, A>(&self.text[start..], state, action);
        self.at += len;
        result.map_err(|error| self.lines.locate(error, self.text.as_bytes(), start))
    }

    fn peek(&mut self) -> Result<Option<u8>> {
        self.skip_space();
        Ok(self.behind())
    }

    fn behind(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn offset(&self) -> u64 {
        self.at as u64
    }

    fn trailing(&mut self) -> Error {
        self.lines.locate(Error::syntax(Syntax::Trailing, 0), self.text.as_bytes(), self.at)
    }
}

impl Fused for StrRead<'_> {}

impl fmt::Debug for StrRead<'_> {
    /// Omits the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StrRead").field("offset", &self.at).finish_non_exhaustive()
    }
}

/// Input from bytes. Values before the first byte that is not UTF-8 can be decoded.
pub struct SliceRead<'a> {
    bytes: &'a [u8],
    /// The longest prefix of `bytes` that is UTF-8.
    valid: StrRead<'a>,
    /// Whether a byte that is not UTF-8 follows, not only a truncated character.
    is_malformed: bool,
}

impl<'a> SliceRead<'a> {
    /// Returns an input that starts at the first byte. Checks whether the bytes are UTF-8.
    pub fn new(slice: &'a [u8]) -> Self {
        let (text, is_malformed) = match simdutf8::compat::from_utf8(slice) {
            Ok(text) => (text, false),
            Err(error) => {
                let valid = std::str::from_utf8(&slice[..error.valid_up_to()]).unwrap_or_default();
                (valid, error.error_len().is_some())
            }
        };
        Self { bytes: slice, valid: StrRead::new(text), is_malformed }
    }

    /// Returns the error at the end of the valid prefix. It concerns the value at the offset `start`.
    fn invalid(&self, start: usize) -> Error {
        match self.is_malformed {
            true => Error::syntax(Syntax::Utf8, self.valid.text.len() - start),
            false => Error::eof(self.bytes.len() - start),
        }
    }
}

impl<'a> private::Input<'a> for SliceRead<'a> {
    fn value<A: Action<'a>>(&mut self, state: &mut State, action: A) -> Result<A::Value> {
        let start = self.valid.skip_space();
        let (len, result) = run::<Borrowed, A>(&self.valid.text[start..], state, action);
        self.valid.at += len;
        result.map_err(|error| {
            let error = if error.is_eof() { self.invalid(start) } else { error };
            self.valid.lines.locate(error, self.bytes, start)
        })
    }

    fn peek(&mut self) -> Result<Option<u8>> {
        match self.valid.peek()? {
            None if self.valid.text.len() < self.bytes.len() => {
                let start = self.valid.at;
                Err(self.valid.lines.locate(self.invalid(start), self.bytes, start))
            }
            next => Ok(next),
        }
    }

    fn behind(&self) -> Option<u8> {
        self.bytes.get(self.valid.at).copied()
    }

    fn offset(&self) -> u64 {
        self.valid.offset()
    }

    fn trailing(&mut self) -> Error {
        self.valid.lines.locate(Error::syntax(Syntax::Trailing, 0), self.bytes, self.valid.at)
    }
}

impl Fused for SliceRead<'_> {}

impl fmt::Debug for SliceRead<'_> {
    /// Omits the bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SliceRead").field("offset", &self.valid.at).finish_non_exhaustive()
    }
}

/// Input from a reader.
///
/// It reads blocks of 8 KiB and more, and buffers the bytes behind a value for the next one. The buffer has at most
/// [`Limits::max_document`](crate::Limits::max_document) plus 8 KiB. A value is decoded as soon as its last byte is
/// read; for a number or literal name, one byte more.
///
/// Line and column of an error count from the start of its value. With the other inputs, they count from the start of
/// the input.
#[derive(Debug)]
pub struct IoRead<R> {
    decoder: Decoder<R>,
}

impl<R: io::Read> IoRead<R> {
    /// Returns an input that reads from `reader`.
    pub fn new(reader: R) -> Self {
        Self { decoder: Decoder::new(reader) }
    }
}

impl<'de, R: io::Read> private::Input<'de> for IoRead<R> {
    fn value<A: Action<'de>>(&mut self, state: &mut State, action: A) -> Result<A::Value> {
        self.decoder.set_codec(state.codec);
        let Some(document) = self.decoder.document()? else {
            return Err(Error::eof(0).in_document(b"").moved_by(self.decoder.offset()));
        };
        let (len, result) = match super::text(document, &state.codec.limits()) {
            Ok(text) => run::<Copied, A>(text, state, action),
            Err(error) => (0, Err(error)),
        };
        let result = match result {
            // A number or literal name must not be followed by another one. Otherwise each value would require a
            // search for the end of all.
            Ok(_) if len < document.len() => Err(Error::syntax(Syntax::Trailing, len)),
            result => result,
        };
        let result = result.map_err(|error| error.in_document(document));
        let start = self.decoder.offset();
        self.decoder.consume(len);
        result.map_err(|error| error.moved_by(start))
    }

    fn peek(&mut self) -> Result<Option<u8>> {
        Ok(if self.decoder.skip_space()? { self.behind() } else { None })
    }

    fn behind(&self) -> Option<u8> {
        self.decoder.pending().first().copied()
    }

    fn offset(&self) -> u64 {
        self.decoder.offset()
    }

    fn trailing(&mut self) -> Error {
        Error::new(Kind::Syntax(Syntax::Trailing), Some(self.offset()))
    }
}

impl<'de, R: private::Input<'de>> private::Input<'de> for &mut R {
    fn value<A: Action<'de>>(&mut self, state: &mut State, action: A) -> Result<A::Value> {
        (**self).value(state, action)
    }

    fn peek(&mut self) -> Result<Option<u8>> {
        (**self).peek()
    }

    fn behind(&self) -> Option<u8> {
        (**self).behind()
    }

    fn offset(&self) -> u64 {
        (**self).offset()
    }

    fn trailing(&mut self) -> Error {
        (**self).trailing()
    }
}

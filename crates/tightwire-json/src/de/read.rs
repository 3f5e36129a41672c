//! Input of a [`Deserializer`](super::Deserializer).

use std::{fmt, io};

use super::borrow::{Borrowed, Copied, Source};
use super::{Action, State};
use crate::codec::Codec;
use crate::error::{Error, Kind, Limit, Result, Syntax};
use crate::grammar::is_space;
use crate::sequence::{self, Decoder, Exact};

/// Input of a [`Deserializer`](super::Deserializer). Sealed: implemented by [`StrRead`], [`SliceRead`], [`IoRead`],
/// [`Decoder`] and mutable references to them.
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
        /// Returns the next byte, `None` at the end.
        fn behind(&mut self) -> Result<Option<u8>>;
        /// Returns the number of consumed bytes.
        fn offset(&self) -> u64;
        /// Returns the error for text behind the last value.
        fn trailing(&mut self) -> Error;
    }
}

/// Returns the number of bytes of white space (RFC 8259, section 2) at the start of `bytes`.
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

/// Input from bytes. Values before the first byte that is not UTF-8 can be decoded.
pub struct SliceRead<'a> {
    bytes: &'a [u8],
    /// The longest prefix of `bytes` that is UTF-8.
    text: &'a str,
    /// Whether a byte that is not UTF-8 follows, not only a truncated character.
    is_malformed: bool,
    /// Offset of the next byte.
    at: usize,
    lines: Lines,
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
        Self { bytes: slice, text, is_malformed, at: 0, lines: Lines::default() }
    }

    /// Skips white space and returns the offset behind it.
    fn skip_space(&mut self) -> usize {
        self.at += space(&self.text.as_bytes()[self.at..]);
        self.at
    }

    /// Returns the error at the end of the valid prefix. It concerns the value at the offset `start`.
    fn invalid(&self, start: usize) -> Error {
        match self.is_malformed {
            true => Error::syntax(Syntax::Utf8, self.text.len() - start),
            false => Error::eof(self.bytes.len() - start),
        }
    }
}

impl<'a> private::Input<'a> for SliceRead<'a> {
    fn value<A: Action<'a>>(&mut self, state: &mut State, action: A) -> Result<A::Value> {
        let start = self.skip_space();
        let (len, result) = run::<Borrowed, A>(&self.text[start..], state, action);
        self.at += len;
        result.map_err(|error| {
            let error = if error.is_eof() { self.invalid(start) } else { error };
            self.lines.locate(error, self.bytes, start)
        })
    }

    fn peek(&mut self) -> Result<Option<u8>> {
        let start = self.skip_space();
        match self.text.as_bytes().get(start) {
            None if start < self.bytes.len() => {
                Err(self.lines.locate(self.invalid(start), self.bytes, start))
            }
            next => Ok(next.copied()),
        }
    }

    fn behind(&mut self) -> Result<Option<u8>> {
        Ok(self.bytes.get(self.at).copied())
    }

    fn offset(&self) -> u64 {
        self.at as u64
    }

    fn trailing(&mut self) -> Error {
        self.lines.locate(Error::syntax(Syntax::Trailing, 0), self.bytes, self.at)
    }
}

impl Fused for SliceRead<'_> {}

impl fmt::Debug for SliceRead<'_> {
    /// Omits the bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SliceRead").field("offset", &self.at).finish_non_exhaustive()
    }
}

/// Input from a `str`.
#[derive(Debug)]
pub struct StrRead<'a>(SliceRead<'a>);

impl<'a> StrRead<'a> {
    /// Returns an input that starts at the first byte of `text`.
    pub fn new(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        Self(SliceRead { bytes, text, is_malformed: false, at: 0, lines: Lines::default() })
    }
}

impl Fused for StrRead<'_> {}

/// Input from a reader, which is left directly behind the last value, as by serde_json: what follows can be read from a
/// reader that was passed as `&mut reader`. Behind a number, one byte more is read.
///
/// Therefore, it often reads single bytes: wrap a file or socket in a [`BufReader`](io::BufReader), and use a [`Decoder`]
/// as input, which is faster.
///
/// Line and column of an error count from the start of its value. With the other inputs, they count from the start of
/// the input.
#[derive(Debug)]
pub struct IoRead<R>(Decoder<Exact<R>>);

impl<R: io::Read> IoRead<R> {
    /// Returns an input that reads from `reader`.
    pub fn new(reader: R) -> Self {
        Self(Decoder::of_input(Exact::new(reader), Codec::standard()))
    }
}

impl<'de, R: sequence::Input> private::Input<'de> for Decoder<R> {
    fn value<A: Action<'de>>(&mut self, state: &mut State, action: A) -> Result<A::Value> {
        self.codec = state.codec;
        let value = self.document(|document| {
            let (len, result) = match super::text(document, &state.codec.limits()) {
                Ok(text) => run::<Copied, A>(text, state, action),
                Err(error) => (0, Err(error)),
            };
            match result {
                Ok(_) if len < document.len() => Err(Error::syntax(Syntax::Trailing, len)),
                result => result,
            }
            .map_err(|error| error.in_document(document))
        })?;
        value.ok_or_else(|| Error::eof(0).in_document(b"").moved_by(self.offset()))
    }

    fn peek(&mut self) -> Result<Option<u8>> {
        self.peek()
    }

    fn behind(&mut self) -> Result<Option<u8>> {
        self.next_byte()
    }

    fn offset(&self) -> u64 {
        self.offset()
    }

    fn trailing(&mut self) -> Error {
        Error::new(Kind::Syntax(Syntax::Trailing), Some(self.offset()))
    }
}

macro_rules! forward {
    ($([$($generics:tt)*] $type:ty, $self:ident => $input:expr;)*) => {
        $(
            impl<'de, $($generics)*> private::Input<'de> for $type {
                fn value<A: Action<'de>>(&mut $self, state: &mut State, action: A) -> Result<A::Value> {
                    private::Input::value(&mut $input, state, action)
                }

                fn peek(&mut $self) -> Result<Option<u8>> {
                    private::Input::peek(&mut $input)
                }

                fn behind(&mut $self) -> Result<Option<u8>> {
                    private::Input::behind(&mut $input)
                }

                fn offset(&$self) -> u64 {
                    private::Input::offset(&$input)
                }

                fn trailing(&mut $self) -> Error {
                    private::Input::trailing(&mut $input)
                }
            }
        )*
    };
}

forward! {
    [] StrRead<'de>, self => self.0;
    [R: io::Read] IoRead<R>, self => self.0;
    [R: private::Input<'de>] &mut R, self => **self;
}

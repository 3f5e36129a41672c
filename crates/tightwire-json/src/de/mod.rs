//! Deserializer, and its inputs.
//!
//! The names are those of `serde_json::de`. Most programs only need the functions of the crate root.

// The parser is a serde deserializer over a document.
//
// `parser` has the position and the tokens between values, `string` and `number` parse these two, `skip` validates
// values without building them, `value` and `access` implement the traits of serde. UTF-8 is validated before parsing,
// so that strings without escapes are slices of the document. `source` tells whether decoded values may borrow them.

mod access;
mod borrow;
mod decimal;
mod deserializer;
mod duplicates;
pub(crate) mod engine;
mod extensions;
mod key;
mod number;
mod parser;
mod place;
mod read;
mod skip;
mod string;
mod tree;
mod value;

use std::cell::Cell;
use std::io::{self, Read as _};
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::DeserializeOwned;

pub use self::access::TYPE_FIRST;
use self::deserializer::{Action, State};
pub use self::deserializer::{Deserializer, StreamDeserializer};
use self::duplicates::superseded;
pub(crate) use self::number::{Number, leading_number};
use self::parser::Parser;
pub use self::read::{IoRead, Read, SliceRead, StrRead};
pub(crate) use self::skip::Levels;
use crate::codec::{Codec, Duplicates, Extensions, Limits};
use crate::error::{Error, Limit, Result, Syntax};
#[doc(no_inline)]
pub use crate::functions::{from_reader, from_slice, from_str};
use crate::grammar::string_len;
use crate::scan;

impl Codec {
    /// Decodes a document into a value that may borrow from it: strings without escapes become `&str`, or
    /// `Cow::Borrowed` in fields with `#[serde(borrow)]`. A string with escapes cannot be decoded into `&str`; use
    /// `Cow<str>`.
    ///
    /// # Errors
    ///
    /// [`Error::is_syntax`] if the document is not JSON in UTF-8, [`Error::is_eof`] if it is truncated,
    /// [`Error::is_limit`] if it exceeds a limit, [`Error::is_data`] if it is not a `T`. All have an offset, a line and
    /// a column. The first error in the document is reported, except that invalid UTF-8 takes precedence.
    pub fn from_slice<'a, T: Deserialize<'a>>(&self, document: &'a [u8]) -> Result<T> {
        decode(text(document, &self.limits)?, self)
    }

    /// Decodes a document into a value that may borrow from it. Skips the UTF-8 check of
    /// [`from_slice`](Self::from_slice).
    ///
    /// # Errors
    ///
    /// Same as [`from_slice`](Self::from_slice).
    pub fn from_str<'a, T: Deserialize<'a>>(&self, document: &'a str) -> Result<T> {
        check_len(document.as_bytes(), &self.limits)?;
        decode(document, self)
    }

    /// Reads to the end, then decodes. Reads at most one byte more than [`Limits::max_document`].
    ///
    /// Each thread keeps the buffer of its last document for the next one, unless it is larger than 64 KiB.
    ///
    /// # Errors
    ///
    /// Same as [`from_slice`](Self::from_slice), and [`Error::is_io`] if the reader fails.
    pub fn from_reader<R: io::Read, T: DeserializeOwned>(&self, reader: R) -> Result<T> {
        let bound = u64::try_from(self.limits.document).unwrap_or(u64::MAX).saturating_add(1);
        // A thread that is being destroyed has no buffer.
        let mut document = READ_BUFFER.try_with(Cell::take).unwrap_or_default();
        document.clear();
        document.reserve(INITIAL_CAPACITY);
        let read = reader.take(bound).read_to_end(&mut document).map_err(Error::io);
        let result = read.and_then(|_| self.from_slice(&document));
        if document.capacity() <= RETAINED_CAPACITY {
            let _ = READ_BUFFER.try_with(|buffer| buffer.set(document));
        }
        result
    }

    /// Checks that `document` is valid JSON within the limits.
    ///
    /// # Errors
    ///
    /// [`Error::is_syntax`], [`Error::is_eof`] and [`Error::is_limit`], as for [`from_slice`](Self::from_slice).
    pub fn validate(&self, document: &[u8]) -> Result<()> {
        let text = text(document, &self.limits)?;
        let skip = |parser: &mut Parser<'_, '_>| parser.skip_value(&mut ());
        match self.duplicates {
            // Without the search for entries that decoding skips: all of them are validated.
            Duplicates::Last => run(text, &self.with_duplicates(Duplicates::ByType), skip),
            Duplicates::ByType | Duplicates::Error => run(text, self, skip),
        }
    }

    /// Returns whether `document` is valid JSON within the limits.
    pub fn is_valid(&self, document: &[u8]) -> bool {
        self.validate(document).is_ok()
    }

    /// Returns the string at the start of `document` with its escapes resolved. An error has no path.
    // Part of `Codec`, because `ser` does not import this module.
    pub(crate) fn leading_string(document: &[u8]) -> Result<String> {
        let end = string_len(document).ok_or_else(|| Error::eof(document.len()))?;
        let mut parser = Parser::new(utf8(&document[..end])?, &Self::UNLIMITED);
        parser.key_start()?;
        Ok(parser.string()?.as_str().to_owned())
    }
}

/// Minimum capacity of the buffer of [`Codec::from_reader`], in bytes.
const INITIAL_CAPACITY: usize = 8 << 10;

/// Maximum capacity of a buffer that a thread keeps for the next document, in bytes.
const RETAINED_CAPACITY: usize = 64 << 10;

thread_local! {
    /// Buffer of the last document that [`Codec::from_reader`] read.
    static READ_BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Maximum length of documents that are checked for ASCII first, in bytes.
const SMALL: usize = 1024;

/// Returns the document as text after checking its length and UTF-8.
fn text<'a>(document: &'a [u8], limits: &Limits) -> Result<&'a str> {
    check_len(document, limits)?;
    // A smaller fixed cost than that of the vector engine.
    if document.len() <= SMALL
        && let Some(text) = scan::ascii(document)
    {
        return Ok(text);
    }
    utf8(document).map_err(|error| error.in_document(document))
}

/// Same as [`text`] without a limit, and without an error.
pub(crate) fn utf8_or_none(document: &[u8]) -> Option<&str> {
    if document.len() <= SMALL
        && let Some(text) = scan::ascii(document)
    {
        return Some(text);
    }
    simdutf8::basic::from_utf8(document).ok()
}

#[inline(always)]
fn utf8(document: &[u8]) -> Result<&str> {
    simdutf8::basic::from_utf8(document).or_else(|_| {
        std::str::from_utf8(document).map_err(|error| match error.error_len() {
            Some(_) => Error::syntax(Syntax::Utf8, error.valid_up_to()),
            None => Error::eof(document.len()),
        })
    })
}

/// Returns an error if the document is larger than the limit.
#[inline(always)]
fn check_len(document: &[u8], limits: &Limits) -> Result<()> {
    if document.len() > limits.document { Err(too_large(document, limits.document)) } else { Ok(()) }
}

#[cold]
fn too_large(document: &[u8], limit: usize) -> Error {
    Error::over_limit(Limit::Document, limit, limit as u64).in_document(document)
}

/// Decodes exactly one document. An error of a `Deserialize` implementation is final: the document is not decoded a
/// second time.
#[inline]
fn decode<'de, T: Deserialize<'de>>(text: &'de str, codec: &Codec) -> Result<T> {
    run(text, codec, |parser| parser.value(PhantomData))
}

/// Runs `action` on exactly one document.
#[inline]
fn run<'t, T>(
    text: &'t str,
    codec: &Codec,
    action: impl FnOnce(&mut Parser<'t, '_>) -> Result<T>,
) -> Result<T> {
    let plain;
    let mut document = text;
    let mut start = 0;
    if codec.extensions != Extensions::NONE {
        plain = codec.extensions.plain(text);
        (document, start) = (&plain, codec.extensions.start(text));
    }
    let superseded = match superseded(document, codec) {
        Ok(superseded) => superseded,
        Err(error) => return Err(error.in_document(document.as_bytes())),
    };
    let mut parser = Parser::new(text, codec);
    parser.bytes = document.as_bytes();
    parser.at = start;
    parser.superseded = &superseded;
    let error = match action(&mut parser) {
        Ok(value) => match parser.end() {
            Ok(()) => return Ok(value),
            Err(error) => error,
        },
        Err(error) => error,
    };
    Err(error.in_document(parser.bytes))
}

/// Decodes a number, which is the whole text. An error has no path.
pub(crate) fn number(text: &str) -> Result<Number> {
    match leading_number(text.as_bytes()) {
        Some((number, _)) => Ok(number),
        None => Parser::new(text, &Codec::UNLIMITED).number(),
    }
}

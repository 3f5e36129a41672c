//! Deserializer, and its inputs.
//!
//! The names are those of `serde_json::de`. Most programs only need the functions of the crate root.

// The parser is a serde deserializer over a document.
//
// `parser` has the position and the tokens between values, `string` and `number` parse these two, `skip` validates
// values without building them, `value` and `access` implement the traits of serde. UTF-8 is validated before parsing,
// so that strings without escapes are slices of the document. `source` tells whether decoded values may borrow them.

mod access;
mod decimal;
mod deserializer;
mod duplicates;
mod extensions;
mod key;
mod number;
mod parser;
mod place;
mod read;
mod skip;
mod source;
mod string;
mod tree;
mod value;

use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::IgnoredAny;

pub use self::access::TYPE_FIRST;
use self::deserializer::{Action, State};
pub use self::deserializer::{Deserializer, StreamDeserializer};
use self::duplicates::superseded;
pub(crate) use self::extensions::Extensions;
pub(crate) use self::number::{Number, leading_number};
use self::parser::Parser;
pub use self::read::{IoRead, Read, SliceRead, StrRead};
pub(crate) use self::skip::Levels;
use crate::codec::Limits;
use crate::error::{Error, Limit, Result, Syntax};
#[doc(no_inline)]
pub use crate::functions::{from_reader, from_slice, from_str};
use crate::scan;

/// Options of decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) limits: Limits,
    pub(crate) lone_surrogate: LoneSurrogate,
    pub(crate) duplicates: Duplicates,
    pub(crate) byte_strings: ByteStrings,
    /// Whether numbers of trees keep their text.
    pub(crate) keeps_numbers: bool,
    pub(crate) extensions: Extensions,
}

impl Rules {
    /// Only for parsing without recursion, of text that this program produced or that is already in memory.
    pub(crate) const UNLIMITED: Self = Self {
        limits: Limits { depth: usize::MAX, document: usize::MAX, string: usize::MAX },
        lone_surrogate: LoneSurrogate::Replace,
        duplicates: Duplicates::ByType,
        byte_strings: ByteStrings::Utf8,
        keeps_numbers: false,
        extensions: Extensions::NONE,
    };
}

/// How a string is decoded into a byte buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByteStrings {
    /// As the UTF-8 bytes of the string, like serde_json.
    Utf8,
    /// As base64 (RFC 4648, section 4), like Go.
    Base64,
}

/// Handling of lone surrogates (section 8.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoneSurrogate {
    /// Reports a syntax error.
    Error,
    /// Replaces it with U+FFFD.
    Replace,
}

/// How duplicate keys of an object are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Duplicates {
    /// The type decides, as with serde_json: a derived struct rejects a duplicate field, maps and
    /// [`Value`](crate::Value) keep the last value.
    #[default]
    ByType,
    /// Structs and maps use the last value, as in Go. Earlier entries are skipped; their values must be valid JSON but
    /// may have any type. Costs an additional pass over the document.
    Last,
    /// The document is rejected with an error at the second key. Costs an additional pass over the document.
    Error,
}

/// Maximum length of documents that are checked for ASCII first, in bytes.
const SMALL: usize = 1024;

/// Returns the document as text after checking its length and UTF-8.
pub(crate) fn text<'a>(document: &'a [u8], limits: &Limits) -> Result<&'a str> {
    check_len(document, limits)?;
    // A smaller fixed cost than that of the vector engine.
    if document.len() <= SMALL
        && let Some(text) = scan::ascii(document)
    {
        return Ok(text);
    }
    utf8(document).map_err(|error| error.in_document(document))
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
pub(crate) fn check_len(document: &[u8], limits: &Limits) -> Result<()> {
    if document.len() > limits.document { Err(too_large(document, limits.document)) } else { Ok(()) }
}

#[cold]
fn too_large(document: &[u8], limit: usize) -> Error {
    Error::over_limit(Limit::Document, limit, limit as u64).in_document(document)
}

/// Decodes exactly one document. An error of a `Deserialize` implementation is final: the document is not decoded a
/// second time.
#[inline]
pub(crate) fn decode<'de, T: Deserialize<'de>>(text: &'de str, rules: &Rules) -> Result<T> {
    let plain;
    let mut document = text;
    let mut start = 0;
    if rules.extensions != Extensions::NONE {
        plain = rules.extensions.plain(text);
        (document, start) = (&plain, rules.extensions.start(text));
    }
    let superseded = match superseded(document, rules) {
        Ok(superseded) => superseded,
        Err(error) => return Err(error.in_document(document.as_bytes())),
    };
    let mut parser = Parser::new(text, rules);
    parser.bytes = document.as_bytes();
    parser.at = start;
    parser.superseded = &superseded;
    let error = match parser.value(PhantomData) {
        Ok(value) => match parser.end() {
            Ok(()) => return Ok(value),
            Err(error) => error,
        },
        Err(error) => error,
    };
    Err(error.in_document(parser.bytes))
}

/// Checks that `text` is exactly one document.
pub(crate) fn validate(text: &str, rules: &Rules) -> Result<()> {
    let mut rules = *rules;
    // Skipped values may have duplicate keys.
    if rules.duplicates == Duplicates::Last {
        rules.duplicates = Duplicates::ByType;
    }
    decode::<IgnoredAny>(text, &rules).map(|_| ())
}

/// Returns the string at the start of `document` with its escapes resolved. An error has no path.
pub(crate) fn leading_string(document: &[u8]) -> Result<String> {
    let end = string_len(document).ok_or_else(|| Error::eof(document.len()))?;
    let mut parser = Parser::new(utf8(&document[..end])?, &Rules::UNLIMITED);
    parser.key_start()?;
    Ok(parser.string()?.as_str().to_owned())
}

/// Decodes a number, which is the whole text. An error has no path.
pub(crate) fn number(text: &str) -> Result<Number> {
    Parser::new(text, &Rules::UNLIMITED).number()
}

/// Returns the length of the string at the start of `document`, including its quotes.
pub(crate) fn string_len(document: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', document.get(at..)?)?;
        match document[at] {
            b'"' => return Some(at + 1),
            _ => at += 2,
        }
    }
}

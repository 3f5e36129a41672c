//! Decoder: a serde deserializer over a document.
//!
//! `parser` has the position and the tokens between values, `string` and `number` parse these two, `skip` validates
//! values without building them, `value` and `access` implement the traits of serde. UTF-8 is validated before
//! parsing, so that strings without escapes are slices of the document.

mod access;
mod decimal;
mod duplicates;
mod key;
mod number;
mod parser;
mod rules;
mod skip;
mod string;
#[cfg(any(feature = "serde-json", feature = "simd-json"))]
mod survey;
mod value;

use serde::Deserialize;

use self::duplicates::superseded;
use self::parser::Parser;
pub use self::rules::Duplicates;
pub(crate) use self::rules::{ByteStrings, LoneSurrogate, Rules};
#[cfg(any(feature = "serde-json", feature = "simd-json"))]
pub(crate) use self::survey::survey;
use crate::error::{Error, Kind, Limit, Result, Syntax};
use crate::limits::Limits;

/// Returns the document as text after checking its length and UTF-8.
pub(crate) fn text<'a>(document: &'a [u8], limits: &Limits) -> Result<&'a str> {
    check_len(document.len(), limits)?;
    simdutf8::basic::from_utf8(document).or_else(|_| {
        std::str::from_utf8(document).map_err(|error| match error.error_len() {
            Some(_) => Error::syntax(Syntax::Utf8, error.valid_up_to()),
            None => Error::eof(document.len()),
        })
    })
}

/// Returns an error if a document of `len` bytes exceeds the limit.
pub(crate) fn check_len(len: usize, limits: &Limits) -> Result<()> {
    if len > limits.document {
        return Err(Error::new(Kind::Limit(Limit::Document, limits.document), Some(limits.document as u64)));
    }
    Ok(())
}

/// Decodes exactly one document. Never retries: an error of a `Deserialize` implementation is final.
#[inline]
pub(crate) fn decode<'de, T: Deserialize<'de>>(text: &'de str, rules: &Rules) -> Result<T> {
    if rules.duplicates == Duplicates::Error {
        duplicates::reject(text, rules)?;
    }
    let superseded = match rules.duplicates {
        Duplicates::Last => superseded(text, rules),
        Duplicates::ByType | Duplicates::Error => Vec::new(),
    };
    let mut parser = Parser::new(text, &rules.limits, rules.lone_surrogate);
    parser.superseded = &superseded;
    parser.byte_strings = rules.byte_strings;
    let value = T::deserialize(&mut parser)?;
    parser.end()?;
    Ok(value)
}

/// Checks that `text` is exactly one document.
pub(crate) fn validate(text: &str, rules: &Rules) -> Result<()> {
    if rules.duplicates == Duplicates::Error {
        return duplicates::reject(text, rules);
    }
    let mut parser = Parser::new(text, &rules.limits, rules.lone_surrogate);
    parser.skip_value(&mut ())?;
    parser.end()
}

/// Returns the string at the start of `document` with its escapes resolved.
pub(crate) fn leading_string(document: &[u8]) -> Result<String> {
    let end = string_len(document).ok_or_else(|| Error::eof(document.len()))?;
    let limits = Limits::unlimited();
    let mut parser = Parser::new(text(&document[..end], &limits)?, &limits, LoneSurrogate::Replace);
    parser.key_start()?;
    Ok(parser.string()?.as_str().to_owned())
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

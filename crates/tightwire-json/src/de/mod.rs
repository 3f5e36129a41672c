//! The decoder: a serde deserializer over a byte slice.
//!
//! `parser` is the position in the text and what surrounds values, `string` and `number` are the grammar of those,
//! `skip` passes over whole values, `value` and `access` are what serde sees. The text is UTF-8 before parsing
//! begins, so that strings without escapes are slices of it.

mod access;
mod decimal;
mod duplicates;
mod in_place;
mod key;
mod number;
mod parser;
mod skip;
mod string;
#[cfg(any(feature = "serde-json", feature = "simd-json"))]
mod survey;
mod value;

use serde::Deserialize;

pub use self::duplicates::Duplicates;
use self::duplicates::superseded;
use self::in_place::Rewritten;
pub(crate) use self::in_place::decode_in_place;
use self::parser::Parser;
pub(crate) use self::string::Lone;
#[cfg(any(feature = "serde-json", feature = "simd-json"))]
pub(crate) use self::survey::survey;
use crate::error::{Error, Kind, Limit, Result, Syntax};
use crate::limits::Limits;

/// How documents are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) limits: Limits,
    pub(crate) lone: Lone,
    pub(crate) duplicates: Duplicates,
    pub(crate) bytes: BytesForm,
}

/// How a string is read where a type asks for bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BytesForm {
    /// The bytes of the text, as serde_json does.
    Text,
    /// Base64 (RFC 4648, section 4), as Go does.
    Base64,
}

/// The document as text, if it is within the limit and UTF-8.
pub(crate) fn text<'a>(document: &'a [u8], limits: &Limits) -> Result<&'a str> {
    check_len(document.len(), limits)?;
    simdutf8::basic::from_utf8(document).or_else(|_| {
        std::str::from_utf8(document).map_err(|error| match error.error_len() {
            Some(_) => Error::syntax(Syntax::Utf8, error.valid_up_to()),
            None => Error::eof(document.len()),
        })
    })
}

/// Refuses documents beyond the limit.
pub(crate) fn check_len(len: usize, limits: &Limits) -> Result<()> {
    if len > limits.document {
        return Err(Error::new(Kind::Limit(Limit::Document, limits.document), Some(limits.document as u64)));
    }
    Ok(())
}

/// Decodes a document with nothing but white space around it.
#[inline]
pub(crate) fn decode<'de, T: Deserialize<'de>>(text: &'de str, rules: &Rules) -> Result<T> {
    if rules.duplicates == Duplicates::Error {
        duplicates::refuse(text, rules)?;
    }
    decode_rewritten(text, rules, &[])
}

/// Decodes once: the verdict of a `Deserialize` implementation is final.
fn decode_rewritten<'de, T: Deserialize<'de>>(
    text: &'de str,
    rules: &Rules,
    rewritten: &[Rewritten],
) -> Result<T> {
    let superseded = match rules.duplicates {
        Duplicates::Last => superseded(text, rules, rewritten),
        Duplicates::ByType | Duplicates::Error => Vec::new(),
    };
    let mut parser = Parser::new(text, &rules.limits, rules.lone);
    parser.rewritten = rewritten;
    parser.superseded = &superseded;
    parser.bytes_form = rules.bytes;
    let value = T::deserialize(&mut parser)?;
    parser.end()?;
    Ok(value)
}

/// Checks that `text` is one document.
pub(crate) fn validate(text: &str, rules: &Rules) -> Result<()> {
    if rules.duplicates == Duplicates::Error {
        return duplicates::refuse(text, rules);
    }
    let mut parser = Parser::new(text, &rules.limits, rules.lone);
    parser.skip_value(&mut ())?;
    parser.end()
}

/// The text of the string at the start of `document`, without its escapes.
pub(crate) fn leading_string(document: &[u8]) -> Result<String> {
    let end = string_len(document).ok_or_else(|| Error::eof(document.len()))?;
    let limits = Limits::unlimited();
    let mut parser = Parser::new(text(&document[..end], &limits)?, &limits, Lone::Replace);
    parser.key_start()?;
    Ok(parser.string()?.as_str().to_owned())
}

/// Length of the string at the start of `document`, with its quotes.
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

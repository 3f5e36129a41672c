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

use std::borrow::Cow;

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

fn decode_rewritten<'de, T: Deserialize<'de>>(
    text: &'de str,
    rules: &Rules,
    rewritten: &[Rewritten],
) -> Result<T> {
    decode_once(text, rules, rewritten, &[]).or_else(|error| {
        if !error.is_data() {
            return Err(error);
        }
        // serde's derived structs refuse a field that comes twice. Only documents that fail pay for being looked
        // through for such keys.
        let superseded = superseded(text, rules, rewritten);
        if superseded.is_empty() { Err(error) } else { decode_once(text, rules, rewritten, &superseded) }
    })
}

fn decode_once<'de, T: Deserialize<'de>>(
    text: &'de str,
    rules: &Rules,
    rewritten: &[Rewritten],
    superseded: &[usize],
) -> Result<T> {
    let mut parser = Parser::new(text, &rules.limits, rules.lone);
    parser.rewritten = rewritten;
    parser.superseded = superseded;
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

/// The entries of an object without its braces: each key and the text of the whole entry.
pub(crate) fn entries(text: &[u8]) -> Result<Vec<(Cow<'_, str>, &[u8])>> {
    let limits = Limits::unlimited();
    let text = self::text(text, &limits)?;
    let mut parser = Parser::new(text, &limits, Lone::Replace);
    let mut entries = Vec::new();
    loop {
        let start = parser.key_start()?;
        let key = Cow::Owned(parser.string()?.as_str().to_owned());
        parser.colon()?;
        parser.skip_value(&mut ())?;
        entries.push((key, &text.as_bytes()[start..parser.position()]));
        if !parser.comma() {
            return Ok(entries);
        }
    }
}

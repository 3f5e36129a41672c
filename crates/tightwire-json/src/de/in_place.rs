//! Documents whose escapes are resolved where they are.

use std::ops::Range;

use serde::Deserialize;

use super::parser::Parser;
use super::skip::Observer;
use super::{Rules, decode, decode_rewritten, validate};
use crate::error::Result;
use crate::scan::{Json, push_string};

/// Stands before the text of a string that was rewritten. No valid string has it, and the search for the end of a
/// string stops there; escapes are longer than what they stand for, so that there is room for it.
const MARK: u8 = 0x01;

/// A string that was rewritten: the mark, its text, spaces up to its last quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rewritten {
    /// Where the mark is.
    start: usize,
    /// Behind the text.
    end: usize,
    /// Where the last quote is.
    quote: usize,
}

/// Where the strings with escapes are, between their quotes.
#[derive(Default)]
struct Escaped(Vec<Range<usize>>);

impl Observer for Escaped {
    fn string(&mut self, text: &str, body: Range<usize>) {
        if memchr::memchr(b'\\', &text.as_bytes()[body.clone()]).is_some() {
            self.0.push(body);
        }
    }
}

/// Decodes a document that may be overwritten.
pub(crate) fn decode_in_place<'de, T: Deserialize<'de>>(document: &'de mut [u8], rules: &Rules) -> Result<T> {
    let text = super::text(document, &rules.limits)?;
    let mut escaped = Escaped::default();
    // What is malformed must be left as it is, for the error to be the same as elsewhere.
    if memchr::memchr(b'\\', document).is_some() && validate(text, rules).is_ok() {
        Parser::new(text, &rules.limits, rules.lone).skip_value(&mut escaped)?;
    }
    if escaped.0.is_empty() {
        return decode(super::text(document, &rules.limits)?, rules);
    }
    let rewritten: Vec<Rewritten> =
        escaped.0.into_iter().map(|body| rewrite(document, body, rules)).collect::<Result<_>>()?;
    let text = super::text(document, &rules.limits)?;
    decode_rewritten(text, rules, &rewritten)
}

/// Replaces a string with escapes by its text.
fn rewrite(document: &mut [u8], body: Range<usize>, rules: &Rules) -> Result<Rewritten> {
    let quoted = super::text(&document[body.start - 1..=body.end], &rules.limits)?;
    let mut parser = Parser::new(quoted, &rules.limits, rules.lone);
    parser.at = 1;
    let resolved = parser.string()?.as_str().to_owned();
    let end = body.start + 1 + resolved.len();
    document[body.start] = MARK;
    document[body.start + 1..end].copy_from_slice(resolved.as_bytes());
    document[end..body.end].fill(b' ');
    Ok(Rewritten { start: body.start, end, quote: body.end })
}

impl<'de> Parser<'de, '_> {
    /// Passes the string whose text begins at `start`, if it was rewritten.
    pub(super) fn rewritten_string(&mut self, start: usize) -> Option<&'de str> {
        let index = self.rewritten.binary_search_by_key(&start, |string| string.start).ok()?;
        let string = self.rewritten[index];
        self.at = string.quote + 1;
        Some(&self.text[string.start + 1..string.end])
    }

    /// The text of a value with the escapes that it needs, if it has strings that were rewritten.
    pub(super) fn restored(&self, value: Range<usize>) -> Option<String> {
        let first = self.rewritten.partition_point(|string| string.start < value.start);
        let count = self.rewritten[first..].iter().take_while(|string| string.start < value.end).count();
        if count == 0 {
            return None;
        }
        let mut restored = Vec::new();
        let mut at = value.start;
        for string in &self.rewritten[first..first + count] {
            restored.extend_from_slice(&self.bytes[at..string.start - 1]);
            push_string::<Json>(&mut restored, &self.text[string.start + 1..string.end]);
            at = string.quote + 1;
        }
        restored.extend_from_slice(&self.bytes[at..value.end]);
        String::from_utf8(restored).ok()
    }
}

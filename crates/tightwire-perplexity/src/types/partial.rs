//! Incremental decoding of JSON text that a stream appends to.

use std::mem;

use tightwire_json::partial::Parser;
use tightwire_json::{Result, Value};

/// Parser of a growing text. Parses nothing until it is used.
#[derive(Debug, Clone, Default)]
pub(crate) struct GrowingJson {
    parser: Parser,
    /// Number of bytes of the text parsed so far.
    parsed: usize,
}

/// Always equal, because the value follows from the text.
impl PartialEq for GrowingJson {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl GrowingJson {
    /// Parses the text that has been appended since the last call.
    pub(crate) fn update(&mut self, text: &str) -> Result<&Parser> {
        let appended = text.get(self.parsed..).unwrap_or_default();
        self.parsed = text.len();
        self.parser.push(appended)?;
        Ok(&self.parser)
    }

    /// Parses the rest of the text and returns its value. The next call starts from the beginning.
    pub(crate) fn finish(&mut self, text: &str) -> Result<Value> {
        self.update(text)?;
        mem::take(self).parser.finish()
    }

    /// Replaces the text. Starts from the beginning, unless the new text begins with the parsed part of the old one.
    pub(crate) fn replace(&mut self, old: &str, new: &str) {
        let parsed = old.as_bytes().get(..self.parsed).unwrap_or_default();
        if !new.as_bytes().starts_with(parsed) {
            *self = Self::default();
        }
    }
}

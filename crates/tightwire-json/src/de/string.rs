//! Strings (RFC 8259, section 7).

use super::LoneSurrogate;
use super::parser::Parser;
use crate::error::{Error, Kind, Limit, Result, Syntax};
use crate::scan;

/// String of a document.
#[derive(Debug, Clone, Copy)]
pub(super) enum Text<'t, 's> {
    /// Slice of the document: the string has no escapes.
    Borrowed(&'t str),
    /// Copy in the scratch buffer, with its escapes resolved.
    Unescaped(&'s str),
}

impl Text<'_, '_> {
    pub(super) fn as_str(&self) -> &str {
        match self {
            Text::Borrowed(text) | Text::Unescaped(text) => text,
        }
    }
}

/// Output of a string whose escapes are resolved. `()` discards it.
trait Sink {
    fn text(&mut self, text: &str);
    fn char(&mut self, char: char);
}

impl Sink for String {
    fn text(&mut self, text: &str) {
        self.push_str(text);
    }

    fn char(&mut self, char: char) {
        self.push(char);
    }
}

impl Sink for () {
    fn text(&mut self, _text: &str) {}

    fn char(&mut self, _char: char) {}
}

/// Initial capacity of the scratch buffer, in bytes, unless the rest of the document is shorter.
const SCRATCH_CAPACITY: usize = 256;

impl<'t, M> Parser<'t, '_, M> {
    /// Reads a string. The parser is positioned after the opening quote.
    #[inline(always)]
    pub(super) fn string(&mut self) -> Result<Text<'t, '_>> {
        let start = self.at;
        let end = scan::find(self.bytes, start);
        if self.bytes.get(end) == Some(&b'"') && end - start <= self.string_limit {
            self.at = end + 1;
            Ok(Text::Borrowed(&self.text[start..end]))
        } else {
            self.string_with_escapes(start)
        }
    }

    #[inline(never)]
    fn string_with_escapes(&mut self, start: usize) -> Result<Text<'t, '_>> {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.reserve((self.bytes.len() - start).min(SCRATCH_CAPACITY));
        let result = self.walk_string(start, &mut scratch);
        self.scratch = scratch;
        result?;
        Ok(Text::Unescaped(&self.scratch))
    }

    /// Validates and consumes a string. The parser is positioned after the opening quote.
    #[inline(always)]
    pub(super) fn skip_string(&mut self) -> Result<()> {
        let start = self.at;
        let end = scan::find(self.bytes, start);
        if self.bytes.get(end) == Some(&b'"') && end - start <= self.string_limit {
            self.at = end + 1;
            Ok(())
        } else {
            self.skip_string_with_escapes(start)
        }
    }

    #[inline(never)]
    fn skip_string_with_escapes(&mut self, start: usize) -> Result<()> {
        self.walk_string(start, &mut ())
    }

    /// Reads a string from `start`, the offset after the opening quote, and consumes the closing quote.
    fn walk_string(&mut self, start: usize, sink: &mut impl Sink) -> Result<()> {
        self.at = start;
        loop {
            let special = scan::find(self.bytes, self.at);
            sink.text(&self.text[self.at..special]);
            self.at = special;
            match self.bytes.get(special) {
                Some(b'"') => break,
                Some(b'\\') => self.escape(sink)?,
                _ => return Err(self.unexpected(Syntax::Control)),
            }
        }
        if self.at - start > self.string_limit {
            let limit = Kind::Limit(Limit::String, self.string_limit);
            return Err(Error::new(limit, Some(start as u64 - 1)));
        }
        self.at += 1;
        Ok(())
    }

    /// Reads the escape at the current position.
    fn escape(&mut self, sink: &mut impl Sink) -> Result<()> {
        let backslash = self.at;
        self.at += 1;
        sink.char(match self.bytes.get(self.at) {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(*byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                let char = self.unicode(backslash)?;
                sink.char(char);
                return Ok(());
            }
            _ => return Err(self.unexpected(Syntax::Escape)),
        });
        self.at += 1;
        Ok(())
    }

    /// Reads the four digits after `\u`, and the low surrogate after a high one.
    fn unicode(&mut self, backslash: usize) -> Result<char> {
        let unit = self.hex()?;
        let code = match unit {
            0xd800..=0xdbff if self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(b"\\u")) => {
                let second_escape = self.at;
                self.at += 2;
                let low = self.hex()?;
                if matches!(low, 0xdc00..=0xdfff) {
                    0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
                } else {
                    // The second escape is a separate character.
                    self.at = second_escape;
                    unit
                }
            }
            _ => unit,
        };
        match (char::from_u32(code), self.lone_surrogate) {
            (Some(char), _) => Ok(char),
            (None, LoneSurrogate::Replace) => Ok(char::REPLACEMENT_CHARACTER),
            (None, LoneSurrogate::Error) => {
                // In a truncated document, the next escape may have completed the pair.
                let rest = &self.bytes[self.at..];
                if code < 0xdc00 && (rest.is_empty() || rest == b"\\") {
                    return Err(self.eof());
                }
                Err(Error::syntax(Syntax::Surrogate, backslash))
            }
        }
    }

    /// Reads four hexadecimal digits.
    fn hex(&mut self) -> Result<u32> {
        let mut value = 0;
        for _ in 0..4 {
            let digit = self.bytes.get(self.at).and_then(|byte| char::from(*byte).to_digit(16));
            let Some(digit) = digit else { return Err(self.unexpected(Syntax::Escape)) };
            value = value << 4 | digit;
            self.at += 1;
        }
        Ok(value)
    }
}

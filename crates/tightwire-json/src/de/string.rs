//! Strings (RFC 8259, section 7).

use super::parser::Parser;
use crate::error::{Error, Kind, Limit, Result, Syntax};
use crate::scan;

/// What becomes of half a surrogate pair (section 8.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lone {
    /// An error.
    Error,
    /// U+FFFD.
    Replace,
}

/// A string of the document.
#[derive(Debug, Clone, Copy)]
pub(super) enum Text<'de, 's> {
    /// A part of the document.
    Borrowed(&'de str),
    /// The string had escapes.
    Scratch(&'s str),
}

impl Text<'_, '_> {
    pub(super) fn as_str(&self) -> &str {
        match self {
            Text::Borrowed(text) | Text::Scratch(text) => text,
        }
    }
}

/// Receives a string with its escapes resolved.
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

/// What the first string with escapes gets in advance, in bytes, unless the document is shorter. Most such strings then
/// never make the buffer grow.
const ROOM: usize = 256;

impl<'de> Parser<'de, '_> {
    /// Reads a string whose first quote is passed.
    #[inline(always)]
    pub(super) fn string(&mut self) -> Result<Text<'de, '_>> {
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
    fn string_with_escapes(&mut self, start: usize) -> Result<Text<'de, '_>> {
        if let Some(text) = self.rewritten_string(start) {
            return Ok(Text::Borrowed(text));
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.reserve((self.bytes.len() - start).min(ROOM));
        let result = self.walk_string(start, &mut scratch);
        self.scratch = scratch;
        result?;
        Ok(Text::Scratch(&self.scratch))
    }

    /// Checks and passes a string whose first quote is passed.
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
        if self.rewritten_string(start).is_some() {
            return Ok(());
        }
        self.walk_string(start, &mut ())
    }

    /// Reads from `start`, behind the first quote, to behind the last.
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

    /// Reads the four digits behind `\u`, and the second half of a surrogate pair behind the first.
    fn unicode(&mut self, backslash: usize) -> Result<char> {
        let unit = self.hex()?;
        let code = match unit {
            0xd800..=0xdbff if self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(b"\\u")) => {
                let behind_first = self.at;
                self.at += 2;
                let second = self.hex()?;
                if matches!(second, 0xdc00..=0xdfff) {
                    0x10000 + ((unit - 0xd800) << 10) + (second - 0xdc00)
                } else {
                    // The second escape is a character of its own.
                    self.at = behind_first;
                    unit
                }
            }
            _ => unit,
        };
        match (char::from_u32(code), self.lone) {
            (Some(char), _) => Ok(char),
            (None, Lone::Replace) => Ok(char::REPLACEMENT_CHARACTER),
            (None, Lone::Error) => {
                // A string that is cut off inside its next escape may have been a pair.
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

//! Strings (RFC 8259, section 7).

use super::parser::Parser;
use crate::error::{Error, Limit, Result, Syntax};
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
    /// Appends `text` from the offset `from` to a special byte, and returns its offset. May resolve escapes before it.
    fn text(&mut self, text: &str, bytes: &[u8], from: usize) -> usize;
    fn char(&mut self, char: char);
}

impl Sink for String {
    #[inline(always)]
    fn text(&mut self, text: &str, _bytes: &[u8], from: usize) -> usize {
        scan::push_unescaped(self, text, from)
    }

    #[inline(always)]
    fn char(&mut self, char: char) {
        self.push(char);
    }
}

impl Sink for () {
    #[inline(always)]
    fn text(&mut self, _text: &str, bytes: &[u8], from: usize) -> usize {
        scan::find(bytes, from)
    }

    fn char(&mut self, _char: char) {}
}

/// Values of hexadecimal digits, and 255 for all other characters.
static HEX: [u8; 256] = {
    let mut table = [u8::MAX; 256];
    let mut value = 0;
    while value < 16 {
        table[b"0123456789abcdef"[value] as usize] = value as u8;
        table[b"0123456789ABCDEF"[value] as usize] = value as u8;
        value += 1;
    }
    table
};

/// Initial capacity of the scratch buffer, in bytes, unless the rest of the document is shorter.
const SCRATCH_CAPACITY: usize = 256;

impl<'t, M> Parser<'t, '_, M> {
    /// Reads a string. The parser is positioned after the opening quote.
    #[inline(always)]
    pub(super) fn string(&mut self) -> Result<Text<'t, '_>> {
        let start = self.at;
        let (text, end) = match scan::quoted(self.text, start) {
            Ok(text) if text.len() <= self.string_limit => (Some(text), start + text.len() + 1),
            _ => (None, self.string_with_escapes(start)?),
        };
        // In both cases, so that the compiler keeps the position in a register.
        self.at = end;
        Ok(match text {
            Some(text) => Text::Borrowed(text),
            None => Text::Unescaped(&self.scratch),
        })
    }

    /// Reads a string of any length and with any escapes into the scratch buffer. `start` is the offset after the opening
    /// quote. Returns the offset after the string.
    #[inline(never)]
    pub(super) fn string_with_escapes(&mut self, start: usize) -> Result<usize> {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.reserve((self.bytes.len() - start).min(SCRATCH_CAPACITY));
        self.at = start;
        let result = self.walk_string(start, &mut scratch);
        self.scratch = scratch;
        result?;
        Ok(self.at)
    }

    /// Validates and consumes a string. The parser is positioned after the opening quote.
    #[inline(always)]
    pub(super) fn skip_string(&mut self) -> Result<()> {
        self.at = self.string_end(self.at)?;
        Ok(())
    }

    /// Validates the string after the opening quote, and returns the position after the closing quote.
    #[inline(always)]
    pub(super) fn string_end(&mut self, start: usize) -> Result<usize> {
        let end = scan::find(self.bytes, start);
        if self.bytes.get(end) == Some(&b'"') && end - start <= self.string_limit {
            return Ok(end + 1);
        }
        self.end_of_string_with_escapes(start, end)
    }

    /// Same as [`string_end`](Self::string_end) for a string with the first special byte at `special`.
    #[inline(never)]
    fn end_of_string_with_escapes(&mut self, start: usize, special: usize) -> Result<usize> {
        self.at = special;
        self.walk_string(start, &mut ())?;
        Ok(self.at)
    }

    /// Reads the rest of the string that begins at `start`, the offset after the opening quote, and consumes the closing
    /// quote.
    fn walk_string(&mut self, start: usize, sink: &mut impl Sink) -> Result<()> {
        loop {
            self.at = sink.text(self.text, self.bytes, self.at);
            match self.bytes.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => self.escape(sink)?,
                _ => return Err(self.unexpected(Syntax::Control)),
            }
        }
        if self.at - start > self.string_limit {
            return Err(Error::over_limit(Limit::String, self.string_limit, start as u64 - 1));
        }
        self.at += 1;
        Ok(())
    }

    /// Reads the escape at the current position.
    #[inline(always)]
    fn escape(&mut self, sink: &mut impl Sink) -> Result<()> {
        let backslash = self.at;
        self.at += 1;
        match self.bytes.get(self.at).map(|byte| (byte, scan::SHORT_ESCAPES[usize::from(*byte)])) {
            Some((_, char @ 1..)) => {
                self.at += 1;
                sink.char(char::from(char));
            }
            Some((b'u', _)) => {
                self.at += 1;
                let char = self.unicode(backslash)?;
                sink.char(char);
            }
            _ => return Err(self.unexpected(Syntax::Escape)),
        }
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
        match (char::from_u32(code), self.codec.is_compat()) {
            (Some(char), _) => Ok(char),
            (None, true) => Ok(char::REPLACEMENT_CHARACTER),
            (None, false) => {
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
        let digit = |byte: u8| u32::from(HEX[usize::from(byte)]);
        if let Some([a, b, c, d]) = scan::chunk(self.bytes, self.at).map(|four: &[u8; 4]| four.map(digit))
            && (a | b | c | d) < 16
        {
            self.at += 4;
            return Ok(a << 12 | b << 8 | c << 4 | d);
        }
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at += rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        Err(self.unexpected(Syntax::Escape))
    }
}

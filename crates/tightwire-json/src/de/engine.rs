//! Tokens of a document, for [`engine`](crate::engine).

pub use super::number::Number;
use super::parser::Parser;
use crate::codec::Codec;
pub use crate::grammar::{NumberState, NumberStep};
use crate::scan;

static CODEC: Codec = Codec::strict().with_limits(Codec::UNLIMITED.limits());

/// Document and the current position. A method that returns `None` or `false` leaves the position unchanged: the caller
/// finds the error in the bytes.
#[allow(missing_debug_implementations, reason = "would show the document")]
pub struct Tokens<'t>(Parser<'t, 't>);

impl<'t> Tokens<'t> {
    /// Returns the tokens of a text.
    #[inline]
    pub fn of_text(text: &'t str) -> Self {
        Self(Parser::new(text, &CODEC))
    }

    /// Returns the tokens of bytes that may not be UTF-8. [`string`](Self::string) finds none.
    #[inline]
    pub fn of_bytes(bytes: &'t [u8]) -> Self {
        let mut tokens = Self::of_text("");
        tokens.0.bytes = bytes;
        tokens
    }

    /// Returns the document.
    #[inline]
    pub fn bytes(&self) -> &'t [u8] {
        self.0.bytes
    }

    /// Returns the part of the text between two offsets on character boundaries.
    pub fn text(&self, start: usize, end: usize) -> &'t str {
        self.0.text.get(start..end).unwrap_or_default()
    }

    /// Returns the offset of the next byte.
    #[inline(always)]
    pub fn at(&self) -> usize {
        self.0.at
    }

    /// Sets the offset of the next byte.
    #[inline(always)]
    pub fn set_at(&mut self, at: usize) {
        self.0.at = at;
    }

    /// Removes all bytes after the current position.
    pub fn truncate(&mut self) {
        self.0.bytes = &self.0.bytes[..self.0.at];
        self.0.text = self.0.text.get(..self.0.at).unwrap_or_default();
    }

    /// Returns the next byte.
    #[inline(always)]
    pub fn byte(&self) -> Option<u8> {
        self.0.bytes.get(self.0.at).copied()
    }

    /// Skips white space and returns the next byte.
    #[inline(always)]
    pub fn token(&mut self) -> Option<u8> {
        self.0.peek()
    }

    /// Consumes a literal name.
    #[inline(always)]
    pub fn literal<const N: usize>(&mut self, name: &[u8; N]) -> bool {
        let is_next = scan::chunk(self.0.bytes, self.0.at) == Some(name);
        self.0.at += if is_next { N } else { 0 };
        is_next
    }

    /// Consumes the string whose opening quote is before the current position. Returns `Some(None)` if it has escapes:
    /// [`unescaped`](Self::unescaped) returns its content.
    #[inline(always)]
    pub fn string(&mut self) -> Option<Option<&'t str>> {
        let start = self.0.at;
        match scan::quoted(self.0.text, start) {
            Ok(text) => {
                self.0.at = start + text.len() + 1;
                Some(Some(text))
            }
            Err(_) => self.string_with_escapes().then_some(None),
        }
    }

    #[inline(never)]
    fn string_with_escapes(&mut self) -> bool {
        let start = self.0.at;
        if self.0.text.len() != self.0.bytes.len() || !self.0.text.is_char_boundary(start) {
            return false;
        }
        match self.0.string_with_escapes(start) {
            Ok(end) => {
                self.0.at = end;
                true
            }
            Err(_) => {
                self.0.at = start;
                false
            }
        }
    }

    /// Returns the content of the last string with escapes.
    pub fn unescaped(&self) -> &str {
        &self.0.scratch
    }

    /// Consumes a number that begins at the current position with a digit or a minus sign.
    #[inline(always)]
    pub fn number(&mut self) -> Option<Number> {
        let start = self.0.at;
        match self.0.number() {
            Ok(number) => Some(number),
            Err(_) => {
                self.0.at = start;
                None
            }
        }
    }

    /// Consumes a number with a fraction of few digits. Returns `None` for other numbers, which [`number`](Self::number) consumes.
    #[inline(always)]
    pub fn fraction(&mut self) -> Option<f64> {
        self.0.fraction()
    }

    /// Consumes a value of any depth. A lone surrogate is an error, as for [`string`](Self::string).
    pub fn skip_value(&mut self) -> bool {
        let start = self.0.at;
        let is_valid = self.0.skip_value(&mut ()).is_ok();
        if !is_valid {
            self.0.at = start;
            self.0.levels = CODEC.limits.depth;
        }
        is_valid
    }
}

/// Replaces `out` by a string with its escapes resolved. `text` begins after the opening quote. Returns the offset after the
/// closing quote.
pub fn unescape(text: &str, out: &mut String) -> Option<usize> {
    let mut parser = Parser::new(text, &CODEC);
    parser.scratch = std::mem::take(out);
    let end = parser.string_with_escapes(0);
    *out = parser.scratch;
    end.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejected_tokens_leave_the_position_unchanged() {
        for text in ["\"", "\"a", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\n\""] {
            for mut tokens in [Tokens::of_text(text), Tokens::of_bytes(text.as_bytes())] {
                tokens.set_at(1);
                assert_eq!((tokens.string(), tokens.at()), (None, 1), "{text}");
            }
        }
        for text in ["-", "-x", "01", "1.", "1.e1", "1e", "1e+", "1e400"] {
            for mut tokens in [Tokens::of_text(text), Tokens::of_bytes(text.as_bytes())] {
                assert_eq!((tokens.number(), tokens.at()), (None, 0), "{text}");
            }
        }
        for text in ["", "nul", "[1,]", "[[", "{\"a\"}", "{\"a\":1", "\"\\ud800\"", "[01]"] {
            for mut tokens in [Tokens::of_text(text), Tokens::of_bytes(text.as_bytes())] {
                assert_eq!((tokens.skip_value(), tokens.at()), (false, 0), "{text}");
                assert_eq!((tokens.literal(b"true"), tokens.at()), (false, 0), "{text}");
            }
        }
    }

    #[test]
    fn bytes_have_the_numbers_and_skipped_values_of_the_text() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        for value in [
            "12",
            "-0",
            "1.5",
            "123456789012345678901234567890.5",
            "\"\\n\\ud83d\\ude00\"",
            "{\"a\": [null]}",
            &deep,
        ] {
            let text = format!("{value} ");
            let mut of_text = Tokens::of_text(&text);
            let mut of_bytes = Tokens::of_bytes(text.as_bytes());
            for tokens in [&mut of_text, &mut of_bytes] {
                assert!(tokens.skip_value(), "{value:.50}");
                assert_eq!(tokens.at(), value.len(), "{value:.50}");
                tokens.set_at(0);
            }
            assert_eq!(of_text.number(), of_bytes.number(), "{value:.50}");
        }
        // An error inside of arrays does not use up levels.
        let document = format!("{}x", &deep[..100]);
        let mut tokens = Tokens::of_text(&document);
        assert!((0..10).all(|_| !tokens.skip_value()));
        assert_eq!(tokens.0.depth(), 0);
    }

    #[test]
    fn escapes_are_resolved_up_to_the_closing_quote() {
        let mut out = "before".to_owned();
        assert_eq!(unescape("a\\n\\u00e9\" rest", &mut out), Some(10));
        assert_eq!(out, "a\n\u{e9}");
        for text in ["a", "\\", "\\ud800\"", "\n\""] {
            assert_eq!(unescape(text, &mut out), None, "{text}");
        }
        let mut tokens = Tokens::of_text("\"plain\"\"\\t\"");
        tokens.set_at(1);
        assert_eq!(tokens.string(), Some(Some("plain")));
        tokens.set_at(tokens.at() + 1);
        assert_eq!(tokens.string(), Some(None));
        assert_eq!((tokens.unescaped(), tokens.at()), ("\t", 11));
    }
}

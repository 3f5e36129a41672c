//! Input in memory.

#[cfg(feature = "raw_value")]
use serde::de::{Visitor, value::BorrowedStrDeserializer};
use tightwire_json::engine::{self, Number, Tokens};

use super::{Fused, Position, Read, Reference, private};
use crate::diagnose::{self, Fault, Purpose};
use crate::error::{CONTROL, Error, Reason, Result};

/// Input from a `str`.
pub struct StrRead<'a>(Slice<'a>);

/// Input from bytes. Strings in it have to be UTF-8 if they are decoded as text.
pub struct SliceRead<'a>(Slice<'a>);

impl<'a> StrRead<'a> {
    /// Returns an input that begins at the first byte.
    pub fn new(s: &'a str) -> Self {
        Self(Slice::new(Tokens::of_text(s)))
    }
}

impl<'a> SliceRead<'a> {
    /// Returns an input that begins at the first byte.
    pub fn new(slice: &'a [u8]) -> Self {
        Self(Slice::new(Tokens::of_bytes(slice)))
    }
}

/// Input in memory, of [`SliceRead`] and [`StrRead`].
struct Slice<'a> {
    tokens: Tokens<'a>,
    /// Content of a string with escapes in bytes.
    text: String,
    /// Content of a string that may not be UTF-8.
    content: Vec<u8>,
    #[cfg(feature = "raw_value")]
    raw_start: usize,
}

impl<'a> Slice<'a> {
    #[inline]
    fn new(tokens: Tokens<'a>) -> Self {
        Self {
            tokens,
            text: String::new(),
            content: Vec::new(),
            #[cfg(feature = "raw_value")]
            raw_start: 0,
        }
    }

    fn position_at(&self, offset: usize) -> Position {
        let bytes = self.tokens.bytes();
        diagnose::position(bytes, offset.min(bytes.len()))
    }

    /// Consumes the input up to the error.
    #[cold]
    fn fault(&mut self, (reason, end): Fault) -> Error {
        self.tokens.set_at(end);
        let (line, column) = self.position_at(end);
        Error::new(reason, line, column)
    }

    #[inline(always)]
    fn literal<const N: usize>(&mut self, name: &[u8; N]) -> Result<()> {
        if self.tokens.literal(name) { Ok(()) } else { Err(self.misspelt(name)) }
    }

    #[cold]
    fn misspelt(&mut self, name: &[u8]) -> Error {
        let rest = &self.tokens.bytes()[self.tokens.at()..];
        let same = rest.iter().zip(name).take_while(|(actual, expected)| actual == expected).count();
        let reason = if same == rest.len() { Reason::EOF_VALUE } else { Reason::IDENT };
        let end = self.tokens.at() + (same + 1).min(rest.len());
        self.fault((reason, end))
    }

    #[inline(always)]
    fn number(&mut self, single: bool) -> Result<Number> {
        let start = self.tokens.at();
        match self.tokens.number() {
            Some(Number::Float(value)) if single => {
                let text = &self.tokens.bytes()[start..self.tokens.at()];
                super::single(text, value).ok_or_else(|| self.number_fault(start))
            }
            Some(number) => Ok(number),
            None => Err(self.number_fault(start)),
        }
    }

    /// Returns the error of a malformed number, or of one that is out of range.
    #[cold]
    fn number_fault(&mut self, start: usize) -> Error {
        let bytes = self.tokens.bytes();
        match diagnose::number(bytes, start) {
            Ok(end) => {
                let end = diagnose::exponent_overflow(bytes, start, end).unwrap_or(end);
                self.fault((Reason::OUT_OF_RANGE, end))
            }
            Err(fault) => self.malformed_number(fault),
        }
    }

    /// Consumes a number up to the byte that makes it malformed. The byte is not consumed after a leading zero or a decimal
    /// point, as in serde_json: parsing a [`Number`](crate::Number) reports the byte that follows.
    #[cold]
    fn malformed_number(&mut self, fault: Fault) -> Error {
        let (is_byte, end) = (matches!(fault.0, Reason::Syntax(_)), fault.1);
        let error = self.fault(fault);
        if is_byte && matches!(self.tokens.bytes()[..end], [.., b'0' | b'.', _]) {
            self.tokens.set_at(end - 1);
        }
        error
    }

    #[cfg(feature = "arbitrary_precision")]
    fn number_text(&mut self) -> Result<&str> {
        let (bytes, start) = (self.tokens.bytes(), self.tokens.at());
        let end = diagnose::number(bytes, start).map_err(|fault| self.malformed_number(fault))?;
        self.tokens.set_at(end);
        Ok(std::str::from_utf8(&bytes[start..end]).unwrap_or_default())
    }

    fn skip_number(&mut self) -> Result<()> {
        match diagnose::number(self.tokens.bytes(), self.tokens.at()) {
            Ok(end) => {
                self.tokens.set_at(end);
                Ok(())
            }
            Err((_, end)) => Err(self.fault((Reason::NUMBER, end))),
        }
    }

    fn skip_string(&mut self) -> Result<()> {
        let start = self.tokens.at();
        let end = self.content_of(start, Purpose::Skip).map_err(|(reason, end)| {
            // A control character is not consumed here.
            let end = end - usize::from(matches!(reason, Reason::Syntax(CONTROL)));
            self.fault((reason, end))
        })?;
        self.tokens.set_at(end);
        Ok(())
    }

    /// Reads a string slowly into `content`. Returns the offset after it.
    #[cold]
    fn content_of(&mut self, start: usize, purpose: Purpose) -> std::result::Result<usize, Fault> {
        self.content.clear();
        diagnose::string(self.tokens.bytes(), start, purpose, &mut self.content)
    }

    /// Reads a string that is malformed, not UTF-8, or not found by the engine.
    #[cold]
    fn slow_string<'s>(&'s mut self) -> Result<Reference<'a, 's, str>> {
        let end = self.content_of(self.tokens.at(), Purpose::Text).map_err(|fault| self.fault(fault))?;
        self.tokens.set_at(end);
        let text = super::text(&self.content, || diagnose::position(self.tokens.bytes(), end))?;
        Ok(Reference::Copied(text))
    }

    /// Consumes a string in bytes whose UTF-8 was not checked before.
    #[inline]
    fn unchecked_string<'s>(&'s mut self) -> Result<Reference<'a, 's, str>> {
        let (bytes, start) = (self.tokens.bytes(), self.tokens.at());
        let end = engine::special(bytes, start);
        if bytes.get(end) == Some(&b'"')
            && let Ok(text) = std::str::from_utf8(&bytes[start..end])
        {
            self.tokens.set_at(end + 1);
            return Ok(Reference::Borrowed(text));
        }
        self.unchecked_string_with_escapes(end)
    }

    #[inline(never)]
    fn unchecked_string_with_escapes<'s>(&'s mut self, special: usize) -> Result<Reference<'a, 's, str>> {
        let (bytes, start) = (self.tokens.bytes(), self.tokens.at());
        let mut end = special;
        while bytes.get(end) == Some(&b'\\') {
            end = engine::special(bytes, (end + 2).min(bytes.len()));
        }
        self.text.clear();
        let text = bytes.get(start..=end).and_then(|bytes| std::str::from_utf8(bytes).ok());
        match text.and_then(|text| engine::unescape(text, &mut self.text)) {
            Some(len) => {
                self.tokens.set_at(start + len);
                Ok(Reference::Copied(&self.text))
            }
            None => self.slow_string(),
        }
    }

    fn byte_string<'s>(&'s mut self) -> Result<Reference<'a, 's, [u8]>> {
        let (bytes, start) = (self.tokens.bytes(), self.tokens.at());
        let end = engine::special(bytes, start);
        if bytes.get(end) == Some(&b'"') {
            self.tokens.set_at(end + 1);
            return Ok(Reference::Borrowed(&bytes[start..end]));
        }
        let end = self.content_of(start, Purpose::Bytes).map_err(|fault| self.fault(fault))?;
        self.tokens.set_at(end);
        // A string with control characters and without escapes is a part of the input.
        Ok(match &bytes[start..end - 1] {
            same if *same == *self.content => Reference::Borrowed(same),
            _ => Reference::Copied(&self.content),
        })
    }

    fn fail(&mut self) {
        self.tokens.truncate();
    }
}

macro_rules! read {
    ($type:ident, $self:ident, $string:expr, $raw:expr) => {
        impl private::Sealed for $type<'_> {}

        impl Fused for $type<'_> {}

        impl<'a> Read<'a> for $type<'a> {
            const STAYS: bool = false;

            #[inline(always)]
            fn peek(&mut self) -> Result<Option<u8>> {
                Ok(self.0.tokens.byte())
            }

            #[inline(always)]
            fn token(&mut self) -> Result<Option<u8>> {
                Ok(self.0.tokens.token())
            }

            #[inline(always)]
            fn discard(&mut self) {
                self.0.tokens.set_at(self.0.tokens.at() + 1);
            }

            fn position(&self) -> Position {
                self.0.position_at(self.0.tokens.at())
            }

            fn peek_position(&self) -> Position {
                self.0.position_at(self.0.tokens.at() + 1)
            }

            fn byte_offset(&self) -> usize {
                self.0.tokens.at()
            }

            #[inline(always)]
            fn literal<const N: usize>(&mut self, name: &[u8; N]) -> Result<()> {
                self.0.literal(name)
            }

            #[inline(always)]
            fn number(&mut self, single: bool) -> Result<Number> {
                self.0.number(single)
            }

            #[inline(always)]
            fn fraction(&mut self) -> Option<f64> {
                self.0.tokens.fraction()
            }

            #[cfg(feature = "arbitrary_precision")]
            fn number_text(&mut self) -> Result<&str> {
                self.0.number_text()
            }

            #[inline(always)]
            fn string<'s>(&'s mut $self) -> Result<Reference<'a, 's, str>> {
                $string
            }

            fn byte_string<'s>(&'s mut self) -> Result<Reference<'a, 's, [u8]>> {
                self.0.byte_string()
            }

            fn skip_string(&mut self) -> Result<()> {
                self.0.skip_string()
            }

            fn skip_number(&mut self) -> Result<()> {
                self.0.skip_number()
            }

            #[inline]
            fn skip_value(&mut self) -> bool {
                self.0.tokens.skip_value()
            }

            #[cfg(feature = "raw_value")]
            fn start_raw(&mut self) {
                self.0.raw_start = self.0.tokens.at();
            }

            #[cfg(feature = "raw_value")]
            fn end_raw<V: Visitor<'a>>(&mut $self, visitor: V) -> Result<V::Value> {
                let raw = BorrowedStrDeserializer::new($raw);
                visitor.visit_map(crate::private::entry(crate::raw::TOKEN, raw))
            }

            fn fail(&mut self) {
                self.0.fail();
            }
        }
    };
}

read! {
    StrRead, self,
    match self.0.tokens.string() {
        Some(Some(text)) => Ok(Reference::Borrowed(text)),
        Some(None) => Ok(Reference::Copied(self.0.tokens.unescaped())),
        None => self.0.slow_string(),
    },
    self.0.tokens.text(self.0.raw_start, self.0.tokens.at())
}

read! {
    SliceRead, self, self.0.unchecked_string(),
    {
        let (start, end) = (self.0.raw_start, self.0.tokens.at());
        std::str::from_utf8(&self.0.tokens.bytes()[start..end]).map_err(|error| {
            let (line, column) = self.0.position_at(start + error.valid_up_to() + 1);
            Error::new(Reason::UNICODE, line, column)
        })?
    }
}

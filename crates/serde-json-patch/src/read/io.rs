//! Input from a reader.
#![cfg(feature = "std")]

use std::io;

#[cfg(feature = "raw_value")]
use serde::de::Visitor;
use tightwire_json::engine::{Number, NumberState, NumberStep, Tokens};

use super::{Position, Read, Reference, private};
use crate::diagnose::{self, Fault, Purpose};
use crate::error::{Error, Reason, Result};

/// Input from a reader.
///
/// No byte is read before it is needed: the reader can be used further after a value. At most one byte after a number is
/// read. Wrap a file or a socket in a [`BufReader`](io::BufReader).
pub struct IoRead<R: io::Read> {
    bytes: io::Bytes<R>,
    /// The next byte, if it was read.
    next: Option<u8>,
    /// Number of line breaks before the last byte that was read, plus one.
    line: usize,
    /// Number of bytes that were read since the last line break.
    column: usize,
    /// Number of bytes that were read up to the last line break.
    line_start: usize,
    /// Number or string that is being read.
    token: Vec<u8>,
    /// Content of a string.
    content: Vec<u8>,
    #[cfg(feature = "raw_value")]
    raw: Option<Vec<u8>>,
    /// Position before the raw value.
    #[cfg(feature = "raw_value")]
    raw_start: Position,
}

impl<R: io::Read> IoRead<R> {
    /// Returns an input that begins at the next byte of `reader`.
    pub fn new(reader: R) -> Self {
        Self {
            #[expect(
                clippy::unbuffered_bytes,
                reason = "a buffer would take bytes after the value from the reader"
            )]
            bytes: reader.bytes(),
            next: None,
            line: 1,
            column: 0,
            line_start: 0,
            token: Vec::new(),
            content: Vec::new(),
            #[cfg(feature = "raw_value")]
            raw: None,
            #[cfg(feature = "raw_value")]
            raw_start: (1, 0),
        }
    }

    /// Reads the next byte.
    #[inline(always)]
    fn read(&mut self) -> Result<Option<u8>> {
        if self.next.is_none() {
            self.next = self.bytes.next().transpose().map_err(Error::io)?;
            match self.next {
                Some(b'\n') => {
                    self.line_start += self.column + 1;
                    self.line += 1;
                    self.column = 0;
                }
                Some(_) => self.column += 1,
                None => {}
            }
        }
        Ok(self.next)
    }

    /// Consumes the next byte.
    #[inline(always)]
    fn consume(&mut self) {
        let _byte = self.next.take();
        #[cfg(feature = "raw_value")]
        if let Some(raw) = &mut self.raw {
            raw.extend(_byte);
        }
    }

    /// Moves the next byte to the token. Returns `None` at the end.
    #[inline(always)]
    fn take(&mut self) -> Result<Option<u8>> {
        let next = self.read()?;
        self.consume();
        if let Some(byte) = next {
            self.token.push(byte);
        }
        Ok(next)
    }

    /// Returns the error of a token that begins at a position.
    #[cold]
    fn fault(&self, (line, column): Position, (reason, end): Fault) -> Error {
        match diagnose::position(&self.token, end) {
            (1, more) => Error::new(reason, line, column + more),
            (lines, column) => Error::new(reason, line + lines - 1, column),
        }
    }

    /// Returns the position of the last consumed byte.
    fn consumed(&self) -> Position {
        // A line break that was not consumed belongs to its line.
        (self.line, self.column - usize::from(self.next.is_some() && self.column > 0))
    }

    /// Reads a number into the token. Returns the position before it.
    fn scan_number(&mut self) -> Result<Position> {
        self.read()?;
        let start = self.consumed();
        self.token.clear();
        let mut state = NumberState::Start;
        while let Some(byte) = self.read()? {
            match state.step(byte) {
                NumberStep::Next(next) => state = next,
                NumberStep::End => break,
                NumberStep::Malformed => {
                    self.token.push(byte);
                    break;
                }
            }
            self.take()?;
        }
        Ok(start)
    }

    /// Reads a string into the token, and its content into `content`. Stops at the first byte that makes it malformed.
    fn scan_string(&mut self, purpose: Purpose) -> Result<()> {
        let start = self.consumed();
        self.token.clear();
        let mut has_escapes = false;
        loop {
            match self.take()? {
                Some(b'\\') => {
                    has_escapes = true;
                    let digits = match self.take()? {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 0,
                        Some(b'u') => 4,
                        _ => break,
                    };
                    let before = self.token.len();
                    for _ in 0..digits {
                        self.take()?;
                    }
                    let unit = &self.token[before..];
                    if unit.len() < digits || !unit.iter().all(u8::is_ascii_hexdigit) {
                        break;
                    }
                }
                Some(b'"') if !has_escapes => {
                    self.token.pop();
                    std::mem::swap(&mut self.token, &mut self.content);
                    return Ok(());
                }
                Some(b'"') | None => break,
                Some(0..=0x1f) if purpose != Purpose::Bytes => break,
                Some(_) => {}
            }
        }
        self.content.clear();
        match diagnose::string(&self.token, 0, purpose, &mut self.content) {
            Ok(_) => Ok(()),
            Err(fault) => Err(self.fault(start, fault)),
        }
    }
}

impl<R: io::Read> private::Sealed for IoRead<R> {}

impl<'de, R: io::Read> Read<'de> for IoRead<R> {
    const STAYS: bool = true;

    #[inline]
    fn peek(&mut self) -> Result<Option<u8>> {
        self.read()
    }

    fn token(&mut self) -> Result<Option<u8>> {
        loop {
            match self.read()? {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.consume(),
                next => return Ok(next),
            }
        }
    }

    #[inline]
    fn discard(&mut self) {
        self.consume();
    }

    fn position(&self) -> Position {
        (self.line, self.column)
    }

    fn peek_position(&self) -> Position {
        (self.line, self.column)
    }

    fn byte_offset(&self) -> usize {
        self.line_start + self.column - usize::from(self.next.is_some())
    }

    fn literal<const N: usize>(&mut self, name: &[u8; N]) -> Result<()> {
        for expected in name {
            match self.read()? {
                Some(byte) if byte == *expected => self.consume(),
                Some(_) => return Err(super::error(self, Reason::IDENT)),
                None => return Err(super::error(self, Reason::EOF_VALUE)),
            }
        }
        Ok(())
    }

    fn number(&mut self, single: bool) -> Result<Number> {
        let start = self.scan_number()?;
        match Tokens::of_bytes(&self.token).number() {
            Some(Number::Float(value)) if single => {
                if let Some(number) = super::single(&self.token, value) {
                    return Ok(number);
                }
            }
            Some(number) => return Ok(number),
            None => {}
        }
        let fault = match diagnose::number(&self.token, 0) {
            Ok(end) => match diagnose::exponent_overflow(&self.token, 0, end) {
                Some(end) => (Reason::OUT_OF_RANGE, end),
                // The byte after the number was read.
                None => return Err(super::error(self, Reason::OUT_OF_RANGE)),
            },
            Err(fault) => fault,
        };
        Err(self.fault(start, fault))
    }

    #[cfg(feature = "arbitrary_precision")]
    fn number_text(&mut self) -> Result<&str> {
        let start = self.scan_number()?;
        diagnose::number(&self.token, 0).map_err(|fault| self.fault(start, fault))?;
        Ok(std::str::from_utf8(&self.token).unwrap_or_default())
    }

    fn string<'s>(&'s mut self) -> Result<Reference<'de, 's, str>> {
        self.scan_string(Purpose::Text)?;
        super::text(&self.content, || (self.line, self.column)).map(Reference::Copied)
    }

    fn byte_string<'s>(&'s mut self) -> Result<Reference<'de, 's, [u8]>> {
        self.scan_string(Purpose::Bytes)?;
        Ok(Reference::Copied(&self.content))
    }

    fn skip_string(&mut self) -> Result<()> {
        self.scan_string(Purpose::Skip)
    }

    fn skip_number(&mut self) -> Result<()> {
        let start = self.scan_number()?;
        match diagnose::number(&self.token, 0) {
            Ok(_) => Ok(()),
            Err((_, end)) => Err(self.fault(start, (Reason::NUMBER, end))),
        }
    }

    #[cfg(feature = "raw_value")]
    fn start_raw(&mut self) {
        self.raw_start = self.consumed();
        self.raw = Some(Vec::new());
    }

    #[cfg(feature = "raw_value")]
    fn end_raw<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        let raw = String::from_utf8(self.raw.take().unwrap_or_default()).map_err(|error| {
            self.token.clear();
            self.token.extend_from_slice(error.as_bytes());
            self.fault(self.raw_start, (Reason::UNICODE, error.utf8_error().valid_up_to() + 1))
        })?;
        visitor.visit_map(crate::private::entry(crate::raw::TOKEN, raw))
    }

    fn fail(&mut self) {}
}

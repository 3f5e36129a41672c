//! Input from a reader.
#![cfg(feature = "std")]

use std::io;
use std::ops::Range;

#[cfg(feature = "raw_value")]
use serde::de::Visitor;
use tightwire_json::engine::{self, Number, NumberState, NumberStep, Tokens};

use super::{Position, Read, Reference, private};
use crate::diagnose::{self, Fault, Purpose};
use crate::error::{Error, Reason, Result};

/// Number of bytes that [`from_reader`](crate::from_reader) reads at once, and of consumed bytes that stay in the buffer.
const BLOCK: usize = 8192;

enum Source<R> {
    Bytes(io::Bytes<R>),
    Blocks(R),
}

/// Input from a reader.
///
/// No byte is read before it is needed: the reader can be used further after a value. At most one byte after a number is
/// read. Wrap a file or a socket in a [`BufReader`](io::BufReader).
pub struct IoRead<R: io::Read> {
    source: Source<R>,
    /// Bytes of the reader from the position `start` on.
    buffer: Vec<u8>,
    start: Position,
    /// Number of bytes before the buffer.
    offset: usize,
    /// Index of the next byte in the buffer.
    at: usize,
    /// Index after the last byte that [`Read::peek`] returned.
    peeked: usize,
    /// Content of a string with escapes.
    content: Vec<u8>,
    /// Index of the first byte of the raw value.
    raw: Option<usize>,
}

impl<R: io::Read> IoRead<R> {
    /// Returns an input that begins at the next byte of `reader`.
    pub fn new(reader: R) -> Self {
        #[expect(
            clippy::unbuffered_bytes,
            reason = "a buffer would take bytes after the value from the reader"
        )]
        let bytes = reader.bytes();
        Self::of(Source::Bytes(bytes))
    }

    /// Returns an input that also reads bytes after the value.
    pub(crate) fn buffered(reader: R) -> Self {
        Self::of(Source::Blocks(reader))
    }

    fn of(source: Source<R>) -> Self {
        Self {
            source,
            buffer: Vec::new(),
            start: (1, 0),
            offset: 0,
            at: 0,
            peeked: 0,
            content: Vec::new(),
            raw: None,
        }
    }

    /// Appends bytes of the reader to the buffer, none at its end.
    #[inline(always)]
    fn fill(&mut self) -> Result<()> {
        match &mut self.source {
            Source::Bytes(bytes) => {
                if let Some(byte) = bytes.next() {
                    self.buffer.push(byte.map_err(Error::io)?);
                }
                Ok(())
            }
            Source::Blocks(reader) => read_block(reader, &mut self.buffer),
        }
    }

    /// Returns the next byte.
    #[inline(always)]
    fn read(&mut self) -> Result<Option<u8>> {
        if self.at == self.buffer.len() {
            self.fill()?;
        }
        let next = self.buffer.get(self.at).copied();
        self.peeked = self.at + usize::from(next.is_some());
        Ok(next)
    }

    /// Consumes the next byte and returns it.
    #[inline(always)]
    fn take(&mut self) -> Result<Option<u8>> {
        let next = self.read()?;
        self.at = self.peeked;
        Ok(next)
    }

    /// Removes consumed bytes from the buffer.
    #[cold]
    fn forget(&mut self) {
        if self.raw.is_none() {
            self.start = self.position_at(self.at);
            self.offset += self.at;
            self.buffer.drain(..self.at);
            (self.at, self.peeked) = (0, 0);
        }
    }

    /// Returns the position of the byte before an index of the buffer.
    fn position_at(&self, index: usize) -> Position {
        let (line, column) = self.start;
        match diagnose::position(&self.buffer, index) {
            (1, more) => (line, column + more),
            (lines, column) => (line + lines - 1, column),
        }
    }

    #[cold]
    fn fault(&self, (reason, end): Fault) -> Error {
        let (line, column) = self.position_at(end);
        Error::new(reason, line, column)
    }

    /// Consumes a number. Returns its index.
    fn scan_number(&mut self) -> Result<usize> {
        let start = self.at;
        let mut state = NumberState::Start;
        while let Some(byte) = self.read()?
            && let NumberStep::Next(next) = state.step(byte)
        {
            state = next;
            self.at += 1;
        }
        Ok(start)
    }

    /// Returns the number at an index of the buffer, and the index after it.
    #[inline]
    fn parse_number(&self, start: usize) -> Option<(Number, usize)> {
        let mut tokens = Tokens::of_bytes(&self.buffer);
        tokens.set_at(start);
        tokens.number().map(|number| (number, tokens.at()))
    }

    /// Consumes a string up to its closing quote, or up to the first byte that makes it malformed. Returns its content as a
    /// range of the buffer, and otherwise writes it to `content`.
    fn scan_string(&mut self, purpose: Purpose) -> Result<Option<Range<usize>>> {
        let start = self.at;
        let mut has_escapes = false;
        loop {
            if self.at < self.buffer.len() {
                self.at = engine::special(&self.buffer, self.at);
            }
            match self.take()? {
                Some(b'\\') => {
                    has_escapes = true;
                    let digits = match self.take()? {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 0,
                        Some(b'u') => 4,
                        _ => break,
                    };
                    let before = self.at;
                    for _ in 0..digits {
                        self.take()?;
                    }
                    let unit = &self.buffer[before..self.at];
                    if unit.len() < digits || !unit.iter().all(u8::is_ascii_hexdigit) {
                        break;
                    }
                }
                Some(b'"') if !has_escapes => return Ok(Some(start..self.at - 1)),
                Some(b'"') | None => break,
                Some(0..=0x1f) if purpose != Purpose::Bytes => break,
                Some(_) => {}
            }
        }
        self.unescape(start, purpose).map(|()| None)
    }

    /// Writes a string of the buffer up to the last consumed byte to `content`.
    fn unescape(&mut self, start: usize, purpose: Purpose) -> Result<()> {
        let string = &self.buffer[start..self.at];
        self.content.clear();
        if purpose == Purpose::Text
            && let Ok(string) = std::str::from_utf8(string)
        {
            let mut text = String::from_utf8(std::mem::take(&mut self.content)).unwrap_or_default();
            let end = engine::unescape(string, &mut text);
            self.content = text.into_bytes();
            if end.is_some() {
                return Ok(());
            }
            self.content.clear();
        }
        match diagnose::string(string, 0, purpose, &mut self.content) {
            Ok(_) => Ok(()),
            Err((reason, end)) => Err(self.fault((reason, start + end))),
        }
    }

    /// Returns the content of a string that [`scan_string`](Self::scan_string) consumed.
    #[inline]
    fn content(&self, range: Option<Range<usize>>) -> &[u8] {
        range.map_or(&self.content, |range| &self.buffer[range])
    }
}

/// Appends some bytes, at the end of the reader none.
#[inline(never)]
fn read_block(reader: &mut impl io::Read, buffer: &mut Vec<u8>) -> Result<()> {
    let len = buffer.len();
    buffer.resize(len + BLOCK, 0);
    let result = loop {
        match reader.read(&mut buffer[len..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => break result,
        }
    };
    buffer.truncate(len + result.as_ref().map_or(0, |count| *count));
    result.map(drop).map_err(Error::io)
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
            if self.at >= BLOCK {
                self.forget();
            }
            match self.read()? {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.at += 1,
                next => return Ok(next),
            }
            if self.at < self.buffer.len() {
                let mut tokens = Tokens::of_bytes(&self.buffer);
                tokens.set_at(self.at);
                tokens.token();
                self.at = tokens.at();
            }
        }
    }

    #[inline]
    fn discard(&mut self) {
        self.at += 1;
    }

    fn position(&self) -> Position {
        self.position_at(self.at.max(self.peeked))
    }

    fn peek_position(&self) -> Position {
        self.position()
    }

    fn byte_offset(&self) -> usize {
        self.offset + self.at
    }

    fn literal<const N: usize>(&mut self, name: &[u8; N]) -> Result<()> {
        for expected in name {
            match self.read()? {
                Some(byte) if byte == *expected => self.at += 1,
                Some(_) => return Err(super::error(self, Reason::IDENT)),
                None => return Err(super::error(self, Reason::EOF_VALUE)),
            }
        }
        Ok(())
    }

    fn number(&mut self, single: bool) -> Result<Number> {
        let start = self.at;
        let mut parsed = self.parse_number(start);
        // The byte after a number is read, as in serde_json.
        match parsed {
            Some((_, end)) if end < self.buffer.len() => (self.at, self.peeked) = (end, end + 1),
            _ => {
                self.scan_number()?;
                parsed = self.parse_number(start);
            }
        }
        match parsed {
            Some((Number::Float(value), end)) if single => {
                if let Some(number) = super::single(&self.buffer[start..end], value) {
                    return Ok(number);
                }
            }
            Some((number, _)) => return Ok(number),
            None => {}
        }
        Err(match diagnose::number(&self.buffer, start) {
            Ok(end) => match diagnose::exponent_overflow(&self.buffer, start, end) {
                Some(end) => self.fault((Reason::OUT_OF_RANGE, end)),
                // The byte after the number was read.
                None => super::error(self, Reason::OUT_OF_RANGE),
            },
            Err(fault) => self.fault(fault),
        })
    }

    #[cfg(feature = "arbitrary_precision")]
    fn number_text(&mut self) -> Result<&str> {
        let start = self.scan_number()?;
        diagnose::number(&self.buffer, start).map_err(|fault| self.fault(fault))?;
        Ok(std::str::from_utf8(&self.buffer[start..self.at]).unwrap_or_default())
    }

    #[inline]
    fn string<'s>(&'s mut self) -> Result<Reference<'de, 's, str>> {
        let content = self.scan_string(Purpose::Text)?;
        super::text(self.content(content), || self.position()).map(Reference::Copied)
    }

    fn byte_string<'s>(&'s mut self) -> Result<Reference<'de, 's, [u8]>> {
        let content = self.scan_string(Purpose::Bytes)?;
        Ok(Reference::Copied(self.content(content)))
    }

    fn skip_string(&mut self) -> Result<()> {
        self.scan_string(Purpose::Skip).map(drop)
    }

    fn skip_number(&mut self) -> Result<()> {
        let start = self.scan_number()?;
        match diagnose::number(&self.buffer, start) {
            Ok(_) => Ok(()),
            Err((_, end)) => Err(self.fault((Reason::NUMBER, end))),
        }
    }

    #[cfg(feature = "raw_value")]
    fn start_raw(&mut self) {
        self.raw = Some(self.at);
    }

    #[cfg(feature = "raw_value")]
    fn end_raw<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        let start = self.raw.take().unwrap_or(self.at);
        let raw = std::str::from_utf8(&self.buffer[start..self.at])
            .map_err(|error| self.fault((Reason::UNICODE, start + error.valid_up_to() + 1)))?;
        visitor.visit_map(crate::private::entry(crate::raw::TOKEN, raw.to_owned()))
    }

    fn fail(&mut self) {}
}

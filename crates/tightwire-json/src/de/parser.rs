//! Parser state and the tokens between values.

use std::marker::PhantomData;

use super::source::Borrowed;
#[cfg(doc)]
use super::source::Copied;
use super::{ByteStrings, LoneSurrogate};
use crate::codec::Limits;
use crate::error::{Error, Kind, Limit, Result, Syntax};

/// Adds the offset to an error that has none.
#[inline(always)]
pub(super) fn locate<T>(result: Result<T>, offset: usize) -> Result<T> {
    match result {
        Ok(value) => Ok(value),
        Err(error) => Err(error.at(offset)),
    }
}

/// Document and the current position. `M` is [`Borrowed`] or [`Copied`].
#[allow(missing_debug_implementations, reason = "not nameable outside of the crate")]
pub struct Parser<'t, 'p, M = Borrowed> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    /// Offset of the next byte.
    pub(super) at: usize,
    /// Remaining levels of nesting.
    pub(super) levels: usize,
    pub(super) limits: &'p Limits,
    pub(super) lone_surrogate: LoneSurrogate,
    pub(super) byte_strings: ByteStrings,
    /// Buffer for strings with escapes.
    pub(super) scratch: String,
    /// Offsets of keys that a later key of the same object replaces, in ascending order.
    pub(super) superseded: &'p [usize],
    /// Maximum length of a string, a copy of `limits.string`.
    pub(super) string_limit: usize,
    source: PhantomData<M>,
}

impl<'t, 'p> Parser<'t, 'p> {
    /// Returns a parser of a document that the decoded values may borrow from.
    #[inline]
    pub(super) fn new(text: &'t str, limits: &'p Limits, lone_surrogate: LoneSurrogate) -> Self {
        Self::any(text, limits, lone_surrogate)
    }
}

impl<'t, 'p, M> Parser<'t, 'p, M> {
    /// Returns a parser of a document whose lifetime `M` determines.
    #[inline]
    pub(super) fn any(text: &'t str, limits: &'p Limits, lone_surrogate: LoneSurrogate) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            levels: limits.depth,
            limits,
            lone_surrogate,
            byte_strings: ByteStrings::Utf8,
            scratch: String::new(),
            superseded: &[],
            string_limit: limits.string,
            source: PhantomData,
        }
    }

    /// Skips white space (section 2) and returns the next byte, `None` at the end.
    #[inline(always)]
    pub(super) fn peek(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        if byte > b' ' { Some(byte) } else { self.skip_space() }
    }

    #[inline(never)]
    fn skip_space(&mut self) -> Option<u8> {
        loop {
            let byte = *self.bytes.get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Skips white space and returns the next byte. The end of the document is an error.
    #[inline(always)]
    pub(super) fn expect(&mut self) -> Result<u8> {
        match self.peek() {
            Some(byte) => Ok(byte),
            None => Err(self.eof()),
        }
    }

    /// Returns an error unless only white space follows.
    #[inline]
    pub(super) fn end(&mut self) -> Result<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.syntax(Syntax::Trailing)),
        }
    }

    /// Returns a syntax error at the current position.
    #[cold]
    pub(super) fn syntax(&self, what: Syntax) -> Error {
        Error::syntax(what, self.at)
    }

    #[cold]
    pub(super) fn eof(&self) -> Error {
        Error::eof(self.bytes.len())
    }

    /// Returns the error `what` at the current position, or an EOF error if it is the end of the document.
    #[cold]
    pub(super) fn unexpected(&self, what: Syntax) -> Error {
        if self.at < self.bytes.len() { self.syntax(what) } else { self.eof() }
    }

    /// Consumes the opening bracket at the current position and checks the depth.
    #[inline(always)]
    pub(super) fn enter(&mut self) -> Result<()> {
        match self.levels.checked_sub(1) {
            Some(levels) => {
                self.levels = levels;
                self.at += 1;
                Ok(())
            }
            None => Err(self.too_deep()),
        }
    }

    #[cold]
    fn too_deep(&self) -> Error {
        Error::new(Kind::Limit(Limit::Depth, self.limits.depth), Some(self.at as u64))
    }

    /// Consumes the closing bracket at the current position.
    #[inline(always)]
    pub(super) fn leave(&mut self) {
        self.levels += 1;
        self.at += 1;
    }

    /// Consumes the opening quote of a key and returns its offset.
    #[inline(always)]
    pub(super) fn key_start(&mut self) -> Result<usize> {
        self.token(b'"', Syntax::Key)?;
        Ok(self.at - 1)
    }

    /// Consumes the colon after a key.
    #[inline(always)]
    pub(super) fn colon(&mut self) -> Result<()> {
        self.token(b':', Syntax::Colon)
    }

    /// Consumes a byte. Returns the error `what` if another one is next.
    #[inline(always)]
    fn token(&mut self, byte: u8, what: Syntax) -> Result<()> {
        if self.peek() != Some(byte) {
            return Err(self.unexpected(what));
        }
        self.at += 1;
        Ok(())
    }

    /// Consumes one of the literal names of section 3.
    #[inline(always)]
    pub(super) fn literal<const N: usize>(&mut self, name: &[u8; N]) -> Result<()> {
        if self.bytes.get(self.at..).and_then(<[u8]>::first_chunk::<N>) == Some(name) {
            self.at += N;
            Ok(())
        } else {
            Err(self.misspelt(name))
        }
    }

    /// Returns an error at the first byte that differs from `name`.
    #[cold]
    fn misspelt(&mut self, name: &[u8]) -> Error {
        let same = self.bytes[self.at..]
            .iter()
            .zip(name)
            .take_while(|(actual, expected)| actual == expected)
            .count();
        self.at += same;
        self.unexpected(Syntax::Value)
    }
}

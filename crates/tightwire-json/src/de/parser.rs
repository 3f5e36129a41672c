//! Parser state and the tokens between values.

use std::marker::PhantomData;

use serde::de::DeserializeSeed;

#[cfg(doc)]
use super::borrow::Copied;
use super::borrow::{Borrowed, Source};
use crate::codec::{Codec, Limits};
use crate::error::{Error, Limit, Result, Syntax};
use crate::grammar::is_space;
use crate::scan;

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
    /// Document, from which strings are borrowed.
    pub(super) text: &'t str,
    /// Bytes of the document, with spaces in place of what [`Extensions`](crate::codec::Extensions) permit.
    pub(super) bytes: &'p [u8],
    /// Offset of the next byte.
    pub(super) at: usize,
    /// Remaining levels of nesting.
    pub(super) levels: usize,
    /// Part of the remaining levels that only decoding without recursion may use.
    pub(super) nonrecursive_levels: usize,
    pub(super) codec: &'p Codec,
    /// Buffer for strings with escapes.
    pub(super) scratch: String,
    /// Offsets of keys that a later key of the same object replaces, in ascending order.
    pub(super) superseded: &'p [usize],
    /// Maximum length of a string, a copy of the limit of the codec.
    pub(super) string_limit: usize,
    /// Lengths of the last two arrays at each of the first depths, the last one first.
    pub(super) lengths: [(u32, u32); LENGTHS],
    source: PhantomData<M>,
}

/// Number of depths at which the lengths of arrays are recorded.
const LENGTHS: usize = 8;

impl<'t, 'p> Parser<'t, 'p> {
    /// Returns a parser of a document that the decoded values may borrow from.
    #[inline]
    pub(super) fn new(text: &'t str, codec: &'p Codec) -> Self
    where
        't: 'p,
    {
        Self::any(text, codec)
    }
}

impl<'t, 'p, M> Parser<'t, 'p, M> {
    /// Returns a parser of a document whose lifetime `M` determines.
    #[inline]
    pub(super) fn any(text: &'t str, codec: &'p Codec) -> Self
    where
        't: 'p,
    {
        let limits = &codec.limits;
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            levels: limits.depth,
            nonrecursive_levels: limits.depth.saturating_sub(Limits::MAX_DEPTH),
            codec,
            scratch: String::new(),
            superseded: &[],
            string_limit: limits.string,
            lengths: [(0, 0); LENGTHS],
            source: PhantomData,
        }
    }

    /// Skips white space (RFC 8259, section 2) and returns the next byte, `None` at the end.
    #[inline(always)]
    pub(super) fn peek(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        if byte > b' ' {
            return Some(byte);
        }
        // A single space, as after most colons.
        if byte == b' '
            && let Some(next @ b'!'..) = self.bytes.get(self.at + 1)
        {
            self.at += 1;
            return Some(*next);
        }
        self.at = self.after_space(self.at);
        self.bytes.get(self.at).copied()
    }

    /// Returns the offset of the first byte at or after `at` that is not white space, or the length of the document.
    ///
    /// Not inlined, so that the code for documents without white space is short. Does not change the parser, so that the
    /// compiler keeps the position in a register: loading it from memory after each token takes longer than the token.
    #[inline(never)]
    pub(super) fn after_space(&self, mut at: usize) -> usize {
        // A single space, for which a block takes longer.
        if self.bytes.get(at) == Some(&b' ') && self.bytes.get(at + 1).is_some_and(|byte| *byte > b' ') {
            return at + 1;
        }
        while let Some(block) = scan::chunk::<32>(self.bytes, at) {
            let count = (!scan::spaces32(block)).trailing_zeros() as usize;
            if count < block.len() {
                return at + count;
            }
            at += block.len();
        }
        let rest = self.bytes.get(at..).unwrap_or_default();
        at + rest.iter().position(|byte| !is_space(*byte)).unwrap_or(rest.len())
    }

    /// Skips white space and returns the next byte. The end of the document is an error.
    #[inline(always)]
    pub(super) fn expect(&mut self) -> Result<u8> {
        match self.peek() {
            Some(byte) => Ok(byte),
            None => Err(self.eof()),
        }
    }

    /// Deserializes the next value. An error that the type returns without an offset gets that of the value.
    #[inline(always)]
    pub(super) fn value<'de, T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value>
    where
        M: Source<'t, 'de>,
    {
        match seed.deserialize(&mut *self) {
            Ok(value) => Ok(value),
            Err(error) => Err(error.near_value(self.at)),
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
        if self.levels == self.nonrecursive_levels {
            return Err(self.too_deep());
        }
        self.levels -= 1;
        self.at += 1;
        Ok(())
    }

    #[cold]
    pub(super) fn too_deep(&self) -> Error {
        Error::over_limit(Limit::Depth, self.codec.limits.depth - self.nonrecursive_levels, self.at as u64)
    }

    /// Calls a function that does not recurse, and therefore may use all remaining levels.
    #[inline(always)]
    pub(super) fn without_recursion<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let nonrecursive_levels = std::mem::take(&mut self.nonrecursive_levels);
        let result = parse(self);
        self.nonrecursive_levels = nonrecursive_levels;
        result
    }

    /// Consumes the closing bracket at the current position.
    #[inline(always)]
    pub(super) fn leave(&mut self) {
        self.levels += 1;
        self.at += 1;
    }

    /// Returns the number of open arrays and objects.
    #[inline(always)]
    pub(super) fn depth(&self) -> usize {
        self.codec.limits.depth - self.levels
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
        if self.bytes.get(self.at) != Some(&byte) {
            self.at = self.after_space(self.at);
            if self.bytes.get(self.at) != Some(&byte) {
                return Err(self.unexpected(what));
            }
        }
        self.at += 1;
        Ok(())
    }

    /// Consumes one of the literal names `true`, `false` and `null`.
    #[inline(always)]
    pub(super) fn literal<const N: usize>(&mut self, name: &[u8; N]) -> Result<()> {
        if scan::chunk(self.bytes, self.at) == Some(name) {
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

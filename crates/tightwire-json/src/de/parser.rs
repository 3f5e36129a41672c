//! The position in a document, and the tokens between values.

use super::BytesForm;
use super::in_place::Rewritten;
use super::string::Lone;
use crate::error::{Error, Kind, Limit, Result, Syntax};
use crate::limits::Limits;

/// A document and how far it is read.
pub(crate) struct Parser<'de, 'p> {
    pub(super) text: &'de str,
    pub(super) bytes: &'de [u8],
    pub(super) at: usize,
    /// Levels that may still be entered.
    pub(super) levels: usize,
    pub(super) limits: &'p Limits,
    pub(super) lone: Lone,
    pub(super) bytes_form: BytesForm,
    /// Holds strings that had escapes.
    pub(super) scratch: String,
    /// Where keys begin whose object has the same key once more, in ascending order.
    pub(super) superseded: &'p [usize],
    /// Strings that are resolved already, in ascending order.
    pub(super) rewritten: &'p [Rewritten],
    /// The limit of the length of strings.
    pub(super) string_limit: usize,
}

impl<'de, 'p> Parser<'de, 'p> {
    #[inline]
    pub(super) fn new(text: &'de str, limits: &'p Limits, lone: Lone) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            levels: limits.depth,
            limits,
            lone,
            bytes_form: BytesForm::Text,
            scratch: String::new(),
            superseded: &[],
            rewritten: &[],
            string_limit: limits.string,
        }
    }

    /// The next byte that is not white space (section 2), `None` at the end.
    #[inline(always)]
    pub(super) fn peek(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        if byte > b' ' { Some(byte) } else { self.peek_behind_space() }
    }

    #[inline(never)]
    fn peek_behind_space(&mut self) -> Option<u8> {
        loop {
            let byte = *self.bytes.get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// The next byte that is not white space; the end of the document is an error.
    #[inline(always)]
    pub(super) fn expect(&mut self) -> Result<u8> {
        match self.peek() {
            Some(byte) => Ok(byte),
            None => Err(self.eof()),
        }
    }

    /// Accepts the end of the document.
    #[inline]
    pub(super) fn end(&mut self) -> Result<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.syntax(Syntax::Trailing)),
        }
    }

    /// An error at the current position.
    #[cold]
    pub(super) fn syntax(&self, what: Syntax) -> Error {
        Error::syntax(what, self.at)
    }

    #[cold]
    pub(super) fn eof(&self) -> Error {
        Error::eof(self.bytes.len())
    }

    /// What is wrong at the current position: the end of the document, or `what`.
    #[cold]
    pub(super) fn unexpected(&self, what: Syntax) -> Error {
        if self.at < self.bytes.len() { self.syntax(what) } else { self.eof() }
    }

    /// Passes the bracket at the current position and counts the level.
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

    /// Passes the closing bracket at the current position.
    #[inline(always)]
    pub(super) fn leave(&mut self) {
        self.levels += 1;
        self.at += 1;
    }

    /// Passes the quote that must begin a key; returns where it is.
    #[inline(always)]
    pub(super) fn key_start(&mut self) -> Result<usize> {
        match self.peek() {
            Some(b'"') => {
                self.at += 1;
                Ok(self.at - 1)
            }
            _ => Err(self.unexpected(Syntax::Key)),
        }
    }

    /// Passes the colon behind a key.
    #[inline(always)]
    pub(super) fn colon(&mut self) -> Result<()> {
        match self.peek() {
            Some(b':') => {
                self.at += 1;
                Ok(())
            }
            _ => Err(self.unexpected(Syntax::Colon)),
        }
    }

    /// Passes one of the literal names of section 3.
    #[inline(always)]
    pub(super) fn literal<const N: usize>(&mut self, name: &[u8; N]) -> Result<()> {
        if self.bytes.get(self.at..).and_then(<[u8]>::first_chunk::<N>) == Some(name) {
            self.at += N;
            Ok(())
        } else {
            Err(self.misspelt(name))
        }
    }

    /// Points at the first byte that deviates.
    #[cold]
    fn misspelt(&mut self, name: &[u8]) -> Error {
        let same =
            self.bytes[self.at..].iter().zip(name).take_while(|(found, wanted)| found == wanted).count();
        self.at += same;
        self.unexpected(Syntax::Value)
    }
}

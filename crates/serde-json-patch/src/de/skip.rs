//! Values that are not decoded.

#[cfg(feature = "raw_value")]
use serde::de::Visitor;

use super::Deserializer;
use crate::error::{Error, Reason, Result};
use crate::read::{Read, peek_error};

impl<'de, R: Read<'de>> Deserializer<R> {
    /// Consumes a value of any depth.
    pub(super) fn skip(&mut self) -> Result<()> {
        if self.read.skip_value() { Ok(()) } else { self.skip_slowly() }
    }

    /// Same as [`skip`](Self::skip) for a reader, and for values that the engine rejects: finds the error, or accepts lone
    /// surrogates.
    fn skip_slowly(&mut self) -> Result<()> {
        // Closing brackets of the open arrays and objects.
        let mut open = Vec::new();
        loop {
            match self.first()? {
                b'n' => self.read.literal(b"null")?,
                b't' => self.read.literal(b"true")?,
                b'f' => self.read.literal(b"false")?,
                b'-' | b'0'..=b'9' => self.read.skip_number()?,
                b'"' => {
                    self.read.discard();
                    self.read.skip_string()?;
                }
                bracket @ (b'[' | b'{') => {
                    self.read.discard();
                    let end = if bracket == b'[' { b']' } else { b'}' };
                    match self.read.token()? {
                        Some(next) if next == end => self.read.discard(),
                        Some(_) => {
                            open.push(end);
                            self.skip_key(end)?;
                            continue;
                        }
                        None => return Err(self.unclosed(end)),
                    }
                }
                _ => return Err(peek_error(&self.read, Reason::VALUE)),
            }
            // The value may be the last one of several arrays and objects.
            loop {
                let Some(end) = open.last().copied() else { return Ok(()) };
                match self.read.token()? {
                    Some(b',') => {
                        self.read.discard();
                        self.skip_key(end)?;
                        break;
                    }
                    Some(next) if next == end => {
                        self.read.discard();
                        open.pop();
                    }
                    Some(_) if end == b']' => return Err(peek_error(&self.read, Reason::LIST_END)),
                    Some(_) => return Err(peek_error(&self.read, Reason::OBJECT_END)),
                    None => return Err(self.unclosed(end)),
                }
            }
        }
    }

    /// Returns the error for the end of the input before this bracket.
    #[cold]
    fn unclosed(&self, end: u8) -> Error {
        peek_error(&self.read, if end == b']' { Reason::EOF_LIST } else { Reason::EOF_OBJECT })
    }

    /// Consumes the key of an entry and its colon, in an object.
    fn skip_key(&mut self, end: u8) -> Result<()> {
        if end == b']' {
            return Ok(());
        }
        match self.read.token()? {
            Some(b'"') => self.read.discard(),
            Some(_) => return Err(peek_error(&self.read, Reason::KEY)),
            None => return Err(peek_error(&self.read, Reason::EOF_OBJECT)),
        }
        self.read.skip_string()?;
        self.colon()
    }

    #[cfg(feature = "raw_value")]
    pub(super) fn raw_value<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        self.read.token()?;
        self.read.start_raw();
        self.skip()?;
        self.read.end_raw(visitor)
    }
}

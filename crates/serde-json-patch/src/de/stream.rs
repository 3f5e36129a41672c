//! Iterator over values in a row.

use std::iter::FusedIterator;
use std::marker::PhantomData;

use serde::de::Deserialize;

use super::Deserializer;
use crate::error::{Reason, Result};
use crate::read::{Fused, Read, peek_error};

/// Iterator over the values of a [`Deserializer`].
///
/// Values may be separated by white space. A number, boolean or `null` must be followed by white space, a bracket, a quote,
/// a comma, a colon, or the end.
pub struct StreamDeserializer<'de, R, T> {
    de: Deserializer<R>,
    offset: usize,
    is_failed: bool,
    output: PhantomData<T>,
    lifetime: PhantomData<&'de ()>,
}

impl<'de, R: Read<'de>, T: Deserialize<'de>> StreamDeserializer<'de, R, T> {
    /// Returns an iterator over the values of one of the inputs of this module.
    pub fn new(read: R) -> Self {
        Self::of(Deserializer::new(read))
    }

    pub(super) fn of(de: Deserializer<R>) -> Self {
        let offset = de.read.byte_offset();
        Self { de, offset, is_failed: false, output: PhantomData, lifetime: PhantomData }
    }

    /// Returns the offset after the last value; after an error, the offset of the value that has it.
    pub fn byte_offset(&self) -> usize {
        self.offset
    }

    /// Decodes the next value. Sets the offset before and after it. Returns its first byte, too.
    fn decode(&mut self) -> Result<Option<(u8, T)>> {
        let first = self.de.read.token()?;
        self.offset = self.de.read.byte_offset();
        let Some(first) = first else { return Ok(None) };
        let value = T::deserialize(&mut self.de)?;
        self.offset = self.de.read.byte_offset();
        Ok(Some((first, value)))
    }
}

impl<'de, R: Read<'de>, T: Deserialize<'de>> Iterator for StreamDeserializer<'de, R, T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        if self.is_failed {
            return None;
        }
        match self.decode() {
            Ok(Some((b'[' | b'{' | b'"', value))) => Some(Ok(value)),
            Ok(Some((_, value))) => match self.de.read.peek() {
                Ok(
                    None
                    | Some(b' ' | b'\n' | b'\t' | b'\r' | b'"' | b'[' | b']' | b'{' | b'}' | b',' | b':'),
                ) => Some(Ok(value)),
                Ok(Some(_)) => Some(Err(peek_error(&self.de.read, Reason::TRAILING))),
                Err(error) => Some(Err(error)),
            },
            Ok(None) => None,
            Err(error) => {
                self.is_failed = R::STAYS;
                self.de.read.fail();
                Some(Err(error))
            }
        }
    }
}

impl<'de, R: Read<'de> + Fused, T: Deserialize<'de>> FusedIterator for StreamDeserializer<'de, R, T> {}

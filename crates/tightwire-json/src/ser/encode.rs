//! Methods of [`Codec`] that encode.

use std::fmt;
use std::io::Write;

use serde::Serialize;

use super::format::{self, Format};
use super::pretty::indented;
use super::{Canonical, Go, Plain, Pretty, VecSerializer};
use crate::codec::{Codec, Mode};
use crate::error::{Error, Result};
use crate::scan;

impl Codec {
    /// Encodes `value` into a new vector.
    ///
    /// # Errors
    ///
    /// [`Error::is_encode`] for NaN and infinity, a map key other than a string, character, number, boolean or unit
    /// variant, a raw value that is not JSON, and an error of a `Serialize` implementation. [`Mode::Canonical`] has
    /// additional errors.
    #[inline]
    pub fn to_vec<T: Serialize + ?Sized>(&self, value: &T) -> Result<Vec<u8>> {
        match self.mode {
            Mode::Strict | Mode::Fast => VecSerializer::document(Plain, self.mode, value),
            Mode::Compat => VecSerializer::document(Go, self.mode, value),
            Mode::Canonical => VecSerializer::document(Canonical, self.mode, value),
        }
    }

    /// Encodes `value` into a new string.
    ///
    /// # Errors
    ///
    /// Same as [`to_vec`](Self::to_vec).
    pub fn to_string<T: Serialize + ?Sized>(&self, value: &T) -> Result<String> {
        utf8(self.to_vec(value)?)
    }

    /// Encodes `value` with one line per element and entry, indented by `indent` per level. Empty arrays and objects
    /// stay on one line. Raw values are written without changes, in [`Mode::Compat`] with indentation. With
    /// [`Mode::Canonical`], keys and numbers are those of the canonical form, but the document is not canonical because of
    /// the white space.
    ///
    /// The output is valid JSON only if `indent` is white space as defined by RFC 8259: space, tab, CR, LF.
    ///
    /// # Errors
    ///
    /// Same as [`to_vec`](Self::to_vec).
    pub fn to_vec_pretty<T: Serialize + ?Sized>(&self, value: &T, indent: &str) -> Result<Vec<u8>> {
        match self.mode {
            Mode::Strict | Mode::Fast => VecSerializer::document(Pretty::new(indent), self.mode, value),
            // Keys are sorted in the compact document.
            Mode::Compat | Mode::Canonical => Ok(indented(&self.to_vec(value)?, &Pretty::new(indent))),
        }
    }

    /// Encodes `value` in another format, such as with short arrays on one line, ASCII only, or rounded floats.
    ///
    /// # Errors
    ///
    /// Same as [`to_vec`](Self::to_vec).
    pub fn to_string_formatted<T, F>(&self, value: &T, format: &F) -> Result<String>
    where
        T: Serialize + ?Sized,
        F: Format + ?Sized,
    {
        Ok(format::format(&self.to_string(value)?, format))
    }

    /// Encodes `value` like [`to_vec_pretty`](Self::to_vec_pretty) into a new string.
    ///
    /// # Errors
    ///
    /// Same as [`to_vec`](Self::to_vec).
    pub fn to_string_pretty<T: Serialize + ?Sized>(&self, value: &T, indent: &str) -> Result<String> {
        utf8(self.to_vec_pretty(value, indent)?)
    }

    /// Encodes `value` like [`to_vec_pretty`](Self::to_vec_pretty), then writes the complete document.
    ///
    /// # Errors
    ///
    /// Same as [`to_writer`](Self::to_writer).
    pub fn to_writer_pretty<W: Write, T: Serialize + ?Sized>(
        &self,
        mut writer: W,
        value: &T,
        indent: &str,
    ) -> Result<()> {
        writer.write_all(&self.to_vec_pretty(value, indent)?).map_err(Error::io)
    }

    /// Encodes `value`, then writes the complete document.
    ///
    /// # Errors
    ///
    /// Same as [`to_vec`](Self::to_vec), without writing anything, and [`Error::is_io`] if the writer fails.
    pub fn to_writer<W: Write, T: Serialize + ?Sized>(&self, mut writer: W, value: &T) -> Result<()> {
        writer.write_all(&self.to_vec(value)?).map_err(Error::io)
    }

    /// Encodes `value`, then writes the complete document to a [`fmt::Write`]: appends it to a [`String`], or writes it in
    /// an implementation of [`Display`](fmt::Display).
    ///
    /// # Errors
    ///
    /// Same as [`to_writer`](Self::to_writer).
    pub fn to_fmt_writer<W: fmt::Write, T: Serialize + ?Sized>(
        &self,
        mut writer: W,
        value: &T,
    ) -> Result<()> {
        writer.write_str(&self.to_string(value)?).map_err(Error::io)
    }

    /// Appends the encoded `value` to `buffer`. Does not allocate if the spare capacity is at least 20 bytes larger
    /// than the document.
    ///
    /// # Errors
    ///
    /// Same as [`to_vec`](Self::to_vec); the buffer is unchanged. If a `Serialize` implementation panics, the buffer is
    /// left empty.
    #[inline]
    pub fn to_buf<T: Serialize + ?Sized>(&self, buffer: &mut Vec<u8>, value: &T) -> Result<()> {
        match self.mode {
            Mode::Strict | Mode::Fast => VecSerializer::append(Plain, buffer, self.mode, value),
            Mode::Compat => VecSerializer::append(Go, buffer, self.mode, value),
            Mode::Canonical => VecSerializer::append(Canonical, buffer, self.mode, value),
        }
    }

    /// Encodes `value` into reference-counted bytes. Requires the feature `bytes`.
    ///
    /// # Errors
    ///
    /// Same as [`to_vec`](Self::to_vec).
    #[cfg(feature = "bytes")]
    pub fn to_bytes<T: Serialize + ?Sized>(&self, value: &T) -> Result<bytes::Bytes> {
        self.to_vec(value).map(Into::into)
    }
}

fn utf8(document: Vec<u8>) -> Result<String> {
    scan::into_text(document).ok_or_else(|| serde::ser::Error::custom("the document is not UTF-8"))
}

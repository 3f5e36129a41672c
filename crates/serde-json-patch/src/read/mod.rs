//! Input of the deserializer.

mod io;
mod slice;

use std::ops::Deref;

#[cfg(feature = "raw_value")]
use serde::de::Visitor;
use tightwire_json::engine::Number;

#[cfg(feature = "std")]
pub use self::io::IoRead;
pub use self::slice::{SliceRead, StrRead};
use crate::error::{Error, Reason, Result};

/// Text or bytes of the input, or of a buffer.
pub enum Reference<'b, 'c, T: ?Sized + 'static> {
    Borrowed(&'b T),
    Copied(&'c T),
}

impl<T: ?Sized> Deref for Reference<'_, '_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Borrowed(value) => value,
            Self::Copied(value) => value,
        }
    }
}

/// Line and column: the number of bytes in the line.
pub(crate) type Position = (usize, usize);

/// Input of a [`Deserializer`](crate::Deserializer). Implemented by [`StrRead`], [`SliceRead`], `IoRead`, and mutable
/// references to them. No other type can implement it.
pub trait Read<'de>: private::Sealed {
    /// Whether a failed input stays at its position, so that the iterator over its values has to remember the failure.
    #[doc(hidden)]
    const STAYS: bool;

    /// Returns the next byte.
    #[doc(hidden)]
    fn peek(&mut self) -> Result<Option<u8>>;

    /// Skips white space and returns the next byte.
    #[doc(hidden)]
    fn token(&mut self) -> Result<Option<u8>>;

    /// Consumes the byte that `peek` or `token` returned.
    #[doc(hidden)]
    fn discard(&mut self);

    /// Returns the position of the last consumed byte.
    #[doc(hidden)]
    fn position(&self) -> Position;

    /// Returns the position of the next byte.
    #[doc(hidden)]
    fn peek_position(&self) -> Position;

    #[doc(hidden)]
    fn byte_offset(&self) -> usize;

    /// Consumes a literal name.
    #[doc(hidden)]
    fn literal<const N: usize>(&mut self, name: &[u8; N]) -> Result<()>;

    /// Consumes a number. If it is a float and `single`, it is rounded to `f32`. One that `f32` cannot represent is an error
    /// with the feature `float_roundtrip`, and otherwise not rounded.
    #[doc(hidden)]
    fn number(&mut self, single: bool) -> Result<Number>;

    /// Consumes a number in a document for a `f64`, or for a value that is not a number.
    #[doc(hidden)]
    #[inline]
    fn fraction(&mut self) -> Option<f64> {
        None
    }

    /// Consumes a number of any size and returns its text.
    #[doc(hidden)]
    #[cfg(feature = "arbitrary_precision")]
    fn number_text(&mut self) -> Result<&str>;

    /// Consumes the rest of a string after the opening quote.
    #[doc(hidden)]
    fn string<'s>(&'s mut self) -> Result<Reference<'de, 's, str>>;

    /// Same as `string`, but control characters and lone surrogates are allowed.
    #[doc(hidden)]
    fn byte_string<'s>(&'s mut self) -> Result<Reference<'de, 's, [u8]>>;

    /// Consumes the rest of a string after the opening quote.
    #[doc(hidden)]
    fn skip_string(&mut self) -> Result<()>;

    /// Consumes a number.
    #[doc(hidden)]
    fn skip_number(&mut self) -> Result<()>;

    /// Consumes a value if that is possible at once and without errors.
    #[doc(hidden)]
    #[inline]
    fn skip_value(&mut self) -> bool {
        false
    }

    /// Starts a raw value at the next byte.
    #[doc(hidden)]
    #[cfg(feature = "raw_value")]
    fn start_raw(&mut self);

    /// Visits the bytes since the start of the raw value.
    #[doc(hidden)]
    #[cfg(feature = "raw_value")]
    fn end_raw<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value>;

    /// Removes the rest of the input after an error, if `STAYS` is false.
    #[doc(hidden)]
    fn fail(&mut self);
}

mod private {
    pub trait Sealed {}
}

/// Input without I/O errors.
pub trait Fused: private::Sealed {}

/// Returns an error at the last consumed byte.
#[cold]
pub(crate) fn error<'de>(read: &impl Read<'de>, reason: Reason) -> Error {
    let (line, column) = read.position();
    Error::new(reason, line, column)
}

/// Returns an error at the next byte.
#[cold]
pub(crate) fn peek_error<'de>(read: &impl Read<'de>, reason: Reason) -> Error {
    let (line, column) = read.peek_position();
    Error::new(reason, line, column)
}

/// Returns the content of a string after its closing quote as text. The column of the error is exact if the string has no
/// escapes.
fn text(content: &[u8], position: impl FnOnce() -> Position) -> Result<&str> {
    std::str::from_utf8(content).map_err(|error| {
        let (line, column) = position();
        let rest = content.len() - error.valid_up_to();
        Error::new(Reason::UNICODE, line, column.saturating_sub(rest))
    })
}

/// Rounds a float to `f32`, directly from its text. `None` if it is out of range.
fn single(text: &[u8], float: f64) -> Option<Number> {
    let value = std::str::from_utf8(text).ok()?.parse().ok();
    match value.filter(|value: &f32| value.is_finite()) {
        Some(value) => Some(Number::Float(value.into())),
        None => (!cfg!(feature = "float_roundtrip")).then_some(Number::Float(float)),
    }
}

impl<R> private::Sealed for &mut R where R: private::Sealed {}

impl<'de, R: Read<'de>> Read<'de> for &mut R {
    const STAYS: bool = R::STAYS;

    fn peek(&mut self) -> Result<Option<u8>> {
        R::peek(self)
    }

    fn token(&mut self) -> Result<Option<u8>> {
        R::token(self)
    }

    fn discard(&mut self) {
        R::discard(self);
    }

    fn position(&self) -> Position {
        R::position(self)
    }

    fn peek_position(&self) -> Position {
        R::peek_position(self)
    }

    fn byte_offset(&self) -> usize {
        R::byte_offset(self)
    }

    fn literal<const N: usize>(&mut self, name: &[u8; N]) -> Result<()> {
        R::literal(self, name)
    }

    fn number(&mut self, single: bool) -> Result<Number> {
        R::number(self, single)
    }

    fn fraction(&mut self) -> Option<f64> {
        R::fraction(self)
    }

    #[cfg(feature = "arbitrary_precision")]
    fn number_text(&mut self) -> Result<&str> {
        R::number_text(self)
    }

    fn string<'s>(&'s mut self) -> Result<Reference<'de, 's, str>> {
        R::string(self)
    }

    fn byte_string<'s>(&'s mut self) -> Result<Reference<'de, 's, [u8]>> {
        R::byte_string(self)
    }

    fn skip_string(&mut self) -> Result<()> {
        R::skip_string(self)
    }

    fn skip_number(&mut self) -> Result<()> {
        R::skip_number(self)
    }

    fn skip_value(&mut self) -> bool {
        R::skip_value(self)
    }

    #[cfg(feature = "raw_value")]
    fn start_raw(&mut self) {
        R::start_raw(self);
    }

    #[cfg(feature = "raw_value")]
    fn end_raw<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        R::end_raw(self, visitor)
    }

    fn fail(&mut self) {
        R::fail(self);
    }
}

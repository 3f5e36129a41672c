//! Whether decoded values may borrow from the document.

use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{EnumAccess, IntoDeserializer, Visitor};

use crate::error::{Error, Result};

/// Document with the lifetime `'t`, for values with the lifetime `'de`.
pub trait Source<'t, 'de> {
    /// Deserializer of a string without escapes.
    type Text: IntoDeserializer<'de, Error> + EnumAccess<'de, Error = Error>;

    fn text(text: &'t str) -> Self::Text;
    fn visit_str<V: Visitor<'de>>(text: &'t str, visitor: V) -> Result<V::Value>;
    fn visit_bytes<V: Visitor<'de>>(bytes: &'t [u8], visitor: V) -> Result<V::Value>;
}

/// Document that outlives the decoded value.
#[derive(Debug)]
pub struct Borrowed;

/// Document in a buffer that is overwritten afterwards.
#[derive(Debug)]
pub(crate) struct Copied;

impl<'de> Source<'de, 'de> for Borrowed {
    type Text = BorrowedStrDeserializer<'de, Error>;

    fn text(text: &'de str) -> Self::Text {
        BorrowedStrDeserializer::new(text)
    }

    #[inline(always)]
    fn visit_str<V: Visitor<'de>>(text: &'de str, visitor: V) -> Result<V::Value> {
        visitor.visit_borrowed_str(text)
    }

    #[inline(always)]
    fn visit_bytes<V: Visitor<'de>>(bytes: &'de [u8], visitor: V) -> Result<V::Value> {
        visitor.visit_borrowed_bytes(bytes)
    }
}

impl<'t, 'de> Source<'t, 'de> for Copied {
    type Text = StrDeserializer<'t, Error>;

    fn text(text: &'t str) -> Self::Text {
        StrDeserializer::new(text)
    }

    fn visit_str<V: Visitor<'de>>(text: &'t str, visitor: V) -> Result<V::Value> {
        visitor.visit_str(text)
    }

    fn visit_bytes<V: Visitor<'de>>(bytes: &'t [u8], visitor: V) -> Result<V::Value> {
        visitor.visit_bytes(bytes)
    }
}

//! Deserializer of object keys: strings, and numbers, booleans and enum variants written as strings.

use serde::de::{self, Unexpected, Visitor};
use serde::forward_to_deserialize_any;

use super::Deserializer;
use crate::error::{Error, Reason, Result};
use crate::read::{Read, Reference, error, peek_error};

/// Key of an object, before its opening quote.
pub(super) struct Key<'a, R>(pub(super) &'a mut Deserializer<R>);

impl<'de, R: Read<'de>> Key<'_, R> {
    /// Decodes a number between the quotes.
    fn number<T>(self, decode: impl FnOnce(&mut Deserializer<R>) -> Result<T>) -> Result<T> {
        let Self(de) = self;
        de.read.discard();
        let Some(b'-' | b'0'..=b'9') = de.read.peek()? else {
            return Err(error(&de.read, Reason::NUMERIC_KEY));
        };
        let value = decode(de)?;
        let Some(b'"') = de.read.peek()? else {
            return Err(peek_error(&de.read, Reason::QUOTE));
        };
        de.read.discard();
        Ok(value)
    }
}

macro_rules! numbers {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                self.number(|de| de.$method(visitor))
            }
        )*
    };
}

impl<'de, R: Read<'de>> de::Deserializer<'de> for Key<'_, R> {
    type Error = Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.0.read.discard();
        match self.0.read.string()? {
            Reference::Borrowed(text) => visitor.visit_borrowed_str(text),
            Reference::Copied(text) => visitor.visit_str(text),
        }
    }

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let Self(de) = self;
        de.read.discard();
        let result = match de.read.peek()? {
            Some(b't') => {
                de.read.literal(b"true\"")?;
                visitor.visit_bool(true)
            }
            Some(b'f') => {
                de.read.literal(b"false\"")?;
                visitor.visit_bool(false)
            }
            Some(_) => {
                // The message lacks the first byte, as that of serde_json.
                de.read.discard();
                Err(de::Error::invalid_type(Unexpected::Str(&de.read.string()?), &visitor))
            }
            None => return Err(peek_error(&de.read, Reason::EOF_VALUE)),
        };
        de.place(result)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value> {
        #[cfg(feature = "raw_value")]
        if name == crate::raw::TOKEN {
            return self.0.raw_value(visitor);
        }
        let _ = name;
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.0.deserialize_enum(name, variants, visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.0.deserialize_bytes(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.0.deserialize_bytes(visitor)
    }

    forward_to_deserialize_any! {
        char str string identifier unit unit_struct seq tuple tuple_struct map struct ignored_any
    }
}

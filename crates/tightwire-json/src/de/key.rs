//! Deserializer of object keys: strings, and numbers, booleans and enum variants written as strings.

use serde::de::{self, Deserializer, Visitor};

use super::borrow::Source;
use super::parser::{Parser, locate};
use crate::error::{Error, Result};
use crate::marks::raw_token;

/// Key of an object. The parser is positioned after the opening quote.
pub(super) struct Key<'a, 't, 'p, M>(pub(super) &'a mut Parser<'t, 'p, M>);

impl<'t, 'de, M: Source<'t, 'de>> Key<'_, 't, '_, M> {
    /// Reads a number between the quotes. Any other key is passed to the visitor as a string, so that the error names
    /// the expected type.
    fn number<V: Visitor<'de>>(
        self,
        visitor: V,
        read: impl FnOnce(&mut Parser<'t, '_, M>, V) -> Result<V::Value>,
    ) -> Result<V::Value> {
        let Self(parser) = self;
        let start = parser.at - 1;
        let Some(b'-' | b'0'..=b'9') = parser.bytes.get(parser.at) else {
            return parser.visit_open_string(visitor);
        };
        let value = match read(parser, visitor) {
            // The document is not malformed: as a string, the key is valid up to here.
            Err(error) if error.is_syntax() => return Err(not_a_number(start)),
            result => locate(result, start)?,
        };
        match parser.bytes.get(parser.at) {
            Some(b'"') => {
                parser.at += 1;
                Ok(value)
            }
            Some(_) => Err(not_a_number(start)),
            None => Err(parser.eof()),
        }
    }
}

#[cold]
fn not_a_number(start: usize) -> Error {
    let error: Error = de::Error::custom("the key is not a number");
    error.at(start)
}

macro_rules! number {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                self.number(visitor, |parser, visitor| parser.$method(visitor))
            }
        )*
    };
}

impl<'t, 'de, M: Source<'t, 'de>> Deserializer<'de> for Key<'_, 't, '_, M> {
    type Error = Error;

    serde::forward_to_deserialize_any! {
        char str string identifier unit unit_struct seq tuple tuple_struct map struct
    }

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.0.visit_open_string(visitor)
    }

    number! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let start = self.0.at - 1;
        let result = match self.0.string()?.as_str() {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            other => Err(de::Error::invalid_type(de::Unexpected::Str(other), &visitor)),
        };
        locate(result, start)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.0.visit_open_bytes(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value> {
        if raw_token(name).is_some() {
            self.0.at -= 1;
            return self.0.deserialize_newtype_struct(name, visitor);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.0.at -= 1;
        self.0.deserialize_enum(name, variants, visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.0.skip_string()?;
        visitor.visit_unit()
    }
}

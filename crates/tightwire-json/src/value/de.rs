//! Deserialization of other types from trees.

use serde::de::value::MapDeserializer;
use serde::de::{self, Deserializer, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;

use super::de_parts::{Text, Variant, visit_array, visit_object, visit_variant};
use super::{Map, Value};
use crate::error::{Error, Result};
use crate::marks::raw_token;

macro_rules! numbers {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                match self.as_number() {
                    Some(number) => number.$method(visitor),
                    None => Err(self.invalid_type(&visitor)),
                }
            }
        )*
    };
}

macro_rules! texts {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                match self {
                    Value::String(text) => text.visit(visitor),
                    other => Err(other.invalid_type(&visitor)),
                }
            }
        )*
    };
}

/// Implements the traits for the owned and the borrowed tree.
macro_rules! value_deserializer {
    ($($type:ty)*) => {
        $(
            impl<'de> Deserializer<'de> for $type {
                type Error = Error;

                numbers! {
                    deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
                    deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
                    deserialize_f32 deserialize_f64
                }

                texts! { deserialize_char deserialize_str deserialize_string deserialize_identifier }

                fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                    match self {
                        Value::Null => visitor.visit_unit(),
                        Value::Bool(_) => self.deserialize_bool(visitor),
                        Value::Number(number) => number.deserialize_any(visitor),
                        Value::String(text) => text.visit(visitor),
                        Value::Array(array) => visit_array(array.into_iter(), visitor),
                        Value::Object(map) => visit_object(map.into_iter(), visitor),
                    }
                }

                fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                    match self.as_bool() {
                        Some(value) => visitor.visit_bool(value),
                        None => Err(self.invalid_type(&visitor)),
                    }
                }

                fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                    match self {
                        Value::String(text) => text.visit(visitor),
                        other => other.deserialize_seq(visitor),
                    }
                }

                fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                    self.deserialize_bytes(visitor)
                }

                fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                    match self {
                        Value::Null => visitor.visit_none(),
                        other => visitor.visit_some(other),
                    }
                }

                fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                    match self {
                        Value::Null => visitor.visit_unit(),
                        other => Err(other.invalid_type(&visitor)),
                    }
                }

                fn deserialize_unit_struct<V: Visitor<'de>>(
                    self,
                    _name: &'static str,
                    visitor: V,
                ) -> Result<V::Value> {
                    self.deserialize_unit(visitor)
                }

                fn deserialize_newtype_struct<V: Visitor<'de>>(
                    self,
                    name: &'static str,
                    visitor: V,
                ) -> Result<V::Value> {
                    if let Some(token) = raw_token(name) {
                        let entry = std::iter::once((token, crate::to_string(&self)?));
                        return visitor.visit_map(MapDeserializer::new(entry));
                    }
                    visitor.visit_newtype_struct(self)
                }

                fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                    match self {
                        Value::Array(array) => visit_array(array.into_iter(), visitor),
                        other => Err(other.invalid_type(&visitor)),
                    }
                }

                fn deserialize_tuple<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value> {
                    self.deserialize_seq(visitor)
                }

                fn deserialize_tuple_struct<V: Visitor<'de>>(
                    self,
                    _name: &'static str,
                    _len: usize,
                    visitor: V,
                ) -> Result<V::Value> {
                    self.deserialize_seq(visitor)
                }

                fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                    match self {
                        Value::Object(map) => visit_object(map.into_iter(), visitor),
                        other => Err(other.invalid_type(&visitor)),
                    }
                }

                fn deserialize_struct<V: Visitor<'de>>(
                    self,
                    _name: &'static str,
                    _fields: &'static [&'static str],
                    visitor: V,
                ) -> Result<V::Value> {
                    match self {
                        Value::Array(array) => visit_array(array.into_iter(), visitor),
                        other => other.deserialize_map(visitor),
                    }
                }

                fn deserialize_enum<V: Visitor<'de>>(
                    self,
                    _name: &'static str,
                    _variants: &'static [&'static str],
                    visitor: V,
                ) -> Result<V::Value> {
                    match self {
                        Value::String(variant) => visitor.visit_enum(Variant { variant, content: None::<Self> }),
                        Value::Object(map) => visit_variant(map.into_iter(), visitor),
                        other => Err(other.invalid_type(&"a string or an object")),
                    }
                }

                fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                    visitor.visit_unit()
                }
            }

            impl<'de> IntoDeserializer<'de, Error> for $type {
                type Deserializer = Self;

                fn into_deserializer(self) -> Self {
                    self
                }
            }
        )*
    };
}

value_deserializer! { Value &'de Value }

/// Implements the traits for the owned and the borrowed object.
macro_rules! map_deserializer {
    ($($type:ty)*) => {
        $(
            impl<'de> Deserializer<'de> for $type {
                type Error = Error;

                fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                    visit_object(self.into_iter(), visitor)
                }

                fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                    visitor.visit_some(self)
                }

                fn deserialize_newtype_struct<V: Visitor<'de>>(
                    self,
                    _name: &'static str,
                    visitor: V,
                ) -> Result<V::Value> {
                    visitor.visit_newtype_struct(self)
                }

                fn deserialize_enum<V: Visitor<'de>>(
                    self,
                    _name: &'static str,
                    _variants: &'static [&'static str],
                    visitor: V,
                ) -> Result<V::Value> {
                    visit_variant(self.into_iter(), visitor)
                }

                fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                    visitor.visit_unit()
                }

                forward_to_deserialize_any! {
                    bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
                    unit_struct seq tuple tuple_struct map struct identifier
                }
            }

            impl<'de> IntoDeserializer<'de, Error> for $type {
                type Deserializer = Self;

                fn into_deserializer(self) -> Self {
                    self
                }
            }
        )*
    };
}

map_deserializer! { Map<String, Value> &'de Map<String, Value> }

impl Value {
    #[cold]
    fn invalid_type(&self, expected: &dyn de::Expected) -> Error {
        de::Error::invalid_type(self.unexpected(), expected)
    }

    pub(super) fn unexpected(&self) -> Unexpected<'_> {
        match self {
            Self::Null => Unexpected::Unit,
            Self::Bool(value) => Unexpected::Bool(*value),
            Self::Number(number) => number.unexpected(),
            Self::String(text) => Unexpected::Str(text),
            Self::Array(_) => Unexpected::Seq,
            Self::Object(_) => Unexpected::Map,
        }
    }
}

//! Serialization of trees, and of other types into trees.

use std::fmt::Display;

use serde::Serialize;
use serde::ser::{self, Error as _};

use super::deserialize::bounded;
use super::{JsonString, Map, Number, Value, as_text};
use crate::error::{Error, Result};
use crate::raw::raw_token;
use crate::ser::{NUMBER_TOKEN, encode_key, is_token};

impl Serialize for Value {
    #[inline]
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(array) => array.serialize(serializer),
            Self::Object(map) => map.serialize(serializer),
        }
    }
}

/// Converts `value` to a tree, as if it were encoded and decoded.
///
/// There are these differences: NaN and infinity become `null`, as in serde_json; an `f32` becomes the equal `f64`; and
/// integers that exceed 64 bits become written numbers (see [`Number::from_written`]).
///
/// # Errors
/// If a map key cannot be written as a string, if a raw value is not JSON, or if the `Serialize` implementation returns
/// an error.
///
/// # Examples
/// ```
/// use tightwire_json::{json, to_value};
///
/// assert_eq!(to_value(Some([1, 2]))?, json!([1, 2]));
/// # Ok::<(), tightwire_json::Error>(())
/// ```
pub fn to_value<T: Serialize>(value: T) -> Result<Value> {
    value.serialize(Serializer)
}

/// Serializer that returns a [`Value`]. See [`to_value`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Serializer;

macro_rules! from {
    ($($method:ident($type:ty))*) => {
        $(
            fn $method(self, value: $type) -> Result<Value> {
                Ok(value.into())
            }
        )*
    };
}

impl ser::Serializer for Serializer {
    type Ok = Value;
    type Error = Error;
    type SerializeSeq = Elements;
    type SerializeTuple = Elements;
    type SerializeTupleStruct = Elements;
    type SerializeTupleVariant = Elements;
    type SerializeMap = Entries;
    type SerializeStruct = Fields;
    type SerializeStructVariant = Entries;

    from! {
        serialize_bool(bool)
        serialize_i8(i8)
        serialize_i16(i16)
        serialize_i32(i32)
        serialize_i64(i64)
        serialize_i128(i128)
        serialize_u8(u8)
        serialize_u16(u16)
        serialize_u32(u32)
        serialize_u64(u64)
        serialize_u128(u128)
        serialize_f32(f32)
        serialize_f64(f64)
        serialize_str(&str)
        serialize_bytes(&[u8])
    }

    fn serialize_char(self, value: char) -> Result<Value> {
        Ok(Value::String(value.into()))
    }

    fn serialize_none(self) -> Result<Value> {
        Ok(Value::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Value> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Value> {
        Ok(Value::Null)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<Value> {
        Ok(Value::Null)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<Value> {
        Ok(variant.into())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<Value> {
        match name {
            NUMBER_TOKEN => as_text(|| value.serialize(self)),
            _ => value.serialize(self),
        }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Value> {
        Ok(variant_object(Some(variant), to_value(value)?))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Elements> {
        Ok(Elements { variant: None, elements: Vec::with_capacity(bounded(len)) })
    }

    fn serialize_tuple(self, len: usize) -> Result<Elements> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(self, _name: &'static str, len: usize) -> Result<Elements> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Elements> {
        Ok(Elements { variant: Some(variant), elements: Vec::with_capacity(bounded(Some(len))) })
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Entries> {
        Ok(Entries { variant: None, map: Map::with_capacity(bounded(len)), key: JsonString::default() })
    }

    fn serialize_struct(self, name: &'static str, len: usize) -> Result<Fields> {
        match is_token(name) {
            true => Ok(Fields::Raw(Value::Null)),
            false => self.serialize_map(Some(len)).map(Fields::Entries),
        }
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Entries> {
        Ok(Entries { variant: Some(variant), ..self.serialize_map(Some(len))? })
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<Value> {
        Ok(value.to_string().into())
    }
}

/// Returns the object around the content of an enum variant.
fn variant_object(variant: Option<&'static str>, content: Value) -> Value {
    match variant {
        Some(variant) => Value::from_iter([(variant, content)]),
        None => content,
    }
}

/// Serializer of an array.
#[derive(Debug)]
pub struct Elements {
    variant: Option<&'static str>,
    elements: Vec<Value>,
}

macro_rules! arrays {
    ($($kind:ident::$element:ident)*) => {
        $(
            impl ser::$kind for Elements {
                type Ok = Value;
                type Error = Error;

                fn $element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                    self.elements.push(to_value(value)?);
                    Ok(())
                }

                fn end(self) -> Result<Value> {
                    Ok(variant_object(self.variant, self.elements.into()))
                }
            }
        )*
    };
}

arrays! {
    SerializeSeq::serialize_element
    SerializeTuple::serialize_element
    SerializeTupleStruct::serialize_field
    SerializeTupleVariant::serialize_field
}

/// Serializer of an object.
#[derive(Debug)]
pub struct Entries {
    variant: Option<&'static str>,
    map: Map<String, Value>,
    /// Key without a value.
    key: JsonString,
}

impl ser::SerializeMap for Entries {
    type Ok = Value;
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        self.key = match to_value(key)? {
            Value::String(key) => key,
            // Other keys are rare, and so are written as by the encoder.
            _ => encode_key(key)?.into(),
        };
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.map.insert(std::mem::take(&mut self.key), to_value(value)?);
        Ok(())
    }

    fn end(self) -> Result<Value> {
        Ok(variant_object(self.variant, self.map.into()))
    }
}

impl ser::SerializeStructVariant for Entries {
    type Ok = Value;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<()> {
        self.map.insert(key, to_value(value)?);
        Ok(())
    }

    fn end(self) -> Result<Value> {
        Ok(variant_object(self.variant, self.map.into()))
    }
}

/// Serializer of a struct, or of a raw value or number, which are serialized as a struct with their text.
#[derive(Debug)]
pub enum Fields {
    /// Struct.
    Entries(Entries),
    /// Raw value or number.
    Raw(Value),
}

impl ser::SerializeStruct for Fields {
    type Ok = Value;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<()> {
        match self {
            Self::Entries(entries) => ser::SerializeStructVariant::serialize_field(entries, key, value),
            Self::Raw(raw) => {
                let text = to_value(value)?;
                let text = text.as_str().ok_or_else(|| Error::custom("raw value is not a string"))?;
                *raw = match raw_token(key) {
                    Some(_) => crate::from_str(text)
                        .map_err(|_| <Error as ser::Error>::custom("raw value is not valid JSON"))?,
                    None => Value::Number(Number::from_written(text)?),
                };
                Ok(())
            }
        }
    }

    fn end(self) -> Result<Value> {
        match self {
            Self::Entries(entries) => ser::SerializeMap::end(entries),
            Self::Raw(value) => Ok(value),
        }
    }
}

//! Encoding of trees, and conversion of other types to trees.

use std::fmt::Display;

use serde::ser::{self, Serialize};

use crate::error::{Error, Reason, Result};
use crate::map::Map;
use crate::number::Number;
#[cfg(any(feature = "arbitrary_precision", feature = "raw_value"))]
use crate::ser::only_text::{OnlyText, Target};
use crate::ser::reject::reject;
use crate::value::{Value, to_value};

impl Serialize for Value {
    #[inline]
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(elements) => elements.serialize(serializer),
            Self::Object(entries) => entries.serialize(serializer),
        }
    }
}

/// Serializer whose output is a [`Value`].
pub struct Serializer;

macro_rules! integers {
    ($($method:ident($type:ty))*) => {
        $(
            #[inline]
            fn $method(self, value: $type) -> Result<Value> {
                Ok(value.into())
            }
        )*
    };
}

/// Returns the number if it is in the range of numbers.
fn wide(number: Option<Number>) -> Result<Value> {
    number.map(Value::Number).ok_or_else(|| Error::of(Reason::OUT_OF_RANGE))
}

/// Returns the object with one entry that encodes an enum variant with content.
fn variant(name: &str, content: Value) -> Value {
    Value::Object(Map::from_iter([(name.to_owned(), content)]))
}

impl ser::Serializer for Serializer {
    type Ok = Value;
    type Error = Error;
    type SerializeSeq = SerializeVec;
    type SerializeTuple = SerializeVec;
    type SerializeTupleStruct = SerializeVec;
    type SerializeTupleVariant = SerializeVec;
    type SerializeMap = SerializeMap;
    type SerializeStruct = SerializeMap;
    type SerializeStructVariant = SerializeMap;

    integers! {
        serialize_bool(bool) serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_f32(f32)
        serialize_f64(f64) serialize_str(&str)
    }

    fn serialize_i128(self, value: i128) -> Result<Value> {
        wide(Number::from_i128(value))
    }

    fn serialize_u128(self, value: u128) -> Result<Value> {
        wide(Number::from_u128(value))
    }

    fn serialize_char(self, value: char) -> Result<Value> {
        Ok(Value::String(value.into()))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<Value> {
        Ok(value.into())
    }

    #[inline]
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
        self.serialize_str(variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<Value> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _name: &'static str,
        _index: u32,
        name: &'static str,
        value: &T,
    ) -> Result<Value> {
        Ok(variant(name, to_value(value)?))
    }

    #[inline]
    fn serialize_none(self) -> Result<Value> {
        Ok(Value::Null)
    }

    #[inline]
    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<Value> {
        value.serialize(self)
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<SerializeVec> {
        Ok(SerializeVec { variant: None, elements: Vec::with_capacity(len.unwrap_or(0)) })
    }

    fn serialize_tuple(self, len: usize) -> Result<SerializeVec> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(self, _name: &'static str, len: usize) -> Result<SerializeVec> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<SerializeVec> {
        Ok(SerializeVec { variant: Some(variant), elements: Vec::with_capacity(len) })
    }

    fn serialize_map(self, len: Option<usize>) -> Result<SerializeMap> {
        let entries = Map::with_capacity(len.unwrap_or(0));
        Ok(SerializeMap::Entries { variant: None, entries, key: None })
    }

    fn serialize_struct(self, name: &'static str, len: usize) -> Result<SerializeMap> {
        match name {
            #[cfg(feature = "arbitrary_precision")]
            crate::number::TOKEN => Ok(SerializeMap::Number(None)),
            #[cfg(feature = "raw_value")]
            crate::raw::TOKEN => Ok(SerializeMap::Raw(None)),
            _ => self.serialize_map(Some(len)),
        }
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<SerializeMap> {
        Ok(SerializeMap::Entries { variant: Some(variant), entries: Map::new(), key: None })
    }

    fn collect_str<T: ?Sized + Display>(self, value: &T) -> Result<Value> {
        Ok(Value::String(value.to_string()))
    }
}

/// Array that is being converted.
pub struct SerializeVec {
    variant: Option<&'static str>,
    elements: Vec<Value>,
}

macro_rules! arrays {
    ($($trait:ident $method:ident)*) => {
        $(
            impl ser::$trait for SerializeVec {
                type Ok = Value;
                type Error = Error;

                fn $method<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<()> {
                    self.elements.push(to_value(value)?);
                    Ok(())
                }

                fn end(self) -> Result<Value> {
                    let elements = Value::Array(self.elements);
                    Ok(match self.variant {
                        Some(name) => variant(name, elements),
                        None => elements,
                    })
                }
            }
        )*
    };
}

arrays! {
    SerializeSeq serialize_element SerializeTuple serialize_element
    SerializeTupleStruct serialize_field SerializeTupleVariant serialize_field
}

/// Object that is being converted.
pub enum SerializeMap {
    /// Object, also as the content of an enum variant.
    #[doc(hidden)]
    Entries {
        /// Name of the variant.
        variant: Option<&'static str>,
        /// Entries so far.
        entries: Map<String, Value>,
        /// Key of the next entry.
        key: Option<String>,
    },
    /// Number with all digits.
    #[cfg(feature = "arbitrary_precision")]
    #[doc(hidden)]
    Number(Option<Value>),
    /// Raw value.
    #[cfg(feature = "raw_value")]
    #[doc(hidden)]
    Raw(Option<Value>),
}

impl SerializeMap {
    /// Returns the entries and the pending key.
    fn entries(&mut self) -> (&mut Map<String, Value>, &mut Option<String>) {
        match self {
            Self::Entries { entries, key, .. } => (entries, key),
            // Only fields of a struct can be written there.
            #[cfg(feature = "arbitrary_precision")]
            Self::Number(_) => unreachable!(),
            #[cfg(feature = "raw_value")]
            Self::Raw(_) => unreachable!(),
        }
    }

    fn finish(self) -> Value {
        match self {
            Self::Entries { variant: None, entries, .. } => Value::Object(entries),
            Self::Entries { variant: Some(name), entries, .. } => variant(name, Value::Object(entries)),
            #[cfg(feature = "arbitrary_precision")]
            Self::Number(number) => number.expect("number value was not emitted"),
            #[cfg(feature = "raw_value")]
            Self::Raw(value) => value.expect("raw value was not emitted"),
        }
    }
}

impl ser::SerializeMap for SerializeMap {
    type Ok = Value;
    type Error = Error;

    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<()> {
        *self.entries().1 = Some(key.serialize(Key)?);
        Ok(())
    }

    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<()> {
        let (entries, key) = self.entries();
        let key = key.take().expect("serialize_value called before serialize_key");
        entries.insert(key, to_value(value)?);
        Ok(())
    }

    fn end(self) -> Result<Value> {
        Ok(self.finish())
    }
}

impl ser::SerializeStruct for SerializeMap {
    type Ok = Value;
    type Error = Error;

    fn serialize_field<T: ?Sized + Serialize>(&mut self, key: &'static str, value: &T) -> Result<()> {
        match self {
            Self::Entries { entries, .. } => {
                entries.insert(key.to_owned(), to_value(value)?);
            }
            #[cfg(feature = "arbitrary_precision")]
            Self::Number(number) if key == crate::number::TOKEN => {
                *number = Some(value.serialize(OnlyText(NumberText))?);
            }
            #[cfg(feature = "arbitrary_precision")]
            Self::Number(_) => return Err(NumberText::other()),
            #[cfg(feature = "raw_value")]
            Self::Raw(raw) if key == crate::raw::TOKEN => *raw = Some(value.serialize(OnlyText(RawText))?),
            #[cfg(feature = "raw_value")]
            Self::Raw(_) => return Err(RawText::other()),
        }
        Ok(())
    }

    fn end(self) -> Result<Value> {
        Ok(self.finish())
    }
}

impl ser::SerializeStructVariant for SerializeMap {
    type Ok = Value;
    type Error = Error;

    fn serialize_field<T: ?Sized + Serialize>(&mut self, key: &'static str, value: &T) -> Result<()> {
        ser::SerializeStruct::serialize_field(self, key, value)
    }

    fn end(self) -> Result<Value> {
        Ok(self.finish())
    }
}

#[cfg(feature = "arbitrary_precision")]
struct NumberText;

#[cfg(feature = "arbitrary_precision")]
impl Target for NumberText {
    type Ok = Value;

    fn text(self, text: &str) -> Result<Value> {
        text.parse().map(Value::Number)
    }

    fn other() -> Error {
        Error::of(Reason::NUMBER)
    }
}

#[cfg(feature = "raw_value")]
struct RawText;

#[cfg(feature = "raw_value")]
impl Target for RawText {
    type Ok = Value;

    fn text(self, text: &str) -> Result<Value> {
        crate::from_str(text)
    }

    fn other() -> Error {
        Error::of(Reason::VALUE)
    }
}

/// Serializer of a key.
struct Key;

macro_rules! display {
    ($($method:ident($type:ty))*) => {
        $(
            fn $method(self, value: $type) -> Result<String> {
                Ok(value.to_string())
            }
        )*
    };
}

impl Key {
    fn rejected(self) -> Error {
        Error::of(Reason::KEY)
    }
}

impl ser::Serializer for Key {
    type Ok = String;
    type Error = Error;

    display! {
        serialize_bool(bool) serialize_char(char) serialize_str(&str)
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128)
    }

    fn serialize_f32(self, value: f32) -> Result<String> {
        if !value.is_finite() {
            return Err(Error::of(Reason::FINITE_KEY));
        }
        Ok(zmij::Buffer::new().format_finite(value).to_owned())
    }

    fn serialize_f64(self, value: f64) -> Result<String> {
        if !value.is_finite() {
            return Err(Error::of(Reason::FINITE_KEY));
        }
        Ok(zmij::Buffer::new().format_finite(value).to_owned())
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<String> {
        Ok(variant.to_owned())
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<String> {
        value.serialize(self)
    }

    fn collect_str<T: ?Sized + Display>(self, value: &T) -> Result<String> {
        Ok(value.to_string())
    }

    reject! { String; some }
}

//! Serializer that builds a [`Value`].

mod compound;
mod names;

use std::cell::Cell;

use serde::ser::{Serialize, Serializer};

use self::compound::{DictionarySerializer, ListSerializer, StructSerializer};
use self::names::TypeNameCache;
use super::error::Result;
use super::passthrough;
use crate::error::Kind;
use crate::{Error, Object, Value};

/// Name of the newtype around an adapted member.
pub(super) const ADAPTED: &str = "$psrp::adapted";

#[derive(Default)]
struct SerializerState {
    /// Whether the value that was just serialized is an adapted member of its parent.
    adapted: Cell<bool>,
    names: TypeNameCache,
}

pub(super) fn to_value<T: Serialize + ?Sized>(value: &T) -> Result<Value> {
    value.serialize(ValueSerializer(&SerializerState::default()))
}

/// Wraps the content of a variant in an object with one member, named after the variant.
fn of_variant(variant: Option<&'static str>, value: Value) -> Value {
    match variant {
        Some(name) => Object::custom([(name, value)]).into(),
        None => value,
    }
}

#[derive(Clone, Copy)]
struct ValueSerializer<'a>(&'a SerializerState);

macro_rules! scalars {
    ($($serialize:ident($type:ty)),* $(,)?) => {$(
        fn $serialize(self, value: $type) -> Result<Value> {
            Ok(Value::from(value))
        }
    )*};
}

impl<'a> Serializer for ValueSerializer<'a> {
    type Ok = Value;
    type Error = Error;
    type SerializeSeq = ListSerializer<'a>;
    type SerializeTuple = ListSerializer<'a>;
    type SerializeTupleStruct = ListSerializer<'a>;
    type SerializeTupleVariant = ListSerializer<'a>;
    type SerializeMap = DictionarySerializer<'a>;
    type SerializeStruct = StructSerializer<'a>;
    type SerializeStructVariant = StructSerializer<'a>;

    scalars! {
        serialize_bool(bool),
        serialize_i8(i8),
        serialize_i16(i16),
        serialize_i32(i32),
        serialize_i64(i64),
        serialize_u8(u8),
        serialize_u16(u16),
        serialize_u32(u32),
        serialize_u64(u64),
        serialize_f32(f32),
        serialize_f64(f64),
        serialize_str(&str),
        serialize_bytes(&[u8]),
    }

    fn serialize_i128(self, _: i128) -> Result<Value> {
        Err(Error::with(Kind::Unwritable, "a 128-bit integer"))
    }

    fn serialize_u128(self, _: u128) -> Result<Value> {
        Err(Error::with(Kind::Unwritable, "a 128-bit integer"))
    }

    fn serialize_char(self, value: char) -> Result<Value> {
        Ok(match u16::try_from(u32::from(value)) {
            Ok(unit) => Value::Char(unit),
            // Two code units do not fit `System.Char`.
            Err(_) => Value::String(value.into()),
        })
    }

    fn serialize_none(self) -> Result<Value> {
        Ok(Value::Nil)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Value> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Value> {
        Ok(Value::Nil)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Value> {
        Ok(Value::Nil)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<Value> {
        Ok(variant.into())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<Value> {
        match name {
            passthrough::VALUE => passthrough::serialize_newtype(value, self),
            ADAPTED => {
                let value = value.serialize(self)?;
                self.0.adapted.set(true);
                Ok(value)
            }
            _ => value.serialize(self),
        }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Value> {
        let value = value.serialize(self).map_err(|error| error.at(variant))?;
        self.0.adapted.set(false);
        Ok(of_variant(Some(variant), value))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<ListSerializer<'a>> {
        Ok(ListSerializer::new(self.0, None, length.unwrap_or(0)))
    }

    fn serialize_tuple(self, length: usize) -> Result<ListSerializer<'a>> {
        Ok(ListSerializer::new(self.0, None, length))
    }

    fn serialize_tuple_struct(self, _: &'static str, length: usize) -> Result<ListSerializer<'a>> {
        Ok(ListSerializer::new(self.0, None, length))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<ListSerializer<'a>> {
        Ok(ListSerializer::new(self.0, Some(variant), length))
    }

    fn serialize_map(self, length: Option<usize>) -> Result<DictionarySerializer<'a>> {
        Ok(DictionarySerializer::new(self.0, length.unwrap_or(0)))
    }

    fn serialize_struct(self, name: &'static str, length: usize) -> Result<StructSerializer<'a>> {
        Ok(StructSerializer::new(self.0, None, name, length))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<StructSerializer<'a>> {
        Ok(StructSerializer::new(self.0, Some(variant), "", length))
    }
}

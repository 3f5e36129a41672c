//! Any type as a [`Value`].

mod compound;
mod names;

use std::cell::Cell;

use serde::ser::{Serialize, Serializer};

use self::compound::{Entries, Fields, Items, Tagged};
use self::names::Names;
pub(super) use self::names::custom;
use super::fault::{Fault, Result, Step};
use super::hand;
use crate::error::Kind;
use crate::{Object, Value};

/// The name of a newtype around a member that is adapted.
pub(super) const ADAPTED: &str = "$psrp::adapted";

/// What one call of [`to_value`] keeps.
#[derive(Default)]
struct Context {
    /// Whether the value that was just made is an adapted member of what encloses it.
    adapted: Cell<bool>,
    names: Names,
}

/// `value` as a value.
pub(super) fn to_value<T: Serialize + ?Sized>(value: &T) -> Result<Value> {
    value.serialize(ValueSerializer(&Context::default()))
}

/// An object with one member: a variant with data.
fn tagged(variant: &'static str, value: Value) -> Value {
    Object::builder().shared_type_names(custom()).extended(variant, value).build().into()
}

#[derive(Clone, Copy)]
struct ValueSerializer<'a>(&'a Context);

macro_rules! scalars {
    ($($serialize:ident($type:ty)),* $(,)?) => {$(
        fn $serialize(self, value: $type) -> Result<Value> {
            Ok(Value::from(value))
        }
    )*};
}

impl<'a> Serializer for ValueSerializer<'a> {
    type Ok = Value;
    type Error = Fault;
    type SerializeSeq = Items<'a>;
    type SerializeTuple = Items<'a>;
    type SerializeTupleStruct = Items<'a>;
    type SerializeTupleVariant = Tagged<Items<'a>>;
    type SerializeMap = Entries<'a>;
    type SerializeStruct = Fields<'a>;
    type SerializeStructVariant = Tagged<Fields<'a>>;

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
        Err(Fault::new(Kind::Unwritable, "an integer of 128 bits"))
    }

    fn serialize_u128(self, _: u128) -> Result<Value> {
        Err(Fault::new(Kind::Unwritable, "an integer of 128 bits"))
    }

    fn serialize_char(self, value: char) -> Result<Value> {
        Ok(match u16::try_from(u32::from(value)) {
            Ok(unit) => Value::Char(unit),
            // Two code units: no `System.Char` holds it.
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
            hand::VALUE => hand::ask(value, self),
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
        let value = value.serialize(self).map_err(|fault| fault.below(Step::Member(variant)))?;
        self.0.adapted.set(false);
        Ok(tagged(variant, value))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Items<'a>> {
        Ok(Items::new(self.0, length.unwrap_or(0)))
    }

    fn serialize_tuple(self, length: usize) -> Result<Items<'a>> {
        Ok(Items::new(self.0, length))
    }

    fn serialize_tuple_struct(self, _: &'static str, length: usize) -> Result<Items<'a>> {
        Ok(Items::new(self.0, length))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Tagged<Items<'a>>> {
        Ok(Tagged { variant, inner: Items::new(self.0, length) })
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Entries<'a>> {
        Ok(Entries::new(self.0, length.unwrap_or(0)))
    }

    fn serialize_struct(self, name: &'static str, length: usize) -> Result<Fields<'a>> {
        Ok(Fields::new(self.0, name, length))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Tagged<Fields<'a>>> {
        Ok(Tagged { variant, inner: Fields::new(self.0, "", length) })
    }
}

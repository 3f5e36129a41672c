//! Deserializer that reads from a [`Value`].

mod access;
mod enums;
mod number;

use serde::de::{self, Deserializer, Visitor};

use self::access::{EntryAccess, FieldAccess, ItemAccess};
use super::error::{Result, mismatch};
use super::functions::RemainingBudget;
use super::passthrough;
use super::view::{ObjectView, text};
use crate::error::Kind;
use crate::value::Base;
use crate::{Error, Value};

/// Reads one value. Nothing is borrowed from it, because references to enclosing objects are followed through
/// temporary handles.
#[derive(Clone, Copy)]
pub(super) struct ValueDeserializer<'v> {
    value: &'v Value,
    budget: &'v RemainingBudget,
}

impl<'v> ValueDeserializer<'v> {
    pub(super) fn new(value: &'v Value, budget: &'v RemainingBudget) -> Result<Self> {
        budget.charge(value)?;
        Ok(Self { value, budget })
    }

    /// Replaces the value without charging the new one.
    fn with<'w>(self, value: &'w Value) -> ValueDeserializer<'w>
    where
        'v: 'w,
    {
        ValueDeserializer { value, budget: self.budget }
    }

    fn follow_reference<T>(self, read: impl FnOnce(ValueDeserializer<'_>) -> Result<T>) -> Result<T> {
        let object = match self.value {
            Value::Cycle(cycle) => cycle.upgrade(),
            _ => None,
        };
        let Some(object) = object else {
            return Err(Error::with(Kind::Mismatch, "a reference to a dropped object"));
        };
        self.budget.nested(|| read(self.with(&Value::Object(object))))
    }

    fn visit_items<'de, V: Visitor<'de>>(self, items: &[Value], visitor: V) -> Result<V::Value> {
        self.budget.nested(|| ItemAccess::new(items, self.budget).visit(visitor))
    }

    /// Visits the members of an object, or the entries of a dictionary.
    fn visit_entries<'de, V: Visitor<'de>>(self, view: ObjectView<'_>, visitor: V) -> Result<V::Value> {
        self.budget.nested(|| visitor.visit_map(EntryAccess::new(&view, self.budget)))
    }

    fn visit_text<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match text(self.value) {
            Some(text) => match text.as_str() {
                Some(text) => visitor.visit_str(text),
                None => Err(Error::with(
                    Kind::Mismatch,
                    format!("expected {}, found text with a lone surrogate", &visitor as &dyn de::Expected),
                )),
            },
            None => Err(mismatch(self.value, &visitor)),
        }
    }

    /// Visits an object as the type that its content suggests.
    fn visit_object<'de, V: Visitor<'de>>(self, object: &crate::Object, visitor: V) -> Result<V::Value> {
        match object.base() {
            Base::List(_, items) => self.visit_items(items, visitor),
            Base::Value(inner) => match object.to_string_text() {
                Some(name) if object.is_a("System.Enum") => visitor.visit_str(&name.to_str_lossy()),
                _ => self.budget.nested(|| self.with(inner).deserialize_any(visitor)),
            },
            Base::None | Base::Dictionary(_) => match (ObjectView::of(self.value), object.to_string_text()) {
                (Some(view), Some(text)) if view.is_empty() => visitor.visit_str(&text.to_str_lossy()),
                (Some(view), _) => self.visit_entries(view, visitor),
                (None, _) => Err(mismatch(self.value, &visitor)),
            },
        }
    }
}

/// Follows a reference to an enclosing object before it calls the method.
macro_rules! follow {
    ($self:ident, $deserialize:ident($($argument:expr),*)) => {
        if let Value::Cycle(_) = $self.value {
            return $self.follow_reference(|object| object.$deserialize($($argument),*));
        }
    };
}

macro_rules! numbers {
    ($($deserialize:ident => $visit:path),* $(,)?) => {$(
        fn $deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            follow!(self, $deserialize(visitor));
            $visit(self.value, visitor)
        }
    )*};
}

/// Methods that are the same as another one.
macro_rules! aliases {
    ($($deserialize:ident($($ignored:ty),*) => $other:ident;)*) => {$(
        fn $deserialize<V: Visitor<'de>>(self, $(_: $ignored,)* visitor: V) -> Result<V::Value> {
            self.$other(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for ValueDeserializer<'_> {
    type Error = Error;

    aliases! {
        deserialize_char() => deserialize_str;
        deserialize_string() => deserialize_str;
        deserialize_identifier() => deserialize_str;
        deserialize_byte_buf() => deserialize_bytes;
        deserialize_unit_struct(&'static str) => deserialize_unit;
        deserialize_tuple(usize) => deserialize_seq;
        deserialize_tuple_struct(&'static str, usize) => deserialize_seq;
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        follow!(self, deserialize_any(visitor));
        match self.value {
            // Secrets are only passed to types for secrets.
            Value::Nil | Value::SecureString(_) | Value::Cycle(_) => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::SByte(value) => visitor.visit_i8(*value),
            Value::Byte(value) => visitor.visit_u8(*value),
            Value::Int16(value) => visitor.visit_i16(*value),
            Value::UInt16(value) => visitor.visit_u16(*value),
            Value::Int32(value) => visitor.visit_i32(*value),
            Value::UInt32(value) => visitor.visit_u32(*value),
            Value::Int64(value) => visitor.visit_i64(*value),
            Value::UInt64(value) => visitor.visit_u64(*value),
            Value::Single(value) => visitor.visit_f32(*value),
            Value::Double(value) => visitor.visit_f64(*value),
            Value::Char(unit) => {
                visitor.visit_char(char::from_u32(u32::from(*unit)).unwrap_or(char::REPLACEMENT_CHARACTER))
            }
            Value::Bytes(bytes) => visitor.visit_bytes(bytes),
            Value::MemberSet(members) => self.visit_entries(ObjectView::of_members(members), visitor),
            Value::Progress(record) => self.visit_entries(ObjectView::of_members(&record.members()), visitor),
            Value::Object(object) => self.visit_object(object, visitor),
            value => match text(value) {
                Some(text) => visitor.visit_str(&text.to_str_lossy()),
                None => Err(mismatch(value, &visitor)),
            },
        }
    }

    numbers! {
        deserialize_i8 => number::visit_integer,
        deserialize_i16 => number::visit_integer,
        deserialize_i32 => number::visit_integer,
        deserialize_i64 => number::visit_integer,
        deserialize_i128 => number::visit_wide,
        deserialize_u8 => number::visit_integer,
        deserialize_u16 => number::visit_integer,
        deserialize_u32 => number::visit_integer,
        deserialize_u64 => number::visit_integer,
        deserialize_u128 => number::visit_wide,
        deserialize_f32 => number::visit_float,
        deserialize_f64 => number::visit_float,
        deserialize_bool => number::visit_bool,
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        follow!(self, deserialize_str(visitor));
        self.visit_text(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        follow!(self, deserialize_bytes(visitor));
        match self.value.as_bytes() {
            Some(bytes) => visitor.visit_bytes(bytes),
            None => self.deserialize_seq(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.value {
            Value::Nil => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.value {
            Value::Nil => visitor.visit_unit(),
            _ => Err(mismatch(self.value, &visitor)),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value> {
        match name {
            passthrough::VALUE => passthrough::deserialize_newtype(self.value.clone(), self, visitor),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        follow!(self, deserialize_seq(visitor));
        if let Some(items) = self.value.items() {
            return self.visit_items(items, visitor);
        }
        if let Some(bytes) = self.value.as_bytes() {
            return ItemAccess::new(bytes, self.budget).visit(visitor);
        }
        if let Some(entries) = self.value.entries() {
            return self.budget.nested(|| visitor.visit_seq(ItemAccess::new(entries, self.budget)));
        }
        match self.value {
            // Wrapped values were already handled above, except references.
            Value::Object(object) => match object.base() {
                Base::Value(inner @ Value::Cycle(_)) => self.with(inner).deserialize_seq(visitor),
                _ => Err(mismatch(self.value, &visitor)),
            },
            _ => Err(mismatch(self.value, &visitor)),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        follow!(self, deserialize_map(visitor));
        match self.value {
            Value::Progress(record) => self.visit_entries(ObjectView::of_members(&record.members()), visitor),
            value => match ObjectView::of(value) {
                Some(view) => self.visit_entries(view, visitor),
                None => Err(mismatch(value, &visitor)),
            },
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        follow!(self, deserialize_struct(name, fields, visitor));
        let members;
        let view = match self.value {
            Value::Progress(record) => {
                members = record.members();
                Some(ObjectView::of_members(&members))
            }
            value if fields.contains(&super::view::VALUE) => Some(ObjectView::with_base(value)),
            value => ObjectView::of(value),
        };
        match view {
            Some(view) => {
                self.budget.nested(|| visitor.visit_map(FieldAccess::new(&view, fields, self.budget)))
            }
            None => Err(mismatch(self.value, &visitor)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        follow!(self, deserialize_enum(name, variants, visitor));
        enums::visit(self, variants, visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_unit()
    }
}

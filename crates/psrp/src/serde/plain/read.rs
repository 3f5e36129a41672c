//! Conversion of plain data to values.

use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::{Object, Value};

/// Converts plain data to a value.
///
/// Integers become `Int32` if they fit, else `Int64` or `UInt64`; other numbers `Double`; text `String`; lists a list;
/// maps a custom object with these members, or a dictionary if a key is not a string.
pub(in crate::serde) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    deserializer.deserialize_any(PlainVisitor)
}

struct PlainVisitor;

impl<'de> Visitor<'de> for PlainVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(i32::try_from(value).map_or(Value::Int64(value), Value::Int32))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(match i64::try_from(value) {
            Ok(value) => i32::try_from(value).map_or(Value::Int64(value), Value::Int32),
            Err(_) => Value::UInt64(value),
        })
    }

    fn visit_f32<E>(self, value: f32) -> Result<Value, E> {
        Ok(Value::Single(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Double(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_bytes<E>(self, value: &[u8]) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Nil)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Nil)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Value, A::Error> {
        let items = Vec::<Value>::deserialize(SeqAccessDeserializer::new(items))?;
        Ok(Object::list(items).into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = entries.next_entry::<Value, Value>()? {
            pairs.push(pair);
        }
        if pairs.iter().all(|(key, _)| matches!(key, Value::String(_))) {
            return Ok(Object::custom(pairs.into_iter().filter_map(|(key, value)| match key {
                Value::String(name) => Some((name, value)),
                _ => None,
            }))
            .into());
        }
        if pairs.iter().any(|(key, _)| key.is_nil()) {
            return Err(de::Error::custom("a key of a dictionary is null"));
        }
        Ok(Object::dictionary(pairs).into())
    }
}

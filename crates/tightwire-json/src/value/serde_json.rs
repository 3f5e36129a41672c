//! Conversions from and to the tree of serde_json.

use ::serde_json::{Map as TheirMap, Number as TheirNumber, Value as TheirValue};

use super::{JsonString, Map, Number, Value};
use crate::error::{Error, Result};

/// Keeps the digits of a number of serde_json's feature `arbitrary_precision` as a written number.
impl From<TheirNumber> for Number {
    fn from(number: TheirNumber) -> Self {
        if let Some(value) = number.as_u64() {
            return value.into();
        }
        // With `arbitrary_precision`, `-0` is an integer.
        if let Some(value @ ..0) = number.as_i64() {
            return value.into();
        }
        let text = number.to_string();
        match number.as_f64().and_then(Self::from_f64) {
            Some(float) if float.to_string() == text => float,
            // A number is valid, so that the fallback is never used.
            float => Self::from_written(&text).ok().or(float).unwrap_or(0.into()),
        }
    }
}

/// Written numbers that exceed 64 bits are rounded to an `f64`, unless serde_json's feature `arbitrary_precision` is
/// enabled.
///
/// # Errors
///
/// If a written number is out of the range of serde_json's `Number`.
impl TryFrom<Number> for TheirNumber {
    type Error = Error;

    fn try_from(number: Number) -> Result<Self> {
        let written = number.as_written().map(str::parse);
        if let Some(Ok(number)) = written {
            return Ok(number);
        }
        let float = || number.as_f64().and_then(Self::from_f64);
        number
            .as_u64()
            .map(Self::from)
            .or_else(|| number.as_i64().map(Self::from))
            .or_else(float)
            .ok_or_else(|| serde::de::Error::custom("number is out of range"))
    }
}

impl From<TheirMap<String, TheirValue>> for Map<String, Value> {
    fn from(map: TheirMap<String, TheirValue>) -> Self {
        map.into_iter().map(|(key, value)| (key, value.into())).collect()
    }
}

/// Numbers that serde_json cannot represent become `null`. serde_json keeps the order only with its feature
/// `preserve_order`.
impl From<Map<String, Value>> for TheirMap<String, TheirValue> {
    fn from(map: Map<String, Value>) -> Self {
        map.into_iter().map(|(key, value)| (key.into(), value.into())).collect()
    }
}

impl From<TheirValue> for Value {
    fn from(value: TheirValue) -> Self {
        match value {
            TheirValue::Null => Self::Null,
            TheirValue::Bool(value) => Self::Bool(value),
            TheirValue::Number(number) => Self::Number(number.into()),
            TheirValue::String(text) => Self::String(JsonString::from(text)),
            TheirValue::Array(elements) => elements.into(),
            TheirValue::Object(map) => Self::Object(map.into()),
        }
    }
}

/// Written numbers that exceed 64 bits are rounded to an `f64`, and become `null` if they are out of its range, unless
/// serde_json's feature `arbitrary_precision` is enabled.
impl From<Value> for TheirValue {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Number(number) => TheirNumber::try_from(number).map_or(Self::Null, Self::Number),
            Value::String(text) => Self::String(text.into()),
            Value::Array(array) => array.into_iter().map(Self::from).collect(),
            Value::Object(map) => Self::Object(map.into()),
        }
    }
}

//! Maps written as objects.

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::error::Result;
use super::passthrough::{self, SerializeValue};
use super::ser::to_value;
use crate::error::Kind;
use crate::{Error, Object, Value};

/// Writes a map with string keys as an object with members instead of a dictionary.
///
/// Also use it for structs with a `#[serde(flatten)]` field, which serde treats as maps. Reading and other serializers
/// are not affected.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use psrp::serde::PropertyBag;
///
/// let value = psrp::to_value(&PropertyBag(BTreeMap::from([("Id", 7)])))?;
/// assert!(value.as_object().unwrap().is_a("System.Management.Automation.PSCustomObject"));
/// assert_eq!(value["Id"].as_i32(), Some(7));
/// # Ok::<(), psrp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PropertyBag<T>(
    /// The map or struct.
    pub T,
);

impl<T: Serialize> SerializeValue for PropertyBag<T> {
    fn value(&self) -> Result<Value> {
        let value = to_value(&self.0)?;
        let Some(entries) = value.entries() else { return Ok(value) };
        let member = |(key, value): &(Value, Value)| match key {
            Value::String(name) => Ok((name.clone(), value.clone())),
            _ => Err(Error::with(Kind::Unwritable, "a member name is not a string")),
        };
        Ok(Object::custom(entries.iter().map(member).collect::<Result<Vec<_>>>()?).into())
    }

    fn serialize_plain<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<T: Serialize> Serialize for PropertyBag<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        passthrough::serialize(self, serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for PropertyBag<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self)
    }
}

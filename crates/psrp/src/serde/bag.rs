//! Maps as objects.

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::fault::{Fault, Result};
use super::hand::{self, Give};
use super::ser::{custom, to_value};
use crate::error::Kind;
use crate::value::object::Content;
use crate::value::{Base, Members};
use crate::{Object, Value};

/// A map with string keys as an object with members rather than a dictionary: a property bag.
///
/// It is also for a struct with a `#[serde(flatten)]` field, which is a map for serde. Reading is that of what it
/// holds, and other serializers see no difference.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use psrp::serde::Bag;
///
/// let value = psrp::to_value(&Bag(BTreeMap::from([("Id", 7)])))?;
/// assert!(value.as_object().unwrap().is_a("System.Management.Automation.PSCustomObject"));
/// assert_eq!(value["Id"].as_i32(), Some(7));
/// # Ok::<(), psrp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bag<T>(
    /// The map.
    pub T,
);

impl<T: Serialize> Give for Bag<T> {
    fn give(&self) -> Result<Value> {
        let value = to_value(&self.0)?;
        let Some(entries) = value.entries() else { return Ok(value) };
        let mut extended = Members::new();
        for (key, value) in entries {
            let Value::String(name) = key else {
                return Err(Fault::new(Kind::Unwritable, "a name of a member is no string"));
            };
            extended.push(name.clone(), value.clone());
        }
        let content =
            Content { type_names: Some(custom()), base: Base::None, extended, ..Content::default() };
        Ok(Object::from_content(content).into())
    }

    fn give_plain<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<T: Serialize> Serialize for Bag<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        hand::serialize(self, serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Bag<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self)
    }
}

//! Rust enums that represent .NET enumerations.

use serde::de::{self, Deserialize, DeserializeOwned, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::enumeration::EnumerationElement;
use super::fields::{AsElement, private};
use super::passthrough::{self, DeserializeValue, SerializeValue};
use super::path_error::{PathError, Result};
use super::ser::to_value;
use crate::error::Kind;
use crate::{Object, Value};

/// A Rust enum that represents a .NET enumeration, for fields with `#[serde(with = "psrp::serde::enumeration")]`.
///
/// The names of the values are the variant names as serde sees them. Like in PowerShell, the number determines the
/// value when reading. The name is used if there is no number, for example in JSON, where enums are written by name.
///
/// ```
/// use psrp::serde::Enumeration;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
/// enum DayOfWeek {
///     Sunday,
///     Monday,
/// }
///
/// impl Enumeration for DayOfWeek {
///     const TYPE_NAME: &'static str = "System.DayOfWeek";
///     type Number = i32;
///
///     fn to_number(&self) -> i32 {
///         *self as i32
///     }
///
///     fn from_number(number: i32) -> Option<Self> {
///         [Self::Sunday, Self::Monday].into_iter().find(|day| *day as i32 == number)
///     }
/// }
///
/// #[derive(Serialize, Deserialize)]
/// struct Meeting {
///     #[serde(rename = "Day", with = "psrp::serde::enumeration")]
///     day: DayOfWeek,
/// }
///
/// let value = psrp::to_value(&Meeting { day: DayOfWeek::Monday })?;
/// assert_eq!(value["Day"].as_i32(), Some(1));
/// assert!(value["Day"].as_object().unwrap().is_a("System.DayOfWeek"));
/// assert_eq!(psrp::from_value::<Meeting>(&value)?.day, DayOfWeek::Monday);
/// # Ok::<(), psrp::Error>(())
/// ```
pub trait Enumeration: Sized {
    /// Full name of the .NET type.
    const TYPE_NAME: &'static str;
    /// The underlying type, usually `i32`.
    type Number: Into<Value> + TryFrom<i128>;

    /// Returns the number of this value.
    fn to_number(&self) -> Self::Number;

    /// Returns the value with this number.
    fn from_number(number: Self::Number) -> Option<Self>;
}

/// Serializes the enum as an object with type name, name and number.
struct SerializeEnumeration<'a, T>(&'a T);

impl<T: Enumeration + Serialize> SerializeValue for SerializeEnumeration<'_, T> {
    fn value(&self) -> Result<Value> {
        let name = to_value(self.0)?;
        let Some(name) = name.as_ps_string() else {
            return Err(PathError::new(Kind::Unwritable, "an enumeration value must not carry data"));
        };
        Ok(Object::enumeration(T::TYPE_NAME, name.clone(), self.0.to_number()).into())
    }

    fn serialize_plain<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Serialize::serialize(self.0, serializer)
    }
}

/// Deserializes the enum from a number or name.
struct DeserializeEnumeration<T>(T);

impl<'de, T: Enumeration + DeserializeOwned> DeserializeValue<'de> for DeserializeEnumeration<T> {
    const EXPECTED: &'static str = "an enumeration value";

    fn from_value<D: Deserializer<'de>>(value: Value, deserializer: D) -> Result<Option<Self>, D::Error> {
        let number = match value.as_i64() {
            Some(number) => Some(i128::from(number)),
            None => value.as_u64().map(i128::from),
        };
        match number {
            Some(number) => {
                let known = T::Number::try_from(number).ok().and_then(T::from_number);
                known
                    .map(|known| Some(Self(known)))
                    .ok_or_else(|| de::Error::custom("the enumeration has no value with this number"))
            }
            None => <T as Deserialize>::deserialize(deserializer).map(|value| Some(Self(value))),
        }
    }

    fn deserialize_plain<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <T as Deserialize>::deserialize(deserializer).map(Self)
    }
}

impl<T: Enumeration + Serialize + DeserializeOwned> private::Sealed<EnumerationElement> for T {}

impl<T: Enumeration + Serialize + DeserializeOwned> AsElement<EnumerationElement> for T {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        passthrough::serialize(&SerializeEnumeration(self), serializer)
    }

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let enumeration: DeserializeEnumeration<T> = passthrough::deserialize(deserializer)?;
        Ok(enumeration.0)
    }
}

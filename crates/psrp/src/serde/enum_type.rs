//! Rust enums that are enumerations of .NET.

use serde::de::{self, Deserialize, DeserializeOwned, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::enumeration::Named;
use super::fault::{Fault, Result};
use super::fields::{Carried, private};
use super::hand::{self, Give, Take};
use super::ser::to_value;
use crate::error::Kind;
use crate::{Object, Value};

/// A Rust enum that is an enumeration of .NET: for fields with `#[serde(with = "psrp::serde::enumeration")]`.
///
/// The names are those that the enum has for serde. PowerShell goes by the number, and so does reading; the name
/// counts where there is no number, as in JSON, where an enum has no other form than its name.
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
    /// The full name of the type.
    const TYPE_NAME: &'static str;
    /// The underlying type, `i32` for most.
    type Number: Into<Value> + TryFrom<i128>;

    /// The number of this value.
    fn to_number(&self) -> Self::Number;

    /// The value of this number.
    fn from_number(number: Self::Number) -> Option<Self>;
}

/// The type as an object with type name, name and number.
struct Outward<'a, T>(&'a T);

impl<T: Enumeration + Serialize> Give for Outward<'_, T> {
    fn give(&self) -> Result<Value> {
        let name = to_value(self.0)?;
        let Some(name) = name.as_ps_string() else {
            return Err(Fault::new(Kind::Unwritable, "a value of an enumeration carries data"));
        };
        Ok(Object::enumeration(T::TYPE_NAME, name.clone(), self.0.to_number()).into())
    }

    fn give_plain<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Serialize::serialize(self.0, serializer)
    }
}

/// A type that comes from a number or name.
struct Inward<T>(T);

impl<'de, T: Enumeration + DeserializeOwned> Take<'de> for Inward<T> {
    const EXPECTED: &'static str = "a value of an enumeration";

    fn take<D: Deserializer<'de>>(value: Value, deserializer: D) -> Result<Option<Self>, D::Error> {
        let number = match value.as_i64() {
            Some(number) => Some(i128::from(number)),
            None => value.as_u64().map(i128::from),
        };
        match number {
            Some(number) => {
                let known = T::Number::try_from(number).ok().and_then(T::from_number);
                known
                    .map(|known| Some(Self(known)))
                    .ok_or_else(|| de::Error::custom("a number that the enumeration does not have"))
            }
            None => <T as Deserialize>::deserialize(deserializer).map(|value| Some(Self(value))),
        }
    }

    fn take_plain<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <T as Deserialize>::deserialize(deserializer).map(Self)
    }
}

impl<T: Enumeration + Serialize + DeserializeOwned> private::Sealed<Named> for T {}

impl<T: Enumeration + Serialize + DeserializeOwned> Carried<Named> for T {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        hand::serialize(&Outward(self), serializer)
    }

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let inward: Inward<T> = hand::deserialize(deserializer)?;
        Ok(inward.0)
    }
}

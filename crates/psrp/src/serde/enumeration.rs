//! For `#[serde(with = "psrp::serde::enumeration")]`: a field that is an enumeration of .NET.

use serde::de::{DeserializeOwned, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::enum_type::{Enumeration, Inward, Outward};
use super::hand;

/// For the attribute of serde.
///
/// # Errors
///
/// Those of the serializer, and one if the value carries data.
pub fn serialize<T, S>(value: &T, serializer: S) -> Result<S::Ok, S::Error>
where
    T: Enumeration + Serialize,
    S: Serializer,
{
    hand::serialize(&Outward(value), serializer)
}

/// For the attribute of serde.
///
/// # Errors
///
/// Those of the deserializer, and one if neither number nor name is one of the enumeration.
pub fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Enumeration + DeserializeOwned,
    D: Deserializer<'de>,
{
    let inward: Inward<T> = hand::deserialize(deserializer)?;
    Ok(inward.0)
}

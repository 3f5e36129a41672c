//! `#[serde(with = "psrp::serde::adapted")]`: writes a field as a property of the .NET type (`<Props>`) instead of a
//! member added by PowerShell (`<MS>`).
//!
//! Both are accepted when reading. Other serializers are not affected.

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::ser::ADAPTED;

/// Called by code that serde derives.
///
/// # Errors
///
/// Fails like the serializer.
pub fn serialize<T: Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_newtype_struct(ADAPTED, value)
}

/// Called by code that serde derives.
///
/// # Errors
///
/// Fails like the deserializer.
pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::deserialize(deserializer)
}

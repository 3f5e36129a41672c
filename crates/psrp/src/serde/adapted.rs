//! For `#[serde(with = "psrp::serde::adapted")]`: a field that is a property of the .NET type, in `<Props>`, rather than
//! one that PowerShell added, in `<MS>`.
//!
//! Reading takes either, and other serializers see no difference.

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::ser::ADAPTED;

/// For the attribute of serde.
///
/// # Errors
///
/// Those of the serializer.
pub fn serialize<T: Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_newtype_struct(ADAPTED, value)
}

/// For the attribute of serde.
///
/// # Errors
///
/// Those of the deserializer.
pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::deserialize(deserializer)
}

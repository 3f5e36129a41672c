//! For `#[serde(with = "psrp::serde::enumeration")]`: a field that is an [`Enumeration`](super::Enumeration) of .NET, or
//! an `Option` or `Vec` of it.

use serde::de::Deserializer;
use serde::ser::Serializer;

use super::fields::Carried;

/// The kind of element of this module.
#[derive(Debug)]
pub enum Named {}

/// For the attribute of serde.
///
/// # Errors
///
/// Those of the serializer, and one if a value carries data.
pub fn serialize<T: Carried<Named>, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    value.serialize(serializer)
}

/// For the attribute of serde.
///
/// # Errors
///
/// Those of the deserializer, and one if neither number nor name is one of the enumeration.
pub fn deserialize<'de, T: Carried<Named>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::deserialize(deserializer)
}

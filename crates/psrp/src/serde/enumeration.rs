//! `#[serde(with = "psrp::serde::enumeration")]`: a field whose type is an [`Enumeration`](super::Enumeration) of .NET,
//! or an `Option` or `Vec` of it.

use serde::de::Deserializer;
use serde::ser::Serializer;

use super::fields::AsElement;

/// The element kind of this module.
#[derive(Debug)]
pub enum EnumerationElement {}

/// Called by code that serde derives.
///
/// # Errors
///
/// Fails like the serializer, and if a value carries data.
pub fn serialize<T: AsElement<EnumerationElement>, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    value.serialize(serializer)
}

/// Called by code that serde derives.
///
/// # Errors
///
/// Fails like the deserializer, and if neither the number nor the name belongs to the enumeration.
pub fn deserialize<'de, T: AsElement<EnumerationElement>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    T::deserialize(deserializer)
}

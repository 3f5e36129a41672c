//! Maps with one entry, as which numbers and raw values pass through serde. serde has no methods for them.

#![cfg_attr(
    not(any(feature = "arbitrary_precision", feature = "raw_value")),
    allow(dead_code, reason = "both features use it")
)]

use std::fmt;

use serde::de::value::{BorrowedStrDeserializer, MapDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, Unexpected, Visitor,
};

use crate::error::Error;

/// Returns the map with this entry. As in serde_json, it does not tell its length.
pub(crate) fn entry<'de>(
    token: &'static str,
    value: impl IntoDeserializer<'de, Error>,
) -> impl MapAccess<'de, Error = Error> {
    let mut entry = Some((BorrowedStrDeserializer::new(token), value));
    MapDeserializer::new(std::iter::from_fn(move || entry.take()))
}

/// Key of such a map.
struct Key {
    token: &'static str,
    expecting: &'static str,
    /// Message for another key.
    otherwise: &'static str,
}

impl<'de> DeserializeSeed<'de> for Key {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Key {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expecting)
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<(), E> {
        if key == self.token { Ok(()) } else { Err(E::custom(self.otherwise)) }
    }
}

/// Reads the key of such a map.
pub(crate) fn key<'de, A: MapAccess<'de>>(
    map: &mut A,
    token: &'static str,
    [expecting, otherwise]: [&'static str; 2],
    visitor: &impl Visitor<'de>,
) -> Result<(), A::Error> {
    let key = map.next_key_seed(Key { token, expecting, otherwise })?;
    key.ok_or_else(|| A::Error::invalid_type(Unexpected::Map, visitor))
}

//! Single-pass decoding and ordered encoding of objects.
//!
//! serde's derive is as fast, but it can store unknown fields only with `flatten`, which buffers all fields. It also
//! rejects `null` for fields that are not optional in Rust, and defines no setters. The rows `stream_chunk_*` and
//! `chat_message_*` of the benchmark suite `types` measure this code.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};

use crate::types::extra::FieldStore;

/// A JSON object with struct fields. Implemented by [`object!`].
pub(crate) trait Object: Default {
    /// Identifies a struct field.
    type Field: Copy;
    /// Storage of unknown fields.
    type Extra: FieldStore;

    fn name(text: &str) -> Option<Self::Field>;

    /// Reads the value of a field, after its key.
    fn read<'de, A: MapAccess<'de>>(&mut self, name: Self::Field, map: &mut A) -> Result<(), A::Error>;

    /// Returns whether the field is encoded.
    fn is_written(&self, name: Self::Field) -> bool;

    /// Returns the number of encoded fields.
    fn count(&self) -> usize;

    /// Encodes the fields.
    fn write<W: FieldWriter>(&self, out: &mut W) -> Result<(), W::Error>;

    fn extra(&self) -> &Self::Extra;

    fn extra_mut(&mut self) -> &mut Self::Extra;
}

/// Reads the remaining fields of an object.
#[inline]
pub(crate) fn read<'de, T: Object, A: MapAccess<'de>>(mut map: A) -> Result<T, A::Error> {
    let mut object = T::default();
    while let Some(name) = map.next_key_seed(FieldSeed::<T>(PhantomData))? {
        match name {
            Ok(name) => object.read(name, &mut map)?,
            Err(unknown) => object.extra_mut().store(unknown, &mut map)?,
        }
    }
    Ok(object)
}

/// Reads a key: a struct field, or an unknown key.
struct FieldSeed<T>(PhantomData<T>);

impl<'de, T: Object> DeserializeSeed<'de> for FieldSeed<T> {
    type Value = Result<T::Field, <T::Extra as FieldStore>::Key>;

    #[inline]
    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<T: Object> Visitor<'_> for FieldSeed<T> {
    type Value = Result<T::Field, <T::Extra as FieldStore>::Key>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field name")
    }

    #[inline]
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(T::name(text).ok_or_else(|| T::Extra::unknown(text)))
    }
}

/// Reads a whole object.
pub(crate) struct ObjectVisitor<T>(PhantomData<T>);

impl<T> ObjectVisitor<T> {
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<'de, T: Object> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        read(map)
    }
}

/// Destination of encoded fields.
pub(crate) trait FieldWriter {
    type Error;

    fn write_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Self::Error>;
}

/// Writes struct fields; the fast path of encoders.
struct Fields<S>(S);

impl<S: SerializeStruct> FieldWriter for Fields<S> {
    type Error = S::Error;

    #[inline(always)]
    fn write_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), S::Error> {
        self.0.serialize_field(name, value)
    }
}

/// Writes struct fields as map entries, for objects with extra fields.
struct Entries<'a, S, K> {
    map: S,
    extra: &'a K,
}

impl<S: SerializeMap, K: FieldStore> FieldWriter for Entries<'_, S, K> {
    type Error = S::Error;

    fn write_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), S::Error> {
        if self.extra.overrides(name) { Ok(()) } else { self.map.serialize_entry(name, value) }
    }
}

/// Encodes `object`, starting with the tag.
#[inline]
pub(crate) fn write<T: Object, S: Serializer>(
    object: &T,
    name: &'static str,
    tag: Option<(&'static str, &'static str)>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if T::Extra::STORES && !object.extra().is_empty() {
        return write_all(object, tag, serializer);
    }
    let len = object.count() + usize::from(tag.is_some());
    let mut out = Fields(serializer.serialize_struct(name, len)?);
    if let Some((name, value)) = tag {
        out.write_field(name, value)?;
    }
    object.write(&mut out)?;
    out.0.end()
}

/// Encodes `object` like [`write`], followed by its extra fields.
fn write_all<T: Object, S: Serializer>(
    object: &T,
    tag: Option<(&'static str, &'static str)>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let extra = object.extra();
    let mut out = Entries { map: serializer.serialize_map(None)?, extra };
    if let Some((name, value)) = tag {
        out.map.serialize_entry(name, value)?;
    }
    object.write(&mut out)?;
    for (name, value) in extra.fields() {
        // Skip a second tag: decoding uses the first one.
        let is_tag = tag.is_some_and(|(tag, _)| tag == name);
        let is_written = T::name(name).is_some_and(|known| object.is_written(known));
        if !is_tag && (extra.overrides(name) || !is_written) {
            out.map.serialize_entry(name, value)?;
        }
    }
    out.map.end()
}

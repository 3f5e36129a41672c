//! Single-pass decoding and ordered encoding of objects.
//!
//! serde's derive is as fast, but it can store unknown fields only with `flatten`, which buffers all fields. It also
//! rejects `null` for fields that are not optional in Rust, and defines no setters. The rows `stream_chunk_*` and
//! `chat_message_*` of the benchmark suite `types` measure this code.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Unexpected, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};
use tightwire_json::Value;

use crate::types::Extra;

/// A JSON object with struct fields. Implemented by [`object!`].
pub(crate) trait Object: Default {
    /// Identifies a struct field.
    type Field: Copy;

    fn name(text: &str) -> Option<Self::Field>;

    /// Reads the value of a field, after its key.
    fn read<'de, A: MapAccess<'de>>(&mut self, name: Self::Field, map: &mut A) -> Result<(), A::Error>;

    /// Returns the number of encoded fields.
    fn count(&self) -> usize;

    /// Encodes the fields.
    fn write<W: FieldWriter>(&self, out: &mut W) -> Result<(), W::Error>;

    fn extra(&self) -> &Extra;

    fn extra_mut(&mut self) -> &mut Extra;

    /// Returns the field of an object that may be written without the others: gateways replace costs by their total, and
    /// errors by their message.
    #[inline]
    fn scalar_field() -> Option<&'static str> {
        let has = |name| Self::name(name).is_some();
        let is_error = has("message") && has("code");
        if is_error { Some("message") } else { has("total_cost").then_some("total_cost") }
    }
}

/// Reads the remaining fields of an object.
#[inline]
pub(crate) fn read<'de, T: Object, A: MapAccess<'de>>(map: A) -> Result<T, A::Error> {
    read_without(None, map)
}

/// Reads the remaining fields of an object. The tag of a union, which may be among them, is no extra field.
#[inline]
pub(crate) fn read_without<'de, T: Object, A: MapAccess<'de>>(
    tag: Option<&str>,
    mut map: A,
) -> Result<T, A::Error> {
    let mut object = T::default();
    let field = |name: &str| T::name(name).ok_or_else(|| (tag != Some(name)).then(|| name.to_owned()));
    while let Some(name) = map.next_key_seed(Text(field))? {
        match name {
            Ok(name) => object.read(name, &mut map)?,
            Err(None) => {
                map.next_value::<IgnoredAny>()?;
            }
            Err(Some(unknown)) => {
                let value: Value = map.next_value()?;
                object.extra_mut().insert(unknown, value);
            }
        }
    }
    Ok(object)
}

/// Converts a string, such as a key, while it is read.
pub(crate) struct Text<F>(pub(crate) F);

impl<'de, T, F: FnOnce(&str) -> T> DeserializeSeed<'de> for Text<F> {
    type Value = T;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<T, F: FnOnce(&str) -> T> Visitor<'_> for Text<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    #[inline]
    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok((self.0)(text))
    }
}

/// Decodes an object.
#[inline]
pub(crate) fn deserialize<'de, T: Object, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let visitor = ObjectVisitor(PhantomData);
    if T::scalar_field().is_some() {
        deserializer.deserialize_any(visitor)
    } else {
        deserializer.deserialize_map(visitor)
    }
}

/// Reads a whole object.
struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Object> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        read(map)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<T, E> {
        self.scalar(value.into(), Unexpected::Float(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        self.scalar(value.into(), Unexpected::Unsigned(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        self.scalar(value.into(), Unexpected::Signed(value))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        self.scalar(text.into(), Unexpected::Str(text))
    }
}

impl<T: Object> ObjectVisitor<T> {
    /// Reads an object from the value of its [`scalar_field`](Object::scalar_field).
    fn scalar<E: Error>(self, value: Value, found: Unexpected<'_>) -> Result<T, E> {
        let field = T::scalar_field().map(|name| (name, value));
        let object = read(MapDeserializer::<_, <Value as Deserializer<'_>>::Error>::new(field.into_iter()));
        object.ok().filter(|_| T::scalar_field().is_some()).ok_or_else(|| E::invalid_type(found, &self))
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
struct Entries<'a, S> {
    map: S,
    extra: &'a Extra,
    /// Names of the struct fields that were written.
    written: Vec<&'static str>,
}

impl<S: SerializeMap> FieldWriter for Entries<'_, S> {
    type Error = S::Error;

    fn write_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), S::Error> {
        if self.extra.overrides(name) {
            return Ok(());
        }
        self.written.push(name);
        self.map.serialize_entry(name, value)
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
    if !object.extra().is_empty() {
        return write_all(object, object.extra(), tag, serializer);
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
    extra: &Extra,
    tag: Option<(&'static str, &'static str)>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut out = Entries { map: serializer.serialize_map(None)?, extra, written: Vec::new() };
    if let Some((name, value)) = tag {
        out.map.serialize_entry(name, value)?;
        // An extra field of a request may have the same name.
        out.written.push(name);
    }
    object.write(&mut out)?;
    for (name, value) in extra.iter() {
        if !out.written.contains(&name) {
            out.map.serialize_entry(name, value)?;
        }
    }
    out.map.end()
}

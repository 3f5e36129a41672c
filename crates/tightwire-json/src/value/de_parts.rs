//! Elements, entries, enum variants and keys of a tree, as deserializers.
//!
//! All types are generic, so that they serve owned and borrowed trees.

use serde::de::value::StrDeserializer;
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::{JsonString, Number};
use crate::error::{Error, Result};
use crate::path::Segment;

/// String of a tree, owned or borrowed.
pub(super) trait Text<'de>: AsRef<str> {
    fn visit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value>;

    /// Visits the string without consuming it.
    fn visit_ref<V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value>;
}

impl<'de> Text<'de> for JsonString {
    fn visit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_string(self.into())
    }

    fn visit_ref<V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value> {
        visitor.visit_str(self)
    }
}

impl<'de> Text<'de> for &'de JsonString {
    fn visit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_borrowed_str(self)
    }

    fn visit_ref<V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value> {
        visitor.visit_borrowed_str(self)
    }
}

pub(super) fn visit_array<'de, N, V>(
    elements: impl ExactSizeIterator<Item = N>,
    visitor: V,
) -> Result<V::Value>
where
    N: Deserializer<'de, Error = Error>,
    V: Visitor<'de>,
{
    let len = elements.len();
    let mut access = Elements { elements, next: 0 };
    let value = visitor.visit_seq(&mut access)?;
    match access.elements.len() {
        0 => Ok(value),
        _ => Err(de::Error::invalid_length(len, &"an array with fewer elements")),
    }
}

pub(super) fn visit_object<'de, K, N, V>(
    entries: impl ExactSizeIterator<Item = (K, N)>,
    visitor: V,
) -> Result<V::Value>
where
    K: Text<'de>,
    N: Deserializer<'de, Error = Error>,
    V: Visitor<'de>,
{
    let len = entries.len();
    let mut access = Entries { entries, current: None };
    let value = visitor.visit_map(&mut access)?;
    match access.entries.len() {
        0 => Ok(value),
        _ => Err(de::Error::invalid_length(len, &"an object with fewer entries")),
    }
}

/// Visits an enum variant that is an object with one entry.
pub(super) fn visit_variant<'de, K, N, V>(
    mut entries: impl ExactSizeIterator<Item = (K, N)>,
    visitor: V,
) -> Result<V::Value>
where
    K: Text<'de>,
    N: Deserializer<'de, Error = Error>,
    V: Visitor<'de>,
{
    match (entries.next(), entries.len()) {
        (Some((variant, content)), 0) => visitor.visit_enum(Variant { variant, content: Some(content) }),
        _ => Err(de::Error::invalid_value(Unexpected::Map, &"an object with one entry")),
    }
}

struct Elements<I> {
    elements: I,
    next: usize,
}

impl<'de, I, N> SeqAccess<'de> for Elements<I>
where
    I: ExactSizeIterator<Item = N>,
    N: Deserializer<'de, Error = Error>,
{
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let Some(element) = self.elements.next() else { return Ok(None) };
        let index = self.next;
        self.next += 1;
        seed.deserialize(element)
            .map(Some)
            .map_err(|error| error.inside(Segment::Index(index)).without_tracked_path::<T>())
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.elements.len())
    }
}

struct Entries<I, K, N> {
    entries: I,
    /// Entry whose key was read.
    current: Option<(K, N)>,
}

impl<'de, I, K, N> MapAccess<'de> for Entries<I, K, N>
where
    I: ExactSizeIterator<Item = (K, N)>,
    K: Text<'de>,
    N: Deserializer<'de, Error = Error>,
{
    type Error = Error;

    fn next_key_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        self.current = self.entries.next();
        self.current.as_ref().map(|(key, _)| seed.deserialize(Key(key))).transpose()
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        let (key, value) = self
            .current
            .take()
            .ok_or_else(|| <Error as de::Error>::custom("value requested before its key"))?;
        seed.deserialize(value)
            .map_err(|error| error.inside(Segment::key(key.as_ref())).without_tracked_path::<T>())
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

/// Enum variant: its name, and its content if it was encoded as an object.
pub(super) struct Variant<K, N> {
    pub(super) variant: K,
    pub(super) content: Option<N>,
}

impl<'de, K, N> EnumAccess<'de> for Variant<K, N>
where
    K: Text<'de>,
    N: Deserializer<'de, Error = Error>,
{
    type Error = Error;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self)> {
        let variant = seed.deserialize(Key(&self.variant))?;
        Ok((variant, self))
    }
}

impl<K: AsRef<str>, N> Variant<K, N> {
    /// Reads the content, which is a value of the type `expected`.
    fn content<T>(self, expected: &'static str, read: impl FnOnce(N) -> Result<T>) -> Result<T> {
        match self.content {
            Some(content) => read(content).map_err(|error| error.inside(Segment::key(self.variant.as_ref()))),
            None => Err(de::Error::invalid_type(Unexpected::UnitVariant, &expected)),
        }
    }
}

impl<'de, K, N> VariantAccess<'de> for Variant<K, N>
where
    K: Text<'de>,
    N: Deserializer<'de, Error = Error>,
{
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        match self.content {
            Some(_) => self.content("unit variant", |content| <()>::deserialize(content)),
            None => Ok(()),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        self.content("newtype variant", |content| seed.deserialize(content))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value> {
        self.content("tuple variant", |content| content.deserialize_tuple(len, visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.content("struct variant", |content| content.deserialize_struct("", fields, visitor))
    }
}

/// Key of an object: a string, or a number, boolean or enum variant written as a string.
struct Key<'a, K>(&'a K);

macro_rules! number_keys {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                match Number::from_written(self.0.as_ref()) {
                    Ok(number) => number.$method(visitor),
                    Err(_) if self.0.as_ref().starts_with(|char: char| char == '-' || char.is_ascii_digit()) => {
                        Err(de::Error::custom("the key is not a number"))
                    }
                    // The error of the visitor names the expected type.
                    Err(_) => self.0.visit_ref(visitor),
                }
            }
        )*
    };
}

impl<'de, K: Text<'de>> Deserializer<'de> for Key<'_, K> {
    type Error = Error;

    number_keys! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.0.visit_ref(visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0.as_ref() {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            other => Err(de::Error::invalid_type(Unexpected::Str(other), &visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_enum(StrDeserializer::new(self.0.as_ref()))
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

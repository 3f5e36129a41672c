//! Deserialization of trees, and of other types from trees.

use std::fmt;

use serde::de::value::{MapDeserializer, StrDeserializer};
use serde::de::{
    self, Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer,
    MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::number::from_variant;
use super::{JsonString, Map, Number, Value};
use crate::error::{Error, Result};
use crate::ser::RAW_TOKEN;

/// Name of the newtype struct as which a [`Value`] is requested. The decoder of this crate recognizes it.
pub(crate) const VALUE_TOKEN: &str = "$tightwire_json::Value";

/// Maximum number of elements for which room is reserved because of a length hint.
const MAX_HINT: usize = 4096;

/// Returns the capacity for a length hint, which may be wrong.
pub(super) fn bounded(hint: Option<usize>) -> usize {
    hint.unwrap_or(0).min(MAX_HINT)
}

impl<'de> Deserialize<'de> for Value {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(VALUE_TOKEN, ValueVisitor)
    }
}

/// Builds a tree from any format. The last value of a duplicate key is kept, at the position of the first.
struct ValueVisitor;

macro_rules! visit {
    ($($method:ident($type:ty))*) => {
        $(
            fn $method<E: de::Error>(self, value: $type) -> Result<Value, E> {
                Ok(value.into())
            }
        )*
    };
}

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    visit! {
        visit_bool(bool)
        visit_i64(i64)
        visit_i128(i128)
        visit_u64(u64)
        visit_u128(u128)
        visit_f64(f64)
        visit_str(&str)
        visit_string(String)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut elements = Vec::<Value>::with_capacity(bounded(access.size_hint()));
        while let Some(element) = access.next_element()? {
            elements.push(element);
        }
        Ok(elements.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::with_capacity(bounded(access.size_hint()));
        while let Some((key, value)) = access.next_entry::<JsonString, Value>()? {
            map.insert(key, value);
        }
        Ok(map.into())
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Value, A::Error> {
        from_variant(access).map(Value::Number)
    }
}

/// Converts a tree to another type.
///
/// `T::deserialize(&value)` does the same without consuming the tree, and can borrow strings from it.
///
/// # Errors
/// If the tree is not of the type `T`.
///
/// # Examples
/// ```
/// use tightwire_json::{from_value, json};
///
/// assert_eq!(from_value::<Vec<u8>>(json!([1, 2]))?, [1, 2]);
/// assert!(from_value::<Vec<u8>>(json!([1, 256])).unwrap_err().is_data());
/// # Ok::<(), tightwire_json::Error>(())
/// ```
pub fn from_value<T: DeserializeOwned>(value: Value) -> Result<T> {
    T::deserialize(value)
}

/// Adds the key of an entry to an error in its value.
fn at_key(error: Error, _key: &str) -> Error {
    error
}

/// Adds the index of an element to an error in it.
fn at_index(error: Error, _index: usize) -> Error {
    error
}

/// String of a tree, owned or borrowed.
trait Text<'de>: AsRef<str> {
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

macro_rules! numbers {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                match self.as_number() {
                    Some(number) => number.$method(visitor),
                    None => Err(self.invalid_type(&visitor)),
                }
            }
        )*
    };
}

macro_rules! texts {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                match self {
                    Value::String(text) => text.visit(visitor),
                    other => Err(other.invalid_type(&visitor)),
                }
            }
        )*
    };
}

/// Implements the traits for the owned and the borrowed tree.
macro_rules! value_deserializer {
    ($($type:ty)*) => {
        $(
            impl<'de> Deserializer<'de> for $type {
                type Error = Error;

                numbers! {
                    deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
                    deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
                    deserialize_f32 deserialize_f64
                }

                texts! { deserialize_char deserialize_str deserialize_string deserialize_identifier }

                fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                    match self {
                        Value::Null => visitor.visit_unit(),
                        Value::Bool(_) => self.deserialize_bool(visitor),
                        Value::Number(number) => number.deserialize_any(visitor),
                        Value::String(text) => text.visit(visitor),
                        Value::Array(array) => visit_array(array.into_iter(), visitor),
                        Value::Object(map) => visit_object(map.into_iter(), visitor),
                    }
                }

                fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                    match self.as_bool() {
                        Some(value) => visitor.visit_bool(value),
                        None => Err(self.invalid_type(&visitor)),
                    }
                }

                fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                    match self {
                        Value::String(text) => text.visit(visitor),
                        other => other.deserialize_seq(visitor),
                    }
                }

                fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                    self.deserialize_bytes(visitor)
                }

                fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                    match self {
                        Value::Null => visitor.visit_none(),
                        other => visitor.visit_some(other),
                    }
                }

                fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                    match self {
                        Value::Null => visitor.visit_unit(),
                        other => Err(other.invalid_type(&visitor)),
                    }
                }

                fn deserialize_unit_struct<V: Visitor<'de>>(
                    self,
                    _name: &'static str,
                    visitor: V,
                ) -> Result<V::Value> {
                    self.deserialize_unit(visitor)
                }

                fn deserialize_newtype_struct<V: Visitor<'de>>(
                    self,
                    name: &'static str,
                    visitor: V,
                ) -> Result<V::Value> {
                    if name == RAW_TOKEN {
                        let entry = std::iter::once((RAW_TOKEN, crate::to_string(&self)?));
                        return visitor.visit_map(MapDeserializer::new(entry));
                    }
                    match self {
                        Value::Number(number) => number.deserialize_newtype_struct(name, visitor),
                        other => visitor.visit_newtype_struct(other),
                    }
                }

                fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                    match self {
                        Value::Array(array) => visit_array(array.into_iter(), visitor),
                        other => Err(other.invalid_type(&visitor)),
                    }
                }

                fn deserialize_tuple<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value> {
                    self.deserialize_seq(visitor)
                }

                fn deserialize_tuple_struct<V: Visitor<'de>>(
                    self,
                    _name: &'static str,
                    _len: usize,
                    visitor: V,
                ) -> Result<V::Value> {
                    self.deserialize_seq(visitor)
                }

                fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                    match self {
                        Value::Object(map) => visit_object(map.into_iter(), visitor),
                        other => Err(other.invalid_type(&visitor)),
                    }
                }

                fn deserialize_struct<V: Visitor<'de>>(
                    self,
                    _name: &'static str,
                    _fields: &'static [&'static str],
                    visitor: V,
                ) -> Result<V::Value> {
                    match self {
                        Value::Array(array) => visit_array(array.into_iter(), visitor),
                        other => other.deserialize_map(visitor),
                    }
                }

                fn deserialize_enum<V: Visitor<'de>>(
                    self,
                    _name: &'static str,
                    _variants: &'static [&'static str],
                    visitor: V,
                ) -> Result<V::Value> {
                    match self {
                        Value::String(variant) => visitor.visit_enum(Variant { variant, content: None::<Self> }),
                        Value::Object(map) => visit_variant(map.into_iter(), visitor),
                        other => Err(other.invalid_type(&"a string or an object")),
                    }
                }

                fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                    visitor.visit_unit()
                }
            }

            impl<'de> IntoDeserializer<'de, Error> for $type {
                type Deserializer = Self;

                fn into_deserializer(self) -> Self {
                    self
                }
            }
        )*
    };
}

value_deserializer! { Value &'de Value }

/// Implements the traits for the owned and the borrowed object.
macro_rules! map_deserializer {
    ($($type:ty)*) => {
        $(
            impl<'de> Deserializer<'de> for $type {
                type Error = Error;

                fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                    visit_object(self.into_iter(), visitor)
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
                    visit_variant(self.into_iter(), visitor)
                }

                fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                    visitor.visit_unit()
                }

                forward_to_deserialize_any! {
                    bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
                    unit_struct seq tuple tuple_struct map struct identifier
                }
            }

            impl<'de> IntoDeserializer<'de, Error> for $type {
                type Deserializer = Self;

                fn into_deserializer(self) -> Self {
                    self
                }
            }
        )*
    };
}

map_deserializer! { Map<String, Value> &'de Map<String, Value> }

fn visit_array<'de, N, V>(elements: impl ExactSizeIterator<Item = N>, visitor: V) -> Result<V::Value>
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

fn visit_object<'de, K, N, V>(entries: impl ExactSizeIterator<Item = (K, N)>, visitor: V) -> Result<V::Value>
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
fn visit_variant<'de, K, N, V>(
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
        seed.deserialize(element).map(Some).map_err(|error| at_index(error, index))
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
        seed.deserialize(value).map_err(|error| at_key(error, key.as_ref()))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

/// Enum variant: its name, and its content if it was encoded as an object.
struct Variant<K, N> {
    variant: K,
    content: Option<N>,
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
            Some(content) => read(content).map_err(|error| at_key(error, self.variant.as_ref())),
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

impl Value {
    #[cold]
    fn invalid_type(&self, expected: &dyn de::Expected) -> Error {
        let unexpected = match self {
            Self::Null => Unexpected::Unit,
            Self::Bool(value) => Unexpected::Bool(*value),
            Self::Number(number) => number.unexpected(),
            Self::String(text) => Unexpected::Str(text),
            Self::Array(_) => Unexpected::Seq,
            Self::Object(_) => Unexpected::Map,
        };
        de::Error::invalid_type(unexpected, expected)
    }
}

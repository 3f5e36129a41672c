//! Decoding of trees, and of other types from trees.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::str::FromStr;

use serde::de::value::{I128Deserializer, U128Deserializer};
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error as _, Expected, IntoDeserializer,
    MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use crate::de::no_content;
use crate::error::{Error, Reason};
use crate::map::Map;
use crate::number::Number;
use crate::read::StrRead;
use crate::value::Value;

impl<'de> Deserialize<'de> for Value {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    #[inline]
    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    #[inline]
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i128<E: de::Error>(self, value: i128) -> Result<Value, E> {
        Number::deserialize(I128Deserializer::new(value)).map(Value::Number)
    }

    #[inline]
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u128<E: de::Error>(self, value: u128) -> Result<Value, E> {
        Number::deserialize(U128Deserializer::new(value)).map(Value::Number)
    }

    #[inline]
    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    #[inline]
    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    #[inline]
    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    #[inline]
    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    #[inline]
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    #[inline]
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    #[inline]
    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = access.next_element()? {
            elements.push(element);
        }
        Ok(Value::Array(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut entries = Map::new();
        match access.next_key_seed(FirstKey)? {
            #[cfg(feature = "arbitrary_precision")]
            Some(First::Number) => return access.next_value_seed(crate::number::FromText).map(Value::Number),
            #[cfg(feature = "raw_value")]
            Some(First::Raw) => {
                let raw = access.next_value_seed(crate::raw::Boxed)?;
                return crate::from_str(raw.get()).map_err(de::Error::custom);
            }
            Some(First::Key(key)) => {
                entries.insert(key, access.next_value()?);
            }
            None => {}
        }
        while let Some((key, value)) = access.next_entry()? {
            entries.insert(key, value);
        }
        Ok(Value::Object(entries))
    }
}

/// First key of a map. Some keys tell that the map is a number or a raw value.
enum First {
    Key(String),
    #[cfg(feature = "arbitrary_precision")]
    Number,
    #[cfg(feature = "raw_value")]
    Raw,
}

struct FirstKey;

impl<'de> DeserializeSeed<'de> for FirstKey {
    type Value = First;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<First, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for FirstKey {
    type Value = First;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string key")
    }

    fn visit_str<E>(self, key: &str) -> Result<First, E> {
        Ok(match key {
            #[cfg(feature = "arbitrary_precision")]
            crate::number::TOKEN => First::Number,
            #[cfg(feature = "raw_value")]
            crate::raw::TOKEN => First::Raw,
            _ => First::Key(key.to_owned()),
        })
    }
}

impl FromStr for Value {
    type Err = Error;

    fn from_str(s: &str) -> Result<Self, Error> {
        crate::from_str(s)
    }
}

impl FromStr for Map<String, Value> {
    type Err = Error;

    fn from_str(s: &str) -> Result<Self, Error> {
        crate::from_str(s)
    }
}

impl Value {
    #[cold]
    fn invalid_type(&self, expected: &dyn Expected) -> Error {
        Error::invalid_type(self.unexpected(), expected)
    }

    #[cold]
    fn unexpected(&self) -> Unexpected<'_> {
        match self {
            Self::Null => Unexpected::Unit,
            Self::Bool(value) => Unexpected::Bool(*value),
            Self::Number(number) => number.unexpected(),
            Self::String(text) => Unexpected::Str(text),
            Self::Array(_) => Unexpected::Seq,
            Self::Object(_) => Unexpected::Map,
        }
    }
}

/// Visits the elements of an array.
fn visit_array<'de, V, I>(elements: I, visitor: V) -> Result<V::Value, Error>
where
    V: Visitor<'de>,
    I: ExactSizeIterator<Item: Deserializer<'de, Error = Error>>,
{
    let len = elements.len();
    let mut elements = Elements(elements);
    let value = visitor.visit_seq(&mut elements)?;
    match elements.0.len() {
        0 => Ok(value),
        _ => Err(Error::invalid_length(len, &"fewer elements in array")),
    }
}

struct Elements<I>(I);

impl<'de, I> SeqAccess<'de> for Elements<I>
where
    I: ExactSizeIterator<Item: Deserializer<'de, Error = Error>>,
{
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        self.0.next().map(|element| seed.deserialize(element)).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

/// Visits the entries of an object.
fn visit_object<'de, V, I, K, T>(entries: I, visitor: V) -> Result<V::Value, Error>
where
    V: Visitor<'de>,
    I: ExactSizeIterator<Item = (K, T)>,
    K: Into<Cow<'de, str>>,
    T: Deserializer<'de, Error = Error>,
{
    let len = entries.len();
    let mut entries = Entries { entries, value: None };
    let value = visitor.visit_map(&mut entries)?;
    match entries.entries.len() {
        0 => Ok(value),
        _ => Err(Error::invalid_length(len, &"fewer elements in map")),
    }
}

struct Entries<I, T> {
    entries: I,
    /// Value of the last key.
    value: Option<T>,
}

impl<'de, I, K, T> MapAccess<'de> for Entries<I, T>
where
    I: ExactSizeIterator<Item = (K, T)>,
    K: Into<Cow<'de, str>>,
    T: Deserializer<'de, Error = Error>,
{
    type Error = Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        let Some((key, value)) = self.entries.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(Key(key.into())).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        match self.value.take() {
            Some(value) => seed.deserialize(value),
            None => Err(de::Error::custom("value is missing")),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

/// Visits the only entry of an object as an enum variant.
fn visit_variant<'de, V, I, K, T>(mut entries: I, visitor: V) -> Result<V::Value, Error>
where
    V: Visitor<'de>,
    I: Iterator<Item = (K, T)>,
    K: Into<Cow<'de, str>>,
    T: Deserializer<'de, Error = Error> + Borrow<Value>,
{
    match (entries.next(), entries.next()) {
        (Some((variant, value)), None) => {
            visitor.visit_enum(Enum { variant: variant.into(), value: Some(value) })
        }
        _ => Err(Error::invalid_value(Unexpected::Map, &"map with a single key")),
    }
}

/// Enum variant, and its content if it is encoded as an object.
struct Enum<'de, T> {
    variant: Cow<'de, str>,
    value: Option<T>,
}

impl<'de, T: Deserializer<'de, Error = Error> + Borrow<Value>> EnumAccess<'de> for Enum<'de, T> {
    type Error = Error;
    type Variant = Variant<T>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Variant<T>), Error> {
        Ok((seed.deserialize(self.variant.into_deserializer())?, Variant(self.value)))
    }
}

struct Variant<T>(Option<T>);

impl<'de, T: Deserializer<'de, Error = Error> + Borrow<Value>> VariantAccess<'de> for Variant<T> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        self.0.map_or(Ok(()), Deserialize::deserialize)
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Error> {
        self.0.map_or_else(|| no_content("newtype variant"), |value| seed.deserialize(value))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, Error> {
        let Some(value) = self.0 else { return no_content("tuple variant") };
        match value.borrow() {
            Value::Array(elements) if elements.is_empty() => visitor.visit_unit(),
            Value::Array(_) => value.deserialize_any(visitor),
            other => Err(other.invalid_type(&"tuple variant")),
        }
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let Some(value) = self.0 else { return no_content("struct variant") };
        match value.borrow() {
            Value::Object(_) => value.deserialize_any(visitor),
            other => Err(other.invalid_type(&"struct variant")),
        }
    }
}

macro_rules! numbers {
    ($($method:ident)*) => {
        $(
            #[inline]
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                match self {
                    Value::Number(number) => number.$method(visitor),
                    #[cfg(not(feature = "arbitrary_precision"))]
                    _ => Err(self.invalid_type(&visitor)),
                    #[cfg(feature = "arbitrary_precision")]
                    _ => self.deserialize_any(visitor),
                }
            }
        )*
    };
}

/// Methods that forward to another one and ignore additional arguments.
macro_rules! forward {
    ($($target:ident: $($method:ident($($argument:ident: $type:ty),*))*;)*) => {
        $($(
            fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, Error> {
                $(let _ = $argument;)*
                self.$target(visitor)
            }
        )*)*
    };
}

macro_rules! deserializer {
    ($($value:ty, $map:ty: $visit_text:ident $iter:ident;)*) => {
        $(
            impl<'de> Deserializer<'de> for $map {
                type Error = Error;

                fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                    visit_object(self.into_iter(), visitor)
                }

                fn deserialize_enum<V: Visitor<'de>>(
                    self,
                    _name: &'static str,
                    _variants: &'static [&'static str],
                    visitor: V,
                ) -> Result<V::Value, Error> {
                    visit_variant(self.into_iter(), visitor)
                }

                fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                    visitor.visit_unit()
                }

                forward_to_deserialize_any! {
                    bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
                    unit unit_struct newtype_struct seq tuple tuple_struct map struct identifier
                }
            }

            impl<'de> Deserializer<'de> for $value {
                type Error = Error;

                #[inline]
                fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                    match self {
                        Value::Null => visitor.visit_unit(),
                        Value::Bool(value) => visitor.visit_bool(value.to_owned()),
                        Value::Number(number) => number.deserialize_any(visitor),
                        Value::String(text) => visitor.$visit_text(text),
                        Value::Array(elements) => visit_array(elements.$iter(), visitor),
                        Value::Object(entries) => entries.deserialize_any(visitor),
                    }
                }

                numbers! {
                    deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
                    deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
                    deserialize_f32 deserialize_f64
                }

                #[inline]
                fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                    match self {
                        Value::Null => visitor.visit_none(),
                        _ => visitor.visit_some(self),
                    }
                }

                #[inline]
                fn deserialize_enum<V: Visitor<'de>>(
                    self,
                    name: &'static str,
                    variants: &'static [&'static str],
                    visitor: V,
                ) -> Result<V::Value, Error> {
                    match self {
                        Value::Object(entries) => entries.deserialize_enum(name, variants, visitor),
                        Value::String(variant) => {
                            visitor.visit_enum(Enum::<Self> { variant: variant.into(), value: None })
                        }
                        _ => Err(self.invalid_type(&"string or map")),
                    }
                }

                #[inline]
                fn deserialize_newtype_struct<V: Visitor<'de>>(
                    self,
                    name: &'static str,
                    visitor: V,
                ) -> Result<V::Value, Error> {
                    #[cfg(feature = "raw_value")]
                    if name == crate::raw::TOKEN {
                        return visitor.visit_map(crate::private::entry(name, self.to_string()));
                    }
                    let _ = name;
                    visitor.visit_newtype_struct(self)
                }

                fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                    match self {
                        Value::Bool(value) => visitor.visit_bool(value.to_owned()),
                        _ => Err(self.invalid_type(&visitor)),
                    }
                }

                fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                    match self {
                        Value::String(text) => visitor.$visit_text(text),
                        _ => Err(self.invalid_type(&visitor)),
                    }
                }

                fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                    match self {
                        Value::String(text) => visitor.$visit_text(text),
                        Value::Array(elements) => visit_array(elements.$iter(), visitor),
                        _ => Err(self.invalid_type(&visitor)),
                    }
                }

                fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                    match self {
                        Value::Null => visitor.visit_unit(),
                        _ => Err(self.invalid_type(&visitor)),
                    }
                }

                fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                    match self {
                        Value::Array(elements) => visit_array(elements.$iter(), visitor),
                        _ => Err(self.invalid_type(&visitor)),
                    }
                }

                fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                    match self {
                        Value::Object(entries) => entries.deserialize_any(visitor),
                        _ => Err(self.invalid_type(&visitor)),
                    }
                }

                fn deserialize_struct<V: Visitor<'de>>(
                    self,
                    _name: &'static str,
                    _fields: &'static [&'static str],
                    visitor: V,
                ) -> Result<V::Value, Error> {
                    match self {
                        Value::Array(elements) => visit_array(elements.$iter(), visitor),
                        Value::Object(entries) => entries.deserialize_any(visitor),
                        _ => Err(self.invalid_type(&visitor)),
                    }
                }

                fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                    visitor.visit_unit()
                }

                forward! {
                    deserialize_str: deserialize_char() deserialize_string() deserialize_identifier();
                    deserialize_bytes: deserialize_byte_buf();
                    deserialize_unit: deserialize_unit_struct(name: &'static str);
                    deserialize_seq: deserialize_tuple(len: usize)
                        deserialize_tuple_struct(name: &'static str, len: usize);
                }
            }

            impl<'de> IntoDeserializer<'de, Error> for $value {
                type Deserializer = Self;

                fn into_deserializer(self) -> Self {
                    self
                }
            }
        )*
    };
}

deserializer! {
    Value, Map<String, Value>: visit_string into_iter;
    &'de Value, &'de Map<String, Value>: visit_borrowed_str iter;
}

/// Key of an entry.
struct Key<'de>(Cow<'de, str>);

impl Key<'_> {
    /// Decodes a number in the key.
    fn number<T>(
        &self,
        decode: impl FnOnce(&mut crate::Deserializer<StrRead<'_>>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut deserializer = crate::Deserializer::from_str(&self.0);
        if matches!(deserializer.peek()?, Some(b'-' | b'0'..=b'9')) {
            let value = decode(&mut deserializer)?;
            if deserializer.peek()?.is_none() {
                return Ok(value);
            }
        }
        Err(Error::of(Reason::NUMERIC_KEY))
    }
}

macro_rules! numeric_keys {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                self.number(|deserializer| deserializer.decode_number(false, visitor))
            }
        )*
    };
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    numeric_keys! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_f64
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.number(|deserializer| deserializer.decode_number(true, visitor))
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.number(|deserializer| deserializer.decode_wide(true, visitor, V::visit_i128))
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.number(|deserializer| deserializer.decode_wide(false, visitor, V::visit_u128))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &*self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            other => Err(Error::invalid_type(Unexpected::Str(other), &visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.into_deserializer().deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

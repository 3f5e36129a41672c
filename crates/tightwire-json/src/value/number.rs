//! Numbers of trees.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use serde::de::{self, Unexpected, Visitor};
use serde::ser::{Error as _, SerializeStruct};
use serde::{Deserialize, Deserializer, Serialize, Serializer, forward_to_deserialize_any};

use super::Value;
use super::deserialize::{handed_over, is_any, visit};
use crate::Codec;
use crate::error::{Error, Result, Syntax};
use crate::marks::{NUMBER_BYTES, NUMBER_TOKEN, is_as_text};

/// JSON number: an integer of 64 bits, a finite `f64`, or the text of the document.
///
/// Numbers with the text of the document, called written numbers, are made by [`from_written`](Self::from_written).
/// They have any number of digits, and are serialized without any change. The formats of other crates serialize them as
/// an integer of 64 bits, or else as an `f64`; those that write the names of newtype structs see one if digits are lost.
///
/// Two numbers are equal if they are of the same kind and have the same value; two written numbers if they have the same
/// text.
///
/// # Examples
///
/// ```
/// use tightwire_json::Number;
///
/// assert_eq!(Number::from(7).as_i64(), Some(7));
/// let price = Number::from_written("1.10")?;
/// assert_eq!(price.as_f64(), Some(1.1));
/// assert_eq!(tightwire_json::to_string(&price)?, "1.10");
/// # Ok::<(), tightwire_json::Error>(())
/// ```
#[derive(Clone, PartialEq)]
#[repr(transparent)]
pub struct Number(pub(super) Repr);

/// Representation with 16 bytes. The layout is defined, so that the decoder can write it with stores of eight bytes.
#[derive(Clone, PartialEq)]
#[repr(u8)]
pub(super) enum Repr {
    Unsigned(u64) = Kind::Unsigned as u8,
    /// Negative integer.
    Signed(i64) = Kind::Signed as u8,
    /// Finite.
    Float(f64) = Kind::Float as u8,
    /// Number as written in the document. Behind two pointers, because [`Value`](super::Value) has no room for the
    /// length.
    Written(Box<Box<str>>) = Kind::Written as u8,
}

/// Tags of [`Repr`].
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Unsigned = 0,
    Signed = 1,
    Float = 2,
    Written = 3,
}

impl Number {
    /// Returns a number, or `None` for NaN and infinity.
    pub fn from_f64(value: f64) -> Option<Self> {
        value.is_finite().then_some(Self(Repr::Float(value)))
    }

    /// Returns a number; a written one if it exceeds 64 bits. Never `None`: the return type is that of serde_json.
    pub fn from_i128(value: i128) -> Option<Self> {
        Some(value.into())
    }

    /// Returns a number; a written one if it exceeds 64 bits. Never `None`: the return type is that of serde_json.
    pub fn from_u128(value: u128) -> Option<Self> {
        Some(value.into())
    }

    /// Returns a number with the text `text`, which is never rounded.
    ///
    /// # Errors
    ///
    /// If the text is not a number (RFC 8259, section 6). White space around it is an error.
    pub fn from_written(text: &str) -> Result<Self> {
        check(text)?;
        Ok(Self(Repr::Written(Box::new(text.into()))))
    }

    /// Returns the text of a written number.
    pub fn as_written(&self) -> Option<&str> {
        match &self.0 {
            Repr::Written(text) => Some(text),
            _ => None,
        }
    }

    /// Returns whether [`as_i64`](Self::as_i64) returns a value.
    pub fn is_i64(&self) -> bool {
        self.as_i64().is_some()
    }

    /// Returns whether [`as_u64`](Self::as_u64) returns a value.
    pub fn is_u64(&self) -> bool {
        self.as_u64().is_some()
    }

    /// Returns whether the number is a float. A written number is one if it has a fraction or an exponent and is in the
    /// range of `f64`.
    pub fn is_f64(&self) -> bool {
        match &self.0 {
            Repr::Float(_) => true,
            Repr::Written(text) => !is_integer(text) && self.as_f64().is_some(),
            _ => false,
        }
    }

    /// Returns an integer in the range of `i64`.
    pub fn as_i64(&self) -> Option<i64> {
        match &self.0 {
            Repr::Unsigned(value) => i64::try_from(*value).ok(),
            Repr::Signed(value) => Some(*value),
            Repr::Float(_) => None,
            Repr::Written(text) => text.parse().ok(),
        }
    }

    /// Returns an integer in the range of `u64`.
    pub fn as_u64(&self) -> Option<u64> {
        match &self.0 {
            Repr::Unsigned(value) => Some(*value),
            Repr::Written(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// Returns an integer in the range of `i128`.
    pub fn as_i128(&self) -> Option<i128> {
        match &self.0 {
            Repr::Unsigned(value) => Some((*value).into()),
            Repr::Signed(value) => Some((*value).into()),
            Repr::Float(_) => None,
            Repr::Written(text) => text.parse().ok(),
        }
    }

    /// Returns an integer in the range of `u128`.
    pub fn as_u128(&self) -> Option<u128> {
        match &self.0 {
            Repr::Unsigned(value) => Some((*value).into()),
            Repr::Written(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// Returns the nearest `f64`. `None` for a written number out of its range.
    pub fn as_f64(&self) -> Option<f64> {
        match &self.0 {
            Repr::Unsigned(value) => Some(*value as f64),
            Repr::Signed(value) => Some(*value as f64),
            Repr::Float(value) => Some(*value),
            Repr::Written(text) => text.parse().ok().filter(|value: &f64| value.is_finite()),
        }
    }

    /// Returns the nearest `f32`. `None` if it is infinite.
    pub(super) fn as_f32(&self) -> Option<f32> {
        let value = match &self.0 {
            Repr::Unsigned(value) => *value as f32,
            Repr::Signed(value) => *value as f32,
            Repr::Float(value) => *value as f32,
            Repr::Written(text) => text.parse().ok()?,
        };
        value.is_finite().then_some(value)
    }

    pub(super) fn unexpected(&self) -> Unexpected<'_> {
        match &self.0 {
            Repr::Unsigned(value) => Unexpected::Unsigned(*value),
            Repr::Signed(value) => Unexpected::Signed(*value),
            Repr::Float(value) => Unexpected::Float(*value),
            Repr::Written(_) => Unexpected::Other("number"),
        }
    }
}

/// Returns an error if `text` is not a number (RFC 8259, section 6).
fn check(text: &str) -> Result<()> {
    let bytes = text.as_bytes();
    let len = bytes.trim_ascii_end().len();
    let error = |offset| Err(Error::syntax(Syntax::Number, offset).in_document(bytes));
    match bytes {
        [] | [b'-' | b'0'..=b'9', ..] if len == bytes.len() => Codec::standard().validate(bytes),
        [b'-' | b'0'..=b'9', ..] => error(len),
        _ => error(0),
    }
}

fn is_integer(text: &str) -> bool {
    !text.contains(['.', 'e', 'E'])
}

/// Converts a valid number as the decoder does. `None` if it is out of range.
fn parse(text: &str) -> Option<Number> {
    // `-0` is a float: an integer has no sign of zero.
    if is_integer(text) && text != "-0" {
        if let Ok(value) = text.parse() {
            return Some(Number(Repr::Unsigned(value)));
        }
        if let Ok(value) = text.parse() {
            return Some(Number(Repr::Signed(value)));
        }
    }
    Number::from_f64(text.parse().ok()?)
}

/// Parses a number that is written back as the same text. Returns `None` if digits would change.
fn exact(text: &str) -> Option<Number> {
    parse(text).filter(|number| number.to_string() == text)
}

fn out_of_range<E: de::Error>() -> E {
    E::custom("number is out of range")
}

/// Converts text to a number as the decoder does, not to a written one.
impl FromStr for Number {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        check(text)?;
        parse(text).ok_or_else(out_of_range)
    }
}

macro_rules! from {
    ($($type:ty)*, |$value:ident| $repr:expr) => {
        $(
            impl From<$type> for Number {
                fn from($value: $type) -> Self {
                    Self($repr)
                }
            }
        )*
    };
}

from! { u8 u16 u32 u64 usize, |value| Repr::Unsigned(value as u64) }
from! {
    i8 i16 i32 i64 isize,
    |value| u64::try_from(value).map_or(Repr::Signed(value as i64), Repr::Unsigned)
}
from! {
    i128 u128,
    |value| match (value.try_into(), value.try_into()) {
        (Ok(value), _) => Repr::Unsigned(value),
        (_, Ok(value)) => Repr::Signed(value),
        _ => Repr::Written(Box::new(value.to_string().into())),
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Unsigned(value) => f.write_str(itoa::Buffer::new().format(*value)),
            Repr::Signed(value) => f.write_str(itoa::Buffer::new().format(*value)),
            Repr::Float(value) => f.write_str(zmij::Buffer::new().format_finite(*value)),
            Repr::Written(text) => f.write_str(text),
        }
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Number({self})")
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.0 {
            Repr::Unsigned(value) => value.hash(state),
            Repr::Signed(value) => value.hash(state),
            // The two zeros are equal.
            Repr::Float(value) => (if *value == 0.0 { 0.0 } else { *value }).to_bits().hash(state),
            Repr::Written(text) => text.hash(state),
        }
    }
}

/// Returns whether the serializer is one of this crate, or one of serde that stores values for one of this crate.
fn is_own<S: Serializer>() -> bool {
    typeid::of::<S::Error>() == typeid::of::<Error>()
}

/// Text of a number that keeps its digits.
struct Written<'a>(&'a str);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if is_as_text() || is_own::<S>() {
            let mut fields = serializer.serialize_struct(NUMBER_TOKEN, 1)?;
            fields.serialize_field(NUMBER_TOKEN, self.0)?;
            return fields.end();
        }
        match parse(self.0) {
            Some(number) => number.serialize(serializer),
            None => Err(S::Error::custom("number is out of range")),
        }
    }
}

impl Serialize for Number {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Repr::Unsigned(value) => serializer.serialize_u64(*value),
            Repr::Signed(value) => serializer.serialize_i64(*value),
            Repr::Float(value) => serializer.serialize_f64(*value),
            Repr::Written(text) => match exact(text) {
                Some(number) if !is_own::<S>() => number.serialize(serializer),
                _ => serializer.serialize_newtype_struct(NUMBER_TOKEN, &Written(text)),
            },
        }
    }
}

/// Returns the integer of 64 bits or `f64` that is written with this text in every mode.
pub(crate) fn plain(text: &str) -> Option<Number> {
    exact(text).filter(|_| !text.ends_with(".0") && !text.contains('e'))
}

/// Returns the bytes as which a number that is not [`plain`] is passed to a visitor that may store it.
///
/// serde stores the content of flattened fields and of tagged and untagged enums, and has no other type that can contain
/// the digits. Only the visitors of [`Number`] and [`Value`] read the bytes. JSON documents contain no bytes.
pub(crate) fn to_bytes(text: &str) -> Vec<u8> {
    [NUMBER_BYTES, text.as_bytes()].concat()
}

/// Returns the number in these bytes.
pub(super) fn from_bytes(bytes: &[u8]) -> Option<Number> {
    let text = bytes.strip_prefix(NUMBER_BYTES)?;
    Number::from_written(str::from_utf8(text).ok()?).ok()
}

pub(super) struct NumberVisitor;

impl<'de> Visitor<'de> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    visit! { visit_u64(u64) visit_i64(i64) visit_u128(u128) visit_i128(i128) }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Number, E> {
        Number::from_f64(value).ok_or_else(|| E::custom("NaN and infinity are not JSON numbers"))
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Number, E> {
        match handed_over(bytes, &self)? {
            Value::Number(number) => Ok(number),
            other => Err(E::invalid_type(other.unexpected(), &self)),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

macro_rules! integers {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                match &self.0 {
                    // The decoder accepts `-0` for integers as well.
                    Repr::Written(text) if ***text == *"-0" => visitor.visit_i64(0),
                    Repr::Written(text) => parse(text).ok_or_else(out_of_range)?.deserialize_any(visitor),
                    _ => self.deserialize_any(visitor),
                }
            }
        )*
    };
}

macro_rules! wide {
    ($($method:ident $as:ident $visit:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                match (&self.0, self.$as()) {
                    (Repr::Written(_), Some(value)) => visitor.$visit(value),
                    _ => self.deserialize_any(visitor),
                }
            }
        )*
    };
}

macro_rules! floats {
    ($($method:ident $as:ident $visit:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                match self.0 {
                    Repr::Unsigned(_) | Repr::Signed(_) => self.deserialize_any(visitor),
                    _ => visitor.$visit(self.$as().ok_or_else(out_of_range)?),
                }
            }
        )*
    };
}

/// Implements the trait for owned and borrowed numbers.
macro_rules! number_deserializer {
    ($($type:ty)*) => {
        $(
            /// Written numbers are unchanged for [`Number`] and [`Value`](super::Value), also if serde stores them before.
            impl<'de> Deserializer<'de> for $type {
                type Error = Error;

                fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                    match &self.0 {
                        Repr::Unsigned(value) => visitor.visit_u64(*value),
                        Repr::Signed(value) => visitor.visit_i64(*value),
                        Repr::Float(value) => visitor.visit_f64(*value),
                        Repr::Written(text) => match plain(text) {
                            Some(number) if !is_any::<V>() => number.deserialize_any(visitor),
                            _ => visitor.visit_byte_buf(to_bytes(text)),
                        },
                    }
                }

                integers! {
                    deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
                    deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
                }

                wide! { deserialize_i128 as_i128 visit_i128 deserialize_u128 as_u128 visit_u128 }

                floats! { deserialize_f32 as_f32 visit_f32 deserialize_f64 as_f64 visit_f64 }

                fn deserialize_newtype_struct<V: Visitor<'de>>(
                    self,
                    _name: &'static str,
                    visitor: V,
                ) -> Result<V::Value> {
                    visitor.visit_newtype_struct(self)
                }

                fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                    visitor.visit_some(self)
                }

                forward_to_deserialize_any! {
                    bool char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct enum
                    identifier ignored_any
                }
            }
        )*
    };
}

number_deserializer! { Number &Number }

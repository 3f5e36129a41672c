//! Numbers of trees.

#[cfg_attr(not(feature = "arbitrary_precision"), path = "plain.rs")]
#[cfg_attr(feature = "arbitrary_precision", path = "text.rs")]
mod repr;

use std::fmt::{self, Debug, Display};

#[cfg(feature = "arbitrary_precision")]
use serde::de::MapAccess;
use serde::de::{self, Deserialize, Deserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde::ser::{Serialize, Serializer};
use tightwire_json::engine::Number as Plain;

use self::repr::Repr;
use crate::de::Parsed;
use crate::error::Error;

/// Name of the struct and of its field as which a number with all digits passes through serde.
#[cfg(feature = "arbitrary_precision")]
pub(crate) const TOKEN: &str = "$serde_json::private::Number";

/// JSON number: an integer or a finite float.
///
/// With the feature `arbitrary_precision`, it is the text of the number.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Number {
    n: Repr,
}

impl Number {
    /// Returns whether [`as_i64`](Self::as_i64) returns an integer.
    pub fn is_i64(&self) -> bool {
        self.as_i64().is_some()
    }

    /// Returns whether [`as_u64`](Self::as_u64) returns an integer.
    pub fn is_u64(&self) -> bool {
        self.as_u64().is_some()
    }

    /// Returns whether the number is a float: has a fraction or an exponent, or is an integer of more than 64 bits.
    pub fn is_f64(&self) -> bool {
        self.n.is_f64()
    }

    /// Returns the integer, if the number is one that `i64` can represent.
    pub fn as_i64(&self) -> Option<i64> {
        self.n.as_i64()
    }

    /// Returns the integer, if the number is one that `u64` can represent.
    pub fn as_u64(&self) -> Option<u64> {
        self.n.as_u64()
    }

    /// Returns the nearest float, if it is finite.
    pub fn as_f64(&self) -> Option<f64> {
        self.n.as_f64()
    }

    /// Returns a number from a finite float, `None` for NaN and infinity.
    pub fn from_f64(f: f64) -> Option<Self> {
        f.is_finite().then(|| Self { n: Repr::from_f64(f) })
    }

    /// Returns the integer, if the number is one that `i128` can represent.
    pub fn as_i128(&self) -> Option<i128> {
        self.n.as_i128()
    }

    /// Returns the integer, if the number is one that `u128` can represent.
    pub fn as_u128(&self) -> Option<u128> {
        self.n.as_u128()
    }

    /// Returns a number from an integer. Without the feature `arbitrary_precision`, `None` if it has more than 64 bits.
    pub fn from_i128(i: i128) -> Option<Self> {
        Repr::from_i128(i).map(|n| Self { n })
    }

    /// Returns a number from an integer. Without the feature `arbitrary_precision`, `None` if it has more than 64 bits.
    pub fn from_u128(i: u128) -> Option<Self> {
        Repr::from_u128(i).map(|n| Self { n })
    }

    /// Returns the text of the number, as in the document except for the exponent: a small letter and a sign.
    #[cfg(feature = "arbitrary_precision")]
    pub fn as_str(&self) -> &str {
        self.n.as_str()
    }

    #[cfg(feature = "arbitrary_precision")]
    #[doc(hidden)]
    #[inline]
    pub fn from_string_unchecked(n: String) -> Self {
        Self { n: Repr::from_text(n) }
    }

    pub(crate) fn as_f32(&self) -> Option<f32> {
        self.n.as_f32()
    }

    pub(crate) fn from_f32(f: f32) -> Option<Self> {
        f.is_finite().then(|| Self { n: Repr::from_f32(f) })
    }

    /// Returns the number of a document.
    #[inline]
    pub(crate) fn parsed(number: Parsed) -> Self {
        let n = match number {
            Parsed::Plain(Plain::Unsigned(value)) => Repr::from_u64(value),
            Parsed::Plain(Plain::Signed(value)) => Repr::from_i64(value),
            Parsed::Plain(Plain::Float(value)) => Repr::from_f64(value),
            #[cfg(feature = "arbitrary_precision")]
            Parsed::Text(text) => Repr::from_text(text),
        };
        Self { n }
    }

    #[cold]
    pub(crate) fn unexpected(&self) -> Unexpected<'_> {
        self.n.unexpected()
    }
}

impl Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.n, f)
    }
}

impl Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Number({self})")
    }
}

impl Serialize for Number {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.n.serialize(serializer)
    }
}

struct NumberVisitor;

impl<'de> Visitor<'de> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON number")
    }

    fn visit_i64<E>(self, value: i64) -> Result<Number, E> {
        Ok(value.into())
    }

    fn visit_i128<E: de::Error>(self, value: i128) -> Result<Number, E> {
        Number::from_i128(value).ok_or_else(|| E::custom("JSON number out of range"))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Number, E> {
        Ok(value.into())
    }

    fn visit_u128<E: de::Error>(self, value: u128) -> Result<Number, E> {
        Number::from_u128(value).ok_or_else(|| E::custom("JSON number out of range"))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Number, E> {
        Number::from_f64(value).ok_or_else(|| E::custom("not a JSON number"))
    }

    #[cfg(feature = "arbitrary_precision")]
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Number, A::Error> {
        let texts = ["a valid number field", "expected field with custom name"];
        crate::private::key(&mut map, TOKEN, texts, &self)?;
        map.next_value_seed(FromText)
    }
}

impl<'de> Deserialize<'de> for Number {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

/// Reads a number from its text.
#[cfg(feature = "arbitrary_precision")]
pub(crate) struct FromText;

#[cfg(feature = "arbitrary_precision")]
impl<'de> de::DeserializeSeed<'de> for FromText {
    type Value = Number;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Number, D::Error> {
        deserializer.deserialize_str(self)
    }
}

#[cfg(feature = "arbitrary_precision")]
impl Visitor<'_> for FromText {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("string containing a number")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Number, E> {
        text.parse().map_err(E::custom)
    }
}

macro_rules! numbers {
    ($($method:ident $visit:ident)*) => {
        $(
            #[inline]
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                #[cfg(not(feature = "arbitrary_precision"))]
                return self.deserialize_any(visitor);
                #[cfg(feature = "arbitrary_precision")]
                visitor.$visit(self.n.parse()?)
            }
        )*
    };
}

macro_rules! deserializer {
    ($($type:ty)*) => {
        $(
            impl<'de> Deserializer<'de> for $type {
                type Error = Error;

                #[inline]
                fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                    self.n.visit(visitor)
                }

                numbers! {
                    deserialize_i8 visit_i8 deserialize_i16 visit_i16 deserialize_i32 visit_i32
                    deserialize_i64 visit_i64 deserialize_i128 visit_i128 deserialize_u8 visit_u8
                    deserialize_u16 visit_u16 deserialize_u32 visit_u32 deserialize_u64 visit_u64
                    deserialize_u128 visit_u128 deserialize_f32 visit_f32 deserialize_f64 visit_f64
                }

                forward_to_deserialize_any! {
                    bool char str string bytes byte_buf option unit unit_struct newtype_struct seq tuple
                    tuple_struct map struct enum identifier ignored_any
                }
            }
        )*
    };
}

deserializer! { Number &Number }

macro_rules! from {
    ($($source:ident($argument:ty): $($type:ty)*;)*) => {
        $($(
            impl From<$type> for Number {
                #[inline]
                fn from(value: $type) -> Self {
                    Self { n: Repr::$source(value as $argument) }
                }
            }
        )*)*
    };
}

from! {
    from_u64(u64): u8 u16 u32 u64 usize;
    from_i64(i64): i8 i16 i32 i64 isize;
}

#[cfg(feature = "arbitrary_precision")]
from! {
    from_wide(u128): u128;
    from_wide(i128): i128;
}

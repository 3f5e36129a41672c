//! Number as an integer of 64 bits or a float.

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::de::{Unexpected, Visitor};
use serde::ser::Serializer;

/// Value of a number.
#[derive(Clone, Copy)]
pub(super) enum Repr {
    Unsigned(u64),
    /// Negative integer.
    Signed(i64),
    /// Finite float.
    Float(f64),
}

impl Repr {
    #[inline]
    pub(super) fn from_u64(value: u64) -> Self {
        Self::Unsigned(value)
    }

    #[inline]
    pub(super) fn from_i64(value: i64) -> Self {
        u64::try_from(value).map_or(Self::Signed(value), Self::Unsigned)
    }

    pub(super) fn from_f64(value: f64) -> Self {
        Self::Float(value)
    }

    pub(super) fn from_f32(value: f32) -> Self {
        Self::Float(value.into())
    }

    pub(super) fn from_i128(value: i128) -> Option<Self> {
        let signed = || i64::try_from(value).ok().map(Self::Signed);
        u64::try_from(value).ok().map(Self::Unsigned).or_else(signed)
    }

    pub(super) fn from_u128(value: u128) -> Option<Self> {
        u64::try_from(value).ok().map(Self::Unsigned)
    }

    pub(super) fn is_f64(&self) -> bool {
        matches!(self, Self::Float(_))
    }

    pub(super) fn as_i64(&self) -> Option<i64> {
        match *self {
            Self::Unsigned(value) => i64::try_from(value).ok(),
            Self::Signed(value) => Some(value),
            Self::Float(_) => None,
        }
    }

    pub(super) fn as_u64(&self) -> Option<u64> {
        match *self {
            Self::Unsigned(value) => Some(value),
            Self::Signed(_) | Self::Float(_) => None,
        }
    }

    pub(super) fn as_i128(&self) -> Option<i128> {
        match *self {
            Self::Unsigned(value) => Some(value.into()),
            Self::Signed(value) => Some(value.into()),
            Self::Float(_) => None,
        }
    }

    pub(super) fn as_u128(&self) -> Option<u128> {
        self.as_u64().map(u128::from)
    }

    pub(super) fn as_f64(&self) -> Option<f64> {
        Some(match *self {
            Self::Unsigned(value) => value as f64,
            Self::Signed(value) => value as f64,
            Self::Float(value) => value,
        })
    }

    pub(super) fn as_f32(&self) -> Option<f32> {
        let value = match *self {
            Self::Unsigned(value) => value as f32,
            Self::Signed(value) => value as f32,
            Self::Float(value) => value as f32,
        };
        value.is_finite().then_some(value)
    }

    #[inline]
    pub(super) fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Unsigned(value) => serializer.serialize_u64(value),
            Self::Signed(value) => serializer.serialize_i64(value),
            Self::Float(value) => serializer.serialize_f64(value),
        }
    }

    #[inline]
    pub(super) fn visit<'de, V: Visitor<'de>, E: serde::de::Error>(self, visitor: V) -> Result<V::Value, E> {
        match self {
            Self::Unsigned(value) => visitor.visit_u64(value),
            Self::Signed(value) => visitor.visit_i64(value),
            Self::Float(value) => visitor.visit_f64(value),
        }
    }

    pub(super) fn unexpected(&self) -> Unexpected<'static> {
        match *self {
            Self::Unsigned(value) => Unexpected::Unsigned(value),
            Self::Signed(value) => Unexpected::Signed(value),
            Self::Float(value) => Unexpected::Float(value),
        }
    }
}

impl fmt::Display for Repr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Unsigned(value) => f.write_str(itoa::Buffer::new().format(value)),
            Self::Signed(value) => f.write_str(itoa::Buffer::new().format(value)),
            Self::Float(value) => f.write_str(zmij::Buffer::new().format_finite(value)),
        }
    }
}

impl PartialEq for Repr {
    fn eq(&self, other: &Self) -> bool {
        match (*self, *other) {
            (Self::Unsigned(one), Self::Unsigned(other)) => one == other,
            (Self::Signed(one), Self::Signed(other)) => one == other,
            (Self::Float(one), Self::Float(other)) => one == other,
            _ => false,
        }
    }
}

// No float is NaN.
impl Eq for Repr {}

impl Hash for Repr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match *self {
            Self::Unsigned(value) => value.hash(state),
            Self::Signed(value) => value.hash(state),
            // The sum is positive for both zeros, which are equal.
            Self::Float(value) => (value + 0.0).to_bits().hash(state),
        }
    }
}

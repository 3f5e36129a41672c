//! Number as text.

use std::fmt;
use std::str::FromStr;

use serde::de::{Unexpected, Visitor};
use serde::ser::{SerializeStruct, Serializer};

use super::TOKEN;
use crate::error::{Error, Reason};

/// Text of a number.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Repr(String);

impl Repr {
    pub(super) fn from_u64(value: u64) -> Self {
        Self::from_wide(value)
    }

    pub(super) fn from_i64(value: i64) -> Self {
        Self::from_wide(value)
    }

    pub(super) fn from_wide(value: impl itoa::Integer) -> Self {
        Self(itoa::Buffer::new().format(value).to_owned())
    }

    pub(super) fn from_f64(value: f64) -> Self {
        Self(zmij::Buffer::new().format_finite(value).to_owned())
    }

    pub(super) fn from_f32(value: f32) -> Self {
        Self(zmij::Buffer::new().format_finite(value).to_owned())
    }

    pub(super) fn from_i128(value: i128) -> Option<Self> {
        Some(Self::from_wide(value))
    }

    pub(super) fn from_u128(value: u128) -> Option<Self> {
        Some(Self::from_wide(value))
    }

    pub(super) fn from_text(text: String) -> Self {
        Self(text)
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn is_f64(&self) -> bool {
        self.0.contains(['.', 'e', 'E']) && self.as_f64().is_some()
    }

    pub(super) fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    pub(super) fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    pub(super) fn as_i128(&self) -> Option<i128> {
        self.0.parse().ok()
    }

    pub(super) fn as_u128(&self) -> Option<u128> {
        self.0.parse().ok()
    }

    pub(super) fn as_f64(&self) -> Option<f64> {
        self.0.parse().ok().filter(|value: &f64| value.is_finite())
    }

    pub(super) fn as_f32(&self) -> Option<f32> {
        self.0.parse().ok().filter(|value: &f32| value.is_finite())
    }

    /// Converts the number to this type.
    pub(super) fn parse<T: FromStr>(&self) -> Result<T, Error> {
        self.0.parse().map_err(|_| Error::of(Reason::NUMBER))
    }

    pub(super) fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct(TOKEN, 1)?;
        fields.serialize_field(TOKEN, &self.0)?;
        fields.end()
    }

    pub(super) fn visit<'de, V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Error> {
        if let Some(value) = self.as_u64() {
            return visitor.visit_u64(value);
        }
        if let Some(value) = self.as_i64() {
            return visitor.visit_i64(value);
        }
        if let Some(value) = self.as_u128() {
            return visitor.visit_u128(value);
        }
        if let Some(value) = self.as_i128() {
            return visitor.visit_i128(value);
        }
        match self.as_f64() {
            // The float has all digits of the text.
            Some(value)
                if zmij::Buffer::new().format_finite(value) == self.0 || value.to_string() == self.0 =>
            {
                visitor.visit_f64(value)
            }
            _ => visitor.visit_map(crate::private::entry(TOKEN, self.0.clone())),
        }
    }

    pub(super) fn unexpected(&self) -> Unexpected<'static> {
        Unexpected::Other("number")
    }
}

impl fmt::Display for Repr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

//! Conversions between Rust's primitive types and [`Value`].

use uuid::Uuid;

use super::{DateTime, Decimal, Object, Progress, PsString, SecureString, TimeSpan, Value, Version};

macro_rules! impl_from {
    ($($type:ty => $variant:ident),* $(,)?) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}

impl_from! {
    bool => Bool,
    i8 => SByte,
    u8 => Byte,
    i16 => Int16,
    u16 => UInt16,
    i32 => Int32,
    u32 => UInt32,
    i64 => Int64,
    u64 => UInt64,
    f32 => Single,
    f64 => Double,
    Decimal => Decimal,
    PsString => String,
    String => String,
    &str => String,
    Uuid => Guid,
    Version => Version,
    DateTime => DateTime,
    TimeSpan => TimeSpan,
    Box<[u8]> => Bytes,
    Vec<u8> => Bytes,
    &[u8] => Bytes,
    SecureString => SecureString,
    Box<Progress> => Progress,
    Progress => Progress,
    Object => Object,
}

/// `None` becomes [`Value::Nil`].
impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Nil, Into::into)
    }
}

impl Value {
    /// Returns the text of a string, URI, script block or XML document, also if an object wraps it. `None` if the text
    /// contains a lone surrogate.
    pub fn as_str(&self) -> Option<&str> {
        self.as_ps_string().and_then(PsString::as_str)
    }

    /// Returns the text of a string, URI, script block or XML document, also if an object wraps it.
    pub fn as_ps_string(&self) -> Option<&PsString> {
        match self.base() {
            Self::String(text) | Self::Uri(text) | Self::Xml(text) | Self::ScriptBlock(text) => Some(text),
            _ => None,
        }
    }

    /// Returns a boolean, also if an object wraps it.
    pub fn as_bool(&self) -> Option<bool> {
        match self.base() {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns an integer of any width if it fits into 64 bits, also the number of an enumeration.
    pub fn as_i64(&self) -> Option<i64> {
        match *self.base() {
            Self::SByte(value) => Some(value.into()),
            Self::Byte(value) => Some(value.into()),
            Self::Int16(value) => Some(value.into()),
            Self::UInt16(value) => Some(value.into()),
            Self::Int32(value) => Some(value.into()),
            Self::UInt32(value) => Some(value.into()),
            Self::Int64(value) => Some(value),
            Self::UInt64(value) => i64::try_from(value).ok(),
            _ => None,
        }
    }

    /// Returns an integer of any width if it fits into 32 bits, also the number of an enumeration.
    pub fn as_i32(&self) -> Option<i32> {
        self.as_i64().and_then(|value| i32::try_from(value).ok())
    }

    /// Returns a non-negative integer of any width.
    pub fn as_u64(&self) -> Option<u64> {
        match *self.base() {
            Self::UInt64(value) => Some(value),
            _ => self.as_i64().and_then(|value| u64::try_from(value).ok()),
        }
    }

    /// Returns a floating-point number of either width.
    pub fn as_f64(&self) -> Option<f64> {
        match *self.base() {
            Self::Double(value) => Some(value),
            Self::Single(value) => Some(value.into()),
            _ => None,
        }
    }

    /// Returns bytes, also if an object wraps them.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self.base() {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}

impl PartialEq<str> for Value {
    fn eq(&self, other: &str) -> bool {
        matches!(self, Self::String(text) if text == other)
    }
}

impl PartialEq<&str> for Value {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

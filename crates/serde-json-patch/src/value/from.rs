//! Conversions of other types into trees.

use std::borrow::Cow;

use super::Value;
use crate::map::Map;
use crate::number::Number;

macro_rules! integers {
    ($($type:ty)*) => {
        $(
            impl From<$type> for Value {
                fn from(value: $type) -> Self {
                    Self::Number(value.into())
                }
            }
        )*
    };
}

integers! { i8 i16 i32 i64 isize u8 u16 u32 u64 usize }

#[cfg(feature = "arbitrary_precision")]
integers! { i128 u128 }

/// NaN and infinity become `null`.
impl From<f32> for Value {
    fn from(value: f32) -> Self {
        Number::from_f32(value).map_or(Self::Null, Self::Number)
    }
}

/// NaN and infinity become `null`.
impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Number::from_f64(value).map_or(Self::Null, Self::Number)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl<'a> From<Cow<'a, str>> for Value {
    fn from(text: Cow<'a, str>) -> Self {
        Self::String(text.into_owned())
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl From<Map<String, Self>> for Value {
    fn from(entries: Map<String, Self>) -> Self {
        Self::Object(entries)
    }
}

impl<T: Into<Self>> From<Vec<T>> for Value {
    fn from(elements: Vec<T>) -> Self {
        elements.into_iter().collect()
    }
}

impl<T: Into<Self>, const N: usize> From<[T; N]> for Value {
    fn from(elements: [T; N]) -> Self {
        elements.into_iter().collect()
    }
}

impl<T: Clone + Into<Self>> From<&[T]> for Value {
    fn from(elements: &[T]) -> Self {
        elements.iter().cloned().collect()
    }
}

impl<T: Into<Self>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(iter: I) -> Self {
        Self::Array(iter.into_iter().map(Into::into).collect())
    }
}

impl<K: Into<String>, V: Into<Self>> FromIterator<(K, V)> for Value {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(iter: I) -> Self {
        Self::Object(iter.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

impl From<()> for Value {
    fn from((): ()) -> Self {
        Self::Null
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

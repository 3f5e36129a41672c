//! Conversions into trees, and comparisons of trees with other types.

use std::borrow::Cow;

use super::{Array, JsonString, Map, Number, Value};
use crate::ser::widen;

macro_rules! from {
    ($($variant:ident: $($type:ty)*;)*) => {
        $($(
            impl From<$type> for Value {
                fn from(value: $type) -> Self {
                    Self::$variant(value.into())
                }
            }
        )*)*
    };
}

from! {
    Bool: bool;
    Number: i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize Number;
    String: &str String Cow<'_, str> JsonString;
    Array: Array;
    Object: Map<String, Self>;
}

/// NaN and infinity become `null`.
impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Number::from_f64(value).map_or(Self::Null, Self::Number)
    }
}

/// The result has the decimal digits of the `f32`: 5.55 is the `f64` 5.55. NaN and infinity become `null`.
impl From<f32> for Value {
    fn from(value: f32) -> Self {
        widen(value).into()
    }
}

impl From<()> for Value {
    fn from((): ()) -> Self {
        Self::Null
    }
}

/// `None` becomes `null`.
impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Self>> From<Vec<T>> for Value {
    fn from(values: Vec<T>) -> Self {
        values.into_iter().collect()
    }
}

impl<T: Into<Self>, const N: usize> From<[T; N]> for Value {
    fn from(values: [T; N]) -> Self {
        Self::Array(values.into())
    }
}

impl<T: Into<Self> + Clone> From<&[T]> for Value {
    fn from(values: &[T]) -> Self {
        values.iter().cloned().collect()
    }
}

/// Collects an array.
impl<T: Into<Self>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::Array(values.into_iter().map(Into::into).collect())
    }
}

/// Collects an object.
impl<K: Into<String>, V: Into<Self>> FromIterator<(K, V)> for Value {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self::Object(entries.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

macro_rules! equal_text {
    ($($type:ty)*) => {
        $(
            impl PartialEq<$type> for Value {
                fn eq(&self, other: &$type) -> bool {
                    self.as_str() == Some(AsRef::<str>::as_ref(other))
                }
            }

            impl PartialEq<Value> for $type {
                fn eq(&self, other: &Value) -> bool {
                    other == self
                }
            }
        )*
    };
}

equal_text! { str &str String JsonString }

macro_rules! equal {
    ($($read:expr => $($type:ty)*;)*) => {
        $($(
            impl PartialEq<$type> for Value {
                fn eq(&self, other: &$type) -> bool {
                    let read: fn(&Self) -> Option<_> = $read;
                    read(self) == (*other).try_into().ok()
                }
            }

            impl PartialEq<Value> for $type {
                fn eq(&self, other: &Value) -> bool {
                    other == self
                }
            }

            impl PartialEq<$type> for &Value {
                fn eq(&self, other: &$type) -> bool {
                    **self == *other
                }
            }

            impl PartialEq<$type> for &mut Value {
                fn eq(&self, other: &$type) -> bool {
                    **self == *other
                }
            }
        )*)*
    };
}

equal! {
    Self::as_bool => bool;
    |value| value.as_number()?.as_i128() => i8 i16 i32 i64 i128 isize;
    |value| value.as_number()?.as_u128() => u8 u16 u32 u64 u128 usize;
    Self::as_f64 => f64;
    |value| value.as_number()?.as_f32() => f32;
}

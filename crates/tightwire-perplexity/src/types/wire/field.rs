//! Values of object fields: handling of `null`, of integers written as floats, and of numbers written as strings.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, SeqAccess, Unexpected, Visitor};

/// A type of an object's field.
pub(crate) trait FieldValue: Sized {
    /// Reads a value; `None` for `null`.
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error>;

    /// Value of a missing or `null` field.
    fn missing() -> Self;

    /// Returns whether the field is encoded.
    #[inline]
    fn is_written(&self) -> bool {
        true
    }
}

/// Deserialization seed of a [`FieldValue`].
pub(crate) struct Seed<T>(pub(crate) PhantomData<T>);

impl<'de, T: FieldValue> DeserializeSeed<'de> for Seed<T> {
    type Value = Option<T>;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<T>, D::Error> {
        T::read(deserializer)
    }
}

/// Implements [`FieldValue`] for types that implement `Default` and `Deserialize`. `@checked` also defines a
/// test of the type's properties.
macro_rules! field_value {
    (@checked $name:ident) => {
        $crate::types::wire::field_value!($name);

        /// Checks the properties of the type.
        #[cfg(test)]
        #[test]
        #[allow(non_snake_case, reason = "the test is named like the type")]
        pub fn $name() {
            $crate::types::tests::check::<$name>();
        }
    };
    ($($ty:ty),*) => {
        $(
            impl $crate::types::wire::field::FieldValue for $ty {
                #[inline]
                fn read<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
                    <Option<Self> as serde::Deserialize>::deserialize(deserializer)
                }

                #[inline]
                fn missing() -> Self {
                    Self::default()
                }
            }
        )*
    };
}

pub(crate) use field_value;

field_value!(bool, String, tightwire_json::Value, tightwire_json::Map<String, tightwire_json::Value>);

impl<T: FieldValue> FieldValue for Option<T> {
    #[inline]
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        Ok(T::read(deserializer)?.map(Some))
    }

    #[inline]
    fn missing() -> Self {
        None
    }

    #[inline]
    fn is_written(&self) -> bool {
        self.is_some()
    }
}

impl<T: FieldValue> FieldValue for Box<T> {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        Ok(T::read(deserializer)?.map(Self::new))
    }

    fn missing() -> Self {
        Self::new(T::missing())
    }
}

/// Elements above this size, in bytes, are reserved one at a time first. A vector would otherwise start with
/// space for four: most responses have one choice, and allocations of several kilobytes take the allocator's
/// slow path.
const LARGE: usize = 256;

/// Reads the elements of an array.
#[inline]
pub(crate) fn list<'de, T: FieldValue, A: SeqAccess<'de>>(mut seq: A) -> Result<Vec<T>, A::Error> {
    let mut list = Vec::new();
    while let Some(element) = seq.next_element_seed(Seed::<T>(PhantomData))? {
        if size_of::<T>() > LARGE && list.is_empty() {
            list.reserve_exact(1);
        }
        list.push(element.unwrap_or_else(T::missing));
    }
    Ok(list)
}

/// A list, without `null`.
struct List<T>(Vec<T>);

impl<'de, T: FieldValue> Deserialize<'de> for List<T> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ListVisitor(PhantomData))
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: FieldValue> Visitor<'de> for ListVisitor<T> {
    type Value = List<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    #[inline]
    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<List<T>, A::Error> {
        list(seq).map(List)
    }
}

impl<T: FieldValue> FieldValue for Vec<T> {
    #[inline]
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        Ok(Option::<List<T>>::deserialize(deserializer)?.map(|list| list.0))
    }

    fn missing() -> Self {
        Self::new()
    }
}

/// A value that may be `null`, which stands for the default.
struct OrDefault<T>(T);

impl<'de, T: FieldValue> Deserialize<'de> for OrDefault<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::read(deserializer).map(|value| Self(value.unwrap_or_else(T::missing)))
    }
}

impl<T: FieldValue> FieldValue for BTreeMap<String, T> {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        let entries = Option::<BTreeMap<String, OrDefault<T>>>::deserialize(deserializer)?;
        Ok(entries.map(|entries| entries.into_iter().map(|(name, value)| (name, value.0)).collect()))
    }

    fn missing() -> Self {
        Self::new()
    }
}

/// An integer, which some servers write as a float (`1.0`) or as a string.
struct Integer<T>(T);

impl<'de, T: TryFrom<i128>> Deserialize<'de> for Integer<T> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IntegerVisitor(PhantomData))
    }
}

struct IntegerVisitor<T>(PhantomData<T>);

impl<T: TryFrom<i128>> Visitor<'_> for IntegerVisitor<T> {
    type Value = Integer<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer in range")
    }

    #[inline]
    fn visit_u64<E: Error>(self, value: u64) -> Result<Integer<T>, E> {
        let integer = T::try_from(value.into());
        integer.map(Integer).map_err(|_| E::invalid_value(Unexpected::Unsigned(value), &self))
    }

    #[inline]
    fn visit_i64<E: Error>(self, value: i64) -> Result<Integer<T>, E> {
        let integer = T::try_from(value.into());
        integer.map(Integer).map_err(|_| E::invalid_value(Unexpected::Signed(value), &self))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Integer<T>, E> {
        // The cast saturates, and no type has the limits of `i128`.
        match T::try_from(value as i128) {
            Ok(integer) if value.fract() == 0.0 => Ok(Integer(integer)),
            _ => Err(E::invalid_value(Unexpected::Float(value), &self)),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Integer<T>, E> {
        let integer = text.parse::<i128>().ok().and_then(|integer| T::try_from(integer).ok());
        integer.map(Integer).ok_or_else(|| E::invalid_type(Unexpected::Str(text), &self))
    }
}

/// A number, which some servers write as a string.
struct Float(f64);

impl<'de> Deserialize<'de> for Float {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FloatVisitor)
    }
}

struct FloatVisitor;

impl Visitor<'_> for FloatVisitor {
    type Value = Float;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    #[inline]
    fn visit_f64<E: Error>(self, value: f64) -> Result<Float, E> {
        Ok(Float(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Float, E> {
        Ok(Float(value as f64))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Float, E> {
        Ok(Float(value as f64))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Float, E> {
        let value = text.parse().ok().filter(|value: &f64| value.is_finite());
        value.map(Float).ok_or_else(|| E::invalid_type(Unexpected::Str(text), &self))
    }
}

macro_rules! number_fields {
    ($($ty:ty as $read:ty),*) => {
        $(
            impl FieldValue for $ty {
                #[inline]
                fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
                    Ok(Option::<$read>::deserialize(deserializer)?.map(|number| number.0))
                }

                fn missing() -> Self {
                    Self::default()
                }
            }
        )*
    };
}

number_fields!(i64 as Integer<i64>, u64 as Integer<u64>, u32 as Integer<u32>, f64 as Float);

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: FieldValue>(text: &str) -> Result<Option<T>, tightwire_json::Error> {
        struct Field<T>(Option<T>);
        impl<'de, T: FieldValue> Deserialize<'de> for Field<T> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                T::read(deserializer).map(Self)
            }
        }
        tightwire_json::from_str::<Field<T>>(text).map(|field| field.0)
    }

    #[test]
    fn integers_may_be_floats_and_numbers_may_be_strings() {
        assert_eq!(read::<u64>("7").unwrap(), Some(7));
        assert_eq!(read::<u64>("7.0").unwrap(), Some(7));
        assert_eq!(read::<i64>("-7e1").unwrap(), Some(-70));
        assert_eq!(read::<u32>("null").unwrap(), None);
        assert_eq!(read::<u32>("4294967295.0").unwrap(), Some(u32::MAX));
        assert_eq!(read::<f64>("3").unwrap(), Some(3.0));
        assert_eq!(read::<u64>(r#""7""#).unwrap(), Some(7));
        assert_eq!(read::<i64>(r#""-7""#).unwrap(), Some(-7));
        assert_eq!(read::<f64>(r#""-7e1""#).unwrap(), Some(-70.0));
        for (text, is_refused) in [
            ("7.5", read::<u64>("7.5").is_err()),
            ("-1", read::<u64>("-1").is_err()),
            ("4294967296.0", read::<u32>("4294967296.0").is_err()),
            ("18446744073709551616", read::<u64>("18446744073709551616").is_err()),
            ("\"-7\"", read::<u64>("\"-7\"").is_err()),
            ("\"\"", read::<u64>("\"\"").is_err()),
            ("\"free\"", read::<f64>("\"free\"").is_err()),
            ("\"inf\"", read::<f64>("\"inf\"").is_err()),
            ("[7]", read::<f64>("[7]").is_err()),
        ] {
            assert!(is_refused, "{text}");
        }
    }

    #[test]
    fn null_is_the_default_inside_of_lists_and_maps() {
        assert_eq!(read::<Vec<u64>>("[1, null]").unwrap(), Some(vec![1, 0]));
        assert_eq!(read::<Vec<u64>>("null").unwrap(), None);
        let map = read::<BTreeMap<String, String>>(r#"{"a": null, "b": "c"}"#).unwrap().unwrap();
        assert_eq!(map["a"], "");
        assert_eq!(map["b"], "c");
    }
}

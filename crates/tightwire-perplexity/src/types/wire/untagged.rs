//! Unions whose variants have different JSON types.
//!
//! A value of another type is stored as a [`Value`] and encoded unchanged.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, Visitor};
use tightwire_json::Value;

/// A union of values of different JSON types. Implemented by [`untagged!`].
///
/// Types without a variant become `unknown`.
pub(crate) trait Untagged: Sized {
    fn unknown(value: Value) -> Self;

    fn text(text: &str) -> Self {
        Self::unknown(text.into())
    }

    fn integer(value: i64) -> Self {
        Self::unknown(value.into())
    }

    fn list<'de, A: SeqAccess<'de>>(seq: A) -> Result<Self, A::Error> {
        Value::deserialize(SeqAccessDeserializer::new(seq)).map(Self::unknown)
    }

    fn object<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        Value::deserialize(MapAccessDeserializer::new(map)).map(Self::unknown)
    }

    /// Decodes an object whose tag is known; see [`TYPE_FIRST`](tightwire_json::TYPE_FIRST).
    fn tagged<'de, A: EnumAccess<'de>>(_data: A) -> Result<Self, A::Error> {
        Err(A::Error::custom("expected a value"))
    }
}

/// Decodes a union by the JSON type of the value.
pub(crate) struct UntaggedVisitor<T>(pub(crate) PhantomData<T>);

impl<'de, T: Untagged> Visitor<'de> for UntaggedVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    #[inline]
    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::text(text))
    }

    #[inline]
    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<T, A::Error> {
        T::list(seq)
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::object(map)
    }

    #[inline]
    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<T, A::Error> {
        T::tagged(data)
    }

    #[inline]
    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<T, E> {
        Ok(T::unknown(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<T, E> {
        Ok(i64::try_from(value).map_or_else(|_| T::unknown(value.into()), T::integer))
    }

    fn visit_i64<E>(self, value: i64) -> Result<T, E> {
        Ok(T::integer(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<T, E> {
        Ok(T::unknown(value.into()))
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::unknown(Value::Null))
    }
}

/// Implements what all unions have in common.
macro_rules! union {
    ($name:ident $method:ident($($token:expr)?)) => {
        impl Default for $name {
            /// Returns `null`, which stands for a missing value.
            fn default() -> Self {
                Self::Unknown(tightwire_json::Value::Null)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            #[inline]
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let visitor = $crate::types::wire::untagged::UntaggedVisitor(std::marker::PhantomData);
                deserializer.$method($($token,)? visitor)
            }
        }

        $crate::types::wire::field_value!(@checked $name);
    };
}

pub(crate) use union;

/// Defines a union of values of different JSON types: `Variant = text Type`, `integer Type`, `list Element`
/// or `object Type`.
macro_rules! untagged {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $shape:ident $ty:ty,)+
        }
    ) => {
        $(#[$meta])*
        ///
        /// A value of another JSON type is stored and encoded unchanged.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_meta])* $variant($crate::types::wire::untagged!(@type $shape $ty)),)+
            /// A value of another JSON type.
            Unknown(tightwire_json::Value),
        }

        impl $crate::types::wire::untagged::Untagged for $name {
            fn unknown(value: tightwire_json::Value) -> Self {
                Self::Unknown(value)
            }

            $($crate::types::wire::untagged!(@read $shape $variant $ty);)+
        }

        $($crate::types::wire::untagged!(@from $name $variant $shape $ty);)+

        impl serde::Serialize for $name {
            #[inline]
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(value) => value.serialize(serializer),)+
                    Self::Unknown(value) => value.serialize(serializer),
                }
            }
        }

        $crate::types::wire::untagged::union!($name deserialize_any());

        #[cfg(test)]
        impl $crate::types::arbitrary::Arbitrary for $name {
            fn arbitrary(source: &mut $crate::types::arbitrary::Source) -> Self {
                let makers: &[fn(&mut $crate::types::arbitrary::Source) -> Self] = &[
                    $(|source| Self::$variant($crate::types::arbitrary::Arbitrary::arbitrary(source)),)+
                    |_| Self::Unknown(tightwire_json::Value::Bool(true)),
                ];
                source.pick(makers)(source)
            }

            fn describe(shape: &mut $crate::types::shape::Shape) {
                $(<$crate::types::wire::untagged!(@type $shape $ty) as $crate::types::arbitrary::Arbitrary>::describe(shape);)+
            }
        }
    };

    (@type text $ty:ty) => { $ty };
    (@type integer $ty:ty) => { $ty };
    (@type object $ty:ty) => { $ty };
    (@type list $ty:ty) => { Vec<$ty> };

    (@read text $variant:ident $ty:ty) => {
        #[inline]
        fn text(text: &str) -> Self {
            Self::$variant(text.into())
        }
    };
    (@read integer $variant:ident $ty:ty) => {
        fn integer(value: i64) -> Self {
            Self::$variant(value)
        }
    };
    (@read list $variant:ident $ty:ty) => {
        #[inline]
        fn list<'de, A: serde::de::SeqAccess<'de>>(seq: A) -> Result<Self, A::Error> {
            $crate::types::wire::field::list(seq).map(Self::$variant)
        }
    };
    (@read object $variant:ident $ty:ty) => {
        fn object<'de, A: serde::de::MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
            $crate::types::wire::object::read(map).map(Self::$variant)
        }
    };

    (@from $name:ident $variant:ident text $ty:ty) => {
        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::$variant(text.into())
            }
        }

        impl From<$ty> for $name {
            fn from(value: $ty) -> Self {
                Self::$variant(value)
            }
        }
    };
    (@from $name:ident $variant:ident list $ty:ty) => {
        impl<T: Into<$ty>> From<Vec<T>> for $name {
            fn from(list: Vec<T>) -> Self {
                Self::$variant(list.into_iter().map(Into::into).collect())
            }
        }

        impl<T: Into<$ty>, const N: usize> From<[T; N]> for $name {
            fn from(list: [T; N]) -> Self {
                Self::$variant(list.into_iter().map(Into::into).collect())
            }
        }
    };
    (@from $name:ident $variant:ident $shape:ident $ty:ty) => {
        impl From<$ty> for $name {
            fn from(value: $ty) -> Self {
                Self::$variant(value)
            }
        }
    };
}

pub(crate) use untagged;

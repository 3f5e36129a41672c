//! Unions of objects with a tag.
//!
//! An object with an unknown tag is stored as a [`Value`] and encoded unchanged.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapDeserializer;
use serde::de::{Deserialize, Deserializer, EnumAccess, Error, MapAccess, VariantAccess as _, Visitor};
use tightwire_json::{Map, Value};

use super::object::Text;
use super::untagged::{Untagged, UntaggedVisitor};

/// A union of objects with a tag. Implemented by [`tagged!`].
pub(crate) trait Tagged: Untagged {
    /// Name of the tag field.
    const TAG: &'static str;

    /// Identifies a variant.
    type Variant: Copy;

    fn variant(tag: &str) -> Option<Self::Variant>;

    /// Returns the variant of an object without a tag.
    fn untagged() -> Option<Self::Variant>;

    /// Reads the fields after the tag.
    fn read<'de, A: MapAccess<'de>>(variant: Self::Variant, map: A) -> Result<Self, A::Error>;

    /// Decodes an object that was buffered because its tag was not the first field.
    fn from_object<E: Error>(mut object: Map<String, Value>) -> Result<Self, E> {
        let variant = match object.get(Self::TAG) {
            Some(Value::String(tag)) => Self::variant(tag),
            Some(_) => None,
            None => Self::untagged(),
        };
        let Some(variant) = variant else { return Ok(Self::unknown(Value::Object(object))) };
        object.remove(Self::TAG);
        let field = RefCell::new(String::new());
        let fields =
            object.into_iter().inspect(|(name, _)| name.as_str().clone_into(&mut field.borrow_mut()));
        let map = MapDeserializer::<_, <Value as Deserializer<'_>>::Error>::new(fields);
        // Errors of `Value` contain values, which may be secrets.
        Self::read(variant, map)
            .map_err(|_| E::custom(format_args!("`{}` has the wrong type", field.borrow())))
    }
}

/// Decodes an object of a union whose tag is known.
pub(crate) fn read_variant<'de, T: Tagged, A: EnumAccess<'de>>(data: A) -> Result<T, A::Error> {
    match data.variant::<Tag<T>>()? {
        (Tag(Ok(variant)), object) => object.struct_variant(&[], Fields::<T>(variant)),
        (Tag(Err(_)), object) => object.newtype_variant().map(T::unknown),
    }
}

/// Reads the fields of a variant.
struct Fields<T: Tagged>(T::Variant);

impl<'de, T: Tagged> Visitor<'de> for Fields<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::read(self.0, map)
    }
}

/// Decodes an object of a union that tightwire_json does not decode with [`read_variant`]: its tag is the first field, or
/// another deserializer decodes it. Single-pass if the tag is the first field.
pub(crate) fn read<'de, T: Tagged, A: MapAccess<'de>>(mut map: A) -> Result<T, A::Error> {
    let mut object = Map::new();
    match map.next_key_seed(Text(|name: &str| (name != T::TAG).then(|| name.to_owned())))? {
        Some(None) => match map.next_value::<Tag<T>>()?.0 {
            Ok(variant) => return T::read(variant, map),
            Err(tag) => {
                object.insert(T::TAG.to_owned(), tag);
            }
        },
        Some(Some(name)) => {
            object.insert(name, map.next_value()?);
        }
        None => {}
    }
    while let Some((name, value)) = map.next_entry::<String, _>()? {
        object.insert(name, value);
    }
    T::from_object(object)
}

/// A tag: a known variant, or any other value.
struct Tag<T: Tagged>(Result<T::Variant, Value>);

impl<'de, T: Tagged> Deserialize<'de> for Tag<T> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UntaggedVisitor(PhantomData))
    }
}

impl<T: Tagged> Untagged for Tag<T> {
    fn unknown(value: Value) -> Self {
        Self(Err(value))
    }

    #[inline]
    fn text(text: &str) -> Self {
        Self(T::variant(text).ok_or_else(|| text.into()))
    }
}

/// Defines a union of objects with the tag field `tag`.
///
/// `pub enum Name by "tag" from { "value" => Variant(Object), ... } or Variant`: `from` implements `From` for
/// each object, and `or` names the variant of objects without a tag.
macro_rules! tagged {
    (
        $(#[$meta:meta])*
        pub enum $name:ident by $tag:literal from {
            $($(#[$variant_meta:meta])* $value:literal => $variant:ident($object:ty),)+
        }
        $(or $untagged:ident)?
    ) => {
        $crate::types::wire::tagged! {
            $(#[$meta])*
            pub enum $name by $tag {
                $($(#[$variant_meta])* $value => $variant($object),)+
            }
            $(or $untagged)?
        }

        $(
            impl From<$object> for $name {
                fn from(object: $object) -> Self {
                    Self::$variant(object)
                }
            }
        )+
    };
    (
        $(#[$meta:meta])*
        pub enum $name:ident by $tag:literal {
            $($(#[$variant_meta:meta])* $value:literal => $variant:ident($object:ty),)+
        }
        $(or $untagged:ident)?
    ) => {
        $(#[$meta])*
        ///
        /// An object with an unknown tag is stored and encoded unchanged.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_meta])* $variant($object),)+
            /// An object with an unknown tag, or a value that is no object.
            Unknown(tightwire_json::Value),
        }

        impl $name {
            /// Returns the tag, if any.
            pub fn tag(&self) -> Option<&str> {
                match self {
                    $(Self::$variant(_) => Some($value),)+
                    Self::Unknown(value) => value.get($tag).and_then(tightwire_json::Value::as_str),
                }
            }
        }

        const _: () = {
            #[derive(Clone, Copy)]
            pub(crate) enum Variant {
                $($variant,)+
            }

            impl $crate::types::wire::tagged::Tagged for $name {
                const TAG: &'static str = $tag;

                type Variant = Variant;

                fn variant(tag: &str) -> Option<Variant> {
                    match tag {
                        $($value => Some(Variant::$variant),)+
                        _ => None,
                    }
                }

                fn untagged() -> Option<Variant> {
                    let untagged: &[Variant] = &[$(Variant::$untagged)?];
                    untagged.first().copied()
                }

                fn read<'de, A: serde::de::MapAccess<'de>>(
                    variant: Variant,
                    map: A,
                ) -> Result<Self, A::Error> {
                    match variant {
                        $(Variant::$variant => $crate::types::wire::object::read_without(Some($tag), map).map(Self::$variant),)+
                    }
                }
            }
        };

        impl $crate::types::wire::untagged::Untagged for $name {
            fn unknown(value: tightwire_json::Value) -> Self {
                Self::Unknown(value)
            }

            fn object<'de, A: serde::de::MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
                $crate::types::wire::tagged::read(map)
            }

            fn tagged<'de, A: serde::de::EnumAccess<'de>>(data: A) -> Result<Self, A::Error> {
                $crate::types::wire::tagged::read_variant(data)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(object) => {
                        let tag = Some(($tag, $value));
                        $crate::types::wire::object::write(object, stringify!($variant), tag, serializer)
                    })+
                    Self::Unknown(value) => value.serialize(serializer),
                }
            }
        }

        $crate::types::wire::untagged::union!($name deserialize_newtype_struct(tightwire_json::TYPE_FIRST));

        #[cfg(test)]
        impl $crate::types::arbitrary::Arbitrary for $name {
            fn arbitrary(source: &mut $crate::types::arbitrary::Source) -> Self {
                let makers: &[fn(&mut $crate::types::arbitrary::Source) -> Self] = &[
                    $(|source| Self::$variant($crate::types::arbitrary::Arbitrary::arbitrary(source)),)+
                    |source| Self::Unknown(source.unknown_object($tag)),
                ];
                source.pick(makers)(source)
            }

            fn describe(shape: &mut $crate::types::shape::Shape) {
                $(shape.add_variant::<$object>($tag, $value);)+
            }
        }
    };
}

pub(crate) use tagged;

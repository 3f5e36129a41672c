//! Objects with known members: how they are read in one pass and written in a fixed order.
//!
//! serde's derive reads such objects just as fast, but keeps unknown members only with `flatten`, which buffers
//! every member; it refuses `null` where a value is optional on the wire alone; and it writes no setters.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};

use super::extra::Keep;

/// A JSON object some of whose members are fields. Implemented by [`object!`] alone, and for boxes.
pub(crate) trait Object: Default {
    /// One of the members that are fields.
    type Name: Copy;
    /// What becomes of all other members.
    type Extra: Keep;

    fn name(text: &str) -> Option<Self::Name>;

    /// Reads the value that follows the key `name`.
    fn read<'de, A: MapAccess<'de>>(&mut self, name: Self::Name, map: &mut A) -> Result<(), A::Error>;

    /// Whether the member is written.
    fn has(&self, name: Self::Name) -> bool;

    /// How many fields are written.
    fn count(&self) -> usize;

    /// Writes the fields.
    fn write<W: Sink>(&self, out: &mut W) -> Result<(), W::Error>;

    fn extra(&self) -> &Self::Extra;

    fn extra_mut(&mut self) -> &mut Self::Extra;
}

impl<T: Object> Object for Box<T> {
    type Name = T::Name;
    type Extra = T::Extra;

    fn name(text: &str) -> Option<T::Name> {
        T::name(text)
    }

    fn read<'de, A: MapAccess<'de>>(&mut self, name: T::Name, map: &mut A) -> Result<(), A::Error> {
        T::read(self, name, map)
    }

    fn has(&self, name: T::Name) -> bool {
        T::has(self, name)
    }

    fn count(&self) -> usize {
        T::count(self)
    }

    fn write<W: Sink>(&self, out: &mut W) -> Result<(), W::Error> {
        T::write(self, out)
    }

    fn extra(&self) -> &T::Extra {
        T::extra(self)
    }

    fn extra_mut(&mut self) -> &mut T::Extra {
        T::extra_mut(self)
    }
}

/// Reads the members of an object whose brace, and perhaps whose first members, are passed.
#[inline]
pub(crate) fn read<'de, T: Object, A: MapAccess<'de>>(mut map: A) -> Result<T, A::Error> {
    let mut object = T::default();
    while let Some(name) = map.next_key_seed(NameSeed::<T>(PhantomData))? {
        match name {
            Ok(name) => object.read(name, &mut map)?,
            Err(unknown) => object.extra_mut().keep(unknown, &mut map)?,
        }
    }
    Ok(object)
}

/// Reads a key: a known one, or what [`Keep`] remembers of it.
struct NameSeed<T>(PhantomData<T>);

impl<'de, T: Object> DeserializeSeed<'de> for NameSeed<T> {
    type Value = Result<T::Name, <T::Extra as Keep>::Unknown>;

    #[inline]
    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<T: Object> Visitor<'_> for NameSeed<T> {
    type Value = Result<T::Name, <T::Extra as Keep>::Unknown>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    #[inline]
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(T::name(text).ok_or_else(|| T::Extra::unknown(text)))
    }
}

/// Reads a whole object.
pub(crate) struct ObjectVisitor<T>(PhantomData<T>);

impl<T> ObjectVisitor<T> {
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<'de, T: Object> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        read(map)
    }
}

/// Takes the members of an object that is being written.
pub(crate) trait Sink {
    type Error;

    fn put<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Self::Error>;
}

/// Names known at compile time: the fast path of encoders.
struct Fields<S>(S);

impl<S: SerializeStruct> Sink for Fields<S> {
    type Error = S::Error;

    #[inline(always)]
    fn put<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), S::Error> {
        self.0.serialize_field(name, value)
    }
}

/// Fields among members that have none.
struct Entries<'a, S, K> {
    map: S,
    extra: &'a K,
}

impl<S: SerializeMap, K: Keep> Sink for Entries<'_, S, K> {
    type Error = S::Error;

    fn put<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), S::Error> {
        if self.extra.replaces(name) { Ok(()) } else { self.map.serialize_entry(name, value) }
    }
}

/// Writes `object`, with `tag` in front of the members.
#[inline]
pub(crate) fn write<T: Object, S: Serializer>(
    object: &T,
    name: &'static str,
    tag: Option<(&'static str, &'static str)>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if T::Extra::KEEPS && !object.extra().is_empty() {
        return write_all(object, tag, serializer);
    }
    let len = object.count() + usize::from(tag.is_some());
    let mut out = Fields(serializer.serialize_struct(name, len)?);
    if let Some((name, value)) = tag {
        out.put(name, value)?;
    }
    object.write(&mut out)?;
    out.0.end()
}

/// As [`write`], with the members that are no fields behind those that are.
fn write_all<T: Object, S: Serializer>(
    object: &T,
    tag: Option<(&'static str, &'static str)>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let extra = object.extra();
    let mut out = Entries { map: serializer.serialize_map(None)?, extra };
    if let Some((name, value)) = tag {
        out.map.serialize_entry(name, value)?;
    }
    object.write(&mut out)?;
    for (name, value) in extra.members() {
        let is_written = T::name(name).is_some_and(|known| object.has(known));
        if extra.replaces(name) || !is_written {
            out.map.serialize_entry(name, value)?;
        }
    }
    out.map.end()
}

/// Defines a struct for a JSON object.
///
/// `pub struct Name: role { field as "name on the wire": need Type, ... }`
///
/// The role is `body` for the body of a request, which takes further members in any case; `part` for an object
/// inside of requests; `answer` for what is only received. The first two get setters.
///
/// The need of a member, with the type of the field and what is written:
///
/// - `must T`: `T`, always. Missing or `null` decodes to the default.
/// - `may T`: `Option<T>`, if there is one.
/// - `many T`: `Option<Vec<T>>`, if there is one.
/// - `null T`: `Nullable<T>`, unless absent.
/// - `bare T`: `Option<T>`, `null` for `None`.
/// - `skip T`: `T`, never.
macro_rules! object {
    (
        $(#[$meta:meta])*
        pub struct $name:ident: $role:ident {
            $($(#[$field_meta:meta])* $field:ident $(as $wire:literal)?: $need:ident $ty:ty,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $crate::types::object::object!(@type $need $ty),)*
            /// Members without a field of their own.
            pub extra: $crate::types::object::object!(@extra $role),
        }

        $crate::types::object::object!(@setters $role $name $($field: $need $ty,)*);

        const _: () = {
            #[derive(Clone, Copy)]
            #[allow(non_camel_case_types, reason = "the variants are named like the fields")]
            pub(crate) enum Name {
                $($field,)*
            }

            #[allow(unused_variables, reason = "some objects have no fields")]
            impl $crate::types::object::Object for $name {
                type Name = Name;
                type Extra = $crate::types::object::object!(@extra $role);

                #[inline]
                fn name(text: &str) -> Option<Name> {
                    match text {
                        $($crate::types::object::object!(@wire $field $($wire)?) => Some(Name::$field),)*
                        _ => None,
                    }
                }

                #[inline]
                fn read<'de, A: serde::de::MapAccess<'de>>(
                    &mut self,
                    which: Name,
                    map: &mut A,
                ) -> Result<(), A::Error> {
                    match which {
                        $(Name::$field => {
                            match map.next_value_seed($crate::types::member::Seed::new())? {
                                Some(value) => self.$field = value,
                                None => {
                                    self.$field = $crate::types::member::Member::missing();
                                    // Other fields write what stands for `null` themselves.
                                    if !$crate::types::object::object!(@has $need self.$field) {
                                        $crate::types::extra::Keep::keep_null(
                                            &mut self.extra,
                                            $crate::types::object::object!(@wire $field $($wire)?),
                                        );
                                    }
                                }
                            }
                            Ok(())
                        })*
                    }
                }

                fn has(&self, which: Name) -> bool {
                    match which {
                        $(Name::$field => $crate::types::object::object!(@has $need self.$field),)*
                    }
                }

                #[inline]
                fn count(&self) -> usize {
                    0 $(+ usize::from($crate::types::object::object!(@has $need self.$field)))*
                }

                #[inline]
                fn write<W: $crate::types::object::Sink>(&self, out: &mut W) -> Result<(), W::Error> {
                    $(if $crate::types::object::object!(@has $need self.$field) {
                        out.put($crate::types::object::object!(@wire $field $($wire)?), &self.$field)?;
                    })*
                    Ok(())
                }

                #[inline]
                fn extra(&self) -> &Self::Extra {
                    &self.extra
                }

                #[inline]
                fn extra_mut(&mut self) -> &mut Self::Extra {
                    &mut self.extra
                }
            }
        };

        impl<'de> serde::Deserialize<'de> for $name {
            #[inline]
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_map($crate::types::object::ObjectVisitor::<Self>::new())
            }
        }

        impl serde::Serialize for $name {
            #[inline]
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::types::object::write(self, stringify!($name), None, serializer)
            }
        }

        $crate::types::member::value_member!($name);

        #[cfg(test)]
        impl $crate::types::arbitrary::Arbitrary for $name {
            #[allow(clippy::needless_update, reason = "some objects have no fields")]
            fn arbitrary(source: &mut $crate::types::arbitrary::Source) -> Self {
                Self {
                    $($field: $crate::types::arbitrary::Arbitrary::arbitrary(source),)*
                    extra: $crate::types::arbitrary::Arbitrary::arbitrary(source),
                }
            }
        }
    };

    (@type must $ty:ty) => { $ty };
    (@type may $ty:ty) => { Option<$ty> };
    (@type many $ty:ty) => { Option<Vec<$ty>> };
    (@type null $ty:ty) => { $crate::types::Nullable<$ty> };
    (@type bare $ty:ty) => { Option<$ty> };
    (@type skip $ty:ty) => { $ty };

    (@has must $value:expr) => { true };
    (@has may $value:expr) => { $value.is_some() };
    (@has many $value:expr) => { $value.is_some() };
    (@has null $value:expr) => { !$value.is_absent() };
    (@has bare $value:expr) => { true };
    (@has skip $value:expr) => { false };

    (@wire $field:ident) => { stringify!($field) };
    (@wire $field:ident $wire:literal) => { $wire };

    (@extra body) => { $crate::types::Members };
    (@extra part) => { $crate::types::Extra };
    (@extra answer) => { $crate::types::Extra };

    (@setters answer $name:ident $($rest:tt)*) => {};
    (@setters part $name:ident $($field:ident: $need:ident $ty:ty,)*) => {
        impl $name {
            $($crate::types::object::object!(@setter $field $need $ty);)*
        }
    };
    (@setters body $name:ident $($rest:tt)*) => {
        $crate::types::object::object!(@setters part $name $($rest)*);

        impl $name {
            /// Adds a member that has no field, or replaces one that has.
            #[must_use]
            pub fn member(mut self, name: impl Into<String>, value: impl Into<json::Value>) -> Self {
                self.extra.insert(name, value);
                self
            }

            /// Writes `null` for a member as long as its field is absent, which is not the same as leaving it out.
            #[must_use]
            pub fn null(self, name: impl Into<String>) -> Self {
                self.member(name, json::Value::Null)
            }
        }
    };

    (@setter $field:ident must $ty:ty) => {};
    (@setter $field:ident skip $ty:ty) => {};
    (@setter $field:ident bare $ty:ty) => { $crate::types::object::object!(@setter $field may $ty); };
    (@setter $field:ident may $ty:ty) => {
        #[doc = concat!("Sets [`", stringify!($field), "`](Self#structfield.", stringify!($field), ").")]
        #[must_use]
        pub fn $field(mut self, $field: impl Into<$ty>) -> Self {
            self.$field = Some($field.into());
            self
        }
    };
    (@setter $field:ident many $ty:ty) => {
        #[doc = concat!("Sets [`", stringify!($field), "`](Self#structfield.", stringify!($field), ").")]
        #[must_use]
        pub fn $field(mut self, $field: impl IntoIterator<Item = impl Into<$ty>>) -> Self {
            self.$field = Some($field.into_iter().map(Into::into).collect());
            self
        }
    };
    (@setter $field:ident null $ty:ty) => {
        #[doc = concat!("Sets [`", stringify!($field), "`](Self#structfield.", stringify!($field), ").")]
        #[must_use]
        pub fn $field(mut self, $field: impl Into<$crate::types::Nullable<$ty>>) -> Self {
            self.$field = $field.into();
            self
        }
    };
}

pub(crate) use object;

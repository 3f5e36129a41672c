//! The macro that defines objects.

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
/// - `copy T`: the same for numbers and `bool`; the setter takes a `T`, so that literals fit.
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
            $($(#[$field_meta])* pub $field: $crate::types::wire::object!(@type $need $ty),)*
            /// Members without a field of their own.
            pub extra: $crate::types::wire::object!(@extra $role),
        }

        $crate::types::wire::object!(@setters $role $name $($field: $need $ty,)*);

        const _: () = {
            #[derive(Clone, Copy)]
            #[allow(non_camel_case_types, reason = "the variants are named like the fields")]
            pub(crate) enum Name {
                $($field,)*
            }

            #[allow(unused_variables, reason = "some objects have no fields")]
            impl $crate::types::wire::object::Object for $name {
                type Name = Name;
                type Extra = $crate::types::wire::object!(@extra $role);

                #[inline]
                fn name(text: &str) -> Option<Name> {
                    match text {
                        $($crate::types::wire::object!(@wire $field $($wire)?) => Some(Name::$field),)*
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
                            match map.next_value_seed($crate::types::wire::member::Seed::new())? {
                                Some(value) => self.$field = value,
                                None => {
                                    self.$field = $crate::types::wire::member::Member::missing();
                                    // Other fields write what stands for `null` themselves.
                                    if !$crate::types::wire::object!(@has $need self.$field) {
                                        $crate::types::extra::Keep::keep_null(
                                            &mut self.extra,
                                            $crate::types::wire::object!(@wire $field $($wire)?),
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
                        $(Name::$field => $crate::types::wire::object!(@has $need self.$field),)*
                    }
                }

                #[inline]
                fn count(&self) -> usize {
                    0 $(+ usize::from($crate::types::wire::object!(@has $need self.$field)))*
                }

                #[inline]
                fn write<W: $crate::types::wire::object::Sink>(&self, out: &mut W) -> Result<(), W::Error> {
                    $(if $crate::types::wire::object!(@has $need self.$field) {
                        out.put($crate::types::wire::object!(@wire $field $($wire)?), &self.$field)?;
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
                deserializer.deserialize_map($crate::types::wire::object::ObjectVisitor::<Self>::new())
            }
        }

        impl serde::Serialize for $name {
            #[inline]
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::types::wire::object::write(self, stringify!($name), None, serializer)
            }
        }

        $crate::types::wire::value_member!($name);

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
    (@type copy $ty:ty) => { Option<$ty> };
    (@type many $ty:ty) => { Option<Vec<$ty>> };
    (@type null $ty:ty) => { $crate::types::Nullable<$ty> };
    (@type bare $ty:ty) => { Option<$ty> };
    (@type skip $ty:ty) => { $ty };

    (@has must $value:expr) => { true };
    (@has may $value:expr) => { $value.is_some() };
    (@has copy $value:expr) => { $value.is_some() };
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
            $($crate::types::wire::object!(@setter $field $need $ty);)*
        }
    };
    (@setters body $name:ident $($rest:tt)*) => {
        $crate::types::wire::object!(@setters part $name $($rest)*);

        impl $name {
            /// Adds a member that has no field, or replaces one that has.
            #[must_use]
            pub fn member(mut self, name: impl Into<String>, value: impl Into<tightwire_json::Value>) -> Self {
                self.extra.insert(name, value);
                self
            }

            /// Writes `null` for a member as long as its field is absent, which is not the same as leaving it out.
            #[must_use]
            pub fn null(self, name: impl Into<String>) -> Self {
                self.member(name, tightwire_json::Value::Null)
            }
        }
    };

    (@setter $field:ident must $ty:ty) => {};
    (@setter $field:ident skip $ty:ty) => {};
    (@setter $field:ident bare $ty:ty) => { $crate::types::wire::object!(@setter $field may $ty); };
    (@setter $field:ident may $ty:ty) => {
        #[doc = concat!("Sets [`", stringify!($field), "`](Self#structfield.", stringify!($field), ").")]
        #[must_use]
        pub fn $field(mut self, $field: impl Into<$ty>) -> Self {
            self.$field = Some($field.into());
            self
        }
    };
    (@setter $field:ident copy $ty:ty) => {
        #[doc = concat!("Sets [`", stringify!($field), "`](Self#structfield.", stringify!($field), ").")]
        #[must_use]
        pub fn $field(mut self, $field: $ty) -> Self {
            self.$field = Some($field);
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

//! The macro that defines structs for JSON objects.

/// Defines structs for JSON objects, with `Serialize`, `Deserialize` and an `extra` field.
///
/// `pub struct Name: role { field as "wire name": Type, ... }`
///
/// The role is one of:
///
/// - `response`: only decoded. Fields are written with their Rust types.
/// - `request`: a request body. It gets setters.
/// - `nested`: an object inside requests. It gets setters.
///
/// `role, new` also defines `new`, which takes the fields of the kind `required`.
///
/// Fields of `request` and `nested` objects have a kind, which determines the Rust type and the setter:
///
/// - `required T`: `T`, no setter.
/// - `optional T`: `Option<T>`; the setter takes `impl Into<T>`.
/// - `scalar T`: `Option<T>`; the setter takes `T`, so that number literals are inferred.
/// - `list T`: `Option<Vec<T>>`; the setter takes an iterator of `impl Into<T>`.
/// - `optional_or_null T`: as `optional`, but `None` is written as `null`.
///
/// A missing or `null` field decodes to its default. `None` and absent values are omitted.
macro_rules! object {
    ($($(#[$meta:meta])* pub struct $name:ident: $role:ident $(, $new:ident)? { $($fields:tt)* })+) => {
        $(
            $crate::types::wire::object! {
                @fields
                $(#[$meta])*
                pub struct $name: $role { $($fields)* }
            }
            $crate::types::wire::object! { @constructor_of [$($new)?] $name { $($fields)* } }
        )+
    };
    (@constructor_of [] $name:ident { $($fields:tt)* }) => {};
    (
        @constructor_of [new] $name:ident
        { $($(#[$field_meta:meta])* $field:ident $(as $wire:literal)?: $kind:ident $ty:ty,)* }
    ) => {
        impl $name {
            $crate::types::wire::object!(@constructor [] $($field $kind $ty,)*);
        }
    };
    (@constructor [$($required:tt)*] $field:ident required $ty:ty, $($rest:tt)*) => {
        $crate::types::wire::object!(@constructor [$($required)* $field $ty,] $($rest)*);
    };
    (@constructor [$($required:tt)*] $field:ident $kind:ident $ty:ty, $($rest:tt)*) => {
        $crate::types::wire::object!(@constructor [$($required)*] $($rest)*);
    };
    (@constructor [$($field:ident $ty:ty,)*]) => {
        /// Creates a value from the required fields. All others are unset.
        pub fn new($($field: impl Into<$ty>),*) -> Self {
            Self { $($field: $field.into(),)* ..Self::default() }
        }
    };
    (
        @fields
        $(#[$meta:meta])*
        pub struct $name:ident: response {
            $($(#[$field_meta:meta])* $field:ident $(as $wire:literal)?: $ty:ty,)*
        }
    ) => {
        $crate::types::wire::object! {
            @define
            $(#[$meta])*
            pub struct $name: response {
                $($(#[$field_meta])* $field $(as $wire)?: plain $ty,)*
            }
        }
    };
    (@fields $($request:tt)+) => {
        $crate::types::wire::object! { @define $($request)+ }
    };
    (
        @define
        $(#[$meta:meta])*
        pub struct $name:ident: $role:ident {
            $($(#[$field_meta:meta])* $field:ident $(as $wire:literal)?: $kind:ident $ty:ty,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $crate::types::wire::object!(@type $kind $ty),)*
            /// Fields that the struct does not define.
            pub extra: $crate::types::Extra,
        }

        $crate::types::wire::object!(@setters $role $name $($field: $kind $ty,)*);

        const _: () = {
            #[derive(Clone, Copy)]
            #[allow(non_camel_case_types, reason = "variants are named like the fields")]
            pub(crate) enum Field {
                $($field,)*
            }

            #[allow(unused_variables, reason = "some objects have no fields")]
            impl $crate::types::wire::object::Object for $name {
                type Field = Field;

                #[inline]
                fn name(text: &str) -> Option<Field> {
                    match text {
                        $($crate::types::wire::object!(@wire $field $($wire)?) => Some(Field::$field),)*
                        _ => None,
                    }
                }

                #[inline]
                fn read<'de, A: serde::de::MapAccess<'de>>(
                    &mut self,
                    which: Field,
                    map: &mut A,
                ) -> Result<(), A::Error> {
                    match which {
                        $(Field::$field => {
                            match map.next_value_seed($crate::types::wire::field::Seed(std::marker::PhantomData))? {
                                Some(value) => self.$field = value,
                                None => {
                                    self.$field = $crate::types::wire::field::FieldValue::missing();
                                    // A field that is written encodes its default instead.
                                    if !$crate::types::wire::object!(@is_written $kind self.$field) {
                                        let name = $crate::types::wire::object!(@wire $field $($wire)?);
                                        self.extra.insert_null(name);
                                    }
                                }
                            }
                            Ok(())
                        })*
                    }
                }

                #[inline]
                fn count(&self) -> usize {
                    0 $(+ usize::from($crate::types::wire::object!(@is_written $kind self.$field)))*
                }

                #[inline]
                fn write<W: $crate::types::wire::object::FieldWriter>(&self, out: &mut W) -> Result<(), W::Error> {
                    $(if $crate::types::wire::object!(@is_written $kind self.$field) {
                        out.write_field($crate::types::wire::object!(@wire $field $($wire)?), &self.$field)?;
                    })*
                    Ok(())
                }

                #[inline]
                fn extra(&self) -> &$crate::types::Extra {
                    &self.extra
                }

                #[inline]
                fn extra_mut(&mut self) -> &mut $crate::types::Extra {
                    &mut self.extra
                }
            }
        };

        impl<'de> serde::Deserialize<'de> for $name {
            #[inline]
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::types::wire::object::deserialize(deserializer)
            }
        }

        impl serde::Serialize for $name {
            #[inline]
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::types::wire::object::write(self, stringify!($name), None, serializer)
            }
        }

        $crate::types::wire::field_value!(@checked $name);

        #[cfg(test)]
        impl $crate::types::arbitrary::Arbitrary for $name {
            #[allow(clippy::needless_update, reason = "some objects have no fields")]
            fn arbitrary(source: &mut $crate::types::arbitrary::Source) -> Self {
                Self {
                    $($field: $crate::types::arbitrary::Arbitrary::arbitrary(source),)*
                    extra: source.extra(),
                }
            }

            fn describe(shape: &mut $crate::types::shape::Shape) {
                let fields = vec![$((
                    $crate::types::wire::object!(@wire $field $($wire)?),
                    $crate::types::shape::Shape::of::<$crate::types::wire::object!(@type $kind $ty)> as fn() -> _,
                )),*];
                shape.add_object(stringify!($name), fields);
            }
        }
    };

    (@type plain $ty:ty) => { $ty };
    (@type required $ty:ty) => { $ty };
    (@type optional $ty:ty) => { Option<$ty> };
    (@type scalar $ty:ty) => { Option<$ty> };
    (@type list $ty:ty) => { Option<Vec<$ty>> };
    (@type optional_or_null $ty:ty) => { Option<$ty> };

    (@is_written optional_or_null $value:expr) => { true };
    (@is_written $kind:ident $value:expr) => { $crate::types::wire::field::FieldValue::is_written(&$value) };

    (@wire $field:ident) => { stringify!($field) };
    (@wire $field:ident $wire:literal) => { $wire };


    (@setters response $name:ident $($rest:tt)*) => {};
    (@setters nested $name:ident $($field:ident: $kind:ident $ty:ty,)*) => {
        impl $name {
            $($crate::types::wire::object!(@setter $field $kind $ty);)*
        }
    };
    (@setters request $name:ident $($rest:tt)*) => {
        $crate::types::wire::object!(@setters nested $name $($rest)*);

        impl $name {
            /// Adds a field that the struct does not define, or overrides one that it does.
            #[must_use]
            pub fn extra_field(mut self, name: impl Into<String>, value: impl Into<tightwire_json::Value>) -> Self {
                self.extra.insert(name, value);
                self
            }

            /// Sends `null` in a field that is unset, instead of omitting it.
            #[must_use]
            pub fn null(self, name: impl Into<String>) -> Self {
                self.extra_field(name, tightwire_json::Value::Null)
            }
        }
    };

    (@setter $field:ident required $ty:ty) => {};
    (@setter $field:ident optional_or_null $ty:ty) => { $crate::types::wire::object!(@setter $field optional $ty); };
    (@setter $field:ident optional $ty:ty) => {
        $crate::types::wire::object!(@set $field: impl Into<$ty>, Some($field.into()));
    };
    (@setter $field:ident scalar $ty:ty) => {
        $crate::types::wire::object!(@set $field: $ty, Some($field));
    };
    (@setter $field:ident list $ty:ty) => {
        $crate::types::wire::object!(
            @set $field: impl IntoIterator<Item = impl Into<$ty>>, Some($field.into_iter().map(Into::into).collect())
        );
    };
    (@set $field:ident: $argument:ty, $value:expr) => {
        #[doc = concat!("Sets [`", stringify!($field), "`](Self#structfield.", stringify!($field), ").")]
        #[must_use]
        pub fn $field(mut self, $field: $argument) -> Self {
            self.$field = $value;
            self
        }
    };
}

pub(crate) use object;

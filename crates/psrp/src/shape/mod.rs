//! Conversion between values and typed structs: objects with named members, enumerations, and errors with the path to
//! the member.

mod enums;
mod field;

pub(crate) use enums::{enumeration, enumeration_number, flag_names, flags, open_enum};
pub(crate) use field::{CopyBudget, DEFAULT_COPY_BUDGET, Field};

use crate::Error;
use crate::value::{Members, Object, ObjectBuilder, PsString, TypeNames, Value};

/// Collects the members of an object in writing order.
#[derive(Default)]
pub(crate) struct MemberWriter(Members);

impl MemberWriter {
    pub(crate) fn put(&mut self, name: &'static str, field: &impl Field) {
        self.0.push(PsString::from_static(name), field.write());
    }

    /// Adds the member unless the field is `None`.
    pub(crate) fn put_some(&mut self, name: &'static str, field: &Option<impl Field>) {
        if let Some(field) = field {
            self.put(name, field);
        }
    }

    pub(crate) fn extend(&mut self, members: &Members) {
        for (name, value) in members.iter() {
            self.0.push(name.clone(), value.clone());
        }
    }

    /// Removes all members after the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.0.0.truncate(len);
    }

    /// Replaces the value of a member.
    pub(crate) fn replace(&mut self, name: &str, value: Value) {
        if let Some((_, old)) = self.0.0.iter_mut().find(|(own, _)| own == name) {
            *old = value;
        }
    }

    /// Returns an object without type names that has the members as extended members.
    pub(crate) fn finish(self) -> Value {
        self.finish_as(Object::builder())
    }

    /// Returns a record: an object with type names, a text form, and members that this crate does not know.
    pub(crate) fn finish_record(
        mut self,
        names: &TypeNames,
        text: Option<&PsString>,
        extra: &Members,
    ) -> Value {
        self.extend(extra);
        let object = Object::builder().shared_type_names(names.clone());
        self.finish_as(match text {
            Some(text) => object.to_string(text.clone()),
            None => object,
        })
    }

    pub(crate) fn finish_as(self, object: ObjectBuilder) -> Value {
        object.extended_members(self.0).build().into()
    }
}

/// Reads the members of an object by name, extended members before adapted ones. Order and unknown members do not
/// matter.
pub(crate) struct MemberReader<'a, 'b> {
    object: &'a Object,
    pub(crate) budget: &'b mut CopyBudget,
}

impl<'a, 'b> MemberReader<'a, 'b> {
    pub(crate) fn new(value: &'a Value, budget: &'b mut CopyBudget) -> Result<Self, Error> {
        let Value::Object(object) = value else { return Err(Error::mismatch("not an object with members")) };
        budget.item()?;
        Ok(Self { object, budget })
    }

    pub(crate) fn object(&self) -> &'a Object {
        self.object
    }

    pub(crate) fn required<T: Field>(&mut self, name: &'static str) -> Result<T, Error> {
        let value = self.object.member(name).ok_or_else(|| Error::mismatch("missing"));
        value.and_then(|value| T::read(value, self.budget)).map_err(|error| error.at(name))
    }

    /// Returns `None` if the member is missing or `$null`.
    pub(crate) fn optional<T: Field>(&mut self, name: &'static str) -> Result<Option<T>, Error> {
        match self.object.member(name) {
            None | Some(Value::Nil) => Ok(None),
            Some(value) => T::read(value, self.budget).map(Some).map_err(|error| error.at(name)),
        }
    }

    /// Copies the extended members that are not in the lists of known names.
    pub(crate) fn extra(&mut self, known: &[&[&str]]) -> Result<Members, Error> {
        let mut extra = Members::new();
        for (name, value) in self.object.extended().iter() {
            if !known.iter().copied().flatten().any(|known| name.eq_ignore_ascii_case(known)) {
                self.budget.item()?;
                self.budget.text(name)?;
                self.budget.value(value)?;
                extra.push(name.clone(), value.clone());
            }
        }
        Ok(extra)
    }

    pub(crate) fn text_form(&mut self) -> Result<Option<PsString>, Error> {
        let text = self.object.to_string_text();
        text.map(|text| self.budget.text(text).map(|()| text.clone())).transpose()
    }
}

/// Defines a struct whose fields are members of an object, in writing order.
///
/// A marker in brackets after the member's name defines how the field is written and read:
///
/// - none: the member is required.
/// - `[optional]`: an `Option`; `None` leaves the member out.
/// - `[optional FIELD]`: an `Option`; `None` writes the value of another field.
/// - `[nil]`: an `Option`; `None` writes `$null`.
/// - `[unset VALUE]`: an `Option`; `None` writes `VALUE`, for .NET types that have no `$null`.
/// - `[or VALUE]`: always written; `VALUE` is assumed if the member is missing or `$null`.
///
/// Fields after `..` are written and read by the struct's own implementation of [`Field`].
macro_rules! object_struct {
    (
        $(#[$attr:meta])*
        pub struct $type:ident {
            $($(#[$field_attr:meta])* pub $field:ident: $field_type:ty => $name:literal $([$($mode:tt)+])?,)*
            $(.. $($(#[$rest_attr:meta])* pub $rest:ident: $rest_type:ty,)+)?
        }
    ) => {
        $(#[$attr])*
        pub struct $type {
            $($(#[$field_attr])* pub $field: $field_type,)*
            $($($(#[$rest_attr])* pub $rest: $rest_type,)+)?
        }

        #[allow(dead_code, reason = "used by structs whose members are part of a larger object")]
        impl $type {
            /// The names of the members, in writing order.
            pub(crate) const NAMES: &'static [&'static str] = &[$($name),*];

            pub(crate) fn write_members(&self, out: &mut $crate::shape::MemberWriter) {
                $($crate::shape::object_struct!(@put self, out, $name, $field $(, $($mode)+)?);)*
            }

            /// Fields that are no members have their default.
            pub(crate) fn read_members(
                from: &mut $crate::shape::MemberReader<'_, '_>,
            ) -> Result<Self, $crate::Error> {
                Ok(Self {
                    $($field: $crate::shape::object_struct!(@take from, $name $(, $($mode)+)?),)*
                    $($($rest: Default::default(),)+)?
                })
            }
        }

        $crate::shape::object_struct!(@field $type $($($rest)+)?);
        $crate::shape::object_struct!(@values $type);
    };
    (@field $type:ident) => {
        impl $crate::shape::Field for $type {
            fn write(&self) -> $crate::Value {
                let mut out = $crate::shape::MemberWriter::default();
                self.write_members(&mut out);
                out.finish()
            }

            fn read(
                value: &$crate::Value,
                budget: &mut $crate::shape::CopyBudget,
            ) -> Result<Self, $crate::Error> {
                Self::read_members(&mut $crate::shape::MemberReader::new(value, budget)?)
            }
        }
    };
    (@field $type:ident $($rest:ident)+) => {};
    (@values $type:ty) => {
        impl $type {
            /// Converts the value to the object that represents it in messages.
            pub fn to_value(&self) -> $crate::Value {
                $crate::shape::Field::write(self)
            }

            /// Reads the value from an object. The order of the members does not matter; names are compared
            /// case-insensitively.
            ///
            /// # Errors
            ///
            /// Fails with [`Error::is_mismatch`], naming the member, if a member is missing or has another type, and
            /// with [`Error::is_limit`] if copying shared parts of the value would take more than 64 MiB.
            ///
            /// [`Error::is_mismatch`]: crate::Error::is_mismatch
            /// [`Error::is_limit`]: crate::Error::is_limit
            pub fn from_value(value: &$crate::Value) -> Result<Self, $crate::Error> {
                let mut budget = $crate::shape::CopyBudget::new($crate::shape::DEFAULT_COPY_BUDGET);
                <Self as $crate::shape::Field>::read(value, &mut budget)
            }
        }
    };
    (@put $self:ident, $out:ident, $name:literal, $field:ident, optional) => { $out.put_some($name, &$self.$field) };
    (@put $self:ident, $out:ident, $name:literal, $field:ident, optional $other:ident) => {
        $out.put_some($name, if $self.$field.is_some() { &$self.$field } else { &$self.$other })
    };
    (@put $self:ident, $out:ident, $name:literal, $field:ident, unset $unset:expr) => {
        $out.put($name, $self.$field.as_ref().unwrap_or(&$unset))
    };
    (@put $self:ident, $out:ident, $name:literal, $field:ident $(, $($mode:tt)+)?) => {
        $out.put($name, &$self.$field)
    };
    (@take $from:ident, $name:literal) => { $from.required($name)? };
    (@take $from:ident, $name:literal, optional $($other:ident)?) => { $from.optional($name)? };
    (@take $from:ident, $name:literal, nil) => { $from.optional($name)? };
    (@take $from:ident, $name:literal, unset $unset:expr) => {
        $from.optional($name)?.filter(|read| *read != $unset)
    };
    (@take $from:ident, $name:literal, or $default:expr) => { $from.optional($name)?.unwrap_or_else(|| $default) };
}

pub(crate) use object_struct;

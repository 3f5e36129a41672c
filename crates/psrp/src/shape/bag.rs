//! Objects of named members, the form of nearly every message.

use super::{Budget, Field, Mismatch};
use crate::value::{Members, Object, ObjectBuilder, PsString, Value};

/// Collects members in the order in which they are put.
#[derive(Default)]
pub(crate) struct Writer(Members);

impl Writer {
    pub(crate) fn put(&mut self, name: &'static str, field: &impl Field) {
        self.0.push(PsString::from_static(name), field.write());
    }

    /// Puts a member that is left out where there is nothing.
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

    /// The members as extended ones of an object without type names.
    pub(crate) fn finish(self) -> Value {
        self.finish_as(Object::builder())
    }

    pub(crate) fn finish_as(self, object: ObjectBuilder) -> Value {
        object.extended_members(self.0).build().into()
    }
}

/// Looks members up in an object, extended ones before adapted ones; order and further members do not matter.
pub(crate) struct Reader<'a, 'b> {
    object: &'a Object,
    pub(crate) budget: &'b mut Budget,
}

impl<'a, 'b> Reader<'a, 'b> {
    pub(crate) fn new(value: &'a Value, budget: &'b mut Budget) -> Result<Self, Mismatch> {
        let Value::Object(object) = value else { return Err(Mismatch::new("is no object with members")) };
        budget.item()?;
        Ok(Self { object, budget })
    }

    pub(crate) fn object(&self) -> &'a Object {
        self.object
    }

    pub(crate) fn required<T: Field>(&mut self, name: &'static str) -> Result<T, Mismatch> {
        let value = self.object.member(name).ok_or_else(|| Mismatch::new("is missing"));
        value.and_then(|value| T::read(value, self.budget)).map_err(|mismatch| mismatch.in_member(name))
    }

    /// `None` if the member is missing or `$null`.
    pub(crate) fn optional<T: Field>(&mut self, name: &'static str) -> Result<Option<T>, Mismatch> {
        match self.object.member(name) {
            None | Some(Value::Nil) => Ok(None),
            Some(value) => T::read(value, self.budget).map(Some).map_err(|mismatch| mismatch.in_member(name)),
        }
    }

    /// The extended members that are none of the known ones.
    pub(crate) fn extra(&mut self, known: &[&[&str]]) -> Result<Members, Mismatch> {
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

    pub(crate) fn text_form(&mut self) -> Result<Option<PsString>, Mismatch> {
        let text = self.object.to_string_text();
        text.map(|text| self.budget.text(text).map(|()| text.clone())).transpose()
    }
}

/// Defines a struct whose fields are members of an object, in the order in which they are written.
///
/// After the name of a member: nothing if it has to be there, `[optional]` for an `Option` that is left out when it is
/// `None`, `[optional FIELD]` for one that has the value of another field then, `[nil]` for one that is `$null` then, `[unset VALUE]` for one that has this value then, because .NET's type has
/// no `$null`, `[or VALUE]` for a member that is always written and has a value to
/// assume where it is missing or `$null`.
macro_rules! bag {
    (
        $(#[$attr:meta])*
        pub struct $type:ident {
            $($(#[$field_attr:meta])* pub $field:ident: $field_type:ty => $name:literal $([$($mode:tt)+])?,)*
        }
    ) => {
        $(#[$attr])*
        pub struct $type {
            $($(#[$field_attr])* pub $field: $field_type,)*
        }

        #[allow(dead_code, reason = "used where the members stand among others")]
        impl $type {
            /// The names of the members, in the order in which they are written.
            pub(crate) const NAMES: &'static [&'static str] = &[$($name),*];

            pub(crate) fn put(&self, out: &mut $crate::shape::Writer) {
                $($crate::shape::bag!(@put self, out, $name, $field $(, $($mode)+)?);)*
            }

            pub(crate) fn take(
                from: &mut $crate::shape::Reader<'_, '_>,
            ) -> Result<Self, $crate::shape::Mismatch> {
                Ok(Self { $($field: $crate::shape::bag!(@take from, $name $(, $($mode)+)?),)* })
            }
        }

        impl $crate::shape::Field for $type {
            fn write(&self) -> $crate::Value {
                let mut out = $crate::shape::Writer::default();
                self.put(&mut out);
                out.finish()
            }

            fn read(
                value: &$crate::Value,
                budget: &mut $crate::shape::Budget,
            ) -> Result<Self, $crate::shape::Mismatch> {
                Self::take(&mut $crate::shape::Reader::new(value, budget)?)
            }
        }

        $crate::shape::bag!(@values $type);
    };
    (@values $type:ty) => {
        impl $type {
            /// The object that stands for it in messages.
            pub fn to_value(&self) -> $crate::Value {
                $crate::shape::Field::write(self)
            }

            /// Reads it from an object. The order of the members does not matter, names match without regard to case.
            ///
            /// # Errors
            ///
            /// Fails if a member is missing or of another type, and names it ([`Error::is_mismatch`]); or if the copy
            /// of what the value shares were to take more than 64 MiB ([`Error::is_limit`]).
            ///
            /// [`Error::is_mismatch`]: crate::Error::is_mismatch
            /// [`Error::is_limit`]: crate::Error::is_limit
            pub fn from_value(value: &$crate::Value) -> Result<Self, $crate::Error> {
                let mut budget = $crate::shape::Budget::new($crate::shape::DEFAULT_MAX_SIZE);
                Ok(<Self as $crate::shape::Field>::read(value, &mut budget)?)
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

pub(crate) use bag;

//! Enumerations and flags that preserve unknown numbers.

use crate::Error;
use crate::value::{Object, PsString, TypeNames, Value};

/// Creates the object of an enumeration value.
pub(crate) fn enumeration(names: &TypeNames, text: impl Into<PsString>, number: i32) -> Object {
    Object::builder().shared_type_names(names.clone()).to_string(text).wrap(number).build()
}

/// Reads the number of an enumeration or of flags in each form that PowerShell writes: a number, a name, several names
/// separated by commas, or an object with one of these. Names are compared like in PowerShell, regardless of case.
pub(crate) fn enumeration_number<'a>(
    value: &Value,
    names: impl Iterator<Item = (i32, &'a str)> + Clone,
) -> Result<i32, Error> {
    let text = match value.base() {
        Value::Object(object) => object.to_string_text(),
        base => base.as_ps_string(),
    };
    let number = match (value.as_i64(), text) {
        (Some(number), _) => {
            i32::try_from(number).or_else(|_| u32::try_from(number).map(u32::cast_signed)).ok()
        }
        (None, None) => None,
        (None, Some(text)) => text.to_str_lossy().split(',').map(str::trim).try_fold(0, |all, part| {
            let named =
                names.clone().find(|(_, name)| name.eq_ignore_ascii_case(part)).map(|(number, _)| number);
            named.or_else(|| part.parse().ok()).map(|number| all | number)
        }),
    };
    number.ok_or_else(|| Error::mismatch("not an enumeration"))
}

/// Defines an enumeration with a variant for unknown numbers.
///
/// With `as "Type.Name"` it is written as an object, else as a plain number; all forms of [`enumeration_number`] are
/// read. The name of a value is the name of its variant unless a literal follows the number.
macro_rules! open_enum {
    (
        $(#[$attr:meta])*
        pub enum $type:ident $(as $type_name:literal)? {
            $($(#[$variant_attr:meta])* $variant:ident = $number:literal $($text:literal)?,)*
        }
    ) => {
        $(#[$attr])*
        ///
        /// Unknown numbers are preserved.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $type {
            $($(#[$variant_attr])* $variant,)*
            /// A number without a name; values from [`from_number`](Self::from_number) use it only for unknown numbers.
            Other(i32),
        }

        impl $type {
            /// All values that have a name.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Converts a number to a value.
            pub const fn from_number(number: i32) -> Self {
                match number {
                    $($number => Self::$variant,)*
                    _ => Self::Other(number),
                }
            }

            /// Returns the number.
            pub const fn number(self) -> i32 {
                match self {
                    $(Self::$variant => $number,)*
                    Self::Other(number) => number,
                }
            }

            /// Returns the name in PowerShell, or `None` for an unknown number.
            pub const fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$variant => Some($crate::shape::open_enum!(@text $variant $($text)?)),)*
                    Self::Other(_) => None,
                }
            }
        }

        /// Writes the name, or the number if it is unknown.
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self.name() {
                    Some(name) => f.pad(name),
                    None => std::fmt::Display::fmt(&self.number(), f),
                }
            }
        }

        impl $crate::shape::Field for $type {
            fn write(&self) -> $crate::Value {
                $crate::shape::open_enum!(@write self, $type, $($type_name)?)
            }

            fn read(
                value: &$crate::Value,
                _: &mut $crate::shape::CopyBudget,
            ) -> Result<Self, $crate::Error> {
                let names = Self::ALL.iter().map(|known| (known.number(), known.name().unwrap_or_default()));
                $crate::shape::enumeration_number(value, names).map(Self::from_number)
            }
        }
    };
    (@text $variant:ident) => { stringify!($variant) };
    (@text $variant:ident $text:literal) => { $text };
    (@write $self:ident, $type:ident,) => { $crate::Value::Int32($self.number()) };
    // Each object is created once, so that a document contains it once and then references to it.
    (@write $self:ident, $type:ident, $type_name:literal) => {{
        use std::sync::LazyLock;
        use $crate::value::{Object, TypeNames};

        static NAMES: LazyLock<TypeNames> = LazyLock::new(|| {
            TypeNames::new([$type_name, "System.Enum", "System.ValueType", "System.Object"])
        });
        static KNOWN: LazyLock<Vec<Object>> = LazyLock::new(|| {
            let object = |known: &$type| {
                $crate::shape::enumeration(&NAMES, known.name().unwrap_or_default(), known.number())
            };
            $type::ALL.iter().map(object).collect()
        });
        let object = match Self::ALL.iter().position(|known| known == $self) {
            Some(index) => KNOWN[index].clone(),
            None => $crate::shape::enumeration(&NAMES, $self.to_string(), $self.number()),
        };
        $crate::Value::Object(object)
    }};
}

/// Defines a set of flags that preserves unknown bits; otherwise like [`open_enum`].
macro_rules! flags {
    (
        $(#[$attr:meta])*
        pub struct $type:ident $(as $type_name:literal)? {
            $($(#[$flag_attr:meta])* $flag:ident = $number:literal $text:literal,)*
        }
    ) => {
        $(#[$attr])*
        ///
        /// Bits without a name are preserved.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $type(i32);

        impl $type {
            $($(#[$flag_attr])* pub const $flag: Self = Self($number);)*

            /// Numbers and their names, in ascending order.
            const NAMES: &'static [(i32, &'static str)] = &[$(($number, $text)),*];

            /// Converts a number to flags.
            pub const fn from_number(number: i32) -> Self {
                Self(number)
            }

            /// Returns the flags as a number.
            pub const fn number(self) -> i32 {
                self.0
            }

            /// Returns whether all of these flags are set.
            pub const fn contains(self, flags: Self) -> bool {
                self.0 & flags.0 == flags.0
            }
        }

        impl std::ops::BitOr for $type {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }

        /// Writes comma-separated names like .NET, or the number if the names do not cover all bits.
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $crate::shape::flag_names(f, self.0, Self::NAMES)
            }
        }

        impl $crate::shape::Field for $type {
            fn write(&self) -> $crate::Value {
                $crate::shape::flags!(@write self, $($type_name)?)
            }

            fn read(
                value: &$crate::Value,
                _: &mut $crate::shape::CopyBudget,
            ) -> Result<Self, $crate::Error> {
                $crate::shape::enumeration_number(value, Self::NAMES.iter().copied()).map(Self)
            }
        }
    };
    (@write $self:ident,) => { $crate::Value::Int32($self.0) };
    (@write $self:ident, $type_name:literal) => {{
        use std::sync::LazyLock;
        use $crate::value::TypeNames;

        static NAMES: LazyLock<TypeNames> = LazyLock::new(|| {
            TypeNames::new([$type_name, "System.Enum", "System.ValueType", "System.Object"])
        });
        $crate::Value::Object($crate::shape::enumeration(&NAMES, $self.to_string(), $self.0))
    }};
}

/// Writes flags like .NET: the name of the whole number if it has one, else the names of the largest flags that cover
/// it, in ascending order.
pub(crate) fn flag_names(
    f: &mut std::fmt::Formatter<'_>,
    number: i32,
    names: &[(i32, &str)],
) -> std::fmt::Result {
    if let Some((_, name)) = names.iter().find(|(flag, _)| *flag == number) {
        return f.write_str(name);
    }
    let mut left = number;
    let mut used = Vec::new();
    for (flag, name) in names.iter().rev() {
        if *flag != 0 && left & flag == *flag {
            left &= !flag;
            used.push(*name);
        }
    }
    if left != 0 || used.is_empty() {
        return write!(f, "{number}");
    }
    used.reverse();
    f.write_str(&used.join(", "))
}

pub(crate) use {flags, open_enum};

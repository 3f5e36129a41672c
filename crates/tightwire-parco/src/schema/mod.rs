//! Schemas as data: the structure of a message, without a Rust type.
//!
//! Get a [`Schema`] from a Rust type ([`of`]), from a wire type ([`of_wire`]) or, with the feature `schema-json`, from
//! JSON (`Schema::from_json`). Use it to
//!
//! - encode and decode [`Value`]s: compile it with [`Schema::compile`] to a [`Dynamic`];
//! - pin an encoding in a test: see [`Fingerprint`];
//! - check which readers and writers a change affects: see [`compare`] and [`evolution`].
//!
//! ```
//! use tightwire_parco::WireExt;
//! use tightwire_parco::schema::{self, Value};
//!
//! let wire = schema::of::<Vec<Option<u16>>>().compile()?;
//! let value: Value = wire.decode_exact(&[2, 0, 1, 7, 0])?;
//! assert_eq!(value.as_list().unwrap()[1], Value::some(7u16));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod codec;
mod compare;
mod compile;
mod error;
pub mod evolution;
#[cfg(feature = "schema-json")]
mod json;
mod layout;
mod value;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

pub use compare::{Change, Compatibility, Verdict, compare};
pub use compile::Dynamic;
pub use error::SchemaError;
pub use layout::{Fingerprint, fingerprint};
pub use value::Value;

use crate::default_wire::{DecodeAs, Encode};
use crate::wire::{Endian, StaticWire, Wire};

/// A wire type as data, without a Rust type.
///
/// Not every value is valid: a header, for example, must be an integer. Schemas of types and parsed schemas are valid;
/// [`compile`](Self::compile) checks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Schema {
    /// A flag: one byte, 0 or 1.
    Bool,
    /// An integer or float of a fixed width.
    Number(Number, Endian),
    /// An unsigned integer of one to ten bytes: [`Varint`](crate::wire::Varint).
    Varint,
    /// An integer encoded as this number, which the Go library calls a header. It is an `int` in Go, and its range is
    /// checked.
    Header(Number, Endian),
    /// A header with the length in bytes, then a string.
    String {
        /// A [`Number`](Self::Number), [`Varint`](Self::Varint) or [`Header`](Self::Header).
        header: Box<Self>,
    },
    /// A header with the length in bytes, then the bytes.
    Blob {
        /// A [`Number`](Self::Number), [`Varint`](Self::Varint) or [`Header`](Self::Header).
        header: Box<Self>,
    },
    /// A header with the number of elements, then the elements.
    Slice {
        /// A [`Number`](Self::Number), [`Varint`](Self::Varint) or [`Header`](Self::Header).
        header: Box<Self>,
        /// Wire type of the elements.
        element: Box<Self>,
    },
    /// A fixed number of elements.
    Array {
        /// Number of elements.
        len: u64,
        /// Wire type of the elements.
        element: Box<Self>,
    },
    /// A header with the number of entries, then the key and value of each entry.
    Map {
        /// A [`Number`](Self::Number), [`Varint`](Self::Varint) or [`Header`](Self::Header).
        header: Box<Self>,
        /// Wire type of the keys.
        key: Box<Self>,
        /// Wire type of the values.
        value: Box<Self>,
    },
    /// A flag, then the value if the flag is 1.
    Option(Box<Self>),
    /// Fields in order. Their names are not encoded.
    Struct(Vec<(String, Self)>),
    /// The length of the fields in bytes, as a [`Varint`](Self::Varint), then the fields in order: a struct with
    /// `#[parco(evolve)]`. A reader skips bytes after the fields that it knows.
    Evolve {
        /// Number of fields that every message has. Those after them may be missing: older messages end before them.
        required: usize,
        /// Fields in order. Their names are not encoded.
        fields: Vec<(String, Self)>,
    },
    /// Reserved bytes.
    Skip(u64),
    /// Nanoseconds since 1970 in eight bytes, little endian.
    TimeUtc,
    /// Nanoseconds since 1970 in eight bytes, little endian, then the optional name of a time zone.
    TimeLocation,
    /// An id, then the model with that id. Ids are strings; numbers are in decimal.
    Multi {
        /// Wire type of the id.
        header: Box<Self>,
        /// The models by id.
        models: Vec<Variant>,
    },
    /// A type with a meaning that its encoding does not tell, such as `uuid` for 16 bytes.
    Logical {
        /// Name of the logical type: ASCII letters, digits and underscores.
        name: String,
        /// Wire type that the value is encoded as.
        inner: Box<Self>,
    },
    /// A struct, evolve struct or multi with the name of its type, which does not affect the encoding.
    Named {
        /// Name of the type without its modules, such as `User` or `Pair<u8, String>`.
        name: String,
        /// A [`Struct`](Self::Struct), [`Evolve`](Self::Evolve) or [`Multi`](Self::Multi).
        inner: Box<Self>,
    },
    /// A reference to an enclosing struct or multi; 1 is the innermost one.
    Recursive(usize),
}

/// A variant of an enum, or a model of a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The encoded id; a number is in decimal.
    pub id: String,
    /// Name of the variant. For a registry, the name of the Rust type without its module. Empty if unknown: variants are then
    /// compared by id alone.
    pub name: String,
    /// Schema of the fields.
    pub schema: Schema,
}

impl Schema {
    /// Maximum nesting depth of types that [`compile`](Self::compile) accepts: 64.
    pub const MAX_DEPTH: usize = 64;

    /// Maximum number of types that [`compile`](Self::compile) accepts: 65,536.
    pub const MAX_TYPES: usize = 1 << 16;

    /// Maximum number of elements of an array that [`compile`](Self::compile) accepts: ten million.
    pub const MAX_ARRAY: usize = 10_000_000;

    /// Maximum number of reserved bytes that [`compile`](Self::compile) accepts: 100 MiB.
    pub const MAX_SKIP: usize = 100 << 20;

    /// Returns a struct, evolve struct or multi with the name of the Rust type `T`. A reference to it has no name.
    pub(crate) fn named<T>(self) -> Self {
        match self {
            Self::Struct(_) | Self::Evolve { .. } | Self::Multi { .. } => {
                Self::Named { name: short_name::<T>(), inner: Box::new(self) }
            }
            other => other,
        }
    }
}

/// Returns the name of a type without the modules of the type and of its arguments, and without lifetimes.
pub(crate) fn short_name<T>() -> String {
    let name = core::any::type_name::<T>().replace("'_, ", "").replace("<'_>", "");
    let tokens = name.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
    tokens.filter_map(|token| token.rsplit("::").next()).collect()
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $width:literal;)*) => {
        /// Kinds of numbers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Number {
            $($(#[$doc])* $name,)*
        }

        impl Number {
            /// All kinds, integers first.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Returns the width in bytes.
            pub const fn width(self) -> usize {
                match self {
                    $(Self::$name => $width,)*
                }
            }

            /// Returns the name in the JSON format of schemas.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

numbers! {
    /// Unsigned, one byte.
    Uint8 = "uint8", 1;
    /// Signed, one byte.
    Int8 = "int8", 1;
    /// Unsigned, two bytes.
    Uint16 = "uint16", 2;
    /// Signed, two bytes.
    Int16 = "int16", 2;
    /// Unsigned, four bytes.
    Uint32 = "uint32", 4;
    /// Signed, four bytes.
    Int32 = "int32", 4;
    /// Unsigned, eight bytes.
    Uint64 = "uint64", 8;
    /// Signed, eight bytes.
    Int64 = "int64", 8;
    /// Go's `int` on 64-bit platforms.
    Int = "int", 8;
    /// Go's `uint` on 64-bit platforms.
    Uint = "uint", 8;
    /// IEEE 754 float, four bytes.
    Float32 = "float32", 4;
    /// IEEE 754 float, eight bytes.
    Float64 = "float64", 8;
}

impl Number {
    /// Returns whether values are floats.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::Float32 | Self::Float64)
    }

    /// Returns whether values are signed integers.
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::Int8 | Self::Int16 | Self::Int32 | Self::Int64 | Self::Int)
    }

    /// Returns the smallest and the largest integer.
    pub(crate) const fn range(self) -> (i128, i128) {
        let bits = 8 * self.width();
        if self.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
    }
}

/// Returns the schema of a type that can be encoded.
///
/// ```
/// use tightwire_parco::schema::{self, Schema};
///
/// assert_eq!(schema::of::<Option<bool>>(), Schema::Option(Box::new(Schema::Bool)));
/// ```
pub fn of<T: Encode + ?Sized>() -> Schema {
    of_wire(&T::Wire::NEW)
}

/// Returns the schema of a type for decoding. It differs from [`of`] only if the two wire types differ.
pub fn of_decoded<'de, T: DecodeAs<'de>>() -> Schema {
    of_wire(&T::Wire::NEW)
}

/// Returns the schema of a wire type.
pub fn of_wire(wire: &impl Wire) -> Schema {
    wire.schema(&mut SchemaContext::default())
}

/// Context of [`Wire::schema`]: the types that are currently described, to detect recursion.
#[derive(Debug, Default)]
pub struct SchemaContext {
    open: Vec<&'static str>,
}

impl SchemaContext {
    /// Describes a struct, enum or registry by its type name, or returns a reference if the type is already being
    /// described. `inside` returns the schema.
    ///
    /// A struct without a type, such as the fields of an enum variant, has an empty name. It counts as a nesting level, but
    /// is never the target of a reference.
    pub fn enclosed(&mut self, name: &'static str, inside: impl FnOnce(&mut Self) -> Schema) -> Schema {
        if let Some(at) = self.open.iter().rposition(|open| *open == name && !name.is_empty()) {
            return Schema::Recursive(self.open.len() - at);
        }
        self.open.push(name);
        let schema = inside(self);
        self.open.pop();
        schema
    }
}

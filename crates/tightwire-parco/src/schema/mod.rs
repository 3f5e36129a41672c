//! Schemas as data: what a message consists of, without any Rust type.
//!
//! A [`Schema`] comes from a type ([`of`]), from a form ([`of_form`]), or, with the feature `schema-json`, from text
//! (`Schema::from_json`). With it one can
//!
//! - encode and decode [`Value`]s, after [`Schema::compile`] has checked it: see [`Dynamic`];
//! - pin the wire shape in a test: see [`Fingerprint`];
//! - find out what a change does to readers and writers that stay: see [`compare`] and [`evolution`];
//! - print the matching builder in Go: see [`Schema::to_go`].
//!
//! ```
//! use tightwire_parco::WireExt;
//! use tightwire_parco::schema::{self, Value};
//!
//! let form = schema::of::<Vec<Option<u16>>>().compile()?;
//! let value: Value = form.decode_exact(&[2, 0, 0, 1, 7, 0])?;
//! assert_eq!(value.as_list().unwrap()[1], Value::some(7u16));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod codec;
mod compare;
mod compile;
mod error;
pub mod evolution;
mod go;
#[cfg(feature = "schema-json")]
mod json;
mod shape;
mod value;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

pub use compare::{Change, Compatibility, Verdict, compare};
pub use compile::Dynamic;
pub use error::SchemaError;
pub use shape::{Fingerprint, fingerprint};
pub use value::Value;

use crate::form::{DecodeForm, Encode};
use crate::wire::{Endian, StaticWire, Wire};

/// The schema of a type that can be encoded.
///
/// ```
/// use tightwire_parco::schema::{self, Schema};
///
/// assert_eq!(schema::of::<Option<bool>>(), Schema::Option(Box::new(Schema::Bool)));
/// ```
pub fn of<T: Encode + ?Sized>() -> Schema {
    of_form(&T::Form::NEW)
}

/// The schema of a type as it is decoded, which differs from [`of`] only if its two forms do.
pub fn of_decoded<'de, T: DecodeForm<'de>>() -> Schema {
    of_form(&T::Form::NEW)
}

/// The schema of a form.
pub fn of_form(form: &impl Wire) -> Schema {
    form.schema(&mut Describe::default())
}

/// A wire form as data: what a message consists of, without any Rust type.
///
/// Not every value describes something that can be on a wire, for a header has to be a number. What comes from a type
/// or from text does; [`compile`](Self::compile) checks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Schema {
    /// One byte, 0 or 1.
    Bool,
    /// A number.
    Number(Number, Endian),
    /// A number that counts, as a value of its own. Its range is checked; its value is Go's `int`.
    Header(Number, Endian),
    /// A header, then so many bytes of text.
    String {
        /// A [`Number`](Self::Number) or [`Header`](Self::Header).
        header: Box<Self>,
    },
    /// A header, then so many bytes.
    Blob {
        /// A [`Number`](Self::Number) or [`Header`](Self::Header).
        header: Box<Self>,
    },
    /// A header, then so many elements.
    Slice {
        /// A [`Number`](Self::Number) or [`Header`](Self::Header).
        header: Box<Self>,
        /// The form of the elements.
        element: Box<Self>,
    },
    /// A fixed number of elements.
    Array {
        /// How many.
        len: u64,
        /// Their form.
        element: Box<Self>,
    },
    /// A header, then so many entries of key and value.
    Map {
        /// A [`Number`](Self::Number) or [`Header`](Self::Header).
        header: Box<Self>,
        /// The form of the keys.
        key: Box<Self>,
        /// The form of the values.
        value: Box<Self>,
    },
    /// A flag, then a value if it is 1.
    Option(Box<Self>),
    /// Fields, one after the other; the names are not on the wire.
    Struct(Vec<(String, Self)>),
    /// Reserved bytes.
    Skip(u64),
    /// Nanoseconds since 1970 in eight bytes, little endian.
    TimeUtc,
    /// Nanoseconds since 1970 in eight bytes, little endian, then an optional name of a time zone.
    TimeLocation,
    /// An id, then the model that it stands for. Ids are texts: numbers in decimal.
    Multi {
        /// The form of the id.
        header: Box<Self>,
        /// The models by id.
        models: Vec<(String, Self)>,
    },
    /// A struct or multi that contains itself: the one so many of them further out, 1 for the closest.
    Recursive(usize),
}

impl Schema {
    /// The most levels of types within types that [`compile`](Self::compile) takes: 64.
    pub const MAX_DEPTH: usize = 64;

    /// The most types that [`compile`](Self::compile) takes: 65,536.
    pub const MAX_TYPES: usize = 1 << 16;
}

/// The kinds of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Number {
    /// One byte.
    Uint8,
    /// One byte, signed.
    Int8,
    /// Two bytes.
    Uint16,
    /// Two bytes, signed.
    Int16,
    /// Four bytes.
    Uint32,
    /// Four bytes, signed.
    Int32,
    /// Eight bytes.
    Uint64,
    /// Eight bytes, signed.
    Int64,
    /// Go's `int` on 64-bit platforms.
    Int,
    /// Go's `uint` on 64-bit platforms.
    Uint,
    /// Four bytes of IEEE 754.
    Float32,
    /// Eight bytes of IEEE 754.
    Float64,
}

impl Number {
    /// All of them, the integers first.
    pub const ALL: &'static [Self] = &[
        Self::Uint8,
        Self::Int8,
        Self::Uint16,
        Self::Int16,
        Self::Uint32,
        Self::Int32,
        Self::Uint64,
        Self::Int64,
        Self::Int,
        Self::Uint,
        Self::Float32,
        Self::Float64,
    ];

    /// The number of bytes.
    pub const fn width(self) -> usize {
        match self {
            Self::Uint8 | Self::Int8 => 1,
            Self::Uint16 | Self::Int16 => 2,
            Self::Uint32 | Self::Int32 | Self::Float32 => 4,
            Self::Uint64 | Self::Int64 | Self::Int | Self::Uint | Self::Float64 => 8,
        }
    }

    /// Whether it is a float.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::Float32 | Self::Float64)
    }

    /// Whether it is an integer with a sign.
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::Int8 | Self::Int16 | Self::Int32 | Self::Int64 | Self::Int)
    }

    /// The name in the schema language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uint8 => "uint8",
            Self::Int8 => "int8",
            Self::Uint16 => "uint16",
            Self::Int16 => "int16",
            Self::Uint32 => "uint32",
            Self::Int32 => "int32",
            Self::Uint64 => "uint64",
            Self::Int64 => "int64",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Float32 => "float32",
            Self::Float64 => "float64",
        }
    }

    /// The smallest and the largest integer.
    pub(crate) const fn range(self) -> (i128, i128) {
        let bits = 8 * self.width();
        if self.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
    }
}

/// The structs that are being described, so that one that contains itself is found.
#[derive(Debug, Default)]
pub struct Describe {
    open: Vec<&'static str>,
}

impl Describe {
    /// Describes a struct by its type's name and its fields, or tells that it is being described further out.
    pub fn structure(
        &mut self,
        name: &'static str,
        fields: impl FnOnce(&mut Self) -> Vec<(String, Schema)>,
    ) -> Schema {
        self.enclosed(name, |describe| Schema::Struct(fields(describe)))
    }

    /// Describes the enum of a registry by its type's name, the form of the ids, and the models.
    pub fn multi(
        &mut self,
        name: &'static str,
        header: Schema,
        models: impl FnOnce(&mut Self) -> Vec<(String, Schema)>,
    ) -> Schema {
        self.enclosed(name, |describe| Schema::Multi { header: Box::new(header), models: models(describe) })
    }

    /// Describes a struct that has no type, as the fields of an enum's variant. It counts as a level like the others.
    pub fn inline(&mut self, fields: impl FnOnce(&mut Self) -> Vec<(String, Schema)>) -> Schema {
        // No type has this name, so nothing is found to come again.
        self.open.push("");
        let fields = fields(self);
        self.open.pop();
        Schema::Struct(fields)
    }

    fn enclosed(&mut self, name: &'static str, inside: impl FnOnce(&mut Self) -> Schema) -> Schema {
        if let Some(at) = self.open.iter().rposition(|open| *open == name) {
            return Schema::Recursive(self.open.len() - at);
        }
        self.open.push(name);
        let schema = inside(self);
        self.open.pop();
        schema
    }
}

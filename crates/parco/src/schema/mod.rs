//! Schemas as data.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::wire::Endian;

/// A wire form as data: what a message consists of, without any Rust type.
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
    /// A struct that contains itself: the one so many structs further out.
    Recursive(usize),
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

//! Trees of JSON values whose type is not known.
//!
//! [`Value`] has 24 bytes. Strings of up to 22 bytes are stored in it, arrays and objects keep their order, and small
//! objects are searched without hashing.

mod array;
mod map;
pub(crate) mod memory;
mod number;
mod string;

pub use array::Array;
pub use map::Map;
pub use number::Number;
pub use string::JsonString;

/// Any JSON value.
// The layout is defined, so that the decoder can write values with stores of eight bytes.
#[derive(Clone, Default, PartialEq)]
#[repr(u8)]
pub enum Value {
    /// `null`.
    #[default]
    Null = Tag::Null as u8,
    /// `true` or `false`.
    Bool(bool) = Tag::Bool as u8,
    /// Number.
    Number(Number) = Tag::Number as u8,
    /// String.
    String(JsonString) = Tag::String as u8,
    /// Array.
    Array(Array) = Tag::Array as u8,
    /// Object.
    Object(Map<String, Value>) = Tag::Object as u8,
}

const _: () = assert!(size_of::<Value>() == 24, "trees are copied often");

/// Tags of [`Value`].
#[derive(Clone, Copy)]
pub(crate) enum Tag {
    Null = 0,
    Bool = 1,
    Number = 2,
    String = 3,
    Array = 4,
    Object = 5,
}

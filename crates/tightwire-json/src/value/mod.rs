//! Trees of JSON values whose type is not known.
//!
//! [`Value`] has 24 bytes. Strings of up to 22 bytes are stored in it, arrays and objects keep their order, and small
//! objects are searched without hashing.

mod array;
mod map;
mod number;
mod string;

pub use array::Array;
pub use map::Map;
pub use number::Number;
pub use string::JsonString;

/// Any JSON value.
#[derive(Clone, Default, PartialEq)]
pub enum Value {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// Number.
    Number(Number),
    /// String.
    String(JsonString),
    /// Array.
    Array(Array),
    /// Object.
    Object(Map<String, Value>),
}

const _: () = assert!(size_of::<Value>() == 24, "trees are copied often");

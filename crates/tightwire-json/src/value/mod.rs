//! Trees of JSON values whose type is not known.
//!
//! [`Value`] has 24 bytes. Strings of up to 22 bytes are stored in it, arrays and objects keep their order, and small
//! objects are searched without hashing.
//!
//! The paths of this module and of [`map`](crate::map) are those of serde_json.

mod accessors;
mod array;
mod array_ops;
mod convert;
mod de;
mod de_parts;
pub(crate) mod deserialize;
pub(crate) mod growing;
mod json;
mod map;
pub(crate) mod map_entry;
pub(crate) mod map_iter;
pub(crate) mod map_ops;
pub(crate) mod memory;
mod number;
#[cfg(feature = "schemars")]
mod schema;
mod ser;
#[cfg(feature = "serde-json")]
mod serde_json;
mod string;
mod string_ops;

use std::fmt;
use std::str::FromStr;

pub use accessors::{Index, merge_patch};
pub use array::Array;
pub use deserialize::from_value;
pub(crate) use deserialize::{containers, hand_over, is_any};
pub use map::Map;
pub use number::Number;
pub(crate) use number::{plain, to_bytes};
pub use ser::{Serializer, to_value};
pub use string::JsonString;

use crate::error::{Error, Result};
#[doc(no_inline)]
pub use crate::raw::{RawValue, to_raw_value};

/// Any JSON value.
///
/// It has the methods of serde_json's `Value`, with [`JsonString`] in place of `String` and [`Array`] in place of `Vec`.
/// Objects keep the order of their entries.
///
/// `Display` writes the compact document, and `{:#}` the document with line breaks and an indentation of two spaces.
/// `Debug` writes all values.
///
/// The arrays, objects and long strings of a decoded document, or of a result of [`to_value`], share memory. Therefore a
/// clone of an array or object takes constant time, and a part that is cloned or taken keeps the memory of the whole
/// tree. A change copies the entries of the changed array or object first. [`to_value`]`(&part)` returns a copy with
/// memory of its own.
///
/// Encoding, comparing, hashing, converting and merging are recursive, as in serde_json, and so are cloning and dropping of
/// trees that a program builds itself. Decoded documents are limited in depth ([`Limits::max_depth`](crate::Limits::max_depth)); deeper
/// trees may overflow the stack.
///
/// # Examples
///
/// ```
/// use tightwire_json::{Value, json};
///
/// let mut value: Value = tightwire_json::from_str(r#"{"users": [{"name": "Ada"}]}"#)?;
/// assert_eq!(value["users"][0]["name"], "Ada");
/// assert!(value["users"][1].is_null());
///
/// value["users"][0]["id"] = json!(7);
/// assert_eq!(value.to_string(), r#"{"users":[{"name":"Ada","id":7}]}"#);
/// # Ok::<(), tightwire_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
// The layout is defined, so that the decoder can write values with stores of eight bytes.
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
    Object(Map<String, Self>) = Tag::Object as u8,
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

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("Null"),
            Self::Bool(value) => write!(f, "Bool({value})"),
            Self::Number(number) => fmt::Debug::fmt(number, f),
            Self::String(text) => write!(f, "String({text:?})"),
            Self::Array(array) => {
                f.write_str("Array ")?;
                fmt::Debug::fmt(array, f)
            }
            Self::Object(map) => {
                f.write_str("Object ")?;
                fmt::Debug::fmt(map, f)
            }
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let document = match f.alternate() {
            false => crate::to_vec(self),
            true => crate::to_vec_pretty(self),
        };
        f.write_str(str::from_utf8(&document.map_err(|_| fmt::Error)?).map_err(|_| fmt::Error)?)
    }
}

/// Decodes a document. Same as [`from_str`](crate::from_str).
impl FromStr for Value {
    type Err = Error;

    fn from_str(document: &str) -> Result<Self> {
        crate::from_str(document)
    }
}

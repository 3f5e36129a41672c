//! The names that serde reads the fields of a type under.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::forward_to_deserialize_any;

/// The names of the fields of `T` on the wire, in the order of their declaration; empty where `T` is no struct or
/// flattens others into itself.
///
/// A derived implementation hands this list to the deserializer before anything is read.
pub(super) fn fields_of<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    match T::deserialize(Probe) {
        Err(Found(fields)) => fields,
        Ok(_) => &[],
    }
}

/// The name on the wire of a Rust field: the one that differs only in case and separators, which is what
/// `rename_all` changes. A field that is renamed to another word keeps its Rust name.
pub(super) fn name_of(field: &str, names: &[&'static str]) -> Option<(usize, &'static str)> {
    let letters = |name: &str| -> String {
        name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
    };
    let exact = names.iter().position(|&name| name == field);
    let position = exact.or_else(|| {
        let field = letters(field);
        names.iter().position(|name| letters(name) == field)
    })?;
    Some((position, names[position]))
}

/// Ends every attempt to read a value with the names that were asked for.
struct Probe;

#[derive(Debug)]
struct Found(&'static [&'static str]);

impl<'de> Deserializer<'de> for Probe {
    type Error = Found;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Found> {
        Err(Found(&[]))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Found> {
        Err(Found(fields))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

impl Error for Found {
    fn custom<T: fmt::Display>(_message: T) -> Self {
        Self(&[])
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the names of the fields are known")
    }
}

impl std::error::Error for Found {}

//! Raw values: values that contain JSON text.
//!
//! serde has no method for them. serde_json serializes its `RawValue`, and numbers with `arbitrary_precision`, as a
//! struct with a reserved name and one field.

use serde::{Serialize, ser};

use crate::codec::Limits;
use crate::de::{self, ByteStrings, Duplicates, LoneSurrogate, Rules};
use crate::error::{Error, Result};

/// Struct name of `serde_json::value::RawValue`.
pub(crate) const RAW_TOKEN: &str = "$serde_json::private::RawValue";
/// Struct name of `serde_json::Number` if a program enables serde_json's feature `arbitrary_precision`.
const NUMBER_TOKEN: &str = "$serde_json::private::Number";

/// How raw values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RawValues {
    /// Unchanged, after validation.
    Check,
    /// Unchanged, without validation.
    Trust,
    /// Without white space and with the escapes of Go, after validation.
    Compact,
}

#[inline(always)]
pub(super) fn is_token(name: &'static str) -> bool {
    // No Rust type has a name that starts with `$`. The name is a constant at most call sites.
    name.starts_with('$') && (name == RAW_TOKEN || name == NUMBER_TOKEN)
}

fn push_raw(out: &mut Vec<u8>, raw_values: RawValues, text: &str) -> Result<()> {
    if raw_values != RawValues::Trust {
        // No limits: the text is already in memory, and validation does not recurse.
        let rules = Rules {
            limits: Limits::unlimited(),
            lone_surrogate: LoneSurrogate::Replace,
            duplicates: Duplicates::ByType,
            byte_strings: ByteStrings::Utf8,
        };
        de::validate(text, &rules)
            .map_err(|_| <Error as ser::Error>::custom("raw value is not valid JSON"))?;
    }
    match raw_values {
        RawValues::Check | RawValues::Trust => out.extend_from_slice(text.as_bytes()),
        RawValues::Compact => push_compact(out, text),
    }
    Ok(())
}

/// Appends a valid document without white space between its tokens and with the escapes of Go.
fn push_compact(out: &mut Vec<u8>, text: &str) {
    let mut rest = text;
    while let Some(quote) = rest.find('"') {
        out.extend(rest[..quote].bytes().filter(|byte| !byte.is_ascii_whitespace()));
        let tail = &rest[quote..];
        let (string, behind) = tail.split_at(de::string_len(tail.as_bytes()).unwrap_or(tail.len()));
        push_escapes(out, string);
        rest = behind;
    }
    out.extend(rest.bytes().filter(|byte| !byte.is_ascii_whitespace()));
}

/// Appends a string with its quotes: `<`, `>`, `&`, U+2028 and U+2029 are escaped, existing escapes are copied.
fn push_escapes(out: &mut Vec<u8>, string: &str) {
    let mut rest = string;
    while let Some(at) = rest.find(['<', '>', '&', '\u{2028}', '\u{2029}']) {
        let (plain, special) = rest.split_at(at);
        out.extend_from_slice(plain.as_bytes());
        let (escape, width) = match special.as_bytes() {
            [b'<', ..] => (b"\\u003c", 1),
            [b'>', ..] => (b"\\u003e", 1),
            [b'&', ..] => (b"\\u0026", 1),
            [_, _, 0xa8, ..] => (b"\\u2028", 3),
            _ => (b"\\u2029", 3),
        };
        out.extend_from_slice(escape);
        rest = &special[width..];
    }
    out.extend_from_slice(rest.as_bytes());
}

/// Serializer of the text of a raw value.
pub(super) struct RawText<'s> {
    pub(super) out: &'s mut Vec<u8>,
    pub(super) raw_values: RawValues,
}

/// Defines methods of a serializer that return an error.
macro_rules! reject {
    ($message:literal: $($method:ident($($argument:ident: $type:ty),*) -> $ok:ty;)*) => {
        $(
            fn $method(self, $($argument: $type),*) -> crate::error::Result<$ok> {
                $(let _ = $argument;)*
                Err(serde::ser::Error::custom($message))
            }
        )*
    };
}
pub(super) use reject;

/// Defines the methods of a serializer for values that cannot be written as a string; all return an error.
macro_rules! reject_all_but_text {
    ($message:literal) => {
        type SerializeSeq = ser::Impossible<(), Error>;
        type SerializeTuple = ser::Impossible<(), Error>;
        type SerializeTupleStruct = ser::Impossible<(), Error>;
        type SerializeTupleVariant = ser::Impossible<(), Error>;
        type SerializeMap = ser::Impossible<(), Error>;
        type SerializeStruct = ser::Impossible<(), Error>;
        type SerializeStructVariant = ser::Impossible<(), Error>;

        reject! { $message:
            serialize_bytes(value: &[u8]) -> ();
            serialize_none() -> ();
            serialize_unit() -> ();
            serialize_unit_struct(name: &'static str) -> ();
            serialize_seq(len: Option<usize>) -> Self::SerializeSeq;
            serialize_tuple(len: usize) -> Self::SerializeTuple;
            serialize_tuple_struct(name: &'static str, len: usize) -> Self::SerializeTupleStruct;
            serialize_tuple_variant(
                name: &'static str, index: u32, variant: &'static str, len: usize
            ) -> Self::SerializeTupleVariant;
            serialize_map(len: Option<usize>) -> Self::SerializeMap;
            serialize_struct(name: &'static str, len: usize) -> Self::SerializeStruct;
            serialize_struct_variant(
                name: &'static str, index: u32, variant: &'static str, len: usize
            ) -> Self::SerializeStructVariant;
        }

        fn serialize_newtype_variant<T: Serialize + ?Sized>(
            self,
            _name: &'static str,
            _index: u32,
            _variant: &'static str,
            _value: &T,
        ) -> Result<()> {
            Err(ser::Error::custom($message))
        }
    };
}
pub(super) use reject_all_but_text;

impl ser::Serializer for RawText<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_str(self, value: &str) -> Result<()> {
        push_raw(self.out, self.raw_values, value)
    }

    reject_all_but_text! { "raw value is not a string" }

    reject! { "raw value is not a string":
        serialize_bool(value: bool) -> ();
        serialize_i8(value: i8) -> ();
        serialize_i16(value: i16) -> ();
        serialize_i32(value: i32) -> ();
        serialize_i64(value: i64) -> ();
        serialize_u8(value: u8) -> ();
        serialize_u16(value: u16) -> ();
        serialize_u32(value: u32) -> ();
        serialize_u64(value: u64) -> ();
        serialize_f32(value: f32) -> ();
        serialize_f64(value: f64) -> ();
        serialize_char(value: char) -> ();
        serialize_unit_variant(name: &'static str, index: u32, variant: &'static str) -> ();
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _value: &T) -> Result<()> {
        Err(ser::Error::custom("raw value is not a string"))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, _value: &T) -> Result<()> {
        Err(ser::Error::custom("raw value is not a string"))
    }
}

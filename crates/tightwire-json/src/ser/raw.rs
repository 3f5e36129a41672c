//! Raw values: JSON text that a value carries along.
//!
//! serde has no notion of them. serde_json's `RawValue` announces itself by the name of a struct with one field,
//! and so do its numbers where they keep their text.

use serde::{Serialize, ser};

use super::Serializer;
use super::form::Form;
use crate::de::{self, BytesForm, Duplicates, Lone, Rules};
use crate::error::{Error, Result};
use crate::limits::Limits;

/// The name under which `serde_json::value::RawValue` announces itself.
pub(crate) const RAW_TOKEN: &str = "$serde_json::private::RawValue";
/// The name under which `serde_json::Number` announces itself if a program turns on its `arbitrary_precision`.
const NUMBER_TOKEN: &str = "$serde_json::private::Number";

/// What happens with raw values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Raw {
    /// Written as they are if they are valid, else an error.
    Check,
    /// Written as they are.
    Trust,
    /// Checked and written without white space and with the escapes of Go.
    Compact,
}

#[inline(always)]
pub(super) fn is_token(name: &'static str) -> bool {
    // Both names have this beginning and no type of Rust has; the length is known at most call sites.
    name.starts_with('$') && (name == RAW_TOKEN || name == NUMBER_TOKEN)
}

fn push_raw<F: Form>(serializer: &mut Serializer<F>, text: &str) -> Result<()> {
    if serializer.raw != Raw::Trust {
        // The limit of depth protects readers; what this program has in memory is only checked for being JSON.
        let rules = Rules {
            limits: Limits::unlimited(),
            lone: Lone::Replace,
            duplicates: Duplicates::ByType,
            bytes: BytesForm::Text,
        };
        de::validate(text, &rules).map_err(|_| <Error as ser::Error>::custom("a raw value is not JSON"))?;
    }
    match serializer.raw {
        Raw::Check | Raw::Trust => serializer.out.extend_from_slice(text.as_bytes()),
        Raw::Compact => push_compact(&mut serializer.out, text),
    }
    Ok(())
}

/// Appends a valid document without white space between its tokens and with the escapes of Go.
fn push_compact(out: &mut Vec<u8>, text: &str) {
    let mut rest = text;
    while let Some(quote) = rest.find('"') {
        out.extend(rest[..quote].bytes().filter(|byte| !byte.is_ascii_whitespace()));
        let body = &rest[quote + 1..];
        let len = string_len(body);
        push_escapes(out, &body[..len]);
        rest = body.get(len + 1..).unwrap_or_default();
    }
    out.extend(rest.bytes().filter(|byte| !byte.is_ascii_whitespace()));
}

/// The length of a string from behind its first quote to its last.
fn string_len(body: &str) -> usize {
    let bytes = body.as_bytes();
    let mut at = 0;
    loop {
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            Some(b'"') | None => return at.min(bytes.len()),
            Some(_) => at += 1,
        }
    }
}

/// Appends the text between two quotes: escapes stay as they are, `<`, `>`, `&`, U+2028 and U+2029 become escapes.
fn push_escapes(out: &mut Vec<u8>, body: &str) {
    out.push(b'"');
    let mut rest = body;
    while let Some(at) = rest.find(['<', '>', '&', '\u{2028}', '\u{2029}']) {
        let (plain, special) = rest.split_at(at);
        out.extend_from_slice(plain.as_bytes());
        out.extend_from_slice(match special.as_bytes() {
            [b'<', ..] => b"\\u003c",
            [b'>', ..] => b"\\u003e",
            [b'&', ..] => b"\\u0026",
            [_, _, 0xa8, ..] => b"\\u2028",
            _ => b"\\u2029",
        });
        let width = special.chars().next().map_or(0, char::len_utf8);
        rest = &special[width..];
    }
    out.extend_from_slice(rest.as_bytes());
    out.push(b'"');
}

/// Receives the text of a raw value.
pub(super) struct RawText<'s, F>(pub(super) &'s mut Serializer<F>);

/// Methods of a serializer that answer with an error.
macro_rules! refuse {
    ($message:literal: $($method:ident($($argument:ident: $type:ty),*) -> $ok:ty;)*) => {
        $(
            fn $method(self, $($argument: $type),*) -> crate::error::Result<$ok> {
                $(let _ = $argument;)*
                Err(serde::ser::Error::custom($message))
            }
        )*
    };
}
pub(super) use refuse;

/// The part of a serializer that only takes text: everything without an obvious form as text is refused.
macro_rules! refuse_all_but_text {
    ($message:literal) => {
        type SerializeSeq = ser::Impossible<(), Error>;
        type SerializeTuple = ser::Impossible<(), Error>;
        type SerializeTupleStruct = ser::Impossible<(), Error>;
        type SerializeTupleVariant = ser::Impossible<(), Error>;
        type SerializeMap = ser::Impossible<(), Error>;
        type SerializeStruct = ser::Impossible<(), Error>;
        type SerializeStructVariant = ser::Impossible<(), Error>;

        refuse! { $message:
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
pub(super) use refuse_all_but_text;

impl<F: Form> ser::Serializer for RawText<'_, F> {
    type Ok = ();
    type Error = Error;

    fn serialize_str(self, value: &str) -> Result<()> {
        push_raw(self.0, value)
    }

    refuse_all_but_text! { "a raw value is not text" }

    refuse! { "a raw value is not text":
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
        Err(ser::Error::custom("a raw value is not text"))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, _value: &T) -> Result<()> {
        Err(ser::Error::custom("a raw value is not text"))
    }
}

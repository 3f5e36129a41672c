//! Raw values: values that contain JSON text.
//!
//! serde has no method for them. `RawValue`, that of serde_json, and its numbers with `arbitrary_precision`, serialize
//! as a struct with a reserved name and one field.

use serde::ser;

use crate::codec::Limits;
use crate::de::{self, ByteStrings, Duplicates, LoneSurrogate, Rules};
use crate::error::{Error, Result};
use crate::raw::raw_token;

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
    /// Unchanged between two [`MARK`]s, after validation. Indentation removes the marks.
    MarkChecked,
    /// Unchanged between two [`MARK`]s, without validation.
    MarkTrusted,
}

/// Byte that the encoder does not write otherwise, because it is not valid in JSON.
pub(super) const MARK: u8 = 1;

#[inline(always)]
pub(super) fn is_token(name: &'static str) -> bool {
    name.starts_with('$') && (raw_token(name).is_some() || name == NUMBER_TOKEN)
}

pub(super) fn push_raw(out: &mut Vec<u8>, raw_values: RawValues, text: &str) -> Result<()> {
    if !matches!(raw_values, RawValues::Trust | RawValues::MarkTrusted) {
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
        RawValues::MarkChecked | RawValues::MarkTrusted => {
            out.push(MARK);
            out.extend_from_slice(text.as_bytes());
            out.push(MARK);
        }
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

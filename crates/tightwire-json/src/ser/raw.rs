//! Raw values: values that contain JSON text.

use serde::de::IgnoredAny;
use serde::ser;

use super::VecSerializer;
use super::sort::Keys;
use super::style::Style;
use crate::codec::{Codec, Mode};
use crate::error::{Error, Result};
use crate::grammar::string_len;

/// Writes a raw value: unchanged, or without white space and with the escapes of Go, or in canonical form. It is validated,
/// except with [`Mode::Fast`].
pub(super) fn push_raw<S: Style>(serializer: &mut VecSerializer<S>, text: &str) -> Result<()> {
    if serializer.mode != Mode::Fast {
        // Only `Mode::Compat` accepts lone surrogates.
        let mode = if S::CANONICAL { Mode::Strict } else { Mode::Compat };
        Codec { mode, ..Codec::UNLIMITED }
            .from_str::<IgnoredAny>(text)
            .map_err(|_| <Error as ser::Error>::custom("raw value is not valid JSON"))?;
    }
    match serializer.mode {
        _ if S::CANONICAL => rewrite(serializer, text)?,
        Mode::Compat => push_compact(&mut serializer.out, text),
        _ => serializer.out.extend_from_slice(text.as_bytes()),
    }
    Ok(())
}

/// Writes the tokens of a valid document in the style of the serializer. Does not recurse.
fn rewrite<S: Style>(serializer: &mut VecSerializer<S>, text: &str) -> Result<()> {
    // Keys of each open object, `None` for an array.
    let mut open: Vec<Option<Keys>> = Vec::new();
    let mut rest = text.trim_start();
    while let Some(byte) = rest.bytes().next() {
        let len = match byte {
            b'"' => string_len(rest.as_bytes()).unwrap_or(rest.len()),
            b'-' | b'0'..=b'9' => rest.find([',', ']', '}', ' ', '\t', '\n', '\r']).unwrap_or(rest.len()),
            _ => 1,
        };
        let (token, behind) = rest.split_at(len);
        rest = behind.trim_start();
        let start = serializer.out.len();
        match byte {
            b'"' => {
                let is_key = matches!(serializer.out.last(), Some(b'{' | b','));
                match token.contains('\\') {
                    true => serializer.string(&Codec::leading_string(token.as_bytes())?),
                    false => serializer.out.extend_from_slice(token.as_bytes()),
                }
                if is_key && let Some(Some(keys)) = open.last_mut() {
                    keys.push(S::STRUCTS, &serializer.out, start);
                }
            }
            b'-' | b'0'..=b'9' => push_number(token, &mut *serializer)?,
            b'}' | b']' => {
                if let Some(Some(keys)) = open.pop() {
                    keys.close(S::STRUCTS, &serializer.out, &mut serializer.unsorted)?;
                }
                serializer.out.push(byte);
            }
            b'{' => {
                serializer.out.push(byte);
                open.push(Some(Keys::new(&serializer.out, &serializer.unsorted)));
            }
            b'[' => {
                serializer.out.push(byte);
                open.push(None);
            }
            _ => serializer.out.push(byte),
        }
    }
    Ok(())
}

/// Writes a number as the decoder reads it: as an integer if it has neither a fraction nor an exponent and fits into 64
/// bits, otherwise as a float.
fn push_number(token: &str, serializer: impl ser::Serializer<Ok = (), Error = Error>) -> Result<()> {
    if let Ok(value) = token.parse() {
        return serializer.serialize_u64(value);
    }
    if let Ok(value) = token.parse() {
        return serializer.serialize_i64(value);
    }
    serializer.serialize_f64(token.parse().map_err(ser::Error::custom)?)
}

/// Appends a valid document without white space between its tokens and with the escapes of Go.
fn push_compact(out: &mut Vec<u8>, text: &str) {
    let mut rest = text;
    while let Some(quote) = rest.find('"') {
        out.extend(rest[..quote].bytes().filter(|byte| !byte.is_ascii_whitespace()));
        let tail = &rest[quote..];
        let (string, behind) = tail.split_at(string_len(tail.as_bytes()).unwrap_or(tail.len()));
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

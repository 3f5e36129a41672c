//! Functions of the crate root: the methods of [`Codec`], called on [`Codec::standard`].

use std::fmt;
use std::io::{Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::codec::Codec;
use crate::error::Result;

/// Encodes `value` into a new vector. See [`Codec::to_vec`].
///
/// # Errors
///
/// Same as [`Codec::to_vec`].
///
/// # Examples
///
/// ```
/// assert_eq!(tightwire_json::to_vec(&[1, 2, 3])?, b"[1,2,3]");
/// assert!(tightwire_json::to_vec(&f64::NAN).unwrap_err().is_encode());
/// # Ok::<(), tightwire_json::Error>(())
/// ```
#[inline]
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>> {
    Codec::standard().to_vec(value)
}

/// Encodes `value` into a new string. See [`Codec::to_string`].
///
/// # Errors
///
/// Same as [`Codec::to_vec`].
///
/// # Examples
///
/// ```
/// assert_eq!(tightwire_json::to_string("a \"b\"\n")?, r#""a \"b\"\n""#);
/// # Ok::<(), tightwire_json::Error>(())
/// ```
pub fn to_string<T: Serialize + ?Sized>(value: &T) -> Result<String> {
    Codec::standard().to_string(value)
}

/// Indentation of the root functions.
pub(crate) const INDENT: &str = "  ";

/// Encodes `value` with line breaks, indented by two spaces per level. See [`Codec::to_vec_pretty`].
///
/// # Errors
///
/// Same as [`Codec::to_vec`].
pub fn to_vec_pretty<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>> {
    Codec::standard().to_vec_pretty(value, INDENT)
}

/// Encodes `value` with line breaks, indented by two spaces per level. See [`Codec::to_string_pretty`].
///
/// # Errors
///
/// Same as [`Codec::to_vec`].
///
/// # Examples
///
/// ```
/// assert_eq!(tightwire_json::to_string_pretty(&[1, 2])?, "[\n  1,\n  2\n]");
/// # Ok::<(), tightwire_json::Error>(())
/// ```
pub fn to_string_pretty<T: Serialize + ?Sized>(value: &T) -> Result<String> {
    Codec::standard().to_string_pretty(value, INDENT)
}

/// Encodes `value` with line breaks, indented by two spaces per level, then writes the complete document. See
/// [`Codec::to_writer_pretty`].
///
/// # Errors
///
/// Same as [`Codec::to_writer`].
pub fn to_writer_pretty<W: Write, T: Serialize + ?Sized>(writer: W, value: &T) -> Result<()> {
    Codec::standard().to_writer_pretty(writer, value, INDENT)
}

/// Encodes `value`, then writes the complete document. See [`Codec::to_writer`].
///
/// # Errors
///
/// Same as [`Codec::to_writer`].
pub fn to_writer<W: Write, T: Serialize + ?Sized>(writer: W, value: &T) -> Result<()> {
    Codec::standard().to_writer(writer, value)
}

/// Encodes `value`, then writes the complete document to a [`fmt::Write`], such as a [`String`]. See
/// [`Codec::to_fmt_writer`].
///
/// # Errors
///
/// Same as [`Codec::to_writer`].
///
/// # Examples
///
/// ```
/// let mut text = String::from("numbers = ");
/// tightwire_json::to_fmt_writer(&mut text, &[1, 2])?;
/// assert_eq!(text, "numbers = [1,2]");
/// # Ok::<(), tightwire_json::Error>(())
/// ```
pub fn to_fmt_writer<W: fmt::Write, T: Serialize + ?Sized>(writer: W, value: &T) -> Result<()> {
    Codec::standard().to_fmt_writer(writer, value)
}

/// Appends the encoded `value` to `buffer`. See [`Codec::to_buf`].
///
/// # Errors
///
/// Same as [`Codec::to_buf`].
///
/// # Examples
///
/// ```
/// let mut buffer = Vec::with_capacity(1024);
/// for number in 0..3 {
///     buffer.clear();
///     tightwire_json::to_buf(&mut buffer, &[number])?;
/// }
/// assert_eq!(buffer, b"[2]");
/// # Ok::<(), tightwire_json::Error>(())
/// ```
#[inline]
pub fn to_buf<T: Serialize + ?Sized>(buffer: &mut Vec<u8>, value: &T) -> Result<()> {
    Codec::standard().to_buf(buffer, value)
}

/// Encodes `value` into reference-counted bytes. See [`Codec::to_bytes`]. Requires the feature `bytes`.
///
/// # Errors
///
/// Same as [`Codec::to_vec`].
#[cfg(feature = "bytes")]
pub fn to_bytes<T: Serialize + ?Sized>(value: &T) -> Result<bytes::Bytes> {
    Codec::standard().to_bytes(value)
}

/// Decodes a document into a value that may borrow from it. See [`Codec::from_slice`].
///
/// # Errors
///
/// Same as [`Codec::from_slice`].
///
/// # Examples
///
/// ```
/// use tightwire_json::ErrorDetails;
///
/// let numbers: Vec<u8> = tightwire_json::from_slice(b"[1, 2, 3]")?;
/// assert_eq!(numbers, [1, 2, 3]);
///
/// let error = tightwire_json::from_slice::<Vec<u8>>(b"[1, 2, 300]").unwrap_err();
/// assert!(error.is_data());
/// assert_eq!(error.offset(), Some(7));
/// # Ok::<(), tightwire_json::Error>(())
/// ```
pub fn from_slice<'a, T: Deserialize<'a>>(document: &'a [u8]) -> Result<T> {
    Codec::standard().from_slice(document)
}

/// Decodes a document into a value that may borrow from it. See [`Codec::from_str`].
///
/// # Errors
///
/// Same as [`Codec::from_slice`].
///
/// # Examples
///
/// ```
/// let words: Vec<&str> = tightwire_json::from_str(r#"["a", "b"]"#)?;
/// assert_eq!(words, ["a", "b"]);
/// # Ok::<(), tightwire_json::Error>(())
/// ```
pub fn from_str<'a, T: Deserialize<'a>>(document: &'a str) -> Result<T> {
    Codec::standard().from_str(document)
}

/// Reads to the end, then decodes into an owned value. See [`Codec::from_reader`].
///
/// # Errors
///
/// Same as [`Codec::from_reader`].
pub fn from_reader<R: Read, T: DeserializeOwned>(reader: R) -> Result<T> {
    Codec::standard().from_reader(reader)
}

/// Returns whether `document` is valid JSON within the default limits.
///
/// # Examples
///
/// ```
/// assert!(tightwire_json::is_valid(b" {\"a\": [1e400, null]} "));
/// assert!(!tightwire_json::is_valid(b"{\"a\": 01}"));
/// assert!(!tightwire_json::is_valid(b"\"\xff\""));
/// ```
pub fn is_valid(document: &[u8]) -> bool {
    Codec::standard().is_valid(document)
}

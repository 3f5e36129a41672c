//! The functions of the crate root: those of [`Codec`] with the codec of the process.

use std::io::{Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::codec::Codec;
use crate::error::Result;

/// Encodes `value`, as [`Codec::to_vec`] with [`Codec::standard`].
///
/// # Errors
/// As [`Codec::to_vec`].
///
/// # Examples
/// ```
/// assert_eq!(tightwire_json::to_vec(&[1, 2, 3])?, b"[1,2,3]");
/// assert!(tightwire_json::to_vec(&f64::NAN).unwrap_err().is_encode());
/// # Ok::<(), tightwire_json::Error>(())
/// ```
#[inline]
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>> {
    Codec::standard().to_vec(value)
}

/// Encodes `value` as text, as [`Codec::to_string`] with [`Codec::standard`].
///
/// # Errors
/// As [`Codec::to_vec`].
///
/// # Examples
/// ```
/// assert_eq!(tightwire_json::to_string("a \"b\"\n")?, r#""a \"b\"\n""#);
/// # Ok::<(), tightwire_json::Error>(())
/// ```
pub fn to_string<T: Serialize + ?Sized>(value: &T) -> Result<String> {
    Codec::standard().to_string(value)
}

/// Encodes `value` on several lines, as [`Codec::to_vec_pretty`] with [`Codec::standard`].
///
/// # Errors
/// As [`Codec::to_vec`].
///
/// # Examples
/// ```
/// assert_eq!(tightwire_json::to_vec_pretty(&[1, 2], "  ")?, b"[\n  1,\n  2\n]");
/// # Ok::<(), tightwire_json::Error>(())
/// ```
pub fn to_vec_pretty<T: Serialize + ?Sized>(value: &T, indent: &str) -> Result<Vec<u8>> {
    Codec::standard().to_vec_pretty(value, indent)
}

/// Encodes `value`, then writes all of it, as [`Codec::to_writer`] with [`Codec::standard`].
///
/// # Errors
/// As [`Codec::to_writer`].
pub fn to_writer<W: Write, T: Serialize + ?Sized>(writer: W, value: &T) -> Result<()> {
    Codec::standard().to_writer(writer, value)
}

/// Encodes `value` to the end of `buffer`, as [`Codec::to_buf`] with [`Codec::standard`].
///
/// # Errors
/// As [`Codec::to_buf`].
///
/// # Examples
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

/// Encodes `value` as reference-counted bytes, as [`Codec::to_bytes`] with [`Codec::standard`]. Needs the feature
/// `bytes`.
///
/// # Errors
/// As [`Codec::to_vec`].
#[cfg(feature = "bytes")]
pub fn to_bytes<T: Serialize + ?Sized>(value: &T) -> Result<bytes::Bytes> {
    Codec::standard().to_bytes(value)
}

/// Decodes a document into a type that borrows nothing, as [`Codec::from_slice`] with [`Codec::standard`].
///
/// # Errors
/// As [`Codec::from_slice`].
///
/// # Examples
/// ```
/// let numbers: Vec<u8> = tightwire_json::from_slice(b"[1, 2, 3]")?;
/// assert_eq!(numbers, [1, 2, 3]);
///
/// let error = tightwire_json::from_slice::<Vec<u8>>(b"[1, 2, 300]").unwrap_err();
/// assert!(error.is_data());
/// assert_eq!(error.offset(), Some(7));
/// # Ok::<(), tightwire_json::Error>(())
/// ```
pub fn from_slice<T: DeserializeOwned>(document: &[u8]) -> Result<T> {
    Codec::standard().from_slice(document)
}

/// Decodes a document that may be borrowed from, as [`Codec::from_str`] with [`Codec::standard`].
///
/// # Errors
/// As [`Codec::from_slice`].
///
/// # Examples
/// ```
/// let words: Vec<&str> = tightwire_json::from_str(r#"["a", "b"]"#)?;
/// assert_eq!(words, ["a", "b"]);
/// # Ok::<(), tightwire_json::Error>(())
/// ```
pub fn from_str<'a, T: Deserialize<'a>>(document: &'a str) -> Result<T> {
    Codec::standard().from_str(document)
}

/// Decodes a document that may be borrowed from, as [`Codec::from_slice_borrowed`] with [`Codec::standard`].
///
/// # Errors
/// As [`Codec::from_slice_borrowed`].
pub fn from_slice_borrowed<'a, T: Deserialize<'a>>(document: &'a [u8]) -> Result<T> {
    Codec::standard().from_slice_borrowed(document)
}

/// Decodes a document that may be borrowed from and overwritten, as [`Codec::from_slice_mut`] with
/// [`Codec::standard`].
///
/// # Errors
/// As [`Codec::from_slice`].
///
/// # Examples
/// ```
/// let mut document = *br#"["tab\t", "\u263a"]"#;
/// let words: Vec<&str> = tightwire_json::from_slice_mut(&mut document)?;
/// assert_eq!(words, ["tab\t", "\u{263a}"]);
/// # Ok::<(), tightwire_json::Error>(())
/// ```
pub fn from_slice_mut<'a, T: Deserialize<'a>>(document: &'a mut [u8]) -> Result<T> {
    Codec::standard().from_slice_mut(document)
}

/// Reads to the end, then decodes, as [`Codec::from_reader`] with [`Codec::standard`].
///
/// # Errors
/// As [`Codec::from_reader`].
pub fn from_reader<R: Read, T: DeserializeOwned>(reader: R) -> Result<T> {
    Codec::standard().from_reader(reader)
}

/// Whether `document` is JSON in UTF-8 within the default limits.
///
/// # Examples
/// ```
/// assert!(tightwire_json::is_valid(b" {\"a\": [1e400, null]} "));
/// assert!(!tightwire_json::is_valid(b"{\"a\": 01}"));
/// assert!(!tightwire_json::is_valid(b"\"\xff\""));
/// ```
pub fn is_valid(document: &[u8]) -> bool {
    Codec::standard().is_valid(document)
}

//! Interface for the package `serde_json` of this repository, which has the API of serde_json. Not part of the public API.

pub use crate::de::engine::{Number, NumberState, NumberStep, Tokens, unescape};
use crate::scan::{self, Json};
use crate::ser::{self, Plain, Pretty, Style};

/// Returns the document as text if it is UTF-8.
#[inline]
pub fn text(document: &[u8]) -> Option<&str> {
    crate::de::utf8_or_none(document)
}

/// Returns the index of the first quote, backslash or control character at or after `from`, or the length of `bytes`.
#[inline]
pub fn special(bytes: &[u8], from: usize) -> usize {
    scan::find(bytes, from)
}

/// Same as [`text`] for a document that is owned.
pub fn into_text(document: Vec<u8>) -> Option<String> {
    scan::into_text(document)
}

/// Returns a vector for a document, with the capacity that the last documents of the thread needed.
#[inline]
pub fn new_document() -> Vec<u8> {
    ser::new_vec()
}

/// Records the length of a finished document, and releases memory if less than half of its capacity is used.
#[inline]
pub fn finish_document(document: &mut Vec<u8>) {
    ser::record_len(document);
}

/// Appends `text` in quotes.
#[inline(always)]
pub fn push_string(out: &mut Vec<u8>, text: &str) {
    scan::push_string::<Json>(out, text);
}

/// Appends `text` in quotes with a colon after it and, if `comma`, a comma before it.
#[inline(always)]
pub fn push_entry(out: &mut Vec<u8>, comma: bool, text: &str) {
    scan::push_entry::<Json>(out, comma, text);
}

/// Appends `text` with its escapes and without quotes.
pub fn push_body(out: &mut Vec<u8>, text: &str) {
    scan::push_body::<Json>(out, text);
}

/// Appends a line break and two spaces per level.
#[inline(always)]
pub fn push_line(out: &mut Vec<u8>, level: usize) {
    Pretty::TWO_SPACES.push_line(out, level);
}

/// Appends an integer.
#[inline(always)]
pub fn push_unsigned(out: &mut Vec<u8>, value: u64) {
    ser::push_unsigned(out, value);
}

/// Appends an integer.
#[inline(always)]
pub fn push_signed(out: &mut Vec<u8>, value: i64) {
    ser::push_signed(out, value);
}

/// Appends a finite number.
#[inline(always)]
pub fn push_f32(out: &mut Vec<u8>, value: f32) {
    Plain::push_f32(out, value);
}

/// Appends a finite number.
#[inline(always)]
pub fn push_f64(out: &mut Vec<u8>, value: f64) {
    Plain::push_f64(out, value);
}

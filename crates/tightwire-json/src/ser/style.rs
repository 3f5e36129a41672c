//! The output styles.

use base64_simd::STANDARD;
use serde::ser::Serializer as _;

use super::sort::Order;
use super::{VecSerializer, number};
use crate::error::Result;
use crate::functions::INDENT;
use crate::scan::{Html, Json, Set, push_block};

/// Differences between the output styles. The defaults are those of serde_json.
pub(crate) trait Style: Sized {
    /// Characters to escape.
    type Set: Set;
    /// Order of the entries of maps, `None` for the order of iteration.
    const MAPS: Option<Order> = None;
    /// Order of the fields of structs, `None` for the order of declaration.
    const STRUCTS: Option<Order> = None;
    /// Whether integers that are not exact as a double are errors, and raw values are rewritten in this style.
    const CANONICAL: bool = false;
    /// Whether each element and entry has its own line, and a space follows the colon.
    const PRETTY: bool = false;

    /// Appends a finite number.
    #[inline]
    fn push_f32(out: &mut Vec<u8>, value: f32) {
        number::push_float32(out, value);
    }

    /// Appends a finite number.
    #[inline]
    fn push_f64(out: &mut Vec<u8>, value: f64) {
        number::push_float(out, value);
    }

    /// Appends a byte string.
    fn push_bytes(serializer: &mut VecSerializer<Self>, value: &[u8]) -> Result<()> {
        serializer.collect_seq(value)
    }

    /// Appends a line break and the indentation of a level.
    #[inline(always)]
    fn push_line(&self, _out: &mut Vec<u8>, _level: usize) {}
}

/// Output of serde_json.
#[derive(Debug)]
pub(crate) struct Plain;

/// Output of serde_json with line breaks.
#[derive(Debug)]
pub(crate) struct Pretty<'u> {
    /// Indentation of one level.
    unit: &'u str,
    /// Line break and the first bytes of the indentation.
    block: [u8; 32],
}

impl Pretty<'static> {
    pub(crate) const TWO_SPACES: Self = Self { unit: INDENT, block: *b"\n                               " };
}

impl<'u> Pretty<'u> {
    pub(crate) fn new(unit: &'u str) -> Self {
        let mut block = [b'\n'; 32];
        for (byte, space) in block[1..].iter_mut().zip(unit.bytes().cycle()) {
            *byte = space;
        }
        Self { unit, block }
    }
}

/// Output of Go's `encoding/json`.
#[derive(Debug)]
pub(crate) struct Go;

/// JSON Canonicalization Scheme (RFC 8785).
#[derive(Debug)]
pub(crate) struct Canonical;

impl Style for Plain {
    type Set = Json;
}

impl Style for Pretty<'_> {
    type Set = Json;
    const PRETTY: bool = true;

    #[inline(always)]
    fn push_line(&self, out: &mut Vec<u8>, level: usize) {
        let len = 1 + level * self.unit.len();
        if len <= self.block.len() {
            return push_block(out, self.block, len);
        }
        out.push(b'\n');
        for _ in 0..level {
            out.extend_from_slice(self.unit.as_bytes());
        }
    }
}

impl Style for Go {
    type Set = Html;
    const MAPS: Option<Order> = Some(Order::Bytes);

    fn push_f32(out: &mut Vec<u8>, value: f32) {
        let exponential = value != 0.0 && !(1e-6..1e21).contains(&value.abs());
        number::push_go_float(out, zmij::Buffer::new().format_finite(value), exponential);
    }

    fn push_f64(out: &mut Vec<u8>, value: f64) {
        let exponential = value != 0.0 && !(1e-6..1e21).contains(&value.abs());
        number::push_go_float(out, zmij::Buffer::new().format_finite(value), exponential);
    }

    /// Go writes `[]byte` in base64 (RFC 4648, section 4).
    fn push_bytes(serializer: &mut VecSerializer<Self>, value: &[u8]) -> Result<()> {
        serializer.out.push(b'"');
        STANDARD.encode_append(value, &mut serializer.out);
        serializer.out.push(b'"');
        Ok(())
    }
}

impl Style for Canonical {
    /// Only the escapes that are necessary (RFC 8785, section 3.2.2.2).
    type Set = Json;
    /// Keys are sorted by UTF-16 code units (RFC 8785, section 3.2.3).
    const MAPS: Option<Order> = Some(Order::Utf16);
    const STRUCTS: Option<Order> = Some(Order::Utf16);
    const CANONICAL: bool = true;

    fn push_f32(out: &mut Vec<u8>, value: f32) {
        Self::push_f64(out, f64::from(value));
    }

    /// Section 3.2.2.3. ECMAScript and Go write numbers alike, except for `-0`, which becomes `0` by the addition.
    fn push_f64(out: &mut Vec<u8>, value: f64) {
        Go::push_f64(out, value + 0.0);
    }
}

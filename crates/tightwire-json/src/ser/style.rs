//! The output styles.

use base64_simd::STANDARD;

use super::number;
use super::sort::Order;
use crate::scan::{Html, Json, Set, push_short};

/// Differences between the output styles.
pub(crate) trait Style {
    /// Characters to escape.
    type Set: Set;
    /// Order of the entries of maps, `None` for the order of iteration.
    const MAPS: Option<Order>;
    /// Order of the fields of structs, `None` for the order of declaration.
    const STRUCTS: Option<Order>;
    /// Whether integers that are not exact as a double are errors, and raw values are rewritten in this style.
    const CANONICAL: bool;
    /// Appends a finite number.
    fn push_f32(out: &mut Vec<u8>, value: f32);
    /// Appends a finite number.
    fn push_f64(out: &mut Vec<u8>, value: f64);
    /// Appends a byte string.
    fn push_bytes(out: &mut Vec<u8>, value: &[u8]);
}

/// Output of serde_json.
#[derive(Debug)]
pub(crate) struct Plain;

/// Output of Go's `encoding/json`.
#[derive(Debug)]
pub(crate) struct Go;

/// JSON Canonicalization Scheme (RFC 8785).
#[derive(Debug)]
pub(crate) struct Canonical;

impl Style for Plain {
    type Set = Json;
    const MAPS: Option<Order> = None;
    const STRUCTS: Option<Order> = None;
    const CANONICAL: bool = false;

    #[inline]
    fn push_f32(out: &mut Vec<u8>, value: f32) {
        push_short(out, zmij::Buffer::new().format_finite(value).as_bytes());
    }

    #[inline]
    fn push_f64(out: &mut Vec<u8>, value: f64) {
        number::push_float(out, value);
    }

    fn push_bytes(out: &mut Vec<u8>, value: &[u8]) {
        out.push(b'[');
        for (index, byte) in value.iter().enumerate() {
            if index != 0 {
                out.push(b',');
            }
            number::push_unsigned(out, u64::from(*byte));
        }
        out.push(b']');
    }
}

impl Style for Go {
    type Set = Html;
    const MAPS: Option<Order> = Some(Order::Bytes);
    const STRUCTS: Option<Order> = None;
    const CANONICAL: bool = false;

    fn push_f32(out: &mut Vec<u8>, value: f32) {
        let exponential = value != 0.0 && !(1e-6..1e21).contains(&value.abs());
        number::push_go_float(out, zmij::Buffer::new().format_finite(value), exponential);
    }

    fn push_f64(out: &mut Vec<u8>, value: f64) {
        let exponential = value != 0.0 && !(1e-6..1e21).contains(&value.abs());
        number::push_go_float(out, zmij::Buffer::new().format_finite(value), exponential);
    }

    /// Go writes `[]byte` in base64 (RFC 4648, section 4).
    fn push_bytes(out: &mut Vec<u8>, value: &[u8]) {
        out.push(b'"');
        STANDARD.encode_append(value, out);
        out.push(b'"');
    }
}

impl Style for Canonical {
    /// Section 3.2.2.2.
    type Set = Json;
    /// Section 3.2.3.
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

    fn push_bytes(out: &mut Vec<u8>, value: &[u8]) {
        Plain::push_bytes(out, value);
    }
}

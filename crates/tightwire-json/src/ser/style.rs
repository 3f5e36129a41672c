//! The two output styles.

use base64_simd::STANDARD;

use super::number;
use crate::scan::{Html, Json, Set, push_short};

/// Differences between the output styles.
pub(crate) trait Style {
    /// Characters to escape.
    type Set: Set;
    /// Whether map keys are sorted by their bytes.
    const SORTED: bool;
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

impl Style for Plain {
    type Set = Json;
    const SORTED: bool = false;

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
    const SORTED: bool = true;

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

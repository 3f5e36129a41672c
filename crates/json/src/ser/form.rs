//! The two ways to write the same value.

use super::number;
use crate::scan::{Html, Json, Set};

/// What differs between the forms.
pub(crate) trait Form {
    /// What is escaped.
    type Set: Set;
    /// Whether the keys of maps are written in the order of their bytes.
    const SORTED: bool;
    /// Appends a finite number.
    fn push_f32(out: &mut Vec<u8>, value: f32);
    /// Appends a finite number.
    fn push_f64(out: &mut Vec<u8>, value: f64);
    /// Appends a byte string.
    fn push_bytes(out: &mut Vec<u8>, value: &[u8]);
}

/// The bytes that serde_json writes.
#[derive(Debug)]
pub(crate) struct Plain;

/// The bytes that Go's `encoding/json` writes.
#[derive(Debug)]
pub(crate) struct Go;

impl Form for Plain {
    type Set = Json;
    const SORTED: bool = false;

    #[inline]
    fn push_f32(out: &mut Vec<u8>, value: f32) {
        out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
    }

    #[inline]
    fn push_f64(out: &mut Vec<u8>, value: f64) {
        out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
    }

    fn push_bytes(out: &mut Vec<u8>, value: &[u8]) {
        out.push(b'[');
        for (index, byte) in value.iter().enumerate() {
            if index != 0 {
                out.push(b',');
            }
            number::push_u64(out, (*byte).into());
        }
        out.push(b']');
    }
}

impl Form for Go {
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
        const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let sextet = |word: u32, shift: u32| ALPHABET[(word >> shift & 63) as usize];
        out.push(b'"');
        let (triples, rest) = value.as_chunks::<3>();
        for [a, b, c] in triples {
            let word = u32::from_be_bytes([0, *a, *b, *c]);
            out.extend_from_slice(&[sextet(word, 18), sextet(word, 12), sextet(word, 6), sextet(word, 0)]);
        }
        match rest {
            [a] => {
                let word = u32::from_be_bytes([0, *a, 0, 0]);
                out.extend_from_slice(&[sextet(word, 18), sextet(word, 12), b'=', b'=']);
            }
            [a, b] => {
                let word = u32::from_be_bytes([0, *a, *b, 0]);
                out.extend_from_slice(&[sextet(word, 18), sextet(word, 12), sextet(word, 6), b'=']);
            }
            _ => {}
        }
        out.push(b'"');
    }
}

//! Vectors of the layers below CLIXML.

#![allow(dead_code, unreachable_pub, reason = "every user takes its own part of this module")]

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// Returns the cases of a file.
pub fn load(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let text = std::fs::read_to_string(path).expect("the vectors are there");
    serde_json::from_str(&text).expect("the vectors are JSON")
}

/// Decodes hexadecimal digits.
pub fn hex(digits: &Value) -> Vec<u8> {
    let digits = digits.as_str().expect("text");
    assert!(digits.len().is_multiple_of(2));
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

/// Decodes Base64.
pub fn base64(text: &Value) -> Vec<u8> {
    STANDARD.decode(text.as_str().expect("text")).expect("Base64")
}

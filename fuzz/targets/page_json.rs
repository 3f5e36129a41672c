//! Parses arbitrary bytes as the JSON page of an index. An accepted page must be written as valid JSON.
#![no_main]
#![allow(dead_code, reason = "each target takes one of the checks")]

#[path = "../../crates/pypi-proxy/tests/support/page_model.rs"]
mod page_model;

libfuzzer_sys::fuzz_target!(|input: &[u8]| page_model::json(input));

//! Any bytes as the HTML page of an index: what is written of it reads the same, and nothing panics.
#![no_main]
#![allow(dead_code, reason = "each target takes one of the checks")]

#[path = "../../crates/pypi-proxy/tests/support/page_model.rs"]
mod page_model;

libfuzzer_sys::fuzz_target!(|input: &[u8]| page_model::html(input));

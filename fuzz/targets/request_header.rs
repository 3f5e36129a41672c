//! Parses arbitrary text as a request header. There must be a response, and ranges must be within the file.
#![no_main]
#![allow(dead_code, reason = "each target takes one of the checks")]

#[path = "../../crates/pypi-proxy/tests/support/page_model.rs"]
mod page_model;

libfuzzer_sys::fuzz_target!(|input: (u64, &str)| page_model::headers(input.1, input.0));

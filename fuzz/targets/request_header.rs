//! Parses arbitrary text as a request header. There must be a response, and ranges must be within the file.
#![no_main]
#![allow(dead_code, reason = "each target takes one of the checks")]

#[path = "../../crates/pypi-proxy/tests/support/page_twin.rs"]
mod page_twin;

libfuzzer_sys::fuzz_target!(|input: (u64, &str)| page_twin::headers(input.1, input.0));

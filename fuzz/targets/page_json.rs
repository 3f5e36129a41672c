//! Any bytes as the JSON page of an index: what is accepted is passed on as JSON, and nothing panics.
#![no_main]
#![allow(dead_code, reason = "each target takes one of the checks")]

#[path = "../../crates/pypi-proxy/tests/support/page_model.rs"]
mod page_model;

libfuzzer_sys::fuzz_target!(|input: &[u8]| page_model::json(input));

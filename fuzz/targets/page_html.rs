//! Parses arbitrary bytes as the HTML page of an index. A parsed page must survive a round trip.
#![no_main]
#![allow(dead_code, reason = "each target takes one of the checks")]

#[path = "../../crates/pypi-proxy/tests/support/page_model.rs"]
mod page_model;

libfuzzer_sys::fuzz_target!(|input: &[u8]| page_model::html(input));

//! Parses arbitrary bytes as the HTML page of an index. A parsed page must survive a round trip.
#![no_main]
#![allow(dead_code, reason = "each target takes one of the checks")]

#[path = "../../crates/pypi-proxy/tests/support/page_twin.rs"]
mod page_twin;

libfuzzer_sys::fuzz_target!(|input: &[u8]| page_twin::html(input));

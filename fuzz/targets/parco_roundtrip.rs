//! Values generated from the input must survive every way of encoding and decoding.
#![no_main]

#[path = "../../crates/tightwire-parco/tests/support/mod.rs"]
mod support;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Some((cuts, material)) = input.split_at_checked(3) {
        support::checks::check_round_trip(material, cuts);
    }
});

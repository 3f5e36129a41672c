//! The serde bridge of parco decodes arbitrary bytes as the derived decoder does, and encodes values made of the bytes as
//! the derived encoder does. The first bytes of the input choose the limits.
#![no_main]

#[path = "../../crates/tightwire-parco/tests/support/bridge.rs"]
mod bridge;
#[path = "../../crates/tightwire-parco/tests/support/mod.rs"]
mod support;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Some((choice, bytes)) = input.split_first_chunk::<5>() {
        bridge::check_bytes(bytes, *choice);
        bridge::check_round_trip(bytes);
    }
});

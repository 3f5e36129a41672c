//! Every event decoded from any bytes must round-trip.
#![no_main]

#[path = "../../crates/tightwire-sse/tests/support/reference.rs"]
mod reference;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Some((sizes, stream)) = input.split_at_checked(3) {
        reference::check_round_trip(stream, sizes);
    }
});

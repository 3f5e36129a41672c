//! Every decoded event must survive a round trip.
#![no_main]

#[path = "../../crates/tightwire-sse/tests/support/twin.rs"]
mod twin;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Some((cuts, stream)) = input.split_at_checked(3) {
        twin::check_round_trip(stream, cuts);
    }
});

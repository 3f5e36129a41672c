//! Any bytes in any chunks give what the standard's text gives. The first bytes of the input choose the chunks
//! and a limit of the size of events.
#![no_main]

#[path = "../../crates/tightwire-sse/tests/support/twin.rs"]
mod twin;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Some(([limit, cuts @ ..], stream)) = input.split_first_chunk::<5>() {
        twin::check_decoding(stream, cuts);
        twin::check_limit(stream, cuts, usize::from(*limit) + 1);
    }
});

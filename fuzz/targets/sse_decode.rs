//! Any bytes in any chunks give what the standard's text gives. The first bytes of the input choose the chunks.
#![no_main]

#[path = "../../crates/sse/tests/support/twin.rs"]
mod twin;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Some((cuts, stream)) = input.split_at_checked(3) {
        twin::check_decoding(stream, cuts);
    }
});

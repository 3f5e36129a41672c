//! Any bytes in any chunks: nothing panics, memory follows the input, and all ways of decoding agree. The first bytes
//! of the input choose the chunks.
#![no_main]

#[path = "../../crates/parco/tests/support/mod.rs"]
mod support;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Some((cuts, bytes)) = input.split_at_checked(3) {
        support::checks::check_bytes(bytes, cuts);
    }
});

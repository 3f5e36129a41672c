//! Decodes arbitrary bytes in arbitrary chunks. The result must equal that of a literal implementation of the standard.
//! The first bytes of the input choose the chunks and a limit of the event size.
#![no_main]

#[path = "../../crates/tightwire-sse/tests/support/twin.rs"]
mod twin;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Some(([limit, cuts @ ..], stream)) = input.split_first_chunk::<5>() {
        twin::check_decoding(stream, cuts);
        twin::check_limit(stream, cuts, usize::from(*limit) + 1);
    }
});

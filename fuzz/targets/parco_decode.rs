//! Decodes arbitrary bytes in arbitrary chunks. Memory must be proportional to the input, and all ways of decoding must
//! agree. The first bytes of the input choose the chunks and the limits.
#![no_main]

#[path = "../../crates/tightwire-parco/tests/support/mod.rs"]
mod support;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Some((choice, bytes)) = input.split_at_checked(8) {
        let (cuts, limits) = choice.split_at(3);
        support::checks::check_bytes(bytes, cuts);
        if let Ok(limits) = limits.try_into() {
            support::checks::check_limits(bytes, cuts, support::checks::limits(limits));
        }
    }
});

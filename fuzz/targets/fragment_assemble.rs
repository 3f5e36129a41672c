//! Any bytes in any chunks: both assemblers keep the rules of reassembly, and nothing panics. The first bytes of the input
//! choose the chunks.
#![no_main]

#[path = "../../crates/psrp/tests/support/fragment_twin.rs"]
mod fragment_twin;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Some((cuts, bytes)) = input.split_at_checked(3) {
        let sizes: Vec<_> = cuts.iter().map(|&cut| usize::from(cut)).collect();
        fragment_twin::check(bytes, &sizes, 1000);
    }
});

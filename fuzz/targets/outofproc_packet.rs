//! Any bytes in any chunks: packets do not depend on the chunks, what one line parses to is written and read again, and
//! nothing panics. The first bytes of the input choose the chunks.
#![no_main]

#[path = "../../crates/psrp/tests/support/fragment_twin.rs"]
mod fragment_twin;
#[path = "../../crates/psrp/tests/support/packet_twin.rs"]
mod packet_twin;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Some((cuts, bytes)) = input.split_at_checked(3) {
        let sizes: Vec<_> = cuts.iter().map(|&cut| usize::from(cut)).collect();
        packet_twin::check(bytes, &fragment_twin::chunks(bytes, &sizes), 300);
    }
});

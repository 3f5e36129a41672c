//! Parses arbitrary bytes in arbitrary chunks with an arbitrary limit. Packets must not depend on the chunks and must
//! survive a round trip. The first bytes of the input choose the chunks and the limit.
#![no_main]

#[path = "../../crates/psrp/tests/support/fragment_twin.rs"]
mod fragment_twin;
#[path = "../../crates/psrp/tests/support/packet_twin.rs"]
mod packet_twin;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Some((&[max, ref cuts @ ..], bytes)) = input.split_first_chunk::<4>() {
        let sizes: Vec<_> = cuts.iter().map(|&cut| usize::from(cut)).collect();
        packet_twin::check(bytes, &fragment_twin::chunks(bytes, &sizes), usize::from(max) * 2);
    }
});

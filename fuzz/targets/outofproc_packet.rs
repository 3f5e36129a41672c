//! Parses arbitrary bytes in arbitrary chunks with an arbitrary limit. Packets must not depend on the chunks and must
//! survive a round trip. The first bytes of the input choose the chunks and the limit.
#![no_main]

#[path = "../../crates/psrp/tests/support/fragment_reference.rs"]
mod fragment_reference;
#[path = "../../crates/psrp/tests/support/packet_reference.rs"]
mod packet_reference;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Some((&[max, ref cuts @ ..], bytes)) = input.split_first_chunk::<4>() {
        let sizes: Vec<_> = cuts.iter().map(|&cut| usize::from(cut)).collect();
        packet_reference::check(bytes, &fragment_reference::chunks(bytes, &sizes), usize::from(max) * 2);
    }
});

//! Any bytes in any chunks with any limit: packets do not depend on the chunks, what one line parses to is written and read
//! again, and nothing panics. The first bytes of the input choose the chunks and the limit.
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

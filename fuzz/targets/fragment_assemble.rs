//! Reassembles arbitrary bytes in arbitrary chunks with an arbitrary limit. The assemblers must follow the rules of
//! reassembly. The first bytes of the input choose the chunks and the limit.
#![no_main]

#[path = "../../crates/psrp/tests/support/fragment_reference.rs"]
mod fragment_reference;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Some((&[max, ref cuts @ ..], bytes)) = input.split_first_chunk::<4>() {
        let sizes: Vec<_> = cuts.iter().map(|&cut| usize::from(cut)).collect();
        fragment_reference::check(bytes, &sizes, usize::from(max) * 4);
    }
});

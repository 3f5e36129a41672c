//! Compares the decoder with the reference decoder, for any bytes in any chunks. The first bytes of the input set the
//! sizes of the chunks and the maximum size of an event.
#![no_main]

#[path = "../../crates/tightwire-sse/tests/support/reference.rs"]
mod reference;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Some(([limit, sizes @ ..], stream)) = input.split_first_chunk::<5>() {
        reference::check_decoding(stream, sizes);
        reference::check_limit(stream, sizes, usize::from(*limit) + 1);
    }
});

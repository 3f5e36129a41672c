//! Lower bounds: operations limited by the machine or a library.

use std::hint::black_box;

use base64_simd::{Out, STANDARD};
use quick_xml::Reader;
use quick_xml::events::Event;

/// Copies the encoded bytes to a new buffer. Returns their length.
pub fn copy_to_new(bytes: &[u8]) -> u64 {
    black_box(black_box(bytes).to_vec()).len() as u64
}

/// Encodes data to a reused buffer that is large enough. Returns the length of the text.
pub fn base64(data: &[u8], buffer: &mut [u8]) -> u64 {
    black_box(STANDARD.encode(black_box(data), Out::from_slice(buffer))).len() as u64
}

/// Counts the events of a document without inspecting them. Returns 0 if it is not well-formed.
pub fn events(document: &[u8]) -> u64 {
    let mut reader = Reader::from_reader(black_box(document));
    let mut count = 0;
    loop {
        match reader.read_event() {
            Ok(Event::Eof) => return count,
            Ok(event) => {
                black_box(&event);
                count += 1;
            }
            Err(_) => return 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_return_their_results() {
        assert_eq!(copy_to_new(b"abc"), 3);
        assert_eq!(base64(b"abcd", &mut [0; 8]), 8);
        assert_eq!(events(b"<a><b /> </a>"), 4);
        assert_eq!(events(b"<a></b>"), 0);
    }
}

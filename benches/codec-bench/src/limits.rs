//! Lower bounds for the time of an encoder on this machine.

use std::collections::HashMap;
use std::hint::black_box;

/// Copies the encoded payload to a reused buffer and returns its length.
pub fn copy(payload: &[u8], buffer: &mut Vec<u8>) -> u64 {
    buffer.clear();
    buffer.extend_from_slice(black_box(payload));
    black_box(&*buffer).len() as u64
}

/// Visits every entry of the map and returns the sum of the first bytes of the keys.
pub fn visit(map: &HashMap<String, u8>) -> u64 {
    black_box(map).keys().map(|key| key.as_bytes().first().map_or(0, |&byte| u64::from(byte))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_process_every_byte() {
        assert_eq!(copy(b"abc", &mut vec![0; 9]), 3);
        let map = HashMap::from([("1".to_owned(), 7), ("20".to_owned(), 8)]);
        assert_eq!(visit(&map), u64::from(b'1') + u64::from(b'2'));
    }
}

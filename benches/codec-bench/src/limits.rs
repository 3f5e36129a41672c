//! What the machine allows an encoder.

use std::collections::HashMap;
use std::hint::black_box;

/// Copies the finished payload to a buffer that is kept, and gives its length.
pub fn copy(payload: &[u8], buffer: &mut Vec<u8>) -> u64 {
    buffer.clear();
    buffer.extend_from_slice(black_box(payload));
    black_box(&*buffer).len() as u64
}

/// Visits every entry of the map, touching the first byte of its key, and gives their sum.
pub fn visit(map: &HashMap<String, u8>) -> u64 {
    black_box(map).keys().map(|key| key.as_bytes().first().map_or(0, |&byte| u64::from(byte))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_touch_what_they_say() {
        assert_eq!(copy(b"abc", &mut vec![0; 9]), 3);
        let map = HashMap::from([("1".to_owned(), 7), ("20".to_owned(), 8)]);
        assert_eq!(visit(&map), u64::from(b'1') + u64::from(b'2'));
    }
}

//! Copying of short text combined with the search for characters to escape.
//!
//! Most names and many values have few bytes. Separate calls for copying and searching would take longer than both do
//! here, with one or two possibly overlapping loads and stores.

/// Maximum length of a short text, in bytes.
pub(super) const SHORT: usize = 32;

/// Copies bytes into an array at an offset.
#[inline(always)]
pub(super) fn put<const N: usize, const M: usize>(to: &mut [u8; N], at: usize, bytes: &[u8; M]) {
    to[at..at + M].copy_from_slice(bytes);
}

/// Copies at most [`SHORT`] bytes into an array at an offset. Returns true if none of them may need an escape.
///
/// # Panics
///
/// Panics if the bytes do not fit.
#[inline(always)]
pub(super) fn copy<const N: usize>(text: &[u8], to: &mut [u8; N], at: usize) -> bool {
    debug_assert!(text.len() <= SHORT, "text is too long to be copied completely");
    let found = if let (Some(first), Some(last)) = (text.first_chunk::<16>(), text.last_chunk::<16>()) {
        put(to, at, first);
        put(to, at + text.len() - 16, last);
        let ([a, b], [c, d]) = (halves(first), halves(last));
        special_bits(a) | special_bits(b) | special_bits(c) | special_bits(d)
    } else if let (Some(first), Some(last)) = (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        put(to, at, first);
        put(to, at + text.len() - 8, last);
        special_bits(u64::from_le_bytes(*first)) | special_bits(u64::from_le_bytes(*last))
    } else if let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        put(to, at, first);
        put(to, at + text.len() - 4, last);
        special_bits(u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32)
    } else if let [first, .., last] = text {
        put(to, at, &[*first, text[1]]);
        put(to, at + text.len() - 1, &[*last]);
        let [first, second, last] = [*first, text[1], *last].map(u64::from);
        special_bits(SPACES << 24 | last << 16 | second << 8 | first)
    } else if let [only] = text {
        put(to, at, &[*only]);
        special_bits(SPACES << 8 | u64::from(*only))
    } else {
        0
    };
    found == 0
}

fn halves(bytes: &[u8; 16]) -> [u64; 2] {
    let bytes = u128::from_le_bytes(*bytes);
    [bytes as u64, (bytes >> 64) as u64]
}

const LOW: u64 = u64::from_le_bytes([1; 8]);
const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
/// Eight bytes that need no escape.
pub(super) const SPACES: u64 = u64::from_le_bytes([b' '; 8]);

/// Returns a word with the high bit of each byte set that may need an escape: control characters, `"`, `&`, `<`, `>`,
/// `_` and all non-ASCII bytes. The bits after the first non-ASCII byte are undefined.
#[inline(always)]
pub(super) fn special_bits(word: u64) -> u64 {
    // The sum of two numbers below 0x80 sets the high bit for the larger ones and does not carry into the next byte.
    let all = |byte: u8| LOW * u64::from(byte);
    let differs = |with: u8, from: u8| ((word | all(with)) ^ all(from)).wrapping_add(all(0x7F));
    let plain = word.wrapping_add(all(0x60)) // below the space
        & differs(0x04, b'&') // also the quote
        & differs(0x02, b'>') // also the other bracket
        & differs(0x20, 0x7F); // also the underscore
    (!plain | word) & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_copied_and_checked() {
        for len in 0..=SHORT {
            let mut text: Vec<u8> = (b'a'..).take(26).cycle().take(len).collect();
            for at in 0..len {
                for byte in 0..=u8::MAX {
                    let before = std::mem::replace(&mut text[at], byte);
                    let mut copied = [0; SHORT + 2];
                    let is_special = matches!(byte, ..0x20 | b'"' | b'&' | b'<' | b'>' | b'_' | 0x7F..);
                    assert_eq!(copy(&text, &mut copied, 1), !is_special, "{byte} at {at} of {len}");
                    assert_eq!(copied[1..=len], text);
                    assert_eq!((copied[0], copied[len + 1]), (0, 0));
                    text[at] = before;
                }
            }
            assert!(copy(&text, &mut [0; SHORT], 0));
        }
    }
}

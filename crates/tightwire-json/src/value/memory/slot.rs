//! Values and keys as words, compared with the text of a document.

use std::slice;

use super::{INLINE, Slot, VIEW, Word};
use crate::scan;

/// Returns the second byte of a text: its length, or [`VIEW`].
#[inline(always)]
pub(super) fn len_byte(text: &Slot) -> usize {
    usize::from((u64::from_le(text[0].bits()) >> 8) as u8)
}

/// Returns the text of a key.
pub(super) fn text(key: &Slot) -> &[u8] {
    match len_byte(key) {
        // SAFETY: `push_copy` has written a pointer and the length. The pointer is to a text in the memory, or a kept one.
        len if len == usize::from(VIEW) => unsafe { slice::from_raw_parts(key[1].0, key[2].bits() as usize) },
        // SAFETY: at most `INLINE` bytes follow the tag and the length, and all of them are initialized.
        len => unsafe { slice::from_raw_parts(key.as_ptr().cast::<u8>().add(2), len) },
    }
}

/// Returns whether two keys certainly are the same text.
#[inline(always)]
pub(super) fn is_same(left: &Slot, right: &Slot) -> bool {
    let [first, second, third] = [0, 1, 2].map(|at| left[at].bits() ^ right[at].bits());
    match len_byte(left) == usize::from(VIEW) {
        false => (first | second | third) == 0,
        true => text(left) == text(right),
    }
}

/// Returns a hash of a key.
#[inline(always)]
pub(super) fn hash(key: &Slot) -> u64 {
    let [first, second, third] = match len_byte(key) {
        len if len == usize::from(VIEW) => {
            let text = text(key);
            let word = |bytes: Option<&[u8; 8]>| bytes.copied().map_or(0, u64::from_le_bytes);
            [text.len() as u64, word(text.first_chunk()), word(text.last_chunk())]
        }
        _ => key.map(Word::bits),
    };
    let mixed = first ^ second.rotate_left(23).wrapping_mul(0xc2b2_ae3d_27d4_eb4f) ^ third.rotate_left(47);
    mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Returns whether the masked words of a document are the text of a key. The two bytes before the text differ.
#[inline(always)]
pub(super) fn is_text(key: &Slot, words: [u64; 3]) -> bool {
    let [first, second, third] = key.map(|word| u64::from_le(word.bits()));
    // Two words as one number remain in general registers; the compiler would extract both halves of a vector.
    let rest = |second: u64, third: u64| u128::from(second) | u128::from(third) << 64;
    ((first ^ words[0]) >> 16 == 0) & (rest(second, third) == rest(words[1], words[2]))
}

/// Returns the words from two bytes before `start` on.
#[inline(always)]
pub(super) fn words_before(bytes: &[u8], start: usize) -> Option<[u64; 3]> {
    scan::chunk(bytes, start.wrapping_sub(2)).map(words)
}

#[inline(always)]
pub(super) fn words(bytes: &[u8; 24]) -> [u64; 3] {
    let (words, _) = bytes.as_chunks::<8>();
    [words[0], words[1], words[2]].map(u64::from_le_bytes)
}

/// By length of an inline text, masks for its words: ones for the two bytes before the text, and the text.
pub(super) static MASKS: [[u64; 3]; INLINE + 1] = {
    let mut masks = [[0; 3]; INLINE + 1];
    let mut len = 0;
    while len <= INLINE {
        let mut byte = 0;
        while byte < len + 2 {
            masks[len][byte / 8] |= 0xff << (8 * (byte % 8));
            byte += 1;
        }
        len += 1;
    }
    masks
};

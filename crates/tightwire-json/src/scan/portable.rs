//! Safe engine: eight bytes at a time in a general-purpose register.

use super::structure::by_blocks;
use super::{BLOCK, PART, Set, digits_of};

const ONES: u64 = 0x0101_0101_0101_0101;
const LOW_BITS: u64 = 0x7f7f_7f7f_7f7f_7f7f;

/// Sets the top bit of every zero byte of `word` and clears all other bits. The addition cannot carry into the next
/// byte, so that the result is exact for every byte.
#[inline(always)]
fn zero(word: u64) -> u64 {
    !(((word & LOW_BITS) + LOW_BITS) | word | LOW_BITS)
}

#[inline(always)]
fn equal(word: u64, byte: u8) -> u64 {
    zero(word ^ (u64::from(byte) * ONES))
}

/// Sets the top bit of every special byte of `word` and clears all other bits.
#[inline(always)]
fn special<S: Set>(word: u64) -> u64 {
    let mut tops = zero(word & (0xe0 * ONES)) | equal(word, b'"') | equal(word, b'\\');
    if S::HTML {
        tops |= equal(word, b'<') | equal(word, b'>');
        tops |= equal(word, b'&') | equal(word, 0xe2);
    }
    tops
}

/// Returns a mask whose bit `i` is the top bit of byte `i` of `tops`, applied to both halves of the block.
#[inline(always)]
fn gather(bytes: &[u8; BLOCK], tops: impl Fn(u64) -> u64) -> u32 {
    bytes.as_chunks::<8>().0.iter().rev().fold(0, |mask, half| {
        let tops = tops(u64::from_le_bytes(*half));
        mask << 8 | ((tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32
    })
}

#[inline(always)]
pub(crate) fn mask16<S: Set>(bytes: &[u8; BLOCK]) -> u32 {
    gather(bytes, special::<S>)
}

#[inline(always)]
pub(crate) fn digits(bytes: &[u8; BLOCK]) -> u32 {
    gather(bytes, |word| {
        let values = word ^ (0x30 * ONES);
        // Bytes above nine get a top bit, without a carry into the next byte.
        !(((values & LOW_BITS) + 0x76 * ONES) | values | LOW_BITS)
    })
}

#[inline(always)]
pub(crate) fn decimals(high: u32, low: u32) -> ([u8; BLOCK], u32) {
    let digits = u128::from(digits_of(high)) | u128::from(digits_of(low)) << 64;
    let digits = digits.to_le_bytes();
    let zeros = gather(&digits, zero);
    (digits.map(|digit| digit | b'0'), !zeros & 0xffff)
}

#[inline(always)]
pub(super) fn structure(part: &[u8; PART]) -> [u64; 4] {
    by_blocks(part, |bytes| {
        let mask = |byte| gather(bytes, |word| equal(word, byte));
        let brackets = gather(bytes, |word| {
            let braces = word | (0x20 * ONES);
            equal(braces, b'{') | equal(braces, b'}')
        });
        [mask(b'"'), mask(b'\\'), brackets, mask(b',')]
    })
}

#[inline(always)]
pub(crate) fn value(_bytes: &[u8; BLOCK], _count: usize) -> Option<u64> {
    None
}

#[inline(always)]
pub(crate) fn spaces(bytes: &[u8; BLOCK]) -> u32 {
    gather(bytes, |word| [b' ', b'\n', b'\r', b'\t'].iter().fold(0, |tops, byte| tops | equal(word, *byte)))
}

//! Vector engines of x86-64.

use core::arch::x86_64::*;

use super::structure::by_blocks;
use super::{BLOCK, Json, PART, Set, find_by_blocks};

/// Returns a mask whose bit `i` is set if byte `i` is special. Every x86-64 processor has SSE2.
#[inline(always)]
pub(crate) fn mask16<S: Set>(bytes: &[u8; BLOCK]) -> u32 {
    // SAFETY: the load reads the 16 bytes that the reference covers and needs no alignment; SSE2 is part of the
    // x86-64 baseline, so that all of these instructions exist.
    unsafe {
        let bytes = _mm_loadu_si128(bytes.as_ptr().cast::<__m128i>());
        let equal = |byte: u8| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte.cast_signed()));
        let control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
        let mut special = _mm_or_si128(control, _mm_or_si128(equal(b'"'), equal(b'\\')));
        if S::HTML {
            special = _mm_or_si128(special, _mm_or_si128(equal(b'<'), equal(b'>')));
            special = _mm_or_si128(special, _mm_or_si128(equal(b'&'), equal(0xe2)));
        }
        _mm_movemask_epi8(special).cast_unsigned()
    }
}

/// Returns a mask whose bit `i` is set if byte `i` is a decimal digit.
#[inline(always)]
pub(crate) fn digits(bytes: &[u8; BLOCK]) -> u32 {
    // SAFETY: as in `mask16`.
    unsafe {
        let bytes = _mm_loadu_si128(bytes.as_ptr().cast::<__m128i>());
        // Moves the digits to the ten largest signed numbers.
        let moved = _mm_add_epi8(bytes, _mm_set1_epi8(i8::MAX - b'9'.cast_signed()));
        _mm_movemask_epi8(_mm_cmpgt_epi8(moved, _mm_set1_epi8(i8::MAX - 10))).cast_unsigned()
    }
}

/// White space characters, each at the index of its lower four bits.
const SPACES: &[u8; BLOCK] = b" \0\0\0\0\0\0\0\0\t\n\0\0\r\0\0";

/// Returns a mask whose bit `i` is set if byte `i` is white space.
#[inline(always)]
pub(crate) fn spaces(bytes: &[u8; BLOCK]) -> u32 {
    // SAFETY: as in `mask16`; SSSE3 is used if the build requires it.
    unsafe {
        let bytes = _mm_loadu_si128(bytes.as_ptr().cast::<__m128i>());
        if cfg!(target_feature = "ssse3") {
            // The lower half of each byte selects the only white space with this half.
            let table = _mm_loadu_si128(SPACES.as_ptr().cast::<__m128i>());
            return _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_shuffle_epi8(table, bytes))).cast_unsigned();
        }
        let equal = |byte: u8| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte.cast_signed()));
        let lines = _mm_or_si128(equal(b'\n'), equal(b'\r'));
        let spaces = _mm_or_si128(equal(b' '), equal(b'\t'));
        _mm_movemask_epi8(_mm_or_si128(lines, spaces)).cast_unsigned()
    }
}

/// Returns the value of the first `count` digits of a block, from 1 to 16; `None` if the build has no SSSE3.
#[inline(always)]
pub(crate) fn value(bytes: &[u8; BLOCK], count: usize) -> Option<u64> {
    /// Moves the digits to the end, and fills with zeros in front.
    const ORDER: &[u8; 2 * BLOCK] = &{
        let mut order = [0x80; 2 * BLOCK];
        let mut at = 0;
        while at < BLOCK {
            order[BLOCK + at] = at as u8;
            at += 1;
        }
        order
    };
    if !cfg!(target_feature = "ssse3") {
        return None;
    }
    let order = super::chunk::<BLOCK>(ORDER, count)?;
    // SAFETY: as in `spaces`.
    unsafe {
        let bytes = _mm_loadu_si128(bytes.as_ptr().cast::<__m128i>());
        let digits = _mm_sub_epi8(bytes, _mm_set1_epi8(b'0'.cast_signed()));
        let digits = _mm_shuffle_epi8(digits, _mm_loadu_si128(order.as_ptr().cast::<__m128i>()));
        // Each step joins two neighbours. The first is multiplied by the power of ten in the lower half.
        let pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(1 << 8 | 10));
        let fours = _mm_madd_epi16(pairs, _mm_set1_epi32(1 << 16 | 100));
        let fours = _mm_packs_epi32(fours, fours);
        let eights = _mm_cvtsi128_si64(_mm_madd_epi16(fours, _mm_set1_epi32(1 << 16 | 10_000)));
        let eights = eights.cast_unsigned();
        Some((eights & 0xffff_ffff) * 100_000_000 + (eights >> 32))
    }
}

/// Returns masks whose bit `i` is set if byte `i` is a quote, a backslash, a bracket, or a comma.
#[inline(always)]
pub(super) fn structure(part: &[u8; PART]) -> [u64; 4] {
    // SAFETY: as in `mask16`.
    by_blocks(part, |bytes| unsafe {
        let bytes = _mm_loadu_si128(bytes.as_ptr().cast::<__m128i>());
        let equal = |bytes, byte: u8| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte.cast_signed()));
        // Braces differ from brackets in this bit.
        let braces = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
        let brackets = _mm_or_si128(equal(braces, b'{'), equal(braces, b'}'));
        [equal(bytes, b'"'), equal(bytes, b'\\'), brackets, equal(bytes, b',')]
            .map(|equal| _mm_movemask_epi8(equal).cast_unsigned())
    })
}

/// Returns the 16 digits of two numbers below 10^8, and a mask whose bit `i` is set if digit `i` is not zero.
#[inline(always)]
pub(crate) fn decimals(high: u32, low: u32) -> ([u8; BLOCK], u32) {
    // SAFETY: as in `mask16`; the store writes the 16 bytes of an array and needs no alignment.
    unsafe {
        let eights = _mm_set_epi32(0, low.cast_signed(), 0, high.cast_signed());
        // Divides by 10,000, exactly for all numbers of 32 bits, then by 100 and 10, exactly below 10,000 and 100.
        let thousands = _mm_srli_epi64::<45>(_mm_mul_epu32(eights, _mm_set1_epi64x(0xd1b7_1759)));
        let rest = _mm_sub_epi64(eights, _mm_mul_epu32(thousands, _mm_set1_epi64x(10_000)));
        let fours = _mm_or_si128(thousands, _mm_slli_epi64::<32>(rest));
        let hundreds = _mm_srli_epi16::<3>(_mm_mulhi_epu16(fours, _mm_set1_epi16(5243)));
        let rest = _mm_sub_epi16(fours, _mm_mullo_epi16(hundreds, _mm_set1_epi16(100)));
        let pairs = _mm_or_si128(hundreds, _mm_slli_epi32::<16>(rest));
        let tens = _mm_mulhi_epu16(pairs, _mm_set1_epi16(6554));
        let rest = _mm_sub_epi16(pairs, _mm_mullo_epi16(tens, _mm_set1_epi16(10)));
        let digits = _mm_or_si128(tens, _mm_slli_epi16::<8>(rest));
        let zeros = _mm_movemask_epi8(_mm_cmpeq_epi8(digits, _mm_setzero_si128()));
        let mut text = [0; BLOCK];
        let ascii = _mm_or_si128(digits, _mm_set1_epi8(b'0'.cast_signed()));
        _mm_storeu_si128(text.as_mut_ptr().cast::<__m128i>(), ascii);
        (text, !zeros.cast_unsigned() & 0xffff)
    }
}

/// Engine for 32 bytes at a time. A value proves that the processor has AVX2.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx2(());

impl Avx2 {
    /// Returns the engine if the processor has AVX2.
    #[inline(always)]
    pub(super) fn detect() -> Option<Self> {
        std::arch::is_x86_feature_detected!("avx2").then_some(Self(()))
    }

    /// Returns the index of the first special byte at or after `from`, or the length of `bytes`.
    #[inline(always)]
    pub(super) fn find(self, bytes: &[u8], from: usize) -> usize {
        #[target_feature(enable = "avx2")]
        fn run(bytes: &[u8], from: usize) -> usize {
            let mut at = from;
            while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk::<32>) {
                // SAFETY: the load reads the 32 bytes that the reference covers and needs no alignment.
                let block = unsafe { _mm256_loadu_si256(block.as_ptr().cast::<__m256i>()) };
                let quote = _mm256_cmpeq_epi8(block, _mm256_set1_epi8(b'"'.cast_signed()));
                let backslash = _mm256_cmpeq_epi8(block, _mm256_set1_epi8(b'\\'.cast_signed()));
                let control = _mm256_cmpeq_epi8(_mm256_min_epu8(block, _mm256_set1_epi8(0x1f)), block);
                let special = _mm256_or_si256(control, _mm256_or_si256(quote, backslash));
                let mask = _mm256_movemask_epi8(special).cast_unsigned();
                if mask != 0 {
                    return at + mask.trailing_zeros() as usize;
                }
                at += 32;
            }
            find_by_blocks::<Json>(bytes, at)
        }
        // SAFETY: `self` exists, so `detect` found AVX2.
        unsafe { run(bytes, from) }
    }
}

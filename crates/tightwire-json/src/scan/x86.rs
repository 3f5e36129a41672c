//! Vector engines of x86-64.

use core::arch::x86_64::{
    __m128i, __m256i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128,
    _mm_set1_epi8, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8,
    _mm256_or_si256, _mm256_set1_epi8,
};

use super::{BLOCK, Json, Set, find_by_blocks};

/// Returns a mask whose bit `i` is set if byte `i` is special. Every x86-64 processor has SSE2.
#[inline(always)]
pub(super) fn mask16<S: Set>(bytes: &[u8; BLOCK]) -> u32 {
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

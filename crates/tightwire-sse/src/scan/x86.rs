//! Vector engines of x86-64.

use core::arch::x86_64::{
    __m128i, __m256i, __m512i, _MM_HINT_T0, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128,
    _mm_prefetch, _mm_set1_epi8, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8,
    _mm256_or_si256, _mm256_set1_epi8, _mm512_cmpeq_epi8_mask, _mm512_loadu_si512, _mm512_maskz_loadu_epi8,
    _mm512_movepi8_mask, _mm512_set1_epi8,
};

use super::{BLOCK, Engine, Masks, Task};

/// Distance of the prefetch from the current block, in bytes. The hardware prefetcher does not keep up with a stream of
/// short events; the prefetch saves a fifth of the time on a stream of 50 MB.
const PREFETCH_DISTANCE: usize = 2048;

#[inline(always)]
fn prefetch(bytes: &[u8; BLOCK]) {
    let ahead = bytes.as_ptr().wrapping_add(PREFETCH_DISTANCE);
    // SAFETY: a prefetch is a hint: it does not access memory and cannot fault for any address. SSE is part of the
    // x86-64 baseline.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(ahead.cast::<i8>()) }
}

/// Engine for 16 bytes at a time. Every x86-64 processor has SSE2.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sse2;

#[inline(always)]
fn masks16(bytes: &[u8; 16]) -> Masks {
    // SAFETY: the load reads the 16 bytes that the reference covers and needs no alignment; SSE2 is part of
    // the x86-64 baseline, so that all of these instructions exist.
    let (eol, high) = unsafe {
        let bytes = _mm_loadu_si128(bytes.as_ptr().cast::<__m128i>());
        let lf = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\n'.cast_signed()));
        let cr = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\r'.cast_signed()));
        (_mm_movemask_epi8(_mm_or_si128(lf, cr)), _mm_movemask_epi8(bytes))
    };
    Masks { eol: u64::from(eol.cast_unsigned()), high: u64::from(high.cast_unsigned()) }
}

impl Engine for Sse2 {
    #[inline(always)]
    fn block(self, bytes: &[u8; BLOCK]) -> Masks {
        prefetch(bytes);
        let mut masks = Masks::default();
        for (index, part) in bytes.as_chunks::<16>().0.iter().enumerate() {
            masks = Masks::overlay(masks, masks16(part), 16 * index);
        }
        masks
    }

    #[inline(always)]
    fn tail(self, bytes: &[u8]) -> Masks {
        Masks::of_parts(bytes, masks16)
    }

    #[inline(never)]
    fn call<W: Task>(self, task: W) -> W::Output {
        task.run(self)
    }
}

/// Engine for 32 bytes at a time. A value proves that the processor has AVX2.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// Returns the engine if the processor supports it. Without `std`, only if the crate is compiled for it.
    #[inline(always)]
    pub(crate) fn detect() -> Option<Self> {
        #[cfg(feature = "std")]
        let found = std::arch::is_x86_feature_detected!("avx2");
        #[cfg(not(feature = "std"))]
        let found = cfg!(target_feature = "avx2");
        found.then_some(Self(()))
    }
}

#[inline(always)]
fn masks32(_proof: Avx2, bytes: &[u8; 32]) -> Masks {
    // SAFETY: the load reads the 32 bytes that the reference covers and needs no alignment; the processor has
    // AVX2 because `_proof` exists.
    let (eol, high) = unsafe {
        let bytes = _mm256_loadu_si256(bytes.as_ptr().cast::<__m256i>());
        let lf = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'\n'.cast_signed()));
        let cr = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'\r'.cast_signed()));
        (_mm256_movemask_epi8(_mm256_or_si256(lf, cr)), _mm256_movemask_epi8(bytes))
    };
    Masks { eol: u64::from(eol.cast_unsigned()), high: u64::from(high.cast_unsigned()) }
}

impl Engine for Avx2 {
    #[inline(always)]
    fn block(self, bytes: &[u8; BLOCK]) -> Masks {
        prefetch(bytes);
        let [low, high] = bytes.as_chunks::<32>().0 else { return Masks::default() };
        Masks::overlay(masks32(self, low), masks32(self, high), 32)
    }

    #[inline(always)]
    fn tail(self, bytes: &[u8]) -> Masks {
        if let (Some(first), Some(last)) = (bytes.first_chunk::<32>(), bytes.last_chunk::<32>()) {
            Masks::overlay(masks32(self, first), masks32(self, last), bytes.len() - 32)
        } else {
            Masks::of_parts(bytes, masks16)
        }
    }

    #[inline(always)]
    fn call<W: Task>(self, task: W) -> W::Output {
        #[target_feature(enable = "avx2")]
        fn run<W: Task>(engine: Avx2, task: W) -> W::Output {
            task.run(engine)
        }
        // SAFETY: `self` exists, so `detect` found AVX2.
        unsafe { run(self, task) }
    }
}

/// Engine for 64 bytes at a time. A value proves that the processor has AVX-512BW.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// Returns the engine if the processor supports it. Without `std`, only if the crate is compiled for it.
    #[inline(always)]
    pub(crate) fn detect() -> Option<Self> {
        #[cfg(feature = "std")]
        let found = std::arch::is_x86_feature_detected!("avx512bw");
        #[cfg(not(feature = "std"))]
        let found = cfg!(target_feature = "avx512bw");
        found.then_some(Self(()))
    }

    #[inline(always)]
    fn masks(self, bytes: __m512i) -> Masks {
        // SAFETY: the processor has AVX-512BW because `self` exists; the instructions do not access memory.
        unsafe {
            let lf = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b'\n'.cast_signed()));
            let cr = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b'\r'.cast_signed()));
            Masks { eol: lf | cr, high: _mm512_movepi8_mask(bytes) }
        }
    }
}

impl Engine for Avx512 {
    #[inline(always)]
    fn block(self, bytes: &[u8; BLOCK]) -> Masks {
        prefetch(bytes);
        // SAFETY: the load reads the 64 bytes that the reference covers and needs no alignment; the processor
        // has AVX-512F because `self` exists.
        let bytes = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast::<__m512i>()) };
        self.masks(bytes)
    }

    #[inline(always)]
    fn tail(self, bytes: &[u8]) -> Masks {
        let count = bytes.len().min(BLOCK - 1);
        // SAFETY: the mask has one bit per byte of the slice, at most 63, and a masked load does not access the
        // bytes whose bit is clear; the processor has AVX-512BW because `self` exists.
        let bytes = unsafe { _mm512_maskz_loadu_epi8((1 << count) - 1, bytes.as_ptr().cast::<i8>()) };
        self.masks(bytes)
    }

    #[inline(always)]
    fn call<W: Task>(self, task: W) -> W::Output {
        #[target_feature(enable = "avx512f,avx512bw")]
        fn run<W: Task>(engine: Avx512, task: W) -> W::Output {
            task.run(engine)
        }
        // SAFETY: `self` exists, so `detect` found AVX-512BW, which implies AVX-512F.
        unsafe { run(self, task) }
    }
}

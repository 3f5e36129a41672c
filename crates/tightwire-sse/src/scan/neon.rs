//! Vector engine of AArch64.

use core::arch::aarch64::*;

use super::{BLOCK, Engine, Masks, Task};

/// Engine for 64 bytes at a time. The module exists only for targets whose processors all have NEON.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Neon;

/// Returns 0xff for each line end, and zero for all other bytes.
#[inline(always)]
fn eol(bytes: uint8x16_t) -> uint8x16_t {
    /// Line ends by their value. The first entry differs from NUL.
    const LINE_ENDS: &[u8; 16] = b"\x01\0\0\0\0\0\0\0\0\0\n\0\0\r\0\0";
    // SAFETY: the target has NEON; the load reads the 16 bytes of an array.
    unsafe {
        // The lookup returns zero for bytes above 15.
        vceqq_u8(vqtbl1q_u8(vld1q_u8(LINE_ENDS.as_ptr()), bytes), bytes)
    }
}

/// Returns a mask of the top bits of 64 bytes: bit `4 * i + n` is that of byte `i` of vector `n`.
#[inline(always)]
fn gather([a, b, c, d]: [uint8x16_t; 4]) -> u64 {
    // SAFETY: the target has NEON.
    unsafe {
        // The upper half of each byte becomes four bits of the mask.
        let halves = vsriq_n_u8::<2>(vsriq_n_u8::<1>(d, c), vsriq_n_u8::<1>(b, a));
        let both = vreinterpretq_u16_u8(vsriq_n_u8::<4>(halves, halves));
        vget_lane_u64::<0>(vreinterpret_u64_u8(vshrn_n_u16::<4>(both)))
    }
}

/// Returns a mask whose bit `i` is set if byte `i` is 0xff. All other bytes are zero.
#[inline(always)]
fn gather16(bytes: uint8x16_t) -> u64 {
    /// Moves the two middle bits of each number to their place in the mask.
    const SHIFTS: [i16; 8] = [-7, -5, -3, -1, 1, 3, 5, 7];
    // SAFETY: the target has NEON; the load reads the eight numbers of an array.
    u64::from(unsafe {
        let pairs = vandq_u16(vreinterpretq_u16_u8(bytes), vdupq_n_u16(0x0180));
        vaddvq_u16(vshlq_u16(pairs, vld1q_s16(SHIFTS.as_ptr())))
    })
}

#[inline(always)]
fn masks16(bytes: &[u8; 16]) -> Masks {
    // SAFETY: the target has NEON; the load reads the 16 bytes that the reference covers.
    let (bytes, high) = unsafe {
        let bytes = vld1q_u8(bytes.as_ptr());
        (bytes, vcltzq_s8(vreinterpretq_s8_u8(bytes)))
    };
    Masks { eol: gather16(eol(bytes)), high: gather16(high) }
}

impl Engine for Neon {
    #[inline(always)]
    fn block(self, bytes: &[u8; BLOCK]) -> Masks {
        // SAFETY: the target has NEON; the load reads the 64 bytes that the reference covers, one of four to each vector.
        let uint8x16x4_t(a, b, c, d) = unsafe { vld4q_u8(bytes.as_ptr()) };
        Masks { eol: gather([eol(a), eol(b), eol(c), eol(d)]), high: gather([a, b, c, d]) }
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

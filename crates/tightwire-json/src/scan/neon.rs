//! Vector engine of AArch64, of which every processor has NEON.

use core::arch::aarch64::*;

pub(crate) use super::portable::{decimals, value};
use super::{BLOCK, Json, PART, Set, chunk};

/// Returns a mask of the top bits of 64 bytes: bit `4 * i + n` is that of byte `i` of vector `n`.
#[inline(always)]
fn gather([a, b, c, d]: [uint8x16_t; 4]) -> u64 {
    // SAFETY: every AArch64 processor has NEON.
    unsafe {
        // The upper half of each byte becomes four bits of the mask.
        let halves = vsriq_n_u8::<2>(vsriq_n_u8::<1>(d, c), vsriq_n_u8::<1>(b, a));
        let both = vreinterpretq_u16_u8(vsriq_n_u8::<4>(halves, halves));
        vget_lane_u64::<0>(vreinterpret_u64_u8(vshrn_n_u16::<4>(both)))
    }
}

/// Returns a mask whose bit `i` is set if byte `i` is 0xff. All other bytes are zero.
#[inline(always)]
fn gather16(bytes: uint8x16_t) -> u32 {
    /// Moves the two middle bits of each number to their place in the mask.
    const SHIFTS: [i16; 8] = [-7, -5, -3, -1, 1, 3, 5, 7];
    // SAFETY: as in `gather`; the load reads the eight numbers of an array.
    u32::from(unsafe {
        let pairs = vandq_u16(vreinterpretq_u16_u8(bytes), vdupq_n_u16(0x0180));
        vaddvq_u16(vshlq_u16(pairs, vld1q_s16(SHIFTS.as_ptr())))
    })
}

#[inline(always)]
fn load(bytes: &[u8; BLOCK]) -> uint8x16_t {
    // SAFETY: as in `gather`; the load reads the 16 bytes that the reference covers.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

/// Loads a part as vectors for [`gather`].
#[inline(always)]
fn load_part(bytes: &[u8; PART]) -> [uint8x16_t; 4] {
    // SAFETY: as in `gather`; the load reads the 64 bytes that the reference covers.
    let uint8x16x4_t(a, b, c, d) = unsafe { vld4q_u8(bytes.as_ptr()) };
    [a, b, c, d]
}

/// Returns 0xff for each byte that equals `byte`, and zero for all others.
#[inline(always)]
fn equal(bytes: uint8x16_t, byte: u8) -> uint8x16_t {
    // SAFETY: as in `gather`.
    unsafe { vceqq_u8(bytes, vdupq_n_u8(byte)) }
}

#[inline(always)]
fn or(one: uint8x16_t, other: uint8x16_t) -> uint8x16_t {
    // SAFETY: as in `gather`.
    unsafe { vorrq_u8(one, other) }
}

#[inline(always)]
fn special<S: Set>(bytes: uint8x16_t) -> uint8x16_t {
    // SAFETY: as in `gather`.
    let control = unsafe { vcltq_u8(bytes, vdupq_n_u8(0x20)) };
    let special = or(control, or(equal(bytes, b'"'), equal(bytes, b'\\')));
    if S::HTML {
        let brackets = or(equal(bytes, b'<'), equal(bytes, b'>'));
        or(special, or(brackets, or(equal(bytes, b'&'), equal(bytes, 0xe2))))
    } else {
        special
    }
}

#[inline(always)]
pub(crate) fn mask16<S: Set>(bytes: &[u8; BLOCK]) -> u32 {
    gather16(special::<S>(load(bytes)))
}

#[inline(always)]
pub(crate) fn digits(bytes: &[u8; BLOCK]) -> u32 {
    // SAFETY: as in `gather`.
    gather16(unsafe { vcltq_u8(vsubq_u8(load(bytes), vdupq_n_u8(b'0')), vdupq_n_u8(10)) })
}

#[inline(always)]
pub(crate) fn spaces(bytes: &[u8; BLOCK]) -> u32 {
    /// White space characters, each at the index of its lower four bits.
    const SPACES: &[u8; BLOCK] = b" \0\0\0\0\0\0\0\0\t\n\0\0\r\0\0";
    let bytes = load(bytes);
    // SAFETY: as in `gather`.
    gather16(unsafe { vceqq_u8(vqtbl1q_u8(load(SPACES), vandq_u8(bytes, vdupq_n_u8(0xf))), bytes) })
}

#[inline(always)]
pub(super) fn structure(bytes: &[u8; PART]) -> [u64; 4] {
    let parts = load_part(bytes);
    let brackets = parts.map(|bytes| {
        // SAFETY: as in `gather`. Braces differ from brackets in this bit.
        let braces = or(bytes, unsafe { vdupq_n_u8(0x20) });
        or(equal(braces, b'{'), equal(braces, b'}'))
    });
    let mask = |byte| gather(parts.map(|bytes| equal(bytes, byte)));
    [mask(b'"'), mask(b'\\'), gather(brackets), mask(b',')]
}

/// Returns the offset of the first part at or after `from` that has a special byte or ends behind `bytes`.
#[inline(always)]
pub(super) fn skip_parts(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(part) = chunk::<PART>(bytes, at)
        && gather(load_part(part).map(special::<Json>)) == 0
    {
        at += PART;
    }
    at
}

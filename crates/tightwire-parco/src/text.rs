//! UTF-8 validation with a fast path for short ASCII strings, and copies of short strings.
//!
//! This module contains the decoder's `unsafe` code: a conversion that skips the validation of the standard library, and a
//! copy that does not call it, because the calls cost more than a short string. Invariant: every byte was checked to be
//! ASCII, or all of them to be UTF-8.

#![allow(unsafe_code, reason = "keys are mostly short strings; see the module documentation")]

#[cfg(feature = "alloc")]
use alloc::string::String;
#[cfg(feature = "alloc")]
use alloc::vec::Vec;

use crate::error::Fault;

/// Returns the bytes as a string, if they are UTF-8.
#[inline(always)]
pub(crate) fn text(bytes: &[u8]) -> Result<&str, Fault> {
    if is_short_ascii(bytes) {
        // SAFETY: all bytes are ASCII, which is UTF-8.
        Ok(unsafe { core::str::from_utf8_unchecked(bytes) })
    } else {
        checked(bytes)
    }
}

/// Returns a copy of the bytes as a string, if they are UTF-8.
#[cfg(feature = "alloc")]
#[inline(always)]
pub(crate) fn string(bytes: &[u8]) -> Result<String, Fault> {
    if bytes.len() > SHORT {
        return long_string(bytes);
    }
    // Copied first: a short string that is not UTF-8 is rare.
    let mut copied = Vec::with_capacity(bytes.len());
    // SAFETY: the vector has room for the bytes and does not overlap them.
    unsafe {
        copy(bytes, copied.as_mut_ptr());
        copied.set_len(bytes.len());
    }
    text(bytes)?;
    // SAFETY: the bytes are UTF-8.
    Ok(unsafe { String::from_utf8_unchecked(copied) })
}

#[cfg(feature = "alloc")]
#[inline(never)]
fn long_string(bytes: &[u8]) -> Result<String, Fault> {
    checked(bytes).map(Into::into)
}

#[inline(never)]
fn checked(bytes: &[u8]) -> Result<&str, Fault> {
    simdutf8::basic::from_utf8(bytes).map_err(|_| Fault::INVALID_UTF8)
}

/// Maximum length of a short string.
const SHORT: usize = 16;

/// Returns whether there are at most [`SHORT`] bytes and all are ASCII. The chunks that are checked may overlap.
#[inline(always)]
fn is_short_ascii(bytes: &[u8]) -> bool {
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    if let (Some(head), Some(tail)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        bytes.len() <= SHORT && (u64::from_le_bytes(*head) | u64::from_le_bytes(*tail)) & HIGH == 0
    } else if let (Some(head), Some(tail)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        u64::from(u32::from_le_bytes(*head) | u32::from_le_bytes(*tail)) & HIGH == 0
    } else if let [first, .., last] = bytes {
        // At most three bytes.
        (first | bytes[bytes.len() / 2] | last) < 0x80
    } else {
        bytes.first().is_none_or(|byte| *byte < 0x80)
    }
}

/// Copies a slice. Short slices are copied by overlapping moves instead of a call.
///
/// # Safety
///
/// `to` must be valid for writes of `bytes.len()` bytes and must not overlap the slice.
#[inline(always)]
pub(crate) unsafe fn copy(bytes: &[u8], to: *mut u8) {
    let len = bytes.len();
    let from = bytes.as_ptr();
    // SAFETY: every index is below `len`, by the range of each match arm.
    unsafe {
        match len {
            0 => {}
            1 => *to = *from,
            2..=3 => copy_ends::<2>(from, to, len),
            4..=7 => copy_ends::<4>(from, to, len),
            8..=16 => copy_ends::<8>(from, to, len),
            17..=32 => copy_ends::<16>(from, to, len),
            33..=64 => copy_ends::<32>(from, to, len),
            _ => core::ptr::copy_nonoverlapping(from, to, len),
        }
    }
}

/// Copies the first and the last `N` of `len` bytes.
///
/// # Safety
///
/// `N <= len`, and both pointers must be valid for `len` bytes.
#[inline(always)]
unsafe fn copy_ends<const N: usize>(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller upholds the contract.
    unsafe {
        to.cast::<[u8; N]>().write_unaligned(from.cast::<[u8; N]>().read_unaligned());
        let tail = from.add(len - N).cast::<[u8; N]>().read_unaligned();
        to.add(len - N).cast::<[u8; N]>().write_unaligned(tail);
    }
}

//! UTF-8 validation with a fast path for short ASCII strings.
//!
//! This module contains the decoder's `unsafe` code: a conversion that skips the validation of the standard library,
//! because the call costs more than checking a short string inline. Invariant: every byte was checked to be ASCII.

#![allow(unsafe_code, reason = "keys are mostly short strings; see the module documentation")]

use crate::error::Fault;

/// Returns the bytes as a string.
///
/// # Errors
///
/// Fails if they are not UTF-8.
#[inline(always)]
pub(crate) fn text(bytes: &[u8]) -> Result<&str, Fault> {
    if is_short_ascii(bytes) {
        // SAFETY: all bytes are ASCII, which is UTF-8.
        Ok(unsafe { core::str::from_utf8_unchecked(bytes) })
    } else {
        checked(bytes)
    }
}

#[inline(never)]
fn checked(bytes: &[u8]) -> Result<&str, Fault> {
    simdutf8::basic::from_utf8(bytes).map_err(|_| Fault::INVALID_UTF8)
}

/// Returns whether there are at most 16 bytes and all are ASCII. The chunks that are checked may overlap.
#[inline(always)]
fn is_short_ascii(bytes: &[u8]) -> bool {
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    if let (Some(head), Some(tail)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        bytes.len() <= 16 && (u64::from_le_bytes(*head) | u64::from_le_bytes(*tail)) & HIGH == 0
    } else if let (Some(head), Some(tail)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        u64::from(u32::from_le_bytes(*head) | u32::from_le_bytes(*tail)) & HIGH == 0
    } else if let [first, .., last] = bytes {
        // At most three bytes.
        (first | bytes[bytes.len() / 2] | last) < 0x80
    } else {
        bytes.first().is_none_or(|byte| *byte < 0x80)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    /// Compares with the validation of the standard library.
    fn agrees(bytes: &[u8]) {
        assert_eq!(text(bytes).ok(), core::str::from_utf8(bytes).ok());
        assert!(!is_short_ascii(bytes) || bytes.is_ascii());
        assert!(is_short_ascii(bytes) || bytes.len() > 16 || !bytes.is_ascii());
    }

    #[test]
    fn every_byte_of_short_strings_is_checked() {
        for len in 0..40 {
            let mut bytes: Vec<u8> = (0..len).collect();
            agrees(&bytes);
            for at in 0..bytes.len() {
                for wrong in [0x80, 0xc3, 0xff] {
                    let byte = core::mem::replace(&mut bytes[at], wrong);
                    agrees(&bytes);
                    bytes[at] = byte;
                }
            }
        }
    }

    proptest! {
        #[test]
        fn utf8_validation_matches_the_standard_library(bytes: Vec<u8>, text: String) {
            agrees(&bytes);
            agrees(text.as_bytes());
        }
    }
}

//! Search for special bytes, digits and white space, and copies, 16 to 64 bytes at a time.
//!
//! The decoder searches for the closing quote, a backslash or a control character, the encoder for the characters to
//! escape. [`find`] searches; [`push_string`] and [`push_unescaped`] search and copy in one pass.
//!
//! [`Structure`] searches for brackets and commas outside of strings: for the path of an error, and for the end of a value
//! that is decoded afterwards.
//!
//! The numbers of the decoder and encoder use [`digits`], [`decimals`] and [`push_block`].
//!
//! The `unsafe` code of this module: loads through `core::arch` and from offsets that are checked before, the call of a
//! function compiled for AVX2, stores into the spare capacity of a `Vec`, and conversions of bytes to text that are known to
//! be UTF-8. [`portable`] is the safe equivalent of the vector engines; property tests compare them.
#![allow(unsafe_code, reason = "vector loads and stores into spare capacity; see the module text")]

mod copy;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
#[cfg_attr(not(test), allow(dead_code, reason = "tests compare the vector engines with it"))]
mod portable;
mod structure;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use copy::{
    SHORT_ESCAPES, push_block, push_blocks, push_body, push_entry, push_string, push_unescaped,
};
pub(crate) use engine::{decimals, digits, mask16, spaces, value};
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
use neon as engine;
#[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))))]
use portable as engine;
pub(crate) use structure::{PART, Structure, Tokens};
#[cfg(target_arch = "x86_64")]
use x86 as engine;

/// Bytes per block.
pub(crate) const BLOCK: usize = 16;

/// Set of special bytes.
pub(crate) trait Set: Copy {
    /// Whether `<`, `>`, `&` and 0xE2, the first byte of U+2028 and U+2029, are special in addition to the quote, the
    /// backslash, and the control characters below 0x20.
    const HTML: bool;
}

/// Bytes that RFC 8259 (section 7) requires to be escaped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Json;

/// Bytes that start a character escaped by Go's encoder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Html;

impl Set for Json {
    const HTML: bool = false;
}

impl Set for Html {
    const HTML: bool = true;
}

/// Returns whether `byte` belongs to the set.
#[inline(always)]
fn is_special<S: Set>(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\' || (S::HTML && matches!(byte, b'<' | b'>' | b'&' | 0xe2))
}

/// Same as [`spaces`] for 32 bytes.
#[inline(always)]
pub(crate) fn spaces32(bytes: &[u8; 2 * BLOCK]) -> u32 {
    let (halves, _) = bytes.as_chunks::<BLOCK>();
    spaces(&halves[0]) | spaces(&halves[1]) << BLOCK
}

/// Returns the eight digits of a number below 10^8, the first one in the lowest byte. Divides all groups of digits in
/// parallel.
#[inline(always)]
pub(crate) fn digits_of(value: u32) -> u64 {
    let value = u64::from(value);
    let fours = (value / 10_000) | (value % 10_000) << 32;
    // 10,486 / 2^20 and 103 / 2^10 are slightly more than 1 / 100 and 1 / 10: exact for groups of four and two digits.
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let pairs = hundreds | (fours - hundreds * 100) << 16;
    let tens = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | (pairs - tens * 10) << 8
}

/// Returns the `N` bytes at the offset `at`, or `None` if fewer follow. Executes fewer instructions than two slices.
#[inline(always)]
pub(crate) fn chunk<const N: usize>(bytes: &[u8], at: usize) -> Option<&[u8; N]> {
    if at > bytes.len().checked_sub(N)? {
        return None;
    }
    // SAFETY: `at + N` is at most the length, and an array of bytes needs no alignment.
    Some(unsafe { &*bytes.as_ptr().add(at).cast::<[u8; N]>() })
}

/// Returns the text if all bytes are ASCII. Tests the last bytes as a block, which executes fewer instructions than
/// `is_ascii` for a document of a few hundred bytes.
#[inline]
pub(crate) fn ascii(bytes: &[u8]) -> Option<&str> {
    let (blocks, _) = bytes.as_chunks::<BLOCK>();
    let last = bytes.last_chunk::<BLOCK>().copied().unwrap_or_else(|| short(bytes));
    let all = blocks.iter().fold(u128::from_le_bytes(last), |all, block| all | u128::from_le_bytes(*block));
    let is_ascii = all & (u128::MAX / 0xff * 0x80) == 0;
    // SAFETY: every sequence of ASCII bytes is UTF-8.
    is_ascii.then(|| unsafe { std::str::from_utf8_unchecked(bytes) })
}

/// Returns the document as a string if it is UTF-8. Faster than `String::from_utf8`, which decodes one character at a time.
pub(crate) fn into_text(document: Vec<u8>) -> Option<String> {
    simdutf8::basic::from_utf8(&document).ok()?;
    // SAFETY: the document is UTF-8.
    Some(unsafe { String::from_utf8_unchecked(document) })
}

/// Loads at most 16 bytes and fills the rest with zeros. Two overlapping loads are cheaper than a loop.
#[inline(always)]
pub(crate) fn short(bytes: &[u8]) -> [u8; BLOCK] {
    let len = bytes.len();
    let word = if let (Some(low), Some(high)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        u128::from(u64::from_le_bytes(*low))
            | u128::from(u64::from_le_bytes(*high)) << ((8 * (len - 8)) & 127)
    } else if let (Some(low), Some(high)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        u128::from(
            u64::from(u32::from_le_bytes(*low)) | u64::from(u32::from_le_bytes(*high)) << (8 * (len - 4)),
        )
    } else if let (Some(first), Some(last)) = (bytes.first(), bytes.last()) {
        let middle = bytes[len / 2];
        u128::from(
            u32::from(*first) | u32::from(middle) << (8 * (len / 2)) | u32::from(*last) << (8 * (len - 1)),
        )
    } else {
        0
    };
    word.to_le_bytes()
}

/// Returns whether two texts are equal, without a call if they are short.
#[inline(always)]
pub(crate) fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && if one.len() <= BLOCK { short(one) == short(other) } else { one == other }
}

/// Bytes that [`find`] searches inline before it calls the engine for long strings.
const NEAR: usize = 4 * BLOCK;

/// Returns the index of the first special byte at or after `from`, or the length of `bytes`.
#[inline(always)]
pub(crate) fn find(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(block) = chunk::<BLOCK>(bytes, at) {
        let mask = mask16::<Json>(block);
        if mask != 0 {
            return at + mask.trailing_zeros() as usize;
        }
        at += BLOCK;
        if at - from >= NEAR {
            return find_far(bytes, at);
        }
    }
    find_in_tail::<Json>(bytes, at)
}

/// Returns the text from the offset `start` to the next special byte if that is a quote. Otherwise, or if `start` is not
/// on a character boundary, returns the offset of the special byte, or the length of `text`.
#[inline(always)]
pub(crate) fn quoted(text: &str, start: usize) -> Result<&str, usize> {
    let bytes = text.as_bytes();
    let Some(block) = chunk::<BLOCK>(bytes, start) else {
        return quoted_in_tail(text, start);
    };
    let mask = mask16::<Json>(block);
    let (end, byte) = if mask == 0 {
        let end = find(bytes, start + BLOCK);
        (end, bytes.get(end).copied())
    } else {
        let count = mask.trailing_zeros() as usize;
        (start + count, Some(block[count % BLOCK]))
    };
    if byte == Some(b'"') && block[0].cast_signed() >= -0x40 {
        // SAFETY: the text has a byte at `start`, which is not inside of a character, and a quote at `end`, which is not
        // before `start`. Both are on character boundaries.
        Ok(unsafe { text.get_unchecked(start..end) })
    } else {
        Err(end)
    }
}

#[inline(never)]
fn quoted_in_tail(text: &str, start: usize) -> Result<&str, usize> {
    let end = find_in_tail::<Json>(text.as_bytes(), start);
    match text.get(start..end) {
        Some(quoted) if text.as_bytes().get(end) == Some(&b'"') => Ok(quoted),
        _ => Err(end),
    }
}

/// Returns the index of the first special byte at or after `from`, or the length of `bytes`. Less than a block follows.
fn find_in_tail<S: Set>(bytes: &[u8], from: usize) -> usize {
    let tail = bytes.get(from..).unwrap_or_default();
    from + tail.iter().position(|byte| is_special::<S>(*byte)).unwrap_or(tail.len())
}

#[inline(never)]
fn find_far(bytes: &[u8], from: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = x86::Avx2::detect() {
        return avx2.find(bytes, from);
    }
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    let from = neon::skip_parts(bytes, from);
    find_by_blocks::<Json>(bytes, from)
}

/// Returns the index of the first byte of `S` at or after `from`, or the length of `bytes`.
fn find_by_blocks<S: Set>(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(block) = chunk::<BLOCK>(bytes, at) {
        let mask = mask16::<S>(block);
        if mask != 0 {
            return at + mask.trailing_zeros() as usize;
        }
        at += BLOCK;
    }
    find_in_tail::<S>(bytes, at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn naive(bytes: &[u8], from: usize) -> usize {
        (from..bytes.len()).find(|at| is_special::<Json>(bytes[*at])).unwrap_or(bytes.len())
    }

    fn naive_mask<S: Set>(bytes: &[u8; BLOCK]) -> u32 {
        (0..BLOCK).map(|at| u32::from(is_special::<S>(bytes[at])) << at).sum()
    }

    fn masks_agree<S: Set>(bytes: &[u8; BLOCK]) {
        assert_eq!(portable::mask16::<S>(bytes), naive_mask::<S>(bytes), "{bytes:?}");
        assert_eq!(mask16::<S>(bytes), naive_mask::<S>(bytes), "{bytes:?}");
    }

    fn masks_of_numbers_and_spaces_agree(bytes: &[u8; BLOCK]) {
        let naive = |test: fn(u8) -> bool| (0..BLOCK).map(|at| u32::from(test(bytes[at])) << at).sum::<u32>();
        let expected = naive(|byte| byte.is_ascii_digit());
        assert_eq!((portable::digits(bytes), digits(bytes)), (expected, expected), "{bytes:?}");
        let expected = naive(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        assert_eq!((portable::spaces(bytes), spaces(bytes)), (expected, expected), "{bytes:?}");
    }

    #[test]
    fn masks_are_exact_for_every_byte_at_every_position() {
        for at in 0..BLOCK {
            for byte in 0..=u8::MAX {
                let mut block = [b'x'; BLOCK];
                block[at] = byte;
                masks_agree::<Json>(&block);
                masks_agree::<Html>(&block);
                masks_of_numbers_and_spaces_agree(&block);
                block[BLOCK - 1 - at] = b'7';
                masks_of_numbers_and_spaces_agree(&block);
                block[BLOCK - 1 - at] = b' ';
                masks_of_numbers_and_spaces_agree(&block);
            }
        }
    }

    #[test]
    fn quoted_text_ends_at_a_quote() {
        for len in 0..100 {
            for (end, more) in
                [("\"", ""), ("\"", "\",\"abc\":12345678"), ("\\", "n\""), ("\n", "\""), ("", "")]
            {
                let text = format!("\"{}{end}{more}", "\u{e9}".repeat(len));
                let expected = if end == "\"" { Ok(&text[1..=2 * len]) } else { Err(1 + 2 * len) };
                assert_eq!(quoted(&text, 1), expected, "{text}");
                if len > 0 {
                    assert_eq!(quoted(&text, 2), Err(1 + 2 * len), "{text}");
                }
                assert!(quoted(&text, text.len() + 9).is_err());
            }
        }
    }

    #[test]
    fn short_loads_every_byte_and_fills_with_zeros() {
        let bytes: Vec<u8> = (1..=16).collect();
        for len in 0..=16 {
            let block = short(&bytes[..len]);
            assert_eq!(block[..len], bytes[..len]);
            assert!(block[len..].iter().all(|byte| *byte == 0), "{len}");
        }
    }

    fn decimals_agree(high: u32, low: u32) {
        let text = format!("{high:08}{low:08}");
        let mask = text.bytes().enumerate().map(|(at, digit)| u32::from(digit != b'0') << at).sum();
        let expected: ([u8; BLOCK], u32) = (text.as_bytes().try_into().unwrap(), mask);
        assert_eq!(portable::decimals(high, low), expected);
        for count in 1..=BLOCK {
            let value_of_first = text[..count].parse().unwrap();
            for value in [value(&expected.0, count), portable::value(&expected.0, count)] {
                assert_eq!(value.unwrap_or(value_of_first), value_of_first);
            }
        }
        assert_eq!(decimals(high, low), expected);
    }

    #[test]
    fn decimals_are_exact_for_every_group_of_digits() {
        for group in 0..10_000 {
            decimals_agree(group * 10_000 + 9_999 - group, group);
        }
        decimals_agree(99_999_999, 99_999_999);
    }

    pub(super) fn bytes() -> impl Strategy<Value = u8> {
        prop_oneof![20 => Just(b'a'), 1 => Just(b'"'), 1 => Just(b'\\'), 1 => Just(b'\n'), 2 => any::<u8>()]
    }

    proptest! {
        #[test]
        fn engines_agree_with_the_naive_search(
            bytes in proptest::collection::vec(bytes(), 0..300), from in 0_usize..300
        ) {
            let from = from.min(bytes.len());
            let expected = naive(&bytes, from);
            prop_assert_eq!(find(&bytes, from), expected);
            prop_assert_eq!(find_far(&bytes, from), expected);
            prop_assert_eq!(find_by_blocks::<Json>(&bytes, from), expected);
            #[cfg(target_arch = "x86_64")]
            if let Some(avx2) = x86::Avx2::detect() {
                prop_assert_eq!(avx2.find(&bytes, from), expected);
            }
        }

        #[test]
        fn decimals_agree_with_the_standard_library(high in 0_u32..100_000_000, low in 0_u32..100_000_000) {
            decimals_agree(high, low);
        }

        #[test]
        fn ascii_agrees_with_the_standard_library(bytes in proptest::collection::vec(0_u8..130, 0..70)) {
            prop_assert_eq!(ascii(&bytes), str::from_utf8(&bytes).ok().filter(|_| bytes.is_ascii()));
        }

        #[test]
        fn into_text_agrees_with_the_standard_library(
            text in any::<String>(), at in 0_usize..100, byte in any::<u8>()
        ) {
            let mut document = text.into_bytes();
            prop_assert_eq!(into_text(document.clone()), String::from_utf8(document.clone()).ok());
            if let Some(damaged) = document.get_mut(at) {
                *damaged = byte;
            }
            prop_assert_eq!(into_text(document.clone()), String::from_utf8(document).ok());
        }

        #[test]
        fn masks_agree_with_the_naive_ones(bytes in any::<[u8; BLOCK]>()) {
            masks_agree::<Json>(&bytes);
            masks_agree::<Html>(&bytes);
            masks_of_numbers_and_spaces_agree(&bytes);
        }
    }
}

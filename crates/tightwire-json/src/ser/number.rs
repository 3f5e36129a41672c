//! Formatting of numbers.

use std::fmt::Display;
use std::io::Write;

/// Returns eight decimal digits, the most significant one in the lowest byte.
#[inline(always)]
fn eight_digits(value: u32) -> u64 {
    // Splits into two groups of four digits, then four of two, then eight of one. Each division is a multiplication
    // that is exact for the range of its group.
    let fours = u64::from(value / 10_000) | u64::from(value % 10_000) << 32;
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | (fours - 100 * hundreds) << 16;
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | (twos - 10 * tens) << 8
}

const ZEROS: u64 = 0x3030_3030_3030_3030;

/// Appends up to eight digits without leading zeros.
#[inline(always)]
fn push_head(out: &mut Vec<u8>, value: u32) {
    let digits = eight_digits(value);
    // The bit keeps the last digit even if it is zero.
    let zeros = (digits | 1 << 56).trailing_zeros() & !7;
    let len = out.len() + 8 - (zeros / 8) as usize;
    out.extend_from_slice(&((digits + ZEROS) >> zeros).to_le_bytes());
    out.truncate(len);
}

#[inline(always)]
fn push_eight(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&(eight_digits(value) + ZEROS).to_le_bytes());
}

/// Appends an integer.
#[inline]
pub(super) fn push_u64(out: &mut Vec<u8>, value: u64) {
    const E8: u64 = 100_000_000;
    if value < 10 {
        out.push(b'0' + value as u8);
    } else if value < E8 {
        push_head(out, value as u32);
    } else {
        let (high, low) = (value / E8, value % E8);
        if high < E8 {
            push_head(out, high as u32);
        } else {
            push_head(out, (high / E8) as u32);
            push_eight(out, (high % E8) as u32);
        }
        push_eight(out, low as u32);
    }
}

/// Appends an integer.
#[inline]
pub(super) fn push_i64(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    push_u64(out, value.unsigned_abs());
}

/// Appends the `Display` form of an integer.
pub(super) fn push_display(out: &mut Vec<u8>, value: impl Display) {
    // Neither a `Vec` nor the `Display` implementations of integers fail.
    let _ = write!(out, "{value}");
}

/// Appends a finite float as Go's `encoding/json` does: the shortest digits that round-trip, without an empty fraction,
/// and with a signed exponent if `exponential`.
///
/// `text` is the number in any decimal notation, with the shortest digits.
pub(super) fn push_go_float(out: &mut Vec<u8>, text: &str, exponential: bool) {
    let (negative, text) = match text.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, text),
    };
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    // A float has at most 17 significant digits, and zmij writes only a few zeros around them.
    let mut digits = [b'0'; 64];
    let mut len = 0;
    for digit in whole.bytes().chain(fraction.bytes()) {
        if let Some(slot) = digits.get_mut(len) {
            *slot = digit;
            len += 1;
        }
    }
    let leading = digits[..len].iter().take_while(|digit| **digit == b'0').count();
    let trailing = digits[leading..len].iter().rev().take_while(|digit| **digit == b'0').count();
    // The value is 0.DIGITS * 10^point.
    let point = whole.len() as i32 - leading as i32 + exponent.parse::<i32>().unwrap_or(0);
    let digits = &digits[leading..len - trailing];
    if negative {
        out.push(b'-');
    }
    let Some((first, more)) = digits.split_first() else {
        out.push(b'0');
        return;
    };
    if exponential {
        out.push(*first);
        if !more.is_empty() {
            out.push(b'.');
            out.extend_from_slice(more);
        }
        let exponent = point - 1;
        out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
        push_u64(out, exponent.unsigned_abs().into());
    } else if point <= 0 {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', point.unsigned_abs() as usize));
        out.extend_from_slice(digits);
    } else {
        let point = point.unsigned_abs() as usize;
        let (whole, fraction) = digits.split_at(point.min(digits.len()));
        out.extend_from_slice(whole);
        out.extend(std::iter::repeat_n(b'0', point - whole.len()));
        if !fraction.is_empty() {
            out.push(b'.');
            out.extend_from_slice(fraction);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ser::style::{Go, Style};

    fn unsigned(value: u64) -> String {
        let mut out = Vec::new();
        push_u64(&mut out, value);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn integers_of_every_length_are_formatted() {
        let mut power = 1_u64;
        for _ in 0..20 {
            for value in [power - 1, power, power + 1, power.wrapping_mul(9)] {
                assert_eq!(unsigned(value), value.to_string());
            }
            power = power.wrapping_mul(10);
        }
        for value in (0..20_000).chain([u64::MAX, u64::MAX - 1]) {
            assert_eq!(unsigned(value), value.to_string());
        }
    }

    #[test]
    fn floats_are_formatted_as_by_go() {
        // Expected values from Go 1.26.
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (100.0, "100"),
            (95.5, "95.5"),
            (-1.25, "-1.25"),
            (1e-6, "0.000001"),
            (9.5e-7, "9.5e-7"),
            (1e-7, "1e-7"),
            (1.5e-10, "1.5e-10"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1.234e300, "1.234e+300"),
            (123456789.125, "123456789.125"),
            (f64::MAX, "1.7976931348623157e+308"),
            (5e-324, "5e-324"),
        ] {
            let mut out = Vec::new();
            Go::push_f64(&mut out, value);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    proptest! {
        #[test]
        fn integers_agree_with_the_standard_library(value: u64, shift in 0_u32..64, signed: i64) {
            prop_assert_eq!(unsigned(value >> shift), (value >> shift).to_string());
            let mut out = Vec::new();
            push_i64(&mut out, signed >> shift);
            prop_assert_eq!(String::from_utf8(out).unwrap(), (signed >> shift).to_string());
        }

        #[test]
        fn go_floats_round_trip(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let mut out = Vec::new();
            Go::push_f64(&mut out, value);
            let text = String::from_utf8(out).unwrap();
            prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), bits);
        }
    }
}

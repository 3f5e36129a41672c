//! Formatting of numbers.

use super::style::{Canonical, Style};

/// Appends an integer.
#[inline]
pub(super) fn push_integer(out: &mut Vec<u8>, value: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Returns whether the integer in `out[start..]` is the canonical text of the nearest double.
pub(super) fn is_double(out: &mut Vec<u8>, start: usize) -> bool {
    let end = out.len();
    // ECMAScript writes all digits of integers up to 2^53.
    if end - start <= 15 {
        return true;
    }
    let Some(value) = str::from_utf8(&out[start..]).ok().and_then(|text| text.parse().ok()) else {
        return false;
    };
    Canonical::push_f64(out, value);
    let is_same = out[start..end] == out[end..];
    out.truncate(end);
    is_same
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
        push_integer(out, exponent.unsigned_abs());
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

    use super::is_double;
    use crate::ser::style::{Canonical, Go, Style};

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

    #[test]
    fn integers_are_doubles_up_to_2_to_the_power_of_53() {
        let limit = 1_i128 << 53;
        for (value, expected) in [
            (0, true),
            (-1, true),
            (limit, true),
            (-limit, true),
            (limit + 1, false),
            (-limit - 1, false),
            // Exact, and the shortest digits are all digits.
            (limit + 2, true),
            (10_i128.pow(20), true),
            // Exact, but the shortest digits are 9223372036854776000.
            (1 << 63, false),
            (9_223_372_036_854_776_000, true),
            (i128::from(u64::MAX), false),
            // Written as 1e+21.
            (10_i128.pow(21), false),
            (i128::MAX, false),
        ] {
            let before = format!("[{value}");
            let mut out = before.clone().into_bytes();
            assert_eq!(is_double(&mut out, 1), expected, "{value}");
            assert_eq!(out, before.as_bytes());
        }
    }

    #[test]
    fn canonical_numbers_are_those_of_the_rfc() {
        // RFC 8785, appendix B.
        for (bits, expected) in [
            (0x0000_0000_0000_0000, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5554, "333333333.33333325"),
            (0x41b3_de43_5555_5555, "333333333.3333333"),
            (0x41b3_de43_5555_5556, "333333333.3333334"),
            (0x41b3_de43_5555_5557, "333333333.33333343"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ] {
            let mut out = Vec::new();
            Canonical::push_f64(&mut out, f64::from_bits(bits));
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{bits:x}");
        }
    }

    proptest! {
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

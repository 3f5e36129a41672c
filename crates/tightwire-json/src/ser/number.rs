//! Formatting of numbers.

use std::hint::select_unpredictable;

use super::style::{Canonical, Style};
use crate::powers::{EXACT_POWERS, POWERS};
use crate::scan::{decimals, digits_of, push_block, push_blocks};

const E8: u64 = 100_000_000;
/// The digit 0 in each byte.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// Returns the text of a number below 10^8 and its length.
#[inline(always)]
fn short_text(value: u32) -> (u64, usize) {
    let digits = digits_of(value);
    // At least one digit remains.
    let leading = digits.trailing_zeros().min(63) & !7;
    ((digits | ZEROS) >> leading, 8 - leading as usize / 8)
}

/// Appends an integer. Faster than formatting into a buffer that is copied if the number of digits varies.
#[inline]
pub(crate) fn push_unsigned(out: &mut Vec<u8>, value: impl Into<u64>) {
    let value = value.into();
    if value < E8 {
        let (text, len) = short_text(value as u32);
        return push_block(out, text.to_le_bytes(), len);
    }
    push_long(out, value);
}

#[inline(never)]
fn push_long(out: &mut Vec<u8>, value: u64) {
    let (high, low) = (value / E8, (value % E8) as u32);
    if high >= E8 {
        push_unsigned(out, high / E8);
        let (text, _) = decimals((high % E8) as u32, low);
        return push_block(out, text, 16);
    }
    // Many identifiers have nine digits.
    if high < 10 {
        out.push(b'0' + high as u8);
    } else {
        let (text, len) = short_text(high as u32);
        push_block(out, text.to_le_bytes(), len);
    }
    push_block(out, (digits_of(low) | ZEROS).to_le_bytes(), 8);
}

/// Appends an integer.
#[inline]
pub(crate) fn push_signed(out: &mut Vec<u8>, value: impl Into<i64>) {
    let value = value.into();
    push_block(out, [b'-'], usize::from(value < 0));
    push_unsigned(out, value.unsigned_abs());
}

/// Appends an integer.
pub(super) fn push_wide(out: &mut Vec<u8>, value: impl itoa::Integer) {
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

/// Binary exponents of the floats with an entry in the tables. All of these are written without an exponent.
const FIRST: i32 = -16;
const LAST: i32 = 18;
const EXPONENTS: usize = (LAST - FIRST + 1) as usize;

/// Floats with the same exponent: multiples of a power of two.
#[derive(Clone, Copy)]
struct Scale {
    /// The power of two multiplied by `10^places`, which is from 1 to 10, with 124 bits after the point. It is exact.
    high: u64,
    low: u64,
    places: u32,
    /// Bits of the mantissa after the point.
    fraction: u32,
}

const fn scales(bits: i32) -> [Scale; EXPONENTS] {
    let mut scales = [Scale { high: 0, low: 0, places: 0, fraction: 63 }; EXPONENTS];
    let mut index = 0;
    while index < EXPONENTS {
        let fraction = bits - FIRST - index as i32;
        let (mut power, mut places) = (1_u128 << (124 - fraction), 0);
        while power < 1 << 124 {
            power *= 10;
            places += 1;
        }
        let scale = &mut scales[index];
        (scale.high, scale.low, scale.places) = ((power >> 64) as u64, power as u64, places);
        if fraction < 63 {
            scale.fraction = fraction as u32;
        }
        index += 1;
    }
    scales
}

static DOUBLES: [Scale; EXPONENTS] = scales(52);
/// The lower halves are zero.
static SINGLES: [Scale; EXPONENTS] = scales(23);

/// Texts of the first whole numbers with a point.
static WHOLES: [u32; 1000] = {
    let mut texts = [b'.' as u32; 1000];
    let mut whole = 0;
    while whole < texts.len() {
        let mut rest = whole;
        loop {
            texts[whole] = texts[whole] << 8 | (b'0' as u32 + rest as u32 % 10);
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        whole += 1;
    }
    texts
};

/// Appends a finite float with the shortest digits that round-trip. Measured by the benchmark rows
/// `json/canada_*_encode`.
#[inline]
pub(super) fn push_float(out: &mut Vec<u8>, value: f64) {
    let bits = value.to_bits();
    let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
    if let Some(scale) = DOUBLES.get((bits >> 52 & 0x7ff).wrapping_sub((1023 + FIRST) as u64) as usize) {
        let whole = mantissa >> (scale.fraction & 63);
        let wide = u128::from(mantissa << 4);
        let product = wide * u128::from(scale.high) + ((wide * u128::from(scale.low)) >> 64);
        // The float below a power of two is nearer than the one above, which `shortest` does not know. A whole number is
        // found exactly, whatever the distances are.
        if (mantissa != 1 << 52 || whole != 0)
            && let Some(digits) = shortest::<false>(product, scale.high)
        {
            return push_decimal::<16>(out, value.is_sign_negative(), whole, digits, scale.places as usize);
        }
    }
    push_any_float(out, value);
}

/// Same as [`push_float`].
#[inline]
pub(super) fn push_float32(out: &mut Vec<u8>, value: f32) {
    match decimal32(value) {
        Some((whole, digits, places)) => {
            push_decimal::<8>(out, value.is_sign_negative(), whole, digits, places);
        }
        None => push_any_float(out, value),
    }
}

/// Returns the `f64` with the shortest digits of `value`: 5.55 for `5.55_f32`.
pub(crate) fn widen(value: f32) -> f64 {
    match decimal32(value) {
        // The digits have less than 53 bits and the power is exact, so that only the quotient is rounded.
        Some((_, digits, places)) => (digits as f64 / EXACT_POWERS[places]).copysign(value.into()),
        None if value == 0.0 => value.into(),
        None => zmij::Buffer::new().format(value).parse().unwrap_or(value.into()),
    }
}

/// Returns the whole part of the absolute value, the shortest digits that round-trip, and the number of decimals among
/// the digits. `None` for a float without an entry in the table.
#[inline(always)]
fn decimal32(value: f32) -> Option<(u64, u64, usize)> {
    let bits = value.to_bits();
    let mantissa = u64::from(bits & ((1 << 23) - 1) | 1 << 23);
    let scale = SINGLES.get((bits >> 23 & 0xff).wrapping_sub((127 + FIRST) as u32) as usize)?;
    let whole = mantissa >> (scale.fraction & 63);
    if mantissa == 1 << 23 && whole == 0 {
        return None;
    }
    let digits = shortest::<true>(u128::from(mantissa << 4) * u128::from(scale.high), scale.high)?;
    Some((whole, digits, scale.places as usize))
}

/// Returns the shortest whole number nearer to `product` than the next float is, `None` if two are equally near or if the
/// last bits decide.
///
/// `product` has 64 bits after the point. `distance` is that between two floats, from 1 to 10, with 60 bits after the point.
/// Therefore the numbers that are near enough include at least one whole number and at most one multiple of ten, which is
/// the shortest if it exists: further zeros are removed later.
///
/// `EXACT` is for `f32`, of which no bits are lost. The middle between two of them has more bits after the point than
/// there are places, so that it is no whole number.
#[inline(always)]
fn shortest<const EXACT: bool>(product: u128, distance: u64) -> Option<u64> {
    const TEN: u64 = 10 << 60;
    let (whole, rest) = ((product >> 64) as u64, product as u64);
    let digit = whole % 10;
    let (last, half) = (digit << 60 | rest >> 4, distance / 2);
    // Both sides of each comparison are truncated.
    let is_unclear = |one: u64, other: u64| one.wrapping_sub(other).wrapping_add(2) <= 4;
    let is_unclear = match EXACT {
        true => rest == 1 << 63,
        false => is_unclear(last, half) | is_unclear(last + half, TEN) | is_unclear(rest >> 4, 1 << 59),
    };
    if is_unclear {
        return None;
    }
    let is_above = last + half > TEN;
    let tens = whole - digit + select_unpredictable(is_above, 10, 0);
    Some(select_unpredictable(is_above | (last < half), tens, whole + (rest >> 63)))
}

/// Appends `digits / 10^places`, which is `whole` and a fraction. `WIDTH` is 8 or 16; the number has at most one digit more
/// after the zeros, and at most 5 decimals more.
#[inline(always)]
fn push_decimal<const WIDTH: usize>(
    out: &mut Vec<u8>,
    negative: bool,
    whole: u64,
    digits: u64,
    places: usize,
) {
    let is_wide = places > WIDTH;
    let (text, len, fraction) = if is_wide {
        // Less than 1/2: zeros and the first digit precede the others.
        let zeros = places - WIDTH - 1;
        let first = (digits / POWERS[WIDTH]) << (8 * (zeros + 2));
        (u64::from_le_bytes(*b"0.000000") | first, zeros + 3, digits % POWERS[WIDTH])
    } else {
        let (text, len) = match WHOLES.get(whole as usize) {
            Some(text) => (u64::from(*text), 4 - text.leading_zeros() as usize / 8),
            None => {
                let (text, len) = short_text(whole as u32);
                (text | u64::from(b'.') << (8 * len), len + 1)
            }
        };
        (text, len, (digits - whole * POWERS[places]) * POWERS[WIDTH - places])
    };
    let sign = usize::from(negative);
    let text = ((text << (8 * sign)) | (u64::from(b'-') * sign as u64)).to_le_bytes();
    // Without zeros at the end, but with one decimal at least.
    let least = u32::from(!is_wide);
    if WIDTH == 16 {
        let (fraction, mask) = decimals((fraction / E8) as u32, (fraction % E8) as u32);
        push_blocks(out, text, len + sign, fraction, 32 - (mask | least).leading_zeros() as usize);
    } else {
        let fraction = digits_of(fraction as u32);
        let len_of_fraction = 8 - (fraction | u64::from(least)).leading_zeros() as usize / 8;
        push_blocks(out, text, len + sign, (fraction | ZEROS).to_le_bytes(), len_of_fraction);
    }
}

#[inline(never)]
fn push_any_float(out: &mut Vec<u8>, value: impl zmij::Float) {
    out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
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
        push_unsigned(out, exponent.unsigned_abs());
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
    use crate::ser::style::Go;

    fn text(push: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = b"[".to_vec();
        push(&mut out);
        String::from_utf8(out).unwrap()
    }

    fn float_agrees(value: f64) {
        let expected = format!("[{}", zmij::Buffer::new().format_finite(value));
        assert_eq!(text(|out| push_float(out, value)), expected);
        assert_eq!(text(|out| push_any_float(out, value)), expected);
        if value.is_finite() && (value as f32).is_finite() {
            float32_agrees(value as f32);
        }
    }

    fn float32_agrees(value: f32) {
        let actual = text(|out| push_float32(out, value));
        assert_eq!(actual, format!("[{}", zmij::Buffer::new().format_finite(value)));
        // The standard library chooses another one of two equally near numbers.
        let standard = format!("[{value:?}");
        assert_eq!(actual[1..].parse::<f32>().unwrap().to_bits(), value.to_bits());
        if (1e-4..1e6).contains(&value.abs()) {
            assert_eq!(actual.len(), standard.len(), "{actual}");
        }
        assert_eq!(widen(value).to_bits(), actual[1..].parse::<f64>().unwrap().to_bits(), "{actual}");
    }

    fn integer_agrees(value: u64) {
        assert_eq!(text(|out| push_unsigned(out, value)), format!("[{value}"));
        let value = value.cast_signed();
        assert_eq!(text(|out| push_signed(out, value)), format!("[{value}"));
    }

    #[test]
    fn numbers_next_to_powers_have_the_same_text_as_in_other_crates() {
        for exponent in 0..64 {
            for power in [1 << exponent, 10_u64.saturating_pow(exponent)] {
                (0..3).for_each(|more| integer_agrees((power - 1).saturating_add(more)));
            }
        }
        let powers = (-1074..1024).map(|exponent| 2_f64.powi(exponent));
        let tens = (-323..309).map(|exponent| format!("1e{exponent}").parse().unwrap());
        for power in powers.chain(tens).chain([0.0]) {
            for value in [power, power.next_down(), power.next_up(), power * 3.0, power * 0.7] {
                if value.is_finite() {
                    float_agrees(value);
                    float_agrees(-value);
                }
                let value = power as f32;
                for value in
                    [value, value.next_down(), value.next_up()].into_iter().filter(|value| value.is_finite())
                {
                    float32_agrees(value);
                    float32_agrees(-value);
                }
            }
        }
    }

    #[test]
    fn floats_of_32_bits_from_the_whole_range_have_the_same_text_as_in_other_crates() {
        for value in (0..=u32::MAX).step_by(99_991).map(f32::from_bits).filter(|value| value.is_finite()) {
            float32_agrees(value);
        }
        assert!(widen(f32::NAN).is_nan());
        assert_eq!(widen(f32::NEG_INFINITY), f64::NEG_INFINITY);
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
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn integers_agree_with_the_standard_library(value: u64, shift in 0_u32..64) {
            integer_agrees(value >> shift);
        }

        #[test]
        fn floats_agree_with_zmij(bits: u64, mantissa in 0_u64..=1 << 60, shift in 0_u32..60, decimals in 0_i32..=22) {
            let value = f64::from_bits(bits);
            float_agrees(if value.is_finite() { value } else { 0.0 });
            // Exponents of common numbers.
            float_agrees(f64::from_bits(bits % (80 << 52) + (1000 << 52)));
            float32_agrees(f32::from_bits(bits as u32 % (40 << 23) + (108 << 23)));
            float32_agrees((mantissa >> 20 >> shift.min(39)) as f32 / 10_f32.powi(decimals % 11));
            float_agrees((mantissa >> shift) as f64 / 10_f64.powi(decimals));
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

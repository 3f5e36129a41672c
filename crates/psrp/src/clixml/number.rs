//! Floating-point numbers as .NET writes them in XML.

use crate::value::ascii::AsciiBuffer;

/// A floating-point type.
pub(crate) trait Float: zmij::Float + Copy + Into<f64> {
    /// Maximum digits of the integer part that are written without an exponent: the digits that .NET needs to write a
    /// number so that it round-trips.
    const PLAIN: i32;
}

impl Float for f32 {
    const PLAIN: i32 = 9;
}

impl Float for f64 {
    const PLAIN: i32 = 17;
}

/// Returns the shortest text that parses to this number.
pub(crate) fn text<F: Float>(number: F) -> AsciiBuffer {
    let mut text = AsciiBuffer::new();
    let wide: f64 = number.into();
    if !wide.is_finite() {
        text.push_bytes(match (wide.is_nan(), wide.is_sign_negative()) {
            (true, _) => b"NaN",
            (false, false) => b"INF",
            (false, true) => b"-INF",
        });
        return text;
    }
    let mut buffer = zmij::Buffer::new();
    let Parts { negative, digits, len, point } = Parts::of(buffer.format_finite(number));
    let digits = &digits[..len];
    if negative {
        text.push(b'-');
    }
    let whole = usize::try_from(point).unwrap_or(0);
    if point > F::PLAIN || point < -3 {
        scientific(&mut text, digits, point - 1);
    } else if whole >= len {
        text.push_bytes(digits);
        text.push_zeros(whole - len);
    } else if whole > 0 {
        text.push_bytes(&digits[..whole]);
        text.push(b'.');
        text.push_bytes(&digits[whole..]);
    } else {
        text.push_bytes(b"0.");
        text.push_zeros(point.unsigned_abs() as usize);
        text.push_bytes(digits);
    }
    text
}

fn scientific(text: &mut AsciiBuffer, digits: &[u8], exponent: i32) {
    text.push(digits[0]);
    if digits.len() > 1 {
        text.push(b'.');
        text.push_bytes(&digits[1..]);
    }
    text.push_bytes(if exponent < 0 { b"E-" } else { b"E+" });
    let exponent = exponent.unsigned_abs();
    if exponent >= 100 {
        text.push_digits::<3>(exponent);
    } else {
        text.push_digits::<2>(exponent);
    }
}

/// A decomposed number: `0.digits` times ten to the power of `point`.
struct Parts {
    negative: bool,
    /// Digits without leading and trailing zeros; zero has one digit.
    digits: [u8; 24],
    len: usize,
    point: i32,
}

impl Parts {
    /// Parses a finite number in Rust's notation, such as `-0.001`, `15.0` or `1.5e-7`.
    fn of(text: &str) -> Self {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let point = exponent.parse().unwrap_or(0);
        let mut parts = Self { negative: false, digits: [b'0'; 24], len: 0, point };
        let mut behind = false;
        for byte in mantissa.bytes() {
            match byte {
                b'-' => parts.negative = true,
                b'.' => behind = true,
                // Leading zeros only move the point.
                b'0' if parts.len == 0 => parts.point -= i32::from(behind),
                digit => {
                    parts.digits[parts.len] = digit;
                    parts.len += 1;
                    parts.point += i32::from(!behind);
                }
            }
        }
        while parts.len > 0 && parts.digits[parts.len - 1] == b'0' {
            parts.len -= 1;
        }
        if parts.len == 0 {
            (parts.len, parts.point) = (1, 1);
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn double(number: f64) -> String {
        text(number).to_string()
    }

    #[test]
    fn doubles_are_written_like_dotnet() {
        for (number, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (0.1, "0.1"),
            (0.001, "0.001"),
            (1e-4, "0.0001"),
            (1.25e-4, "0.000125"),
            (1e-5, "1E-05"),
            (1.25e-5, "1.25E-05"),
            (1e14, "100000000000000"),
            (1.5e16, "15000000000000000"),
            (1e17, "1E+17"),
            (1.5e17, "1.5E+17"),
            (1234567890123456.0, "1234567890123456"),
            (12345678901234568.0, "12345678901234568"),
            (123456.789, "123456.789"),
            (1e100, "1E+100"),
            (1e-300, "1E-300"),
            (f64::MAX, "1.7976931348623157E+308"),
            (5e-324, "5E-324"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "INF"),
            (f64::NEG_INFINITY, "-INF"),
        ] {
            assert_eq!(double(number), expected);
        }
    }

    #[test]
    fn singles_switch_to_exponents_at_nine_digits() {
        for (number, expected) in [
            (16_777_216.0, "16777216"),
            (1e6, "1000000"),
            (1e8, "100000000"),
            (1e9, "1E+09"),
            (2_147_483_648.0, "2.1474836E+09"),
            (0.333_333_34, "0.33333334"),
            (f32::MAX, "3.4028235E+38"),
            (1e-45, "1E-45"),
            (f32::NEG_INFINITY, "-INF"),
        ] {
            assert_eq!(text::<f32>(number).to_string(), expected);
        }
    }

    proptest! {
        #[test]
        fn written_numbers_round_trip(bits: u64, single: u32) {
            let number = f64::from_bits(bits);
            let read = text(number).as_str().parse::<f64>().unwrap();
            prop_assert!(number.is_nan() && read.is_nan() || read.to_bits() == bits);
            let number = f32::from_bits(single);
            let read = text(number).as_str().parse::<f32>().unwrap();
            prop_assert!(number.is_nan() && read.is_nan() || read.to_bits() == single);
        }
    }
}

//! Floating-point numbers as .NET writes them in XML.

use std::fmt::{Display, LowerExp, Write};

use crate::value::ascii::AsciiBuffer;

/// A floating-point type.
pub(crate) trait Float: zmij::Float + Copy + Display + LowerExp + Into<f64> {
    /// Maximum digits of the integer part that are written without an exponent: the digits that .NET needs to write a
    /// number so that it round-trips.
    const PLAIN: usize;
}

impl Float for f32 {
    const PLAIN: usize = 9;
}

impl Float for f64 {
    const PLAIN: usize = 17;
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
    let shortest = buffer.format_finite(number);
    let magnitude = shortest.trim_start_matches('-');
    let whole = magnitude.bytes().take_while(u8::is_ascii_digit).count();
    // Where .NET uses another notation than zmij, std writes the same digits in it. Every text fits the buffer.
    let mut scientific = AsciiBuffer::new();
    let (mantissa, exponent) = match shortest.split_once('e') {
        Some((_, exponent)) if exponent.parse().is_ok_and(|exponent: usize| exponent < F::PLAIN) => {
            let _ = write!(text, "{number}");
            return text;
        }
        Some(parts) => parts,
        None if whole > F::PLAIN || magnitude.starts_with("0.0000") => {
            let _ = write!(scientific, "{number:e}");
            scientific.as_str().split_once('e').unwrap_or_default()
        }
        None => {
            text.push_bytes(shortest.strip_suffix(".0").unwrap_or(shortest).as_bytes());
            return text;
        }
    };
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(digits) => (b"E-", digits),
        None => (b"E+", exponent.trim_start_matches('+')),
    };
    text.push_bytes(mantissa.as_bytes());
    text.push_bytes(sign);
    text.push_zeros(2_usize.saturating_sub(exponent.len()));
    text.push_bytes(exponent.as_bytes());
    text
}

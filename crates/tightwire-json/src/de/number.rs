//! Numbers (RFC 8259, section 6).

use super::decimal;
use super::parser::Parser;
use crate::error::{Error, Kind, Result, Syntax};

/// Parsed number. Integers are exact, floats are rounded correctly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Unsigned(u64),
    /// Negative integer.
    Signed(i64),
    /// Number with a fraction or an exponent, integer that exceeds 64 bits, or `-0`.
    Float(f64),
}

/// Powers of ten that are exact as a float.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

const POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Maps the characters `0` to `9` of eight bytes to 0 to 9, and all others to larger values.
#[inline(always)]
fn values(bytes: [u8; 8]) -> u64 {
    u64::from_le_bytes(bytes) ^ 0x3030_3030_3030_3030
}

/// Returns the number of bytes, from the first in memory on, whose value is at most nine.
#[inline(always)]
fn count_values(word: u64) -> usize {
    // Sets the top bit of each byte above nine. A carry changes only bytes above the lowest such byte, which do not
    // matter.
    let other = (word.wrapping_add(0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080;
    (other.trailing_zeros() / 8) as usize
}

/// Returns the number of leading digits and their value. Processes eight bytes at a time, which the benchmark rows
/// `json/citm_*_decode` and `json/canada_*_decode` measure.
#[inline(always)]
fn leading_digits(bytes: [u8; 8]) -> (usize, u64) {
    let word = values(bytes);
    let count = count_values(word);
    if count == 0 {
        return (0, 0);
    }
    // The shift drops the other bytes and fills with zeros in front.
    let digits = word << (64 - 8 * count);
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    (count, (fours * 10_000 + (fours >> 32)) & 0xffff_ffff)
}

/// Components of a number.
struct Parts {
    negative: bool,
    /// Value of all digits, without the decimal point. Wraps around if there are more than 19.
    mantissa: u64,
    digits: usize,
    /// Power of ten of the last digit.
    exponent: i64,
    integer: bool,
}

impl<M> Parser<'_, '_, M> {
    /// Reads the digits at the current position into `value` and returns their number.
    #[inline(always)]
    fn digits(&mut self, value: &mut u64) -> usize {
        let start = self.at;
        while let Some(block) = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk::<8>) {
            let (count, more) = leading_digits(*block);
            *value = value.wrapping_mul(POWERS[count]).wrapping_add(more);
            self.at += count;
            if count < 8 {
                return self.at - start;
            }
        }
        while let Some(byte @ b'0'..=b'9') = self.bytes.get(self.at) {
            *value = value.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
            self.at += 1;
        }
        self.at - start
    }

    /// Reads the number that begins at the current position with a digit or a minus sign.
    #[inline(always)]
    pub(super) fn number(&mut self) -> Result<Number> {
        let start = self.at;
        // Fast path: most integers have no sign and few digits.
        if let Some(block) = self.bytes.get(start..).and_then(<[u8]>::first_chunk::<8>) {
            let (count, value) = leading_digits(*block);
            if count > 0 && count < 8 {
                let next = block[count & 7];
                if !matches!(next, b'.' | b'e' | b'E') && (block[0] != b'0' || count == 1) {
                    self.at = start + count;
                    return Ok(Number::Unsigned(value));
                }
                if next == b'.' && (block[0] != b'0' || count == 1) {
                    return self.short_fraction(count, value);
                }
            } else if count == 8 {
                return self.long_number();
            }
        }
        self.any_number()
    }

    /// Reads a number that begins with one to seven digits and a decimal point, such as a price or a coordinate. Fast
    /// if at most seven digits follow.
    #[inline(never)]
    fn short_fraction(&mut self, whole: usize, value: u64) -> Result<Number> {
        let start = self.at + whole + 1;
        if let Some(block) = self.bytes.get(start..).and_then(<[u8]>::first_chunk::<8>)
            && let (count @ 1..8, fraction) = leading_digits(*block)
            && !matches!(block[count], b'e' | b'E')
        {
            self.at = start + count;
            // Numbers of up to 14 digits are exact as a float, and an operation on exact operands is rounded once.
            let mantissa = value * POWERS[count] + fraction;
            return Ok(Number::Float(mantissa as f64 / EXACT_POWERS[count]));
        }
        self.any_number()
    }

    /// Reads a number that begins with eight digits. Fast for integers of up to 15 digits, such as timestamps in
    /// milliseconds and ids.
    #[inline(never)]
    fn long_number(&mut self) -> Result<Number> {
        let start = self.at;
        if let Some(block) = self.bytes.get(start..).and_then(<[u8]>::first_chunk::<16>)
            && let ([high, low], _) = block.as_chunks::<8>()
            && let (8, value) = leading_digits(*high)
            && let (count @ ..8, more) = leading_digits(*low)
            && !matches!(low[count], b'.' | b'e' | b'E')
            && high[0] != b'0'
        {
            self.at = start + 8 + count;
            return Ok(Number::Unsigned(value * POWERS[count] + more));
        }
        self.any_number()
    }

    #[inline(never)]
    fn any_number(&mut self) -> Result<Number> {
        let start = self.at;
        let parts = self.parts()?;
        if parts.integer && parts.digits <= 19 {
            if !parts.negative {
                return Ok(Number::Unsigned(parts.mantissa));
            }
            if let Some(value @ ..0) = 0_i64.checked_sub_unsigned(parts.mantissa) {
                return Ok(Number::Signed(value));
            }
        }
        // A number with a fraction or an exponent, an integer that may exceed 64 bits, or `-0`.
        match parts.nearest() {
            Some(value) => Ok(Number::Float(value)),
            None => self.parse_with_std(start, parts.integer),
        }
    }

    /// Converts the number with the standard library, which rounds correctly.
    #[cold]
    fn parse_with_std(&self, start: usize, integer: bool) -> Result<Number> {
        let text = &self.text[start..self.at];
        if integer && let Ok(value) = text.parse() {
            return Ok(Number::Unsigned(value));
        }
        match text.parse() {
            Ok(value) if f64::is_finite(value) => Ok(Number::Float(value)),
            _ => Err(out_of_range(start)),
        }
    }

    /// Validates and consumes a number and returns its components.
    #[inline(always)]
    fn parts(&mut self) -> Result<Parts> {
        let negative = self.bytes.get(self.at) == Some(&b'-');
        self.at += usize::from(negative);
        let first = self.at;
        let mut mantissa = 0;
        let mut digits = self.digits(&mut mantissa);
        if digits == 0 {
            return Err(self.unexpected(Syntax::Number));
        }
        if digits > 1 && self.bytes[first] == b'0' {
            self.at = first + 1;
            return Err(self.syntax(Syntax::Number));
        }
        let mut exponent = 0;
        let mut integer = true;
        if self.bytes.get(self.at) == Some(&b'.') {
            integer = false;
            self.at += 1;
            let fraction = self.digits(&mut mantissa);
            if fraction == 0 {
                return Err(self.unexpected(Syntax::Number));
            }
            digits += fraction;
            exponent = -(fraction as i64);
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            integer = false;
            exponent += self.exponent()?;
        }
        Ok(Parts { negative, mantissa, digits, exponent, integer })
    }

    /// Consumes an exponent and returns its value, capped at 2^32.
    fn exponent(&mut self) -> Result<i64> {
        self.at += 1;
        let sign = self.bytes.get(self.at).copied();
        self.at += usize::from(matches!(sign, Some(b'+' | b'-')));
        let mut value = 0_i64;
        let start = self.at;
        while let Some(byte @ b'0'..=b'9') = self.bytes.get(self.at) {
            value = (value * 10 + i64::from(byte - b'0')).min(1 << 32);
            self.at += 1;
        }
        if self.at == start {
            return Err(self.unexpected(Syntax::Number));
        }
        Ok(if sign == Some(b'-') { -value } else { value })
    }

    /// Consumes one or more digits.
    #[inline(always)]
    fn skip_digits(&mut self) -> Result<()> {
        if !matches!(self.bytes.get(self.at), Some(b'0'..=b'9')) {
            return Err(self.unexpected(Syntax::Number));
        }
        while let Some(block) = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk::<8>) {
            let count = count_values(values(*block));
            self.at += count;
            if count < 8 {
                return Ok(());
            }
        }
        while let Some(b'0'..=b'9') = self.bytes.get(self.at) {
            self.at += 1;
        }
        Ok(())
    }

    /// Validates and consumes a number.
    pub(super) fn skip_number(&mut self) -> Result<()> {
        self.at += usize::from(self.bytes.get(self.at) == Some(&b'-'));
        let first = self.at;
        self.skip_digits()?;
        if self.at > first + 1 && self.bytes[first] == b'0' {
            self.at = first + 1;
            return Err(self.syntax(Syntax::Number));
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.skip_digits()?;
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            self.exponent()?;
        }
        Ok(())
    }

    /// Reads a number as `f32`. Going through `f64` would round twice.
    pub(super) fn float32(&mut self) -> Result<f32> {
        let start = self.at;
        self.skip_number()?;
        match self.text[start..self.at].parse() {
            Ok(value) if f32::is_finite(value) => Ok(value),
            _ => Err(out_of_range(start)),
        }
    }

    /// Consumes a number and returns its text if it has neither a fraction nor an exponent.
    pub(super) fn integer_text(&mut self) -> Result<Option<&str>> {
        let start = self.at;
        let parts = self.parts()?;
        Ok(parts.integer.then(|| &self.text[start..self.at]))
    }
}

impl Parts {
    /// Returns the nearest float, or `None` if only the standard library can determine it.
    #[inline]
    fn nearest(&self) -> Option<f64> {
        if self.digits > 19 {
            return None;
        }
        let power = EXACT_POWERS.get(usize::try_from(self.exponent.unsigned_abs()).ok()?);
        let value = match power {
            // An operation on exact operands is rounded once.
            Some(power) if self.mantissa <= 1 << 53 => {
                let mantissa = self.mantissa as f64;
                if self.exponent < 0 { mantissa / power } else { mantissa * power }
            }
            _ => decimal::nearest(self.mantissa, self.exponent)?,
        };
        Some(if self.negative { -value } else { value })
    }
}

#[cold]
pub(super) fn out_of_range(start: usize) -> Error {
    Error::new(Kind::Data("number out of range".into()), Some(start as u64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::codec::Limits;
    use crate::de::LoneSurrogate;

    fn number(text: &str) -> Result<Number> {
        let limits = Limits::new();
        let mut parser = Parser::new(text, &limits, LoneSurrogate::Error);
        let number = parser.number()?;
        parser.end()?;
        Ok(number)
    }

    #[test]
    fn integers_at_the_limits_of_their_types_are_exact() {
        for (text, expected) in [
            ("0", Number::Unsigned(0)),
            ("9223372036854775807", Number::Unsigned(i64::MAX as u64)),
            ("18446744073709551615", Number::Unsigned(u64::MAX)),
            ("18446744073709551616", Number::Float(18446744073709551616.0)),
            ("-1", Number::Signed(-1)),
            ("-9223372036854775808", Number::Signed(i64::MIN)),
            ("-9223372036854775809", Number::Float(-9223372036854775809.0)),
            ("12345678", Number::Unsigned(12345678)),
            ("123456789012345678", Number::Unsigned(123456789012345678)),
        ] {
            assert_eq!(number(text).unwrap(), expected);
            assert_eq!(number(&format!("{text}         ")).unwrap(), expected);
        }
        let Number::Float(zero) = number("-0").unwrap() else { panic!("-0 is a float") };
        assert!(zero == 0.0 && zero.is_sign_negative());
    }

    proptest! {
        #[test]
        fn short_fractions_agree_with_the_standard_library(
            text in "(0|[1-9][0-9]{0,7})[.][0-9]{1,8}", padding in "[ ]{0,9}",
        ) {
            let expected: f64 = text.parse().unwrap();
            let Number::Float(actual) = number(&format!("{text}{padding}")).unwrap() else { panic!("{text}") };
            prop_assert_eq!(actual.to_bits(), expected.to_bits());
        }
    }

    #[test]
    fn errors_of_malformed_numbers_have_the_offset_of_the_first_wrong_byte() {
        for (text, offset) in [
            ("01", 1),
            ("-01", 2),
            ("00", 1),
            ("-x", 1),
            ("1.x", 2),
            ("1ex", 2),
            ("1e+x", 3),
            ("0123456789", 1),
        ] {
            for text in [text.to_owned(), format!("{text}          ")] {
                let error = number(&text).unwrap_err();
                assert!(error.is_syntax(), "{text}");
                assert_eq!(error.offset(), Some(offset), "{text}");
            }
        }
        for text in ["-", "1.", "1e", "1e-"] {
            assert!(number(text).unwrap_err().is_eof(), "{text}");
        }
        assert!(number("1e400").unwrap_err().is_data());
    }

    proptest! {
        #[test]
        fn integers_agree_with_the_standard_library(value: u64, shift in 0_u32..64, padding in "[ ]{0,9}") {
            let value = value >> shift;
            prop_assert_eq!(number(&format!("{value}{padding}")).unwrap(), Number::Unsigned(value));
        }

        #[test]
        fn floats_agree_with_the_standard_library(
            text in "-?(0|[1-9][0-9]{0,21})([.][0-9]{1,24})?([eE][+-]?[0-9]{1,3})?",
            padding in "[ ]{0,9}",
        ) {
            let expected: f64 = text.parse().unwrap();
            match number(&format!("{text}{padding}")) {
                Ok(Number::Float(value)) => prop_assert_eq!(value.to_bits(), expected.to_bits()),
                Ok(Number::Unsigned(value)) => prop_assert_eq!(value.to_string(), text),
                Ok(Number::Signed(value)) => prop_assert_eq!(value.to_string(), text),
                Err(error) => prop_assert!(error.is_data() && expected.is_infinite()),
            }
        }
    }
}

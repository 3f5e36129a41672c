//! Numbers (RFC 8259, section 6).

use super::decimal;
use super::parser::Parser;
use crate::error::{Error, Kind, Result, Syntax};
use crate::powers::{EXACT_POWERS, POWERS};
use crate::scan;
use crate::value::Value;

/// Parsed number. Integers are exact, floats are rounded correctly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// Integer that is not negative.
    Unsigned(u64),
    /// Negative integer.
    Signed(i64),
    /// Number with a fraction or an exponent, integer that exceeds 64 bits, or `-0`.
    Float(f64),
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        match number {
            Number::Unsigned(value) => value.into(),
            Number::Signed(value) => value.into(),
            Number::Float(value) => value.into(),
        }
    }
}

/// Returns the value of the first `count` digits of a block. `count` is 1 to 8. Converts all digits in parallel, which
/// the benchmark rows `json/citm_*_decode` and `json/canada_*_decode` measure.
#[inline(always)]
fn value_of(block: [u8; 8], count: usize) -> u64 {
    // The shift drops the bytes after the digits and fills with zeros in front. The first digit is in the lowest byte.
    let digits = (u64::from_le_bytes(block) ^ 0x3030_3030_3030_3030) << ((64 - 8 * count) & 63);
    let pairs = digits * 10 + (digits >> 8);
    // The upper half of each product is the sum of two pairs, each multiplied by its power of ten.
    const PAIRS: u64 = 0x0000_00ff_0000_00ff;
    let odd = (pairs & PAIRS).wrapping_mul(1_000_000 << 32 | 100);
    let even = (pairs >> 16 & PAIRS).wrapping_mul(10_000 << 32 | 1);
    odd.wrapping_add(even) >> 32
}

/// Returns the value of the first `count` digits of a block. `count` is 9 to 16.
#[inline(always)]
fn value_of_two(high: [u8; 8], low: [u8; 8], count: usize) -> u64 {
    value_of(high, 8) * POWERS[(count - 8) & 15] + value_of(low, count - 8)
}

/// Reads an integer of at most 15 digits, or 8 after a minus sign, that ends inside of the block. Returns it and its
/// length. Most numbers are such integers.
#[inline(always)]
pub(super) fn short_integer(block: &[u8; 16]) -> Option<(Number, usize)> {
    let word = |at: usize| block.get(at..).and_then(<[u8]>::first_chunk::<8>).copied();
    let negative = block[0] == b'-';
    let first = usize::from(negative);
    let end = (!(scan::digits(block) | u32::from(negative))).trailing_zeros() as usize;
    let count = end - first;
    let is_zero = block[first] == b'0';
    if matches!(block.get(end)?, b'.' | b'e' | b'E') || (is_zero && (count > 1 || negative)) {
        return None;
    }
    let number = match (negative, count) {
        (false, 1..=8) => Number::Unsigned(value_of(word(0)?, count)),
        (false, 9..) => Number::Unsigned(value_of_two(word(0)?, word(8)?, count)),
        (true, 1..=8) => Number::Signed(-value_of(word(1)?, count).cast_signed()),
        _ => return None,
    };
    Some((number, end))
}

/// Reads the number at the start of `bytes`, without a search for each group of digits. Returns it and its length, or `None`
/// if it has more than 19 digits or an exponent, or is `-0` or malformed.
#[inline(always)]
pub(crate) fn leading_number(bytes: &[u8]) -> Option<(Number, usize)> {
    let mut padded = [0; 32];
    let block = Block::new(match bytes.first_chunk() {
        Some(block) => block,
        // The end is near. No number contains a zero byte.
        None => {
            padded[..bytes.len()].copy_from_slice(bytes);
            &padded
        }
    });
    match block.fraction() {
        Some((value, len)) => Some((Number::Float(value), len)),
        None => block.integer(),
    }
}

/// Start of a document's rest, in which a number is read if it ends before the block does.
pub(super) struct Block<'a> {
    bytes: &'a [u8; 32],
    negative: bool,
    /// Mask of the bytes that are neither digits nor the sign.
    others: u32,
    /// Offset of the first digit.
    first: usize,
    /// Offset of the first byte after the first group of digits.
    point: usize,
}

impl<'a> Block<'a> {
    #[inline(always)]
    pub(super) fn new(bytes: &'a [u8; 32]) -> Self {
        let (halves, _) = bytes.as_chunks::<16>();
        let negative = bytes[0] == b'-';
        let digits = scan::digits(&halves[0]) | scan::digits(&halves[1]) << 16;
        let others = !(digits | u32::from(negative));
        let point = others.trailing_zeros() as usize;
        Self { bytes, negative, others, first: usize::from(negative), point }
    }

    #[inline(always)]
    fn word(&self, at: usize) -> Option<[u8; 8]> {
        self.bytes.get(at..)?.first_chunk().copied()
    }

    /// Reads a number with a fraction of at most 16 digits, with at most 8 digits before it, and without an exponent.
    /// Returns it and its length, or `None` if it is another number or malformed.
    ///
    /// One search finds the ends of both groups of digits, and their values are calculated in parallel.
    #[inline(always)]
    pub(super) fn fraction(&self) -> Option<(f64, usize)> {
        let end = (self.others & self.others.wrapping_sub(1)).trailing_zeros() as usize;
        let whole = self.point - self.first;
        let decimals = end.wrapping_sub(self.point + 1);
        let is_short = (1..=8).contains(&whole) && (self.bytes[self.first] != b'0' || whole == 1);
        if *self.bytes.get(self.point)? != b'.' || !is_short || matches!(self.bytes.get(end)?, b'e' | b'E') {
            return None;
        }
        if !(1..=16).contains(&decimals) || whole + decimals > 19 {
            return None;
        }
        let digits = scan::chunk(self.bytes, self.point + 1)?;
        let fraction = match scan::value(digits, decimals) {
            Some(value) => value,
            None if decimals <= 8 => value_of(self.word(self.point + 1)?, decimals),
            None => value_of_two(self.word(self.point + 1)?, self.word(self.point + 9)?, decimals),
        };
        let mantissa = value_of(self.word(self.first)?, whole) * POWERS[decimals] + fraction;
        let magnitude = if mantissa <= 1 << 53 {
            // An operation on exact operands is rounded once.
            mantissa as f64 / EXACT_POWERS[decimals]
        } else {
            decimal::nearest(mantissa, -(decimals as i64))?
        };
        Some((f64::from_bits(magnitude.to_bits() | u64::from(self.negative) << 63), end))
    }

    /// Reads an integer of at most 19 digits, or 18 after a minus sign. Returns it and its length, or `None` if it is
    /// another number, `-0`, or malformed.
    #[inline(always)]
    fn integer(&self) -> Option<(Number, usize)> {
        let count = self.point - self.first;
        let is_zero = self.bytes[self.first] == b'0';
        if matches!(self.bytes.get(self.point)?, b'.' | b'e' | b'E')
            || (is_zero && (self.negative || count > 1))
        {
            return None;
        }
        let word = |at| self.word(self.first + at);
        let value = match count {
            1..=8 => value_of(word(0)?, count),
            9..=16 => value_of_two(word(0)?, word(8)?, count),
            17..=19 => {
                value_of_two(word(0)?, word(8)?, 16) * POWERS[count - 16] + value_of(word(16)?, count - 16)
            }
            _ => return None,
        };
        match self.negative {
            false => Some((Number::Unsigned(value), self.point)),
            true if count < 19 => Some((Number::Signed(-value.cast_signed()), self.point)),
            true => None,
        }
    }
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
        while let Some(byte @ b'0'..=b'9') = self.bytes.get(self.at) {
            *value = value.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
            self.at += 1;
        }
        self.at - start
    }

    /// Reads the number that begins at the current position with a digit or a minus sign.
    #[inline(always)]
    pub(super) fn number(&mut self) -> Result<Number> {
        if let Some(block) = scan::chunk(self.bytes, self.at)
            && let Some((number, len)) = short_integer(block)
        {
            self.at += len;
            return Ok(number);
        }
        self.decimal()
    }

    /// Same as [`number`](Self::number), for numbers with a fraction or many digits.
    #[inline(never)]
    pub(super) fn decimal(&mut self) -> Result<Number> {
        if let Some((number, len)) = leading_number(self.bytes.get(self.at..).unwrap_or_default()) {
            self.at += len;
            return Ok(number);
        }
        self.any_number()
    }

    /// Reads a number with a fraction. Returns `None` without consuming anything if [`number`](Self::number) has to read
    /// it.
    #[inline(always)]
    pub(super) fn fraction(&mut self) -> Option<f64> {
        let (value, len) = Block::new(scan::chunk(self.bytes, self.at)?).fraction()?;
        self.at += len;
        Some(value)
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
        // The text of a document in bytes is empty.
        let text = str::from_utf8(&self.bytes[start..self.at]).unwrap_or_default();
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
        while let Some(block) = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk::<16>) {
            let count = (!scan::digits(block)).trailing_zeros() as usize;
            self.at += count.min(16);
            if count < 16 {
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

    /// Reads a number as `f32`.
    #[inline]
    pub(super) fn float32(&mut self) -> Result<f32> {
        let start = self.at;
        let value = match self.fraction() {
            Some(value) => value,
            None => match self.number()? {
                Number::Unsigned(value) => return Ok(value as f32),
                Number::Signed(value) => return Ok(value as f32),
                Number::Float(value) => value,
            },
        };
        match single(value) {
            Some(value) => Ok(value),
            None => self.single_with_std(start),
        }
    }

    #[cold]
    fn single_with_std(&self, start: usize) -> Result<f32> {
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

/// Returns the `f32` nearest to a number from the nearest `f64`. `None` if the result is not normal, or if the `f64` is halfway
/// between two `f32`: it may have been rounded to there, and every other number is on the same side as before.
#[inline(always)]
fn single(value: f64) -> Option<f32> {
    const BELOW: u64 = (1 << 29) - 1;
    let is_normal = (f64::from(f32::MIN_POSITIVE)..f64::from(f32::MAX)).contains(&value.abs());
    ((is_normal || value == 0.0) && value.to_bits() & BELOW != 1 << 28).then_some(value as f32)
}

#[cold]
pub(super) fn out_of_range(start: usize) -> Error {
    Error::new(Kind::Data("number out of range".into()), Some(start as u64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::codec::Codec;
    use crate::error::ErrorDetails as _;

    fn number(text: &str) -> Result<Number> {
        let codec = Codec::strict();
        let mut parser = Parser::new(text, &codec);
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

    /// Checks all functions that read a number against the standard library.
    fn agrees_with_the_standard_library(text: &str, rest: &str) {
        let document = format!("{text}{rest}");
        let codec = Codec::strict();
        let parser = || Parser::new(&document, &codec);
        let integer = !text.contains(['.', 'e', 'E']) && text != "-0";
        let expected = match (text.parse::<u64>(), text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(value), ..) if integer => Some(Number::Unsigned(value)),
            (_, Ok(value), _) if integer => Some(Number::Signed(value)),
            (_, _, Ok(value)) if value.is_finite() => Some(Number::Float(value)),
            _ => None,
        };
        let bits = |number: Option<Number>| match number {
            Some(Number::Float(value)) => Err(value.to_bits()),
            other => Ok(other),
        };
        for read in [Parser::number, Parser::decimal, Parser::any_number] {
            let mut parser = parser();
            let result = read(&mut parser);
            assert_eq!(bits(result.as_ref().ok().copied()), bits(expected), "{document:?}");
            assert!(result.is_ok_and(|_| parser.at == text.len()) || expected.is_none(), "{document:?}");
        }
        let expected_single = text.parse::<f32>().ok().filter(|value| value.is_finite()).map(f32::to_bits);
        assert_eq!(parser().float32().ok().map(f32::to_bits), expected_single, "{document:?}");
        let mut parser = parser();
        if let Some(value) = parser.fraction() {
            assert_eq!(
                (bits(Some(Number::Float(value))), parser.at),
                (bits(expected), text.len()),
                "{document:?}"
            );
        } else {
            assert_eq!(parser.at, 0);
        }
    }

    #[test]
    fn groups_of_digits_of_every_length_agree_with_the_standard_library() {
        for digits in ["1234567890123456789012", "9999999999999999999999", "1000000000000000000001"] {
            for (whole, decimals) in
                (1..=21).flat_map(|whole| (0..=19).map(move |decimals| (whole, decimals)))
            {
                let fraction =
                    if decimals > 0 { format!(".{}", &digits[22 - decimals..]) } else { String::new() };
                for sign in ["", "-"] {
                    for rest in ["", ",", "}         ", ",1.5         ", &format!("]{}", " ".repeat(40))] {
                        agrees_with_the_standard_library(
                            &format!("{sign}{}{fraction}", &digits[..whole]),
                            rest,
                        );
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn decimals_agree_with_the_standard_library(
            text in "-?(0|[1-9][0-9]{0,9})[.]([0-9]{1,18}|0{1,14}[0-9]{1,4})", rest in "(,|[ ]{0,40}|,-?[0-9.eE]{0,40})",
        ) {
            agrees_with_the_standard_library(&text, &rest);
        }

        #[test]
        fn numbers_agree_with_the_standard_library(
            text in "-?(0|[1-9][0-9]{0,21})([.][0-9]{1,24})?([eE][+-]?[0-9]{1,3})?",
            rest in "(,|[ ]{0,40}|,-?[0-9.eE]{0,40})",
        ) {
            agrees_with_the_standard_library(&text, &rest);
        }

        /// The functions that read numbers accept the same texts as the one that skips them, and report errors at the
        /// same offset.
        #[test]
        fn malformed_numbers_are_rejected_at_the_same_offset(
            text in "(-|[0-9])[0-9]{0,12}[0-9.eE+x-]{0,3}[0-9]{0,17}[0-9.eE+x-]{0,3}", rest in "[ ]{0,40}",
        ) {
            let document = format!("{text}{rest}");
            let codec = Codec::strict();
            let parser = || Parser::new(&document, &codec);
            let mut skipped = parser();
            let expected = skipped.skip_number();
            for read in [Parser::number, Parser::decimal, Parser::any_number] {
                let mut parser = parser();
                match (read(&mut parser), &expected) {
                    (Ok(_), Ok(())) => prop_assert_eq!(parser.at, skipped.at),
                    (Err(error), Ok(())) => prop_assert!(error.is_data()),
                    (Err(error), Err(expected)) => {
                        prop_assert_eq!(error.offset(), expected.offset());
                        prop_assert_eq!(error.is_eof(), expected.is_eof());
                    }
                    (Ok(_), Err(_)) => prop_assert!(false, "{:?}", document),
                }
            }
            let mut parser = parser();
            if parser.fraction().is_some() {
                prop_assert!(expected.is_ok());
                prop_assert_eq!(parser.at, skipped.at);
            }
        }
    }

    #[test]
    fn singles_next_to_the_middle_of_two_are_rounded_once() {
        for exponent in -160..130 {
            for value in [1.0_f32, 1.5, 1.0 + f32::EPSILON, 2.0 - f32::EPSILON] {
                let low = f64::from(value) * 2_f64.powi(exponent);
                let middle = low + f64::from(f32::EPSILON) / 2.0 * 2_f64.powi(exponent);
                for value in [low, middle, middle.next_up(), middle.next_down()] {
                    // All digits of the double, and a little more or less than it.
                    let digits = format!("{value:.80e}");
                    let (mantissa, power) = digits.split_once('e').unwrap();
                    for text in [
                        format!("{value:e}"),
                        digits.clone(),
                        format!("{mantissa}1e{power}"),
                        format!("{value:.18e}"),
                        format!("{value:.30}"),
                        format!("{value}"),
                    ] {
                        let expected: f32 = text.parse().unwrap();
                        let actual = Codec::strict().from_str::<f32>(&text).ok().map(f32::to_bits);
                        assert_eq!(
                            actual,
                            Some(expected.to_bits()).filter(|_| expected.is_finite()),
                            "{text}"
                        );
                    }
                }
            }
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
}

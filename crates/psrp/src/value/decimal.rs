//! `System.Decimal`.

use std::str::FromStr;

use super::ascii::{self, AsciiBuffer};
use crate::Error;
use crate::error::Kind;

/// A decimal number with a 96-bit mantissa and a scale (`System.Decimal`). `1.50` and `1.5` are different values; up to
/// 28 digits follow the point.
///
/// Zero has no sign because its text form has none.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Decimal {
    low: u64,
    high: u32,
    scale: u8,
    negative: bool,
}

impl Decimal {
    /// Maximum digits after the point.
    pub const MAX_SCALE: u8 = 28;

    const MAX_MANTISSA: u128 = (1 << 96) - 1;

    /// Returns `mantissa` divided by ten to the power of `scale`, or `None` if the mantissa exceeds 96 bits or the
    /// scale 28.
    pub const fn new(negative: bool, mantissa: u128, scale: u8) -> Option<Self> {
        if mantissa > Self::MAX_MANTISSA || scale > Self::MAX_SCALE {
            return None;
        }
        let negative = negative && mantissa != 0;
        Some(Self { low: mantissa as u64, high: (mantissa >> 64) as u32, scale, negative })
    }

    /// Returns the digits without point and sign.
    pub const fn mantissa(self) -> u128 {
        (self.high as u128) << 64 | self.low as u128
    }

    /// Returns the number of digits after the point.
    pub const fn scale(self) -> u8 {
        self.scale
    }

    /// Returns whether the number is less than zero.
    pub const fn is_negative(self) -> bool {
        self.negative
    }

    pub(crate) fn text(self) -> AsciiBuffer {
        let mut text = AsciiBuffer::new();
        if self.negative {
            text.push(b'-');
        }
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(self.mantissa()).as_bytes();
        let scale = usize::from(self.scale);
        match digits.len().checked_sub(scale) {
            Some(whole) if scale == 0 || whole > 0 => {
                text.push_bytes(&digits[..whole]);
                if scale > 0 {
                    text.push(b'.');
                    text.push_bytes(&digits[whole..]);
                }
            }
            _ => {
                text.push_bytes(b"0.");
                text.push_zeros(scale - digits.len());
                text.push_bytes(digits);
            }
        }
        text
    }

    /// Parses digits with at most one point. Excess digits after the point are rounded, half to even.
    fn parse_digits(negative: bool, digits: &[u8]) -> Option<Self> {
        let (mut mantissa, mut scale) = (0u128, 0u8);
        let (mut any, mut point) = (false, false);
        // The first digit that does not fit, and whether any later digit is not zero.
        let (mut dropped, mut sticky) = (None, false);
        for byte in digits {
            let digit = match byte {
                b'0'..=b'9' => u128::from(byte - b'0'),
                b'.' if !point => {
                    point = true;
                    continue;
                }
                _ => return None,
            };
            any = true;
            let longer = mantissa * 10 + digit;
            let fits = longer <= Self::MAX_MANTISSA && (!point || scale < Self::MAX_SCALE);
            match dropped {
                None if fits => {
                    mantissa = longer;
                    scale += u8::from(point);
                }
                None if point => dropped = Some(digit),
                None => return None,
                Some(_) => sticky |= digit != 0,
            }
        }
        let up = match dropped {
            Some(digit) => digit > 5 || digit == 5 && (sticky || mantissa % 2 == 1),
            None => false,
        };
        mantissa += u128::from(up);
        if mantissa > Self::MAX_MANTISSA {
            // The maximum plus one ends with 6; rounding it up drops a digit, so that it fits.
            scale = scale.checked_sub(1)?;
            mantissa = mantissa / 10 + 1;
        }
        Self::new(negative, mantissa, scale).filter(|_| any)
    }
}

ascii::impl_text! {
    /// Writes plain digits without an exponent, with all digits after the point.
    Decimal
}

/// Parses an optional sign and digits with at most one point, surrounded by optional white space. Excess digits after
/// the point are rounded like in .NET, half to even.
impl FromStr for Decimal {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let bytes = ascii::trim(text).as_bytes();
        let (negative, digits) = match bytes {
            [b'-', digits @ ..] => (true, digits),
            [b'+', digits @ ..] | digits => (false, digits),
        };
        Self::parse_digits(negative, digits).ok_or_else(|| Error::with(Kind::InvalidText, "not a decimal"))
    }
}

macro_rules! impl_from {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Decimal {
            fn from(number: $integer) -> Self {
                let number = i128::from(number);
                Self::new(number < 0, number.unsigned_abs(), 0).unwrap_or_default()
            }
        }
    )*};
}

impl_from!(i8, u8, i16, u16, i32, u32, i64, u64);

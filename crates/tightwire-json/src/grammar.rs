//! Parts of the grammar (RFC 8259) that several parsers share.

/// Returns whether `byte` is white space (RFC 8259, section 2).
#[inline(always)]
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\r')
}

/// Returns whether `byte` ends a number or literal name before it.
#[inline(always)]
pub(crate) fn is_delimiter(byte: u8) -> bool {
    is_space(byte) || matches!(byte, b',' | b':' | b'[' | b']' | b'{' | b'}' | b'"')
}

/// Returns the length of the string at the start of `document` (RFC 8259, section 7), including its quotes.
pub(crate) fn string_len(document: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', document.get(at..)?)?;
        match document[at] {
            b'"' => return Some(at + 1),
            _ => at += 2,
        }
    }
}

/// Part of a number (RFC 8259, section 6) that was read last. The text of the number arrives in chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberState {
    /// Nothing.
    Start,
    /// The minus sign.
    Minus,
    /// The digit 0 before the decimal point.
    Zero,
    /// Another digit before the decimal point.
    Integer,
    /// The decimal point.
    Point,
    /// A digit after the decimal point.
    Fraction,
    /// The letter `e`.
    Exponent,
    /// The sign of the exponent.
    ExponentSign,
    /// A digit of the exponent.
    ExponentDigits,
}

/// Effect of a byte in or after a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberStep {
    /// The byte belongs to the number.
    Next(NumberState),
    /// The number ends before the byte.
    End,
    /// The number is malformed at the byte.
    Malformed,
}

impl NumberState {
    /// Returns the effect of the next byte.
    pub fn step(self, byte: u8) -> NumberStep {
        NumberStep::Next(match (self, byte) {
            (Self::Start, b'-') => Self::Minus,
            (Self::Start | Self::Minus, b'0') => Self::Zero,
            (Self::Start | Self::Minus, b'1'..=b'9') | (Self::Integer, b'0'..=b'9') => Self::Integer,
            (Self::Zero | Self::Integer, b'.') => Self::Point,
            (Self::Point | Self::Fraction, b'0'..=b'9') => Self::Fraction,
            (Self::Zero | Self::Integer | Self::Fraction, b'e' | b'E') => Self::Exponent,
            (Self::Exponent, b'+' | b'-') => Self::ExponentSign,
            (Self::Exponent | Self::ExponentSign | Self::ExponentDigits, b'0'..=b'9') => Self::ExponentDigits,
            (Self::Zero, b'0'..=b'9') => return NumberStep::Malformed,
            _ if self.is_number() => return NumberStep::End,
            _ => return NumberStep::Malformed,
        })
    }

    /// Returns whether the text so far is a number.
    pub fn is_number(self) -> bool {
        matches!(self, Self::Zero | Self::Integer | Self::Fraction | Self::ExponentDigits)
    }
}

//! A stack buffer for the text of numbers, dates and time spans.

use std::fmt;

/// ASCII text built without allocation. The text of every number, date and time span fits.
#[derive(Clone, Copy)]
pub(crate) struct AsciiBuffer {
    bytes: [u8; Self::CAPACITY],
    len: usize,
}

impl AsciiBuffer {
    /// The longest text is a date with seven fractional digits and an offset: 33 bytes.
    const CAPACITY: usize = 40;

    pub(crate) const fn new() -> Self {
        Self { bytes: [0; Self::CAPACITY], len: 0 }
    }

    pub(crate) fn push(&mut self, byte: u8) {
        self.bytes[self.len] = byte;
        self.len += 1;
    }

    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    pub(crate) fn push_zeros(&mut self, count: usize) {
        self.bytes[self.len..self.len + count].fill(b'0');
        self.len += count;
    }

    /// Appends the last `N` decimal digits of a number, zero-padded.
    pub(crate) fn push_digits<const N: usize>(&mut self, mut number: u32) {
        let mut digits = [b'0'; N];
        for digit in digits.iter_mut().rev() {
            *digit += (number % 10) as u8;
            number /= 10;
        }
        self.push_bytes(&digits);
    }

    /// Appends the decimal point and the fraction of a second given in ticks of 100 ns, without trailing zeros; nothing
    /// for zero ticks.
    pub(crate) fn push_fraction(&mut self, ticks: u32) {
        if ticks != 0 {
            self.push(b'.');
            self.push_digits::<7>(ticks);
            while self.bytes[self.len - 1] == b'0' {
                self.len -= 1;
            }
        }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    pub(crate) fn as_str(&self) -> &str {
        str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}

impl fmt::Write for AsciiBuffer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push_bytes(text.as_bytes());
        Ok(())
    }
}

impl fmt::Display for AsciiBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Implements `Display`, and `Debug` with the same text, for types with a method `text`.
macro_rules! impl_text {
    ($($(#[$doc:meta])* $type:ty),*) => {$(
        $(#[$doc])*
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&self.text(), f)
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&self.text(), f)
            }
        }
    )*};
}

pub(super) use impl_text;

/// Trims the white space that XML allows around a value.
#[inline]
pub(crate) fn trim(text: &str) -> &str {
    match text.as_bytes() {
        [b'!'..=255] | [b'!'..=255, .., b'!'..=255] => text,
        _ => text.trim_matches([' ', '\t', '\r', '\n']),
    }
}

/// Consumes the fraction of a second, if there is one: a point and digits. Returns its ticks of 100 ns, and the digits
/// after these, by which the caller rounds. `None` if no digit follows the point.
pub(super) fn fraction<'a>(text: &mut &'a [u8]) -> Option<(u32, &'a [u8])> {
    let Some(digits) = text.strip_prefix(b".") else { return Some((0, &[])) };
    let len = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = digits.split_at(len);
    let digit = |at: usize| digits.get(at).map_or(0, |digit| u32::from(digit - b'0'));
    let ticks = (0..7).fold(0, |ticks, at| ticks * 10 + digit(at));
    *text = rest;
    (len > 0).then(|| (ticks, digits.get(7..).unwrap_or_default()))
}

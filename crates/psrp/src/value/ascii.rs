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

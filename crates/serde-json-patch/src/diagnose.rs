//! Slow parsers of strings and numbers, which find errors and byte strings that are not UTF-8. The engine reports no
//! details of malformed tokens.

use tightwire_json::engine::{NumberState, NumberStep};

use crate::error::Reason;

/// An error, and the number of bytes up to it and including it.
pub(crate) type Fault = (Reason, usize);

/// Use of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Text,
    /// Control characters and lone surrogates are allowed.
    Bytes,
    /// Lone surrogates are allowed.
    Skip,
}

/// Reads the string whose opening quote is before the offset `at`, and appends its content to `out`, which may not be
/// UTF-8. Returns the offset after the closing quote.
pub(crate) fn string(bytes: &[u8], at: usize, purpose: Purpose, out: &mut Vec<u8>) -> Result<usize, Fault> {
    let mut reader = StringReader { bytes, at, purpose };
    loop {
        match reader.next()? {
            b'"' => return Ok(reader.at),
            b'\\' => reader.escape(out)?,
            0..=0x1f if purpose != Purpose::Bytes => return Err((Reason::CONTROL, reader.at)),
            byte => out.push(byte),
        }
    }
}

struct StringReader<'a> {
    bytes: &'a [u8],
    at: usize,
    purpose: Purpose,
}

impl StringReader<'_> {
    fn next(&mut self) -> Result<u8, Fault> {
        let byte = *self.bytes.get(self.at).ok_or((Reason::EOF_STRING, self.bytes.len()))?;
        self.at += 1;
        Ok(byte)
    }

    fn fail<T>(&self, reason: Reason) -> Result<T, Fault> {
        Err((reason, self.at))
    }

    /// Reads the escape after a backslash.
    fn escape(&mut self, out: &mut Vec<u8>) -> Result<(), Fault> {
        out.push(match self.next()? {
            byte @ (b'"' | b'\\' | b'/') => byte,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => return self.unicode(out),
            _ => return self.fail(Reason::ESCAPE),
        });
        Ok(())
    }

    /// Reads the escape after `\u`, and the second one of a pair.
    fn unicode(&mut self, out: &mut Vec<u8>) -> Result<(), Fault> {
        let is_text = self.purpose == Purpose::Text;
        let mut unit = self.hex()?;
        if is_text && matches!(unit, 0xdc00..=0xdfff) {
            return self.fail(Reason::SURROGATE);
        }
        while matches!(unit, 0xd800..=0xdbff) {
            for expected in [b'\\', b'u'] {
                let next = self.next()?;
                if next == expected {
                    continue;
                }
                if is_text {
                    return self.fail(Reason::HEX_END);
                }
                push_code(unit, out);
                self.at -= 1;
                // The backslash before it begins another escape.
                return if expected == b'u' { self.escape(out) } else { Ok(()) };
            }
            let low = self.hex()?;
            if matches!(low, 0xdc00..=0xdfff) {
                push_code(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00), out);
                return Ok(());
            }
            if is_text {
                return self.fail(Reason::SURROGATE);
            }
            push_code(unit, out);
            unit = low;
        }
        push_code(unit, out);
        Ok(())
    }

    fn hex(&mut self) -> Result<u32, Fault> {
        let mut value = Some(0);
        for _ in 0..4 {
            let digit = char::from(self.next()?).to_digit(16);
            value = value.zip(digit).map(|(value, digit)| value << 4 | digit);
        }
        value.ok_or((Reason::ESCAPE, self.at))
    }
}

/// Appends a code point in UTF-8, or a surrogate as UTF-8 would encode it if it were a character.
fn push_code(code: u32, out: &mut Vec<u8>) {
    match char::from_u32(code) {
        Some(char) => out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
        None => {
            let tail = |shift: u32| 0x80 | (code >> shift) as u8 & 0x3f;
            out.extend_from_slice(&[0xe0 | (code >> 12) as u8, tail(6), tail(0)]);
        }
    }
}

/// Returns the offset after the number at `start`, or its error. Does not check its range.
pub(crate) fn number(bytes: &[u8], start: usize) -> Result<usize, Fault> {
    let (mut state, mut at) = (NumberState::Start, start);
    while let Some(byte) = bytes.get(at) {
        match state.step(*byte) {
            NumberStep::Next(next) => state = next,
            NumberStep::End => return Ok(at),
            NumberStep::Malformed => return Err((Reason::NUMBER, at + 1)),
        }
        at += 1;
    }
    if state.is_number() { Ok(at) } else { Err((Reason::EOF_VALUE, at)) }
}

/// Returns the offset after the digit at which the exponent of the number in `bytes[start..end]` exceeds 32 bits.
pub(crate) fn exponent_overflow(bytes: &[u8], start: usize, end: usize) -> Option<usize> {
    let exponent = start + bytes[start..end].iter().position(|byte| matches!(byte, b'e' | b'E'))?;
    let mut value = 0_i32;
    for (at, byte) in bytes[..end].iter().enumerate().skip(exponent) {
        if byte.is_ascii_digit() {
            match value.checked_mul(10).and_then(|tens| tens.checked_add(i32::from(byte - b'0'))) {
                Some(next) => value = next,
                None => return Some(at + 1),
            }
        }
    }
    None
}

/// Returns line and column at an offset: the number of bytes since the last line break before it.
pub(crate) fn position(bytes: &[u8], offset: usize) -> (usize, usize) {
    let before = &bytes[..offset];
    let start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    (1 + memchr::memchr_iter(b'\n', before).count(), offset - start)
}

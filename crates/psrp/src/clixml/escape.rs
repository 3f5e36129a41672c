//! The escapes `_xHHHH_` of strings (MS-PSRP 2.2.5.3.2).
//!
//! Code units that XML can't contain safely are written as `_x`, four hexadecimal digits and `_`: control characters,
//! surrogates, U+FFFE, U+FFFF, and an underscore that would otherwise begin such an escape.
//!
//! PowerShell does not escape U+FFFE and U+FFFF but fails to write them. It reads their escapes.

use std::borrow::Cow;

use super::short_text::{SHORT, SPACES, copy, special_bits};
use crate::PsString;

/// Escapes text with `_xHHHH_` as CLIXML requires. XML's own escapes are not applied.
///
/// ```
/// use psrp::clixml::{escape, unescape};
///
/// assert_eq!(escape("plain text"), "plain text");
/// assert_eq!(escape("two\r\nlines"), "two_x000D__x000A_lines");
/// assert_eq!(escape("_x0041_"), "_x005F_x0041_");
/// assert_eq!(unescape(&escape("\u{1F600}")), "\u{1F600}");
/// ```
pub fn escape(text: &str) -> Cow<'_, str> {
    match first_escaped(text) {
        None => Cow::Borrowed(text),
        Some(at) => {
            // An escape takes seven bytes in place of one or two, and text with one escape often has more.
            let mut out = Vec::with_capacity(text.len() + text.len().min(256) + 16);
            out.extend_from_slice(&text.as_bytes()[..at]);
            push(&mut out, &text[at..], Context::Plain);
            Cow::Owned(into_string(out))
        }
    }
}

/// Replaces each `_xHHHH_` by a code unit, and each `_xHHHHHHHH_` by a character.
///
/// Reads from left to right without overlap. Incomplete escapes are left unchanged. Adjacent surrogates that form a
/// pair become one character. A lone surrogate becomes U+FFFD here; [`PsString::from_escaped`] preserves it.
pub fn unescape(text: &str) -> Cow<'_, str> {
    match first_escape(text.as_bytes(), 0) {
        None => Cow::Borrowed(text),
        Some(found) => match unescape_from(text, found) {
            Ok(text) => Cow::Owned(text),
            Err(units) => Cow::Owned(String::from_utf16_lossy(&units)),
        },
    }
}

impl PsString {
    /// Parses text with escapes like [`unescape`](crate::clixml::unescape), but preserves lone surrogates.
    ///
    /// ```
    /// use psrp::PsString;
    ///
    /// let lone = PsString::from_escaped("_xD83D_!");
    /// assert_eq!(lone.to_utf16(), [0xD83D, 0x21]);
    /// assert_eq!(lone.to_escaped(), "_xD83D_!");
    /// ```
    pub fn from_escaped(text: &str) -> Self {
        match first_escape(text.as_bytes(), 0) {
            None => text.into(),
            Some(found) => match unescape_from(text, found) {
                Ok(text) => text.into(),
                Err(units) => Self::from_utf16(&units),
            },
        }
    }

    /// Escapes the text like [`escape`](crate::clixml::escape), including lone surrogates.
    pub fn to_escaped(&self) -> Cow<'_, str> {
        match (self.as_str(), self.as_wide()) {
            (Some(text), _) => escape(text),
            (None, units) => {
                let mut out = Vec::new();
                push_utf16(&mut out, units.unwrap_or_default(), Context::Plain);
                Cow::Owned(into_string(out))
            }
        }
    }
}

/// All bytes written here are UTF-8.
fn into_string(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_default()
}

/// Where the text is written, which determines the XML escapes that it needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Context {
    /// Not in XML: only the escapes of CLIXML.
    Plain,
    /// Element content: also `&`, `<` and `>`.
    Content,
    /// Quoted attribute value: also `"`.
    Attribute,
}

/// Appends a string with all escapes that the context requires.
#[inline]
pub(crate) fn push_ps_string(out: &mut Vec<u8>, text: &PsString, context: Context) {
    match text.as_str() {
        Some(text) => push(out, text, context),
        None => push_utf16(out, text.as_wide().unwrap_or_default(), context),
    }
}

/// Appends text with all escapes that the context requires.
#[inline]
pub(crate) fn push(out: &mut Vec<u8>, text: &str, context: Context) {
    if text.len() > SHORT || !push_plain(out, text.as_bytes()) {
        push_any(out, text, context);
    }
}

/// Appends short text that needs no escape. Returns false, and appends nothing, for other text.
#[inline]
fn push_plain(out: &mut Vec<u8>, bytes: &[u8]) -> bool {
    let start = out.len();
    out.extend_from_slice(&[0; SHORT]);
    let Some(space) = out.last_chunk_mut::<SHORT>() else { return false };
    let plain = copy(bytes, space, 0);
    out.truncate(if plain { start + bytes.len() } else { start });
    plain
}

#[inline(never)]
fn push_any(out: &mut Vec<u8>, text: &str, context: Context) {
    let bytes = text.as_bytes();
    match find_special(bytes, 0) {
        None => out.extend_from_slice(bytes),
        Some(at) => push_from(out, text, at, context),
    }
}

/// Appends text whose bytes before `at` need no escape.
fn push_from(out: &mut Vec<u8>, text: &str, mut at: usize, context: Context) {
    let bytes = text.as_bytes();
    let mut start = 0;
    while let Some(&byte) = bytes.get(at) {
        match replacement(bytes, at, byte, context) {
            Replacement::None => {
                at += 1;
                if byte >= 0x80 {
                    // Skip the rest of a run of non-ASCII text.
                    while matches!(bytes.get(at), Some(0x80..=0xC1 | 0xC3..=0xEE)) {
                        at += 1;
                    }
                }
            }
            Replacement::Entity(entity) => {
                out.extend_from_slice(&bytes[start..at]);
                out.extend_from_slice(entity);
                at += 1;
                start = at;
            }
            Replacement::Unit(unit, len) => {
                out.extend_from_slice(&bytes[start..at]);
                push_unit(out, unit);
                at += len;
                start = at;
            }
            Replacement::Pair => {
                out.extend_from_slice(&bytes[start..at]);
                let Some(char) = text.get(at..).and_then(|rest| rest.chars().next()) else { break };
                for unit in char.encode_utf16(&mut [0; 2]) {
                    push_unit(out, *unit);
                }
                at += char.len_utf8();
                start = at;
            }
        }
        match find_special(bytes, at) {
            Some(next) => at = next,
            None => break,
        }
    }
    out.extend_from_slice(&bytes[start..]);
}

/// How a byte found by `find` is written.
enum Replacement {
    /// Unchanged.
    None,
    Entity(&'static [u8]),
    /// As an escape of this code unit; replaces this many bytes.
    Unit(u16, usize),
    /// As two escapes, for the character of four bytes that begins here.
    Pair,
}

#[inline]
fn replacement(bytes: &[u8], at: usize, byte: u8, context: Context) -> Replacement {
    match byte {
        0..0x20 | 0x7F => Replacement::Unit(byte.into(), 1),
        b'_' if matches!(bytes.get(at + 1), Some(b'x' | b'X')) => Replacement::Unit(byte.into(), 1),
        0xC2 => match bytes.get(at + 1) {
            Some(&unit @ 0x80..=0x9F) => Replacement::Unit(unit.into(), 2),
            _ => Replacement::None,
        },
        0xEF => match bytes.get(at + 1..at + 3) {
            Some([0xBF, 0xBE]) => Replacement::Unit(0xFFFE, 3),
            Some([0xBF, 0xBF]) => Replacement::Unit(0xFFFF, 3),
            _ => Replacement::None,
        },
        0xF0.. => Replacement::Pair,
        _ => entity(byte, context).map_or(Replacement::None, Replacement::Entity),
    }
}

/// Returns the XML entity for a byte.
fn entity(byte: u8, context: Context) -> Option<&'static [u8]> {
    match byte {
        _ if context == Context::Plain => None,
        b'&' => Some(b"&amp;"),
        b'<' => Some(b"&lt;"),
        b'>' => Some(b"&gt;"),
        b'"' if context == Context::Attribute => Some(b"&quot;"),
        _ => None,
    }
}

fn push_unit(out: &mut Vec<u8>, unit: u16) {
    let digit = |shift: u16| b"0123456789ABCDEF"[usize::from((unit >> shift) & 15)];
    out.extend_from_slice(&[b'_', b'x', digit(12), digit(8), digit(4), digit(0), b'_']);
}

/// Appends a string with lone surrogates.
fn push_utf16(out: &mut Vec<u8>, units: &[u16], context: Context) {
    for (at, &unit) in units.iter().enumerate() {
        let escape = match unit {
            0..0x20 | 0x7F..0xA0 | 0xD800..0xE000 | 0xFFFE | 0xFFFF => true,
            0x5F => matches!(units.get(at + 1), Some(0x58 | 0x78)),
            _ => false,
        };
        if escape {
            push_unit(out, unit);
        } else if let Some(entity) = u8::try_from(unit).ok().and_then(|byte| entity(byte, context)) {
            out.extend_from_slice(entity);
        } else if let Some(char) = char::from_u32(unit.into()) {
            out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
}

/// Returns the offset of the first byte from `at` on that may need an escape.
#[inline]
pub(super) fn find_special(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let place = |found: u64| (found.trailing_zeros() / 8) as usize;
    let Some(end) = rest.last_chunk::<8>() else {
        let found = special_bits(last(rest));
        return (found != 0).then(|| at + place(found));
    };
    for (index, chunk) in rest.as_chunks::<8>().0.iter().enumerate() {
        let found = special_bits(u64::from_le_bytes(*chunk));
        if found != 0 {
            return Some(at + index * 8 + place(found));
        }
    }
    // The chunk overlaps bytes that were already checked; these need no escape.
    let found = special_bits(u64::from_le_bytes(*end));
    (found != 0).then(|| bytes.len() - 8 + place(found))
}

/// Loads fewer than eight bytes into a word and fills it with spaces, which need no escape.
#[inline(always)]
fn last(tail: &[u8]) -> u64 {
    let len = tail.len();
    if let (Some(head), Some(end)) = (tail.first_chunk::<4>(), tail.last_chunk::<4>()) {
        // The overlapping bytes are the same in both parts.
        let head = u64::from(u32::from_le_bytes(*head));
        let end = u64::from(u32::from_le_bytes(*end)) << (8 * (len - 4));
        head | end | ((SPACES << (8 * (len - 1))) << 8)
    } else if let [first, .., end] = tail {
        let middle = u64::from(tail[len / 2]) << 8;
        let end = u64::from(*end) << (8 * (len - 1));
        u64::from(*first) | middle | end | (SPACES << (8 * len))
    } else {
        tail.first().map_or(SPACES, |byte| u64::from(*byte) | (SPACES << 8))
    }
}

/// Returns the offset of the first byte that CLIXML escapes outside of XML.
fn first_escaped(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        at = find_special(bytes, at)?;
        if !matches!(replacement(bytes, at, bytes[at], Context::Plain), Replacement::None) {
            return Some(at);
        }
        at += 1;
    }
}

/// Position and value of an escape.
struct EscapeSequence {
    at: usize,
    /// The code unit or code point.
    code: u32,
    len: usize,
}

/// Returns the first escape from `from` on.
// Inlined so that the result stays in registers.
#[inline(always)]
fn first_escape(bytes: &[u8], from: usize) -> Option<EscapeSequence> {
    let mut at = from;
    loop {
        if let Some((code, len)) = read_escape(bytes.get(at..)?) {
            return Some(EscapeSequence { at, code, len });
        }
        let next = at + usize::from(bytes.get(at) == Some(&b'_'));
        at = next + memchr::memchr(b'_', bytes.get(next..)?)?;
    }
}

/// Parses the escape at the start to its code unit or code point and its length.
#[inline(always)]
fn read_escape(bytes: &[u8]) -> Option<(u32, usize)> {
    let [b'_', b'x' | b'X', digits @ ..] = bytes else { return None };
    let (half, rest) = digits.split_first_chunk::<4>()?;
    let high = hexadecimal(*half)?;
    if let [b'_', ..] = rest {
        return Some((high, 7));
    }
    let (half, rest) = rest.split_first_chunk::<4>()?;
    let number = high << 16 | hexadecimal(*half)?;
    (rest.first() == Some(&b'_') && number <= 0x10_FFFF).then_some((number, 11))
}

/// Parses four hexadecimal digits.
#[inline(always)]
fn hexadecimal(digits: [u8; 4]) -> Option<u32> {
    /// Value of each digit; 255 for other characters.
    const DIGITS: [u8; 256] = {
        let mut digits = [u8::MAX; 256];
        let mut value = 0;
        while value < 16 {
            digits[b"0123456789abcdef"[value] as usize] = value as u8;
            digits[b"0123456789ABCDEF"[value] as usize] = value as u8;
            value += 1;
        }
        digits
    };
    let [a, b, c, d] = digits.map(|digit| u32::from(DIGITS[usize::from(digit)]));
    ((a | b | c | d) < 16).then_some(a << 12 | b << 8 | c << 4 | d)
}

/// Replaces the escapes of a text, beginning with the first one. Returns the code units if there is a lone surrogate.
fn unescape_from(text: &str, mut found: EscapeSequence) -> Result<String, Vec<u16>> {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut start = 0;
    loop {
        let EscapeSequence { at, code, len } = found;
        out.push_str(&text[start..at]);
        let mut next = first_escape(bytes, at + len);
        start = at + len;
        let char = match (code, &next) {
            // A surrogate pair.
            (0xD800..0xDC00, Some(low)) if low.at == start && (0xDC00..0xE000).contains(&low.code) => {
                start += low.len;
                let char = char::from_u32(0x1_0000 + ((code - 0xD800) << 10) + (low.code - 0xDC00));
                next = first_escape(bytes, start);
                char
            }
            _ => char::from_u32(code),
        };
        let Some(char) = char else { return Err(unescape_utf16(out, text, at)) };
        out.push(char);
        match next {
            Some(next) => found = next,
            None => break,
        }
    }
    out.push_str(&text[start..]);
    Ok(out)
}

/// Returns the code units of the text that is already unescaped and of the rest from `start` on.
fn unescape_utf16(read: String, text: &str, mut start: usize) -> Vec<u16> {
    let mut units: Vec<u16> = read.encode_utf16().collect();
    while let Some(EscapeSequence { at, code, len }) = first_escape(text.as_bytes(), start) {
        units.extend(text[start..at].encode_utf16());
        match (u16::try_from(code), char::from_u32(code)) {
            (Ok(unit), _) => units.push(unit),
            (Err(_), char) => units.extend_from_slice(char.unwrap_or_default().encode_utf16(&mut [0; 2])),
        }
        start = at + len;
    }
    units.extend(text[start..].encode_utf16());
    units
}

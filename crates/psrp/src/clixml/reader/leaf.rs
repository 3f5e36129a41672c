//! Fast path for primitive elements in their usual form.
//!
//! The XML reader would return three events for an element such as `<I32 N="Id">4</I32>`. Documents consist mostly of
//! primitives, and PowerShell and its peers write all of them in this form. Other forms, including malformed elements,
//! are left to the XML reader.

use memchr::memchr;

use super::super::{escape, short_text};
use super::attributes::is_blank;
use super::tag::Primitive;
use super::text::{self, Characters};

/// A primitive element without CDATA sections and comments, whose only attribute is its name.
pub(super) struct Leaf<'a> {
    pub(super) tag: Primitive,
    /// The attribute `N`.
    pub(super) name: Option<Characters<'a>>,
    pub(super) text: Characters<'a>,
}

impl<'a> Leaf<'a> {
    /// Parses an element after its tag name. Returns it and the rest of the input.
    #[inline]
    pub(super) fn read(tag: Primitive, element: &str, rest: &'a str) -> Option<(Self, &'a str)> {
        let (name, rest) = match rest.strip_prefix(" N=\"") {
            None => (None, rest),
            Some(value) => {
                // Other attributes need the XML reader.
                let (name, rest) = quoted(value)?;
                (Some(name), rest)
            }
        };
        let (text, rest) = match rest.as_bytes() {
            [b'>', ..] => content(rest.get(1..)?, element)?,
            [b'/', b'>', ..] => (Characters { text: "", plain: true }, rest.get(2..)?),
            [b' ', b'/', b'>', ..] => (Characters { text: "", plain: true }, rest.get(3..)?),
            _ => return None,
        };
        Some((Self { tag, name, text }, rest))
    }
}

/// Returns the text of the element with this name at the start of the input, and the rest after the element.
#[inline]
pub(super) fn element<'a>(input: &'a str, name: &str) -> Option<(Characters<'a>, &'a str)> {
    let rest = input.strip_prefix('<')?.strip_prefix(name)?.strip_prefix('>')?;
    content(rest, name)
}

/// Returns the text before the end tag, and the rest after the end tag.
#[inline(always)]
pub(super) fn content<'a>(input: &'a str, element: &str) -> Option<(Characters<'a>, &'a str)> {
    let (text, rest) = characters(input, b'<', |rest| memchr(b'<', rest))?;
    let after = after_end(rest, element)?.strip_prefix('>')?;
    (text.plain || text::are_references(text.text)).then_some((text, after))
}

/// Returns the rest after the name of the end tag at the start of the input, if the tag has this name.
#[inline(always)]
pub(super) fn after_end<'a>(input: &'a str, name: &str) -> Option<&'a str> {
    let (end, rest) = input.strip_prefix("</")?.split_at_checked(name.len())?;
    // Faster than a call of `memcmp` for these few bytes.
    end.bytes().zip(name.bytes()).all(|(a, b)| a == b).then_some(rest)
}

/// Returns the characters before a quote, and the rest after the quote.
#[inline(always)]
pub(super) fn quoted(input: &str) -> Option<(Characters<'_>, &str)> {
    let stops = |byte: &u8| matches!(byte, ..b' ' | b'"' | b'&' | b'<');
    let (text, rest) = characters(input, b'"', |rest| rest.iter().position(stops))?;
    Some((text, rest.get(1..)?))
}

/// Returns the characters before a delimiter, and the rest beginning with the delimiter. `stop` finds the end of
/// characters that are not plain.
#[inline(always)]
fn characters(
    input: &str,
    before: u8,
    stop: impl Fn(&[u8]) -> Option<usize>,
) -> Option<(Characters<'_>, &str)> {
    let bytes = input.as_bytes();
    // Most texts are shorter than eight bytes and need no call.
    let first = match bytes.first_chunk().map(|chunk| short_text::special_bits(u64::from_le_bytes(*chunk))) {
        None => escape::find_special(bytes, 0)?,
        Some(0) => escape::find_special(bytes, 8)?,
        Some(found) => found.trailing_zeros() as usize / 8,
    };
    let (end, plain) = if bytes[first] == before {
        (first, true)
    } else {
        let end = first + stop(&bytes[first..])?;
        if bytes[end] != before {
            return None;
        }
        (end, false)
    };
    let (text, rest) = input.split_at_checked(end)?;
    Some((Characters { text, plain }, rest))
}

/// Skips white space, 16 bytes of indentation at a time.
#[inline]
pub(super) fn skip_blanks(input: &[u8]) -> &[u8] {
    const SPACES: u128 = u128::from_le_bytes([b' '; 16]);
    let mut rest = match input {
        [b'!'..=u8::MAX, ..] => return input,
        [b'\n', rest @ ..] => rest,
        _ => input,
    };
    while let Some((chunk, _)) = rest.split_first_chunk() {
        let spaces = (u128::from_le_bytes(*chunk) ^ SPACES).trailing_zeros() as usize / 8;
        rest = &rest[spaces..];
        if spaces < 16 {
            break;
        }
    }
    let blanks = rest.iter().position(|byte| !is_blank(*byte)).unwrap_or(rest.len());
    &rest[blanks..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_of_any_length_is_skipped() {
        for newline in ["", "\n", "\r\n", "\n\n", "\t"] {
            for spaces in 0..40 {
                for after in ["", "<S>", "\n  <S>", "\u{a0} <S>", "\0"] {
                    let input = format!("{newline}{:spaces$}{after}", "");
                    let expected = input.trim_start_matches([' ', '\t', '\r', '\n']);
                    assert_eq!(skip_blanks(input.as_bytes()), expected.as_bytes(), "{input:?}");
                }
            }
        }
    }
}

//! Copying of strings into a `Vec` with escapes.

use super::{BLOCK, Json, Set, chunk, find_by_blocks, find_in_tail, mask16, short};

/// Maximum number of bytes that [`push_entry`] writes in addition to the text: a comma, two quotes, a colon.
const FRAME: usize = 4;

/// Appends `text` in quotes.
#[inline(always)]
pub(crate) fn push_string<S: Set>(out: &mut Vec<u8>, text: &str) {
    if !push_framed::<S>(out, false, text, false) {
        push_escaped::<S>(out, text);
    }
}

/// Appends `text` in quotes with a colon after it and, if `comma`, a comma before it.
#[inline(always)]
pub(crate) fn push_entry<S: Set>(out: &mut Vec<u8>, comma: bool, text: &str) {
    if !push_framed::<S>(out, comma, text, true) {
        if comma {
            out.push(b',');
        }
        push_escaped::<S>(out, text);
        out.push(b':');
    }
}

/// Appends the first `len` bytes of a block, at most `N`. Writes the whole block, which is faster than a copy of variable
/// length.
#[inline(always)]
pub(crate) fn push_block<const N: usize>(out: &mut Vec<u8>, block: [u8; N], len: usize) {
    out.reserve(N);
    // SAFETY: `reserve` guarantees capacity for the block, and at most its bytes are added to the length.
    unsafe {
        out.as_mut_ptr().add(out.len()).cast::<[u8; N]>().write_unaligned(block);
        out.set_len(out.len() + len.min(N));
    }
}

/// Appends the first `len` bytes of a block, at most 8, and the first `len_of_second` bytes of another one, at most `N`.
#[inline(always)]
pub(crate) fn push_blocks<const N: usize>(
    out: &mut Vec<u8>,
    first: [u8; 8],
    len: usize,
    second: [u8; N],
    len_of_second: usize,
) {
    let len = len.min(8);
    out.reserve(8 + N);
    // SAFETY: `reserve` guarantees capacity for both blocks, and at most their bytes are added to the length. The second one
    // begins in the first one or at its end.
    unsafe {
        let to = out.as_mut_ptr().add(out.len());
        to.cast::<[u8; 8]>().write_unaligned(first);
        to.add(len).cast::<[u8; N]>().write_unaligned(second);
        out.set_len(out.len() + len + len_of_second.min(N));
    }
}

/// Characters of the escapes with one character after the backslash, and NUL for all other characters.
pub(crate) static SHORT_ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    let pairs = *b"\"\"\\\\//b\x08f\x0cn\nr\rt\t";
    let mut at = 0;
    while at < pairs.len() {
        table[pairs[at] as usize] = pairs[at + 1];
        at += 2;
    }
    table
};

/// Appends `text` from the offset `from` to the next special byte, and resolves escapes with one character after the
/// backslash. Returns the offset of the first special byte that begins no such escape, or the length of `text`. Searches
/// and copies in one pass. In the last bytes of `text`, it stops at every special byte.
///
/// # Panics
///
/// If `from` is not on a character boundary.
#[inline(always)]
pub(crate) fn push_unescaped(out: &mut String, text: &str, from: usize) -> usize {
    assert!(text.is_char_boundary(from), "inside of a character");
    let bytes = text.as_bytes();
    // Taken, because a block may end inside of a character.
    let mut copied = std::mem::take(out).into_bytes();
    let mut len = copied.len();
    let mut at = from;
    let end = loop {
        let Some(block) = chunk::<BLOCK>(bytes, at) else { break find_in_tail::<Json>(bytes, at) };
        if copied.capacity() - len < BLOCK {
            // SAFETY: all bytes before `len` are initialised.
            unsafe { copied.set_len(len) };
            copied.reserve(BLOCK);
        }
        let mask = mask16::<Json>(block);
        let count = (mask.trailing_zeros() as usize).min(BLOCK);
        // SAFETY: there is capacity for a block after `len`, of which at most `count` bytes are kept.
        let special = unsafe {
            let to = copied.as_mut_ptr().add(len);
            to.cast::<[u8; BLOCK]>().write_unaligned(*block);
            to.add(count)
        };
        len += count;
        at += count;
        if mask == 0 {
            continue;
        }
        let char = match bytes.get(at..at + 2) {
            Some([b'\\', char]) => SHORT_ESCAPES[usize::from(*char)],
            _ => 0,
        };
        if char == 0 {
            break at;
        }
        // SAFETY: a bit of the mask is set, so that `count` is less than the length of the block.
        unsafe { special.write(char) };
        len += 1;
        at += 2;
    };
    // SAFETY: all bytes before `len` are initialised.
    unsafe { copied.set_len(len) };
    copied.extend_from_slice(&bytes[at..end]);
    // SAFETY: `out` was UTF-8. The parts of `text` that are appended are on character boundaries: `from` is one by the
    // assertion, all special bytes are ASCII, and so are the characters of the table.
    *out = unsafe { String::from_utf8_unchecked(copied) };
    end
}

/// Appends the string if nothing in `text` is special. Otherwise appends nothing and returns `false`.
#[inline(always)]
fn push_framed<S: Set>(out: &mut Vec<u8>, comma: bool, text: &str, colon: bool) -> bool {
    let bytes = text.as_bytes();
    let len = bytes.len();
    out.reserve(len + BLOCK + FRAME);
    let start = out.len();
    // SAFETY: `reserve` guarantees capacity for the text and BLOCK + FRAME more bytes after `start`. At most two bytes
    // precede the text; a block starts at most `len` bytes after the start of the text and so ends at or before
    // `2 + len + BLOCK`; the quote and the colon end at `4 + len`. All writes are within the capacity. The new length
    // covers only written bytes: the frame, and blocks that cover the text without a gap.
    unsafe {
        let mut to = out.as_mut_ptr().add(start);
        to.write(b',');
        to = to.add(usize::from(comma));
        to.write(b'"');
        to = to.add(1);
        if let Some(last) = bytes.last_chunk::<BLOCK>() {
            let mut at = 0;
            while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk::<BLOCK>) {
                if mask16::<S>(block) != 0 {
                    return false;
                }
                to.add(at).cast::<[u8; BLOCK]>().write_unaligned(*block);
                at += BLOCK;
            }
            // The last block overlaps the previous one.
            if mask16::<S>(last) != 0 {
                return false;
            }
            to.add(len - BLOCK).cast::<[u8; BLOCK]>().write_unaligned(*last);
        } else {
            let block = short(bytes);
            if mask16::<S>(&block) & ((1 << len) - 1) != 0 {
                return false;
            }
            to.cast::<[u8; BLOCK]>().write_unaligned(block);
        }
        to = to.add(len);
        to.write(b'"');
        to.add(1).write(b':');
        out.set_len(start + usize::from(comma) + 1 + len + 1 + usize::from(colon));
    }
    true
}

/// Appends `text` in quotes with its escapes.
#[inline(never)]
pub(super) fn push_escaped<S: Set>(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    push_body::<S>(out, text);
    out.push(b'"');
}

/// Appends `text` with its escapes and without quotes. Safe equivalent of [`push_string`].
pub(crate) fn push_body<S: Set>(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        let special = find_by_blocks::<S>(bytes, at);
        out.extend_from_slice(&bytes[at..special]);
        let Some(byte) = bytes.get(special) else { return };
        at = special + 1 + escape(out, *byte, &bytes[special + 1..]);
    }
}

/// Appends the escape of `byte`. Returns the number of bytes of `following` that belong to the same character.
fn escape(out: &mut Vec<u8>, byte: u8, following: &[u8]) -> usize {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        0x08 => b'b',
        0x0c => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0xe2 => {
            return match following {
                [0x80, 0xa8, ..] => {
                    out.extend_from_slice(b"\\u2028");
                    2
                }
                [0x80, 0xa9, ..] => {
                    out.extend_from_slice(b"\\u2029");
                    2
                }
                _ => {
                    out.push(byte);
                    0
                }
            };
        }
        _ => {
            let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
            return 0;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
    0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Html, Json};
    use super::*;

    fn both_implementations_agree<S: Set>(text: &str) {
        for prefix in [&b""[..], b"[1"] {
            let mut slow = prefix.to_vec();
            slow.push(b'"');
            push_body::<S>(&mut slow, text);
            slow.push(b'"');
            let mut fast = prefix.to_vec();
            push_string::<S>(&mut fast, text);
            assert_eq!(fast, slow);

            let mut entry = prefix.to_vec();
            push_entry::<S>(&mut entry, true, text);
            slow.insert(prefix.len(), b',');
            slow.push(b':');
            assert_eq!(entry, slow);
        }
    }

    #[test]
    fn implementations_agree_for_every_length_and_escape_position() {
        for len in 0..80 {
            let mut text = "x".repeat(len);
            both_implementations_agree::<Json>(&text);
            both_implementations_agree::<Html>(&text);
            for at in 0..len {
                text.replace_range(at..=at, "\"");
                both_implementations_agree::<Json>(&text);
                text.replace_range(at..=at, "<");
                both_implementations_agree::<Html>(&text);
                text.replace_range(at..=at, "x");
            }
        }
    }

    #[test]
    fn blocks_are_appended() {
        let bytes: [u8; 40] = std::array::from_fn(|at| at as u8);
        for len in 0..=40 {
            let mut out = vec![b'a'];
            push_block::<40>(&mut out, bytes, len);
            assert_eq!(out, [b"a", &bytes[..len]].concat());
        }
        for (len, len_of_second) in (0..=9).flat_map(|len| (0..=5).map(move |other| (len, other))) {
            let mut out = vec![b'a'];
            push_blocks(&mut out, *b"01234567", len, *b"abcd", len_of_second);
            assert_eq!(out, [b"a", &b"01234567"[..len.min(8)], &b"abcd"[..len_of_second.min(4)]].concat());
        }
        let mut out = Vec::new();
        push_block(&mut out, *b"abc", usize::MAX);
        assert_eq!(out, b"abc");
    }

    fn text_is_copied_to_the_next_special_byte(text: &str) {
        for from in (0..=text.len()).filter(|from| text.is_char_boundary(*from)) {
            let mut out = String::from("ab");
            let end = push_unescaped(&mut out, text, from);
            let (mut at, mut expected) = (from, String::from("ab"));
            loop {
                let special = find_by_blocks::<Json>(text.as_bytes(), at);
                expected.push_str(&text[at..special]);
                at = special;
                if at >= end {
                    break;
                }
                let char = SHORT_ESCAPES[usize::from(text.as_bytes()[at + 1])];
                assert!(text.as_bytes()[at] == b'\\' && char != 0, "{text}");
                expected.push(char::from(char));
                at += 2;
            }
            assert_eq!((end, out), (at, expected));
            let is_short =
                |[backslash, char]: &[u8; 2]| *backslash == b'\\' && SHORT_ESCAPES[usize::from(*char)] != 0;
            assert!(text.len() - end < BLOCK || !text.as_bytes()[end..].first_chunk().is_some_and(is_short));
        }
    }

    #[test]
    fn text_of_every_length_is_copied() {
        for len in 0..70 {
            text_is_copied_to_the_next_special_byte(&"x".repeat(len));
            text_is_copied_to_the_next_special_byte(
                &("x".repeat(len)
                    + "\u{2603}".repeat(20).as_str()
                    + "\\n\\\"\\\\"
                    + &"y".repeat(20)
                    + "\\u0041"),
            );
        }
    }

    #[test]
    fn html_style_escapes_line_separators_but_not_adjacent_characters() {
        let mut out = Vec::new();
        push_string::<Html>(&mut out, "\u{2027}\u{2028}\u{2029}\u{202a}\u{2603}<>&\u{7f}\u{1}\u{8}");
        let expected = "\"\u{2027}\\u2028\\u2029\u{202a}\u{2603}\\u003c\\u003e\\u0026\u{7f}\\u0001\\b\"";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    proptest! {
        #[test]
        fn implementations_agree_on_random_text(text in "[a-z\"\\\\<>&\n\u{1}\u{2028}\u{2603}]{0,80}") {
            both_implementations_agree::<Json>(&text);
            both_implementations_agree::<Html>(&text);
            text_is_copied_to_the_next_special_byte(&text);
        }

        #[test]
        fn serde_json_decodes_the_output(text in "\\PC*[\\x00-\\x1f]?\\PC*") {
            let mut out = Vec::new();
            push_string::<Json>(&mut out, &text);
            prop_assert_eq!(&serde_json::from_slice::<String>(&out).unwrap(), &text);
            prop_assert_eq!(String::from_utf8(out).unwrap(), serde_json::to_string(&text).unwrap());
            let mut html = Vec::new();
            push_string::<Html>(&mut html, &text);
            prop_assert_eq!(serde_json::from_slice::<String>(&html).unwrap(), text);
        }
    }
}

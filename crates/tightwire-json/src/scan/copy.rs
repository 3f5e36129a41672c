//! Copying of strings into a `Vec` with escapes.

use super::{BLOCK, Set, find_by_blocks, mask16, short};

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

//! Documents that RFC 8259 does not permit, but that a codec accepts by option.
//!
//! Comments and trailing commas become spaces in a copy of the document. The parser reads the tokens in the copy, and strings in
//! the document itself, so that they can be borrowed. Both have the same offsets.

use std::borrow::Cow;

use crate::codec::Extensions;
use crate::grammar::{is_space, string_len};

impl Extensions {
    /// Returns the offset of the document behind a byte order mark.
    #[inline]
    pub(super) fn start(self, text: &str) -> usize {
        if self.byte_order_mark && text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
    }

    /// Returns the document with spaces in place of accepted comments and commas.
    #[cold]
    pub(super) fn plain(self, text: &str) -> Cow<'_, str> {
        if !self.comments && !self.trailing_commas {
            return Cow::Borrowed(text);
        }
        let bytes = text.as_bytes();
        let mut plain: Option<Vec<u8>> = None;
        let mut blank = |start: usize, end: usize| {
            let plain = &mut plain.get_or_insert_with(|| bytes.to_vec())[start..end];
            // The lines stay as they are, for the position of an error.
            plain.iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
        };
        // Last byte that is no white space, and its offset if it is a comma after a value.
        let (mut last, mut comma) = (b',', None);
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let rest = &bytes[at..];
            let len = match byte {
                b'/' if self.comments => {
                    // Malformed unless it is a complete comment.
                    let Some(len) = comment_len(rest) else { break };
                    blank(at, at + len);
                    at += len;
                    continue;
                }
                b'"' => string_len(rest).unwrap_or(rest.len()),
                _ => 1,
            };
            if !is_space(byte) {
                if let (b']' | b'}', Some(comma)) = (byte, comma) {
                    blank(comma, comma + 1);
                }
                let follows_value = !matches!(last, b',' | b':' | b'[' | b'{');
                comma = (byte == b',' && follows_value && self.trailing_commas).then_some(at);
                last = byte;
            }
            at += len;
        }
        // Only ASCII and whole comments are replaced.
        plain.and_then(|plain| String::from_utf8(plain).ok()).map_or(Cow::Borrowed(text), Cow::Owned)
    }
}

/// Returns the length of the comment at the start of `bytes`, without the line end.
fn comment_len(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [b'/', b'/', ..] => Some(memchr::memchr2(b'\n', b'\r', bytes).unwrap_or(bytes.len())),
        [b'/', b'*', text @ ..] => memchr::memmem::find(text, b"*/").map(|len| len + 4),
        _ => None,
    }
}

//! Texts of the other side in errors.

use std::collections::VecDeque;

/// The longest text of the other side that an error repeats, in bytes.
const MAX_TEXT: usize = 4096;

/// A text of the other side for an error: without control characters, and not too long.
pub(super) fn remote_text(text: &str) -> Box<str> {
    let end = text.floor_char_boundary(MAX_TEXT);
    let mut safe = crate::terminal_safe(text[..end].trim()).into_owned();
    if end < text.len() {
        safe.push_str(" ...");
    }
    safe.into()
}

/// The end of what the other side writes to its error output, which tells why it has ended.
#[derive(Debug, Default)]
pub(super) struct Tail(VecDeque<u8>);

impl Tail {
    /// Lossy decoding may make three bytes of one.
    const MAX: usize = MAX_TEXT / 3;

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let kept = &bytes[bytes.len().saturating_sub(Self::MAX)..];
        let excess = (self.0.len() + kept.len()).saturating_sub(Self::MAX);
        self.0.drain(..excess);
        self.0.extend(kept);
    }

    /// `None` if there is nothing.
    pub(super) fn text(&self) -> Option<Box<str>> {
        let bytes: Vec<u8> = self.0.iter().copied().collect();
        let text = remote_text(&String::from_utf8_lossy(&bytes));
        (!text.is_empty()).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_it_is_kept() {
        let mut tail = Tail::default();
        assert_eq!(tail.text(), None);
        tail.push(b"first ");
        tail.push(b"\x1b[2J\xff\n");
        assert_eq!(tail.text().unwrap(), "first \\u{1b}[2J\u{fffd}".into());
        let long: String = (0..1000).map(|number| format!("{number:04}")).collect();
        for size in [1, 7, 4000] {
            let mut tail = Tail::default();
            long.as_bytes().chunks(size).for_each(|piece| tail.push(piece));
            assert_eq!(*tail.text().unwrap(), long[long.len() - Tail::MAX..]);
        }
    }

    #[test]
    fn what_is_too_long_is_cut_between_characters() {
        let text = remote_text(&"\u{e9}".repeat(5000));
        assert_eq!(*text, format!("{} ...", "\u{e9}".repeat(2048)));
    }
}

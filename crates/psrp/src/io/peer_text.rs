//! Text of the peer in error messages.

use std::collections::VecDeque;

/// Maximum bytes of the peer's text in an error.
const MAX_TEXT: usize = 4096;

/// Escapes and truncates the peer's text for an error message.
pub(super) fn peer_text(text: &str) -> Box<str> {
    let end = text.floor_char_boundary(MAX_TEXT);
    let mut safe = crate::terminal_safe(text[..end].trim()).into_owned();
    if end < text.len() {
        safe.push_str(" ...");
    }
    safe.into()
}

/// Last bytes of the peer's standard error, which usually state why it has ended.
#[derive(Debug, Default)]
pub(super) struct StderrTail(VecDeque<u8>);

impl StderrTail {
    /// Lossy UTF-8 decoding can turn one byte into three.
    const MAX: usize = MAX_TEXT / 3;

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let last = &bytes[bytes.len().saturating_sub(Self::MAX)..];
        let excess = (self.0.len() + last.len()).saturating_sub(Self::MAX);
        self.0.drain(..excess);
        self.0.extend(last);
    }

    /// Returns the escaped text, or `None` if it is empty.
    pub(super) fn text(&self) -> Option<Box<str>> {
        let bytes: Vec<u8> = self.0.iter().copied().collect();
        let text = peer_text(&String::from_utf8_lossy(&bytes));
        (!text.is_empty()).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stderr_tail_contains_the_last_bytes() {
        let mut tail = StderrTail::default();
        assert_eq!(tail.text(), None);
        tail.push(b"first ");
        tail.push(b"\x1b[2J\xff\n");
        assert_eq!(tail.text().unwrap(), "first \\u{1b}[2J\u{fffd}".into());
        let long: String = (0..1000).map(|number| format!("{number:04}")).collect();
        for size in [1, 7, 4000] {
            let mut tail = StderrTail::default();
            long.as_bytes().chunks(size).for_each(|chunk| tail.push(chunk));
            assert_eq!(*tail.text().unwrap(), long[long.len() - StderrTail::MAX..]);
        }
    }

    #[test]
    fn long_text_is_truncated_at_a_character_boundary() {
        let text = peer_text(&"\u{e9}".repeat(5000));
        assert_eq!(*text, format!("{} ...", "\u{e9}".repeat(2048)));
    }
}

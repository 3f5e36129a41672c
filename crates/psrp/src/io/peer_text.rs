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

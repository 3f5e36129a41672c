//! How much room a new document gets.
//!
//! Documents of a service resemble each other, so that the length of the last one is a good guess for the next and
//! the vector hardly ever grows.

use std::cell::Cell;

/// The room that is never saved on, in bytes; the encoder asks for a block more than a string needs.
const SLACK: usize = 32;

/// No document gets more than this in advance, in bytes.
const MAX_ROOM: usize = 1 << 20;

thread_local! {
    /// The length of the last document that this thread encoded.
    static LAST: Cell<usize> = const { Cell::new(128) };
}

/// A vector for a new document.
#[inline]
pub(crate) fn vector() -> Vec<u8> {
    Vec::with_capacity(LAST.get().min(MAX_ROOM) + SLACK)
}

/// Learns from a finished document. Where the guess was far too high, the vector gives the memory back.
#[inline]
pub(crate) fn learn(document: &mut Vec<u8>) {
    LAST.set(document.len());
    if document.len() + SLACK < document.capacity() / 2 {
        document.shrink_to_fit();
    }
}

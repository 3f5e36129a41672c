//! How much room a new document gets.

use std::cell::Cell;

use crate::error::Result;

/// The room that is never saved on, in bytes; the encoder asks for a block more than a string needs.
const SLACK: usize = 32;

/// No document gets more than this in advance, in bytes.
const MAX_ROOM: usize = 1 << 20;

thread_local! {
    /// The length of the last document that this thread encoded.
    static LAST: Cell<usize> = const { Cell::new(128) };
}

/// Returns what `write` writes in a vector of its own.
///
/// Documents of a service resemble each other, so that the last length is a good guess for the next one and the
/// vector hardly ever grows. Where the guess is far too high, the vector gives the memory back.
#[inline]
pub(crate) fn with(write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<Vec<u8>> {
    let mut document = Vec::with_capacity(LAST.get().min(MAX_ROOM) + SLACK);
    write(&mut document)?;
    LAST.set(document.len());
    if document.len() + SLACK < document.capacity() / 2 {
        document.shrink_to_fit();
    }
    Ok(document)
}

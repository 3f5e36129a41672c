//! Initial capacity of the vector for a new document, estimated from the last documents of the thread.
//!
//! The estimate is the smaller of the last two lengths: a thread that alternates large and small documents never
//! allocates a large vector for a small document.

use std::cell::Cell;

/// Bytes added to the estimate; the encoder reserves a block more than a string needs.
const SLACK: usize = 32;

/// Maximum initial capacity, in bytes.
const MAX_CAPACITY: usize = 1 << 20;

thread_local! {
    /// Lengths of the last two documents, the last one first.
    static LENGTHS: Cell<(usize, usize)> = const { Cell::new((128, 128)) };
}

/// Returns a vector for a new document.
#[inline]
pub(super) fn new_vec() -> Vec<u8> {
    let (last, before) = LENGTHS.get();
    Vec::with_capacity(last.min(before).min(MAX_CAPACITY) + SLACK)
}

/// Records the length of a finished document, and shrinks its vector if less than half of it is used.
#[inline]
pub(super) fn record(document: &mut Vec<u8>) {
    let (last, _) = LENGTHS.get();
    LENGTHS.set((document.len(), last));
    if document.len() + SLACK < document.capacity() / 2 {
        document.shrink_to_fit();
    }
}

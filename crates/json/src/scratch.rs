//! The buffer in which a thread encodes before it knows the length of the document.

use std::cell::Cell;

use crate::error::Result;

/// What a thread keeps at most, in bytes. Longer documents are handed out in the buffer they were written to.
const KEPT: usize = 64 << 10;

thread_local! {
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Returns what `write` writes, in a vector of exactly its length if it is not long.
///
/// One allocation and one copy are cheaper than a vector that grows several times, and the result holds no more
/// memory than it needs. A `Serialize` implementation may encode other values meanwhile; they find an empty buffer.
pub(crate) fn with(write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<Vec<u8>> {
    let mut buffer = BUFFER.try_with(Cell::take).unwrap_or_default();
    buffer.clear();
    write(&mut buffer)?;
    if buffer.capacity() > KEPT {
        return Ok(buffer);
    }
    let document = buffer.as_slice().to_vec();
    // Without its thread-local the thread is about to end.
    let _ = BUFFER.try_with(|kept| kept.set(buffer));
    Ok(document)
}

//! The order of map keys in the Go form.
//!
//! Entries are written as they come. As long as each key is greater than the one before, nothing else happens;
//! otherwise the entries are read back from the output and put in order when the map ends.

use std::borrow::Cow;

use crate::de::entries;
use crate::error::Result;

/// Whether the key that begins at `next` in `out` comes after the one at `last`, as far as can be told from the
/// written form. Keys with escapes count as out of order; reading them back decides.
#[inline]
pub(super) fn is_ordered(out: &[u8], last: usize, next: usize) -> bool {
    let last = plain(&out[last..]);
    let next = plain(&out[next..]);
    matches!((last, next), (Some(last), Some(next)) if last <= next)
}

/// The text of a key that has no escapes.
fn plain(entry: &[u8]) -> Option<&[u8]> {
    let body = entry.get(1..)?;
    let end = body.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    (body[end] == b'"').then(|| &body[..end])
}

/// Sorts the entries of an object by the bytes of their keys; `out` ends with the last of them.
pub(super) fn sort_entries(out: &mut Vec<u8>, start: usize) -> Result<()> {
    let mut sorted = Vec::with_capacity(out.len() - start);
    {
        let text = &out[start..];
        let mut entries: Vec<(Cow<'_, str>, &[u8])> = entries(text)?;
        entries.sort_by(|(left, _), (right, _)| left.as_bytes().cmp(right.as_bytes()));
        for (index, (_, entry)) in entries.iter().enumerate() {
            if index != 0 {
                sorted.push(b',');
            }
            sorted.extend_from_slice(entry);
        }
    }
    out.truncate(start);
    out.extend_from_slice(&sorted);
    Ok(())
}

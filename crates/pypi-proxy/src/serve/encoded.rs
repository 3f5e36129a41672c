//! Cache of compressed wheel metadata. Files themselves are not compressed again.

use hashlink::LinkedHashMap;
use parking_lot::Mutex;

use crate::page_cache::{PageBytes, encode};
use crate::store::{Digest, StoredFile, read_range};
use crate::{Coding, system};

/// Maximum size of metadata to compress.
const MAX_LEN: u64 = 256 * 1024;
/// Minimum size of metadata to compress.
const MIN_LEN: u64 = 1024;
/// Maximum bytes of compressed metadata in memory.
const MAX_BYTES: u64 = 8 << 20;

/// Compressed metadata, from the least to the most recently used.
#[derive(Debug, Default)]
pub(super) struct EncodedMetadata(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    encoded: LinkedHashMap<(Digest, Coding), PageBytes>,
    bytes: u64,
}

impl EncodedMetadata {
    /// Returns metadata in a content coding, or `None` if it should be sent uncompressed.
    pub(super) async fn get(&self, stored: &StoredFile, coding: Coding) -> Option<PageBytes> {
        if coding == Coding::Identity || !(MIN_LEN..=MAX_LEN).contains(&stored.len) {
            return None;
        }
        let key = (stored.digest, coding);
        if let Some(bytes) = self.0.lock().encoded.to_back(&key) {
            return Some(bytes.clone());
        }
        let text = read_range(stored.file.clone(), 0..stored.len).await.ok()?;
        let work = move || encode(std::iter::once(text), coding);
        let bytes = system::spawn_blocking(work).await.ok()?.ok()?;
        self.0.lock().insert(key, bytes.clone());
        Some(bytes)
    }
}

impl Entries {
    fn insert(&mut self, key: (Digest, Coding), bytes: PageBytes) {
        self.bytes += bytes.len();
        if let Some(before) = self.encoded.insert(key, bytes) {
            self.bytes -= before.len();
        }
        while self.bytes > MAX_BYTES {
            let Some((_, oldest)) = self.encoded.pop_front() else { break };
            self.bytes -= oldest.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_entries_are_evicted() {
        let bytes = |len| encode(std::iter::once(vec![0; len]), Coding::Identity).unwrap();
        let mut entries = Entries::default();
        for at in 0..40 {
            entries.insert((Digest([at; 32]), Coding::Gzip), bytes(250_000));
        }
        assert_eq!((entries.encoded.len(), entries.bytes), (33, 33 * 250_000));
        assert!(entries.encoded.contains_key(&(Digest([39; 32]), Coding::Gzip)));
        entries.insert((Digest([39; 32]), Coding::Gzip), bytes(10));
        assert_eq!((entries.encoded.len(), entries.bytes), (33, 32 * 250_000 + 10));
    }
}

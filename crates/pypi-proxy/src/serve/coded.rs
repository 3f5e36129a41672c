//! Metadata of wheels, coded as clients accept it. Files themselves never are: they are compressed already.

use std::sync::{Mutex, PoisonError};

use hashlink::LinkedHashMap;

use crate::Coding;
use crate::pages::{Held, hold};
use crate::store::{Digest, Stored, read_at};

/// Larger metadata is sent as it is.
const MAX_LEN: u64 = 256 * 1024;
/// A coding does not pay below.
const MIN_LEN: u64 = 1024;
/// The most bytes that are kept of what was coded.
const MAX_KEPT: u64 = 8 << 20;

/// What was coded, the last wanted last.
#[derive(Debug, Default)]
pub(super) struct Coded(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    made: LinkedHashMap<(Digest, Coding), Held>,
    bytes: u64,
}

impl Coded {
    /// Metadata in a coding, `None` if it is to be sent as it is.
    pub(super) async fn get(&self, stored: &Stored, coding: Coding) -> Option<Held> {
        if coding == Coding::Identity || !(MIN_LEN..=MAX_LEN).contains(&stored.len) {
            return None;
        }
        let key = (stored.digest, coding);
        if let Some(held) = self.kept().made.to_back(&key) {
            return Some(held.clone());
        }
        let (file, len) = (stored.file.clone(), usize::try_from(stored.len).ok()?);
        let work = move || {
            let mut text = vec![0; len];
            read_at(&file, &mut text, 0)?;
            hold(std::iter::once(text), coding)
        };
        let held = tokio::task::spawn_blocking(work).await.ok()?.ok()?;
        self.kept().insert(key, held.clone());
        Some(held)
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        // Nothing panics while it holds the lock half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn insert(&mut self, key: (Digest, Coding), held: Held) {
        self.bytes += held.len();
        if let Some(before) = self.made.insert(key, held) {
            self.bytes -= before.len();
        }
        while self.bytes > MAX_KEPT {
            let Some((_, oldest)) = self.made.pop_front() else { break };
            self.bytes -= oldest.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_wanted_last_is_kept() {
        let held = |len| hold(std::iter::once(vec![0; len]), Coding::Identity).unwrap();
        let mut kept = Kept::default();
        for at in 0..40 {
            kept.insert((Digest([at; 32]), Coding::Gzip), held(250_000));
        }
        assert_eq!((kept.made.len(), kept.bytes), (33, 33 * 250_000));
        assert!(kept.made.contains_key(&(Digest([39; 32]), Coding::Gzip)));
        kept.insert((Digest([39; 32]), Coding::Gzip), held(10));
        assert_eq!((kept.made.len(), kept.bytes), (33, 32 * 250_000 + 10));
    }
}

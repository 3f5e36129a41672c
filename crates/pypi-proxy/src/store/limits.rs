//! Limits of a store that can change while it is open.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

/// Minimum and maximum time between two searches for unused entries.
const MIN_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// Maximum size and age of the entries.
pub(super) struct Limits {
    max_bytes: AtomicU64,
    expiry: Mutex<Expiry>,
    /// Notified when `expiry` changes.
    changed: Condvar,
}

struct Expiry {
    unused_ttl: Option<Duration>,
    is_closed: bool,
}

impl Limits {
    pub(super) fn new(max_bytes: u64, unused_ttl: Option<Duration>) -> Self {
        let expiry = Mutex::new(Expiry { unused_ttl, is_closed: false });
        Self { max_bytes: max_bytes.into(), expiry, changed: Condvar::new() }
    }

    pub(super) fn max_bytes(&self) -> u64 {
        self.max_bytes.load(Ordering::Relaxed)
    }

    pub(super) fn set(&self, max_bytes: u64, unused_ttl: Option<Duration>) {
        self.max_bytes.store(max_bytes, Ordering::Relaxed);
        self.expiry.lock().unused_ttl = unused_ttl;
        self.changed.notify_all();
    }

    /// Ends [`Self::expire_periodically`].
    pub(super) fn close(&self) {
        self.expiry.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Calls `expire` periodically while there is a TTL, until the store is closed. Blocks the thread.
    pub(super) fn expire_periodically(&self, mut expire: impl FnMut(Duration)) {
        let mut expiry = self.expiry.lock();
        while !expiry.is_closed {
            let Some(unused_ttl) = expiry.unused_ttl else {
                self.changed.wait(&mut expiry);
                continue;
            };
            MutexGuard::unlocked(&mut expiry, || expire(unused_ttl));
            if !expiry.is_closed && expiry.unused_ttl == Some(unused_ttl) {
                let pause = (unused_ttl / 4).clamp(MIN_PAUSE, MAX_PAUSE);
                self.changed.wait_for(&mut expiry, pause);
            }
        }
    }
}

//! The wish of a client that a pipeline stops.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

#[derive(Debug, Default)]
pub(super) struct Stop {
    wish: CancellationToken,
    /// Whether the handler ends by itself.
    is_handled: AtomicBool,
}

impl Stop {
    pub(super) fn request(&self) {
        self.wish.cancel();
    }

    pub(super) fn is_requested(&self) -> bool {
        self.wish.is_cancelled()
    }

    pub(super) fn handle(&self) {
        self.is_handled.store(true, Ordering::Release);
    }

    pub(super) async fn requested(&self) {
        self.wish.cancelled().await;
    }

    /// Waits until the handler has to end: at once, or after the time that one has that ends by itself.
    pub(super) async fn is_due(&self, timeout: Duration) {
        self.requested().await;
        if self.is_handled.load(Ordering::Acquire) {
            tokio::time::sleep(timeout).await;
        }
    }
}

//! Waiting for somebody, but not for ever.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

/// A deadline that is moved much more often than it passes: moving it later costs nothing.
pub(super) struct Patience {
    deadline: Instant,
    timer: Pin<Box<Sleep>>,
}

impl Patience {
    pub(super) fn new(time: Duration) -> Self {
        let timer = Box::pin(tokio::time::sleep(time));
        Self { deadline: timer.deadline(), timer }
    }

    /// Waits for this long from now on.
    pub(super) fn renew(&mut self, time: Duration) {
        let now = Instant::now();
        self.deadline = now.checked_add(time).unwrap_or(now + Duration::from_secs(86400 * 365));
    }

    /// Ready when the deadline has passed.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.deadline < self.timer.deadline() {
            self.timer.as_mut().reset(self.deadline);
        }
        while self.timer.as_mut().poll(cx).is_ready() {
            if self.deadline <= self.timer.deadline() {
                return Poll::Ready(());
            }
            self.timer.as_mut().reset(self.deadline);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_deadline_can_be_moved_both_ways() {
        let begun = Instant::now();
        let mut patience = Patience::new(Duration::from_secs(10));
        patience.renew(Duration::from_secs(30));
        poll_fn(|cx| patience.poll(cx)).await;
        assert_eq!(begun.elapsed().as_secs(), 30);
        patience.renew(Duration::from_secs(100));
        assert!(futures_util::poll!(std::pin::pin!(poll_fn(|cx| patience.poll(cx)))).is_pending());
        patience.renew(Duration::from_secs(1));
        poll_fn(|cx| patience.poll(cx)).await;
        assert_eq!(begun.elapsed().as_secs(), 31);
    }
}

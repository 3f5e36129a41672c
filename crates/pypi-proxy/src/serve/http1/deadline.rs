//! Deadline that is extended often.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

/// A deadline that is extended much more often than it expires. Extending it does not touch the timer.
pub(super) struct Deadline {
    deadline: Instant,
    timer: Pin<Box<Sleep>>,
}

impl Deadline {
    pub(super) fn new(time: Duration) -> Self {
        let timer = Box::pin(tokio::time::sleep(time));
        Self { deadline: timer.deadline(), timer }
    }

    /// Moves the deadline to `time` from now.
    pub(super) fn extend(&mut self, time: Duration) {
        let now = Instant::now();
        self.deadline = now.checked_add(time).unwrap_or(now + Duration::from_secs(86400 * 365));
    }

    /// Returns `Ready` when the deadline has passed.
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
    async fn deadlines_can_be_extended_and_shortened() {
        let begun = Instant::now();
        let mut deadline = Deadline::new(Duration::from_secs(10));
        deadline.extend(Duration::from_secs(30));
        poll_fn(|cx| deadline.poll(cx)).await;
        assert_eq!(begun.elapsed().as_secs(), 30);
        deadline.extend(Duration::from_secs(100));
        assert!(futures_util::poll!(std::pin::pin!(poll_fn(|cx| deadline.poll(cx)))).is_pending());
        deadline.extend(Duration::from_secs(1));
        poll_fn(|cx| deadline.poll(cx)).await;
        assert_eq!(begun.elapsed().as_secs(), 31);
    }
}

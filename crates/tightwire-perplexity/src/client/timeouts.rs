//! Timeouts of a call.

use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

use crate::error::TimeoutPhase;

/// Timeouts of a call. `None` disables a timeout.
///
/// Without [`total`](Self::total), a stream may last as long as data arrives within [`idle`](Self::idle).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// let timeouts = tightwire_perplexity::Timeouts { total: Some(Duration::from_secs(120)), ..Default::default() };
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Time until the response headers, per attempt. Default: 900 s.
    pub headers: Option<Duration>,
    /// Time until the end of the response, per attempt. Does not apply to streams and downloads, except for
    /// the body of an error. Default: 900 s.
    pub attempt: Option<Duration>,
    /// Time for everything: all attempts, the delays between them, and the response to its end, also for streams and
    /// downloads, whether they are polled or not. [`ResumingStream`](crate::stream::ResumingStream): all connections.
    /// [`Wait`](crate::Wait): all polls. [`Items`](crate::pages::Items): each page. Default: none.
    pub total: Option<Duration>,
    /// Maximum time without data of a stream or download. Default: 900 s.
    pub idle: Option<Duration>,
}

impl Timeouts {
    const LONG: Duration = Duration::from_secs(900);

    /// Returns the default timeouts.
    pub const fn new() -> Self {
        Self { headers: Some(Self::LONG), attempt: Some(Self::LONG), total: None, idle: Some(Self::LONG) }
    }

    /// Disables all timeouts.
    pub const fn none() -> Self {
        Self { headers: None, attempt: None, total: None, idle: None }
    }

    /// Uses one timeout for `headers`, `attempt` and `idle`, and no total timeout.
    pub const fn each(limit: Duration) -> Self {
        Self { headers: Some(limit), attempt: Some(limit), total: None, idle: Some(limit) }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self::new()
    }
}

/// A point in time, and the timeout that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deadline {
    at: Instant,
    phase: TimeoutPhase,
}

impl Deadline {
    /// Returns `None` for no limit, or if the deadline is not representable.
    pub(crate) fn after(start: Instant, limit: Option<Duration>, phase: TimeoutPhase) -> Option<Self> {
        Some(Self { at: start.checked_add(limit?)?, phase })
    }

    /// Returns the earlier deadline.
    pub(crate) fn earliest(first: Option<Self>, second: Option<Self>) -> Option<Self> {
        match (first, second) {
            (Some(first), Some(second)) => Some(if second.at < first.at { second } else { first }),
            (one, other) => one.or(other),
        }
    }

    /// Returns a timer that ends at this time.
    pub(crate) fn timer(&self) -> Sleep {
        sleep_until(self.at)
    }

    pub(crate) fn left(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }

    /// Runs `future` until the deadline, if any.
    pub(crate) async fn bound<F: Future>(
        deadline: Option<Self>,
        future: F,
    ) -> Result<F::Output, TimeoutPhase> {
        match deadline {
            None => Ok(future.await),
            Some(Self { at, phase }) => tokio::time::timeout_at(at, future).await.map_err(|_| phase),
        }
    }
}

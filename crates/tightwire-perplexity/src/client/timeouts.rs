//! How long the parts of a call may take.

use std::time::Duration;

use tokio::time::Instant;

use crate::error::TimeoutPhase;

/// The time limits of a call; `None` means none.
///
/// A stream has no limit as a whole: it may last as long as something arrives within [`idle`](Self::idle).
///
/// # Examples
/// ```
/// use std::time::Duration;
///
/// let timeouts = tightwire_perplexity::Timeouts { total: Some(Duration::from_secs(120)), ..Default::default() };
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// From a request until the headers of its answer, per attempt. Default: 900 s.
    pub headers: Option<Duration>,
    /// From a request until the end of its response, per attempt; not for streams and downloads. The body of an error
    /// is cut off there as well. Default: 900 s.
    pub attempt: Option<Duration>,
    /// Over all attempts, the waits between them and the body of an error; for streams and downloads until the headers.
    /// Default: none.
    pub total: Option<Duration>,
    /// Between two reads of a stream or a download. Default: 900 s.
    pub idle: Option<Duration>,
}

impl Timeouts {
    const LONG: Duration = Duration::from_secs(900);

    /// The defaults.
    pub const fn new() -> Self {
        Self { headers: Some(Self::LONG), attempt: Some(Self::LONG), total: None, idle: Some(Self::LONG) }
    }

    /// No limits at all.
    pub const fn none() -> Self {
        Self { headers: None, attempt: None, total: None, idle: None }
    }

    /// The same limit for each of headers, attempt and idle; none over all attempts.
    pub const fn each(limit: Duration) -> Self {
        Self { headers: Some(limit), attempt: Some(limit), total: None, idle: Some(limit) }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self::new()
    }
}

/// A moment, and what is over when it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deadline {
    at: Instant,
    phase: TimeoutPhase,
}

impl Deadline {
    /// `None` also for a limit past the end of time.
    pub(crate) fn after(start: Instant, limit: Option<Duration>, phase: TimeoutPhase) -> Option<Self> {
        Some(Self { at: start.checked_add(limit?)?, phase })
    }

    /// The earlier one.
    pub(crate) fn earliest(first: Option<Self>, second: Option<Self>) -> Option<Self> {
        match (first, second) {
            (Some(first), Some(second)) => Some(if second.at < first.at { second } else { first }),
            (one, other) => one.or(other),
        }
    }

    pub(crate) fn left(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }

    /// Runs `future` until the deadline, if there is one.
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

//! Retry policies.

use std::time::Duration;

use super::Error;

/// Delays between the connections of an [`EventSource`](super::EventSource).
pub trait RetryPolicy {
    /// Returns the delay before the next request, `None` to close the client.
    ///
    /// `last_retry` is the number of attempts since the last response, and the last delay. `None` at the first one.
    fn retry(&self, error: &Error, last_retry: Option<(usize, Duration)>) -> Option<Duration>;

    /// Applies the `retry` field of an event.
    fn set_reconnection_time(&mut self, duration: Duration);
}

/// The default policy: 300 ms, doubled up to 5 s, without a maximum number of attempts.
pub const DEFAULT_RETRY: ExponentialBackoff =
    ExponentialBackoff::new(Duration::from_millis(300), 2.0, Some(Duration::from_secs(5)), None);

/// Policy with growing delays.
#[derive(Debug, Clone)]
pub struct ExponentialBackoff {
    /// First delay. Replaced by the `retry` field of the server.
    pub start: Duration,
    /// Factor between consecutive delays.
    pub factor: f64,
    /// Maximum delay. A longer `retry` field of the server replaces it. `None` means no maximum.
    pub max_duration: Option<Duration>,
    /// Maximum number of attempts in a row. `None` means unlimited.
    pub max_retries: Option<usize>,
}

impl ExponentialBackoff {
    /// Returns a policy with these values.
    pub const fn new(
        start: Duration,
        factor: f64,
        max_duration: Option<Duration>,
        max_retries: Option<usize>,
    ) -> Self {
        Self { start, factor, max_duration, max_retries }
    }
}

impl RetryPolicy for ExponentialBackoff {
    fn retry(&self, _error: &Error, last_retry: Option<(usize, Duration)>) -> Option<Duration> {
        if is_exhausted(self.max_retries, last_retry) {
            return None;
        }
        let Some((_, last)) = last_retry else { return Some(self.start) };
        let delay = Duration::try_from_secs_f64(last.as_secs_f64() * self.factor).unwrap_or(Duration::MAX);
        Some(self.max_duration.map_or(delay, |max| delay.min(max)))
    }

    fn set_reconnection_time(&mut self, duration: Duration) {
        self.start = duration;
        self.max_duration = self.max_duration.map(|max| max.max(duration));
    }
}

/// Policy with a constant delay.
#[derive(Debug, Clone)]
pub struct Constant {
    /// Delay. Replaced by the `retry` field of the server.
    pub delay: Duration,
    /// Maximum number of attempts in a row. `None` means unlimited.
    pub max_retries: Option<usize>,
}

impl Constant {
    /// Returns a policy with these values.
    pub const fn new(delay: Duration, max_retries: Option<usize>) -> Self {
        Self { delay, max_retries }
    }
}

impl RetryPolicy for Constant {
    fn retry(&self, _error: &Error, last_retry: Option<(usize, Duration)>) -> Option<Duration> {
        (!is_exhausted(self.max_retries, last_retry)).then_some(self.delay)
    }

    fn set_reconnection_time(&mut self, duration: Duration) {
        self.delay = duration;
    }
}

/// Policy that never reconnects.
#[derive(Debug, Clone, Copy, Default)]
pub struct Never;

impl RetryPolicy for Never {
    fn retry(&self, _error: &Error, _last_retry: Option<(usize, Duration)>) -> Option<Duration> {
        None
    }

    fn set_reconnection_time(&mut self, _duration: Duration) {}
}

fn is_exhausted(max_retries: Option<usize>, last_retry: Option<(usize, Duration)>) -> bool {
    max_retries.is_some_and(|max| last_retry.map_or(0, |(attempts, _)| attempts) >= max)
}

//! Retry policy: whether and after which delay a request is sent again.

mod after;
mod attempts;
mod budget;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::header::{HeaderMap, HeaderName};
use http::status::StatusCode;

pub(crate) use self::after::retry_after;
pub(crate) use self::attempts::Attempts;
pub use self::budget::RetryBudget;
use crate::error::TimeoutPhase;

const X_SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// Returns whether a request that failed with this status may succeed when it is retried.
pub(crate) fn is_transient(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 409 | 429 | 500..)
}

/// How an attempt failed.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Outcome<'a> {
    /// The server responded with a status other than 2xx.
    Status {
        /// HTTP status.
        status: StatusCode,
        /// Response headers.
        headers: &'a HeaderMap,
    },
    /// No response, or its body was truncated.
    Connection,
    /// A timeout elapsed.
    Timeout(TimeoutPhase),
}

impl fmt::Debug for Outcome<'_> {
    /// Omits the headers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status { status, .. } => f.debug_tuple("Status").field(&status.as_u16()).finish(),
            Self::Connection => f.write_str("Connection"),
            Self::Timeout(phase) => f.debug_tuple("Timeout").field(phase).finish(),
        }
    }
}

/// Behavior if the server requests a longer delay than [`RetryPolicy::max_retry_after`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LongRetryAfter {
    /// Fail immediately. The error contains the requested delay.
    #[default]
    GiveUp,
    /// Ignore the requested delay and use the backoff, as the official SDKs do.
    Backoff,
}

/// Randomization of delays, so that clients that failed together do not retry together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Jitter {
    /// No randomization.
    None,
    /// A random delay between `0.75 d` and `d`.
    #[default]
    Quarter,
    /// A random delay between 0 and `d`.
    Full,
}

/// Which calls are retried if the first attempt may have reached the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Repeat {
    /// All calls. Repeating a completion has no lasting effect besides its cost.
    #[default]
    Any,
    /// Calls with an idempotent method (RFC 9110, section 9.2.2), such as GET, PUT and DELETE, or with an
    /// idempotency key.
    Idempotent,
}

type Classify = dyn Fn(&Outcome<'_>) -> Option<bool> + Send + Sync;

/// Decides whether and when a failed call is retried.
///
/// Retries the statuses 408, 409, 429 and 5xx, lost connections and timeouts; a response header
/// `x-should-retry: true` or `false` overrides the status. The n-th retry, counted from 0, is delayed by
/// `initial_delay * 2^n`, at most `max_delay`, reduced by [`Jitter`]. A delay requested by the server
/// (`retry-after-ms`, `Retry-After`) takes precedence. A stream is retried only until its response headers
/// have arrived.
///
/// # Examples
/// ```
/// use std::time::Duration;
///
/// let policy = tightwire_perplexity::RetryPolicy::new().max_retries(4).max_retry_after(Duration::from_secs(10));
/// ```
#[derive(Clone)]
pub struct RetryPolicy {
    max_retries: u32,
    initial: Duration,
    max_delay: Duration,
    jitter: Jitter,
    max_retry_after: Duration,
    long_retry_after: LongRetryAfter,
    repeat: Repeat,
    budget: Option<Arc<RetryBudget>>,
    classify: Option<Arc<Classify>>,
}

impl RetryPolicy {
    /// Returns the default policy: 2 retries, delays from 0.5 s doubling up to 8 s, [`Jitter::Quarter`],
    /// server-requested delays up to 60 s with [`LongRetryAfter::GiveUp`], [`Repeat::Any`], no budget.
    pub const fn new() -> Self {
        Self {
            max_retries: 2,
            initial: Duration::from_millis(500),
            max_delay: Duration::from_secs(8),
            jitter: Jitter::Quarter,
            max_retry_after: Duration::from_secs(60),
            long_retry_after: LongRetryAfter::GiveUp,
            repeat: Repeat::Any,
            budget: None,
            classify: None,
        }
    }

    /// Returns a policy that never retries.
    pub const fn never() -> Self {
        let mut policy = Self::new();
        policy.max_retries = 0;
        policy
    }

    /// Sets the maximum number of retries per call; 0 disables them. Default: 2.
    #[must_use]
    pub fn max_retries(mut self, retries: u32) -> Self {
        self.max_retries = retries;
        self
    }

    /// Sets the delay before the first retry. Default: 0.5 s.
    #[must_use]
    pub fn initial_delay(mut self, delay: Duration) -> Self {
        self.initial = delay;
        self
    }

    /// Sets the maximum backoff delay. Default: 8 s.
    #[must_use]
    pub fn max_delay(mut self, delay: Duration) -> Self {
        self.max_delay = delay;
        self
    }

    /// Sets the randomization of delays. Default: [`Jitter::Quarter`].
    #[must_use]
    pub fn jitter(mut self, jitter: Jitter) -> Self {
        self.jitter = jitter;
        self
    }

    /// Sets the maximum delay that the server may request. Default: 60 s.
    #[must_use]
    pub fn max_retry_after(mut self, cap: Duration) -> Self {
        self.max_retry_after = cap;
        self
    }

    /// Sets the behavior if the server requests a longer delay. Default: [`LongRetryAfter::GiveUp`].
    #[must_use]
    pub fn long_retry_after(mut self, beyond: LongRetryAfter) -> Self {
        self.long_retry_after = beyond;
        self
    }

    /// Sets which calls are retried. Default: [`Repeat::Any`].
    #[must_use]
    pub fn repeat(mut self, repeat: Repeat) -> Self {
        self.repeat = repeat;
        self
    }

    /// Limits the retries of all calls together. Default: no limit.
    #[must_use]
    pub fn budget(mut self, budget: Arc<RetryBudget>) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Sets a function that decides first whether a failure is retried. `None` falls back to the default
    /// rules.
    #[must_use]
    pub fn classify(
        mut self,
        classify: impl Fn(&Outcome<'_>) -> Option<bool> + Send + Sync + 'static,
    ) -> Self {
        self.classify = Some(Arc::new(classify));
        self
    }

    /// Returns whether the failure is retryable.
    fn is_retryable(&self, outcome: &Outcome<'_>) -> bool {
        if let Some(verdict) = self.classify.as_ref().and_then(|classify| classify(outcome)) {
            return verdict;
        }
        match outcome {
            Outcome::Status { status, headers } => {
                match headers.get(X_SHOULD_RETRY).map(|value| value.as_bytes()) {
                    Some(b"true") => true,
                    Some(b"false") => false,
                    _ => is_transient(*status),
                }
            }
            Outcome::Connection => true,
            Outcome::Timeout(phase) => *phase != TimeoutPhase::Total,
        }
    }

    /// Returns the backoff delay of the retry with this index.
    fn backoff(&self, index: u32, random: u32) -> Duration {
        let growth = 1u32.checked_shl(index).unwrap_or(u32::MAX);
        let full = self.initial.checked_mul(growth).unwrap_or(Duration::MAX).min(self.max_delay);
        let share = match self.jitter {
            Jitter::None => return full,
            Jitter::Quarter => full / 4,
            Jitter::Full => full,
        };
        full - scale(share, random)
    }

    /// Returns the delay of the retry with this index, counted from 0, or `None` to give up.
    fn delay(&self, outcome: &Outcome<'_>, index: u32, now: SystemTime, random: u32) -> Option<Duration> {
        if index >= self.max_retries || !self.is_retryable(outcome) {
            return None;
        }
        let requested = match outcome {
            Outcome::Status { headers, .. } => retry_after(headers, now),
            _ => None,
        };
        match requested {
            Some(requested) if requested <= self.max_retry_after => Some(requested),
            Some(_) if self.long_retry_after == LongRetryAfter::GiveUp => None,
            _ => Some(self.backoff(index, random)),
        }
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for RetryPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryPolicy")
            .field("max_retries", &self.max_retries)
            .field("initial_delay", &self.initial)
            .field("max_delay", &self.max_delay)
            .field("jitter", &self.jitter)
            .field("max_retry_after", &self.max_retry_after)
            .field("long_retry_after", &self.long_retry_after)
            .field("repeat", &self.repeat)
            .field("budget", &self.budget)
            .finish_non_exhaustive()
    }
}

/// Scales `whole` by `random / u32::MAX`.
fn scale(whole: Duration, random: u32) -> Duration {
    const NANOS: u128 = 1_000_000_000;
    // `whole` in nanoseconds takes 94 bits and the factor 32: the product fits.
    let nanos = whole.as_nanos() * u128::from(random) / u128::from(u32::MAX);
    Duration::new((nanos / NANOS) as u64, (nanos % NANOS) as u32)
}

#[cfg(test)]
mod tests;

//! Retry policy: whether and after which delay a request is sent again.

mod budget;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::header::{HeaderMap, HeaderName};
use http::status::StatusCode;

pub use self::budget::RetryBudget;
use crate::error::{TimeoutPhase, is_transient, retry_after};

const X_SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

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

/// A retry that is about to start; see [`ClientBuilder::on_retry`](crate::ClientBuilder::on_retry).
#[derive(Debug)]
#[non_exhaustive]
pub struct RetryEvent<'a> {
    /// Number of attempts so far.
    pub attempt: u32,
    /// Delay before the next attempt.
    pub delay: Duration,
    /// How the last attempt failed.
    pub outcome: Outcome<'a>,
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

/// Which calls are retried if the server may have processed the first attempt.
///
/// Other calls are retried after status 429, `x-should-retry: true`, and a connection that was not established.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Repeat {
    /// All calls except those that create a response of the Agent API: it may be running already, and is billed.
    #[default]
    Auto,
    /// All calls. Repeating the creation of a response has no lasting effect besides its cost.
    Any,
    /// Calls with an idempotent method (RFC 9110, section 9.2.2), such as GET, PUT and DELETE, or with an
    /// idempotency key.
    Idempotent,
}

/// Decides first whether a failure is retried; see [`RetryPolicy::classify`].
pub type Classify = dyn Fn(&Outcome<'_>) -> Option<bool> + Send + Sync;

/// Decides whether and when a failed call is retried.
///
/// Retries the statuses 408, 409, 429 and 5xx, lost connections and timeouts; a response header
/// `x-should-retry: true` or `false` overrides the status. The n-th retry, counted from 0, is delayed by
/// `initial_delay * 2^n`, at most `max_delay`, reduced by [`Jitter`]. A delay requested by the server
/// (`retry-after-ms`, `Retry-After`) takes precedence. A stream is retried only until its response headers
/// have arrived.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use tightwire_perplexity::retry::RetryPolicy;
///
/// let policy = RetryPolicy { max_retries: 4, max_retry_after: Duration::from_secs(10), ..RetryPolicy::new() };
/// ```
#[derive(Clone)]
pub struct RetryPolicy {
    /// Maximum number of retries per call; 0 disables them. Default: 2.
    pub max_retries: u32,
    /// Delay before the first retry. Default: 0.5 s.
    pub initial_delay: Duration,
    /// Maximum backoff delay. Default: 8 s.
    pub max_delay: Duration,
    /// Randomization of delays. Default: [`Jitter::Quarter`].
    pub jitter: Jitter,
    /// Maximum delay that the server may request. A call for which it requests a longer one fails immediately;
    /// the error contains the requested delay. Default: 60 s.
    pub max_retry_after: Duration,
    /// Which calls are retried. Default: [`Repeat::Auto`].
    pub repeat: Repeat,
    /// Limits the retries of all calls together. Default: no limit.
    pub budget: Option<Arc<RetryBudget>>,
    /// Decides first whether a failure is retried. If it returns `None`, the rules above apply. Default: none.
    pub classify: Option<Arc<Classify>>,
}

impl RetryPolicy {
    /// Returns the default policy.
    pub const fn new() -> Self {
        Self {
            max_retries: 2,
            initial_delay: Duration::from_millis(500),
            max_delay: Duration::from_secs(8),
            jitter: Jitter::Quarter,
            max_retry_after: Duration::from_secs(60),
            repeat: Repeat::Auto,
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

    /// Returns whether the server, or the classifier, says that the request was not processed.
    fn is_unprocessed(&self, outcome: &Outcome<'_>) -> bool {
        let says_so = match outcome {
            Outcome::Status { status, headers } => {
                *status == StatusCode::TOO_MANY_REQUESTS
                    || headers.get(X_SHOULD_RETRY).is_some_and(|value| value == "true")
            }
            Outcome::Timeout(phase) => *phase == TimeoutPhase::Connect,
            Outcome::Connection => false,
        };
        says_so || self.classify.as_ref().is_some_and(|classify| classify(outcome) == Some(true))
    }

    /// Returns the backoff delay of the retry with this index.
    fn backoff(&self, index: u32, random: u32) -> Duration {
        let growth = 1u32.checked_shl(index).unwrap_or(u32::MAX);
        let full = self.initial_delay.checked_mul(growth).unwrap_or(Duration::MAX).min(self.max_delay);
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
            Some(requested) => Some(requested).filter(|requested| *requested <= self.max_retry_after),
            None => Some(self.backoff(index, random)),
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
            .field("initial_delay", &self.initial_delay)
            .field("max_delay", &self.max_delay)
            .field("jitter", &self.jitter)
            .field("max_retry_after", &self.max_retry_after)
            .field("repeat", &self.repeat)
            .field("budget", &self.budget)
            .finish_non_exhaustive()
    }
}

/// Counts the attempts of one call and decides about retries.
#[derive(Debug)]
pub(crate) struct Attempts<'a> {
    policy: &'a RetryPolicy,
    repeatable: bool,
    made: u32,
    /// Tokens that the last retry took from the budget.
    paid: u32,
}

impl<'a> Attempts<'a> {
    /// `idempotent` is whether the call may be retried under [`Repeat::Idempotent`], `billed` whether it is not retried
    /// under [`Repeat::Auto`].
    pub(crate) fn new(policy: &'a RetryPolicy, idempotent: bool, billed: bool) -> Self {
        let repeatable = match policy.repeat {
            Repeat::Any => true,
            Repeat::Auto => idempotent || !billed,
            Repeat::Idempotent => idempotent,
        };
        Self { policy, repeatable, made: 0, paid: 0 }
    }

    /// Starts an attempt.
    pub(crate) fn begin(&mut self) {
        self.made += 1;
    }

    /// Returns the number of attempts started.
    pub(crate) fn made(&self) -> u32 {
        self.made
    }

    /// Records a failed attempt. Returns the delay before the next one, or `None` to give up.
    ///
    /// `is_sent` is whether the request may have reached the server. `left` is the time until the deadline of the call; a
    /// delay beyond it would be useless.
    pub(crate) fn failed(
        &mut self,
        outcome: &Outcome<'_>,
        is_sent: bool,
        left: Option<Duration>,
    ) -> Option<Duration> {
        if is_sent && !self.repeatable && !self.policy.is_unprocessed(outcome) {
            return None;
        }
        let delay = self.policy.delay(outcome, self.made - 1, SystemTime::now(), fastrand::u32(..))?;
        if left.is_some_and(|left| delay >= left) {
            return None;
        }
        if let Some(budget) = &self.policy.budget {
            let throttled = matches!(outcome, Outcome::Status { status, .. } if status.as_u16() == 429);
            self.paid = budget.withdraw(throttled)?;
        }
        Some(delay)
    }

    /// Records a successful attempt.
    pub(crate) fn succeeded(&self) {
        if let Some(budget) = &self.policy.budget {
            budget.deposit(self.paid);
        }
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

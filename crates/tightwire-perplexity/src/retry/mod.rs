//! Whether and when a request is sent again: arithmetic over outcomes, without a clock or a source of randomness of
//! its own.

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

/// Statuses that may be gone with the next attempt.
pub(crate) fn is_transient(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 409 | 429 | 500..)
}

/// How one attempt failed.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Outcome<'a> {
    /// The server answered with a status that is not a success.
    Status {
        /// The status.
        status: StatusCode,
        /// The headers of the answer.
        headers: &'a HeaderMap,
    },
    /// There was no answer, or it broke off.
    Connection,
    /// A time limit ran out.
    Timeout(TimeoutPhase),
}

impl fmt::Debug for Outcome<'_> {
    /// Leaves out the headers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status { status, .. } => f.debug_tuple("Status").field(&status.as_u16()).finish(),
            Self::Connection => f.write_str("Connection"),
            Self::Timeout(phase) => f.debug_tuple("Timeout").field(phase).finish(),
        }
    }
}

/// What happens if the server asks for a longer wait than [`RetryPolicy::max_retry_after`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum BeyondCap {
    /// The call fails at once; the error tells how long the server asked to wait.
    #[default]
    GiveUp,
    /// The wish is ignored and the usual wait applies, as the clients of the vendor do.
    Backoff,
}

/// How waits are spread out, so that callers that failed together do not come back together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Jitter {
    /// Every wait has its full length.
    None,
    /// A wait of `d` becomes a random one between `0.75 d` and `d`.
    #[default]
    Quarter,
    /// A wait of `d` becomes a random one between 0 and `d`.
    Full,
}

/// Which calls are sent again if the first attempt may have reached the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Repeat {
    /// All. Creating a completion has no lasting effect besides its price.
    #[default]
    Any,
    /// Those with an idempotent method (RFC 9110, section 9.2.2), such as GET, PUT and DELETE, or an idempotency key.
    Idempotent,
}

type Classify = dyn Fn(&Outcome<'_>) -> Option<bool> + Send + Sync;
type Random = dyn Fn() -> u32 + Send + Sync;
type WallClock = dyn Fn() -> SystemTime + Send + Sync;

/// When a call is sent again.
///
/// The statuses 408, 409, 429 and those from 500 on are retried, and so are broken connections and timeouts; a header
/// `x-should-retry: true` or `false` overrides that. The n-th retry, counted from 0, waits `initial_delay * 2^n`, at most
/// `max_delay`, less [`Jitter`]; a wish of the server (`retry-after-ms`, `Retry-After`) replaces that wait. A stream is
/// retried until its headers have arrived and never after that.
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
    beyond_cap: BeyondCap,
    repeat: Repeat,
    budget: Option<Arc<RetryBudget>>,
    classify: Option<Arc<Classify>>,
    random: Option<Arc<Random>>,
    wall_clock: Option<Arc<WallClock>>,
}

impl RetryPolicy {
    /// The defaults: 2 retries, 0.5 s doubled up to 8 s, [`Jitter::Quarter`], wishes of the server up to 60 s and
    /// [`BeyondCap::GiveUp`], [`Repeat::Any`], no budget.
    pub const fn new() -> Self {
        Self {
            max_retries: 2,
            initial: Duration::from_millis(500),
            max_delay: Duration::from_secs(8),
            jitter: Jitter::Quarter,
            max_retry_after: Duration::from_secs(60),
            beyond_cap: BeyondCap::GiveUp,
            repeat: Repeat::Any,
            budget: None,
            classify: None,
            random: None,
            wall_clock: None,
        }
    }

    /// A policy that never retries.
    pub const fn never() -> Self {
        let mut policy = Self::new();
        policy.max_retries = 0;
        policy
    }

    /// Sets how often a call is sent again; 0 means never. Default: 2.
    #[must_use]
    pub fn max_retries(mut self, retries: u32) -> Self {
        self.max_retries = retries;
        self
    }

    /// Sets the wait before the first retry. Default: 0.5 s.
    #[must_use]
    pub fn initial_delay(mut self, delay: Duration) -> Self {
        self.initial = delay;
        self
    }

    /// Sets the longest wait that the client chooses by itself. Default: 8 s.
    #[must_use]
    pub fn max_delay(mut self, delay: Duration) -> Self {
        self.max_delay = delay;
        self
    }

    /// Sets how waits are spread out. Default: [`Jitter::Quarter`].
    #[must_use]
    pub fn jitter(mut self, jitter: Jitter) -> Self {
        self.jitter = jitter;
        self
    }

    /// Sets the longest wait that a server can ask for. Default: 60 s.
    #[must_use]
    pub fn max_retry_after(mut self, cap: Duration) -> Self {
        self.max_retry_after = cap;
        self
    }

    /// Chooses what happens if a server asks for more. Default: [`BeyondCap::GiveUp`].
    #[must_use]
    pub fn beyond_cap(mut self, beyond: BeyondCap) -> Self {
        self.beyond_cap = beyond;
        self
    }

    /// Chooses which calls are sent again. Default: [`Repeat::Any`].
    #[must_use]
    pub fn repeat(mut self, repeat: Repeat) -> Self {
        self.repeat = repeat;
        self
    }

    /// Bounds the retries of all calls together. Default: no bound.
    #[must_use]
    pub fn budget(mut self, budget: Arc<RetryBudget>) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Asks `classify` first whether an outcome is worth a retry; `None` leaves it to the usual rules.
    #[must_use]
    pub fn classify(
        mut self,
        classify: impl Fn(&Outcome<'_>) -> Option<bool> + Send + Sync + 'static,
    ) -> Self {
        self.classify = Some(Arc::new(classify));
        self
    }

    /// Replaces the source of randomness, which returns numbers spread evenly over the whole range.
    #[must_use]
    pub fn random(mut self, random: impl Fn() -> u32 + Send + Sync + 'static) -> Self {
        self.random = Some(Arc::new(random));
        self
    }

    /// Replaces the clock that dates of servers without a `Date` header are compared with.
    #[must_use]
    pub fn wall_clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.wall_clock = Some(Arc::new(clock));
        self
    }

    pub(crate) fn now(&self) -> SystemTime {
        self.wall_clock.as_ref().map_or_else(SystemTime::now, |clock| clock())
    }

    pub(crate) fn draw(&self) -> u32 {
        self.random.as_ref().map_or_else(|| fastrand::u32(..), |random| random())
    }

    /// Whether this outcome may be followed by another attempt.
    fn is_worth_it(&self, outcome: &Outcome<'_>) -> bool {
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

    /// The wait before the retry with this index that the client chooses by itself.
    fn backoff(&self, index: u32, random: u32) -> Duration {
        let growth = 1u32.checked_shl(index).unwrap_or(u32::MAX);
        let full = self.initial.checked_mul(growth).unwrap_or(Duration::MAX).min(self.max_delay);
        let share = match self.jitter {
            Jitter::None => return full,
            Jitter::Quarter => full / 4,
            Jitter::Full => full,
        };
        full - part(share, random)
    }

    /// Decides about the retry with this index, counted from 0.
    fn delay(&self, outcome: &Outcome<'_>, index: u32, now: SystemTime, random: u32) -> Option<Duration> {
        if index >= self.max_retries || !self.is_worth_it(outcome) {
            return None;
        }
        let wish = match outcome {
            Outcome::Status { headers, .. } => retry_after(headers, now),
            _ => None,
        };
        match wish {
            Some(wish) if wish <= self.max_retry_after => Some(wish),
            Some(_) if self.beyond_cap == BeyondCap::GiveUp => None,
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
            .field("beyond_cap", &self.beyond_cap)
            .field("repeat", &self.repeat)
            .field("budget", &self.budget)
            .finish_non_exhaustive()
    }
}

/// Maps `random` linearly onto the times from 0 to `whole`.
fn part(whole: Duration, random: u32) -> Duration {
    const NANOS: u128 = 1_000_000_000;
    // A duration in nanoseconds takes 94 bits, the factor 32: the product cannot overflow.
    let nanos = whole.as_nanos() * u128::from(random) / u128::from(u32::MAX);
    Duration::new((nanos / NANOS) as u64, (nanos % NANOS) as u32)
}

#[cfg(test)]
mod tests;

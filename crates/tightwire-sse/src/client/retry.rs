//! Delays between connections, without a clock and a random number generator.

use std::time::Duration;

/// Delays and number of reconnection attempts of an [`EventSource`](crate::EventSource).
///
/// The delay after the n-th failure in a row, counted from 0, is `base * factor^n`, at least the floor and at most the
/// cap. A `retry` field of the server replaces the base. [`Jitter`] shortens delays, but not below the base: the
/// standard does not allow reconnecting earlier than the server requested (section 9.2.3). For the same reason, a
/// `retry` field may exceed the cap, up to [`max_retry`](Self::max_retry), and so may a `Retry-After` header; see
/// [`max_retry_after`](crate::EventSourceBuilder::max_retry_after).
///
/// The count is reset by a connection that was open for [`reset_after`](Self::reset_after), but not by a `retry` field:
/// the delays still grow for a server that sends `retry: 0` and closes the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    base: Duration,
    factor: u32,
    cap: Duration,
    floor: Duration,
    reset_after: Duration,
    max_retry: Duration,
    jitter: Jitter,
    max_attempts: Option<u32>,
}

/// Randomization of delays, so that clients do not reconnect simultaneously; see [`Backoff::jitter`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Jitter {
    /// No randomization.
    None,
    /// A random delay between `d / 2` and `d`, but not less than the base, where `d` is the computed delay.
    #[default]
    Half,
}

impl Backoff {
    /// Returns the defaults: base 3 s, factor 2, cap 60 s, floor 100 ms, [`Jitter::Half`], reset after 60 s, `retry`
    /// fields up to 1 h, unlimited attempts.
    pub const fn new() -> Self {
        Self {
            base: Duration::from_secs(3),
            factor: 2,
            cap: Duration::from_secs(60),
            floor: Duration::from_millis(100),
            reset_after: Duration::from_secs(60),
            max_retry: Duration::from_secs(60 * 60),
            jitter: Jitter::Half,
            max_attempts: None,
        }
    }

    /// Sets the first delay, until the server sends a `retry` field. Default: 3 s.
    #[must_use]
    pub const fn base(mut self, base: Duration) -> Self {
        self.base = base;
        self
    }

    /// Sets the factor between consecutive delays. With 0 and 1, the delay is constant. Default: 2.
    #[must_use]
    pub const fn factor(mut self, factor: u32) -> Self {
        self.factor = factor;
        self
    }

    /// Sets the maximum delay, unless the server requests a longer one. Default: 60 s.
    #[must_use]
    pub const fn cap(mut self, cap: Duration) -> Self {
        self.cap = cap;
        self
    }

    /// Sets the minimum delay, so that `retry: 0` does not cause a busy loop. Takes precedence over a smaller cap.
    /// Default: 100 ms.
    #[must_use]
    pub const fn floor(mut self, floor: Duration) -> Self {
        self.floor = floor;
        self
    }

    /// Sets how long a connection has to be open to reset the count of failures. Default: 60 s.
    ///
    /// With a short time, the delays do not grow for a server that accepts connections and closes them.
    #[must_use]
    pub const fn reset_after(mut self, open_for: Duration) -> Self {
        self.reset_after = open_for;
        self
    }

    /// Sets the maximum of a `retry` field; a larger one counts as this value. Default: 1 h.
    #[must_use]
    pub const fn max_retry(mut self, delay: Duration) -> Self {
        self.max_retry = delay;
        self
    }

    /// Sets the randomization of delays. Default: [`Jitter::Half`].
    #[must_use]
    pub const fn jitter(mut self, jitter: Jitter) -> Self {
        self.jitter = jitter;
        self
    }

    /// Sets the maximum number of reconnection attempts in a row, after which the client ends with the last error.
    /// Default: unlimited.
    ///
    /// With 0, the client never reconnects, and the stream ends without an error when the server ends it. See
    /// [`reset_after`](Self::reset_after) for the reset of the count.
    #[must_use]
    pub const fn max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = Some(attempts);
        self
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self::new()
    }
}

/// State of the backoff.
#[derive(Debug)]
pub(super) struct Retry {
    config: Backoff,
    /// Latest `retry` value of the server, up to its maximum, otherwise the configured base, at most the cap.
    base: Duration,
    /// Failures since the last reset.
    attempts: u32,
}

/// Result of a connection or a failed attempt.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outcome {
    /// Time that the connection was open; `None` if it was not established.
    pub(super) open_for: Option<Duration>,
    /// Latest reconnection time that the server sent.
    pub(super) retry: Option<Duration>,
}

impl Retry {
    pub(super) const fn new(config: Backoff) -> Self {
        let base = if config.base.as_nanos() > config.cap.as_nanos() { config.cap } else { config.base };
        Self { config, base, attempts: 0 }
    }

    /// Returns whether the client never reconnects.
    pub(super) const fn is_disabled(&self) -> bool {
        matches!(self.config.max_attempts, Some(0))
    }

    /// Records the end of a connection.
    pub(super) fn record(&mut self, outcome: Outcome) {
        if outcome.open_for.is_some_and(|open_for| open_for >= self.config.reset_after) {
            self.attempts = 0;
        }
        self.base = outcome.retry.map_or(self.base, |retry| retry.min(self.config.max_retry));
    }

    /// Returns the delay before the next attempt, `None` if the maximum number of attempts is reached.
    ///
    /// `random` is uniformly distributed over its whole range.
    pub(super) fn next_delay(&mut self, random: u32) -> Option<Duration> {
        let Backoff { factor, cap, floor, jitter, max_attempts, .. } = self.config;
        if max_attempts.is_some_and(|max| self.attempts >= max) {
            return None;
        }
        let least = self.base.max(floor);
        let growth = factor.saturating_pow(self.attempts);
        let most = least.checked_mul(growth).unwrap_or(Duration::MAX).min(cap).max(least);
        self.attempts = self.attempts.saturating_add(1);
        Some(match jitter {
            Jitter::None => most,
            Jitter::Half => between(least.max(most / 2), most, random),
        })
    }
}

/// Maps `random` linearly onto the range from `low` to `high`.
fn between(low: Duration, high: Duration, random: u32) -> Duration {
    // A `Duration` in nanoseconds has 94 bits, the factor 32: the product cannot overflow.
    let share = (high - low).as_nanos() * u128::from(random) / u128::from(u32::MAX);
    const NANOS: u128 = 1_000_000_000;
    low + Duration::new((share / NANOS) as u64, (share % NANOS) as u32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn open_for(open_for: Duration) -> Outcome {
        Outcome { open_for: Some(open_for), retry: None }
    }

    fn delays<const N: usize>(retry: &mut Retry, random: u32) -> [u64; N] {
        std::array::from_fn(|_| {
            retry.record(Outcome::default());
            retry.next_delay(random).expect("attempts are not limited").as_millis() as u64
        })
    }

    #[test]
    fn delays_grow_from_the_base_to_the_cap() {
        let default = Backoff::new();
        for (config, random, expected) in [
            (default, u32::MAX, [3000, 6000, 12_000, 24_000, 48_000, 60_000, 60_000]),
            (default, 0, [3000, 3000, 6000, 12_000, 24_000, 30_000, 30_000]),
            // The floor takes precedence over a smaller cap.
            (default.floor(SECOND).cap(SECOND / 2), 7, [1000; 7]),
            // Delays with jitter are at least the base.
            (default.base(50 * SECOND), 0, [50_000; 7]),
            (default.base(50 * SECOND), u32::MAX, [50_000, 60_000, 60_000, 60_000, 60_000, 60_000, 60_000]),
            (default.factor(0), 0, [3000; 7]),
        ] {
            assert_eq!(delays(&mut Retry::new(config), random), expected, "{config:?}");
        }
    }

    #[test]
    fn a_retry_field_only_replaces_the_base() {
        let mut retry = Retry::new(Backoff::new().jitter(Jitter::None));
        assert_eq!(delays(&mut retry, 0), [3000, 6000, 12_000]);
        retry.record(Outcome { retry: Some(Duration::from_millis(500)), ..open_for(Duration::ZERO) });
        assert_eq!(delays(&mut retry, 0), [4000, 8000]);
    }

    #[test]
    fn a_long_connection_resets_the_delay() {
        let mut retry = Retry::new(Backoff::new().jitter(Jitter::None));
        assert_eq!(delays(&mut retry, 0), [3000, 6000]);
        retry.record(open_for(59 * SECOND));
        assert_eq!(retry.next_delay(0), Some(12 * SECOND));
        retry.record(open_for(60 * SECOND));
        assert_eq!(retry.next_delay(0), Some(3 * SECOND));
    }

    #[test]
    fn attempts_are_limited_and_reset() {
        let mut retry = Retry::new(Backoff::new().max_attempts(2));
        assert_eq!(delays(&mut retry, u32::MAX), [3000, 6000]);
        retry.record(open_for(SECOND));
        assert_eq!(retry.next_delay(0), None);
        retry.record(open_for(60 * SECOND));
        assert!(retry.next_delay(0).is_some());
        assert_eq!(Retry::new(Backoff::new().max_attempts(0)).next_delay(0), None);
    }

    #[test]
    fn extreme_settings_do_not_overflow() {
        let config = Backoff::new().base(Duration::MAX).cap(Duration::MAX).factor(u32::MAX);
        for random in [0, 1, u32::MAX] {
            let mut retry = Retry::new(config);
            assert_eq!(retry.next_delay(random), Some(Duration::MAX));
            assert_eq!(retry.next_delay(random), Some(Duration::MAX));
        }
        let mut retry = Retry::new(Backoff::new().base(Duration::MAX / 1000).cap(Duration::MAX));
        for _ in 0..200 {
            retry.next_delay(u32::MAX);
        }
        assert_eq!(retry.next_delay(u32::MAX), Some(Duration::MAX));
    }

    proptest! {
        #[test]
        fn delays_are_between_base_and_cap(
            base in any::<u64>(),
            cap in any::<u64>(),
            floor in any::<u64>(),
            factor in any::<u32>(),
            losses in proptest::collection::vec((any::<u32>(), any::<Option<u64>>()), 1..20),
        ) {
            let (cap, floor) = (Duration::from_millis(cap), Duration::from_millis(floor));
            let config = Backoff::new().base(Duration::from_millis(base)).factor(factor);
            let mut retry = Retry::new(config.cap(cap).floor(floor).max_retry(10 * SECOND));
            let mut requested = None;
            for (random, field) in losses {
                let field = field.map(Duration::from_millis);
                retry.record(Outcome { open_for: None, retry: field });
                let delay = retry.next_delay(random).expect("attempts are not limited");
                requested = field.map(|field| field.min(10 * SECOND)).or(requested);
                let least = requested.unwrap_or(cap.min(Duration::from_millis(base))).max(floor);
                prop_assert!(delay >= least && delay <= cap.max(least));
            }
        }
    }
}

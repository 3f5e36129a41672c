//! Circuit breaker: after several failures in a row, no requests are sent to a bucket or index for a while.

use std::time::Duration;

use tokio::time::Instant;

/// Consecutive failures that open the breaker.
const FAILURE_THRESHOLD: u32 = 5;
/// Initial and maximum time for which the breaker stays open.
const PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// State of a circuit breaker.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    failures: u32,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    /// Time of the next probe. Each probe moves it by `pause`, so that one probe runs at a time unless it hangs.
    until: Instant,
    pause: Duration,
}

/// Permission to send a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permit {
    Normal,
    /// Tests whether requests succeed again.
    Probe,
}

impl Breaker {
    /// Returns permission to send a request, or `None` while the breaker is open.
    pub(crate) fn try_acquire(&mut self, now: Instant) -> Option<Permit> {
        match &mut self.open {
            None => Some(Permit::Normal),
            Some(open) if now >= open.until => {
                open.until = now + open.pause;
                Some(Permit::Probe)
            }
            Some(_) => None,
        }
    }

    /// Returns the time until the next probe.
    pub(crate) fn pause(&self, now: Instant) -> Duration {
        self.open.as_ref().map_or(Duration::ZERO, |open| open.until.saturating_duration_since(now))
    }

    /// Closes the breaker after a response. Returns whether it was open.
    pub(crate) fn record_success(&mut self) -> bool {
        self.failures = 0;
        self.open.take().is_some()
    }

    /// Counts a failure. Returns whether it opened the breaker.
    pub(crate) fn record_failure(&mut self, permit: Permit, now: Instant) -> bool {
        match (&mut self.open, permit) {
            (Some(open), Permit::Probe) => {
                open.pause = (open.pause * 2).min(MAX_PAUSE);
                open.until = now + open.pause;
                false
            }
            // The request was sent before the breaker opened.
            (Some(_), Permit::Normal) => false,
            (None, _) => {
                self.failures += 1;
                let is_enough = self.failures >= FAILURE_THRESHOLD;
                if is_enough {
                    self.open = Some(Open { until: now + PAUSE, pause: PAUSE });
                }
                is_enough
            }
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaker_opens_after_consecutive_failures() {
        let (mut breaker, now) = (Breaker::default(), Instant::now());
        for _ in 1..FAILURE_THRESHOLD {
            assert!(!breaker.record_failure(Permit::Normal, now));
        }
        breaker.record_success();
        for _ in 1..FAILURE_THRESHOLD {
            assert!(!breaker.record_failure(Permit::Normal, now));
            assert_eq!(breaker.try_acquire(now), Some(Permit::Normal));
        }
        assert_eq!(breaker.pause(now), Duration::ZERO);
        assert!(breaker.record_failure(Permit::Normal, now));
        assert_eq!(breaker.try_acquire(now), None);
        assert_eq!(breaker.pause(now), PAUSE);
        // The failure of a request in flight changes nothing.
        assert!(!breaker.record_failure(Permit::Normal, now));
        assert_eq!(breaker.try_acquire(now + PAUSE), Some(Permit::Probe));
        // A hanging probe does not block the next one.
        assert_eq!(breaker.try_acquire(now + PAUSE * 2), Some(Permit::Probe));
    }

    #[test]
    fn one_probe_runs_at_a_time_with_exponential_backoff() {
        let (mut breaker, mut now) = (Breaker::default(), Instant::now());
        for _ in 0..FAILURE_THRESHOLD {
            breaker.record_failure(Permit::Normal, now);
        }
        let mut pause = PAUSE;
        for _ in 0..10 {
            now += pause;
            assert_eq!(breaker.try_acquire(now), Some(Permit::Probe));
            assert_eq!(breaker.try_acquire(now), None);
            assert!(!breaker.record_failure(Permit::Probe, now));
            pause = (pause * 2).min(MAX_PAUSE);
            assert_eq!(breaker.try_acquire(now + pause / 2), None);
        }
        assert!(breaker.record_success());
        assert!(!breaker.record_success());
        assert_eq!(breaker.try_acquire(now), Some(Permit::Normal));
    }
}

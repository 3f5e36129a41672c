//! A circuit breaker: a bucket or an index that fails several times in a row is not asked for a while.

use std::time::Duration;

use tokio::time::Instant;

/// So many failures one after the other are no accident.
const FAILURES: u32 = 5;
/// For how long it is left alone, first and at most.
const PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// Whether requests are sent.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    failures: u32,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    /// When one may try again. Once one does, this is when the next may.
    until: Instant,
    pause: Duration,
}

/// Leave to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    Given,
    /// To see whether it answers again.
    Probe,
}

impl Breaker {
    /// `None` while it is left alone.
    pub(crate) fn ask(&mut self, now: Instant) -> Option<Leave> {
        match &mut self.open {
            None => Some(Leave::Given),
            Some(open) if now >= open.until => {
                open.until = now + open.pause;
                Some(Leave::Probe)
            }
            Some(_) => None,
        }
    }

    /// How long it is still left alone.
    pub(crate) fn pause(&self, now: Instant) -> Duration {
        self.open.as_ref().map_or(Duration::ZERO, |open| open.until.saturating_duration_since(now))
    }

    /// It has answered. Whether it was left alone before.
    pub(crate) fn answered(&mut self) -> bool {
        self.failures = 0;
        self.open.take().is_some()
    }

    /// It has not. Whether it is left alone from now on, and was not before.
    pub(crate) fn failed(&mut self, leave: Leave, now: Instant) -> bool {
        match (&mut self.open, leave) {
            (Some(open), Leave::Probe) => {
                open.pause = (open.pause * 2).min(MAX_PAUSE);
                open.until = now + open.pause;
                false
            }
            // It was asked before that was known.
            (Some(_), Leave::Given) => false,
            (None, _) => {
                self.failures += 1;
                let is_enough = self.failures >= FAILURES;
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
    fn it_is_left_alone_after_failures_in_a_row() {
        let (mut breaker, now) = (Breaker::default(), Instant::now());
        for _ in 1..FAILURES {
            assert!(!breaker.failed(Leave::Given, now));
        }
        breaker.answered();
        for _ in 1..FAILURES {
            assert!(!breaker.failed(Leave::Given, now));
            assert_eq!(breaker.ask(now), Some(Leave::Given));
        }
        assert_eq!(breaker.pause(now), Duration::ZERO);
        assert!(breaker.failed(Leave::Given, now));
        assert_eq!(breaker.ask(now), None);
        assert_eq!(breaker.pause(now), PAUSE);
        // One that was on its way changes nothing.
        assert!(!breaker.failed(Leave::Given, now));
        assert_eq!(breaker.ask(now + PAUSE), Some(Leave::Probe));
    }

    #[test]
    fn one_tries_at_a_time_and_less_and_less_often() {
        let (mut breaker, mut now) = (Breaker::default(), Instant::now());
        for _ in 0..FAILURES {
            breaker.failed(Leave::Given, now);
        }
        let mut pause = PAUSE;
        for _ in 0..10 {
            now += pause;
            assert_eq!(breaker.ask(now), Some(Leave::Probe));
            assert_eq!(breaker.ask(now), None);
            assert!(!breaker.failed(Leave::Probe, now));
            pause = (pause * 2).min(MAX_PAUSE);
            assert_eq!(breaker.ask(now + pause / 2), None);
        }
        assert!(breaker.answered());
        assert!(!breaker.answered());
        assert_eq!(breaker.ask(now), Some(Leave::Given));
    }

    #[test]
    fn a_probe_that_never_ends_does_not_keep_others_away() {
        let (mut breaker, now) = (Breaker::default(), Instant::now());
        for _ in 0..FAILURES {
            breaker.failed(Leave::Given, now);
        }
        assert_eq!(breaker.ask(now + PAUSE), Some(Leave::Probe));
        assert_eq!(breaker.ask(now + PAUSE * 2), Some(Leave::Probe));
    }
}

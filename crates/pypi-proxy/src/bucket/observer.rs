//! Observation of a lease that another proxy owns.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

/// Initial and maximum interval between reads of a lease.
const MIN_INTERVAL: Duration = Duration::from_millis(50);
const MAX_INTERVAL: Duration = Duration::from_secs(1);

/// State machine, without I/O, that decides when a lease of another proxy has expired.
#[derive(Debug)]
pub(super) struct LeaseObserver {
    deadline: Instant,
    /// Additional time that a lease must be unchanged. A different value for each proxy makes simultaneous takeovers
    /// unlikely, because some stores do not check a condition and write atomically.
    grace: Duration,
    interval: Duration,
    last: Option<Observation>,
}

#[derive(Debug)]
struct Observation {
    lease: Bytes,
    since: Instant,
}

/// Next action of a proxy that observes a lease.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NextStep {
    Wait(Duration),
    /// The owner stopped renewing the lease.
    TakeOver,
    /// The wait limit is reached.
    GiveUp,
}

impl LeaseObserver {
    /// Creates an observer with a limit of the total wait.
    pub(super) fn new(now: Instant, wait_limit: Duration, grace: Duration) -> Self {
        Self { deadline: now + wait_limit, grace, interval: MIN_INTERVAL, last: None }
    }

    pub(super) fn is_expired(&self, now: Instant) -> bool {
        now >= self.deadline
    }

    /// Processes the current contents of the lease. Each version has different contents.
    pub(super) fn observe(&mut self, lease: &Bytes, duration: Duration, now: Instant) -> NextStep {
        if self.is_expired(now) {
            return NextStep::GiveUp;
        }
        let since = match &self.last {
            Some(last) if last.lease == lease => last.since,
            _ => {
                self.interval = MIN_INTERVAL;
                self.last = Some(Observation { lease: lease.clone(), since: now });
                now
            }
        };
        let end = since
            .checked_add(duration.saturating_add(self.grace))
            .unwrap_or(self.deadline)
            .min(self.deadline);
        if now >= end {
            return NextStep::TakeOver;
        }
        let interval = self.interval.min(end - now);
        self.interval = (self.interval * 2).min(MAX_INTERVAL);
        NextStep::Wait(interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DURATION: Duration = Duration::from_secs(10);

    fn lease(beat: u64) -> Bytes {
        Bytes::from(beat.to_string())
    }

    /// Runs an observer on a lease with renewals at the given times. Returns its final step and the elapsed time.
    fn watch(observer: &mut LeaseObserver, start: Instant, changes: &[Duration]) -> (NextStep, Duration) {
        let mut now = start;
        loop {
            let beat = changes.iter().filter(|change| start + **change <= now).count() as u64;
            match observer.observe(&lease(beat), DURATION, now) {
                NextStep::Wait(interval) => {
                    assert!(interval > Duration::ZERO && interval <= MAX_INTERVAL, "{interval:?}");
                    now += interval;
                }
                step => return (step, now - start),
            }
        }
    }

    #[test]
    fn unchanged_lease_expires_after_its_duration() {
        let now = Instant::now();
        let mut observer = LeaseObserver::new(now, Duration::from_secs(60), Duration::ZERO);
        assert_eq!(watch(&mut observer, now, &[]), (NextStep::TakeOver, DURATION));
    }

    #[test]
    fn observer_of_a_renewed_lease_gives_up_at_the_wait_limit() {
        let now = Instant::now();
        let mut observer = LeaseObserver::new(now, Duration::from_secs(60), Duration::ZERO);
        let beats: Vec<_> = (1..30).map(|beat| Duration::from_secs(beat * 3)).collect();
        assert_eq!(watch(&mut observer, now, &beats), (NextStep::GiveUp, Duration::from_secs(60)));
    }

    #[test]
    fn expiry_counts_from_the_last_observed_change() {
        let now = Instant::now();
        let mut observer = LeaseObserver::new(now, Duration::from_secs(60), Duration::ZERO);
        let (step, time) = watch(&mut observer, now, &[Duration::from_secs(7)]);
        assert_eq!(step, NextStep::TakeOver);
        assert!(time >= Duration::from_secs(17) && time <= Duration::from_secs(18), "{time:?}");
    }

    #[test]
    fn new_lease_of_a_previous_owner_counts_as_a_change() {
        let now = Instant::now();
        let mut observer = LeaseObserver::new(now, Duration::from_secs(60), Duration::ZERO);
        let by = |owner: &str| Bytes::from(owner.to_owned());
        assert!(matches!(observer.observe(&by("a-1"), DURATION, now), NextStep::Wait(_)));
        assert!(matches!(observer.observe(&by("b-1"), DURATION, now + DURATION / 2), NextStep::Wait(_)));
        assert!(matches!(observer.observe(&by("a-2"), DURATION, now + DURATION), NextStep::Wait(_)));
        assert_eq!(observer.observe(&by("a-2"), DURATION, now + DURATION * 2), NextStep::TakeOver);
    }

    #[test]
    fn wait_limit_bounds_an_endless_duration() {
        let now = Instant::now();
        let mut observer = LeaseObserver::new(now, Duration::from_secs(5), Duration::ZERO);
        assert!(matches!(observer.observe(&lease(0), Duration::MAX, now), NextStep::Wait(_)));
        assert_eq!(
            observer.observe(&lease(0), Duration::MAX, now + Duration::from_secs(5)),
            NextStep::GiveUp
        );
    }
}

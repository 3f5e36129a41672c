//! Looking at a lease that another holds.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

/// How long to wait before a lease is looked at again, first and at most.
const PAUSE: Duration = Duration::from_millis(50);
const MAX_PAUSE: Duration = Duration::from_secs(1);
/// One that wants a lease which another holds.
#[derive(Debug)]
pub(super) struct Observer {
    until: Instant,
    /// How much longer than its duration a lease has to be unchanged. With another time for each, hardly ever two take it
    /// over at once: not all stores look at a condition and write in one step.
    grace: Duration,
    pause: Duration,
    seen: Option<Seen>,
}

#[derive(Debug)]
struct Seen {
    lease: Bytes,
    since: Instant,
}

/// What to do about a lease of another.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Wait(Duration),
    /// Its holder is dead.
    TakeOver,
    /// It has lasted for too long.
    GiveUp,
}

impl Observer {
    /// One that has this much patience.
    pub(super) fn new(now: Instant, patience: Duration, grace: Duration) -> Self {
        Self { until: now + patience, grace, pause: PAUSE, seen: None }
    }

    pub(super) fn is_over(&self, now: Instant) -> bool {
        now >= self.until
    }

    /// The lease is there, and this is what it says. No two versions of it say the same.
    pub(super) fn see(&mut self, lease: &Bytes, duration: Duration, now: Instant) -> Step {
        if self.is_over(now) {
            return Step::GiveUp;
        }
        let since = match &self.seen {
            Some(seen) if seen.lease == lease => seen.since,
            _ => {
                self.pause = PAUSE;
                self.seen = Some(Seen { lease: lease.clone(), since: now });
                now
            }
        };
        let end =
            since.checked_add(duration.saturating_add(self.grace)).unwrap_or(self.until).min(self.until);
        if now >= end {
            return Step::TakeOver;
        }
        let pause = self.pause.min(end - now);
        self.pause = (self.pause * 2).min(MAX_PAUSE);
        Step::Wait(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DURATION: Duration = Duration::from_secs(10);

    fn lease(beat: u64) -> Bytes {
        Bytes::from(beat.to_string())
    }

    /// Looks as often as it is told to, at a lease that changes at the times given, until there is something else to do.
    fn watch(observer: &mut Observer, begun: Instant, changes: &[Duration]) -> (Step, Duration) {
        let mut now = begun;
        loop {
            let beat = changes.iter().filter(|change| begun + **change <= now).count() as u64;
            match observer.see(&lease(beat), DURATION, now) {
                Step::Wait(pause) => {
                    assert!(pause > Duration::ZERO && pause <= MAX_PAUSE, "{pause:?}");
                    now += pause;
                }
                step => return (step, now - begun),
            }
        }
    }

    #[test]
    fn a_lease_that_does_not_change_is_dead_after_its_duration() {
        let now = Instant::now();
        let mut observer = Observer::new(now, Duration::from_secs(60), Duration::ZERO);
        assert_eq!(watch(&mut observer, now, &[]), (Step::TakeOver, DURATION));
    }

    #[test]
    fn one_that_is_renewed_lives_until_patience_ends() {
        let now = Instant::now();
        let mut observer = Observer::new(now, Duration::from_secs(60), Duration::ZERO);
        let beats: Vec<_> = (1..30).map(|beat| Duration::from_secs(beat * 3)).collect();
        assert_eq!(watch(&mut observer, now, &beats), (Step::GiveUp, Duration::from_secs(60)));
    }

    #[test]
    fn the_time_counts_from_the_last_change_that_was_seen() {
        let now = Instant::now();
        let mut observer = Observer::new(now, Duration::from_secs(60), Duration::ZERO);
        let (step, time) = watch(&mut observer, now, &[Duration::from_secs(7)]);
        assert_eq!(step, Step::TakeOver);
        assert!(time >= Duration::from_secs(17) && time <= Duration::from_secs(18), "{time:?}");
    }

    #[test]
    fn whoever_took_it_over_and_came_back_is_not_taken_for_the_first() {
        let now = Instant::now();
        let mut observer = Observer::new(now, Duration::from_secs(60), Duration::ZERO);
        let by = |owner: &str| Bytes::from(owner.to_owned());
        assert!(matches!(observer.see(&by("a-1"), DURATION, now), Step::Wait(_)));
        assert!(matches!(observer.see(&by("b-1"), DURATION, now + DURATION / 2), Step::Wait(_)));
        assert!(matches!(observer.see(&by("a-2"), DURATION, now + DURATION), Step::Wait(_)));
        assert_eq!(observer.see(&by("a-2"), DURATION, now + DURATION * 2), Step::TakeOver);
    }

    #[test]
    fn a_duration_without_end_is_cut_by_patience() {
        let now = Instant::now();
        let mut observer = Observer::new(now, Duration::from_secs(5), Duration::ZERO);
        assert!(matches!(observer.see(&lease(0), Duration::MAX, now), Step::Wait(_)));
        assert_eq!(observer.see(&lease(0), Duration::MAX, now + Duration::from_secs(5)), Step::GiveUp);
    }
}

//! Which of several proxies fetches a file.
//!
//! A lease is a small object that is created if it is not there, and is there while its holder lives: the holder writes
//! it anew from time to time, and removes it in the end. Whoever finds it unchanged for its whole duration, by the own
//! clock, takes it over. No two clocks are ever compared.

use std::time::Duration;

use bytes::Bytes;
use object_store::UpdateVersion;
use object_store::path::Path;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::failure::Failure;
use super::meter::Leased;
use super::remote::Small;
use super::share::Bucket;

/// How long to wait before a lease is looked at again, first and at most.
const PAUSE: Duration = Duration::from_millis(50);
const MAX_PAUSE: Duration = Duration::from_secs(1);
/// How long after it was taken over a lease is looked at once more. Not all stores look at a condition and write in one
/// step: of two that did so at the same time, the last has it.
const SETTLED: Duration = Duration::from_millis(200);
/// More bytes than a lease ever has.
const MAX_LEN: u64 = 4096;

/// A lease as it is in the bucket.
#[derive(Serialize, Deserialize)]
struct Document {
    owner: String,
    /// How long it counts if it does not change.
    seconds: f64,
    /// How often it was renewed, so that each version is another.
    beat: u64,
}

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

/// What has come of asking for a lease.
pub(super) enum Claim {
    Mine(Lease),
    /// Another had it, and has it no more.
    Over,
    /// There is none to be had: whoever needs the file fetches it.
    None,
}

/// The right to fetch a file, for as long as it is renewed.
pub(super) struct Lease {
    bucket: Bucket,
    path: Path,
    owner: String,
    version: UpdateVersion,
    beat: u64,
    /// When the last version was written, at the earliest.
    written: Instant,
    /// When that was last tried.
    tried: Instant,
    /// Whether another has it.
    is_lost: bool,
}

impl Bucket {
    /// Gets the lease of this name, or waits until there is none.
    pub(super) async fn claim(&self, name: &str, observer: &mut Observer) -> Claim {
        let path = self.lease_path(name);
        let owner = self.next_owner();
        let mine = |leased, version, beat, written| {
            self.remote().meter.leased(leased);
            let (bucket, path, owner) = (self.clone(), path.clone(), owner.clone());
            Claim::Mine(Lease { bucket, path, owner, version, beat, written, tried: written, is_lost: false })
        };
        let (mut leased, mut written) = (Leased::Acquired, Instant::now());
        match self.remote().create(&path, self.document(&owner, 0)).await {
            Ok(version) => return mine(leased, version, 0, written),
            Err(Failure::Refused) => {}
            Err(_) => return self.without(Leased::Unavailable),
        }
        loop {
            let Small { bytes, version } = match self.remote().small(&path, MAX_LEN).await {
                Ok(small) => small,
                Err(Failure::Missing) => return Claim::Over,
                Err(_) => return self.without(Leased::Unavailable),
            };
            // One that can't be read is nobody's, after the time of an own one.
            let document = json::from_slice::<Document>(&bytes).ok();
            let (holder, beat) =
                document.as_ref().map_or(("", 0), |document| (&document.owner, document.beat));
            if holder == owner {
                // It was taken over, or created by a request whose answer was lost on its way.
                return mine(leased, version, beat, written);
            }
            let duration = document
                .and_then(|document| Duration::try_from_secs_f64(document.seconds).ok())
                .unwrap_or(self.config().lease_duration);
            match observer.see(&bytes, duration, Instant::now()) {
                Step::Wait(pause) => tokio::time::sleep(pause).await,
                Step::GiveUp => return self.without(Leased::GivenUp),
                Step::TakeOver => {
                    let now = Instant::now();
                    match self.remote().update(&path, self.document(&owner, 0), version).await {
                        Ok(_) => {
                            (leased, written) = (Leased::TakenOver, now);
                            tokio::time::sleep(SETTLED).await;
                        }
                        Err(Failure::Missing) => return Claim::Over,
                        // Another was faster, and is the holder now.
                        Err(Failure::Refused) => {}
                        Err(_) => return self.without(Leased::Unavailable),
                    }
                }
            }
        }
    }

    fn without(&self, why: Leased) -> Claim {
        self.remote().meter.leased(why);
        Claim::None
    }

    fn document(&self, owner: &str, beat: u64) -> Vec<u8> {
        let (owner, seconds) = (owner.to_owned(), self.config().lease_duration.as_secs_f64());
        // It has nothing that could not be written.
        json::to_vec(&Document { owner, seconds, beat }).unwrap_or_default()
    }
}

impl Lease {
    /// Holds it while the work is done, and gives it back then.
    pub(super) async fn during<T>(mut self, work: impl Future<Output = T>) -> T {
        let renewing = async {
            while !self.is_lost {
                tokio::time::sleep_until(self.tried + self.bucket.config().lease_duration / 3).await;
                self.renew().await;
            }
            std::future::pending().await
        };
        let result = tokio::select! {
            biased;
            result = work => result,
            never = renewing => never,
        };
        self.release().await;
        result
    }

    async fn renew(&mut self) {
        self.tried = Instant::now();
        let document = self.bucket.document(&self.owner, self.beat + 1);
        match self.bucket.remote().update(&self.path, document, self.version.clone()).await {
            Ok(version) => {
                self.version = version;
                self.beat += 1;
                self.written = self.tried;
            }
            Err(Failure::Failed(_)) => {}
            // It may be the own one, whose answer was lost on its way.
            Err(_) => match self.bucket.remote().small(&self.path, MAX_LEN).await {
                Ok(small) if is_of(&small, &self.owner) => {
                    (self.version, self.written) = (small.version, self.tried);
                    self.beat += 1;
                }
                Err(Failure::Failed(_)) => {}
                _ => {
                    self.is_lost = true;
                    self.bucket.remote().meter.leased(Leased::Lost);
                }
            },
        }
    }

    /// Removes it, unless another may have it.
    pub(super) async fn release(mut self) {
        if self.written.elapsed() > self.bucket.config().lease_duration / 2 {
            self.renew().await;
        }
        if !self.is_lost {
            // One that stays there is not renewed any more.
            let _ = self.bucket.remote().delete(&self.path).await;
        }
    }
}

/// Whether a lease is one of this owner.
fn is_of(lease: &Small, owner: &str) -> bool {
    json::from_slice::<Document>(&lease.bytes).is_ok_and(|document| document.owner == owner)
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

//! Leases: only one of several proxies downloads a file.
//!
//! A lease is a small object that is created on the condition that it does not exist. Its owner rewrites it
//! periodically and deletes it at the end. A proxy that observes the lease unchanged for its whole duration, by the
//! local clock, takes it over. Clocks of different machines are never compared.

use std::time::Duration;

use bytes::Bytes;
use object_store::UpdateVersion;
use object_store::path::Path;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::handle::Bucket;
use super::remote::{LeaseOutcome, OperationError, SmallObject};

/// Delay before the owner of a taken over lease is confirmed. Some stores do not check a condition and write
/// atomically: of two concurrent takeovers, the last write wins.
const TAKEOVER_DELAY: Duration = Duration::from_millis(200);
/// Upper bound of the size of a lease in bytes.
const MAX_LEN: u64 = 4096;

#[derive(Serialize, Deserialize)]
struct Document {
    owner: String,
    /// Duration without renewal after which the lease expires.
    seconds: f64,
    /// Number of renewals, which makes each version unique.
    beat: u64,
}

pub(super) enum ClaimResult {
    Acquired(Lease),
    /// Another proxy owned the lease and has released it.
    Released,
    /// Leases are unavailable: download the file without one.
    Unavailable,
}

/// An owned lease, which must be renewed.
pub(super) struct Lease {
    bucket: Bucket,
    path: Path,
    owner: String,
    version: UpdateVersion,
    beat: u64,
    /// Start of the last successful write.
    last_write: Instant,
    /// Start of the last attempt to write.
    last_attempt: Instant,
    /// Whether another proxy has taken over the lease.
    is_lost: bool,
}

impl Bucket {
    /// Acquires the lease of this name, or waits until its owner releases it.
    pub(super) async fn claim(&self, name: &str, observer: &mut LeaseObserver) -> ClaimResult {
        let path = self.lease_path(name);
        let owner = self.next_owner();
        let acquired = |outcome, version, beat, last_write| {
            self.0.remote.meter.leases[outcome].add(1);
            let (bucket, path, owner) = (self.clone(), path.clone(), owner.clone());
            ClaimResult::Acquired(Lease {
                bucket,
                path,
                owner,
                version,
                beat,
                last_write,
                last_attempt: last_write,
                is_lost: false,
            })
        };
        let (mut outcome, mut last_write) = (LeaseOutcome::Acquired, Instant::now());
        match self.0.remote.create(&path, self.document(&owner, 0)).await {
            Ok(version) => return acquired(outcome, version, 0, last_write),
            Err(OperationError::PreconditionFailed) => {}
            Err(_) => return self.unavailable(LeaseOutcome::Unavailable),
        }
        loop {
            let SmallObject { bytes, version } = match self.0.remote.small(&path, MAX_LEN).await {
                Ok(small) => small,
                Err(OperationError::NotFound) => return ClaimResult::Released,
                Err(_) => return self.unavailable(LeaseOutcome::Unavailable),
            };
            // An unreadable lease has no owner, and expires after the configured duration.
            let document = tightwire_json::from_slice::<Document>(&bytes).ok();
            let (lease_owner, beat) =
                document.as_ref().map_or(("", 0), |document| (&document.owner, document.beat));
            if lease_owner == owner {
                // Taken over, or created by a request whose response was lost.
                return acquired(outcome, version, beat, last_write);
            }
            let duration = document
                .and_then(|document| Duration::try_from_secs_f64(document.seconds).ok())
                .unwrap_or(self.0.config.lease_duration);
            match observer.observe(&bytes, duration, Instant::now()) {
                NextStep::Wait(interval) => tokio::time::sleep(interval).await,
                NextStep::GiveUp => return self.unavailable(LeaseOutcome::GivenUp),
                NextStep::TakeOver => {
                    let now = Instant::now();
                    match self.0.remote.update(&path, self.document(&owner, 0), version).await {
                        Ok(_) => {
                            (outcome, last_write) = (LeaseOutcome::TakenOver, now);
                            tokio::time::sleep(TAKEOVER_DELAY).await;
                        }
                        Err(OperationError::NotFound) => return ClaimResult::Released,
                        // Another proxy has taken it over first.
                        Err(OperationError::PreconditionFailed) => {}
                        Err(_) => return self.unavailable(LeaseOutcome::Unavailable),
                    }
                }
            }
        }
    }

    fn unavailable(&self, why: LeaseOutcome) -> ClaimResult {
        self.0.remote.meter.leases[why].add(1);
        ClaimResult::Unavailable
    }

    fn document(&self, owner: &str, beat: u64) -> Vec<u8> {
        let (owner, seconds) = (owner.to_owned(), self.0.config.lease_duration.as_secs_f64());
        // Serialization of this type cannot fail.
        tightwire_json::to_vec(&Document { owner, seconds, beat }).unwrap_or_default()
    }
}

impl Lease {
    /// Renews the lease while `work` runs, then releases it.
    pub(super) async fn renew_during<T>(mut self, work: impl Future<Output = T>) -> T {
        let renewing = async {
            while !self.is_lost {
                tokio::time::sleep_until(self.last_attempt + self.bucket.0.config.lease_duration / 3).await;
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
        self.last_attempt = Instant::now();
        let document = self.bucket.document(&self.owner, self.beat + 1);
        match self.bucket.0.remote.update(&self.path, document, self.version.clone()).await {
            Ok(version) => {
                self.version = version;
                self.beat += 1;
                self.last_write = self.last_attempt;
            }
            Err(OperationError::Failed(_)) => {}
            // The response of an own renewal may have been lost.
            Err(_) => match self.bucket.0.remote.small(&self.path, MAX_LEN).await {
                Ok(small) if is_of(&small, &self.owner) => {
                    (self.version, self.last_write) = (small.version, self.last_attempt);
                    self.beat += 1;
                }
                Err(OperationError::Failed(_)) => {}
                _ => {
                    self.is_lost = true;
                    self.bucket.0.remote.meter.leases[LeaseOutcome::Lost].add(1);
                }
            },
        }
    }

    /// Deletes the lease, unless another proxy may own it.
    pub(super) async fn release(mut self) {
        if !self.is_lost && self.last_write.elapsed() > self.bucket.0.config.lease_duration / 2 {
            self.renew().await;
        }
        if !self.is_lost {
            // If this fails, the lease expires.
            let _ = self.bucket.0.remote.delete(&self.path).await;
        }
    }
}

fn is_of(lease: &SmallObject, owner: &str) -> bool {
    tightwire_json::from_slice::<Document>(&lease.bytes).is_ok_and(|document| document.owner == owner)
}

/// Initial and maximum interval between reads of a lease.
const MIN_INTERVAL: Duration = Duration::from_millis(50);
const MAX_INTERVAL: Duration = Duration::from_secs(1);

/// State machine, without I/O, that decides when a lease of another proxy has expired.
#[derive(Debug)]
pub(super) struct LeaseObserver {
    deadline: Instant,
    /// Additional time that a lease must be unchanged before it is taken over. It differs between proxies, so that
    /// two of them rarely take over the same lease: some stores do not check the condition of a write atomically with
    /// the write.
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
    /// Creates an observer that gives up after waiting for `wait_limit` in total.
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
    use std::sync::Arc;

    use object_store::memory::InMemory;
    use object_store::{ObjectStore, ObjectStoreExt as _};

    use super::*;
    use crate::bucket::Config;

    const DURATION: Duration = Duration::from_secs(10);

    /// A bucket, and a lease of it.
    async fn leased() -> (Arc<dyn ObjectStore>, Bucket, Lease) {
        let objects: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let bucket = Bucket::new(objects.clone(), Config { lease_duration: DURATION, ..Config::default() });
        let mut observer = LeaseObserver::new(Instant::now(), DURATION * 100, Duration::ZERO);
        let ClaimResult::Acquired(lease) = bucket.claim("file", &mut observer).await else {
            panic!("no other owner")
        };
        (objects, bucket, lease)
    }

    #[tokio::test(start_paused = true)]
    async fn lost_lease_is_not_deleted() {
        let (objects, bucket, lease) = leased().await;
        let (path, other) = (bucket.lease_path("file"), r#"{"owner":"other","seconds":10.0,"beat":3}"#);
        objects.put(&path, other.into()).await.unwrap();
        lease.renew_during(tokio::time::sleep(DURATION * 2)).await;
        assert_eq!(bucket.0.remote.meter.leases[LeaseOutcome::Lost].get(), 1);
        assert_eq!(objects.get(&path).await.unwrap().bytes().await.unwrap(), other);
    }

    #[tokio::test(start_paused = true)]
    async fn renewal_with_lost_response_keeps_the_lease() {
        let (objects, bucket, lease) = leased().await;
        let path = bucket.lease_path("file");
        objects.put(&path, bucket.document(&lease.owner, 1).into()).await.unwrap();
        lease.renew_during(tokio::time::sleep(DURATION * 2)).await;
        assert_eq!(bucket.0.remote.meter.leases[LeaseOutcome::Lost].get(), 0);
        assert!(objects.head(&path).await.is_err());
    }

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

    fn observer(now: Instant, wait_limit: u64) -> LeaseObserver {
        LeaseObserver::new(now, Duration::from_secs(wait_limit), Duration::ZERO)
    }

    #[test]
    fn lease_expires_if_it_is_unchanged_for_its_duration() {
        for (changes, expected, least, most) in [
            (vec![], NextStep::TakeOver, 10, 10),
            (vec![7], NextStep::TakeOver, 17, 18),
            // Renewed until the wait limit.
            ((1..30).map(|beat| beat * 3).collect(), NextStep::GiveUp, 60, 60),
        ] {
            let (now, changes) =
                (Instant::now(), changes.into_iter().map(Duration::from_secs).collect::<Vec<_>>());
            let (step, time) = watch(&mut observer(now, 60), now, &changes);
            assert_eq!(step, expected, "{changes:?}");
            let expected = Duration::from_secs(least)..=Duration::from_secs(most);
            assert!(expected.contains(&time), "{changes:?}: {time:?}");
        }
    }

    #[test]
    fn new_lease_of_a_previous_owner_counts_as_a_change() {
        let now = Instant::now();
        let mut observer = observer(now, 60);
        let by = |owner: &str| Bytes::from(owner.to_owned());
        assert!(matches!(observer.observe(&by("a-1"), DURATION, now), NextStep::Wait(_)));
        assert!(matches!(observer.observe(&by("b-1"), DURATION, now + DURATION / 2), NextStep::Wait(_)));
        assert!(matches!(observer.observe(&by("a-2"), DURATION, now + DURATION), NextStep::Wait(_)));
        assert_eq!(observer.observe(&by("a-2"), DURATION, now + DURATION * 2), NextStep::TakeOver);
    }

    #[test]
    fn wait_limit_bounds_an_endless_duration() {
        let now = Instant::now();
        let mut observer = observer(now, 5);
        assert!(matches!(observer.observe(&lease(0), Duration::MAX, now), NextStep::Wait(_)));
        let step = observer.observe(&lease(0), Duration::MAX, now + Duration::from_secs(5));
        assert_eq!(step, NextStep::GiveUp);
    }
}

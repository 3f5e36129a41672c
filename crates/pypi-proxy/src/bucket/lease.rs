//! Leases: only one of several proxies downloads a file.
//!
//! A lease is a small object that is created on the condition that it does not exist. Its owner rewrites it
//! periodically and deletes it at the end. A proxy that observes the lease unchanged for its whole duration, by the
//! local clock, takes it over. Clocks of different machines are never compared.

use std::time::Duration;

use object_store::UpdateVersion;
use object_store::path::Path;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::error::OperationError;
use super::handle::Bucket;
use super::metrics::LeaseOutcome;
use super::observer::{LeaseObserver, NextStep};
use super::remote::SmallObject;

/// Delay before the owner of a taken over lease is confirmed. Some stores do not check a condition and write
/// atomically: of two concurrent takeovers, the last write wins.
const TAKEOVER_DELAY: Duration = Duration::from_millis(200);
/// Upper bound of the size of a lease in bytes.
const MAX_LEN: u64 = 4096;

/// Contents of a lease object.
#[derive(Serialize, Deserialize)]
struct Document {
    owner: String,
    /// Duration without renewal after which the lease expires.
    seconds: f64,
    /// Number of renewals, which makes each version unique.
    beat: u64,
}

/// Result of claiming a lease.
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
            self.remote().meter.record_lease(outcome);
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
        match self.remote().create(&path, self.document(&owner, 0)).await {
            Ok(version) => return acquired(outcome, version, 0, last_write),
            Err(OperationError::PreconditionFailed) => {}
            Err(_) => return self.unavailable(LeaseOutcome::Unavailable),
        }
        loop {
            let SmallObject { bytes, version } = match self.remote().small(&path, MAX_LEN).await {
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
                .unwrap_or(self.config().lease_duration);
            match observer.observe(&bytes, duration, Instant::now()) {
                NextStep::Wait(interval) => tokio::time::sleep(interval).await,
                NextStep::GiveUp => return self.unavailable(LeaseOutcome::GivenUp),
                NextStep::TakeOver => {
                    let now = Instant::now();
                    match self.remote().update(&path, self.document(&owner, 0), version).await {
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
        self.remote().meter.record_lease(why);
        ClaimResult::Unavailable
    }

    fn document(&self, owner: &str, beat: u64) -> Vec<u8> {
        let (owner, seconds) = (owner.to_owned(), self.config().lease_duration.as_secs_f64());
        // Serialization of this type cannot fail.
        tightwire_json::to_vec(&Document { owner, seconds, beat }).unwrap_or_default()
    }
}

impl Lease {
    /// Renews the lease while `work` runs, then releases it.
    pub(super) async fn renew_during<T>(mut self, work: impl Future<Output = T>) -> T {
        let renewing = async {
            while !self.is_lost {
                tokio::time::sleep_until(self.last_attempt + self.bucket.config().lease_duration / 3).await;
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
        match self.bucket.remote().update(&self.path, document, self.version.clone()).await {
            Ok(version) => {
                self.version = version;
                self.beat += 1;
                self.last_write = self.last_attempt;
            }
            Err(OperationError::Failed(_)) => {}
            // The response of an own renewal may have been lost.
            Err(_) => match self.bucket.remote().small(&self.path, MAX_LEN).await {
                Ok(small) if is_of(&small, &self.owner) => {
                    (self.version, self.last_write) = (small.version, self.last_attempt);
                    self.beat += 1;
                }
                Err(OperationError::Failed(_)) => {}
                _ => {
                    self.is_lost = true;
                    self.bucket.remote().meter.record_lease(LeaseOutcome::Lost);
                }
            },
        }
    }

    /// Deletes the lease, unless another proxy may own it.
    pub(super) async fn release(mut self) {
        if !self.is_lost && self.last_write.elapsed() > self.bucket.config().lease_duration / 2 {
            self.renew().await;
        }
        if !self.is_lost {
            // If this fails, the lease expires.
            let _ = self.bucket.remote().delete(&self.path).await;
        }
    }
}

/// Returns whether a lease belongs to this owner.
fn is_of(lease: &SmallObject, owner: &str) -> bool {
    tightwire_json::from_slice::<Document>(&lease.bytes).is_ok_and(|document| document.owner == owner)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use object_store::memory::InMemory;
    use object_store::{ObjectStore, ObjectStoreExt as _};

    use super::*;
    use crate::bucket::Config;

    const DURATION: Duration = Duration::from_secs(10);

    /// Two proxies, and a lease of the first one.
    async fn two() -> (Arc<dyn ObjectStore>, Bucket, Bucket, Lease) {
        let objects: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let open = || Bucket::new(objects.clone(), Config { lease_duration: DURATION, ..Config::default() });
        let (first, second) = (open(), open());
        let ClaimResult::Acquired(lease) = claim(&first).await else { panic!("no other owner") };
        (objects, first, second, lease)
    }

    async fn claim(bucket: &Bucket) -> ClaimResult {
        bucket.claim("file", &mut LeaseObserver::new(Instant::now(), DURATION * 100, Duration::ZERO)).await
    }

    #[tokio::test(start_paused = true)]
    async fn lease_lasts_as_long_as_the_work() {
        let (objects, first, second, lease) = two().await;
        let start = Instant::now();
        let (_, claim) = tokio::join!(lease.renew_during(tokio::time::sleep(DURATION * 5)), claim(&second));
        assert!(matches!(claim, ClaimResult::Released) && start.elapsed() >= DURATION * 5);
        assert!(objects.head(&first.lease_path("file")).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn lease_of_a_dead_owner_is_taken_over() {
        let (_objects, first, second, lease) = two().await;
        drop(lease);
        let start = Instant::now();
        let ClaimResult::Acquired(lease) = claim(&second).await else { panic!("the owner is dead") };
        assert!(start.elapsed() >= DURATION && start.elapsed() < DURATION * 2);
        assert_eq!(second.meter().leases[LeaseOutcome::TakenOver as usize].get(), 1);
        lease.release().await;
        assert!(matches!(claim(&first).await, ClaimResult::Acquired(_)));
    }

    #[tokio::test(start_paused = true)]
    async fn lost_lease_is_not_deleted() {
        let (objects, first, _, lease) = two().await;
        let (path, other) = (first.lease_path("file"), r#"{"owner":"other","seconds":10.0,"beat":3}"#);
        objects.put(&path, other.into()).await.unwrap();
        lease.renew_during(tokio::time::sleep(DURATION * 2)).await;
        assert_eq!(first.meter().leases[LeaseOutcome::Lost as usize].get(), 1);
        assert_eq!(objects.get(&path).await.unwrap().bytes().await.unwrap(), other);
    }

    #[tokio::test(start_paused = true)]
    async fn renewal_with_lost_response_keeps_the_lease() {
        let (objects, first, _, lease) = two().await;
        let path = first.lease_path("file");
        objects.put(&path, first.document(&lease.owner, 1).into()).await.unwrap();
        lease.renew_during(tokio::time::sleep(DURATION * 2)).await;
        assert_eq!(first.meter().leases[LeaseOutcome::Lost as usize].get(), 0);
        assert!(objects.head(&path).await.is_err());
    }
}

//! Which of several proxies fetches a file.
//!
//! A lease is a small object that is created if it is not there, and is there while its holder lives: the holder writes
//! it anew from time to time, and removes it in the end. Whoever finds it unchanged for its whole duration, by the own
//! clock, takes it over. No two clocks are ever compared.

use std::time::Duration;

use object_store::UpdateVersion;
use object_store::path::Path;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::failure::Failure;
use super::meter::Leased;
use super::observer::{Observer, Step};
use super::remote::Small;
use super::share::Bucket;

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
            let document = tightwire_json::from_slice::<Document>(&bytes).ok();
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
        tightwire_json::to_vec(&Document { owner, seconds, beat }).unwrap_or_default()
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
        if !self.is_lost && self.written.elapsed() > self.bucket.config().lease_duration / 2 {
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

    /// Two proxies, and a lease that the first has.
    async fn two() -> (Arc<dyn ObjectStore>, Bucket, Bucket, Lease) {
        let objects: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let open = || Bucket::new(objects.clone(), Config::new("").lease_duration(DURATION));
        let (first, second) = (open(), open());
        let Claim::Mine(lease) = claim(&first).await else { panic!("nobody else has it") };
        (objects, first, second, lease)
    }

    async fn claim(bucket: &Bucket) -> Claim {
        bucket.claim("file", &mut Observer::new(Instant::now(), DURATION * 100, Duration::ZERO)).await
    }

    #[tokio::test(start_paused = true)]
    async fn it_lasts_for_as_long_as_the_work() {
        let (objects, first, second, lease) = two().await;
        let begun = Instant::now();
        let (_, claim) = tokio::join!(lease.during(tokio::time::sleep(DURATION * 5)), claim(&second));
        assert!(matches!(claim, Claim::Over) && begun.elapsed() >= DURATION * 5);
        assert!(objects.head(&first.lease_path("file")).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_holder_that_dies_is_succeeded() {
        let (_objects, first, second, lease) = two().await;
        drop(lease);
        let begun = Instant::now();
        let Claim::Mine(lease) = claim(&second).await else { panic!("its holder is dead") };
        assert!(begun.elapsed() >= DURATION && begun.elapsed() < DURATION * 2);
        assert_eq!(second.meter().leases(Leased::TakenOver), 1);
        lease.release().await;
        assert!(matches!(claim(&first).await, Claim::Mine(_)));
    }

    #[tokio::test(start_paused = true)]
    async fn what_another_has_taken_over_is_left_to_it() {
        let (objects, first, _, lease) = two().await;
        let (path, other) = (first.lease_path("file"), r#"{"owner":"other","seconds":10.0,"beat":3}"#);
        objects.put(&path, other.into()).await.unwrap();
        lease.during(tokio::time::sleep(DURATION * 2)).await;
        assert_eq!(first.meter().leases(Leased::Lost), 1);
        assert_eq!(objects.get(&path).await.unwrap().bytes().await.unwrap(), other);
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_was_renewed_without_an_answer_is_still_the_own() {
        let (objects, first, _, lease) = two().await;
        let path = first.lease_path("file");
        objects.put(&path, first.document(&lease.owner, 1).into()).await.unwrap();
        lease.during(tokio::time::sleep(DURATION * 2)).await;
        assert_eq!(first.meter().leases(Leased::Lost), 0);
        assert!(objects.head(&path).await.is_err());
    }
}

//! Leases: only one of several proxies downloads a file or requests a page.
//!
//! A lease is a small object that is created on the condition that it does not exist. Its owner rewrites it
//! periodically and deletes it at the end. A proxy that observes the lease unchanged for its whole duration, by the
//! local clock, takes it over. Clocks of different machines are never compared.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use object_store::UpdateVersion;
use object_store::path::Path;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::ConditionalWrites;
use super::handle::Bucket;
use super::remote::{LeaseOutcome, OperationError, SmallObject};
use crate::metrics::Counters;
use crate::resource::Resource;
use crate::system;

/// Delay before the owner of a taken over lease is confirmed. Some stores do not check a condition and write
/// atomically: of two concurrent takeovers, the last write wins.
const TAKEOVER_DELAY: Duration = Duration::from_millis(200);
/// Upper bound of the size of a lease in bytes.
const MAX_LEN: u64 = 4096;
/// Duration of the lease of a page, as a fraction of the time that other proxies wait for it.
const PAGE_LEASE_FRACTION: f64 = 0.75;

#[derive(Serialize, Deserialize)]
struct Document {
    owner: String,
    /// Duration without renewal after which the lease expires.
    seconds: f64,
    /// Number of renewals, which makes each version unique.
    beat: u64,
}

impl Document {
    fn encode(owner: &str, duration: Duration, beat: u64) -> Vec<u8> {
        let document = Self { owner: owner.to_owned(), seconds: duration.as_secs_f64(), beat };
        // Serialization of this type cannot fail.
        tightwire_json::to_vec(&document).unwrap_or_default()
    }
}

/// Attempt to acquire a lease. Each step sends at most two requests.
pub(crate) struct Claim {
    bucket: Bucket,
    path: Path,
    owner: String,
    /// Duration of the lease, if it is acquired.
    duration: Duration,
    is_page: bool,
    is_taken_over: bool,
    /// Start of the last attempt to create the lease or to take it over.
    last_write: Instant,
    observer: LeaseObserver,
}

pub(crate) enum ClaimStep {
    Acquired(Lease),
    /// Another proxy may own the lease: observe it again after this time.
    Wait(Duration),
    /// Another proxy owned the lease and has released it.
    Released,
    /// Leases are unavailable, or the wait limit is reached: continue without one.
    Unavailable,
}

/// An owned lease, which is released when dropped. A task renews it meanwhile, unless it is that of a page.
pub(crate) struct Lease {
    /// Whether its previous owner stopped renewing it.
    pub(crate) is_taken_over: bool,
    /// Closed when the lease is dropped, which ends the task.
    dropped: oneshot::Sender<Infallible>,
    task: JoinHandle<()>,
}

/// State of the task of a lease.
struct Renewal {
    bucket: Bucket,
    path: Path,
    owner: String,
    duration: Duration,
    is_page: bool,
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
    fn leases(&self, is_page: bool) -> &Counters<LeaseOutcome> {
        let meter = &self.0.remote.meter;
        if is_page { &meter.page_leases } else { &meter.leases }
    }

    fn lease_path(&self, name: &str) -> Path {
        self.path(["leases", name])
    }

    /// Prepares to acquire the lease of a document of an index, or of a file, which has no index.
    pub(crate) fn claim(&self, index: Option<u64>, resource: &Resource) -> Claim {
        let config = &self.0.config;
        let Some(index) = index else {
            let path = self.lease_path(&resource.entry());
            return self.new_claim(path, config.lease_duration, config.lease_wait, false);
        };
        let path = self.page_path("leases/pages", index, resource);
        self.new_claim(path, config.page_wait.mul_f64(PAGE_LEASE_FRACTION), config.page_wait, true)
    }

    fn new_claim(&self, path: Path, duration: Duration, wait_limit: Duration, is_page: bool) -> Claim {
        let now = Instant::now();
        Claim {
            bucket: self.clone(),
            path,
            owner: self.next_owner(),
            duration,
            is_page,
            is_taken_over: false,
            last_write: now,
            observer: LeaseObserver::new(now, wait_limit, duration.mul_f64(fastrand::f64() / 10.0)),
        }
    }

    /// Acquires the lease of a document, or waits until another proxy releases it, for at most
    /// [`Config::page_wait`](super::Config::page_wait). Never returns [`ClaimStep::Wait`].
    pub(crate) async fn claim_page(&self, index: u64, resource: &Resource) -> ClaimStep {
        let mut claim = self.claim(Some(index), resource);
        let (sender, turn) = oneshot::channel();
        // The task continues after the timeout, so that the circuit breaker learns the outcome and no lease remains.
        system::spawn(async move {
            let mut step = claim.acquire().await;
            while let ClaimStep::Wait(interval) = step {
                tokio::time::sleep(interval).await;
                step = claim.observe().await;
            }
            let _ = sender.send(step);
        });
        match tokio::time::timeout(self.0.config.page_wait, turn).await {
            Ok(Ok(step)) => step,
            _ => ClaimStep::Unavailable,
        }
    }
}

impl Claim {
    /// Creates the lease, or observes that of another proxy.
    pub(crate) async fn acquire(&mut self) -> ClaimStep {
        if !self.bucket.has_leases() {
            return self.unavailable(LeaseOutcome::Unavailable);
        }
        (self.is_taken_over, self.last_write) = (false, Instant::now());
        let document = Document::encode(&self.owner, self.duration, 0);
        match self.bucket.0.remote.put_if(&self.path, document, None).await {
            Ok(version) => self.acquired(version, 0),
            Err(OperationError::PreconditionFailed) => self.observe().await,
            Err(OperationError::Unsupported) => {
                self.bucket.record_conditional_writes(ConditionalWrites::Rejected);
                self.unavailable(LeaseOutcome::Unavailable)
            }
            Err(_) => self.unavailable(LeaseOutcome::Unavailable),
        }
    }

    /// Reads the lease of another proxy, and takes it over if it has expired.
    pub(crate) async fn observe(&mut self) -> ClaimStep {
        let SmallObject { bytes, version } = match self.bucket.0.remote.small(&self.path, MAX_LEN).await {
            Ok(small) => small,
            Err(OperationError::NotFound) => return ClaimStep::Released,
            Err(_) => return self.unavailable(LeaseOutcome::Unavailable),
        };
        // An unreadable lease has no owner, and expires after the configured duration.
        let document = tightwire_json::from_slice::<Document>(&bytes).ok();
        let (owner, beat) = document.as_ref().map_or(("", 0), |document| (&document.owner, document.beat));
        if owner == self.owner {
            // Taken over, or created by a request whose response was lost.
            return self.acquired(version, beat);
        }
        let duration = document
            .and_then(|document| Duration::try_from_secs_f64(document.seconds).ok())
            .unwrap_or(self.duration);
        match self.observer.observe(&bytes, duration, Instant::now()) {
            NextStep::Wait(interval) => ClaimStep::Wait(interval),
            NextStep::GiveUp => self.unavailable(LeaseOutcome::GivenUp),
            NextStep::TakeOver => {
                let now = Instant::now();
                let document = Document::encode(&self.owner, self.duration, 0);
                match self.bucket.0.remote.put_if(&self.path, document, Some(version)).await {
                    Ok(_) => {
                        (self.is_taken_over, self.last_write) = (true, now);
                        ClaimStep::Wait(TAKEOVER_DELAY)
                    }
                    Err(OperationError::NotFound) => ClaimStep::Released,
                    // Another proxy has taken it over first.
                    Err(OperationError::PreconditionFailed) => ClaimStep::Wait(MIN_INTERVAL),
                    Err(_) => self.unavailable(LeaseOutcome::Unavailable),
                }
            }
        }
    }

    /// Extends the wait limit, because the other proxy makes progress.
    pub(crate) fn record_progress(&mut self) {
        self.observer.record_progress(Instant::now());
    }

    /// Returns whether the wait limit is reached.
    pub(crate) fn is_expired(&self) -> bool {
        self.observer.is_expired(Instant::now())
    }

    pub(crate) fn count(&self, outcome: LeaseOutcome) {
        self.bucket.leases(self.is_page)[outcome].add(1);
    }

    fn acquired(&self, version: UpdateVersion, beat: u64) -> ClaimStep {
        self.count(if self.is_taken_over { LeaseOutcome::TakenOver } else { LeaseOutcome::Acquired });
        let renewal = Renewal {
            bucket: self.bucket.clone(),
            path: self.path.clone(),
            owner: self.owner.clone(),
            duration: self.duration,
            is_page: self.is_page,
            version,
            beat,
            last_write: self.last_write,
            last_attempt: self.last_write,
            is_lost: false,
        };
        let (dropped, is_dropped) = oneshot::channel();
        let task = system::spawn(renewal.run(is_dropped));
        ClaimStep::Acquired(Lease { is_taken_over: self.is_taken_over, dropped, task })
    }

    fn unavailable(&self, why: LeaseOutcome) -> ClaimStep {
        self.count(why);
        ClaimStep::Unavailable
    }
}

impl Lease {
    /// Releases the lease, and waits until it is deleted.
    pub(crate) async fn release(self) {
        drop(self.dropped);
        let _ = self.task.await;
    }
}

impl Renewal {
    /// Renews the lease until its handle is dropped. Then deletes it, unless another proxy may own it.
    async fn run(mut self, is_dropped: oneshot::Receiver<Infallible>) {
        let renewing = async {
            while !self.is_page && !self.is_lost {
                tokio::time::sleep_until(self.last_attempt + self.duration / 3).await;
                self.renew().await;
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            biased;
            _ = is_dropped => {}
            () = renewing => {}
        }
        if !self.is_lost && self.last_write.elapsed() > self.duration / 2 {
            self.renew().await;
        }
        if !self.is_lost {
            // If this fails, the lease expires.
            let _ = self.bucket.0.remote.delete(&self.path).await;
        }
    }

    async fn renew(&mut self) {
        self.last_attempt = Instant::now();
        let document = Document::encode(&self.owner, self.duration, self.beat + 1);
        match self.bucket.0.remote.put_if(&self.path, document, Some(self.version.clone())).await {
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
                    self.bucket.leases(self.is_page)[LeaseOutcome::Lost].add(1);
                }
            },
        }
    }
}

fn is_of(lease: &SmallObject, owner: &str) -> bool {
    tightwire_json::from_slice::<Document>(&lease.bytes).is_ok_and(|document| document.owner == owner)
}

/// Initial and maximum interval between reads of a lease, and the interval after progress of its owner.
const MIN_INTERVAL: Duration = Duration::from_millis(50);
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);
const MAX_INTERVAL: Duration = Duration::from_secs(1);

/// State machine, without I/O, that decides when a lease of another proxy has expired.
#[derive(Debug)]
pub(super) struct LeaseObserver {
    wait_limit: Duration,
    deadline: Instant,
    /// Additional time that a lease must be unchanged before it is taken over. It differs between proxies, so that
    /// two of them rarely take over the same lease: some stores do not check the condition of a write atomically with
    /// the write.
    grace: Duration,
    interval: Duration,
    /// Last contents of the lease, and when they were read first.
    last: Option<(Bytes, Instant)>,
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
    /// Creates an observer that gives up after waiting for `wait_limit` without progress of the owner.
    pub(super) fn new(now: Instant, wait_limit: Duration, grace: Duration) -> Self {
        Self { wait_limit, deadline: now + wait_limit, grace, interval: MIN_INTERVAL, last: None }
    }

    /// Restarts the wait limit.
    fn record_progress(&mut self, now: Instant) {
        (self.deadline, self.interval) = (now + self.wait_limit, PROGRESS_INTERVAL);
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
            Some((last, since)) if last == lease => *since,
            _ => {
                self.interval = MIN_INTERVAL;
                self.last = Some((lease.clone(), now));
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

    use futures_util::StreamExt as _;
    use object_store::memory::InMemory;
    use object_store::{ObjectStore, ObjectStoreExt as _};

    use super::*;
    use crate::ProjectName;
    use crate::bucket::Config;
    use crate::digest::Digest;
    use crate::resource::{Key, Reference};

    const DURATION: Duration = Duration::from_secs(10);

    /// A bucket, and a lease of it with its owner.
    async fn leased() -> (Arc<dyn ObjectStore>, Bucket, Lease, String) {
        let objects: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let bucket = Bucket::new(objects.clone(), Config { lease_duration: DURATION, ..Config::default() });
        let mut claim = bucket.new_claim(bucket.lease_path("file"), DURATION, DURATION * 100, false);
        let ClaimStep::Acquired(lease) = claim.acquire().await else { panic!("no other owner") };
        (objects, bucket, lease, claim.owner)
    }

    #[test]
    fn leases_have_the_names_of_the_first_layout() {
        let bucket = Bucket::new(Arc::new(InMemory::new()), Config::default());
        let name = ProjectName::parse("demo").unwrap();
        let reference = Reference::new(name.clone(), "demo-1.zip", &[]);
        let origin = format!("leases/{}", reference.origin);
        for (index, resource, expected) in [
            (None, Resource::File(Key::Digest(Digest([10; 32]))), format!("leases/{}", "0a".repeat(32))),
            (None, Resource::File(Key::Reference(reference)), origin),
            (Some(10), Resource::Page(name), "leases/pages/000000000000000a/demo".to_owned()),
        ] {
            assert_eq!(bucket.claim(index, &resource).path.to_string(), expected, "{resource}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn lost_lease_is_not_deleted() {
        let (objects, bucket, lease, _) = leased().await;
        let (path, other) = (bucket.lease_path("file"), r#"{"owner":"other","seconds":10.0,"beat":3}"#);
        objects.put(&path, other.into()).await.unwrap();
        tokio::time::sleep(DURATION * 2).await;
        lease.release().await;
        assert_eq!(bucket.0.remote.meter.leases[LeaseOutcome::Lost].get(), 1);
        assert_eq!(objects.get(&path).await.unwrap().bytes().await.unwrap(), other);
    }

    #[tokio::test(start_paused = true)]
    async fn renewal_with_lost_response_keeps_the_lease() {
        let (objects, bucket, lease, owner) = leased().await;
        let path = bucket.lease_path("file");
        objects.put(&path, Document::encode(&owner, DURATION, 1).into()).await.unwrap();
        tokio::time::sleep(DURATION * 2).await;
        lease.release().await;
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

    #[test]
    fn progress_restarts_the_wait_limit() {
        let now = Instant::now();
        let mut observer = observer(now, 5);
        observer.record_progress(now + Duration::from_secs(4));
        assert!(!observer.is_expired(now + Duration::from_secs(8)));
        assert!(observer.is_expired(now + Duration::from_secs(9)));
    }

    #[tokio::test(start_paused = true)]
    async fn page_lease_of_a_dead_owner_delays_others_once() {
        let objects: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let bucket = Bucket::new(objects.clone(), Config::default());
        let turn = async || {
            let start = Instant::now();
            (bucket.claim_page(1, &Resource::List).await, start.elapsed())
        };
        let (ClaimStep::Acquired(lease), time) = turn().await else { panic!("no other owner") };
        assert_eq!(time, Duration::ZERO);
        // Its owner is gone.
        lease.task.abort();
        let wait = bucket.0.config.page_wait;
        assert!(matches!(turn().await, (ClaimStep::Unavailable, time) if time == wait));
        // The lease that was taken over meanwhile is released.
        tokio::time::sleep(wait).await;
        assert!(matches!(turn().await, (ClaimStep::Acquired(_), Duration::ZERO)));
        tokio::time::sleep(wait).await;
        assert_eq!(objects.list(Some(&"leases".into())).count().await, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn page_lease_is_released_when_dropped() {
        let bucket = Bucket::new(Arc::new(InMemory::new()), Config::default());
        let ClaimStep::Acquired(lease) = bucket.claim_page(1, &Resource::List).await else {
            panic!("no other owner")
        };
        let other = bucket.claim_page(1, &Resource::List);
        let owner = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            drop(lease);
        };
        assert!(matches!(tokio::join!(other, owner).0, ClaimStep::Released));
    }
}

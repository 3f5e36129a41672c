//! The bucket, and where everything has its place in it.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures_util::stream::BoxStream;
use object_store::path::Path;
use object_store::{GetRange, ObjectStore};
use tokio::sync::Semaphore;

use super::Config;
use super::failure::Failure;
use super::meter::Meter;
use super::remote::Remote;
use crate::Error;
use crate::store::{Digest, Expected, Key, Reference};
use crate::upstream::{Body, Validators};

/// A bucket that several proxies share.
#[derive(Clone)]
pub struct Bucket(Arc<Inner>);

struct Inner {
    remote: Arc<Remote>,
    config: Config,
    /// Another in each process.
    id: u64,
    claims: AtomicU64,
    /// One for each file that may wait to be written.
    pub(super) uploads: Arc<Semaphore>,
    /// Files that could not be written.
    owed: Mutex<HashSet<Digest>>,
    owes: AtomicUsize,
}

impl Bucket {
    /// Shares what is in this store. It is not asked yet.
    pub fn new(store: Arc<dyn ObjectStore>, config: Config) -> Self {
        let remote = Arc::new(Remote::new(store, &config));
        let uploads = Arc::new(Semaphore::new(config.max_uploads.min(Semaphore::MAX_PERMITS)));
        Self(Arc::new(Inner {
            remote,
            config,
            id: fastrand::u64(..),
            claims: AtomicU64::new(0),
            uploads,
            owed: Mutex::default(),
            owes: AtomicUsize::new(0),
        }))
    }

    pub(super) fn remote(&self) -> &Arc<Remote> {
        &self.0.remote
    }

    pub(super) fn config(&self) -> &Config {
        &self.0.config
    }

    pub(super) fn slots(&self) -> &Arc<Semaphore> {
        &self.0.uploads
    }

    /// What has happened.
    pub(crate) fn meter(&self) -> &Meter {
        &self.0.remote.meter
    }

    /// Whether it is left alone, because it has failed.
    pub(crate) fn is_left_alone(&self) -> bool {
        self.0.remote.is_open()
    }

    /// Why the last operation has failed, without what is secret; `None` if it has not.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.0.remote.reason()
    }

    /// Files that wait to be written.
    pub(crate) fn pending(&self) -> u64 {
        self.0.config.max_uploads.saturating_sub(self.0.uploads.available_permits()) as u64
    }

    /// Waits until no file waits to be written.
    pub(crate) async fn settle(&self) {
        let all = u32::try_from(self.0.config.max_uploads).unwrap_or(u32::MAX);
        let _ = self.0.uploads.acquire_many(all).await;
    }

    /// A name for who claims a lease, another each time.
    pub(super) fn next_owner(&self) -> String {
        format!("{:016x}-{}", self.0.id, self.0.claims.fetch_add(1, Ordering::Relaxed))
    }

    pub(super) fn path<'a>(&self, parts: impl IntoIterator<Item = &'a str>) -> Path {
        parts.into_iter().fold(Path::from(self.0.config.prefix.as_str()), Path::join)
    }

    /// Where a file is.
    pub(super) fn file_path(&self, digest: &Digest) -> Path {
        let name = digest.to_string();
        self.path(["files", "sha256", &name[..2], &name[2..4], &name])
    }

    /// Where it is noted which SHA-256 a file has whose page does not tell it.
    pub(super) fn name_path(&self, reference: &Reference) -> Path {
        let Reference { project, file, origin } = reference;
        self.path(["names", project.as_str(), file, &origin.to_string()])
    }

    pub(super) fn lease_path(&self, name: &str) -> Path {
        self.path(["leases", name])
    }

    /// What the lease of a file is called.
    pub(super) fn lease_name(key: &Key) -> String {
        match key {
            Key::Digest(digest) => digest.to_string(),
            Key::Reference(reference) => reference.origin.to_string(),
        }
    }

    /// The hash of a file, if the bucket has the file; it is then read from a place on.
    pub(super) async fn open(
        &self,
        key: &Key,
        expected: &Expected,
        from: u64,
    ) -> Result<Option<(Digest, Body)>, Error> {
        let Some(digest) = self.digest(key).await? else { return Ok(None) };
        let range = (from > 0).then_some(GetRange::Offset(from));
        let Some((len, stream)) = self.read(&digest, expected, range).await? else { return Ok(None) };
        let body = Body::new(from, Some(len), Validators::default(), stream);
        Ok(Some((digest, body.verified_by(digest))))
    }

    /// Part of a file, if the bucket has the file.
    pub(crate) async fn part(&self, digest: &Digest, expected: &Expected, part: Range<u64>) -> Option<Body> {
        let range = Some(GetRange::Bounded(part.clone()));
        let (len, stream) = self.read(digest, expected, range).await.ok()??;
        Some(Body::new(part.start, Some(len), Validators::default(), stream).ending_at(part.end))
    }

    /// The hash of a file, if its name is known here.
    async fn digest(&self, key: &Key) -> Result<Option<Digest>, Error> {
        Ok(match key {
            Key::Digest(digest) => Some(*digest),
            Key::Reference(reference) => match self.remote().small(&self.name_path(reference), 64).await {
                Ok(small) => str::from_utf8(&small.bytes).ok().and_then(|text| text.parse().ok()),
                Err(Failure::Failed(error)) => return Err(error),
                Err(_) => None,
            },
        })
    }

    /// The length of a file, and its bytes or part of them.
    async fn read(
        &self,
        digest: &Digest,
        expected: &Expected,
        range: Option<GetRange>,
    ) -> Result<Option<(u64, BoxStream<'static, Result<Bytes, Error>>)>, Error> {
        let large = match self.remote().large(&self.file_path(digest), range).await {
            Ok(large) => large,
            Err(Failure::Failed(error)) => return Err(error),
            Err(_) => return Ok(None),
        };
        let is_other = expected.size.is_some_and(|size| size != large.len)
            || large.sha256.is_some_and(|sha256| sha256 != digest.to_string());
        if is_other {
            self.discard(digest).await;
            return Ok(None);
        }
        Ok(Some((large.len, large.stream)))
    }

    /// Removes a file that is not what it should be.
    pub(super) async fn discard(&self, digest: &Digest) {
        tracing::warn!(%digest, "a file in the bucket is not what its hash says: it is removed");
        self.meter().corrupt.fetch_add(1, Ordering::Relaxed);
        // If it can't be removed, the next upload replaces it.
        let _ = self.remote().delete(&self.file_path(digest)).await;
    }

    /// Removes a file.
    ///
    /// # Errors
    ///
    /// Fails if the bucket does ([`Error::is_bucket`]).
    pub(crate) async fn remove(&self, digest: &Digest) -> Result<(), Error> {
        match self.remote().delete(&self.file_path(digest)).await {
            Err(Failure::Failed(error)) => Err(error),
            _ => Ok(()),
        }
    }

    fn owed(&self) -> MutexGuard<'_, HashSet<Digest>> {
        // Nothing panics while it holds the lock.
        self.0.owed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a file could not be written, if there are not too many of them.
    pub(super) fn owe(&self, digest: Digest) {
        let mut owed = self.owed();
        if owed.len() < self.0.config.max_uploads {
            owed.insert(digest);
        }
        self.0.owes.store(owed.len(), Ordering::Relaxed);
    }

    /// Whether a file could not be written, while the bucket is not left alone. It is not noted any more then.
    pub(super) fn is_owed(&self, digest: &Digest) -> bool {
        if self.0.owes.load(Ordering::Relaxed) == 0 || self.is_left_alone() {
            return false;
        }
        let mut owed = self.owed();
        let is_owed = owed.remove(digest);
        self.0.owes.store(owed.len(), Ordering::Relaxed);
        is_owed
    }
}

/// Shows no object.
impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucket").field("config", &self.0.config).finish_non_exhaustive()
    }
}

//! Handle of the bucket: object names, reads of files, and pending uploads.

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
use super::error::OperationError;
use super::metrics::BucketMetrics;
use super::remote::Remote;
use crate::Error;
use crate::store::{Digest, Expected, Key, Reference};
use crate::upstream::{FileBody, Validators};

/// A bucket shared by several proxies. Clones share its state.
#[derive(Clone)]
pub struct Bucket(Arc<Inner>);

struct Inner {
    remote: Arc<Remote>,
    config: Config,
    /// Random identifier of the process.
    id: u64,
    claims: AtomicU64,
    /// One permit per upload, running or queued.
    pub(super) uploads: Arc<Semaphore>,
    /// Files whose upload failed or was skipped.
    failed_uploads: Mutex<HashSet<Digest>>,
    failed_upload_count: AtomicUsize,
}

impl Bucket {
    /// Creates a bucket in this store, without contacting it.
    pub fn new(store: Arc<dyn ObjectStore>, mut config: Config) -> Self {
        config.part_size = config.part_size.max(1);
        let remote = Arc::new(Remote::new(store, &config));
        let uploads = Arc::new(Semaphore::new(config.max_uploads.min(Semaphore::MAX_PERMITS)));
        Self(Arc::new(Inner {
            remote,
            config,
            id: fastrand::u64(..),
            claims: AtomicU64::new(0),
            uploads,
            failed_uploads: Mutex::default(),
            failed_upload_count: AtomicUsize::new(0),
        }))
    }

    pub(super) fn remote(&self) -> &Arc<Remote> {
        &self.0.remote
    }

    pub(super) fn config(&self) -> &Config {
        &self.0.config
    }

    pub(super) fn upload_permits(&self) -> &Arc<Semaphore> {
        &self.0.uploads
    }

    /// Returns the counters.
    pub(crate) fn meter(&self) -> &BucketMetrics {
        &self.0.remote.meter
    }

    /// Returns whether the circuit breaker is open.
    pub(crate) fn is_circuit_open(&self) -> bool {
        self.0.remote.is_circuit_open()
    }

    /// Returns the error of the last read or write, without secrets; `None` if both succeeded.
    pub(crate) fn last_error(&self) -> Option<String> {
        self.0.remote.last_error()
    }

    /// Returns the number of running and queued uploads.
    pub(crate) fn pending(&self) -> u64 {
        self.0.config.max_uploads.saturating_sub(self.0.uploads.available_permits()) as u64
    }

    /// Waits until all uploads have finished.
    pub(crate) async fn settle(&self) {
        let all = u32::try_from(self.0.config.max_uploads).unwrap_or(u32::MAX);
        let _ = self.0.uploads.acquire_many(all).await;
    }

    /// Returns a new unique owner name for a lease.
    pub(super) fn next_owner(&self) -> String {
        format!("{:016x}-{}", self.0.id, self.0.claims.fetch_add(1, Ordering::Relaxed))
    }

    pub(super) fn path<'a>(&self, parts: impl IntoIterator<Item = &'a str>) -> Path {
        parts.into_iter().fold(Path::from(self.0.config.prefix.as_str()), Path::join)
    }

    /// Returns the object name of a file.
    pub(super) fn file_path(&self, digest: &Digest) -> Path {
        let name = digest.to_string();
        self.path(["files", "sha256", &name[..2], &name[2..4], &name])
    }

    /// Returns the name of the object with the SHA-256 of a file whose page has none.
    pub(super) fn name_path(&self, reference: &Reference) -> Path {
        let Reference { project, file, origin } = reference;
        self.path(["names", project.as_str(), file, &origin.to_string()])
    }

    pub(super) fn lease_path(&self, name: &str) -> Path {
        self.path(["leases", name])
    }

    /// Returns the lease name of a file.
    pub(super) fn lease_name(key: &Key) -> String {
        match key {
            Key::Digest(digest) => digest.to_string(),
            Key::Reference(reference) => reference.origin.to_string(),
        }
    }

    /// Opens a file at an offset. Returns `None` if it is not in the bucket.
    pub(super) async fn open(
        &self,
        key: &Key,
        expected: &Expected,
        from: u64,
    ) -> Result<Option<(Digest, FileBody)>, Error> {
        let Some(digest) = self.digest(key).await? else { return Ok(None) };
        let range = (from > 0).then_some(GetRange::Offset(from));
        let Some((len, stream)) = self.read(&digest, expected, range).await? else { return Ok(None) };
        let body = FileBody::new(from, Some(len), Validators::default(), stream);
        Ok(Some((digest, body.with_sha256(digest))))
    }

    /// Opens a range of a file. Returns `None` if it is not in the bucket or the bucket fails.
    pub(crate) async fn part(
        &self,
        digest: &Digest,
        expected: &Expected,
        part: Range<u64>,
    ) -> Option<FileBody> {
        let range = Some(GetRange::Bounded(part.clone()));
        let (len, stream) = self.read(digest, expected, range).await.ok()??;
        Some(FileBody::new(part.start, Some(len), Validators::default(), stream).with_end(part.end))
    }

    /// Returns the SHA-256 of a file, if known.
    async fn digest(&self, key: &Key) -> Result<Option<Digest>, Error> {
        Ok(match key {
            Key::Digest(digest) => Some(*digest),
            Key::Reference(reference) => match self.remote().small(&self.name_path(reference), 64).await {
                Ok(small) => str::from_utf8(&small.bytes).ok().and_then(|text| text.parse().ok()),
                Err(OperationError::Failed(error)) => return Err(error),
                Err(_) => None,
            },
        })
    }

    /// Returns the length of a file, and a stream of its bytes or a range of them.
    async fn read(
        &self,
        digest: &Digest,
        expected: &Expected,
        range: Option<GetRange>,
    ) -> Result<Option<(u64, BoxStream<'static, Result<Bytes, Error>>)>, Error> {
        let large = match self.remote().large(&self.file_path(digest), range).await {
            Ok(large) => large,
            Err(OperationError::Failed(error)) => return Err(error),
            Err(_) => return Ok(None),
        };
        let is_corrupt = expected.size.is_some_and(|size| size != large.len)
            || large.sha256.is_some_and(|sha256| sha256 != digest.to_string());
        if is_corrupt {
            self.discard(digest).await;
            return Ok(None);
        }
        Ok(Some((large.len, large.stream)))
    }

    /// Deletes a corrupt file.
    pub(super) async fn discard(&self, digest: &Digest) {
        tracing::warn!(%digest, "a file in the bucket does not match its hash and is removed");
        self.meter().corrupt.add(1);
        // If this fails, the next upload replaces it.
        let _ = self.remote().delete(&self.file_path(digest)).await;
    }

    /// Deletes a file.
    ///
    /// # Errors
    ///
    /// Fails if the bucket fails ([`Error::is_bucket`]).
    pub(crate) async fn remove(&self, digest: &Digest) -> Result<(), Error> {
        match self.remote().delete(&self.file_path(digest)).await {
            Err(OperationError::Failed(error)) => Err(error),
            _ => Ok(()),
        }
    }

    fn failed_uploads(&self) -> MutexGuard<'_, HashSet<Digest>> {
        // No code panics while holding the lock.
        self.0.failed_uploads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the upload of a file failed, unless too many are recorded.
    pub(super) fn record_failed_upload(&self, digest: Digest) {
        let mut failed_uploads = self.failed_uploads();
        if failed_uploads.len() < self.0.config.max_uploads {
            failed_uploads.insert(digest);
        }
        self.0.failed_upload_count.store(failed_uploads.len(), Ordering::Relaxed);
    }

    /// Removes the record of a failed upload, unless the circuit breaker is open. Returns whether there was one.
    pub(super) fn take_failed_upload(&self, digest: &Digest) -> bool {
        if self.0.failed_upload_count.load(Ordering::Relaxed) == 0 || self.is_circuit_open() {
            return false;
        }
        let mut failed_uploads = self.failed_uploads();
        let has_failed = failed_uploads.remove(digest);
        self.0.failed_upload_count.store(failed_uploads.len(), Ordering::Relaxed);
        has_failed
    }
}

/// Omits the object store, which contains secrets.
impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucket").field("config", &self.0.config).finish_non_exhaustive()
    }
}

//! Handle of the bucket: object names, reads of files, and pending uploads.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use aws_lc_rs::digest::{Context, SHA256};
use bytes::Bytes;
use futures_util::TryStreamExt as _;
use futures_util::stream::BoxStream;
use object_store::path::Path;
use object_store::{GetRange, ObjectStore, UpdateVersion};
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::lease::Lease;
use super::remote::{OperationError, Remote, SmallObject, failed};
use super::{ConditionalWrites, Config};
use crate::audit::{self, AuditEvent, Refusal};
use crate::digest::{Digest, VerifyReport};
use crate::resource::{Key, Reference, Resource};
use crate::system;
use crate::upstream::{FileBody, Validators};
use crate::{Error, ProjectName};

/// Maximum attempts to write a page that other proxies change concurrently.
const MAX_ATTEMPTS: usize = 3;

/// A bucket shared by several proxies. Clones share its state.
#[derive(Clone)]
pub struct Bucket(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) remote: Arc<Remote>,
    pub(crate) config: Config,
    /// Random identifier of the process.
    id: u64,
    claims: AtomicU64,
    /// One permit per upload, running or queued.
    pub(crate) uploads: Arc<Semaphore>,
    /// Files whose upload failed or was skipped.
    failed_uploads: Mutex<HashSet<Digest>>,
    failed_upload_count: AtomicUsize,
    /// Whether the bucket was found not to support conditional writes, so that leases have no effect.
    lacks_conditional_writes: AtomicBool,
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
            lacks_conditional_writes: AtomicBool::new(false),
        }))
    }

    pub(crate) fn remote(&self) -> &Remote {
        &self.0.remote
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

    pub(crate) fn path<'a>(&self, parts: impl IntoIterator<Item = &'a str>) -> Path {
        parts.into_iter().fold(Path::from(self.0.config.prefix.as_str()), Path::join)
    }

    pub(crate) fn file_path(&self, digest: &Digest) -> Path {
        let name = digest.to_string();
        self.path(["files", "sha256", &name[..2], &name[2..4], &name])
    }

    /// Returns the name of the object with the SHA-256 of a file whose page has none.
    pub(crate) fn name_path(&self, reference: &Reference) -> Path {
        let Reference { project, file, origin } = reference;
        self.path(["names", project.as_str(), file, &origin.to_string()])
    }

    /// Opens a file of this length, if it is known, at an offset. Returns `None` if it is not in the bucket.
    pub(crate) async fn open(
        &self,
        key: &Key,
        size: Option<u64>,
        from: u64,
    ) -> Result<Option<(Digest, FileBody)>, Error> {
        let Some(digest) = self.digest(key).await? else { return Ok(None) };
        let range = (from > 0).then_some(GetRange::Offset(from));
        let Some((len, stream)) = self.read(&digest, size, range).await? else { return Ok(None) };
        let mut body = FileBody::new(from, Some(len), Validators::default(), stream);
        body.sha256 = Some(digest);
        Ok(Some((digest, body)))
    }

    /// Opens a range of a file. Returns `None` if it is not in the bucket or the bucket fails.
    pub(crate) async fn part(
        &self,
        digest: &Digest,
        size: Option<u64>,
        part: Range<u64>,
    ) -> Option<FileBody> {
        let range = Some(GetRange::Bounded(part.clone()));
        let (len, stream) = self.read(digest, size, range).await.ok()??;
        Some(FileBody::new(part.start, Some(len), Validators::default(), stream).with_end(part.end))
    }

    /// Returns the SHA-256 of a file, if known.
    async fn digest(&self, key: &Key) -> Result<Option<Digest>, Error> {
        Ok(match key {
            Key::Digest(digest) => Some(*digest),
            Key::Reference(reference) => match self.0.remote.small(&self.name_path(reference), 64).await {
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
        size: Option<u64>,
        range: Option<GetRange>,
    ) -> Result<Option<(u64, BoxStream<'static, Result<Bytes, Error>>)>, Error> {
        let large = match self.0.remote.large(&self.file_path(digest), range).await {
            Ok(large) => large,
            Err(OperationError::Failed(error)) => return Err(error),
            Err(_) => return Ok(None),
        };
        let is_corrupt = size.is_some_and(|size| size != large.len)
            || large.sha256.is_some_and(|sha256| sha256 != digest.to_string());
        if is_corrupt {
            self.discard(digest).await;
            return Ok(None);
        }
        Ok(Some((large.len, large.stream)))
    }

    /// Deletes a corrupt file.
    pub(crate) async fn discard(&self, digest: &Digest) {
        tracing::warn!(%digest, "a file in the bucket does not match its hash and is removed");
        let (file, rule) = (digest.to_string(), Some("file of the bucket"));
        audit::record(AuditEvent::Hash, Refusal { file: Some(&file), rule, ..Refusal::default() });
        self.0.remote.meter.corrupt.add(1);
        // If this fails, the next upload replaces it.
        let _ = self.0.remote.delete(&self.file_path(digest)).await;
    }

    /// Deletes a file. Fails if the bucket fails ([`Error::is_bucket`]).
    pub(crate) async fn remove(&self, digest: &Digest) -> Result<(), Error> {
        self.0.remote.delete(&self.file_path(digest)).await
    }

    /// Records that the upload of a file failed, unless too many are recorded.
    pub(crate) fn record_failed_upload(&self, digest: Digest) {
        let mut failed_uploads = self.0.failed_uploads.lock();
        if failed_uploads.len() < self.0.config.max_uploads {
            failed_uploads.insert(digest);
        }
        self.0.failed_upload_count.store(failed_uploads.len(), Ordering::Relaxed);
    }

    /// Removes the record of a failed upload, unless the circuit breaker is open. Returns whether there was one.
    pub(crate) fn take_failed_upload(&self, digest: &Digest) -> bool {
        if self.0.failed_upload_count.load(Ordering::Relaxed) == 0 || self.0.remote.is_circuit_open() {
            return false;
        }
        let mut failed_uploads = self.0.failed_uploads.lock();
        let has_failed = failed_uploads.remove(digest);
        self.0.failed_upload_count.store(failed_uploads.len(), Ordering::Relaxed);
        has_failed
    }

    /// Returns the name of the object of a document of an index, or of its lease. The documents of a project, `NAME@...`,
    /// are in a folder `NAME@`.
    pub(super) fn page_path(&self, below: &str, index: u64, resource: &Resource) -> Path {
        let (index, entry) = (format!("{index:016x}"), resource.entry());
        let (folder, name) = match entry.split_once('@') {
            Some((name, document)) if !name.is_empty() => (format!("{name}@"), document),
            _ => (String::new(), &*entry),
        };
        let folder = Some(&*folder).filter(|folder| !folder.is_empty());
        self.path(below.split('/').chain([&*index]).chain(folder).chain([name]))
    }

    /// Reads a document of an index of at most `max` bytes. Returns `None` if there is none. Fails if the bucket fails or
    /// does not respond within [`Config::page_wait`](super::Config::page_wait).
    pub(crate) async fn page(
        &self,
        index: u64,
        resource: &Resource,
        max: u64,
    ) -> Result<Option<SmallObject>, Error> {
        let (bucket, path) = (self.clone(), self.page_path("pages", index, resource));
        // The read continues after the timeout, so that the circuit breaker learns its outcome.
        let read = system::spawn(async move { bucket.remote().small(&path, max).await });
        match tokio::time::timeout(self.0.config.page_wait, read).await {
            Ok(Ok(Ok(page))) => Ok(Some(page)),
            Ok(Ok(Err(OperationError::NotFound))) => Ok(None),
            Ok(Ok(Err(error))) => Err(error.into_error()),
            Ok(Err(_)) | Err(_) => Err(failed("timeout")),
        }
    }

    /// Starts a task that replaces a page of the given version, and then releases the lease. A page for which
    /// `is_as_new` returns true is not replaced. If `is_purged` returns true, the page is not written, or deleted again.
    #[allow(clippy::too_many_arguments, reason = "the page, its place, and the condition")]
    pub(crate) fn store_page(
        &self,
        index: u64,
        resource: &Resource,
        document: Vec<u8>,
        version: Option<UpdateVersion>,
        lease: Option<Lease>,
        max: u64,
        is_as_new: impl Fn(&[u8]) -> bool + Send + Sync + 'static,
        is_purged: impl Fn() -> bool + Send + Sync + 'static,
    ) {
        let (bucket, path) = (self.clone(), self.page_path("pages", index, resource));
        system::spawn(async move {
            if !is_purged()
                && bucket.write_page(&path, document, version, max, is_as_new).await
                && is_purged()
            {
                // If this fails, other proxies revalidate the page after its TTL.
                let _ = bucket.0.remote.delete(&path).await;
            }
            drop(lease);
        });
    }

    /// Returns false if the bucket has a page that is at least as new.
    async fn write_page(
        &self,
        path: &Path,
        document: Vec<u8>,
        mut version: Option<UpdateVersion>,
        max: u64,
        is_as_new: impl Fn(&[u8]) -> bool,
    ) -> bool {
        for _ in 0..MAX_ATTEMPTS {
            match self.0.remote.put_if(path, document.clone(), version.take()).await {
                Ok(_) | Err(OperationError::Failed(_)) => break,
                Err(OperationError::Unsupported) => {
                    let _ = self.0.remote.put(path, async { Ok(document.into()) }, None).await;
                    break;
                }
                Err(OperationError::NotFound | OperationError::PreconditionFailed) => {}
            }
            match self.0.remote.small(path, max).await {
                Ok(small) if is_as_new(&small.bytes) => return false,
                Ok(small) => version = Some(small.version),
                Err(OperationError::NotFound) => {}
                Err(_) => break,
            }
        }
        true
    }

    /// Deletes a document of an index. Fails if the bucket fails ([`Error::is_bucket`]).
    pub(crate) async fn purge_page(&self, index: u64, resource: &Resource) -> Result<(), Error> {
        self.0.remote.delete(&self.page_path("pages", index, resource)).await
    }

    /// Deletes the documents of a project besides its page, or everything of an index for `None`. Fails if the bucket fails
    /// ([`Error::is_bucket`]).
    pub(crate) async fn purge_documents(
        &self,
        index: u64,
        project: Option<&ProjectName>,
    ) -> Result<(), Error> {
        let (index, folder) = (format!("{index:016x}"), project.map(|project| format!("{project}@")));
        let dir = self.path(["pages", &*index].into_iter().chain(folder.as_deref()));
        let mut pages = self.0.remote.list(&dir);
        while let Some(page) = pages.try_next().await? {
            self.0.remote.delete(&page.location).await?;
        }
        Ok(())
    }

    /// Writes, reads and deletes an object, and tests whether the bucket supports conditional writes.
    ///
    /// # Errors
    ///
    /// Fails if one of the operations fails, or as [`Self::check_layout`] ([`Error::is_bucket`]).
    pub async fn check(&self) -> Result<ConditionalWrites, Error> {
        let path = self.path(["checks", &self.next_owner()]);
        let written = self.0.remote.put(&path, async { Ok(Bytes::new()) }, None).await;
        written.map_err(OperationError::into_error)?;
        self.0.remote.small(&path, 0).await.map_err(OperationError::into_error)?;
        self.0.remote.delete(&path).await?;
        self.test_conditional_writes().await
    }

    /// Starts a task that tests whether the bucket supports conditional writes. Without them, files are downloaded and
    /// pages requested without leases.
    pub(crate) fn test_in_background(&self) {
        let bucket = self.clone();
        system::spawn(async move { bucket.test_conditional_writes().await });
    }

    /// Tests conditional writes with an object of its own.
    async fn test_conditional_writes(&self) -> Result<ConditionalWrites, Error> {
        let path = self.path(["checks", &self.next_owner()]);
        let found = self.conditional_writes(&path).await;
        let deleted = self.0.remote.delete(&path).await;
        let found = match found {
            Ok(found) => found,
            Err(OperationError::Unsupported) => ConditionalWrites::Rejected,
            Err(error) => return Err(error.into_error()),
        };
        deleted?;
        self.record_conditional_writes(found);
        Ok(found)
    }

    async fn conditional_writes(&self, path: &Path) -> Result<ConditionalWrites, OperationError> {
        let remote = &self.0.remote;
        let first = remote.put_if(path, b"1".into(), None).await?;
        let created_again = remote.put_if(path, b"2".into(), None).await;
        if created_again.is_ok() {
            return Ok(ConditionalWrites::Ignored);
        }
        remote.put_if(path, b"3".into(), Some(first.clone())).await?;
        let updated_again = remote.put_if(path, b"4".into(), Some(first)).await;
        match (created_again, updated_again) {
            (_, Ok(_)) => Ok(ConditionalWrites::Ignored),
            (Err(OperationError::PreconditionFailed), Err(OperationError::PreconditionFailed)) => {
                Ok(ConditionalWrites::Supported)
            }
            (Err(OperationError::PreconditionFailed), Err(error)) | (Err(error), _) => Err(error),
            (Ok(_), _) => Ok(ConditionalWrites::Ignored),
        }
    }

    pub(super) fn record_conditional_writes(&self, found: ConditionalWrites) {
        let lacks = found != ConditionalWrites::Supported;
        if !self.0.lacks_conditional_writes.swap(lacks, Ordering::Relaxed) && lacks {
            let found = found.name();
            tracing::warn!(
                "conditional writes to the bucket are {found}; several proxies may download the same file"
            );
        }
    }

    /// Returns whether leases have an effect, as far as known.
    pub(crate) fn has_leases(&self) -> bool {
        !self.0.lacks_conditional_writes.load(Ordering::Relaxed)
    }

    /// Starts a task that runs [`check`](Self::check), which updates the last error.
    pub(crate) fn recheck(&self) {
        let bucket = self.clone();
        system::spawn(async move { bucket.check().await });
    }

    /// Checks the version of the layout, which is in the object `pypi-proxy-bucket` below the prefix. The first operation
    /// does so as well: a bucket with a newer layout is never used.
    ///
    /// # Errors
    ///
    /// Fails if the layout is newer than this program or unknown ([`Error::is_bucket_layout`]), or if the bucket fails
    /// ([`Error::is_bucket`]).
    pub async fn check_layout(&self) -> Result<(), Error> {
        self.0.remote.check_layout(false).await.map_err(OperationError::into_error)
    }

    /// Verifies the hashes of all files, and deletes corrupt ones. Calls `each` with every file and whether it is
    /// intact.
    ///
    /// # Errors
    ///
    /// Same as [`Self::check_layout`].
    pub async fn verify(&self, mut each: impl FnMut(&Digest, bool)) -> Result<VerifyReport, Error> {
        self.check_layout().await?;
        let mut verified = VerifyReport::default();
        let mut files = self.0.remote.list(&self.path(["files", "sha256"]));
        while let Some(file) = files.try_next().await? {
            // Objects with other names are not files of the proxy.
            let Some(digest) = file.location.filename().and_then(|name| name.parse::<Digest>().ok()) else {
                continue;
            };
            let mut large = match self.0.remote.large(&file.location, None).await {
                Ok(large) => large,
                // Deleted meanwhile.
                Err(OperationError::NotFound) => continue,
                Err(error) => return Err(error.into_error()),
            };
            let mut hash = Context::new(&SHA256);
            while let Some(chunk) = large.stream.try_next().await? {
                hash.update(&chunk);
            }
            let is_intact = hash.finish().as_ref() == digest.0;
            each(&digest, is_intact);
            if is_intact {
                verified.good += 1;
                verified.bytes += large.len;
            } else {
                self.discard(&digest).await;
                verified.bad.push(digest);
            }
        }
        Ok(verified)
    }
}

/// Omits the object store, which contains secrets.
impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucket").field("config", &self.0.config).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use object_store::memory::InMemory;

    use super::*;
    use crate::bucket::Config;

    #[tokio::test]
    async fn older_page_never_replaces_a_newer_one() {
        let bucket = Bucket::new(Arc::new(InMemory::new()), Config::default());
        let path = bucket.page_path("pages", 1, &Resource::List);
        let write = async |page: &'static str, version| {
            let is_as_new = |other: &[u8]| other >= page.as_bytes();
            bucket.write_page(&path, page.into(), version, 100, is_as_new).await;
            bucket.page(1, &Resource::List, 100).await.unwrap().unwrap()
        };
        let first = write("1", None).await;
        let third = write("3", Some(first.version.clone())).await;
        assert_eq!(third.bytes, "3");
        // Writers that have seen another version or no page.
        assert_eq!(write("2", Some(first.version.clone())).await.bytes, "3");
        assert_eq!(write("2", None).await.bytes, "3");
        assert_eq!(write("4", Some(first.version)).await.bytes, "4");
        assert_eq!(write("5", None).await.bytes, "5");
    }

    #[tokio::test]
    async fn newest_page_of_concurrent_writes_wins() {
        let bucket = Bucket::new(Arc::new(InMemory::new()), Config::default());
        let path = bucket.page_path("pages", 1, &Resource::List);
        let pages = ["1", "2", "3"].map(|page| {
            let is_as_new = move |other: &[u8]| other >= page.as_bytes();
            bucket.write_page(&path, page.into(), None, 100, is_as_new)
        });
        futures_util::future::join_all(pages).await;
        assert_eq!(bucket.page(1, &Resource::List, 100).await.unwrap().unwrap().bytes, "3");
    }
}

//! Operations on the bucket, with timeouts, counters, concurrency limits and a circuit breaker.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, GetOptions, GetRange, GetResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt as _, PutMode, PutMultipartOptions, PutOptions, PutPayload, UpdateVersion,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::Config;
use super::error::{OperationError, classify, describe, failed};
use super::metrics::{BucketMetrics, Operation, Outcome};
use crate::Error;
use crate::breaker::{Breaker, Permit};

/// Bytes per second that an upload must reach at least, in addition to the timeout.
const MIN_UPLOAD_RATE: u64 = 256 << 10;

/// Client of the bucket.
pub(super) struct Remote {
    store: Arc<dyn ObjectStore>,
    timeout: Duration,
    state: Mutex<State>,
    reads: Arc<Semaphore>,
    range_reads: Arc<Semaphore>,
    writes: Semaphore,
    meta_operations: Semaphore,
    pub(super) meter: BucketMetrics,
}

#[derive(Default)]
struct State {
    breaker: Breaker,
    /// Errors of the last read and the last write; `None` after a success.
    last_errors: [Option<String>; 2],
}

/// A small object, read as a whole.
pub(super) struct SmallObject {
    pub(super) bytes: Bytes,
    pub(super) version: UpdateVersion,
}

/// A large object, read as a stream.
pub(super) struct LargeObject {
    /// Length of the whole object.
    pub(super) len: u64,
    pub(super) sha256: Option<String>,
    pub(super) stream: BoxStream<'static, Result<Bytes, Error>>,
}

impl Remote {
    pub(super) fn new(store: Arc<dyn ObjectStore>, config: &Config) -> Self {
        Self {
            store,
            timeout: config.timeout,
            state: Mutex::default(),
            reads: Arc::new(Semaphore::new(config.max_reads.max(1))),
            range_reads: Arc::new(Semaphore::new(config.max_reads.max(1))),
            writes: Semaphore::new(config.max_writes.max(1)),
            meta_operations: Semaphore::new(config.max_meta_operations.max(1)),
            meter: BucketMetrics::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code panics while holding the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the circuit breaker is open.
    pub(super) fn is_circuit_open(&self) -> bool {
        self.state().breaker.is_open()
    }

    /// Returns the error of the last read or write, without secrets; `None` if both succeeded.
    pub(super) fn last_error(&self) -> Option<String> {
        self.state().last_errors.iter().flatten().next().cloned()
    }

    /// Runs an operation that sends `bytes` bytes, and records its outcome.
    async fn run<T>(
        &self,
        operation: Operation,
        bytes: u64,
        work: impl Future<Output = object_store::Result<T>>,
    ) -> Result<T, OperationError> {
        let Some(permit) = self.state().breaker.try_acquire(Instant::now()) else {
            self.meter.record_operation(operation, Outcome::Skipped);
            return Err(OperationError::Failed(failed("paused after repeated failures")));
        };
        let limit = self.timeout + Duration::from_secs(bytes / MIN_UPLOAD_RATE);
        let result = tokio::time::timeout(limit, work).await;
        let (ended, result) = match result {
            Ok(Ok(value)) => (Outcome::Done, Ok(value)),
            Ok(Err(error)) => {
                let (ended, failure) = classify(operation, &error);
                (ended, Err(failure))
            }
            Err(_) => (Outcome::Timeout, Err(OperationError::Failed(failed("timeout")))),
        };
        self.meter.record_operation(operation, ended);
        match &result {
            Err(OperationError::Failed(error)) => self.record_failure(permit, operation, error),
            _ => self.record_success(operation),
        }
        if result.is_ok() {
            self.meter.sent.add(bytes);
        }
        result
    }

    fn record_success(&self, operation: Operation) {
        let mut state = self.state();
        state.last_errors[usize::from(operation.is_write())] = None;
        if state.breaker.record_success() {
            tracing::info!("the bucket responds again");
        }
    }

    fn record_failure(&self, permit: Permit, operation: Operation, error: &Error) {
        let mut state = self.state();
        state.last_errors[usize::from(operation.is_write())] = Some(error.to_string());
        if state.breaker.record_failure(permit, Instant::now()) {
            tracing::warn!(%error, "the bucket fails; its use is paused, and files and pages come from the indexes");
        }
    }

    /// Acquires a permit for a metadata operation. The semaphore is never closed.
    async fn meta_permit(&self) -> Option<tokio::sync::SemaphorePermit<'_>> {
        self.meta_operations.acquire().await.ok()
    }

    /// Reads a small object of at most `max` bytes.
    pub(super) async fn small(&self, path: &Path, max: u64) -> Result<SmallObject, OperationError> {
        let _one = self.meta_permit().await;
        let work = async {
            let result = self.store.get(path).await?;
            let version =
                UpdateVersion { e_tag: result.meta.e_tag.clone(), version: result.meta.version.clone() };
            if result.meta.size > max {
                return Ok(None);
            }
            Ok(Some(SmallObject { bytes: result.bytes().await?, version }))
        };
        match self.run(Operation::Get, 0, work).await? {
            Some(small) => {
                self.meter.received.add(small.bytes.len() as u64);
                Ok(small)
            }
            None => Err(OperationError::Failed(failed("object too large"))),
        }
    }

    /// Reads an object or a range of it as a stream.
    pub(super) async fn large(
        self: &Arc<Self>,
        path: &Path,
        range: Option<GetRange>,
    ) -> Result<LargeObject, OperationError> {
        let permit = match range {
            // Slow clients read ranges and may occupy permits for long: further range reads wait at most for the
            // timeout.
            Some(GetRange::Bounded(_)) => {
                match tokio::time::timeout(self.timeout, self.range_reads.clone().acquire_owned()).await {
                    Ok(permit) => permit.ok(),
                    Err(_) => return Err(OperationError::Failed(failed("too many concurrent range reads"))),
                }
            }
            _ => self.reads.clone().acquire_owned().await.ok(),
        };
        let options = GetOptions { range, ..GetOptions::default() };
        let result = self.run(Operation::Get, 0, self.store.get_opts(path, options)).await?;
        let (len, sha256) = (result.meta.size, attribute(&result.attributes));
        Ok(LargeObject { len, sha256, stream: self.clone().stream(result, permit) })
    }

    /// Returns the bytes of an object, with the timeout between two chunks.
    fn stream(
        self: Arc<Self>,
        result: GetResult,
        permit: Option<OwnedSemaphorePermit>,
    ) -> BoxStream<'static, Result<Bytes, Error>> {
        let bytes = result.into_stream();
        futures_util::stream::unfold((bytes, self, permit), |(mut bytes, remote, permit)| async {
            let failure = match tokio::time::timeout(remote.timeout, bytes.try_next()).await {
                Ok(Ok(None)) => return None,
                Ok(Ok(Some(chunk))) => {
                    remote.meter.received.add(chunk.len() as u64);
                    return Some((Ok(chunk), (bytes, remote, permit)));
                }
                Ok(Err(error)) => failed(describe(&error)),
                Err(_) => failed("timeout while reading a file"),
            };
            remote.record_failure(Permit::Normal, Operation::Get, &failure);
            Some((Err(failure), (futures_util::stream::empty().boxed(), remote, permit)))
        })
        .boxed()
    }

    /// Writes an object unconditionally. The bytes are read after a permit is acquired, which bounds the memory of
    /// queued writes.
    pub(super) async fn put(
        &self,
        path: &Path,
        read: impl Future<Output = Result<Vec<u8>, Error>>,
        sha256: Option<String>,
    ) -> Result<(), OperationError> {
        let _one = self.writes.acquire().await;
        let bytes = read.await.map_err(OperationError::Failed)?;
        let attributes = sha256.map(attributes).unwrap_or_default();
        let options = PutOptions { attributes, ..PutOptions::default() };
        let len = bytes.len() as u64;
        self.run(Operation::Put, len, self.store.put_opts(path, bytes.into(), options)).await.map(drop)
    }

    /// Writes an object on the condition that it does not exist.
    pub(super) async fn create(&self, path: &Path, bytes: Vec<u8>) -> Result<UpdateVersion, OperationError> {
        self.put_if(Operation::Create, path, bytes, PutMode::Create).await
    }

    /// Writes an object on the condition that it has this version.
    pub(super) async fn update(
        &self,
        path: &Path,
        bytes: Vec<u8>,
        version: UpdateVersion,
    ) -> Result<UpdateVersion, OperationError> {
        self.put_if(Operation::Update, path, bytes, PutMode::Update(version)).await
    }

    async fn put_if(
        &self,
        operation: Operation,
        path: &Path,
        bytes: Vec<u8>,
        mode: PutMode,
    ) -> Result<UpdateVersion, OperationError> {
        let _one = self.meta_permit().await;
        let len = bytes.len() as u64;
        let work = self.store.put_opts(path, bytes.into(), mode.into());
        let put = self.run(operation, len, work).await?;
        Ok(put.into())
    }

    /// Deletes an object. A missing object is no error.
    pub(super) async fn delete(&self, path: &Path) -> Result<(), OperationError> {
        let _one = self.meta_permit().await;
        match self.run(Operation::Delete, 0, self.store.delete(path)).await {
            Err(OperationError::NotFound) => Ok(()),
            result => result,
        }
    }

    /// Lists the objects below a path.
    pub(super) fn list(&self, dir: &Path) -> BoxStream<'static, Result<ObjectMeta, Error>> {
        let timeout = self.timeout;
        let list = self.store.list(Some(dir));
        futures_util::stream::unfold(list, move |mut list| async move {
            let next = match tokio::time::timeout(timeout, list.try_next()).await {
                Ok(next) => next.map_err(|error| failed(describe(&error))).transpose()?,
                Err(_) => Err(failed("timeout while listing objects")),
            };
            Some((next, list))
        })
        .boxed()
    }

    /// Begins a multipart upload.
    pub(super) async fn begin(
        &self,
        path: &Path,
        sha256: String,
    ) -> Result<Box<dyn MultipartUpload>, OperationError> {
        let _one = self.meta_permit().await;
        let options =
            PutMultipartOptions { attributes: attributes(sha256), ..PutMultipartOptions::default() };
        self.run(Operation::Begin, 0, self.store.put_multipart_opts(path, options)).await
    }

    /// Writes the next part. The bytes are read after a permit is acquired.
    pub(super) async fn part(
        &self,
        upload: &mut dyn MultipartUpload,
        read: impl Future<Output = Result<Vec<u8>, Error>>,
    ) -> Result<(), OperationError> {
        let _one = self.writes.acquire().await;
        let bytes = read.await.map_err(OperationError::Failed)?;
        let len = bytes.len() as u64;
        self.run(Operation::Part, len, upload.put_part(PutPayload::from(bytes))).await
    }

    /// Completes a multipart upload, which makes the object visible.
    pub(super) async fn complete(&self, upload: &mut dyn MultipartUpload) -> Result<(), OperationError> {
        let _one = self.meta_permit().await;
        self.run(Operation::Complete, 0, upload.complete()).await.map(drop)
    }

    /// Aborts a multipart upload.
    pub(super) async fn abort(&self, upload: &mut dyn MultipartUpload) {
        let _one = self.meta_permit().await;
        // Lifecycle rules of the bucket remove the parts if this fails.
        let _ = self.run(Operation::Abort, 0, upload.abort()).await;
    }
}

const SHA256: Attribute = Attribute::Metadata(std::borrow::Cow::Borrowed("sha256"));

fn attributes(sha256: String) -> Attributes {
    Attributes::from_iter([(SHA256, sha256)])
}

fn attribute(attributes: &Attributes) -> Option<String> {
    attributes.get(&SHA256).map(|value| value.as_ref().to_owned())
}

#[cfg(test)]
mod tests {
    use object_store::memory::InMemory;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn slow_range_reads_do_not_block_others_for_long() {
        let config = Config { max_reads: 1, ..Config::default() };
        let remote = Arc::new(Remote::new(Arc::new(InMemory::new()), &config));
        let path = Path::from("file");
        remote.put(&path, async { Ok(vec![0; 10]) }, None).await.unwrap();
        let part = || remote.large(&path, Some(GetRange::Bounded(0..5)));
        let first = part().await.unwrap();
        assert!(matches!(part().await, Err(OperationError::Failed(_))));
        assert_eq!((remote.is_circuit_open(), remote.last_error()), (false, None));
        assert_eq!(remote.large(&path, None).await.unwrap().stream.count().await, 1);
        drop(first);
        assert!(part().await.is_ok());
    }
}

//! Operations on the bucket, with timeouts, counters, concurrency limits and a circuit breaker.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, GetOptions, GetRange, GetResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt as _, PutMode, PutMultipartOptions, PutOptions, PutPayload, UpdateVersion,
};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::Config;
use crate::Error;
use crate::breaker::{Breaker, Permit};
use crate::error::Kind;
use crate::failures::FailureLog;
use crate::layout;
use crate::metrics::{Counter, Counters, named};

/// Name of the object below the prefix that contains the version of the layout.
const MARKER: &str = "pypi-proxy-bucket";
/// Newest version of the layout that this program supports, which new prefixes get.
const VERSION: u32 = 1;

/// Bytes per second that an upload must reach at least, in addition to the timeout.
const MIN_UPLOAD_RATE: u64 = 256 << 10;

pub(crate) struct Remote {
    store: Arc<dyn ObjectStore>,
    timeout: Duration,
    marker: Path,
    state: Mutex<State>,
    reads: Arc<Semaphore>,
    range_reads: Arc<Semaphore>,
    writes: Semaphore,
    meta_operations: Semaphore,
    pub(crate) meter: BucketMetrics,
    pub(crate) failures: FailureLog,
}

#[derive(Default)]
struct State {
    breaker: Breaker,
    /// Errors of the last read and the last write; `None` after a success.
    last_errors: [Option<String>; 2],
    layout: Layout,
}

/// State of the layout of the bucket, as far as known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Layout {
    #[default]
    Unknown,
    /// There is no marker: the layout has version 1, or the prefix is new.
    Unmarked,
    Marked,
    Unsupported,
}

/// A small object, read as a whole.
pub(crate) struct SmallObject {
    pub(crate) bytes: Bytes,
    pub(crate) version: UpdateVersion,
}

/// A large object, read as a stream.
pub(crate) struct LargeObject {
    /// Length of the whole object.
    pub(crate) len: u64,
    pub(crate) sha256: Option<String>,
    /// Length of the file that the object is a part of.
    pub(crate) file_len: Option<u64>,
    pub(crate) stream: BoxStream<'static, Result<Bytes, Error>>,
}

impl Remote {
    pub(super) fn new(store: Arc<dyn ObjectStore>, config: &Config) -> Self {
        Self {
            store,
            timeout: config.timeout,
            marker: Path::from(config.prefix.as_str()).join(MARKER),
            state: Mutex::default(),
            reads: Arc::new(Semaphore::new(config.max_reads.max(1))),
            range_reads: Arc::new(Semaphore::new(config.max_reads.max(1))),
            writes: Semaphore::new(config.max_writes.max(1)),
            meta_operations: Semaphore::new(config.max_meta_operations.max(1)),
            meter: BucketMetrics::default(),
            failures: FailureLog::default(),
        }
    }

    pub(crate) fn is_circuit_open(&self) -> bool {
        self.state.lock().breaker.is_open()
    }

    /// Returns the error of the last read or write, without secrets; `None` if both succeeded.
    pub(crate) fn last_error(&self) -> Option<String> {
        self.state.lock().last_errors.iter().flatten().next().cloned()
    }

    /// Runs an operation like [`Self::attempt`]. The layout of the bucket is checked before the first one, and a new bucket
    /// is marked before the first write.
    async fn run<T>(
        &self,
        operation: Operation,
        bytes: u64,
        work: impl Future<Output = object_store::Result<T>>,
    ) -> Result<T, OperationError> {
        self.check_layout(operation.is_write()).await?;
        self.attempt(operation, bytes, work).await
    }

    /// Checks the layout of the bucket, unless it is known to be supported. Concurrent operations do so independently:
    /// they would have to wait for each other if the bucket does not respond.
    pub(super) async fn check_layout(&self, is_write: bool) -> Result<(), OperationError> {
        let known = self.state.lock().layout;
        if known == Layout::Marked || known == Layout::Unmarked && !is_write {
            return Ok(());
        }
        if self.read_layout().await? == Layout::Marked || !is_write {
            return Ok(());
        }
        let marker = || layout::marker(VERSION).into();
        let new = self.store.put_opts(&self.marker, marker(), PutMode::Create.into());
        match self.attempt(Operation::Create, 0, new).await {
            // Another program was faster.
            Err(OperationError::PreconditionFailed) => return self.read_layout().await.map(drop),
            Err(OperationError::Unsupported) => {
                self.attempt(Operation::Put, 0, self.store.put(&self.marker, marker())).await?;
            }
            created => drop(created?),
        }
        self.state.lock().layout = Layout::Marked;
        Ok(())
    }

    /// Reads the marker. Fails if the layout is not supported.
    async fn read_layout(&self) -> Result<Layout, OperationError> {
        let work = async {
            let marker = self.store.get(&self.marker).await?;
            if marker.meta.size < layout::READ_LEN { marker.bytes().await } else { Ok(Bytes::new()) }
        };
        let content = match self.attempt(Operation::Get, 0, work).await {
            Ok(content) => content,
            Err(OperationError::NotFound) => {
                self.state.lock().layout = Layout::Unmarked;
                return Ok(Layout::Unmarked);
            }
            Err(error) => return Err(error),
        };
        let place = format!("object {}", self.marker);
        if let Err(problem) = layout::check(&content, VERSION, &place, "another prefix") {
            let error = Error::with(Kind::BucketLayout, problem);
            self.record_failure(Permit::Normal, Operation::Get, &error);
            if std::mem::replace(&mut self.state.lock().layout, Layout::Unsupported) != Layout::Unsupported {
                tracing::error!(%error, "the bucket is not used");
            }
            return Err(OperationError::Failed(error));
        }
        self.state.lock().layout = Layout::Marked;
        Ok(Layout::Marked)
    }

    /// Runs an operation that sends `bytes` bytes, and records its outcome.
    async fn attempt<T>(
        &self,
        operation: Operation,
        bytes: u64,
        work: impl Future<Output = object_store::Result<T>>,
    ) -> Result<T, OperationError> {
        let Some(permit) = self.state.lock().breaker.try_acquire(Instant::now()) else {
            self.meter.operations[operation as usize][Outcome::Skipped].add(1);
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
        self.meter.operations[operation as usize][ended].add(1);
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
        let mut state = self.state.lock();
        state.last_errors[usize::from(operation.is_write())] = None;
        if state.breaker.record_success() {
            tracing::info!("the bucket responds again");
        }
    }

    fn record_failure(&self, permit: Permit, operation: Operation, error: &Error) {
        self.failures.record(operation.name(), None, error);
        let mut state = self.state.lock();
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
    pub(crate) async fn small(&self, path: &Path, max: u64) -> Result<SmallObject, OperationError> {
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
    pub(crate) async fn large(
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
        let len = result.meta.size;
        let sha256 = attribute(&result.attributes, &SHA256);
        let file_len = attribute(&result.attributes, &FILE_LEN).and_then(|len| len.parse().ok());
        Ok(LargeObject { len, sha256, file_len, stream: self.clone().stream(result, permit) })
    }

    /// Returns a stream of the bytes of an object. It fails if no chunk arrives within the timeout.
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
    pub(crate) async fn put(
        &self,
        path: &Path,
        read: impl Future<Output = Result<Bytes, Error>>,
        attribute: Option<(Attribute, String)>,
    ) -> Result<(), OperationError> {
        let _one = self.writes.acquire().await;
        let bytes = read.await.map_err(OperationError::Failed)?;
        let attributes = attribute.into_iter().collect();
        let options = PutOptions { attributes, ..PutOptions::default() };
        let len = bytes.len() as u64;
        self.run(Operation::Put, len, self.store.put_opts(path, bytes.into(), options)).await.map(drop)
    }

    /// Writes an object on the condition that it has this version, or does not exist for `None`.
    pub(crate) async fn put_if(
        &self,
        path: &Path,
        bytes: Vec<u8>,
        version: Option<UpdateVersion>,
    ) -> Result<UpdateVersion, OperationError> {
        let (operation, mode) = match version {
            None => (Operation::Create, PutMode::Create),
            Some(version) => (Operation::Update, PutMode::Update(version)),
        };
        let _one = self.meta_permit().await;
        let len = bytes.len() as u64;
        let work = self.store.put_opts(path, bytes.into(), mode.into());
        let put = self.run(operation, len, work).await?;
        Ok(put.into())
    }

    /// Deletes an object. A missing object is no error.
    pub(crate) async fn delete(&self, path: &Path) -> Result<(), Error> {
        let _one = self.meta_permit().await;
        match self.run(Operation::Delete, 0, self.store.delete(path)).await {
            Err(OperationError::NotFound) => Ok(()),
            result => result.map_err(OperationError::into_error),
        }
    }

    pub(crate) fn list(&self, dir: &Path) -> BoxStream<'static, Result<ObjectMeta, Error>> {
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

    pub(crate) async fn begin(
        &self,
        path: &Path,
        sha256: String,
    ) -> Result<Box<dyn MultipartUpload>, OperationError> {
        let _one = self.meta_permit().await;
        let attributes = Attributes::from_iter([(SHA256, sha256)]);
        let options = PutMultipartOptions { attributes, ..PutMultipartOptions::default() };
        self.run(Operation::Begin, 0, self.store.put_multipart_opts(path, options)).await
    }

    /// Writes the next part. The bytes are read after a permit is acquired.
    pub(crate) async fn part(
        &self,
        upload: &mut dyn MultipartUpload,
        read: impl Future<Output = Result<Bytes, Error>>,
    ) -> Result<(), OperationError> {
        let _one = self.writes.acquire().await;
        let bytes = read.await.map_err(OperationError::Failed)?;
        let len = bytes.len() as u64;
        self.run(Operation::Part, len, upload.put_part(PutPayload::from(bytes))).await
    }

    /// Completes a multipart upload, which makes the object visible.
    pub(crate) async fn complete(&self, upload: &mut dyn MultipartUpload) -> Result<(), OperationError> {
        let _one = self.meta_permit().await;
        self.run(Operation::Complete, 0, upload.complete()).await.map(drop)
    }

    pub(crate) async fn abort(&self, upload: &mut dyn MultipartUpload) {
        let _one = self.meta_permit().await;
        // Lifecycle rules of the bucket remove the parts if this fails.
        let _ = self.run(Operation::Abort, 0, upload.abort()).await;
    }
}

/// SHA-256 of a file.
pub(crate) const SHA256: Attribute = Attribute::Metadata(std::borrow::Cow::Borrowed("sha256"));
/// Length of the file that an object is a part of.
pub(crate) const FILE_LEN: Attribute = Attribute::Metadata(std::borrow::Cow::Borrowed("file-length"));

fn attribute(attributes: &Attributes, name: &Attribute) -> Option<String> {
    attributes.get(name).map(|value| value.as_ref().to_owned())
}

#[derive(Debug)]
pub(crate) enum OperationError {
    /// The object does not exist.
    NotFound,
    /// The condition of a write is not met: the object exists, or has another version.
    PreconditionFailed,
    /// The server does not support conditional writes.
    Unsupported,
    Failed(Error),
}

impl OperationError {
    pub(super) fn into_error(self) -> Error {
        match self {
            Self::Failed(error) => error,
            Self::NotFound => failed("an object does not exist"),
            Self::PreconditionFailed | Self::Unsupported => failed("the condition of a write is not met"),
        }
    }
}

#[cold]
pub(crate) fn failed(reason: impl Into<Box<str>>) -> Error {
    Error::with(Kind::Bucket, reason)
}

pub(super) fn classify(operation: Operation, error: &object_store::Error) -> (Outcome, OperationError) {
    use Operation::{Create, Delete, Get, Update};
    use object_store::Error as E;

    let is_conditional = matches!(operation, Create | Update);
    let is_bucket_missing = error.to_string().contains("NoSuchBucket");
    match error {
        // A write fails with "not found" only if the bucket does not exist.
        E::NotFound { .. } if matches!(operation, Get | Delete | Update) && !is_bucket_missing => {
            (Outcome::Missing, OperationError::NotFound)
        }
        E::AlreadyExists { .. } | E::Precondition { .. } => {
            (Outcome::Refused, OperationError::PreconditionFailed)
        }
        E::NotImplemented { .. } | E::NotSupported { .. } if is_conditional => {
            (Outcome::Failed, OperationError::Unsupported)
        }
        error => match describe(error) {
            reason if is_conditional && (reason.contains("NotImplemented") || reason.contains("(501 ")) => {
                (Outcome::Failed, OperationError::Unsupported)
            }
            reason => (Outcome::Failed, OperationError::Failed(failed(reason))),
        },
    }
}

/// Describes an error by its kind and code. Its full text may contain the access key ID and the signed request.
pub(super) fn describe(error: &object_store::Error) -> String {
    use object_store::Error as E;
    let text = error.to_string();
    let between = |before: &str, after: &str| Some(text.split_once(before)?.1.split_once(after)?.0);
    let what = match error {
        E::NotFound { .. } => "bucket does not exist",
        E::PermissionDenied { .. } | E::Unauthenticated { .. } => "credentials rejected",
        E::NotImplemented { .. } | E::NotSupported { .. } => "operation not supported",
        _ if text.contains("non-2xx") || text.contains("<Code>") => "request rejected",
        _ => "connection failed",
    };
    let code = between("<Code>", "</Code>").filter(|code| code.chars().all(|c| c.is_ascii_alphanumeric()));
    let status = || between("status code: ", ":").filter(|status| status.len() < 64);
    match code.or_else(status) {
        Some(code) => format!("{what} ({code})"),
        None => what.to_owned(),
    }
}

named! {
    pub(crate) enum Operation {
        Get = "get",
        Put = "put",
        Create = "create",
        Update = "update",
        Begin = "begin",
        Part = "part",
        Complete = "complete",
        Abort = "abort",
        Delete = "delete",
    }
}

named! {
    pub(crate) enum Outcome {
        Done = "done",
        Missing = "missing",
        /// The condition of a write was not met.
        Refused = "refused",
        Failed = "failed",
        Timeout = "timeout",
        /// The operation was not sent, because the circuit breaker is open.
        Skipped = "skipped",
    }
}

named! {
    pub(crate) enum LeaseOutcome {
        Acquired = "acquired",
        /// The previous owner stopped renewing it.
        TakenOver = "taken_over",
        /// Another proxy owned it and has uploaded the file.
        Waited = "waited",
        /// Another proxy owned it, and its download was read while it was running.
        Streamed = "streamed",
        /// Another proxy owned it for too long.
        GivenUp = "given_up",
        /// The bucket failed.
        Unavailable = "unavailable",
        /// Another proxy has taken it over.
        Lost = "lost",
    }
}

named! {
    pub(crate) enum UploadOutcome {
        Done = "done",
        /// The file could not be downloaded, or did not match its hash.
        Aborted = "aborted",
        Failed = "failed",
        /// The upload queue was full.
        Dropped = "dropped",
    }
}

impl Operation {
    /// Returns whether the operation writes an object.
    pub(super) fn is_write(self) -> bool {
        !matches!(self, Self::Get | Self::Delete | Self::Abort)
    }
}

/// Counters since the bucket was opened.
#[derive(Debug, Default)]
pub(crate) struct BucketMetrics {
    pub(crate) operations: [Counters<Outcome>; Operation::ALL.len()],
    pub(crate) leases: Counters<LeaseOutcome>,
    pub(crate) page_leases: Counters<LeaseOutcome>,
    pub(crate) uploads: Counters<UploadOutcome>,
    /// Received bytes of files and pages.
    pub(crate) received: Counter,
    /// Sent bytes of files and pages.
    pub(crate) sent: Counter,
    /// Files whose content did not match their hash.
    pub(crate) corrupt: Counter,
}

#[cfg(test)]
mod tests {
    use object_store::Error as E;
    use object_store::memory::InMemory;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn slow_range_reads_do_not_block_others_for_long() {
        let config = Config { max_reads: 1, ..Config::default() };
        let remote = Arc::new(Remote::new(Arc::new(InMemory::new()), &config));
        let path = Path::from("file");
        remote.put(&path, async { Ok(vec![0; 10].into()) }, None).await.unwrap();
        let part = || remote.large(&path, Some(GetRange::Bounded(0..5)));
        let first = part().await.unwrap();
        assert!(matches!(part().await, Err(OperationError::Failed(_))));
        assert_eq!((remote.is_circuit_open(), remote.last_error()), (false, None));
        assert_eq!(remote.large(&path, None).await.unwrap().stream.count().await, 1);
        drop(first);
        assert!(part().await.is_ok());
    }

    fn server_error(text: &str) -> E {
        E::Generic { store: "S3", source: format!("Server returned non-2xx status code: {text}").into() }
    }

    fn missing(text: &str) -> E {
        E::NotFound { path: "k".into(), source: text.into() }
    }

    #[test]
    fn description_has_the_error_code_and_no_secrets() {
        let denied =
            "<Error><Code>SignatureDoesNotMatch</Code><AWSAccessKeyId>hunter2</AWSAccessKeyId></Error>";
        for (error, expected) in [
            (server_error("507 Full: hunter2"), "request rejected (507 Full)"),
            (server_error("503 Slow Down: <Code>SlowDown</Code>"), "request rejected (SlowDown)"),
            (server_error("500 Oops: <Code>hunter2 & co</Code>"), "request rejected (500 Oops)"),
            (
                E::PermissionDenied { path: "k".into(), source: denied.into() },
                "credentials rejected (SignatureDoesNotMatch)",
            ),
            (E::Generic { store: "S3", source: "hunter2".into() }, "connection failed"),
        ] {
            assert_eq!(describe(&error), expected);
        }
    }

    #[test]
    fn missing_object_differs_from_missing_bucket() {
        let bucket = missing("<Code>NoSuchBucket</Code>");
        let is_missing =
            |operation, error: &E| matches!(classify(operation, error), (_, OperationError::NotFound));
        assert!(is_missing(Operation::Get, &missing("<Code>NoSuchKey</Code>")));
        assert!(!is_missing(Operation::Get, &bucket));
        assert!(!is_missing(Operation::Put, &missing("")));
        assert_eq!(describe(&bucket), "bucket does not exist (NoSuchBucket)");
    }

    #[test]
    fn missing_support_for_conditions_is_not_a_failure() {
        for text in ["501 Not Implemented: <Code>NotImplemented</Code>", "501 Not Implemented: "] {
            let error = server_error(text);
            assert!(matches!(
                classify(Operation::Create, &error),
                (Outcome::Failed, OperationError::Unsupported)
            ));
            assert!(matches!(classify(Operation::Put, &error), (Outcome::Failed, OperationError::Failed(_))));
        }
    }
}

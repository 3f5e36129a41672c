//! Operations on the bucket: each with a limit in time, counted, and left out while the bucket fails.

use std::future::Future;
use std::sync::atomic::Ordering;
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
use super::failure::{Failure, describe, failed, sort};
use super::meter::{Ended, Meter, Operation};
use crate::Error;
use crate::breaker::{Breaker, Leave};

/// What is sent may take a second longer for this many bytes.
const RATE: u64 = 256 << 10;

/// The bucket, as the parts of the proxy see it.
pub(super) struct Remote {
    store: Arc<dyn ObjectStore>,
    timeout: Duration,
    state: Mutex<State>,
    reads: Arc<Semaphore>,
    parts: Arc<Semaphore>,
    writes: Semaphore,
    questions: Semaphore,
    pub(super) meter: Meter,
}

#[derive(Default)]
struct State {
    breaker: Breaker,
    /// Why the last operation has failed that reads, and the last that writes; nothing after one that has not.
    reasons: [Option<String>; 2],
}

/// A small object.
pub(super) struct Small {
    pub(super) bytes: Bytes,
    pub(super) version: UpdateVersion,
}

/// A large object.
pub(super) struct Large {
    /// Of the whole object.
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
            reads: Arc::new(Semaphore::new(config.max_reads)),
            parts: Arc::new(Semaphore::new(config.max_reads)),
            writes: Semaphore::new(config.max_writes),
            questions: Semaphore::new(config.max_questions),
            meter: Meter::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the bucket is left alone.
    pub(super) fn is_open(&self) -> bool {
        self.state().breaker.is_open()
    }

    /// Why the last operation of a kind has failed, without what is secret; `None` if none has.
    pub(super) fn reason(&self) -> Option<String> {
        self.state().reasons.iter().flatten().next().cloned()
    }

    /// Does something with the bucket that sends so many bytes, and notes how it went.
    async fn run<T>(
        &self,
        operation: Operation,
        bytes: u64,
        work: impl Future<Output = object_store::Result<T>>,
    ) -> Result<T, Failure> {
        let Some(leave) = self.state().breaker.ask(Instant::now()) else {
            self.meter.ended(operation, Ended::Skipped);
            return Err(Failure::Failed(failed("it is left alone for a while")));
        };
        let limit = self.timeout + Duration::from_secs(bytes / RATE);
        let result = tokio::time::timeout(limit, work).await;
        let (ended, result) = match result {
            Ok(Ok(value)) => (Ended::Done, Ok(value)),
            Ok(Err(error)) => {
                let (ended, failure) = sort(operation, &error);
                (ended, Err(failure))
            }
            Err(_) => (Ended::Timeout, Err(Failure::Failed(failed("it does not answer in time")))),
        };
        self.meter.ended(operation, ended);
        match &result {
            Err(Failure::Failed(error)) => self.failed(leave, operation, error),
            _ => self.answered(operation),
        }
        if result.is_ok() {
            self.meter.sent.fetch_add(bytes, Ordering::Relaxed);
        }
        result
    }

    fn answered(&self, operation: Operation) {
        let mut state = self.state();
        state.reasons[usize::from(operation.is_write())] = None;
        if state.breaker.answered() {
            tracing::info!("the bucket answers again");
        }
    }

    fn failed(&self, leave: Leave, operation: Operation, error: &Error) {
        let mut state = self.state();
        state.reasons[usize::from(operation.is_write())] = Some(error.to_string());
        if state.breaker.failed(leave, Instant::now()) {
            tracing::warn!(%error, "the bucket is left alone for a while: files and pages come from the indexes");
        }
    }

    /// Leave to do one thing more at a time. They are never closed.
    async fn question(&self) -> Option<tokio::sync::SemaphorePermit<'_>> {
        self.questions.acquire().await.ok()
    }

    /// Reads a small object, at most so many bytes of it.
    pub(super) async fn small(&self, path: &Path, max: u64) -> Result<Small, Failure> {
        let _one = self.question().await;
        let work = async {
            let result = self.store.get(path).await?;
            let version =
                UpdateVersion { e_tag: result.meta.e_tag.clone(), version: result.meta.version.clone() };
            if result.meta.size > max {
                return Ok(None);
            }
            Ok(Some(Small { bytes: result.bytes().await?, version }))
        };
        match self.run(Operation::Get, 0, work).await? {
            Some(small) => {
                self.meter.received.fetch_add(small.bytes.len() as u64, Ordering::Relaxed);
                Ok(small)
            }
            None => Err(Failure::Failed(failed("an object is too large"))),
        }
    }

    /// Reads an object, from a place on or part of it.
    pub(super) async fn large(
        self: &Arc<Self>,
        path: &Path,
        range: Option<GetRange>,
    ) -> Result<Large, Failure> {
        let permit = match range {
            // Clients read parts, and may take their time: no other waits for that for long.
            Some(GetRange::Bounded(_)) => {
                match tokio::time::timeout(self.timeout, self.parts.clone().acquire_owned()).await {
                    Ok(permit) => permit.ok(),
                    Err(_) => return Err(Failure::Failed(failed("too many parts are read at a time"))),
                }
            }
            _ => self.reads.clone().acquire_owned().await.ok(),
        };
        let options = GetOptions { range, ..GetOptions::default() };
        let result = self.run(Operation::Get, 0, self.store.get_opts(path, options)).await?;
        let (len, sha256) = (result.meta.size, attribute(&result.attributes));
        Ok(Large { len, sha256, stream: self.clone().stream(result, permit) })
    }

    /// The bytes of an object. Between two of them there is as much time as for an answer.
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
                    remote.meter.received.fetch_add(chunk.len() as u64, Ordering::Relaxed);
                    return Some((Ok(chunk), (bytes, remote, permit)));
                }
                Ok(Err(error)) => failed(describe(&error)),
                Err(_) => failed("nothing comes of a file"),
            };
            remote.failed(Leave::Given, Operation::Get, &failure);
            Some((Err(failure), (futures_util::stream::empty().boxed(), remote, permit)))
        })
        .boxed()
    }

    /// Writes an object, whether or not it is there. It is read only when it is its turn, so that no more of them are in
    /// memory than are sent.
    pub(super) async fn put(
        &self,
        path: &Path,
        read: impl Future<Output = Result<Vec<u8>, Error>>,
        sha256: Option<String>,
    ) -> Result<(), Failure> {
        let _one = self.writes.acquire().await;
        let bytes = read.await.map_err(Failure::Failed)?;
        let attributes = sha256.map(attributes).unwrap_or_default();
        let options = PutOptions { attributes, ..PutOptions::default() };
        let len = bytes.len() as u64;
        self.run(Operation::Put, len, self.store.put_opts(path, bytes.into(), options)).await.map(drop)
    }

    /// Writes an object that is not there yet.
    pub(super) async fn create(&self, path: &Path, bytes: Vec<u8>) -> Result<UpdateVersion, Failure> {
        self.put_if(Operation::Create, path, bytes, PutMode::Create).await
    }

    /// Writes an object that is still what it was.
    pub(super) async fn update(
        &self,
        path: &Path,
        bytes: Vec<u8>,
        version: UpdateVersion,
    ) -> Result<UpdateVersion, Failure> {
        self.put_if(Operation::Update, path, bytes, PutMode::Update(version)).await
    }

    async fn put_if(
        &self,
        operation: Operation,
        path: &Path,
        bytes: Vec<u8>,
        mode: PutMode,
    ) -> Result<UpdateVersion, Failure> {
        let _one = self.question().await;
        let len = bytes.len() as u64;
        let work = self.store.put_opts(path, bytes.into(), mode.into());
        let put = self.run(operation, len, work).await?;
        Ok(put.into())
    }

    /// Removes an object; that it is not there is as good.
    pub(super) async fn delete(&self, path: &Path) -> Result<(), Failure> {
        let _one = self.question().await;
        match self.run(Operation::Delete, 0, self.store.delete(path)).await {
            Err(Failure::Missing) => Ok(()),
            result => result,
        }
    }

    /// The objects below a path.
    pub(super) fn list(&self, dir: &Path) -> BoxStream<'static, Result<ObjectMeta, Error>> {
        let timeout = self.timeout;
        let list = self.store.list(Some(dir));
        futures_util::stream::unfold(list, move |mut list| async move {
            let next = match tokio::time::timeout(timeout, list.try_next()).await {
                Ok(next) => next.map_err(|error| failed(describe(&error))).transpose()?,
                Err(_) => Err(failed("nothing comes of a list")),
            };
            Some((next, list))
        })
        .boxed()
    }

    /// Begins an object that is written in parts.
    pub(super) async fn begin(
        &self,
        path: &Path,
        sha256: String,
    ) -> Result<Box<dyn MultipartUpload>, Failure> {
        let _one = self.question().await;
        let options =
            PutMultipartOptions { attributes: attributes(sha256), ..PutMultipartOptions::default() };
        self.run(Operation::Begin, 0, self.store.put_multipart_opts(path, options)).await
    }

    /// Writes the next part, in the same way.
    pub(super) async fn part(
        &self,
        upload: &mut dyn MultipartUpload,
        read: impl Future<Output = Result<Vec<u8>, Error>>,
    ) -> Result<(), Failure> {
        let _one = self.writes.acquire().await;
        let bytes = read.await.map_err(Failure::Failed)?;
        let len = bytes.len() as u64;
        self.run(Operation::Part, len, upload.put_part(PutPayload::from(bytes))).await
    }

    /// Puts the parts together. The object is there after this, and not before.
    pub(super) async fn complete(&self, upload: &mut dyn MultipartUpload) -> Result<(), Failure> {
        let _one = self.question().await;
        self.run(Operation::Complete, 0, upload.complete()).await.map(drop)
    }

    /// Has the bucket forget the parts.
    pub(super) async fn abort(&self, upload: &mut dyn MultipartUpload) {
        let _one = self.question().await;
        // What is left of them is a matter of the rules of the bucket.
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
    async fn who_takes_time_to_read_keeps_others_only_so_long() {
        let config = Config::new("").max_reads(1);
        let remote = Arc::new(Remote::new(Arc::new(InMemory::new()), &config));
        let path = Path::from("file");
        remote.put(&path, async { Ok(vec![0; 10]) }, None).await.unwrap();
        let part = || remote.large(&path, Some(GetRange::Bounded(0..5)));
        let first = part().await.unwrap();
        assert!(matches!(part().await, Err(Failure::Failed(_))));
        assert_eq!((remote.is_open(), remote.reason()), (false, None));
        assert_eq!(remote.large(&path, None).await.unwrap().stream.count().await, 1);
        drop(first);
        assert!(part().await.is_ok());
    }
}

//! Object store in memory with injected faults.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt as _};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};

/// Fault of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// Operations fail with an error that contains a secret.
    Failing,
    /// Operations never complete.
    Hanging,
    /// Writes of files and pages wait until the fault changes.
    Held,
    /// Writes fail.
    Full,
    /// The credentials are rejected.
    Denying,
    /// Reads fail in the middle.
    CutShort,
    /// Conditions of writes are ignored.
    Unconditional,
    /// Writes with conditions are rejected.
    Rejecting,
}

#[derive(Debug)]
struct State {
    fault: Mutex<Fault>,
    started: AtomicUsize,
    aborted: AtomicUsize,
    /// Operations and paths of their objects.
    log: Mutex<Vec<(&'static str, String)>>,
}

#[derive(Debug)]
pub(crate) struct Faulty {
    inner: Arc<InMemory>,
    state: Arc<State>,
}

impl Faulty {
    pub(crate) fn new(fault: Fault) -> Arc<Self> {
        Self::over(Arc::default(), fault)
    }

    fn over(inner: Arc<InMemory>, fault: Fault) -> Arc<Self> {
        let state = State {
            fault: fault.into(),
            started: AtomicUsize::new(0),
            aborted: AtomicUsize::new(0),
            log: Mutex::default(),
        };
        Arc::new(Self { inner, state: state.into() })
    }

    /// Another connection to the same objects, with faults of its own.
    pub(crate) fn connect(&self) -> Arc<Self> {
        Self::over(self.inner.clone(), Fault::None)
    }

    /// Returns the operations so far on objects whose path contains this text.
    pub(crate) fn operations(&self, path: &str) -> Vec<&'static str> {
        let log = self.state.log.lock().unwrap();
        log.iter().filter(|(_, other)| other.contains(path)).map(|(operation, _)| *operation).collect()
    }

    pub(crate) fn set(&self, fault: Fault) {
        *self.state.fault.lock().unwrap() = fault;
    }

    /// Number of multipart uploads that were started.
    pub(crate) fn started(&self) -> usize {
        self.state.started.load(Ordering::Relaxed)
    }

    pub(crate) fn aborted(&self) -> usize {
        self.state.aborted.load(Ordering::Relaxed)
    }

    /// Number of objects.
    pub(crate) fn len(&self) -> usize {
        let files = Path::from("p/q/files");
        let list = self.inner.list(Some(&files));
        futures_util::FutureExt::now_or_never(list.count()).unwrap()
    }

    pub(crate) fn has(&self, path: &Path) -> bool {
        use object_store::ObjectStoreExt as _;
        futures_util::FutureExt::now_or_never(self.inner.head(path)).unwrap().is_ok()
    }
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a bucket")
    }
}

impl State {
    fn is(&self, fault: Fault) -> bool {
        *self.fault.lock().unwrap() == fault
    }

    fn record(&self, operation: &'static str, path: &Path) {
        self.log.lock().unwrap().push((operation, path.to_string()));
    }

    /// Applies the fault before an operation.
    async fn before(&self, is_write: bool) -> Result<()> {
        let generic = |text: &str| Error::Generic { store: "S3", source: text.into() };
        let fault = *self.fault.lock().unwrap();
        match fault {
            Fault::Failing => Err(generic("Server returned non-2xx status code: 500 Oops: key hunter2")),
            Fault::Hanging => std::future::pending().await,
            Fault::Held if is_write => {
                while self.is(Fault::Held) {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                Ok(())
            }
            Fault::Full if is_write => Err(generic(
                "Server returned non-2xx status code: 507 Insufficient Storage: <Code>QuotaExceeded</Code>",
            )),
            Fault::Denying => Err(Error::PermissionDenied { path: "x".into(), source: "key hunter2".into() }),
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(&self, path: &Path, payload: PutPayload, mut options: PutOptions) -> Result<PutResult> {
        let operation = match options.mode {
            PutMode::Overwrite => "put",
            PutMode::Create => "create",
            PutMode::Update(_) => "update",
        };
        self.state.record(operation, path);
        let is_content = ["/q/files/", "/q/pages/"].iter().any(|folder| path.as_ref().contains(folder));
        if is_content || !self.state.is(Fault::Held) {
            self.state.before(true).await?;
        }
        if self.state.is(Fault::Unconditional) {
            options.mode = PutMode::Overwrite;
        }
        if self.state.is(Fault::Rejecting) && options.mode != PutMode::Overwrite {
            let text =
                "Server returned non-2xx status code: 501 Not Implemented: <Code>NotImplemented</Code>";
            return Err(Error::Generic { store: "S3", source: text.into() });
        }
        self.inner.put_opts(path, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.state.record("begin", path);
        self.state.before(true).await?;
        self.state.started.fetch_add(1, Ordering::Relaxed);
        let inner = self.inner.put_multipart_opts(path, options).await?;
        Ok(Box::new(Upload { inner, state: self.state.clone() }))
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        self.state.record("get", path);
        self.state.before(false).await?;
        let mut result = self.inner.get_opts(path, options).await?;
        if self.state.is(Fault::CutShort) {
            let half = |bytes: Bytes| bytes.slice(..bytes.len() / 2);
            let error = Error::Generic { store: "S3", source: "cut".into() };
            let rest = stream::iter([Err(error)]);
            let payload =
                std::mem::replace(&mut result.payload, GetResultPayload::Stream(stream::empty().boxed()));
            // All objects are in memory, each in one chunk.
            let GetResultPayload::Stream(whole) = payload;
            let cut = whole.map(move |bytes| bytes.map(half)).chain(rest);
            result.payload = GetResultPayload::Stream(cut.boxed());
        }
        Ok(result)
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let state = self.state.clone();
        let paths = paths.then(move |path| {
            let state = state.clone();
            async move {
                let path = path?;
                state.record("delete", &path);
                state.before(false).await?;
                Ok(path)
            }
        });
        self.inner.delete_stream(paths.boxed())
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

#[derive(Debug)]
struct Upload {
    inner: Box<dyn MultipartUpload>,
    state: Arc<State>,
}

#[async_trait]
impl MultipartUpload for Upload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let (state, part) = (self.state.clone(), self.inner.put_part(data));
        Box::pin(async move {
            state.before(true).await?;
            part.await
        })
    }

    async fn complete(&mut self) -> Result<PutResult> {
        self.state.before(true).await?;
        self.inner.complete().await
    }

    async fn abort(&mut self) -> Result<()> {
        self.state.before(false).await?;
        self.state.aborted.fetch_add(1, Ordering::Relaxed);
        self.inner.abort().await
    }
}

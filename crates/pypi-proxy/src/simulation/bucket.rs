//! Object store in memory with delays and faults.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use http::Extensions;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetRange, GetResult, GetResultPayload, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};

use super::world::{below, chance, log, pause, pick};

#[derive(Clone, Debug, Default)]
pub(super) struct Objects {
    pub(super) inner: Arc<InMemory>,
    /// Percentage of operations that fail.
    pub(super) faults: Arc<AtomicUsize>,
}

impl fmt::Display for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a bucket")
    }
}

fn failure() -> Error {
    Error::Generic { store: "S3", source: "connection reset".into() }
}

impl Objects {
    fn is_failing(&self) -> bool {
        chance(self.faults.load(Ordering::Relaxed))
    }

    /// Runs an operation. A fault is before it, or after it so that only its response is lost.
    async fn run<T>(&self, what: &str, path: &Path, operation: impl Future<Output = Result<T>>) -> Result<T> {
        pause(pick(&[0, 1, 1, 10, 60])).await;
        if self.is_failing() {
            log(format_args!("bucket: {what} {path} fails"));
            if chance(30) {
                pause(60_000).await;
            }
            return Err(failure());
        }
        let result = operation.await;
        let error = result.as_ref().err().map(|_| " is refused").unwrap_or_default();
        log(format_args!("bucket: {what} {path}{error}"));
        pause(pick(&[0, 1, 1, 10, 60])).await;
        if self.is_failing() { Err(failure()) } else { result }
    }
}

#[async_trait]
impl ObjectStore for Objects {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.run("put", path, self.inner.put_opts(path, payload, options)).await
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let inner = self.run("begin", path, self.inner.put_multipart_opts(path, options)).await?;
        Ok(Box::new(Upload { inner, objects: self.clone(), path: path.clone() }))
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        // Bytes of a range are not changed: the proxy has no hash of a range.
        let is_file =
            path.as_ref().contains("files/") && !matches!(options.range, Some(GetRange::Bounded(_)));
        let result = self.run("get", path, self.inner.get_opts(path, options)).await?;
        let (meta, range, attributes) =
            (result.meta.clone(), result.range.clone(), result.attributes.clone());
        let mut bytes = result.bytes().await?.to_vec();
        if is_file && !bytes.is_empty() && self.is_failing() {
            let at = below(bytes.len());
            bytes[at] ^= 1;
        }
        let left = self.is_failing().then(|| below(bytes.len() + 1));
        let stream = stream::unfold((Bytes::from(bytes), left), |(mut bytes, left)| async move {
            pause(pick(&[0, 0, 1, 20])).await;
            if left == Some(0) {
                pause(pick(&[0, 60_000])).await;
                return Some((Err(failure()), (bytes, left)));
            }
            if bytes.is_empty() {
                return None;
            }
            let size = (1 + below(30_000)).min(bytes.len()).min(left.unwrap_or(usize::MAX));
            Some((Ok(bytes.split_to(size)), (bytes, left.map(|left| left - size))))
        });
        // The end of an empty object is read twice.
        let payload = GetResultPayload::Stream(stream.fuse().boxed());
        Ok(GetResult { payload, meta, range, attributes, extensions: Extensions::default() })
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let objects = self.clone();
        let deleted = paths.then(move |path| {
            let objects = objects.clone();
            async move {
                let path = path?;
                let one = stream::once(std::future::ready(Ok(path.clone()))).boxed();
                let mut deleting = objects.inner.delete_stream(one);
                let delete = async { deleting.next().await.unwrap_or(Ok(path.clone())) };
                objects.run("delete", &path, delete).await
            }
        });
        deleted.boxed()
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
    objects: Objects,
    path: Path,
}

#[async_trait]
impl MultipartUpload for Upload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let (objects, path, part) = (self.objects.clone(), self.path.clone(), self.inner.put_part(data));
        Box::pin(async move { objects.run("part", &path, part).await })
    }

    async fn complete(&mut self) -> Result<PutResult> {
        self.objects.clone().run("complete", &self.path, self.inner.complete()).await
    }

    async fn abort(&mut self) -> Result<()> {
        self.objects.clone().run("abort", &self.path, self.inner.abort()).await
    }
}

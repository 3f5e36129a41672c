//! Index pages in the bucket.

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use object_store::UpdateVersion;
use object_store::path::Path;

use super::error::OperationError;
use super::handle::Bucket;
use crate::{Error, ProjectName};

/// Maximum attempts to write a page that other proxies change concurrently.
const MAX_ATTEMPTS: usize = 3;

/// Contents and version of a page object.
#[derive(Clone, Debug)]
pub(crate) struct SharedPage {
    pub(crate) document: Bytes,
    pub(crate) version: UpdateVersion,
}

impl Bucket {
    /// Project names cannot start with `@`.
    fn page_path(&self, index: u64, project: Option<&ProjectName>) -> Path {
        self.path(["pages", &format!("{index:016x}"), project.map_or("@list", ProjectName::as_str)])
    }

    /// Reads the page of a project, or the project list for `None`, of at most `max` bytes. Waits at most
    /// [`Config::page_wait`](super::Config::page_wait).
    pub(crate) async fn page(
        &self,
        index: u64,
        project: Option<&ProjectName>,
        max: u64,
    ) -> Option<SharedPage> {
        let (bucket, path) = (self.clone(), self.page_path(index, project));
        // The read continues after the timeout, so that the circuit breaker learns its outcome.
        let read = tokio::spawn(async move { bucket.remote().small(&path, max).await });
        let small = tokio::time::timeout(self.config().page_wait, read).await.ok()?.ok()?.ok()?;
        Some(SharedPage { document: small.bytes, version: small.version })
    }

    /// Starts a task that replaces a page of the given version. A page for which `is_as_new` returns true is not
    /// replaced.
    pub(crate) fn store_page(
        &self,
        index: u64,
        project: Option<&ProjectName>,
        document: Vec<u8>,
        version: Option<UpdateVersion>,
        max: u64,
        is_as_new: impl Fn(&[u8]) -> bool + Send + Sync + 'static,
    ) {
        let (bucket, path) = (self.clone(), self.page_path(index, project));
        tokio::spawn(async move { bucket.write_page(&path, document, version, max, is_as_new).await });
    }

    async fn write_page(
        &self,
        path: &Path,
        document: Vec<u8>,
        mut version: Option<UpdateVersion>,
        max: u64,
        is_as_new: impl Fn(&[u8]) -> bool,
    ) {
        for _ in 0..MAX_ATTEMPTS {
            let written = match version.take() {
                Some(version) => self.remote().update(path, document.clone(), version).await,
                None => self.remote().create(path, document.clone()).await,
            };
            match written {
                Ok(_) | Err(OperationError::Failed(_)) => return,
                Err(OperationError::Unsupported) => {
                    let _ = self.remote().put(path, async { Ok(document) }, None).await;
                    return;
                }
                Err(OperationError::NotFound | OperationError::PreconditionFailed) => {}
            }
            match self.remote().small(path, max).await {
                Ok(small) if is_as_new(&small.bytes) => return,
                Ok(small) => version = Some(small.version),
                Err(OperationError::NotFound) => {}
                Err(_) => return,
            }
        }
    }

    /// Deletes the page of a project, or the project list for `None`.
    ///
    /// # Errors
    ///
    /// Fails if the bucket fails ([`Error::is_bucket`]).
    pub(crate) async fn purge_page(&self, index: u64, project: Option<&ProjectName>) -> Result<(), Error> {
        match self.remote().delete(&self.page_path(index, project)).await {
            Err(OperationError::Failed(error)) => Err(error),
            _ => Ok(()),
        }
    }

    /// Deletes all pages of an index.
    ///
    /// # Errors
    ///
    /// Fails if the bucket fails ([`Error::is_bucket`]).
    pub(crate) async fn purge_pages(&self, index: u64) -> Result<(), Error> {
        let dir = self.path(["pages", &format!("{index:016x}")]);
        let mut pages = self.remote().list(&dir);
        while let Some(page) = pages.try_next().await? {
            if let Err(OperationError::Failed(error)) = self.remote().delete(&page.location).await {
                return Err(error);
            }
        }
        Ok(())
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
        let path = bucket.page_path(1, None);
        let write = async |page: &'static str, version| {
            let is_as_new = |other: &[u8]| other >= page.as_bytes();
            bucket.write_page(&path, page.into(), version, 100, is_as_new).await;
            bucket.page(1, None, 100).await.unwrap()
        };
        let first = write("1", None).await;
        let third = write("3", Some(first.version.clone())).await;
        assert_eq!(third.document, "3");
        // Writers that have seen another version or no page.
        assert_eq!(write("2", Some(first.version.clone())).await.document, "3");
        assert_eq!(write("2", None).await.document, "3");
        assert_eq!(write("4", Some(first.version)).await.document, "4");
        assert_eq!(write("5", None).await.document, "5");
    }

    #[tokio::test]
    async fn newest_page_of_concurrent_writes_wins() {
        let bucket = Bucket::new(Arc::new(InMemory::new()), Config::default());
        let path = bucket.page_path(1, None);
        let pages = ["1", "2", "3"].map(|page| {
            let is_as_new = move |other: &[u8]| other >= page.as_bytes();
            bucket.write_page(&path, page.into(), None, 100, is_as_new)
        });
        futures_util::future::join_all(pages).await;
        assert_eq!(bucket.page(1, None, 100).await.unwrap().document, "3");
    }
}

//! Access to stored files, for export and import of a cache.

use std::sync::Arc;

use super::locate::FileTarget;
use super::service::Proxy;
use crate::page_cache::{CachedPage, PageCache};
use crate::store::{Digest, Key, StoredFile};
use crate::upstream::Upstream;
use crate::{Error, ProjectName};

impl Proxy {
    /// Returns the proxies that share the store: this one and the named indexes.
    pub(crate) fn members(&self) -> Vec<&Self> {
        std::iter::once(self).chain(self.0.mounted.values()).collect()
    }

    /// Returns the upstreams of all proxies that share the store, each once.
    pub(crate) fn distinct_upstreams(&self) -> Vec<Arc<Upstream>> {
        let mut all: Vec<Arc<Upstream>> = Vec::new();
        for (_, upstream) in self.0.all_upstreams() {
            if all.iter().all(|other| other.id() != upstream.id()) {
                all.push(upstream.clone());
            }
        }
        all
    }

    pub(crate) fn pages(&self) -> &PageCache {
        &self.0.pages
    }

    /// Returns a file that is stored, or the stored metadata or signature of a file.
    pub(crate) fn stored_file(
        &self,
        cached: &CachedPage,
        project: &ProjectName,
        name: &str,
    ) -> Option<StoredFile> {
        let digest = self.0.store.digest(&FileTarget::of(cached, project, name, &self.0).ok()?.key)?;
        self.0.store.get(&digest)
    }

    /// Returns whether the page lists the file without a SHA-256.
    pub(crate) fn is_reference(&self, cached: &CachedPage, project: &ProjectName, name: &str) -> bool {
        let target = FileTarget::of(cached, project, name, &self.0);
        target.is_ok_and(|target| matches!(target.key, Key::Reference(_)))
    }

    /// Makes a stored file the content of a file without a SHA-256. Returns false if it does not fit the page.
    pub(crate) fn bind(
        &self,
        cached: &CachedPage,
        project: &ProjectName,
        name: &str,
        digest: &Digest,
    ) -> Result<bool, Error> {
        let target = FileTarget::of(cached, project, name, &self.0)?;
        match &target.key {
            Key::Digest(_) => Ok(false),
            Key::Reference(reference) => self.0.store.bind(reference, digest, &target.expected),
        }
    }
}

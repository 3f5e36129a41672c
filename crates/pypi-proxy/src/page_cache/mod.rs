//! Cache of index pages in memory, on disk and in a bucket, in every format and content coding that clients request.

mod cache;
mod claims;
mod disk;
mod document;
mod merge;
mod namespace;
mod rendered;
mod slot;
mod source;

use std::time::Duration;

use crate::bucket::Bucket;
use crate::metrics::named;
use crate::rules::{ProjectPattern, Rules};
use crate::store::PagesDir;

pub use cache::{CachedPage, IndexPage, PageCache};
pub use claims::Claims;
pub(crate) use disk::{DiskCache, MAX_FACTS, StoredPage, is_document, stored_provenance, unix_seconds};
pub(crate) use rendered::{MemoryFile, encode};
pub use rendered::{PageBytes, RenderedPage, Variant};

/// Configuration of a [`PageCache`]. The time to live is a setting of each upstream.
#[derive(Clone, Debug)]
pub struct Config {
    /// Stores pages in this folder as well; nothing else may write to it. The size of
    /// [`Store::pages_dir`](crate::store::Store::pages_dir) counts toward the limit of the store, any other folder has
    /// no limit. Default: none.
    pub dir: Option<PagesDir>,
    /// Time for which a stale page is served while it is revalidated in the background. Default: an hour.
    pub stale_while_revalidate: Duration,
    /// Time for which a stale page is served if its upstream fails. Default: a week.
    pub stale_if_error: Duration,
    /// Maximum time that a client waits for the upstream if a page within [`Self::stale_if_error`] could be served.
    /// After this time, the client gets the stale page, and the refresh continues in the background. Default: 1.5
    /// seconds.
    pub stale_wait: Duration,
    /// Time to live of a negative entry: a project that no upstream has. Default: a minute.
    pub negative_ttl: Duration,
    /// Maximum bytes of pages in memory, including their encoded variants and negative entries. The page being served
    /// counts, but is not evicted for its own size. Default: 128 MiB.
    pub max_bytes: u64,
    /// Maximum pages fetched from the upstreams at a time, from 1 to 1,000,000; more are queued. Default: 64.
    pub max_fetches: usize,
    /// Maximum pages in the fetch queue, at most 1,000,000. When it is full, a stale page is served if
    /// [`Self::stale_if_error`] allows it; otherwise the request fails with an error that has
    /// [`Error::retry_after`](crate::Error::retry_after). Default: 1,000.
    pub max_queued: usize,
    /// Rules about projects and files that clients may use. Default: everything is allowed.
    pub rules: Rules,
    /// Shares pages with other proxies through this bucket. Requires [`Self::dir`]. Default: none.
    pub bucket: Option<Bucket>,
    /// Extracts metadata from wheels that an upstream offers without it. A page lists the metadata from the next
    /// refresh after the first download of the wheel on. Default: on.
    pub wheel_metadata: bool,
    /// Reads the upload times of files from the JSON API of an upstream whose page of the project lacks them. Default:
    /// off.
    pub upload_times: bool,
    /// Selects the pages of a project if several upstreams have one. Default: [`IndexStrategy::FirstIndex`].
    pub strategy: IndexStrategy,
    /// Projects whose pages are merged although their indexes do not declare that they are the same project (PEP 708).
    /// Only for strategies that merge pages. Default: none.
    pub merge_projects: Vec<ProjectPattern>,
    /// Positions of private upstreams, from 0. They are contacted before the others, and their projects are never taken
    /// from another upstream. Default: none.
    pub private: Vec<usize>,
    /// Names that private upstreams have listed. Default: in memory only.
    pub claims: Claims,
    /// Name of the index, if it shares [`Self::dir`] with the default index. Default: none, the default index.
    pub name: Option<String>,
}

/// Selects the pages of a project if several upstreams have one. Named as in uv; a proxy unites pages where uv chooses
/// between versions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexStrategy {
    /// All files come from the first upstream that has the project. The others are not contacted for it.
    #[default]
    FirstIndex,
    /// All upstreams are contacted. The files of each version come from the first upstream that has the version.
    UnsafeFirstMatch,
    /// All upstreams are contacted, and all files are united. Of files with the same name, the first one wins.
    UnsafeBestMatch,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            dir: None,
            stale_while_revalidate: Duration::from_secs(3600),
            stale_if_error: Duration::from_secs(7 * 86_400),
            stale_wait: Duration::from_millis(1500),
            negative_ttl: Duration::from_secs(60),
            max_bytes: 128 << 20,
            max_fetches: 64,
            max_queued: 1000,
            rules: Rules::default(),
            bucket: None,
            wheel_metadata: true,
            upload_times: false,
            strategy: IndexStrategy::default(),
            merge_projects: Vec::new(),
            private: Vec::new(),
            claims: Claims::default(),
            name: None,
        }
    }
}

named! {
    /// How a request for a page was answered. The name is the value of `X-Cache`.
    #[non_exhaustive]
    pub enum CacheStatus {
        /// Served from memory, fresh.
        Hit = "hit",
        /// Served stale: revalidation is running or has failed.
        Stale = "stale",
        /// Fetched from the upstreams.
        Miss = "miss",
        /// Revalidated: the upstreams responded with 304 Not Modified.
        Revalidated = "revalidated",
    }
}

/// Result of the import of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Imported {
    New,
    /// The cache has the same page.
    Same,
    /// The cache has another page that is at least as new.
    Other,
}

named! {
    /// Outcome of a refresh, as counted in the metrics.
    pub(crate) enum RefreshOutcome {
        Changed = "changed",
        Unchanged = "unchanged",
        Missing = "missing",
        /// At least one upstream failed.
        Failed = "failed",
    }
}

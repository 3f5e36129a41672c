//! Configuration of the page cache.

use std::sync::Arc;
use std::time::Duration;

use crate::bucket::Bucket;
use crate::rules::Rules;
use crate::store::PagesDir;

/// Configuration of a [`PageCache`](super::PageCache). The time to live is a setting of each upstream.
#[derive(Clone, Debug)]
pub struct Config {
    pub(super) dir: Option<PagesDir>,
    pub(super) stale_while_revalidate: Duration,
    pub(super) stale_if_error: Duration,
    pub(super) stale_wait: Duration,
    pub(super) negative_ttl: Duration,
    pub(super) max_bytes: u64,
    pub(super) max_fetches: usize,
    pub(super) max_queued: usize,
    pub(super) rules: Option<Arc<Rules>>,
    pub(super) bucket: Option<Bucket>,
    pub(super) wheel_metadata: bool,
}

impl Config {
    /// Default of [`Config::stale_while_revalidate`]: an hour.
    pub const DEFAULT_STALE_WHILE_REVALIDATE: Duration = Duration::from_secs(3600);
    /// Default of [`Config::stale_if_error`]: a week.
    pub const DEFAULT_STALE_IF_ERROR: Duration = Duration::from_secs(7 * 86400);
    /// Default of [`Config::stale_wait`]: 1.5 seconds.
    pub const DEFAULT_STALE_WAIT: Duration = Duration::from_millis(1500);
    /// Default of [`Config::negative_ttl`]: a minute.
    pub const DEFAULT_NEGATIVE_TTL: Duration = Duration::from_secs(60);
    /// Default of [`Config::max_bytes`]: 128 MiB.
    pub const DEFAULT_MAX_BYTES: u64 = 128 << 20;

    /// Default of [`Config::max_fetches`]: 64.
    pub const DEFAULT_MAX_FETCHES: usize = 64;
    /// Default of [`Config::max_queued`]: 1,000.
    pub const DEFAULT_MAX_QUEUED: usize = 1000;

    /// Returns the defaults: pages in memory only.
    pub fn new() -> Self {
        Self {
            dir: None,
            stale_while_revalidate: Self::DEFAULT_STALE_WHILE_REVALIDATE,
            stale_if_error: Self::DEFAULT_STALE_IF_ERROR,
            stale_wait: Self::DEFAULT_STALE_WAIT,
            negative_ttl: Self::DEFAULT_NEGATIVE_TTL,
            max_bytes: Self::DEFAULT_MAX_BYTES,
            max_fetches: Self::DEFAULT_MAX_FETCHES,
            max_queued: Self::DEFAULT_MAX_QUEUED,
            rules: None,
            bucket: None,
            wheel_metadata: true,
        }
    }

    /// Stores pages in this folder as well; nothing else may write to it. The size of
    /// [`Store::pages_dir`](crate::store::Store::pages_dir) counts toward the limit of the store, any other folder has
    /// no limit. Default: none.
    #[must_use]
    pub fn dir(mut self, dir: impl Into<PagesDir>) -> Self {
        self.dir = Some(dir.into());
        self
    }

    /// Time for which a stale page is served while it is revalidated in the background. Default:
    /// [`Self::DEFAULT_STALE_WHILE_REVALIDATE`].
    #[must_use]
    pub fn stale_while_revalidate(mut self, time: Duration) -> Self {
        self.stale_while_revalidate = time;
        self
    }

    /// Time for which a stale page is served if its upstream fails. Default: [`Self::DEFAULT_STALE_IF_ERROR`].
    #[must_use]
    pub fn stale_if_error(mut self, time: Duration) -> Self {
        self.stale_if_error = time;
        self
    }

    /// Maximum time that a client waits for the upstream if a page within [`Self::stale_if_error`] could be served.
    /// Then it gets the stale page, and the refresh continues in the background. Default: [`Self::DEFAULT_STALE_WAIT`].
    #[must_use]
    pub fn stale_wait(mut self, time: Duration) -> Self {
        self.stale_wait = time;
        self
    }

    /// Time to live of a negative entry: a project that no upstream has. Default: [`Self::DEFAULT_NEGATIVE_TTL`].
    #[must_use]
    pub fn negative_ttl(mut self, time: Duration) -> Self {
        self.negative_ttl = time;
        self
    }

    /// Maximum pages fetched from the upstreams at a time, at least 1; more are queued. Default:
    /// [`Self::DEFAULT_MAX_FETCHES`].
    #[must_use]
    pub fn max_fetches(mut self, count: usize) -> Self {
        self.max_fetches = count.clamp(1, 1_000_000);
        self
    }

    /// Maximum pages in the fetch queue. When it is full, a stale page is served if [`Self::stale_if_error`] allows it;
    /// otherwise the request fails with an error that has [`Error::retry_after`](crate::Error::retry_after). Default:
    /// [`Self::DEFAULT_MAX_QUEUED`].
    #[must_use]
    pub fn max_queued(mut self, count: usize) -> Self {
        self.max_queued = count.min(1_000_000);
        self
    }

    /// Maximum bytes of pages in memory, including their encoded variants and negative entries. The page being served
    /// counts, but is not evicted for its own size. Default: [`Self::DEFAULT_MAX_BYTES`].
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Rules about projects and files that clients may use. Default: everything is allowed.
    #[must_use]
    pub fn rules(mut self, rules: Rules) -> Self {
        self.rules = rules.is_on().then(|| Arc::new(rules));
        self
    }

    /// Extracts metadata from wheels that an upstream offers without it. A page lists the metadata from the next
    /// refresh after the first download of the wheel on. Default: on.
    #[must_use]
    pub fn wheel_metadata(mut self, is_on: bool) -> Self {
        self.wheel_metadata = is_on;
        self
    }

    /// Shares pages with other proxies through this bucket. Requires [`Self::dir`]. Default: none.
    #[must_use]
    pub fn bucket(mut self, bucket: impl Into<Option<Bucket>>) -> Self {
        self.bucket = bucket.into();
        self
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}

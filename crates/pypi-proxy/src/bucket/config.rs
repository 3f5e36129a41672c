//! Configuration of a bucket.

use std::time::Duration;

/// Configuration of a bucket: object prefix, timeouts, leases and concurrency limits.
#[derive(Clone, Debug)]
pub struct Config {
    pub(super) prefix: String,
    pub(super) timeout: Duration,
    pub(super) part_size: u64,
    pub(super) lease_duration: Duration,
    pub(super) lease_wait: Duration,
    pub(super) page_wait: Duration,
    pub(super) max_reads: usize,
    pub(super) max_writes: usize,
    pub(super) max_meta_operations: usize,
    pub(super) max_uploads: usize,
}

impl Config {
    /// Default of [`Config::timeout`]: 5 seconds.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);
    /// Default of [`Config::part_size`]: 10 MiB.
    pub const DEFAULT_PART_SIZE: u64 = 10 << 20;
    /// Default of [`Config::lease_duration`]: 10 seconds.
    pub const DEFAULT_LEASE_DURATION: Duration = Duration::from_secs(10);
    /// Default of [`Config::lease_wait`]: 30 seconds.
    pub const DEFAULT_LEASE_WAIT: Duration = Duration::from_secs(30);
    /// Default of [`Config::page_wait`]: 500 milliseconds.
    pub const DEFAULT_PAGE_WAIT: Duration = Duration::from_millis(500);
    /// Default of [`Config::max_reads`]: 50.
    pub const DEFAULT_MAX_READS: usize = 50;
    /// Default of [`Config::max_writes`]: 30.
    pub const DEFAULT_MAX_WRITES: usize = 30;
    /// Default of [`Config::max_meta_operations`]: 20.
    pub const DEFAULT_MAX_META_OPERATIONS: usize = 20;
    /// Default of [`Config::max_uploads`]: 1000.
    pub const DEFAULT_MAX_UPLOADS: usize = 1000;
    /// Minimum size of a part of an S3 multipart upload: 5 MiB.
    pub const MIN_PART_SIZE: u64 = 5 << 20;

    /// Creates a configuration. The names of all objects start with `prefix` and a slash, unless it is empty.
    pub fn new(prefix: impl Into<String>) -> Self {
        Self {
            prefix: prefix.into(),
            timeout: Self::DEFAULT_TIMEOUT,
            part_size: Self::DEFAULT_PART_SIZE,
            lease_duration: Self::DEFAULT_LEASE_DURATION,
            lease_wait: Self::DEFAULT_LEASE_WAIT,
            page_wait: Self::DEFAULT_PAGE_WAIT,
            max_reads: Self::DEFAULT_MAX_READS,
            max_writes: Self::DEFAULT_MAX_WRITES,
            max_meta_operations: Self::DEFAULT_MAX_META_OPERATIONS,
            max_uploads: Self::DEFAULT_MAX_UPLOADS,
        }
    }

    /// Sets the timeout for a response, and for silence within a file. An upload may take one second longer for each
    /// 256 KiB. Default: [`Self::DEFAULT_TIMEOUT`].
    #[must_use]
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = time;
        self
    }

    /// Sets the bytes of a part of an upload, at least 1. Each part is in memory while it is sent. Default:
    /// [`Self::DEFAULT_PART_SIZE`].
    #[must_use]
    pub fn part_size(mut self, bytes: u64) -> Self {
        self.part_size = bytes.max(1);
        self
    }

    /// Sets the time after which a lease that is not renewed expires. Default: [`Self::DEFAULT_LEASE_DURATION`].
    #[must_use]
    pub fn lease_duration(mut self, time: Duration) -> Self {
        self.lease_duration = time;
        self
    }

    /// Sets the maximum time to wait for the download of another proxy. Default: [`Self::DEFAULT_LEASE_WAIT`].
    #[must_use]
    pub fn lease_wait(mut self, time: Duration) -> Self {
        self.lease_wait = time;
        self
    }

    /// Sets the maximum time to wait for a page before its index is contacted. Default: [`Self::DEFAULT_PAGE_WAIT`].
    #[must_use]
    pub fn page_wait(mut self, time: Duration) -> Self {
        self.page_wait = time;
        self
    }

    /// Sets the maximum number of concurrent reads of files, and separately of ranges for clients; at least 1. Further
    /// reads wait, those of ranges at most for the timeout. Default: [`Self::DEFAULT_MAX_READS`].
    #[must_use]
    pub fn max_reads(mut self, count: usize) -> Self {
        self.max_reads = count.max(1);
        self
    }

    /// Sets the maximum number of concurrent writes of files and parts, at least 1. Further writes wait. Default:
    /// [`Self::DEFAULT_MAX_WRITES`].
    #[must_use]
    pub fn max_writes(mut self, count: usize) -> Self {
        self.max_writes = count.max(1);
        self
    }

    /// Sets the maximum number of other concurrent operations, at least 1. Further operations wait. Default:
    /// [`Self::DEFAULT_MAX_META_OPERATIONS`].
    #[must_use]
    pub fn max_meta_operations(mut self, count: usize) -> Self {
        self.max_meta_operations = count.max(1);
        self
    }

    /// Sets the maximum number of running and queued uploads, including files still being downloaded. Each is an open
    /// file. Further files are not uploaded. Default: [`Self::DEFAULT_MAX_UPLOADS`].
    #[must_use]
    pub fn max_uploads(mut self, count: usize) -> Self {
        self.max_uploads = count;
        self
    }
}

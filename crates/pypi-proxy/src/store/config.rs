//! Configuration of the file store.

use std::path::PathBuf;
use std::time::Duration;

use crate::bucket::Bucket;

/// Configuration of a [`Store`](super::Store).
#[derive(Clone, Debug)]
pub struct Config {
    pub(super) dir: PathBuf,
    pub(super) allow_shared_dir: bool,
    pub(super) max_bytes: u64,
    pub(super) max_file: u64,
    pub(super) max_concurrent_downloads: usize,
    pub(super) max_open_files: usize,
    pub(super) max_memory_buffer: usize,
    pub(super) stall_timeout: Duration,
    pub(super) reader_timeout: Duration,
    pub(super) retries: u32,
    pub(super) sync: bool,
    pub(super) unused_ttl: Option<Duration>,
    pub(super) bucket: Option<Bucket>,
}

impl Config {
    /// Default of [`Config::max_bytes`]: 5 GiB.
    pub const DEFAULT_MAX_BYTES: u64 = 5 << 30;
    /// Default of [`Config::max_file`]: 20 GiB.
    pub const DEFAULT_MAX_FILE: u64 = 20 << 30;
    /// Default of [`Config::max_concurrent_downloads`]: 64.
    pub const DEFAULT_MAX_CONCURRENT_DOWNLOADS: usize = 64;
    /// Default of [`Config::max_open_files`]: 256.
    pub const DEFAULT_MAX_OPEN_FILES: usize = 256;
    /// Default of [`Config::max_memory_buffer`]: 8 MiB.
    pub const DEFAULT_MAX_MEMORY_BUFFER: usize = 8 << 20;
    /// Default of [`Config::stall_timeout`]: 30 seconds.
    pub const DEFAULT_STALL_TIMEOUT: Duration = Duration::from_secs(30);
    /// Default of [`Config::reader_timeout`]: 30 seconds.
    pub const DEFAULT_READER_TIMEOUT: Duration = Duration::from_secs(30);
    /// Default of [`Config::retries`]: 4.
    pub const DEFAULT_RETRIES: u32 = 4;

    /// Returns the defaults for a store in this folder, which is created if it does not exist.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: dir.into(),
            allow_shared_dir: false,
            max_bytes: Self::DEFAULT_MAX_BYTES,
            max_file: Self::DEFAULT_MAX_FILE,
            max_concurrent_downloads: Self::DEFAULT_MAX_CONCURRENT_DOWNLOADS,
            max_open_files: Self::DEFAULT_MAX_OPEN_FILES,
            max_memory_buffer: Self::DEFAULT_MAX_MEMORY_BUFFER,
            stall_timeout: Self::DEFAULT_STALL_TIMEOUT,
            reader_timeout: Self::DEFAULT_READER_TIMEOUT,
            retries: Self::DEFAULT_RETRIES,
            sync: false,
            unused_ttl: None,
            bucket: None,
        }
    }

    /// Uses the folder even if it is owned by another user or writable by others. Such users can replace the files that
    /// are served, because hashes are verified at download, not at each request. Only has an effect on Unix. Default:
    /// off.
    #[must_use]
    pub fn allow_shared_dir(mut self, is_allowed: bool) -> Self {
        self.allow_shared_dir = is_allowed;
        self
    }

    /// Maximum bytes in the folder, including partial files and all other [areas](super::CacheArea). The least recently
    /// used entries are evicted first. With 0, nothing is stored; `u64::MAX` means no limit. Default:
    /// [`Self::DEFAULT_MAX_BYTES`].
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Maximum bytes of one file; the download of a larger file fails. Default: [`Self::DEFAULT_MAX_FILE`].
    #[must_use]
    pub fn max_file(mut self, bytes: u64) -> Self {
        self.max_file = bytes;
        self
    }

    /// Maximum concurrent downloads; others are queued. Default: [`Self::DEFAULT_MAX_CONCURRENT_DOWNLOADS`].
    #[must_use]
    pub fn max_concurrent_downloads(mut self, count: usize) -> Self {
        self.max_concurrent_downloads = count.max(1);
        self
    }

    /// Maximum stored files whose handles stay open between requests. Default: [`Self::DEFAULT_MAX_OPEN_FILES`].
    #[must_use]
    pub fn max_open_files(mut self, count: usize) -> Self {
        self.max_open_files = count;
        self
    }

    /// Maximum bytes of a download that are buffered in memory for its readers while the disk can't be written.
    /// Default: [`Self::DEFAULT_MAX_MEMORY_BUFFER`].
    #[must_use]
    pub fn max_memory_buffer(mut self, bytes: usize) -> Self {
        self.max_memory_buffer = bytes;
        self
    }

    /// Maximum time without data from a source before the download is retried. Default: [`Self::DEFAULT_STALL_TIMEOUT`].
    #[must_use]
    pub fn stall_timeout(mut self, time: Duration) -> Self {
        self.stall_timeout = time;
        self
    }

    /// Maximum time that a slow reader may block the other readers when the memory buffer is full. Then it is
    /// disconnected. Default: [`Self::DEFAULT_READER_TIMEOUT`].
    #[must_use]
    pub fn reader_timeout(mut self, time: Duration) -> Self {
        self.reader_timeout = time;
        self
    }

    /// Maximum consecutive retries without a byte of progress. Default: [`Self::DEFAULT_RETRIES`].
    #[must_use]
    pub fn retries(mut self, count: u32) -> Self {
        self.retries = count;
        self
    }

    /// Syncs each file to the disk before it counts as stored, so that it survives a power failure. Otherwise a
    /// truncated file is detected by its length when it is opened, and other damage by `verify`. Default: off.
    #[must_use]
    pub fn sync(mut self, sync: bool) -> Self {
        self.sync = sync;
        self
    }

    /// Time after which an unused file is deleted, accurate to the minute. Default: files stay until they are evicted.
    #[must_use]
    pub fn unused_ttl(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.unused_ttl = time.into();
        self
    }

    /// Reads files from this bucket before the upstream, and uploads files downloaded from the upstream. Default: none.
    #[must_use]
    pub fn bucket(mut self, bucket: impl Into<Option<Bucket>>) -> Self {
        self.bucket = bucket.into();
        self
    }
}

//! Content-addressed file store: concurrent requests for a file share one download, and only verified files are stored.

mod cache_dir;
mod disk;
mod download;
mod download_task;
mod lru;
mod pages_dir;
mod reader;
mod relay;
mod scan;
mod shared;
mod tiered;
mod unverified;
mod upload;

use std::path::PathBuf;
use std::time::Duration;

use crate::bucket::Bucket;

pub use crate::digest::{Digest, VerifyReport};
pub use crate::resource::{Key, Reference};
pub(crate) use cache_dir::CacheDir;
pub use disk::{FetchState, Stats, Store};
pub(crate) use download::DownloadStatus;
pub use download::{Download, Expected, FileInfo, FileSource};
pub use lru::{CacheArea, Usage};
pub use pages_dir::PagesDir;
pub use reader::Reader;
pub(crate) use reader::{FileChunk, FileFromStart, read_at, read_range};
pub use scan::GcReport;
pub use shared::StoredFile;
pub(crate) use shared::is_disk_full;

/// Configuration of a [`Store`].
#[derive(Clone, Debug)]
pub struct Config {
    /// Folder of the store, which is created if it does not exist.
    pub dir: PathBuf,
    /// Uses the folder even if it is owned by another user or writable by others. Such users can replace the files that
    /// are served, because hashes are verified at download, not at each request. Default: off.
    pub allow_shared_dir: bool,
    /// Maximum bytes in the folder, including partial files and all other [areas](CacheArea). The least recently
    /// used entries are evicted first. With 0, nothing is stored; `u64::MAX` means no limit. Default: 5 GiB.
    pub max_bytes: u64,
    /// Maximum bytes of one file; the download of a larger file fails. Default: 20 GiB.
    pub max_file: u64,
    /// Maximum concurrent downloads, at least 1; others are queued. Default: 64.
    pub max_concurrent_downloads: usize,
    /// Maximum stored files whose handles stay open between requests. Default: 256.
    pub max_open_files: usize,
    /// Maximum bytes of a download that are buffered in memory for its readers while the disk can't be written.
    /// Default: 8 MiB.
    pub max_memory_buffer: usize,
    /// Maximum time without data from a source before the download is retried. Default: 30 seconds.
    pub stall_timeout: Duration,
    /// Maximum time that a slow reader may block the other readers when the memory buffer is full. Then it is
    /// disconnected. Default: 30 seconds.
    pub reader_timeout: Duration,
    /// Maximum consecutive retries without a byte of progress. Default: 4.
    pub retries: u32,
    /// Syncs each file to the disk before it counts as stored, so that it survives a power failure. Otherwise a
    /// truncated file is detected by its length when it is opened, and other damage by `verify`. Default: off.
    pub sync: bool,
    /// Time after which an unused entry of any [area](CacheArea) is deleted, accurate to the minute. Default: entries
    /// stay until they are evicted.
    pub unused_ttl: Option<Duration>,
    /// Reads files from this bucket before the upstream, and uploads files downloaded from the upstream. Default: none.
    pub bucket: Option<Bucket>,
}

impl Config {
    /// Returns the defaults for a store in this folder.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: dir.into(),
            allow_shared_dir: false,
            max_bytes: 5 << 30,
            max_file: 20 << 30,
            max_concurrent_downloads: 64,
            max_open_files: 256,
            max_memory_buffer: 8 << 20,
            stall_timeout: Duration::from_secs(30),
            reader_timeout: Duration::from_secs(30),
            retries: 4,
            sync: false,
            unused_ttl: None,
            bucket: None,
        }
    }
}

//! Content-addressed file store: concurrent requests for a file share one download, and only verified files are stored.

mod config;
mod digest;
mod disk;
mod download;
mod cache_dir;
mod reader;
mod lru;
mod scan;
mod download_task;
mod window;

pub use config::Config;
pub use digest::Digest;
pub use disk::{FetchState, Key, PagesDir, Reference, Stats, Store, StoredFile};
pub(crate) use download::DownloadStatus;
pub use download::{Expected, Download, FileInfo, FileSource};
pub(crate) use cache_dir::CacheDir;
pub use reader::Reader;
pub(crate) use reader::{FileChunk, read_at};
pub use lru::{CacheArea, Usage};
pub use scan::{GcReport, VerifyReport};

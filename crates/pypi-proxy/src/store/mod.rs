//! Content-addressed file store: concurrent requests for a file share one download, and only verified files are stored.

mod cache_dir;
mod config;
mod digest;
mod disk;
mod download;
mod download_task;
mod lru;
mod reader;
mod scan;
mod shared;
mod window;

pub(crate) use cache_dir::CacheDir;
pub use config::Config;
pub use digest::Digest;
pub use disk::{FetchState, PagesDir, Stats, Store};
pub(crate) use download::DownloadStatus;
pub use download::{Download, Expected, FileInfo, FileSource};
pub use lru::{CacheArea, Usage};
pub use reader::Reader;
pub(crate) use reader::{FileChunk, read_at};
pub use scan::{GcReport, VerifyReport};
pub use shared::{Key, Reference, StoredFile};

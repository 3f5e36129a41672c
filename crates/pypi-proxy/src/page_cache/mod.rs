//! Cache of index pages in memory, on disk and in a bucket, in every format and content coding that clients request.

mod cache;
mod config;
mod rendered;
mod bytes;
mod disk;
mod merge;
mod queue;
mod bucket;
mod slot;
mod status;

pub use cache::{PageCache, CachedPage};
pub use config::Config;
pub(crate) use rendered::encode;
pub use rendered::{RenderedPage, Variant};
pub use bytes::PageBytes;
pub(crate) use bytes::MemoryFile;
pub(crate) use status::RefreshOutcome;
pub use status::CacheStatus;

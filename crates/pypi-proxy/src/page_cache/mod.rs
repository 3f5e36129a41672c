//! Cache of index pages in memory, on disk and in a bucket, in every format and content coding that clients request.

mod bucket;
mod bytes;
mod cache;
mod config;
mod disk;
mod merge;
mod parse;
mod queue;
mod rendered;
mod slot;
mod status;

pub(crate) use bytes::MemoryFile;
pub use bytes::PageBytes;
pub use cache::{CachedPage, PageCache};
pub use config::Config;
pub(crate) use rendered::encode;
pub use rendered::{RenderedPage, Variant};
pub use status::CacheStatus;
pub(crate) use status::RefreshOutcome;

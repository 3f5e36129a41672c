//! The pages that clients get: kept in memory, in every form and coding that they ask for, and on disk.

mod cache;
mod config;
mod entry;
mod held;
mod keep;
mod merge;
mod queue;
mod shared;
mod slot;
mod status;

pub use cache::{Pages, Served};
pub use config::Config;
pub(crate) use entry::hold;
pub use entry::{Entry, Variant};
pub use held::Held;
pub(crate) use held::MemoryFile;
pub(crate) use status::Refreshed;
pub use status::Verdict;

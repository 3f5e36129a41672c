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

pub(crate) use cache::Refreshed;
pub use cache::{Pages, Served, Verdict};
pub use config::Config;
pub(crate) use entry::hold;
pub use entry::{Entry, Variant};
pub use held::Held;
pub(crate) use held::MemoryFile;

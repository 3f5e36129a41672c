//! Files on disk: each is fetched once, for all who want it, and is what its hash says or is not there.

mod config;
mod digest;
mod disk;
mod fill;
mod folder;
mod reader;
mod recency;
mod scan;
mod transfer;
mod window;

pub use config::Config;
pub use digest::Digest;
pub use disk::{Filling, Key, PagesDir, Reference, Stats, Store, Stored};
pub(crate) use fill::Running;
pub use fill::{Expected, Fill, Head, Source};
pub(crate) use folder::Folder;
pub use reader::Reader;
pub(crate) use reader::{Piece, read_at};
pub use recency::{Part, Usage};
pub use scan::{Collected, Verified};

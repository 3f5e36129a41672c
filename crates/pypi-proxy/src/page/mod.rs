//! Pages of a package index: what an upstream sends, and what clients get of it.

#[cfg(feature = "proxy")]
mod facts;
mod file;
#[cfg(feature = "proxy")]
mod filter;
mod html;
mod json;
mod list;
mod project;
mod render;
mod scan;

#[cfg(feature = "proxy")]
pub(crate) use facts::{Fact, Facts};
#[cfg(feature = "proxy")]
pub(crate) use file::sha256_of;
pub use file::{Details, File, Metadata};
pub use list::ProjectList;
pub use project::{ApiVersion, Page};

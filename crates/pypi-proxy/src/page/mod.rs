//! Pages of a package index: parsing them as an upstream sends them, and writing them for clients.

mod checksum;
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

pub use checksum::Checksum;
#[cfg(feature = "proxy")]
pub(crate) use checksum::bytes_of;
#[cfg(feature = "proxy")]
pub(crate) use facts::{FileFacts, ProjectFacts};
pub use file::{Details, File, Metadata};
pub use list::ProjectList;
pub use project::{ApiVersion, Page};

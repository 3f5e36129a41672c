//! A caching proxy for Python package indexes: the simple repository API, with one upstream transfer for all clients.
//!
//! ```
//! use pypi_proxy::{Coding, Form, ProjectName};
//!
//! let name = ProjectName::parse("Flask_SQLAlchemy")?;
//! assert_eq!(name.as_str(), "flask-sqlalchemy");
//! assert_eq!(Form::from_accept("application/vnd.pypi.simple.v1+json, */*;q=0.1"), Some(Form::Json));
//! assert_eq!(Coding::from_accept("gzip, deflate, zstd"), Coding::Zstd);
//! # Ok::<(), pypi_proxy::Error>(())
//! ```
//!
//! # Modules
//!
//! | module | what it has |
//! | --- | --- |
//! | the root | [`Page`] and [`ProjectList`]: pages of an index, read, rewritten and merged; names, ranges, what clients accept |
//! | `upstream` | an index, asked over HTTP |
//! | `pages` | pages that are kept: fresh, stale, on disk, in every form and coding |
//! | `rules` | what clients may have: projects, files by their age, yanked files |
//! | `guard` | who clients are, and how much they may ask |
//! | `store` | files that are kept by their hashes, each fetched once for all who want it |
//! | `bucket` | files and pages that several proxies share |
//! | `serve` | the answers to requests, and connections; its page begins with a whole proxy |
//! | `config` | the settings of the program: flags, variables and files, and the parts above made of them |
//!
//! # Features
//!
//! `proxy` is all but the root: what asks, keeps and answers. `s3` is a bucket of S3 for it. `cli` (default) is the program
//! `pypi-proxy` with both.
//!
//! # Promised
//!
//! - A member of a page that is not known here is passed on as it came; only where files are is replaced.
//! - A file is what its hash says or no client takes it for that: the last byte waits for the hash. It is fetched once,
//!   however many want it, and goes on if they leave.
//! - A bucket that several proxies share is a help, never a need: while it fails, files and pages come from the indexes.
//! - A folder that holds anything else is left alone. Credentials go to their index, and to no text.
//! - Bad input leads to an [`Error`], with memory bounded by the limits of each configuration.
//!
//! # Not promised
//!
//! - There is no upload. A page in HTML tells no sizes and times: here they are on it for files whose hash it tells, after
//!   they were fetched or asked for.

#[cfg(feature = "proxy")]
mod breaker;
#[cfg(feature = "proxy")]
pub mod bucket;
#[cfg(feature = "proxy")]
pub mod config;
mod error;
#[cfg(feature = "proxy")]
pub mod guard;
#[cfg(feature = "proxy")]
mod histogram;
#[cfg(feature = "proxy")]
mod metadata;
mod name;
mod negotiate;
mod page;
#[cfg(feature = "proxy")]
pub mod page_cache;
mod range;
#[cfg(feature = "proxy")]
pub mod rules;
#[cfg(feature = "proxy")]
pub mod serve;
#[cfg(feature = "proxy")]
pub mod store;
#[cfg(feature = "proxy")]
pub mod upstream;

pub use error::Error;
pub use name::ProjectName;
pub use negotiate::{Coding, Form};
pub use page::{ApiVersion, Checksum, Details, File, Metadata, Page, ProjectList};
pub use range::ByteRange;
